"""What a report is about: a model, its training and test rows, and how long the fit took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_clusterer, is_outlier_detector, is_regressor

from adatron.display.style import innermost


@dataclass(frozen=True)
class FitStory:
    """A fit, as the report needs it.

    Parameters
    ----------
    name : str
        Of the data.
    model : estimator
        Fitted; a pipeline that ends in one of ours will do.
    X_train, y_train, X_test, y_test : array-like or None
        In the form that `model` predicts from; without a test part the training rows are judged.
    seconds : float
        Of the fit.
    memory : float, optional
        Bytes at the peak.
    data : mapping, optional
        What else is known of the data: names and values.
    notes, warnings : sequence of str
    model_file : str, optional
        Where the model was saved.
    """

    name: str
    model: Any
    X_train: Any
    y_train: Any
    X_test: Any = None
    y_test: Any = None
    seconds: float = float("nan")
    memory: float | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    model_file: str | None = None

    @cached_property
    def machine(self) -> Any:
        """The estimator inside the pipeline."""
        return innermost(self.model)

    @cached_property
    def task(self) -> str:
        """ "classification", "regression", "outliers" or "clusters"."""
        kinds = {
            "classification": is_classifier, "regression": is_regressor, "outliers": is_outlier_detector,
            "clusters": is_clusterer,
        }  # fmt: skip
        return next(name for name, belongs in kinds.items() if belongs(self.machine))

    @cached_property
    def n_train(self) -> int:
        return _num_samples(self.X_train)

    @cached_property
    def n_test(self) -> int:
        return 0 if self.X_test is None else _num_samples(self.X_test)

    @property
    def n_judged(self) -> int:
        return self.n_test or self.n_train

    @property
    def judged(self) -> tuple[Any, Any]:
        """The test rows, or the training rows where there are none."""
        return (self.X_test, self.y_test) if self.n_test else (self.X_train, self.y_train)

    @cached_property
    def inputs(self) -> Any:
        """The judged rows as the estimator inside the pipeline takes them."""
        X = self.judged[0]
        return X if self.model is self.machine else self.model[:-1].transform(X)

    @cached_property
    def predictions(self) -> np.ndarray:
        return np.asarray(self.model.predict(self.judged[0]))


def _num_samples(rows: Any) -> int:
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)
