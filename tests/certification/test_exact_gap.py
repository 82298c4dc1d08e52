"""`gap_is_exact_` and `exact_certificate`: what an estimate is, and what it is called."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification

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
    certify,
)
from adatron.display.report.words import certificate_words
from adatron.gram import REGIME

FEW = replace(REGIME, single_from=200, lazy_up_to=200, all_in_double=300)


def few_rows_are_many(model, regime=FEW):
    """The model with a table of sizes in which 400 rows are as 6,000."""
    model._regime = regime
    return model


def problem(kind, n=400):
    X, y = make_classification(n, 8, flip_y=0.1, random_state=2)
    return X, {SVC: y, SVR: X[:, 0] + np.sin(X[:, 1]), OneClassSVM: None}[kind]


@pytest.mark.parametrize("kind", [SVC, SVR, OneClassSVM])
def test_many_rows_are_an_estimate_unless_the_caller_pays(kind):
    X, y = problem(kind)
    rough = few_rows_are_many(kind()).fit(X, y)
    exact = few_rows_are_many(kind(exact_certificate=True)).fit(X, y)
    assert rough.converged_
    assert exact.converged_
    assert not rough.gap_is_exact_
    assert exact.gap_is_exact_
    assert exact.duality_gap_ == pytest.approx(certify(exact, X, y).gap, abs=1e-9)
    assert "an estimate" in certificate_words(rough)[0]
    assert "an estimate" not in certificate_words(exact)[0]


@pytest.mark.parametrize("kind", [SVC, SVR, OneClassSVM])
@pytest.mark.parametrize("regime", [REGIME, replace(FEW, all_in_double=400)], ids=["float64", "float32"])
def test_an_exact_gap_is_what_certify_finds(kind, regime):
    X, y = problem(kind)
    model = few_rows_are_many(kind(tol=1e-2), regime).fit(X, y)
    assert model.gap_is_exact_
    assert model.duality_gap_ >= certify(model, X, y).gap - 1e-9


@pytest.mark.filterwarnings("ignore")
def test_every_estimator_says_it():
    X, y = make_classification(1_600, 4, random_state=0)
    small = [SVC(), KernelPerceptron(max_iter=20), SupportVectorClustering(sigma=1.0, nu=0.1)]
    for model in (*small, AutoSVC(), EnsembleSVC(max_iter=50)):
        assert model.fit(X[:100], y[:100]).gap_is_exact_ is True
    for model in (AutoSVC(), EnsembleSVC(max_iter=50), SVC(rank=50), OneClassSVM(rank=20)):
        assert model.fit(X, y).gap_is_exact_ is False
    assert AutoSVR().fit(X[:100], X[:100, 0]).gap_is_exact_ is True
    assert SVC(kernel="sigmoid", coef0=-2.0).fit(X[:100], y[:100]).gap_is_exact_ is False
    assert not hasattr(ParzenClassifier().fit(X, y), "gap_is_exact_")


def test_an_approximated_kernel_has_no_exact_certificate():
    X, y = problem(SVC, 100)
    with pytest.raises(ValueError, match=r"exact_certificate=True needs the kernel itself.*rank=20"):
        SVC(rank=20, exact_certificate=True).fit(X, y)
    with pytest.raises(ValueError, match="exact_certificate must be a bool, got 'yes'"):
        SVC(exact_certificate="yes").fit(X, y)
    assert "approximated kernel" in certificate_words(SVC(rank=20).fit(X, y))[0]


def test_verbose_fits_say_it(capsys):
    X, y = problem(SVC)
    few_rows_are_many(SVC(verbose=True)).fit(X, y)
    assert capsys.readouterr().out.rstrip().endswith(", an estimate")
