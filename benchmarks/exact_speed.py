"""`SVC(tol=1e-9)` against the general QP solver piqp on dense duals of 2,000 points.

    python benchmarks/exact_speed.py [--points 2000] [--out FILE]

Both start from the rows of X; piqp is given the kernel matrix, whose evaluation counts for it too.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.oracles.qp import dual_objective, solve_piqp

from adatron import SVC
from adatron.kernels import Gaussian


def points(m, separable):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 8))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=m) > 0, 1.0, -1.0)
    if separable:
        X[:, 0] = y * (1.0 + np.abs(X[:, 0]))
    return X, y


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=2_000)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/exact_speed.json"))
    options = parser.parse_args()
    kernel, results = Gaussian(0.1), {}
    SVC(kernel=kernel, tol=1e-9).fit(*points(200, False))
    for C in (0.01, 1.0, 100.0, 1e4, np.inf):
        X, y = points(options.points, np.isinf(C))
        began = time.perf_counter()
        model = SVC(C=C, kernel=kernel, tol=1e-9).fit(X, y)
        ours = time.perf_counter() - began
        began = time.perf_counter()
        K, upper = kernel(X, X), np.full(len(y), C)
        oracle = solve_piqp(K, y, upper, True)
        theirs = time.perf_counter() - began
        alpha = np.zeros(len(y))
        alpha[model.support_] = np.abs(model.dual_coef_[0])
        optimum = dual_objective(K, y, np.clip(oracle, 0.0, upper))
        difference = abs(dual_objective(K, y, alpha) - optimum) / abs(optimum)
        results[f"C={C:g}"] = {"adatron": ours, "piqp": theirs, "difference": difference}
        print(
            f"C = {C:<6g} adatron {ours:7.3f} s   piqp {theirs:7.3f} s   {theirs / ours:6.1f} x   "
            f"relative difference of the objectives {difference:.1e}   gap {model.duality_gap_:.1e}"
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
