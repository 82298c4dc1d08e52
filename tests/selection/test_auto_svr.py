"""AutoSVR: C, ε and σ from the training data alone."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold
from sklearn.svm import SVR as ReferenceSVR
from tests.silent_callback import SilentCallback
from tests.stopwatch import Stopwatch

from adatron import AutoSVR
from adatron.auto import auto_svr
from adatron.display import KernelPathDisplay
from adatron.gram import REGIME
from adatron.training import Status


def waves(m=100, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, size=(m, 2))
    return X, 50.0 + 10.0 * np.sin(2.0 * X[:, 0]) * X[:, 1] + 10.0 * noise * rng.normal(size=m)


@pytest.fixture(scope="module")
def fitted():
    X, y = waves()
    return AutoSVR(cv=3).fit(X, y)


def test_better_than_the_default_svr(fitted):
    X, y = waves()
    X_test, y_test = waves(500, seed=1)
    reference = ReferenceSVR().fit(X / X.std(axis=0), (y - y.mean()) / y.std())
    default = reference.score(X_test / X.std(axis=0), (y_test - y.mean()) / y.std())
    assert fitted.score(X_test, y_test) > max(0.95, default)


def test_no_worse_than_the_default_svr_on_real_data():
    X, y = load_diabetes(return_X_y=True)
    scale, mean, deviation = X[:300].std(axis=0), y[:300].mean(), y[:300].std()
    reference = ReferenceSVR().fit(X[:300] / scale, (y[:300] - mean) / deviation)
    default = reference.score(X[300:] / scale, (y[300:] - mean) / deviation)
    assert AutoSVR().fit(X[:300], y[:300]).score(X[300:], y[300:]) > default - 0.01


def test_fitted_attributes(fitted):
    assert fitted.converged_
    assert fitted.duality_gap_ <= 1e-3
    assert fitted.path_.best["gamma"] == fitted.gamma_
    assert fitted.path_.best["C"] == fitted.C_
    assert 0.9 < fitted.best_score_ < 1.0
    assert fitted.epsilon_ > 0.0
    display = KernelPathDisplay.from_estimator(fitted)
    assert len(display.line_.get_xdata()) == len(fitted.path_)


def test_depends_on_the_rows_not_on_their_order(fitted):
    X, y = waves()
    order = np.random.default_rng(0).permutation(len(y))
    other = AutoSVR(cv=3).fit(X[order], y[order])
    assert (other.gamma_, other.C_) == pytest.approx((fitted.gamma_, fitted.C_))
    np.testing.assert_allclose(other.predict(X), fitted.predict(X), atol=1e-2)


def test_sparse_and_dense_agree(fitted):
    X, y = waves()
    lean = AutoSVR(cv=3).fit(sparse.csr_array(X), y)
    assert lean.gamma_ == pytest.approx(fitted.gamma_)
    np.testing.assert_allclose(lean.predict(sparse.csr_array(X)), fitted.predict(X), atol=1e-2)


def test_splitters():
    X, y = waves()
    splits = list(GroupKFold(3).split(X, y, np.arange(100) % 3))
    assert AutoSVR(cv=splits).fit(X, y).score(X, y) > 0.9


def test_constant_target():
    model = AutoSVR().fit(np.arange(20.0)[:, None], np.full(20, 7.0))
    np.testing.assert_allclose(model.predict([[3.0], [40.0]]), 7.0)


@pytest.mark.fault("P16")
def test_time_limit():
    X, y = waves(700)
    watch = Stopwatch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the final fit may be cut short
        model = AutoSVR(time_limit=1.0).fit(X, y)
    assert watch.seconds() < 1.0 + 0.2 + 1.0  # the last: a busy machine
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize(
    "parameters", [{"cv": 1}, {"cv": True}, {"time_limit": -1.0}, {"n_jobs": 0}], ids=str
)
def test_bad_parameters(parameters):
    X, y = waves(30)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        AutoSVR(**parameters).fit(X, y)


class Interrupt(SilentCallback):
    """Ctrl-C after so many widths."""

    def __init__(self, after):
        self.left = after

    def on_fit_task_end(self, estimator, context):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("widths", [1, 3])
def test_ctrl_c_keeps_the_best_model_so_far(widths):
    X, y = load_diabetes(return_X_y=True)
    model = AutoSVR().set_callbacks(Interrupt(widths))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ is Status.STOPPED
    assert not model.converged_
    assert len(model.path_) == widths
    assert model.score(X, y) > 0.3


def test_ctrl_c_while_epsilon_is_chosen(monkeypatch):
    X, y = load_diabetes(return_X_y=True)
    solved = auto_svr.RegressionSearch._solved

    def interrupted_once(self, gram, C, epsilon, alpha):
        if epsilon != auto_svr._EPSILON and not pressed:
            pressed.append(True)
            raise KeyboardInterrupt
        return solved(self, gram, C, epsilon, alpha)

    pressed = []
    monkeypatch.setattr(auto_svr.RegressionSearch, "_solved", interrupted_once)
    model = AutoSVR()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ is Status.STOPPED
    assert model.score(X, y) > 0.3


def test_a_scorer_that_some_widths_cannot_be_judged_by():
    X, y = waves()
    model = AutoSVR(cv=KFold(3), scoring="neg_median_absolute_error")
    assert np.isfinite(model.fit(X, y, np.arange(len(y)) >= 30).best_score_)  # no weight in a whole fold
    calls = []

    def picky(model, X, y):
        calls.append(None)
        if len(calls) <= 3:
            raise ValueError("no")
        return -float(np.mean((model.predict(X) - y) ** 2))

    assert AutoSVR(cv=3, scoring=picky).fit(X, y).score(X, y) > 0.5


def test_groups_do_not_enlarge_the_search(monkeypatch):
    sizes = []
    whole_matrix = auto_svr.whole_matrix

    def remembered(kernel, X):
        sizes.append(len(X))
        return whole_matrix(kernel, X)

    monkeypatch.setattr(auto_svr, "whole_matrix", remembered)
    monkeypatch.setattr(AutoSVR, "_regime", replace(REGIME, regression_sample=60))
    X, y = waves()
    AutoSVR(cv=3).fit(X, y, groups=np.arange(100) % 20)
    assert set(sizes) == {60}


def test_ctrl_c_before_any_width_leaves_nothing(monkeypatch):
    X, y = load_diabetes(return_X_y=True)
    model = AutoSVR().fit(X[:50], y[:50])

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(auto_svr, "whole_matrix", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize(
    "scoring", ["r2", "neg_mean_absolute_error", "neg_root_mean_squared_error", "neg_max_error"]
)
def test_scoring_as_in_grid_search(scoring):
    """`best_score_` is the mean over the folds of scikit-learn's score of the chosen model."""
    X, y = waves()
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    model = AutoSVR(cv=folds, scoring=scoring).fit(X, y)
    scaled, targets = X / model.feature_scale_, (y - model._centre) / model._unit
    inner = ReferenceSVR(C=model.C_, epsilon=model.epsilon_ / model._unit, gamma=model.gamma_, tol=1e-5)
    unscaled = TransformedTargetRegressor(
        inner, func=lambda t: t, inverse_func=lambda t: model._centre + model._unit * t, check_inverse=False
    )
    scores = []
    for train, test in folds:
        unscaled.fit(scaled[train], targets[train])
        scores.append(get_scorer(scoring)(unscaled, scaled[test], y[test]))
    assert model.best_score_ == pytest.approx(np.mean(scores), rel=0.05)
