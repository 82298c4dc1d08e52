"""Fit times of `adatron.SVC` and its peers, with the gap of every solution recomputed.

    python benchmarks/fit_speed.py [--quick] [--sets NAME …] [--C 1 10 100] [--peers NAME …]
                                   [--repeats 3] [--patience 300] [--out FILE]

Needs ADATRON_DATA and the extra "bench". Every library runs in a process of its own, with the same number
of threads, C, γ and bias; repeats go round the libraries. A fit that takes longer than --patience seconds
is ended, and its ratio is a lower bound. The floor is the time to evaluate the rows of the final
support vectors once.
"""

import argparse
import json
import statistics
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adatron.gram import LazyGram, RowGram
from adatron.gram.tiles import tile_evaluator
from adatron.kernels import Gaussian
from adatron.numerics.threads import one_blas_thread, usable_threads
from adatron.problems import classification
from adatron.training import certify
from benchmarks.data import SETS, load
from benchmarks.peers import available
from benchmarks.worker import Worker, interleaved_fits

QUICK = ["classification", "usps", "w7a", "letter"]


def binary_gap(X, y, C, gamma, alpha):
    """Dual objective and relative gap of one two-class problem, with float64 kernel values."""
    kernel = Gaussian(gamma)
    small = len(X) <= 2_000
    gram = LazyGram(kernel, X) if small else RowGram(kernel, X, 2**28, np.float64)
    certificate = certify(classification(gram, y, np.full(len(y), C), bias=True), 0, alpha)
    return certificate.dual, certificate.gap


def recomputed(X, y, C, gamma, support, coefficients, counts):
    """Sum of the dual objectives and the largest gap over all pairs of classes."""
    labels, codes = np.unique(y, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(counts)])
    duals, gaps = [], []
    for i, j in combinations(range(len(labels)), 2):
        alpha = np.zeros(len(y))
        for own, row in ((i, j - 1), (j, i)):
            places = slice(starts[own], starts[own + 1])
            alpha[support[places]] = np.abs(coefficients[row, places])
        rows = np.flatnonzero((codes == i) | (codes == j))
        signs = np.where(codes[rows] == j, 1.0, -1.0)
        dual, gap = binary_gap(X[rows], signs, C, gamma, alpha[rows])
        duals.append(dual)
        gaps.append(gap)
    return float(sum(duals)), float(max(gaps))


def floor_of(X, gamma, support):
    """Seconds to evaluate the rows of the support vectors once, in float32 and with all threads."""
    tiles = tile_evaluator(Gaussian(gamma), X, np.float32)
    buffer = np.empty((min(1024, len(support)), len(X)), dtype=np.float32)
    buffer[:] = 0.0  # the memory is there
    began = time.perf_counter()
    for start in range(0, len(support), 1024):
        rows = support[start : start + 1024]
        tiles.fill(rows, None, buffer[: len(rows)], usable_threads())
    return time.perf_counter() - began


def race(name, C, workers, options):
    """Median seconds of each library on one set, and what its solution is worth."""
    seconds, models = interleaved_fits(workers, C, options.repeats, options.patience)
    X, y, _, _, gamma = load(name)
    result = {}
    with one_blas_thread():
        for peer, times in seconds.items():
            result[peer] = {"seconds": statistics.median(times) if times else None}
            result[peer]["died"] = workers[peer].died
            if times:
                dual, gap = recomputed(X, y, C, gamma, *models[peer])
                result[peer] |= {"dual": dual, "gap": gap, "support": len(models[peer][0])}
        if "adatron" in models and len(np.unique(y)) == 2:
            floors = [floor_of(X, gamma, models["adatron"][0]) for _ in range(3)]
            result["adatron"]["floor"] = statistics.median(floors)
    return result


def show(name, C, result, patience):
    ours = result["adatron"]
    floor = f", {ours['seconds'] / ours['floor']:.2f} x the floor" if "floor" in ours else ""
    print(f"\n{name}, C = {C:g}: adatron {ours['seconds']:.3f} s{floor}")
    for peer, row in result.items():
        if row["died"]:
            print(f"  {peer:<18} died")
            continue
        if row["seconds"] is None:
            print(f"  {peer:<18} ended after {patience:g} s: more than {patience / ours['seconds']:.1f} x")
            continue
        print(
            f"  {peer:<18} {row['seconds']:9.3f} s  {row['seconds'] / ours['seconds']:7.2f} x  "
            f"dual {row['dual']:.8g}  gap {row['gap']:.1e}  {row['support']} support vectors"
        )
    sys.stdout.flush()


def ratios(results, peer, patience):
    """Ratio of a peer to adatron on every set at C = 1 and 10; a fit that was ended counts as its limit."""
    at = [r for key, r in results.items() if float(key.rsplit("C=", 1)[1]) in (1.0, 10.0)]
    chosen = [r for r in at if peer in r and not r[peer]["died"]]
    return [(r[peer]["seconds"] or patience) / r["adatron"]["seconds"] for r in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sets, C = 1, few peers, two minutes")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--C", nargs="+", type=float, default=[1.0, 10.0, 100.0])
    parser.add_argument("--peers", nargs="+", default=available())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--patience", type=float, default=300.0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/fit_speed.json"))
    options = parser.parse_args()
    if options.quick:
        options.sets, options.C, options.repeats, options.patience = QUICK, [1.0], 2, 20.0
        options.peers = [p for p in ("adatron", "sklearn", "sklearnex float32") if p in options.peers]
    results = {}
    for name in options.sets:
        workers = {peer: Worker(peer, name) for peer in options.peers}
        for C in options.C:
            results[f"{name} C={C:g}"] = result = race(name, C, workers, options)
            show(name, C, result, options.patience)
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(results, indent=1) + "\n")
        for worker in workers.values():
            worker.end()
    print(f"\nratios over sets at C = 1 and 10, {usable_threads()} threads:")
    for peer in options.peers[1:]:
        values = ratios(results, peer, options.patience)
        if values:
            print(f"  {peer:<18} median {statistics.median(values):.2f} x, least {min(values):.2f} x")


if __name__ == "__main__":
    main()
