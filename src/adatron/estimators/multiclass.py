"""Many classes as several two-class problems, or as one, in scikit-learn's conventions.

Two classes are one problem whose positive side is ``classes_[1]``. One-vs-one takes every pair
i < j with class i positive; one-vs-rest takes every class against the others. Crammer & Singer's
one problem has the outputs of one-vs-rest, one per class; of two classes, it gives their difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from adatron.gram import Choice, Regime, choose_gram
from adatron.kernels import Constant, Kernel, Linear, Precomputed

__all__ = ["Layout", "check_direct_request", "direct_gram"]

_MOST_PROBLEMS = 100_000
_MANY_CLASSES = 500  # beyond which at least two rows of each are asked for


@dataclass(frozen=True)
class Layout:
    """How the problems of a fit map to classes.

    Examples
    --------
    >>> from adatron.estimators.multiclass import Layout
    >>> Layout(n_classes=3, strategy="ovo").pairs
    [(0, 1), (0, 2), (1, 2)]
    """

    n_classes: int
    strategy: str  # "ovo", "ovr" or "crammer_singer"

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.n_classes), 2))

    def check_size(self, n_rows: int) -> None:
        """Refuse more classes than anyone can train."""
        problems = len(self.pairs) if self.is_pairwise else self.n_classes
        is_no_class = self.n_classes > _MANY_CLASSES and 2 * self.n_classes > n_rows
        if problems > _MOST_PROBLEMS or is_no_class:
            raise ValueError(
                f"y has {self.n_classes} classes for {n_rows} rows, which is {problems} problems to train; "
                "check that y holds classes and not a continuous target, or use multi_class='ovr'"
            )

    @property
    def is_binary(self) -> bool:
        return self.n_classes == 2

    @property
    def is_pairwise(self) -> bool:
        return self.strategy == "ovo" and not self.is_binary

    @property
    def is_direct(self) -> bool:
        """Whether one problem decides for all classes together."""
        return self.strategy == "crammer_singer"

    def signs(self, codes: np.ndarray) -> np.ndarray:
        """Labels ±1 of problems on all rows, one column each (two classes, or one-vs-rest)."""
        if self.is_binary:
            return np.where(codes == 1, 1.0, -1.0)[:, None]
        return np.where(codes[:, None] == np.arange(self.n_classes), 1.0, -1.0)

    def pair_rows(self, codes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows and labels ±1 of every pair of classes."""
        result = []
        for i, j in self.pairs:
            rows = np.flatnonzero((codes == i) | (codes == j))
            result.append((rows, np.where(codes[rows] == i, 1.0, -1.0)))
        return result

    def copies_of_the_matrix(self, codes: np.ndarray) -> float:
        """How much larger than one kernel matrix all that is held becomes: each pair has its own block."""
        if not self.is_pairwise:
            return 1.0
        counts = np.bincount(codes).astype(float)
        return 1.0 + sum((counts[i] + counts[j]) ** 2 for i, j in self.pairs) / len(codes) ** 2

    def coefficients(self, codes: np.ndarray, alphas: list[np.ndarray]) -> np.ndarray:
        """``y∘α`` of every row and problem, from the multipliers of each problem."""
        if self.is_direct:
            return self.of_classes(alphas[0])
        if not self.is_pairwise:
            return self.signs(codes) * np.column_stack(alphas)
        coefficients = np.zeros((len(codes), len(alphas)))
        for problem, (rows, signs) in enumerate(self.pair_rows(codes)):
            coefficients[rows, problem] = signs * alphas[problem]
        return coefficients

    def of_classes(self, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients (m, n_classes) of direct training as those of decisions."""
        return coefficients[:, [1]] - coefficients[:, [0]] if self.is_binary else coefficients

    def to_dual_coef(self, coefficients: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """``dual_coef_`` from the coefficients (n_SV, n_problems) of support vectors of classes `codes`."""
        if not self.is_pairwise:
            return np.ascontiguousarray(coefficients.T)
        dual_coef = np.zeros((self.n_classes - 1, len(codes)))
        for problem, (i, j) in enumerate(self.pairs):
            dual_coef[j - 1, codes == i] = coefficients[codes == i, problem]
            dual_coef[i, codes == j] = coefficients[codes == j, problem]
        return dual_coef

    def to_coefficients(self, dual_coef: np.ndarray, n_support: np.ndarray) -> np.ndarray:
        """The inverse of `to_dual_coef`."""
        if not self.is_pairwise:
            return dual_coef.T
        codes = np.repeat(np.arange(self.n_classes), n_support)
        coefficients = np.zeros((len(codes), len(self.pairs)))
        for problem, (i, j) in enumerate(self.pairs):
            coefficients[codes == i, problem] = dual_coef[j - 1, codes == i]
            coefficients[codes == j, problem] = dual_coef[i, codes == j]
        return coefficients

    def of_pairs(self, parts: np.ndarray) -> np.ndarray:
        """Decisions (n, n_problems) from what the support vectors of each class add to each row of
        ``dual_coef_``, shape (n, n_classes, n_classes − 1)."""
        return np.stack([parts[:, i, j - 1] + parts[:, j, i] for i, j in self.pairs], axis=1)

    def vote(self, decisions: np.ndarray) -> np.ndarray:
        """Index of the winning class from the decisions of all problems."""
        if self.is_binary:
            return (decisions[:, 0] > 0.0).astype(int)
        return (self._votes(decisions > 0.0) if self.is_pairwise else decisions).argmax(axis=1)

    def one_per_class(self, decisions: np.ndarray) -> np.ndarray:
        """Decisions (n, n_classes): votes, with the summed confidences as tie-breaker.

        A decision of exactly 0 counts for the first class of the pair here and for the second one in
        `vote`, as in scikit-learn."""
        if not self.is_pairwise:
            return decisions
        confidence = np.zeros((len(decisions), self.n_classes))
        for problem, (i, j) in enumerate(self.pairs):
            confidence[:, i] += decisions[:, problem]
            confidence[:, j] -= decisions[:, problem]
        return self._votes(decisions >= 0.0) + confidence / (3.0 * (np.abs(confidence) + 1.0))

    def _votes(self, first_wins: np.ndarray) -> np.ndarray:
        votes = np.zeros((len(first_wins), self.n_classes))
        for problem, (i, j) in enumerate(self.pairs):
            votes[:, i] += first_wins[:, problem]
            votes[:, j] += ~first_wins[:, problem]
        return votes


def check_direct_request(svc: Any) -> None:
    """Raise when ``multi_class="crammer_singer"`` cannot serve the other parameters, saying what can."""
    if not isinstance(svc.solver, str) or svc.solver != "auto":
        raise _unserved(f"solver={svc.solver!r}", "has its own solver", "solver='auto'")
    if not isinstance(svc.learning_rate, str):
        raise _unserved(f"learning_rate={svc.learning_rate!r}", "has no rate", "learning_rate='auto'")
    if svc.rank is not None:
        raise _unserved(f"rank={svc.rank!r}", "trains on the kernel itself", "rank=None")
    if svc.decision_function_shape == "ovo":
        raise _unserved(
            "decision_function_shape='ovo'", "has no pairs of classes", "decision_function_shape='ovr'"
        )


def _unserved(request: str, reason: str, way_out: str) -> ValueError:
    return ValueError(
        f"multi_class='crammer_singer' {reason}, got {request}; set {way_out}, "
        "or use multi_class='ovo' or 'ovr'"
    )


def direct_gram(kernel: Kernel, X: Any, bias: bool, cache_size: float | str, regime: Regime) -> Choice:
    """The matrix of the kernel, or of the kernel + 1 when there is to be a bias."""
    if bias and isinstance(kernel, Precomputed):
        X = X + 1.0
    elif bias and isinstance(kernel, Linear):  # a feature that is 1 keeps the rows a factor of the matrix
        ones = np.ones((X.shape[0], 1))
        X = sparse.csr_array(sparse.hstack([X, ones])) if sparse.issparse(X) else np.hstack([X, ones])
    elif bias:
        kernel = kernel + Constant(1.0)
    return choose_gram(kernel, X, cache_size, regime=regime)
