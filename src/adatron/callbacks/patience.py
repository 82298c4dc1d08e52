"""`Patience`: ends a fit that no longer gets better on held-out rows."""

from __future__ import annotations

import operator
from typing import Any

from sklearn.metrics import check_scoring

__all__ = ["Patience"]


class Patience:
    """Stop a fit when its score on held-out rows has not risen for some epochs.

    The model is that of the last epoch. Its `status_` is "stopped".

    Parameters
    ----------
    X, y : array-like
        Held-out rows and their targets.
    epochs : int, default=10
        Without a better score, after which the fit ends.
    scoring : str or callable, default=None
        As in `sklearn.model_selection.GridSearchCV`; by default the estimator's own score.

    Attributes
    ----------
    best_score : float
    scores : list of float
        One for each epoch.

    See Also
    --------
    Checkpoint : saves a fit on its way, and resumes it.
    adatron.SVC.iter_fit : trains epoch by epoch in a loop of one's own.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.callbacks import Patience
    >>> from adatron.datasets import make_waveform
    >>> X, y = make_waveform(400, random_state=0)
    >>> stop = Patience(X[300:], y[300:], epochs=3)
    >>> model = SVC(C=100.0, solver="adatron").set_callbacks(stop).fit(X[:300], y[:300])
    >>> len(stop.scores) == int(model.n_iter_[0])
    True
    """

    def __init__(self, X: Any, y: Any, *, epochs: int = 10, scoring: Any = None) -> None:
        if operator.index(epochs) < 1:
            raise ValueError(f"epochs must be at least 1, got {epochs!r}")
        self.X, self.y, self.epochs, self.scoring = X, y, epochs, scoring

    def setup(self, estimator: Any, context: Any) -> None:
        self.best_score, self._since = float("-inf"), 0
        self.scores: list[float] = []
        self._scorer = check_scoring(estimator, self.scoring)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing is held."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing is done before an epoch."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:
        if context.task_name != "epoch":
            return False
        score = float(self._scorer(fitted_estimator, self.X, self.y))
        self.scores.append(score)
        self._since = 0 if score > self.best_score else self._since + 1
        self.best_score = max(self.best_score, score)
        return self._since >= self.epochs
