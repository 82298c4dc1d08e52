"""Points to begin with, scaled into the plane of the playground."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.decomposition import PCA

from adatron.datasets import load_sonar, make_two_spirals

__all__ = ["PRESETS", "preset"]


def _xor() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (160, 2))
    X += 0.12 * np.sign(X)  # a gap between the squares
    return X, (X[:, 0] * X[:, 1] > 0.0).astype(int)


def _separable() -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(80, centers=[[-1.0, -0.6], [1.0, 0.6]], cluster_std=0.5, random_state=6)


def _sonar() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_sonar(return_X_y=True)
    return PCA(2, svd_solver="full").fit_transform(X), y


PRESETS: dict[str, tuple[str, Callable[[], Any]]] = {
    "moons": ("two moons", lambda: make_moons(120, noise=0.12, random_state=2)),
    "spirals": ("two spirals", lambda: make_two_spirals(194)),
    "xor": ("XOR", _xor),
    "circles": ("circles", lambda: make_circles(120, noise=0.07, factor=0.45, random_state=0)),
    "blobs": ("three clouds", lambda: make_blobs(150, 2, centers=3, cluster_std=1.6, random_state=6)),
    "lines": ("two separable clouds", _separable),
    "overlap": ("overlapping clouds, 400 points", lambda: make_moons(400, noise=0.3, random_state=1)),
    "sonar": ("sonar, first two principal components", _sonar),
}


def preset(name: str) -> list[list[float]]:
    """Rows x, y, class, within −1 … 1 and rounded to thousandths, as links have them."""
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    X, y = PRESETS[name][1]()
    X = X - (X.max(axis=0) + X.min(axis=0)) / 2.0
    X = np.round(X / np.abs(X).max(), 3) + 0.0
    codes = np.unique(y, return_inverse=True)[1]
    return [[x, z, c] for (x, z), c in zip(X.tolist(), codes.tolist(), strict=True)]
