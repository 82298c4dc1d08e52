"""`AutoSVC`: a tuned kernel classifier without C and γ."""

from collections.abc import Callable
from typing import Any

import numpy as np

from adatron.auto.base import AutoEstimator
from adatron.auto.exact import Model
from adatron.auto.intervals import SetScores, check_level, likelier
from adatron.auto.rows import SearchRows
from adatron.auto.scoring import Criterion, criterion_of, label_metric
from adatron.auto.search import Search
from adatron.auto.task import Task
from adatron.estimators.classifier import ExpansionClassifier, Layout
from adatron.estimators.dask import lazy_on_dask
from adatron.estimators.folds import Folds
from adatron.estimators.inputs import check_labels
from adatron.estimators.probabilities import CalibratedMixin, ClassProbabilities, agreeing
from adatron.estimators.training_set import TrainingSet, classification_set

_LEAST_OF_CLASS = 20  # rows of every class that a sample has, if there are so many


class AutoSVC(AutoEstimator, CalibratedMixin, ExpansionClassifier):
    """A tuned kernel classifier for tables: no C, no γ and no scaling to choose.

    Three kernels (city-block Laplace, Euclidean Laplace, Gaussian), their widths and penalties are compared
    by cross-validation, then once more with weights of features learned from the data. The model is the
    best least-squares machine, or the mean of two. More than two classes are trained one-vs-rest.

    Data frames may have categories, text, dates and missing values (see `TableEncoder`); missing values of
    arrays are imputed as well. Each feature is centred and divided by its standard deviation (one with only
    two values, by half their distance) and smoothly clipped at five. Sparse rows of more than 1,000 features,
    such as text, are divided by their lengths instead, and the kernels are the linear one and the Gaussian.

    The same seed gives the same model, whatever the order of the rows (up to 12,000; not if `cv` is a
    splitter). The search uses at most 500 rows (1,000 above 4,000; 1,500 from 500 features on); the best
    machines are then trained on all. Above 45,000 rows (above 12,000 where more of them would not help) they
    use up to 1,500 landmarks, and X is read block by block: it may be a `numpy.memmap`, or a Dask collection.

    Parameters
    ----------
    cv, scoring : as in `sklearn.model_selection.GridSearchCV`, default=5, None
        Many folds of few rows, as of leave-one-out, are joined to larger ones. By default the score is the
        error, smoothed so that few rows suffice to compare models. Accuracy, balanced accuracy, F1, AUC
        and log loss are quick; other scorers are called for every candidate. For balanced accuracy and F1
        of two classes the threshold of `predict` is chosen as well.
    class_weight : dict or "balanced", default=None
        As in `SVC`; errors on held-out rows are weighted in the same way, unless `scoring` is given.
    time_limit : seconds, after which the best model found by then is kept, default=None
    random_state : int, RandomState instance or None, default=None
        Draws the folds and samples; None is a fixed seed.
    n_jobs, verbose : int, and bool or int, default=None, False
        `n_jobs` is accepted; the search uses the threads that BLAS may use.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    best_score_ : float
        Accuracy on held-out rows of the model, or its score by `scoring`.
    best_threshold_ : float
        `predict` gives the second of two classes where the decision is above it; 0 unless `scoring` moves it.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the mean squared change of decisions when it alone takes its value from
        another row; they add up to 1. Sparse rows are not measured: all columns in use have equal shares.
    kernels_ : list of Kernel
        Of the machines whose mean the model is, for scaled features.
    gamma_, C_ : float
        Of the best of them.
    path_, cv_results_ : `KernelPath` and dict
        Everything that was tried.
    encoder_ : TableEncoder or None
        What turned a table into numbers.
    support_, n_support_ : ndarray
        Positions of the training rows, and how many there are of each class.
    duality_gap_ : float
        The largest relative duality gap of the machines.
    gap_is_exact_ : bool
        Whether it was computed with float64 values of the kernels themselves; above 1,500 rows it was not.
    n_iter_, status_, converged_ : candidates that were tried, and whether the search ended by itself

    References
    ----------
    J. A. K. Suykens, J. Vandewalle, *Least Squares Support Vector Machine Classifiers*, Neural Processing
    Letters 9, 1999; A. Radhakrishnan et al., *Mechanism for feature learning in neural networks and
    backpropagation-free machine learning models*, Science 383, 2024 (weights of features); J. C. Platt,
    *Probabilistic Outputs for SVMs*, 1999.

    Examples
    --------
    >>> from adatron import AutoSVC
    >>> from adatron.datasets import load_sonar
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> bool(AutoSVC().fit(X_train, y_train).score(X_test, y_test) > 0.85)
    True
    """

    _target_type, _criterion_name, _best_score = "classes", "held-out soft error", 1.0

    def __init__(
        self, *, cv=5, scoring=None, class_weight=None, time_limit=None, random_state=None, n_jobs=None,
        verbose=False,
    ):  # fmt: skip
        self.cv, self.scoring, self.class_weight, self.time_limit = cv, scoring, class_weight, time_limit
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def _checked_target(self, n: int, y: Any) -> np.ndarray:
        classes, codes = check_labels(np.empty((n, 0)), y)
        return classes[codes]

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        data = classification_set(self, X, y, sample_weight)
        Layout(len(data.classes), "ovr").check_size(data.m)
        return data

    def _order_keys(self, data: TrainingSet) -> tuple[np.ndarray, ...]:
        return (data.codes,)

    def _check_folds(self, folds: Folds, data: TrainingSet, order: np.ndarray) -> None:
        folds.check_classes(data.codes[order], data.classes)

    def _targets(self, data: TrainingSet) -> np.ndarray:
        return Layout(len(data.classes), "ovr").signs(data.codes)

    def _criterion(self, data: TrainingSet) -> Callable[[SearchRows], Criterion]:
        return lambda rows: criterion_of(self, rows, data.classes)

    def _sample(self, data: TrainingSet, state: np.random.RandomState, size: int) -> np.ndarray:
        """Places of some rows, a few at least of every class, in their order."""
        codes, order = data.codes, state.permutation(data.m)
        rank_in_class = np.empty(data.m, dtype=int)
        for code in range(len(data.classes)):
            own = order[codes[order] == code]
            rank_in_class[own] = np.arange(len(own))
        needed = rank_in_class < max(2, min(_LEAST_OF_CLASS, size // len(data.classes)))
        others = order[~needed[order]][: max(0, size - int(needed.sum()))]
        return np.sort(np.concatenate([np.flatnonzero(needed), others]))

    def _attributes_of(self, task: Task, search: Search, model: Model) -> dict[str, Any]:
        data, judged = task.data, model.judged
        codes, weights = judged.codes[judged.held], judged.held_weights
        layout, metric = Layout(len(data.classes), "ovr"), label_metric(self.scoring, data.classes)
        threshold = metric.best_threshold(codes, model.decisions) if metric else 0.0
        if self.scoring is None:
            score = float(weights @ (layout.vote(model.decisions) == codes) / weights.sum())
        else:
            score = 1.0 - task.criterion_for(judged)(model.decisions)
        probabilities = ClassProbabilities.from_held_out(model.decisions, codes, weights)
        held_out = agreeing(probabilities(model.decisions), layout.vote(model.decisions))
        missed = likelier(held_out)[np.arange(len(codes)), codes]
        return self._shared_attributes(task, search, model) | {
            "classes_": data.classes, "best_score_": score, "best_threshold_": threshold,
            "support_": data.rows.astype(np.int32),
            "n_support_": np.bincount(data.codes, minlength=len(data.classes)).astype(np.int32),
            "_probabilities": probabilities, "_layout": layout, "_set_scores": SetScores(missed, weights),
        }  # fmt: skip

    @lazy_on_dask
    def predict_set(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """For each row the classes that may be true: few where the model is sure, several where it is not.

        Classes are taken in falling order of probability until those before sum to more than a limit, which
        held-out rows set. If new rows are drawn like the training rows, the true class is in the set with a
        probability of about `coverage`, or more where the likeliest class alone is right more often than
        that. For a model chosen without the held-out rows this would be exact; here they have chosen among
        some dozen machines (which makes sets smaller), and were predicted by machines of fewer rows (which
        makes them larger). It holds on average, not within every class or group of rows.

        Parameters
        ----------
        X : as for `predict`
        coverage : float, default=0.9
            Between 0 and 1. With fewer than ``coverage / (1 - coverage)`` held-out rows every set is full.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
            Columns are as in `classes_`; the likeliest class is always True.

        References
        ----------
        Y. Romano, M. Sesia, E. Candès, *Classification with Valid and Adaptive Coverage*, NeurIPS 2020.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from adatron import AutoSVC
        >>> X, y = load_iris(return_X_y=True)
        >>> AutoSVC().fit(X, y).predict_set(X[[0, 70]], coverage=0.99)
        array([[ True, False, False],
               [False,  True,  True]])
        """
        level = check_level("coverage", coverage)
        return self._set_scores.sets(self.predict_proba(X), level)

    @property
    def _n_columns(self) -> int:
        return len(self.classes_) if len(self.classes_) > 2 else 1

    def _winners(self, decisions: np.ndarray) -> np.ndarray:
        return self._layout.vote(decisions - self.best_threshold_)

    def _calibrated(self, decisions: np.ndarray) -> np.ndarray:
        # where the threshold is moved, predictions may be improbable
        return agreeing(self._probabilities(decisions), self._layout.vote(decisions))

    def _check_fitted(self) -> None:
        super()._check_fitted()
        self._check_classes()
        if self._layout.strategy != "ovr" or type(self._probabilities) is not ClassProbabilities:
            raise ValueError("_probabilities are those of another strategy")
        if type(self._set_scores) is not SetScores:
            raise ValueError("_set_scores are no scores")
