"""Cholesky factors computed without holding the interpreter, so that several threads can have one each.

SciPy's own wrappers of LAPACK keep the interpreter locked, NumPy's copy twice. The functions behind them are
public for compiled code (`scipy.linalg.cython_lapack`); called through ctypes they leave the interpreter
free.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_void_p

import numpy as np
from numba.extending import get_cython_function_address

_SIGNATURE = CFUNCTYPE(None, c_char_p, POINTER(c_int), c_void_p, POINTER(c_int), POINTER(c_int))
_FACTORISE = {
    np.dtype(kind): _SIGNATURE(get_cython_function_address("scipy.linalg.cython_lapack", name))
    for kind, name in ((np.float64, "dpotrf"), (np.float32, "spotrf"))
}


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
