"""Every test of the fault catalogue ends within ten seconds: never a hang."""

import signal
import time

import pytest
from numba.core import event

from adatron import SVC

TIME_BOUND = 10.0  # seconds
AT_LEAST_USED = 8.0  # seconds of processor time without which the machine was busy with something else
PATIENCE = 120.0  # seconds after which that is no excuse


@pytest.fixture(scope="session", autouse=True)
def _compiled():
    """Compile the sweeps once, outside the time bound."""
    for solver in ("auto", "adatron", "adatron-secant"):
        SVC(solver=solver).fit([[0.0], [1.0], [3.0]], [0, 0, 1])


class Compiling(event.Listener):
    """Adds up the processor time of compilations, which an empty cache asks for in any test."""

    def __init__(self):
        self.depth, self.before, self.began = 0, 0.0, 0.0

    def on_start(self, event):
        self.began = time.process_time() if self.depth == 0 else self.began
        self.depth += 1

    def on_end(self, event):
        self.before, self.depth = (self.seconds() if self.depth == 1 else self.before), self.depth - 1

    def seconds(self):
        return self.before + (time.process_time() - self.began if self.depth else 0.0)


@pytest.fixture(scope="session")
def _compiling():
    listener = Compiling()
    with event.install_listener("numba:compile", listener):
        yield listener


@pytest.fixture(autouse=True)
def _time_bound(_compiling):
    """Fail a test that runs longer than the catalogue allows (where the platform has an alarm)."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return
    began, used = time.monotonic(), time.process_time() - _compiling.seconds()

    def look_at_the_clock(_signal, _frame):
        seconds = time.monotonic() - began
        if seconds > PATIENCE or time.process_time() - _compiling.seconds() - used > AT_LEAST_USED:
            pytest.fail(f"still running after {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, look_at_the_clock)
    signal.setitimer(signal.ITIMER_REAL, TIME_BOUND, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
