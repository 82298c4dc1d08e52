"""Models as the text files of LIBSVM, which ``svm-predict`` and its bindings read."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from adatron.estimators import SVC, SVR, OneClassSVM
from adatron.estimators.expansion import LibsvmForm, libsvm_form
from adatron.files.atomic import atomic_write
from adatron.kernels import KERNELS, Kernel

_TYPES = {SVC: "c_svc", SVR: "epsilon_svr", OneClassSVM: "one_class"}
_KERNELS = {"linear": "linear", "poly": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid"}
_LARGEST_LABEL = 2**31 - 1
_ROWS = 1_000  # written at a time


def to_libsvm(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted machine as a model file of LIBSVM.

    LIBSVM's decision values are those of the model; with two classes they are positive for the second one.
    Classes that are integers keep their numbers; others become 0, 1, … in the order of ``classes_``, as
    LIBSVM has no other labels. Probabilities are not taken along.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR or OneClassSVM
        With a linear, polynomial, Gaussian or sigmoid kernel; more than two classes trained in pairs.
    path : str or path
        Written whole or not at all.

    See Also
    --------
    to_onnx : writes pipelines, too.
    save_model : keeps everything, for adatron itself.

    Examples
    --------
    >>> import os, tempfile
    >>> from adatron import SVC, io
    >>> model = SVC(gamma=0.5).fit([[-1.0], [1.0]], [3, 4])
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     io.to_libsvm(model, os.path.join(directory, "model.txt"))
    ...     print(open(os.path.join(directory, "model.txt")).read())
    svm_type c_svc
    kernel_type rbf
    gamma 0.5
    nr_class 2
    total_sv 2
    rho 0
    label 4 3
    nr_sv 1 1
    SV
    1 1:1
    -1 1:-1
    <BLANKLINE>
    """
    kind = next((name for machine, name in _TYPES.items() if isinstance(model, machine)), None)
    if kind is None:
        raise ValueError(
            f"LIBSVM has no {type(model).__name__}; SVC, NuSVC, SVR, NuSVR and OneClassSVM can be written"
        )
    refuse_tables(model, "LIBSVM")
    form = libsvm_form(model)
    if form.kernel["kernel"] not in _KERNELS:
        raise ValueError("a precomputed kernel cannot be written for LIBSVM; use a kernel of the features")
    atomic_write(path, _text(kind, form, getattr(model, "classes_", None)))


def refuse_tables(model: Any, what: str) -> None:
    """Raise a ValueError if a fitted machine encodes tables: its vectors are not the rows that users have."""
    if vars(model).get("encoder_") is not None:
        raise ValueError(
            f"this {type(model).__name__} was fitted on a table, which it encodes, and its file for {what} "
            "could not; train it on what a TableEncoder gives, or save it with adatron.io.save_model"
        )


def _text(kind: str, form: LibsvmForm, classes: np.ndarray | None) -> Iterator[bytes]:
    order = np.arange(len(form.support))
    labels, n_support = None if classes is None else classes.tolist(), form.n_support.tolist()
    if labels is not None:
        are_whole = all(isinstance(name, int | float) and name == int(name) for name in labels)
        has_numbers = are_whole and max(map(abs, labels)) <= _LARGEST_LABEL
        labels = [int(name) if has_numbers else code for code, name in enumerate(labels)]
    if labels is not None and len(labels) == 2:  # LIBSVM's decisions are positive for its first label
        order = np.roll(order, -n_support[0])
        labels, n_support = labels[::-1], n_support[::-1]
    parameters = [name for name in ("degree", "gamma", "coef0") if name in form.kernel]
    lines = [
        f"svm_type {kind}",
        f"kernel_type {_KERNELS[form.kernel['kernel']]}",
        *(f"{name} {form.kernel[name]:.17g}" for name in parameters),
        f"nr_class {2 if labels is None else len(labels)}",
        f"total_sv {len(order)}",
        f"rho {_numbers(0.0 - form.intercept)}",
    ]
    if labels is not None:
        lines += [f"label {' '.join(map(str, labels))}", f"nr_sv {' '.join(map(str, n_support))}"]
    yield ("\n".join([*lines, "SV"]) + "\n").encode()
    vectors, coefficients = sparse.csr_array(form.vectors)[order], form.dual_coef[:, order]
    for start in range(0, len(order), _ROWS):
        rows = range(start, min(start + _ROWS, len(order)))
        yield "".join(f"{_numbers(coefficients[:, i])} {_features(vectors, i)}\n" for i in rows).encode()


def _numbers(values: np.ndarray) -> str:
    return " ".join(f"{value:.17g}" for value in values.tolist())


def _features(vectors: Any, i: int) -> str:
    part = slice(vectors.indptr[i], vectors.indptr[i + 1])
    pairs = zip(vectors.indices[part].tolist(), vectors.data[part].tolist(), strict=True)
    return " ".join(f"{index + 1}:{value:.17g}" for index, value in pairs)


@dataclass(frozen=True)
class LibsvmFile:
    """What a model file of LIBSVM says; it has neither C nor ε."""

    kind: str  # "SVC", "SVR" or "OneClassSVM"
    kernel: Kernel
    vectors: Any  # CSR
    dual_coef: np.ndarray  # (n_classes − 1, n), or (1, n)
    intercept: np.ndarray  # decisions are positive for the first label of a pair
    labels: list[int]
    n_support: list[int]

    def __post_init__(self) -> None:
        n, k = self.vectors.shape[0], len(set(self.labels))
        if self.kind == "SVC" and not k == len(self.labels) == len(self.n_support) == len(self.dual_coef) + 1:
            raise ValueError("nr_class, label and nr_sv do not agree")
        if self.kind == "SVC" and (min(self.n_support) < 0 or sum(self.n_support) != n):
            raise ValueError(f"nr_sv does not add up to its {n} vectors")
        n_problems = k * (k - 1) // 2 if self.kind == "SVC" else 1
        if len(self.intercept) != n_problems or (n == 0 and self.kind != "SVR"):
            raise ValueError(f"it has {n} vectors and {len(self.intercept)} values of rho, not {n_problems}")
        if not all(np.isfinite(part).all() for part in (self.vectors.data, self.dual_coef, self.intercept)):
            raise ValueError("it holds NaN or infinity")


def read_libsvm(path: str | os.PathLike[str]) -> LibsvmFile:
    """Read a model file of LIBSVM; a ValueError says what is wrong with it."""
    lines = iter(Path(path).read_text(encoding="ascii", errors="replace").splitlines())
    header: dict[str, list[str]] = {}
    for line in lines:
        name, *values = line.split() or [""]
        if name == "SV":
            break
        header[name] = values
    kinds = {name: kind.__name__ for kind, name in _TYPES.items()}
    kernels = {theirs: KERNELS[ours] for ours, theirs in _KERNELS.items()}
    kind, kernel = (" ".join(header.get(name, ["missing"])) for name in ("svm_type", "kernel_type"))
    if kind not in kinds or kernel not in kernels:
        raise ValueError(
            f"{os.fspath(path)} is not a LIBSVM model that can be read: its svm_type is {kind} (not one of "
            f"{', '.join(kinds)}) or its kernel_type {kernel} (not one of {', '.join(kernels)})"
        )
    try:
        parameters = {
            name: (int if name == "degree" else float)(header[name][0])
            for name in ("gamma", "coef0", "degree")
            if name in header
        }
        width = max(1, int(header["nr_class"][0]) - 1)
        rows = [line.split() for line in lines if line.strip()]
        coefficients = np.array([row[:width] for row in rows], dtype=float)
        features = "".join(f"0 {' '.join(row[width:])}\n" for row in rows)
        return LibsvmFile(
            kinds[kind], kernels[kernel](**parameters),
            sparse.csr_array(load_svmlight_file(BytesIO(features.encode()), zero_based=False)[0]),
            coefficients.reshape(len(rows), width).T, -np.array(header["rho"], dtype=float),
            [int(label) for label in header.get("label", [])], [int(n) for n in header.get("nr_sv", [])],
        )  # fmt: skip
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)} is a damaged LIBSVM model file: {error}") from error
