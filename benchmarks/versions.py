"""Two checkouts of adatron in turns on one machine: is a change faster, slower, larger?

    python benchmarks/versions.py OLD NEW [--cases NAME …] [--rounds 5] [--out FILE]

OLD and NEW are folders with checkouts. Each case has a process of its own for each checkout; the two take
turns, so that whatever else the machine does disturbs both. The table shows the best seconds of each, their
ratio (above 1: the new one takes longer), the ratio of peak memory, and geometric means. Needs ADATRON_DATA.
"""

import argparse
import json
import os
import subprocess
import sys
from math import exp, log
from pathlib import Path

SERVER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {root!r})
import numpy as np
from benchmarks.data import load
from adatron import SVC, SVR, AutoSVC, AutoSVR, EnsembleSVC
from adatron.numerics.memory import peak_memory

kind, name, *rest = {case!r}.split(":")
if kind == "scale":
    from benchmarks.scale import classification
    X, y, X_test, _ = classification(100_000)
else:
    X, y, X_test, _, gamma = load(name)
C = float(rest[0]) if rest else 1.0
X = X.astype(np.float32) if kind in ("fit", "predict", "svr") else X
make = {{
    "fit": lambda: SVC(C, gamma=gamma), "predict": lambda: SVC(C, gamma=gamma),
    "svr": lambda: SVR(C, gamma=gamma), "ensemble": lambda: EnsembleSVC(fit_intercept=True),
    "auto": lambda: AutoSVC(), "autosvr": lambda: AutoSVR(),
    "scale": lambda: EnsembleSVC(rank=512, fit_intercept=True, random_state=0),
}}[kind]
few = slice(0, 2_500)
if kind in ("ensemble", "auto", "autosvr"):
    few = slice(0, 5_000)
    X, y = X[few], y[few]
model = make().fit(X[few][:2_500], y[few][:2_500])
if kind == "predict":
    X_test = X_test.astype(np.float32)
    model = make().fit(X, y)
model.predict(X_test[:10])
print("ready", flush=True)
for line in sys.stdin:
    began = time.perf_counter()
    if kind == "predict":
        model.predict(X_test)
    else:
        make().fit(X, y)
    print(json.dumps([time.perf_counter() - began, peak_memory()]), flush=True)
"""
CASES = [
    *(f"fit:{name}:{C}" for name in ("classification", "usps", "w7a", "letter", "a9a") for C in (1, 10)),
    "fit:mnist 10,000:1",
    *(f"predict:{name}" for name in ("classification", "usps", "a9a", "letter")),
    *(f"svr:{name}" for name in ("abalone", "cpusmall", "cal_housing")),
    *("ensemble:usps", "ensemble:a9a", "auto:usps", "auto:classification", "autosvr:abalone", "scale:rows"),
]


def start(checkout, case):
    """A process that runs one case with one checkout whenever it is given a line."""
    root = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, "PYTHONPATH": str(Path(checkout).resolve() / "src")}
    code = SERVER.format(root=root, case=case)
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def answer(process):
    line = process.stdout.readline()
    if not line:
        raise SystemExit("a process ended before it answered")
    return line


def race(case, checkouts, rounds):
    """All seconds and the peak memory of a case with each checkout."""
    processes = [start(checkout, case) for checkout in checkouts]
    for process in processes:
        answer(process)
    seconds, memory = [[], []], [0.0, 0.0]
    for turn in range(rounds):
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            processes[which].stdin.write("go\n")
            processes[which].stdin.flush()
            took, memory[which] = json.loads(answer(processes[which]))
            seconds[which].append(took)
    for process in processes:
        process.stdin.close()
        process.wait()
    return {"seconds": seconds, "memory": memory}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--cases", nargs="+", default=CASES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results, ratios, sizes = {}, [], []
    for case in options.cases:
        found = race(case, (options.old, options.new), options.rounds)
        old, new = (min(times) for times in found["seconds"])
        results[case] = found
        ratios.append(new / old)
        sizes.append(found["memory"][1] / found["memory"][0])
        print(
            f"{case:<26} {old:8.3f} {new:8.3f} s  {ratios[-1]:5.2f} x  memory {sizes[-1]:5.2f} x", flush=True
        )
        if options.out:
            options.out.write_text(json.dumps(results, indent=1))
    means = [exp(sum(map(log, values)) / len(values)) for values in (ratios, sizes)]
    print(f"geometric mean: seconds {means[0]:.3f} x, memory {means[1]:.3f} x; slowest {max(ratios):.2f} x")


if __name__ == "__main__":
    main()
