"""Whether a model agrees with itself, before it is saved and after it is loaded (fault F7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sklearn.base import BaseEstimator

from adatron.clustering import SupportVectorClustering as Clustering
from adatron.estimators import SVC, SVR, EnsembleSVC, KernelPerceptron, OneClassSVM, ParzenClassifier
from adatron.io import machine_checks as machines
from adatron.io import transformer_checks as transformers
from adatron.io.facts import Facts
from adatron.selection import AutoSVC, AutoSVR

__all__ = ["check_model"]

_EXPANSION = (machines.check_features, machines.check_kernel, machines.check_support)
_CLASSIFIER = (*_EXPANSION, machines.check_classes, machines.check_probabilities)

_OWN: dict[type, tuple[Callable[[Facts], None], ...]] = {
    SVC: (*_CLASSIFIER, machines.check_bound, machines.check_summary, machines.check_shape_of_decisions),
    EnsembleSVC: (*_CLASSIFIER, machines.check_summary, machines.check_stages),
    KernelPerceptron: (*_CLASSIFIER, machines.check_summary),
    ParzenClassifier: _CLASSIFIER,
    AutoSVC: (*_CLASSIFIER, machines.check_scales),
    SVR: (*_EXPANSION, machines.check_single, machines.check_bound, machines.check_summary),
    OneClassSVM: (
        *_EXPANSION, machines.check_single, machines.check_bound, machines.check_summary,
        machines.check_one_class,
    ),
    AutoSVR: (machines.check_features, machines.check_scales, machines.check_targets),
    Clustering: (machines.check_features, machines.check_clusters, machines.check_summary),
}  # fmt: skip


def check_model(model: BaseEstimator, *, deep: bool = False) -> None:
    """Raise a ValueError when fitted attributes contradict one another.

    Parameters
    ----------
    model : estimator
    deep : bool, default=False
        Whether to check estimators within it, too.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.io.checks import check_model
    >>> model = SVC().fit([[-1.0], [1.0]], [0, 1])
    >>> model.n_support_[0] = 7
    >>> check_model(model)
    Traceback (most recent call last):
    ValueError: inconsistent model: SVC.n_support_ adds up to 8, but there are 2 support vectors
    """
    for part in _parts(model) if deep else [model]:
        facts = Facts(part)
        transformers.check_parameters(facts)
        if any(name.endswith("_") for name in vars(part)) or hasattr(part, "steps"):
            for check in _OWN.get(type(part)) or transformers.checks_of(type(part)):
                check(facts)


def _parts(value: Any) -> Iterator[BaseEstimator]:
    """An estimator and all those within it."""
    if isinstance(value, BaseEstimator):
        yield value
        value = list(vars(value).values())
    for item in value if isinstance(value, list | tuple) else ():
        yield from _parts(item)
