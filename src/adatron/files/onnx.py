"""Models as ONNX files, through estimators of scikit-learn that predict the same, and skl2onnx."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import svm
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron.auto import AutoSVC, AutoSVR
from adatron.auto.search_data import divided_by
from adatron.estimators import SVC, SVR, OneClassSVM
from adatron.estimators.classifier import ExpansionClassifier
from adatron.estimators.expansion import fitted_like, libsvm_form
from adatron.files.atomic import atomic_write


def to_onnx(model: Any, path: str | os.PathLike[str], *, initial_types: Any = None) -> None:
    """Write a fitted model as an ONNX file; needs ``pip install adatron[export]``.

    ONNX keeps coefficients in float32, so decisions agree to some 1e-7 of the sum of their sizes; from those
    of `AutoSVC` its `best_threshold_` is subtracted, so that predictions agree. A classifier has the outputs
    ``label`` and ``probabilities``, which are decision values here, one for each class: -f and f of two
    classes. A regression has ``variable``, novelty detection ``label`` and ``scores``.

    Parameters
    ----------
    model : estimator
        `SVC` (two classes, or trained in pairs), `SVR`, `OneClassSVM`, `AutoSVR`; `AutoSVC`, `EnsembleSVC`,
        `KernelPerceptron` and `ParzenClassifier` with two classes; or a pipeline that ends in one of them.
    path : str or path
        Written whole or not at all.
    initial_types : list of (name, type), optional
        As `skl2onnx.convert_sklearn` takes it; default: one input ``X`` of float32 numbers.

    See Also
    --------
    to_libsvm : writes a text file that keeps every digit.
    save_model : keeps everything, for adatron itself.

    Examples
    --------
    >>> import os, tempfile
    >>> from adatron import SVR, io
    >>> model = SVR().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     io.to_onnx(model, os.path.join(directory, "model.onnx"))
    ...     os.listdir(directory)
    ['model.onnx']
    """
    try:
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError as error:
        raise ImportError("to_onnx needs skl2onnx: pip install 'adatron[export]'") from error
    counterpart = _sklearn_equivalent(model)
    types = initial_types or [("X", FloatTensorType([None, model.n_features_in_]))]
    last = counterpart
    while hasattr(last, "steps"):
        last = last.steps[-1][1]
    if not len(last.support_):
        raise ValueError("a model without support vectors has one constant output; ONNX needs some of them")
    options = {id(last): {"zipmap": False, "raw_scores": True}} if hasattr(last, "classes_") else None
    converted = convert_sklearn(counterpart, initial_types=types, options=options)
    atomic_write(path, [converted.SerializeToString()])


def _sklearn_equivalent(model: Any) -> Any:
    """A fitted estimator of scikit-learn that predicts what `model` does.

    Scaled machines become a pipeline with their scales. What is scikit-learn's already stays.
    """
    if isinstance(model, Pipeline):
        return Pipeline([(name, _sklearn_equivalent(step)) for name, step in model.steps])
    if isinstance(model, SVC | SVR | OneClassSVM):
        return model.to_sklearn()
    if isinstance(model, AutoSVC):
        form = libsvm_form(model)
        intercept = form.intercept - getattr(model, "best_threshold_", 0.0)  # predictions move with it
        form = replace(form, vectors=divided_by(form.vectors, model.feature_scale_), intercept=intercept)
        return make_pipeline(_scaler(model), fitted_like(svm.SVC, model, form))
    if isinstance(model, AutoSVR):  # the inner machine, with outputs in units of the targets
        form, unit = libsvm_form(model.svr_), model._unit
        form = replace(form, dual_coef=unit * form.dual_coef, intercept=unit * form.intercept + model._centre)
        return make_pipeline(_scaler(model), fitted_like(svm.SVR, model.svr_, form))
    if isinstance(model, ExpansionClassifier):
        return fitted_like(svm.SVC, model, libsvm_form(model))
    if type(model).__module__.split(".")[0] == "adatron":
        raise ValueError(f"scikit-learn has no counterpart of {type(model).__name__}")
    return model


def _scaler(model: Any) -> StandardScaler:
    """The scales of a model; features are not moved."""
    scaler = StandardScaler(with_mean=False).fit(np.zeros((1, model.n_features_in_)))
    scaler.scale_, scaler.var_ = model.feature_scale_.copy(), np.square(model.feature_scale_)
    if hasattr(model, "feature_names_in_"):
        scaler.feature_names_in_ = model.feature_names_in_
    return scaler
