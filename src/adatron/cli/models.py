"""The model that the options ask for: the estimator, and the pipeline around it."""

from __future__ import annotations

from typing import Any

import click
from scipy import sparse

from adatron.cli.options import width_to_gamma

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


def model_for(model: str | None, task: str | None, X: Any, options: dict[str, Any]) -> Any:
    """The unfitted model that the options ask for.

    Without `model` it is the one that needs no options; options that belong to another choose that one.
    """
    import adatron

    names = {name for known in _OF_MODEL.values() for name in known}
    given = {name: options[name] for name in options if name in names}
    given = {name: own for name, own in given.items() if own is not None and own is not False}
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
    seeded = {"time_limit": options["time_limit"], "random_state": options["seed"]}  # 0 by default
    estimator.set_params(**{name: value for name, value in seeded.items() if name in known and value})
    return with_encoder(estimator, X, scale=scale)


def with_encoder(estimator: Any, X: Any, *, scale: bool = True) -> Any:
    """The estimator, behind the steps it needs to be trained on X and to predict for any such rows.

    AutoSVC and AutoSVR encode and scale by themselves, but take no missing values in columns of numbers that
    had none at `fit`.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MaxAbsScaler

    from adatron.auto import AutoSVC, AutoSVR
    from adatron.tables import TableEncoder, needs_encoding

    if isinstance(estimator, AutoSVC | AutoSVR):
        if sparse.issparse(X) or needs_encoding(X):
            return estimator
        return Pipeline([("impute", SimpleImputer(strategy="median")), ("model", estimator)])
    if not scale:
        if needs_encoding(X):
            raise click.UsageError(
                "--no-scale takes the columns as they are, so all must be numbers without gaps."
            )
        return estimator
    first = ("scale", MaxAbsScaler()) if sparse.issparse(X) else ("encode", TableEncoder())
    return Pipeline([first, ("model", estimator)])
