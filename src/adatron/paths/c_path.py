"""`c_path`: soft-margin SVMs for a grid of C, or for every C at once."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.metrics import check_scoring

from adatron.estimators import SVC, parameters
from adatron.estimators.classifier import Layout
from adatron.estimators.machine import bounds_from
from adatron.estimators.probabilities import HeldOutModel
from adatron.estimators.training_set import classification_set
from adatron.gram import REGIME, DenseGram, choose_gram, expand
from adatron.kernels import Precomputed
from adatron.numerics.threads import one_blas_thread
from adatron.paths import kernel_path
from adatron.paths.exact_path import LARGEST_EXACT, ExactPath, exact_path
from adatron.paths.kernel_path import CPath, criterion_name, rising
from adatron.problems import classification
from adatron.training import Status, solved

_AT_ONCE = 8_000_000  # numbers in memory at a time: coefficients or outputs for several C
_WHOLE_UP_TO = 5_000  # points up to which a linear kernel also uses a whole matrix
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

    Examples
    --------
    >>> from adatron import datasets, selection
    >>> selection.c_path(*datasets.load_sonar(return_X_y=True), [0.5, 2.0, 8.0, 32.0], cv=5, random_state=0)
    CPath(4 steps, C from 0.5 to 32, best C=32 with cv error 0.1199)
    """
    estimator = SVC(
        kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, class_weight=class_weight,
        cache_size=cache_size, tol=tol, max_iter=max_iter,
    )  # fmt: skip
    column, label = _column_and_label(criterion, cv, scoring)
    values = DEFAULT_CS if Cs is None else rising("Cs", Cs, " (for a hard margin use SVC(C=float('inf')))")
    shared = PathData(estimator, X, y, sample_weight, values)
    held = _held_out(shared, criterion, cv, random_state) if column == "error" else []
    scorer = None if scoring is None else check_scoring(estimator, scoring)
    solutions, Cs, fits = _solve(shared, values, Cs is None, exact)
    of_parts = [_errors(shared, solutions, float(values[-1]), Cs, part, scorer) for part in held]
    errors, records = np.mean(of_parts or [[np.nan] * len(Cs)], axis=0).tolist(), []
    measured = _measured(shared, solutions, Cs)
    for C, numbers, error, fit in zip(Cs.tolist(), measured, errors, fits, strict=True):
        record = numbers | {"error": error} | fit
        records.append({"C": C, "criterion": record[column]} | record)
    best = kernel_path.best_step(records, range(len(records)), "C", lambda record: record["criterion"])
    return CPath(records, label, best, "C", shared, solutions, estimator)


@dataclass(frozen=True)
class GridSolutions:
    """Solutions for the C of a grid."""

    path = None  # which `ExactSolutions` have
    Cs: np.ndarray
    coefficients: list[sparse.csr_array]
    bias: list[np.ndarray]
    fits: list[dict[str, Any]]  # how each fit ended

    def at(self, Cs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``y∘α``, shape (n, m, P), and biases, shape (n, P), for n values of C."""
        places = [np.abs(np.log(self.Cs) - np.log(C)).argmin() if C > 0.0 else 0 for C in Cs]
        for C, nearest in zip(Cs.tolist(), self.Cs[places], strict=True):
            if not np.isclose(C, nearest, rtol=1e-9, atol=0.0):
                values = f"the {len(self.Cs)} values of this path, the nearest being {nearest:g}"
                raise ValueError(f"C={C!r} is not one of {values}; add it to Cs, or use exact=True")
        coefficients = np.stack([self.coefficients[k].toarray() for k in places])
        return coefficients, np.stack([self.bias[k] for k in places])


@dataclass(frozen=True)
class ExactSolutions:
    """Solutions for any C of an exact path of some of the m rows."""

    path: ExactPath
    rows: np.ndarray
    m: int

    def at(self, Cs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Like `GridSolutions.at`."""
        coefficients = np.zeros((len(Cs), self.m, 1))
        coefficients[:, self.rows, 0] = self.path.alpha_at(Cs) * self.path.y
        return coefficients, self.path.bias_at(Cs)[:, None]


Solutions = GridSolutions | ExactSolutions


class HeldOut(NamedTuple):
    """Rows to measure errors on, and those to train on before."""

    training: np.ndarray | None  # None: all rows of the path
    X: Any  # None: the rows of the path
    rows: Any  # of X
    codes: np.ndarray
    weights: np.ndarray


class PathData:
    """The rows and the kernel matrix that all C share: solves problems and evaluates solutions."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, Cs: np.ndarray) -> None:
        estimator._check_parameters()
        self.estimator, cache_size = estimator, estimator.cache_size
        with one_blas_thread():
            data = classification_set(estimator, X, y, sample_weight)
            self.data = data = replace(data, X=data.X.copy())  # a copy, because the result keeps them
            self.layout = Layout(len(data.classes), "ovo").check_size(data.m)
            self.kernel = parameters.kernel_from(estimator, data.X, data.sample_weight)
            self.gram = swept = choose_gram(self.kernel, data.X, cache_size).gram
            if swept.factor is not None and data.m <= _WHOLE_UP_TO:
                self.gram = DenseGram(np.asarray(swept.block(slice(0, data.m))))
            elif not swept.is_whole:
                self.gram = choose_gram(self.kernel, data.X, cache_size, needs_few_rows=True).gram
            self.indefinite = parameters.inspect_gram(self.gram, self.kernel)
            if self.indefinite and self.gram.evaluates_rows:  # all its rows will be swept
                self.gram = swept
        self.signs = self.layout.signs(data.codes)  # (m, P)
        for C in (float(Cs[-1]), float(Cs[0])):
            bounds_from(C, data.weights)  # neither too large nor too small

    def solve_exactly(self, rows: np.ndarray, C_max: float) -> ExactSolutions:
        """Solutions of some rows for every C."""
        K = np.asarray(self.gram.block(rows, rows))
        path = exact_path(K, self.signs[rows, 0], self.data.weights[rows], C_max=C_max)
        return ExactSolutions(path, rows, len(self.signs))

    def solve_grid(self, rows: np.ndarray, Cs: np.ndarray) -> GridSolutions:
        """Solutions of some rows for rising C, each warm-started from the last."""
        parts = [rows[column[rows] != 0.0] for column in self.signs.T]  # of every problem
        grams = [self.gram if len(own) == self.gram.m else self.gram.restrict(own) for own in parts]
        result = GridSolutions(Cs, [], [], [])
        starts: list[Any] = [None] * len(parts)
        with one_blas_thread() if self.gram.m <= REGIME.one_blas_thread_up_to else nullcontext():
            for C in Cs.tolist():
                began, coefficients = perf_counter(), np.zeros(self.signs.shape)
                problems = [
                    classification(gram, self.signs[own, k], C * self.data.weights[own], bias=True)
                    for k, (own, gram) in enumerate(zip(parts, grams, strict=True))
                ]
                runs = self.estimator._runs(problems, self.indefinite, starts)
                found = [solution for run in runs for solution in solved([run])]  # one matrix at a time
                starts = [solution.alpha[:, None] for solution in found]  # feasible for any larger C
                for k, own in enumerate(parts):
                    coefficients[own, k] = self.signs[own, k] * found[k].alpha
                result.coefficients.append(sparse.csr_array(coefficients))
                result.bias.append(np.array([solution.bias for solution in found]))
                ended = kernel_path.fit_summary(found)
                result.fits.append({"epochs": ended["epochs"], "seconds": perf_counter() - began} | ended)
        return result

    def outputs(self, solutions: Solutions, Cs: np.ndarray, X: Any = None) -> Iterator[tuple]:
        """``y∘α`` (m, P), outputs (n, P) without bias and biases (P,) for every C; X None is the own rows."""
        m, n_problems = self.signs.shape
        n = m if X is None else X.shape[0]
        size = max(1, _AT_ONCE // (max(m, n) * n_problems))
        for start in range(0, len(Cs), size):
            coefficients, bias = solutions.at(Cs[start : start + size])
            columns = coefficients.transpose(1, 0, 2).reshape(m, -1)
            used = np.flatnonzero(coefficients.any(axis=(0, 2)))
            if X is None:
                f = self.gram.matmul(np.asfortranarray(columns))
            elif isinstance(self.kernel, Precomputed):
                f = X[:, self.data.rows[used]] @ columns[used]
            else:
                f = expand(self.kernel, X, self.data.X[used], columns[used])
            f = f.reshape(n, len(bias), -1)
            yield from ((coefficients[k], f[:, k], bias[k]) for k in range(len(bias)))


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


def _held_out(shared: PathData, criterion: Any, cv: Any, random_state: Any) -> list[HeldOut]:
    """The validation rows, or the folds."""
    data = shared.data
    if isinstance(criterion, tuple | list):
        X_val, codes = kernel_path.validation_rows(criterion, shared.estimator, data)
        return [HeldOut(None, X_val, slice(None), codes, np.ones(len(codes)))]
    folds = kernel_path.folds(5 if cv is None else cv, random_state, data)
    splits = [map(np.flatnonzero, split) for split in zip(folds.training.T, folds.held.T, strict=True)]
    return [HeldOut(rows, None, out, data.codes[out], data.sample_weight[out]) for rows, out in splits]


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


def _errors(
    shared: PathData, solutions: Any, C_max: float, Cs: np.ndarray, held: HeldOut, scorer: Any
) -> list[float]:
    """For every C, the weighted error on held-out rows, or 1 − score."""
    training, X, rows, codes, weights = held
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
