"""How the tests of the readers read: text in memory under a file's name."""

import io
import re

import pytest

from adatron.io import read_table

__all__ = ["PLACE", "fault", "outcome", "read"]

PLACE = re.compile(r"(?:t\.csv|t\.svm):(\d+):(\d+): ")


def read(text, name="t.csv", **options):
    """Read text or bytes as if they were the file `name`."""
    stream = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    stream.name = name
    return read_table(stream, **options)


def fault(text, name="t.csv", **options):
    """The message of the ValueError that reading must end in."""
    with pytest.raises(ValueError) as caught:
        read(text, name, **options)
    return str(caught.value)


def outcome(text, name="t.csv", **options):
    """The table, or the message."""
    try:
        return read(text, name, **options)
    except ValueError as error:
        return str(error)
