"""Many rows on one machine: tuned models from 10⁴ to 10⁶ rows; time, memory and error.

    python benchmarks/scale.py [--quick] [--sets classification mnist] [--sizes 10000 100000 1000000]
                               [--methods NAME …] [--patience 1200] [--out FILE]

`classification` is scikit-learn's `make_classification`, 50 features of which 20 matter; `mnist` (needs
ADATRON_DATA) is the digits 0–4 against 5–9, the training rows shifted by up to two pixels. Features of the
first are divided by their deviations for those that do not do so themselves. Every fit runs in a process of
its own, whose peak memory includes data and imports. Seconds of the processor are given beside those of the
clock, as other users of a machine disturb them less; ratios are of these. What is in the output file already
is not run again.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

RANK = 512
CS = (0.01, 0.1, 1.0, 10.0, 100.0)
SIZES = (10_000, 100_000, 1_000_000)
N_TEST = 50_000
N_VALIDATION = 0.2  # part of the training rows by which scikit-learn's C is chosen


def classification(m):
    """Rows and labels of one large set, and as many to test on as tell errors apart by 0.2 points."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        max(m, SIZES[-1]) + N_TEST, 50, n_informative=20, n_redundant=10, n_clusters_per_class=8,
        flip_y=0.05, random_state=0,
    )  # fmt: skip
    X /= X.std(axis=0)
    return X[:m].copy(), y[:m], X[-N_TEST:].copy(), y[-N_TEST:]


def mnist(m):
    """Digits 0–4 against 5–9; training rows are drawn from the 25 shifts of all 60,000."""
    from benchmarks.data import load

    X, y, X_test, y_test, _ = load("mnist 60,000")
    rng = np.random.default_rng(0)
    chosen = rng.permutation(25 * len(X))[:m]
    rows = np.empty((m, X.shape[1]), dtype=np.float32)
    for shift in range(25):
        own = np.flatnonzero(chosen // len(X) == shift)
        pictures = X[chosen[own] % len(X)].reshape(-1, 28, 28)
        rows[own] = np.roll(pictures, (shift // 5 - 2, shift % 5 - 2), axis=(1, 2)).reshape(len(own), -1)
    return rows, y[chosen % len(X)], X_test.astype(np.float32), y_test


SETS = {"classification": classification, "mnist": mnist}


def _auto(X, y):
    from adatron import AutoSVC

    return AutoSVC(random_state=0).fit(X, y)


def _ensemble(X, y):
    from adatron import EnsembleSVC

    return EnsembleSVC(rank=RANK, random_state=0).fit(X, y)


def _tuned(X, y, classifiers, select):
    """scikit-learn's Nyström map, then the classifier that is best on a fifth of the rows, on all of them."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    transform = Nystroem(gamma=1.0 / X.shape[1] / X.var(), n_components=RANK, random_state=0)
    Z = transform.fit_transform(X)
    last = int((1.0 - N_VALIDATION) * len(y)) if select else len(y)
    scores = [c.fit(Z[:last], y[:last]).score(Z[last:], y[last:]) if select else 0.0 for c in classifiers]
    best = classifiers[int(np.argmax(scores))]
    return make_pipeline(transform, best.fit(Z, y))


def _linear_svc(X, y):
    from sklearn.svm import LinearSVC

    return _tuned(X, y, [LinearSVC(C=C, dual=False) for C in CS], select=True)


def _one_linear_svc(X, y):
    from sklearn.svm import LinearSVC

    return _tuned(X, y, [LinearSVC(C=1.0, dual=False)], select=False)


def _sgd(X, y):
    from sklearn.linear_model import SGDClassifier

    penalties = [1.0 / (C * len(y)) for C in CS]
    return _tuned(X, y, [SGDClassifier(alpha=a, n_jobs=2, random_state=0) for a in penalties], select=True)


def _exact(X, y):
    from sklearnex.svm import SVC

    return SVC(C=10.0, cache_size=2000).fit(X.astype(np.float32), y)


# name: (function, most rows it is asked to train)
METHODS = {
    "AutoSVC": (_auto, 10**7),
    "EnsembleSVC": (_ensemble, 10**7),
    "LinearSVC, 5 C": (_linear_svc, 10**6),
    "LinearSVC, 1 C": (_one_linear_svc, 10**6),
    "SGD, 5 C": (_sgd, 10**6),
    "exact sklearnex": (_exact, 100_000),
}


def _watch(peak):
    while True:
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
        peak[0] = max(peak[0], resident / 2**30)
        time.sleep(0.05)


def _measure(connection, method, name, m):
    fit = METHODS[method][0]
    X, y, X_test, y_test = SETS[name](m)
    fit(X[:2_000], y[:2_000])  # imports, compiles
    peak = [0.0]
    threading.Thread(target=_watch, args=(peak,), daemon=True).start()
    seconds, cpu = time.perf_counter(), time.process_time()
    model = fit(X, y)
    seconds, cpu = time.perf_counter() - seconds, time.process_time() - cpu
    memory = peak[0]
    error = 100.0 * float(np.mean(model.predict(X_test) != y_test))
    connection.send({"seconds": seconds, "cpu": cpu, "gigabytes": memory, "error": error})


def measure(method, name, m, patience):
    """What one fit takes, or None when it took too long or died."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_measure, args=(theirs, method, name, m), daemon=True)
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(patience) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def exponents(rows):
    """Between neighbouring sizes: ``seconds of the processor ∝ m^exponent``."""
    known = sorted((int(m), r["cpu"]) for m, r in rows.items() if r)
    return [float(np.log(c2 / c1) / np.log(m2 / m1)) for (m1, c1), (m2, c2) in pairwise(known)]


def show(records):
    print(f"\n{'set':<15} {'method':<16} {'rows':>9} {'seconds':>8} {'cpu':>8} {'GB':>6} {'error %':>8}")
    for name, methods in records.items():
        for method, rows in methods.items():
            for m, r in rows.items():
                line = f"{name:<15} {method:<16} {int(m):>9,} "
                values = "ended" if r is None else "{seconds:8.1f} {cpu:8.1f} {gigabytes:6.2f} {error:8.2f}"
                print(line + (values if r is None else values.format(**r)))
            if len(rows) > 1:
                print(f"{'':<15} {'':<16} exponents " + " ".join(f"{e:.2f}" for e in exponents(rows)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10⁴ and 2·10⁴ rows")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--patience", type=float, default=1200.0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/scale.json"))
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.sets = [10_000, 20_000], ["classification"]
        options.out = options.out.with_stem("scale_quick")
    records = json.loads(options.out.read_text()) if options.out.exists() else {}
    for name in options.sets:
        for m in options.sizes:
            for method in options.methods:
                known = records.setdefault(name, {}).setdefault(method, {})
                if m <= METHODS[method][1] and known.get(str(m)) is None:
                    known[str(m)] = measure(method, name, m, options.patience)
                    print(f"{name} {method} {m:,}: {known[str(m)]}", flush=True)
                    options.out.parent.mkdir(parents=True, exist_ok=True)
                    options.out.write_text(json.dumps(records, indent=1) + "\n")
    show(records)


if __name__ == "__main__":
    main()
