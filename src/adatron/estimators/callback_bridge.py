"""scikit-learn's callbacks on our fits. No other module imports `sklearn.callback`, which came with 1.9.

With an earlier scikit-learn a fit has no callbacks, and setting one is an error.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import sklearn

__all__ = ["HAS_CALLBACKS", "CallbackSupportMixin", "FitTasks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    HAS_CALLBACKS = True
except ModuleNotFoundError:  # scikit-learn < 1.9
    HAS_CALLBACKS = False

if not (HAS_CALLBACKS or TYPE_CHECKING):

    class CallbackSupportMixin:
        """The part of scikit-learn's mixin that fits without callbacks need."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Raise an error unless there are none.

            Parameters
            ----------
            *callbacks : callbacks of scikit-learn >= 1.9

            Returns
            -------
            Self
            """
            if callbacks:
                raise ImportError(f"callbacks need scikit-learn >= 1.9, and this is {sklearn.__version__}")
            return self

    def with_callbacks(method: Callable) -> Callable:
        """Return `method` itself: there is nothing to tear down."""
        return method


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
        return self._ended(task, attributes)

    def ended(self, attributes: Callable[[], dict[str, Any]]) -> None:
        """Tell the callbacks that the whole fit is done."""
        if self._task is not None:
            self._ended(self._task, attributes)

    def _ended(self, task: Any, attributes: Callable[[], dict[str, Any]]) -> bool:
        return task.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=attributes, **self._data
        )
