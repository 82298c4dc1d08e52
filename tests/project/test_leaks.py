"""Fault R13 at its full length, which takes longer than the other faults may."""

import os

import pytest
from tests.faults.test_concurrency import leaks


@pytest.mark.fault("R13")
@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_ten_thousand_fits_leak_nothing():
    assert leaks(10_000) < 1.05
