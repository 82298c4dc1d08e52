"""`save_model` and `load_model`: fitted estimators as files that hold numbers and text, and no code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from adatron import __version__
from adatron.io.checks import check_model
from adatron.io.decoding import Decoder
from adatron.io.encoding import Encoder
from adatron.storage import read_container, write_container

__all__ = ["describe_file", "load_model", "save_model"]

_KIND, _FORMAT = "model", "1.0"


def save_model(
    estimator: BaseEstimator, path: str | os.PathLike[str], *, about: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted estimator to a model file, whole or not at all.

    The file holds parameters and fitted attributes of the estimator and of what it is made of, among them
    training rows (the support vectors), class labels and names of features. It holds no code, path, user or
    host name and no date. Callbacks, metadata requests and random generators are left out.

    Parameters
    ----------
    estimator : estimator
        Any of adatron's, or a `Pipeline` that ends in one, with scikit-learn's scalers, encoders and
        imputers and `ColumnTransformer` before it.
    path : str or path
        By custom it ends in ``.adatron``. An existing file is replaced in one step, or stays as it was.
    about : dict, optional
        What else is to be known of the model, in values that JSON has; `describe_file` gives it back.

    Raises
    ------
    ValueError
        The estimator is not fitted, or holds something that a file cannot, such as a kernel function.
    OSError
        The file cannot be written: no space, no permission, no directory, or `path` is a symbolic link, a
        directory, a pipe or a device.

    See Also
    --------
    load_model : reads the file.
    describe_file : tells what is in it.
    to_libsvm, to_onnx : write models for other programs.

    Examples
    --------
    >>> import os, tempfile
    >>> from adatron import SVC, io
    >>> from adatron.datasets import load_sonar
    >>> X_train, X_test, y_train, y_test = load_sonar(split="half")
    >>> model = SVC(C=10.0).fit(X_train, y_train)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = os.path.join(directory, "sonar.adatron")
    ...     io.save_model(model, path)
    ...     again = io.load_model(path)
    >>> bool((again.decision_function(X_test) == model.decision_function(X_test)).all())
    True
    """
    encoder = Encoder()
    if isinstance(estimator, BaseEstimator):
        check_is_fitted(estimator)
    tree = encoder.estimator(estimator)
    check_model(estimator, deep=True)
    header = {"written_by": f"adatron {__version__}", "model": tree, "about": dict(about or {})}
    write_container(path, _KIND, header, encoder.arrays, version=_FORMAT)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a fitted estimator from a model file of `save_model`.

    Nothing in the file is executed or imported; what it may name is a fixed list of estimators, kernels
    and transformers. The estimator predicts what the saved one did, bit for bit with the same libraries on
    the same machine.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        The file is not a model file, damaged, inconsistent, or of a later format.
    OSError
        It cannot be read.

    See Also
    --------
    save_model : writes the file.
    describe_file : tells what is in it, without building the model.

    Examples
    --------
    >>> from adatron import io
    >>> io.load_model(__file__)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ValueError: '…/model_files.py' is not an adatron model: it begins with other bytes
    """
    header, arrays = read_container(path, _KIND, version=_FORMAT)
    is_newer = _minor(header["format"]) > _minor(_FORMAT)
    try:
        model = Decoder(arrays, is_newer).model(header.get("model"))
        check_is_fitted(model)
    except Exception as error:  # of any kind: a hostile file may break any assumption
        advice = f"; it has format {header['format']}, upgrade adatron" if is_newer else ""
        what = error if isinstance(error, ValueError) else f"inconsistent model: {error!r}"
        raise ValueError(f"{os.fspath(path)!r} cannot be read: {what}{advice}") from error
    return model


def describe_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file holds, without building the model.

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
    save_model : writes the file.
    load_model : builds the model.

    Examples
    --------
    >>> import os, tempfile
    >>> from adatron import ParzenClassifier, io
    >>> model = ParzenClassifier().fit([[0.0], [1.0]], ["a", "b"])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = os.path.join(directory, "small.adatron")
    ...     io.save_model(model, path, about={"columns": ["size"]})
    ...     told = io.describe_file(path)
    >>> told["format"], told["about"]
    ('1.0', {'columns': ['size']})
    """
    header, arrays = read_container(path, _KIND, version=_FORMAT)
    about = header.get("about", {})
    if not isinstance(about, dict):
        raise ValueError(f"{os.fspath(path)!r} cannot be read: what it says about the model is no table")
    return {
        "format": header["format"],
        "written_by": str(header.get("written_by", "")),
        "bytes": os.path.getsize(path),
        "about": about,
        "arrays": [
            {"name": name, "dtype": str(array.dtype), "shape": list(array.shape), "bytes": array.nbytes}
            for name, array in arrays.items()
        ],
    }


def _minor(version: str) -> int:
    return int(version.split(".")[1])
