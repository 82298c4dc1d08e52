"""Random numbers of tests, and which tests skip: those that need data or a scikit-learn that is not there."""

import os
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from numba.core.dispatcher import Dispatcher
from tests.data_dir import needs_data

settings.register_profile("fixed", derandomize=True, deadline=None)  # None: a first call may compile
settings.load_profile("fixed")


def pytest_configure(config):
    """Of processes that run tests together, one compiles a function; others wait, and load it from disk."""
    if not hasattr(config, "workerinput") or sys.platform == "win32":
        return
    import fcntl

    locks = os.open(Path(tempfile.gettempdir(), "adatron-tests.lock"), os.O_RDWR | os.O_CREAT)
    compiled = Dispatcher.compile

    def compiled_once(dispatcher, signature):
        name = f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}{signature}"
        place = zlib.crc32(name.encode())  # each function locks a byte of its own
        fcntl.lockf(locks, fcntl.LOCK_EX, 1, place)
        try:
            return compiled(dispatcher, signature)
        finally:
            fcntl.lockf(locks, fcntl.LOCK_UN, 1, place)

    Dispatcher.compile = compiled_once


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
