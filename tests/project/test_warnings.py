"""Warnings show the line of the user's code, however deep in the library they arise."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR, KernelPerceptron, LinearSVC, OneClassSVM, ParzenClassifier
from adatron.exceptions import AdatronWarning
from adatron.selection import c_path

X = np.random.default_rng(0).normal(size=(40, 2))
UNEQUAL, y = X * [1e12, 1.0], np.arange(40) % 2


@pytest.mark.parametrize("kind", [SVC, SVR, LinearSVC, OneClassSVM, ParzenClassifier])
def test_of_columns(kind):
    with pytest.warns(AdatronWarning, match="column 0 of X varies") as caught:
        kind().fit(UNEQUAL, y)
    assert {one.filename for one in caught} == {__file__}


@pytest.mark.parametrize(
    "fit",
    [
        lambda: SVC(solver="adatron", max_iter=1).fit(X, y),
        lambda: LinearSVC(tol=1e-12, max_iter=1).fit(X, y),
        lambda: list(KernelPerceptron(max_iter=1).iter_fit(X, y)),
        lambda: make_pipeline(StandardScaler(), SVC(solver="adatron", max_iter=1)).fit(X, y),
        lambda: GridSearchCV(SVC(solver="adatron", max_iter=1), {"C": [1.0, 2.0]}, cv=2).fit(X, y),
        lambda: c_path(X, y, [100.0], max_iter=1),
    ],
)
def test_of_convergence(fit):
    with pytest.warns(ConvergenceWarning, match="did not converge") as caught:
        fit()
    assert {one.filename for one in caught} == {__file__}
