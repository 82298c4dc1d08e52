"""Learning curves: the test error of Kernel-Adatron's own iterate after each epoch.

A fitted `SVC` has a feasible α and the best bias for it, also when it was stopped early. The document's
curves are those of α and λ as the sweep leaves them, so a solver that passes epochs on keeps these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from adatron.estimators import SVC
from adatron.kernels import Gaussian
from adatron.solvers import SecantAdatron

__all__ = ["LearningCurve", "learning_curve"]

_POINTS = 300  # of a curve


@dataclass
class Watched:
    """A solver of one problem that keeps y∘α and the bias of every epoch."""

    solver: Any
    coefficients: list[np.ndarray] = field(default_factory=list)
    biases: list[float] = field(default_factory=list)
    needs: ClassVar[frozenset[str]] = frozenset()

    def init(self, problem: Any, alpha: Any = None) -> Any:
        return self.solver.init(problem, alpha)

    def epoch(self, problem: Any, state: Any, pause: Any) -> Any:
        state = self.solver.epoch(problem, state, pause)
        self.coefficients.append((problem.y * state.alpha)[:, 0])
        self.biases.append(float(state.bias[0]))
        return state


@dataclass(frozen=True)
class LearningCurve:
    """Margin, bias and test error in per cent after some of the epochs."""

    epoch: np.ndarray
    margin: np.ndarray
    bias: np.ndarray
    error: np.ndarray


def learning_curve(
    split: tuple[Any, Any, Any, Any], sigma: float, mu: float, max_iter: int = 5_000
) -> LearningCurve:
    """Train a hard margin with η = 1 and the secant that begins with ±μ, to a certified end.

    Examples
    --------
    >>> from adatron.papers.campbell1998.watching import learning_curve
    >>> from adatron.papers.data import wisconsin_split
    >>> curve = learning_curve(wisconsin_split(), sigma=3.0, mu=50.0)
    >>> curve.bias[:2].tolist(), bool(curve.margin[-1] > 0.99)
    ([50.0, -50.0], True)
    """
    X_train, X_test, y_train, y_test = split
    kernel = Gaussian.of_width(sigma)
    watched = Watched(SecantAdatron(learning_rate=1.0, mu=mu))
    model = SVC(float("inf"), kernel, solver=watched, tol=1e-9, max_iter=max_iter).fit(X_train, y_train)
    history = {name: np.array(model.history_[name]) for name in ("epoch", "margin", "bias")}
    chosen = _thinned(history["epoch"])
    places = history["epoch"][chosen] - 1
    coefficients, biases = np.array(watched.coefficients)[places].T, np.array(watched.biases)[places]
    is_wrong = np.sign(kernel(X_test, X_train) @ coefficients + biases) != y_test[:, None]
    return LearningCurve(
        history["epoch"][chosen], history["margin"][chosen], history["bias"][chosen],
        100.0 * is_wrong.mean(axis=0),
    )  # fmt: skip


def _thinned(epochs: np.ndarray) -> np.ndarray:
    """Places of the epochs to show: at most `_POINTS`, ever sparser, the first and last among them."""
    wanted = np.geomspace(1.0, float(epochs[-1]), _POINTS)
    return np.unique(np.searchsorted(epochs, wanted.round(9)).clip(max=len(epochs) - 1))
