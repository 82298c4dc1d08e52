"""`AutoSVC`: a tuned kernel classifier without C and γ."""

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from adatron.auto.base import OUT_OF_TIME, AutoEstimator
from adatron.auto.scoring import label_metric
from adatron.auto.search import AutoSearch
from adatron.auto.search_data import Scalings, divided_by, prepared_data, sample_of
from adatron.estimators import inputs, training_set
from adatron.estimators.classifier import ExpansionClassifier, Layout
from adatron.estimators.expansion import Expansion, coef_beside
from adatron.estimators.folds import Folds
from adatron.estimators.probabilities import CalibratedMixin, ClassProbabilities
from adatron.exceptions import AdatronWarning
from adatron.gram import fetched_if, is_dask
from adatron.kernels import Gaussian
from adatron.training import Status

_MOSTLY_ZEROS = 0.1  # part of the entries of sparse rows that are not 0, at most


class AutoSVC(AutoEstimator, CalibratedMixin, ExpansionClassifier):
    """A tuned Gaussian-kernel classifier: no C, no γ and no scaling to choose.

    Each feature is divided by its standard deviation; one with only two values, by half their distance. The
    kernel's width and the number of training steps, which takes the place of C, are chosen together by
    cross-validation. With 1,000 to 12,000 rows, the soft-margin SVM trained to its optimum is tried as well,
    and taken if it predicts held-out rows clearly better. More than two classes are trained one-vs-rest.
    Sparse rows with nine tenths zeros, such as text, are also tried unscaled, and the SVM from 100 rows on.

    The same seed gives the same model, whatever the order of the rows (above 50,000: up to rounding; not if
    `cv` is a splitter). Above 3,000 rows, the search begins on a sample; above 12,000, a low-rank
    approximation replaces the kernel; above 50,000, the width is chosen on a sample of 50,000 and all rows
    are trained once; above 100,000, X is read block by block and not copied if it is float32 or float64 in C
    order, also as a `numpy.memmap`; above 500,000, a random sample of 500,000 is taken (not with Dask). What
    does not fit into memory is kept in a temporary file.

    Parameters
    ----------
    cv, scoring : as in `sklearn.model_selection.GridSearchCV`, default=5, None
        By default the error, smoothed so that few rows suffice to compare models. Accuracy, balanced
        accuracy, F1, AUC and log loss are quick; other scorers are called for every candidate. For balanced
        accuracy and F1 of two classes the threshold of `predict` is chosen as well.
    class_weight : dict or "balanced", default=None
        As in `SVC`; errors on held-out rows are weighted in the same way, unless `scoring` is given.
    time_limit : seconds, after which the best model found by then is kept, default=None
    random_state : int, RandomState instance or None, default=None
        Draws the folds and samples; None is a fixed seed.
    n_jobs, verbose : int, and bool or int, default=None, False
        `n_jobs` is accepted; the folds are trained together, on the threads that BLAS may use.

    Attributes
    ----------
    gamma_, feature_scale_ : the kernel is ``exp(−γ|x − z|²)`` of features divided by `feature_scale_`
    path_, best_score_ : `KernelPath` of what was tried; held-out accuracy of the model, or score by `scoring`
    best_threshold_ : float
        `predict` gives the second of two classes where the decision is above it; 0 unless `scoring` moves it.
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_support_ : ndarray
        As in `SVC`, one-vs-rest for more than two classes.
    is_exact_ : bool
        Whether the model is the (1-norm) soft-margin SVM with `C_`; otherwise its training stopped early.
    C_, duality_gap_ : float
        C of the exact SVM, otherwise of the 2-norm soft-margin SVM that is closest to the model; the
        model's relative duality gap for that SVM, the largest over the classes.
    n_iter_, status_, converged_ : epochs of the final training, and whether the search ended by itself

    References
    ----------
    I. W. Tsang, J. T. Kwok, *Ensembles of Partially Trained SVMs with Multiplicative Updates*, IJCAI 2007
    (stages of one training in the place of C); E. Polak, G. Ribière, *Note sur la convergence de méthodes de
    directions conjuguées*, 1969 (the steps); J. C. Platt, *Probabilistic Outputs for SVMs*, 1999.

    Examples
    --------
    >>> from adatron import AutoSVC
    >>> from adatron.datasets import load_sonar
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> bool(AutoSVC().fit(X_train, y_train).score(X_test, y_test) > 0.85)
    True
    """

    _reads_blocks = _accepts_dask = True

    def __init__(
        self, *, cv=5, scoring=None, class_weight=None, time_limit=None, random_state=None, n_jobs=None,
        verbose=False,
    ):  # fmt: skip
        self.cv, self.scoring, self.class_weight, self.time_limit = cv, scoring, class_weight, time_limit
        self.random_state, self.n_jobs, self.verbose = random_state, n_jobs, verbose

    def _search(self, X: Any, y: Any, sample_weight: Any, groups: Any, began: float) -> AutoSearch:
        return AutoSearch(self, self._scalings(X, y, sample_weight, groups), began)

    def _scalings(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Scalings:
        """All rows, and samples of them if they are more than a few; for each scaling that is tried."""
        regime, state = self._regime, self._random_state()
        data = training_set.classification_set(self, X, y, sample_weight).with_moderate_weights()
        data = replace(data, X=fetched_if(data.m <= regime.many, data.X))
        Layout(len(data.classes), "ovr").check_size(data.m)
        # an order that does not depend on the one the rows came in
        order = np.lexsort((data.weights, training_set.row_sums(data.X), data.codes))
        folds = Folds.of(self.cv, data, order, (X, y, groups), state)
        folds.check_classes(data.codes[order], data.classes)
        if data.m > regime.large:  # too many to be copied
            folds = folds.some(np.argsort(order))
        else:
            data, order = data.some(order), np.arange(len(order))
        if data.m > regime.most and not is_dask(X):  # a cluster has room for all
            kept = np.sort(order[sample_of(data.codes[order], state, regime.most)])
            order = np.searchsorted(kept, order[np.isin(order, kept)])
            data, folds = data.some(kept), folds.some(kept)
        prepare = partial(prepared_data, merge=self.scoring is None, regime=regime)  # scorers know no weights
        scaled = [prepare(data, folds)]
        is_text = sparse.issparse(data.X) and data.X.nnz < _MOSTLY_ZEROS * data.X.shape[0] * data.X.shape[1]
        if is_text and np.ptp(scaled[0].scales) > 0.0:
            # also as they are: divided by their deviations, the rarest words would count most
            scaled.insert(0, prepare(data, folds, divide=False))
        samples = []
        if scaled[0].m > regime.few:
            for size in regime.samples if data.m > regime.large else regime.samples[:1]:
                places = order[sample_of(data.codes[order], state, size)]
                samples.append((data.some(places, X=data.X[places]), folds.some(places)))
        return [(own, [prepare(*sample, (own.scales, own.spread)) for sample in samples]) for own in scaled]

    def _attributes_of(self, search: AutoSearch) -> dict[str, Any]:
        result = search.result or search.trained()
        data, held, chosen, gamma = result.data, result.data.held, result.candidate, result.candidate.gamma
        order = np.argsort(data.codes[result.places], kind="stable")
        places = result.places[order]
        vectors = data.X[places].astype(np.float64, copy=False)
        status = Status.STOPPED if search.is_stopped else Status.CONVERGED
        status = Status.TIME_LIMIT if search.shortfall else status
        metric = label_metric(self.scoring, data.classes)
        calibrated = ClassProbabilities.from_held_out(result.held_decisions, held.codes, held.weights)
        dual_coef = np.ascontiguousarray(result.coefficients[order].T)
        precision = np.float32 if data.shape[0] > self._regime.few else np.float64
        return {
            "classes_": data.classes, "shape_fit_": data.shape, "feature_scale_": data.scales,
            "gamma_": gamma, "C_": result.C * data.weight_scale, "is_exact_": not np.isnan(chosen.C),
            "path_": search.path(result), "best_score_": 1.0 - chosen.error,
            "best_threshold_": metric.best_threshold(held.codes, result.held_decisions) if metric else 0.0,
            "support_": data.rows[places].astype(np.int32), "support_vectors_": vectors,
            "n_support_": np.bincount(data.codes[places], minlength=len(data.classes)).astype(np.int32),
            "dual_coef_": coef_beside(vectors, dual_coef),
            "intercept_": result.intercept, "n_iter_": result.stage, "duality_gap_": result.duality_gap,
            "status_": status, "converged_": status is Status.CONVERGED, "_probabilities": calibrated,
            "_layout": Layout(len(data.classes), "ovr"),
            "_expansion": Expansion(vectors, dual_coef.T, result.intercept, Gaussian(gamma), precision),
        }  # fmt: skip

    def _warn(self, search: AutoSearch) -> None:
        tried = [candidate for level in search.levels for candidate in level.values()]
        if failed := "; ".join(str(c) for c in tried if c.reason not in ("", OUT_OF_TIME)):
            warnings.warn(f"some kernel widths could not be judged: {failed}", AdatronWarning, stacklevel=4)
        if search.shortfall:
            message = f"AutoSVC took the best model it could find within time_limit={self.time_limit:g} s: "
            warnings.warn(f"{message}{search.shortfall}. Raise time_limit.", ConvergenceWarning, stacklevel=4)

    def _decisions(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = divided_by(inputs.check_predict_X(self, X), self.feature_scale_, self._regime)
        vectors = divided_by(self._expansion.vectors, self.feature_scale_)
        return replace(self._expansion, vectors=vectors)(X)

    def _winners(self, decisions: np.ndarray) -> np.ndarray:
        threshold = getattr(self, "best_threshold_", 0.0)  # models saved by version 0.1 have none
        return self._layout.vote(decisions - threshold)

    def _calibrated(self, decisions: np.ndarray) -> np.ndarray:
        return self._probabilities(decisions)  # where the threshold is moved, predictions may be improbable
