"""Paths of files in the directory that ADATRON_DATA names, and descriptions in the package."""

import os
from importlib.resources import files
from pathlib import Path

__all__ = ["describe", "find_original"]


def find_original(relative_path: str) -> Path | None:
    """Return the path of a file in the directory that ADATRON_DATA names, or None if it is not there."""
    directory = os.environ.get("ADATRON_DATA")
    path = Path(directory) / relative_path if directory else None
    return path if path is not None and path.is_file() else None


def describe(file: str, heading: str) -> str:
    """Return the section of ``data/file`` whose heading is ``heading``."""
    text = (files("adatron.datasets") / "data" / file).read_text(encoding="utf-8")
    sections = text.split("\n## ")[1:]
    return next(section for section in sections if section.splitlines()[0] == heading)
