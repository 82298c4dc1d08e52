"""The data sets of the benchmarks, read from the directory that ADATRON_DATA names."""

import gzip
import lzma
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_file, make_classification

__all__ = ["REGRESSION_SETS", "SETS", "load", "load_root", "svmlight", "usps_digits"]


def load_root():
    """The directory with the data sets."""
    if "ADATRON_DATA" not in os.environ:
        raise SystemExit("set ADATRON_DATA to the directory with the data sets")
    return Path(os.environ["ADATRON_DATA"])


def svmlight(name, n_features):
    """Rows and labels ±1 of one of the LIBSVM files."""
    with lzma.open(load_root() / "libsvm" / f"{name}.xz", "rb") as file:
        X, y = load_svmlight_file(file, n_features=n_features)
    return X.toarray(), np.where(y > 0, 1, -1)


def _images(part):
    with gzip.open(load_root() / "mnist" / f"{part}-images-idx3-ubyte.gz") as file:
        X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / 255.0
    with gzip.open(load_root() / "mnist" / f"{part}-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)
    return X, np.where(y < 5, 1, -1)


def _scale_gamma(X):
    return 1.0 / (X.shape[1] * X.var())


def classification(n=10_000):
    X, y = make_classification(n + 2_000, 50, random_state=0)
    y = np.where(y > 0, 1, -1)
    return X[:n], y[:n], X[n:], y[n:], _scale_gamma(X[:n])


def usps_digits():
    """Rows and the ten digits, for training and testing."""
    parts = []
    for part in ("train", "test"):
        table = np.loadtxt(load_root() / "usps" / f"zip.{part}.xz")
        parts += [table[:, 1:], table[:, 0].astype(int)]
    return parts


def usps():
    X, y, X_test, y_test = usps_digits()
    return X, np.where(y < 5, 1, -1), X_test, np.where(y_test < 5, 1, -1), 1.0 / 128.0


def a9a():
    return *svmlight("a9a", 123), *svmlight("a9a.t", 123), 1.0 / 123.0


def w7a():
    return *svmlight("w7a", 300), *svmlight("w7a.t", 300), 1.0 / 300.0


def letter():
    table = pd.read_csv(load_root() / "uci" / "letter.csv.xz")
    X, y = table.iloc[:, 1:].to_numpy(float) / 7.5 - 1.0, table.iloc[:, 0].to_numpy(str)
    return X[:15_000], y[:15_000], X[15_000:], y[15_000:], _scale_gamma(X[:15_000])


def mnist(n):
    X, y = _images("train")
    chosen = np.random.default_rng(0).permutation(len(X))[:n]
    return X[chosen], y[chosen], *_images("t10k"), _scale_gamma(X[chosen])


def skin(n=200_000):
    table = np.loadtxt(load_root() / "uci" / "Skin_NonSkin.txt.xz")
    table = table[np.random.default_rng(0).permutation(len(table))]
    X, y = table[:, :3] / 255.0, np.where(table[:, 3] == 1, 1, -1)
    return X[:n], y[:n], X[n:], y[n:], _scale_gamma(X[:n])


SETS = {
    "classification": classification,
    "usps": usps,
    "w7a": w7a,
    "mnist 10,000": lambda: mnist(10_000),
    "letter": letter,
    "a9a": a9a,
    "skin": skin,
    "mnist 60,000": lambda: mnist(60_000),
}


def _regression(name, rows=None):
    """All rows, standardised with their targets; what is fitted is also what is predicted."""
    if name == "abalone":
        table = pd.read_csv(load_root() / "regression" / "abalone.data.gz", header=None)
        table = pd.get_dummies(table, dtype=float)
        table[8] = table.pop(8)  # the target, last again
    else:
        table = pd.read_csv(load_root() / "regression" / f"{name}.csv.xz", nrows=rows)
        table = table.drop(columns="fold", errors="ignore")
    values = table.to_numpy(float)
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    X, y = np.ascontiguousarray(values[:, :-1]), values[:, -1].copy()
    return X, y, X, y, _scale_gamma(X)


REGRESSION_SETS = {
    "abalone": lambda: _regression("abalone"),
    "cpusmall": lambda: _regression("cpusmall"),
    "cal_housing": lambda: _regression("cal_housing"),
    "kin40k 20,000": lambda: _regression("kin40k", rows=20_000),
}


def load(name):
    """Rows and labels or targets for training and testing, and the γ that all libraries use."""
    return (SETS | REGRESSION_SETS)[name]()
