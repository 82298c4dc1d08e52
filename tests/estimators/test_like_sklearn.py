"""`SVC` against `sklearn.svm.SVC`: equal predictions, equal conventions."""

import numpy as np
import pytest
import sklearn.datasets
import sklearn.svm

from adatron import SVC, datasets

SETS = {
    "digits": sklearn.datasets.load_digits,
    "wine": sklearn.datasets.load_wine,
    "breast cancer": sklearn.datasets.load_breast_cancer,
    "sonar": datasets.load_sonar,
    "wisconsin": datasets.load_breast_cancer_wisconsin,
    "ionosphere": datasets.load_ionosphere,
    "pima": datasets.load_pima,
}


def fit_both(X, y, **parameters):
    return SVC(**parameters).fit(X, y), sklearn.svm.SVC(**parameters).fit(X, y)


@pytest.mark.parametrize("parameters", [{}, {"C": 10.0}, {"kernel": "poly"}], ids=str)
@pytest.mark.parametrize("name", SETS)
def test_predictions_agree(name, parameters):
    X, y = SETS[name](return_X_y=True)
    ours, theirs = fit_both(X, y, **parameters)
    assert ours.converged_
    assert np.mean(ours.predict(X) == theirs.predict(X)) >= 0.995


# (The Wisconsin data has equal rows, so its multipliers are not unique.)
@pytest.mark.parametrize("name", ["wine", "sonar", "ionosphere", "breast cancer"])
def test_fitted_attributes_follow_its_conventions(name):
    X, y = SETS[name](return_X_y=True)
    ours, theirs = (model.fit(X, y) for model in (SVC(tol=1e-9), sklearn.svm.SVC(tol=1e-9)))
    for attribute in ("support_", "dual_coef_", "intercept_", "n_support_", "support_vectors_"):
        a, b = getattr(ours, attribute), getattr(theirs, attribute)
        assert a.shape == b.shape, attribute
        assert a.dtype == b.dtype, attribute
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=attribute)
    np.testing.assert_array_equal(ours.class_weight_, theirs.class_weight_)
    assert ours.shape_fit_ == theirs.shape_fit_
    assert ours.fit_status_ == theirs.fit_status_ == 0
    assert ours.n_iter_.shape == theirs.n_iter_.shape


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("name", ["wine", "digits", "sonar"])
def test_decision_function(name, shape):
    X, y = SETS[name](return_X_y=True)
    X = X / X.max()
    ours, theirs = fit_both(X, y, decision_function_shape=shape, tol=1e-8)
    a, b = ours.decision_function(X), theirs.decision_function(X)
    assert a.shape == b.shape
    away_from_ties = np.abs(b - np.round(b)) > 1e-5
    np.testing.assert_allclose(a[away_from_ties], b[away_from_ties], atol=1e-4)


@pytest.mark.parametrize("name", ["wine", "sonar"])
def test_linear_weights(name):
    X, y = SETS[name](return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours, theirs = fit_both(X, y, kernel="linear", tol=1e-9, C=0.1)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = SVC().fit(X, y).coef_


@pytest.mark.parametrize("weight", ["balanced", {0: 3.0}])
def test_class_weight(weight):
    X, y = datasets.load_ionosphere(return_X_y=True)
    ours, theirs = fit_both(X, y, class_weight=weight, tol=1e-8)
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


def test_sample_weight():
    X, y = datasets.load_sonar(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    ours = SVC(tol=1e-8, gamma=0.5).fit(X, y, weights)
    theirs = sklearn.svm.SVC(tol=1e-8, gamma=0.5).fit(X, y, weights)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


def test_break_ties():
    X, y = sklearn.datasets.load_wine(return_X_y=True)
    ours, theirs = fit_both(X, y, break_ties=True)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    with pytest.raises(ValueError, match="break_ties"):
        SVC(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X)


def test_every_parameter_of_sklearn_is_there_with_its_default():
    ours, theirs = SVC().get_params(), sklearn.svm.SVC().get_params()
    different = {name for name in theirs if ours[name] != theirs[name]}
    assert different <= {"cache_size", "probability"}  # "auto" here, MB there; a deprecation marker there
