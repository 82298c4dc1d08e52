"""`c_path`: soft-margin SVMs for a grid of C, or for every C at once."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring

from adatron.estimators import SVC
from adatron.estimators.probabilities import HeldOutModel
from adatron.paths.c_path_result import CPath, ExactSolutions, PathData, Solutions
from adatron.paths.exact_path import LARGEST_EXACT
from adatron.paths.kernel_path import best_step, criterion_name, folds, rising, validation_rows
from adatron.training import Status

DEFAULT_CS = 2.0 ** np.arange(-5, 16)
_OWN_CRITERIA = {  # criteria without held-out rows: column of the records, and label in figures
    "loo": ("loo_estimate", "leave-one-out estimate"),
    "support": ("loo_bound", "share of support vectors"),
}


def c_path(
    X: Any, y: Any, Cs: Any = None, *, kernel: Any = "rbf", gamma: Any = "scale", degree: int = 3,
    coef0: float = 0.0, exact: bool | str = False, criterion: Any = None, cv: Any = None, scoring: Any = None,
    tol: float = 1e-3, max_iter: int = -1, sample_weight: Any = None, class_weight: Any = None,
    cache_size: Any = "auto", random_state: Any = None,
) -> CPath:  # fmt: skip
    """Train soft-margin SVMs for many C, each warm-started from the last, and choose among them.

    Parameters
    ----------
    X, y : array-like of shape (m, d) and (m,)
    Cs : array-like, optional
        Default: 2⁻⁵, 2⁻⁴, …, 2¹⁵; with ``exact=True`` all breakpoints up to 2¹⁵.
    kernel, gamma, degree, coef0 : as for `SVC`, default="rbf", "scale", 3, 0.0
    exact : bool or "auto", default=False
        All C at once: for two classes, at most 2,000 rows and a positive semi-definite kernel.
    criterion : {"loo", "support", "cv"} or pair (X_val, y_val), optional
        What `best_C` minimises, see `CPath`. Default: "cv" if `cv` is given, else "loo".
    cv, scoring : int or splitter, and scorer of scikit-learn, optional
        Folds, 5 by default, and a score for them, or for validation rows, to use instead of the error.
    tol, max_iter : duality gap at which a fit on the grid ends, and most epochs, default=1e-3, -1
    sample_weight, class_weight, cache_size, random_state : as for `SVC`, default=None, None, "auto", None

    Returns
    -------
    CPath

    References
    ----------
    T. Hastie, S. Rosset, R. Tibshirani, J. Zhu, JMLR 5, 2004; see `exact_path`.

    Examples
    --------
    >>> from adatron import datasets, selection
    >>> selection.c_path(*datasets.load_sonar(return_X_y=True), [0.5, 2.0, 8.0, 32.0], cv=5, random_state=0)
    CPath(4 steps, C from 0.5 to 32, best C=32 with cv error 0.1199)
    """
    given = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0, "class_weight": class_weight}
    estimator = SVC(**given, cache_size=cache_size, tol=tol, max_iter=max_iter)
    column, label = _column_and_label(criterion, cv, scoring)
    values = DEFAULT_CS if Cs is None else rising("Cs", Cs, " (for a hard margin use SVC(C=float('inf')))")
    shared = PathData(estimator, X, y, sample_weight, values)
    held = _held_out(shared, estimator, criterion, cv, random_state) if column == "error" else []
    scorer = None if scoring is None else check_scoring(estimator, scoring)
    solutions, Cs, fits = _solve(shared, values, Cs is None, exact)
    errors = [_errors(shared, solutions, float(values[-1]), Cs, part, scorer) for part in held]
    errors = np.mean(errors or [[np.nan] * len(Cs)], axis=0).tolist()
    measured = zip(_measured(shared, solutions, Cs), errors, fits, strict=True)
    records = [own | {"error": error} | fit for own, error, fit in measured]
    records = [{"C": C, "criterion": own[column]} | own for C, own in zip(Cs.tolist(), records, strict=True)]
    best = best_step(records, range(len(records)), "C", lambda record: record["criterion"])
    return CPath(records, label, best, "C", shared, solutions, estimator)


def _column_and_label(criterion: Any, cv: Any, scoring: Any) -> tuple[str, str]:
    """The column of the records to minimise, and its label in figures."""
    name = "loo" if cv is None else "cv"
    if criterion is not None:
        name = criterion_name(criterion, [*_OWN_CRITERIA, "cv"], ", a pair (X_val, y_val) or None")
    if cv is not None and name != "cv":
        raise ValueError(f"cv={cv!r} belongs to criterion='cv', got criterion={name!r}; drop one")
    if scoring is not None and name in _OWN_CRITERIA:
        raise ValueError(f"scoring={scoring!r} needs rows held out; set cv, or criterion=(X_val, y_val)")
    return _OWN_CRITERIA.get(name, ("error", f"{name} error" if scoring is None else "1 − score"))


def _held_out(shared: PathData, estimator: SVC, criterion: Any, cv: Any, random_state: Any) -> list[tuple]:
    """Rows to train on (None: all), the X (None: their own) and its rows to measure, codes and weights."""
    data = shared.data
    if isinstance(criterion, tuple | list):
        X_val, codes = validation_rows(criterion, estimator, data)
        return [(None, X_val, slice(None), codes, np.ones(len(codes)))]
    parts = folds(5 if cv is None else cv, random_state, data)
    splits = [map(np.flatnonzero, split) for split in zip(parts.training.T, parts.held.T, strict=True)]
    return [(rows, None, out, data.codes[out], data.sample_weight[out]) for rows, out in splits]


def _solve(shared: PathData, Cs: np.ndarray, all_C: bool, exact: Any) -> tuple[Solutions, np.ndarray, list]:
    """Solutions for all rows, the C to record (if exact and `all_C`, every breakpoint), how fits ended."""
    began, rows, n_classes = perf_counter(), np.arange(shared.data.m), len(shared.data.classes)
    is_auto, obstacle = isinstance(exact, str) and exact == "auto", ""
    if not is_auto and not isinstance(exact, bool | np.bool_):
        raise ValueError(f"exact must be True, False or 'auto', got {exact!r}")
    if n_classes > 2:
        obstacle = f"is for two classes, y has {n_classes}"
    elif len(rows) > LARGEST_EXACT:
        obstacle = f"is for at most {LARGEST_EXACT} rows, X has {len(rows)}"
    elif shared.indefinite:
        obstacle = "needs a positive semi-definite kernel, which this one is not"
    if obstacle and exact and not is_auto:
        raise ValueError(f"exact=True {obstacle}; set exact=False")
    if exact and not obstacle:
        try:
            solutions = shared.solve_exactly(rows, float(Cs[-1]))
            Cs = np.unique(solutions.path.C[1:]) if all_C else Cs
            seconds, status = (perf_counter() - began) / len(Cs), str(Status.CONVERGED)
            fit = {"epochs": 0, "seconds": seconds, "status": status, "converged": True}
            return solutions, Cs, [fit] * len(Cs)
        except (RuntimeError, ValueError):  # rounding, or a kernel that is constant
            if not is_auto:
                raise
    grid = shared.solve_grid(rows, Cs)
    return grid, Cs, grid.fits


def _errors(shared: PathData, solutions: Any, C_max: float, Cs: np.ndarray, part: Any, scorer: Any) -> list:
    """For every C, the weighted error on held-out rows, or 1 − score."""
    training, X, rows, codes, weights = part
    if training is not None and isinstance(solutions, ExactSolutions):
        solutions = shared.solve_exactly(training, C_max)
        Cs = np.minimum(Cs, solutions.path.end)
    elif training is not None:
        solutions = shared.solve_grid(training, Cs)
    layout, classes, errors = shared.layout, shared.data.classes, []
    for _, f, bias in shared.outputs(solutions, Cs, X):
        decisions = f[rows] + bias
        if scorer is None:
            errors.append(float(weights @ (layout.vote(decisions) != codes) / weights.sum()))
        else:
            values = decisions if layout.is_binary else layout.one_per_class(decisions)
            model = HeldOutModel(values, classes)
            errors.append(1.0 - float(scorer(model, np.arange(len(codes))[:, None], classes[codes])))
    return errors


def _measured(shared: PathData, solutions: Solutions, Cs: np.ndarray) -> Iterator[dict[str, Any]]:
    """Objective, margin, support vectors, errors and gap for every C."""
    signs, diagonal = shared.signs, shared.gram.diagonal()[:, None]
    share = shared.data.sample_weight / shared.data.sample_weight.sum()
    for C, (coefficients, f, bias) in zip(Cs.tolist(), shared.outputs(solutions, Cs), strict=True):
        alpha, decisions = np.abs(coefficients), f + bias
        squares = np.maximum((coefficients * f).sum(axis=0), 0.0)  # ‖w‖² of every problem
        support = alpha.any(axis=1)
        wrong = shared.layout.vote(decisions) != shared.data.codes
        doubtful = ((signs * decisions <= alpha * diagonal) & (signs != 0.0)).any(axis=1)
        slack = np.where(signs != 0.0, 1.0 - signs * decisions, 0.0)
        room = np.where(slack > 0.0, C * shared.data.weights[:, None] - alpha, -alpha)
        difference = (room * slack).sum(axis=0)  # of primal and dual
        primal = alpha.sum(axis=0) - 0.5 * squares + difference
        yield {
            "objective": float(alpha.sum() - 0.5 * squares.sum()),
            "margin": float(1.0 / np.sqrt(squares.max())) if squares.max() > 0.0 else np.inf,
            "n_support": int(np.count_nonzero(support)), "training_error": float(share @ wrong),
            "loo_bound": float(share @ support), "loo_estimate": float(share @ doubtful),
            "gap": float((difference / np.maximum(np.abs(primal), np.finfo(float).tiny)).max()),
        }  # fmt: skip
