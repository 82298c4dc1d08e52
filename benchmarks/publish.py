"""Keeps a benchmark's JSON for the site, with the machine, the day and the command that made it.

    python benchmarks/publish.py FILE NAME "COMMAND"

writes ``docs/measured/NAME.json``, from which ``docs/tables.py`` makes the tables of the site.
"""

import json
import os
import platform
import sys
from datetime import date
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "docs" / "measured"


def processor():
    """The model of the processor, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine()
    )


def main():
    source, name, command = sys.argv[1:]
    record = {
        "command": command,
        "machine": f"{os.cpu_count()} cores, {processor()}",
        "date": date.today().isoformat(),
        "results": json.loads(Path(source).read_text()),
    }
    TARGET.mkdir(exist_ok=True)
    (TARGET / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
