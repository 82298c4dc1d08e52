"""Paths in C: exact ones against QP solvers, grids against cold fits, what they are chosen by."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from tests.oracles.qp import dual_objective, solve_cvxopt, solve_piqp
from tests.problems_for_tests import noisy_points, separated_points

from adatron import SVC
from adatron.kernels import Gaussian, Linear, Polynomial
from adatron.paths import c_path, exact_path, homotopy


def balanced():
    X, y = noisy_points(1, m=60)
    rows = np.concatenate([np.flatnonzero(y == sign)[:20] for sign in (1.0, -1.0)])
    return Gaussian(0.3)(X[rows], X[rows]), y[rows], np.ones(40)


def unbalanced():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=50) > 1.2, 1.0, -1.0)
    return Gaussian(0.5)(X, X), y, np.ones(50)


def duplicated():
    X, y = noisy_points(3, m=45)
    X[15:30], X[30:] = X[:15], X[:15]
    return Gaussian(0.3)(X, X), y, np.ones(45)


def weighted():
    X, y = noisy_points(4, m=40)
    return Polynomial(2, 0.5)(X, X), y, np.random.default_rng(4).uniform(0.2, 3.0, size=40)


def on_a_lattice():
    rng = np.random.default_rng(5)
    X = rng.integers(-2, 3, size=(50, 2)).astype(float)
    y = np.where(X @ [1.0, 2.0] + rng.integers(-2, 3, size=50) > 0.0, 1.0, -1.0)
    return Linear()(X, X), y, np.ones(50)


def overlapping():
    X, y = noisy_points(6, m=50, d=2, flip=0.3)
    return Gaussian(1.0)(X, X), y, np.ones(50)


def separable():
    X, y = separated_points(7, m=40)
    return Linear()(X, X), y, np.ones(40)


CASES = [balanced, unbalanced, duplicated, weighted, on_a_lattice, overlapping, separable]


def violation(path, C):
    """The worst breach of the optimality conditions, in units of the slack 1 and of C."""
    alpha, upper = path.alpha_at(C), C * path.w
    slack = 1.0 - path.y * (path.outputs_at(C) + path.bias_at(C))
    of_slack = np.where(alpha <= 0.0, slack, np.where(alpha >= upper, -slack, np.abs(slack)))
    of_bounds = max(-alpha.min(), (alpha - upper).max(), abs(float(path.y @ alpha)))
    return max(float(of_slack.max()), of_bounds / C)


@pytest.mark.parametrize("case", CASES)
def test_objective_between_breakpoints_is_the_optimum(case):
    K, y, w = case()
    path = exact_path(K, y, w, C_max=1e3)
    rng = np.random.default_rng(0)
    Cs = np.exp(rng.uniform(np.log(path.C[1] / 2.0), np.log(1e3), size=20))
    for number, C in enumerate(Cs.tolist()):
        oracle = solve_cvxopt if number % 5 == 0 else solve_piqp
        optimum = dual_objective(K, y, np.clip(oracle(K, y, C * w, True), 0.0, C * w))
        assert path.objective_at(C) == pytest.approx(optimum, rel=1e-8)
        assert violation(path, C) < 1e-9


@pytest.mark.parametrize("case", CASES)
def test_it_also_gets_there_by_solving_anew_after_every_event(case, monkeypatch):
    K, y, w = case()
    path = exact_path(K, y, w, C_max=100.0)
    monkeypatch.setattr(homotopy, "_COINCIDENT", -1)
    again = exact_path(K, y, w, C_max=100.0)
    Cs = np.geomspace(path.C[1], 100.0, 15)
    np.testing.assert_allclose(again.objective_at(Cs), path.objective_at(Cs), rtol=1e-9)


lattice_points = st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=4, max_size=14)


@settings(max_examples=60)
@given(lattice_points, st.integers(0, 2**16), st.sampled_from([Linear(), Gaussian(0.5), Polynomial(2)]))
def test_optimality_holds_all_along(points, seed, kernel):
    rng = np.random.default_rng(seed)
    X = np.array(points, dtype=float)
    y = rng.choice([-1.0, 1.0], size=len(X))
    y[:2] = 1.0, -1.0
    w = rng.integers(1, 4, size=len(X)).astype(float)
    K = kernel(X, X)
    if np.ptp(K - K.mean(axis=0)) < 1e-12:  # all points are one
        return
    path = exact_path(K, y, w, C_max=1e3)
    for C in np.exp(rng.uniform(np.log(1e-4), np.log(1e3), size=5)).tolist():
        assert violation(path, C) < 1e-8


def test_four_points_by_hand():
    x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    path = exact_path(np.outer(x, x), y, C_max=np.inf)
    assert path.complete
    # all grow until ±2 meet the margin; these fall to 0; ±1 grow until they meet it
    np.testing.assert_allclose(path.C[:5], [0.0, 1 / 12, 1 / 4, 1 / 4, 1 / 2])
    for C in (0.05, 1 / 12, 0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 1e9):
        outer = C if C <= 1 / 12 else max((0.25 - C) / 2.0, 0.0)
        inner = min(C, 0.5)
        np.testing.assert_allclose(path.alpha_at(C), [outer, inner, inner, outer], atol=1e-14)
        assert path.bias_at(C) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_between_breakpoints_everything_is_linear_and_nothing_jumps(case):
    K, y, w = case()
    path = exact_path(K, y, w, C_max=100.0)
    ends = np.unique(path.C[1:])
    middles = 0.5 * (ends[1:] + ends[:-1])
    alpha = path.alpha_at(ends)
    scale = alpha.max(axis=1)[1:]
    if len(np.unique(path.group)) == len(y) and len(ends) == len(path.C) - 1:
        difference = np.abs(path.alpha_at(middles) - 0.5 * (alpha[1:] + alpha[:-1])).max(axis=1)
        assert (difference <= 1e-10 * scale).all()
    f = path.outputs_at(ends)
    near = path.outputs_at(np.minimum(ends * (1.0 + 1e-9), 100.0))
    assert np.abs(f - near).max() < 1e-6


def test_weight_two_is_the_row_twice():
    X, y = noisy_points(8, m=25)
    twice = np.concatenate([np.arange(25), np.arange(10)])
    weights = np.where(np.arange(25) < 10, 2.0, 1.0)
    K = Gaussian(0.4)(X[twice], X[twice])
    one, other = exact_path(K[:25, :25], y, weights), exact_path(K, y[twice])
    Cs = np.geomspace(1e-3, 1e3, 20)
    np.testing.assert_allclose(one.objective_at(Cs), other.objective_at(Cs), rtol=1e-9)
    np.testing.assert_allclose(one.bias_at(Cs), other.bias_at(Cs), atol=1e-8)


def test_small_C_gives_the_larger_class_or_the_middle():
    K, y, w = unbalanced()
    path = exact_path(K, y, w)
    assert path.bias_at(1e-6) == pytest.approx(-1.0, abs=1e-4)
    alpha = path.alpha_at(1e-6)
    np.testing.assert_allclose(alpha[y > 0], 1e-6)
    assert alpha[y > 0].sum() == pytest.approx(alpha[y < 0].sum(), rel=1e-9)
    K, y, w = balanced()
    path = exact_path(K, y, w)
    np.testing.assert_allclose(path.alpha_at(1e-6), 1e-6)
    assert abs(path.bias_at(1e-6)) < 0.01


def test_a_path_ends_where_it_was_told_to():
    K, y, w = overlapping()
    path = exact_path(K, y, w, C_max=5.0)
    assert not path.complete
    assert path.C[-1] == 5.0
    assert repr(path) == f"ExactPath(50 points, {len(path.C)} breakpoints, up to C=5)"
    with pytest.raises(ValueError, match=r"C=6 is beyond the end of this path at C=5.*larger C_max"):
        path.alpha_at(6.0)
    for C in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="C must be a finite number > 0"):
            path.bias_at(C)


def test_a_path_ends_where_float64_does():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 1)), rng.choice([-1.0, 1.0], size=40)
    path = exact_path(Gaussian(0.05)(X, X), y, C_max=np.inf)  # overlapping, and nearly of low rank
    assert not path.complete
    assert 1e6 < path.end < 1e12
    assert violation(path, 1e4) < 1e-8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(3), np.array([1.0, -1.0])), r"K must be the 2 × 2 kernel matrix .* got shape \(3, 3\)"),
        ((np.eye(2), np.array([1.0, 1.0])), "y must hold the labels -1 and \\+1, both of them"),
        ((np.eye(2), np.array([1.0, 2.0])), "y must hold the labels"),
        ((np.full((2, 2), np.nan), np.array([1.0, -1.0])), "K must be finite"),
        ((np.ones((2, 2)), np.array([1.0, -1.0])), "K has equal values only"),
        (
            (np.eye(2), np.array([1.0, -1.0]), np.array([1.0, 0.0])),
            "sample_weight must be 2 finite numbers > 0",
        ),
        ((np.eye(2001), np.where(np.arange(2001) < 5, 1.0, -1.0)), "at most 2000 points, y has 2001"),
    ],
)
def test_what_has_no_exact_path(arguments, message):
    with pytest.raises(ValueError, match=message):
        exact_path(*arguments)


@pytest.mark.parametrize("C_max", [0, "a"])
def test_C_max_is_checked(C_max):
    with pytest.raises(ValueError, match=f"C_max must be a number > 0, got {C_max!r}"):
        exact_path(np.eye(2), np.array([1.0, -1.0]), C_max=C_max)


def test_parameters_of_the_estimator_are_checked():
    with pytest.raises(ValueError, match="cache_size must be 'auto' or a number of MB > 0, got 'x'"):
        c_path(np.eye(2), [0, 1], cache_size="x")


CS = [0.05, 0.5, 5.0, 50.0]


@pytest.mark.parametrize("weights", [None, "some"])
def test_a_warm_grid_is_the_cold_fits(weights):
    X, y = noisy_points(0, m=40)
    weights = None if weights is None else np.random.default_rng(0).uniform(0.5, 2.0, size=40)
    path = c_path(X, y, CS, tol=1e-9, sample_weight=weights)
    assert path.C.tolist() == CS
    for C, record in zip(CS, path, strict=True):
        model = SVC(C=C, tol=1e-9).fit(X, y, weights)
        np.testing.assert_allclose(path.decision_function(X, C), model.decision_function(X), atol=1e-7)
        assert path.predict(X, C).tolist() == model.predict(X).tolist()
        alpha = np.zeros(40)
        alpha[model.support_] = np.abs(model.dual_coef_[0])
        np.testing.assert_allclose(path.alpha_at(C), alpha, atol=1e-6 * C)
        assert path.bias_at(C) == pytest.approx(model.intercept_[0], abs=1e-7)
        assert record["n_support"] == len(model.support_)
        wrong = model.predict(X) != y
        assert record["training_error"] == pytest.approx(np.average(wrong, weights=weights))
        assert record["converged"]
        assert record["gap"] <= 1e-9


def test_exact_and_grid_agree():
    X, y = noisy_points(1, m=40)
    grid = c_path(X, y, CS, tol=1e-9)
    exact = c_path(X, y, CS, exact=True)
    for name in ("objective", "margin", "training_error", "loo_bound", "loo_estimate"):
        np.testing.assert_allclose(exact[name], grid[name], rtol=1e-7, err_msg=name)
    assert exact.best_C == grid.best_C
    assert exact["gap"].max() < 1e-9
    for C in CS:
        np.testing.assert_allclose(exact.decision_function(X, C), grid.decision_function(X, C), atol=1e-6)
    assert grid.exact_path is None
    np.testing.assert_allclose(
        exact.decision_function(X, 1.7), SVC(C=1.7, tol=1e-9).fit(X, y).decision_function(X), atol=1e-6
    )


def test_all_breakpoints_are_recorded_and_as_they_should_be():
    X, y = noisy_points(2, m=40)
    path = c_path(X, y, exact=True)
    assert len(path) == len(np.unique(path.exact_path.C)) - 1
    assert (np.diff(path.C) > 0.0).all()
    assert (np.diff(path["margin"]) <= 1e-9 * path["margin"][1:]).all()  # a larger C, a narrower margin
    assert (np.diff(path["objective"]) >= -1e-9 * path["objective"][1:]).all()
    assert (path["loo_estimate"] <= path["loo_bound"] + 1e-12).all()
    np.testing.assert_allclose(path["loo_bound"], path["n_support"] / 40)
    assert path["criterion"].tolist() == path["loo_estimate"].tolist()
    assert path.best_C == path.C[path["loo_estimate"].argmin()]


def test_several_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(36, 2)) + np.repeat([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], 12, axis=0)
    y = np.repeat(["a", "b", "c"], 12)
    path = c_path(X, y, [0.1, 10.0], tol=1e-9)
    for C in (0.1, 10.0):
        model = SVC(C=C, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(path.decision_function(X, C), model.decision_function(X), atol=1e-6)
        assert path.predict(X, C).tolist() == model.predict(X).tolist()
        assert path.alpha_at(C).shape == (36, 3)
        assert path.bias_at(C).shape == (3,)
    assert path["n_support"][1] == len(model.support_)
    assert path["gap"].max() <= 1e-9
    assert c_path(X, y, [0.1, 10.0], cv=3, random_state=0)["error"].max() < 0.5
    assert c_path(X, y, exact="auto").exact_path is None
    with pytest.raises(ValueError, match="exact=True is for two classes, y has 3; set exact=False"):
        c_path(X, y, exact=True)


@pytest.mark.parametrize("exact", [False, True])
def test_cross_validation_is_that_of_fits_on_the_folds(exact):
    X, y = noisy_points(3, m=36)
    folds = list(StratifiedKFold(3).split(X, y))
    path = c_path(X, y, CS, gamma=0.3, cv=folds, exact=exact, tol=1e-9)
    for C, error in zip(CS, path["error"], strict=True):
        model = SVC(C=C, gamma=0.3, tol=1e-9)
        errors = [np.mean(model.fit(X[a], y[a]).predict(X[b]) != y[b]) for a, b in folds]
        assert error == pytest.approx(np.mean(errors))
    assert path["criterion"].tolist() == path["error"].tolist()
    assert path.criterion == "cv error"
    scored = c_path(X, y, CS, gamma=0.3, cv=folds, exact=exact, tol=1e-9, scoring="roc_auc")
    aucs = [roc_auc_score(y[b], model.fit(X[a], y[a]).decision_function(X[b])) for a, b in folds]
    assert scored["error"][-1] == pytest.approx(1.0 - np.mean(aucs))


def test_given_splits_count_rows_without_weight():
    X, y = noisy_points(3, m=40)
    weights = np.where(np.arange(40) % 5 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    splits = list(StratifiedKFold(3).split(X[kept], y[kept]))
    alone = c_path(X[kept], y[kept], CS, gamma=0.3, cv=splits)
    of_all = [(kept[a], kept[b]) for a, b in splits]
    path = c_path(X, y, CS, gamma=0.3, cv=of_all, sample_weight=weights)
    assert path["error"].tolist() == alone["error"].tolist()
    dealt = c_path(X, y, CS, gamma=0.3, cv=StratifiedKFold(3), sample_weight=weights)
    assert dealt["error"].tolist() == alone["error"].tolist()


def test_folds_are_dealt_out_by_random_state():
    X, y = noisy_points(4, m=30)
    errors = [c_path(X, y, [1.0, 2.0], cv=3, random_state=seed)["error"].tolist() for seed in (0, 0, 1, 2)]
    assert errors[0] == errors[1]
    assert errors[0] != errors[2] or errors[0] != errors[3]


@pytest.mark.parametrize("exact", [False, True])
def test_validation_rows_and_the_oracle(exact):
    X, y = noisy_points(5, m=40)
    X_test, y_test = noisy_points(6, m=60)
    path = c_path(X, y, CS, criterion=(X_test, y_test), exact=exact)
    errors = [np.mean(path.predict(X_test, C) != y_test) for C in CS]
    assert path["error"].tolist() == pytest.approx(errors)
    assert path.test_errors(X_test, y_test).tolist() == pytest.approx(errors)
    assert path.best_C == path.oracle_C(X_test, y_test) == CS[int(np.argmin(errors))]
    assert path.predict(X_test).tolist() == path.predict(X_test, path.best_C).tolist()
    assert path.criterion == "validation error"


def test_precomputed_kernels_and_rows_without_weight():
    X, y = noisy_points(7, m=40)
    K, weights = Gaussian(0.3)(X, X), np.where(np.arange(40) % 4 == 3, 0.0, 1.0)
    for exact in (False, True):
        given = c_path(K, y, CS, kernel="precomputed", exact=exact, sample_weight=weights, tol=1e-9)
        plain = c_path(X[weights > 0], y[weights > 0], CS, gamma=0.3, exact=exact, tol=1e-9)
        np.testing.assert_allclose(given["objective"], plain["objective"], rtol=1e-9)
        np.testing.assert_allclose(
            given.decision_function(K, 5.0), plain.decision_function(X, 5.0), atol=1e-6
        )
        assert not given.alpha_at(5.0)[weights == 0.0].any()
        assert given.alpha_at(5.0).shape == (40,)


def test_it_is_a_table_too():
    X, y = noisy_points(8, m=30)
    path = c_path(X, y, [10.0, 0.1, 1.0, 1.0])
    assert path.C.tolist() == [0.1, 1.0, 10.0]
    assert len(path) == 3
    expected = r"CPath\(3 steps, C from 0.1 to 10, best C=[\d.]+ with leave-one-out estimate [\d.]+\)"
    assert re.fullmatch(expected, repr(path))
    pd = pytest.importorskip("pandas")
    frame = path.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert {"C", "objective", "margin", "n_support", "training_error", "loo_bound"} <= set(frame.columns)
    assert {"error", "gap", "epochs", "seconds", "converged"} <= set(frame.columns)
    assert frame["seconds"].min() >= 0.0


def test_without_support_vectors_the_bias_decides():
    X, y = noisy_points(0, m=40)
    with pytest.warns(ConvergenceWarning, match="c_path did not converge"):
        path = c_path(X, y, [0.01], kernel="sigmoid", gamma=0.001, coef0=-1.0)
    assert not path.alpha_at(0.01).any()
    np.testing.assert_array_equal(path.decision_function(X), np.full(40, path.bias_at(0.01)))


def test_default_values_of_C():
    X, y = noisy_points(9, m=20)
    np.testing.assert_array_equal(c_path(X, y).C, 2.0 ** np.arange(-5, 16))
    assert c_path(X, y, exact=True).C[-1] <= 2.0**15


def test_a_C_beside_the_grid():
    X, y = noisy_points(0, m=20)
    path = c_path(X, y, [0.1, 1.0])
    message = (
        "C=0.7 is not one of the 2 values of this path, the nearest being 1; add it to Cs, or use exact=True"
    )
    with pytest.raises(ValueError, match=message):
        path.alpha_at(0.7)
    with pytest.raises(ValueError, match="is not one of the 2 values"):
        path.predict(X, -1.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": []}, "Cs must be a list of at least one number > 0"),
        ({"Cs": [[1.0]]}, r"Cs must be a list .* got shape \(1, 1\)"),
        ({"Cs": [1.0, 0.0]}, r"Cs must be finite numbers > 0, but Cs\[1\] is 0.0"),
        ({"Cs": [-2.0]}, r"Cs\[0\] is -2.0"),
        ({"Cs": [1.0, np.nan]}, r"Cs\[1\] is nan"),
        ({"Cs": [np.inf]}, r"Cs\[0\] is inf \(for a hard margin use SVC\(C=float\('inf'\)\)\)"),
        ({"Cs": ["much"]}, r"Cs must be numbers > 0, got \['much'\]"),
        ({"Cs": [1e-320], "sample_weight": np.full(20, 1e-10)}, "underflows .* scale sample_weight up"),
        ({"Cs": [1e300], "sample_weight": np.full(20, 1e10)}, "overflows .* scale sample_weight down"),
        ({"exact": "always"}, "exact must be True, False or 'auto', got 'always'"),
        (
            {"exact": True, "kernel": "sigmoid", "coef0": -1.0},
            "exact=True needs a positive semi-definite kernel",
        ),
        ({"criterion": "lo"}, r"criterion must be one of \['loo', 'support', 'cv'\].*did you mean 'loo'"),
        ({"criterion": "loo", "cv": 5}, "cv=5 belongs to criterion='cv', got criterion='loo'"),
        ({"scoring": "roc_auc"}, "scoring='roc_auc' needs rows held out; set cv"),
        ({"cv": 1}, "cv must be an integer >= 2"),
        ({"tol": 0.0}, "tol must be a finite number > 0, got 0.0"),
        ({"max_iter": 0}, "max_iter must be -1 or an integer >= 1"),
        ({"kernel": "rbff"}, "did you mean 'rbf'"),
        ({"sample_weight": [1.0]}, r"sample_weight must have shape \(20,\)"),
    ],
)
def test_requests_that_cannot_be_served(parameters, message):
    X, y = noisy_points(0, m=20)
    with pytest.raises(ValueError, match=message):
        c_path(X, y, **parameters)


def test_too_many_rows_for_an_exact_path():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2001, 1)), np.arange(2001) % 2
    with pytest.raises(ValueError, match="at most 2000 rows, X has 2001; set exact=False"):
        c_path(X, y, [1e-3], exact=True)


def test_a_constant_kernel_is_left_to_the_grid():
    X, y = np.ones((6, 2)), np.array([0, 1] * 3)
    with pytest.warns(UserWarning, match="constant|zero variance"):
        assert c_path(X, y, [1.0], exact="auto").exact_path is None


def test_fits_that_did_not_converge_are_named_and_not_chosen():
    X, y = noisy_points(0, m=40)
    with pytest.warns(ConvergenceWarning, match="c_path did not converge at C=10000; raise max_iter or tol"):
        path = c_path(X, y, [1e-3, 1e4], kernel="poly", degree=5, max_iter=1, tol=1e-12, criterion="support")
    assert path["converged"].tolist() == [True, False]
    assert path["criterion"][1] < path["criterion"][0]
    assert path.best_C == 1e-3
