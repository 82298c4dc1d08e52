"""`sigma_path`: Gaussian widths from tiny to large, each trained to its maximal margin from the last."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adatron.bounds import margin_bound, support_vector_loo_bound
from adatron.estimators import SVC
from adatron.estimators.base import DEFAULT_MAX_ITER
from adatron.estimators.multiclass import Layout
from adatron.estimators.parameters import check_flag, check_max_iter, check_number
from adatron.estimators.separability import check_coincident
from adatron.estimators.training_data import classification_data
from adatron.exceptions import InfeasibleError
from adatron.numerics.threads import one_blas_thread
from adatron.paths.criteria import Criterion, criterion_from
from adatron.paths.kernel_path import KernelPath
from adatron.paths.width_fit import PathRows, WidthFit, fit_width
from adatron.paths.widths import check_sigmas, default_sigmas
from adatron.training import Status

__all__ = ["sigma_path"]

_AS_GOOD_AS_INFINITE = 1e100  # a bound C that float64 cannot tell from infinity
_ONE_BLAS_THREAD = 3_000  # points up to which more threads would mostly wait for one another
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

    Start with a tiny width, where the classes are always separable; train to the maximal margin; compute
    the criterion; go on to the next width from the multipliers of the last. The best width is the
    one with the smallest criterion, among equal ones that with the largest margin.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (m, d)
    y : array-like of shape (m,)
        Labels; more than two classes are trained one against the rest.
    sigmas : array-like, optional
        Widths, in any order. Default: 20 in geometric progression, from a quarter of the median distance
        of nearest neighbours to the median distance of all rows.
    criterion : {"vc", "loo", "cv"} or pair (X_val, y_val), default="vc"
        "vc" is R²/γ², in the order of the margin bound of the document (the bound itself, most often
        infinite, is recorded as ``bound``), with ``R² = max k(x, x)`` as its theorem has it; many people put
        the smallest enclosing ball in its place. "loo" is the share of support vectors, which bounds the
        leave-one-out error. "cv" is the error of cross-validation, a pair that on those rows.
    C : float, default=inf
        A hard margin unless it is finite.
    fit_intercept : bool, default=True
    tol : float, default=1e-3
        Relative duality gap at which a margin counts as maximal.
    cv : int, splitter or iterable, default=5
        Folds of ``criterion="cv"``; a number of them deals out shuffled rows, class by class.
    warm_start : bool, default=True
        Start each width from the last. False trains each from α = 0, for comparison.
    max_iter : int, default=-1
        Epochs at most at each width; -1 is 100,000.
    random_state : int, RandomState instance or None, default=None
        For the shuffle of `cv`.
    verbose : bool, default=False

    Returns
    -------
    KernelPath
        Records with ``sigma, gamma, criterion, margin, radius_squared, bound, training_error, error`` (of
        folds or validation rows, else NaN), ``n_support, epochs, seconds, gap, status, converged, start``
        ("cold", "exact": multipliers moved to the new optimum before the first sweep, "scaled") and
        ``reason``, which says what went wrong where something did. With several classes the margin is the
        smallest of their problems. Epochs are summed over all problems of a width, folds included.

    Notes
    -----
    Multipliers carried over as they are save few sweeps: where the width is large, sweeps converge slowly
    from anywhere. So a warm start first solves the linear system of the last support vectors with the new
    kernel (see `adatron.training.exact_finish`), work that epochs do not count and ``seconds`` do. Cold
    starts are the plain algorithm; they would gain from early linear systems, too.

    References
    ----------
    C. Campbell, N. Cristianini, *Simple Learning Algorithms for Training Support Vector Machines*, 1998,
    section 3.4.

    Examples
    --------
    >>> from adatron.datasets import load_sonar
    >>> from adatron.selection import sigma_path
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> path = sigma_path(X_train, y_train, [0.2, 0.4, 0.8, 1.6])
    >>> path.best_sigma, path["margin"].round(3).tolist()
    (0.4, [0.101, 0.109, 0.09, 0.042])
    >>> from adatron import SVC
    >>> model = SVC(C=float("inf"), gamma=path.best_gamma).fit(X_train, y_train)
    """
    for name, flag in (("fit_intercept", fit_intercept), ("warm_start", warm_start), ("verbose", verbose)):
        check_flag(name, flag)
    C = check_number("C", C, allow_inf=True, allowed="a number > 0 (inf for a hard margin)")
    settings = {"tol": check_number("tol", tol), "max_iter": check_max_iter(max_iter, DEFAULT_MAX_ITER)}
    widths = None if sigmas is None else check_sigmas(sigmas)
    estimator = SVC()
    data = classification_data(estimator, X, y, None)
    chosen = criterion_from(criterion, cv, random_state, estimator, data)
    bound = np.inf if C >= _AS_GOOD_AS_INFINITE else C
    if np.isinf(bound):
        check_coincident(data.X, data.codes, data.rows, data.classes)
    signs = Layout(len(data.classes), "ovr").signs(data.codes)
    parts = np.column_stack([np.ones(len(signs)), chosen.training])
    upper = np.repeat(np.where(parts > 0.0, bound, 0.0), signs.shape[1], axis=1)
    rows = PathRows(data.X, data.codes, signs, upper, bool(fit_intercept))
    with one_blas_thread() if len(signs) <= _ONE_BLAS_THREAD else nullcontext():
        widths = default_sigmas(data.X) if widths is None else widths
        records = _walk(rows, widths, chosen, settings, bool(warm_start), bool(verbose))
    return KernelPath(records, criterion=chosen.label, best_index=_best(records))


def _walk(
    rows: PathRows, sigmas: np.ndarray, criterion: Criterion, settings: dict, warm: bool, verbose: bool
) -> list[dict[str, Any]]:
    records, last = [], None
    for sigma in sigmas.tolist():
        began = perf_counter()
        try:
            with np.errstate(over="ignore"):
                fit = fit_width(rows, sigma, last=last if warm else None, **settings)
            record = _record(rows, fit, criterion)
            last = fit
        except (ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError) as error:
            record = {"criterion": np.inf, **dict.fromkeys(_NO_NUMBERS, np.nan), "status": "failed"}
            record |= {"converged": False, "start": "", "reason": f"{type(error).__name__}: {error}"}
        record = {"sigma": sigma, "gamma": 0.5 / max(sigma**2, 1e-300), **record}
        record["seconds"] = perf_counter() - began
        records.append(record)
        if verbose:
            print(f"[adatron] {_line(record, criterion)}")
    return records


def _record(rows: PathRows, fit: WidthFit, criterion: Criterion) -> dict[str, Any]:
    """What one width has come to."""
    k, m = rows.n_problems, len(rows.codes)
    worst = max(fit.solutions, key=lambda s: (s.status is not Status.CONVERGED, s.gap))
    if any(s.status in (Status.NOT_SEPARABLE, Status.DIVERGED) for s in fit.solutions):
        raise InfeasibleError(f"{worst.status.sentence} after {worst.n_iter} epochs; set C < inf")
    margin = min(s.margin_interval[0] for s in fit.solutions[:k])
    wrong = float(np.mean(criterion.predicted(fit.outputs[:, :k]) != rows.codes))
    n_support = int(np.count_nonzero(fit.coefficients[:, :k].any(axis=1)))
    error = criterion.held_out_error(rows, fit)
    ratio = fit.radius_squared / margin**2 if margin > 0.0 else np.inf
    value = {"vc": ratio, "loo": support_vector_loo_bound(n_support, m)}.get(criterion.name, error)
    radius = float(np.sqrt(fit.radius_squared))
    return {
        "criterion": value,
        "margin": margin,
        "radius_squared": fit.radius_squared,
        "bound": margin_bound(radius, margin, m) if wrong == 0.0 else np.inf,
        "training_error": wrong,
        "error": error,
        "n_support": n_support,
        "epochs": sum(s.n_iter for s in fit.solutions),
        "gap": max(s.gap for s in fit.solutions),
        "status": str(worst.status),
        "converged": worst.status is Status.CONVERGED,
        "start": fit.start,
        "reason": "" if np.isfinite(value) else "the classes are not separated, so there is no margin",
    }


def _best(records: list[dict[str, Any]]) -> int:
    """The least criterion, then the largest margin; of fits that did not converge only if none did."""
    usable = [i for i, record in enumerate(records) if np.isfinite(record["criterion"])]
    if not usable:
        reasons = "; ".join(f"sigma={record['sigma']:g}: {record['reason']}" for record in records)
        raise ValueError(f"no width can be chosen, as each of the {len(records)} failed: {reasons}")
    unfinished = [records[i]["sigma"] for i in usable if not records[i]["converged"]]
    if unfinished:
        warnings.warn(
            f"sigma_path did not converge at sigma={', '.join(f'{s:g}' for s in unfinished)}; raise max_iter "
            "or tol, or leave these widths out",
            ConvergenceWarning,
            stacklevel=3,
        )
    finished = [i for i in usable if records[i]["converged"]] or usable
    return min(finished, key=lambda i: (records[i]["criterion"], -records[i]["margin"]))


def _line(record: dict[str, Any], criterion: Criterion) -> str:
    if record["status"] == "failed":
        return f"sigma {record['sigma']:.4g}: {record['reason']}"
    return (
        f"sigma {record['sigma']:.4g}: {criterion.label} {record['criterion']:.4g}, "
        f"margin {record['margin']:.4g}, {record['n_support']} support vectors, {record['epochs']} epochs"
    )
