"""scikit-learn's callbacks on our rounds: the only file that knows `sklearn.callback`.

A fit is one task; each round (an epoch of every problem still under way) is a task below it. A
callback that returns True at the end of a round stops the fit.

Callbacks of our own may have two more methods: ``on_fit_prepared`` is given the `Resumable` fit before
its first round, and ``on_fit_interrupted`` is called after Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["FitTasks", "Resumable"]


class Resumable(Protocol):
    """A fit that can be saved between two rounds, and taken up again from what was saved."""

    def saved(self) -> dict[str, Any]: ...

    def restore(self, saved: dict[str, Any]) -> None: ...


class FitTasks:
    """The tree of tasks of one fit."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, max_rounds: int | None) -> None:
        self._estimator = estimator
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._data = {"X": X, "y": y, "metadata": metadata}
        self._task = estimator._init_callback_context(max_subtasks=max_rounds)
        self._task.call_on_fit_task_begin(estimator=estimator, **self._data)

    def prepared(self, fit: Resumable) -> None:
        """Tell the callbacks that want to know of a fit before its first round."""
        for callback in self._own_callbacks("on_fit_prepared"):
            callback.on_fit_prepared(self._estimator, fit, **self._data)

    def interrupted(self) -> None:
        for callback in self._own_callbacks("on_fit_interrupted"):
            callback.on_fit_interrupted(self._estimator)

    def _own_callbacks(self, method: str) -> list[Any]:
        callbacks = getattr(self._estimator, "_skl_callbacks", None) or []
        return [callback for callback in callbacks if hasattr(callback, method)]

    @property
    def have_callbacks(self) -> bool:
        return bool(getattr(self._estimator, "_skl_callbacks", None))

    def round_ended(self, attributes: Callable[[], dict[str, Any]]) -> bool:
        """Tell the callbacks; whether one of them wants the fit to stop."""
        if not self.have_callbacks:
            return False
        task = self._task.subcontext(task_name="epoch")
        task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return task.call_on_fit_task_end(
            estimator=self._estimator, **self._data, reconstruction_attributes=attributes
        )

    def ended(self, attributes: Callable[[], dict[str, Any]]) -> None:
        self._task.call_on_fit_task_end(
            estimator=self._estimator, **self._data, reconstruction_attributes=attributes
        )
