"""Writes docs/transcript.md: what a first session with the command line looks like.

``python tools/transcript.py`` runs every command in an empty directory and puts down what it prints, so
that the documentation shows what the program does. Times are those of the machine it ran on.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "transcript.md"

# what is typed, and how many lines are shown
COMMANDS = [
    ("adatron fit ionosphere", None),
    ("adatron predict model.skops ionosphere --proba | head -n 4", 4),
    ("adatron inspect model.skops | head -n 12", 12),
    ("adatron compare ionosphere --rows 300 --folds 3", None),
]


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        parts = [output_of(typed, n_lines, directory) for typed, n_lines in COMMANDS]
    text = "\n\n".join(parts)
    PAGE.write_text(
        f"Written by `python tools/transcript.py`.\n\n```console\n{text}\n```\n",
        encoding="utf-8",
    )
    print(f"{PAGE.name}: {len(COMMANDS)} commands")


def output_of(typed: str, n_lines: int | None, directory: str) -> str:
    """The command as it is typed, and the lines that it prints."""
    arguments = typed.partition(" | ")[0].split()[1:]
    environment = {name: value for name, value in os.environ.items() if name != "ADATRON_DATA"}
    path = [str(ROOT / "src"), *filter(None, [environment.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "adatron", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=directory,
        env=environment | {"PYTHONPATH": os.pathsep.join(path), "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
        check=True,
    )
    return "\n".join([f"$ {typed}", *done.stdout.splitlines()[:n_lines]])


if __name__ == "__main__":
    main()
