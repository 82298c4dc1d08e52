"""The skeleton on the page "Adding a kernel", followed literally, is a kernel that works."""

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import sparse

from adatron import SVC, SVR
from adatron.datasets import load_sonar
from adatron.kernels import KERNELS, is_indefinite

PAGE = Path(__file__).parents[2] / "docs" / "adding_a_kernel.md"


@pytest.fixture(scope="module")
def kernel():
    [code] = re.findall(r"<!-- skeleton -->\n```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    module = ModuleType("adatron_kernel_skeleton")
    sys.modules[module.__name__] = module
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    yield module.RationalQuadratic
    del sys.modules[module.__name__]


def test_its_values_are_those_of_the_formula_and_its_traits_hold(kernel):
    X = np.random.default_rng(0).normal(size=(20, 3))
    expected = 1.0 / (1.0 + 0.5 * np.square(X[:, None] - X).sum(axis=2))
    K = kernel(gamma=0.5)(X, X)
    np.testing.assert_allclose(K, expected, rtol=1e-10)
    np.testing.assert_allclose(kernel().diagonal(X), 1.0)
    assert not is_indefinite(K)
    assert K.min() >= 0.0


@pytest.mark.parametrize("solver", ["auto", "adatron", "multiplicative"])
def test_estimators_know_it_by_name(kernel, monkeypatch, solver):
    monkeypatch.setitem(KERNELS, "rational", kernel)
    X, y = load_sonar(return_X_y=True)
    named = SVC(kernel="rational", gamma=2.0, solver=solver, tol=1e-6).fit(X, y)
    given = SVC(kernel=kernel(2.0), solver=solver, tol=1e-6).fit(X, y)
    assert named.converged_
    np.testing.assert_array_equal(named.decision_function(X), given.decision_function(X))
    assert named.score(X, y) > 0.9


def test_it_takes_sparse_rows_and_low_rank(kernel):
    X, y = load_sonar(return_X_y=True)
    dense = SVR(kernel=kernel(1.0), tol=1e-6).fit(X, y == "M")
    thin = SVR(kernel=kernel(1.0), tol=1e-6).fit(sparse.csr_array(X), y == "M")
    np.testing.assert_allclose(dense.predict(X), thin.predict(sparse.csr_array(X)), atol=1e-5)
    assert SVC(kernel=kernel(0.1), rank=60, random_state=0).fit(X, y).kernel_error_ < 0.1
