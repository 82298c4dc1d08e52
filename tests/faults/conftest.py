"""Every test of the fault catalogue ends within ten seconds: never a hang."""

import signal
import time

import pytest

from adatron import SVC

TIME_BOUND = 10.0  # seconds
AT_LEAST_USED = 8.0  # seconds of processor time without which the machine was busy with something else
PATIENCE = 120.0  # seconds after which that is no excuse


@pytest.fixture(scope="session", autouse=True)
def _compiled():
    """Compile the sweeps once, outside the time bound."""
    for solver in ("auto", "adatron", "adatron-secant"):
        SVC(solver=solver).fit([[0.0], [1.0], [3.0]], [0, 0, 1])


@pytest.fixture(autouse=True)
def _time_bound():
    """Fail a test that runs longer than the catalogue allows (where the platform has an alarm)."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return
    began, used = time.monotonic(), time.process_time()

    def look_at_the_clock(_signal, _frame):
        seconds = time.monotonic() - began
        if seconds > PATIENCE or time.process_time() - used > AT_LEAST_USED:
            pytest.fail(f"still running after {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, look_at_the_clock)
    signal.setitimer(signal.ITIMER_REAL, TIME_BOUND, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
