"""Cholesky factors, and solutions by them, without holding the interpreter: threads can have one each.

SciPy's own wrappers of LAPACK keep the interpreter locked, NumPy's copy twice. The functions behind them are
public for compiled code (`scipy.linalg.cython_lapack`); called through ctypes they leave the interpreter
free.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_void_p
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address

_INT, _MATRIX = POINTER(c_int), (c_void_p, POINTER(c_int))  # a matrix and its leading dimension


def _functions(name: str, signature: Any) -> dict[np.dtype, Any]:
    """Of LAPACK, for both precisions."""
    found: dict[Any, str] = {np.dtype(np.float64): f"d{name}", np.dtype(np.float32): f"s{name}"}
    address = "scipy.linalg.cython_lapack"
    return {kind: signature(get_cython_function_address(address, own)) for kind, own in found.items()}


_FACTORISE = _functions("potrf", CFUNCTYPE(None, c_char_p, _INT, *_MATRIX, _INT))
_SOLVE = _functions("potrs", CFUNCTYPE(None, c_char_p, _INT, _INT, *_MATRIX, *_MATRIX, _INT))


def cholesky_in_place(A: np.ndarray) -> None:
    """Write L with ``L Lᵀ = A`` into the lower triangle of a symmetric matrix in C order.

    What is above the diagonal stays. Raises `LinAlgError` where the matrix is not positive definite.

    >>> import numpy as np
    >>> from adatron.numerics.lapack import cholesky_in_place
    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> cholesky_in_place(A)
    >>> np.tril(A)
    array([[2., 0.],
           [1., 2.]])
    """
    if not A.flags.c_contiguous or A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix in C order, got shape {A.shape}")
    n, failed = c_int(len(A)), c_int(0)
    # in Fortran's order the lower triangle is the upper one
    _FACTORISE[A.dtype](b"U", byref(n), A.ctypes.data, byref(n), byref(failed))
    if failed.value:
        raise np.linalg.LinAlgError("the matrix is not positive definite")


def cholesky_solved(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The solution of ``L Lᵀ X = B`` by a factor that `cholesky_in_place` has written.

    >>> import numpy as np
    >>> from adatron.numerics.lapack import cholesky_in_place, cholesky_solved
    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> cholesky_in_place(A)
    >>> cholesky_solved(A, np.array([[8.0], [12.0]]))
    array([[1.],
           [2.]])
    """
    if not L.flags.c_contiguous or B.shape[:1] != L.shape[:1] or B.ndim != 2:
        raise ValueError(f"B must have a row for each of the factor's {L.shape}, got shape {B.shape}")
    X = np.array(B.T, dtype=L.dtype, order="C")  # its own copy, in Fortran's order of columns
    n, n_columns, failed = c_int(len(L)), c_int(len(X)), c_int(0)
    factor, values = (array.ctypes.data for array in (L, X))
    _SOLVE[L.dtype](b"U", byref(n), byref(n_columns), factor, byref(n), values, byref(n), byref(failed))
    return X.T
