"""`SVC`: support vector classification, a drop-in for `sklearn.svm.SVC`; hard margins that cannot exist."""

from typing import Any

import numpy as np

from adatron.estimators.base import FitPlan
from adatron.estimators.classifier import ExpansionClassifier, Layout
from adatron.estimators.machine import SupportVectorMachine, bounds_from
from adatron.estimators.parameters import check_choice, check_number, is_precomputed
from adatron.estimators.probabilities import CalibratedMixin, calibrated
from adatron.estimators.reduction import ReducibleMixin
from adatron.estimators.training_set import TrainingSet, classification_set
from adatron.exceptions import InfeasibleError
from adatron.gram import Gram
from adatron.problems import classification
from adatron.solvers import crammer_singer
from adatron.training import DualSolution, Status


class SVC(ReducibleMixin, CalibratedMixin, ExpansionClassifier, SupportVectorMachine):
    """Support vector classification with a certificate.

    A drop-in for `sklearn.svm.SVC`: parameters and fitted attributes have the same names and conventions.

    Parameters
    ----------
    C : float, default=1.0
        Bound on the multipliers; ``float("inf")`` is a hard margin.
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}, Kernel or callable, \
default="rbf"
        With "precomputed", X in `fit` is the square kernel matrix of the rows.
    degree : int, default=3
    gamma : {"scale", "auto", "mean"} or float, default="scale"
        "scale" is ``1 / (n_features * variance of X)``, the variance weighted like the rows; "auto" is
        ``1 / n_features``, and "mean" as in `EnsembleSVC`.
    coef0 : float, default=0.0
    shrinking : bool, default=True
        Accepted for compatibility.
    probability : bool, default=False
        Enables `predict_proba`, calibrated on the held-out decision values of five folds. The most probable
        class is the predicted one.
    tol : float, default=1e-3
        Relative duality gap at which the fit ends. Up to 1,000 rows, and for a `tol` below 1e-4, the
        optimum is then looked for exactly.
    cache_size : float or "auto", default="auto"
        Memory for kernel values in MB; "auto" is half of what is free, at most 3 GB.
    class_weight : dict or "balanced", default=None
    verbose : bool or int, default=False
    max_iter : int, default=-1
        Epochs at most; -1 is 100,000. With "multiplicative", "m3" and "munk" and no `time_limit`, -1 also
        ends a fit that would need more at the rate it has reached after 3,000.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
    break_ties : bool, default=False
    random_state : int, RandomState instance or None, default=None
        Used for the landmarks of `rank` and the folds of ``probability=True``.
    fit_intercept : bool, default=True
        Whether a bias is fitted; with "crammer_singer" a constant 1 added to the kernel, so that the bias of
        each class is shrunk towards 0 like the weights.
    solver : {"auto", "adatron", "adatron-secant", "multiplicative", "m3", "munk", "rho"} or Solver, \
default="auto"
        "auto" is the fast path, Kernel-Adatron on working sets, whose epochs are rounds; above 2,000 rows
        it uses float32 kernel values while the gap allows. "adatron" is Kernel-Adatron as published
        ("adatron-secant" searches the bias as its paper does); "multiplicative" updates all
        multipliers at once; "m3" and "munk" (kernels K >= 0) do so without a rate, and without a bias;
        "rho" is the ρ-SVM with an adaptive rate: hard margin, no bias.
    learning_rate : "auto" or float, default="auto"
        The rate η of "adatron" ("auto": 1/K_ii for each point) or "multiplicative" ("auto": halved as
        often as need be).
    multi_class : {"ovo", "ovr", "crammer_singer"}, default="ovo"
        How more than two classes are trained: a problem for each pair, one for each class against the
        rest, or one problem for all classes, Crammer & Singer's: ``½ Σ_c |w_c|²`` plus, for each row, C times
        the largest ``1 + f_c − f_y`` over the classes c other than its own class y, or 0. It has its own
        solver, and C means what it means to ``LinearSVC(multi_class="crammer_singer")``.
    rank : int or float, default=None
        Train on a low-rank approximation of the kernel: an integer is the number of Nyström landmarks, a
        number below 1 the relative trace error at which pivoted incomplete Cholesky stops. The
        certificate is then one for the approximated kernel, whose error is `kernel_error_`; decisions
        come from the landmarks, not from `dual_coef_` and `support_vectors_`. Above 100,000 rows the factor
        of landmarks is float32, and X is read block by block and not copied.
    time_limit : float, default=None
        Seconds after which the fit ends with the best it has.
    warm_start : bool, default=False
        Start from the multipliers of the previous fit, if that had as many rows and classes.
    n_jobs : int, default=None
        Threads over which one-vs-one problems are spread. Kernel values are always evaluated on as many
        threads as BLAS may use (``OPENBLAS_NUM_THREADS``, `threadpoolctl`).
    exact_certificate : bool, default=False
        Whether the gap is computed with float64 kernel values also above 5,000 rows, where a fit by float32
        ones otherwise estimates it. It costs about as much time as the predictions for all rows.

    Attributes
    ----------
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_support_, n_iter_, shape_fit_ : ndarray
    coef_, class_weight_ : ndarray
        Weights of the features, for a linear kernel; weights of the classes.
    duality_gap_ : float
        Relative duality gap, the worst over all problems, recomputed apart from the solver. It says nothing
        for a kernel that is not positive semi-definite (``status_`` is then "indefinite_kernel").
    gap_is_exact_ : bool
        Whether that gap was computed with float64 values of the kernel itself. If not, it is an estimate:
        float32 values of more than 5,000 rows (`tol` of 1e-4 or more, without `exact_certificate`) were
        compared with float64 on 1 % of the rows, or `rank` approximates the kernel.
    status_, converged_, fit_status_ : Status, bool, int
        Why the fit ended; ``status_.sentence`` says it in words. `fit_status_` is 0 if it converged.
    kernel_error_ : float
        Relative trace error of the approximated kernel, with `rank`.
    finished_exactly_ : bool
        Whether the exact finish gave the model; `history_` ends before it.
    bias_interval_ : ndarray of shape (n_problems, 2)
        All biases that are equally good; `intercept_` is the middle.
    history_ : dict of lists
        ``problem, epoch, seconds, objective, margin, bias, violation`` of every epoch kept.

    References
    ----------
    C. Campbell, N. Cristianini, *Simple Learning Algorithms for Training Support Vector Machines*, 1998
    ("adatron"). N. Cristianini, C. Campbell, J. Shawe-Taylor, ESANN 1999 ("multiplicative"). V. K. Potluru
    et al., 2009 ("m3", "munk"). I. W. Tsang, J. T. Kwok, IJCAI 2007 ("rho"). K. Crammer, Y. Singer, 2001.
    J. C. Platt, *Probabilistic Outputs for Support Vector Machines*, MIT Press 1999 (``probability=True``).
    S. Fine, K. Scheinberg, *Efficient SVM Training Using Low-Rank Kernel Representations*, JMLR 2, 2001.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.datasets import load_sonar
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> model = SVC(C=10.0).fit(X_train, y_train)
    >>> model.converged_, bool(model.score(X_test, y_test) > 0.8)
    (True, True)
    """

    _training_set = classification_set

    @property
    def _is_hard(self) -> bool:
        return bool(np.isinf(self.C))

    def __init__(
        self, C=1.0, kernel="rbf", *, degree=3, gamma="scale", coef0=0.0, shrinking=True, probability=False,
        tol=1e-3, cache_size="auto", class_weight=None, verbose=False, max_iter=-1,
        decision_function_shape="ovr", break_ties=False, random_state=None, fit_intercept=True, solver="auto",
        learning_rate="auto", multi_class="ovo", rank=None, time_limit=None, warm_start=False, n_jobs=None,
        exact_certificate=False,
    ):  # fmt: skip
        self._set_parameters(locals())

    def _check_parameters(self) -> None:
        check_number("C", self.C, "a number > 0 (inf for a hard margin)", lambda C: C > 0.0)
        check_choice("multi_class", self.multi_class, ["ovo", "ovr", "crammer_singer"])
        check_choice("decision_function_shape", self.decision_function_shape, ["ovr", "ovo"])
        super()._check_parameters()
        if self.multi_class == "crammer_singer":
            for name, usual, reason in (
                ("solver", "auto", "has its own solver"),
                ("learning_rate", "auto", "has no rate"),
                ("rank", None, "trains on the kernel itself"),
                ("decision_function_shape", "ovr", "has no pairs of classes"),
            ):
                value = getattr(self, name)
                if not isinstance(value, type(usual)) or value != usual:
                    raise ValueError(
                        f"multi_class='crammer_singer' {reason}, got {name}={value!r}; set {name}={usual!r}, "
                        "or use multi_class='ovo' or 'ovr'"
                    )

    def _problems(self, gram: Gram, data: TrainingSet, layout: Layout) -> list[Any]:
        upper = bounds_from(self.C, data.weights)
        if layout.is_direct:
            problems: list[Any] = [crammer_singer(gram, data.codes, layout.n_classes, upper)]
        else:
            problems = [
                classification(part, signs, upper[rows], bias=self.fit_intercept)
                for part, rows, signs in layout.parts(gram, data.codes)
            ]
        if np.isinf(problems[0].upper).any() and not is_precomputed(self.kernel):
            check_coincident(data)
        return problems

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        layout, data = plan.layout, plan.data
        if any(solution.status is Status.NOT_SEPARABLE for solution in solutions):
            raise _not_separable(solutions, plan)
        coefficients = layout.coefficients(data.codes, [solution.alpha for solution in solutions])
        attributes = self._expanded(plan, solutions, coefficients)
        attributes["class_weight_"] = data.class_weight
        # what no entry of dual_coef_ exceeds: two classes trained directly subtract theirs
        largest = max(float(run.problem.upper.max()) for run in plan.runs)
        attributes["_bound"] = 2.0 * largest if layout.is_direct and layout.is_binary else largest
        if layout.is_direct:  # a bias that is shrunk is the only one that is best
            attributes["bias_interval_"] = np.repeat(attributes["intercept_"][:, None], 2, axis=1)
        return attributes

    def _after_fit(self, plan: FitPlan) -> None:
        if len(self.support_) == 0 and self.converged_:
            raise ValueError(f"the fit has no support vectors: C is too small, or tol={self.tol!r} too loose")
        if self.probability:
            self._probabilities = calibrated(plan, 0 if self.random_state is None else self.random_state)


def check_coincident(data: TrainingSet) -> None:
    """Refuse equal rows of different classes: no kernel separates them."""
    if pair := data.conflict(data.codes):
        first, second = sorted(pair)
        labels = " and ".join(map(repr, data.classes[data.codes[[first, second]]].tolist()))
        raise InfeasibleError(
            f"the classes are not separable with any kernel: rows {data.rows[first]} and {data.rows[second]} "
            f"of X coincide but are labelled {labels}; set C < inf"
        )


def _not_separable(solutions: list[DualSolution], plan: FitPlan) -> InfeasibleError:
    """What to raise for a hard margin that cannot exist; it names rows that coincide in feature space."""
    number = next(i for i, solution in enumerate(solutions) if solution.status is Status.NOT_SEPARABLE)
    run = next(r for r in plan.runs if r.first <= number < r.first + r.problem.n_columns)
    problem, data = run.problem, plan.data
    heavy = np.argsort(-np.abs(problem.diagonal), kind="stable")[:1_000]
    sizes = np.add.outer(problem.diagonal[heavy], problem.diagonal[heavy])
    distances = (sizes - 2.0 * problem.gram.block(heavy, heavy)) / sizes  # squared, relative
    signs = problem.y[heavy, number - run.first]
    distances[np.equal.outer(signs, signs)] = np.inf
    nearest = np.unravel_index(int(distances.argmin()), distances.shape)
    blame = ""
    if distances[nearest] <= 1e-12:
        rows = data.rows
        if plan.layout.is_pairwise:
            rows = rows[plan.layout.pair_rows(data.codes)[number][0]]
        first, second = sorted(rows[heavy[list(nearest)]].tolist())
        blame = f"; rows {first} and {second} of X coincide"
    return InfeasibleError(
        f"the classes {data.classes.tolist()!r} are not separable with this kernel (problem {number}): after "
        f"{solutions[number].n_iter} epochs the margin must be below "
        f"{solutions[number].margin_interval[1]:.3g}{blame}; set C < inf "
        "or choose a richer kernel (where C * sample_weight * max k(x, x) >= 1e100, a bound is as good as "
        "infinite: lower C or the weights, or scale X)"
    )
