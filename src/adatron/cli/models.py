"""Which model a person wants: what is to be predicted, the estimator, and the pipeline around it."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from adatron.cli.data import Rows
from adatron.cli.options import width_to_gamma

__all__ = ["pipeline_for", "task_of", "wants_target", "with_encoders"]

_OF_MODEL = {
    "svc": ("kernel", "sigma", "gamma", "C", "solver", "tol", "no_intercept", "probability", "no_scale"),
    "svr": ("kernel", "sigma", "gamma", "C", "solver", "tol", "no_intercept", "epsilon", "no_scale"),
    "oneclass": ("kernel", "sigma", "gamma", "solver", "tol", "nu", "no_scale"),
    "ensemble": ("kernel", "sigma", "gamma", "no_scale"),
    "cluster": ("sigma", "gamma", "no_scale"),
    "auto": (),
}
_CLASSES = 20  # whole numbers that still look like classes


def wants_target(model: str | None) -> bool:
    """Whether a model predicts a column."""
    return model not in ("oneclass", "cluster")


def task_of(model: str | None, rows: Rows) -> str:
    """ "classification" or "regression", as the model says or the target looks.

    Text is a class. So are up to twenty different whole numbers, if each stands for several rows.
    """
    if model in ("svc", "ensemble"):
        return "classification"
    if model == "svr":
        _check_numbers(rows)
        return "regression"
    target = rows.target
    assert target is not None
    if target.dtype.kind != "f":
        return "classification"
    values = np.unique(target)
    few = len(values) <= min(_CLASSES, len(target) // 2 + 1)
    return "classification" if few and (values == np.round(values)).all() else "regression"


def _check_numbers(rows: Rows) -> None:
    if rows.target is not None and rows.target.dtype.kind != "f":
        raise ValueError(f"--model svr: the target {rows.target_name!r} is text; choose --model svc or auto")


def pipeline_for(model: str | None, task: str | None, rows: Rows, options: dict[str, Any]) -> Any:
    """An unfitted pipeline: encoders and scaler where they are wanted, then the estimator.

    Without `model` it is the one that needs no options; options that belong to another choose that one.
    """
    given = {name: value for name, value in options.items() if value not in (None, False)}
    limits = {name: given.pop(name) for name in ("time_limit",) if name in given}
    impute = bool(given.pop("impute", False))
    if model is None:
        model = ("svr" if task == "regression" else "svc") if given else "auto"
    _check_options(model, given)
    scale = not given.pop("no_scale", False)
    estimator = _estimator(model, task, given | limits)
    return with_encoders(estimator, rows, impute=impute, scale=scale)


def _check_options(model: str, given: dict[str, Any]) -> None:
    foreign = [name for name in given if name not in _OF_MODEL[model]]
    if foreign:
        name = foreign[0]
        flag = "-C" if name == "C" else f"--{name.replace('_', '-')}"
        owners = ", ".join(other for other, known in _OF_MODEL.items() if name in known)
        raise click.UsageError(f"{flag} does not apply to --model {model}; it belongs to {owners}.")


def _estimator(model: str, task: str | None, given: dict[str, Any]) -> Any:
    import adatron

    if "sigma" in given:
        given["gamma"] = width_to_gamma(given.pop("sigma"))
    if given.pop("no_intercept", False):
        given["fit_intercept"] = False
    limit = {name: given[name] for name in ("time_limit",) if name in given}
    if model == "auto":
        return adatron.AutoSVR(**limit) if task == "regression" else adatron.AutoSVC(**limit)
    names = {"svc": "SVC", "svr": "SVR", "ensemble": "EnsembleSVC", "oneclass": "OneClassSVM"}
    return getattr(adatron, names.get(model, "SupportVectorClustering"))(**given)


def with_encoders(estimator: Any, rows: Rows, *, impute: bool, scale: bool = True) -> Any:
    """A pipeline of what turns the rows into numbers of about the same size, and the estimator."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MaxAbsScaler

    from adatron.io import DenseTable, encoder_for

    scale = scale and not getattr(estimator, "_scales_features", False)
    if not rows.columns:  # svmlight: sparse rows stay sparse
        steps = [("scale", MaxAbsScaler())] if scale else []
        return Pipeline([*steps, ("model", estimator)])
    table = DenseTable(rows.columns, [_column(rows, i) for i in range(len(rows.columns))], rows.name)
    encoder = encoder_for(table, impute=impute, scale=scale)
    return Pipeline([("encode", encoder), ("model", estimator)])


def _column(rows: Rows, i: int) -> np.ndarray:
    """A stand-in of the right kind: the encoder only looks at that."""
    return np.empty(0, dtype=object if rows.kinds[i] == "text" else float)
