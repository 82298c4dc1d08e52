"""Fit times of `adatron.SVR` and its peers, with R² and the gap of every solution recomputed.

    python benchmarks/svr_speed.py [--sets NAME …] [--C 1] [--peers NAME …] [--repeats 3]
                                   [--patience 300] [--out FILE]

Needs ADATRON_DATA and the extra "bench". Features and target are standardised, ε = 0.1, γ = "scale". Every
library runs in a process of its own, with the same number of threads; repeats go round the libraries.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import numpy as np
from sklearn.metrics import r2_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adatron.gram import RowGram
from adatron.kernels import Gaussian
from adatron.numerics.threads import one_blas_thread, usable_threads
from adatron.problems import regression
from adatron.training import certify
from benchmarks.data import REGRESSION_SETS, load
from benchmarks.peers import REGRESSORS, available
from benchmarks.worker import Worker, interleaved_fits

EPSILON = 0.1


def recomputed(X, t, C, gamma, support, coefficients):
    """Dual objective and relative gap, with float64 kernel values."""
    beta = np.zeros(len(t))
    beta[support] = coefficients[0]
    gram = RowGram(Gaussian(gamma), X, 2**28, np.float64)
    problem = regression(gram, t, np.full(len(t), C), epsilon=EPSILON, bias=True)
    certificate = certify(problem, 0, np.concatenate([np.maximum(beta, 0.0), np.maximum(-beta, 0.0)]))
    return certificate.dual, certificate.gap


def race(name, C, workers, options):
    """Median seconds of each library on one set, and what its solution is worth."""
    seconds, models = interleaved_fits(workers, C, options.repeats, options.patience)
    X, t, _, _, gamma = load(name)
    result = {}
    for peer, times in seconds.items():
        result[peer] = {"seconds": statistics.median(times) if times else None, "all": times}
        result[peer]["died"] = workers[peer].died
        if times:
            predicted = workers[peer].ask("predict", C, options.patience)[1]
            with one_blas_thread():
                dual, gap = recomputed(X, t, C, gamma, *models[peer][:2])
            r2 = float(r2_score(t, predicted))
            result[peer] |= {"r2": r2, "dual": dual, "gap": gap, "support": len(models[peer][0])}
    return result


def show(name, C, result, patience):
    ours = result["adatron"]
    print(f"\n{name}, C = {C:g}: adatron {ours['seconds']:.3f} s")
    for peer, row in result.items():
        if row["died"]:
            print(f"  {peer:<18} died")
            continue
        if row["seconds"] is None:
            print(f"  {peer:<18} ended after {patience:g} s: more than {patience / ours['seconds']:.1f} x")
            continue
        print(
            f"  {peer:<18} {row['seconds']:9.3f} s  {row['seconds'] / ours['seconds']:7.2f} x  "
            f"R² {row['r2']:.5f}  dual {row['dual']:.8g}  gap {row['gap']:.1e}  {row['support']} vectors"
        )
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(REGRESSION_SETS), choices=list(REGRESSION_SETS))
    parser.add_argument("--C", nargs="+", type=float, default=[1.0])
    parser.add_argument("--peers", nargs="+", default=available(REGRESSORS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--patience", type=float, default=300.0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/svr_speed.json"))
    options = parser.parse_args()
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
    print(f"\n{usable_threads()} threads")


if __name__ == "__main__":
    main()
