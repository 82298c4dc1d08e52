"""What importing costs, and that compiled code comes from the disk cache the second time."""

import os
import subprocess
import sys
import time

import pytest

FIT = """
import numpy as np
import adatron.solvers.greedy_steps as module
import adatron.solving.records as records
from adatron import SVC
X = np.array([[-1.0], [1.0], [2.0], [-3.0]])
SVC().fit(X, [0, 1, 1, 0])
stats = [f._call.stats for f in (module.pair_steps, records._measure)]
print(sum(sum(s.cache_hits.values()) for s in stats), sum(sum(s.cache_misses.values()) for s in stats))
"""


def run(code, **environment):
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=True
    ).stdout


def fastest(code, times=5):
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        run(code)
        best = min(best, time.perf_counter() - began)
    return best


@pytest.mark.slow
def test_import_costs_at_most_half_more_than_sklearn_svm():
    nothing = fastest("pass")
    theirs = fastest("import sklearn.svm") - nothing
    assert fastest("import adatron") - nothing <= 1.5 * theirs
    assert fastest("from adatron import SVC") - nothing <= 1.5 * theirs


def test_import_alone_loads_neither_numpy_nor_sklearn():
    loaded = run("import adatron, sys; print(*sorted({m.split('.')[0] for m in sys.modules}))").split()
    assert not {"numpy", "sklearn", "numba", "scipy"} & set(loaded)


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled with the JIT off")
def test_second_process_hits_the_disk_cache(tmp_path):
    cache = str(tmp_path / "cache")
    hits, misses = map(int, run(FIT, NUMBA_CACHE_DIR=cache).split())
    assert (hits, misses) == (0, 2)
    hits, misses = map(int, run(FIT, NUMBA_CACHE_DIR=cache).split())
    assert (hits, misses) == (2, 0)
