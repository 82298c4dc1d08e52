"""`EnsembleSVC` against the plain NumPy loop of the tests, side by side on a1a.

    python benchmarks/ensemble_speed.py [--rounds 9] [--fits 5] [--out benchmarks/results/ensemble_speed.json]

Needs ADATRON_DATA. Each runs in a process of its own, so that the idle threads of one BLAS library, which
spin for a while, are not in the way of the other; they take turns of some fits each, with all threads and
with one. What counts is the ratio of the medians of a turn.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.reference.rho_svm import accepted_steps

from adatron import EnsembleSVC
from benchmarks.data import svmlight

PAUSE = 0.2  # seconds before a turn, until the other process has gone to sleep


def plain(X, y):
    """The ensemble's multipliers by the plain loop, kernel matrix included."""
    beta = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    squares = (X**2).sum(axis=1)
    K = np.exp(-(squares[:, None] + squares[None, :] - 2.0 * X @ X.T) / beta)
    steps = list(accepted_steps(K, y))
    rates = np.array([rate for _, rate in steps])
    return rates @ np.array([d for d, _ in steps]) / rates.sum()


def ours(X, y):
    return EnsembleSVC().fit(X, y)


CONTESTANTS = {"adatron": ours, "plain NumPy": plain}


def serve(connection, name):
    """Fit as often as asked, and send the seconds of each."""
    X, y = svmlight("a1a", 123)
    fit = CONTESTANTS[name]
    fit(X, y)  # compiles, or loads what is compiled
    connection.send("ready")
    while count := connection.recv():
        seconds = []
        for _ in range(count):
            began = time.perf_counter()
            fit(X, y)
            seconds.append(time.perf_counter() - began)
        connection.send(seconds)


def take_turns(rounds, fits, threads):
    """Median seconds of every turn of each contestant."""
    os.environ["OPENBLAS_NUM_THREADS"] = str(threads)  # for the processes that start here
    context = multiprocessing.get_context("spawn")
    connections = {}
    for name in CONTESTANTS:
        connections[name], child = context.Pipe()
        context.Process(target=serve, args=(child, name), daemon=True).start()
        connections[name].recv()
    seconds = {name: [] for name in CONTESTANTS}
    for _ in range(rounds):
        for name, connection in connections.items():
            time.sleep(PAUSE)
            connection.send(fits)
            seconds[name].append(statistics.median(connection.recv()))
    for connection in connections.values():
        connection.send(0)
    return seconds


def compared(seconds, threads):
    ratios = [b / a for a, b in zip(*seconds.values(), strict=True)]
    return {
        "threads": threads,
        **{f"{name} seconds": statistics.median(values) for name, values in seconds.items()},
        "ratio": statistics.median(ratios),
        "least": min(ratios),
        "largest": max(ratios),
    }


def same_model():
    """What shows that both train the same: iterations, test error, agreement of predictions."""
    (X, y), (X_test, y_test) = svmlight("a1a", 123), svmlight("a1a.t", 123)
    model, alpha = ours(X, y), plain(X, y)
    beta = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    predictions = np.where(rbf_kernel(X, gamma=1.0 / beta) @ (alpha * y) > 0.0, 1, -1)
    return {
        "iterations": int(model.n_iter_[0]),
        "test error %": 100.0 * (1.0 - model.score(X_test, y_test)),
        "same predictions %": 100.0 * float(np.mean(model.predict(X) == predictions)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--fits", type=int, default=5, help="of a turn")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/ensemble_speed.json"))
    options = parser.parse_args()
    rows = []
    for threads in sorted({1, os.cpu_count() or 1}):
        rows.append(compared(take_turns(options.rounds, options.fits, threads), threads))
        print(", ".join(f"{name} {value:.4g}" for name, value in rows[-1].items()), flush=True)
    model = same_model()
    print(", ".join(f"{name} {value:.4g}" for name, value in model.items()))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(
        json.dumps({"data": "a1a, 1605 rows", "model": model, "fits": rows}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
