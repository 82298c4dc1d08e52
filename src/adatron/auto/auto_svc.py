"""`AutoSVC`: a tuned kernel classifier without C and σ."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from adatron.auto.scoring import best_threshold, criterion_of_score, label_metric, score_by_scorer
from adatron.auto.search import OUT_OF_TIME, AutoSearch
from adatron.auto.search_data import SearchData, prepared_data, sample_of
from adatron.auto.stages import Score
from adatron.estimators.base import forget_fit, unfitted_on_error
from adatron.estimators.callback_bridge import FitTasks
from adatron.estimators.classifier import ExpansionClassifier
from adatron.estimators.dask import lazy_on_dask
from adatron.estimators.expansion import Expansion, coef_beside, dense_coef
from adatron.estimators.folds import Folds, check_search, is_number_of_folds, stratified_numbers
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.multiclass import Layout
from adatron.estimators.parameters import as_random_state
from adatron.estimators.probabilities import ClassProbabilities
from adatron.estimators.scaling import divided_by, divided_in_blocks
from adatron.estimators.training_set import TrainingSet, classification_set, row_sums
from adatron.exceptions import AdatronWarning
from adatron.gram import fetched_if, is_dask, on_client
from adatron.kernels import Gaussian
from adatron.training import Status

__all__ = ["AutoSVC"]

_MOSTLY_ZEROS = 0.1  # part of the entries of sparse rows that are not 0, at most


class AutoSVC(ExpansionClassifier):
    """A tuned Gaussian-kernel classifier: no C and no σ to choose.

    Each feature is divided by its standard deviation; one with only two values, by half their distance. The
    kernel's width and the number of training steps, which takes the place of C, are chosen together by
    cross-validation: the folds are trained side by side as columns of one kernel matrix, and every step is
    a candidate. With 1,000 to 12,000 rows, the soft-margin SVM trained to its optimum is tried as well, for
    some values of C and neighbouring widths, and taken if it predicts held-out rows clearly better. More
    than two classes are trained one-vs-rest. Sparse rows with at least nine tenths zeros, such as text, are
    also tried unscaled if their features have unequal scales, and the exact SVM then from 100 rows on.

    The same seed gives the same model, whatever `n_jobs` and the order of the rows (above 50,000 rows: up to
    rounding; not if `cv` is a splitter). Up to 3,000 rows, the search uses all of them. Above, it first looks
    for the width on a sample, and with many classes it does not use all folds. Above 12,000 rows, a low-rank
    approximation replaces the kernel. Above 50,000 rows, the width is chosen on a sample of 50,000 and all
    rows are trained once, so that time and memory grow in proportion to the rows. Above 500,000 rows, AutoSVC
    trains on a random sample of 500,000 (not with Dask): the rank then limits the accuracy, and fewer rows
    leave memory for a higher one. Above 100,000 rows, X is read block by block and not copied if it is
    float32 or float64 in C order, also as a `numpy.memmap`; what does not fit into memory is kept in a
    temporary file.

    Parameters
    ----------
    cv : int, cross-validation generator or iterable, default=5
        As in `sklearn.model_selection.GridSearchCV`.
    scoring : str or callable, default=None
        As in `GridSearchCV`. By default the error, smoothed so that few rows suffice to compare models.
        Accuracy, balanced accuracy, F1, AUC and log loss are quick; other scorers are called for every
        candidate. For balanced accuracy and F1 of two classes the threshold of `predict` is chosen as well.
    class_weight : dict or "balanced", default=None
        As in `SVC`; errors on held-out rows are weighted in the same way, unless `scoring` is given.
    time_limit : float, default=None
        Seconds; the best model found by then is kept.
    random_state : int, RandomState instance or None, default=None
        Draws the folds and samples; None is a fixed seed.
    n_jobs : int, default=None
        Accepted; the folds are trained together, on the threads that BLAS may use.
    verbose : bool or int, default=False

    Attributes
    ----------
    classes_ : ndarray
    gamma_ : float
        The kernel is ``exp(−γ|x − z|²)`` of features divided by `feature_scale_`.
    feature_scale_ : ndarray of shape (n_features,)
    path_ : KernelPath
        What was tried: width, error, stage, seconds.
    best_score_ : float
        Held-out accuracy of the chosen model, or its score by `scoring`.
    best_threshold_ : float
        `predict` gives the second of two classes where the decision is above it; 0 unless `scoring` moves it.
    n_iter_ : float
        The stage: epochs of the final training.
    support_, support_vectors_, dual_coef_, intercept_, n_support_ : ndarray
        As in `SVC`, one-vs-rest for more than two classes.
    is_exact_ : bool
        Whether the model is the (1-norm) soft-margin SVM with `C_`; otherwise its training stopped early.
    C_, duality_gap_ : float
        C of the exact SVM, otherwise of the 2-norm soft-margin SVM that is closest to the model; the
        model's relative duality gap for that SVM, the largest over the classes.
    status_, converged_ : Status, bool
        Whether the search ended by itself.

    References
    ----------
    I. W. Tsang, J. T. Kwok, *Ensembles of Partially Trained SVMs with Multiplicative Updates*, IJCAI 2007
    (stages of one training in the place of C).

    E. Polak, G. Ribière, *Note sur la convergence de méthodes de directions conjuguées*, Revue française
    d'informatique et de recherche opérationnelle 3, 1969 (the training steps).

    J. C. Platt, *Probabilistic Outputs for Support Vector Machines and Comparisons to Regularized Likelihood
    Methods*, Advances in Large Margin Classifiers, MIT Press 1999 (the calibration of probabilities).

    Examples
    --------
    >>> from adatron import AutoSVC
    >>> from adatron.datasets import load_sonar
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> model = AutoSVC().fit(X_train, y_train)
    >>> bool(model.score(X_test, y_test) > 0.85)
    True
    """

    kernel = "rbf"  # the only one; not a parameter
    _scales_features = True
    _reads_blocks = True
    _accepts_dask = True

    def __init__(
        self, *, cv=5, scoring=None, class_weight=None, time_limit=None, random_state=None, n_jobs=None,
        verbose=False,
    ):  # fmt: skip
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> AutoSVC:
        """Choose the kernel's width and the stage, and train.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            Rows of one group are never on both sides of a split; for a `cv` that is a number, the folds are
            those of `sklearn.model_selection.StratifiedGroupKFold`.

        Returns
        -------
        AutoSVC
        """
        with unfitted_on_error(self):
            check_search(self)
            began = monotonic()
            with unfitted_on_error(self, BaseException):  # Ctrl-C before the search: nothing to keep yet
                scalings = self._scalings(X, y, sample_weight, groups)
                tasks = FitTasks(self, X, y, sample_weight, None)
            state = as_random_state(0 if self.random_state is None else self.random_state)

            def after_width(search: AutoSearch) -> bool:
                self._say(search)
                return tasks.round_ended(lambda: self._attributes_of(search))

            criterion = self._criterion(scalings[0][0].training_set.classes)
            search = AutoSearch(scalings, criterion, self.time_limit, state, after_width, began, self._regime)
            try:
                tasks.prepared(search.levels)
                search.run()
            except KeyboardInterrupt:
                tasks.interrupted()
                search.is_stopped = True
                if search.levels.have_judged:
                    self.__dict__.update(self._attributes_of(search))
                else:
                    forget_fit(self)
                raise
            self.__dict__.update(self._attributes_of(search))
            tasks.ended(lambda: self._attributes_of(search))
        self._warn(search)
        return self

    def _scalings(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> list[tuple[SearchData, list[SearchData]]]:
        """All rows, and samples of them if they are more than a few; for each scaling that is tried."""
        regime = self._regime
        data = classification_set(self, X, y, sample_weight).with_moderate_weights()
        data = replace(data, X=fetched_if(data.m <= regime.many, data.X))
        Layout(len(data.classes), "ovr").check_size(data.m)
        state = as_random_state(0 if self.random_state is None else self.random_state)
        data, folds, order = self._folds(data, X, y, groups, state)
        if data.m > regime.most and not is_dask(X):  # a cluster has room for all
            kept = np.sort(order[sample_of(data.codes[order], state, regime.most)])
            order = np.searchsorted(kept, order[np.isin(order, kept)])
            data, folds = data.some(kept), folds.some(kept)
        merge = self.scoring is None  # scorers know no weights
        scaled = [prepared_data(data, folds, merge, regime=regime)]
        is_text = sparse.issparse(data.X) and data.X.nnz < _MOSTLY_ZEROS * data.X.shape[0] * data.X.shape[1]
        if is_text and np.ptp(scaled[0].scales) > 0.0:
            # also as they are: divided by their deviations, the rarest words would count most
            scaled.insert(0, prepared_data(data, folds, merge, divide=False, regime=regime))
        samples = []
        if scaled[0].m > regime.few:
            for size in regime.samples if data.m > regime.large else regime.samples[:1]:
                places = order[sample_of(data.codes[order], state, size)]
                samples.append((data.some(places, X=data.X[places]), folds.some(places)))
        return [
            (own, [prepared_data(*sample, merge, scaled_as=own, regime=regime) for sample in samples])
            for own in scaled
        ]

    def _folds(
        self, data: TrainingSet, X: Any, y: Any, groups: Any, state: np.random.RandomState
    ) -> tuple[TrainingSet, Folds, np.ndarray]:
        """The rows, their folds, and an order of the rows that does not depend on the one they came in.

        The rows are brought into that order, unless they are too many to be copied.
        """
        order = np.lexsort((data.weights, row_sums(data.X), data.codes))
        codes = data.codes[order]
        if is_number_of_folds(self.cv) and groups is None:
            n_folds = 5 if self.cv is None else int(self.cv)
            numbers = stratified_numbers(codes, n_folds, state)
            folds = Folds.numbered(numbers, n_folds, data.weights[order])
        else:
            if is_dask(X):  # a splitter needs no more than the number of rows and the classes
                X, y = np.empty((data.shape[0], 0)), on_client(y)
            folds = Folds.given(data, self.cv, X, y, groups, of_classes=True).some(order)
        folds.check_classes(codes, data.classes)
        if len(order) > self._regime.large:
            return data, folds.some(np.argsort(order)), order
        return data.some(order), folds, np.arange(len(order))

    def _criterion(self, classes: np.ndarray) -> Callable[[SearchData], Score]:
        if self.scoring is None:
            return lambda data: data.errors
        metric = label_metric(self.scoring, classes)
        if metric is not None:
            return partial(criterion_of_score, metric.of_folds)
        scorer = check_scoring(self, self.scoring)
        return partial(criterion_of_score, partial(score_by_scorer, scorer, classes))

    def _attributes_of(self, search: AutoSearch) -> dict[str, Any]:
        result = search.best_so_far()
        data, held = result.data.training_set, result.data.held
        order = np.argsort(data.codes[result.places], kind="stable")
        places = result.places[order]
        vectors = data.X[places].astype(np.float64, copy=False)
        status = Status.STOPPED if search.is_stopped else Status.CONVERGED
        status = Status.TIME_LIMIT if search.shortfall else status
        metric = label_metric(self.scoring, data.classes)
        threshold = 0.0
        if metric is not None and metric.moves_threshold and len(data.classes) == 2:
            threshold = best_threshold(metric, held.codes, result.held_decisions)
        calibrated = ClassProbabilities.from_held_out(result.held_decisions, held.codes, held.weights)
        return {
            "classes_": data.classes,
            "shape_fit_": data.shape,
            "gamma_": result.candidate.gamma,
            "feature_scale_": result.data.scales,
            "path_": search.path(),
            "best_score_": 1.0 - result.candidate.error,
            "n_iter_": result.candidate.stage,
            "support_": data.rows[places].astype(np.int32),
            "support_vectors_": vectors,
            "n_support_": np.bincount(data.codes[places], minlength=len(data.classes)).astype(np.int32),
            "dual_coef_": coef_beside(vectors, np.ascontiguousarray(result.coefficients[order].T)),
            "intercept_": result.intercept,
            "C_": result.C * data.weight_scale,
            "duality_gap_": result.duality_gap,
            "is_exact_": result.is_exact,
            "status_": status,
            "converged_": status is Status.CONVERGED,
            "best_threshold_": threshold,
            "_layout": Layout(len(data.classes), "ovr"),
            "_kernel": Gaussian(result.candidate.gamma),
            "_landmark_coef": None,
            "_precision": np.float32 if data.shape[0] > self._regime.few else np.float64,
            "_probabilities": calibrated,
        }

    def _decisions(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = divided_in_blocks(check_predict_X(self, X), self.feature_scale_, self._regime)
        vectors = divided_by(self.support_vectors_, self.feature_scale_)
        return Expansion(vectors, dense_coef(self).T, self.intercept_, self._kernel, self._precision)(X)

    def _winners(self, decisions: np.ndarray) -> np.ndarray:
        threshold = getattr(self, "best_threshold_", 0.0)  # models saved by version 0.1 have none
        return self._layout.vote(decisions - threshold)

    @lazy_on_dask
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, calibrated on the held-out decision values of the search.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        decisions = self._decisions(X)  # first: it says so if there was no fit
        return self._probabilities(decisions)

    @lazy_on_dask
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X))

    def _say(self, search: AutoSearch) -> None:
        if self.verbose:
            widths, exact = search.levels.searches[-1], search.exact
            what, best = f"{len(widths.curves)} widths", widths.best
            if exact is not None:
                what, best = f"{len(exact.trials)} exact SVMs", exact.best.criterion
            print(f"[adatron] {what} tried, best held-out criterion {best:.4g}")

    def _warn(self, search: AutoSearch) -> None:
        curves = [curve for widths in search.levels.searches for curve in widths.curves.values()]
        failed = [curve for curve in curves if curve.reason and curve.reason != OUT_OF_TIME]
        if failed:
            reasons = "; ".join(f"gamma={curve.gamma:.3g}: {curve.reason}" for curve in failed)
            warnings.warn(f"some kernel widths could not be judged: {reasons}", AdatronWarning, stacklevel=3)
        if search.shortfall:
            message = f"AutoSVC took the best model it could find within time_limit={self.time_limit:g} s: "
            message += f"{search.shortfall}. Raise time_limit."
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
