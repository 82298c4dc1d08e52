"""Callbacks of our own, for ``set_callbacks`` beside those of `sklearn.callback`.

`Checkpoint` saves a fit every so many seconds and resumes it; `Patience` ends one that no longer improves
on held-out rows.

>>> from adatron import SVC
>>> from adatron.callbacks import Patience
>>> from adatron.datasets import load_sonar
>>> X_train, X_test, y_train, y_test = load_sonar(split="half")
>>> stop = Patience(X_test, y_test, epochs=5)
>>> model = SVC(C=1e3, solver="adatron").set_callbacks(stop).fit(X_train, y_train)
>>> str(model.status_)
'stopped'
"""

from adatron.callbacks.checkpoint import Checkpoint
from adatron.callbacks.patience import Patience

__all__ = ["Checkpoint", "Patience"]
