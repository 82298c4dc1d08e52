"""`save_model` and `load_model`: fitted estimators as ``.skops`` files, which hold no code.

A model is checked before it is saved and after it is loaded, by rules that know no particular class: data
classes check themselves in ``__post_init__``, estimators in ``_check_fitted``; everything has to be finite,
and every estimator makes a prediction.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from inspect import signature
from math import prod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.base import KernelMachine
from adatron.files.archive import headers_of, read_archive, read_json, refusing
from adatron.files.atomic import atomic_write
from adatron.files.values import OWN_TYPES, built, dumped, skops_io
from adatron.kernels import KERNELS, CallableKernel, Kernel
from adatron.tables import TableEncoder
from adatron.training import Status

_STATUSES = {status.value: status for status in Status}
_MOST_FEATURES = 10**7  # of rows that are not sparse
_MAY_BE_INFINITE = {"bias_interval_", "history_", "path_", "cv_results_", "statistics_", "categories_"}
_METHODS = ("predict", "decision_function", "predict_proba", "score_samples", "staged_decision_function")


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
    ValueError: '…/models.py' is not an adatron model, or was cut off: no checksum at its end
    """
    loads = skops_io().loads
    data, _ = read_archive(path, "model")
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
        headers, about = headers_of(data), dict(read_json(data, "about.json"))
    arrays: list[dict[str, Any]] = []
    for name, (dtype, shape) in headers.items():
        entry = {"name": name.removesuffix(".npy"), "dtype": str(dtype), "shape": list(shape)}
        arrays.append(entry | {"bytes": dtype.itemsize * prod(shape)})
    written_by = f"adatron {version}"
    return {"format": "skops", "written_by": written_by, "bytes": len(data), "about": about, "arrays": arrays}


def check_model(model: Any) -> None:
    """Raise a ValueError when fitted attributes contradict one another or are not finite.

    >>> from adatron import SVC
    >>> from adatron.files.models import check_model
    >>> model = SVC().fit([[-1.0], [1.0]], [0, 1])
    >>> model.n_support_[0] = 7
    >>> check_model(model)
    Traceback (most recent call last):
    ValueError: inconsistent model: SVC: n_support_ cannot be, beside the other attributes
    """
    part: Any = model
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for part in estimators_in(model):
                _check_attributes(part)
                is_fitted = any(name.endswith("_") for name in vars(part))
                if isinstance(part, KernelMachine | TableEncoder) and is_fitted:
                    part._check_fitted()
                if isinstance(part, KernelMachine) and is_fitted:
                    _check_outputs(part)
            part = model
            if isinstance(model, Pipeline) and len(model.steps) > 1:
                row, last = _output_row(model[:-1]), model.steps[-1][1]
                fits = row.shape == (1, getattr(last, "n_features_in_", row.shape[1]))
                _require(fits and np.isfinite(row.astype(float)).all(), "steps do not fit the last one")
    except Exception as error:  # a forged model may break any assumption
        what = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(f"inconsistent model: {type(part).__name__}: {what}") from error


def _require(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(what)


def estimators_in(value: Any) -> Iterator[Any]:
    """An estimator and all those within it."""
    if isinstance(value, BaseEstimator):
        yield value
    for item in _items(value):
        yield from estimators_in(item)


def _items(value: Any) -> list[Any]:
    """What a value holds, without plain numbers and text."""
    if isinstance(value, BaseEstimator) or (is_dataclass(value) and not isinstance(value, type)):
        value = vars(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [item for item in inner if not isinstance(item, int | float | str | None)]


def _check_attributes(part: Any) -> None:
    """Require names that are parameters or set by `fit`, a kernel that is no code, and finite values."""
    parameters = signature(type(part)).parameters
    kernel = getattr(part, "kernel", "rbf") if isinstance(part, KernelMachine) else "rbf"
    is_kernel = kernel in KERNELS if isinstance(kernel, str) else isinstance(kernel, Kernel)
    _require(is_kernel and not isinstance(kernel, CallableKernel), f"kernel is {str(kernel)[:50]!r}")
    for name, value in vars(part).items():
        is_private = name.isidentifier() and not name.startswith("__") and "_" in (name[0], name[-1])
        is_fitted = is_private and not hasattr(type(part), name)  # a value must not replace a method
        _require(name in parameters or is_fitted, f"{name} is neither a parameter nor set by fit")
        _check_values(value, name, name in parameters or name in _MAY_BE_INFINITE)


def _check_values(value: Any, name: str, may_be_infinite: bool) -> None:
    if isinstance(value, BaseEstimator):
        return
    if sparse.issparse(value):
        value.check_format(full_check=True)
        _require(value.has_canonical_format and np.isfinite(value.data).all(), f"{name} is no sound matrix")
    elif isinstance(value, np.ndarray):
        is_finite = may_be_infinite or value.dtype.kind != "f" or np.isfinite(value).all()
        is_truth = value.dtype.kind != "b" or value.view(np.uint8).max(initial=0) <= 1
        _require(is_finite and is_truth, f"{name} has NaN or infinity, or is neither true nor false")
    elif is_dataclass(value) and not isinstance(value, type):  # it checks its parts when it is made
        make: Any = type(value)
        make(**{own.name: vars(value)[own.name] for own in fields(value)})
    for item in _items(value):
        _check_values(item, name, may_be_infinite)


def _check_outputs(part: Any) -> None:
    """One prediction by every method."""
    is_sparse = sparse.issparse(getattr(part, "support_vectors_", None))
    _require(is_sparse or part.n_features_in_ <= _MOST_FEATURES, "n_features_in_ is too large")
    row = part._trial_row()
    for method in (name for name in _METHODS if hasattr(part, name)):
        try:
            outputs = getattr(part, method)(row)
            outputs = np.asarray(next(outputs) if method.startswith("staged") else outputs)
        except NotFittedError:  # a fit that was interrupted has no probabilities and no stages
            _require(method != "predict", "predict is not possible")
        else:
            is_finite = outputs.dtype.kind != "f" or np.isfinite(outputs).all()
            _require(len(outputs) == 1 and is_finite, f"{method} gives NaN or infinity")


def _output_row(transformer: Any) -> np.ndarray:
    """What a transformer makes of one row: of zeros, or of the first categories that it knows."""
    row: Any
    if isinstance(transformer, Pipeline):
        row = _output_row(transformer.steps[0][1])
        for _, step in transformer.steps[1:]:
            row = row if step in (None, "passthrough") else step.transform(row)
    elif isinstance(transformer, ColumnTransformer):
        rows, places = [np.zeros((1, 0))], transformer.output_indices_
        for name, part, _ in transformer.transformers_:
            rest = np.zeros((1, places[name].stop - places[name].start))  # "passthrough", or "drop"
            rows.append(_output_row(part) if isinstance(part, BaseEstimator) else rest)
        row = np.hstack(rows)
    elif type(transformer).__module__.startswith("adatron."):
        row = transformer.transform(transformer._trial_row())
    else:
        _require(transformer.n_features_in_ <= _MOST_FEATURES, "n_features_in_ is too large")
        row = np.zeros((1, transformer.n_features_in_))
        if hasattr(transformer, "categories_"):
            row = np.array([[values[0] for values in transformer.categories_]], dtype=object)
        elif getattr(transformer, "statistics_", row).dtype.kind == "O":
            row = transformer.statistics_[None]
        row = transformer.transform(row)
    return row.toarray() if sparse.issparse(row) else np.asarray(row)
