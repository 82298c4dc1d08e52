"""The exact path in C against a warm-started grid and against cold fits on the same grid.

    python benchmarks/c_path_speed.py [--repeats 3] [--out benchmarks/results/c_path_speed.json]

German needs ADATRON_DATA and is left out without it. The three are timed in turn in one process, kernel
matrix included; the grid is 2⁻⁵, …, 2¹⁵, and the exact path goes as far. γ is that of ``gamma="scale"``.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

from adatron import SVC
from adatron.datasets import load_sonar
from adatron.paths.c_path import c_path

GRID = 2.0 ** np.arange(-5, 16)


def german():
    with np.load(Path(os.environ["ADATRON_DATA"]) / "ida" / "german.npz") as file:
        train = file["train"][0]
        return file["X"][train], file["t"][train].astype(int)


def sets():
    """Rows and labels by name."""
    yield "sonar", load_sonar(return_X_y=True)
    if "ADATRON_DATA" in os.environ:
        yield "german", german()
    for m in (200, 1_000, 2_000):
        yield f"classification {m}", make_classification(m, 20, n_informative=8, random_state=0)


def timed(work):
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def cold(X, y):
    for C in GRID.tolist():
        SVC(C=C).fit(X, y)


def compare(X, y, repeats):
    """Medians of seconds, and how well exact path and grid agree."""
    seconds = {"exact": [], "warm": [], "cold": []}
    for _ in range(repeats):
        spent, exact = timed(lambda: c_path(X, y, GRID, exact=True))
        seconds["exact"].append(spent)
        spent, warm = timed(lambda: c_path(X, y, GRID))
        seconds["warm"].append(spent)
        seconds["cold"].append(timed(lambda: cold(X, y))[0])
    path = exact.exact_path
    result = {name: statistics.median(values) for name, values in seconds.items()}
    result["breakpoints"], result["largest_elbow"] = len(path.C), int(path.elbow_sizes.max())
    result["gap"] = float(exact["gap"].max())
    result["difference"] = float(np.abs(warm["objective"] / exact["objective"] - 1.0).max())
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/c_path_speed.json"))
    options = parser.parse_args()
    results = {}
    compare(*make_classification(50, random_state=0), 1)  # compiles, or loads what is compiled
    print(f"{'':20} {'exact':>8} {'warm':>8} {'cold':>8}   breakpoints  elbow  gap of the exact path")
    for name, (X, y) in sets():
        row = results[name] = compare(X, y, options.repeats)
        print(
            f"{name:20} {row['exact']:6.3f} s {row['warm']:6.3f} s {row['cold']:6.3f} s   "
            f"{row['breakpoints']:11d}  {row['largest_elbow']:5d}  {row['gap']:.1e}"
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
