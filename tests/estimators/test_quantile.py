"""`SVR(loss="quantile")`: optimal on random duals, true to its quantile, and certified."""

import numpy as np
import pytest
from tests.oracles.qp import dual_objective, regression_terms, solve_cvxopt, solve_piqp

from adatron import SVR
from adatron.kernels import Gaussian, Linear, Polynomial

KERNELS = [Linear(), Polynomial(2), Polynomial(3, 0.3), Gaussian(0.1), Gaussian(1.0)]
ALL_C = [0.01, 0.1, 1.0, 10.0, 100.0]
ALL_QUANTILES = [0.05, 0.25, 0.5, 0.9]


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_quantile_is_the_optimum_to_eight_digits(every):
    for seed in range(0, 100, every):
        check_quantile(seed)


def check_quantile(seed):
    rng = np.random.default_rng(5000 + seed)
    m, d = int(rng.integers(5, 121)), int(rng.integers(1, 9))
    C, quantile = ALL_C[seed % 5], ALL_QUANTILES[(seed // 5) % 4]
    kernel, bias = KERNELS[(seed // 20) % 5], bool(rng.integers(2))
    X = rng.normal(size=(m, d))
    t = np.sin(X[:, 0]) + 0.3 * rng.normal(size=m) + 2.0
    weights = rng.uniform(0.5, 2.0, m) if rng.integers(2) else np.ones(m)
    model = SVR(C, kernel=kernel, fit_intercept=bias, tol=1e-9, loss="quantile", quantile=quantile)
    model.fit(X, t, sample_weight=weights)
    assert model.converged_, seed
    beta = np.zeros(m)
    beta[model.support_] = model.dual_coef_[0]
    K, y, p = regression_terms(kernel(X, X), t, 0.0)
    alpha = np.concatenate([np.maximum(beta, 0.0), np.maximum(-beta, 0.0)])
    upper = np.concatenate([quantile * C * weights, (1.0 - quantile) * C * weights])
    assert (alpha <= upper * (1.0 + 1e-12)).all(), seed
    ours = dual_objective(K, y, alpha, p)
    for oracle in (solve_cvxopt(K, y, upper, bias, p), solve_piqp(K, y, upper, bias, p)):
        theirs = dual_objective(K, y, np.clip(oracle, 0.0, upper), p)
        assert ours == pytest.approx(theirs, rel=1e-8), seed


def noisy(n=300):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.0, 6.0, size=(n, 1))
    return X, np.sin(X).ravel() + rng.normal(size=n) * (0.2 + 0.1 * X.ravel())


def pinball(t, predicted, quantile):
    return np.where(t > predicted, quantile * (t - predicted), (1.0 - quantile) * (predicted - t))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # a true gap, small or not
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("solver", ["auto", "adatron", "multiplicative"])
def test_the_gap_is_that_of_the_pinball_loss(quantile, solver):
    X, t = noisy()
    model = SVR(2.0, gamma=0.5, loss="quantile", quantile=quantile, solver=solver, tol=1e-2, max_iter=300)
    model.fit(X, t)
    beta, predicted = model.dual_coef_[0], model.predict(X)
    f = predicted - model.intercept_
    square = beta @ f[model.support_]
    primal = 0.5 * square + 2.0 * pinball(t, predicted, quantile).sum()
    dual = beta @ t[model.support_] - 0.5 * square
    assert model.duality_gap_ == pytest.approx((primal - dual) / primal, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("quantile", [0.02, 0.3, 0.9])
def test_as_many_targets_below_as_asked_for(quantile):
    X, t = noisy()
    model = SVR(loss="quantile", quantile=quantile, tol=1e-9).fit(X, t)
    distance = t - model.predict(X)
    assert np.mean(distance < -1e-6) <= quantile <= np.mean(distance < 1e-6)


def test_a_row_of_weight_two_is_the_row_twice():
    X, t = noisy(80)
    weights = np.arange(80) % 3
    weighted = SVR(loss="quantile", quantile=0.7, gamma=1.0).fit(X, t, sample_weight=weights)
    repeated = SVR(loss="quantile", quantile=0.7, gamma=1.0).fit(
        np.repeat(X, weights, 0), np.repeat(t, weights)
    )
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-7)


def test_the_tube_is_not_part_of_a_quantile():
    X, t = noisy(60)
    narrow, wide = (SVR(epsilon=e, loss="quantile", quantile=0.7).fit(X, t).predict(X) for e in (0.0, 5.0))
    np.testing.assert_array_equal(narrow, wide)


def test_many_rows_and_records():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3))
    t = X[:, 0] + rng.normal(size=3000)
    model = SVR(loss="quantile", quantile=0.9)
    records = list(model.iter_fit(X, t))
    assert model.converged_
    assert model.duality_gap_ <= model.tol
    assert len(records) == model.n_iter_
    assert abs(np.mean(t < model.predict(X)) - 0.9) < 0.02
    low_rank = SVR(loss="quantile", quantile=0.9, rank=100, random_state=0).fit(X, t)
    assert low_rank.converged_
    assert abs(np.mean(t < low_rank.predict(X)) - 0.9) < 0.02


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "quantil"}, "loss must be one of .* got 'quantil'; did you mean 'quantile'"),
        ({"loss": None}, "loss must be one of"),
        ({"quantile": 0.0}, "quantile must be a number between 0 and 1, such as 0.9, got 0.0"),
        ({"quantile": 1.0}, "quantile must be"),
        ({"quantile": 90}, "quantile must be"),
        ({"quantile": np.nan}, "quantile must be"),
        ({"quantile": True}, "quantile must be"),
        ({"quantile": "0.5"}, "quantile must be"),
    ],
)
def test_bad_values_are_named(parameters, message):
    model = SVR(**({"loss": "quantile"} | parameters))
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0]], [0.0, 1.0])
    assert not hasattr(model, "dual_coef_")
