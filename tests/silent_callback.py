"""A scikit-learn callback that does nothing; the base of those that do something in one place."""

import pytest

from adatron.estimators.callback_bridge import HAS_CALLBACKS

# for tests of the command line, which runs in another process; others skip by themselves (conftest.py)
needs_callbacks = pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks need scikit-learn >= 1.9")


class SilentCallback:
    """Override what matters."""

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        pass
