"""What a model file may name: nothing is looked up by an import path, and nothing else is built."""

from __future__ import annotations

from functools import cache
from inspect import signature
from typing import Any

import numpy as np

__all__ = [
    "DROPPED",
    "FIT_ONLY",
    "NUMBER_TYPES",
    "classes_by_tag",
    "estimators_by_tag",
    "is_fitted_name",
    "parameter_names",
    "tag_of",
]

# Attributes that only concern a running fit or how metadata reaches it. Random generators are dropped, too.
DROPPED = ("_skl_callbacks", "_skl_callbacks_to_teardown", "_callback_fit_ctx", "_metadata_request")

FIT_ONLY = {("sklearn.Pipeline", "memory")}  # parameters stored as None: this one may be a path

NUMBER_TYPES: dict[str, type] = {
    **{t.__name__: t for t in (np.float32, np.float64, np.int8, np.int16, np.int32, np.int64)},
    **{t.__name__: t for t in (np.uint8, np.uint16, np.uint32, np.uint64)},
    **{t.__name__: t for t in (float, int, bool, str, object)},
}


@cache
def estimators_by_tag() -> dict[str, type]:
    """Estimators by the names they have in a file: all of adatron's, and transformers before them."""
    from sklearn import compose, impute, pipeline, preprocessing

    import adatron

    own = ["EnsembleSVC", "KernelPerceptron", "OneClassSVM", "ParzenClassifier", "SVC", "SVR"]
    own += ["SupportVectorClustering", "AutoSVC", "AutoSVR"]
    others = {
        pipeline: ["Pipeline"],
        compose: ["ColumnTransformer"],
        impute: ["SimpleImputer", "MissingIndicator"],
        preprocessing: [
            "FunctionTransformer",
            "LabelEncoder",
            "MaxAbsScaler",
            "MinMaxScaler",
            "OneHotEncoder",
            "OrdinalEncoder",
            "RobustScaler",
            "StandardScaler",
        ],
    }
    found: dict[str, type] = {name: getattr(adatron, name) for name in own}
    return found | {
        f"sklearn.{name}": getattr(home, name) for home, names in others.items() for name in names
    }


@cache
def classes_by_tag() -> dict[str, type]:
    """Small frozen objects of adatron: kernels, solvers and parts of fitted models."""
    from adatron import kernels, solvers
    from adatron.clustering.cluster_path import ClusterPath
    from adatron.estimators.classifier import Layout
    from adatron.estimators.probabilities import ClassProbabilities, PairProbabilities
    from adatron.paths.kernel_path import KernelPath

    of_kernels = ["Constant", "Gaussian", "Laplacian", "Linear", "Polynomial", "Power", "Precomputed"]
    of_kernels += ["Product", "Sigmoid", "Sum"]
    of_solvers = ["GreedyAdatron", "KernelAdatron", "M3", "MultiplicativeUpdating", "Munk", "RhoSVM"]
    of_solvers += ["SecantAdatron"]
    parts = (ClusterPath, Layout, ClassProbabilities, PairProbabilities, KernelPath)
    return {
        **{f"kernel.{name}": getattr(kernels, name) for name in of_kernels},
        **{f"solver.{name}": getattr(solvers, name) for name in of_solvers},
        **{f"part.{part.__name__}": part for part in parts},
    }


def tag_of(value: Any, classes: dict[str, type]) -> str | None:
    """The name of the value's very class, None if it has none."""
    return next((tag for tag, kind in classes.items() if type(value) is kind), None)


def parameter_names(kind: Any) -> frozenset[str]:
    """Names of the parameters that an estimator is made with."""
    return frozenset(signature(kind).parameters)


def is_fitted_name(kind: type, name: str) -> bool:
    """Whether an attribute is one that fit sets: public with ``_`` at its end, or private.

    Never one that the class defines: a value from a file must not take the place of a method.
    """
    if not name.isidentifier() or name.startswith("__") or hasattr(kind, name):
        return False
    return name.startswith("_") or name.endswith("_")
