"""`ParzenClassifier`: the classifier from which the ensemble starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.estimators.base import FitPlan, unfitted_on_error
from adatron.estimators.classifier import ExpansionClassifier, expansion_attributes
from adatron.estimators.kernel_choice import kernel_from, probe_callable
from adatron.estimators.multiclass import Layout
from adatron.estimators.training_set import classification_set

__all__ = ["ParzenClassifier"]


class ParzenClassifier(ExpansionClassifier):
    """Parzen window classifier: ``f(x) = Σ w_i y_i k(x_i, x) / Σ w_i``, nothing to train.

    It is the first stage of `EnsembleSVC` (Tsang & Kwok 2007). More than two classes are one-vs-rest.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}, Kernel or callable, \
default="rbf"
    degree : int, default=3
    gamma : {"mean", "scale", "auto"} or float, default="mean"
    coef0 : float, default=0.0
    class_weight : dict or "balanced", default=None

    Attributes
    ----------
    classes_, support_, support_vectors_, dual_coef_, intercept_, n_support_ : ndarray
        As in `SVC`; every row is a support vector.

    References
    ----------
    E. Parzen, *On Estimation of a Probability Density Function and Mode*, Annals of Mathematical Statistics
    33, 1962.

    I. W. Tsang, J. T. Kwok, *Ensembles of Partially Trained SVMs with Multiplicative Updates*, IJCAI 2007.

    Examples
    --------
    >>> from adatron import ParzenClassifier
    >>> from adatron.datasets import load_ionosphere
    >>> X, y = load_ionosphere(return_X_y=True)
    >>> bool(ParzenClassifier(gamma=1.0).fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(self, kernel="rbf", *, degree=3, gamma="mean", coef0=0.0, class_weight=None):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ParzenClassifier:
        """Remember the rows of `X`, their labels `y` and weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        ParzenClassifier
        """
        with unfitted_on_error(self):
            data = classification_set(self, X, y, sample_weight)
            kernel = kernel_from(self, data.X, data.sample_weight)
            probe_callable(kernel, data.X)
            layout = Layout(len(data.classes), "ovr")
            layout.check_size(len(data.codes))
            plan = FitPlan(kernel, data, None, [], layout=layout)
            signs = layout.signs(data.codes)
            coefficients = signs * (data.weights / data.weights.sum())[:, None]
            self.__dict__.update(expansion_attributes(plan, coefficients, np.zeros(signs.shape[1])))
        return self
