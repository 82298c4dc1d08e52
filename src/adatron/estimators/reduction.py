"""`reduced`: fewer vectors in a fitted model, with decision values that stay within a tolerance.

An expansion f is projected onto the span of a few of its vectors in the space of the kernel. The vectors are
the pivots of an incomplete Cholesky factorisation: each time the one that brings the projection nearest to f.
What is left, r = f − projection, is known at every step: its values on rows, and its norm, which bounds it
everywhere, ``|r(x)| ≤ ‖r‖ √k(x, x)``.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.expansion import Expansion, ExpansionMachine, coef_beside
from adatron.estimators.parameters import check_number
from adatron.gram import expand
from adatron.kernels import Precomputed

_LEAST_PIVOT = 1e-9  # of the largest k(v, v): vectors nearer to the span of the others add digits of noise
_ROUNDING = 8.0 * float(np.finfo(float).eps)  # of a kernel value, relative to √(k(x, x) k(z, z))
_SAFE = 0.9  # part of the tolerance that the projection aims at; the rest is for rounding
_FIRST_ROOM = 64  # columns of the factor
_LOST_WHEN_REDUCED = (  # what is no longer true of a reduced model
    "duality_gap_", "gap_is_exact_", "plain_gap_", "bias_interval_", "finished_exactly_", "final_svm_",
    "_stages", "_alphas", "_bound",
)  # fmt: skip


class ReducibleMixin(ExpansionMachine):
    """Adds `reduced` to estimators that predict by expansions."""

    support_: Any
    n_support_: Any
    dual_coef_: Any

    def reduced(self, tolerance: float, X: Any = None) -> Self:
        """A copy that predicts nearly the same with fewer vectors.

        Its decision values (predictions, for a regression; those of ``decision_function_shape="ovo"`` for
        pairs of classes) differ from those of this model by at most `tolerance`:

        - without `X`, for every row x: with a Gaussian or Laplace kernel without exception, else as far as
          ``k(x, x)`` is at most that of the farthest vector. A model that holds all its training rows, as
          `AutoSVC` and `EnsembleSVC` do, promises it for these rows only, and needs far fewer vectors for it;
        - with `X`, for the rows of X and for the model's own vectors. Take the training rows.

        ``reduction_`` says how much they may differ elsewhere. The copy has no `duality_gap_`, which was that
        of the whole model; `adatron.certify` measures the one it has.

        Parameters
        ----------
        tolerance : float > 0
            In units of the decision values: 1 is the margin of an `SVC`.
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            Rows for which the tolerance is to hold.

        Returns
        -------
        Self
            With ``reduction_``, a dict: ``n_before`` and ``n_after``, numbers of vectors; ``on_rows``, the
            largest difference on the rows that were looked at, measured; ``everywhere``, a bound of the
            difference for any row x, to be multiplied by ``√k(x, x)``: 1 for Gaussian and Laplace kernels.
            Infinite where the kernel may not be positive semi-definite.

        Examples
        --------
        >>> import numpy as np
        >>> from adatron import SVR
        >>> X = np.linspace(0.0, 6.0, 300).reshape(-1, 1)
        >>> y = np.sin(X).ravel() + 0.1 * np.random.default_rng(0).normal(size=300)
        >>> model = SVR(epsilon=0.01).fit(X, y)
        >>> small = model.reduced(0.01)
        >>> len(model.support_) > 200, len(small.support_) < 20
        (True, True)
        >>> bool(np.abs(small.predict(X) - model.predict(X)).max() <= 0.01)
        True
        """
        check_is_fitted(self)
        rows = None if X is None else self._rows_to_expand(X)
        machines, groups = self._expansions(), self._groups()
        _check_kernels(machines, has_rows=rows is not None)
        everywhere = X is None and not self._holds_training_rows()
        share = check_number("tolerance", tolerance) / len(machines)
        parts = [_reduced(one, groups, share, rows, everywhere) for one in machines]
        fewer, places, norms = (list(part) for part in zip(*parts, strict=True))
        small = copy(self)
        for name in _LOST_WHEN_REDUCED:
            small.__dict__.pop(name, None)
        small._use(fewer, places)
        small.reduction_ = _summary(machines, fewer, rows) | {"everywhere": sum(norms)}
        return small

    # The rest is for one expansion; `AutoEstimator`, which has several, overrides it.

    def _groups(self) -> np.ndarray | None:
        """Numbers of vectors of each class, where a pair of classes adds up the parts of both."""
        layout = vars(self).get("_layout")  # a regression has none
        is_paired = layout is not None and layout.is_pairwise and not self._has_landmarks
        return self.n_support_ if is_paired else None

    def _holds_training_rows(self) -> bool:
        return len(self._expansion.coefficients) == self.shape_fit_[0]

    def _use(self, machines: list[Expansion], places: list[np.ndarray]) -> None:
        """Predict by other expansions, with the vectors of the former ones in these places."""
        (self._expansion,), (kept,) = machines, places
        if self._has_landmarks:
            return
        self._keep_support(kept)
        self.support_vectors_, coefficients = self._expansion.vectors, self._expansion.coefficients
        if coefficients.shape[1] == self.dual_coef_.shape[0]:
            dual_coef = np.ascontiguousarray(coefficients.T)
        else:  # a linear kernel and pairs of classes
            codes = np.repeat(np.arange(len(self.n_support_)), self.n_support_)
            dual_coef = self._layout.to_dual_coef(coefficients, codes)
        self.dual_coef_ = coef_beside(self.support_vectors_, dual_coef)

    def _keep_support(self, kept: np.ndarray) -> None:
        """Support vectors are in the order of their classes."""
        self.support_ = self.support_[kept]
        if "n_support_" in vars(self):
            ends = np.cumsum([0, *self.n_support_])
            self.n_support_ = np.diff(np.searchsorted(kept, ends)).astype(np.int32)


def _check_kernels(machines: list[Expansion], *, has_rows: bool) -> None:
    if any(isinstance(machine.kernel, Precomputed) for machine in machines):
        reason = "it has no kernel values of its vectors"
        raise ValueError(f"a model of a precomputed kernel cannot be reduced: {reason}")
    if not has_rows and not all(machine.kernel.traits.psd for machine in machines):
        reason = "the kernel is not known to be positive semi-definite, so no tolerance holds for every row"
        raise ValueError(f"{reason}; pass the rows for which it is to hold as X")


def _summary(machines: list[Expansion], fewer: list[Expansion], rows: Any) -> dict[str, Any]:
    """Numbers of vectors, and the largest difference of the sums of expansions on the rows looked at."""
    looked_at = [machines[0].vectors] if rows is None else [machines[0].vectors, rows]
    differences = [sum(one(X) for one in machines) - sum(one(X) for one in fewer) for X in looked_at]
    return {
        "n_before": sum(len(one.coefficients) for one in machines),
        "n_after": sum(len(one.coefficients) for one in fewer),
        "on_rows": max(float(np.abs(difference).max(initial=0.0)) for difference in differences),
    }


def _reduced(
    expansion: Expansion, groups: np.ndarray | None, tolerance: float, rows: Any, everywhere: bool
) -> tuple[Expansion, np.ndarray, float]:
    """An expansion of fewer vectors, their places, and the bound of the difference over ``√k(x, x)``."""
    n = len(expansion.coefficients)
    ends = [0, n] if groups is None else [0, *np.cumsum(groups).tolist()]
    looked_at = [expansion.vectors] if rows is None else [expansion.vectors, rows]
    exact = replace(expansion, precision=np.float64)  # coefficients of a projection may be large and cancel
    rounding = 0.0
    if expansion.precision is not np.float64 and n:
        rounding = max(float(np.abs(expansion(X) - exact(X)).max(initial=0.0)) for X in looked_at)
    share = (tolerance - rounding) / (1 if groups is None else 2)  # a pair adds up parts of two classes
    if share <= 0.0:
        return expansion, np.arange(n), 0.0
    found = []
    for first, last in pairwise(ends):
        own = expansion.vectors[first:last], expansion.coefficients[first:last]
        places, coefficients, norm = _projected(expansion.kernel, *own, share, looked_at, first, everywhere)
        found.append((first + places, coefficients, norm))
    kept = np.concatenate([places for places, _, _ in found])
    if len(kept) == n:
        return expansion, kept, 0.0
    small = replace(
        exact, vectors=expansion.vectors[kept], coefficients=np.vstack([own for _, own, _ in found]),
        n_support=None if expansion.n_support is None else np.array([len(p) for p, _, _ in found], np.int32),
    )  # fmt: skip
    if not expansion.kernel.traits.psd:
        return small, kept, np.inf
    return small, kept, float(sum(sorted(norm for _, _, norm in found)[-2:])) + rounding


def _projected(
    kernel: Any, vectors: Any, coefficients: np.ndarray, tolerance: float, looked_at: list[Any], first: int,
    everywhere: bool,
) -> tuple[np.ndarray, np.ndarray, float]:  # fmt: skip
    """Places of a few vectors, their coefficients, and the norm of what the projection leaves of f."""
    if len(coefficients) == 0:
        return np.arange(0), coefficients, 0.0
    projection, goal = _Projection(kernel, vectors, coefficients, looked_at, first), _SAFE * tolerance
    size = float(np.sqrt(projection.diagonal.max()))  # the largest √k(x, x)
    while True:
        norm = np.sqrt(max(float(projection.squares.max()), 0.0))  # of what is left
        if (norm * size if everywhere else np.abs(projection.residual).max()) <= goal:
            fewer, norm, difference = projection.solution()
            if (norm * size if everywhere else difference) <= tolerance:
                order = np.argsort(projection.pivots)
                return np.array(projection.pivots, dtype=int)[order], fewer[order], norm
            goal *= 0.5  # rounding has taken the rest
        if not projection.add():
            return np.arange(len(coefficients)), coefficients, 0.0


class _Projection:
    """The projection of ``f = Σ c_i k(v_i, ·)`` onto some of its vectors, one more at a time.

    The vectors are among the rows that are looked at, from place `first` on.
    """

    def __init__(
        self, kernel: Any, vectors: Any, coefficients: np.ndarray, looked_at: list[Any], first: int
    ) -> None:
        self.kernel, self.looked_at = kernel, looked_at
        self.vectors, self.coefficients = vectors, coefficients
        self.own = slice(first, first + len(coefficients))
        self.pivots: list[int] = []
        self.diagonal = np.asarray(kernel.diagonal(vectors), dtype=np.float64)
        self.left = self.diagonal.copy()  # of k(v, v), beyond the span of the pivots
        self.values = self._outputs(vectors, coefficients)
        self.residual = self.values.copy()
        self.squares = np.sum(coefficients * self.residual[self.own], axis=0)  # ‖r‖² of every column
        self.factor = np.empty((len(self.values), _FIRST_ROOM))

    def _outputs(self, vectors: Any, coefficients: np.ndarray) -> np.ndarray:
        return np.vstack([expand(self.kernel, rows, vectors, coefficients) for rows in self.looked_at])

    def add(self) -> bool:
        """Add the vector that takes most of the norm; False if all that are left are in the span."""
        n, own = len(self.pivots), self.residual[self.own]
        gains = np.sum(own**2, axis=1) / np.maximum(self.left, np.finfo(float).tiny)
        gains[self.left <= _LEAST_PIVOT * self.diagonal.max()] = -1.0
        p = int(gains.argmax())
        if gains[p] <= 0.0:
            return False
        if n == self.factor.shape[1]:
            self.factor = np.hstack([self.factor, np.empty_like(self.factor)])
        column = np.concatenate([self.kernel(rows, self.vectors[p : p + 1])[:, 0] for rows in self.looked_at])
        column -= self.factor[:, :n] @ self.factor[self.own][p, :n]
        column /= np.sqrt(self.left[p])
        step = own[p] / column[self.own][p]
        self.factor[:, n] = column
        self.residual -= np.outer(column, step)
        self.squares = self.squares - step**2
        self.left = np.maximum(self.left - column[self.own] ** 2, 0.0)
        self.left[p] = 0.0
        self.pivots.append(p)
        return True

    def solution(self) -> tuple[np.ndarray, float, float]:
        """Coefficients of the pivots; norm of the difference, and the largest one, from values anew."""
        L = self.factor[self.own][self.pivots, : len(self.pivots)]
        coefficients = solve_triangular(L, self.values[self.own][self.pivots], lower=True)
        coefficients = solve_triangular(L, coefficients, lower=True, trans=1)
        change = self.coefficients.copy()
        change[self.pivots] -= coefficients
        difference = self.values - self._outputs(self.vectors[self.pivots], coefficients)
        sizes = np.sqrt(self.diagonal) @ np.abs(change)
        squares = np.maximum(np.sum(change * difference[self.own], axis=0), 0.0) + _ROUNDING * sizes**2
        return coefficients, float(np.sqrt(squares.max())), float(np.abs(difference).max())
