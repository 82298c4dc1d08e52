"""`AutoSVC`: a tuned kernel classifier without C and σ."""

from __future__ import annotations

import warnings
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.utils.validation import check_is_fitted

from adatron.auto.auto_path import path_of
from adatron.auto.auto_search import FEW, LARGE, MOST, OUT_OF_TIME, SAMPLES, AutoSearch
from adatron.auto.folds import Folds, check_search, drawn_folds, given_folds, is_number_of_folds
from adatron.auto.metrics import best_threshold, label_metric
from adatron.auto.rows import (
    Rows,
    at_most,
    fetched,
    in_memory_if_few,
    prepared_rows,
    sample_of,
    some_of,
)
from adatron.auto.scoring import criterion_of_metric, criterion_of_scorer
from adatron.estimators.base import forget_fit, unfitted_on_error
from adatron.estimators.callback_bridge import FitTasks
from adatron.estimators.dask_input import is_dask, on_client
from adatron.estimators.dask_predict import lazy_on_dask
from adatron.estimators.expansion import ExpansionClassifier, coef_beside, dense_coef
from adatron.estimators.inputs import check_predict_X
from adatron.estimators.merging import row_sums
from adatron.estimators.multiclass import Layout
from adatron.estimators.parameters import as_random_state
from adatron.estimators.probabilities import ClassProbabilities
from adatron.estimators.scaling import divided_by, divided_in_blocks
from adatron.estimators.training_data import TrainingData, classification_data
from adatron.exceptions import AdatronWarning
from adatron.kernels import Gaussian
from adatron.training import Status

__all__ = ["AutoSVC"]

_RARE = 0.1  # part of the entries of sparse rows that are not 0


def _has_rare_features(X: Any) -> bool:
    return sparse.issparse(X) and X.nnz < _RARE * X.shape[0] * X.shape[1]


class AutoSVC(ExpansionClassifier):
    """A tuned Gaussian-kernel classifier: no C and no σ to choose.

    Features are divided by their standard deviations, those with two values by half the distance of these.
    Sparse rows that are nine tenths zeros, with features of unequal scales, as text has them, are also tried
    as they are, and the better of both is taken. The kernel's width and the number of training steps, which
    takes the place of C, are chosen together by cross-validation: the folds are trained side by side as
    columns of one kernel matrix, and every step of theirs is a candidate. With 1,000 (such text: 100) to
    12,000 rows the soft-margin SVM that is trained to its optimum is tried, too, for some C and widths
    around, and taken if it predicts held-out rows clearly better. Only the training data is looked at; the
    same seed gives the same model whatever `n_jobs`, and whatever the order of the rows (above 50,000 up to
    rounding; unless `cv` is a splitter).

    Up to 3,000 rows everything is done on all of them; above, the width is first looked for on a sample,
    and with many classes not all folds are used; above 12,000 rows the kernel is replaced by a low-rank
    approximation. Above 50,000 rows the width is looked for on 50,000 of them, and all are trained once:
    time and memory grow in proportion to the rows. Of more than 500,000 rows on one machine as many are
    drawn: the rank of the approximation limits the error then, and fewer rows leave memory for a higher one.
    Above 100,000 rows X is read block by block and not
    copied if it is float32 or float64 in C order, also when it is a `numpy.memmap`; what does not fit into
    memory is kept in a temporary file. More than two classes are one-vs-rest.

    Parameters
    ----------
    cv : int, cross-validation generator or iterable, default=5
        As in `sklearn.model_selection.GridSearchCV`.
    scoring : str or callable, default=None
        As in `GridSearchCV`; by default the error, with a soft step so that few rows tell more. Accuracy,
        balanced accuracy, F1, AUC and log loss are computed here and are quick; other scorers are called for
        every candidate. For balanced accuracy and F1 of two classes the threshold of `predict` is chosen as
        well.
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
        Held-out accuracy of the choice, or its score by `scoring`.
    best_threshold_ : float
        `predict` gives the second of two classes where the decision is above it; 0 unless `scoring` moves it.
    n_iter_ : float
        The stage: epochs of the final training.
    support_, support_vectors_, dual_coef_, intercept_, n_support_ : ndarray
        As in `SVC`, one-vs-rest for more than two classes.
    is_exact_ : bool
        Whether the model is the (1-norm) soft-margin SVM with `C_`, and not a training that stops early.
    C_, duality_gap_ : float
        The model is closest to the 2-norm soft-margin SVM with this C, unless it is exact, and its relative
        duality gap there; the largest gap over the classes.
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
        self,
        *,
        cv=5,
        scoring=None,
        class_weight=None,
        time_limit=None,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
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
                candidates = self._candidates(X, y, sample_weight, groups)
                tasks = FitTasks(self, X, y, sample_weight, None)
            state = as_random_state(0 if self.random_state is None else self.random_state)

            def after_width(search: AutoSearch) -> bool:
                self._say(search)
                return tasks.round_ended(lambda: self._attributes_of(search))

            criterion = self._criterion(candidates[0][0].data.classes)
            search = AutoSearch(candidates, criterion, self.time_limit, state, after_width, began)
            try:
                tasks.prepared(search.levels)
                search.run()
            except KeyboardInterrupt:
                tasks.interrupted()
                search.is_stopped = True
                if search.can_train:
                    self.__dict__.update(self._attributes_of(search))
                else:
                    forget_fit(self)
                raise
            self.__dict__.update(self._attributes_of(search))
            tasks.ended(lambda: self._attributes_of(search))
        self._warn(search)
        return self

    def _candidates(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> list[tuple[Rows, list[Rows]]]:
        """All rows, and samples of them if they are more than a few; for each scaling that is tried.

        Rows that are mostly zeros, such as those of text, are tried as they are, too: divided by their
        deviations, the rarest words would count most.
        """
        data = classification_data(self, X, y, sample_weight).with_moderate_weights()
        data = in_memory_if_few(data)
        Layout(len(data.classes), "ovr").check_size(len(data.codes))
        state = as_random_state(0 if self.random_state is None else self.random_state)
        data, folds, order = at_most(MOST, *self._folds(data, X, y, groups, state), state)
        merge = self.scoring is None  # scorers know no weights
        scaled = [prepared_rows(data, folds, merge)]
        if _has_rare_features(data.X) and np.ptp(scaled[0].scales) > 0.0:
            scaled.insert(0, prepared_rows(data, folds, merge, divide=False))
        if len(scaled[0].task.codes) <= FEW:
            return [(rows, []) for rows in scaled]
        sizes = SAMPLES if len(data.codes) > LARGE else SAMPLES[:1]
        drawn = [order[sample_of(data.codes[order], state, size)] for size in sizes]
        return [
            (
                rows,
                [
                    prepared_rows(
                        fetched(data, places), folds.of_rows(places, folds.n_folds), merge, scaling=rows
                    )
                    for places in drawn
                ],
            )
            for rows in scaled
        ]

    def _folds(
        self, data: TrainingData, X: Any, y: Any, groups: Any, state: np.random.RandomState
    ) -> tuple[TrainingData, Folds, np.ndarray]:
        """The rows in an order that does not depend on the one they came in, their folds, and the order.

        Many rows stay in their own order, so that they are not copied; only what is drawn depends on the
        other one.
        """
        order = np.lexsort((data.weights, row_sums(data.X), data.codes))
        is_large = len(order) > LARGE
        ordered = some_of(replace(data, X=np.empty((len(order), 0))) if is_large else data, order)
        if is_number_of_folds(self.cv) and groups is None:
            folds = drawn_folds(ordered, 5 if self.cv is None else int(self.cv), state)
        else:
            if is_dask(X):  # a splitter needs no more than the number of rows and the classes
                X, y = np.empty((data.shape[0], 0)), on_client(y)
            folds = given_folds(data, self.cv, X, y, groups)
            folds = folds.of_rows(order, folds.n_folds)
        if not is_large:
            return ordered, folds, np.arange(len(order))
        return data, folds.of_rows(np.argsort(order), folds.n_folds), order

    def _criterion(self, classes: np.ndarray) -> Any:
        if self.scoring is None:
            return lambda task: task.errors
        if (metric := label_metric(self.scoring, classes)) is not None:
            return lambda task: criterion_of_metric(metric, task)
        scorer = check_scoring(self, self.scoring)
        return lambda task: criterion_of_scorer(scorer, task, classes)

    def _threshold(self, classes: np.ndarray, decisions: np.ndarray, codes: np.ndarray) -> float:
        """The decision above which the second of two classes is predicted, by held-out decisions."""
        metric = label_metric(self.scoring, classes)
        if len(classes) > 2 or metric is None or not metric.moves_threshold:
            return 0.0
        return best_threshold(metric, codes, decisions)

    def _attributes_of(self, search: AutoSearch) -> dict[str, Any]:
        found = search.best_so_far()
        data, choice = found.trained.data, found.choice
        order = np.argsort(data.codes[found.rows], kind="stable")
        places = found.rows[order]
        vectors = data.X[places].astype(np.float64, copy=False)
        held = found.trained.task.held
        status = Status.STOPPED if search.is_stopped else Status.CONVERGED
        status = Status.TIME_LIMIT if search.shortfall else status
        return {
            "classes_": data.classes,
            "shape_fit_": data.shape,
            "gamma_": choice.gamma,
            "feature_scale_": found.trained.scales,
            "path_": path_of(search),
            "best_score_": 1.0 - choice.error,
            "n_iter_": choice.stage,
            "support_": data.rows[places].astype(np.int32),
            "support_vectors_": vectors,
            "n_support_": np.bincount(data.codes[places], minlength=len(data.classes)).astype(np.int32),
            "dual_coef_": coef_beside(vectors, np.ascontiguousarray(found.coefficients[order].T)),
            "intercept_": found.intercept,
            "C_": found.penalty[0] * data.weight_scale,
            "duality_gap_": found.penalty[1],
            "is_exact_": found.is_exact,
            "status_": status,
            "converged_": status is Status.CONVERGED,
            "best_threshold_": self._threshold(data.classes, found.held_decisions, held.codes),
            "_layout": Layout(len(data.classes), "ovr"),
            "_kernel": Gaussian(choice.gamma),
            "_landmark_coef": None,
            "_precision": np.float32 if data.shape[0] > FEW else np.float64,
            "_probabilities": ClassProbabilities.from_held_out(
                found.held_decisions, held.codes, held.weights
            ),
        }

    def _decisions(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = divided_in_blocks(check_predict_X(self, X), self.feature_scale_)
        vectors = divided_by(self.support_vectors_, self.feature_scale_)
        return self._expand(X, vectors, dense_coef(self).T) + self.intercept_

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
        decisions = self._decisions(X)
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
            level, exact = search.searches[-1], search.exact
            what, best = f"{len(level.curves)} widths", level.best
            if exact is not None:
                what, best = f"{len(exact.trials)} exact SVMs", exact.best.criterion
            print(f"[adatron] {what} tried, best held-out criterion {best:.4g}")

    def _warn(self, search: AutoSearch) -> None:
        failed = [
            c for s in search.searches for c in s.curves.values() if c.reason and c.reason != OUT_OF_TIME
        ]
        if failed:
            reasons = "; ".join(f"gamma={c.gamma:.3g}: {c.reason}" for c in failed)
            warnings.warn(f"some kernel widths could not be judged: {reasons}", AdatronWarning, stacklevel=3)
        if search.shortfall:
            warnings.warn(
                f"AutoSVC took the best model it could find within time_limit={self.time_limit:g} s: "
                f"{search.shortfall}. Raise time_limit.",
                ConvergenceWarning,
                stacklevel=3,
            )
