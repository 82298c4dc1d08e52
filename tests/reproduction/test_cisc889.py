"""CISC 889, lecture 17: its statements hold, and would be seen to fail."""

import numpy as np
import pytest
from tests.reference import perceptron as reference

from adatron import SVC
from adatron.exceptions import KernelWarning
from reproduction.cisc889 import PAPER
from reproduction.cisc889.feature_space import INVALID, VALID, ellipse_points, quadratic_features
from reproduction.cisc889.maximal_margin import half_gap, largest_half_gap, measure_margins
from reproduction.cisc889.perceptron import count_mistakes, train_both
from reproduction.cisc889.points import decade_above, separable_points
from reproduction.experiment import Entry, run_entries
from reproduction.shared import multipliers

EXPERIMENTS = {experiment.name: experiment for experiment in PAPER.experiments}


def findings(name, seed=0):
    (result,) = run_entries([Entry(PAPER, EXPERIMENTS[name])], quick=True, seed=seed)
    assert not result.failure
    assert not result.missing
    return result.findings


@pytest.mark.parametrize("name", ["perceptron", "novikoff", "quadratic-map", "margin", "mercer"])
def test_every_statement_holds_and_is_drawn(name):
    found = findings(name)
    assert len(found.checks) >= 3
    assert [check.statement for check in found.checks if not check.holds] == []
    assert all(np.isfinite(row.ours) and row.published is None for row in found.comparisons)
    assert found.figure is not None


@pytest.mark.parametrize("name", ["perceptron", "mercer"])
def test_same_seed_same_findings_and_another_seed_others(name):
    first, again, other = findings(name), findings(name), findings(name, seed=1)
    assert first.comparisons == again.comparisons != other.comparisons
    assert first.checks == again.checks


@pytest.mark.parametrize("bias", [False, True])
def test_both_forms_are_the_loops_of_the_lecture(bias):
    X, y = separable_points(np.random.default_rng(3), 60, 3, 0.05, offset=0.1 * bias)
    for form in train_both(X, y, bias=bias):
        n_epochs = int(form.n_iter_[0])
        _, b, n_mistakes = list(reference.primal(X, y, n_epochs, bias=bias))[-1]
        alpha = list(reference.dual(X @ X.T, y, n_epochs, bias=bias))[-1][0]
        assert form.mistakes_[0] == n_mistakes
        assert multipliers(form, len(y)).tolist() == alpha.tolist()
        assert form.intercept_[0] == pytest.approx(b)


@pytest.mark.parametrize("margin", [0.2, 0.02])
def test_points_keep_the_margin_that_is_asked_for(margin):
    X, y = separable_points(np.random.default_rng(0), 100, 3, margin)
    found = count_mistakes(X, y, bias=False)
    assert found.margin >= margin
    assert np.linalg.norm(X, axis=1).max() <= 1.0
    assert 1 <= found.mistakes <= found.bound <= margin**-2.0


def test_orthogonal_vectors_attain_novikoffs_bound():
    with pytest.warns(KernelWarning, match="identity"):
        found = count_mistakes(np.eye(9), np.resize([1, -1], 9), bias=False)
    assert found.mistakes == 9
    assert found.bound == pytest.approx(9.0)
    assert found.margin == pytest.approx(1.0 / 3.0)


def test_quadratic_map_needs_its_root_of_two():
    np.testing.assert_allclose(quadratic_features(np.array([[1.0, 2.0]])), [[1.0, 2.0 * np.sqrt(2.0), 4.0]])
    X, Z = np.random.default_rng(0).normal(size=(2, 20, 4))
    np.testing.assert_allclose(quadratic_features(X) @ quadratic_features(Z).T, (X @ Z.T) ** 2, atol=1e-12)
    plain = [np.stack([A[:, i] * A[:, j] for i in range(4) for j in range(i, 4)], axis=1) for A in (X, Z)]
    assert np.abs(plain[0] @ plain[1].T - (X @ Z.T) ** 2).max() > 0.1


def test_ellipse_separates_its_points():
    X, y = ellipse_points(np.random.default_rng(0), 150)
    assert len(X) == 150
    assert set(y) == {-1, 1}
    assert SVC(float("inf"), "linear").fit(quadratic_features(X), y).score(quadratic_features(X), y) == 1.0


def test_half_gap_of_four_points():
    X, y = np.array([[1.0, 0.0], [1.0, 2.0], [-1.0, 0.0], [-1.0, 5.0]]), np.array([1, 1, -1, -1])
    assert half_gap(X, y, np.array([3.0, 0.0])) == pytest.approx(1.0)
    assert half_gap(X, y, np.array([0.0, 1.0])) == pytest.approx(-2.5)
    assert largest_half_gap(X, y) == pytest.approx(1.0)
    margins = measure_margins(X, y)
    assert margins.inverse_norm == pytest.approx(1.0)
    assert margins.perceptron <= 1.0 + 1e-12


def test_kernels_that_are_inner_products_are_known_as_such():
    assert not VALID.keys() & INVALID.keys()
    assert all(kernel.traits.psd for kernel in VALID.values())
    assert not any(kernel.traits.psd for kernel in INVALID.values())


def test_rounding_errors_are_told_as_powers_of_ten():
    assert decade_above(3e-16) == "1e-15"
    assert decade_above(0.0) == "1e-16"
