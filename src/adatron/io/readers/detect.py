"""Which format a file has: by the ending of its name, else by what is in it."""

from __future__ import annotations

from pathlib import PurePath

from adatron.io.readers.svmlight import looks_like_svmlight

__all__ = ["FORMATS", "detect_format", "format_by_name"]

FORMATS = ("csv", "tsv", "svmlight", "parquet")
_COMPRESSED = {".gz", ".xz", ".bz2"}
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".parquet": "parquet",
}


def format_by_name(name: str) -> str | None:
    """The format that the ending of a name says, or None; ``.gz``, ``.xz`` and ``.bz2`` do not count.

    Examples
    --------
    >>> from adatron.io.readers.detect import format_by_name
    >>> format_by_name("train.CSV.gz"), format_by_name("a9a.xz")
    ('csv', None)
    """
    endings = [ending.lower() for ending in PurePath(name).suffixes]
    while endings and endings[-1] in _COMPRESSED:
        endings.pop()
    return _ENDINGS.get(endings[-1]) if endings else None


def detect_format(name: str, text: bytes) -> str:
    """``"csv"`` or ``"svmlight"``.

    Examples
    --------
    >>> from adatron.io.readers.detect import detect_format
    >>> detect_format("a9a.t", b"-1 3:1 11:1\\n"), detect_format("abalone.data", b"M,0.455,15\\n")
    ('svmlight', 'csv')
    """
    return format_by_name(name) or ("svmlight" if looks_like_svmlight(text) else "csv")
