"""Models as ONNX files, through estimators of scikit-learn that predict the same, and skl2onnx."""

import os
from typing import Any

from sklearn import svm
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from adatron.auto import AutoSVC, AutoSVR
from adatron.estimators import SVC, SVR, OneClassSVM
from adatron.estimators.base import KernelMachine
from adatron.estimators.classifier import ExpansionClassifier
from adatron.estimators.expansion import fitted_like, libsvm_form
from adatron.files.atomic import atomic_write
from adatron.files.libsvm import refuse_tables


def to_onnx(model: Any, path: str | os.PathLike[str], *, initial_types: Any = None) -> None:
    """Write a fitted model as an ONNX file; needs skl2onnx.

    Coefficients are float32 (float64 for `AutoSVC` and `AutoSVR`), so decisions agree to some 1e-7 of the sum
    of their sizes. A classifier has the outputs ``label`` and ``probabilities``: those of ``predict_proba``
    for `AutoSVC`, else decision values, one for each class: -f and f of two classes. A regression has
    ``variable``, novelty detection ``label`` and ``scores``.

    Parameters
    ----------
    model : estimator
        `SVC` and `NuSVC` (two classes, or trained in pairs), `SVR`, `NuSVR`, `OneClassSVM`; `EnsembleSVC`,
        `KernelPerceptron` and `ParzenClassifier` with two classes; `AutoSVC` and `AutoSVR`; or a pipeline
        that ends in one of them.
        Models of tables have an input of shape (n, 1) for each column: float64 for numbers, NaN where one is
        missing, text for categories. Columns of dates and of text of several words are a ValueError.
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
        from onnx import compose
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError as error:
        raise ImportError("to_onnx needs skl2onnx: pip install skl2onnx") from error
    from adatron.files.onnx_graph import auto_graph

    check_is_fitted(model)
    types = initial_types or [("X", FloatTensorType([None, model.n_features_in_]))]
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if isinstance(last, AutoSVC | AutoSVR):
        converted = auto_graph(last)
        if last is not model:
            if last.encoder_ is not None:
                raise ValueError("a pipeline whose last step encodes a table cannot be written as ONNX")
            before = convert_sklearn(_sklearn_equivalent(model[:-1]), initial_types=types)
            converted.opset_import[0].version = next(o.version for o in before.opset_import if not o.domain)
            before.ir_version = converted.ir_version
            first = compose.add_prefix(before, "before_", rename_inputs=False, rename_outputs=True)
            converted = compose.merge_models(first, converted, io_map=[(first.graph.output[0].name, "X")])
    else:
        counterpart = last = _sklearn_equivalent(model)
        while hasattr(last, "steps"):
            last = last.steps[-1][1]
        if not len(last.support_):
            raise ValueError("a model without support vectors has one constant output; ONNX needs some")
        options = {id(last): {"zipmap": False, "raw_scores": True}} if hasattr(last, "classes_") else None
        converted = convert_sklearn(counterpart, initial_types=types, options=options)
    atomic_write(path, [converted.SerializeToString()])


def _sklearn_equivalent(model: Any) -> Any:
    """A fitted estimator of scikit-learn that predicts what `model` does; its own estimators stay."""
    if isinstance(model, Pipeline):
        return Pipeline([(name, _sklearn_equivalent(step)) for name, step in model.steps])
    if isinstance(model, KernelMachine):
        refuse_tables(model, "ONNX")
    if isinstance(model, SVC | SVR | OneClassSVM):
        return model.to_sklearn()
    if isinstance(model, ExpansionClassifier):
        return fitted_like(svm.SVC, model, libsvm_form(model))
    if type(model).__module__.split(".")[0] == "adatron":
        raise ValueError(f"scikit-learn has no counterpart of {type(model).__name__}")
    return model
