"""`CPath`: the SVMs for many C with their scores, and predictions by any of them."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from adatron.estimators import inputs, parameters
from adatron.estimators.classifier import Layout
from adatron.estimators.training_set import classification_set
from adatron.gram import REGIME, DenseGram, choose_gram, expand
from adatron.kernels import Precomputed
from adatron.numerics.threads import one_blas_thread
from adatron.paths.exact_path import ExactPath, exact_path
from adatron.paths.kernel_path import KernelPath, fit_summary
from adatron.problems import classification
from adatron.solvers import GreedyAdatron, KernelAdatron, Solver
from adatron.training import GapRule, Run, solved

_AT_ONCE = 8_000_000  # numbers in memory at a time: coefficients or outputs for several C
_WHOLE_UP_TO = 5_000  # points up to which a linear kernel also uses a whole matrix


@dataclass(frozen=True)
class GridSolutions:
    """Solutions for the C of a grid."""

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


class PathData:
    """The rows and the kernel matrix that all C share: solves problems and evaluates solutions."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, Cs: np.ndarray) -> None:
        self.tol, cache_size = parameters.check_number("tol", estimator.tol), estimator.cache_size
        self.max_iter = parameters.check_max_iter(estimator.max_iter)
        with one_blas_thread():
            data = classification_set(estimator, X, y, sample_weight)
            self.data = data = replace(data, X=data.X.copy())  # a copy, because the result keeps them
            self.layout = Layout(len(data.classes), "ovo")
            self.layout.check_size(data.m)
            self.kernel = parameters.kernel_from(estimator, data.X, data.sample_weight)
            gram = choose_gram(self.kernel, data.X, cache_size).gram
            if gram.factor is not None and gram.m <= _WHOLE_UP_TO:
                gram = DenseGram(np.asarray(gram.block(slice(0, gram.m))))
            elif not gram.is_whole:
                gram = choose_gram(self.kernel, data.X, cache_size, needs_few_rows=True).gram
            self.indefinite = parameters.inspect_gram(gram, self.kernel)
            if self.indefinite and gram.evaluates_rows:  # all its rows will be swept
                gram = choose_gram(self.kernel, data.X, cache_size).gram
        self.gram, codes = gram, data.codes
        # (m, P): label −1 or +1 of every row in every problem, 0 where it takes no part
        if self.layout.is_pairwise:
            self.signs = np.stack([1.0 * (codes == i) - (codes == j) for i, j in self.layout.pairs], axis=1)
        else:
            self.signs = self.layout.signs(codes)
        with np.errstate(over="ignore"):
            high, low = Cs[-1] * data.weights.max(), Cs[0] * data.weights.min()
        if not np.isfinite(high):
            raise ValueError(f"C * sample_weight overflows with C={Cs[-1]!r}; scale sample_weight down")
        if not low > 0.0:
            raise ValueError(f"C * sample_weight underflows with C={Cs[0]!r}; scale sample_weight up")

    def solve_exactly(self, rows: np.ndarray, C_max: float) -> ExactSolutions:
        """Solutions of some rows for every C."""
        K = np.asarray(self.gram.block(rows, rows))
        path = exact_path(K, self.signs[rows, 0], self.data.weights[rows], C_max=C_max)
        return ExactSolutions(path, rows, len(self.signs))

    def solve_grid(self, rows: np.ndarray, Cs: np.ndarray) -> GridSolutions:
        """Solutions of some rows for rising C, each warm-started from the last."""
        parts = [rows[column[rows] != 0.0] for column in self.signs.T]  # of every problem
        grams = [self.gram if len(own) == self.gram.m else self.gram.restrict(own) for own in parts]
        is_greedy = not self.indefinite and self.gram.has_entries
        solver: Solver = GreedyAdatron() if is_greedy else KernelAdatron()
        alphas: list[Any] = [None] * len(parts)  # feasible for any larger C
        result = GridSolutions(Cs, [], [], [])
        with one_blas_thread() if self.gram.m <= REGIME.one_blas_thread_up_to else nullcontext():
            for C in Cs.tolist():
                began, found, coefficients = perf_counter(), [], np.zeros(self.signs.shape)
                for k, (own, gram) in enumerate(zip(parts, grams, strict=True)):
                    signs = self.signs[own, k]
                    problem = classification(gram, signs, C * self.data.weights[own], bias=True)
                    rule = GapRule(self.tol, indefinite=self.indefinite, eager=True)
                    found += solved([Run(problem, solver, rule, max_iter=self.max_iter, alpha=alphas[k])])
                    alphas[k] = found[k].alpha[:, None]
                    coefficients[own, k] = signs * found[k].alpha
                result.coefficients.append(sparse.csr_array(coefficients))
                result.bias.append(np.array([solution.bias for solution in found]))
                ended = fit_summary(found)
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


@dataclass(frozen=True, repr=False)
class CPath(KernelPath):
    """The result of `c_path`: records for many C, and their SVMs.

    It predicts for every C up to its end if it is exact, otherwise for those of its grid.

    Parameters
    ----------
    records, criterion, best_index : as in `KernelPath`
    x : str, default="C"
    shared, solutions, estimator : optional
        What the SVMs have in common, their coefficients, and the SVC that checks rows to predict.

    Notes
    -----
    "loo" estimates the leave-one-out error by the share of rows with ``y_i (f_i + b) ≤ α_i K_ii``, a bound if
    there is no bias; "support" bounds it by the share of support vectors. Records have ``C, criterion,
    objective, margin`` (``1/‖w‖``, the smallest of all problems), ``n_support, training_error, loo_bound,
    loo_estimate, gap, error`` (on folds or validation rows, or 1 − score), ``epochs, seconds, status`` and
    ``converged``. The time of an exact path is divided among its records.

    References
    ----------
    T. Evgeniou, M. Pontil, A. Elisseeff, *Leave one out error, stability, and generalization of voting
    combinations of classifiers*, 2004. In I. W. Tsang, J. T. Kwok, *Ensembles of Partially Trained SVMs with
    Multiplicative Updates*, 2007, SVM(LOO) is `best_C` by the default criterion, and SVM(BEST) `oracle_C`.

    Examples
    --------
    >>> from adatron import datasets, selection
    >>> X_train, X_test, y_train, y_test = datasets.load_sonar(split="half")
    >>> path = selection.c_path(X_train, y_train, exact=True)
    >>> path, round(path.oracle_C(X_test, y_test), 2)  # the latter needs the test set
    (CPath(162 steps, C from 0.01071 to 3.277e+04, best C=0.3217 with leave-one-out estimate 0.4519), 41.25)
    """

    x: str = "C"
    shared: Any = None
    solutions: Any = None
    estimator: Any = None

    @property
    def C(self) -> np.ndarray:
        """The C of every record, rising."""
        return self["C"]

    @property
    def best_C(self) -> float:
        """The C with the least criterion, the smallest of equally good ones."""
        return float(self.best["C"])

    @property
    def classes_(self) -> np.ndarray:
        """The labels of the classes."""
        return self.shared.data.classes

    @property
    def exact_path(self) -> ExactPath | None:
        """The exact path, with its breakpoints, if there is one."""
        return getattr(self.solutions, "path", None)

    def alpha_at(self, C: float) -> np.ndarray:
        """Multipliers of all rows of X.

        Parameters
        ----------
        C : float

        Returns
        -------
        ndarray of shape (m,), or (m, n_problems) for more than two classes
        """
        coefficients, _ = self.solutions.at(np.array([float(C)]))
        alpha = np.zeros((self.shared.data.shape[0], coefficients.shape[2]))
        alpha[self.shared.data.rows] = np.abs(coefficients[0])
        return alpha[:, 0] if self.shared.layout.is_binary else alpha

    def bias_at(self, C: float) -> Any:
        """The bias, one for each problem with more than two classes.

        Parameters
        ----------
        C : float

        Returns
        -------
        float, or ndarray of shape (n_problems,)
        """
        _, bias = self.solutions.at(np.array([float(C)]))
        return float(bias[0, 0]) if self.shared.layout.is_binary else bias[0]

    def decision_function(self, X: Any, C: float | None = None) -> np.ndarray:
        """Decision values of the SVM for one C (None: `best_C`), as `SVC` gives them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        C : float, default=None

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        """
        decisions, layout = self._decisions(X, C), self.shared.layout
        return decisions[:, 0] if layout.is_binary else layout.one_per_class(decisions)

    def predict(self, X: Any, C: float | None = None) -> np.ndarray:
        """The class of each row, by the SVM for one C (None: `best_C`).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        C : float, default=None

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.classes_[self.shared.layout.vote(self._decisions(X, C))]

    def _decisions(self, X: Any, C: float | None) -> np.ndarray:
        X, Cs = inputs.check_predict_X(self.estimator, X), np.array([self.best_C if C is None else float(C)])
        _, f, bias = next(self.shared.outputs(self.solutions, Cs, X))
        return f + bias

    def test_errors(self, X: Any, y: Any) -> np.ndarray:
        """Share of the rows of `X` that the SVM of each record misclassifies.

        Parameters
        ----------
        X, y : array-like of shape (n_samples, n_features) and (n_samples,)

        Returns
        -------
        ndarray of shape (n_records,)
        """
        X = inputs.check_predict_X(self.estimator, X)
        labels, places = inputs.check_labels(X, y)
        every = self.shared.outputs(self.solutions, self.C, X)
        predicted = (self.classes_[self.shared.layout.vote(f + bias)] for _, f, bias in every)
        return np.array([np.mean(classes != labels[places]) for classes in predicted])

    def oracle_C(self, X: Any, y: Any) -> float:
        """The C with the least error on a test set: the best that tuning C could achieve.

        Parameters
        ----------
        X, y : array-like of shape (n_samples, n_features) and (n_samples,)

        Returns
        -------
        float
        """
        return float(self.C[self.test_errors(X, y).argmin()])
