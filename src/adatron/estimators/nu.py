"""`NuSVC` and `NuSVR`: ν in place of C or ε, drop-ins for those of `sklearn.svm`."""

from dataclasses import replace
from typing import Any

import numpy as np

from adatron.estimators.base import FitPlan
from adatron.estimators.classifier import Layout
from adatron.estimators.machine import SupportVectorMachine
from adatron.estimators.parameters import check_choice, check_nu, check_number
from adatron.estimators.svc import SVC
from adatron.estimators.svr import SVR
from adatron.estimators.training_set import TrainingSet
from adatron.exceptions import InfeasibleError
from adatron.gram import Gram
from adatron.problems import DualProblem, nu_classification, nu_regression
from adatron.training import DualSolution, GapRule, Run, Status

_NO_MARGIN = 1e-9  # level, in units of the kernel, that counts as 0
_HARDLY_ANY = 1e-5  # the same where the search has ended without finding one


class NuSVC(SVC):
    """Support vector classification with ν in place of C, and a certificate.

    ν is a share of the training rows: at most this share is within the margin or on the wrong side, and at
    least this share are support vectors. The model is that of `SVC` for a certain C, which the fit finds.
    A drop-in for `sklearn.svm.NuSVC`: parameters and fitted attributes have the same names and conventions,
    and all attributes of `SVC` are there too.

    Parameters
    ----------
    nu : float, default=0.5
        Above 0, at most 1. An `InfeasibleError` where ν is more than twice the share of the smaller of two
        classes, or so small that no margin is left.
    kernel, degree, gamma, coef0 : as in `SVC`, default="rbf", 3, "scale", 0.0
    shrinking, probability : as in `SVC`, default=True, False
    tol : float, default=1e-3
        Relative duality gap of the ν-problem at which the fit ends. Up to 1,000 rows, and for a `tol` below
        1e-4, the optimum is then looked for exactly.
    cache_size, class_weight, verbose : as in `SVC`, default="auto", None, False
        Weights of rows and classes count in ν.
    max_iter : int, default=-1
        At most so many values of C, and so many epochs for each; -1 is 100,000.
    decision_function_shape, break_ties : as in `SVC`, default="ovr", False
    random_state, fit_intercept : as in `SVC`, default=None, True
    solver : {"auto", "adatron", "adatron-secant", "multiplicative"} or Solver, default="auto"
    learning_rate : as in `SVC`, default="auto"
    multi_class : {"ovo", "ovr"}, default="ovo"
        Each pair of classes, or each class against the rest, has its own C.
    rank, time_limit, warm_start, n_jobs : as in `SVC`, default=None, None, False, None

    Attributes
    ----------
    C_ : ndarray of shape (n_problems,)
        The C with which `SVC` gives the same model.
    n_iter_ : ndarray of shape (n_problems,)
        Number of values of C that were tried.
    duality_gap_ : float
        Relative duality gap of the ν-problem, ``½‖w‖² − ρ ν W + Σ w_i max(0, ρ − y_i (f_i + b))``, where w_i
        are the weights of the rows and W is their sum; the worst over all problems.
    history_ : dict of lists
        As in `SVC`, for multipliers up to the weights of the rows, as they are before dividing by ρ.

    References
    ----------
    B. Schölkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett, *New Support Vector Algorithms*, Neural
    Computation 12, 2000. C.-C. Chang, C.-J. Lin, *Training ν-Support Vector Classifiers*, Neural
    Computation 13, 2001.

    Examples
    --------
    >>> from adatron import NuSVC
    >>> from adatron.datasets import load_sonar
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> model = NuSVC(nu=0.2).fit(X_train, y_train)
    >>> model.converged_, bool(model.score(X_test, y_test) > 0.8), bool(len(model.support_) >= 0.2 * 104)
    (True, True, True)
    """

    _is_hard = False

    def __init__(
        self, nu=0.5, kernel="rbf", *, degree=3, gamma="scale", coef0=0.0, shrinking=True, probability=False,
        tol=1e-3, cache_size="auto", class_weight=None, verbose=False, max_iter=-1,
        decision_function_shape="ovr", break_ties=False, random_state=None, fit_intercept=True, solver="auto",
        learning_rate="auto", multi_class="ovo", rank=None, time_limit=None, warm_start=False, n_jobs=None,
    ):  # fmt: skip
        self._set_parameters(locals())

    def _check_parameters(self) -> None:
        check_nu(self.nu)
        check_choice("multi_class", self.multi_class, ["ovo", "ovr"])
        check_choice("decision_function_shape", self.decision_function_shape, ["ovr", "ovo"])
        SupportVectorMachine._check_parameters(self)

    def _problems(self, gram: Gram, data: TrainingSet, layout: Layout) -> list[Any]:
        nu, bias = float(self.nu), bool(self.fit_intercept)
        return [
            nu_classification(part, column, data.weights[rows], nu, bias=bias)
            for part, rows, signs in layout.parts(gram, data.codes)
            for column in np.atleast_2d(signs.T)
        ]

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        Cs, scaled = [], []
        for run, solution in zip(plan.runs, solutions, strict=True):
            C, (low, high) = self._C_of(run, solution), solution.bias_interval
            alpha, bias = C * solution.alpha, C * solution.bias
            scaled.append(replace(solution, alpha=alpha, bias=bias, bias_interval=(C * low, C * high)))
            Cs.append(C)
        bound = float(max(Cs) * plan.data.weights.max())
        return super()._attributes(plan, scaled) | {"C_": np.array(Cs), "_bound": bound}

    def _C_of(self, run: Run, solution: DualSolution) -> float:
        """1/ρ, if there is a margin ρ."""
        unit = float(run.problem.total * run.problem.diagonal.max())
        least = unit * (_HARDLY_ANY if solution.status is Status.MAX_ITER else _NO_MARGIN)
        if solution.level > least:
            return 1.0 / solution.level
        has_ended = solution.status is Status.MAX_ITER and run.epoch < run.max_iter  # no C was left to try
        if solution.status is Status.CONVERGED or has_ended:
            raise InfeasibleError(
                f"specified nu is infeasible: nu={self.nu!r} is so small that no margin is left; raise nu, "
                "or choose a richer kernel"
            )
        return 1.0 / unit  # an iterate on the way may have no margin yet

    def _after_fit(self, plan: FitPlan) -> None:
        if self.probability:  # the folds have the C of the fit, not its ν
            n, solutions = len(plan.runs), plan.solutions()
            groups = [slice(k, k + 1) for k in range(n)] if plan.layout.is_pairwise else [slice(n)]
            plan = replace(plan, runs=[self._with_C(plan.runs, solutions, group) for group in groups])
        super()._after_fit(plan)

    def _with_C(self, runs: list[Run], solutions: list[DualSolution], group: slice) -> Run:
        """Some problems, which share a kernel matrix, with the C that was found: one column each."""
        first, Cs = runs[group][0], self.C_[group]
        y = np.hstack([run.problem.y for run in runs[group]])
        upper = Cs * np.hstack([run.problem.upper for run in runs[group]])
        alpha = Cs * np.column_stack([solution.alpha for solution in solutions[group]])
        problem = DualProblem(first.problem.gram, y, np.ones_like(y), upper, first.problem.equality)
        search: Any = first.solver
        rule = GapRule(float(self.tol), regime=self._regime)
        return Run(problem, search.solver, rule, max_iter=first.max_iter, alpha=alpha, first=first.first)


class NuSVR(SVR):
    """Support vector regression with ν in place of ε, and a certificate.

    ν is a share of the training rows: at most this share is outside the tube, and at least this share are
    support vectors. The model is that of `SVR` for a certain ε, which the fit finds. A drop-in for
    `sklearn.svm.NuSVR`: parameters and fitted attributes have the same names and conventions, and all
    attributes of `SVR` are there too.

    Parameters
    ----------
    nu : float, default=0.5
        Above 0, at most 1. Where ν exceeds the share of support vectors at ε = 0, the fit ends with ε = 0.
    C : float, default=1.0
        Bound on the multipliers, finite.
    kernel, degree, gamma, coef0, shrinking : as in `SVR`, default="rbf", 3, "scale", 0.0, True
    tol : float, default=1e-3
        Relative duality gap of the ν-problem; the fit aims at half of it, as in `SVR`.
    cache_size, verbose : as in `SVR`, default="auto", False
    max_iter : int, default=-1
        At most so many values of ε, and so many epochs for each; -1 is 100,000.
    fit_intercept : as in `SVR`, default=True
    solver : {"auto", "adatron", "adatron-secant", "multiplicative"} or Solver, default="auto"
    learning_rate, rank, time_limit, warm_start : as in `SVR`, default="auto", None, None, False
    random_state, n_jobs : as in `SVR`, default=None, None

    Attributes
    ----------
    epsilon_ : float
        The ε with which `SVR` gives the same model.
    n_iter_ : int
        Number of values of ε that were tried.
    duality_gap_ : float
        Relative duality gap of the ν-problem, ``½‖w‖² + C (ε ν W + Σ w_i max(0, |t_i − f_i − b| − ε))``,
        where w_i are the weights of the rows and W is their sum.

    References
    ----------
    B. Schölkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett, *New Support Vector Algorithms*, Neural
    Computation 12, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron import NuSVR
    >>> X = np.linspace(0.0, 6.0, 50).reshape(-1, 1)
    >>> y = np.sin(X).ravel() + 0.3 * np.random.default_rng(0).normal(size=50)
    >>> model = NuSVR(nu=0.3, C=10.0).fit(X, y)
    >>> outside = np.abs(y - model.predict(X)) > model.epsilon_ + 1e-9
    >>> bool(outside.mean() <= 0.3 <= len(model.support_) / 50)
    True
    """

    def __init__(
        self, nu=0.5, C=1.0, kernel="rbf", *, degree=3, gamma="scale", coef0=0.0, shrinking=True, tol=1e-3,
        cache_size="auto", verbose=False, max_iter=-1, fit_intercept=True, solver="auto",
        learning_rate="auto", rank=None, time_limit=None, warm_start=False, random_state=None, n_jobs=None,
    ):  # fmt: skip
        self._set_parameters(locals())

    def _check_parameters(self) -> None:
        check_nu(self.nu)
        check_number("C", self.C)
        SupportVectorMachine._check_parameters(self)

    def _problems(self, gram: Gram, data: TrainingSet, layout: Any) -> list[Any]:
        upper, targets = self._bounds(gram, data), data.targets - self._centre(data)
        return [nu_regression(gram, targets, upper, float(self.nu), bias=bool(self.fit_intercept))]

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        return super()._attributes(plan, solutions) | {"epsilon_": 0.0 - solutions[0].level}
