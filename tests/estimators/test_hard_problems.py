"""Fits of badly scaled, offset and degenerate data: certified again in extended precision, and in time."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.oracles.long_double import certified_gap

from adatron import SVC, SVR, EnsembleSVC, OneClassSVM
from adatron.training import Status

KINDS = ["plain", "scaled", "offset", "heavy", "near duplicates", "one-hot", "counts", "low rank"]


def drawn(kind, rng):
    n, d = int(rng.integers(20, 100)), int(rng.integers(1, 10))
    X = rng.normal(size=(n, d))
    if kind == "scaled":
        X *= 10.0 ** rng.uniform(-4, 4, d)
    elif kind == "offset":
        X += 10.0 ** rng.uniform(2, 7)
    elif kind == "heavy":
        X = rng.standard_t(1.2, size=(n, d))
    elif kind == "near duplicates":
        X = np.repeat(X, 3, axis=0)[:n] + 1e-6 * rng.normal(size=(n, d))
    elif kind == "one-hot":
        X = np.eye(4)[rng.integers(0, 4, (n, d))].reshape(n, -1)
    elif kind == "counts":
        X = rng.poisson(3, size=(n, d)).astype(float)
    elif kind == "low rank":
        X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
    score = X[:, :3].sum(axis=1)
    y = (score - np.median(score) + score.std() * rng.normal(size=n) > 0.0).astype(int)
    y[:2] = 0, 1
    return X, y


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 6), marks=pytest.mark.slow)], ids=len)
def test_gaps_are_not_understated(kind, kernel, seeds):
    for seed in seeds:
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        X, y = drawn(kind, rng)
        weights = rng.uniform(0.1, 3.0, len(y)) if seed % 2 else None
        parameters = {"C": 10.0 ** rng.uniform(-3, 8), "tol": float(rng.choice([1e-3, 1e-5, 1e-7]))}
        model = SVC(kernel=kernel, fit_intercept=bool(seed), time_limit=60.0, **parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y, weights)
        if model.converged_:
            assert certified_gap(model, X, y, weights) <= model.duality_gap_ + model.tol, (seed, model)
        else:
            assert model.status_ is Status.PRECISION_LIMIT, (seed, model)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e5, 1e7])
def test_rows_far_from_the_origin_are_as_good_as_others_for_a_linear_kernel(offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    y = (X[:, 0] + 0.5 * rng.normal(size=150) > 0.0).astype(int)
    near, far = (SVC(kernel="linear").fit(rows, y) for rows in (X, X + offset))
    assert far.converged_
    assert certified_gap(far, X + offset, y) <= far.duality_gap_ + 1e-4
    np.testing.assert_allclose(
        far.decision_function(X + offset), near.decision_function(X), atol=1e-6 * max(offset, 1.0) ** 0.5
    )
    np.testing.assert_array_equal(far.support_vectors_, (X + offset)[far.support_])
    regression = SVR(kernel="linear").fit(X + offset, X[:, 0])
    for model in (far, regression):
        np.testing.assert_allclose(model.bias_interval_.mean(axis=1), model.intercept_, rtol=1e-9)
    np.testing.assert_allclose(regression.predict(X + offset), X[:, 0], atol=0.11)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_one_class_problems_store_the_plain_gap_too(kernel):
    vanished = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = drawn(KINDS[seed % len(KINDS)], rng)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = OneClassSVM(nu=float(rng.uniform(0.1, 0.9)), kernel=kernel).fit(X)
        true = certified_gap(model, X)
        assert model.plain_gap_ == pytest.approx(true, rel=0.2, abs=1e-3)
        assert model.plain_gap_ >= model.duality_gap_
        vanished += true > 0.5 > model.duality_gap_
    assert (vanished > 0) == (kernel != "rbf")


@pytest.mark.parametrize("solver", ["multiplicative", "m3"])
def test_algorithms_that_would_never_arrive_say_so_after_some_thousand_epochs(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5)) * 10.0 ** rng.uniform(-3, 3, 5)
    y = (X[:, 0] > 0.0).astype(int)
    model = SVC(C=1e6, kernel="linear", solver=solver, fit_intercept=solver != "m3")
    with pytest.warns(ConvergenceWarning, match=r"would need .* of them: use solver='auto', scale X"):
        model.fit(X, y)
    assert model.status_ is Status.MAX_ITER
    assert model.n_iter_.max() < 20_000
    patient = SVC(C=1e6, kernel="linear", solver=solver, fit_intercept=solver != "m3", max_iter=4_000)
    with pytest.warns(ConvergenceWarning, match=r"max_iter epochs were not enough.*raise max_iter"):
        patient.fit(X, y)
    assert patient.n_iter_.max() == 4_000


def test_polynomials_of_rows_far_from_the_origin_end_soon_and_ask_for_scaling():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4)) + 1e7
    y = (X[:, 0] > 1e7).astype(int)
    for bias in (True, False):
        with pytest.warns(ConvergenceWarning, match=r"float64.*scale X"):
            model = SVC(C=10.0, kernel="poly", fit_intercept=bias).fit(X, y)
        assert model.status_ is Status.PRECISION_LIMIT
        assert model.n_iter_.max() <= 200


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    "model", [EnsembleSVC(), SVC(C=1e6), SVC(C=np.inf, gamma=50.0), OneClassSVM(), SVR()]
)
def test_certificates_do_not_compute_with_infinite_numbers(model):
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
    assert np.isfinite(model.fit(X, y).duality_gap_)
