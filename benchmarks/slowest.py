"""Search for fits of `adatron.SVC` that are slow by surprise, beside LIBSVM on the same problems.

    python benchmarks/slowest.py [--problems 2000] [--first 0] [--most-rows 2000] [--tol 1e-3]
                                 [--patience 30] [--worst 20] [--again] [--out FILE]

Random problems with up to --most-rows rows: features of very different sizes, rows repeated exactly or
nearly, C from 1e-3 to 1e6, γ from 1e-6 to 1e3 times the inverse median of the squared distances, label noise,
few rows of one class; Gaussian, linear, polynomial and Laplacian kernels. The number of a problem determines
it. Seconds are those of the processor, one thread each. Each library runs in a process of its own, which is
ended after --patience seconds; LIBSVM is stopped before that by a number of iterations that takes about
as long as adatron, at least 0.2 s. A fit is slow if it takes more than 5 s and more than five times as long
as LIBSVM. The file is continued where it ends; --again repeats the fits of adatron in it. Last, the slowest
fits and those that were not certified, with what they were; also as JSON beside the file.
"""

import argparse
import json
import multiprocessing
import os
import signal
import statistics
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
STEPS = 2.5e8  # of LIBSVM in a second, times the number of rows
LIMIT, TIMES = 5.0, 5.0  # a slow fit exceeds both: seconds, and so many times the seconds of LIBSVM


def drawn(number, most_rows):
    """The settings of a problem: plain numbers and words."""
    rng = np.random.default_rng(number)
    return {
        "kernel": str(rng.choice(["rbf", "linear", "poly", "laplacian"])),
        "rows": int(rng.uniform(100, most_rows)),
        "features": int(np.exp(rng.uniform(0.0, np.log(50)))),
        "C": float(10.0 ** rng.uniform(-3, 6)),
        "gamma": float(10.0 ** rng.uniform(-6, 3)),  # times the inverse median of squared distances
        "degree": int(rng.integers(2, 5)), "coef0": float(rng.integers(2)),
        "scales": float(rng.choice([0.0, 0.0, 3.0, 6.0])),  # powers of ten between features
        "copies": int(rng.choice([1, 1, 2, 3, 10])),
        "jitter": float(rng.choice([0.0, 1e-9, 1e-6, 1e-3])),  # of copies
        "noise": float(rng.choice([0.0, 0.02, 0.1, 0.3, 0.5])),  # part of the labels that are drawn
        "share": float(rng.choice([0.5, 0.5, 0.2, 0.02])),  # of the rarer class
        "shape": str(rng.choice(["normal", "heavy", "integers", "low rank"])),
    }  # fmt: skip


def data_of(number, settings):
    """X, labels and γ of a problem."""
    rng, d = np.random.default_rng([number, 1]), settings["features"]
    n = max(2, settings["rows"] // settings["copies"])
    X = rng.normal(size=(n, d))
    if settings["shape"] == "heavy":
        X = rng.standard_t(1.5, size=(n, d))
    elif settings["shape"] == "integers":
        X = np.floor(2.0 * X)
    elif settings["shape"] == "low rank":
        X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
    score = X @ rng.normal(size=d) + 0.5 * np.square(X[:, 0])
    y = (score > np.quantile(score, 1.0 - settings["share"])).astype(int)
    X, y = (np.tile(a, (settings["copies"], *[1] * (a.ndim - 1))) for a in (X, y))
    X = X + settings["jitter"] * rng.normal(size=X.shape) * (settings["copies"] > 1)
    X = X * 10.0 ** (settings["scales"] * rng.uniform(-0.5, 0.5, d))
    flipped = rng.random(len(y)) < settings["noise"]
    y[flipped] = rng.random(flipped.sum()) < settings["share"]
    y[:2] = 0, 1
    few = X[rng.permutation(len(X))[:300]]
    if settings["kernel"] in ("rbf", "laplacian"):
        distances = pdist(few, "cityblock" if settings["kernel"] == "laplacian" else "sqeuclidean")
        typical = np.median(distances[distances > 0.0]) if distances.any() else 1.0
    else:
        typical = np.median(np.square(few).sum(axis=1)) or 1.0
    return X, y, settings["gamma"] / typical


def _fit(library, number, settings, tol, beside):
    """Seconds, and the gap, status and epochs of adatron; `beside` are its seconds when LIBSVM is asked."""
    X, y, gamma = data_of(number, settings)
    shared = {"C": settings["C"], "gamma": gamma, "tol": tol}
    shared |= {"kernel": settings["kernel"], "degree": settings["degree"], "coef0": settings["coef0"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if library == "adatron":
            from adatron import SVC

            began = time.process_time()
            model = SVC(**shared).fit(X, y)
            seconds = time.process_time() - began
            found = {
                "status": str(model.status_),
                "gap": model.duality_gap_,
                "epochs": int(model.n_iter_.max()),
            }
            return {"seconds": seconds, "support": len(model.support_), **found}
        from sklearn.metrics.pairwise import laplacian_kernel
        from sklearn.svm import SVC as LibSVC

        began = time.process_time()
        if settings["kernel"] == "laplacian":
            shared |= {"kernel": "precomputed"}
            X = laplacian_kernel(X, gamma=gamma)
        most = int(max(0.2, beside) * STEPS / len(y))
        model = LibSVC(**shared, cache_size=1_000, max_iter=most).fit(X, y)
        found = {"seconds": time.process_time() - began}
        return found | ({"status": "stopped"} if model.fit_status_ else {})


def _serve(connection, library):
    for number in range(8):  # whatever is loaded or compiled
        settings = drawn(number, 200) | {"C": 1.0, "gamma": 1.0, "scales": 0.0}
        _fit(library, number, settings, 1e-3, 0.0)
    connection.send("ready")
    while True:
        patience, *task = connection.recv()
        signal.setitimer(signal.ITIMER_PROF, patience)  # ends the process, whatever it is doing
        try:
            connection.send(_fit(library, *task))
        except Exception as error:  # part of what is measured
            connection.send({"seconds": 0.0, "status": f"{type(error).__name__}: {error}"})


class Library:
    """A process that fits with one library; a new one begins when a fit was too slow."""

    def __init__(self, name):
        self.name, self.process = name, None

    def fit(self, patience, *task):
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.connection, child = context.Pipe()
            self.process = context.Process(target=_serve, args=(child, self.name), daemon=True)
            self.process.start()
            child.close()
            self.connection.recv()
        self.connection.send((patience, *task))
        try:
            return self.connection.recv()
        except EOFError:
            self.end()
            return {"seconds": patience, "status": "ended"}

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
        self.process = None


def is_slow(row):
    """Whether a fit took more than both limits; one that was ended took at least as long."""
    return row["adatron"]["seconds"] > max(LIMIT, TIMES * row["libsvm"]["seconds"])


def ratio(row):
    """Seconds of adatron over those of LIBSVM; the clock of the processor is coarse."""
    return max(row["adatron"]["seconds"], 0.01) / max(row["libsvm"]["seconds"], 0.01)


def describe(number, row):
    own, other, s = row["adatron"], row["libsvm"], row["settings"]
    more = "" if other.get("status") is None else "+"
    what = f"{s['kernel']}, {s['rows']} × {s['features']}, C {s['C']:.1e}, γ {s['gamma']:.1e}, {s['shape']}"
    what += f", scales 1e{s['scales']:.0f}, noise {s['noise']:g}, share {s['share']:g}"
    if s["copies"] > 1:
        what += f", {s['copies']} copies ± {s['jitter']:g}"
    if s["kernel"] == "poly":
        what += f", degree {s['degree']}, coef0 {s['coef0']:g}"
    times = f"{own['seconds']:8.3f} s  {other['seconds']:8.3f}{more:1} s  {ratio(row):7.2f} x"
    return f"{number:>6}  {times}  {own['status']:<16} {own.get('gap', np.nan):8.1e}  {what}"


def summary(results, worst):
    """Counts, the slowest fits by seconds and by ratio, and all that were not certified."""
    rows = list(results.values())
    seconds = np.array([row["adatron"]["seconds"] for row in rows])
    lasting = [number for number in results if results[number]["adatron"]["seconds"] > 0.05]
    by_time = sorted(results, key=lambda number: -results[number]["adatron"]["seconds"])[:worst]
    by_ratio = sorted(lasting, key=lambda number: -ratio(results[number]))[:worst]
    lost = [number for number in results if results[number]["adatron"]["status"] != "converged"]
    return {
        "problems": len(rows), "slow": sum(map(is_slow, rows)), "over 5 s": int((seconds > LIMIT).sum()),
        "status": dict(Counter(row["adatron"]["status"] for row in rows)),
        "seconds": {f"{q:g}": float(np.quantile(seconds, q)) for q in (0.5, 0.9, 0.99, 0.999, 1.0)},
        "median ratio": statistics.median(map(ratio, rows)),
        "stopped LIBSVM": sum("status" in row["libsvm"] for row in rows),
        "slowest": {number: results[number] for number in dict.fromkeys(by_time + by_ratio)},
        "not certified": {number: results[number] for number in lost},
    }  # fmt: skip


def show(found):
    print(f"\n{'number':>6}  {'adatron':>10}  {'LIBSVM':>11}  {'ratio':>9}  status, gap, problem")
    for part in ("slowest", "not certified"):
        print(f"{part}:")
        for number, row in found[part].items():
            print(describe(number, row))
    print(f"\n{found['problems']} problems: {found['slow']} slow (over {LIMIT:g} s and {TIMES:g} x LIBSVM)")
    print(f"{found['over 5 s']} over {LIMIT:g} s; LIBSVM was stopped on {found['stopped LIBSVM']}")
    parts = ", ".join(f"{float(q):.1%}: {value:.3g} s" for q, value in found["seconds"].items())
    print(f"quantiles of the time {parts}; median ratio to LIBSVM {found['median ratio']:.2f}")
    print("status: " + ", ".join(f"{status} {count}" for status, count in found["status"].items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--most-rows", type=int, default=2_000)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--patience", type=float, default=30.0)
    parser.add_argument("--worst", type=int, default=20, help="slowest fits to show")
    parser.add_argument("--again", action="store_true", help="repeat the fits of adatron")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/slowest.json"))
    options = parser.parse_args()
    results = json.loads(options.out.read_text()) if options.out.exists() else {}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    libraries = {name: Library(name) for name in ("adatron", "libsvm")}
    for number in range(options.first, options.first + options.problems):
        settings, row = drawn(number, options.most_rows), results.get(str(number), {})
        for name, library in libraries.items():
            if name not in row or (options.again and name == "adatron"):
                beside = row.get("adatron", {}).get("seconds", 0.0)
                found = library.fit(options.patience, number, settings, options.tol, beside)
                row = {"settings": settings} | row | {name: found}
        beside = row["adatron"]["seconds"]
        while is_slow(row) and row["libsvm"].get("status") == "stopped":  # too early to tell
            beside *= 10.0
            row["libsvm"] = libraries["libsvm"].fit(options.patience, number, settings, options.tol, beside)
        results[str(number)] = row
        if is_slow(row):
            print(describe(number, row), flush=True)
        if number % 20 == 0 or number == options.first + options.problems - 1:
            options.out.write_text(json.dumps(results, indent=1) + "\n")
    for library in libraries.values():
        library.end()
    found = summary(results, options.worst)
    show(found)
    options.out.with_suffix(".summary.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
