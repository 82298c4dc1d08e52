"""What is too much for a reader."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HARMLESS_BYTES", "Limits", "check_size"]

HARMLESS_BYTES = 256 * 2**20  # any machine can take this much
_SHARE_OF_MEMORY = 4


@dataclass(frozen=True)
class Limits:
    """How much a reader takes in before it refuses.

    Parameters
    ----------
    max_bytes : int or None, default=None
        Size of the text, or of a Parquet file's values; None is a quarter of the memory that is free.
    max_line_bytes : int, default=67_108_864
        Length of a line: 64 MiB.
    max_columns : int, default=100_000
        Columns of a CSV or Parquet file. The columns of svmlight files are not limited: they are sparse.
    max_expansion : float, default=200
        How many times its compressed size a file may have; the first 256 MiB are free.

    See Also
    --------
    read_table : takes them as ``limits``.

    Examples
    --------
    >>> from adatron.io import Limits
    >>> Limits(max_columns=10**6).max_columns
    1000000
    """

    max_bytes: int | None = None
    max_line_bytes: int = 64 * 2**20
    max_columns: int = 100_000
    max_expansion: float = 200.0

    def __post_init__(self) -> None:
        for name in ("max_bytes", "max_line_bytes", "max_columns", "max_expansion"):
            value = getattr(self, name)
            if not (value is None and name == "max_bytes") and not value >= 1:
                raise ValueError(f"{name} must be a number >= 1, got {value!r}")


def check_size(source: str, size: int, limits: Limits) -> None:
    """Raise when `size` bytes are more than ``max_bytes``, or than the free memory allows.

    Examples
    --------
    >>> from adatron.io.readers.limits import Limits, check_size
    >>> check_size("f.csv", 2000, Limits(max_bytes=1000))
    Traceback (most recent call last):
    ValueError: f.csv: too large, found 2000 bytes or more, expected at most 1000; Limits(max_bytes=…) allows
    more
    """
    if limits.max_bytes is None and size <= HARMLESS_BYTES:
        return
    allowed = limits.max_bytes or _share_of_memory()
    if size > allowed:
        raise ValueError(
            f"{source}: too large, found {size} bytes or more, expected at most {allowed}; "
            "Limits(max_bytes=…) allows more"
        )


def _share_of_memory() -> int:
    from adatron.numerics.memory import available_memory  # late: its package is slow to import

    return max(HARMLESS_BYTES, available_memory() // _SHARE_OF_MEMORY)
