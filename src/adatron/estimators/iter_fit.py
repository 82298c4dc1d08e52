"""`IterFitMixin`: training as a loop of the caller."""

from collections.abc import Iterator
from typing import Any

from adatron.estimators.base import unfitted_on_error, warn_unless_converged
from adatron.numerics.threads import one_blas_thread
from adatron.training import EpochRecord


class IterFitMixin:
    """Adds `iter_fit` to a machine that is trained epoch by epoch."""

    _plan: Any  # as in `KernelMachine`
    _store: Any

    def iter_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Iterator[EpochRecord]:
        """Train epoch by epoch; the estimator can predict after each record.

        Leaving the loop early keeps the model as it is. Callbacks are not called: the loop is yours.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y, sample_weight : array-like of shape (n_samples,), optional
            Classes or targets, which `OneClassSVM` has none of; weights of the rows.

        Yields
        ------
        EpochRecord
            Number of the epoch, objective, margin, bias, violation and seconds of one problem.

        Examples
        --------
        >>> from adatron import SVC
        >>> model = SVC(kernel="linear")
        >>> [round(record.margin, 3) for record in model.iter_fit([[-1.0], [1.0]], ["no", "yes"])]
        [1.0]
        """
        with unfitted_on_error(self):
            with unfitted_on_error(self, BaseException), one_blas_thread():
                plan = self._plan(X, y, sample_weight)
            for records in plan.rounds():
                self._store(plan)
                yield from records
            self._store(plan)
            warn_unless_converged(self)
