"""`SupportVectorClustering` with its default choice of σ and ν: agreement with the truth, time and memory.

    python benchmarks/clustering.py [--seeds 4] [--rows 20000] [--out benchmarks/results/clustering.json]

The adjusted Rand index is that of the real points where there is noise, with outliers as one more cluster.
Each fit of many rows has a process of its own, so that its peak memory is its own.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris, load_wine, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from adatron import SupportVectorClustering
from adatron.numerics.memory import peak_memory

CENTRES = [[-5.0, -4.0], [0.0, 5.0], [6.0, -3.0]]


def moons(rows, seed):
    return make_moons(rows, noise=0.06, random_state=seed)


def rings(rows, seed):
    return make_circles(rows, noise=0.05, factor=0.4, random_state=seed)


def noisy_blobs(rows, seed, scale=1.0):
    """Three blobs, and uniform noise of label −1 for one row in eleven."""
    n_noise = rows // 11
    X, y = make_blobs(rows - n_noise, centers=scale * np.array(CENTRES), random_state=seed)
    noise = scale * np.random.default_rng(seed).uniform(-10.0, 10.0, size=(n_noise, 2))
    return np.concatenate([X, noise]), np.concatenate([y, np.full(n_noise, -1)])


def close_blobs(rows, seed):
    """The same at half the distances, where they overlap: too hard for some draws."""
    return noisy_blobs(rows, seed, scale=0.5)


def wine(rows, seed):
    """Three classes that overlap in thirteen features: seen as one cluster."""
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def iris(rows, seed):
    return load_iris(return_X_y=True)


SETS = {
    "moons": moons,
    "rings": rings,
    "noisy blobs": noisy_blobs,
    "close blobs": close_blobs,
    "iris": iris,
    "wine": wine,
}


def measure(name, rows, seed):
    """One fit, in this process."""
    X, y = SETS[name](rows, seed)
    began, cpu = time.perf_counter(), time.process_time()
    model = SupportVectorClustering(random_state=seed).fit(X)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    is_real = y >= 0
    return {
        "data": name,
        "rows": len(X),
        "seed": seed,
        "index": float(adjusted_rand_score(y[is_real], model.labels_[is_real])),
        "clusters": model.n_clusters_,
        "outliers": float(np.mean(model.labels_ < 0)),
        "noise_found": float(np.mean(model.labels_[~is_real] < 0)) if not is_real.all() else None,
        "sigma": model.sigma_,
        "nu": model.nu_,
        "gap": model.duality_gap_,
        "converged": bool(model.converged_),
        "seconds": seconds,
        "cpu_seconds": cpu,
        "peak_gb": peak_memory() / 2**30,
    }


def measure_apart(name, rows, seed):
    """The same in a process of its own, compiled code loaded by a small fit before."""
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import clustering as c; c.measure('iris', 0, 0);"
        "print(json.dumps(c.measure(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent), name, str(rows), str(seed)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def show(result):
    noise = result["noise_found"]
    print(
        f"{result['data']:<12} {result['rows']:>6} {result['seed']:>4} {result['index']:>6.3f} "
        f"{result['clusters']:>8} {result['outliers']:>8.3f} {'–' if noise is None else f'{noise:.2f}':>5} "
        f"{result['sigma']:>7.3g} {result['nu']:>5.2g} {result['gap']:>8.1e} {result['seconds']:>7.1f} "
        f"{result['cpu_seconds']:>6.1f} {result['peak_gb']:>5.2f}",
        flush=True,
    )
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--rows", type=int, default=20_000, help="of the large sets; 0 leaves them out")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/clustering.json"))
    options = parser.parse_args()
    print(
        "data           rows seed  index clusters outliers noise   sigma    nu      gap seconds    cpu    GB"
    )
    results = [show(measure(name, 0, 0)) for name in ("iris", "wine")]
    for name in ("moons", "rings", "noisy blobs", "close blobs"):
        results += [show(measure(name, 600, seed)) for seed in range(options.seeds)]
    if options.rows:
        results += [show(measure_apart(name, options.rows, 0)) for name in ("moons", "rings", "noisy blobs")]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
