"""`EnsembleSVC` against the plain NumPy loop of the tests, side by side on a1a.

    python benchmarks/ensemble_speed.py [--repeats 5] [--out benchmarks/results/ensemble_speed.json]

Needs ADATRON_DATA. The two are timed in turn in one process, each after a pause: the threads of a BLAS
library go on spinning for a tenth of a second after a product, and NumPy's would be in the way of SciPy's.
What counts is the ratio.
"""

import argparse
import json
import lzma
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import rbf_kernel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.reference.rho_svm import accepted_steps

from adatron import EnsembleSVC

PAUSE = 0.3  # seconds


def load(name, n_features=123):
    path = Path(os.environ["ADATRON_DATA"]) / "libsvm" / f"{name}.xz"
    with lzma.open(path, "rb") as file:
        X, y = load_svmlight_file(file, n_features=n_features)
    return X.toarray(), y


def plain(X, y):
    """The ensemble's multipliers by the plain loop, kernel matrix included."""
    beta = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    squares = (X**2).sum(axis=1)
    K = np.exp(-(squares[:, None] + squares[None, :] - 2.0 * X @ X.T) / beta)
    steps = list(accepted_steps(K, y))
    rates = np.array([rate for _, rate in steps])
    return rates @ np.array([d for d, _ in steps]) / rates.sum()


def plain_predictions(X, y, alpha):
    beta = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    return np.where(rbf_kernel(X, gamma=1.0 / beta) @ (alpha * y) > 0.0, 1.0, -1.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/ensemble_speed.json"))
    options = parser.parse_args()
    X, y = load("a1a")
    X_test, y_test = load("a1a.t")
    model = EnsembleSVC().fit(X, y)  # compiles, or loads what is compiled
    ours, theirs = [], []
    for _ in range(options.repeats):
        time.sleep(PAUSE)
        began = time.perf_counter()
        model = EnsembleSVC().fit(X, y)
        ours.append(time.perf_counter() - began)
        time.sleep(PAUSE)
        began = time.perf_counter()
        alpha = plain(X, y)
        theirs.append(time.perf_counter() - began)
    agreement = np.mean(model.predict(X) == plain_predictions(X, y, alpha))
    ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
    result = {
        "data": "a1a, 1605 rows",
        "adatron_seconds": statistics.median(ours),
        "plain_numpy_seconds": statistics.median(theirs),
        "ratio": ratio,
        "iterations": int(model.n_iter_[0]),
        "test_error_percent": float(100.0 * (1.0 - model.score(X_test, y_test))),
        "same_predictions_percent": 100.0 * float(agreement),
    }
    width = max(map(len, result))
    for name, value in result.items():
        print(f"{name:<{width}}  {value:.4g}" if isinstance(value, float) else f"{name:<{width}}  {value}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
