"""Threads, processes, forks and nesting (rows C1 to C9 of docs/faults.md), and leaks (R13)."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from adatron import SVC, EnsembleSVC
from adatron.numerics.threads import usable_threads
from tests.faults.invariants import overlapping

THREADS = 8


def problem(seed, m=120, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=m) > 0.0, 1, -1)
    y[:2] = 1, -1
    return X, y


def same_model(one, other):
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)


@pytest.mark.fault("C1")
def test_threads_fit_different_estimators_to_the_same_bits():
    # rows in float32 and float64, the lazy matrix, a factor, many problems, an ensemble
    cases = [(SVC(), problem(k, m)) for k, m in enumerate((60, 500, 2_500, 5_500))]
    cases += [(SVC(kernel="linear"), problem(4, 400)), (SVC(kernel="poly"), problem(5, 300))]
    cases += [(EnsembleSVC(), problem(6, 300)), (SVC(), (problem(7, 400)[0], np.arange(400) % 5))]
    alone = [type(model)(**model.get_params()).fit(*data) for model, data in cases]
    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(lambda case: case[0].fit(*case[1]), cases))
    for one, other in zip(alone, together, strict=True):
        same_model(one, other)


@pytest.mark.fault("C2")
def test_threads_predict_with_one_model_to_the_same_bits():
    X, y = problem(0, 6_000)
    model = SVC().fit(X, y)
    before = model.decision_function(X)
    with ThreadPoolExecutor(THREADS) as pool:
        for decisions in pool.map(lambda _: model.decision_function(X), range(THREADS)):
            np.testing.assert_array_equal(decisions, before)


@pytest.mark.fault("C3")
def test_threads_fit_the_same_estimator():
    model = SVC()
    data = [problem(k) for k in range(THREADS)]
    alone = [SVC().fit(*pair) for pair in data]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda pair: model.fit(*pair), data))
    (last,) = [one for one in alone if np.array_equal(one.support_vectors_, model.support_vectors_)]
    same_model(model, last)


FIRST_COMPILE = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from adatron import SVC
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = np.where(X[:, 0] > 0, 1, -1)
with ThreadPoolExecutor(8) as pool:
    models = list(pool.map(lambda _: SVC().fit(X, y), range(8)))
print(len({m.dual_coef_.tobytes() for m in models}))
"""


def in_a_process(code, **environment):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout.strip()


@pytest.mark.fault("C4")
@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled with the JIT off")
def test_first_compile_from_eight_threads(tmp_path):
    assert in_a_process(FIRST_COMPILE, NUMBA_CACHE_DIR=str(tmp_path)) == "1"


@pytest.mark.fault("C5")
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib_backends_give_the_same_scores(backend):
    X, y = problem(3)
    grid = {"C": [0.1, 1.0, 10.0]}
    alone = GridSearchCV(SVC(), grid, cv=3).fit(X, y)
    with joblib.parallel_config(backend):
        together = GridSearchCV(SVC(), grid, cv=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(
        alone.cv_results_["mean_test_score"], together.cv_results_["mean_test_score"]
    )


APART = """
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from adatron import SVC

def threads():  # a thread that has done its work still takes a moment to go
    seen = []
    for _ in range(20):
        seen.append(len(os.listdir("/proc/self/task")))
        time.sleep(0.01)
    return min(seen)

rng = np.random.default_rng(0)
X = rng.normal(size=(2500, 4))
y = np.where(X[:, 0] > 0, 1, -1)
X @ X.T  # BLAS starts its own threads, which stay
counts = []
for _ in range(2):
    counts.append(threads())
    before = SVC().fit(X, y).dual_coef_
    SVC().fit(X[:600], np.arange(600) % 6)
counts.append(threads())
with ThreadPoolExecutor(8) as pool:
    models = list(pool.map(lambda _: SVC().fit(X[:200], y[:200]), range(8)))
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(SVC().fit(X, y).dual_coef_, before) else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
different = len({m.dual_coef_.tobytes() for m in models})
print(json.dumps({"threads": counts, "different": different, "child": code}))
"""


@pytest.fixture(scope="module")
def apart():
    """What a process of its own tells, with the threading layer of numba that is not safe."""
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("needs /proc and fork")
    return json.loads(in_a_process(APART, NUMBA_THREADING_LAYER="workqueue"))


@pytest.mark.fault("C6")
def test_fit_after_a_fork(apart):
    assert apart["child"] == 0


@pytest.mark.fault("C8")
def test_workqueue_layer_does_not_abort(apart):
    assert apart["different"] == 1


def test_no_thread_outlives_a_fit(apart):
    assert len(set(apart["threads"])) == 1


@pytest.mark.fault("C7")
def test_nested_parallelism_uses_no_more_threads_than_cores():
    with joblib.parallel_config("loky", n_jobs=2):
        inner = joblib.Parallel()(joblib.delayed(usable_threads)() for _ in range(2))
    assert all(2 * threads <= max(2, os.cpu_count()) for threads in inner)


@pytest.mark.fault("C7")
def test_threads_never_exceed_those_of_blas():
    assert 1 <= usable_threads() <= os.cpu_count()


@pytest.mark.fault("C9")
def test_fit_under_asyncio():
    X, y = problem(1)

    async def main():
        return await asyncio.gather(*(asyncio.to_thread(SVC().fit, X, y) for _ in range(2)))

    for model in asyncio.run(main()):
        same_model(model, SVC().fit(X, y))


@pytest.mark.fault("C9")
def test_fit_outside_the_main_thread():
    X, y = problem(1, 2_500)
    models = []
    thread = threading.Thread(target=lambda: models.append(SVC().fit(X, y)))
    thread.start()
    thread.join()
    same_model(models[0], SVC().fit(X, y))


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


def leaks(n_fits):
    X, y = overlapping()
    for _ in range(min(200, n_fits)):
        SVC().fit(X, y)
    before, open_before = memory(), len(os.listdir("/proc/self/fd"))
    for _ in range(n_fits):
        SVC().fit(X, y)
    assert len(os.listdir("/proc/self/fd")) <= open_before  # others may be closed meanwhile
    return memory() / before


@pytest.mark.fault("R13")
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_many_fits_leak_nothing():
    assert leaks(300) < 1.05
