"""How time and memory of a fit grow with the number of rows: ``seconds ∝ m^exponent``.

    python benchmarks/scaling.py [--peers NAME …] [--most 60000] [--out FILE] [--plot FILE]

Needs ADATRON_DATA and the extra "bench". Every fit runs in a process of its own, whose peak memory is
that of data, imports and fit together; what is reported is the growth over the same process before the fit.
"""

import argparse
import json
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adatron.numerics.memory import peak_memory
from benchmarks.data import load
from benchmarks.peers import PEERS, available

SIZES = (2_000, 4_000, 8_000, 16_000, 32_000, 60_000)
DATA = {"a9a": "a9a", "mnist": "mnist 60,000", "skin": "skin"}


def _fit(connection, peer, name, m, C):
    constructor, dtype, _ = PEERS[peer]
    X, y, _, _, gamma = load(DATA[name])
    chosen = np.random.default_rng(1).permutation(len(X))[:m]
    X, y = X[chosen].astype(dtype), y[chosen]
    constructor(C, gamma).fit(X[:400], y[:400])
    before = peak_memory()
    began = time.perf_counter()
    constructor(C, gamma).fit(X, y)
    connection.send((time.perf_counter() - began, (peak_memory() - before) / 2**20))


def measure(peer, name, m, C, patience):
    """Seconds and MB, or None when it took too long."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_fit, args=(theirs, peer, name, m, C), daemon=True)
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(patience) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def exponent(sizes, values):
    """Slope of a line through logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0]) if len(sizes) > 1 else float("nan")


def draw(results, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(results), figsize=(4 * len(results), 7), squeeze=False, sharex=True)
    for column, (name, peers) in enumerate(results.items()):
        for peer, row in peers.items():
            for k, key in enumerate(("seconds", "mb")):
                label = f"{peer} ({row['exponents'][k]:.2f})"
                axes[k, column].loglog(row["rows"], row[key], "o-", label=label)
        axes[0, column].set_title(name)
        axes[0, column].set_ylabel("seconds")
        axes[1, column].set(xlabel="rows", ylabel="memory of the fit, MB")
        axes[0, column].legend(title="exponent", fontsize=7)
        axes[1, column].legend(title="exponent", fontsize=7)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = [p for p in ("adatron", "libsvm", "sklearnex float32") if p in available()]
    parser.add_argument("--peers", nargs="+", default=default)
    parser.add_argument("--sets", nargs="+", default=list(DATA), choices=list(DATA))
    parser.add_argument("--most", type=int, default=60_000)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--patience", type=float, default=120.0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/scaling.json"))
    parser.add_argument("--plot", type=Path, default=Path("benchmarks/results/scaling.png"))
    options = parser.parse_args()
    results = {}
    for name in options.sets:
        results[name] = {}
        available_rows = len(load(DATA[name])[0])
        for peer in options.peers:
            rows, seconds, mb = [], [], []
            for m in SIZES:
                answer = (
                    None
                    if m > min(options.most, available_rows)
                    else measure(peer, name, m, options.C, options.patience)
                )
                if answer is None:
                    break
                rows.append(m)
                seconds.append(answer[0])
                mb.append(max(answer[1], 0.1))
            exponents = [exponent(rows, seconds), exponent(rows, mb)]
            results[name][peer] = {"rows": rows, "seconds": seconds, "mb": mb, "exponents": exponents}
            print(
                f"{name:<6} {peer:<18} time m^{exponents[0]:.2f}, memory m^{exponents[1]:.2f}   "
                + "  ".join(f"{m}: {s:.2f} s {b:.0f} MB" for m, s, b in zip(rows, seconds, mb, strict=True))
            )
            sys.stdout.flush()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    draw(results, options.plot)


if __name__ == "__main__":
    main()
