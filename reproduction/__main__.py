"""The command behind ``python3 tools/run.py reproduce``.

Exit codes: 0 also when numbers differ; 1 when an experiment ended in an error; 2 for wrong usage; 130 after
Ctrl-C and 143 after SIGTERM, with the experiments that were finished written.
"""

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adatron import __version__
from reproduction.experiment import PAPERS, Entry, Result, entries, run_entries
from reproduction.pages import PAGE, Settings, summary_rows, write_reproduction


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python3 tools/run.py reproduce",
        description="Run the experiments of the five papers and write one page: published, ours, difference.",
        epilog="Data that does not come with the package is looked for in the directory that ADATRON_DATA "
        "names; what is missing is said, the rest runs. DIR gets reproduction.html, .md and .json; what an "
        "earlier run has left there for other experiments is kept.",
    )
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=f"of {', '.join(PAPERS)}; default: all")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="experiment; repeatable")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: minutes instead of an hour")
    parser.add_argument("--seed", type=int, default=0, help="of all random draws")
    parser.add_argument("--out", type=Path, default=Path("adatron-reproduction"), metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print the results as JSON instead of a summary")
    options = parser.parse_args(arguments)
    if options.seed < 0:
        parser.error(f"--seed must not be negative, it is {options.seed}")
    try:
        chosen = entries(options.papers, options.only)
        options.out.mkdir(parents=True, exist_ok=True)  # before an hour of work, not after
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        print(f"reproduce: error: {options.out}: {error.strerror}", file=sys.stderr)
        return 1
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # terminals without Greek letters
    results, code = _run_all(chosen, quick=options.quick, seed=options.seed)
    plain = write_reproduction(results, options.out, Settings(__version__, options.quick, options.seed))
    if options.json:
        print(json.dumps(plain))
    else:
        header, rows = summary_rows(plain)
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        for row in (header, *rows):
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        print(f"page: {options.out / PAGE}")
    if code:
        print("reproduce: interrupted", file=sys.stderr)
    return code or int(any(result.failure for result in results))


def _run_all(chosen: Sequence[Entry], *, quick: bool, seed: int) -> tuple[list[Result], int]:
    """Results, and the exit code of a signal that ended them early, or 0."""
    results: list[Result] = []
    is_terminal = sys.stderr.isatty()
    received = signal.SIGINT

    def show(entry: Entry, share: float) -> None:
        if is_terminal:
            place = f"[{len(results) + 1}/{len(chosen)}] {entry.name:<36} {share:4.0%}"
            print(f"\r{place}", end="", file=sys.stderr, flush=True)

    def terminate(number: int, frame: Any) -> None:
        nonlocal received
        received = signal.Signals(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        for result in run_entries(chosen, quick=quick, seed=seed, report=show):
            results.append(result)
            end = result.failure or (result.missing and f"cannot be run: {result.missing}") or "done"
            line = f"[{len(results)}/{len(chosen)}] {result.entry.name}: {end} ({result.seconds:.1f} s)"
            print(("\r" if is_terminal else "") + f"{line:<50}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        return results, 128 + received
    finally:
        signal.signal(signal.SIGTERM, before)
    return results, 0


if __name__ == "__main__":
    sys.exit(main())
