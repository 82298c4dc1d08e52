"""Models as ONNX files, through scikit-learn's counterparts and skl2onnx."""

from __future__ import annotations

import os
from typing import Any

from adatron.io.equivalents import sklearn_equivalent
from adatron.storage import atomic_write

__all__ = ["to_onnx"]


def to_onnx(model: Any, path: str | os.PathLike[str], *, initial_types: Any = None) -> None:
    """Write a fitted model as an ONNX file; needs ``pip install adatron[export]``.

    ONNX keeps coefficients in float32, so decisions agree to some 1e-7 of the sum of their sizes; from those
    of `AutoSVC` its `best_threshold_` is subtracted, so that predictions agree. A classifier has the outputs
    ``label`` and ``probabilities``, which are decision values here, one for each class: -f and f of two
    classes. A regression has ``variable``, novelty detection ``label`` and ``scores``.

    Parameters
    ----------
    model : estimator
        `SVC` (two classes, or trained in pairs), `SVR`, `OneClassSVM`, `AutoSVR`; `AutoSVC`, `EnsembleSVC`,
        `KernelPerceptron` and `ParzenClassifier` with two classes; or a pipeline that ends in one of them.
    path : str or path
        Written whole or not at all.
    initial_types : list of (name, type), optional
        As `skl2onnx.convert_sklearn` takes it; default: one input ``X`` of float32 numbers.

    See Also
    --------
    to_libsvm : writes a text file that keeps every digit.
    save_model : keeps everything, for adatron itself.

    Examples
    --------
    >>> import os, tempfile
    >>> from adatron import SVR, io
    >>> model = SVR().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     io.to_onnx(model, os.path.join(directory, "model.onnx"))
    ...     os.listdir(directory)
    ['model.onnx']
    """
    try:
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError as error:
        raise ImportError("to_onnx needs skl2onnx: pip install 'adatron[export]'") from error
    counterpart = sklearn_equivalent(model)
    types = initial_types or [("X", FloatTensorType([None, model.n_features_in_]))]
    last = counterpart
    while hasattr(last, "steps"):
        last = last.steps[-1][1]
    if not len(last.support_):
        raise ValueError("a model without support vectors has one constant output; ONNX needs some of them")
    options = {id(last): {"zipmap": False, "raw_scores": True}} if hasattr(last, "classes_") else None
    converted = convert_sklearn(counterpart, initial_types=types, options=options)
    atomic_write(path, [converted.SerializeToString()])
