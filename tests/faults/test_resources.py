"""Too little memory (rows R1 to R3 of docs/faults.md), Ctrl-C (R10) and a broken numba cache (R14).

R1 and R3 of low-rank factors are in `tests/contracts/test_many_rows.py`, R13 in `test_concurrency.py`, the
others in `tests/callbacks`, `tests/files` and `tests/cli`.
"""

import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from adatron import SVC, EnsembleSVC
from adatron.exceptions import KernelError
from adatron.gram import choose
from adatron.solvers import KernelAdatron
from tests.faults.invariants import check_model, fit_quietly, overlapping
from tests.stopwatch import Stopwatch

# ---------------------------------------------------------------- memory


@pytest.mark.fault("R1")
@pytest.mark.parametrize("solver", ["auto", "adatron"])
def test_a_matrix_beyond_memory_is_not_allocated(monkeypatch, solver):
    X, y = overlapping(400)
    whole = SVC(solver=solver).fit(X, y)
    monkeypatch.setattr(choose, "available_memory", lambda: 100_000)  # bytes; the matrix takes 1.3 MB
    model = SVC(solver=solver).fit(X, y)
    check_model(model, X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=0.05)


@pytest.mark.fault("R2")
@pytest.mark.parametrize("solver", ["auto", "adatron"])
@pytest.mark.parametrize("megabytes", [1e12, 2.0**-20], ids=["a-million-TB", "one-byte"])
def test_any_cache_size(megabytes, solver):
    X, y = overlapping(300)
    model = SVC(cache_size=megabytes, solver=solver).fit(X, y)
    check_model(model, X, y)


@pytest.mark.fault("R2")
def test_no_cache_at_all_is_refused():
    with pytest.raises(ValueError, match=r"cache_size.*MB > 0.*0"):
        SVC(cache_size=0).fit(*overlapping())


class Failing:
    """A kernel function in whose n-th call there is no memory, or Ctrl-C arrives."""

    def __init__(self, call, error):
        self.left, self.error = call, error

    def __call__(self, X, Z):
        self.left -= 1
        if self.left == 0:
            raise self.error
        return rbf_kernel(X, Z)


@pytest.mark.fault("R3")
@pytest.mark.parametrize("model", [SVC(cache_size=0.5), EnsembleSVC(rank=20)], ids=["SVC", "EnsembleSVC"])
@pytest.mark.parametrize("call", [1, 5])
def test_memory_error_in_the_middle(model, call):
    X, y = overlapping(600)
    model.set_params(kernel="rbf").fit(X, y)
    with pytest.raises(KernelError, match="no memory"):
        model.set_params(kernel=Failing(call, MemoryError("no memory"))).fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    expected = model.set_params(kernel="rbf").fit(X, y).decision_function(X)
    assert np.isfinite(expected).all()


@pytest.mark.fault("R12")
def test_clock_that_jumps_back(monkeypatch):
    X, y = overlapping(200)
    hours = iter(range(10**6, 0, -1))
    monkeypatch.setattr(time, "time", lambda: 3600.0 * next(hours))
    began, watch = time.monotonic(), Stopwatch()
    model = fit_quietly(SVC(C=1e6, gamma=1e-3, tol=1e-12, time_limit=0.3, solver="adatron"), X, y)
    assert model.status_ == "time_limit"
    assert time.monotonic() - began > 0.25
    assert watch.seconds() < 5.0
    assert (np.diff(model.history_["seconds"]) >= 0.0).all()


# ---------------------------------------------------------------- Ctrl-C


class InterruptedAt:
    """Kernel-Adatron whose user presses Ctrl-C in a given epoch."""

    needs = frozenset()

    def __init__(self, epoch):
        self.left = epoch

    def init(self, problem, alpha=None):
        return KernelAdatron().init(problem, alpha)

    def epoch(self, problem, state, pause):
        self.left -= 1
        if self.left <= 0:
            raise KeyboardInterrupt
        return KernelAdatron().epoch(problem, state, pause)


@pytest.mark.fault("R10")
@pytest.mark.parametrize("epoch", [1, 2, 5])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_interrupt_keeps_the_model(epoch, n_classes, multi_class):
    X, _ = overlapping()
    y = np.arange(60) % n_classes
    model = SVC(C=100.0, tol=1e-9, solver=InterruptedAt(epoch), multi_class=multi_class)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert (model.status_, model.converged_) == ("stopped", False)
    check_model(model, X, y)


class Interrupting:
    """A callback in which Ctrl-C arrives."""

    def on_fit_begin(self, estimator):
        pass

    setup = teardown = on_fit_task_begin = lambda *args, **kwargs: None

    def on_fit_task_end(self, estimator, context, **kwargs):
        raise KeyboardInterrupt


@pytest.mark.fault("R10")
def test_interrupt_in_a_callback():
    X, y = overlapping()
    model = SVC(C=100.0, tol=1e-9).set_callbacks(Interrupting())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "stopped"
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.fault("R10")
def test_interrupt_before_the_first_epoch():
    """There is nothing to keep yet, and nothing of an earlier fit is passed off as new."""
    X, y = overlapping()
    model = SVC(kernel=Failing(1, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.fault("R10")
@pytest.mark.parametrize("solver", ["auto", "adatron"])
def test_interrupt_in_the_kernel_during_training(solver):
    X, y = overlapping(600)
    undisturbed = Failing(0, KeyboardInterrupt())
    SVC(kernel=undisturbed, cache_size=0.5, C=100.0, tol=1e-9, solver=solver, max_iter=20).fit(X, y)
    last = Failing(-undisturbed.left, KeyboardInterrupt())
    model = SVC(kernel=last, cache_size=0.5, C=100.0, tol=1e-9, solver=solver)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "stopped"
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.fault("R10")
def test_refit_after_interrupt():
    X, y = overlapping()
    model = SVC(solver=InterruptedAt(3))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    model.set_params(solver="auto").fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), SVC().fit(X, y).decision_function(X))


LONG_FIT = """
import json, sys, time
import numpy as np
from adatron import SVC
from tests.stopwatch import Stopwatch
rng = np.random.default_rng(0)
X, y = rng.normal(size=(1000, 20)), rng.integers(0, 2, 1000)
for solver in ("auto", "adatron"):
    SVC(solver=solver, max_iter=1).fit(X, y)
    watch = Stopwatch()
    print("ready", flush=True)
    model = SVC(C=1e6, gamma=1e-3, tol=1e-12, solver=solver)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        ended, used = time.time(), watch.seconds()
        finite = bool(np.isfinite(model.decision_function(X)).all())
        times = {"ended": ended, "used": used}
        print(json.dumps(times | {"status": str(model.status_), "finite": finite}), flush=True)
"""


@pytest.mark.fault("R10")
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent differently there")
def test_interrupt_by_a_real_signal():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_FIT], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        for _ in range(2):  # for either solver
            assert process.stdout.readline().strip() == "ready"
            time.sleep(0.2)
            sent = time.time()
            process.send_signal(signal.SIGINT)
            answer = json.loads(process.stdout.readline())
            assert answer["status"] == "stopped"
            assert answer["finite"]
            assert min(answer["ended"] - sent, answer["used"]) < 3.0  # of minutes; the latter: if busy
    finally:
        process.kill()
        process.wait()


# ---------------------------------------------------------------- the numba cache

SMALL_FIT = """
import json, sys
import numpy as np
from adatron import SVC
X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)
json.dump(SVC(solver="adatron").fit(X, y).decision_function(X).tolist(), sys.stdout)
"""


def small_fit(cache):
    answer = subprocess.run(
        [sys.executable, "-c", SMALL_FIT],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def filled_cache(tmp_path_factory):
    cache = tmp_path_factory.mktemp("numba")
    return cache, small_fit(cache)


@pytest.mark.fault("R14")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "content"),
    [("*.nbi", b"garbage" * 100), ("*.nbc", b""), ("*.nbc", None)],
    ids=["garbage-index", "empty-code", "truncated-code"],
)
def test_corrupt_cache(filled_cache, tmp_path, pattern, content):
    cache, expected = filled_cache
    files = [path for path in cache.rglob(pattern)]
    assert files
    for path in cache.rglob("*"):
        copy = tmp_path / path.relative_to(cache)
        if path.is_dir():
            copy.mkdir(exist_ok=True, parents=True)
        else:
            copy.parent.mkdir(exist_ok=True, parents=True)
            whole = path.read_bytes()
            broken = whole[: len(whole) // 2] if content is None else content
            copy.write_bytes(broken if path in files else whole)
    assert small_fit(tmp_path) == expected


@pytest.mark.fault("R14")
def test_cache_below_a_file(tmp_path):
    (tmp_path / "file").write_text("not a directory")
    with redirect_stdout(io.StringIO()) as answer:
        exec(SMALL_FIT, {})
    assert small_fit(tmp_path / "file" / "cache") == json.loads(answer.getvalue())


@pytest.mark.fault("R14")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_cache(filled_cache, tmp_path):
    tmp_path.chmod(0o500)
    assert small_fit(tmp_path) == filled_cache[1]
