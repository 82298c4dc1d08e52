"""What `AutoSVC` and `AutoSVR` share: a fit, and predictions by the sum of a few machines."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral
from time import monotonic
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer_names
from sklearn.utils.validation import check_is_fitted

from adatron.auto.exact import Model, seconds_to_train, trained_exactly
from adatron.auto.importance import importances
from adatron.auto.iterative import more_rows_help, seconds_to_iterate, trained_iteratively
from adatron.auto.least_squares import FAMILIES, TEXT_FAMILIES
from adatron.auto.low_rank import ManyRows, seconds_on_landmarks, trained_on_landmarks
from adatron.auto.scaling import Scaler, scaler_for
from adatron.auto.search import OUT_OF_TIME, Candidate, Search
from adatron.auto.task import Task, cv_results
from adatron.estimators.base import FitTasks, KernelMachine, forget_fit, unfitted_on_error
from adatron.estimators.callback_bridge import with_callbacks
from adatron.estimators.expansion import Expansion
from adatron.estimators.folds import Folds
from adatron.estimators.inputs import check_groups, check_predict_X, check_sample_weight
from adatron.estimators.parameters import (
    as_random_state,
    check_integer,
    check_number,
    closest_name,
    count_threads,
)
from adatron.estimators.reduction import ReducibleMixin
from adatron.estimators.training_set import row_sums
from adatron.exceptions import AdatronWarning
from adatron.gram import fetched_if
from adatron.kernels import KERNELS, Kernel
from adatron.numerics.memory import available_memory
from adatron.paths.kernel_path import KernelPath
from adatron.tables import TableEncoder, needs_encoding
from adatron.tables.columns import Table, as_frame
from adatron.tables.targets import TargetMeans
from adatron.training import Status

_BYTES_A_VALUE = 24  # of two kernel matrices, their factors and distances
_BYTES_TO_ITERATE = 8  # a value: half a matrix of float32, and as much again for the rest of the machine
SEARCH_FOLDS = 3  # folds that judge in the search; the finalists are judged by all


class AutoEstimator(ReducibleMixin, KernelMachine):
    """Base of the estimators that choose for themselves.

    They have ``_checked_target``, ``_training_set``, ``_targets``, ``_criterion``, ``_attributes_of`` and
    ``_n_columns``.
    """

    kernel = "rbf"  # no parameter
    _scales_features = _reads_blocks = _accepts_dask = _encodes_tables = True
    _best_score = 0.0  # what is minimised is this less the score, if `scoring` is given
    _clearly_better = 0.7  # part of the criterion of few rows below which more are worth their time
    _kernels_compared: int | None = 1  # on a few thousand rows before that; None: as many as usual
    _huber_limits: tuple[float, ...] = ()  # of Huber's loss, which is tried beside the squared one
    _iterates_up_to = 1.0  # times the rows that a matrix in memory can have; beyond, landmarks are faster

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose a machine by held-out rows, and train it.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Data frames may have categories, text, dates and missing values; see `TableEncoder`.
        y : array-like of shape (n_samples,)
        sample_weight, groups : array-like of shape (n_samples,), optional
            Rows of one group are never on both sides of a split; if `cv` is a number, the folds are those of
            scikit-learn's `StratifiedGroupKFold`, or `GroupKFold` for a regression.

        Returns
        -------
        Self
        """
        with unfitted_on_error(self):
            began = monotonic()
            self._check_parameters()
            with unfitted_on_error(self, BaseException):  # Ctrl-C before the search: nothing to keep yet
                forget_fit(self)
                task = self._task(X, y, sample_weight, groups)
                search, finish = self._search(task, began)
                if self.verbose and self.encoder_ is not None:
                    print(f"[adatron] {self.encoder_.columns_.in_one_line()}")
                tasks = FitTasks(self, X, y, sample_weight, None)

            def after_round(best: Candidate) -> bool:
                if self.verbose:
                    print(f"[adatron] {best}")
                return tasks.round_ended(lambda: self._attributes_of(task, search, _of_sample(task, search)))

            search.after_round = after_round
            try:
                tasks.prepared(search)
                search.run()
                attributes = self._attributes_of(task, search, finish())
            except KeyboardInterrupt:
                tasks.interrupted()
                search.is_stopped = True
                if any(not one.reason for one in search.tried.values()):
                    model = _of_sample(task, search)
                    self.__dict__.update(self._attributes_of(task, search, model))
                else:
                    forget_fit(self)
                raise
            self.__dict__.update(attributes)
            tasks.ended(lambda: attributes)
        self._warn(search)
        return self

    def _check_parameters(self) -> None:
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, allowed="None or a finite number > 0")
        if isinstance(self.scoring, str) and self.scoring not in get_scorer_names():
            hint = closest_name(self.scoring, get_scorer_names())
            raise ValueError(f"scoring={self.scoring!r} is no name of a scorer of scikit-learn{hint}")
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(f"scoring must be one name, a callable or None, got {self.scoring!r}")
        if isinstance(self.cv, Integral | np.bool_):
            check_integer("cv", self.cv, at_least=2, allowed="an integer >= 2, a splitter or splits")
        count_threads(self.n_jobs)

    def _task(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Task:
        """Check and encode everything that `fit` is given."""
        groups = None if groups is None else check_groups(groups, y)
        given, encoder, means = (X, y, groups), None, None
        if needs_encoding(X) or _has_holes(X):
            encoder = TableEncoder(target_type=self._target_type, random_state=0)
            X, means = self._encoded(encoder, X, y, sample_weight, groups)
            names = getattr(encoder, "feature_names_in_", None)
        data = self._training_set(X, y, sample_weight).with_moderate_weights()
        self.encoder_ = encoder
        if encoder is not None:
            self.n_features_in_ = encoder.n_features_in_
            if names is not None:
                self.feature_names_in_ = names
        data = replace(data, X=fetched_if(self._is_exact(data.m), data.X))
        state = as_random_state(0 if self.random_state is None else self.random_state)
        # an order that does not depend on the one the rows came in
        ties = () if means is None else means.ties
        order = np.lexsort((*ties, data.weights, row_sums(data.X), *self._order_keys(data)))
        folds = Folds.of(self.cv, data, order, given, state).joined()
        self._check_folds(folds, data, order)
        if self._is_exact(data.m):
            data = data.some(order)
        else:  # too many to be copied
            folds = folds.some(np.argsort(order))
        if encoder is None:
            scale = scaler_for(data.X, data.weights)
            blocks = np.arange(data.X.shape[1]) if scale.kept is None else scale.kept
        else:
            scale, blocks = Scaler(is_text=encoder.is_sparse_), encoder.output_columns_
        Y, criterion, of_folds = self._targets(data), self._criterion(data), []
        if means is not None and self._is_exact(data.m) and not scale.is_text:
            place = np.argsort(order)  # of each row that was encoded
            of_folds = [means.without(held[place] > 0.0)[order] for held in folds.held.T]
        places = means.places if means is not None and of_folds else None
        return Task(data, folds, scale, Y, blocks, criterion, state, of_folds, places)

    def _encoded(
        self, encoder: TableEncoder, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[Any, TargetMeans | None]:
        """The table in numbers; rows of no weight are 0 and teach the encoder nothing."""
        n = len(as_frame(X))
        y, weights = self._checked_target(n, y), check_sample_weight(sample_weight, n)
        rows = np.flatnonzero(weights > 0.0)
        if len(rows) == n:
            return encoder.fit_with_means(X, y, groups)
        groups = None if groups is None else groups[rows]
        encoded, means = encoder.fit_with_means(Table(X).some(rows), y[rows], groups)
        everywhere = sparse.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), (n, len(rows)))
        return everywhere @ encoded, means

    def _is_exact(self, m: int) -> bool:
        """Whether the kernel matrices of m rows can be held, two machines at a time."""
        return m <= self._regime.exact_rows and _BYTES_A_VALUE * m * m <= 0.5 * available_memory()

    def _search(self, task: Task, began: float) -> tuple[Search, Callable[[], Model]]:
        """The search on some rows, and what trains all of them when it has ended."""
        data, regime = task.data, self._regime
        size = regime.many_search_rows if data.m > regime.search_more_from else regime.search_rows
        if len(task.blocks) >= regime.wide_from and not task.scale.is_text:
            size = max(size, regime.wide_search_rows)
        families = TEXT_FAMILIES if task.scale.is_text else FAMILIES
        limit = {"began": began, "time_limit": self.time_limit}
        if self._is_exact(data.m):
            rows = task.rows(task.scale(data.X))
            places = self._sample(data, task.state, size)
            sample = task.sample(places).with_folds(SEARCH_FOLDS)
            search = Search(sample, task.criterion_for(sample), families, **limit)
            train = partial(trained_exactly, search, rows, task.criterion_for, limits=self._huber_limits)
            return search, lambda: self._trained_in_time(task, search, data.m, seconds_to_train, train)
        sample, held = task.sample(self._sample(data, task.state, size)), task.folds.held
        fold_of = np.where(held.any(axis=1), held.argmax(axis=1), held.shape[1])
        many = ManyRows(data.X, task.scale, task.rows(np.empty((data.m, 0))), fold_of)
        search = Search(sample, task.criterion_for(sample), families, **limit)
        train = partial(trained_on_landmarks, search, many, task.criterion_for, task.state)
        if task.scale.is_text or not data.m <= self._iterates_up_to * regime.iterative_rows:
            return search, lambda: self._trained_in_time(task, search, data.m, seconds_on_landmarks, train)
        best = partial(self._trained_on_many, task, search, train)
        most = data.m if data.m <= regime.iterative_rows else regime.iterative_sample
        return search, lambda: self._trained_in_time(task, search, most, seconds_to_iterate, best, 2)

    def _trained_on_many(self, task: Task, search: Search, on_landmarks: Callable[[], Model]) -> Model:
        """A model by iteration on as many rows as fit into memory, or on landmarks if that is as good."""
        data, regime = task.data, self._regime
        if search.is_over():
            return on_landmarks()
        few = task.sample(self._sample(data, task.state, regime.few_rows))
        model = trained_exactly(search, few, task.criterion_for, self._kernels_compared)
        if not more_rows_help(search, model, task.criterion_for, self._clearly_better):
            return on_landmarks()
        most = regime.iterative_rows if data.m <= regime.iterative_rows else regime.iterative_sample
        most = min(most, int(np.sqrt(available_memory() / _BYTES_TO_ITERATE)))
        rows = task.sample(self._sample(data, task.state, most))
        n_machines = 2 if data.m <= regime.two_iterative_rows else 1
        model = trained_iteratively(model, rows, task.criterion_for, task.state, n_machines)
        if rows.n == data.m:
            return model
        return min((model, on_landmarks()), key=lambda own: task.criterion_for(own.judged)(own.decisions))

    def _trained_in_time(
        self, task: Task, search: Search, n: int, estimate: Callable[[int], float],
        train: Callable[[], Model], most: int | None = None,
    ) -> Model:  # fmt: skip
        """Train as many machines on all rows as there is time for; if for none, on the rows of the search."""
        left = search.seconds_left()
        needed = estimate(n) if left < np.inf and n > search.rows.n else 0.0
        search.is_late |= left < len(search.finalists(1)[:most]) * needed
        return _of_sample(task, search) if left < needed else train()

    def _shared_attributes(self, task: Task, search: Search, model: Model) -> dict[str, Any]:
        data = task.data
        status = Status.STOPPED if search.is_stopped else Status.CONVERGED
        status = Status.TIME_LIMIT if search.is_late and not search.is_stopped else status
        best, tried = model.members[0], list(search.tried.values())
        records = [one.record() for one in tried]
        best_index = next(k for k, one in enumerate(tried) if one.key == best.key)
        scoring = "" if self.scoring is None else self.scoring if isinstance(self.scoring, str) else "scoring"
        name = f"{self._best_score:g} - {scoring} of held-out rows" if scoring else self._criterion_name
        path = KernelPath(records, criterion=name.removeprefix("0 "), best_index=best_index)
        return {
            "shape_fit_": (data.shape[0], self.n_features_in_), "encoder_": self.encoder_,
            "gamma_": best.gamma, "C_": data.weight_scale / best.penalty, "path_": path,
            "feature_importances_": importances(
                model.machines, model.judged.X, task.blocks, self.n_features_in_
            ),
            "n_iter_": len(tried), "cv_results_": cv_results(tried, self._best_score if scoring else 0.0),
            "duality_gap_": model.duality_gap, "gap_is_exact_": model.gap_is_exact,
            "status_": status, "converged_": status is Status.CONVERGED,
            "_machines": model.machines, "_scale": task.scale,
        }  # fmt: skip

    def _warn(self, search: Search) -> None:
        name = type(self).__name__
        failed = [str(one) for one in search.tried.values() if one.reason not in ("", OUT_OF_TIME)]
        if failed:
            message = f"some machines could not be judged: {'; '.join(failed)}"
            warnings.warn(message, AdatronWarning, stacklevel=4)
        if self.status_ is Status.TIME_LIMIT:
            message = f"{name} took the best model it could find within time_limit={self.time_limit:g} s"
            message = f"{message}: some machines were not tried, or not on all rows. Raise time_limit."
            warnings.warn(message, ConvergenceWarning, stacklevel=4)

    def _decisions(self, X: Any) -> np.ndarray:
        return self._outputs(self._rows_to_expand(X))

    def _rows_to_expand(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._scale(check_predict_X(self, X, allow_nan=self._scale.centre is not None))

    def _outputs(self, scaled: Any) -> np.ndarray:
        """The sum of the machines, shape (n, k)."""
        return np.sum([machine(scaled) for machine in self._machines], axis=0)

    def _expansions(self) -> list[Expansion]:
        return self._machines

    def _groups(self) -> None:
        return None

    def _holds_training_rows(self) -> bool:
        return len(self._machines[0].coefficients) == len(self.support_)

    def _use(self, machines: list[Expansion], places: list[np.ndarray]) -> None:
        if self._holds_training_rows():
            self._keep_support(np.unique(np.concatenate(places)))
        self._machines = machines

    @property
    def kernels_(self) -> list[Kernel]:
        """Kernels of the machines that the model averages, for scaled features."""
        check_is_fitted(self)
        return [machine.kernel for machine in self._machines]

    def _trial_row(self) -> Any:
        if self.encoder_ is not None:
            return self.encoder_._trial_row()
        return (sparse.csr_array if self._scale.is_text else np.zeros)((1, self.n_features_in_))

    def _check_fitted(self) -> None:
        KernelMachine._check_fitted(self)  # no single expansion, which is what the classes in between check
        d, encoder, scale, machines = self.n_features_in_, self.encoder_, self._scale, self._machines
        width, k = d, self._n_columns
        is_sound = type(scale) is Scaler and type(machines) is list and len(machines) > 0
        if encoder is not None:
            width = len(encoder.output_columns_)
            is_sound &= type(encoder) is TableEncoder and encoder.n_features_in_ == d and scale.centre is None
        elif scale.centre is not None:
            width = len(scale.kept)
            is_sound &= len(scale.centre) == d
        for one in machines:
            weights = vars(one.kernel).get("weights")
            is_sound &= one.vectors.shape[1:] == (width,) and one.vectors.dtype.kind == "f"
            is_sound &= one.coefficients.shape[1] == k and one.n_support is None
            is_sound &= weights is None or len(weights) == width
        is_sound &= type(self.kernels_[0]) in KERNELS.values() and self.shape_fit_[1] == d
        is_sound &= (
            self.feature_importances_.min() >= 0.0 and abs(self.feature_importances_.sum() - 1.0) < 1e-9
        )
        if not is_sound:
            raise ValueError("machines, scales and encoder do not belong together")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _of_sample(task: Task, search: Search) -> Model:
    """The best model of the rows of the search, which takes no time."""
    return trained_exactly(search, search.rows, task.criterion_for, n_each=0)


def _has_holes(X: Any) -> bool:
    """Whether an array of numbers, or a list of rows, has missing values."""
    X = np.asarray(X) if isinstance(X, list | tuple) else X
    return isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.ndim == 2 and bool(np.isnan(X).any())
