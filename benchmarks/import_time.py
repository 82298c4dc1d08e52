"""Seconds to import adatron beside scikit-learn's SVMs, each in fresh processes that take turns.

    python benchmarks/import_time.py [--rounds 7] [--out benchmarks/results/import_time.json]

The time of an empty process is subtracted; the fastest round counts. The goal is 1.5 × ``sklearn.svm``.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

STATEMENTS = ("pass", "import sklearn.svm", "import adatron", "from adatron import SVC")


def seconds(statement):
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    turns = [[seconds(statement) for statement in STATEMENTS] for _ in range(arguments.rounds)]
    empty, *imports = map(min, zip(*turns, strict=True))
    results = {
        statement: {"seconds": fastest - empty, "ratio": (fastest - empty) / (imports[0] - empty)}
        for statement, fastest in zip(STATEMENTS[1:], imports, strict=True)
    }
    for statement, measured in results.items():
        print(f"{statement:26} {measured['seconds']:6.2f} s {measured['ratio']:5.2f} ×")
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
