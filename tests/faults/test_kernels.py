"""Bad kernels: rows K1 to K12 of docs/faults.md, as far as they concern `SVC`.

K2 is in `tests/solvers`; K11 and K12 for model files and Dask are with those.
"""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from adatron import SVC
from adatron.exceptions import KernelError, KernelWarning
from adatron.kernels import CallableKernel, Linear, Precomputed
from tests.faults.invariants import blobs, check_model, fit_quietly, overlapping

SOLVERS = ["auto", "adatron", "adatron-secant"]
each_solver = pytest.mark.parametrize("solver", SOLVERS)


def inner(X, Z):
    return X @ Z.T


def negated(X, Z):
    return 1.0 - X @ Z.T  # the diagonal is positive for short x, the curvature negative


def gaussian(X, Z):
    return rbf_kernel(X, Z, gamma=0.3)


def assert_indefinite(model, X, y):
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite.*'rbf'"):
        model.fit(X, y)
    assert (model.status_, model.converged_) == ("indefinite_kernel", False)
    check_model(model, X, y)


# ---------------------------------------------------------------- not positive semi-definite


@pytest.mark.fault("K1")
@pytest.mark.parametrize(("solver", "m"), [*((solver, 60) for solver in SOLVERS), ("auto", 1000)])
@pytest.mark.parametrize("C", [1.0, np.inf], ids=str)
def test_sigmoid_kernel(solver, C, m):
    X, y = overlapping(m)
    assert_indefinite(SVC(C=C, kernel="sigmoid", gamma=1.0, coef0=-1.0, solver=solver), X, y)


@pytest.mark.fault("K1")
@each_solver
def test_negated_linear_kernel(solver):
    X, y = overlapping()
    assert_indefinite(SVC(kernel=negated, solver=solver), 0.1 * X, y)


@pytest.mark.fault("K1")
@each_solver
@pytest.mark.parametrize("C", [1.0, np.inf], ids=str)
def test_indefinite_precomputed_kernel(solver, C):
    X, y = overlapping()
    K = rbf_kernel(X) - 0.2 * np.ones((60, 60))
    assert np.linalg.eigvalsh(K)[0] < -0.5
    assert_indefinite(SVC(C=C, kernel="precomputed", solver=solver), K, y)


@pytest.mark.fault("K1")
@each_solver
def test_negative_diagonal_in_a_precomputed_kernel(solver):
    """Concave along one point: no maximum but at the bound."""
    X, y = overlapping()
    K = rbf_kernel(X)
    K[7, 7] = -1.0
    assert_indefinite(SVC(kernel="precomputed", solver=solver), K, y)


@pytest.mark.fault("K1")
@each_solver
@pytest.mark.parametrize("C", [1.0, np.inf], ids=str)
def test_negative_curvature_in_two_of_1000_rows(solver, C):
    X, y = blobs(1000, distance=12.0)
    K = rbf_kernel(X, gamma=0.1)
    K[1, 4] = K[4, 1] = 3.0
    assert_indefinite(SVC(C=C, kernel="precomputed", solver=solver, max_iter=100), K, y)


# ---------------------------------------------------------------- precomputed


def with_entry(value, i=3, j=8):
    X, _ = overlapping()
    K = rbf_kernel(X)
    K[i, j] = value
    return K


@pytest.mark.fault("K3")
@each_solver
@pytest.mark.parametrize("as_object", [False, True], ids=["string", "object"])
def test_asymmetric_precomputed(solver, as_object):
    _, y = overlapping()
    model = SVC(kernel=Precomputed() if as_object else "precomputed", solver=solver)
    with pytest.raises(
        ValueError, match=r"not symmetric: K\[3, 8\] = 0.9.*K\[8, 3\].*largest difference.*K.T"
    ):
        model.fit(with_entry(0.9), y)
    assert not hasattr(model, "dual_coef_")


@pytest.mark.fault("K4")
def test_asymmetry_at_rounding_level():
    X, y = overlapping()
    K = rbf_kernel(X)
    noise = np.random.default_rng(0).uniform(-1e-13, 1e-13, K.shape)
    model = SVC(kernel="precomputed").fit(K + noise, y)
    check_model(model, K + noise, y)
    exact = SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(model.decision_function(K), exact.decision_function(K), atol=1e-9)


@pytest.mark.fault("K5")
@pytest.mark.parametrize("as_object", [False, True], ids=["string", "object"])
def test_precomputed_shape_at_fit(as_object):
    X, y = overlapping()
    with pytest.raises(
        ValueError, match=r"kernel='precomputed' needs the square matrix.*got shape \(60, 50\)"
    ):
        SVC(kernel=Precomputed() if as_object else "precomputed").fit(rbf_kernel(X)[:, :50], y)


@pytest.mark.fault("K5")
@pytest.mark.parametrize("columns", [59, 61, 3])
def test_precomputed_shape_at_predict(columns):
    X, y = overlapping()
    K = rbf_kernel(X)
    model = SVC(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match=rf"precomputed.*shape \(7, {columns}\).*expected \(7, 60\)"):
        model.predict(np.ones((7, columns)))
    assert model.predict(K[:7]).shape == (7,)


@pytest.mark.fault("K6")
@pytest.mark.parametrize("value", [np.nan, np.inf], ids=str)
def test_precomputed_not_finite(value):
    _, y = overlapping()
    with pytest.raises(ValueError, match="row 3, column 8"):
        SVC(kernel="precomputed").fit(with_entry(value), y)


@pytest.mark.fault("K6")
@pytest.mark.parametrize("C", [1.0, np.inf], ids=str)
def test_zero_matrix(C):
    _, y = overlapping()
    with pytest.raises(KernelError, match="kernel is numerically zero"):
        SVC(C=C, kernel="precomputed").fit(np.zeros((60, 60)), y)


@pytest.mark.fault("K6")
@each_solver
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no-bias"])
def test_point_at_the_origin(solver, bias):
    """k(x, x) = 0: the step 1/k(x, x) must not be taken literally."""
    X, y = overlapping()
    X[5] = X[6] = 0.0
    model = SVC(kernel="linear", solver=solver, fit_intercept=bias, max_iter=2_000)
    fit_quietly(model, X, y)
    check_model(model, X, y)
    K = X @ X.T
    same = SVC(kernel="precomputed", solver=solver, fit_intercept=bias, max_iter=2_000)
    check_model(fit_quietly(same, K, y), K, y)
    if solver != "adatron-secant":
        assert model.converged_
        assert same.converged_


@pytest.mark.fault("K6")
@each_solver
def test_point_at_the_origin_hard_margin(solver):
    X, y = blobs()
    X[:, 0] += 3.0
    X[5] = 0.0
    y[5] = 0
    model = fit_quietly(SVC(C=np.inf, kernel="linear", solver=solver), X, y)
    check_model(model, X, y)


@pytest.mark.fault("K7")
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_matrix])
def test_sparse_precomputed(kind):
    X, y = overlapping()
    K = rbf_kernel(X, gamma=5.0)
    K[K < 1e-3] = 0.0
    K += 0.1 * np.eye(60)
    model = SVC(kernel="precomputed").fit(kind(K), y)
    check_model(model, kind(K), y)
    dense = SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(model.decision_function(kind(K)), dense.decision_function(K), atol=1e-9)
    np.testing.assert_allclose(model.decision_function(K), dense.decision_function(K), atol=1e-9)


# ---------------------------------------------------------------- functions


def raises(X, Z):
    raise ZeroDivisionError("no such metric")


@pytest.mark.fault("K8")
def test_function_that_raises():
    X, y = overlapping()
    model = SVC(kernel=raises)
    with pytest.raises(KernelError, match=r"'raises' failed in kernel\(X\[0:\d+\].*no such metric") as caught:
        model.fit(X, y)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert not hasattr(model, "dual_coef_")


def fails_far_out(X, Z):
    if np.abs(X).max() > 100.0:
        raise ZeroDivisionError("too far out")
    return gaussian(X, Z)


@pytest.mark.fault("K8")
def test_function_that_raises_at_predict():
    X, y = overlapping()
    model = SVC(kernel=fails_far_out).fit(X, y)
    with pytest.raises(KernelError, match=r"'fails_far_out' failed in kernel.*too far out"):
        model.predict(1e3 * X)
    assert model.score(X, y) > 0.5


def gives_nan(X, Z):
    values = gaussian(X, Z)
    values[-1, -1] = np.nan
    return values


def gives_too_few_rows(X, Z):
    return gaussian(X, Z)[:1]


def gives_a_vector(X, Z):
    return gaussian(X, Z)[0]


def gives_a_number(X, Z):
    return 1.0


def gives_none(X, Z):
    return None


def gives_strings(X, Z):
    return gaussian(X, Z).astype(str)


def gives_objects(X, Z):
    return np.full((len(X), len(Z)), None)


def gives_complex(X, Z):
    return gaussian(X, Z) + 0j


def gives_list(X, Z):
    return gaussian(X, Z).tolist()


def gives_ragged_list(X, Z):
    return [[1.0] * (i + 1) for i in range(len(X))]


def gives_negative_diagonal(X, Z):
    return -gaussian(X, Z)


@pytest.mark.fault("K9")
@pytest.mark.parametrize("wrapped", [False, True], ids=["function", "kernel-object"])
@pytest.mark.parametrize(
    "function",
    [
        gives_nan, gives_too_few_rows, gives_a_vector, gives_a_number, gives_none, gives_strings,
        gives_objects, gives_complex, gives_list, gives_ragged_list, gives_negative_diagonal,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_function_with_wrong_values(wrapped, function):
    X, y = overlapping()
    model = SVC(kernel=CallableKernel(function) if wrapped else function)
    with pytest.raises(KernelError, match=rf"kernel function '{function.__name__}'"):
        model.fit(X, y)
    assert not hasattr(model, "dual_coef_")


def float32_values(X, Z):
    return gaussian(X, Z).astype(np.float32)


def whole_values(X, Z):
    return np.rint(X @ Z.T).astype(np.int64) + 20 * (X[:, None] == Z[None]).all(axis=2)


def fortran_values(X, Z):
    return np.asfortranarray(gaussian(X, Z))


@pytest.mark.fault("K9")
@pytest.mark.parametrize("function", [float32_values, whole_values, fortran_values], ids=lambda f: f.__name__)
def test_function_with_other_numbers(function):
    X, y = overlapping()
    model = fit_quietly(SVC(kernel=function, C=0.1), X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.duality_gap_ <= 1e-3


def keeps_its_result(X, Z):
    """Returns the same array again and again, which the caller must therefore not write to."""
    values = gaussian(X, Z)
    values.setflags(write=False)
    return values


@pytest.mark.fault("K9")
def test_function_with_read_only_values():
    X, y = overlapping()
    model = SVC(kernel=keeps_its_result).fit(X, y)
    expected = SVC(kernel=gaussian).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))


@pytest.mark.fault("K10")
@each_solver
def test_function_that_is_not_repeatable(solver):
    X, y = overlapping()
    rng = np.random.default_rng(0)

    def noisy(X, Z):
        return gaussian(X, Z) + 0.01 * rng.normal(size=(len(X), len(Z)))

    with pytest.warns(KernelWarning, match="'noisy' is not deterministic"):
        model = SVC(kernel=noisy, solver=solver, max_iter=2000).fit(X, y)
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.fault("K10")
def test_function_with_a_state():
    X, y = overlapping()
    calls = itertools.count(1)

    def counting(X, Z):
        return gaussian(X, Z) * next(calls)

    with pytest.warns(KernelWarning, match="'counting' is not deterministic"):
        SVC(kernel=counting, max_iter=2000).fit(X, y)


@pytest.mark.fault("K10")
@each_solver
def test_function_that_is_not_symmetric(solver):
    X, y = overlapping()

    def lopsided(X, Z):
        return gaussian(X, Z) + 0.3 * X[:, :1]

    with pytest.warns(KernelWarning, match="'lopsided' is not symmetric"):
        model = SVC(kernel=lopsided, solver=solver, max_iter=2000).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.fault("K11")
def test_function_that_cannot_be_pickled():
    """Threads need no pickle; pickling the model itself fails without harming it."""
    X, _ = overlapping()
    y = np.arange(60) % 3
    model = SVC(kernel=lambda X, Z: gaussian(X, Z), n_jobs=2).fit(X, y)
    expected = SVC(kernel=gaussian).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))


@pytest.mark.fault("K12")
@pytest.mark.parametrize("name", ["__import__('os').getcwd()", "os.getcwd", "lambda X, Z: X @ Z.T", ""])
def test_kernel_names_are_never_evaluated(name):
    X, y = overlapping()
    with pytest.raises(ValueError, match=r"kernel must be one of \['linear', 'poly', 'rbf'"):
        SVC(kernel=name).fit(X, y)


@pytest.mark.fault("K12")
def test_kernel_that_is_a_class():
    """`Linear` instead of `Linear()` is callable, but no kernel function."""
    X, y = overlapping()
    with pytest.raises(ValueError, match="'Linear'"):
        SVC(kernel=Linear).fit(X, y)


@pytest.mark.fault("K1")
def test_no_gap_is_claimed_for_an_indefinite_kernel():
    X, y = overlapping()
    with pytest.warns(
        ConvergenceWarning, match="has no certificate: the kernel is not positive semi-def"
    ) as w:
        SVC(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    assert not any("duality gap of" in str(warning.message) for warning in w)
