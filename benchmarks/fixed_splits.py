"""RMSE on the ten fixed splits of the kernel community: AutoSVR, CatBoost, and a Gaussian process with ARD.

    python benchmarks/fixed_splits.py [--sets concrete pol protein kin40k] [--folds 10] [--out FILE] [--show]

Needs ADATRON_DATA and the extra "bench". All models have their defaults. The Gaussian process (scikit-learn,
with a length scale for every feature, a signal variance and a noise variance, all by marginal likelihood) is
trained on 1,000 rows drawn at random, standardised. Results are written after each fit; kept ones are not run
again.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.data import load_root
from benchmarks.tables import about_this_run, saver

SETS = ("concrete", "pol", "protein", "kin40k")
GP_ROWS = 1_000


def load(name):
    table = pd.read_csv(load_root() / "regression" / f"{name}.csv.xz")
    fold, target = table.pop("fold").to_numpy(), table.pop("y").to_numpy()
    return table.to_numpy(), target, fold


def auto_svr(X, y):
    from adatron import AutoSVR

    return AutoSVR().fit(X, y)


def catboost(X, y):
    from catboost import CatBoostRegressor

    return CatBoostRegressor(random_state=0, verbose=False, allow_writing_files=False).fit(X, y)


class GaussianProcess:
    """On some rows, with the target standardised."""

    def __init__(self, X, y):
        chosen = np.random.default_rng(0).permutation(len(X))[:GP_ROWS]
        kernel = ConstantKernel() * RBF(np.ones(X.shape[1])) + WhiteKernel()
        process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # length scales of useless features
            self.model = make_pipeline(StandardScaler(), process).fit(X[chosen], y[chosen])

    def predict(self, X):
        return np.concatenate([self.model.predict(part) for part in np.array_split(X, len(X) // 1_000 + 1)])


MODELS = {"AutoSVR": auto_svr, "CatBoost": catboost, "Gaussian process": GaussianProcess}


def show(record):
    """Mean RMSE over the folds with its standard error, and seconds of a fit."""
    fits = pd.DataFrame(
        [dict(zip(("set", "fold", "model"), key.split("|"), strict=True)) | own
         for key, own in record["results"].items()]
    )  # fmt: skip
    print(f"{'set':10}{'folds':>6}  " + "".join(f"{name:>34}" for name in MODELS))
    for name, own in fits.groupby("set", sort=False):
        cells = []
        for model in MODELS:
            rmse = own.loc[own["model"] == model, "rmse"]
            seconds = own.loc[own["model"] == model, "seconds"].mean()
            error = rmse.std(ddof=1) / len(rmse) ** 0.5 if len(rmse) > 1 else np.nan
            cells.append(f"{rmse.mean():.4f} ± {error:.4f}, {seconds:.1f} s" if len(rmse) else "–")
        print(f"{name:10}{own['fold'].nunique():>6}  " + "".join(f"{cell:>34}" for cell in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/fixed_splits.json"))
    parser.add_argument("--show", action="store_true", help="run nothing")
    options = parser.parse_args()
    empty = {"runs": [], "results": {}}
    record = json.loads(options.out.read_text()) if options.out.exists() else empty
    save = saver(options.out)
    if not options.show:
        record["runs"].append(about_this_run())
    for fold in range(0 if options.show else options.folds):
        for name in options.sets:
            X, y, folds = load(name)
            train, test = folds != fold, folds == fold
            for model in options.models:
                key = f"{name}|{fold}|{model}"
                if key in record["results"]:
                    continue
                began = perf_counter()
                fitted = MODELS[model](X[train], y[train])
                seconds = perf_counter() - began
                rmse = float(np.sqrt(np.mean((fitted.predict(X[test]) - y[test]) ** 2)))
                record["results"][key] = {"rmse": rmse, "seconds": seconds}
                print(f"{name} fold {fold} {model}: {rmse:.4f} in {seconds:.1f} s", flush=True)
                save(record)
    show(record)


if __name__ == "__main__":
    main()
