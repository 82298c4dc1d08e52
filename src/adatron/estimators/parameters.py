"""From constructor parameters to checked values, and to the solver, kernel and matrix that they ask for."""

import os
from dataclasses import fields
from difflib import get_close_matches
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from adatron.exceptions import KernelError, KernelWarning, warn_user
from adatron.gram import Choice, Gram, by_rows, choose_gram, weighted_sum
from adatron.kernels import KERNELS, CallableKernel, Kernel, Precomputed, mercer, squared_norms
from adatron.solvers import SOLVERS, KernelAdatron

_FLAGS = (
    "shrinking", "fit_intercept", "warm_start", "probability", "break_ties", "averaged", "exact_certificate",
)  # fmt: skip
_FEW_ROWS = 10  # enough to see that most kernels are not degenerate
_ROUNDING = 64 * np.finfo(float).eps  # a spread below this part of the mean is rounding

_REQUIREMENTS = {  # what a solver may need, the test of it, and the way out when it fails
    "classification": (lambda problem: not problem.equality and bool((problem.p == 1.0).all()),
        "is for classification only; use solver='auto', 'adatron' or 'multiplicative'"),
    "free sum": (lambda problem: not problem.equality,
        "cannot keep the sum of the multipliers; use solver='auto', 'adatron' or 'multiplicative'"),
    "no bias": (lambda problem: not problem.has_bias,
        "fits no bias; set fit_intercept=False, or use solver='adatron' or 'multiplicative'"),
    "its own estimator": (lambda problem: False,
        "has an estimator of its own, KernelPerceptron; use that"),
    "hard margin": (lambda problem: bool(np.isinf(problem.upper).all()),
        "knows hard margins only; set C=float('inf'), or use solver='adatron', 'multiplicative' or 'm3'"),
    "nonnegative": (lambda problem: problem.gram.is_nonnegative(),
        "needs K >= 0, but this kernel has negative values; use solver='m3', which splits K+ and K-"),
    "entries": (lambda problem: problem.gram.has_entries,
        "splits the entries of the kernel matrix, which does not survive a low-rank factor; set rank=None, "
        "or use solver='adatron', 'multiplicative' or 'rho'"),
}  # fmt: skip


def check_number(
    name: str, value: Any, allowed: str = "a finite number > 0", is_allowed: Any = lambda v: 0.0 < v < np.inf
) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not is_number or not is_allowed(value):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return float(value)


def check_nu(value: Any) -> float:
    return check_number("nu", value, "a number above 0 and at most 1", lambda nu: 0.0 < nu <= 1.0)


def check_epsilon(value: Any) -> float:
    epsilon = check_number("epsilon", value, "a finite number >= 0", np.isfinite)
    if epsilon < 0.0:
        raise ValueError(f"epsilon must be a finite number >= 0, got {value!r}; use 0 for no tube")
    return epsilon


def check_integer(name: str, value: Any, *, at_least: int = 1, allowed: str = "") -> int:
    if not isinstance(value, Integral) or isinstance(value, bool | np.bool_) or value < at_least:
        raise ValueError(f"{name} must be {allowed or f'an integer >= {at_least}'}, got {value!r}")
    return int(value)


def check_choice(name: str, value: Any, choices: list[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {choices}, got {value!r}{closest_name(value, choices)}")
    return value


def closest_name(value: Any, names: list[str]) -> str:
    """``"; did you mean …?"`` when a name comes close."""
    found = get_close_matches(str(value), names, n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def check_flag(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_) and value not in (0, 1):
        raise ValueError(f"{name} must be a bool, got {value!r}")


def check_max_iter(value: Any, default: int = 100_000) -> int:
    """Epochs at most; -1 is the default."""
    if isinstance(value, Integral) and value == -1:
        return default
    return check_integer("max_iter", value, allowed="-1 or an integer >= 1")


def check_common_parameters(estimator: Any) -> None:
    """Parameters that kernel estimators share, as far as this one has them."""
    if estimator.time_limit is not None:
        check_number("time_limit", estimator.time_limit, allowed="None or a finite number > 0")
    if not isinstance(estimator.cache_size, str) or estimator.cache_size != "auto":
        check_number("cache_size", estimator.cache_size, allowed="'auto' or a number of MB > 0")
    if not isinstance(estimator.verbose, bool | np.bool_ | Integral):
        raise ValueError(f"verbose must be a bool or an integer, got {estimator.verbose!r}")
    rank = estimator.rank
    is_number = isinstance(rank, int | float | np.number) and not isinstance(rank, bool)
    is_rank = is_number and (0.0 < rank < 1.0 or (rank >= 1 and rank == int(rank)))
    if rank is not None and not is_rank:
        raise ValueError(f"rank must be None, an integer >= 1 or a number between 0 and 1, got {rank!r}")
    as_random_state(estimator.random_state)
    given = vars(estimator)
    count_threads(given.get("n_jobs"))
    for name in _FLAGS:
        check_flag(name, given.get(name, False))


def as_random_state(random_state: Any) -> np.random.RandomState:
    """scikit-learn's kinds of random states, and NumPy's generators."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(2**32))
    try:
        return check_random_state(random_state)
    except ValueError as error:
        raise ValueError(f"random_state must be None, an integer or a generator: {error}") from error


def count_threads(n_jobs: Any) -> int:
    """Number of threads for `n_jobs` as scikit-learn means it, at most one per core."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}")
    wanted, cores = int(n_jobs), os.cpu_count() or 1
    return min(cores, wanted) if wanted > 0 else max(1, cores + 1 + wanted)


def solver_from(solver: Any, rate: Any, problem: Any = None) -> Any:
    """The solver that `solver` names, or is, with its learning rate; a problem has to be one it can serve."""
    automatic = isinstance(rate, str) and rate == "auto"
    if not automatic:
        check_number("learning_rate", rate, allowed="'auto' or a finite number > 0")
    if not isinstance(solver, str | type) and hasattr(solver, "epoch"):
        found = solver
        if not automatic:
            raise ValueError(
                f"learning_rate={rate!r} belongs to a solver given by name; "
                f"set it in the solver object {solver!r}, or name the solver"
            )
    else:
        kind: Any = SOLVERS[check_choice("solver", solver, list(SOLVERS))]
        if solver == "auto" and not automatic:
            kind = KernelAdatron  # the fast path takes exact steps; a rate asks for sweeps
        has_rate = any(field.name == "learning_rate" for field in fields(kind))
        if not has_rate and not automatic:
            raise ValueError(f"solver={solver!r} has no rate, got learning_rate={rate!r}; leave it 'auto'")
        found = kind(learning_rate=rate) if has_rate else kind(eps=1e-13) if solver == "rho" else kind()
    for need in sorted(found.needs) if problem is not None else ():
        holds, way_out = _REQUIREMENTS[need]
        if not holds(problem):
            raise ValueError(f"solver={solver!r} {way_out}")
    return found


def is_precomputed(kernel: Any) -> bool:
    """Whether the data are kernel values already."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def kernel_from(estimator: Any, X: Any, weights: np.ndarray) -> Kernel:
    """The kernel that the parameters describe; warns of a function that is not symmetric or deterministic."""
    kernel = estimator.kernel
    if callable(kernel) and not isinstance(kernel, Kernel):
        kernel = CallableKernel(kernel)
    if isinstance(kernel, CallableKernel) and X.shape[0] > 1:
        first, again = kernel(X[:2], X[:2]), kernel(X[:2], X[:2])
        rounding = 1e-10 * max(float(np.abs(first).max()), 1e-300)
        wrong = ""
        if np.abs(first - again).max() > rounding:
            wrong = "is not deterministic: two calls differ"
        elif np.abs(first - first.T).max() > rounding:
            wrong = "is not symmetric: k(x, z) differs from k(z, x)"
        if wrong:
            warn_user(f"kernel function {kernel.name!r} {wrong}", KernelWarning)
    if isinstance(kernel, Kernel):
        return kernel
    kind: Any = KERNELS[check_choice("kernel", kernel, list(KERNELS))]
    values: dict[str, Any] = {
        "gamma": lambda: _gamma(estimator.gamma, X, weights),
        "coef0": lambda: check_number("coef0", estimator.coef0, "a finite number", np.isfinite),
        "degree": lambda: check_integer("degree", estimator.degree),
    }
    return kind(**{field.name: values[field.name]() for field in fields(kind) if field.name in values})


def _gamma(gamma: Any, X: Any, weights: np.ndarray) -> float:
    """The number that `gamma` stands for; a row of weight 2 counts twice.

    "scale" is ``1/(n_features v)``, v the variance of all entries; "mean" is ``1/β``, β the mean squared
    distance of the rows to their mean (Tsang & Kwok 2007).
    """
    if not isinstance(gamma, str):
        return check_number("gamma", gamma, allowed="'scale', 'auto', 'mean' or a finite number > 0")
    check_choice("gamma", gamma, ["scale", "auto", "mean"])
    n_features = X.shape[1]
    if gamma == "auto":
        return 1.0 / n_features
    weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))  # a power of two rounds nothing
    with np.errstate(over="ignore", invalid="ignore"):
        if gamma == "mean":
            centre = weighted_sum(weights, X) / weights.sum()
            size = float(centre @ centre)
            spread = _weighted_mean(weights, by_rows(_less_the_centre, X, centre)) + size
            varies = spread > _ROUNDING * size
        else:
            mean = _weighted_mean(weights, by_rows(_row_totals, X)) / n_features
            variance = _weighted_mean(weights, by_rows(_squared_deviations, X, mean)) / n_features
            spread, varies = n_features * variance, np.sqrt(variance) > _ROUNDING * abs(mean)
    if not np.isfinite(spread):
        raise KernelError("the variance of X overflows float64; scale X (e.g. with StandardScaler)")
    if varies and spread > np.finfo(float).tiny:
        return 1.0 / spread
    warn_user(f"X has zero variance, so gamma={gamma!r} is taken as 1.0", KernelWarning)
    return 1.0


def _weighted_mean(weights: np.ndarray, values: np.ndarray) -> float:
    """Weighted mean that gives a row of weight 2 and the row twice the same bits."""
    return float((weights * values.astype(np.longdouble)).sum() / weights.sum())


def _less_the_centre(X: Any, centre: np.ndarray) -> np.ndarray:
    """``|x|² − 2⟨x, centre⟩`` of every row."""
    X = X.astype(np.float64, copy=False)
    # not by BLAS, whose sums depend on the place of a row
    products = np.ravel(X @ centre) if sparse.issparse(X) else np.einsum("ij,j->i", X, centre)
    return squared_norms(X) - 2.0 * products


def _row_totals(X: Any) -> np.ndarray:
    return np.ravel(X.sum(axis=1, dtype=np.float64))


def _squared_deviations(X: Any, mean: float) -> np.ndarray:
    """``Σ_j (x_ij − mean)²`` of every row."""
    if not sparse.issparse(X):
        return np.square(X.astype(np.float64, copy=False) - mean).sum(axis=1)
    stored = X.copy()
    stored.data = np.square(X.data - mean)
    return np.ravel(stored.sum(axis=1)) + (X.shape[1] - np.diff(X.indptr)) * np.square(mean)


def kernel_matrix(
    estimator: Any, kernel: Kernel, X: Any, needs_few_rows: bool = False, copies: float = 1.0, **options: Any
) -> tuple[Choice, bool]:
    """How the kernel matrix is held (options of `choose_gram`), and whether the kernel is indefinite."""
    state = None if estimator.rank is None else as_random_state(estimator.random_state)
    settings = {"cache_size": estimator.cache_size, "rank": estimator.rank, "regime": estimator._regime}
    choose = partial(choose_gram, kernel, X, random_state=state, **settings, **options)
    choice = choose(needs_few_rows=needs_few_rows, copies=copies)
    indefinite = inspect_gram(choice.gram, kernel)
    if indefinite and needs_few_rows and choice.gram.evaluates_rows:  # all its rows will be swept
        choice = choose()
    return choice, indefinite


def inspect_gram(gram: Gram, kernel: Kernel) -> bool:
    """Whether the kernel is indefinite; refuses one that vanishes, and warns of a suspicious one."""
    m, psd = gram.m, kernel.traits.psd
    few = np.arange(0, m, -(-m // _FEW_ROWS))  # spread over all; mostly they show that nothing is wrong
    if psd and len(few) > 2 and not _suspicion(gram.block(few, few)):
        return False
    rows = np.unique(np.linspace(0, m - 1, min(m, 500)).astype(int))
    diagonal, sample = gram.diagonal(), gram.block(rows, rows)
    if isinstance(kernel, CallableKernel) and diagonal.min() < 0.0:
        raise KernelError(f"kernel function {kernel.name!r} gives negative values k(x, x) = {diagonal.min()}")
    if not np.any(diagonal) and not np.any(sample):
        raise KernelError("the kernel is numerically zero for all rows of X; scale X")
    if suspicion := _suspicion(sample):
        warn_user(suspicion, KernelWarning)
    if psd or mercer.is_indefinite(sample):
        return not psd
    return gram.is_whole and m > len(rows) and mercer.has_negative_curvature(gram.matmul, m)


def _suspicion(sample: np.ndarray) -> str:
    """What is wrong with a degenerate kernel; two rows are too few to say."""
    last, size = len(sample) - 1, float(np.abs(sample).max())
    if last < 2:
        return ""
    off_diagonal = sample.ravel()[1:].reshape(last, last + 2)[:, :-1]  # a view
    if max(float(off_diagonal.max()), -float(off_diagonal.min())) <= 1e-12 * size:
        return "the kernel matrix is numerically the identity: no two points are similar; decrease gamma"
    if np.ptp(sample) <= 1e-12 * size:
        return "the kernel matrix is numerically constant: all points look alike; increase gamma or scale X"
    return ""
