"""What scikit-learn's transformers in a model file must satisfy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from adatron.io.facts import Facts
from adatron.kernels import KERNELS, CallableKernel, Kernel

__all__ = ["check_parameters", "checks_of"]


def check_parameters(facts: Facts) -> None:
    """Parameters that could name code or a place: a file must not have them (K12)."""
    if "kernel" in facts.attributes:
        kernel = facts.attributes["kernel"]
        known = kernel in KERNELS if isinstance(kernel, str) else isinstance(kernel, Kernel)
        is_function = isinstance(kernel, CallableKernel)
        names = list(KERNELS)
        facts.require(known and not is_function, "kernel", f"is {str(kernel)[:50]!r}, not one of {names}")
    if isinstance(facts.model, FunctionTransformer):
        for name in ("func", "inverse_func"):
            facts.require(facts.get(name) is None, name, "is a function, which a model file cannot hold")


def checks_of(kind: type) -> tuple[Callable[[Facts], None], ...]:
    """The checks of a class of scikit-learn."""
    return _CHECKS[kind]


def _check_numbers(facts: Facts, names: tuple[str, ...], positive: str = "") -> None:
    """Numbers for each feature, or None where the transformer was told to do without."""
    n_features = facts.integer("n_features_in_", 1)
    for name in names:
        if facts.get(name) is not None:
            values = facts.array(name, (n_features,))
            facts.require(name != positive or (values > 0.0).all(), name, "has numbers that are not positive")


def _check_standard(facts: Facts) -> None:
    _check_numbers(facts, ("mean_", "scale_"), positive="scale_")
    for flag, name in (("with_mean", "mean_"), ("with_std", "scale_")):
        facts.require(not facts.get(flag) or facts.get(name) is not None, name, "is missing")


def _check_imputer(facts: Facts) -> None:
    n_features = facts.integer("n_features_in_", 1)
    facts.shaped("statistics_", facts.a("statistics_", np.ndarray), (n_features,))
    facts.a("indicator_", (MissingIndicator, type(None)))
    facts.a("_fill_dtype", np.dtype)


def _check_indicator(facts: Facts) -> None:
    features, n_features = facts.array("features_", (None,), "i"), facts.integer("n_features_in_", 1)
    inside = not len(features) or (features.min() >= 0 and features.max() < n_features)
    facts.require(inside, "features_", "points beyond the features")


def _check_encoder(facts: Facts) -> None:
    n_features = facts.integer("n_features_in_", 1)
    categories = facts.a("categories_", list)
    facts.require(len(categories) == n_features, "categories_", f"are not those of {n_features} features")
    for values in categories:
        fits = isinstance(values, np.ndarray) and values.ndim == 1
        facts.require(fits, "categories_", "are not vectors")
    for name in ("_infrequent_indices", "_default_to_infrequent_mappings", "_n_features_outs"):
        known = facts.attributes.get(name)
        fits = known is None or (isinstance(known, list) and len(known) == n_features)
        facts.require(fits, name, f"are not those of {n_features} features")


def _check_steps(facts: Facts) -> None:
    steps = facts.a("steps", list)
    facts.require(steps, "steps", "are missing")
    for step in steps:
        fits = isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str)
        facts.require(fits and _is_transformer(step[1]), "steps", "are not pairs of a name and an estimator")


def _check_columns(facts: Facts) -> None:
    facts.integer("n_features_in_", 1)
    for part in facts.a("transformers_", list):
        fits = isinstance(part, tuple) and len(part) == 3 and isinstance(part[0], str)
        facts.require(fits and _is_transformer(part[1]), "transformers_", "are not name, estimator, columns")
        facts.require(not callable(part[2]), "transformers_", "have a function for columns")
    slices = facts.a("output_indices_", dict)
    fits = all(isinstance(value, slice) for value in slices.values())
    facts.require(fits, "output_indices_", "are not slices")


def _is_transformer(value: object) -> bool:
    return isinstance(value, BaseEstimator) or value in ("passthrough", "drop", None)


def _check_labels(facts: Facts) -> None:
    facts.shaped("classes_", facts.a("classes_", np.ndarray), (None,))


_CHECKS: dict[type, tuple[Callable[[Facts], None], ...]] = {
    StandardScaler: (_check_standard,),
    MinMaxScaler: (partial(_check_numbers, names=("min_", "scale_")),),
    MaxAbsScaler: (partial(_check_numbers, names=("scale_",), positive="scale_"),),
    RobustScaler: (partial(_check_numbers, names=("center_", "scale_"), positive="scale_"),),
    SimpleImputer: (_check_imputer,),
    MissingIndicator: (_check_indicator,),
    OneHotEncoder: (_check_encoder,),
    OrdinalEncoder: (_check_encoder,),
    LabelEncoder: (_check_labels,),
    FunctionTransformer: (),
    Pipeline: (_check_steps,),
    ColumnTransformer: (_check_columns,),
}
