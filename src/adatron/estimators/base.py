"""What every kernel estimator shares: how a fit runs, ends, is interrupted and predicts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning

from adatron.estimators.callback_bridge import FitTasks
from adatron.estimators.expansion import Expansion, dense_coef
from adatron.estimators.multiclass import Layout
from adatron.estimators.parameters import closest_name
from adatron.estimators.training_set import TrainingSet
from adatron.gram import REGIME
from adatron.kernels import Kernel, Precomputed
from adatron.numerics.threads import one_blas_thread
from adatron.training import HISTORY_FIELDS, DualSolution, EpochRecord, Run, Status, rounds

__all__ = [
    "DEFAULT_MAX_ITER",
    "FitPlan",
    "KernelMachine",
    "forget_fit",
    "summary_attributes",
    "unfitted_on_error",
]

DEFAULT_MAX_ITER = 100_000
_FITTED_IN_PRIVATE = (
    "_advice",
    "_alphas",
    "_bound",
    "_kernel",
    "_landmark_coef",
    "_landmarks",
    "_layout",
    "_precision",
    "_probabilities",
    "_stages",
)


@dataclass
class FitPlan:
    """The runs of a fit and what their solutions are turned into attributes with."""

    kernel: Kernel
    data: TrainingSet
    gram: Any  # a Gram; None where nothing is trained
    runs: list[Run]
    reason: str = ""  # why the kernel matrix is held as it is
    layout: Layout = field(default_factory=lambda: Layout(2, "ovr"))
    constant: float = 0.0  # added to the kernel for training, in the place of a bias
    time_limit: float | None = None
    n_threads: int = 1
    began: float = field(default_factory=monotonic)
    support: tuple[np.ndarray, Any] | None = None  # places and rows of support vectors, once fetched

    @property
    def wants_one_blas_thread(self) -> bool:
        """Whether several BLAS threads would mostly wait for one another, or for our own."""
        own_threads = any(run.problem.gram.has_own_threads for run in self.runs)
        return own_threads or all(run.problem.m <= run.rule.one_blas_thread_up_to for run in self.runs)

    def rounds(self, *, watched: bool = True) -> Iterator[list[EpochRecord]]:
        """One epoch of every run after the other; where nobody is watching, a run may take several."""
        for run in self.runs:
            run.is_watched = watched
        remaining = None if self.time_limit is None else self.time_limit - (monotonic() - self.began)
        return rounds(self.runs, time_limit=remaining, n_threads=self.n_threads)

    def end(self, status: Status) -> None:
        for run in self.runs:
            run.end(status)

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

    def solutions(self) -> list[DualSolution]:
        return [solution for run in self.runs for solution in run.snapshot()]


class KernelMachine(CallbackSupportMixin, BaseEstimator):
    """Base of the estimators; a subclass gives ``_plan`` and ``_attributes``."""

    _more_epochs = "raise max_iter or tol, or scale X"  # what to do when the epochs ran out
    _regime = REGIME

    def _plan(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        raise NotImplementedError

    def _attributes(self, plan: FitPlan, solutions: list[DualSolution]) -> dict[str, Any]:
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        with unfitted_on_error(self):
            plan = self._prepared(X, y, sample_weight)
            limit = None if self.max_iter == -1 else plan.runs[0].max_iter
            tasks = FitTasks(self, X, y, sample_weight, limit)
            say = _narrator(self.verbose)
            say(plan.reason)
            tasks.prepared(plan)
            try:
                with one_blas_thread() if plan.wants_one_blas_thread else nullcontext():
                    for records in plan.rounds(watched=tasks.have_callbacks or bool(self.verbose)):
                        say(records)
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
            say(f"{self.status_}: relative duality gap {self.duality_gap_:.3g}")
            _warn_unless_converged(self)

    def _after_fit(self, plan: FitPlan) -> None:
        """What a subclass adds to a fitted model."""

    def _iter_fit(self, X: Any, y: Any, sample_weight: Any) -> Iterator[EpochRecord]:
        with unfitted_on_error(self):
            plan = self._prepared(X, y, sample_weight)
            for records in plan.rounds():
                self._store(plan)
                yield from records
            self._store(plan)
            _warn_unless_converged(self)

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> FitPlan:
        # Ctrl-C before the first epoch: nothing to keep yet. One BLAS thread: γ, and with it every bit of
        # the model, must not depend on how many threads other fits leave.
        with unfitted_on_error(self, BaseException), one_blas_thread():
            return self._plan(X, y, sample_weight)

    def _store(self, plan: FitPlan) -> None:
        attributes = self._attributes(plan, plan.solutions())
        for name in _fitted_names(self):
            if name not in attributes and name not in ("n_features_in_", "feature_names_in_"):
                del self.__dict__[name]  # of an earlier fit
        self.__dict__.update(attributes)

    def _expansion(self) -> Expansion:
        """The outputs of the fitted model: on the landmarks of a low-rank kernel, else on support vectors."""
        if self._landmark_coef is not None:
            vectors, coefficients = self._landmarks, self._landmark_coef
        else:
            vectors = self.support_ if isinstance(self._kernel, Precomputed) else self.support_vectors_
            coefficients = self._coefficients()
        return Expansion(vectors, coefficients, self.intercept_, self._kernel, self._precision)

    def _coefficients(self) -> np.ndarray:
        """Coefficients of the support vectors, a column for each problem."""
        return dense_coef(self).T

    def set_params(self, **params: Any) -> KernelMachine:
        """Set parameters; an unknown name is an error that suggests the nearest one.

        Parameters
        ----------
        **params
            Parameters of the estimator by name; ``part__name`` for those of a part of it.

        Returns
        -------
        KernelMachine
            The estimator itself.
        """
        names = list(self.get_params(deep=False))
        for name in params:
            if name.split("__")[0] not in names:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}"
                    f"{closest_name(name, names) or '.'} Valid parameters are: {names!r}"
                )
        return super().set_params(**params)


def summary_attributes(solutions: list[DualSolution]) -> dict[str, Any]:
    """The attributes that say how a fit went."""
    worst = max(solutions, key=lambda s: (s.status is not Status.CONVERGED, s.gap))
    history: dict[str, list] = {name: [] for name in ("problem", *HISTORY_FIELDS)}
    for number, solution in enumerate(solutions):
        history["problem"] += [number] * len(solution.trace)
        for name, values in zip(HISTORY_FIELDS, zip(*solution.trace, strict=True), strict=False):
            history[name] += values
    return {
        "n_iter_": np.array([s.n_iter for s in solutions], dtype=np.int32),
        "duality_gap_": float(max(s.gap for s in solutions)),
        "status_": worst.status,
        "converged_": worst.status is Status.CONVERGED,
        "finished_exactly_": all(s.finished_exactly for s in solutions),
        "fit_status_": 0 if worst.status is Status.CONVERGED else 1,
        "bias_interval_": np.array([s.bias_interval for s in solutions]),
        "history_": history,
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


def forget_fit(estimator: Any) -> None:
    """Remove what an earlier fit has set."""
    for name in _fitted_names(estimator):
        del estimator.__dict__[name]


def _fitted_names(estimator: Any) -> list[str]:
    """Attributes that a fit has set."""
    names = vars(estimator)
    return [n for n in names if (n.endswith("_") and not n.startswith("_")) or n in _FITTED_IN_PRIVATE]


def _warn_unless_converged(estimator: Any) -> None:
    if estimator.converged_ or estimator.status_ is Status.STOPPED:
        return
    advice = {
        Status.MAX_ITER: estimator._more_epochs,
        Status.TIME_LIMIT: "raise time_limit",
        Status.DIVERGED: "lower learning_rate, or use solver='adatron'",
        Status.INDEFINITE_KERNEL: "use a positive semi-definite kernel such as 'rbf'",
        Status.PRECISION_LIMIT: "raise tol, or scale X",
    }[estimator.status_]
    name, sentence, advice = type(estimator).__name__, estimator.status_.sentence, estimator._advice or advice
    if estimator.status_ is Status.INDEFINITE_KERNEL:
        message = f"{name} has no certificate: {sentence}; {advice}."
    else:
        tol = f" (tol={estimator.tol:g})" if hasattr(estimator, "tol") else ""
        reached = f"It reached a relative duality gap of {estimator.duality_gap_:.3g}{tol}"
        message = f"{name} did not converge: {sentence}. {reached}; {advice}."
    warnings.warn(
        message,
        ConvergenceWarning,
        stacklevel=5,
    )


def _narrator(verbose: Any) -> Callable[[Any], None]:
    """Print what happens when `verbose`: the operator, epochs 1, 2, 5, 10, 20, …, the end."""
    shown = {n * 10**k for n in (1, 2, 5) for k in range(7)}

    def say(news: Any) -> None:
        if isinstance(news, str):
            print(f"[adatron] {news}")
        elif news and news[0].epoch in shown:
            worst = max(news, key=lambda record: record.violation)
            print(
                f"[adatron] epoch {worst.epoch}: {len(news)} problem(s), objective {worst.objective:.6g}, "
                f"margin {worst.margin:.6g}, violation {worst.violation:.3g}"
            )

    return say if verbose else lambda news: None
