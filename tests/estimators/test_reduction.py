"""`reduced`: fewer vectors, decision values within the tolerance, and a bound for every row."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris, make_classification, make_moons

from adatron import SVC, SVR, AutoSVC, AutoSVR, EnsembleSVC, certify, io


def outputs(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def check(model, X, new, tolerance, rows=None):
    """Reduce, look whether all promises hold, and return the copy."""
    before = {name: np.copy(value) for name, value in vars(model).items() if isinstance(value, np.ndarray)}
    small = model.reduced(tolerance, rows)
    on_rows = np.abs(model._decisions(X) - small._decisions(X)).max()
    elsewhere = np.abs(model._decisions(new) - small._decisions(new)).max()
    assert on_rows <= tolerance
    assert elsewhere <= small.reduction_["everywhere"] * 1.0001 + 1e-5  # kernels here have k(x, x) = 1
    assert small.reduction_["n_after"] <= small.reduction_["n_before"]
    for name, value in before.items():
        np.testing.assert_array_equal(vars(model)[name], value)  # the model itself is as it was
    return small


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(1_200, noise=0.25, random_state=0)
    return X[:600], X[600:], y[:600]


def test_a_smooth_machine_keeps_few_vectors(moons):
    X, new, y = moons
    model = SVC(C=10.0, gamma=1.0).fit(X, y)
    small = check(model, X, new, 0.01)
    assert (
        len(small.support_) == small.n_support_.sum() == len(small.support_vectors_) < len(model.support_) / 2
    )
    assert small.reduction_["everywhere"] <= 0.01
    np.testing.assert_array_equal(X[small.support_], small.support_vectors_)
    fewer = check(model, X, new, 0.01, rows=X)
    assert len(fewer.support_) < len(small.support_)
    assert len(check(model, X, new, 0.5).support_) < len(small.support_)
    assert not hasattr(small, "duality_gap_")
    assert certify(small, X, y).gap > certify(model, X, y).gap


@pytest.mark.parametrize("multi_class", ["ovo", "ovr", "crammer_singer"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_several_classes(multi_class, kernel):
    X, y = load_iris(return_X_y=True)
    model = SVC(C=10.0, kernel=kernel, multi_class=multi_class).fit(X, y)
    small = model.reduced(0.05, X)
    assert np.abs(model._decisions(X) - small._decisions(X)).max() <= 0.05
    assert len(small.support_) < len(model.support_)
    assert small.dual_coef_.shape[0] == model.dual_coef_.shape[0]
    small._check_fitted()
    np.testing.assert_array_equal(small.classes_[np.repeat([0, 1, 2], small.n_support_)], y[small.support_])


def test_regressions():
    X, t = load_diabetes(return_X_y=True)
    X = 10.0 * X
    model = SVR(C=100.0, gamma=0.05).fit(X[::2], t[::2])
    small = check(model, X[::2], X[1::2], 1.0)
    assert len(small.support_) < len(model.support_)
    auto = AutoSVR(random_state=0).fit(X[::2], t[::2])
    small = check(auto, X[::2], X[1::2], 0.05 * t.std())
    assert small.reduction_["n_after"] < 0.7 * small.reduction_["n_before"]
    assert len(small.support_) <= len(auto.support_)


def test_models_that_hold_all_their_rows(moons):
    X, new, y = moons
    auto = AutoSVC(random_state=0).fit(X, y)
    small = check(auto, X, new, 0.05)
    assert small.reduction_["n_after"] < 0.5 * small.reduction_["n_before"]
    assert (small.predict(new) != auto.predict(new)).mean() < 0.02
    assert small.n_support_.sum() == len(small.support_)
    ensemble = EnsembleSVC().fit(X, y)
    small = check(ensemble, X, new, 0.02 * np.abs(ensemble.decision_function(X)).max())
    assert small.reduction_["n_after"] < 0.5 * small.reduction_["n_before"]


@pytest.mark.parametrize("kind", [SVC, SVR, EnsembleSVC, AutoSVC])
def test_save_and_load(tmp_path, moons, kind):
    X, new, y = moons
    model = kind().fit(X, y).reduced(0.05)
    io.save_model(model, tmp_path / "small.skops")
    again = io.load_model(tmp_path / "small.skops")
    np.testing.assert_array_equal(outputs(again, new), outputs(model, new))
    assert again.reduction_ == model.reduction_


def test_sparse_rows_landmarks_and_float32():
    X, y = make_classification(400, 10, random_state=1)
    rows = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    check(SVC(C=10.0).fit(rows, y), rows, rows, 0.1)
    check(SVC(rank=60, random_state=0).fit(X, y), X, X, 0.1)
    X, y = make_moons(2_500, noise=0.2, random_state=0)
    model = SVC(gamma=1.0).fit(X, y)
    assert model._precision is np.float32
    small = check(model, X, X, 0.01)
    assert len(small.support_) < len(model.support_) / 3


def test_a_tolerance_that_cannot_be_met_changes_nothing(moons):
    X, _, y = moons
    model = SVC().fit(X, y)
    same = model.reduced(1e-13)
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X), atol=1e-12)
    assert len(same.support_) == len(model.support_)


def test_bad_calls(moons):
    X, _, y = moons
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="tolerance must be"):
        model.reduced(0.0)
    with pytest.raises(ValueError, match="features"):
        model.reduced(0.1, X[:, :1])
    with pytest.raises(ValueError, match="precomputed"):
        SVC(kernel="precomputed").fit(X @ X.T, y).reduced(0.1)
    refitted = model.reduced(0.1).fit(X, y)
    assert not hasattr(refitted, "reduction_")


def test_kernels_that_may_be_indefinite_need_rows():
    X, y = make_classification(60, 5, random_state=0)
    model = SVC(kernel="sigmoid", gamma=1.0, coef0=1.0, C=10.0).fit(X, y)
    with pytest.raises(ValueError, match="not known to be positive semi-definite"):
        model.reduced(0.3)
    small = model.reduced(0.3, X)
    assert np.abs(small.decision_function(X) - model.decision_function(X)).max() <= 0.3


def test_float32_values_count_as_part_of_the_difference():
    X, y = make_classification(3_000, 10, random_state=0)
    X = X.astype(np.float32)
    model = SVC().fit(X, y)
    for tolerance in (1e-5, 1e-2):
        small = model.reduced(tolerance, X)
        assert np.abs(small.decision_function(X) - model.decision_function(X)).max() <= tolerance
