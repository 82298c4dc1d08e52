"""Training and test parts for the comparison of tuned models."""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from adatron.datasets import load_breast_cancer_wisconsin, load_ionosphere, load_pima, load_sonar
from benchmarks.data import classification, load_root, svmlight, usps_digits

__all__ = ["SPLIT_SETS", "split_of", "standardised"]


def _ida(name, n_train=None):
    """Realizations of the repository; seeded splits with `n_train` rows where it has none."""

    def part(realization):
        with np.load(load_root() / "ida" / f"{name}.npz") as file:
            X, y = file["X"], file["t"].astype(int)
            if n_train is None:
                train, test = file["train"][realization], file["test"][realization]
                return X[train], y[train], X[test], y[test]
        return _drawn(X, y, n_train, realization)

    return part


def _drawn(X, y, n_train, seed):
    X, X_test, y, y_test = train_test_split(X, y, train_size=n_train, stratify=y, random_state=seed)
    return X, y, X_test, y_test


def _bundled(loader, n_train):
    return lambda realization: _drawn(*loader(return_X_y=True), n_train, realization)


def _fixed(name, n_features):
    def part(_):
        return *svmlight(name, n_features), *svmlight(f"{name}.t", n_features)

    return part


def _satimage(_):
    table = pd.read_csv(load_root() / "uci" / "satimage.csv.xz")
    X, y = table.iloc[:, :-1].to_numpy(float), table.iloc[:, -1].to_numpy(str)
    return X[:4435], y[:4435], X[4435:], y[4435:]


def _letter(_):
    table = pd.read_csv(load_root() / "uci" / "letter.csv.xz")
    X, y = table.iloc[:, 1:].to_numpy(float), table.iloc[:, 0].to_numpy(str)
    return X[:5_000], y[:5_000], X[15_000:], y[15_000:]


# name: (how to get a part, number of parts)
SPLIT_SETS = {
    "titanic": (_ida("titanic"), 10),
    "thyroid": (_ida("thyroid", 140), 10),
    "heart": (_ida("heart"), 10),
    "breast_cancer": (_ida("breast_cancer"), 10),
    "sonar": (_bundled(load_sonar, 104), 10),
    "ionosphere": (_bundled(load_ionosphere, 200), 10),
    "banana": (_ida("banana"), 10),
    "ringnorm": (_ida("ringnorm"), 10),
    "twonorm": (_ida("twonorm", 400), 10),
    "waveform": (_ida("waveform"), 10),
    "pima": (_bundled(load_pima, 468), 10),
    "wisconsin": (_bundled(load_breast_cancer_wisconsin, 400), 10),
    "flare_solar": (_ida("flare_solar", 666), 10),
    "german": (_ida("german"), 10),
    "image": (_ida("image"), 10),
    "splice": (_ida("splice", 1_000), 10),
    "a1a": (_fixed("a1a", 123), 1),
    "w1a": (_fixed("w1a", 300), 1),
    "svmguide1": (_fixed("svmguide1", 4), 1),
    "satimage": (_satimage, 1),
    "letter": (_letter, 1),
    "usps": (lambda _: usps_digits(), 1),
    "classification": (lambda _: classification()[:4], 1),
    "a9a": (_fixed("a9a", 123), 1),
}


def split_of(name, realization):
    """X, y, X_test, y_test of one realization, as they are in the files."""
    return SPLIT_SETS[name][0](realization)


def standardised(X, X_test):
    """Both parts with the training part's mean and deviation; rows of zeros and ones stay as they are."""
    if np.isin(X, (0.0, 1.0)).all():
        return X, X_test
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test)
