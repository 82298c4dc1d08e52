"""The numbers of Campbell & Cristianini 1998 that the data allows to check."""

import numpy as np
import pytest
from tests.data_dir import needs_data

from adatron import SVC
from adatron.datasets import load_breast_cancer_wisconsin, load_sonar
from adatron.kernels import Gaussian, Polynomial

HARD = float("inf")


def error_percent(model, X, y):
    return 100.0 * np.mean(model.predict(X) != y)


def wisconsin():
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    return X[:550], X[550:], y[:550], y[550:]


@needs_data
@pytest.mark.parametrize("solver", ["auto", "adatron"])
@pytest.mark.parametrize(
    ("sigma", "bias", "percent"),
    [(1.0, True, 7.69), (1.0, False, 7.69), (0.6, False, 4.81), (3.0, True, 10.58), (3.0, False, 11.54)],
)
def test_sonar_original_split(sigma, bias, percent, solver):
    X_train, X_test, y_train, y_test = load_sonar(split="aspect")
    kernel = Gaussian.of_width(sigma)
    model = SVC(HARD, kernel, fit_intercept=bias, solver=solver).fit(X_train, y_train)
    assert model.converged_
    assert error_percent(model, X_test, y_test) == pytest.approx(percent, abs=0.005)


@pytest.mark.parametrize("solver", ["auto", "adatron"])
def test_wisconsin_width_3_with_bias(solver):
    X_train, X_test, y_train, y_test = wisconsin()
    model = SVC(HARD, Gaussian.of_width(3.0), solver=solver).fit(X_train, y_train)
    assert 100.0 - error_percent(model, X_test, y_test) == pytest.approx(98.50, abs=0.005)


@needs_data
@pytest.mark.parametrize("degree", [4, 6])
@pytest.mark.parametrize("name", ["sonar", "wisconsin"])
def test_sweeps_with_bias_converge_where_the_secant_diverges(name, degree):
    X_train, _, y_train, _ = load_sonar(split="aspect") if name == "sonar" else wisconsin()
    model = SVC(HARD, Polynomial(degree), solver="adatron", tol=1e-3).fit(X_train, y_train)
    assert model.converged_
    assert model.duality_gap_ <= 1e-3


@needs_data
def test_secant_diverges_on_sonar_with_degree_4_and_says_so():
    X_train, _, y_train, _ = load_sonar(split="aspect")
    with pytest.warns(UserWarning, match="diverged"):
        model = SVC(HARD, Polynomial(4), solver="adatron-secant").fit(X_train, y_train)
    assert model.status_ == "diverged"
    assert np.isfinite(model.dual_coef_).all()


@needs_data
def test_secant_converges_on_sonar_width_1_and_bias_settles():
    X_train, X_test, y_train, y_test = load_sonar(split="aspect")
    model = SVC(HARD, Gaussian.of_width(1.0), solver="adatron-secant").fit(X_train, y_train)
    reference = SVC(HARD, Gaussian.of_width(1.0)).fit(X_train, y_train)
    assert model.converged_
    assert model.history_["bias"][-1] == pytest.approx(float(reference.intercept_[0]), abs=1e-2)
    assert model.history_["margin"][-1] == pytest.approx(1.0, abs=1e-2)
    assert error_percent(model, X_test, y_test) == pytest.approx(7.69, abs=0.005)


def test_objective_rises_and_stays_below_half_the_inverse_squared_margin():
    X_train, _, y_train, _ = wisconsin()
    model = SVC(HARD, Gaussian.of_width(3.0), fit_intercept=False, solver="adatron").fit(X_train, y_train)
    objective = np.array(model.history_["objective"])
    assert (np.diff(objective) >= -1e-9 * objective[1:]).all()
    norm_squared = np.abs(model.dual_coef_).sum()  # Σα = ‖w‖² = 1/γ² at the optimum
    assert objective[-1] <= 0.5 * norm_squared * (1 + 1e-9)
