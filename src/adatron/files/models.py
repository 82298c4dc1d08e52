"""`save_model` and `load_model`: fitted estimators as ``.skops`` files, which hold no code."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from inspect import signature
from math import prod
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from adatron.files.archive import headers_of, read_archive, read_json, refusing
from adatron.files.atomic import atomic_write
from adatron.files.checks import check_model, estimators_in
from adatron.files.values import OWN_TYPES, built, dumped, skops_io
from adatron.training import Status

_STATUSES = {status.value: status for status in Status}


def save_model(
    estimator: BaseEstimator, path: str | os.PathLike[str], *, about: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted estimator to a model file, whole or not at all; needs skops.

    The file holds parameters and fitted attributes, including the support vectors (training rows), class
    labels and feature names. It holds no code, path, user or host name and no date. Callbacks, metadata
    requests and random generators are left out.

    Parameters
    ----------
    estimator : estimator
        Any of adatron's, or a `Pipeline` that ends in one, with scikit-learn's transformers before it. A
        ValueError says what a file cannot hold, such as a kernel function.
    path : str or path
        By custom it ends in ``.skops``. An existing file is replaced in one step, or stays as it was. An
        OSError says that it cannot be written, or is a link, a directory or a pipe.
    about : dict, optional
        Further information that JSON can hold; `describe_file` gives it back.

    See Also
    --------
    load_model : reads the file.
    to_libsvm, to_onnx : write models for other programs.

    Examples
    --------
    >>> import os, tempfile
    >>> from adatron import SVC, io
    >>> model = SVC().fit([[-1.0], [1.0]], ["a", "b"])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     io.save_model(model, os.path.join(directory, "small.skops"))
    ...     io.load_model(os.path.join(directory, "small.skops")).predict([[0.5]])
    array(['b'], dtype='<U1')
    """
    if not isinstance(estimator, BaseEstimator):
        raise ValueError(f"a {type(estimator).__name__} cannot be stored in a model file, only an estimator")
    check_is_fitted(estimator)
    data = b"".join(dumped(estimator, "model", dict(about or {})))
    _checked(data, skops_io().loads)  # what cannot be read again is not written
    atomic_write(path, [data])


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a fitted estimator from a model file of `save_model`; needs skops.

    Nothing in the file is executed; it can only name adatron's own classes and transformers of scikit-learn.
    The estimator predicts what the saved one did, bit for bit with the same libraries on the same machine. A
    ValueError says that the file is not a model file, damaged, inconsistent, or of a later version; an
    OSError, that it cannot be read.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator

    See Also
    --------
    save_model : writes the file.
    describe_file : says what is in it, without building the model.

    Examples
    --------
    >>> from adatron import io
    >>> io.load_model(__file__)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ValueError: '…/models.py' is not an adatron model, or was cut off: it does not end in a checksum
    """
    loads, (data, _) = skops_io().loads, read_archive(path, "model")
    with refusing(path):
        return _checked(data, loads)


def _checked(data: bytes, loads: Callable[..., Any]) -> Any:
    """The model of an archive, if it agrees with itself."""
    model = built(data, loads)
    for part in estimators_in(model):
        if type(part) in OWN_TYPES.values():
            for name, parameter in signature(type(part)).parameters.items():
                vars(part).setdefault(name, parameter.default)  # which an older version did not have
            if "status_" in vars(part):
                part.status_ = _STATUSES.get(part.status_, part.status_)  # skops gives it back as text
    check_is_fitted(model)
    check_model(model)
    return model


def describe_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Say what a model file holds, without building the model.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    dict
        ``format``, ``written_by``, ``bytes``, ``about`` as given to `save_model`, and ``arrays``: name,
        dtype, shape and bytes of each.

    See Also
    --------
    load_model : builds the model.

    Examples
    --------
    >>> import os, tempfile
    >>> from adatron import ParzenClassifier, io
    >>> model = ParzenClassifier().fit([[0.0], [1.0]], ["a", "b"])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     io.save_model(model, os.path.join(directory, "small.skops"), about={"columns": ["size"]})
    ...     found = io.describe_file(os.path.join(directory, "small.skops"))
    >>> found["about"], "ParzenClassifier_support_" in [own["name"] for own in found["arrays"]]
    ({'columns': ['size']}, True)
    """
    data, version = read_archive(path, "model")
    with refusing(path):
        found, about = headers_of(data), dict(read_json(data, "about.json"))
    arrays = [
        {"name": name.removesuffix(".npy"), "dtype": str(dtype), "shape": list(shape)}
        | {"bytes": dtype.itemsize * prod(shape)}
        for name, (dtype, shape) in found.items()
    ]
    known = {"format": "skops", "written_by": f"adatron {version}", "bytes": len(data)}
    return known | {"about": about, "arrays": arrays}
