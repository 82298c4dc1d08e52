"""`sigma_path`: maximal margins for rising Gaussian widths, each warm-started from the last.

All rows and, for cross-validation, every fold are columns of one problem. A warm start scales the multipliers
of the last width by the factor that maximises the dual. Then, as hardly any point joins or leaves the support
vectors, it solves their linear system by the steps of the exact finish; sweeps of Kernel-Adatron go on.
"""

from contextlib import nullcontext
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from adatron.bounds import margin_bound, support_vector_loo_bound
from adatron.estimators import SVC, parameters
from adatron.estimators.base import worst_of
from adatron.estimators.classifier import Layout
from adatron.estimators.svc import check_coincident
from adatron.estimators.training_set import classification_set
from adatron.exceptions import InfeasibleError
from adatron.gram import REGIME, choose_gram, expand
from adatron.kernels import Gaussian
from adatron.numerics.threads import one_blas_thread
from adatron.paths import kernel_path
from adatron.paths.kernel_path import KernelPath
from adatron.problems import DualProblem
from adatron.solvers import KernelAdatron
from adatron.training import DualSolution, GapRule, Run, Status, certify, exact_finish, solved

_CRITERIA = {"vc": "R²/γ²", "loo": "share of support vectors", "cv": "cv error"}
_AS_GOOD_AS_INFINITE = 1e100  # a bound C that float64 cannot tell from infinity
_SAMPLE = 1_000  # rows whose distances give the default widths
_NO_NUMBERS = ("margin", "radius_squared", "bound", "training_error", "error", "n_support", "epochs", "gap")


def sigma_path(
    X: Any, y: Any, sigmas: Any = None, *, criterion: Any = "vc", C: float = np.inf,
    fit_intercept: bool = True, tol: float = 1e-3, cv: Any = 5, warm_start: bool = True,
    max_iter: int = -1, random_state: Any = None, verbose: bool = False,
) -> KernelPath:  # fmt: skip
    """Choose the width σ of the Gaussian ``exp(−‖x − z‖²/2σ²)`` by the procedure of Campbell & Cristianini.

    The best width has the smallest criterion, among equal ones the largest margin.

    Parameters
    ----------
    X, y : array-like of shape (m, d) and (m,)
    sigmas : array-like, optional
        Default: 20 widths, from a quarter of the median distance of nearest neighbours to that of all rows.
    criterion : {"vc", "loo", "cv"} or pair (X_val, y_val), default="vc"
        "vc" is R²/γ² with ``R² = max k(x, x)``; "loo" the share of support vectors, which bounds the
        leave-one-out error; "cv" the error of cross-validation; a pair asks for the error on those rows.
    C : float, default=inf
    fit_intercept, tol, cv : bias; gap at which a margin counts as maximal; folds, default=True, 1e-3, 5
    warm_start, max_iter : whether to start from the last width, and most epochs, default=True, -1
    random_state, verbose : as for `SVC`, default=None, False

    Returns
    -------
    KernelPath

    Examples
    --------
    >>> from adatron import datasets, selection
    >>> path = selection.sigma_path(*datasets.load_sonar(return_X_y=True), [0.2, 0.4, 0.8, 1.6])
    >>> path.best_sigma, path["margin"].round(3).tolist()
    (0.4, [0.073, 0.084, 0.071, 0.03])
    """
    for name, flag in (("fit_intercept", fit_intercept), ("warm_start", warm_start), ("verbose", verbose)):
        parameters.check_flag(name, flag)
    C = parameters.check_number("C", C, "a number > 0 (inf for a hard margin)", lambda C: C > 0.0)
    limits = parameters.check_number("tol", tol), parameters.check_max_iter(max_iter)
    widths = None if sigmas is None else kernel_path.rising("sigmas", sigmas)
    problems = _Problems(X, y, C, fit_intercept, limits, criterion, cv, random_state)
    records = _fit_widths(problems, widths, warm_start, verbose)
    usable = [i for i, record in enumerate(records) if np.isfinite(record["criterion"])]
    if not usable:
        reasons = "; ".join(f"sigma={record['sigma']:g}: {record['reason']}" for record in records)
        raise ValueError(f"no width can be chosen, as each of the {len(records)} failed: {reasons}")
    best = kernel_path.best_step(records, usable, "sigma", lambda r: (r["criterion"], -r["margin"]))
    return KernelPath(records, criterion=problems.label, best_index=best)


def default_sigmas(X: Any) -> np.ndarray:
    """20 widths in geometric progression, from where near neighbours have a kernel value of exp(−8) on."""
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], _SAMPLE)).astype(int))
    distances = euclidean_distances(X[rows])
    apart = distances > 1e-9 * distances.max(initial=0.0)
    if not apart.any():
        raise ValueError("all rows of X are equal, so no width can be derived from them; give sigmas")
    nearest = np.where(apart, distances, np.inf).min(axis=1)
    tiny = 0.25 * float(np.median(nearest[np.isfinite(nearest)]))
    return np.geomspace(tiny, max(float(np.median(distances[apart])), 2.0 * tiny), 20)


def _fit_widths(problems: "_Problems", sigmas: Any, warm: bool, verbose: bool) -> list[dict[str, Any]]:
    """The record of every width; one that fails does not end the path."""
    records, alpha, X = [], None, problems.data.X
    with one_blas_thread() if problems.data.m <= REGIME.one_blas_thread_up_to else nullcontext():
        for sigma in (default_sigmas(X) if sigmas is None else sigmas).tolist():
            began = perf_counter()
            try:
                with np.errstate(over="ignore"):
                    record, alpha = problems.fit(sigma, alpha if warm else None)
                line = f"{problems.label} {record['criterion']:.4g}, margin {record['margin']:.4g}, "
                line += f"{record['n_support']} support vectors, {record['epochs']} epochs"
            except (ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError) as error:
                line = f"{type(error).__name__}: {error}"
                record = {"criterion": np.inf, **dict.fromkeys(_NO_NUMBERS, np.nan), "status": "failed"}
                record |= {"converged": False, "start": "", "reason": line}
            record = {"sigma": sigma, "gamma": 0.5 / max(sigma**2, 1e-300), **record}
            records.append(record | {"seconds": perf_counter() - began})
            if verbose:
                print(f"[adatron] sigma {sigma:.4g}: {line}")
    return records


class _Problems:
    """The B = (1 + F) k problems of every width: those of all rows first, then those of F folds.

    Two classes are k = 1 problem; more classes are one-vs-rest problems.
    """

    def __init__(self, X: Any, y: Any, C: float, bias: bool, limits: Any, criterion: Any, cv: Any, seed: Any):
        estimator = SVC()
        self.data = data = classification_set(estimator, X, y, None)
        self.criterion = kernel_path.criterion_name(criterion, list(_CRITERIA), " or a pair (X_val, y_val)")
        self.label = _CRITERIA.get(self.criterion, "validation error")
        self.validation = None
        if self.criterion == "validation":
            self.validation = kernel_path.validation_rows(criterion, estimator, data)
        trained, self.held = np.ones((data.m, 1)), np.zeros((data.m, 0), dtype=bool)
        if self.criterion == "cv":
            folds = kernel_path.folds(cv, seed, data)
            trained, self.held = np.column_stack([trained, folds.training]), folds.held > 0.0
        C = np.inf if C >= _AS_GOOD_AS_INFINITE else C
        if np.isinf(C):
            check_coincident(data)
        self.layout = Layout(len(data.classes), "ovr")
        signs = self.layout.signs(data.codes)
        self.k, self.y = signs.shape[1], np.tile(signs, (1, trained.shape[1]))
        self.upper = np.repeat(np.where(trained > 0.0, C, 0.0), self.k, axis=1)  # 0: a fold leaves a row out
        self.equality = 0.0 if bias else None
        self.tol, self.max_iter = limits

    def fit(self, sigma: float, last: np.ndarray | None) -> tuple[dict[str, Any], np.ndarray]:
        """The record of one width, and its multipliers, from which the next width starts."""
        layout, codes, k = self.layout, self.data.codes, self.k
        kernel = Gaussian.of_width(sigma)
        gram = choose_gram(kernel, self.data.X).gram
        problem = DualProblem(gram, self.y, np.ones_like(self.y), self.upper, self.equality)
        solutions, start = self._train(problem, last)
        if any(s.status in (Status.NOT_SEPARABLE, Status.DIVERGED) for s in solutions):
            worst = worst_of(solutions)
            raise InfeasibleError(f"{worst.status.sentence} after {worst.n_iter} epochs; set C < inf")
        alpha, bias = np.stack([s.alpha for s in solutions], axis=1), np.array([s.bias for s in solutions])
        coefficients = self.y * alpha
        decisions = gram.matmul(coefficients) + bias
        n = problem.n_columns
        wrong, *in_folds = (layout.vote(decisions[:, i : i + k]) != codes for i in range(0, n, k))
        used = np.flatnonzero(coefficients[:, :k].any(axis=1))
        error = np.nan
        if self.validation is not None:
            X_val, codes_val = self.validation
            values = expand(kernel, X_val, self.data.X[used], coefficients[used, :k]) + bias[:k]
            error = float(np.mean(layout.vote(values) != codes_val))
        elif in_folds:
            error = int(np.sum(np.transpose(in_folds) & self.held)) / int(self.held.sum())
        margin = min(s.margin_interval[0] for s in solutions[:k])
        radius_squared = float(problem.diagonal.max())
        ratio = radius_squared / margin**2 if margin > 0.0 else np.inf
        share = support_vector_loo_bound(len(used), len(codes))
        bound = np.inf if wrong.any() else margin_bound(float(np.sqrt(radius_squared)), margin, len(codes))
        value = {"vc": ratio, "loo": share}.get(self.criterion, error)
        reason = "" if np.isfinite(value) else "the classes are not separated, so there is no margin"
        record = {
            "criterion": value, "margin": margin, "radius_squared": radius_squared, "bound": bound,
            "training_error": float(np.mean(wrong)), "error": error, "n_support": len(used),
            **kernel_path.fit_summary(solutions), "start": start, "reason": reason,
        }  # fmt: skip
        return record, alpha

    def _train(self, problem: DualProblem, last: np.ndarray | None) -> tuple[list[DualSolution], str]:
        """The solutions of all columns, and how they were started: "cold", "exact" or "scaled"."""
        alpha, biases, start = None, [], "cold"
        if last is not None:
            coefficients, total = problem.y * last, last.sum(axis=0)
            curvature = np.einsum("ij,ij->j", coefficients, problem.gram.matmul(coefficients))
            factor = np.where(curvature > 1e-12 * total, total / np.maximum(curvature, 1e-300), 1.0)
            alpha, start = np.clip(last * factor, 0.0, problem.upper), "exact"
            for column in range(problem.n_columns):
                exact = exact_finish(problem, column, alpha[:, column])
                start = "scaled" if exact is None else start
                certificate = certify(problem, column, alpha[:, column] if exact is None else exact)
                alpha[:, column] = certificate.alpha
                biases.append(certificate.bias)
        run = Run(problem, KernelAdatron(), GapRule(self.tol), max_iter=self.max_iter, alpha=alpha)
        if last is not None:
            run.state.bias[:] = biases
        return solved([run]), start
