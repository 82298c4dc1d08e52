"""Callbacks of our own, for ``set_callbacks`` beside those of `sklearn.callback`.

`Checkpoint` saves a fit every so many seconds and resumes it; `Patience` ends one that no longer improves
on held-out rows.
"""

from adatron.callbacks.checkpoint import Checkpoint
from adatron.callbacks.patience import Patience

__all__ = ["Checkpoint", "Patience"]
