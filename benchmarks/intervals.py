"""Coverage and width of intervals and prediction sets on raw tables, at 90 %.

    python benchmarks/intervals.py [--half a|b|all] [--rows 1000] [--splits 2] [--tables NAME …]
                                   [--models NAME …] [--again NAME …] [--out docs/measured/intervals.json]

Needs ADATRON_DATA, CatBoost and MAPIE. Regression: AutoSVR.predict_interval, MAPIE's CV+ around AutoSVR, and
CatBoost's quantile regression, as it is and conformalised with a fifth of its rows. Classification:
AutoSVC.predict_set, and MAPIE's cross-conformal sets around AutoSVC. What is in the output file is not run
again, unless --again names the model. Means are over the splits that all models have.
"""

import argparse
import json
import os
import sys
import time
import warnings
from datetime import date
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adatron import AutoSVC, AutoSVR
from benchmarks.publish import processor
from benchmarks.table_models import WithCategories
from benchmarks.table_sets import collection_of

COVERAGE = 0.9
MANY = 500  # test rows from which the coverage of a single table says something


def auto_svr(X, y, X_test):
    return AutoSVR().fit(X, y).predict_interval(X_test, COVERAGE)


def cross_validation_plus(X, y, X_test):
    from mapie.regression import CrossConformalRegressor

    model = CrossConformalRegressor(AutoSVR(), confidence_level=COVERAGE, method="plus", cv=5)
    return model.fit_conformalize(X, y).predict_interval(X_test)[1][:, :, 0]


class Quantiles(WithCategories):
    """CatBoost's quantile regression of both ends."""

    def __init__(self):
        from catboost import CatBoostRegressor

        low = 0.5 * (1.0 - COVERAGE)
        loss = f"MultiQuantile:alpha={low:g},{1.0 - low:g}"
        quiet = {"random_state": 0, "verbose": False, "allow_writing_files": False}
        super().__init__(CatBoostRegressor(loss_function=loss, **quiet), "text")

    def ends(self, X):
        return np.sort(self.model.predict(self._frame(X)), axis=1)


def catboost(X, y, X_test):
    return Quantiles().fit(X, y).ends(X_test)


def conformal_catboost(X, y, X_test):
    """Widened by what a fifth of the rows, which it is not trained on, ask for (Romano et al. 2019)."""
    n = 4 * len(y) // 5
    model = Quantiles().fit(X.iloc[:n], y[:n])
    low, high = model.ends(X.iloc[n:]).T
    missed = np.sort(np.maximum(low - y[n:], y[n:] - high))
    place = min(int(np.ceil(COVERAGE * (len(missed) + 1))), len(missed)) - 1
    return model.ends(X_test) + missed[place] * np.array([-1.0, 1.0])


def auto_svc(X, y, X_test):
    return AutoSVC().fit(X, y).predict_set(X_test, COVERAGE)


def cross_conformal(X, y, X_test):
    from mapie.classification import CrossConformalClassifier

    model = CrossConformalClassifier(AutoSVC(), confidence_level=COVERAGE, random_state=0)
    return model.fit_conformalize(X, y).predict_set(X_test)[1][:, :, 0]


MODELS = {
    "regression": {
        "AutoSVR": auto_svr,
        "MAPIE CV+ of AutoSVR": cross_validation_plus,
        "CatBoost quantiles": catboost,
        "CatBoost conformalised": conformal_catboost,
    },
    "classification": {"AutoSVC": auto_svc, "MAPIE of AutoSVC": cross_conformal},
}


def measured(table, model, seed, rows):
    """Share of test rows that are covered, and the mean width in deviations or the mean number of classes."""
    X, y, X_test, y_test = table.split(seed, rows)
    y, y_test = np.asarray(y), np.asarray(y_test)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = MODELS[table.task][model](X, y, X_test)
    about = {"task": table.task, "n_train": len(y), "n_test": len(y_test)}
    about["seconds"] = time.perf_counter() - began
    if table.task == "regression":
        low, high = found.T
        inside, width = (low <= y_test) & (y_test <= high), np.mean(high - low) / np.std(y_test)
    else:  # a class that training rows lack is never in a set
        known = np.unique(y)
        places = np.minimum(np.searchsorted(known, y_test), len(known) - 1)
        inside = found[np.arange(len(y_test)), places] & (known[places] == y_test)
        width = np.mean(found.sum(axis=1))
    return about | {"coverage": float(np.mean(inside)), "width": float(width)}


def show(results):
    """A line for each model: means over tables, and the least coverage with many test rows."""
    for task, models in MODELS.items():
        splits = {key.rpartition("|")[0] for key, found in results.items() if found["task"] == task}
        splits = sorted(split for split in splits if all(f"{split}|{name}" in results for name in models))
        if not splits:
            continue
        title = "width / deviation" if task == "regression" else "classes in a set"
        heading = f"{'coverage %':>11} {f'least of >= {MANY} rows':>23} {title:>18} {'seconds':>8}"
        print(f"\n{f'{task}, {len(splits)} splits':<28}{heading}")
        for name in models:
            own = [results[f"{split}|{name}"] for split in splits]
            mean, width, seconds = (np.mean([r[c] for r in own]) for c in ("coverage", "width", "seconds"))
            least = min([100.0 * r["coverage"] for r in own if r["n_test"] >= MANY], default=np.nan)
            print(f"{name:<28}{100.0 * mean:11.2f} {least:23.1f} {width:18.3f} {seconds:8.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", default="b", choices=["a", "b", "all"])
    parser.add_argument("--rows", type=int, default=1_000, help="training rows at most")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--tables", nargs="+", help="only these")
    parser.add_argument("--models", nargs="+", help="only these")
    parser.add_argument("--again", nargs="+", default=[], help="measure these anew")
    parser.add_argument("--out", type=Path, default=Path("docs/measured/intervals.json"))
    options = parser.parse_args()
    machine = f"{os.cpu_count()} cores, {processor()}"
    command = "python " + " ".join(["benchmarks/intervals.py", *sys.argv[1:]])
    record = {
        "command": command,
        "machine": machine,
        "date": date.today().isoformat(),
        "rows": options.rows,
        "results": {},
    }
    if options.out.exists():
        record["results"] = json.loads(options.out.read_text())["results"]
    for table in collection_of("tables", options.half, options.tables):
        for seed in range(options.splits):
            for name in options.models or MODELS[table.task]:
                key = f"{table.name}|{seed}|{name}"
                if name not in MODELS[table.task] or (key in record["results"] and name not in options.again):
                    continue
                found = record["results"][key] = measured(table, name, seed, options.rows)
                said = f"{100.0 * found['coverage']:5.1f} %  {found['width']:6.3f}  {found['seconds']:6.2f} s"
                print(f"{table.name:<24} {seed}  {name:<24} {said}", flush=True)
                options.out.write_text(json.dumps(record, indent=1) + "\n")
    show(record["results"])


if __name__ == "__main__":
    main()
