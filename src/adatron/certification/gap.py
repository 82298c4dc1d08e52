"""`certify`: the duality gap of a fitted machine, rounded up.

The primal is that of the machine as it predicts, with its own coefficients and bias. The dual is that of its
multipliers, made feasible. Both are bounds of the same optimum, so their difference says how far the machine
is from it, whoever trained it. Errors of rounding are added to the one and subtracted from the other.
"""

from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from adatron.certification.machines import (
    BinaryProblem,
    Fitted,
    coupled_problem,
    dense_if_small,
    fitted_machine,
    problems_of,
)
from adatron.kernels import Kernel, Precomputed, has_negative_curvature, is_indefinite
from adatron.kernels.rounding import (
    LONG_EPS,
    Bounded,
    long,
    outputs,
    precision_for,
    squared_norm,
    total_of,
)  # fmt: skip
from adatron.training.certificate import AS_GOOD_AS_HARD, VANISHING, make_feasible

_ROWS_SHOWN = 10
_SAMPLE = 500  # rows in which negative eigenvalues are looked for
_SAMPLE_OF_MATRIX = 2_000  # of a kernel matrix, whose values cost nothing


@dataclass(frozen=True, eq=False, repr=False)
class DualityGap:
    """How far a fitted machine is from the optimum of its problem, and which rows cause it.

    Parameters
    ----------
    gap : float
        ``(primal − dual)/max(|primal|, |dual|)``, never smaller than the true one. Of a hard margin it is
        ``1 − (lower/upper)²`` for the bounds of the margin. For one class, an objective below 1e-8 of the
        largest k(x, x) is replaced by that value, as in ``OneClassSVM.duality_gap_``.
    primal, dual : float
        Bounds of the optimum from above and below. The multipliers of a `OneClassSVM` are scaled to sum to 1.
    rounding : float
        The part of `gap` that allows for rounding errors.
    worst_rows : ndarray of int
        The rows of X that contribute most to the gap, the worst first; ten at most.
    worst_shares : ndarray of float
        Their parts of ``primal − dual``.
    name : str, default=""
        Which of several problems this is.
    problems : tuple of DualityGap, default=()
        One for each binary problem, where there are several; the numbers above are those of the worst.

    See Also
    --------
    certify : measures it.

    References
    ----------
    N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, SIAM 2002 (bounds of rounding errors).

    Examples
    --------
    >>> from adatron import SVC, certify
    >>> found = certify(SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1]), [[-1.0], [1.0]], [0, 1])
    >>> found.problems, found.gap < 1e-15
    ((), True)
    >>> found  # doctest: +ELLIPSIS
    DualityGap(gap=..., primal=0.5, dual=0.5)
    """

    gap: float
    primal: float
    dual: float
    rounding: float
    worst_rows: np.ndarray
    worst_shares: np.ndarray
    name: str = ""
    problems: tuple["DualityGap", ...] = ()

    def __repr__(self) -> str:
        worst = f", worst of {len(self.problems)} problems: {self.name}" if self.problems else ""
        rows = f", worst_rows={self.worst_rows.tolist()}" if len(self.worst_rows) else ""
        return f"DualityGap(gap={self.gap:.3g}, primal={self.primal:.9g}, dual={self.dual:.9g}{rows}{worst})"


def certify(
    estimator: Any, X: Any, y: Any = None, sample_weight: Any = None, *,
    C: float | None = None, epsilon: float = 0.1,
) -> DualityGap:  # fmt: skip
    """Measure the duality gap of anyone's fitted machine, in float64 or better, rounded up.

    The gap needs nothing but the coefficients, the bias and the training rows, so it does not matter how the
    machine was trained. The primal objective is that of the machine as it predicts; the dual objective is
    that of its multipliers, made feasible where they are not quite. With ``rank=``, it is the kernel itself
    that counts, not its approximation.

    Kernel values are long doubles where that takes seconds, else float64. Bounds of all rounding errors are
    part of the gap. Values of a kernel function or a kernel matrix count as exact.

    Parameters
    ----------
    estimator : estimator, str or path
        A fitted `SVC`, `SVR` or `OneClassSVM` of adatron, scikit-learn or scikit-learn-intelex, a `NuSVC` or
        `NuSVR` of adatron, or the path of a model file of LIBSVM or of `adatron.io.save_model`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows that it was trained on, or their kernel matrix.
    y : array-like of shape (n_samples,), optional
        Their classes or targets; a `OneClassSVM` has none.
    sample_weight : array-like of shape (n_samples,), optional
        The weights that it was trained with.
    C : float, optional
        Of a model file of LIBSVM, which does not say it; by default its largest multiplier.
    epsilon : float, default=0.1
        Of a regression in a model file of LIBSVM, which does not say it.

    Returns
    -------
    DualityGap

    Raises
    ------
    TypeError, ValueError
        For other estimators; for rows it was not trained on, or a kernel with negative eigenvalues.

    References
    ----------
    N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, SIAM 2002 (bounds of rounding errors).

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from adatron import certify
    >>> from adatron.datasets import load_sonar
    >>> X, y = load_sonar(return_X_y=True)
    >>> rough, fine = (SVC(C=10.0, tol=tol).fit(X, y) for tol in (1e-1, 1e-6))
    >>> found = certify(rough, X, y)
    >>> found.dual <= certify(fine, X, y).primal, found.gap > 1e-4, certify(fine, X, y).gap < 1e-6
    (True, True, True)
    """
    machine = dense_if_small(fitted_machine(estimator, X, y, sample_weight, C, epsilon))
    _check_definite(machine.kernel, machine.X)
    gaps = _gaps(machine, y, sample_weight)
    worst = max(gaps, key=lambda found: found.gap)
    return worst if len(gaps) == 1 else replace(worst, problems=tuple(gaps))


def _gaps(machine: Fitted, y: Any, sample_weight: Any) -> list[DualityGap]:
    kernel, X = machine.kernel, machine.X
    if machine.kind != "OneClassSVM" and y is not None and np.size(y) != X.shape[0]:
        sizes = f"X has {X.shape[0]} rows, y has {np.size(y)} entries"
        raise ValueError(f"X and y have inconsistent numbers of samples: {sizes}")
    if machine.layout is not None and machine.layout.is_direct:
        problem, codes, table, biases = coupled_problem(machine, y, sample_weight)
        own = codes[:, None] == np.arange(table.shape[1])
        return [_gap_of(problem, _coupled_sides(problem.upper, own, table, biases, kernel, X))]
    problems = problems_of(machine, y, sample_weight)
    return [_gap_of(problem, _sides(problem, kernel, X)) for problem in problems]


def _check_definite(kernel: Kernel, X: Any) -> None:
    if kernel.traits.psd:
        return
    n, is_given = X.shape[0], isinstance(kernel, Precomputed)
    rows = np.unique(np.linspace(0, n - 1, min(_SAMPLE_OF_MATRIX if is_given else _SAMPLE, n)).astype(int))
    K = np.asarray(X[rows][:, rows] if is_given else kernel(X[rows], X[rows]), dtype=np.float64)
    if is_given and np.abs(X - X.T).max() > 1e-12 * np.abs(X).max():
        raise ValueError("the kernel matrix X is not symmetric; pass (X + X.T) / 2")
    if is_indefinite(K) or (is_given and n > len(rows) and has_negative_curvature(X.__matmul__, n)):
        raise ValueError(
            f"the kernel {kernel!r} has negative eigenvalues on these rows: its dual problem has no gap that "
            "says anything; use a positive semi-definite kernel"
        )


class _Sides(NamedTuple):
    """What both objectives are made of."""

    outputs: np.ndarray  # y (f + b) of the machine
    errors: np.ndarray  # of the outputs
    norm: Bounded  # ‖w‖² of the machine
    alpha: np.ndarray  # feasible
    dual_norm: Bounded  # ‖w‖² of alpha
    linear: Bounded  # pᵀα
    largest: float  # max K_ii


def _sides(problem: BinaryProblem, kernel: Kernel, X: Any) -> _Sides:
    dtype, y = precision_for(X, len(problem.coefficients)), problem.y
    rows, place = np.unique(problem.rows, return_inverse=True)
    f, errors = outputs(kernel, X[rows], problem.vectors, problem.coefficients, dtype)
    norm = squared_norm(kernel, X, problem.vectors, problem.coefficients, dtype)
    alpha, upper = problem.alpha.astype(long), problem.upper.astype(long)
    alpha = make_feasible(alpha, y, upper, problem.equality, negligible=0.0, balanced=0.0)
    if problem.tube is not None:
        alpha *= min(long(1.0), problem.tube[1] / max(alpha.sum(), long(1e-300)))
    coefficients = np.zeros(X.shape[0], dtype=long)
    np.add.at(coefficients, problem.rows, y * alpha)
    dual_norm = squared_norm(kernel, X, *_used(kernel, X, coefficients), dtype)
    linear = total_of(problem.p * alpha)
    # α is feasible but for the rounding of its own digits, which changes the dual by its gradient p − y f
    diagonal = np.abs(kernel.diagonal(X))
    gradient = np.abs(problem.p) + np.sqrt(dual_norm.highest * diagonal[problem.rows])
    rounded = (len(y) + 8) * LONG_EPS * np.sum(alpha * gradient)
    linear = linear._replace(error=linear.error + rounded)
    return _Sides(
        outputs=y * (f[place] + problem.bias), errors=errors[place], norm=norm, alpha=alpha,
        dual_norm=dual_norm, linear=linear, largest=diagonal.max(),
    )  # fmt: skip


def _coupled_sides(
    bounds: np.ndarray, own: np.ndarray, table: np.ndarray, biases: np.ndarray | None, kernel: Kernel, X: Any
) -> _Sides:
    """The sides of Crammer & Singer's problem: a row's output is that of its class less the largest other.

    `table` has the multipliers A of all rows and classes, `own` says which is the row's class. A bias is the
    weight of a constant 1 in the kernel.
    """
    upper, dtype = bounds[:, None].astype(long), precision_for(X, len(table))
    others = np.where(own, 0.0, np.minimum(table, 0.0))  # feasible: the row's own class balances them
    total = -others.sum(axis=1, keepdims=True)
    shrink = np.where(total > upper, upper / np.where(total > 0.0, total, 1.0), 1.0)
    alpha = np.minimum(total, upper)
    feasible = np.where(own, alpha, others * shrink)
    f, errors = (np.zeros(table.shape, dtype=long) for _ in range(2))
    for c, column in enumerate(table.T):
        f[:, c], errors[:, c] = outputs(kernel, X, *_used(kernel, X, column), dtype)
    constants = np.zeros(table.shape[1]) if biases is None else biases
    f = f + constants
    dual_constants = 0.0 if biases is None else feasible.sum(axis=0)
    norm = _sum_of_squared_norms(kernel, X, table, constants, dtype)
    dual_norm = _sum_of_squared_norms(kernel, X, feasible, dual_constants, dtype)
    linear = total_of(alpha[:, 0])
    diagonal = np.abs(kernel.diagonal(X)) + 1.0
    gradient = 1.0 + np.sqrt(dual_norm.highest * diagonal)
    rounded = 2.0 * (len(own) + 8) * LONG_EPS * np.sum(np.abs(feasible).sum(axis=1) * gradient)
    return _Sides(
        outputs=f[own] - np.where(own, -inf, f).max(axis=1),
        errors=2.0 * errors.max(axis=1) + 8 * LONG_EPS * np.abs(f).max(axis=1),  # of both outputs
        norm=norm, alpha=alpha[:, 0], dual_norm=dual_norm,
        linear=linear._replace(error=linear.error + rounded), largest=float(diagonal.max()),
    )  # fmt: skip


def _gap_of(problem: BinaryProblem, sides: _Sides) -> DualityGap:
    upper = problem.upper.astype(long)
    present, hard = upper > 0.0, long(1.0)
    if (problem.p > 0.0).all():
        hard, primal, dual = _hard_margin(sides, problem.p, present)
        if np.isinf(upper).any():
            least = np.min(sides.outputs[present])
            shortage = np.where(sides.alpha > 0.0, np.abs(sides.outputs - least), 0.0)
            return _made(problem, hard, primal, dual, 0.0, shortage)
    slack = problem.p - sides.outputs
    loss = total_of(upper * np.maximum(slack, 0.0))
    loss_error = loss.error + np.sum(upper * np.where(slack > -sides.errors, sides.errors, 0.0))
    primal = 0.5 * sides.norm.value + loss.value + long(problem.equality or 0.0) * problem.bias
    primal_error = 0.5 * sides.norm.error + loss_error + 4 * LONG_EPS * abs(primal)
    dual = sides.linear.value - 0.5 * sides.dual_norm.value
    if problem.tube is not None:  # of the ν-problem, whose tube costs something
        width, total = problem.tube
        primal, dual = primal + width * total, dual + width * sides.alpha.sum()
        primal_error = primal_error + 8 * LONG_EPS * width * total * len(slack)
    dual_error = sides.linear.error + 0.5 * sides.dual_norm.error + 4 * LONG_EPS * abs(dual)
    least_size = long(VANISHING * (problem.equality or 0.0) ** 2 * sides.largest)
    size = max(abs(primal) - primal_error, abs(dual) - dual_error, least_size, np.finfo(long).tiny)
    rounding = min((primal_error + dual_error) / size, long(2.0))
    gap = min(max(primal - dual, long(0.0)) / size + rounding, long(2.0))  # |P| + |D| over the larger of them
    if float(upper.max()) * sides.largest >= AS_GOOD_AS_HARD and hard < 1.0:
        gap = min(gap, hard)
    terms = np.where(slack > 0.0, (upper - sides.alpha) * slack, -sides.alpha * slack)
    return _made(problem, gap, primal + primal_error, dual - dual_error, min(rounding, gap), terms)


def _made(
    problem: BinaryProblem, gap: Any, primal: Any, dual: Any, rounding: Any, terms: np.ndarray
) -> DualityGap:
    """The result, rounded away from the optimum; `terms` are what each multiplier adds to P − D."""
    if np.isnan(gap):  # numbers that are no numbers prove nothing
        gap, primal, dual = long(inf), long(inf), -long(inf)
    by_row = np.bincount(problem.rows, weights=np.maximum(terms, 0.0).astype(float))
    worst = np.argsort(-by_row, kind="stable")[:_ROWS_SHOWN]
    worst = worst[(by_row[worst] > 1e-3 * by_row.max()) & (gap > 2.0 * rounding)]
    shares = by_row[worst] / max(by_row.sum(), 1e-300)
    return DualityGap(_up(gap), _up(primal), -_up(-dual), _up(rounding), worst, shares, problem.name)


def _up(value: Any) -> float:
    """The nearest float64 that is not smaller."""
    rounded = float(value)
    return rounded if long(rounded) >= value else float(np.nextafter(rounded, inf))


def _used(kernel: Kernel, X: Any, coefficients: np.ndarray) -> tuple[Any, np.ndarray]:
    """The vectors of a function whose coefficients are not 0, for a kernel matrix their places; and these."""
    support = np.flatnonzero(coefficients)
    return support if isinstance(kernel, Precomputed) else X[support], coefficients[support]


def _sum_of_squared_norms(kernel: Kernel, X: Any, table: np.ndarray, constants: Any, dtype: Any) -> Bounded:
    """``Σ ‖w_c‖² + b_c²`` of the functions in the columns of a table."""
    norms = [squared_norm(kernel, X, *_used(kernel, X, column), dtype) for column in table.T]
    squares = np.sum(constants**2)
    value, error = sum(norm.value for norm in norms), sum(norm.error for norm in norms)
    return Bounded(value + squares, error + 64 * LONG_EPS * squares)


def _hard_margin(sides: _Sides, p: np.ndarray, present: np.ndarray) -> tuple[Any, Any, Any]:
    """Gap, primal and dual of a hard margin, both sides scaled to their best."""
    norm, dual_norm, linear = sides.norm.highest, sides.dual_norm.highest, sides.linear
    lowest = linear.value - linear.error
    dual = 0.5 * lowest**2 / dual_norm if dual_norm > 0.0 and lowest > 0.0 else long(0.0)
    least = np.min(((sides.outputs - sides.errors) / p)[present])
    if least <= 0.0 or dual <= 0.0:
        return long(1.0), long(inf), dual
    primal = 0.5 * norm / least**2
    return min(max(1.0 - dual / primal, long(0.0)) + 16 * LONG_EPS, long(1.0)), primal, dual
