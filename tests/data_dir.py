"""Where tests find data that is not in the repository: the directory that ADATRON_DATA names."""

import os
from pathlib import Path

import pytest

__all__ = ["data_dir", "needs_data"]

_REASON = "set the environment variable ADATRON_DATA to the directory of reference data to run this test"


def data_dir() -> Path:
    """Return the directory of reference data, or skip the running test when there is none."""
    directory = os.environ.get("ADATRON_DATA")
    if not directory or not Path(directory).is_dir():
        pytest.skip(_REASON)
    return Path(directory)


needs_data = pytest.mark.skipif(not os.environ.get("ADATRON_DATA"), reason=_REASON)
