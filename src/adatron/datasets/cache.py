"""Sets of arrays as ``.npz`` files: written in one step, read without pickle."""

import tempfile
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, issparse

from adatron.datasets.readers import Arrays

__all__ = ["load_arrays", "save_arrays"]

_CSR_FIELDS = ("data", "indices", "indptr", "shape")


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write a file that is either complete or not there; a matrix in CSR form becomes four arrays."""
    flat: Arrays = {}
    for key, value in arrays.items():
        if issparse(value):
            flat |= {f"{key}.{field}": getattr(value, field) for field in _CSR_FIELDS}
        else:
            flat[key] = value
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        complete = Path(scratch) / path.name
        np.savez_compressed(complete, **flat)
        complete.replace(path)


def load_arrays(path: Path) -> Arrays:
    """Read what :func:`save_arrays` wrote."""
    with np.load(path, allow_pickle=False) as file:
        flat = dict(file)
    keys = {key.split(".")[0]: None for key in flat}  # in the order of the file
    return {key: flat[key] if key in flat else _join_csr(flat, key) for key in keys}


def _join_csr(flat: Arrays, key: str) -> csr_matrix:
    data, indices, indptr, shape = (flat[f"{key}.{field}"] for field in _CSR_FIELDS)
    return csr_matrix((data, indices, indptr), shape=tuple(map(int, shape)))
