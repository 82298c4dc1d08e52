"""Table 2: test errors of the ensemble and of what it is compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from adatron.display.figures import COLOURS, PUBLISHED, add_legend, new_figure
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings, Verdict
from adatron.papers.tsang2007.published import ERRORS, METHODS, REALIZATIONS, SIZES
from adatron.papers.tsang2007.reasons import reason
from adatron.papers.tsang2007.rows import WEB7_RANK, Row, row_of
from adatron.papers.tsang2007.sets import SETS, STANDARDISED_ASTRO, WEB2, WEB7, DataSet

__all__ = ["TABLE_2"]

_LARGEST_EXCESS = 1.1  # of the ensemble over SVM (BEST) in the document's own table, but for cancer


def _run(effort: Effort) -> Findings:
    rows, comparisons = [], []
    for data in effort.over([*SETS, STANDARDISED_ASTRO, WEB7]):
        try:
            rows.append(row_of(data, effort))
            comparisons += [_compare(rows[-1], method) for method in METHODS]
        except OSError as error:
            comparisons += _missing(data, " ".join(str(error).split()))
    return Findings(comparisons, _checks(rows), _figure(comparisons), _NOTES)


def _printed(name: str) -> str:
    return "web2" if name == WEB2 else name


def _compare(row: Row, method: str) -> Comparison:
    ours, name = row.means[method], _printed(row.data.name)
    labels = {"data": row.data.name, "classifier": method}
    if name not in ERRORS:
        return Comparison(labels, None, ours, row.standard_error(method), unit="%")
    published = ERRORS[name][METHODS.index(method)]
    n_test = SIZES[name].test * (1 if row.data.is_one_file or name == "web2" else REALIZATIONS)
    found = Comparison(labels, published, ours, row.standard_error(method), n_test, unit="%")
    if found.verdict is not Verdict.DIFFERS:
        return found
    return replace(found, why=reason(method, published, row.paths, row.ensembles))


def _missing(data: DataSet, missing: str) -> list[Comparison]:
    published = ERRORS.get(_printed(data.name), (None,) * len(METHODS))
    return [
        Comparison({"data": data.name, "classifier": method}, number, None, unit="%", missing=missing)
        for method, number in zip(METHODS, published, strict=True)
    ]


def _checks(rows: list[Row]) -> list[Check]:
    rows = [row for row in rows if _printed(row.data.name) in ERRORS]
    near_best = (
        f"The ensemble is comparable to SVM (BEST): at most {_LARGEST_EXCESS} points above it but for "
        "cancer, the most that the document's own table shows."
    )
    return [
        _check(
            "The ensemble is better than the ρ-SVM on every set, by 0.1 points or more.", rows, "ρ-SVM", -0.1
        ),
        _check(near_best, rows, "SVM (BEST)", _LARGEST_EXCESS, but="cancer"),
        _check("It has no larger error than SVM (LOO) but for cancer.", rows, "SVM (LOO)", but="cancer"),
    ]


def _check(statement: str, rows: list[Row], other: str, most: float = 0.0, but: str = "") -> Check:
    found = _differences(rows, other)
    return Check(statement, all(d <= most for name, d in found.items() if name != but), _listed(other, found))


def _differences(rows: list[Row], other: str) -> dict[str, float]:
    """Error of the ensemble minus that of another, in points."""
    return {row.data.name: row.means["ensemble"] - row.means[other] for row in rows}


def _listed(other: str, differences: dict[str, float]) -> str:
    return f"ensemble minus {other}, points: " + ", ".join(f"{n} {d:+.1f}" for n, d in differences.items())


def _figure(comparisons: list[Comparison]) -> Any:
    figure, (ax,) = new_figure(1, [("published (%)", "ours (%)")], log_x=True, log_y=True)
    ticks, equal = [2, 5, 10, 20, 50], dict[str, Any](PUBLISHED)
    ax.axline((2.0, 2.0), (50.0, 50.0), **equal)
    for method, colour in zip(METHODS, COLOURS, strict=False):
        points = [c for c in comparisons if c.labels["classifier"] == method and c.difference is not None]
        x, y = (np.array([getattr(c, side) for c in points]) for side in ("published", "ours"))
        spread = [2.0 * c.standard_error for c in points]
        ax.errorbar(x, y, spread, fmt="o", markersize=4, linewidth=0.8, color=colour, label=method)
    for set_ticks in (ax.set_xticks, ax.set_yticks):
        set_ticks(ticks, [str(tick) for tick in ticks])
        set_ticks([], minor=True)
    ax.set(xlim=(1.7, 60.0), ylim=(1.3, 75.0))
    add_legend(ax)
    return figure


_NOTES = [
    "Means over the ten realizations at hand of the document's hundred; diabetis over ten random draws of "
    "468 of Pima's 768 rows, standardised; sets with one training part over five orders of its rows; web2 "
    "over five draws.",
    "Astro as it is in its file: only so the Parzen window comes out at the published 7.0 %. The "
    "standardised rows are given beside it.",
    "SVM (BEST) and SVM (LOO) come from the exact path in C up to 2¹⁵ for sets of at most 2,000 rows; for "
    "the others from 37 values of C, 2⁻⁸ to 2¹⁰, for web7 from ten, 2⁻³ to 2⁶. BEST knows the test set.",
    "The leave-one-out bound is that of Evgeniou, Pontil & Elisseeff: the share of rows with "
    "y(f + b) ≤ α k(x, x).",
    f"web7 is not in the document: w7a, its ensemble on a kernel of rank {WEB7_RANK:,}.",
    "In a quick run: two realizations, otherwise one run, at most 3,000 test rows, 16 values of C above 500 "
    "rows; for web7 2,000 training rows and rank 200.",
]

TABLE_2 = Experiment(
    name="table-2",
    title="Table 2: test errors",
    claim="The ensemble is much better than the ρ-SVM it ends with, and comparable to the best soft-margin "
    "SVM that any C gives, sometimes better.",
    settings="Gaussian kernel exp(−|x − z|²/β), β the mean squared distance of the training rows to their "
    "mean; ε from 0.1 down to 0.005; no bias in ρ-SVM and ensemble.",
    run=_run,
)
