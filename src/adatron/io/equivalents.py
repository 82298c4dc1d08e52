"""Models made of scikit-learn's parts only, for tools that know those."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import svm
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron.auto.search_data import divided_by
from adatron.estimators import SVC, SVR, OneClassSVM
from adatron.estimators.classifier import ExpansionClassifier
from adatron.estimators.expansion import LibsvmForm, fitted_like, libsvm_form
from adatron.selection import AutoSVC, AutoSVR

__all__ = ["sklearn_equivalent"]


def sklearn_equivalent(model: Any) -> Any:
    """A fitted estimator of scikit-learn that predicts what `model` does.

    Machines become those of `sklearn.svm`; classifiers with other training and two classes do, too, as they
    decide alike; scaled ones become a pipeline with their scales. What is scikit-learn's already stays.

    Examples
    --------
    >>> from adatron import AutoSVC
    >>> from adatron.io.equivalents import sklearn_equivalent
    >>> from adatron.datasets import load_ionosphere
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> [name for name, step in sklearn_equivalent(AutoSVC().fit(X, y)).steps]
    ['standardscaler', 'svc']
    """
    if isinstance(model, Pipeline):
        return Pipeline([(name, sklearn_equivalent(step)) for name, step in model.steps])
    if isinstance(model, SVC | SVR | OneClassSVM):
        return model.to_sklearn()
    if isinstance(model, AutoSVC):
        return make_pipeline(_scaler(model), fitted_like(svm.SVC, model, _scaled(model)))
    if isinstance(model, AutoSVR):
        return make_pipeline(_scaler(model), _unscaled_targets(model))
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


def _scaled(model: AutoSVC) -> LibsvmForm:
    form = libsvm_form(model)
    intercept = form.intercept - getattr(model, "best_threshold_", 0.0)  # predictions move with it
    return _replaced(form, vectors=divided_by(form.vectors, model.feature_scale_), intercept=intercept)


def _unscaled_targets(model: AutoSVR) -> svm.SVR:
    """The inner SVR, whose outputs are those of the targets as they were."""
    form, unit = libsvm_form(model.svr_), model._unit
    intercept = unit * form.intercept + model._centre
    return fitted_like(
        svm.SVR, model.svr_, _replaced(form, dual_coef=unit * form.dual_coef, intercept=intercept)
    )


def _replaced(form: LibsvmForm, **parts: Any) -> LibsvmForm:
    return LibsvmForm(**(vars(form) | parts))
