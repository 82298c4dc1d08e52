"""Random numbers of tests, and which tests skip: those that need data or a scikit-learn that is not there."""

import numpy as np
import pytest
from hypothesis import settings
from tests.data_dir import needs_data

settings.register_profile("fixed", derandomize=True, deadline=None)  # None: a first call may compile
settings.load_profile("fixed")


@pytest.fixture
def random():
    """A generator for one test alone: what it draws depends on no other test. Modules use the seed 0."""
    return np.random.default_rng(2)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """What estimators without a `random_state` draw is the same in every run, and after any other test."""
    np.random.seed(0)  # noqa: NPY002


def pytest_collection_modifyitems(items):
    """Examples of fetched data sets run where the data is, instead of downloading it."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.dtest.name.startswith("adatron.datasets.fetched"):
            item.add_marker(needs_data)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """With scikit-learn < 1.9, skip a test that sets a callback, for the reason that the library gives."""
    try:
        return (yield)
    except Exception as error:
        cause = error.failures[0].exc_info[1] if hasattr(error, "failures") else error  # of a doctest
        cause = getattr(cause, "exc_info", (None, cause))[1]
        if isinstance(cause, ImportError) and "callbacks need scikit-learn" in str(cause):
            pytest.skip(str(cause))
        raise
