"""`EnsembleSVC` and `ParzenClassifier`: Tsang & Kwok 2007 and what the library promises beyond it."""

import lzma
import subprocess
import sys
from itertools import islice, pairwise

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_svmlight_file
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from tests.data_dir import data_dir, needs_data
from tests.problems_for_tests import noisy_points
from tests.reference.rho_svm import accepted_steps, boosting_with_target_edge

from adatron import SVC, EnsembleSVC, ParzenClassifier
from adatron.datasets import load_ionosphere, load_sonar, make_waveform
from adatron.gram import DenseGram
from adatron.kernels import Gaussian
from adatron.problems import classification
from adatron.solvers import RhoSVM


def ida(name, realization):
    sets = np.load(data_dir() / "ida" / f"{name}.npz")
    train, test = sets["train"][realization], sets["test"][realization]
    return sets["X"][train], sets["X"][test], sets["t"][train], sets["t"][test]


def libsvm(name, n_features):
    with lzma.open(data_dir() / "libsvm" / f"{name}.xz", "rb") as file:
        X, y = load_svmlight_file(file, n_features=n_features)
    return X.toarray(), y


def error_percent(model, X, y):
    return 100.0 * np.mean(model.predict(X) != y)


@needs_data
@pytest.mark.parametrize(
    ("name", "parzen", "ensemble", "iterations"),
    [("german", 29.9, 23.4, 85), ("waveform", 22.0, 9.9, 37), ("titanic", 23.5, 22.4, 398)],
)
def test_means_over_ten_realizations(name, parzen, ensemble, iterations):
    errors, first, counts = [], [], []
    for realization in range(10):
        X, X_test, y, y_test = ida(name, realization)
        model = EnsembleSVC().fit(X, y)
        errors.append(error_percent(model, X_test, y_test))
        first.append(100.0 * np.mean(next(model.staged_predict(X_test)) != y_test))
        counts.append(int(model.n_iter_[0]))
    assert np.mean(errors) == pytest.approx(ensemble, abs=0.15)
    assert np.mean(first) == pytest.approx(parzen, abs=0.15)
    assert np.mean(counts) == pytest.approx(iterations, rel=0.05)


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_features", "percent", "iterations", "orders"),
    [("svmguide1", 4, 2.9, 265, 12), ("a1a", 123, 16.5, 94, 16), ("w1a", 300, 2.2, 277, 4)],
)
def test_larger_sets(name, n_features, percent, iterations, orders):
    (X, y), (X_test, y_test) = libsvm(name, n_features), libsvm(f"{name}.t", n_features)
    if name == "svmguide1":  # standardised by the training mean and deviation
        X, X_test = ((part - X.mean(axis=0)) / X.std(axis=0) for part in (X, X_test))
    model = EnsembleSVC().fit(X, y)
    assert error_percent(model, X_test, y_test) == pytest.approx(percent, abs=0.15)
    counts = []
    for seed in range(orders):  # the order of the rows changes the rounding, and that the last iterations
        order = np.random.default_rng(seed).permutation(len(y))
        counts.append(int(EnsembleSVC().fit(X[order], y[order]).n_iter_[0]))
    assert np.mean(counts) == pytest.approx(iterations, rel=0.05)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Gaussian(0.3) + Gaussian(0.3)])
def test_it_is_boosting_of_parzen_windows_with_a_target_edge(kernel):
    """Thirty accepted steps, distributions and weights, against a booster that knows margins only."""
    X, y = noisy_points(0, m=80, flip=0.1)
    K = kernel(X, X)
    problem = classification(DenseGram(K), y, np.full(80, np.inf), bias=False)
    solver = RhoSVM(eps=1e-6)
    state = solver.init(problem)
    ours, slacks = [], []
    for _ in range(30):
        before = state.weights[:, 0].copy()
        state = solver.epoch(problem, state, lambda: None)
        ours.append((before, float(state.rate[0])))
        slacks.append(float(state.epsilon[0]))
    boosted = list(boosting_with_target_edge(K, y, slacks))
    for (weights, _), (distribution, _) in zip(ours, boosted, strict=True):
        np.testing.assert_allclose(weights, distribution, atol=1e-9)
    rates, coefficients = (np.array([rate for _, rate in steps]) for steps in (ours, boosted))
    np.testing.assert_allclose(rates / rates.sum(), coefficients / coefficients.sum(), atol=1e-9)
    np.testing.assert_allclose(rates, coefficients, rtol=1e-8)


def test_angles_between_steps_and_the_number_of_iterations():
    X, y = noisy_points(3, m=60, flip=0.0)
    K = Gaussian(0.5)(X, X)
    Q = np.outer(y, y) * K
    steps = list(accepted_steps(K, y))
    problem = classification(DenseGram(K), y, np.full(60, np.inf), bias=False)
    solver = RhoSVM()
    state = solver.init(problem)
    smallest = np.inf
    for (d, _), (following, _) in pairwise(steps):
        state = solver.epoch(problem, state, lambda: None)
        epsilon = float(state.epsilon[0])
        old, new = d @ Q @ d, following @ Q @ following
        cosine = d @ Q @ following / np.sqrt(old * new)
        assert cosine == pytest.approx(np.sqrt(old / new) / (1 + epsilon), rel=1e-9)
        smallest = min(smallest, epsilon * old / (1 + epsilon))
    assert len(steps) - 1 <= 2 * np.log(60) / smallest**2


def test_stages_lead_from_the_parzen_window_to_the_ensemble():
    X, y = make_waveform(200, random_state=0)
    new, _ = make_waveform(100, random_state=1)
    model = EnsembleSVC().fit(X, y)
    stages = list(model.staged_decision_function(new))
    assert len(stages) == int(model.n_iter_[0]) == len(model.stage_weights_)
    np.testing.assert_allclose(stages[0], ParzenClassifier().fit(X, y).decision_function(new), atol=1e-12)
    np.testing.assert_allclose(stages[-1], model.decision_function(new), atol=1e-10)
    np.testing.assert_array_equal(list(model.staged_predict(new))[-1], model.predict(new))
    assert (model.stage_weights_ > 0).all()


def test_final_svm_approaches_the_hard_margin():
    X, y = load_sonar(return_X_y=True)
    rough = EnsembleSVC(gamma=0.5).fit(X, y).final_svm_
    fine = EnsembleSVC(gamma=0.5, eps=1e-5).fit(X, y).final_svm_
    exact = SVC(float("inf"), gamma=0.5, fit_intercept=False).fit(X, y)
    assert fine.duality_gap_ < rough.duality_gap_ <= 1.0
    margins = [1.0 / np.sqrt(np.abs(m.dual_coef_).sum()) for m in (rough, fine, exact)]
    assert margins[1] == pytest.approx(margins[2], rel=0.05)
    assert np.corrcoef(fine.decision_function(X), exact.decision_function(X))[0, 1] > 0.999


def test_weights_are_the_first_distribution_and_equal_rows_are_merged():
    X, y = noisy_points(0, m=40)
    counts = np.random.default_rng(0).integers(1, 4, 40)
    weighted = EnsembleSVC().fit(X, y, counts)
    repeated = EnsembleSVC().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert len(repeated.support_) == 40
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)


@needs_data
def test_inseparable_data_is_no_error():
    X, X_test, y, y_test = ida("titanic", 0)
    model = EnsembleSVC().fit(X, y)
    assert model.converged_
    assert model.duality_gap_ == 1.0  # no hard margin, and it says so
    assert len(model.support_) < 30  # 150 rows, few distinct ones
    assert error_percent(model, X_test, y_test) < 30.0


def test_where_no_step_is_possible_the_parzen_window_is_left():
    """Two points alike of different classes with equal weight: every edge is 0, no target can be met."""
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    model, window = EnsembleSVC(gamma=1.0).fit(X, y), ParzenClassifier(gamma=1.0).fit(X, y)
    assert model.n_iter_.tolist() == [0]
    np.testing.assert_allclose(model.decision_function(X), window.decision_function(X), atol=1e-15)
    (only,) = model.staged_decision_function(X)
    np.testing.assert_array_equal(only, model.decision_function(X))


def test_a_huge_width_does_not_crash():
    X, y = noisy_points(0, m=40, flip=0.5)
    model = EnsembleSVC(gamma=1e-9).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert len(list(model.staged_predict(X))) == max(int(model.n_iter_[0]), 1)


@pytest.mark.parametrize("parameters", [{}, {"fit_intercept": True}, {"rank": 40}, {"rank": 0.01}], ids=str)
def test_three_classes(parameters):
    X, y = load_iris(return_X_y=True)
    model = EnsembleSVC(random_state=0, **parameters).fit(X, y)
    assert model.decision_function(X).shape == (150, 3)
    assert model.score(X, y) > 0.9
    assert model.n_iter_.shape == (3,)
    stages = list(model.staged_decision_function(X))
    np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-8)
    assert ("kernel_error_" in vars(model)) == ("rank" in parameters)


@pytest.mark.parametrize("bias", [False, True])
def test_precomputed_equals_the_kernel(bias):
    X, y = load_ionosphere(return_X_y=True)
    K = Gaussian(0.1)(X, X)
    direct = EnsembleSVC(Gaussian(0.1), fit_intercept=bias).fit(X[:200], y[:200])
    given = EnsembleSVC("precomputed", fit_intercept=bias).fit(K[:200, :200], y[:200])
    rows = K[:, :200]
    pairs = zip(given.staged_decision_function(rows), direct.staged_decision_function(X), strict=False)
    for ours, theirs in islice(pairs, 30):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    # Other rounding leads to slightly other last iterations, not to another classifier.
    assert np.corrcoef(given.decision_function(rows), direct.decision_function(X))[0, 1] > 0.999
    assert np.mean(given.predict(rows) == direct.predict(X)) > 0.99
    last = list(given.staged_decision_function(rows))[-1]
    np.testing.assert_allclose(last, given.decision_function(rows), atol=1e-9)


@pytest.mark.parametrize("solver", ["adatron", "multiplicative"])
def test_low_rank_svc_is_exact_for_a_kernel_of_that_rank(solver):
    X, y = noisy_points(0, m=60, d=3)
    exact = SVC(kernel="linear", solver=solver, tol=1e-6).fit(X, y)
    factored = SVC(kernel="linear", solver=solver, tol=1e-6, rank=20, random_state=0).fit(X, y)
    np.testing.assert_allclose(factored.decision_function(X), exact.decision_function(X), atol=1e-3)
    assert factored.kernel_error_ < 1e-9


@pytest.mark.parametrize("solver", ["m3", "munk"])
def test_entrywise_solvers_refuse_a_factor_by_name(solver):
    X, y = noisy_points(0, m=40)
    with pytest.raises(ValueError, match=rf"solver='{solver}'.*low-rank factor.*rank=None"):
        SVC(solver=solver, fit_intercept=False, rank=10).fit(X, y)


A9A = """
import lzma, sys
from sklearn.datasets import load_svmlight_file
from adatron import EnsembleSVC
from adatron.numerics.memory import peak_memory
def load(name):
    X, y = load_svmlight_file(lzma.open(f"{sys.argv[1]}/libsvm/{name}.xz", "rb"), n_features=123)
    return X.toarray(), y
X, y = load("a9a")
beta = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
model = EnsembleSVC(gamma=1 / (4 * beta), rank=500, fit_intercept=True, random_state=0).fit(X, y)
memory = peak_memory() / 2**30
X_test, y_test = load("a9a.t")
print(100 * (1 - model.score(X_test, y_test)), memory, model.status_, model.n_iter_[0])
"""


@needs_data
@pytest.mark.slow
def test_a9a_at_rank_500():
    command = [sys.executable, "-c", A9A, str(data_dir())]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    error, gigabytes, status, _ = done.stdout.split()
    assert float(error) <= 15.1
    assert float(gigabytes) < 0.8
    assert status == "converged"


@pytest.mark.parametrize(("m", "n_classes"), [(60, 2), (150, 3), (1_100, 2), (1_100, 3)])
def test_epochs_taken_at_once_are_those_taken_one_by_one(m, n_classes, capsys):
    X, y = make_waveform(m, random_state=0)
    y = np.where(X[:, 3] > 3.0, 2, y) if n_classes == 3 else y
    at_once, one_by_one = EnsembleSVC().fit(X, y), EnsembleSVC(verbose=True).fit(X, y)
    assert "epoch 5:" in capsys.readouterr().out  # somebody was watching
    for name in ("n_iter_", "stage_weights_", "dual_coef_", "intercept_", "duality_gap_"):
        np.testing.assert_array_equal(getattr(at_once, name), getattr(one_by_one, name))
    histories = at_once.history_, one_by_one.history_
    for name in ("problem", "epoch", "objective", "margin", "bias", "violation"):
        assert histories[0][name] == histories[1][name]
    for problem in range(max(at_once.history_["problem"]) + 1):
        own = np.array(at_once.history_["problem"]) == problem
        assert np.all(np.diff(np.array(at_once.history_["seconds"])[own]) > 0.0)
    for one, other in zip(at_once.staged_predict(X), one_by_one.staged_predict(X), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("m", [60, 1_100])
def test_stages_are_those_of_the_plain_loop(m):
    X, y = make_waveform(m, random_state=1)
    model = EnsembleSVC().fit(X, y)
    K = model._kernel(X, X).astype(np.float32 if m > 1_000 else np.float64).astype(np.float64)
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    rates = np.array([rate for _, rate in islice(accepted_steps(K, signs), 10)])
    np.testing.assert_allclose(model.stage_weights_[:10], rates, rtol=1e-9 if m < 1_000 else 1e-4)


@pytest.mark.parametrize("max_iter", [1, 7, 26, 27, 28])
def test_no_more_epochs_than_allowed(max_iter):
    X, y = make_waveform(1_100, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = EnsembleSVC(max_iter=max_iter).fit(X, y)
    assert model.n_iter_.tolist() == [max_iter]
    assert model.history_["epoch"] == list(range(1, max_iter + 1))


def test_functions_of_many_rows_are_judged_in_float64():
    X, y = make_waveform(1_100, random_state=0)

    def gaussian_but_for_two(A, B):
        values = np.exp(-0.01 * ((A[:, None] - B) ** 2).sum(axis=2))
        for p, q in ((1, 2), (2, 1)):
            values[np.ix_((X[p] == A).all(axis=1), (X[q] == B).all(axis=1))] = 5.0
        return values

    with pytest.warns(ConvergenceWarning, match="positive semi-definite"):
        assert EnsembleSVC(gaussian_but_for_two).fit(X, y).status_ == "indefinite_kernel"
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = EnsembleSVC(lambda A, B: A @ B.T + 1.0, max_iter=50).fit(X, y)
    assert model.status_ == "max_iter"


def test_a_model_without_stages_says_so():
    """As callbacks see it while it is trained."""
    X, y = load_sonar(return_X_y=True)
    model = EnsembleSVC().fit(X, y)
    del model._stages
    assert model.predict(X).shape == y.shape
    with pytest.raises(NotFittedError, match="no stages before the fit has ended"):
        next(model.staged_predict(X))


def test_iter_fit_gives_the_average_after_each_stage():
    X, y = load_ionosphere(return_X_y=True)
    model, decisions = EnsembleSVC(), []
    for _ in model.iter_fit(X, y):
        decisions.append(model.decision_function(X[:20]))
    fitted = EnsembleSVC().fit(X, y)
    stages = list(fitted.staged_decision_function(X[:20]))
    assert len(stages) > 10
    np.testing.assert_allclose(decisions[: len(stages)], stages, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.stage_weights_, fitted.stage_weights_)
