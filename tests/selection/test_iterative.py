"""Machines of many rows by conjugate gradients: the solution of the linear system, and what it is worth."""

from dataclasses import replace

import numpy as np
import pytest

from adatron import AutoSVC, AutoSVR
from adatron.auto import iterative
from adatron.auto.iterative import HalfMatrix, Preconditioner, conjugate_gradients, nystrom_features
from adatron.auto.least_squares import distances, kernel_values
from adatron.estimators.base import KernelMachine
from adatron.gram.regime import REGIME
from adatron.kernels import Exponential, Gaussian, Laplacian

FEW = replace(REGIME, exact_rows=700, search_rows=120, many_search_rows=120, few_rows=600)


@pytest.mark.parametrize("family", [Laplacian, Exponential, Gaussian])
def test_the_system_is_solved(family):
    random = np.random.default_rng(0)
    X = random.normal(size=(1_500, 4)).astype(np.float32)
    Y, ridge = random.normal(size=(1_500, 2)), random.uniform(0.05, 0.2, size=(1_500, 1))
    K = kernel_values(family, 0.2, distances(family, X, X)).astype(np.float64)
    halves, roots = HalfMatrix(family, 0.2, X), np.sqrt(ridge)
    assert np.allclose(halves @ Y, K @ Y, rtol=1e-4, atol=1e-2)

    precondition = Preconditioner(nystrom_features(family, 0.2, X, np.arange(0, 1_500, 10), roots))
    target, counted = Y / roots, []

    def multiply(V):
        counted.append(1)
        return (halves @ (V / roots)) / roots + V

    enough = 1e-4 * np.linalg.norm(target, axis=0)
    b, left = conjugate_gradients(multiply, precondition, target, enough)
    assert np.all(np.linalg.norm(left, axis=0) <= enough)
    a = b / roots
    exact = np.linalg.solve(K + np.diag(ridge[:, 0]), Y)
    assert np.linalg.norm(K @ (a - exact)) <= 1e-3 * np.linalg.norm(K @ exact)
    steps = len(counted)
    conjugate_gradients(multiply, lambda V: V, target, enough)
    assert steps < 0.7 * (len(counted) - steps)  # the preconditioner is worth it


def waves(n, seed):
    random = np.random.default_rng(seed)
    X = random.uniform(-1.0, 1.0, size=(n, 3))
    return X, np.sin(6.0 * X[:, 0]) + np.cos(5.0 * X[:, 1]) + 0.05 * random.normal(size=n)


@pytest.mark.parametrize("is_class", [False, True])
def test_all_rows_are_used(is_class, monkeypatch):
    X, y = waves(1_500, 0)
    X_test, y_test = waves(1_000, 1)
    y, y_test = (y > 0.0, y_test > 0.0) if is_class else (y, y_test)
    monkeypatch.setattr(KernelMachine, "_regime", FEW)
    monkeypatch.setattr(AutoSVC, "_clearly_better", 1.0)
    model = (AutoSVC if is_class else AutoSVR)().fit(X, y)
    assert [len(machine.vectors) for machine in model._machines] == [1_500] * len(model._machines)
    score = model.score(X_test, y_test)
    assert score > (0.92 if is_class else 0.985)
    assert abs(model.best_score_ - score) < 0.05  # three standard errors of 150 rows
    assert 0.0 <= model.duality_gap_ < 0.05
    assert model.converged_


@pytest.mark.slow
def test_the_better_of_two_kinds_beyond_the_matrix(monkeypatch):
    X, y = waves(1_500, 0)
    monkeypatch.setattr(KernelMachine, "_regime", replace(FEW, iterative_rows=1_000, iterative_sample=1_000))
    model = AutoSVR().fit(X, y)
    assert len(model._machines[0].vectors) in (1_000, 1_500)
    assert model.score(*waves(1_000, 1)) > 0.985
    twin = AutoSVR().fit(X, y)
    assert np.array_equal(model.predict(X), twin.predict(X))


def test_where_too_few_steps_would_solve_the_system_the_penalty_grows(monkeypatch):
    X, y = waves(1_500, 0)
    monkeypatch.setattr(KernelMachine, "_regime", FEW)
    usual = AutoSVR().fit(X, y)
    monkeypatch.setattr(iterative, "_STEPS", 1)
    hurried = AutoSVR().fit(X, y)
    assert hurried.C_ < usual.C_
    assert hurried.duality_gap_ < 0.05
    assert hurried.score(*waves(500, 1)) > 0.9
