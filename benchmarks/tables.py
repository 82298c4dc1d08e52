"""Error, log loss and time on raw tables: AutoSVC and AutoSVR against trees, grid search and xRFM.

    python benchmarks/tables.py [--data tables|uci …] [--half a|b|all] [--rows 2000] [--splits 2]
                                [--tables NAME …] [--models NAME …] [--again NAME …] [--out FILE]
                                [--show] [--page docs/comparison.md]

Needs ADATRON_DATA and the extra "bench"; xRFM the extra "xrfm". All models are at their defaults and take
turns on each split. Results are saved after every fit; what is in the output file is not run again, unless
--again names the model. --show runs nothing and only reports. --page writes the tables and the picture into
a Markdown page.
"""

import argparse
import itertools
import json
import os
import platform
import shlex
import subprocess
import sys
import time
import warnings
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.publish import processor
from benchmarks.table_models import MODELS, available_models, best_score_of
from benchmarks.table_report import draw, draw_headline, show, write_page
from benchmarks.table_sets import COLLECTIONS, Table, collection_of

PACKAGES = ("adatron", "numpy", "scipy", "scikit-learn", "pandas", "catboost", "lightgbm", "xrfm", "torch")


def measured(name, task, X, y, X_test, y_test):
    """One fit and its predictions; the reason if it fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            began = time.perf_counter()
            model = MODELS[name][0](task).fit(X, y)
            fitted = time.perf_counter()
            predicted = np.asarray(model.predict(X_test))
            times = {"seconds": fitted - began, "predict_seconds": time.perf_counter() - fitted}
            return times | scores(name, task, model, predicted, X_test, np.asarray(y_test))
    except Exception as error:  # a benchmark goes on without the model that failed
        return {"failed": f"{type(error).__name__}: {error}"[:300]}


def scores(name, task, model, predicted, X_test, y_test):
    """Error in per cent (of the test rows, or of the targets' deviation), log loss and own estimate."""
    found = {"log_loss": None, "best_score": best_score_of(name, model)}
    if task == "regression":
        rmse = np.sqrt(np.mean((predicted.astype(float) - y_test) ** 2))
        return found | {"error": float(100.0 * rmse / np.std(y_test))}
    found["error"] = float(100.0 * np.mean(predicted != y_test))
    try:
        probabilities = np.asarray(model.predict_proba(X_test), dtype=float)
    except AttributeError:  # of a grid search over SVC
        return found
    known = np.asarray(model.classes_, dtype=int)
    labels = np.arange(max(known.max(), y_test.max()) + 1)
    aligned = np.zeros((len(y_test), len(labels)))  # a class that training rows lack has probability 0
    aligned[:, known] = probabilities
    return found | {"log_loss": float(log_loss(y_test, aligned, labels=labels))}


def warm_up(names, tasks):
    """Import and compile before the clock runs."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80), "c": list("xyxz") * 20})
    X.loc[::7, "a"] = np.nan
    for task in tasks:
        y = X["b"] + rng.normal(size=80)
        y = (y > 0).astype(int) if task == "classification" else y
        for name in names:
            measured(name, task, X, y, X, y)


def key_of(table, seed, model):
    """The key of a result."""
    return f"{table.name}|{seed}|{model}"


def run(tables, record, options, save):
    """Fill ``record["results"]`` and save after every fit."""
    results, warm = record["results"], set()
    for table in tables:
        for seed in range(options.splits):
            missing = [name for name in options.models if key_of(table, seed, name) not in results]
            warm_up([name for name in missing if (name, table.task) not in warm], [table.task])
            warm |= {(name, table.task) for name in missing}
            for name in missing:
                split = table.split(seed, options.rows)
                about = {"collection": table.collection, "half": table.half, "task": table.task}
                found = measured(name, table.task, *split)
                about |= {"n_train": len(split[1]), "run": len(record["runs"]) - 1}
                results[key_of(table, seed, name)] = about | found
                save(record)
                said = found.get("failed") or f"{found['error']:6.2f} %  {found['seconds']:8.2f} s"
                print(f"{table.name:<26} {seed}  {name:<22} {said}", flush=True)


def about_this_run():
    """Machine, versions, day and commit."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "command": f"python benchmarks/{Path(sys.argv[0]).name} {shlex.join(sys.argv[1:])}",
        "machine": f"{os.cpu_count()} cores, {processor()}",
        "python": platform.python_version(),
        "versions": versions,
        "date": date.today().isoformat(),
        "commit": _commit(),
    }


def _commit():
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=10"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def saver(path):
    """A function that replaces the file at once, so that an interrupted run leaves a whole one."""

    def save(record):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".part")
        beside.write_text(json.dumps(record, indent=1) + "\n")
        beside.replace(path)

    return save


def opened(path, rows):
    """The record of a file, or a new one; fits with another number of training rows are not mixed."""
    if not path.exists():
        return {"rows": rows, "runs": [], "results": {}}
    record = json.loads(path.read_text())
    if record["rows"] != rows:
        raise SystemExit(f"{path} has fits of at most {record['rows']} rows; choose another --out")
    return record


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["tables"], choices=list(COLLECTIONS))
    parser.add_argument("--half", default="all", choices=["a", "b", "all"])
    parser.add_argument("--rows", type=int, default=2_000, help="training rows at most")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--tables", nargs="+", help="only these")
    parser.add_argument("--models", nargs="+", default=available_models(), choices=list(MODELS))
    parser.add_argument("--again", nargs="+", default=[], choices=list(MODELS))
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/tables.json"))
    parser.add_argument("--page", type=Path, help="Markdown page that gets the tables and the picture")
    return parser.parse_args(arguments)


def main(arguments=None, tables: list[Table] | None = None):
    """Run, then report; `tables` takes the place of the collections on disk."""
    options = parsed(arguments)
    record, save = opened(options.out, options.rows), saver(options.out)
    if not options.show:
        if tables is None:
            chosen = (collection_of(data, options.half, options.tables) for data in options.data)
            tables = [table for collection in chosen for table in collection]
        names = {table.name for table in tables}
        for key in list(record["results"]):
            name, _, model = key.split("|")
            if name in names and model in options.again:
                del record["results"][key]
        wanted = itertools.product(tables, range(options.splits), options.models)
        if any(key_of(*one) not in record["results"] for one in wanted):
            record["runs"].append(about_this_run())
            run(tables, record, options, save)
    if not record["results"]:
        raise SystemExit("there are no results to report")
    show(record, options.half, options.models if options.models != available_models() else None)
    picture = options.out.with_suffix(".png")
    if options.page:
        picture = options.page.parent / "images" / "comparison.png"
        write_page(record, options.page, picture)
        draw_headline(record, picture.with_name("headline.png"))
    draw(record, picture)


if __name__ == "__main__":
    main()
