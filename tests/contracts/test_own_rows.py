"""A fitted model does not change when the user's arrays do."""

import numpy as np
import pytest

from adatron import (
    SVC,
    SVR,
    AutoSVC,
    AutoSVR,
    EnsembleSVC,
    KernelPerceptron,
    OneClassSVM,
    ParzenClassifier,
    SupportVectorClustering,
)
from adatron.datasets import make_waveform
from adatron.selection import c_path

X, y = make_waveform(80, random_state=0)
MODELS = [
    SVC(), SVC(probability=True), SVC(rank=20), SVC(multi_class="crammer_singer"), SVR(),
    OneClassSVM(), EnsembleSVC(), EnsembleSVC(rank=20, max_iter=20), KernelPerceptron(), ParzenClassifier(),
    AutoSVC(), AutoSVR(),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_predictions_stay_when_the_training_rows_change(model):
    rows, labels = X.copy(), y.copy()
    model.fit(rows, labels)
    before = [model.predict(X), *getattr(model, "staged_decision_function", lambda X: [])(X)]
    rows[:], labels[:] = 7.0, -1
    after = [model.predict(X), *getattr(model, "staged_decision_function", lambda X: [])(X)]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_clusters_stay():
    rows = X.copy()
    model = SupportVectorClustering().fit(rows)
    labels, vectors = model.labels_.copy(), model.support_vectors_.copy()
    rows[:] = 7.0
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.support_vectors_, vectors)


def test_a_path_stays():
    rows = X.copy()
    path = c_path(rows, y, Cs=[0.1, 1.0])
    before = path.decision_function(X, 1.0)
    rows[:] = 7.0
    np.testing.assert_array_equal(path.decision_function(X, 1.0), before)
