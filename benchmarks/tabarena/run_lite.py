"""Run AutoSVC and AutoSVR on TabArena-Lite: one split of each of its tables.

    python benchmarks/tabarena/run_lite.py [--out DIR]

Needs tabarena, autogluon and openml, which downloads the tables. It has not been run.
"""

import argparse
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/tabarena"))
    options = parser.parse_args()

    import openml
    from adatron_model import adatron_experiments
    from tabarena.benchmark.experiment import run_experiments_new

    run_experiments_new(
        output_dir=str(options.out),
        model_experiments=adatron_experiments(),
        tasks=openml.study.get_suite("tabarena-v0.1").tasks,
        repetitions_mode="TabArena-Lite",
    )


if __name__ == "__main__":
    main()
