"""adatron's own callbacks for ``set_callbacks``, which needs scikit-learn >= 1.9."""

import hashlib
import os
from copy import deepcopy
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import check_scoring

from adatron import __version__
from adatron.estimators.dask import collection_digests
from adatron.estimators.parameters import check_integer
from adatron.exceptions import AdatronWarning, warn_user
from adatron.files.atomic import atomic_write, check_target
from adatron.files.values import dumped, read_value
from adatron.gram import is_dask, on_client

__all__ = ["Checkpoint", "Patience"]

_KIND = "checkpoint"
_MAY_CHANGE = frozenset({"time_limit", "max_iter", "verbose", "n_jobs", "cache_size"})
_KEEP_EVERY, _KEEP_SHARE = 0.05, 30.0  # seconds between two copies: at least, and in units of what one takes


class BaseCallback:
    """What the protocol of scikit-learn asks for, and does nothing unless a callback needs it."""

    def setup(self, estimator: Any, context: Any) -> None:
        """Before all fits."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """After all fits."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Before a fit, and before an epoch."""


class Checkpoint(BaseCallback):
    """Save the state of a fit every few seconds, and resume from it; needs skops.

    The file is replaced atomically, so it is always complete. A resumed fit gives the same model as one that
    was never interrupted.

    Parameters
    ----------
    path : str or path
        The file. A checkpoint belongs to one estimator: do not set one on a search over several.
    every : float, default=30
        Seconds between two checkpoints, which are written after an epoch; 0 writes one after each.
    resume : bool, default=False
        Continue from the file if it exists. It must have the same estimator, parameters, data and version:
        only ``time_limit``, ``max_iter``, ``verbose``, ``n_jobs`` and ``cache_size`` may have changed.

    See Also
    --------
    adatron.io.save_model : saves a fitted model.

    Examples
    --------
    >>> import tempfile
    >>> from adatron import SVC, callbacks, datasets
    >>> X, y = datasets.load_sonar(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     saved = callbacks.Checkpoint(f"{directory}/sonar.checkpoint", resume=True)
    ...     part = SVC(C=10.0, solver="adatron", max_iter=5).set_callbacks(saved).fit(X, y)
    ...     SVC(C=10.0, solver="adatron").set_callbacks(saved).fit(X, y).converged_
    True
    """

    def __init__(self, path: str | os.PathLike[str], every: float = 30.0, *, resume: bool = False) -> None:
        if not isinstance(every, int | float | np.number) or not 0.0 <= every < float("inf"):
            raise ValueError(f"every must be a number of seconds >= 0, got {every!r}")
        self.path, self.every, self.resume = Path(path), float(every), resume
        self._fit: Any = None
        self._kept: Any = None  # the state between two epochs

    def teardown(self, estimator: Any, context: Any) -> None:
        self._fit = self._kept = None

    def on_fit_prepared(self, estimator: Any, fit: Any, *, X=None, y=None, metadata=None) -> None:
        check_target(self.path)
        parameters = estimator.get_params(deep=False).items()
        data = {"X": X, "y": y, "sample_weight": (metadata or {}).get("sample_weight")}
        self._identity = {
            "adatron": __version__, "estimator": type(estimator).__name__,
            "parameters": {name: repr(value) for name, value in parameters if name not in _MAY_CHANGE},
            "data": {name: digest(values) for name, values in data.items()},
        }  # fmt: skip
        if self.resume and self.path.exists():
            self._restore(fit)
        self._fit, self._due = fit, monotonic() + self.every
        self._keep()

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
        """Write the state before the current epoch, which Ctrl-C has interrupted."""
        if self._fit is not None:
            self._write()

    def _keep(self) -> None:
        """Copy the state between two epochs, seldom enough to cost a few per cent of the time."""
        began = monotonic()
        self._kept = deepcopy({"of": self._identity, "fit": self._fit.saved()})
        now = monotonic()
        self._keep_due = now + max(_KEEP_EVERY, _KEEP_SHARE * (now - began))

    def _write(self) -> None:
        """Write the file; a failure is a warning, and the fit goes on."""
        try:
            atomic_write(self.path, dumped(self._kept, _KIND))
        except (OSError, ValueError) as error:
            warn_user(f"no checkpoint was written, the fit goes on: {error}", AdatronWarning)
        self._due = monotonic() + self.every

    def _restore(self, fit: Any) -> None:
        saved, name = read_value(self.path, _KIND), f"the checkpoint {str(self.path)!r}"
        found = saved.get("of") if isinstance(saved, dict) else None
        if changed := "; ".join(_differences(found, self._identity)):
            ways = "name another file, or set resume=False (leave out --resume) to begin anew"
            raise ValueError(f"{name} belongs to another fit: {changed}. Undo that, {ways}.")
        try:
            fit.restore(saved["fit"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{name} does not fit: {error}") from error


def _differences(saved: Any, current: dict[str, Any]) -> list[str]:
    """The differences between two fits, as parts of a sentence."""
    if not isinstance(saved, dict) or saved.keys() != current.keys():
        return ["it is of another kind of file"]
    before, now = saved["parameters"], current["parameters"]
    pairs = [(name, saved[name], current[name]) for name in ("adatron", "estimator")]
    pairs += [(name, before.get(name, "absent"), now.get(name, "absent")) for name in before | now]
    changed = [f"{name} was {old}, is {new}" for name, old, new in pairs if old != new]
    data = [name for name, value in saved["data"].items() if current["data"][name] != value]
    return changed + [f"{name} differs" for name in data]


def digest(values: Any) -> str:
    """SHA-256 of the values, whatever type holds them; "" for None."""
    if values is None:
        return ""
    if is_dask(values) and values.ndim == 2:  # computed on the workers; partitions do not matter
        return hashlib.sha256(collection_digests(values).tobytes()).hexdigest()
    values = on_client(values)
    matrix: Any = values if sparse.issparse(values) else np.asarray(values)
    parts = [matrix]
    if matrix.ndim == 2 and (sparse.issparse(matrix) or matrix.dtype.kind in "biuf"):
        rows = sparse.csr_array(matrix).astype(np.float64)  # sparse and dense rows give the same arrays
        rows.sum_duplicates()
        rows.eliminate_zeros()
        parts = [np.array(rows.shape), rows.indptr, rows.indices, rows.data]
    found = hashlib.sha256()
    for part in parts:
        if part.dtype.kind in "biuf":
            stored = "<f8" if part.dtype.kind == "f" else "<i8"
            found.update(np.ascontiguousarray(part, dtype=stored).tobytes())
        else:
            found.update(repr(part.tolist()).encode())
    return found.hexdigest()


class Patience(BaseCallback):
    """Stop a fit when its score on held-out rows has not risen for some epochs.

    The model is that of the last epoch. Its `status_` is "stopped".

    Parameters
    ----------
    X, y : held-out rows and their targets
    epochs : int, default=10
        The fit ends after this many epochs without a better score.
    scoring : str or callable, default=None
        As in `sklearn.model_selection.GridSearchCV`; by default the estimator's own score.

    Attributes
    ----------
    best_score, scores : the best score, and the score of each epoch

    See Also
    --------
    adatron.SVC.iter_fit : trains epoch by epoch in your own loop.

    Examples
    --------
    >>> from adatron import SVC, callbacks, datasets
    >>> X, y = datasets.make_waveform(400, random_state=0)
    >>> stop = callbacks.Patience(X[300:], y[300:], epochs=3)
    >>> model = SVC(C=100.0, solver="adatron").set_callbacks(stop).fit(X[:300], y[:300])
    >>> len(stop.scores) == int(model.n_iter_[0])
    True
    """

    def __init__(self, X: Any, y: Any, *, epochs: int = 10, scoring: Any = None) -> None:
        check_integer("epochs", epochs, allowed="at least 1")
        self.X, self.y, self.epochs, self.scoring = X, y, epochs, scoring

    def setup(self, estimator: Any, context: Any) -> None:
        self.best_score, self._since = float("-inf"), 0
        self.scores: list[float] = []
        self._scorer = check_scoring(estimator, self.scoring)

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:
        if context.task_name != "epoch":
            return False
        score = float(self._scorer(fitted_estimator, self.X, self.y))
        self.scores.append(score)
        self._since = 0 if score > self.best_score else self._since + 1
        self.best_score = max(self.best_score, score)
        return self._since >= self.epochs
