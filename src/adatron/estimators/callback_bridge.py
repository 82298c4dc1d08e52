"""scikit-learn's callbacks on our rounds: the only file that knows `sklearn.callback`.

A fit is one task; each round (an epoch of every problem still under way) is a task below it. A
callback that returns True at the end of a round stops the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["FitTasks"]


class FitTasks:
    """The tree of tasks of one fit."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, max_rounds: int | None) -> None:
        self._estimator = estimator
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._data = {"X": X, "y": y, "metadata": metadata}
        self._task = estimator._init_callback_context(max_subtasks=max_rounds)
        self._task.call_on_fit_task_begin(estimator=estimator, **self._data)

    def round_ended(self, attributes: Callable[[], dict[str, Any]]) -> bool:
        """Tell the callbacks; whether one of them wants the fit to stop."""
        if not getattr(self._estimator, "_skl_callbacks", None):
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
