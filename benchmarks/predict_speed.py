"""Prediction times of `adatron.SVC` and its peers on the test rows of each data set.

    python benchmarks/predict_speed.py [--sets NAME …] [--C 1] [--peers NAME …] [--repeats 5] [--out FILE]

Needs ADATRON_DATA and the extra "bench". Every library predicts with the model that it has trained itself.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.data import SETS, load
from benchmarks.peers import available
from benchmarks.worker import Worker

DEFAULT = ["classification", "usps", "w7a", "mnist 10,000", "letter", "a9a", "skin"]


def race(name, options):
    """Median seconds and errors of each library."""
    workers = {peer: Worker(peer, name) for peer in options.peers}
    trained = {
        peer: worker for peer, worker in workers.items() if worker.ask("fit", options.C, options.patience)
    }
    seconds = {peer: [] for peer in trained}
    labels = {}
    for _ in range(options.repeats):
        for peer, worker in trained.items():
            answer = worker.ask("predict", options.C, options.patience)
            if answer is not None:
                seconds[peer].append(answer[0])
                labels[peer] = answer[1]
    for worker in workers.values():
        worker.end()
    y_test = load(name)[3]
    return {
        peer: {"seconds": statistics.median(times), "error": float(np.mean(labels[peer] != y_test))}
        for peer, times in seconds.items()
        if times
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=DEFAULT, choices=list(SETS))
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--peers", nargs="+", default=available())
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--patience", type=float, default=300.0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/predict_speed.json"))
    options = parser.parse_args()
    results, ratios = {}, {peer: [] for peer in options.peers}
    for name in options.sets:
        results[name] = result = race(name, options)
        print(f"\n{name}, C = {options.C:g}")
        for peer, row in result.items():
            ratio = row["seconds"] / result["adatron"]["seconds"]
            ratios[peer].append(ratio)
            print(f"  {peer:<18} {row['seconds']:9.4f} s  {ratio:7.2f} x  error {100 * row['error']:.2f} %")
        sys.stdout.flush()
    print("\nratios over sets:")
    for peer, values in ratios.items():
        if peer != "adatron" and values:
            print(f"  {peer:<18} median {statistics.median(values):.2f} x, least {min(values):.2f} x")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
