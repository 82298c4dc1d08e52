"""Every test of the fault catalogue ends within ten seconds: never a hang."""

import signal

import pytest

from adatron import SVC

TIME_BOUND = 10  # seconds


@pytest.fixture(scope="session", autouse=True)
def _compiled():
    """Compile the sweeps once, outside the time bound."""
    for solver in ("adatron", "adatron-secant"):
        SVC(solver=solver).fit([[0.0], [1.0], [3.0]], [0, 0, 1])


@pytest.fixture(autouse=True)
def _time_bound():
    """Fail a test that runs longer than the catalogue allows (where the platform has an alarm)."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def too_long(_signal, _frame):
        pytest.fail(f"still running after {TIME_BOUND} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, TIME_BOUND)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
