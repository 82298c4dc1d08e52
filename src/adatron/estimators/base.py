"""What every kernel estimator shares: how a fit is planned, runs, ends, is interrupted and stored."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from adatron.estimators.callback_bridge import HAS_CALLBACKS, CallbackSupportMixin, with_callbacks
from adatron.estimators.parameters import closest_name, is_precomputed
from adatron.estimators.training_set import TrainingSet
from adatron.exceptions import warn_user
from adatron.gram import REGIME
from adatron.kernels import Kernel
from adatron.numerics.threads import one_blas_thread
from adatron.tables import TableEncoder
from adatron.training import HISTORY_FIELDS, DualSolution, EpochRecord, Run, Status, rounds

_PRIVATE_FITTED = (
    "_advice", "_alphas", "_bound", "_expansion", "_layout", "_log", "_machines", "_probabilities",
    "_residuals", "_scale", "_set_scores", "_stages", "_unit",
)  # fmt: skip
_SHOWN = {n * 10**k for n in (1, 2, 5) for k in range(7)}  # epochs that `verbose` prints


class FitTasks:
    """Tells the callbacks of an estimator about a fit.

    A fit is one task; each round (an epoch of every live problem) is a task below it. A callback that returns
    True at the end of a round stops the fit. Our own callbacks may have two more methods: `on_fit_prepared`
    gets the fit (``saved()``, ``restore(saved)``) before its first round, `on_fit_interrupted` after Ctrl-C.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, max_rounds: int | None) -> None:
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._estimator, self._data = estimator, {"X": X, "y": y, "metadata": metadata}
        self.callbacks = getattr(estimator, "_skl_callbacks", None) or []
        self._task: Any = None
        if HAS_CALLBACKS:
            self._task = estimator._init_callback_context(max_subtasks=max_rounds)
            self._task.call_on_fit_task_begin(estimator=estimator, **self._data)

    def prepared(self, fit: Any) -> None:
        for callback in self.callbacks:
            if hasattr(callback, "on_fit_prepared"):
                callback.on_fit_prepared(self._estimator, fit, **self._data)

    def interrupted(self) -> None:
        for callback in self.callbacks:
            if hasattr(callback, "on_fit_interrupted"):
                callback.on_fit_interrupted(self._estimator)

    def round_ended(self, attributes: Callable[[], dict[str, Any]]) -> bool:
        """Tell the callbacks; return whether one of them wants the fit to stop."""
        if not self.callbacks:
            return False
        task = self._task.subcontext(task_name="epoch")
        task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return self.ended(attributes, task)

    def ended(self, attributes: Callable[[], dict[str, Any]], task: Any = None) -> bool:
        """Tell the callbacks that the whole fit is done, or a task of it."""
        task = task or self._task
        return task is not None and task.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=attributes, **self._data
        )


@dataclass
class FitPlan:
    """The runs of a fit, and what turns their solutions into attributes."""

    kernel: Kernel
    data: TrainingSet
    gram: Any  # a Gram; None where nothing is trained
    runs: list[Run]
    reason: str = ""  # why the kernel matrix is held as it is
    layout: Any = None  # how problems map to classes, where there are any
    constant: float = 0.0  # added to the kernel for training, in place of a bias
    time_limit: float | None = None
    n_threads: int = 1
    known: dict[str, Any] = field(default_factory=dict)  # attributes that the plan already decided
    began: float = field(default_factory=monotonic)
    support: tuple[np.ndarray, Any] | None = None  # places and rows of support vectors, once fetched

    @property
    def has_landmarks(self) -> bool:
        """Whether decisions come from the landmarks of a low-rank kernel, not from support vectors."""
        return self.gram is not None and len(self.gram.projection) > 0

    def blas_threads(self) -> AbstractContextManager:
        """The context to train in; beside own threads, or for few rows, several of BLAS would mostly wait."""
        own_threads = any(run.problem.gram.has_own_threads for run in self.runs)
        few_rows = all(run.problem.m <= run.rule.one_blas_thread_up_to for run in self.runs)
        return one_blas_thread() if own_threads or few_rows else nullcontext()

    def rounds(self, *, watched: bool = True) -> Iterator[list[EpochRecord]]:
        """One epoch of each run in turn; unless `watched`, a run may take several at a time."""
        for run in self.runs:
            run.is_watched = watched
        remaining = None if self.time_limit is None else self.time_limit - (monotonic() - self.began)
        return rounds(self.runs, time_limit=remaining, n_threads=self.n_threads)

    def end(self, status: Status) -> None:
        for run in self.runs:
            run.end(status)

    def solutions(self) -> list[DualSolution]:
        return [solution for run in self.runs for solution in run.snapshot()]

    def saved(self) -> dict[str, Any]:
        """All that `restore` needs, as plain values and arrays."""
        landmarks = self.runs[0].problem.gram.landmarks
        return {"landmarks": landmarks, "runs": [run.saved() for run in self.runs]}

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on where another fit of the same data and parameters was saved."""
        if len(saved["runs"]) != len(self.runs):
            raise ValueError(f"the saved fit has {len(saved['runs'])} problems, this one {len(self.runs)}")
        if not np.array_equal(saved["landmarks"], self.runs[0].problem.gram.landmarks):
            raise ValueError("the saved fit drew other rows for its low-rank kernel; set random_state")
        for run, own in zip(self.runs, saved["runs"], strict=True):
            run.restore(own)


class KernelMachine(CallbackSupportMixin, BaseEstimator):
    """Base of all estimators."""

    _plan: Any  # (X, y, sample_weight) → FitPlan: checks parameters and data, and sets up the runs
    _attributes: Any  # (plan, solutions) → what a fit stores in the estimator
    _accepts_sparse = True
    _accepts_dask = False
    _scales_features = _reads_blocks = False  # whether columns may differ in size, and float32 rows stay
    _encodes_tables = False  # whether data frames with other columns than numbers go through a `TableEncoder`
    _more_epochs = "raise max_iter or tol, or scale X"  # what to do when the epochs ran out
    _regime = REGIME
    # parameters that not every estimator has, and what holds without them
    class_weight: Any = None
    multi_class = "ovr"
    rank: Any = None
    warm_start = False

    def _set_parameters(self, arguments: dict[str, Any]) -> None:
        """Store the arguments of ``__init__``, which passes its ``locals()``, as they are."""
        self.__dict__.update((name, value) for name, value in arguments.items() if name != "self")

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on `X`, and classes or targets `y`.

        `X` is read during the whole fit; do not change it meanwhile.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight multiplies C; a row of weight 2 counts as the row twice.

        Returns
        -------
        Self
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        with unfitted_on_error(self):
            # Ctrl-C before the first epoch: nothing to keep yet. One BLAS thread: γ, and with it every bit of
            # the model, must not depend on how many threads other fits leave.
            with unfitted_on_error(self, BaseException), one_blas_thread():
                plan = self._plan(X, y, sample_weight)
            limit = None if self.max_iter == -1 else plan.runs[0].max_iter
            tasks = FitTasks(self, X, y, sample_weight, limit)
            self._report(plan.reason)
            tasks.prepared(plan)
            try:
                with plan.blas_threads():
                    for records in plan.rounds(watched=bool(tasks.callbacks or self.verbose)):
                        self._report(records)
                        if tasks.round_ended(lambda: self._attributes(plan, plan.solutions())):
                            plan.end(Status.STOPPED)
            except KeyboardInterrupt:
                tasks.interrupted()
                plan.end(Status.STOPPED)
                self._store(plan)
                raise
            self._store(plan)
            self._after_fit(plan)
            tasks.ended(lambda: self._attributes(plan, plan.solutions()))
            estimate = "" if self.gap_is_exact_ else ", an estimate"
            self._report(f"{self.status_}: relative duality gap {self.duality_gap_:.3g}{estimate}")
            warn_unless_converged(self)

    def _report(self, news: Any) -> None:
        """Print what happens when `verbose`: the kind of matrix, epochs 1, 2, 5, 10, 20, …, the end."""
        if self.verbose and isinstance(news, str):
            print(f"[adatron] {news}")
        elif self.verbose and news and news[0].epoch in _SHOWN:
            worst = max(news, key=lambda record: record.violation)
            print(
                f"[adatron] epoch {worst.epoch}: {len(news)} problem(s), objective {worst.objective:.6g}, "
                f"margin {worst.margin:.6g}, violation {worst.violation:.3g}"
            )

    def _after_fit(self, plan: FitPlan) -> None:
        """What a subclass adds to a fitted model."""

    def _store(self, plan: FitPlan) -> None:
        solutions = plan.solutions()
        attributes = self._attributes(plan, solutions)
        if self.warm_start:  # the multipliers of each run, to begin the next fit with
            parts = [slice(run.first, run.first + run.problem.n_columns) for run in plan.runs]
            attributes["_alphas"] = [np.column_stack([s.alpha for s in solutions[part]]) for part in parts]
        forget_fit(self, except_for={*attributes, "n_features_in_", "feature_names_in_", "encoder_"})
        self.__dict__.update(attributes)

    def set_params(self, **params: Any) -> Self:  # an unknown name is an error that suggests the nearest one
        names = list(self.get_params(deep=False))
        for name in params:
            if name.split("__")[0] not in names:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}"
                    f"{closest_name(name, names) or '.'} Valid parameters are: {names!r}"
                )
        return super().set_params(**params)

    def _trial_row(self) -> Any:
        """A row that `predict` takes; the check of a model file predicts for it."""
        if self._encoder is not None:
            return self._encoder._trial_row()
        is_sparse = sparse.issparse(vars(self).get("support_vectors_"))
        return (sparse.csr_array if is_sparse else np.zeros)((1, self.n_features_in_))

    @property
    def _encoder(self) -> TableEncoder | None:
        """What turned the training table into numbers, if X was one that needed it."""
        return vars(self).get("encoder_")

    @property
    def _n_encoded(self) -> int:
        """Number of features behind the encoder of tables."""
        return self.n_features_in_ if self._encoder is None else len(self._encoder.output_columns_)

    def _check_fitted(self) -> None:
        """Raise a ValueError where fitted attributes contradict one another, as in a forged model file."""
        fitted, n_features, n_classes = vars(self), self.n_features_in_, len(vars(self).get("classes_", "1"))
        n_support, n_problems = len(fitted.get("support_", ())), np.shape(fitted.get("dual_coef_", [[]]))[0]
        shapes: dict[str, tuple[int, ...]] = {
            "feature_names_in_": (n_features,), "feature_importances_": (n_features,),
            "class_weight_": (n_classes,), "n_support_": (n_classes,),
            "support_": (n_support,), "dual_coef_": (n_problems, n_support),
        }  # fmt: skip
        status, names = fitted.get("status_", Status.CONVERGED), fitted.get("feature_names_in_", np.empty(0))
        converged = status is Status.CONVERGED
        checks = [(name, np.shape(fitted[name]) == shapes[name]) for name in fitted.keys() & shapes]
        checks += [(name, np.min(fitted[name]) > 0.0) for name in fitted.keys() & {"gamma_", "sigma_"}]
        checks += [
            ("n_features_in_", type(n_features) is int and n_features >= 1),
            ("feature_names_in_", all(isinstance(name, str) for name in names.tolist())),
            ("history_", len({len(column) for column in fitted.get("history_", {}).values()}) <= 1),
            ("status_", isinstance(status, Status) and fitted.get("converged_", converged) is converged),
        ]
        if n_support and all(holds for _, holds in checks):
            counts, rows = fitted.get("n_support_", np.array([n_support])), self.support_
            n_rows = len(fitted.get("labels_", ())) or self.shape_fit_[0]
            checks += [
                ("support_", rows.dtype.kind == "i" and rows.min() >= 0 and rows.max() < n_rows),
                ("n_support_", counts.dtype.kind == "i" and counts.sum() == n_support and counts.min() >= 0),
            ]
            if "dual_coef_" in fitted:
                largest = fitted.get("_bound", np.inf) * (1.0 + 1e-6)  # C times the largest weight
                checks += [("dual_coef_", abs(self.dual_coef_).max() <= largest)]
        if wrong := sorted({name for name, holds in checks if not holds}):
            raise ValueError(f"{', '.join(wrong)} cannot be, beside the other attributes")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.string = tags.input_tags.categorical = self._encodes_tables
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags


def worst_of(solutions: list[DualSolution]) -> DualSolution:
    """The solution with the largest gap, of those that did not converge if there are any."""
    return max(solutions, key=lambda solution: (solution.status is not Status.CONVERGED, solution.gap))


def summary_attributes(solutions: list[DualSolution]) -> dict[str, Any]:
    """The attributes that say how a fit went."""
    worst = worst_of(solutions)
    rows = [(number, *row) for number, solution in enumerate(solutions) for row in solution.trace]
    return {
        "n_iter_": np.array([s.n_iter for s in solutions], dtype=np.int32),
        "duality_gap_": float(max(s.gap for s in solutions)),
        "gap_is_exact_": all(s.gap_is_exact and s.status is not Status.INDEFINITE_KERNEL for s in solutions),
        "status_": worst.status,
        "converged_": worst.status is Status.CONVERGED,
        "finished_exactly_": all(s.finished_exactly for s in solutions),
        "fit_status_": 0 if worst.status is Status.CONVERGED else 1,
        "bias_interval_": np.array([s.bias_interval for s in solutions]),
        "history_": {name: [row[k] for row in rows] for k, name in enumerate(("problem", *HISTORY_FIELDS))},
        "_advice": worst.advice,
    }


@contextmanager
def unfitted_on_error(estimator: Any, errors: type[BaseException] = Exception) -> Iterator[None]:
    """A fit that fails leaves nothing behind; one that is interrupted keeps what it has."""
    try:
        yield
    except errors:
        forget_fit(estimator)
        raise


def forget_fit(estimator: Any, except_for: Any = ()) -> None:
    """Remove what an earlier fit has set."""
    for name in list(vars(estimator)):
        is_fitted = (name.endswith("_") and not name.startswith("_")) or name in _PRIVATE_FITTED
        if is_fitted and name not in except_for:
            del estimator.__dict__[name]


def warn_unless_converged(estimator: Any) -> None:
    """Say why a fit ended early and what to do."""
    name, status = type(estimator).__name__, estimator.status_
    if estimator.converged_ or status is Status.STOPPED:
        return
    advice = estimator._advice or {
        Status.MAX_ITER: estimator._more_epochs,
        Status.TIME_LIMIT: "raise time_limit",
        Status.DIVERGED: "lower learning_rate, or use solver='adatron'",
        Status.INDEFINITE_KERNEL: "use a positive semi-definite kernel such as 'rbf'",
        Status.PRECISION_LIMIT: "raise tol, or scale X",
    }.get(status)
    tol = f" (tol={estimator.tol:g})" if "tol" in estimator.get_params(deep=False) else ""
    reached = f"It reached a relative duality gap of {estimator.duality_gap_:.3g}{tol}"
    message = f"{name} did not converge: {status.sentence}. {reached}; {advice}."
    if status is Status.INDEFINITE_KERNEL:
        message = f"{name} has no certificate: {status.sentence}; {advice}."
    warn_user(message, ConvergenceWarning)
