"""Warnings as lines: told when they come, and kept for the result."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adatron.cli.terminal import say

__all__ = ["told_warnings"]

_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)


@contextmanager
def told_warnings() -> Iterator[list[str]]:
    """Say every warning once, and give the list of them, which grows as they come."""
    texts: list[str] = []

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if text not in texts:
            texts.append(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for category in _FOR_DEVELOPERS:
            warnings.simplefilter("ignore", category)
        warnings.showwarning = tell  # restored by catch_warnings
        yield texts
