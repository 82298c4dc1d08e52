"""Classifiers whose decisions are kernel expansions, and how their problems map to classes.

Two classes are one problem whose positive side is ``classes_[1]``. One-vs-one takes every pair
i < j with class i positive; one-vs-rest takes every class against the others. Crammer & Singer's
one problem has the outputs of one-vs-rest, one per class; of two classes, it gives their difference.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from adatron.estimators.expansion import DecisionMixin, ExpansionMachine, PredictMixin
from adatron.gram import Gram

_MOST_PROBLEMS = 100_000
_MANY_CLASSES = 500  # beyond which at least two rows of each are asked for


@dataclass(frozen=True)
class Layout:
    """How the problems of a fit map to classes."""

    n_classes: int
    strategy: str  # "ovo", "ovr" or "crammer_singer"

    def __post_init__(self) -> None:
        if self.strategy not in ("ovo", "ovr", "crammer_singer") or self.n_classes < 2:
            raise ValueError(f"no strategy for {self.n_classes!r} classes has the name {self.strategy!r}")

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.n_classes), 2))

    @property
    def is_binary(self) -> bool:
        return self.n_classes == 2

    @property
    def is_pairwise(self) -> bool:
        return self.strategy == "ovo" and not self.is_binary

    @property
    def n_outputs(self) -> int:
        """One for two classes, else one for each pair, or for each class."""
        return len(self.pairs) if self.is_pairwise else 1 if self.is_binary else self.n_classes

    @property
    def is_direct(self) -> bool:
        """Whether one problem decides for all classes together."""
        return self.strategy == "crammer_singer"

    def check_size(self, n_rows: int) -> Self:
        """Refuse more classes than anyone can train."""
        problems = len(self.pairs) if self.is_pairwise else self.n_classes
        looks_continuous = self.n_classes > _MANY_CLASSES and 2 * self.n_classes > n_rows
        if problems > _MOST_PROBLEMS or looks_continuous:
            raise ValueError(
                f"y has {self.n_classes} classes for {n_rows} rows, which is {problems} problems to train; "
                "check that y holds classes and not a continuous target, or use multi_class='ovr'"
            )
        return self

    def signs(self, codes: np.ndarray) -> np.ndarray:
        """Labels ±1 of all rows in every problem, a column each; 0 where a row takes no part."""
        if self.is_pairwise:
            return np.stack([1.0 * (codes == i) - (codes == j) for i, j in self.pairs], axis=1)
        if self.is_binary:
            return np.where(codes == 1, 1.0, -1.0)[:, None]
        return np.where(codes[:, None] == np.arange(self.n_classes), 1.0, -1.0)

    def parts(self, gram: Gram, codes: np.ndarray) -> list[tuple[Gram, Any, np.ndarray]]:
        """Kernel matrix, rows and labels ±1 of each pair of classes, or of all classes."""
        if not self.is_pairwise:
            return [(gram, slice(None), self.signs(codes))]
        return [(gram.restrict(rows), rows, signs) for rows, signs in self.pair_rows(codes)]

    def pair_rows(self, codes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows and labels ±1 of every pair of classes."""
        result = []
        for i, j in self.pairs:
            rows = np.flatnonzero((codes == i) | (codes == j))
            result.append((rows, np.where(codes[rows] == i, 1.0, -1.0)))
        return result

    def copies_of_the_matrix(self, codes: np.ndarray) -> float:
        """Memory for kernel values in kernel matrices: each pair has its own block."""
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

    def vote(self, decisions: np.ndarray) -> np.ndarray:
        """Index of the winning class from the decisions of all problems."""
        if self.is_binary:
            return (decisions[:, 0] > 0.0).astype(int)
        votes = self.by_class(decisions > 0.0, decisions <= 0.0) if self.is_pairwise else decisions
        return votes.argmax(axis=1)

    def one_per_class(self, decisions: np.ndarray) -> np.ndarray:
        """Decisions (n, n_classes): votes, with the summed confidences as tie-breaker.

        A decision of exactly 0 counts for the first class of the pair here and for the second one in
        `vote`, as in scikit-learn."""
        if not self.is_pairwise:
            return decisions
        confidence = self.by_class(decisions, -decisions)
        votes = self.by_class(decisions >= 0.0, decisions < 0.0)
        return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))

    def by_class(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Sums (n, n_classes) of what each problem gives to the first and the second class of its pair."""
        sums = np.zeros((len(first), self.n_classes))
        for problem, (i, j) in enumerate(self.pairs):
            sums[:, i] += first[:, problem]
            sums[:, j] += second[:, problem]
        return sums


class LayoutClassifier(ClassifierMixin, DecisionMixin, PredictMixin):
    """Classes and decision values from the outputs of problems, by a `Layout`."""

    decision_function_shape, break_ties = "ovr", False  # unless they are parameters

    def _shaped(self, decisions: np.ndarray) -> np.ndarray:
        if self._layout.is_binary:
            return decisions[:, 0]
        return decisions if self.decision_function_shape == "ovo" else self._layout.one_per_class(decisions)

    def _check_can_predict(self) -> None:
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")

    def _predicted(self, decisions: np.ndarray) -> np.ndarray:
        return self.classes_[self._winners(decisions)]

    def _winners(self, decisions: np.ndarray) -> np.ndarray:
        """Index of the predicted class of each row."""
        if self.break_ties and not self._layout.is_binary:
            return self._layout.one_per_class(decisions).argmax(axis=1)
        return self._layout.vote(decisions)


class ExpansionClassifier(LayoutClassifier, ExpansionMachine):
    """Base of the classifiers with ``dual_coef_`` and ``intercept_``."""

    def _check_fitted(self) -> None:
        super()._check_fitted()
        self._check_classes()
        layout = self._layout
        n_rows = layout.n_classes - 1 if layout.is_pairwise else layout.n_outputs  # of `dual_coef_`
        if (len(self.intercept_), self.dual_coef_.shape[0]) != (layout.n_outputs, n_rows):
            raise ValueError(f"intercept_ and dual_coef_ are not those of {layout.n_outputs} problems")
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError("decision_function_shape is neither 'ovr' nor 'ovo'")

    def _check_classes(self) -> None:
        classes = self.classes_
        is_ordered = classes.dtype.kind == "O" or np.array_equal(np.unique(classes), classes)
        if not is_ordered or not 2 <= len(classes) == len(set(classes.tolist())) == self._layout.n_classes:
            raise ValueError("classes_ are not two or more in order")
