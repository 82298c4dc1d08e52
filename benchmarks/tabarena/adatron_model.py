"""AutoSVC and AutoSVR as a model of TabArena, which builds on AutoGluon's `AbstractModel`.

Written from the interface of these projects; it has not been run with them. The class has to be in a
module of its own, as TabArena pickles models by the name of their module.
"""

from autogluon.core.models import AbstractModel

__all__ = ["AdatronModel", "adatron_experiments"]


class AdatronModel(AbstractModel):
    """`AutoSVC` for classes, `AutoSVR` for numbers; the data frame is handed on as it is."""

    ag_key = "ADATRON"
    ag_name = "AutoSVC"
    seed_name = "random_state"

    def _fit(self, X, y, time_limit=None, num_cpus=1, **kwargs):
        from threadpoolctl import threadpool_limits

        from adatron import AutoSVC, AutoSVR

        estimator = AutoSVR if self.problem_type == "regression" else AutoSVC
        self.model = estimator(time_limit=time_limit, **self._get_model_params())
        # no validation rows are asked for: the search has folds of its own
        limit = num_cpus if isinstance(num_cpus, int) else None
        with threadpool_limits(limit):
            self.model.fit(self.preprocess(X, is_train=True), y)

    def _get_default_auxiliary_params(self):
        """Columns of these types come as they are; AutoGluon prepares others, such as text and dates."""
        own = {"valid_raw_types": ["int", "float", "category", "bool"]}
        return super()._get_default_auxiliary_params() | own

    @classmethod
    def supported_problem_types(cls):
        return ["binary", "multiclass", "regression"]

    def _more_tags(self):
        return {"can_refit_full": True}


def adatron_experiments():
    """The one configuration there is: the defaults. There is nothing to search."""
    from tabarena.utils.config_utils import ConfigGenerator

    generator = ConfigGenerator(model_cls=AdatronModel, manual_configs=[{}], search_space={})
    return generator.generate_all_bag_experiments(num_random_configs=0)
