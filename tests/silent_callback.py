"""A scikit-learn callback that does nothing; the base of those that do something in one place."""


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
