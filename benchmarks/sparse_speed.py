"""Fits of `SVC` on the same rows as CSR and as a dense array.

    python benchmarks/sparse_speed.py [--C 1 10] [--repeats 3] [--out FILE]

Needs ADATRON_DATA. The two kinds take turns.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

from scipy import sparse

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adatron import SVC
from benchmarks.data import load

SETS = ("a9a", "w7a")


def seconds(X, y, C, gamma):
    began = time.perf_counter()
    SVC(C=C, gamma=gamma).fit(X, y)
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--C", nargs="+", type=float, default=[1.0, 10.0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/sparse_speed.json"))
    options = parser.parse_args()
    results = {}
    for name in SETS:
        X, y, _, _, gamma = load(name)
        kinds = {"dense": X, "sparse": sparse.csr_array(X)}
        for rows in kinds.values():
            seconds(rows[:600], y[:600], 1.0, gamma)  # compiles
        for C in options.C:
            times = {kind: [] for kind in kinds}
            for _ in range(options.repeats):
                for kind, rows in kinds.items():
                    times[kind].append(seconds(rows, y, C, gamma))
            medians = {kind: statistics.median(own) for kind, own in times.items()}
            results[f"{name} C={C:g}"] = medians
            density = 100.0 * kinds["sparse"].nnz / X.size
            print(
                f"{name}, {density:.1f} % not zero, C = {C:g}: dense {medians['dense']:.3f} s, "
                f"sparse {medians['sparse']:.3f} s, {medians['dense'] / medians['sparse']:.2f} x",
                flush=True,
            )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
