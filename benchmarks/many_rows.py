"""Single fits of `AutoSVC` and `AutoSVR` on many rows or features: seconds, memory, error, and a peer's.

    python benchmarks/many_rows.py [--cases NAME …] [--out FILE]

a9a needs ADATRON_DATA, the others are drawn. The peer is HistGradientBoosting, for text `LinearSVC`. Every
fit runs in a process of its own, whose peak memory includes data and imports. What is in the output file
already is not run again. The last case is the reading of a table of mixed columns by `TableEncoder`.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

N_TEST = 20_000


def a9a():
    from benchmarks.data import load

    return load("a9a")[:4]


def drawn_classes(n, d):
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n + N_TEST, d, n_informative=d // 2, n_redundant=d // 5, n_clusters_per_class=4, flip_y=0.05,
        class_sep=0.7, random_state=0,
    )  # fmt: skip
    return X[:n], y[:n], X[n:], y[n:]


def drawn_targets(n, d):
    """Friedman's first function of five of the features, and noise of a fifth of its deviation."""
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(n + N_TEST, d, noise=1.0, random_state=0)
    return X[:n], y[:n], X[n:], y[n:]


def few_of_many():
    from sklearn.datasets import make_classification

    X, y = make_classification(3_000, 2_000, n_informative=10, n_redundant=0, random_state=0)
    return X[:1_500], y[:1_500], X[1_500:], y[1_500:]


def text():
    """Documents of six classes: words are drawn from a Zipf law that each class shifts for some of them."""
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfTransformer

    rng, n, words = np.random.default_rng(0), 12_000, 20_000
    y, common = rng.integers(0, 6, n), 1.0 / np.arange(1, words + 1)
    tilts = np.exp(rng.normal(size=(6, words)) * (rng.random((6, words)) < 0.03))
    laws = common * tilts / (common * tilts).sum(axis=1, keepdims=True)
    drawn = np.concatenate([rng.choice(words, 60, p=laws[k]) for k in y])
    places = np.repeat(np.arange(n), 60)
    counts = sparse.csr_array((np.ones(len(drawn)), (places, drawn)), shape=(n, words))
    X = TfidfTransformer().fit_transform(counts)
    return X[:10_000], y[:10_000], X[10_000:], y[10_000:]


def mixed_table():
    """200,000 rows of 10 numbers with holes, 10 categories, 5 dates and 5 texts of numbers."""
    import pandas as pd

    rng, n = np.random.default_rng(0), 200_000
    columns = {f"number{j}": np.where(rng.random(n) < 0.05, np.nan, rng.normal(size=n)) for j in range(10)}
    columns |= {f"level{j}": rng.choice([f"l{k}" for k in range(3 + 20 * j)], n) for j in range(10)}
    start = np.datetime64("2020-01-01")
    columns |= {f"date{j}": start + rng.integers(0, 2_000, n).astype("timedelta64[D]") for j in range(5)}
    columns |= {f"written{j}": np.char.mod("%.2f", rng.normal(size=n)).astype(object) for j in range(5)}
    return pd.DataFrame(columns), rng.integers(0, 2, n)


CASES = {
    "a9a": (a9a, "classes"),
    "10,000 x 50": (lambda: drawn_classes(10_000, 50), "classes"),
    "50,000 x 30": (lambda: drawn_classes(50_000, 30), "classes"),
    "200,000 x 20": (lambda: drawn_classes(200_000, 20), "classes"),
    "1,000,000 x 50": (lambda: drawn_classes(1_000_000, 50), "classes"),
    "1,500 x 2,000, 10 matter": (few_of_many, "classes"),
    "text, 10,000 x 20,000": (text, "text"),
    "regression, 2,000 x 20": (lambda: drawn_targets(2_000, 20), "targets"),
    "regression, 100,000 x 10": (lambda: drawn_targets(100_000, 10), "targets"),
    "regression, 1,000,000 x 10": (lambda: drawn_targets(1_000_000, 10), "targets"),
    "encoding, 200,000 x 30": (mixed_table, "encoding"),
}


def models(kind):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.svm import LinearSVC

    from adatron import AutoSVC, AutoSVR
    from adatron.tables import TableEncoder

    ours = {"classes": AutoSVC, "text": AutoSVC, "targets": AutoSVR, "encoding": TableEncoder}[kind]
    peers = {"classes": HistGradientBoostingClassifier, "targets": HistGradientBoostingRegressor}
    return [ours(), None if kind == "encoding" else peers.get(kind, LinearSVC)()]


def _measure(connection, name, place):
    draw, kind = CASES[name]
    X, y, *test = draw()
    model = models(kind)[place]
    small = slice(0, min(2_000, len(y)))
    models(kind)[place].fit(X[small], y[small])  # imports, compiles
    began = time.perf_counter()
    model.fit(X, y)
    found = {"seconds": time.perf_counter() - began}
    if test:
        found["score"] = 100.0 * float(model.score(*test))  # accuracy or R²
    found["gigabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    connection.send(found)


def measure(name, place):
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_measure, args=(theirs, name, place))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        return None
    finally:
        process.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/many_rows.json"))
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    results = json.loads(options.out.read_text()) if options.out.exists() else {}
    for name in options.cases:
        for place, model in enumerate(models(CASES[name][1])):
            key = f"{name}|{type(model).__name__}"
            if model is not None and key not in results:
                results[key] = measure(name, place)
                options.out.write_text(json.dumps(results, indent=1) + "\n")
                row = results[key] or {"seconds": np.nan, "gigabytes": np.nan}
                print(
                    f"{name:<28} {type(model).__name__:<30} {row['seconds']:8.2f} s "
                    f"{row['gigabytes']:6.1f} GB  score {row.get('score', np.nan):6.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
