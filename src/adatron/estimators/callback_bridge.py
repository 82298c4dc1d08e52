"""scikit-learn's callbacks on our fits. No other module imports `sklearn.callback`, which came with 1.9.

With an earlier scikit-learn a fit has no callbacks, and setting one is an error.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import sklearn

__all__ = ["HAS_CALLBACKS", "CallbackSupportMixin", "with_callbacks"]

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
