"""Which model a person wants: the estimator, and the pipeline around it."""

from __future__ import annotations

from typing import Any

import click
from scipy import sparse

from adatron.cli.options import width_to_gamma

__all__ = ["pipeline_for", "with_encoder"]

_KERNEL = ("kernel", "sigma", "gamma", "solver", "tol", "no_scale")
_OF_MODEL = {
    "svc": (*_KERNEL, "C", "no_intercept", "probability"),
    "svr": (*_KERNEL, "C", "no_intercept", "epsilon"),
    "oneclass": (*_KERNEL, "nu"),
    "ensemble": ("kernel", "sigma", "gamma", "no_scale"),
    "cluster": ("sigma", "gamma", "no_scale"),
    "auto": ("scoring",),
}
_CLASSES = {
    "svc": "SVC", "svr": "SVR", "oneclass": "OneClassSVM", "ensemble": "EnsembleSVC",
    "cluster": "SupportVectorClustering",
}  # fmt: skip


def pipeline_for(model: str | None, task: str | None, X: Any, options: dict[str, Any], seed: int) -> Any:
    """An unfitted pipeline: what encodes the table, then the estimator.

    Without `model` it is the one that needs no options; options that belong to another choose that one.
    """
    import adatron

    given = {name: value for name, value in options.items() if value not in (None, False, ())}
    time_limit, categorical = given.pop("time_limit", None), given.pop("categorical", ())
    if model is None:
        by_task = "svr" if task == "regression" else "svc"
        model = by_task if set(given) - set(_OF_MODEL["auto"]) else "auto"
    for name in given:
        if name not in _OF_MODEL[model]:
            flag = "-C" if name == "C" else f"--{name.replace('_', '-')}"
            owners = ", ".join(other for other, known in _OF_MODEL.items() if name in known)
            raise click.UsageError(f"{flag} does not apply to --model {model}; it belongs to {owners}.")
    scale = not given.pop("no_scale", False)
    if "sigma" in given:
        given["gamma"] = width_to_gamma(given.pop("sigma"))
    if given.pop("no_intercept", False):
        given["fit_intercept"] = False
    auto = "AutoSVR" if task == "regression" else "AutoSVC"
    estimator = getattr(adatron, _CLASSES.get(model, auto))(**given)
    known = estimator.get_params(deep=False)
    seeded = {"time_limit": time_limit, "random_state": seed or None}  # 0 is the seed without --seed, too
    estimator.set_params(**{name: value for name, value in seeded.items() if name in known and value})
    return with_encoder(estimator, X, categorical=categorical, scale=scale)


def with_encoder(estimator: Any, X: Any, *, categorical: Any = (), scale: bool = True) -> Any:
    """A pipeline of what turns the columns into numbers of about the same size, and the estimator."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MaxAbsScaler

    from adatron.tables import TableEncoder, needs_encoding

    steps: list[tuple[str, Any]] = []
    if sparse.issparse(X):  # svmlight: sparse rows stay sparse, and AutoSVC scales them itself
        steps = (
            [("scale", MaxAbsScaler())] if scale and not getattr(estimator, "_scales_features", False) else []
        )
    elif scale:
        steps = [("encode", TableEncoder(kinds=dict.fromkeys(categorical, "category") or None))]
    elif needs_encoding(X):
        raise click.UsageError(
            "--no-scale takes the columns as they are, so all must be numbers without gaps."
        )
    return Pipeline([*steps, ("model", estimator)])
