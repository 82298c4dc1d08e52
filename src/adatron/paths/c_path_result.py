"""`CPath`: the SVMs of many C on one kernel, what each is worth, and predictions with any of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from adatron.estimators import SVC
from adatron.estimators.inputs import check_labels, check_predict_X
from adatron.estimators.multiclass import Layout
from adatron.estimators.training_set import TrainingSet
from adatron.gram import Gram, expand
from adatron.kernels import Kernel, Precomputed
from adatron.paths.exact_path import ExactPath
from adatron.paths.kernel_path import KernelPath

__all__ = ["CPath", "ExactSolutions", "GridSolutions", "PathData", "Solutions", "outputs"]

_AT_ONCE = 8_000_000  # numbers: coefficients, or outputs, of so many C are held together


@dataclass(frozen=True)
class PathData:
    """What all C share."""

    estimator: SVC
    data: TrainingSet
    kernel: Kernel
    gram: Gram
    layout: Layout
    signs: np.ndarray  # (m, P): label −1 or +1 of every row in every problem, 0 where it takes no part
    indefinite: bool
    tol: float  # of every fit on a grid
    max_iter: int


class GridSolutions:
    """Solutions for the C of a grid, and for no others."""

    def __init__(self, Cs: np.ndarray) -> None:
        self.Cs = Cs
        self.fits: list[dict[str, Any]] = []  # how each fit ended
        self._coefficients: list[Any] = []
        self._bias: list[np.ndarray] = []

    def add(self, coefficients: np.ndarray, bias: np.ndarray, fit: dict[str, Any]) -> None:
        self._coefficients.append(sparse.csr_array(coefficients))
        self._bias.append(bias)
        self.fits.append(fit)

    def at(self, Cs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``y∘α``, shape (n, m, P), and biases, shape (n, P), for n values of C."""
        places = np.array([np.abs(np.log(self.Cs) - np.log(C)).argmin() if C > 0.0 else 0 for C in Cs])
        for C, nearest in zip(Cs.tolist(), self.Cs[places], strict=True):
            if not np.isclose(C, nearest, rtol=1e-9, atol=0.0):
                raise ValueError(
                    f"C={C!r} is not one of the {len(self.Cs)} values of this path, the nearest being "
                    f"{nearest:g}; add it to Cs, or use exact=True, which knows every C"
                )
        coefficients = np.stack([self._coefficients[k].toarray() for k in places])
        return coefficients, np.stack([self._bias[k] for k in places])


@dataclass(frozen=True)
class ExactSolutions:
    """Solutions for any C of an exact path of some of the m rows."""

    path: ExactPath
    rows: np.ndarray
    m: int

    def at(self, Cs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `GridSolutions.at`."""
        coefficients = np.zeros((len(Cs), self.m, 1))
        coefficients[:, self.rows, 0] = self.path.alpha_at(Cs) * self.path.y
        return coefficients, self.path.bias_at(Cs)[:, None]


Solutions = GridSolutions | ExactSolutions


def outputs(
    shared: PathData, solutions: Solutions, Cs: np.ndarray, X: Any = None
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """``y∘α`` (m, P), outputs (n, P) without bias and biases (P,) for every C; X is None for the own rows."""
    m, n_problems = shared.signs.shape
    n = m if X is None else X.shape[0]
    size = max(1, _AT_ONCE // (max(m, n) * n_problems))
    for start in range(0, len(Cs), size):
        coefficients, bias = solutions.at(Cs[start : start + size])
        columns = coefficients.transpose(1, 0, 2).reshape(m, -1)
        used = np.flatnonzero(coefficients.any(axis=(0, 2)))
        if X is None:
            f = shared.gram.matmul(np.asfortranarray(columns))
        elif isinstance(shared.kernel, Precomputed):
            f = X[:, shared.data.rows[used]] @ columns[used]
        else:
            f = expand(shared.kernel, X, shared.data.X[used], columns[used])
        f = f.reshape(n, len(bias), -1)
        yield from ((coefficients[k], f[:, k], bias[k]) for k in range(len(bias)))


@dataclass(frozen=True, repr=False)
class CPath(KernelPath):
    """The records of a path in C, and the SVMs behind them, as `c_path` gives them.

    It predicts for every C that it knows: all of them up to its end when it is exact, else those of its grid.

    Parameters
    ----------
    records, criterion, best_index
        As in `KernelPath`.
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
    combinations of classifiers*, Machine Learning 55, 2004.

    I. W. Tsang, J. T. Kwok, *Ensembles of Partially Trained SVMs with Multiplicative Updates*, IJCAI 2007:
    SVM(LOO) is `best_C` by the default criterion, SVM(BEST) is `oracle_C`.

    Examples
    --------
    >>> from adatron.datasets import load_sonar
    >>> from adatron.selection import c_path
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> path = c_path(X_train, y_train, exact=True)
    >>> path, round(path.oracle_C(X_test, y_test), 2)  # the latter needs the test set
    (CPath(162 steps, C from 0.01071 to 3.277e+04, best C=0.3217 with leave-one-out estimate 0.4519), 41.25)
    """

    x: str = "C"
    shared: PathData = field(default=None)  # type: ignore[assignment]
    solutions: Solutions = field(default=None)  # type: ignore[assignment]
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
        """Decision values of the SVM for one C, as `SVC` gives them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        C : float, default=None
            None is `best_C`.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        """
        decisions, layout = self._decisions(X, C), self.shared.layout
        return decisions[:, 0] if layout.is_binary else layout.one_per_class(decisions)

    def predict(self, X: Any, C: float | None = None) -> np.ndarray:
        """The class of each row, by the SVM for one C.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        C : float, default=None
            None is `best_C`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.classes_[self.shared.layout.vote(self._decisions(X, C))]

    def _decisions(self, X: Any, C: float | None) -> np.ndarray:
        X = check_predict_X(self.estimator, X)
        Cs = np.array([self.best_C if C is None else float(C)])
        _, f, bias = next(outputs(self.shared, self.solutions, Cs, X))
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
        X = check_predict_X(self.estimator, X)
        labels, places = check_labels(X, y)
        every = outputs(self.shared, self.solutions, self.C, X)
        predicted = (self.classes_[self.shared.layout.vote(f + bias)] for _, f, bias in every)
        return np.array([np.mean(classes != labels[places]) for classes in predicted])

    def oracle_C(self, X: Any, y: Any) -> float:
        """The C with the least error on a test set: how good tuning C can at best be.

        Parameters
        ----------
        X, y : array-like of shape (n_samples, n_features) and (n_samples,)

        Returns
        -------
        float
        """
        return float(self.C[self.test_errors(X, y).argmin()])
