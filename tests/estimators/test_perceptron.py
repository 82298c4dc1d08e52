"""`KernelPerceptron` and Novikoff's bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from tests.problems_for_tests import noisy_points, separated_points
from tests.reference.perceptron import primal

from adatron import SVC, KernelPerceptron
from adatron.bounds import novikoff_bound
from adatron.kernels import Gaussian, Linear


def largest_margin(kernel, X, y, bias):
    model = SVC(float("inf"), kernel, fit_intercept=bias, tol=1e-9).fit(X, y)
    return 1.0 / np.sqrt(np.abs(model.dual_coef_).sum()), float(model.intercept_[0])


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), kernel=st.sampled_from([Linear(), Gaussian(0.3)]), bias=st.booleans())
def test_mistakes_never_exceed_novikoffs_bound(seed, kernel, bias):
    X, y = separated_points(seed, m=40)
    model = KernelPerceptron(kernel, fit_intercept=bias).fit(X, y)
    assert model.converged_
    margin, b = largest_margin(kernel, X, y, bias)
    radius = float(np.sqrt(kernel.diagonal(X).max()))
    assert abs(b) * margin <= radius or not bias  # the bound's condition on the best bias
    assert 1 <= model.mistakes_[0] <= novikoff_bound(radius, margin, bias=bias)


def test_two_points_make_two_mistakes_of_four_allowed():
    model = KernelPerceptron("linear").fit([[1.0], [-1.0]], [1, -1])
    assert model.mistakes_.tolist() == [2]
    assert novikoff_bound(1.0, 1.0) == 4.0
    assert novikoff_bound(1.0, 0.0) == np.inf
    with pytest.raises(ValueError, match="radius"):
        novikoff_bound(-1.0, 1.0)


@pytest.mark.parametrize("bias", [False, True])
def test_linear_kernel_is_the_primal_perceptron(bias):
    X, y = separated_points(2, m=40)
    model = KernelPerceptron("linear", fit_intercept=bias).fit(X, y)
    w, b, mistakes = list(primal(X, y, int(model.n_iter_[0]), bias=bias))[-1]
    np.testing.assert_allclose(model.decision_function(X), X @ w + b, atol=1e-9)
    assert model.mistakes_[0] == mistakes


def test_overlapping_classes_end_with_a_named_status():
    X, y = noisy_points(0, m=60)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = KernelPerceptron("linear", max_iter=20).fit(X, y)
    assert model.status_ == "max_iter"
    assert not model.converged_


def test_averaging_helps_on_noise():
    scores = {False: [], True: []}
    for seed in range(10):
        X, y = noisy_points(seed, m=200, d=5, flip=0.2)
        for averaged in scores:
            with pytest.warns(ConvergenceWarning):
                model = KernelPerceptron("linear", averaged=averaged, max_iter=10).fit(X[:100], y[:100])
            scores[averaged].append(model.score(X[100:], y[100:]))
    assert np.mean(scores[True]) > np.mean(scores[False]) + 0.02


def test_several_classes_and_no_sample_weight():
    X, y = load_iris(return_X_y=True)
    model = KernelPerceptron(gamma=5.0, max_iter=500).fit(X, y)
    assert model.mistakes_.shape == (3,)
    assert model.score(X, y) > 0.95
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(X, y, sample_weight=np.ones(150))


def test_iter_fit_gives_the_model_after_each_epoch():
    X, y = separated_points(0, m=40)
    model, mistakes = KernelPerceptron("linear"), []
    for record in model.iter_fit(X, y):
        mistakes.append(int(model.mistakes_[0]))
        assert record.epoch == len(mistakes) == model.n_iter_[0]
    fitted = KernelPerceptron("linear").fit(X, y)
    assert mistakes == sorted(mistakes)
    assert mistakes[-2:] == [fitted.mistakes_[0]] * 2  # the last epoch had none
    np.testing.assert_array_equal(model.decision_function(X), fitted.decision_function(X))
    with pytest.raises(ValueError, match="no sample_weight"):
        next(model.iter_fit(X, y, np.ones(len(y))))
