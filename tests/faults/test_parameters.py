"""Bad weights and parameters: rows P1 to P25 of docs/faults.md, as far as they concern `SVC`.

P20 and P21 are in `test_regression.py`, P24 in `tests/contracts`, and those about multiplicative updates in
`tests/solvers`. P25 here is about scikit-learn's search; ours is in `test_selection.py`.
"""

from itertools import count

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import GridSearchCV

from adatron import SVC
from adatron.exceptions import InfeasibleError, KernelError, KernelWarning
from adatron.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from tests.faults.invariants import (
    blobs,
    check_model,
    fit_quietly,
    overlapping,
    recomputed_gap,
)
from tests.stopwatch import Stopwatch

SOLVERS = ["auto", "adatron", "adatron-secant"]
each_solver = pytest.mark.parametrize("solver", SOLVERS)
with_or_without_bias = pytest.mark.parametrize("bias", [True, False], ids=["bias", "no-bias"])


def assert_same(model, other, X, atol=1e-12):
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), rtol=0.0, atol=atol)


# ---------------------------------------------------------------- weights


@pytest.mark.fault("P1", "P3")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: np.where(np.arange(60) == 8, np.nan, w), r"sample_weight .*NaN or infinite.*nan at row 8"),
        (lambda w: np.where(np.arange(60) == 8, np.inf, w), r"sample_weight .*NaN or infinite.*inf at row 8"),
        (lambda w: np.where(np.arange(60) == 8, -1.0, w), r"sample_weight .*>= 0.*negative.*-1.0 at row 8"),
        (lambda w: w[:-1], r"sample_weight must have shape \(60,\), got \(59,\)"),
        (lambda w: w[:, None], r"sample_weight must have shape \(60,\), got \(60, 1\)"),
        (lambda w: np.column_stack([w, w]), r"sample_weight must have shape \(60,\), got \(60, 2\)"),
        (lambda w: ["heavy"] * 60, r"sample_weight must be numbers"),
        (lambda w: w + 1j, r"sample_weight must be .*numbers"),
    ],
    ids=["nan", "inf", "negative", "short", "column", "2-D", "strings", "complex"],
)
def test_bad_weights(change, message):
    X, y = overlapping()
    model = SVC()
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=change(np.ones(60)))
    assert not hasattr(model, "dual_coef_")


@pytest.mark.fault("P2")
@each_solver
@with_or_without_bias
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_zero_weight_is_an_absent_row(solver, bias, kernel):
    X, y = overlapping()
    if kernel == "precomputed":
        X = np.exp(-0.3 * np.square(X[:, None] - X[None]).sum(axis=2))
    weights = (np.arange(60) % 5 != 0).astype(float)
    rows = np.flatnonzero(weights)
    model = SVC(kernel=kernel, solver=solver, fit_intercept=bias).fit(X, y, sample_weight=weights)
    check_model(model, X, y, weights)
    kept = X[np.ix_(rows, rows)] if kernel == "precomputed" else X[rows]
    removed = SVC(kernel=kernel, solver=solver, fit_intercept=bias).fit(kept, y[rows])
    test = X[:, rows] if kernel == "precomputed" else X
    np.testing.assert_allclose(model.decision_function(X), removed.decision_function(test), atol=1e-9)
    np.testing.assert_array_equal(model.support_, rows[removed.support_])


@pytest.mark.fault("P2")
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_zero_weights_with_many_classes(multi_class):
    X, _ = overlapping()
    y = np.arange(60) % 3
    weights = (np.arange(60) % 7 != 0).astype(float)
    model = SVC(multi_class=multi_class).fit(X, y, sample_weight=weights)
    check_model(model, X, y, weights)
    removed = SVC(multi_class=multi_class).fit(X[weights > 0.0], y[weights > 0.0])
    assert_same(model, removed, X, atol=1e-9)


@pytest.mark.fault("P4")
@each_solver
@pytest.mark.parametrize("weight", [1e300, 1e-300])
def test_extreme_equal_weights(solver, weight):
    X, y = blobs()
    weights = np.full(60, weight)
    model = fit_quietly(SVC(solver=solver), X, y, sample_weight=weights)
    check_model(model, X, y, weights)
    assert model.converged_
    assert model.n_support_.sum() > 0
    twin = SVC(C=np.inf, solver=solver) if weight > 1.0 else SVC(C=1e-300, solver=solver)
    assert_same(model, fit_quietly(twin, X, y), X, atol=1e-9)


@pytest.mark.fault("P4")
@each_solver
def test_huge_weights_on_overlapping_classes(solver):
    """As good as infinite: the error tells what makes them so."""
    X, y = overlapping()
    with pytest.raises(InfeasibleError, match=r"not separable.*(sample_weight|C \* weight)"):
        SVC(kernel="linear", solver=solver).fit(X, y, sample_weight=np.full(60, 1e300))


@pytest.mark.fault("P4")
def test_weights_that_overflow():
    X, y = blobs()
    with pytest.raises(ValueError, match=r"C \* sample_weight overflows with C=1e\+20.*scale sample_weight"):
        SVC(C=1e20).fit(X, y, sample_weight=np.full(60, 1e300))


@pytest.mark.fault("P4")
def test_weights_that_underflow():
    X, y = blobs()
    with pytest.raises(ValueError, match=r"C \* sample_weight underflows.* with C=1e-200; scale"):
        SVC(C=1e-200).fit(X, y, sample_weight=np.full(60, 1e-200))


@pytest.mark.fault("P5")
@pytest.mark.parametrize(
    ("solver", "kernel"),
    [(solver, kernel) for solver in SOLVERS for kernel in ("rbf", "laplacian")]
    + [(solver, kernel) for solver in ("auto", "adatron") for kernel in ("linear", "poly")],
)
@with_or_without_bias
def test_weight_two_is_the_row_twice(solver, bias, kernel):
    X, y = overlapping()
    weights = 1.0 + (np.arange(60) % 4 == 0)
    repeated = np.repeat(np.arange(60), weights.astype(int))
    options = {"kernel": kernel, "solver": solver, "fit_intercept": bias, "coef0": 1.0}
    weighted = SVC(**options).fit(X, y, sample_weight=weights)
    check_model(weighted, X, y, weights)
    assert_same(weighted, SVC(**options).fit(X[repeated], y[repeated]), X, atol=1e-7)


@pytest.mark.fault("P5")
def test_all_weights_scaled_is_C_scaled():
    X, y = overlapping()
    assert_same(SVC(C=2.0).fit(X, y, sample_weight=3.0 * np.ones(60)), SVC(C=6.0).fit(X, y), X, atol=1e-9)


# ---------------------------------------------------------------- numbers out of range

NO_POSITIVE_NUMBERS = [0, -1.0, np.nan, "1", None, [1.0], np.array([1.0, 2.0]), True, 1j]


@pytest.mark.fault("P6", "P9", "P13", "P14")
@pytest.mark.parametrize("value", NO_POSITIVE_NUMBERS, ids=repr)
def test_parameters_that_are_not_positive_numbers(value):
    """C, tol, gamma and the rest: 0, negative, NaN, string, None, array."""
    X, y = overlapping()
    for name in ("C", "tol", "learning_rate", "time_limit", "cache_size", "gamma"):
        if name == "time_limit" and value is None:
            continue  # the absence of a limit
        model = SVC(**{name: value})
        with pytest.raises(ValueError, match=rf"{name} must be .*got "):
            model.fit(X, y)
        assert not hasattr(model, "dual_coef_")


@pytest.mark.fault("P9", "P13", "P14")
@pytest.mark.parametrize("name", ["tol", "learning_rate", "cache_size", "gamma"])
def test_parameters_that_are_infinite(name):
    X, y = overlapping()
    with pytest.raises(ValueError, match=rf"{name} must be .*got inf"):
        SVC(**{name: np.inf}).fit(X, y)


@pytest.mark.fault("P7")
@each_solver
@with_or_without_bias
@pytest.mark.parametrize("C", [np.inf, 1e300], ids=str)
def test_hard_margin(solver, bias, C):
    X, y = blobs()
    model = SVC(C=C, solver=solver, fit_intercept=bias).fit(X, y)
    check_model(model, X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0
    assert_same(model, SVC(C=np.inf, solver=solver, fit_intercept=bias).fit(X, y), X, atol=1e-7)


@pytest.mark.fault("P7")
@each_solver
@pytest.mark.parametrize("C", [1e12, 1e25, 1e60], ids=str)
def test_neither_soft_nor_infinite(solver, C):
    """Too large for float64 to certify as a soft margin, perhaps, but the model is the hard margin's."""
    X, y = blobs()
    model = fit_quietly(SVC(C=C, solver=solver, max_iter=1_000), X, y)
    check_model(model, X, y)
    assert model.score(X, y) == 1.0


@pytest.mark.fault("P7")
@pytest.mark.parametrize(("solver", "m"), [("auto", 1000), ("adatron", 400)])
def test_hard_margin_on_many_rows(solver, m):
    """Classes that almost touch: as hard as a separable problem gets."""
    X, y = blobs(m)
    model = fit_quietly(SVC(C=1e300, solver=solver), X, y)
    check_model(model, X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0


@pytest.mark.fault("P7")
@each_solver
def test_hard_margin_on_many_overlapping_rows(solver):
    X, y = overlapping(400)
    with pytest.raises(InfeasibleError, match=r"not separable.*set C < inf"):
        SVC(C=1e300, kernel="linear", solver=solver).fit(X, y)


@pytest.mark.fault("P8")
@each_solver
@with_or_without_bias
def test_tiny_C(solver, bias):
    X, y = overlapping()
    for C in (1e-300, 1e-100, 1e-12):
        model = fit_quietly(SVC(C=C, solver=solver, fit_intercept=bias), X, y)
        check_model(model, X, y)
        assert model.converged_
        assert (np.abs(model.dual_coef_) == C).all()
        assert model.n_support_.sum() == 60


# ---------------------------------------------------------------- kernel parameters


@pytest.mark.fault("P9")
@pytest.mark.parametrize("sigma", [0.0, -1.0, np.inf, np.nan])
def test_sigma_out_of_range(sigma):
    with pytest.raises(ValueError, match=rf"sigma must be a finite number > 0, got {sigma}"):
        Gaussian.of_width(sigma)


@pytest.mark.fault("P9")
@pytest.mark.parametrize("sigma", [1e-200, 1e200])
def test_sigma_that_over_or_underflows(sigma):
    with pytest.raises(ValueError, match=r"sigma.*1e[-+]200|gamma must be a finite number > 0"):
        Gaussian.of_width(sigma)


@pytest.mark.fault("P9")
@each_solver
@pytest.mark.parametrize(
    ("gamma", "what"), [(1e12, "identity"), (1e300, "identity"), (1e-18, "constant"), (5e-324, "constant")]
)
def test_degenerate_gamma(solver, gamma, what):
    X, y = overlapping()
    for kernel in ("rbf", "laplacian"):
        model = SVC(kernel=kernel, gamma=gamma, solver=solver)
        with pytest.warns(KernelWarning, match=f"kernel matrix is numerically (the )?{what}"):
            model.fit(X, y)
        check_model(model, X, y)
        assert model.converged_


@pytest.mark.fault("P10")
@pytest.mark.parametrize("value", [0.7, -3.0])
def test_zero_variance(value):
    X, y = np.full((40, 3), value), np.arange(40) % 2
    with pytest.warns(KernelWarning) as caught:
        model = SVC().fit(X, y)
    assert any("zero variance" in str(w.message) and "1.0" in str(w.message) for w in caught)
    check_model(model, X, y)
    assert model._kernel == Gaussian(1.0)


@pytest.mark.fault("P11")
@pytest.mark.parametrize("degree", [0, -1, 2.5, 3.0, "3", None, np.nan, True], ids=repr)
def test_degree_out_of_range(degree):
    X, y = overlapping()
    with pytest.raises(ValueError, match=r"degree must be an integer >= 1, got "):
        SVC(kernel="poly", degree=degree).fit(X, y)


@pytest.mark.fault("P11")
@pytest.mark.parametrize("coef0", [np.inf, np.nan, "1", None, [1.0]], ids=repr)
def test_coef0_out_of_range(coef0):
    X, y = overlapping()
    for kernel in ("poly", "sigmoid"):
        with pytest.raises(ValueError, match=r"coef0 must be a finite number, got "):
            SVC(kernel=kernel, coef0=coef0).fit(X, y)


@pytest.mark.fault("P11")
@pytest.mark.parametrize("degree", [0, -1, 2.5, "3", None], ids=repr)
def test_exponent_of_a_kernel_object(degree):
    with pytest.raises(ValueError, match=rf"degree must be an integer >= 1, got {degree!r}"):
        Polynomial(degree=degree)
    with pytest.raises(ValueError, match=rf"exponent must be an integer >= 1, got {degree!r}"):
        Linear() ** degree


@pytest.mark.fault("P9")
@pytest.mark.parametrize("gamma", [0.0, -1.0, np.inf, np.nan, "1", None], ids=repr)
def test_gamma_of_a_kernel_object(gamma):
    for kind in (Gaussian, Laplacian, Polynomial, Sigmoid):
        with pytest.raises(ValueError, match=rf"gamma must be a finite number > 0, got {gamma!r}"):
            kind(gamma=gamma)


@pytest.mark.fault("P11")
@pytest.mark.parametrize("coef0", [np.inf, np.nan, "1", None], ids=repr)
def test_coef0_of_a_kernel_object(coef0):
    for kind in (Polynomial, Sigmoid):
        with pytest.raises(ValueError, match=rf"coef0 must be a finite number, got {coef0!r}"):
            kind(coef0=coef0)


@pytest.mark.fault("P11")
@pytest.mark.parametrize(
    "options", [{"degree": 400, "gamma": 10.0}, {"coef0": 1e300}, {"coef0": -1e300}], ids=str
)
def test_polynomial_overflows(options):
    X, y = overlapping()
    model = SVC(kernel="poly", **options)
    with pytest.raises(
        KernelError, match=r"kernel value is -?inf for rows \d+ and \d+ .*kernel's parameters"
    ):
        model.fit(X, y)
    assert not hasattr(model, "dual_coef_")


@pytest.mark.fault("P11")
@each_solver
def test_high_degree_that_does_not_overflow(solver):
    """Values of very different sizes in one matrix: an error that tells the fix."""
    X, y = blobs()
    model = SVC(kernel="poly", degree=400, solver=solver, max_iter=2000)
    with pytest.raises(ValueError, match="scale X"):
        fit_quietly(model, 0.5 * X, y)
    assert not hasattr(model, "dual_coef_")


# ---------------------------------------------------------------- learning rate, tolerance, limits


@pytest.mark.fault("P12")
@pytest.mark.parametrize("solver", ["adatron", "adatron-secant"])
@pytest.mark.parametrize("rate", [2.0, 3.0, 1e6])
def test_learning_rate_too_large(solver, rate):
    X, y = overlapping()
    model = SVC(solver=solver, learning_rate=rate)
    with pytest.raises(ValueError, match=rf"learning_rate={rate}.* too large.*< 2 / max K_ii = 2.*'auto'"):
        model.fit(X, y)
    assert not hasattr(model, "dual_coef_")


@pytest.mark.fault("P12")
@pytest.mark.parametrize("solver", ["adatron", "adatron-secant"])
@pytest.mark.parametrize("rate", [0.01, 0.5, 1.5, 1.99])
def test_learning_rate_that_is_allowed(solver, rate):
    X, y = overlapping()
    model = fit_quietly(SVC(solver=solver, learning_rate=rate, max_iter=5_000), X, y)
    check_model(model, X, y)
    if solver == "adatron" and rate < 1.9:  # beyond, too slow rather than wrong
        assert model.converged_
        assert_same(model, SVC(solver=solver).fit(X, y), X, atol=1e-7)


@pytest.mark.fault("P14")
@pytest.mark.parametrize(
    ("solver", "m"),
    [("auto", 60), ("adatron", 60), ("adatron-secant", 60), ("auto", 1000), ("adatron", 400)],
)
@pytest.mark.parametrize("C", [1.0, np.inf], ids=str)
def test_tol_below_precision(solver, m, C):
    X, y = blobs(m) if np.inf == C else overlapping(m)
    model = SVC(C=C, tol=1e-300, solver=solver)
    with pytest.warns(ConvergenceWarning, match=r"float64.*gap of .*tol=1e-300"):
        model.fit(X, y)
    check_model(model, X, y)
    assert model.status_ == "precision_limit"
    assert model.duality_gap_ < 1e-10


@pytest.mark.fault("P15")
@pytest.mark.parametrize("value", [0, -2, 5.0, -1.0, np.nan, None, "10", True], ids=repr)
def test_max_iter_out_of_range(value):
    X, y = overlapping()
    with pytest.raises(ValueError, match=r"max_iter must be -1 or an integer >= 1, got "):
        SVC(max_iter=value).fit(X, y)


@pytest.mark.fault("P15")
@each_solver
@pytest.mark.parametrize("C", [1e4, np.inf], ids=str)
def test_one_epoch_is_a_model_with_a_warning(solver, C):
    X, y = overlapping()
    model = SVC(C=C, gamma=5.0, tol=1e-9, max_iter=1, solver=solver)
    with pytest.warns(ConvergenceWarning, match=r"max_iter epochs were not enough.*gap of .*raise max_iter"):
        model.fit(X, y)
    check_model(model, X, y)
    assert (model.status_, model.converged_) == ("max_iter", False)
    assert model.n_iter_.tolist() == [1]


@pytest.mark.fault("P15")
def test_max_iter_of_minus_one_is_finite():
    X, y = overlapping()
    assert SVC(max_iter=-1).fit(X, y).n_iter_.max() <= 100_000


@pytest.mark.fault("P16")
@each_solver
@pytest.mark.parametrize("C", [1e6, np.inf], ids=str)
def test_time_limit(solver, C, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 10)), rng.integers(0, 2, 600)
    model = SVC(C=C, gamma=1e-3, tol=1e-12, time_limit=0.02, solver=solver)
    fit_quietly(model, X, y)  # compiles
    watch, looks = Stopwatch(), count()
    with pytest.warns(ConvergenceWarning, match=r"time_limit was reached.*gap of .*raise time_limit"):
        model.fit(X, y)
    assert watch.seconds() < 5.0  # the whole fit takes minutes
    check_model(model, X, y)
    assert model.status_ == "time_limit"
    monkeypatch.setattr("adatron.training.run.monotonic", lambda: 1e-3 * next(looks))
    assert fit_quietly(model, X, y).status_ == "time_limit"
    assert next(looks) < 30  # the limit comes after 20 looks at the clock, and is seen at once


@pytest.mark.fault("P16")
def test_time_limit_shorter_than_anything():
    X, y = overlapping()
    model = fit_quietly(SVC(time_limit=1e-9), X, y)
    check_model(model, X, y)
    assert model.status_ == "time_limit"


# ---------------------------------------------------------------- threads, seeds, class weights


@pytest.mark.fault("P17")
@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True], ids=repr)
def test_n_jobs_out_of_range(n_jobs):
    X, y = overlapping()
    with pytest.raises(ValueError, match=r"n_jobs must be None or an integer other than 0, got "):
        SVC(n_jobs=n_jobs).fit(X, y)


@pytest.mark.fault("P17")
@pytest.mark.parametrize("n_jobs", [-(10**6), -1, 1, 2, 10**6])
def test_n_jobs_clipped(n_jobs):
    X, _ = overlapping()
    y = np.arange(60) % 4
    model = SVC(n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), SVC().fit(X, y).decision_function(X))


@pytest.mark.fault("P18")
@pytest.mark.parametrize(
    "make", [lambda: None, lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)],
    ids=["None", "int", "RandomState", "Generator"],
)  # fmt: skip
def test_random_state_of_any_kind(make):
    X, _ = overlapping()
    y = np.arange(60) % 3
    first = SVC(random_state=make(), probability=True).fit(X, y)
    second = SVC(random_state=make(), probability=True, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


@pytest.mark.fault("P19")
@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({0: 1.0, 1: 1.0, 7: 2.0}, r"class_weight .*7"),
        ({0: 1.0, 7: 2.0}, r"class_weight"),
        ({0: np.nan}, r"class_weight .*nan.*class 0"),
        ({1: np.inf}, r"class_weight .*inf.*class 1"),
        ({1: -2.0}, r"class_weight .*-2.0.*class 1"),
        ({1: "heavy"}, r"class_weight .*heavy"),
        ("balance", r"class_weight .*balanced"),
        (3.0, r"class_weight .*3\.0"),
    ],
    ids=str,
)
def test_bad_class_weight(class_weight, message):
    X, y = overlapping()
    model = SVC(class_weight=class_weight)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "dual_coef_")


@pytest.mark.fault("P19")
def test_balanced_counts_weights():
    X, y = overlapping()
    y = (np.arange(60) % 3 == 0).astype(int)
    weights = 1.0 + (np.arange(60) % 4 == 0)
    repeated = np.repeat(np.arange(60), weights.astype(int))
    weighted = SVC(class_weight="balanced").fit(X, y, sample_weight=weights)
    check_model(weighted, X, y, weights)
    assert_same(weighted, SVC(class_weight="balanced").fit(X[repeated], y[repeated]), X, atol=1e-7)


@pytest.mark.fault("P19")
def test_class_weight_is_a_sample_weight():
    X, y = overlapping()
    model = SVC(gamma=0.3, class_weight={1: 5.0}).fit(X, y)
    check_model(model, X, y)
    assert_same(model, SVC(gamma=0.3).fit(X, y, sample_weight=np.where(y == 1, 5.0, 1.0)), X, atol=1e-9)


# ---------------------------------------------------------------- names and combinations


@pytest.mark.fault("P22")
@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("kernel", "rfb", "did you mean 'rbf'"),
        ("kernel", 7, "must be one of"),
        ("kernel", None, "must be one of"),
        ("solver", "adatrn", "did you mean 'adatron'"),
        ("solver", None, "must be one of"),
        ("gamma", "scales", "did you mean 'scale'"),
        ("multi_class", "ovx", "must be one of"),
        ("multi_class", ["ovo"], "must be one of"),
        ("decision_function_shape", "ovx", "must be one of"),
        ("cache_size", "big", "'auto' or a number of MB"),
        ("learning_rate", "fast", "'auto' or a finite number"),
        ("time_limit", "1s", "None or a finite number"),
        ("rank", "low", "None"),
        ("random_state", "seed", "integer"),
        ("probability", "yes", "bool"),
        ("shrinking", "yes", "bool"),
        ("break_ties", "yes", "bool"),
        ("fit_intercept", "yes", "bool"),
        ("warm_start", "yes", "bool"),
        ("verbose", "yes", "bool"),
    ],
)
def test_option_with_a_wrong_value(name, value, hint):
    X, y = overlapping()
    model = SVC(**{name: value})
    with pytest.raises(ValueError, match=rf"(?s){name} must be .*got {value!r}|{name}.*{hint}") as caught:
        model.fit(X, y)
    assert hint in str(caught.value)
    assert not hasattr(model, "dual_coef_")


@pytest.mark.fault("P22")
def test_misspelt_name():
    with pytest.raises(
        ValueError, match=r"Invalid parameter 'gama' for estimator SVC; did you mean 'gamma'\?"
    ):
        SVC().set_params(gama=1.0)
    with pytest.raises(TypeError, match="gama"):
        SVC(gama=1.0)


@pytest.mark.fault("P23")
def test_break_ties_needs_one_score_per_class():
    X, _ = overlapping()
    model = SVC(break_ties=True, decision_function_shape="ovo").fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match="break_ties must be False when decision_function_shape is 'ovo'"):
        model.predict(X)


@pytest.mark.fault("P23")
def test_probabilities_need_the_parameter():
    X, y = overlapping()
    with pytest.raises(AttributeError, match="predict_proba"):
        _ = SVC().fit(X, y).predict_proba
    with pytest.raises(AttributeError, match="coef_ is only available when using a linear kernel"):
        _ = SVC().fit(X, y).coef_


# ---------------------------------------------------------------- search


@pytest.mark.fault("P25")
def test_every_candidate_fails():
    X, y = overlapping()
    search = GridSearchCV(SVC(), {"gamma": [-1.0, 0.0]}, cv=2)
    with pytest.raises(ValueError, match=r"(?s)All the 4 fits failed.*gamma must be .*got -1.0.*got 0.0"):
        search.fit(X, y)


@pytest.mark.fault("P25")
def test_one_candidate_fails():
    X, y = overlapping()
    search = GridSearchCV(SVC(), {"gamma": [-1.0, 0.5]}, cv=2)
    with pytest.warns((FitFailedWarning, UserWarning), match="gamma must be .*got -1.0|non-finite"):
        search.fit(X, y)
    assert search.best_params_ == {"gamma": 0.5}
    assert recomputed_gap(search.best_estimator_, X, y) <= 1e-3


@pytest.mark.fault("P25")
def test_empty_grid():
    X, y = overlapping()
    with pytest.raises(ValueError, match=r"gamma.*empty|empty.*gamma|non-empty"):
        GridSearchCV(SVC(), {"gamma": []}).fit(X, y)
