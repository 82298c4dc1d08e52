"""The tables of `benchmarks/tables.py`: as they are in their files, with seeded splits."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from adatron.datasets import load_ionosphere, load_pima, load_sonar
from benchmarks.data import load_root

__all__ = ["COLLECTIONS", "Table", "collection_of"]

MOST_TEST_ROWS = 2_000


@dataclass(frozen=True)
class Table:
    """A table with its target taken out."""

    name: str
    collection: str  # "tables" or "uci"
    half: str  # "a" or "b"
    task: str  # "classification" or "regression"
    X: pd.DataFrame
    y: pd.Series

    def split(self, seed, rows):
        """X, y, X_test, y_test: a permutation of the rows by a seed; training takes at most two thirds."""
        order = np.random.default_rng(seed).permutation(len(self.y))
        n_train = min(rows, 2 * len(order) // 3)
        train, test = order[:n_train], order[n_train : n_train + MOST_TEST_ROWS]
        y = self.y
        if self.task == "classification":  # numbers, as libraries spell truth values and text differently
            y = pd.Series(pd.factorize(y, sort=True)[0])
        return self.X.iloc[train], y.iloc[train], self.X.iloc[test], y.iloc[test]


def _mixed_tables():
    """(name, task, function that reads rows and target) of every table with numbers, categories and holes."""
    folder = load_root() / "tables"
    listed = re.findall(r"\| `(\S+)` \| (\w+) \| `(\S+)`", (folder / "README.md").read_text())

    def reader(file, target):
        def read():
            table = pd.read_csv(folder / file)
            return table.drop(columns=target), table[target]

        return read

    return [(file.removesuffix(".csv.xz"), task, reader(file, target)) for file, task, target in listed]


def _numeric_tables():
    """The same of classical sets that have numbers only."""

    def ida(path):
        def read():
            with np.load(path) as file:
                return file["X"], file["t"].astype(int)

        return read

    def csv(name, target):
        def read():
            table = pd.read_csv(load_root() / "uci" / f"{name}.csv.xz")
            return table.drop(columns=target), table[target]

        return read

    readers = {path.stem: ida(path) for path in (load_root() / "ida").glob("*.npz")}
    bundled = {"sonar": load_sonar, "ionosphere": load_ionosphere, "pima": load_pima}
    readers |= {name: lambda load=load: load(return_X_y=True) for name, load in bundled.items()}
    readers |= {"letter": csv("letter", "lettr"), "satimage": csv("satimage", "classes")}
    return [(name, "classification", read) for name, read in readers.items()]


COLLECTIONS = {"tables": _mixed_tables, "uci": _numeric_tables}


def collection_of(data, half="all", names=None):
    """Generator of the tables of a collection, or of a half of it: names at even (a) or odd (b) places."""
    for place, (name, task, read) in enumerate(sorted(COLLECTIONS[data](), key=lambda listed: listed[0])):
        own_half = "ab"[place % 2]
        if half in ("all", own_half) and (names is None or name in names):
            X, y = read()
            X = pd.DataFrame(X)
            yield Table(name, data, own_half, task, X.set_axis([str(c) for c in X], axis=1), pd.Series(y))
