"""Epochs on a Dask cluster: seconds with one and with two workers, and bytes moved.

    python benchmarks/cluster.py [--rows 200000] [--rank 200] [--dense-rows 6000] [--epochs 12] [--out FILE]

Needs the extra "dask". The cluster is a LocalCluster of single-thread processes on 127.0.0.1. Times are those
of products and epochs as the client sees them, the best of some; bytes are what all processes write to their
connections. The efficiency is ``seconds with one worker / (2 × seconds with two)``.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

FEATURES = 20


def _count_writes():
    """Count the bytes that this process writes to TCP connections from now on."""
    from distributed.comm import tcp

    if not hasattr(tcp, "adatron_written"):
        tcp.adatron_written = 0
        write = tcp.TCP.write

        async def counting(self, *arguments, **options):
            written = await write(self, *arguments, **options)
            tcp.adatron_written += written or 0
            return written

        tcp.TCP.write = counting
    return tcp.adatron_written


def bytes_written(client):
    return _count_writes() + sum(client.run(_count_writes).values())


def rows_on_workers(m, chunk):
    import dask.array as da

    X = da.random.default_rng(0).normal(size=(m, FEATURES), chunks=(chunk, FEATURES)).persist()
    y = (X[:, 0] + X[:, 1] ** 2 > 1.0).compute().astype(int)
    return X, y


def low_rank(m, rank):
    """An operator on a factor, as a fit would have it."""
    from adatron import SVC
    from adatron.estimators.dask import dask_rows
    from adatron.gram import low_rank_gram
    from adatron.kernels import Gaussian

    X, y = rows_on_workers(m, -(-m // 4))
    rows, _, _ = dask_rows(SVC(rank=rank), X)
    return low_rank_gram(Gaussian(1.0 / FEATURES), rows, rank, np.random.RandomState(0)), y


def whole_matrix(m):
    from adatron import SVC
    from adatron.estimators.dask import dask_rows
    from adatron.gram import choose_gram
    from adatron.kernels import Gaussian

    X, y = rows_on_workers(m, -(-m // 4))
    rows, _, _ = dask_rows(SVC(solver="m3"), X)
    return choose_gram(Gaussian(1.0 / FEATURES), rows).gram, y


def epochs_of(solver, gram, y, bias):
    from adatron.problems import classification

    upper = np.full(len(y), np.inf if type(solver).__name__ == "RhoSVM" else 1.0)
    problem = classification(gram, np.where(y == 1, 1.0, -1.0), upper, bias=bias)
    state = solver.init(problem)

    def epoch():
        nonlocal state
        state = solver.epoch(problem, state, lambda: None)

    return epoch


def measure(client, step, repeats):
    """Best and median seconds, and mean bytes, of one step."""
    step()
    seconds, before = [], bytes_written(client)
    for _ in range(repeats):
        began = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - began)
    return float(np.min(seconds)), float(np.median(seconds)), (bytes_written(client) - before) / repeats


def on_low_rank(client, options):
    from adatron.solvers import KernelAdatron, MultiplicativeUpdating, RhoSVM

    gram, y = low_rank(options.rows, options.rank)
    V = np.random.default_rng(0).normal(size=(gram.m, 1))
    steps = {
        "product, low rank": lambda: gram.matmul(V),
        "multiplicative, low rank": epochs_of(MultiplicativeUpdating(), gram, y, True),
        "rho, low rank": epochs_of(RhoSVM(eps=1e-13), gram, y, False),
        "adatron, low rank": epochs_of(KernelAdatron(), gram, y, True),
    }
    return {name: measure(client, step, options.epochs) for name, step in steps.items()}


def on_whole_matrix(client, options):
    from adatron.solvers import M3

    gram, y = whole_matrix(options.dense_rows)
    V = np.random.default_rng(0).normal(size=(gram.m, 1))
    steps = {
        "product, whole matrix": lambda: gram.matmul(V),
        "m3, whole matrix": epochs_of(M3(), gram, y, False),
    }
    return {name: measure(client, step, options.epochs) for name, step in steps.items()}


def run(n_workers, options):
    from distributed import Client, LocalCluster

    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    cluster = LocalCluster(n_workers=n_workers, host="127.0.0.1", **settings)
    results = {}
    with cluster, Client(cluster) as client:
        steps = {"empty task": lambda: client.submit(int, pure=False).result()}
        results |= {name: measure(client, step, options.epochs) for name, step in steps.items()}
        results |= on_low_rank(client, options)
        results |= on_whole_matrix(client, options)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rank", type=int, default=200)
    parser.add_argument("--dense-rows", type=int, default=6_000)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--out", default="benchmarks/results/cluster.json")
    options = parser.parse_args()
    _count_writes()
    by_workers = {n: run(n, options) for n in (1, 2)}
    load = os.getloadavg()[0]
    print(
        f"{options.rows} rows, rank {options.rank}; {options.dense_rows} rows whole; load average {load:.1f}"
    )
    print(
        f"{'step':26s} {'1 worker':>10s} {'2 workers':>10s} {'efficiency':>10s} {'MB moved, 2 workers':>20s}"
    )
    for name, (seconds, _, _) in by_workers[1].items():
        both, _, moved = by_workers[2][name]
        efficiency = seconds / (2.0 * both)
        print(f"{name:26s} {seconds:8.3f} s {both:8.3f} s {efficiency:10.2f} {moved / 1e6:10.3f}")
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Path(options.out).write_text(json.dumps({"load": load, **vars(options), "results": by_workers}, indent=1))


if __name__ == "__main__":
    main()
