"""Points that a plane separates by a chosen margin, and how they are drawn."""

from typing import Any

import numpy as np

from reproduction.figures import COLOURS, INK

_LOOKS = {-1: ("o", COLOURS[0], "y = −1"), 1: ("^", COLOURS[1], "y = +1")}


def separable_points(
    rng: np.random.Generator, n_points: int, n_features: int, margin: float, *, offset: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Points of the unit ball at least `margin` away from a random plane, which labels them −1 and +1.

    `offset` is the distance of the plane to the origin.
    """
    normal = rng.normal(size=n_features)
    normal /= np.linalg.norm(normal)
    rows, signs, n_found = [], [], 0
    while n_found < n_points:
        X = rng.normal(size=(n_points, n_features))
        X *= rng.random((n_points, 1)) ** (1.0 / n_features) / np.linalg.norm(X, axis=1, keepdims=True)
        distance = X @ normal - offset
        far = np.abs(distance) >= margin
        rows.append(X[far])
        signs.append(np.sign(distance[far]).astype(int))
        n_found += int(far.sum())
    return np.concatenate(rows)[:n_points], np.concatenate(signs)[:n_points]


def weights_of(model: Any, X: np.ndarray) -> np.ndarray:
    """``w = Σ α_i y_i x_i`` of a fitted linear machine, whichever form it was trained in."""
    return np.asarray(model.dual_coef_[0] @ X[model.support_])


def decade_above(value: float) -> str:
    """The power of ten above a rounding error, whose own digits mean nothing."""
    return f"{10.0 ** np.ceil(np.log10(max(value, 1e-16))):.0e}"


def draw_classes(ax: Any, X: np.ndarray, y: np.ndarray, sizes: Any = 22.0) -> None:
    """Draw the points of both classes in different colours and shapes."""
    sizes = np.broadcast_to(sizes, y.shape)
    for sign, (marker, colour, label) in _LOOKS.items():
        own = y == sign
        style: dict[str, Any] = {"color": colour, "marker": marker, "label": label}
        ax.scatter(X[own, 0], X[own, 1], s=sizes[own], alpha=0.8, linewidth=0, **style)


def ring(ax: Any, X: np.ndarray) -> None:
    """Circles around support vectors."""
    ax.scatter(X[:, 0], X[:, 1], s=90, facecolors="none", edgecolors=INK, label="support vector")


def draw_line(ax: Any, w: np.ndarray, offset: float, **style: Any) -> None:
    """The line ``⟨w, x⟩ + offset = 0``, as far as the axes show it."""
    nearest = -offset * w / (w @ w)
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    limits = ax.get_xlim(), ax.get_ylim()
    ends = nearest + np.array([[-1.0], [1.0]]) * 1e3 * along
    ax.plot(ends[:, 0], ends[:, 1], **style)
    ax.set(xlim=limits[0], ylim=limits[1])
