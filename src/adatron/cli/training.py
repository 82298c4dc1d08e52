"""Bundled data by name, how each is split and scaled, and which settings it is trained with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from adatron import datasets
from adatron.cli.options import width_to_gamma
from adatron.estimators import SVC
from adatron.estimators.parameters import closest_name

__all__ = ["BUNDLED", "Outcome", "Split", "load_split", "settings_for", "train"]

BUNDLED = ("sonar", "breast_cancer_wisconsin", "ionosphere", "pima")
_TEST_SIZE = 1.0 / 3.0
_SEED = 0


class Split(NamedTuple):
    """Training and test rows, and in words what they are."""

    X_train: np.ndarray
    X_test: np.ndarray
    y_train: np.ndarray
    y_test: np.ndarray
    description: str
    notes: list[str]


@dataclass
class Outcome:
    """A model that was trained, perhaps not to the end."""

    model: SVC
    seconds: float
    was_interrupted: bool = False
    warnings: list[str] = field(default_factory=list)


def load_split(name: str, test_size: float | None) -> Split:
    """The data set `name`, split; features of all but sonar are standardised."""
    if name not in BUNDLED:
        raise ValueError(
            f"{name!r} is not one of the bundled data sets {', '.join(BUNDLED)} (files cannot be read yet)"
            f"{closest_name(name, list(BUNDLED))}"
        )
    if name == "sonar" and test_size is None:
        return _original_sonar()
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    size = _TEST_SIZE if test_size is None else test_size
    parts = train_test_split(X, y, test_size=size, stratify=y, random_state=_SEED)
    description = f"stratified, {size:.3g} held out, seed {_SEED}"
    if name == "sonar":
        return _split(parts, description)
    return _split(
        _scaled(parts),
        description,
        "features were standardised (StandardScaler, fitted on the training rows)",
    )


def _original_sonar() -> Split:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parts = datasets.load_sonar(split="aspect")
    if not any(issubclass(warning.category, UserWarning) for warning in caught):
        return _split(parts, "original, balanced over the aspect angle")
    note = (
        "the original split of sonar does not come with adatron, so this is a seeded stratified half split; "
        "for the original one set ADATRON_DATA to a directory with sonar/sonar.csv.gz"
    )
    return _split(parts, "stratified half, seeded (not the original split)", note)


def _split(parts: Any, description: str, *notes: str) -> Split:
    X_train, X_test, y_train, y_test = parts
    return Split(X_train, X_test, y_train, y_test, description, list(notes))


def _scaled(parts: Any) -> Any:
    X_train, X_test, y_train, y_test = parts
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), y_train, y_test


def settings_for(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Parameters of SVC: what the user gave, else the data set's own.

    Sonar: Kernel-Adatron with a Gaussian of width 1 and a hard margin, as in the documents. The others:
    C = 1, gamma = "scale".
    """
    is_sonar = name == "sonar"
    given = {key: value for key, value in options.items() if value is not None}
    settings = {"kernel": "rbf", "C": float("inf") if is_sonar else 1.0, "gamma": "scale"}
    settings["solver"] = "adatron" if is_sonar else "auto"
    own_sigma = 1.0 if is_sonar and given.get("kernel", "rbf") == "rbf" else None
    sigma = given.pop("sigma", own_sigma)
    if sigma is not None:
        settings["gamma"] = width_to_gamma(sigma)
    return settings | given


def train(split: Split, settings: dict[str, Any]) -> Outcome:
    """Fit; Ctrl-C keeps the best model so far, if there is one yet."""
    model = SVC(**settings)
    began, was_interrupted = perf_counter(), False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(split.X_train, split.y_train)
        except KeyboardInterrupt:
            if not hasattr(model, "status_"):
                raise
            was_interrupted = True
    messages = [" ".join(str(warning.message).split()) for warning in caught]
    return Outcome(model, perf_counter() - began, was_interrupted, list(dict.fromkeys(messages)))
