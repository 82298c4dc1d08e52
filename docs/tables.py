"""Tables of the site that are made from measurements: ``docs/measured/*.json``, written by the benchmarks."""

import json
from pathlib import Path

MEASURED = Path(__file__).resolve().parent / "measured"

__all__ = ["write"]


def write(directory):
    """Write every table to `directory`, as Markdown."""
    directory.mkdir(exist_ok=True)
    for name, make in {"tuned": tuned_table, "fits": fits_table, "scale": scale_table}.items():
        source = MEASURED / f"{name}.json"
        record = json.loads(source.read_text()) if source.exists() else None
        text = "*Not measured yet.*" if record is None else make(record["results"]) + _about(record)
        (directory / f"{name}.md").write_text(text + "\n")


def _about(record):
    return f"\n\n`{record['command']}` — {record['machine']}, {record['date']}"


def _table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def tuned_table(results):
    """Mean test error and seconds of every tuner on every set."""
    tuners = list(dict.fromkeys(tuner for own in results.values() for tuner in own))
    rows = [[name, *(_tuned_cell(own.get(tuner)) for tuner in tuners)] for name, own in results.items()]
    return _table(["test error %, seconds", *tuners], rows)


def _tuned_cell(parts):
    done = [part for part in (parts or {}).values() if part is not None]
    if not done:
        return "–"
    error = 100 * sum(part["error"] for part in done) / len(done)
    seconds = sum(part["seconds"] for part in done) / len(done)
    return f"{error:.1f}, {seconds:,.0f} s" if seconds >= 100 else f"{error:.1f}, {seconds:.2g} s"


def scale_table(results):
    """Rows, seconds, memory and error of every method, a line for each fit."""
    rows = [
        [data, method, f"{int(m):,}", *_scale_cells(found)]
        for data, methods in results.items()
        for method, sizes in methods.items()
        for m, found in sizes.items()
    ]
    return _table(["data", "method", "rows", "seconds", "GB", "test error %"], rows)


def _scale_cells(found):
    if found is None:
        return ["given up", "–", "–"]
    return [f"{found['seconds']:.3g}", f"{found['gigabytes']:.1f}", f"{found['error']:.2f}"]


def fits_table(results):
    """Median seconds of a fit, and how many times longer each peer takes."""
    peers = list(dict.fromkeys(peer for own in results.values() for peer in own))
    rows = [
        [name, *(_fit_cell(own.get(peer), own["adatron"], peer == "adatron") for peer in peers)]
        for name, own in results.items()
    ]
    return _table(["seconds (× adatron)", *peers], rows)


def _fit_cell(measured, ours, is_ours):
    seconds = (measured or {}).get("seconds")
    if seconds is None:
        return "–"
    return f"{seconds:.3g}" if is_ours else f"{seconds:.3g} ({seconds / ours['seconds']:.1f} ×)"
