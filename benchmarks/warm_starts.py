"""Epochs that warm starts save along a path of 20 widths, on sonar and ionosphere.

    python benchmarks/warm_starts.py [--widths 20] [--C inf] [--out benchmarks/results/warm_starts.json]

Kernel-Adatron with a bias, hard margin, relative duality gap 1e-3, raw features, all rows; widths as
`sigma_path` chooses them. Beside the cold and warm starts of `sigma_path` stand warm starts that carry the
last multipliers over as they are, or scaled by one factor and with the bias that belongs to them, and
cold starts that try the exact finish as early as `SVC(solver="auto")` does (after 10, 100, 1,000 epochs).
Seconds include the kernel matrices and, for the warm path, the linear systems it solves before its sweeps,
which are not counted as epochs.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from adatron.datasets import load_ionosphere, load_sonar
from adatron.gram import DenseGram
from adatron.kernels import Gaussian
from adatron.numerics.threads import one_blas_thread
from adatron.problems import classification
from adatron.selection import sigma_path
from adatron.solvers import KernelAdatron
from adatron.training import GapRule, Run, certify, rounds

SETS = {"sonar": load_sonar, "ionosphere": load_ionosphere}
TOL, MAX_ITER = 1e-3, 1_000_000


def by_sigma_path(X, y, sigmas, C, warm_start):
    began = time.perf_counter()
    path = sigma_path(X, y, sigmas, C=C, tol=TOL, warm_start=warm_start, max_iter=MAX_ITER, criterion="loo")
    return {"seconds": time.perf_counter() - began, "epochs": path["epochs"].astype(int).tolist()}, path


def by_hand(X, y, sigmas, C, *, start=None, eager=False):
    """A path with nothing but `Run`; `start` makes α and the bias of a problem from the last α."""
    signs, upper, epochs, last = np.where(y == 1, 1.0, -1.0), np.full(len(y), C), [], None
    began = time.perf_counter()
    with one_blas_thread(), np.errstate(over="ignore"):
        for sigma in sigmas:
            problem = classification(DenseGram(Gaussian.of_width(sigma)(X, X)), signs, upper, bias=True)
            alpha, bias = (None, 0.0) if start is None or last is None else start(problem, last)
            run = Run(problem, KernelAdatron(), GapRule(TOL, eager=eager), max_iter=MAX_ITER, alpha=alpha)
            run.state.bias[:] = bias
            for _ in rounds([run]):
                pass
            last = run.solutions[0].alpha[:, None]
            epochs.append(run.solutions[0].n_iter)
    return {"seconds": time.perf_counter() - began, "epochs": epochs}


def as_it_is(problem, alpha):
    return alpha, 0.0


def scaled(problem, alpha):
    """The factor ``Σα / αᵀQα`` maximises the dual."""
    weights = problem.y * alpha
    factor = alpha.sum() / (weights * problem.gram.matmul(weights)).sum()
    certificate = certify(problem, 0, np.minimum(factor * alpha, problem.upper)[:, 0])
    return certificate.alpha[:, None], certificate.bias


def measure(load, n_widths, C):
    X, y = load(return_X_y=True)
    default = sigma_path(X, y, C=C, max_iter=MAX_ITER, criterion="loo")["sigma"]  # compiles as well
    sigmas = np.geomspace(default[0], default[-1], n_widths)
    cold, cold_path = by_sigma_path(X, y, sigmas, C, warm_start=False)
    warm, warm_path = by_sigma_path(X, y, sigmas, C, warm_start=True)
    return {
        "sigmas": sigmas.tolist(),
        "largest difference of margins": float(np.abs(cold_path["margin"] - warm_path["margin"]).max()),
        "cold": cold,
        "cold, early exact finish": by_hand(X, y, sigmas, C, eager=True),
        "carried over as they are": by_hand(X, y, sigmas, C, start=as_it_is),
        "scaled, sweeps only": by_hand(X, y, sigmas, C, start=scaled),
        "warm": warm,
    }


def show(name, result):
    cold = sum(result["cold"]["epochs"])
    first, last = result["sigmas"][0], result["sigmas"][-1]
    print(f"\n{name}, {len(result['sigmas'])} widths from {first:.3g} to {last:.3g}")
    for kind in [kind for kind, path in result.items() if isinstance(path, dict)]:
        epochs, seconds = sum(result[kind]["epochs"]), result[kind]["seconds"]
        print(f"  {kind:26s} {epochs:9,d} epochs   saved {1 - epochs / cold:7.1%}   {seconds:7.2f} s")
    print(f"  margins of warm and cold differ by at most {result['largest difference of margins']:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--widths", type=int, default=20)
    parser.add_argument("--C", type=float, default=np.inf)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/warm_starts.json"))
    options = parser.parse_args()
    results = {name: measure(load, options.widths, options.C) for name, load in SETS.items()}
    for name, result in results.items():
        show(name, result)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
