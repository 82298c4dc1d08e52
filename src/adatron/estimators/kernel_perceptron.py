"""`KernelPerceptron`: Rosenblatt's perceptron for any kernel."""

from typing import Any, Self

import numpy as np

from adatron.estimators.base import FitPlan, summary_attributes
from adatron.estimators.callback_bridge import with_callbacks
from adatron.estimators.classifier import ExpansionClassifier, Layout
from adatron.estimators.expansion import expansion_attributes
from adatron.estimators.machine import IterFitMixin
from adatron.estimators.parameters import check_common_parameters, check_max_iter, kernel_from, kernel_matrix
from adatron.estimators.training_set import classification_set
from adatron.problems import classification
from adatron.solvers import Perceptron
from adatron.training import DualSolution, Rule, Run


class KernelPerceptron(IterFitMixin, ExpansionClassifier):
    """Rosenblatt's perceptron, plain or averaged, for any kernel.

    The points are visited in order; a mistake on point i adds it to the expansion. The fit ends after
    an epoch without a mistake; `adatron.bounds.novikoff_bound` limits the number of mistakes. On classes
    that no hyperplane separates `max_iter` ends it, with status MAX_ITER. With a linear kernel of few
    features the weights themselves are updated (primal form). No sample weights.

    Parameters
    ----------
    kernel, degree, gamma, coef0 : as in `SVC`, default="rbf", 3, "scale", 0.0
    averaged : bool, default=False
        Predict with the mean of all hypotheses met on the way, which is steadier on noisy data.
    fit_intercept, rank : as in `SVC`, default=True, None
    max_iter : int, default=1000
        Epochs at most.
    time_limit, cache_size, random_state : as in `SVC`, default=None, "auto", None
    n_jobs : int, default=None
        Accepted; classes are trained together, one-vs-rest.
    verbose : bool or int, default=False

    Attributes
    ----------
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_support_ : ndarray
        As in `SVC`; without averaging the multipliers are numbers of mistakes.
    mistakes_ : ndarray
        Mistakes made in each class problem, over all epochs.
    n_iter_, status_, converged_, history_, gap_is_exact_ : as in `SVC`
    duality_gap_ : float
        Relative gap of the expansion as a hard-margin SVM: how far its margin is from the largest.

    References
    ----------
    CISC 889 Bioinformatics (Spring 2004), lecture 17, *Support Vector Machines I*. F. Rosenblatt, *The
    Perceptron: A Probabilistic Model for Information Storage and Organization in the Brain*, Psychological
    Review 65, 1958. A. B. J. Novikoff, *On convergence proofs on perceptrons*, 1962.

    Examples
    --------
    >>> from adatron import KernelPerceptron
    >>> from adatron.datasets import make_parity
    >>> X, y = make_parity(4)
    >>> model = KernelPerceptron(gamma=0.5).fit(X, y)
    >>> float(model.score(X, y)), model.converged_
    (1.0, True)
    """

    _more_epochs = "if the classes overlap, more epochs never help: use averaged=True, or SVC"

    def __init__(
        self, kernel="rbf", *, degree=3, gamma="scale", coef0=0.0, averaged=False, fit_intercept=True,
        rank=None, max_iter=1000, time_limit=None, cache_size="auto", random_state=None, n_jobs=None,
        verbose=False,
    ):  # fmt: skip
        self._set_parameters(locals())

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Train on `X` and labels `y`.

        Parameters
        ----------
        X, y : as in `SVC.fit`

        Returns
        -------
        Self
        """
        self._fit(X, y, None)
        return self

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        if sample_weight is not None:
            raise ValueError("KernelPerceptron takes no sample_weight; leave it out, or use SVC")
        check_common_parameters(self)
        max_iter = check_max_iter(self.max_iter, 1000)
        data = classification_set(self, X, y, sample_weight)
        layout = Layout(len(data.classes), "ovr").check_size(data.m)
        kernel = kernel_from(self, data.X, data.sample_weight)
        choice, indefinite = kernel_matrix(self, kernel, data.X)
        signs, upper = layout.signs(data.codes), np.full(data.m, np.inf)
        problem = classification(choice.gram, signs, upper, bias=bool(self.fit_intercept))
        rule = Rule(indefinite=indefinite, regime=self._regime)
        run = Run(problem, Perceptron(), rule, max_iter=max_iter)
        return FitPlan(kernel, data, choice.gram, [run], choice.reason, layout, time_limit=self.time_limit)

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        run: Any = plan.runs[0]
        states = [run.column_state(column) for column in range(run.problem.n_columns)]
        models = [Perceptron.averaged(s) if self.averaged else (s.alpha, s.bias) for s in states]
        alpha = np.column_stack([model[0] for model in models])
        bias = np.concatenate([model[1] for model in models])
        signs = plan.layout.signs(plan.data.codes)
        attributes = expansion_attributes(plan, signs * alpha, bias) | summary_attributes(solutions)
        attributes["mistakes_"] = np.array([int(state.mistakes[0]) for state in states])
        return attributes
