"""`CPath`: the SVMs of many C on one kernel, what each is worth, and predictions with any of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adatron.estimators.inputs import check_labels, check_predict_X
from adatron.gram import expand
from adatron.kernels import Precomputed
from adatron.paths.exact_result import ExactPath
from adatron.paths.grid import PathData
from adatron.paths.kernel_path import KernelPath
from adatron.paths.solutions import Solutions, in_chunks

__all__ = ["CPath", "decisions_for"]


@dataclass(frozen=True, repr=False)
class CPath(KernelPath):
    """The records of a path in C, and the SVMs behind them.

    Besides what a `KernelPath` has (``path["margin"]`` is a column, ``path.best`` a record), it predicts for
    every C that it knows: all of them up to its end when it is exact, else those of its grid.

    It is made by `c_path`.

    Parameters
    ----------
    records : sequence of dict
        One for each C, with at least the keys ``C`` and ``criterion``.
    criterion : str
        What ``criterion`` measures; less is better.
    best_index : int
        Which record is the best.
    x : str, default="C"
        The key that changes along the path.
    shared : PathData, optional
        Rows, classes and kernel that all SVMs have in common.
    solutions : Solutions, optional
        Coefficients and biases for every C.
    estimator : SVC, optional
        The one that checks rows before they are predicted.

    Attributes
    ----------
    C : ndarray
        The C of every record, rising.
    best_C : float
        The C with the least criterion, the smallest of equally good ones.
    best : dict
        Its record.
    columns : list of str
        Keys of the records, in order of appearance.
    classes_ : ndarray
    exact_path : ExactPath or None
        The path itself, with its breakpoints.

    References
    ----------
    T. Hastie, S. Rosset, R. Tibshirani, J. Zhu, *The entire regularization path for the support vector
    machine*, JMLR 5, 2004.

    I. W. Tsang, J. T. Kwok, *Ensembles of Partially Trained SVMs with Multiplicative Updates*, IJCAI 2007:
    how good tuning C can be, SVM(LOO) and SVM(BEST).

    Examples
    --------
    >>> from adatron.datasets import load_sonar
    >>> from adatron.selection import c_path
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> path = c_path(X_train, y_train, [0.1, 1.0, 10.0, 100.0], criterion=(X_test, y_test))
    >>> path
    CPath(4 steps, C from 0.1 to 100, best C=100 with validation error 0.1058)
    >>> path.best_C, round(path.best["error"], 3), path["n_support"].tolist()
    (100.0, 0.106, [98, 88, 62, 55])
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
        return float(self.best["C"])

    @property
    def classes_(self) -> np.ndarray:
        return self.shared.data.classes

    @property
    def exact_path(self) -> ExactPath | None:
        return getattr(self.solutions, "path", None)

    def alpha_at(self, C: float) -> np.ndarray:
        """Multipliers of all rows of X.

        Parameters
        ----------
        C : float
            One of the path's; any up to its end if the path is exact.

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
            One of the path's; any up to its end if the path is exact.

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
            One of the path's; any up to its end if the path is exact; None is `best_C`.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        """
        decisions = self._decisions_of_one(X, C)
        layout = self.shared.layout
        return decisions[:, 0] if layout.is_binary else layout.one_per_class(decisions)

    def predict(self, X: Any, C: float | None = None) -> np.ndarray:
        """The class of each row, by the SVM for one C.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        C : float, default=None
            One of the path's; any up to its end if the path is exact; None is `best_C`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.classes_[self.shared.layout.vote(self._decisions_of_one(X, C))]

    def test_errors(self, X: Any, y: Any) -> np.ndarray:
        """Share of the rows of `X` that the SVM of each record misclassifies.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        ndarray of shape (n_records,)
        """
        X = check_predict_X(self.estimator, X)
        labels, places = check_labels(X, y)
        vote = self.shared.layout.vote
        decisions = decisions_for(self.shared, self.solutions, X, self.C)
        return np.array([np.mean(self.classes_[vote(d)] != labels[places]) for d in decisions])

    def oracle_C(self, X: Any, y: Any) -> float:
        """The C with the least error on a test set, the smallest of equally good ones.

        No one has it without having seen the test set: it says how good tuning C can at best be, and is
        called SVM(BEST) in I. W. Tsang, J. T. Kwok, IJCAI 2007.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        float
        """
        return float(self.C[self.test_errors(X, y).argmin()])

    def _decisions_of_one(self, X: Any, C: float | None) -> np.ndarray:
        X = check_predict_X(self.estimator, X)
        Cs = np.array([self.best_C if C is None else float(C)])
        return next(decisions_for(self.shared, self.solutions, X, Cs))


def decisions_for(shared: PathData, solutions: Solutions, X: Any, Cs: np.ndarray) -> Iterator[np.ndarray]:
    """Decisions (n, P) of checked rows for every C, from the same kernel values for many of them."""
    data = shared.data
    for part in in_chunks(Cs, max(X.shape[0], len(data.codes)) * shared.n_problems):
        coefficients, bias = solutions.at(part)
        used = np.flatnonzero(coefficients.any(axis=(0, 2)))
        columns = coefficients[:, used].transpose(1, 0, 2).reshape(len(used), -1)
        if isinstance(shared.kernel, Precomputed):
            values = X[:, data.rows[used]] @ columns
        else:
            values = expand(shared.kernel, X, data.X[used], columns)
        yield from (values.reshape(X.shape[0], len(part), -1) + bias).transpose(1, 0, 2)
