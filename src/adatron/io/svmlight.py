"""svmlight / LIBSVM files, read by scikit-learn.

scikit-learn accepts too much (``nan``, ``1_000``, ``qid``) and does not say where an error is, so one pattern
checks every line first, and a line that does not match is examined token by token.
"""

import re
from io import BytesIO
from itertools import islice
from typing import Any

import numpy as np

from adatron.io.printing import quoted

_NUMBER = r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_LINE = re.compile(
    rf"[ \t]*+(?:({_NUMBER})(?:[ \t]++[0-9]++:{_NUMBER})*+[ \t]*+)?(?:#.*)?\r?\n?".encode(), re.DOTALL
)
_START = re.compile(rf"[ \t]*{_NUMBER}[ \t]+(?:qid|[+-]?[0-9]+):\S*(?:[ \t\r\n#]|\Z)".encode())
_LARGEST_INDEX = 2**31 - 1


def looks_like_svmlight(text: bytes) -> bool:
    """Whether one of the first lines is a number and then ``index:``."""
    return any(_START.match(line) for line in islice(BytesIO(text), 1000))


def read_svmlight(text: bytes, name: str, zero_based: bool = False) -> tuple[Any, np.ndarray]:
    """A sparse matrix, and the labels as they are written."""
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    text = text.replace(b"\r", b"\n") if b"\r" in text and b"\n" not in text else text
    labels = []
    for number, line in enumerate(BytesIO(text), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            _refuse_line(line.decode(), name, number, zero_based)
        elif match[1] is not None:
            labels.append(match[1].decode())
    if not labels:
        raise ValueError(f"{name}:1:1: no rows, expected label index:value …")
    try:
        X, y = load_svmlight_file(BytesIO(text), zero_based=zero_based)
    except (ValueError, OverflowError):
        X, y = csr_array((1, 1)), np.array([np.nan])
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):  # what the pattern cannot see: sizes, order
        for number, line in enumerate(BytesIO(text), start=1):
            _refuse_line(line.decode(), name, number, zero_based)
    # 32-bit indices: scikit-learn's own estimators take no others
    small = X.indices.astype(np.int32), X.indptr.astype(np.int32 if X.nnz <= _LARGEST_INDEX else np.int64)
    return csr_array((X.data, *small), shape=X.shape), np.array(labels)


def _refuse_line(line: str, name: str, number: int, zero_based: bool) -> None:
    """Raise at the first token that is wrong, if there is one."""
    first = 0 if zero_based else 1
    previous = first - 1
    for i, match in enumerate(re.finditer("[^ \t]+", line.rstrip("\r\n").partition("#")[0])):
        index, colon, value = match.group().rpartition(":")
        is_index = index.isascii() and index.isdigit() and len(index.lstrip("0")) <= 10
        in_order = i == 0 or (is_index and previous < int(index) <= _LARGEST_INDEX)
        is_finite = re.fullmatch(_NUMBER, value) and abs(float(value)) < np.inf
        if bool(colon) != bool(i) or not in_order or not is_finite:
            place, found = f"{name}:{number}:{match.start() + 1}", quoted(match.group())
            indices = f"index:value with ascending indices from {first} to {_LARGEST_INDEX} and"
            expected = indices if i else "as label"
            hint = "; --zero-based reads indices from 0" if index == "0" else ""
            raise ValueError(f"{place}: found {found}, expected {expected} a finite number{hint}")
        previous = int(index) if i else first - 1
