"""`SVC` against `sklearn.svm.SVC`: equal predictions, equal conventions."""

import numpy as np
import pytest
import sklearn.datasets
import sklearn.svm
from scipy import sparse
from sklearn.exceptions import NotFittedError

from adatron import SVC, SVR, EnsembleSVC, OneClassSVM, datasets
from adatron.exceptions import InfeasibleError

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


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.lil_matrix])
@pytest.mark.parametrize(
    "estimator", [SVC(kernel="linear"), SVR(kernel="linear"), OneClassSVM(kernel="linear")]
)
def test_coefficients_of_a_sparse_fit_are_sparse(estimator, container):
    X, y = sklearn.datasets.load_iris(return_X_y=True)
    dense = sklearn.base.clone(estimator).fit(X, y)
    model = estimator.fit(container(X), y)
    assert sparse.issparse(model.dual_coef_)
    assert sparse.issparse(model.coef_)
    np.testing.assert_allclose(model.dual_coef_.toarray(), dense.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(model.coef_.toarray(), dense.coef_, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), dense.predict(container(X)), atol=1e-9)


def test_ensembles_of_sparse_rows_predict_like_those_of_dense_ones():
    X, y = datasets.load_sonar(return_X_y=True)
    model = EnsembleSVC().fit(sparse.csr_array(X), y)
    assert sparse.issparse(model.dual_coef_)
    np.testing.assert_array_equal(model.predict(X), EnsembleSVC().fit(X, y).predict(X))


def test_weights_of_features_cannot_be_changed():
    X, y = sklearn.datasets.load_iris(return_X_y=True)
    for rows in (X, sparse.csr_array(X)):
        model = SVC(kernel="linear").fit(rows, y)
        with pytest.raises(ValueError, match="read-only"):
            model.coef_[0, 0] = 1.0


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, np.matrix])
def test_kernel_functions_may_return_matrices(kind):
    X, y = sklearn.datasets.load_iris(return_X_y=True)
    model = SVC(kernel=lambda A, B: kind(A @ B.T)).fit(X, y)
    expected = SVC(kernel="linear").fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-7)


def counts(texts):
    return np.array([[text.count("a"), text.count("b"), 1] for text in texts], dtype=float)


@pytest.mark.parametrize("n", [30, 2_500])  # whole matrices, and rows on demand
def test_kernel_functions_compare_what_they_like(n):
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ab"), size=9)) for _ in range(n)]
    y = np.array([text.count("a") > 4 for text in texts])
    model = SVC(kernel=lambda A, B: counts(A) @ counts(B).T).fit(texts, y)
    expected = SVC(kernel="linear").fit(counts(texts), y)
    new = ["aaab", "abbb"]
    assert model.converged_
    assert model.predict(new).tolist() == expected.predict(counts(new)).tolist() == [True, False]
    np.testing.assert_allclose(
        model.decision_function(new), expected.decision_function(counts(new)), atol=1e-2
    )
    assert set(model.support_vectors_) <= set(texts)


def test_kernel_functions_of_text_that_looks_like_numbers_and_of_ragged_sequences():
    def common(A, B):
        return np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float)

    model = SVC(kernel=common).fit(["ab", "abc", "xy", "12"], [0, 0, 1, 1])
    assert model.predict(["12", "ab"]).tolist() == [1, 0]
    assert SVC(kernel=common).fit(["1", "12", "3", "34"], [0, 0, 1, 1]).predict(["12", "34"]).tolist() == [
        0,
        1,
    ]
    ragged = SVC(kernel=common).fit([[1, 2], [1, 2, 3], [7], [7, 8]], [0, 0, 1, 1])
    assert ragged.predict([[2], [8, 9, 9]]).tolist() == [0, 1]


def test_probabilities_of_classes_with_one_row():
    """The row is held out, and the pair is decided for the class that is left, as LIBSVM does it."""
    X, y = sklearn.datasets.load_iris(return_X_y=True)
    rows = np.r_[0:51, 100:101]
    for multi_class in ("ovo", "ovr", "crammer_singer"):
        model = SVC(probability=True, multi_class=multi_class).fit(X[rows], y[rows])
        probabilities = model.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
        assert probabilities[:50, 0].mean() > 0.8


@pytest.mark.filterwarnings("ignore:the kernel matrix is numerically the identity")
def test_a_decision_of_zero_counts_for_the_first_class_in_scores_and_the_second_in_votes():
    X = np.array([[0.0], [1.0], [2.0]])
    ours, theirs = fit_both(X, [0, 1, 2], gamma=1e6)
    np.testing.assert_allclose(ours.decision_function([[5.0]]), theirs.decision_function([[5.0]]))
    np.testing.assert_array_equal(ours.predict([[5.0]]), theirs.predict([[5.0]]))


def test_an_infinite_C_of_regressions_leaves_no_target_outside_of_the_tube():
    X, y = sklearn.datasets.make_regression(random_state=0)
    model, large = SVR(C=np.inf).fit(X, y), SVR(C=1e10).fit(X, y)
    assert model.converged_
    assert np.abs(model.predict(X) - y).max() <= 0.1 + 1e-6
    np.testing.assert_allclose(model.predict(X), large.predict(X))


def test_an_infinite_C_of_regressions_is_refused_where_no_function_can_do_it():
    X, y = sklearn.datasets.make_regression(random_state=0)
    with pytest.raises(InfeasibleError, match=r"rows 0 and 100 of X coincide"):
        SVR(C=np.inf).fit(np.vstack([X, X[:1]]), np.append(y, y[0] + 1.0))
    X = np.linspace(0.0, 6.0, 200)[:, None]
    with pytest.raises(InfeasibleError, match=r"no function of this kernel stays within epsilon"):
        SVR(C=np.inf, kernel="linear").fit(X, np.sin(X).ravel())


def test_probabilities_that_are_not_there_are_explained():
    X, y = sklearn.datasets.load_iris(return_X_y=True)
    model = SVC().fit(X, y)
    with pytest.raises(AttributeError) as error:
        _ = model.predict_proba
    assert "probability=False" in str(error.value.__cause__)
    model.probability = True
    with pytest.raises(NotFittedError, match="not available when fitted with probability=False"):
        model.predict_proba(X)
