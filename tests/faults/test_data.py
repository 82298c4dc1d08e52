"""Bad data: rows D1 to D41 of docs/faults.md, as far as they concern `SVC`.

Regression and one-class problems (D5, D6 and the targets of D3) are in `test_regression.py`, denormal
multipliers (D14) in `test_numerics.py`.
"""

import re
import threading
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score

from adatron import SVC
from adatron.exceptions import AdatronWarning, InfeasibleError, KernelError, KernelWarning
from tests.faults.invariants import blobs, check_model, fit_quietly, overlapping
from tests.silent_callback import SilentCallback

SOLVERS = ["auto", "adatron", "adatron-secant"]
each_solver = pytest.mark.parametrize("solver", SOLVERS)
with_or_without_bias = pytest.mark.parametrize("bias", [True, False], ids=["bias", "no-bias"])

FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


def assert_unfitted(model):
    with pytest.raises(NotFittedError):
        model.predict([[0.0, 0.0, 0.0]])
    assert [name for name in vars(model) if name.endswith("_") and not name.startswith("_")] == []


def assert_same(model, other, X, atol=1e-12):
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), rtol=0.0, atol=atol)


# ---------------------------------------------------------------- values that are no numbers


@pytest.mark.fault("D1", "D2")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize(
    "convert", [np.asarray, sparse.csr_array, sparse.csc_matrix], ids=lambda c: c.__name__
)
def test_values_that_are_not_finite(convert, value):
    X, y = blobs()
    X[11, 2] = X[40, 1] = value
    model = SVC()
    kind = "NaN" if np.isnan(value) else "infinity"
    with pytest.raises(ValueError, match=rf"Input X contains {kind}: 2 .*row 11, column 2; impute or drop"):
        model.fit(convert(X), y)
    assert_unfitted(model)


@pytest.mark.fault("D1", "D2")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=lambda c: c.__name__)
def test_values_that_are_not_finite_wherever_they_are(convert, value):
    """Values after it in its column do not hide it, nor do those before."""
    for i, j in product(range(4), range(3)):
        X = np.arange(12.0).reshape(4, 3) - 5.0
        X[i, j] = value
        with pytest.raises(
            ValueError, match=rf"1 value\(s\) are NaN or infinity, the first in row {i}, column {j}"
        ):
            SVC().fit(convert(X), [0, 1, 0, 1])


@pytest.mark.fault("D1")
def test_nan_in_a_named_column():
    X, y = blobs()
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN: 1 .*row 7, column 'width'; impute or drop"):
        SVC().fit(pd.DataFrame(X, columns=["length", "width", "height"]), y)


@pytest.mark.fault("D1")
def test_nan_at_predict():
    X, y = blobs()
    model = SVC().fit(X, y)
    X[3, 0] = np.nan
    with pytest.raises(ValueError, match=r"row 3, column 0; impute or drop"):
        model.predict(X)


@pytest.mark.fault("D2")
def test_float32_overflow():
    X, y = blobs()
    X[5, 1] = 1e39
    with np.errstate(over="ignore"):
        narrow = X.astype(np.float32)
    with pytest.raises(ValueError, match=r"X contains infinity: 1 .*row 5, column 1; impute or drop"):
        SVC().fit(narrow, y)


@pytest.mark.fault("D3")
@pytest.mark.parametrize("label", [np.nan, np.inf, None, pd.NA], ids=str)
def test_missing_label(label):
    X, y = blobs()
    labels = y.astype(object)
    if isinstance(label, float):
        labels = y.astype(float)
    labels[9] = label
    model = SVC()
    with pytest.raises(ValueError, match=r"y contains .*row 9.*drop"):
        model.fit(X, labels)
    assert_unfitted(model)


# ---------------------------------------------------------------- too little data


@pytest.mark.fault("D4")
def test_no_rows():
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        SVC().fit(np.empty((0, 3)), [])


@pytest.mark.fault("D4")
def test_no_columns():
    with pytest.raises(ValueError, match=r"Found array with 0 feature\(s\)"):
        SVC().fit(np.empty((40, 0)), np.arange(40) % 2)


@pytest.mark.fault("D5", "D6")
@pytest.mark.parametrize("m", [1, 40], ids=["one-row", "one-class"])
def test_one_class(m):
    X, _ = blobs(m)
    model = SVC()
    with pytest.raises(ValueError, match=r"needs at least two classes, y has only 1 class: 'spam'"):
        model.fit(X, ["spam"] * m)
    assert_unfitted(model)


@pytest.mark.fault("D7")
def test_one_class_left_after_zero_weights():
    X, y = blobs()
    labels = np.where(y == 1, "spam", "ham")
    model = SVC()
    with pytest.raises(ValueError, match=r"\['spam'\].*zero weight"):
        model.fit(X, labels, sample_weight=1.0 - y)
    assert_unfitted(model)
    with pytest.raises(ValueError, match=r"\['ham'\].*zero weight"):
        SVC(class_weight={"ham": 0.0, "spam": 1.0}).fit(X, labels)


@pytest.mark.fault("D7")
def test_one_class_left_in_a_fold():
    X, y = blobs()
    order = np.argsort(y, kind="stable")
    halves = [(np.arange(30), np.arange(30, 60))]
    with pytest.raises(ValueError, match=r"only 1 class: 0"):
        cross_val_score(SVC(), X[order], y[order], cv=halves, error_score="raise")


# ---------------------------------------------------------------- points that coincide


@pytest.mark.fault("D8")
@each_solver
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("share", [3, 2], ids=["a-third", "a-tie"])
def test_identical_points_soft_margin(solver, kernel, share):
    X, y = np.ones((60, 3)), (np.arange(60) % share == 0).astype(int)
    model = SVC(kernel=kernel, gamma=1.0, solver=solver)
    with pytest.warns(KernelWarning, match="constant"):
        model.fit(X, y)
    check_model(model, X, y)
    assert model.converged_
    expected = {3: -1.0, 2: 0.0}[share]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)


@pytest.mark.fault("D8")
@each_solver
def test_identical_points_weighted_majority(solver):
    X, y = np.ones((60, 3)), (np.arange(60) % 3 == 0).astype(int)
    weights = np.where(y == 1, 5.0, 1.0)
    model = SVC(gamma=1.0, solver=solver)
    with pytest.warns(KernelWarning, match="constant"):
        model.fit(X, y, sample_weight=weights)
    check_model(model, X, y, weights)
    assert (model.predict(X) == 1).all()


@pytest.mark.fault("D8")
@each_solver
def test_identical_points_hard_margin(solver):
    with pytest.raises(InfeasibleError, match=r"rows 0 and 1 .*C < inf"):
        fit_quietly(SVC(C=np.inf, solver=solver), np.ones((60, 3)), np.arange(60) % 3 == 0)


def opposite_duplicates():
    X, y = blobs()
    X[41] = X[12]  # one is of class 0, the other of class 1
    return X, y


@pytest.mark.fault("D9")
@each_solver
@with_or_without_bias
def test_opposite_duplicates_hard_margin(solver, bias):
    X, y = opposite_duplicates()
    for C, convert in product((np.inf, 1e300), (np.asarray, sparse.csr_array)):
        model = SVC(C=C, solver=solver, fit_intercept=bias)
        with pytest.raises(InfeasibleError, match=r"not separable.*12 and 41\b.*coincide.*set C < inf"):
            model.fit(convert(X), y)
        assert_unfitted(model)


@pytest.mark.fault("D9")
@each_solver
def test_opposite_duplicates_in_a_precomputed_kernel(solver):
    X, y = opposite_duplicates()
    model = SVC(C=np.inf, kernel="precomputed", solver=solver)
    with pytest.raises(InfeasibleError, match=r"not separable.*12 and 41\b.*coincide.*set C < inf"):
        model.fit((1.0 + X @ X.T) ** 3, y)
    assert_unfitted(model)


@pytest.mark.fault("D9")
def test_rows_are_counted_as_the_user_counts_them():
    """Rows of weight zero, and other classes, do not shift the numbers in the message."""
    X, y = opposite_duplicates()
    weights = np.ones(60)
    weights[:5] = 0.0
    with pytest.raises(InfeasibleError, match=r"12 and 41\b"):
        SVC(C=np.inf).fit(X, y, sample_weight=weights)
    with pytest.raises(InfeasibleError, match=r"12 and 41\b"):
        SVC(C=np.inf, kernel="precomputed").fit((1.0 + X @ X.T) ** 3, y, sample_weight=weights)
    y[:3] = 7
    with pytest.raises(InfeasibleError, match=r"12 and 41\b"):
        SVC(C=np.inf, kernel="precomputed").fit((1.0 + X @ X.T) ** 3, y)


@pytest.mark.fault("D9")
@pytest.mark.parametrize(("solver", "bias"), [("auto", True), ("adatron-secant", False)])
def test_opposite_duplicates_among_many_rows(solver, bias):
    X, y = blobs(400)
    X[301] = X[200]
    K = np.exp(-0.1 * np.square(X[:, None] - X[None]).sum(axis=2))
    with pytest.raises(InfeasibleError, match=r"200 and 301\b.*coincide.*set C < inf"):
        SVC(C=np.inf, kernel="precomputed", solver=solver, fit_intercept=bias).fit(K, y)


@pytest.mark.fault("D10")
@each_solver
@with_or_without_bias
def test_opposite_duplicates_soft_margin(solver, bias):
    X, y = blobs()
    X[:, 0] -= 3.0
    X[12] = X[41] = 0.0  # half-way between the classes
    model = fit_quietly(SVC(C=10.0, solver=solver, fit_intercept=bias), X, y)
    check_model(model, X, y)
    assert model.converged_
    alpha = dict(zip(model.support_.tolist(), np.abs(model.dual_coef_[0]), strict=True))
    assert [alpha[12], alpha[41]] == pytest.approx([10.0, 10.0], rel=1e-12)


XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])


@pytest.mark.fault("D11")
@each_solver
@with_or_without_bias
@pytest.mark.parametrize("data", [XOR, overlapping()], ids=["xor", "overlapping"])
def test_not_separable_hard_margin(solver, bias, data):
    model = SVC(C=np.inf, kernel="linear", solver=solver, fit_intercept=bias)
    with pytest.raises(InfeasibleError, match=r"not separable with this kernel.*set C < inf"):
        model.fit(*data)
    assert_unfitted(model)


@pytest.mark.fault("D12")
@each_solver
@with_or_without_bias
@pytest.mark.parametrize("margin", [1e-6, 1e-9, 1e-12])
def test_tiny_margin(solver, bias, margin):
    X, y = blobs(40)
    X[:, 0] += np.where(y == 1, margin, -margin) - X[:, 0] + 0.1 * (2 * y - 1) * np.abs(X[:, 0])
    X[0], X[1] = [-margin, 0.0, 0.0], [margin, 0.0, 0.0]
    model = SVC(C=np.inf, kernel="linear", solver=solver, fit_intercept=bias, max_iter=20_000)
    fit_quietly(model, X, y)
    check_model(model, X, y)
    assert model.score(X, y) == 1.0
    assert model.converged_ or (solver, bias, margin) == ("adatron", True, 1e-12)


# ---------------------------------------------------------------- sizes


@pytest.mark.fault("D13")
@each_solver
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-160, 1e-150, 1e-100])
def test_denormals(solver, scale):
    X, y = overlapping()
    model = SVC(kernel="linear", solver=solver)
    if scale < 1e-170:  # every inner product underflows to zero
        with pytest.raises(KernelError, match=r"kernel is numerically zero.*scale X"):
            model.fit(X * scale, y)
        assert_unfitted(model)
    else:
        fit_quietly(model, X * scale, y)
        check_model(model, X * scale, y)


@pytest.mark.fault("D13")
def test_denormals_in_a_gaussian_kernel():
    X, y = overlapping()
    model = SVC()
    with pytest.warns(KernelWarning) as caught:
        model.fit(X * 1e-310, y)
    assert {"zero variance" in str(w.message) or "constant" in str(w.message) for w in caught} == {True}
    check_model(model, X * 1e-310, y)


@pytest.mark.fault("D15")
@each_solver
@pytest.mark.parametrize(
    ("kernel", "scale"),
    [
        ("linear", 1e160),
        ("poly", 1e150),
        ("sigmoid", 1e200),
        ("rbf", 1e160),
        ("linear", 1e307),
        ("rbf", 1e307),
    ],
)
def test_kernel_overflows(solver, kernel, scale):
    X, y = blobs()
    X = np.clip(X, -9.0, 9.0) * scale
    model = SVC(kernel=kernel, gamma=1.0, solver=solver)
    with pytest.raises(KernelError, match=r"kernel value is (inf|nan|-inf) for rows \d+ and \d+ .*scale X"):
        model.fit(X, y)
    assert_unfitted(model)


@pytest.mark.fault("D15")
@pytest.mark.parametrize("scale", [1e160, 1e307])
def test_variance_overflows(scale):
    X, y = blobs()
    with pytest.raises(KernelError, match=r"X overflows float64; scale X"):
        SVC().fit(np.clip(X, -9.0, 9.0) * scale, y)
    with pytest.raises(KernelError, match=r"X overflows float64; scale X"):
        SVC().fit(sparse.csr_array(np.clip(X, -9.0, 9.0) * scale), y)


@pytest.mark.fault("D15")
@each_solver
@pytest.mark.parametrize("scale", [1e100, 1e150])
def test_large_but_not_too_large(solver, scale):
    X, y = blobs()
    model = fit_quietly(SVC(solver=solver), X * scale, y)
    check_model(model, X * scale, y)
    assert model.score(X * scale, y) == 1.0


@pytest.mark.fault("D16")
@each_solver
@pytest.mark.parametrize(("m", "limit"), [(60, {"max_iter": 2_000}), (300, {"max_iter": 2_000})])
def test_unscaled_linear_with_mixed_labels(solver, m, limit):
    X, _ = blobs(m)
    y = np.random.default_rng(1).integers(0, 2, m)
    model = fit_quietly(SVC(kernel="linear", solver=solver, **limit), X * 1e5, y)
    check_model(model, X * 1e5, y)


@pytest.mark.fault("D17")
@each_solver
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("make", [blobs, overlapping])
def test_one_feature_much_larger(solver, kernel, make):
    X, y = make()
    X = X * [1.0, 1e12, 1.0]
    model = SVC(kernel=kernel, solver=solver, max_iter=500)
    with pytest.warns(AdatronWarning, match=r"column 1 of X varies 1e\+12 times more than.*scale X"):
        model.fit(X, y)
    check_model(model, X, y)


@pytest.mark.fault("D17")
def test_scales_that_need_no_hint():
    X, y = overlapping()
    X[:, 1] = 1e15  # constant: it counts for nothing, whatever its size
    assert SVC(gamma=0.3).fit(X, y).converged_
    X[0, 1] += 0.125  # rounding noise of a constant column
    assert SVC(gamma=0.3).fit(X, y).converged_
    K = rbf_kernel(X[:, :1]) + np.diag(10.0 ** np.linspace(-8.0, 8.0, 60))
    assert SVC(kernel="precomputed", C=1e-3).fit(K, y).n_support_.sum() > 0


# ---------------------------------------------------------------- types


@pytest.mark.fault("D18", "D19")
@pytest.mark.parametrize(
    "dtype",
    [
        "float16",
        "float32",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint64",
        "longdouble",
        "bool",
        "object",
    ],
)
def test_numeric_types(dtype):
    X, y = blobs()
    X = np.abs(np.round(X * 8.0)).astype(dtype)
    model = SVC().fit(X, y)
    check_model(model, X, y)
    assert_same(model, SVC().fit(X.astype(np.float64), y), X)


@pytest.mark.fault("D18")
def test_uint64_beyond_double_precision():
    X, y = blobs()
    X = (np.abs(X) * 1e15).astype(np.uint64) + np.uint64(2**60)
    with pytest.warns(AdatronWarning, match=r"X has uint64 values above 2\*\*53"):
        SVC().fit(X, y)


@pytest.mark.fault("D19")
@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_object_with_strings(make):
    X, y = blobs()
    X = X.astype(object)
    X[4, 1] = "tall"
    model = SVC()
    with pytest.raises(ValueError, match=r"could not convert.*row 4, column 1: 'tall'.*encode"):
        model.fit(make(X), y)
    assert_unfitted(model)


@pytest.mark.fault("D20")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: np.full(X.shape, "tall"), r"could not convert.*X, row 0, column 0.*encode"),
        (lambda X: X.astype("datetime64[s]"), r"X has dtype datetime64.*convert"),
        (lambda X: X.astype("timedelta64[s]"), r"X has dtype timedelta64.*convert"),
        (lambda X: X + 1j, r"Complex data not supported.*X.*real"),
        (lambda X: sparse.csr_array(X + 1j), r"Complex data not supported.*X.*real"),
        (
            lambda X: pd.DataFrame({"when": X[:, 0].astype("datetime64[s]"), "b": X[:, 1]}),
            r"X, row 0, column 'when'.*encode",
        ),
        (lambda X: pd.DataFrame({"a": X[:, 0], "z": X[:, 1] + 1j}), r"Complex data not supported.*X.*real"),
        (lambda X: [["tall", "wide"]] * len(X), r"could not convert.*X, row 0, column 0.*encode"),
    ],
    ids=[
        "string",
        "datetime",
        "timedelta",
        "complex",
        "sparse-complex",
        "frame-datetime",
        "frame-complex",
        "lists",
    ],
)
def test_types_that_are_no_numbers(make, message):
    X, y = blobs()
    model = SVC()
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
        model.fit(make(np.round(X * 100)), y)
    assert_unfitted(model)


@pytest.mark.fault("D21")
@pytest.mark.parametrize(
    "names",
    [
        np.array(["ham", "spam"]),
        np.array([False, True]),
        np.array([-5, 17]),
        np.array([-1.0, 3.0]),
        np.array(["ham", "spam"], dtype=object),
        np.array([2, 4], dtype=object),
    ],
    ids=lambda names: f"{names.dtype.kind}-{names[1]}",
)
def test_labels_of_any_type(names):
    X, y = blobs()
    model = SVC().fit(X, names[y])
    check_model(model, X, names[y])
    np.testing.assert_array_equal(model.classes_, names)
    np.testing.assert_array_equal(model.predict(X), names[y])
    assert_same(model, SVC().fit(X, y), X)


@pytest.mark.fault("D21")
def test_labels_of_bytes():
    X, y = blobs()
    with pytest.raises(TypeError, match=r"bytes is not supported. Convert the labels to a string"):
        SVC().fit(X, np.array([b"ham", b"spam"])[y])


@pytest.mark.fault("D21")
def test_negative_zero_is_zero():
    X, y = blobs()
    labels = np.where(y == 1, 1.0, np.where(np.arange(60) % 4 == 0, -0.0, 0.0))
    model = SVC().fit(X, labels)
    assert model.classes_.tolist() == [0.0, 1.0]
    assert_same(model, SVC().fit(X, y), X)


@pytest.mark.fault("D21")
@pytest.mark.parametrize(
    "make", [list, lambda y: np.array(y, dtype=object), pd.Series], ids=["list", "array", "series"]
)
def test_labels_of_mixed_types(make):
    X, y = blobs()
    model = SVC()
    with pytest.raises(ValueError, match=r"y mixes labels of types \['int', 'str'\]; use one type"):
        model.fit(X, make([1 if label else "one" for label in y]))
    assert_unfitted(model)


@pytest.mark.fault("D22")
def test_continuous_labels():
    X, _ = blobs()
    model = SVC()
    with pytest.raises(ValueError, match=r"Unknown label type: continuous"):
        model.fit(X, X[:, 0])
    assert_unfitted(model)


@pytest.mark.fault("D23")
def test_column_vector():
    X, y = blobs()
    model = SVC()
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model.fit(X, y[:, None])
    assert_same(model, SVC().fit(X, y), X)


@pytest.mark.fault("D23")
def test_several_outputs():
    X, y = blobs()
    model = SVC()
    with pytest.raises(ValueError, match=r"y should be a 1d array, got an array of shape \(60, 2\)"):
        model.fit(X, np.column_stack([y, y]))
    assert_unfitted(model)


@pytest.mark.fault("D24")
@pytest.mark.parametrize("n", [59, 61])
def test_lengths_of_X_and_y_differ(n):
    X, _ = blobs()
    model = SVC()
    with pytest.raises(ValueError, match=rf"X .*60.* y .*{n}"):
        model.fit(X, np.arange(n) % 2)
    assert_unfitted(model)


# ---------------------------------------------------------------- memory layouts


def strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


def backwards(X):
    return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


@pytest.mark.fault("D25", "D27")
@pytest.mark.parametrize(
    "view",
    [np.asfortranarray, strided, backwards, read_only, lambda X: X.astype(">f8"), lambda X: X.astype(">f4")],
    ids=["fortran", "strided", "backwards", "read-only", "big-endian", "big-endian-float32"],
)
def test_array_layouts(view):
    X, y = overlapping()
    X = X.astype(np.float32).astype(np.float64)
    before = X.copy()
    seen = view(X)
    model = SVC().fit(seen, y)
    check_model(model, seen, y)
    assert_same(model, SVC().fit(X, y), X)
    np.testing.assert_array_equal(seen, before)


@pytest.mark.fault("D25")
def test_broadcast_view():
    column, y = overlapping(d=1)
    view = np.broadcast_to(column, (60, 4))
    model = SVC().fit(view, y)
    check_model(model, view, y)
    assert_same(model, SVC().fit(np.array(view), y), np.array(view))


@pytest.mark.fault("D27")
def test_big_endian_labels_and_weights():
    X, y = overlapping()
    model = SVC().fit(X, y.astype(">i4"), sample_weight=np.ones(60).astype(">f8"))
    assert_same(model, SVC().fit(X, y), X)


@pytest.mark.fault("D26")
def test_read_only_memmap(tmp_path):
    X, y = overlapping()
    X.tofile(tmp_path / "X.bin")
    mapped = np.memmap(tmp_path / "X.bin", dtype=np.float64, mode="r", shape=X.shape)
    model = SVC().fit(mapped, y)
    check_model(model, mapped, y)
    assert_same(model, SVC().fit(X, y), X)


# ---------------------------------------------------------------- sparse


@pytest.mark.fault("D28")
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_sparse_formats(fmt, kind):
    X, y = blobs(d=4)
    X[np.abs(X) < 0.7] = 0.0
    stored = getattr(sparse, f"{fmt}_{kind}")(X)
    for kernel in ("rbf", "linear", "poly"):
        model = SVC(kernel=kernel).fit(stored, y)
        check_model(model, stored, y)
        dense = SVC(kernel=kernel).fit(X, y)
        np.testing.assert_allclose(model.decision_function(stored), dense.decision_function(X), atol=1e-9)
        np.testing.assert_array_equal(model.support_, dense.support_)


def messy_csr(X):
    """Rows stored backwards, every value as the sum of two entries, and stored zeros."""
    indptr, indices, data = [0], [], []
    for row in X:
        for j in range(len(row) - 1, -1, -1):
            indices += [j, j]
            data += [0.25 * row[j], 0.75 * row[j]]
        indptr.append(len(indices))
    return sparse.csr_array((np.array(data), np.array(indices), np.array(indptr)), shape=X.shape)


@pytest.mark.fault("D29")
def test_sparse_rows_that_are_not_canonical():
    X, y = overlapping(d=4)
    X[np.abs(X) < 0.7] = 0.0
    X = np.round(X * 4.0)
    stored = messy_csr(X)
    before = [a.copy() for a in (stored.data, stored.indices, stored.indptr)]
    model = SVC().fit(stored, y)
    check_model(model, stored, y)
    dense = SVC().fit(X, y)
    np.testing.assert_allclose(model.decision_function(stored), dense.decision_function(X), atol=1e-9)
    for now, then in zip((stored.data, stored.indices, stored.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.fault("D29")
def test_coincident_rows_behind_stored_zeros():
    """Equal rows are found although one of them stores its zeros."""
    X, y = opposite_duplicates()
    X[[12, 41], 0] = 0.0
    with pytest.raises(InfeasibleError, match="12 and 41"):
        SVC(C=np.inf).fit(messy_csr(np.round(X * 4.0)), y)


@pytest.mark.fault("D30")
def test_sparse_rows_with_wide_indices():
    X, y = overlapping(d=4)
    stored = sparse.csr_array(X)
    stored.indices, stored.indptr = stored.indices.astype(np.int64), stored.indptr.astype(np.int64)
    model = SVC().fit(stored, y)
    check_model(model, stored, y)
    np.testing.assert_allclose(
        model.decision_function(stored), SVC().fit(X, y).decision_function(X), atol=1e-9
    )


def corrupt(X, fault):
    if fault == "coo":
        stored = sparse.coo_array(X)
        stored.col[7] = 10**6
        return stored
    stored = sparse.csc_array(X) if fault == "csc" else sparse.csr_array(X)
    if fault == "indptr decreases":
        stored.indptr[5], stored.indptr[6] = stored.indptr[6], stored.indptr[5]
    elif fault == "indptr too long":
        stored.indptr[-1] = 10**6
    else:
        stored.indices[7] = -1 if fault == "negative" else 10**6
    return stored


@pytest.mark.fault("D31")
@pytest.mark.parametrize(
    "fault", ["out of range", "negative", "indptr decreases", "indptr too long", "csc", "coo"]
)
def test_corrupt_sparse(fault):
    X, y = overlapping(d=4)
    model = SVC()
    with pytest.raises(ValueError, match=r"X is a corrupt sparse matrix: .*rebuild"):
        model.fit(corrupt(X, fault), y)
    assert_unfitted(model)
    with pytest.raises(ValueError, match=r"X is a corrupt sparse matrix: .*rebuild"):
        SVC().fit(X, y).predict(corrupt(X, fault))


@pytest.mark.fault("D32")
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian"])
def test_dense_and_sparse_mixed(kernel):
    X, y = overlapping()
    stored = sparse.csr_array(X)
    model, of_sparse = SVC(kernel=kernel).fit(X, y), SVC(kernel=kernel).fit(stored, y)
    np.testing.assert_allclose(model.decision_function(stored), model.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(of_sparse.decision_function(X), of_sparse.decision_function(stored), atol=1e-9)


# ---------------------------------------------------------------- tables


def table(X, kind):
    columns = {name: X[:, j] for j, name in enumerate(["length", "width", "height"])}
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind](columns)


@pytest.mark.fault("D33")
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_data_frames(kind):
    X, y = overlapping()
    model = SVC().fit(table(X, kind), y)
    assert_same(model, SVC().fit(X, y), X)
    assert model.feature_names_in_.tolist() == ["length", "width", "height"]
    np.testing.assert_array_equal(model.decision_function(table(X, kind)), model.decision_function(X))


@pytest.mark.fault("D33")
def test_nullable_columns_of_data_frames():
    X, y = overlapping()
    frame = table(np.round(X * 100.0), "pandas").astype("Int64")
    model = SVC().fit(frame, y)
    assert_same(model, SVC().fit(np.round(X * 100.0), y), np.round(X * 100.0))
    frame.loc[6, "width"] = pd.NA
    with pytest.raises(ValueError, match=r"row 6, column 'width'; impute or drop"):
        SVC().fit(frame, y)


@pytest.mark.fault("D33")
def test_categorical_columns_of_data_frames():
    X, y = overlapping()
    frame = table(X, "pandas")
    frame["width"] = pd.Categorical(np.where(X[:, 1] > 0.0, "wide", "narrow"))
    with pytest.raises(ValueError, match=r"could not convert.*column 'width'.*encode"):
        SVC().fit(frame, y)
    frame["width"] = pd.Categorical(np.round(X[:, 1]))
    assert SVC().fit(frame, y).converged_


@pytest.mark.fault("D33")
def test_labels_from_data_frames():
    X, y = overlapping()
    names = np.array(["ham", "spam"])[y]
    expected = SVC().fit(X, y)
    for labels in (pd.Series(names), pd.Series(names, dtype="category"), pl.Series(names), pa.array(names)):
        model = SVC().fit(X, labels)
        assert model.classes_.tolist() == ["ham", "spam"]
        assert_same(model, expected, X)


@pytest.mark.fault("D34")
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_other_columns_at_predict(kind):
    X, y = overlapping()
    model = SVC().fit(table(X, kind), y)
    frame = table(X, kind)
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*must be in the same order"):
        model.predict(frame[["width", "length", "height"]])
    renamed = frame.rename({"width": "breadth"}, **({"axis": 1} if kind == "pandas" else {}))
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*breadth.*width"):
        model.predict(renamed)


# ---------------------------------------------------------------- predict


@pytest.mark.fault("D35")
def test_wrong_shapes_at_predict():
    X, y = overlapping()
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but SVC is expecting 3 features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match=r"(?s)Expected 2D array, got 1D array.*reshape\(1, -1\)"):
        model.predict(X[0])
    for empty in (X[:0], sparse.csr_array(X[:0])):
        assert model.predict(empty).shape == (0,)
        assert model.decision_function(empty).shape == (0,)


@pytest.mark.fault("D35")
def test_no_rows_at_predict_with_many_classes():
    X, _ = overlapping()
    model = SVC().fit(X, np.arange(60) % 3)
    assert model.decision_function(X[:0]).shape == (0, 3)
    assert model.predict(X[:0]).shape == (0,)


@pytest.mark.fault("D36")
@pytest.mark.parametrize(
    ("kernel", "scale"), [("poly", 1e150), ("linear", 1e308), ("rbf", 1e160), ("sigmoid", 1e300)]
)
def test_huge_values_at_predict(kernel, scale):
    X, y = overlapping()
    model = fit_quietly(SVC(kernel=kernel), X, y)
    far = X.copy()
    far[17] = [scale, -scale, scale]
    for ask in (model.predict, model.decision_function):
        if kernel in ("rbf", "sigmoid"):  # bounded, so there is a limit
            assert np.isfinite(ask(far)).all()
        else:
            with pytest.raises(ValueError, match=r"row 17 of X; scale X"):
                ask(far)


@pytest.mark.fault("D37")
def test_predict_before_fit():
    X, _ = overlapping()
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(SVC(), method)(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SVC(probability=True).predict_proba(X)


@pytest.mark.fault("D38")
def test_refit_after_failure():
    X, y = overlapping()
    model = SVC(warm_start=True).fit(X, y)
    bad = X.copy()
    bad[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(bad, y)
    assert_unfitted(model)
    model.fit(X[:, :2], y)
    check_model(model, X[:, :2], y)
    assert_same(model, SVC().fit(X[:, :2], y), X[:, :2], atol=1e-7)


@pytest.mark.fault("D38")
@pytest.mark.parametrize("stage", ["parameters", "data", "kernel", "training"])
def test_failure_at_any_stage_leaves_nothing(stage):
    X, y = overlapping()
    model = SVC().fit(X, y)
    if stage == "parameters":
        model.set_params(C=-1.0)
    elif stage == "data":
        y = np.zeros(60)
    elif stage == "kernel":
        model.set_params(kernel="poly", gamma=1.0)
        X = X * 1e150
    else:
        model.set_params(C=np.inf, kernel="linear")
    with pytest.raises(ValueError):
        fit_quietly(model, X, y)
    assert_unfitted(model)
    X, y = overlapping()
    model.set_params(C=1.0, kernel="rbf", gamma="scale").fit(X, y)
    assert_same(model, SVC().fit(X, y), X)


# ---------------------------------------------------------------- classes of unusual sizes


@pytest.mark.fault("D39")
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_class_with_one_member(multi_class):
    X, y = overlapping()
    y = y.copy()
    y[7] = 9
    model = SVC(multi_class=multi_class).fit(X, y)
    check_model(model, X, y)
    calibrated = SVC(multi_class=multi_class, probability=True).fit(X, y)
    check_model(calibrated, X, y)
    probabilities = calibrated.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert probabilities[np.arange(len(y)) != 7, 2].mean() < 0.1


@pytest.mark.fault("D39")
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_every_row_a_class_of_its_own(multi_class):
    X, _ = overlapping(20)
    model = SVC(multi_class=multi_class).fit(X, np.arange(20))
    check_model(model, X, np.arange(20))


@pytest.mark.fault("D39")
@pytest.mark.parametrize("multi_class", ["ovo", "ovr", "crammer_singer"])
def test_as_many_classes_as_rows(multi_class):
    """A thousand rows, a thousand classes: half a million pairs must not mean a hang."""
    X, _ = overlapping(1000)
    model = SVC(multi_class=multi_class)
    with pytest.raises(ValueError, match=r"1000 classes.*check that y holds classes"):
        model.fit(X, np.arange(1000))
    assert_unfitted(model)


@pytest.mark.fault("D40")
@each_solver
def test_extreme_imbalance(solver):
    """One row against 999, and a million to one by weight."""
    X, _ = overlapping(1000)
    y = np.zeros(1000, dtype=int)
    y[500] = 1
    model = fit_quietly(SVC(solver=solver), X, y)
    check_model(model, X, y)
    assert model.converged_
    weights = np.where(y == 1, 1.0, 1e6 / 999)
    weighted = fit_quietly(SVC(C=1e-3, solver=solver), X, y, sample_weight=weights)
    check_model(weighted, X, y, weights)
    assert weighted.converged_


@pytest.mark.fault("P4", "P19")
@pytest.mark.filterwarnings("error")
def test_balanced_classes_with_extreme_weights():
    X, y = overlapping(60)
    with pytest.raises(ValueError, match="zero weight"):
        SVC(class_weight="balanced").fit(X, y, (y == y[0]).astype(float))
    huge = SVC(C=1e-300, class_weight="balanced").fit(X, y, np.full(60, 1e300))
    np.testing.assert_allclose(
        huge.decision_function(X), SVC(class_weight="balanced").fit(X, y).decision_function(X)
    )


@pytest.mark.fault("D41")
def test_X_changes_before_the_support_vectors_are_taken():
    """What a callback, or another thread, has written into X by then is no model."""
    X, y = overlapping(60)

    class Meddler(SilentCallback):
        def on_fit_task_begin(self, estimator, context):
            X[:] = 1e300

    model = SVC(gamma=1.0).set_callbacks(Meddler())
    with pytest.raises(ValueError, match="X was changed"):
        model.fit(X, y)
    assert not hasattr(model, "support_vectors_")


@pytest.mark.fault("D41")
def test_X_changes_during_fit():
    """Another thread writes nonsense into X: a model or a typed error, never a crash."""
    X, y = overlapping(600)
    original = X.copy()
    done, refusals = threading.Event(), []

    def meddle():
        rng = np.random.default_rng(0)
        while not done.is_set():
            X[rng.integers(0, 600, 50)] = rng.choice([np.nan, np.inf, 1e300, 0.0, -1.0])
            X[:] = original

    meddler = threading.Thread(target=meddle)
    meddler.start()
    try:
        for _ in range(5):
            model = SVC()
            try:
                fit_quietly(model, X, y)
            except ValueError as error:
                refusals.append(str(error))
                assert_unfitted(model)
                continue
            assert np.isfinite(model.dual_coef_).all()
            assert np.isfinite(model.decision_function(original)).all()
    finally:
        done.set()
        meddler.join()
    assert [refusal for refusal in refusals if not re.search(r"\bX\b", refusal)] == []
    X[:] = original  # nothing of what was written is left anywhere
    assert_same(SVC().fit(X, y), SVC().fit(original, y), original)
