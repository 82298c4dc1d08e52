"""svmlight / LIBSVM files: a label and ``index:value`` pairs on each line.

scikit-learn reads them fast, and takes more than a file should have (``nan``, ``1_000``, ``qid``), so one
pattern checks every line first; the parser that knows line and column runs only when there is something to
explain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from math import isfinite

import numpy as np
from scipy import sparse

from adatron.io.printing import quoted
from adatron.io.readers.cells import NUMBER, explain_non_number
from adatron.io.readers.messages import Place, parse_error
from adatron.io.readers.table import SparseTable

__all__ = ["looks_like_svmlight", "read_svmlight"]

_LARGEST_INDEX = 2**31 - 1
_MOST_LABELS = 1000
_LINE = re.compile(
    rf"[ \t]*+(?:({NUMBER})(?:[ \t]++[0-9]++:{NUMBER})*+[ \t]*+)?(?:#.*)?\r?\n?".encode(), re.DOTALL
)
_FIRST_TOKENS = re.compile(rf"[ \t]*{NUMBER}[ \t]+(?:qid|[+-]?[0-9]+):\S*(?:[ \t\r\n#]|\Z)".encode())
_TOKEN = re.compile(r"[^ \t]+")
_NUMBER = re.compile(NUMBER)
_DIGITS = re.compile("[0-9]+")


def looks_like_svmlight(text: bytes) -> bool:
    """Whether one of the first lines is a number and then ``index:``.

    Examples
    --------
    >>> from adatron.io.readers.svmlight import looks_like_svmlight
    >>> looks_like_svmlight(b"# made today\\n-1\\n+1 3:0.5\\n"), looks_like_svmlight(b"1 2 3\\n")
    (True, False)
    """
    return any(_FIRST_TOKENS.match(line) for line in islice(BytesIO(text), 1000))


def read_svmlight(
    text: bytes, source: str, *, n_features: int | None = None, zero_based: bool = False
) -> SparseTable:
    """Read `text`, which is UTF-8 that was checked.

    Examples
    --------
    >>> from adatron.io.readers.svmlight import read_svmlight
    >>> read_svmlight(b"1 2:0.5\\n2 5:1\\n", "f", n_features=6).X.shape
    (2, 6)
    >>> read_svmlight(b"1 2:0.5 1:3\\n", "f")
    Traceback (most recent call last):
    ValueError: f:1:9: index 1 after 2, found '1:3', expected indices in ascending order
    """
    if n_features is not None and not 1 <= n_features <= _LARGEST_INDEX:
        raise ValueError(f"n_features must be between 1 and {_LARGEST_INDEX}, got {n_features!r}")
    checker = _LineChecker(source, n_features, zero_based)
    labels = _distinct_labels(text, checker)
    if not labels:
        raise parse_error(Place(source, 1, 1), "no rows", found="none", expected="label index:value …")
    X, y = _load(text, checker)
    spelling: dict[float, str] = {}
    for label in labels if len(labels) <= _MOST_LABELS else ():
        spelling.setdefault(float(label), label)
    return SparseTable(X, y, source, spelling)


def _distinct_labels(text: bytes, checker: _LineChecker) -> list[str]:
    """Labels in the order and spelling in which they first come; raises for a line that is none."""
    labels: dict[bytes, None] = {}
    for number, line in enumerate(BytesIO(text), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            checker.check(number, line.decode("utf-8"), start=_start_of_nonsense(line))
            raise parse_error(Place(checker.source, number, 1), "bad line", found="", expected="index:value")
        if match[1] is not None:
            labels[match[1]] = None
    return [label.decode("ascii") for label in labels]


def _start_of_nonsense(line: bytes) -> int:
    """Where the token begins in which a line stops to make sense; a line may have millions of good ones."""
    match = _LINE.match(line)
    end = match.end() if match and match[1] is not None else 0
    return max(line.rfind(b" ", 0, end), line.rfind(b"\t", 0, end)) + 1


def _load(text: bytes, checker: _LineChecker) -> tuple[sparse.csr_array, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(BytesIO(text), zero_based=checker.zero_based)
    except (ValueError, OverflowError) as error:
        checker.check_all(text)
        raise ValueError(f"{checker.source}: {error}") from error
    n_features = checker.n_features or X.shape[1]
    if X.shape[1] > n_features or not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        checker.check_all(text)
    # 32-bit indices: scikit-learn's own estimators take no others
    small = X.indices.astype(np.int32), X.indptr.astype(np.int32 if X.nnz <= _LARGEST_INDEX else np.int64)
    return sparse.csr_array((X.data, *small), shape=(X.shape[0], n_features)), y


class _LineChecker:
    """Says what is wrong with a line, and where."""

    def __init__(self, source: str, n_features: int | None, zero_based: bool) -> None:
        self.source, self.n_features, self.zero_based = source, n_features, zero_based
        self._first = 0 if zero_based else 1
        self._last = _LARGEST_INDEX if n_features is None else n_features - 1 + self._first

    def check_all(self, text: bytes) -> None:
        for number, line in enumerate(BytesIO(text), start=1):
            self.check(number, line.decode("utf-8"))

    def check(self, number: int, line: str, start: int = 0) -> None:
        """Raise at the first token of a line, from `start` on, that is wrong."""
        previous, label_position = -1, len(line) - len(line.lstrip(" \t"))
        for position, token in _tokens(line, start):
            place = Place(self.source, number, position + 1)
            if position == label_position:
                self._check_number(place, "label", token, token)
            else:
                previous = self._check_pair(place, token, previous)

    def _check_pair(self, place: Place, token: str, previous: int) -> int:
        index, colon, value = token.partition(":")
        if not colon:
            raise parse_error(place, "no colon", found=quoted(token), expected="index:value")
        if index == "qid":
            raise parse_error(
                place, "query of a ranking problem", found=quoted(token), expected="none: remove the qid"
            )
        number = self._check_index(place, index, token)
        if number <= previous:
            what = f"index {number} twice" if number == previous else f"index {number} after {previous}"
            raise parse_error(place, what, found=quoted(token), expected="indices in ascending order")
        after = Place(place.source, place.line, place.column + len(index) + 1)
        self._check_number(after, "value", value, token)
        return number

    def _check_index(self, place: Place, index: str, token: str) -> int:
        is_digits = _DIGITS.fullmatch(index) is not None
        digits = index.lstrip("0") or "0"
        if is_digits and len(digits) <= 10 and self._first <= int(digits) <= self._last:
            return int(digits)
        expected = f"a whole number from {self._first} to {self._last}"
        if is_digits and digits == "0":
            expected += "; zero_based=True reads files whose indices begin with 0"
        raise parse_error(place, "bad index", found=quoted(token), expected=expected)

    def _check_number(self, place: Place, what: str, text: str, token: str) -> None:
        if not _NUMBER.fullmatch(text) or not isfinite(float(text)):
            is_nan = text.lower().lstrip("+-") == "nan"
            expected = "a finite number" if is_nan else explain_non_number(text)
            raise parse_error(place, f"bad {what}", found=quoted(token), expected=expected)


def _tokens(line: str, start: int) -> Iterator[tuple[int, str]]:
    """Position and text of what stands between blanks, up to a comment."""
    body = line.removesuffix("\n").removesuffix("\r").partition("#")[0]
    return ((match.start(), match.group()) for match in _TOKEN.finditer(body, start))
