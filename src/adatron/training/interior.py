"""An interior-point method, for problems on which steps of few multipliers make too little progress.

With a large C, features of very different sizes or rows that nearly repeat one another, many multipliers
depend on each other, and moving two at a time takes millions of steps. Here all of them move in each of
some twenty iterations, however ill-conditioned the problem is (S. Mehrotra, *On the Implementation of a
Primal-Dual Interior Point Method*, SIAM Journal on Optimization 2, 1992). With ``t = u − α``, the bias b and
multipliers z, s > 0 of the bounds, they solve ::

    Qα − p + b y − z + s = 0,    yᵀα = r,    α_i z_i = μ,    t_i s_i = μ

by Newton's method for ever smaller μ. Eliminating dz and ds leaves ``(Q + D) dα + db y = …`` with the
diagonal ``D = z/α + s/t``: a Cholesky factor of the kernel matrix plus a diagonal or, if ``K = Z Zᵀ`` with
few columns, of a matrix of their number. The ridge is relative to each K_ii: rows of very different sizes
keep their digits.
"""

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from adatron.gram import Gram
from adatron.problems import DualProblem
from adatron.solvers import Pause
from adatron.training.certificate import best_bias

_ITERATIONS = 100
# iterations within which μ has to halve, else rounding stops it: with the whole matrix, or with a factor
_PATIENCE = (12, 24)
_LOST = 8  # iterations after which a gap far above what μ says is due to rounding
_ENOUGH = 1e-12  # gap below which iterations would gain nothing
_NEARLY = 0.995  # part of the way to the nearest bound that a step may take
_AT_BOUND = 0.01  # α_i K_ii, relative to z_i, below which a multiplier counts as 0 (t_i and s_i alike)
_RIDGE = 1e-14  # of each K_ii, added to it; more if the factorisation fails
_ATTEMPTS = 6


def interior_point(
    problem: DualProblem, column: int, goal: float, pause: Pause
) -> tuple[np.ndarray, np.ndarray] | None:
    """An α strictly between its bounds with a gap far below `goal`, or the least that rounding allows.

    Before it the same α with those multipliers at a bound that tend to it. None if there is no such α.
    """
    point = _Point.start(problem, column)
    if point is None:
        return None
    patience = _PATIENCE[point.system.Z is not None]
    best, least, sizes, n_lost = None, np.inf, [np.inf] * patience, 0
    for _ in range(_ITERATIONS):
        pause()
        gap, is_lost = point.gap()
        is_flat, n_lost = gap > 0.5 * least, n_lost + is_lost
        if gap < least:
            best, least = point.multipliers(), gap
        is_stuck = sizes[-1] > 0.5 * sizes[-patience] or n_lost > _LOST
        if least <= _ENOUGH or (is_flat and least <= 0.01 * goal) or is_stuck:
            break
        try:
            sizes.append(point.advance())
        except LinAlgError:
            break
    return best


class _Point:
    """α, its distance t from the upper bounds, its outputs f, the bias b and the multipliers z, s."""

    def __init__(self, problem: DualProblem, column: int, present: np.ndarray, share: np.ndarray) -> None:
        self.m, self.present, self.r = problem.m, present, problem.equality
        self.y, self.p, self.upper = (a[present, column] for a in (problem.y, problem.p, problem.upper))
        self.diagonal = problem.diagonal[present]
        self.system = _NewtonSystem(problem.gram, present, self.y)
        self.alpha, self.t = share * self.upper, (1.0 - share) * self.upper
        self.f = self.system.outputs(self.alpha)
        self.b = self._best_bias()
        # all products α_i z_i and t_i s_i of about the same size: first steps are then long
        gradient = self.y * (self.f + self.b) - self.p
        size = float(np.max(np.abs(gradient) * np.minimum(self.alpha, self.t)))
        centre = size / np.sqrt(self.alpha * self.t)
        self.z, self.s = np.maximum(gradient, 0.0) + centre, np.maximum(-gradient, 0.0) + centre

    @classmethod
    def start(cls, problem: DualProblem, column: int) -> "_Point | None":
        """Each α_i half-way to its bound, or less so that ``yᵀα = r``; None if that is impossible."""
        y, upper, r = problem.y[:, column], problem.upper[:, column], problem.equality
        above, below = (float(upper[y == sign].sum()) for sign in (1.0, -1.0))
        shares = np.array([0.5, 0.5])  # of the bounds, for y = +1 and y = −1
        if r is not None and below > 0.0 and r == 0.0:
            shares *= min(above, below) / np.array([max(above, 1e-300), below])
        elif r is not None:
            shares[:] = r / above
        if shares.min() <= 0.0 or shares.max() >= 1.0:
            return None
        present = np.flatnonzero(upper > 0.0)
        return cls(problem, column, present, np.where(y[present] > 0.0, *shares))

    def multipliers(self) -> tuple[np.ndarray, np.ndarray]:
        """α of all points, with some at their bounds and with none."""
        inside = np.where(self.t < self.alpha, self.upper - self.t, self.alpha)
        rounded = np.where(self.alpha * self.diagonal < _AT_BOUND * self.z, 0.0, inside)
        rounded = np.where(self.t * self.diagonal < _AT_BOUND * self.s, self.upper, rounded)
        found = np.zeros((2, self.m))
        found[:, self.present] = rounded, inside
        return found[0], found[1]

    def _best_bias(self) -> float:
        if self.r is None:
            return 0.0
        return float(np.mean(best_bias(self.f, self.y, self.p, self.upper, self.r)))

    def gap(self) -> tuple[float, bool]:
        """The relative gap of α with the best bias, and whether it is far above what μ promises."""
        slack = self.p - self.y * (self.f + self._best_bias())
        difference = float(np.where(slack > 0.0, self.t * slack, -self.alpha * slack).sum())
        dual = float(self.alpha @ (self.p - 0.5 * self.y * self.f))
        promised = float(self.alpha @ self.z + self.t @ self.s)
        return difference / max(abs(dual), abs(dual + difference), 1e-300), difference > 100.0 * promised

    def advance(self) -> float:
        """Take one step: predict how far μ can fall, then correct the direction; return μ before it."""
        y, alpha, t, z, s = self.y, self.alpha, self.t, self.z, self.s
        mu = float(alpha @ z + t @ s) / (2 * len(y))
        residual = y * (self.f + self.b) - self.p - z + s
        missing = None if self.r is None else self.r - float(y @ alpha)
        self.system.factorise(z / alpha + s / t)

        def direction(of_z: np.ndarray, of_s: np.ndarray) -> tuple:
            """The step that changes α z by `of_z` and t s by `of_s`, to first order, and its length."""
            da, db = self.system.solve(of_z / alpha - of_s / t - residual, missing)
            dz, ds = (of_z - z * da) / alpha, (of_s + s * da) / t
            return da, db, dz, ds, min(_reach(alpha, da), _reach(t, -da), _reach(z, dz), _reach(s, ds))

        da, db, dz, ds, reach = direction(-alpha * z, -t * s)
        step = min(1.0, reach)
        left = (alpha + step * da) @ (z + step * dz) + (t - step * da) @ (s + step * ds)
        target = mu * (float(left) / (2 * len(y)) / mu) ** 3
        da, db, dz, ds, reach = direction(target - alpha * z - da * dz, target - t * s + da * ds)
        step = min(1.0, _NEARLY * reach)
        self.alpha, self.t, self.b = alpha + step * da, t - step * da, self.b + step * db
        self.z, self.s = z + step * dz, s + step * ds
        self.f = self.system.outputs(self.alpha)
        return mu


def _reach(values: np.ndarray, changes: np.ndarray) -> float:
    """How many times the changes can be added before a value is 0."""
    falls = changes < 0.0
    return float((values[falls] / -changes[falls]).min(initial=np.inf))


class _NewtonSystem:
    """``(Q + D) x + b y = v`` with ``yᵀx`` given, for ever other diagonals D.

    With ``w = y x`` it is ``(K + D) w = y v``. In regression a point and its twin have opposite signs and
    share a row of K: w is then the sum of both ``y x``, and D becomes ``E = 1/(1/D_1 + 1/D_2)``.
    """

    def __init__(self, gram: Gram, present: np.ndarray, y: np.ndarray) -> None:
        self.copies, self.n, points = gram.copies, len(y) // gram.copies, gram.points
        self.y, rows = y.reshape(self.copies, self.n), present[: self.n]
        self.Z = None if points.factor is None else np.asarray(points.factor[rows], dtype=np.float64)
        self.K = np.ascontiguousarray(points.block(rows, rows)) if self.Z is None else np.empty((0, 0))
        diagonal = self.K.diagonal() if self.Z is None else np.einsum("ij,ij->i", self.Z, self.Z)
        self.ridge = _RIDGE * np.maximum(diagonal, np.finfo(float).eps * diagonal.max())
        self.room = np.empty(self.K.shape, order="F")

    def outputs(self, alpha: np.ndarray) -> np.ndarray:
        """``K (y∘α)`` of all points."""
        folded = (self.y * alpha.reshape(self.y.shape)).sum(axis=0)
        return np.tile(self._product(folded), self.copies)

    def _product(self, w: np.ndarray) -> np.ndarray:
        return self.K @ w if self.Z is None else self.Z @ (w @ self.Z)

    def factorise(self, D: np.ndarray) -> None:
        self.D = D.reshape(self.copies, self.n)
        self.E, ridge = 1.0 / (1.0 / self.D).sum(axis=0), self.ridge
        for _ in range(_ATTEMPTS):
            self.ridged, ridge = self.E + ridge, 100.0 * ridge
            if self.Z is None:
                self.room[:] = self.K.T  # symmetric, and so copied as it lies in memory
                np.einsum("ii->i", self.room)[:] += self.ridged
                self.factor, failed = dpotrf(self.room, lower=1, overwrite_a=1)
            else:
                scaled = self.Z / np.sqrt(self.ridged)[:, None]
                self.factor, failed = dpotrf(scaled.T @ scaled + np.eye(scaled.shape[1]), lower=1)
            if not failed:
                self.along = self._solution(np.ones_like(D) * self.y.ravel())
                return
        raise LinAlgError("the kernel matrix is not positive semi-definite")

    def solve(self, v: np.ndarray, total: float | None) -> tuple[np.ndarray, float]:
        """x and b with ``yᵀx = total``; no b without a total."""
        x, y = self._solution(v), self.y.ravel()
        if total is None:
            return x, 0.0
        b = (float(y @ x) - total) / float(y @ self.along)
        return x - b * self.along, b

    def _solution(self, v: np.ndarray) -> np.ndarray:
        v = v.reshape(self.y.shape)
        if self.copies == 1:
            return self.y[0] * self._refined(self.y[0] * v[0])
        both = self.D.sum(axis=0)
        parts = self.D[::-1] / both * self.y  # of w
        return (parts * self._refined((parts * v).sum(axis=0)) + v.sum(axis=0) / both).ravel()

    def _refined(self, v: np.ndarray) -> np.ndarray:
        """Solve ``(K + E) w = v``; the second step takes away what the ridge has changed."""
        w = self._inverse(v)
        return w + self._inverse(v - self._product(w) - self.E * w)

    def _inverse(self, v: np.ndarray) -> np.ndarray:
        if self.Z is None:
            return dpotrs(self.factor, v, lower=1)[0]
        scaled = v / self.ridged
        return scaled - self.Z @ dpotrs(self.factor, scaled @ self.Z, lower=1)[0] / self.ridged
