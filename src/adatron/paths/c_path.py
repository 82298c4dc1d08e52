"""`c_path`: soft margins from wide to narrow on one kernel, on a grid of C or for every C at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring

from adatron.estimators import SVC
from adatron.estimators.base import DEFAULT_MAX_ITER
from adatron.estimators.parameters import check_max_iter, check_number
from adatron.numerics.threads import one_blas_thread
from adatron.paths.checks import check_bounds, check_Cs, criterion_name, held_out_rows
from adatron.paths.criteria import Criterion
from adatron.paths.grid import path_data
from adatron.paths.measures import Score, held_out_values, measures, scorer_of
from adatron.paths.result import CPath, decisions_for
from adatron.paths.solutions import Solutions
from adatron.paths.solver import CPathSolver

__all__ = ["c_path"]

_LABELS = {
    "loo": "leave-one-out estimate",
    "support": "share of support vectors",
    "cv": "cv error",
    "validation": "validation error",
}
_COLUMNS = {"loo": "loo_estimate", "support": "loo_bound", "cv": "error", "validation": "error"}


def c_path(
    X: Any,
    y: Any,
    Cs: Any = None,
    *,
    kernel: Any = "rbf",
    gamma: Any = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    exact: bool | str = False,
    criterion: Any = None,
    cv: Any = None,
    scoring: Any = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    sample_weight: Any = None,
    class_weight: Any = None,
    cache_size: Any = "auto",
    random_state: Any = None,
) -> CPath:
    """Train a soft-margin SVM for many C, each from the last, and choose among them.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (m, d)
        Or the square kernel matrix with ``kernel="precomputed"``.
    y : array-like of shape (m,)
    Cs : array-like, optional
        Values of C, in any order. Default: 2⁻⁵, 2⁻⁴, …, 2¹⁵; with ``exact=True`` all breakpoints up to 2¹⁵.
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}, Kernel or callable, \
default="rbf"
        As for `SVC`.
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is that of all rows, in every fold too.
    degree : int, default=3
    coef0 : float, default=0.0
    exact : bool or "auto", default=False
        True follows the exact path, which is piecewise linear in C: two classes, at most 2,000 rows, a
        positive semi-definite kernel. "auto" does so where it is possible. False solves on the grid.
    criterion : {"loo", "support", "cv"} or pair (X_val, y_val), optional
        What `best_C` minimises. "loo" estimates the leave-one-out error by the share of rows with
        ``y_i (f_i + b) ≤ α_i K_ii``; "support" bounds it by the share of support vectors; "cv" is the error
        of cross-validation; a pair asks for the error on those rows. Default: "cv" if `cv` is given, else
        "loo".
    cv : int, splitter or iterable, optional
        Folds of ``criterion="cv"``, 5 by default; a number of them deals out shuffled rows, class by class.
    scoring : str or callable, optional
        A scorer of scikit-learn's, in place of the error on folds or validation rows.
    tol : float, default=1e-3
        Relative duality gap at which a fit of the grid ends.
    max_iter : int, default=-1
        Epochs at most for each C of the grid; -1 is 100,000.
    sample_weight : array-like of shape (m,), optional
        A weight multiplies C; errors on rows of X are weighted, too.
    class_weight : dict or "balanced", optional
    cache_size : float or "auto", default="auto"
    random_state : int, RandomState instance or None, default=None
        For the shuffle of `cv`.

    Returns
    -------
    CPath
        Records with ``C, criterion, objective, margin`` (``1/‖w‖``, the smallest of all problems),
        ``n_support, training_error, loo_bound`` (``n_SV/m``), ``loo_estimate, gap, error`` (of folds or
        validation rows, or 1 − score; else NaN), ``epochs, seconds, status, converged``. The time of an exact
        path is shared out among its records, and no epochs are counted.

    Notes
    -----
    Without a bias, ``y_i f_i ≤ α_i K_ii`` holds for every row that an SVM trained without it gets wrong, so
    that their share is a bound; with one it is an estimate. The SVM with its least value on the path is
    SVM(LOO) of Tsang & Kwok; `CPath.oracle_C` gives their SVM(BEST).

    References
    ----------
    T. Hastie, S. Rosset, R. Tibshirani, J. Zhu, *The entire regularization path for the support vector
    machine*, JMLR 5, 2004.

    T. Evgeniou, M. Pontil, A. Elisseeff, *Leave one out error, stability, and generalization of voting
    combinations of classifiers*, Machine Learning 55, 2004.

    I. W. Tsang, J. T. Kwok, *Ensembles of Partially Trained SVMs with Multiplicative Updates*, IJCAI 2007.

    Examples
    --------
    >>> from adatron.datasets import load_sonar
    >>> from adatron.selection import c_path
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> path = c_path(X_train, y_train, [0.5, 2.0, 8.0, 32.0, 128.0], cv=5, random_state=0)
    >>> path
    CPath(5 steps, C from 0.5 to 128, best C=32 with cv error 0.1929)
    >>> round(float((path.predict(X_test) != y_test).mean()), 3)
    0.125
    >>> whole = c_path(X_train, y_train, exact=True)
    >>> whole.exact_path
    ExactPath(104 points, 163 breakpoints, complete)
    >>> round(whole.oracle_C(X_test, y_test), 2)  # which one knows after having seen the test set
    41.25
    """
    values = None if Cs is None else check_Cs(Cs)
    given = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    estimator = SVC(**given, class_weight=class_weight, cache_size=cache_size)
    settings = {"tol": check_number("tol", tol), "max_iter": check_max_iter(max_iter, DEFAULT_MAX_ITER)}
    name = criterion_name(criterion, cv, scoring)
    with one_blas_thread():
        shared = path_data(estimator, X, y, sample_weight)
    check_bounds(values, shared)
    held = held_out_rows(name, criterion, cv, random_state, estimator, shared)
    solve = CPathSolver(shared, values, exact, settings)
    solutions, Cs, fits = solve.all_rows()
    errors = np.full(len(Cs), np.nan)
    if held is not None:
        score = scorer_of(shared, None if scoring is None else check_scoring(estimator, scoring))
        errors = _errors(solve, solutions, Cs, held, score)
    records = _records(measures(shared, solutions, Cs), Cs, errors, fits, _COLUMNS[name])
    label = _LABELS[name] if scoring is None else "1 − score"
    return CPath(records, label, _best(records), "C", shared, solutions, estimator)


def _errors(
    solve: CPathSolver, solutions: Solutions, Cs: np.ndarray, held: Criterion, score: Score
) -> np.ndarray:
    """The score of what is held out for every C; that of folds is their mean."""
    shared = solve.shared
    if held.codes_val is not None:
        weights = np.ones(len(held.codes_val))
        decisions = decisions_for(shared, solutions, held.X_val, Cs)
        return np.array([score(values, held.codes_val, weights) for values in decisions])
    folds = []
    for fold in range(held.held.shape[1]):
        part = solve.some_rows(np.flatnonzero(held.training[:, fold]), Cs)
        folds.append(held_out_values(shared, part, Cs, np.flatnonzero(held.held[:, fold]), score))
    return np.mean(folds, axis=0)


def _records(
    measured: Iterator[dict[str, Any]], Cs: np.ndarray, errors: np.ndarray, fits: list[Any], column: str
) -> list[dict[str, Any]]:
    records = []
    for C, values, error, fit in zip(Cs.tolist(), measured, errors.tolist(), fits, strict=True):
        values = values | {"error": error} | fit
        records.append({"C": C, "criterion": values[column], **values})
    return records


def _best(records: list[dict[str, Any]]) -> int:
    """The least criterion, then the least C; of fits that did not converge only if none did."""
    unfinished = [record["C"] for record in records if not record["converged"]]
    if unfinished:
        warnings.warn(
            f"c_path did not converge at C={', '.join(f'{C:g}' for C in unfinished)}; raise max_iter or tol, "
            "or leave these values out",
            ConvergenceWarning,
            stacklevel=3,
        )
    usable = [i for i, record in enumerate(records) if record["converged"]] or list(range(len(records)))
    return min(usable, key=lambda i: records[i]["criterion"])
