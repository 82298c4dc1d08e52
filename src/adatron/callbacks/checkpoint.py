"""`Checkpoint`: a fit that can be killed at any time and loses no more than a few seconds."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from time import monotonic
from typing import Any

from adatron.callbacks.identity import differences, identity
from adatron.exceptions import AdatronWarning
from adatron.storage import check_target, read_container, write_container
from adatron.storage.tree import flatten, unflatten

__all__ = ["Checkpoint"]

_KIND = "checkpoint"
_KEEP_EVERY, _KEEP_SHARE = 0.05, 30.0  # seconds; times of what keeping takes


class Checkpoint:
    """Save the whole state of a fit every so many seconds, and go on from it.

    The file is replaced in one step, so whenever a process is killed there is a whole one. A fit that is
    resumed gives the same model as one that was never disturbed.

    Parameters
    ----------
    path : str or path
        The file; a callback is for one estimator, so a search over several wants none.
    every : float, default=30
        Seconds between two files, which are written after an epoch; 0 writes after each.
    resume : bool, default=False
        Go on from the file if it is there. It must be of the same estimator, parameters, data and version:
        only ``time_limit``, ``max_iter``, ``verbose``, ``n_jobs`` and ``cache_size`` may have changed.

    See Also
    --------
    Patience : ends a fit that no longer improves.
    adatron.io.save_model : keeps a model that has been fitted.

    Examples
    --------
    >>> import os, tempfile
    >>> from adatron import SVC
    >>> from adatron.callbacks import Checkpoint
    >>> from adatron.datasets import load_sonar
    >>> X, y = load_sonar(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = os.path.join(directory, "sonar.checkpoint")
    ...     part = SVC(C=10.0, solver="adatron").set_params(max_iter=5)
    ...     _ = part.set_callbacks(Checkpoint(path, every=0)).fit(X, y)
    ...     whole = SVC(C=10.0, solver="adatron")
    ...     _ = whole.set_callbacks(Checkpoint(path, resume=True)).fit(X, y)
    >>> whole.converged_
    True
    """

    def __init__(self, path: str | os.PathLike[str], every: float = 30.0, *, resume: bool = False) -> None:
        if not 0.0 <= every < float("inf"):
            raise ValueError(f"every must be a number of seconds >= 0, got {every!r}")
        self.path, self.every, self.resume = Path(path), float(every), resume
        self._fit: Any = None
        self._kept: Any = None  # between two epochs

    def setup(self, estimator: Any, context: Any) -> None:
        """The file is looked at when the fit has been prepared."""

    def teardown(self, estimator: Any, context: Any) -> None:
        self._fit = self._kept = None

    def on_fit_prepared(
        self, estimator: Any, fit: Any, *, X: Any = None, y: Any = None, metadata: Any = None
    ) -> None:
        check_target(self.path)
        weights = (metadata or {}).get("sample_weight")
        self._identity = identity(estimator, X, y, weights)
        if self.resume and self.path.exists():
            self._restore(fit)
        self._fit, self._due = fit, monotonic() + self.every
        self._keep()

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing changes before an epoch."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        if self._fit is None:
            return False
        now = monotonic()
        is_due = context.task_name != "epoch" or now >= self._due
        if is_due or now >= self._keep_due:
            self._keep()
        if is_due:
            self._write()
        return False

    def on_fit_interrupted(self, estimator: Any) -> None:
        """Ctrl-C comes in the middle of an epoch: what is written is the fit as it was before."""
        if self._fit is not None:
            self._write()

    def _keep(self) -> None:
        """Remember the state between two epochs, so often that it costs a few per cent of the time."""
        began = monotonic()
        plain, arrays = flatten(self._fit.saved())
        self._kept = plain, {name: array.copy() for name, array in arrays.items()}
        now = monotonic()
        self._keep_due = now + max(_KEEP_EVERY, _KEEP_SHARE * (now - began))

    def _write(self) -> None:
        """A checkpoint that cannot be written is no reason to end the fit."""
        plain, arrays = self._kept
        try:
            write_container(self.path, _KIND, {"of": self._identity, "fit": plain}, arrays)
        except (OSError, ValueError) as error:
            message = f"no checkpoint was written, the fit goes on: {error}"
            warnings.warn(message, AdatronWarning, stacklevel=2)
        self._due = monotonic() + self.every

    def _restore(self, fit: Any) -> None:
        header, arrays = read_container(self.path, _KIND)
        changed = differences(header.get("of"), self._identity)
        if changed:
            raise ValueError(
                f"the checkpoint {str(self.path)!r} belongs to another fit: {'; '.join(changed)}. Undo that, "
                "name another file, or set resume=False (leave out --resume) to begin anew."
            )
        try:
            fit.restore(unflatten(header["fit"], arrays))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"the checkpoint {str(self.path)!r} does not fit: {error}") from error
