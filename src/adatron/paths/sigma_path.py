"""`sigma_path`: Gaussian widths from tiny to large, each trained to its maximal margin from the last.

All rows and, for cross-validation, every fold are columns of one problem. A cold start is α = 0. A warm start
scales the multipliers of the last width by the factor that maximises the dual. Then, as hardly any point
joins or leaves the support vectors, it solves their linear system by the steps of the exact finish. Sweeps of
Kernel-Adatron go on from there until the gap certifies the margin.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from adatron.bounds import margin_bound, support_vector_loo_bound
from adatron.estimators import SVC
from adatron.estimators.base import DEFAULT_MAX_ITER
from adatron.estimators.multiclass import Layout
from adatron.estimators.parameters import check_flag, check_max_iter, check_number
from adatron.estimators.separability import check_coincident
from adatron.estimators.training_set import TrainingSet, classification_set
from adatron.exceptions import InfeasibleError
from adatron.gram import REGIME, choose_gram, expand
from adatron.kernels import Gaussian
from adatron.numerics.threads import one_blas_thread
from adatron.paths.kernel_path import KernelPath, best_step, criterion_name, folds, validation_rows
from adatron.problems import DualProblem
from adatron.solvers import KernelAdatron
from adatron.training import DualSolution, GapRule, Run, Status, certify, exact_finish, rounds

__all__ = ["default_sigmas", "sigma_path"]

_CRITERIA = {"vc": "R²/γ²", "loo": "share of support vectors", "cv": "cv error"}
_AS_GOOD_AS_INFINITE = 1e100  # a bound C that float64 cannot tell from infinity
_SAMPLE = 1_000  # rows whose distances give the default widths
_NO_NUMBERS = ("margin", "radius_squared", "bound", "training_error", "error", "n_support", "epochs", "gap")


def sigma_path(
    X: Any,
    y: Any,
    sigmas: Any = None,
    *,
    criterion: Any = "vc",
    C: float = np.inf,
    fit_intercept: bool = True,
    tol: float = 1e-3,
    cv: Any = 5,
    warm_start: bool = True,
    max_iter: int = -1,
    random_state: Any = None,
    verbose: bool = False,
) -> KernelPath:
    """Choose the width σ of the Gaussian ``exp(−‖x − z‖²/2σ²)`` as Kernel-Adatron's authors do.

    The best width has the smallest criterion, among equal ones the largest margin.

    Parameters
    ----------
    X, y : array-like of shape (m, d) and (m,)
    sigmas : array-like, optional
        Default: 20 widths, from a quarter of the median distance of nearest neighbours to that of all rows.
    criterion : {"vc", "loo", "cv"} or pair (X_val, y_val), default="vc"
        "vc" is R²/γ² with ``R² = max k(x, x)``; "loo" the share of support vectors, which bounds the
        leave-one-out error; "cv" the error of cross-validation; a pair asks for the error on those rows.
    C : float, default=inf
    fit_intercept, tol : bool, and the duality gap at which a margin counts as maximal, default=True, 1e-3
    cv : int, splitter or iterable, default=5
    warm_start, max_iter : whether to start from the last width, and most epochs, default=True, -1
    random_state, verbose : int or RandomState and bool, default=None, False

    Returns
    -------
    KernelPath

    References
    ----------
    C. Campbell, N. Cristianini, *Simple Learning Algorithms for Training Support Vector Machines*, 1998.

    Examples
    --------
    >>> from adatron.datasets import load_sonar
    >>> from adatron.selection import sigma_path
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> path = sigma_path(X_train, y_train, [0.2, 0.4, 0.8, 1.6])
    >>> path.best_sigma, path["margin"].round(3).tolist()
    (0.4, [0.101, 0.109, 0.09, 0.042])
    """
    for name, flag in (("fit_intercept", fit_intercept), ("warm_start", warm_start), ("verbose", verbose)):
        check_flag(name, flag)
    C = check_number("C", C, allow_inf=True, allowed="a number > 0 (inf for a hard margin)")
    settings = check_number("tol", tol), check_max_iter(max_iter, DEFAULT_MAX_ITER)
    widths = None if sigmas is None else _check_sigmas(sigmas)
    shared = _path_data(X, y, C, fit_intercept, criterion, cv, random_state)
    records = _fit_widths(shared, widths, settings, warm_start, verbose)
    best = best_step(records, _usable(records), "sigma", "widths", lambda r: (r["criterion"], -r["margin"]))
    return KernelPath(records, criterion=shared.label, best_index=best)


@dataclass(frozen=True)
class _PathData:
    """What all widths share; B = (1 + F) k problems: all rows first, then the F folds."""

    data: TrainingSet
    layout: Layout
    signs: np.ndarray  # (m, k): one problem for two classes, else one per class
    upper: np.ndarray  # (m, B): C, or 0 where a fold leaves a row out
    has_bias: bool
    criterion: str
    label: str  # of the criterion
    held: np.ndarray  # (m, F): rows that each fold holds out
    validation: tuple[Any, np.ndarray] | None  # rows, and the index of each one's class


def _path_data(X: Any, y: Any, C: float, has_bias: bool, criterion: Any, cv: Any, seed: Any) -> _PathData:
    estimator = SVC()
    data = classification_set(estimator, X, y, None)
    name = criterion_name(criterion, list(_CRITERIA), " or a pair (X_val, y_val)")
    validation = validation_rows(criterion, estimator, data) if name == "validation" else None
    none = np.zeros((len(data.codes), 0), dtype=bool)
    training, held = folds(cv, seed, data) if name == "cv" else (none, none)
    C = np.inf if C >= _AS_GOOD_AS_INFINITE else C
    if np.isinf(C):
        check_coincident(data.X, data.codes, data.rows, data.classes)
    layout = Layout(len(data.classes), "ovr")
    signs = layout.signs(data.codes)
    trained = np.column_stack([np.ones(len(signs), dtype=bool), training])
    upper = np.repeat(np.where(trained, C, 0.0), signs.shape[1], axis=1)
    label = _CRITERIA.get(name, "validation error")
    return _PathData(data, layout, signs, upper, has_bias, name, label, held, validation)


def _check_sigmas(sigmas: Any) -> np.ndarray:
    """Distinct positive widths in ascending order."""
    try:
        values = np.atleast_1d(np.asarray(sigmas, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"sigmas must be numbers > 0, got {sigmas!r}") from error
    if values.ndim != 1 or not len(values):
        raise ValueError(f"sigmas must be a list of at least one number > 0, got shape {values.shape}")
    bad = ~(np.isfinite(values) & (values > 0.0))
    if bad.any():
        place = int(bad.argmax())
        raise ValueError(f"sigmas must be finite numbers > 0, got {values[place]} at position {place}")
    return np.unique(values)


def default_sigmas(X: Any, n_sigmas: int = 20) -> np.ndarray:
    """Widths in geometric progression, from where rows hardly see each other to where all see all.

    The first is a quarter of the median distance of a row to its nearest neighbour, where two such rows
    have a kernel value of exp(−8); the last is the median distance of two rows.
    """
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], _SAMPLE)).astype(int))
    distances = euclidean_distances(X[rows])
    apart = distances > 1e-9 * distances.max(initial=0.0)
    if not apart.any():
        raise ValueError("all rows of X are equal, so no width can be derived from them; give sigmas")
    nearest = np.where(apart, distances, np.inf).min(axis=1)
    tiny = 0.25 * float(np.median(nearest[np.isfinite(nearest)]))
    return np.geomspace(tiny, max(float(np.median(distances[apart])), 2.0 * tiny), n_sigmas)


def _fit_widths(
    shared: _PathData, sigmas: Any, settings: tuple[float, int], warm: bool, verbose: bool
) -> list[dict]:
    records, last = [], None
    with one_blas_thread() if len(shared.signs) <= REGIME.one_blas_thread_up_to else nullcontext():
        for sigma in (default_sigmas(shared.data.X) if sigmas is None else sigmas).tolist():
            began = perf_counter()
            try:
                with np.errstate(over="ignore"):
                    record, last = _fit_width(shared, sigma, settings, last if warm else None)
                line = f"{shared.label} {record['criterion']:.4g}, margin {record['margin']:.4g}, "
                line += f"{record['n_support']} support vectors, {record['epochs']} epochs"
            except (ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError) as error:
                record = {"criterion": np.inf, **dict.fromkeys(_NO_NUMBERS, np.nan), "status": "failed"}
                line = f"{type(error).__name__}: {error}"
                record |= {"converged": False, "start": "", "reason": line}
            record = {"sigma": sigma, "gamma": 0.5 / max(sigma**2, 1e-300), **record}
            record["seconds"] = perf_counter() - began
            records.append(record)
            if verbose:
                print(f"[adatron] sigma {sigma:.4g}: {line}")
    return records


def _usable(records: list[dict[str, Any]]) -> list[int]:
    usable = [i for i, record in enumerate(records) if np.isfinite(record["criterion"])]
    if not usable:
        reasons = "; ".join(f"sigma={record['sigma']:g}: {record['reason']}" for record in records)
        raise ValueError(f"no width can be chosen, as each of the {len(records)} failed: {reasons}")
    return usable


def _fit_width(
    shared: _PathData, sigma: float, settings: tuple[float, int], last: Any
) -> tuple[dict, np.ndarray]:
    """The record of one width, and its multipliers, from which the next width starts."""
    kernel, layout, codes = Gaussian.of_width(sigma), shared.layout, shared.data.codes
    gram = choose_gram(kernel, shared.data.X).gram
    m, k = shared.signs.shape
    y = np.tile(shared.signs, (1, shared.upper.shape[1] // k))
    problem = DualProblem(gram, y, np.ones_like(y), shared.upper, 0.0 if shared.has_bias else None)
    solutions, start = _train(problem, settings, last)
    worst = max(solutions, key=lambda s: (s.status is not Status.CONVERGED, s.gap))
    if any(s.status in (Status.NOT_SEPARABLE, Status.DIVERGED) for s in solutions):
        raise InfeasibleError(f"{worst.status.sentence} after {worst.n_iter} epochs; set C < inf")
    alpha, bias = np.stack([s.alpha for s in solutions], axis=1), np.array([s.bias for s in solutions])
    coefficients = y * alpha
    decisions = gram.matmul(coefficients) + bias
    wrong, *wrong_in_fold = (layout.vote(decisions[:, i : i + k]) != codes for i in range(0, y.shape[1], k))
    used = np.flatnonzero(coefficients[:, :k].any(axis=1))
    error = np.nan
    if shared.validation is not None:
        X_val, codes_val = shared.validation
        values = expand(kernel, X_val, shared.data.X[used], coefficients[used, :k]) + bias[:k]
        error = float(np.mean(layout.vote(values) != codes_val))
    elif wrong_in_fold:
        error = int(np.sum(np.transpose(wrong_in_fold) & shared.held)) / int(shared.held.sum())
    margin, radius_squared = min(s.margin_interval[0] for s in solutions[:k]), float(problem.diagonal.max())
    ratio = radius_squared / margin**2 if margin > 0.0 else np.inf
    value = {"vc": ratio, "loo": support_vector_loo_bound(len(used), m)}.get(shared.criterion, error)
    record = {
        "criterion": value,
        "margin": margin,
        "radius_squared": radius_squared,
        "bound": np.inf if wrong.any() else margin_bound(float(np.sqrt(radius_squared)), margin, m),
        "training_error": float(np.mean(wrong)),
        "error": error,
        "n_support": len(used),
        "epochs": sum(s.n_iter for s in solutions),
        "gap": max(s.gap for s in solutions),
        "status": str(worst.status),
        "converged": worst.status is Status.CONVERGED,
        "start": start,
        "reason": "" if np.isfinite(value) else "the classes are not separated, so there is no margin",
    }
    return record, alpha


def _train(problem: DualProblem, settings: tuple[float, int], last: Any) -> tuple[list[DualSolution], str]:
    """The solutions of all columns, and how they were started: "cold", "exact" or "scaled"."""
    tol, max_iter = settings
    if last is None:
        run, start = Run(problem, KernelAdatron(), GapRule(tol), max_iter=max_iter), "cold"
    else:
        coefficients, total = problem.y * last, last.sum(axis=0)
        curvature = np.einsum("ij,ij->j", coefficients, problem.gram.matmul(coefficients))
        factor = np.where(curvature > 1e-12 * total, total / np.maximum(curvature, 1e-300), 1.0)
        alpha, start = np.clip(last * factor, 0.0, problem.upper), "exact"
        biases = []
        for column in range(problem.n_columns):
            exact = exact_finish(problem, column, alpha[:, column])
            start = "scaled" if exact is None else start
            certificate = certify(problem, column, alpha[:, column] if exact is None else exact)
            alpha[:, column] = certificate.alpha
            biases.append(certificate.bias)
        run = Run(problem, KernelAdatron(), GapRule(tol), max_iter=max_iter, alpha=alpha)
        run.state.bias[:] = biases
    for _ in rounds([run]):
        pass
    return run.snapshot(), start
