"""A radial basis function network: centres by k-means, a linear output for each digit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import RidgeCV

from adatron.papers.campbell1998.digits import Trained
from adatron.papers.campbell1998.repeated import Split

__all__ = ["RBFNetwork"]


class RBFNetwork:
    """Gaussians around centres that serve every width and digit, and ridge regression on ±1.

    Parameters
    ----------
    X : array of shape (m, d)
        Rows among which k-means places the centres.
    n_centres : int
    seed : int
    """

    def __init__(self, X: Any, n_centres: int, seed: int) -> None:
        self.centres = KMeans(n_centres, n_init=1, random_state=seed).fit(X)

    def __call__(self, split: Split, digits: Sequence[int], sigma: float) -> Trained:
        """Train the weights of the outputs at one width."""
        targets = np.where(split.y_train[:, None] == np.asarray(digits), 1.0, -1.0)
        network = RidgeCV(alphas=np.logspace(-6, 0, 7)).fit(self._hidden(split.X_train, sigma), targets)
        outputs = network.predict(self._hidden(split.X_test, sigma))
        return Trained(outputs.reshape(len(split.X_test), -1), [self.centres.n_clusters] * len(digits))

    def _hidden(self, X: Any, sigma: float) -> np.ndarray:
        return np.exp(-0.5 * (self.centres.transform(X) / sigma) ** 2)
