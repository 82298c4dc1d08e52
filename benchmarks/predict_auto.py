"""Predictions of 10,000 rows by `AutoSVC`, beside those of an `SVC` whose support vectors are all rows.

python benchmarks/predict_auto.py [--repeats 9] [--out FILE]
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from sklearn.datasets import make_classification

from adatron import SVC, AutoSVC

SHAPES = [(300, 10), (1_000, 5), (1_000, 20), (1_000, 50), (2_000, 20), (3_000, 50), (5_000, 20)]
N_TEST = 10_000


def race(n, d, repeats):
    """Median seconds of both, in turns."""
    X, y = make_classification(n + N_TEST, d, n_informative=d // 2, n_redundant=0, flip_y=0.1, random_state=1)
    auto = AutoSVC().fit(X[:n], y[:n])
    plain = SVC(C=1e-3).fit(X[:n], y[:n])  # so small a C leaves hardly a row out
    seconds = {"AutoSVC": [], "SVC": []}
    for _ in range(repeats):
        for name, model in (("AutoSVC", auto), ("SVC", plain)):
            began = time.perf_counter()
            model.predict(X[n:])
            seconds[name].append(time.perf_counter() - began)
    found = {name: statistics.median(times) for name, times in seconds.items()}
    kernels = [type(kernel).__name__ for kernel in auto.kernels_]
    return found | {"kernels": kernels, "support vectors of SVC": len(plain.support_)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/predict_auto.json"))
    options = parser.parse_args()
    results = {}
    for n, d in SHAPES:
        results[f"{n} x {d}"] = row = race(n, d, options.repeats)
        ratio = row["AutoSVC"] / row["SVC"]
        print(
            f"{n:>6} x {d:<3} AutoSVC {row['AutoSVC']:.4f} s  SVC {row['SVC']:.4f} s  {ratio:5.2f} x  "
            f"{', '.join(row['kernels'])}",
            flush=True,
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
