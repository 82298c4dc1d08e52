"""`c_path`: soft margins from wide to narrow on one kernel, on a grid of C or for every C at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring

from adatron.estimators import SVC
from adatron.estimators.base import DEFAULT_MAX_ITER
from adatron.estimators.held_out import HeldOutModel
from adatron.estimators.kernel_choice import inspect_gram, kernel_from, probe_callable
from adatron.estimators.multiclass import Layout
from adatron.estimators.parameters import check_max_iter, check_number
from adatron.estimators.training_set import classification_set
from adatron.gram import REGIME, DenseGram, choose_gram
from adatron.kernels import Precomputed
from adatron.numerics.threads import one_blas_thread
from adatron.paths.c_path_result import CPath, ExactSolutions, GridSolutions, PathData, Solutions, outputs
from adatron.paths.exact_path import LARGEST_EXACT, exact_path
from adatron.paths.kernel_path import best_step, criterion_name, folds, validation_rows
from adatron.problems import classification
from adatron.solvers import GreedyAdatron, KernelAdatron, Solver
from adatron.training import GapRule, Run, Status, rounds

__all__ = ["c_path"]

DEFAULT_CS = 2.0 ** np.arange(-5, 16)
_WHOLE_UP_TO = 5_000  # points up to which a linear kernel has its whole matrix, too


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
    X, y : array-like of shape (m, d) and (m,)
    Cs : array-like, optional
        Default: 2⁻⁵, 2⁻⁴, …, 2¹⁵; with ``exact=True`` all breakpoints up to 2¹⁵.
    kernel, gamma, degree, coef0 : as for `SVC`, default="rbf", "scale", 3, 0.0
    exact : bool or "auto", default=False
        All C at once: for two classes, at most 2,000 rows and a positive semi-definite kernel.
    criterion : {"loo", "support", "cv"} or pair (X_val, y_val), optional
        What `best_C` minimises, see `CPath`. Default: "cv" if `cv` is given, else "loo".
    cv, scoring : int or splitter, and scorer of scikit-learn, optional
        Folds, 5 by default, and what to measure on them, or on validation rows, in place of the error.
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
    values = DEFAULT_CS if Cs is None else _check_Cs(Cs)
    shared = _path_data(estimator, X, y, sample_weight, values)
    held = _held_out(shared, criterion, cv, random_state) if column == "error" else []
    solutions, records = _solve(shared, values, Cs is None, exact, held, scoring, column)
    best = best_step(records, list(range(len(records))), "C", "values", lambda record: record["criterion"])
    return CPath(records, label, best, "C", shared, solutions, estimator)


def _column_and_label(criterion: Any, cv: Any, scoring: Any) -> tuple[str, str]:
    """Which column of the records is to be minimised, and what it is called in pictures."""
    name = "loo" if cv is None else "cv"
    if criterion is not None:
        name = criterion_name(criterion, ["loo", "support", "cv"], ", a pair (X_val, y_val) or None")
    if cv is not None and name != "cv":
        raise ValueError(
            f"cv={cv!r} belongs to criterion='cv', got criterion={name!r}; leave one of them out"
        )
    if scoring is not None and name in ("loo", "support"):
        raise ValueError(f"scoring={scoring!r} needs rows held out; set cv, or criterion=(X_val, y_val)")
    if name == "loo":
        return "loo_estimate", "leave-one-out estimate"
    if name == "support":
        return "loo_bound", "share of support vectors"
    return "error", f"{name} error" if scoring is None else "1 − score"


def _check_Cs(Cs: Any) -> np.ndarray:
    """Values of C, rising, each once."""
    try:
        values = np.atleast_1d(np.asarray(Cs, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"Cs must be numbers > 0, got {Cs!r}") from error
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"Cs must be a list of numbers > 0 with at least one of them, got {Cs!r}")
    bad = ~(np.isfinite(values) & (values > 0.0))
    if bad.any():
        place = int(bad.argmax())
        hard = " (for a hard margin use SVC(C=float('inf')))" if values[place] == np.inf else ""
        raise ValueError(f"Cs must be finite numbers > 0, but Cs[{place}] is {values[place]}{hard}")
    return np.unique(values)


def _path_data(estimator: SVC, X: Any, y: Any, sample_weight: Any, Cs: np.ndarray) -> PathData:
    """The data with its kernel matrix, or with what will evaluate its rows."""
    max_iter = check_max_iter(estimator.max_iter, DEFAULT_MAX_ITER)
    tol = check_number("tol", estimator.tol)
    with one_blas_thread():
        data = classification_set(estimator, X, y, sample_weight)
        data = replace(data, X=data.X.copy())  # the path keeps them, and they may be the user's
        layout = Layout(len(data.classes), "ovo")
        layout.check_size(len(data.codes))
        kernel = kernel_from(estimator, data.X, data.sample_weight)
        probe_callable(kernel, data.X)
        is_given = isinstance(kernel, Precomputed)
        gram = DenseGram(data.X) if is_given else choose_gram(kernel, data.X, estimator.cache_size).gram
        if gram.factor is not None and gram.m <= _WHOLE_UP_TO:
            gram = DenseGram(np.asarray(gram.block(slice(0, gram.m))))
        elif not gram.is_whole:
            gram = choose_gram(kernel, data.X, estimator.cache_size, needs_few_rows=True).gram
        indefinite = inspect_gram(gram, kernel)
        if indefinite and gram.evaluates_rows:  # all its rows will be swept
            gram = choose_gram(kernel, data.X, estimator.cache_size).gram
    if layout.is_pairwise:
        signs = np.stack([1.0 * (data.codes == i) - (data.codes == j) for i, j in layout.pairs], axis=1)
    else:
        signs = layout.signs(data.codes)
    with np.errstate(over="ignore"):
        high, low = Cs[-1] * data.weights.max(), Cs[0] * data.weights.min()
    if not np.isfinite(high):
        raise ValueError(f"C * sample_weight overflows with C={Cs[-1]!r}; scale sample_weight down")
    if not low > 0.0:
        raise ValueError(f"C * sample_weight underflows with C={Cs[0]!r}; scale sample_weight up")
    return PathData(estimator, data, kernel, gram, layout, signs, indefinite, tol, max_iter)


def _held_out(shared: PathData, criterion: Any, cv: Any, random_state: Any) -> list[tuple]:
    """Rows to train on (None: all), the X (None: their own) and its rows to measure, codes and weights."""
    data = shared.data
    if isinstance(criterion, tuple | list):
        X_val, codes = validation_rows(criterion, shared.estimator, data)
        return [(None, X_val, slice(None), codes, np.ones(len(codes)))]
    training, held = folds(5 if cv is None else cv, random_state, data)
    parts = [(np.flatnonzero(a), np.flatnonzero(b)) for a, b in zip(training.T, held.T, strict=True)]
    return [(rows, None, out, data.codes[out], data.sample_weight[out]) for rows, out in parts]


def _can_be_exact(exact: Any, shared: PathData) -> bool:
    """Whether to follow the exact path."""
    if not isinstance(exact, bool | np.bool_) and not (isinstance(exact, str) and exact == "auto"):
        raise ValueError(f"exact must be True, False or 'auto', got {exact!r}")
    n_classes, m, reason = len(shared.data.classes), len(shared.signs), ""
    if n_classes > 2:
        reason = f"is for two classes, y has {n_classes}; set exact=False"
    elif m > LARGEST_EXACT:
        reason = f"is for at most {LARGEST_EXACT} rows, X has {m}; set exact=False, or take fewer rows"
    elif shared.indefinite:
        reason = "needs a positive semi-definite kernel, which this one is not; set exact=False"
    if reason and exact and exact != "auto":
        raise ValueError(f"exact=True {reason}")
    return bool(exact) and not reason


def _solve(
    shared: PathData, Cs: np.ndarray, all_C: bool, exact: Any, held: list[tuple], scoring: Any, column: str
) -> tuple[Solutions, list[dict[str, Any]]]:
    """The solutions for all rows, and the record of every C; with `all_C`, of every breakpoint if exact."""
    began, rows, C_max = perf_counter(), np.arange(len(shared.signs)), float(Cs[-1])
    solutions: Solutions | None = None
    fits: list[dict[str, Any]]
    if _can_be_exact(exact, shared):
        try:
            solutions = _solve_exactly(shared, rows, C_max)
            Cs = np.unique(solutions.path.C[1:]) if all_C else Cs
            seconds = (perf_counter() - began) / len(Cs)
            fit = {"epochs": 0, "seconds": seconds, "status": str(Status.CONVERGED), "converged": True}
            fits = [fit] * len(Cs)
        except (RuntimeError, ValueError):  # rounding, or a kernel that is constant
            if exact != "auto":
                raise
    if solutions is None:
        solutions = _solve_grid(shared, rows, Cs)
        fits = solutions.fits
    errors = np.full(len(Cs), np.nan)
    if held:
        scorer = None if scoring is None else check_scoring(shared.estimator, scoring)
        errors = np.mean([_errors(shared, solutions, Cs, C_max, part, scorer) for part in held], axis=0)
    records = []
    for C, own, error, fit in zip(Cs, _measured(shared, solutions, Cs), errors.tolist(), fits, strict=True):
        record = own | {"error": error} | fit
        records.append({"C": float(C), "criterion": record[column], **record})
    return solutions, records


def _solve_exactly(shared: PathData, rows: np.ndarray, C_max: float) -> ExactSolutions:
    K = np.asarray(shared.gram.block(rows, rows))
    path = exact_path(K, shared.signs[rows, 0], shared.data.weights[rows], C_max=C_max)
    return ExactSolutions(path, rows, len(shared.signs))


def _solve_grid(shared: PathData, rows: np.ndarray, Cs: np.ndarray) -> GridSolutions:
    """Solutions of some rows for rising C, each from the last."""
    problems = []
    for column in shared.signs.T:
        own = rows[column[rows] != 0.0]
        gram = shared.gram if len(own) == shared.gram.m else shared.gram.restrict(own)
        problems.append((gram, own, column[own]))
    is_greedy = not shared.indefinite and shared.gram.has_entries
    solver: Solver = GreedyAdatron() if is_greedy else KernelAdatron()
    last: list[np.ndarray | None] = [None] * len(problems)  # feasible for any larger C
    result = GridSolutions(Cs)
    with one_blas_thread() if shared.gram.m <= REGIME.one_blas_thread_up_to else nullcontext():
        for C in Cs.tolist():
            began, found, coefficients = perf_counter(), [], np.zeros(shared.signs.shape)
            for place, (gram, own, signs) in enumerate(problems):
                problem = classification(gram, signs, C * shared.data.weights[own], bias=True)
                rule = GapRule(shared.tol, indefinite=shared.indefinite, eager=True)
                run = Run(problem, solver, rule, max_iter=shared.max_iter, alpha=last[place])
                for _ in rounds([run]):
                    pass
                found.append(run.snapshot()[0])
                last[place] = found[-1].alpha[:, None]
                coefficients[own, place] = signs * found[-1].alpha
            worst = max(found, key=lambda s: (s.status is not Status.CONVERGED, s.gap))
            fit = {
                "epochs": sum(solution.n_iter for solution in found),
                "seconds": perf_counter() - began,
                "gap": max(solution.gap for solution in found),
                "status": str(worst.status),
                "converged": worst.status is Status.CONVERGED,
            }
            result.add(coefficients, np.array([solution.bias for solution in found]), fit)
    return result


def _errors(
    shared: PathData, solutions: Solutions, Cs: np.ndarray, C_max: float, part: tuple, scorer: Any
) -> list[float]:
    """For every C the weighted share of wrong predictions on a part that is held out, or 1 − score."""
    training, X, rows, codes, weights = part
    if training is not None and isinstance(solutions, ExactSolutions):
        solutions = _solve_exactly(shared, training, C_max)
        Cs = np.minimum(Cs, solutions.path.end)
    elif training is not None:
        solutions = _solve_grid(shared, training, Cs)
    layout, classes, errors = shared.layout, shared.data.classes, []
    for _, f, bias in outputs(shared, solutions, Cs, X):
        decisions = f[rows] + bias
        if scorer is None:
            errors.append(float(weights @ (layout.vote(decisions) != codes) / weights.sum()))
        else:
            values = decisions if layout.is_binary else layout.one_per_class(decisions)
            model = HeldOutModel(values, classes).fit()
            errors.append(1.0 - float(scorer(model, np.arange(len(codes))[:, None], classes[codes])))
    return errors


def _measured(shared: PathData, solutions: Solutions, Cs: np.ndarray) -> Iterator[dict[str, Any]]:
    """Objective, margin, support vectors, errors and gap for every C."""
    signs, diagonal = shared.signs, shared.gram.diagonal()[:, None]
    share = shared.data.sample_weight / shared.data.sample_weight.sum()
    for C, (coefficients, f, bias) in zip(Cs.tolist(), outputs(shared, solutions, Cs), strict=True):
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
            "n_support": int(np.count_nonzero(support)),
            "training_error": float(share @ wrong),
            "loo_bound": float(share @ support),
            "loo_estimate": float(share @ doubtful),
            "gap": float((difference / np.maximum(np.abs(primal), np.finfo(float).tiny)).max()),
        }
