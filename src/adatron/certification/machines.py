"""Anyone's fitted machine as a function and the multipliers of dual problems.

Two steps: a `Fitted` has what estimators of adatron and scikit-learn and files of LIBSVM have in common, and
`problems_of` takes it apart into binary problems.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_is_fitted

from adatron.estimators import SVC, SVR, OneClassSVM
from adatron.estimators.classifier import Layout
from adatron.estimators.expansion import dense_coef
from adatron.estimators.inputs import check_predict_X, check_sample_weight
from adatron.estimators.parameters import check_epsilon, check_number
from adatron.estimators.svr import bound_for_a_tube
from adatron.files.libsvm import LibsvmFile, read_libsvm
from adatron.files.models import load_model
from adatron.kernels import KERNELS, CallableKernel, Kernel, Precomputed
from adatron.kernels.rounding import long

_DENSE_VALUES = 10_000_000  # of sparse rows that are filled up
_TAKEN = """a fitted SVC, SVR or OneClassSVM of adatron or sklearn.svm, a NuSVC or NuSVR of adatron, \
or the path of a model file"""


@dataclass(frozen=True)
class Fitted:
    """What every fitted machine has, in scikit-learn's terms."""

    kind: str  # "SVC", "SVR" or "OneClassSVM"
    kernel: Kernel
    X: Any  # the training rows, or their kernel matrix
    support: np.ndarray  # (s,) places in X
    dual_coef: np.ndarray  # (rows, s)
    intercept: np.ndarray
    vectors: Any = None  # of the function, where they are not rows of X
    coefficients: np.ndarray | None = None  # (n_vectors, n_problems) of landmarks; None: those of `dual_coef`
    layout: Layout | None = None
    classes: tuple = ()
    class_weight: Any = None
    C: Any = 1.0  # or one for each problem
    epsilon: float = 0.1
    sides: tuple[float, float] = (1.0, 1.0)  # what targets above and below cost, in units of C
    nu: float = 0.5
    has_nu: bool = False  # a regression with ν in place of ε
    has_bias: bool = True


@dataclass(frozen=True)
class BinaryProblem:
    """Maximise ``pᵀα − ½(y∘α)ᵀK(y∘α)`` over ``0 ≤ α ≤ upper``; and what a machine makes of it."""

    rows: np.ndarray  # (m,) place in X of each multiplier; twice for a regression
    y: np.ndarray
    p: np.ndarray
    upper: np.ndarray
    equality: float | None
    alpha: np.ndarray  # (m,) as the machine has them, perhaps not quite feasible
    vectors: Any  # of the machine's function; for a kernel matrix their places
    coefficients: np.ndarray
    bias: float
    name: str = ""
    tube: tuple[float, Any] | None = None  # of a ν-regression: half the width of its tube, largest sum of α


def fitted_machine(
    estimator: Any, X: Any, y: Any, sample_weight: Any, C: float | None, epsilon: float
) -> Fitted:
    """What `certify` was given, read and checked against the rows; a TypeError says what it takes."""
    from sklearn import svm  # takes time to load

    if isinstance(estimator, str | os.PathLike):
        if Path(estimator).read_bytes()[:2] != b"PK":
            return _of_file(read_libsvm(estimator), X, y, C, epsilon)
        estimator = load_model(estimator)
    if C is not None:
        raise ValueError(f"C={C!r} is for LIBSVM model files; a {type(estimator).__name__} has its own C")
    for ours, theirs in ((SVC, svm.SVC), (SVR, svm.SVR), (OneClassSVM, svm.OneClassSVM)):
        if isinstance(estimator, ours):
            return _checked(_of_adatron(ours.__name__, estimator, X), estimator)
        if isinstance(estimator, theirs):
            return _checked(_of_sklearn(ours.__name__, estimator, X, sample_weight), estimator)
    way_out = ""
    if hasattr(estimator, "steps"):
        way_out = "; of a pipeline pass its last step, and X as the steps before transform it"
    raise TypeError(f"certify takes {_TAKEN}, got {type(estimator).__name__}{way_out}")


def dense_if_small(machine: Fitted) -> Fitted:
    """The machine with dense rows where there is room: these have more digits. A kernel matrix is dense."""
    X, vectors = machine.X, machine.vectors
    is_matrix, is_function = (isinstance(machine.kernel, kind) for kind in (Precomputed, CallableKernel))
    if not sparse.issparse(X) or is_function or not (is_matrix or X.shape[0] * X.shape[1] <= _DENSE_VALUES):
        return machine
    return replace(machine, X=X.toarray(), vectors=vectors.toarray() if sparse.issparse(vectors) else vectors)


def _parameters(model: Any) -> dict[str, Any]:
    """The fields of `Fitted` that are parameters of an estimator."""
    given = model.get_params(deep=False)
    fitted = vars(model)  # machines with ν have found C or ε, with which others give the same model
    known = given | {name: fitted[f"{name}_"] for name in ("C", "epsilon") if f"{name}_" in fitted}
    found: dict[str, Any] = {name: known[name] for name in ("C", "epsilon", "nu") if name in known}
    found["has_nu"] = "nu" in given and "epsilon" in known
    if given.get("loss") == "quantile":
        found |= {"epsilon": 0.0, "sides": (float(given["quantile"]), 1.0 - float(given["quantile"]))}
    found["has_bias"] = bool(given.get("fit_intercept", True))
    if "class_weight" in given:
        layout = Layout(len(model.classes_), given.get("multi_class", "ovo"))
        found |= {"layout": layout, "classes": tuple(model.classes_.tolist())}
        found["class_weight"] = model.class_weight_
    return found


def _of_adatron(kind: str, model: Any, X: Any) -> Fitted:
    check_is_fitted(model)
    X, expansion = check_predict_X(model, X), model._expansion
    landmarks = () if model.rank is None else (expansion.vectors, expansion.coefficients)
    function = model.support_, dense_coef(model), model.intercept_, *landmarks
    return Fitted(kind, expansion.kernel, X, *function, **_parameters(model))


def _of_sklearn(kind: str, model: Any, X: Any, sample_weight: Any) -> Fitted:
    check_is_fitted(model)
    kernel: Kernel
    if callable(model.kernel):
        kernel, X = CallableKernel(model.kernel), X if sparse.issparse(X) else np.asarray(X)
    else:
        X = check_array(X, accept_sparse="csr", dtype=np.float64, order="C")
        gamma = _sklearn_gamma(model.gamma, X) if model.kernel in ("rbf", "poly", "sigmoid") else 0.0
        values = {"gamma": gamma, "coef0": float(model.coef0), "degree": model.degree}
        kernel_class = KERNELS[model.kernel]
        kernel = kernel_class(**{f.name: values[f.name] for f in fields(kernel_class) if f.name in values})  # type: ignore[arg-type]
    support = model.support_
    if sample_weight is not None:  # scikit-learn numbers the rows that have a weight
        support = np.flatnonzero(check_sample_weight(sample_weight, X.shape[0]) > 0.0)[support]
    return Fitted(kind, kernel, X, support, dense_coef(model), model.intercept_, **_parameters(model))


def _sklearn_gamma(gamma: Any, X: Any) -> float:
    """What scikit-learn makes of `gamma`, operation by operation."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    variance = (X.multiply(X)).mean() - (X.mean()) ** 2 if sparse.issparse(X) else X.var()
    return 1.0 / (X.shape[1] * float(variance)) if variance != 0 else 1.0


def _checked(machine: Fitted, model: Any) -> Fitted:
    """The machine, if X has the rows that it was trained on."""
    n_rows, n_fitted, support = machine.X.shape[0], model.shape_fit_[0], machine.support
    if n_rows != n_fitted:
        raise ValueError(f"X has {n_rows} rows, the estimator was trained on {n_fitted}; pass those rows")
    if not machine.has_bias and np.any(machine.intercept):
        raise ValueError(f"fit_intercept=False, but intercept_ is {machine.intercept}: no certificate holds")
    if not (np.isfinite(machine.intercept).all() and np.isfinite(machine.dual_coef).all()):
        raise ValueError("intercept_ and dual_coef_ of the estimator must be finite; fit it again")
    stored = model.support_vectors_
    if stored.shape[0] == len(support) > 0 and not isinstance(machine.kernel, CallableKernel):
        differ = machine.X[support] != stored
        if differ.sum():
            row = int(support[np.unique(differ.nonzero()[0])[0]])
            raise ValueError(f"row {row} of X is not what the estimator was trained on; pass the same X")
    return machine


def _of_file(file: LibsvmFile, X: Any, y: Any, C: float | None, epsilon: float) -> Fitted:
    """The file's multipliers belong to the rows of X that it has, in the 8 digits that LIBSVM writes."""
    X, vectors = check_array(X, accept_sparse="csr", dtype=np.float64), file.vectors
    if vectors.shape[1] > X.shape[1]:
        raise ValueError(f"the model has {vectors.shape[1]} features, X has {X.shape[1]}")
    vectors.resize(vectors.shape[0], X.shape[1])
    codes, own = np.zeros(X.shape[0], dtype=int), np.zeros(vectors.shape[0], dtype=int)
    parameters: dict[str, Any] = {"epsilon": check_epsilon(epsilon)}
    if file.kind == "SVC":
        # with two classes its decisions are positive for the first one
        order = range(len(file.labels)) if len(file.labels) > 2 else (1, 0)
        classes = tuple(file.labels[i] for i in order)
        own = np.repeat([classes.index(label) for label in file.labels], file.n_support)
        codes = codes_of(y, classes)
        parameters |= {"layout": Layout(len(classes), "ovo"), "classes": classes}
    if file.kind == "OneClassSVM":
        parameters["nu"] = float(file.dual_coef.sum() / X.shape[0])
    largest = float(np.abs(file.dual_coef).max(initial=0.0))
    parameters["C"] = largest if C is None else check_number("C", C, "a number > 0", lambda C: C > 0.0)
    targets = np.asarray(column_or_1d(y), dtype=float) if file.kind == "SVR" else codes
    support = _places(X, codes, targets, vectors, own, file.dual_coef)
    vectors = vectors if sparse.issparse(X) else vectors.toarray()
    return Fitted(file.kind, file.kernel, X, support, file.dual_coef, file.intercept, vectors, **parameters)


def _places(X: Any, codes: np.ndarray, targets: np.ndarray, vectors: Any, own: np.ndarray, coef: Any) -> Any:
    """For each vector a row of X of its class that agrees in 8 digits.

    Of equal rows, those with the largest targets get the positive coefficients: that is best for the dual.
    """
    if len(targets) != X.shape[0]:
        raise ValueError(f"X and y must have the same length: {X.shape[0]} rows, {len(targets)} entries of y")
    free: dict[tuple[int, str], list[int]] = {}
    keys = list(zip(codes.tolist(), _in_8_digits(X), strict=True))
    for row in np.argsort(-targets, kind="stable").tolist():
        free.setdefault(keys[row], []).append(row)
    places = np.zeros(len(own), dtype=np.int64)
    keys = list(zip(own.tolist(), _in_8_digits(vectors), strict=True))
    for number in np.argsort(-np.abs(coef[0]), kind="stable").tolist():
        rows = free.get(keys[number])
        if not rows:
            raise ValueError(f"vector {number + 1} of the model is no row of X; pass the training rows")
        places[number] = rows.pop(0 if coef[0, number] > 0.0 else -1)
    return places


def _in_8_digits(rows: Any) -> Iterator[str]:
    rows = sparse.csr_array(rows)
    for first, last in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        pairs = zip(rows.indices[first:last].tolist(), rows.data[first:last].tolist(), strict=True)
        yield " ".join(f"{j}:{value:.8g}" for j, value in sorted(pairs) if value != 0.0)


def codes_of(y: Any, classes: tuple) -> np.ndarray:
    index = {label: code for code, label in enumerate(classes)}
    try:
        return np.array([index[label] for label in np.asarray(column_or_1d(y)).tolist()])
    except KeyError as error:
        raise ValueError(f"y has the label {error.args[0]!r}; the machine knows {list(classes)!r}") from error


def problems_of(machine: Fitted, y: Any, sample_weight: Any) -> Iterable[BinaryProblem]:
    """The binary problems of a machine, with its multipliers."""
    weights = check_sample_weight(sample_weight, machine.X.shape[0]).astype(long)
    if machine.kind == "SVC":
        return _classification(machine, codes_of(y, machine.classes), weights)
    coefficients = np.zeros(len(weights), dtype=long)
    np.add.at(coefficients, machine.support, machine.dual_coef[0])
    if machine.kind == "SVR":
        return [_regression(machine, np.asarray(column_or_1d(y), dtype=np.float64), weights, coefficients)]
    scale, ones = long(machine.nu) * weights.sum(), np.ones(len(weights))  # multipliers are to sum to 1
    return [BinaryProblem(
        rows=np.arange(len(weights)), y=ones, p=0.0 * ones, upper=weights / scale, equality=1.0,
        alpha=coefficients / scale, **_function(machine, 0, machine.dual_coef[0], scale),
    )]  # fmt: skip


def _regression(
    machine: Fitted, targets: np.ndarray, weights: np.ndarray, coefficients: np.ndarray
) -> BinaryProblem:
    if not np.isfinite(targets).all():
        raise ValueError("Input y contains NaN or infinity; pass the targets of the training")
    t, n = targets.astype(long), len(targets)
    upper = _times_C(machine, weights, 0)
    if np.isinf(machine.C):
        taking_part = t[weights > 0.0]
        centre = 0.5 * float(taking_part.min() + taking_part.max()) if machine.has_bias else 0.0
        diagonal = float(np.max(machine.kernel.diagonal(machine.X)))
        bound = bound_for_a_tube((taking_part - centre).astype(float), machine.epsilon, diagonal)
        upper = np.where(weights > 0.0, bound, 0.0)
    signs = np.repeat([1.0, -1.0], n)
    return BinaryProblem(
        rows=np.tile(np.arange(n), 2), y=signs, p=np.concatenate([t, -t]) - long(machine.epsilon),
        upper=np.concatenate([side * upper for side in machine.sides]),
        equality=0.0 if machine.has_bias else None, alpha=np.maximum(signs * np.tile(coefficients, 2), 0.0),
        tube=(machine.epsilon, long(machine.nu) * upper.sum()) if machine.has_nu else None,
        **_function(machine, 0, machine.dual_coef[0]),
    )  # fmt: skip


def _classification(machine: Fitted, codes: np.ndarray, weights: np.ndarray) -> Iterator[BinaryProblem]:
    layout, support, table = machine.layout, machine.support, machine.dual_coef
    assert layout is not None
    parts = [(np.arange(len(codes)), column) for column in layout.signs(codes).T]
    names = [f"{label!r} against the others" for label in machine.classes]
    if layout.is_pairwise:
        parts = layout.pair_rows(codes)
        names = [f"{machine.classes[i]!r} against {machine.classes[j]!r}" for i, j in layout.pairs]
    elif layout.is_binary:
        names = [""]
    own = codes[support]
    for number, ((rows, y), name) in enumerate(zip(parts, names, strict=True)):
        if layout.is_pairwise:
            i, j = layout.pairs[number]
            column = np.where(own == i, table[j - 1], np.where(own == j, table[i], 0.0))
        else:
            column = table[number]
        everywhere = np.bincount(support, column, len(codes))
        yield BinaryProblem(
            rows=rows, y=y, p=np.ones(len(rows)), upper=_class_bounds(machine, codes, weights, number)[rows],
            equality=0.0 if machine.has_bias else None, alpha=y * everywhere[rows], name=name,
            **_function(machine, number, column),
        )  # fmt: skip


def coupled_problem(
    machine: Fitted, y: Any, sample_weight: Any
) -> tuple[BinaryProblem, np.ndarray, np.ndarray, np.ndarray | None]:
    """Crammer & Singer's problem, the class of every row, the multipliers of all classes, and their biases.

    Of two classes, decisions are the difference of both, and the multipliers of a row sum to 0.
    """
    codes = codes_of(y, machine.classes)
    n, coefficients, biases = len(codes), machine.dual_coef, machine.intercept
    if len(machine.classes) == 2:
        coefficients = 0.5 * np.vstack([-coefficients, coefficients])
        biases = 0.5 * np.concatenate([-biases, biases])
    table = np.zeros((n, len(machine.classes)), dtype=long)
    table[machine.support] = coefficients.T
    own = table[np.arange(n), codes]
    weights, ones = check_sample_weight(sample_weight, n).astype(long), np.ones(n)
    upper = _class_bounds(machine, codes, weights)
    problem = BinaryProblem(
        rows=np.arange(n), y=ones, p=ones, upper=upper, equality=None, alpha=own,
        vectors=None, coefficients=table, bias=0.0,
    )  # fmt: skip
    return problem, codes, table, biases if machine.has_bias else None


def _class_bounds(machine: Fitted, codes: np.ndarray, weights: np.ndarray, number: int = 0) -> np.ndarray:
    """C of a problem times the weights of row and class."""
    of_class = np.ones(len(machine.classes)) if machine.class_weight is None else machine.class_weight
    return _times_C(machine, weights * np.asarray(of_class, dtype=long)[codes], number)


def _function(machine: Fitted, number: int, column: np.ndarray, scale: Any = 1.0) -> dict[str, Any]:
    """Vectors, coefficients and bias of the function of one problem."""
    used, vectors, coefficients = np.flatnonzero(column), machine.vectors, machine.coefficients
    if coefficients is not None:
        coefficients = coefficients[:, number]
    elif vectors is not None:
        vectors, coefficients = vectors[used], column[used]
    else:
        places, coefficients = machine.support[used], column[used]
        vectors = places if isinstance(machine.kernel, Precomputed) else machine.X[places]
    bias = long(machine.intercept[number]) / scale
    return {"vectors": vectors, "coefficients": coefficients / scale, "bias": bias}


def _times_C(machine: Fitted, weights: np.ndarray, number: int) -> np.ndarray:
    """The bounds of the multipliers of a problem; rows without weight have none but 0."""
    C = machine.C if np.ndim(machine.C) == 0 else machine.C[number]
    with np.errstate(invalid="ignore"):
        return np.where(weights > 0.0, long(C) * weights, 0.0)
