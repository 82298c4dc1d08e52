"""Tables and picture of the comparison of tuned models."""

from __future__ import annotations

from pathlib import Path

import numpy as np

__all__ = ["draw", "show"]

OURS = "AutoSVC"


def summary(records: dict) -> dict:
    """For each set and tuner: mean error in %, its standard error, seconds and CPU seconds; None if ended."""
    table: dict = {}
    for name, tuners in records.items():
        for tuner, parts in tuners.items():
            done = [record for record in parts.values() if record is not None]
            if not done:
                table.setdefault(name, {})[tuner] = None
                continue
            errors = 100.0 * np.array([record["error"] for record in done])
            spread = errors.std(ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else np.nan
            times = (float(np.mean([record[kind] for record in done])) for kind in ("seconds", "cpu_seconds"))
            table.setdefault(name, {})[tuner] = (float(errors.mean()), float(spread), *times)
    return table


def show(records: dict) -> None:
    """Print the table of sets and the comparison of each tuner with ours."""
    table = summary(records)
    tuners = list(dict.fromkeys(tuner for row in table.values() for tuner in row))
    print(f"\n{'test error %, seconds':<16}" + "".join(f"{tuner:>27}" for tuner in tuners))
    for name, row in table.items():
        print(f"{name:<16}" + "".join(f"{_cell(row.get(tuner)):>27}" for tuner in tuners))
    for tuner in tuners:
        if tuner != OURS:
            _compare(table, tuner)


def _cell(entry) -> str:
    if entry is None:
        return "-"
    error, spread, seconds, _ = entry
    around = "" if np.isnan(spread) else f" ± {spread:.1f}"
    return f"{error:.2f}{around}, {seconds:.3g} s"


def _compare(table: dict, tuner: str) -> None:
    """Ranks and differences over the sets where both have a result."""
    both = [(row[OURS], row[tuner]) for row in table.values() if row.get(OURS) and row.get(tuner)]
    if not both:
        return
    ours, theirs = (np.array([pair[k] for pair in both]) for k in (0, 1))
    difference = ours[:, 0] - theirs[:, 0]
    rank = 1.5 + 0.5 * np.sign(np.round(difference, 6))
    ratio, cpu_ratio = (theirs[:, k] / ours[:, k] for k in (2, 3))
    print(
        f"\n{OURS} against {tuner}, {len(both)} sets: mean rank {rank.mean():.2f} against "
        f"{3.0 - rank.mean():.2f}, mean error difference {difference.mean():+.2f} points, "
        f"{np.exp(np.log(ratio).mean()):.1f} x faster (geometric mean; least {ratio.min():.2f} x), "
        f"{np.exp(np.log(cpu_ratio).mean()):.1f} x less CPU time"
    )


def draw(records: dict, path: Path) -> None:
    """Error against time, both relative to ours, one point for each set and tuner."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    table = summary(records)
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    tuners = dict.fromkeys(tuner for row in table.values() for tuner in row if tuner != OURS)
    for tuner in tuners:
        rows = [(row[OURS], row[tuner]) for row in table.values() if row.get(OURS) and row.get(tuner)]
        if rows:
            ratio = [theirs[2] / ours[2] for ours, theirs in rows]
            axes.plot(ratio, [theirs[0] - ours[0] for ours, theirs in rows], "o", label=tuner, alpha=0.7)
    axes.axhline(0.0, color="0.6", lw=1)
    axes.axvline(1.0, color="0.6", lw=1)
    axes.set(xscale="log", xlabel=f"time ÷ time of {OURS}", ylabel=f"test error − that of {OURS} (points)")
    axes.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)
