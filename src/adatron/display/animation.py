"""`animate`: how a classifier of two features learns, epoch by epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from adatron.display.convergence import QUANTITIES
from adatron.display.figures import COLOURS, import_pyplot, new_panels, quieten
from adatron.display.margin import MarginDisplay, display_of
from adatron.estimators import SVC
from adatron.estimators.machine import IterFitMixin

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation

_RING, _LARGEST_RING = 30.0, 160.0  # areas of the rings around support vectors, of α = 0 and the largest α


def animate(
    model: Any, X: Any, y: Any, *, quantity: str = "margin", grid_resolution: int = 100, interval: float = 200
) -> FuncAnimation:
    """Train a classifier of two features and two classes, and show how it learns.

    The plane on the left has the boundary, the margins (of `SVC`) and the support vectors, with rings that
    grow with α. The curve on the right is one number after every epoch. Every epoch up to 20 is a frame;
    after that, frames are about 10 % apart. A script shows it by ``plt.show()``, a notebook by
    ``IPython.display.HTML(animation.to_jshtml())``, and ``animation.save("fit.gif")`` writes a file.

    Parameters
    ----------
    model : SVC, KernelPerceptron or EnsembleSVC
        It is trained by its ``iter_fit``, and fitted afterwards.
    X : array-like of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
    quantity : {"margin", "objective", "bias", "violation"}, default="margin"
        What the curve shows; one of the columns of ``history_``.
    grid_resolution : int, default=100
        Values of each feature at which the decision function is evaluated.
    interval : float, default=200
        Milliseconds from frame to frame.

    Returns
    -------
    matplotlib.animation.FuncAnimation

    See Also
    --------
    MarginDisplay : draws the fitted model alone.
    ConvergenceDisplay : draws the curves of a fit.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from adatron import SVC
    >>> from adatron.display import animate
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> model = SVC(C=10.0, gamma=2.0, solver="adatron")
    >>> animation = animate(model, X, y, grid_resolution=30)
    >>> model.converged_
    True
    >>> animation.save("fit.gif")  # doctest: +SKIP
    """
    has_epochs = isinstance(model, IterFitMixin) and is_classifier(model)
    if not has_epochs:
        wanted = "SVC, KernelPerceptron or EnsembleSVC"
        raise TypeError(f"animate trains by iter_fit: model must be {wanted}, got {type(model).__name__}")
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity must be one of {', '.join(QUANTITIES)}, got {quantity!r}")
    import_pyplot()
    from matplotlib.animation import FuncAnimation

    frames = _frames(model, X, y, grid_resolution)
    figure, (plane, curve) = new_panels(2, (9.0, 3.8))
    epochs, values = np.array(model.history_["epoch"]), np.array(model.history_[quantity])
    curve.plot(epochs, values, color=COLOURS[0], linewidth=1.6)
    (dot,) = curve.plot([], [], "o", color=COLOURS[1], markersize=8)
    curve.set(xlabel="epoch", ylabel=QUANTITIES[quantity], xscale="log" if len(epochs) > 50 else "linear")
    quieten(curve)

    def draw(number: int) -> None:
        epoch, display, sizes = frames[number]
        plane.clear()
        rings: Any = display.plot(ax=plane, legend=False).rings_
        rings.set_sizes(sizes)
        plane.set_title(f"epoch {epoch}, {len(sizes)} support vectors", fontsize=10)
        place = min(int(np.searchsorted(epochs, epoch)), len(epochs) - 1)
        dot.set_data([epochs[place]], [values[place]])

    draw(0)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # frames must not be laid out anew, which would move them and take time
    return FuncAnimation(figure, draw, frames=len(frames), interval=interval)


def _frames(model: Any, X: Any, y: Any, grid_resolution: int) -> list[tuple[int, MarginDisplay, np.ndarray]]:
    """Train, and keep epoch, plane and sizes of the rings for each frame; the fitted model is the last."""
    frames: dict[int, Any] = {}

    def keep(epoch: int) -> None:
        display, alpha = display_of(model, X, y, grid_resolution), np.abs(model.dual_coef_[0])
        if not isinstance(model, SVC):  # f = ±1 mean nothing: the boundary alone counts
            display.response = display.response / (np.abs(display.response).max() or 1.0)
        sizes = _RING + (_LARGEST_RING - _RING) * alpha / max(alpha.max(initial=0.0), 1e-300)
        frames[epoch] = epoch, display, sizes

    epoch, shown = 0, 1
    for record in model.iter_fit(X, y):
        epoch = record.epoch
        if epoch >= shown:
            shown = epoch + max(1, epoch // 10)
            keep(epoch)
    keep(epoch)  # again: the fit may have ended with an exact step
    return list(frames.values())
