"""Trains a pipeline on a part of the rows, with progress, checkpoints and a way out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from adatron.cli.data import Rows
from adatron.cli.progress import FitProgress, progress_bar
from adatron.cli.signals import Ended, Signals
from adatron.cli.terminal import say
from adatron.numerics.memory import peak_memory

__all__ = ["Outcome", "Parts", "split", "train"]

_SEED = 0
_TEST_SIZE = 1.0 / 3.0


@dataclass(frozen=True)
class Parts:
    """Rows to train on, and rows to test with, if any."""

    X_train: Any
    y_train: np.ndarray | None
    X_test: Any
    y_test: np.ndarray | None
    description: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A pipeline that was trained, perhaps not to the end."""

    model: Any
    seconds: float
    memory: float
    was_interrupted: bool


def split(rows: Rows, y: np.ndarray | None, test_size: float | None, *, is_class: bool) -> Parts:
    """The data set's own split, or a seeded one, stratified for classes."""
    if y is None or test_size == 0.0:
        return Parts(rows.X, y, None, None, "all rows are for training")
    if rows.train is not None and test_size is None:
        return _given(rows, y)
    return _drawn(rows, y, _TEST_SIZE if test_size is None else test_size, is_class)


def _given(rows: Rows, y: np.ndarray) -> Parts:
    own = np.asarray(rows.train)
    description = "stratified half, seeded (not the original split)" if rows.notes else "the original one"
    return Parts(rows.X[own], y[own], rows.X[~own], y[~own], description, rows.notes)


def _drawn(rows: Rows, y: np.ndarray, size: float, is_class: bool) -> Parts:
    """Rows that are alone in their class are trained on: tested with, they could only be wrong."""
    from sklearn.model_selection import train_test_split

    places, n_test = np.arange(len(y)), int(np.ceil(size * len(y)))
    _check_size(len(y), n_test, size)
    groups, counts = np.unique(y, return_inverse=True, return_counts=True)[1:] if is_class else (places, None)
    pool = places if counts is None else places[counts[groups] > 1]
    n_test = min(n_test, len(pool) - 1)
    if n_test < 1:
        return Parts(rows.X, y, None, None, "all rows are for training: no class has two")
    n_groups = 0 if counts is None else int((counts > 1).sum())
    stratum = groups[pool] if 0 < n_groups <= min(n_test, len(pool) - n_test) else None
    test = train_test_split(pool, test_size=n_test, stratify=stratum, random_state=_SEED)[1]
    train = np.setdiff1d(places, test)
    kind = "random" if stratum is None else "stratified"
    description = f"{kind}, {size:.3g} held out, seed {_SEED}"
    return Parts(rows.X[train], y[train], rows.X[test], y[test], description)


def _check_size(n: int, n_test: int, size: float) -> None:
    if n - n_test < 2:
        raise ValueError(
            f"--test-size {size:.3g} leaves {n - n_test} of {n} rows for training, which takes 2; "
            "make it smaller, or 0 to test with none"
        )


def train(model: Any, parts: Parts, callbacks: Sequence[Any], signals: Signals) -> Outcome:
    """Fit; Ctrl-C and SIGTERM keep the best model so far, if there is one yet."""
    from adatron.estimators.callback_bridge import HAS_CALLBACKS

    began, own, was_interrupted = perf_counter(), model[-1], False
    with progress_bar() as bar:
        progress = FitProgress(bar, type(own).__name__, getattr(own, "time_limit", None), signals)
        if HAS_CALLBACKS or callbacks:  # without them there is no progress to show
            own.set_callbacks(progress, *callbacks)
        try:
            model.fit(parts.X_train, parts.y_train)
        except KeyboardInterrupt as error:
            if not hasattr(own, "status_"):
                raise Ended(_what_is_left(callbacks)) from error
            was_interrupted = True
            say("adatron: interrupted; keeping the best model so far")
        finally:
            own.set_callbacks()
    return Outcome(model, perf_counter() - began, peak_memory(), was_interrupted)


def _what_is_left(callbacks: Sequence[Any]) -> str:
    """When there is no model yet."""
    saved = [callback.path for callback in callbacks if callback.path.exists()]
    return f"no model yet; --resume goes on from {saved[0]}" if saved else "no model yet"
