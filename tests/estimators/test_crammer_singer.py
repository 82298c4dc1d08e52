"""SVC(multi_class="crammer_singer"): optimal, equal to LIBLINEAR's, and an SVC in every other respect."""

import csv
import lzma
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from tests.data_dir import data_dir
from tests.oracles.qp import (
    coupled_bounds,
    coupled_objective,
    solve_coupled_cvxopt,
    solve_coupled_piqp,
)
from tests.stopwatch import Stopwatch

from adatron import SVC
from adatron.display.convergence import problem_names_of
from adatron.exceptions import InfeasibleError
from adatron.kernels import Gaussian, Linear, Polynomial

KERNELS = [Linear(), Gaussian(0.3), Polynomial(2)]
ALL_C = [0.01, 0.1, 1.0, 10.0, 100.0]


def direct(**parameters):
    return SVC(multi_class="crammer_singer", **parameters)


def blobs(seed, n_classes, m=60, spread=1.0):
    """Overlapping classes, each there, and weights of the rows."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, m - n_classes)])
    X = rng.normal(size=(m, 3)) + rng.normal(scale=spread, size=(n_classes, 3))[codes]
    return X, codes, rng.uniform(0.2, 3.0, m)


def multipliers(model, m):
    A = np.zeros((m, len(model.classes_)))
    A[model.support_] = model.dual_coef_.T
    return A


def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_objective_is_the_optimum_to_eight_digits():
    for seed in range(100):
        check_objective(seed)


def check_objective(seed):
    n_classes, C, kernel = 3 + seed % 3, ALL_C[seed % 5], KERNELS[(seed // 5) % 3]
    bias = bool(seed % 2)
    X, codes, weights = blobs(seed, n_classes, m=20 + seed % 25)
    model = direct(C=C, kernel=kernel, fit_intercept=bias, tol=1e-9).fit(X, codes, weights)
    assert model.converged_, seed
    assert model.duality_gap_ <= 1e-9
    K, A = kernel(X, X) + float(bias), multipliers(model, len(X))
    bounds = coupled_bounds(codes, n_classes, C * weights)
    np.testing.assert_allclose(A.sum(axis=1), 0.0, atol=1e-12 * np.abs(A).max())
    assert (bounds >= A).all()
    ours = coupled_objective(K, codes, A)
    for solve in (solve_coupled_cvxopt, solve_coupled_piqp):
        theirs = coupled_objective(K, codes, solve(K, codes, n_classes, C * weights))
        assert ours == pytest.approx(theirs, rel=1e-8)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_linear_kernel_is_liblinear_with_the_same_C(C, bias, load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = direct(C=C, kernel="linear", fit_intercept=bias, tol=1e-9).fit(X, y)
    theirs = LinearSVC(
        C=C, multi_class="crammer_singer", fit_intercept=bias, tol=1e-8, max_iter=1_000_000, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    values = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), values, atol=1e-5)
    best, second = np.sort(values, axis=1)[:, :-3:-1].T
    no_tie = best > second + 2e-5  # a row at its bound may belong to two classes alike
    assert no_tie.mean() > 0.95
    np.testing.assert_array_equal(ours.predict(X)[no_tie], theirs.predict(X)[no_tie])


@pytest.mark.parametrize("bias", [False, True])
def test_two_classes_are_a_support_vector_machine_with_twice_the_C(bias):
    X, y, weights = blobs(0, 2)
    K = Gaussian(0.5)(X, X)
    ours = direct(C=3.0, kernel="precomputed", fit_intercept=bias, tol=1e-9).fit(K, y, weights)
    plain = SVC(C=6.0, kernel="precomputed", fit_intercept=False, tol=1e-9).fit(K + float(bias), y, weights)
    decisions = ours.decision_function(K)
    assert decisions.shape == (60,)
    assert ours.dual_coef_.shape == (1, len(ours.support_))
    np.testing.assert_allclose(decisions, plain.decision_function(K + float(bias)), atol=1e-7)
    np.testing.assert_array_equal(ours.predict(K), plain.predict(K + float(bias)))
    rows = direct(C=3.0, kernel="linear", tol=1e-9).fit(X, y)
    theirs = LinearSVC(C=3.0, multi_class="crammer_singer", tol=1e-8, max_iter=1_000_000).fit(X, y)
    np.testing.assert_allclose(rows.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(rows.intercept_, theirs.intercept_, atol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_a_weight_of_two_is_the_row_twice(kernel):
    X, y, _ = blobs(1, 4)
    copies = np.random.default_rng(0).integers(0, 4, len(y))
    copies[:4] = 1
    order = np.random.default_rng(1).permutation(copies.sum())
    rows = np.repeat(np.arange(len(y)), copies)[order]
    weighted = direct(kernel=kernel).fit(X, y, sample_weight=copies)
    repeated = direct(kernel=kernel).fit(X[rows], y[rows])
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-7, atol=1e-9
    )


def test_class_weight_multiplies_C():
    X, y, _ = blobs(2, 3)
    factors = {0: 3.0, 1: 1.0, 2: 0.5}
    by_class = direct(class_weight=factors).fit(X, y)
    np.testing.assert_allclose(by_class.class_weight_, [3.0, 1.0, 0.5])
    gamma = by_class._kernel.gamma  # the weights of rows also count in gamma="scale", those of classes do not
    by_row = direct(gamma=gamma).fit(X, y, sample_weight=[factors[c] for c in y])
    np.testing.assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_as_accurate_as_one_vs_one(load):
    X, y = load(return_X_y=True)
    scores = {
        strategy: cross_val_score(
            make_pipeline(StandardScaler(), SVC(multi_class=strategy)), X, y, cv=5
        ).mean()
        for strategy in ("ovo", "crammer_singer")
    }
    assert scores["crammer_singer"] >= 0.95
    assert scores["crammer_singer"] >= scores["ovo"] - 0.01


def satimage():
    with lzma.open(data_dir() / "uci" / "satimage.csv.xz", "rt") as file:
        table = list(csv.reader(file))[1:]
    X, y = np.array([row[:-1] for row in table], dtype=float), np.array([row[-1] for row in table])
    chosen = np.random.default_rng(0).permutation(4435)[:1000]
    scaler = StandardScaler().fit(X[chosen])
    return scaler.transform(X[chosen]), y[chosen], scaler.transform(X[4435:]), y[4435:]


def test_as_accurate_as_one_vs_one_on_satimage():
    X, y, X_test, y_test = satimage()
    scores = {}
    for strategy in ("ovo", "crammer_singer"):
        model = SVC(multi_class=strategy, gamma=0.1).fit(X, y)
        assert model.converged_
        scores[strategy] = model.score(X_test, y_test)
    assert scores["crammer_singer"] >= 0.87
    assert abs(scores["crammer_singer"] - scores["ovo"]) <= 0.01


def test_fitted_attributes_are_those_of_one_vs_rest():
    X, y = iris()
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model, rest = direct().fit(X, names), SVC(multi_class="ovr").fit(X, names)
    assert set(vars(model)) == set(vars(rest))
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.support_vectors_.shape == (len(model.support_), 4)
    assert model.n_support_.sum() == len(model.support_)
    assert model.intercept_.shape == (3,)
    np.testing.assert_array_equal(model.bias_interval_, np.column_stack([model.intercept_] * 2))
    decisions = model.decision_function(X)
    assert decisions.shape == (150, 3)
    np.testing.assert_array_equal(model.predict(X), model.classes_[decisions.argmax(axis=1)])
    assert len(model.n_iter_) == 1
    assert problem_names_of(model) == ["setosa / versicolor / virginica"]
    assert set(model.history_["problem"]) == {0}
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), decisions)


@pytest.mark.parametrize("bias", [False, True])
def test_sparse_and_precomputed_and_callable_are_the_same_model(bias):
    X, y, _ = blobs(3, 3)
    X[np.abs(X) < 0.3] = 0.0
    common = {"tol": 1e-9, "fit_intercept": bias}
    dense = direct(gamma=0.4, **common).fit(X, y).decision_function(X)
    K = Gaussian(0.4)(X, X)
    others = [
        direct(gamma=0.4, **common).fit(sparse.csr_array(X), y).decision_function(sparse.csr_array(X)),
        direct(kernel="precomputed", **common).fit(K, y).decision_function(K),
        direct(kernel=lambda A, B: Gaussian(0.4)(A, B), **common).fit(X, y).decision_function(X),
        direct(gamma=0.4, cache_size=0.01, **common).fit(X, y).decision_function(X),
    ]
    for other in others:
        np.testing.assert_allclose(other, dense, atol=1e-7)
    linear = direct(kernel="linear", **common).fit(X, y)
    stored = direct(kernel="linear", **common).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(stored.coef_.toarray(), linear.coef_, atol=1e-7)
    np.testing.assert_allclose(stored.intercept_, linear.intercept_, atol=1e-7)


def test_hard_margin_separates_every_pair_by_one():
    X, y, _ = blobs(4, 4, spread=12.0)
    model = direct(C=float("inf"), kernel="linear", tol=1e-9).fit(X, y)
    assert model.converged_
    f = model.decision_function(X)
    own = f[np.arange(len(y)), y]
    f[np.arange(len(y)), y] = -np.inf
    assert (own - f.max(axis=1)).min() == pytest.approx(1.0, abs=1e-6)
    soft = direct(C=1e3, kernel="linear", tol=1e-9).fit(X, y)
    assert soft.converged_
    np.testing.assert_allclose(model.coef_, soft.coef_, atol=1e-5)


def test_hard_margin_that_cannot_be():
    X, y, _ = blobs(5, 3)
    with pytest.raises(InfeasibleError, match="not separable with this kernel"):
        direct(C=float("inf"), kernel="linear").fit(X, y)
    X[1] = X[0]
    with pytest.raises(InfeasibleError, match="rows 0 and 1 of X coincide"):
        direct(C=float("inf")).fit(X, y)


@pytest.mark.fault("P22")
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"solver": "m3"}, ["solver='m3'", "solver='auto'", "multi_class='ovo' or 'ovr'"]),
        ({"solver": "adatron"}, ["solver='adatron'", "solver='auto'"]),
        ({"learning_rate": 0.1}, ["learning_rate=0.1", "learning_rate='auto'"]),
        ({"rank": 10}, ["rank=10", "rank=None"]),
        ({"decision_function_shape": "ovo"}, ["decision_function_shape='ovr'", "multi_class='ovo'"]),
    ],
)
def test_requests_that_direct_training_cannot_serve(parameters, words):
    X, y = iris()
    with pytest.raises(ValueError, match="multi_class='crammer_singer'") as error:
        direct(**parameters).fit(X, y)
    for word in words:
        assert word in str(error.value)


def slow_model(**parameters):
    X, y, _ = blobs(6, 4, m=400, spread=0.1)
    return direct(C=1e3, gamma=0.01, tol=1e-13, **parameters), X, y


def test_time_limit_keeps_the_model():
    model, X, y = slow_model(time_limit=0.02)
    for _ in range(2):  # the first time compiles
        watch = Stopwatch()
        with pytest.warns(ConvergenceWarning, match="time_limit"):
            model.fit(X, y)
    assert watch.seconds() < 5.0
    assert model.status_ == "time_limit"
    assert 0.0 < model.duality_gap_ <= 1.0
    assert model.decision_function(X).shape == (400, 4)


def test_max_iter_keeps_the_iterate():
    model, X, y = slow_model(max_iter=3)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.fit(X, y)
    assert (model.status_, model.n_iter_.tolist()) == ("max_iter", [3])
    assert model.history_["epoch"] == [1, 2, 3]


class Callback:
    """Stops the fit at its second epoch, or interrupts it there."""

    setup = teardown = on_fit_task_begin = lambda *args, **kwargs: None

    def __init__(self, interrupts):
        self.interrupts, self.rounds = interrupts, 0

    def on_fit_task_end(self, estimator, context, **kwargs):
        self.rounds += context.task_name == "epoch"
        if self.rounds == 2 and self.interrupts:
            raise KeyboardInterrupt
        return self.rounds == 2


@pytest.mark.fault("R10")
def test_a_callback_stops_the_fit():
    model, X, y = slow_model()
    model.set_callbacks(Callback(interrupts=False)).fit(X, y)
    assert (model.status_, model.n_iter_.tolist()) == ("stopped", [2])
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.fault("R10")
def test_interrupt_keeps_the_model():
    model, X, y = slow_model()
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Callback(interrupts=True)).fit(X, y)
    assert (model.status_, model.converged_) == ("stopped", False)
    assert np.isfinite(model.decision_function(X)).all()


def test_iter_fit_gives_records_and_a_usable_model():
    X, y = iris()
    model = direct(tol=1e-12)
    objectives, gaps, counts = [], [], []
    for record in model.iter_fit(X, y):
        assert model.predict(X).shape == (150,)
        objectives.append(record.objective)
        gaps.append(record.gap)
        counts.append(record.n_support)
    assert objectives == sorted(objectives)
    assert gaps[-1] < 1e-9 < gaps[0]
    assert counts[-1] == len(model.support_)
    assert objectives == model.history_["objective"]


def test_warm_start_at_the_optimum_ends_at_once():
    X, y = iris()
    model = direct(warm_start=True, tol=1e-6).fit(X, y)
    assert model.n_iter_[0] > 1
    assert model.fit(X, y).n_iter_[0] == 1
    model.set_params(multi_class="ovr").fit(X, y)  # multipliers of another meaning are a start like any other
    fresh = SVC(multi_class="ovr", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=1e-3)


def test_an_indefinite_kernel_is_named():
    X, y = iris()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = direct(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    assert model.status_ == "indefinite_kernel"
    assert np.isfinite(model.decision_function(X)).all()


def test_weights_that_leave_a_row_out():
    X, y, weights = blobs(8, 3)
    weights[::5] = 0.0
    weights[:3] = 1.0
    kept = weights > 0.0
    model = direct(gamma=0.5, tol=1e-9).fit(X, y, weights)
    removed = direct(gamma=0.5, tol=1e-9).fit(X[kept], y[kept], weights[kept])
    np.testing.assert_allclose(model.decision_function(X), removed.decision_function(X), atol=1e-8)
    assert kept[model.support_].all()


@pytest.mark.fault("P4")
def test_bounds_of_very_different_sizes():
    """Multipliers from 1e-2 to 1e8 all count: none is negligible beside the largest."""
    X, y = iris()
    weights = 10.0 ** np.random.default_rng(0).uniform(-8, 8, len(y))
    assert direct().fit(X, y, weights).converged_
    model = direct(C=1e8, kernel="linear").fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.97
