"""Finite Newton for linear machines: Keerthi & DeCoste 2005, with a smoothed hinge besides the squared one.

Minimise ``½‖w‖² + Σ loss(s_i)``, where s_i is how far the output ``x_iᵀ w`` is from where it costs nothing.
The multiplier of a row is ``α_i = min(s_i/δ_i, u_i)`` for s_i > 0: with u = ∞ that is the slope of the
squared loss ``s²/(2δ)``, with δ → 0 that of the loss ``u s``. The objective is quadratic in pieces, so
Newton's method with an exact line search ends after few steps. A loss without square is smoothed, δ =
width/u, and the width falls whenever the smooth problem is nearly solved. Between two changes of the free
rows, w is a smooth function of the width: the next one starts from a straight line through the last two
solutions. Once the free rows are the right ones, setting their slack to 0 gives the optimum itself.

Multipliers are feasible for the dual, whatever w is, so every step has a duality gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

_NARROWER, _MUCH_NARROWER = 0.3, 0.05  # width of a smoothed loss, relative to the last one: many or few steps
_NARROWEST = 1e-12  # relative to the first one
_SOLVED = 0.1  # gap of the smooth problem, relative to that of the problem itself, at which the width falls
_DENSE = 2_000  # rows or columns up to which a system is factored
_FEW = 500  # free rows up to which the optimum is looked for exactly
_PATIENCE = 60  # steps without half the gap after which rounding is all that is left
_HALVINGS = 60  # of the interval of a line search


@dataclass(frozen=True)
class LinearProblem:
    """Rows with signs or targets, and what slack costs."""

    X: Any  # (m, d), array or CSR matrix
    t: np.ndarray  # (m,): labels −1 and +1, or targets
    upper: np.ndarray  # (m,): cost of a unit of slack
    epsilon: float | None = None  # None is classification
    squared: bool = False  # the cost is upper times the square of the slack

    def slack(self, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sign of the multiplier and slack of every row."""
        if self.epsilon is None:
            return self.t, 1.0 - self.t * f
        return np.sign(self.t - f), np.abs(self.t - f) - self.epsilon

    def multipliers(self, f: np.ndarray, ridge: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Signed multipliers of outputs f, and which of them are free."""
        sign, slack = self.slack(f)
        alpha = np.maximum(slack, 0.0) / ridge
        most = np.inf if self.squared else self.upper
        return sign * np.minimum(alpha, most), (alpha > 0.0) & (alpha < most)

    def objectives(self, w: np.ndarray, f: np.ndarray, beta: np.ndarray) -> tuple[float, float]:
        """Of the primal at w, whose outputs are f, and of the dual at the signed multipliers."""
        slack = np.maximum(self.slack(f)[1], 0.0)
        loss = float(self.upper @ (slack**2 if self.squared else slack))
        v, size = np.asarray(self.X.T @ beta), np.abs(beta)
        linear = size.sum() if self.epsilon is None else float(self.t @ beta) - self.epsilon * size.sum()
        square = float(np.sum(beta**2 / (4.0 * self.upper))) if self.squared else 0.0
        return 0.5 * float(w @ w) + loss, float(linear) - 0.5 * float(v @ v) - square


@dataclass(frozen=True)
class LinearSolution:
    """Weights with their duality gap."""

    w: np.ndarray
    gap: float
    n_iter: int


def solve_linear(problem: LinearProblem, goal: float, max_iter: int) -> LinearSolution:
    """Newton steps until the relative duality gap is at most `goal`, or no step is left."""
    spread = 1.0 if problem.epsilon is None else float(np.ptp(problem.t)) or float(np.abs(problem.t).max())
    width = first = spread or 1.0
    w = np.zeros(problem.X.shape[1])
    f, best = np.zeros(len(problem.t)), LinearSolution(w, np.inf, 0)
    before: Any = None  # width, w, f and step of the last two smooth problems
    last: Any = None
    halved = np.inf, 0  # the gap when it last fell by half, and the step
    for step in range(1, max_iter + 1):
        ridge = 0.5 / problem.upper if problem.squared else width / problem.upper
        beta, free = problem.multipliers(f, ridge)
        push = np.asarray(problem.X.T @ beta)
        primal, dual = problem.objectives(w, f, beta)
        best = min(best, LinearSolution(w, _relative(primal, dual), step), key=lambda own: own.gap)
        if best.gap < 0.5 * halved[0]:
            halved = best.gap, step
        if best.gap <= goal or width <= _NARROWEST * first or step > halved[1] + _PATIENCE:
            break
        smooth_gap = 0.5 * float((push - w) @ (push - w))
        if smooth_gap <= _SOLVED * (primal - dual) and not problem.squared:
            exact = _without_slack(problem, beta, free)
            best = min(best, LinearSolution(*exact, step), key=lambda own: own.gap)
            before, last = last, (width, w, f, step)
            width *= _NARROWER if before is None or step > before[3] + 3 else _MUCH_NARROWER
            if before is not None:
                share = (last[0] - width) / (before[0] - last[0])
                onward = w + share * (w - before[1]), f + share * (f - before[2])
                w, f = onward if problem.objectives(*onward, beta)[0] < primal else (w, f)
            continue
        direction = _newton_direction(problem.X, free, ridge, push - w)
        change = np.asarray(problem.X @ direction)
        length = _line_search(problem, ridge, (w, f), (direction, change))
        w, f = w + length * direction, f + length * change
    return LinearSolution(best.w, best.gap, step)


def _relative(primal: float, dual: float) -> float:
    """The duality gap relative to the larger objective."""
    size = max(abs(primal), abs(dual))
    return max(primal - dual, 0.0) / size if size > 0.0 else 0.0


def _without_slack(problem: LinearProblem, beta: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights for which the free rows have no slack, if they are few, and their gap."""
    signs = np.sign(beta[free])
    wanted = problem.t[free] - (0.0 if problem.epsilon is None else problem.epsilon * signs)
    fixed, rows = np.where(free, 0.0, beta), problem.X[free]
    if not 0 < len(signs) <= _FEW:
        return np.zeros(0), np.inf
    gram = rows @ rows.T
    gram = gram.toarray() if sparse.issparse(gram) else gram
    found = np.linalg.lstsq(gram, wanted - rows @ np.asarray(problem.X.T @ fixed), rcond=1e-13)[0]
    fixed[free] = signs * np.clip(signs * found, 0.0, problem.upper[free])
    w = np.asarray(problem.X.T @ fixed)
    return w, _relative(*problem.objectives(w, np.asarray(problem.X @ w), fixed))


def _newton_direction(X: Any, free: np.ndarray, ridge: np.ndarray, push: np.ndarray) -> np.ndarray:
    """Solve ``(I + FᵀF) d = push``, F the free rows over √δ; the smaller of FᵀF and FFᵀ is factored."""
    roots = 1.0 / np.sqrt(ridge[free])
    rows = X[free]
    F: Any = sparse.diags_array(roots) @ rows if sparse.issparse(X) else roots[:, None] * rows
    n, d = F.shape
    if min(n, d) == 0:
        return push
    if min(n, d) > _DENSE:
        product = LinearOperator((d, d), lambda v: v + F.T @ (F @ v), dtype=np.float64)
        return cg(product, push, rtol=1e-3, maxiter=500)[0]
    small: Any = F @ F.T if n < d else F.T @ F
    small = (small.toarray() if sparse.issparse(small) else small) + np.eye(min(n, d))
    factor = cho_factor(small, overwrite_a=True, check_finite=False)
    if n < d:  # (I + FᵀF)⁻¹ = I − Fᵀ (I + FFᵀ)⁻¹ F
        return push - F.T @ cho_solve(factor, F @ push)
    return cho_solve(factor, push)


def _line_search(problem: LinearProblem, ridge: np.ndarray, at: Any, along: Any) -> float:
    """The length of a step that minimises the smooth objective, whose slope rises with it."""
    (w, f), (direction, change) = at, along
    linear, square = float(w @ direction), float(direction @ direction)

    def slope(length: float) -> float:
        beta, _ = problem.multipliers(f + length * change, ridge)
        return linear + length * square - float(beta @ change)

    low, high, start = 0.0, 1.0, abs(slope(0.0))
    while slope(high) < -1e-12 * start:
        low, high = high, 2.0 * high
    for _ in range(_HALVINGS):
        if abs(slope(high)) <= 1e-12 * start or high - low <= 1e-14 * high:
            break
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return high
