"""Table 2: test errors of the ensemble and of the classifiers it is compared with."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from adatron import EnsembleSVC
from adatron.selection import CPath, c_path
from reproduction.experiment import Check, Comparison, Effort, Findings, Verdict, experiment
from reproduction.figures import COLOURS, PUBLISHED, add_legend, new_figure
from reproduction.shared import Split, binomial_error, mean_and_error, one_blas_thread
from reproduction.tsang2007.data import REALIZATIONS, SETS, SIZES, STANDARDISED_ASTRO, WEB2, WEB7, DataSet

METHODS = ("SVM (BEST)", "SVM (LOO)", "Parzen window", "ρ-SVM", "ensemble")
ERRORS = {  # published test errors in per cent, in the order of METHODS
    "cancer": (23.1, 26.1, 27.4, 33.5, 28.2),
    "diabetis": (24.8, 28.9, 33.4, 34.5, 24.8),
    "german": (22.6, 24.9, 29.8, 29.3, 23.7),
    "titanic": (22.7, 25.5, 23.3, 45.2, 22.5),
    "waveform": (11.2, 18.8, 22.0, 11.2, 10.0),
    "astro": (5.8, 9.3, 7.0, 22.1, 3.4),
    "adult1": (16.3, 17.7, 24.1, 19.4, 15.9),
    "adult2": (16.0, 17.4, 24.0, 22.8, 15.8),
    "adult3": (16.1, 16.2, 24.1, 19.7, 15.9),
    "web1": (2.3, 2.8, 3.0, 14.4, 2.8),
    "web2": (2.1, 2.2, 3.0, 3.4, 2.1),
}
LARGEST_EXACT = 2_000  # rows up to which the whole path is followed
GRID = 2.0 ** np.arange(-8.0, 10.5, 0.5)  # of C, beyond that
_WEB7_RANK = 1_000
_WEB7_GRID = 2.0 ** np.arange(-3.0, 7.0)
_QUICK_GRID = 2.0 ** np.arange(-5.0, 11.0)


def percent_wrong(predicted: Any, y: Any) -> float:
    return 100.0 * float(np.mean(predicted != y))


class PathErrors(NamedTuple):
    """Test errors along a path in C, and which C the leave-one-out estimate takes."""

    C: np.ndarray
    errors: np.ndarray
    chosen: int

    def at(self, Cs: np.ndarray) -> np.ndarray:
        """Errors at other C: those of the last one on the path that is not larger."""
        return self.errors[np.maximum(np.searchsorted(self.C, Cs, side="right") - 1, 0)]


class StageErrors(NamedTuple):
    """Test errors of the ensemble after each stage, and of its last hypothesis."""

    stages: np.ndarray
    last_hypothesis: float


@one_blas_thread()
def path(split: Split, Cs: Any = None) -> CPath:
    """All C where there are few rows, otherwise a grid."""
    exact = Cs is None and len(split.y) <= LARGEST_EXACT
    values = GRID if Cs is None and not exact else Cs
    # separable rows with a large C would take too long, hence at most a thousand rounds for one C
    return c_path(split.X, split.y, values, gamma="mean", exact=exact, max_iter=1_000)


def path_errors(split: Split, Cs: Any = None) -> PathErrors:
    found = path(split, Cs)
    return PathErrors(found.C, 100.0 * found.test_errors(split.X_test, split.y_test), found.best_index)


@one_blas_thread()
def stage_errors(split: Split, **options: Any) -> StageErrors:
    """From the Parzen window, the first stage, to the ensemble, the last."""
    model = EnsembleSVC(**options).fit(split.X, split.y)
    stages = [percent_wrong(predicted, split.y_test) for predicted in model.staged_predict(split.X_test)]
    last = percent_wrong(model.final_svm_.predict(split.X_test), split.y_test)
    return StageErrors(np.array(stages), last)


@dataclass(frozen=True)
class Row:
    """Errors of the five classifiers on all splits of a data set."""

    data: DataSet
    paths: list[PathErrors]  # one where the splits differ in the order of the rows only
    ensembles: list[StageErrors]
    test_rows: int | None  # where not all were used

    @property
    def printed_name(self) -> str:
        return "web2" if self.data.name == WEB2 else self.data.name

    def values(self, method: str) -> list[float]:
        """One for each run."""
        return {
            "SVM (BEST)": [float(path.errors.min()) for path in self.paths],
            "SVM (LOO)": [float(path.errors[path.chosen]) for path in self.paths],
            "Parzen window": [float(own.stages[0]) for own in self.ensembles],
            "ρ-SVM": [own.last_hypothesis for own in self.ensembles],
            "ensemble": [float(own.stages[-1]) for own in self.ensembles],
        }[method]

    @property
    def means(self) -> dict[str, float]:
        return {method: float(np.mean(self.values(method))) for method in METHODS}

    def standard_error(self, method: str) -> float:
        """Over the runs; that of the test rows as well, if they are a sample of those in the file."""
        mean, over_runs = mean_and_error(self.values(method))
        if self.test_rows is None:
            return float(over_runs)
        n = self.test_rows * len(self.values(method))
        return float(np.hypot(over_runs, binomial_error(mean, n)))


def row_of(data: DataSet, effort: Effort) -> Row:
    """Train all classifiers on all splits."""
    rank = effort.count(full=_WEB7_RANK, quick=200)
    options: dict[str, Any] = {"rank": rank, "random_state": effort.seed} if data is WEB7 else {}
    paths, ensembles = [], []
    for i in range(effort.count(full=data.n_splits, quick=2 if data.n_splits == 10 else 1)):
        split = data.split(i, effort.seed)
        if effort.quick:
            test = np.random.default_rng(0).permutation(len(split.y_test))[:3_000]  # the file may be sorted
            split = split._replace(X_test=split.X_test[test], y_test=split.y_test[test])
            split = split.first(2_000, len(test)) if data is WEB7 else split
        if i == 0 or not data.is_one_file:
            # None: all C if there are few rows, otherwise the usual grid
            Cs = _QUICK_GRID if effort.quick and len(split.y) > 500 else _WEB7_GRID if data is WEB7 else None
            paths.append(path_errors(split, Cs))
        ensembles.append(stage_errors(split, **options))
    return Row(data, paths, ensembles, len(split.y_test) if effort.quick else None)


def reason(method: str, published: float, paths: list[PathErrors], ensembles: list[StageErrors]) -> str:
    """Why a number differs: a sentence that a reader can check with the same runs."""
    if method.startswith("SVM"):
        Cs = GRID[max(path.C[0] for path in paths) <= GRID]  # below, nothing was measured
        errors = np.mean([path.at(Cs) for path in paths], axis=0)
        nearest = int(np.abs(errors - published).argmin())
        what = f"this path has {errors[nearest]:.1f} % at C = {Cs[nearest]:.2g}"
        if method == "SVM (BEST)":
            return f"The paper does not say how far or how finely its path went; {what}."
        taken = np.median([path.C[path.chosen] for path in paths])
        return f"Our estimate, y(f + b) ≤ αk(x, x), takes C = {taken:.2g} (median); {what}."
    if method == "ensemble":
        longest = max(len(ensemble.stages) for ensemble in ensembles)
        # the last stage stands for those that are not there
        padded = [own.stages[np.minimum(np.arange(longest), len(own.stages) - 1)] for own in ensembles]
        errors = np.mean(padded, axis=0)
        nearest = int(np.abs(errors - published).argmin())
        stage = f"{nearest + 1} of {longest} stages"
        return f"Ours has {errors[nearest]:.1f} % after {stage}, and goes on from there."
    if method == "ρ-SVM":
        values = [ensemble.last_hypothesis for ensemble in ensembles]
        span = f"Our {len(values)} runs gave from {min(values):.1f} to {max(values):.1f} %"
        span = f"One run gave {values[0]:.1f} %" if len(values) == 1 else span
        return f"{span}: where it stops depends on the rows and, by rounding, on their order."
    return "Nothing is trained, so only other rows or another scaling can give another number."


_NOTES = [
    "Means over the ten realizations at hand of the paper's hundred; diabetis over ten random draws of 468 "
    "of Pima's 768 rows, standardised; sets with one training part over five orders of its rows; web2 over "
    "five draws.",
    "Astro as it is in its file: only so the Parzen window comes out at the published 7.0 %. The "
    "standardised rows are given beside it.",
    "SVM (BEST) and SVM (LOO) come from the exact path in C up to 2¹⁵ for sets of at most 2,000 rows; for "
    "the others from 37 values of C, 2⁻⁸ to 2¹⁰, for web7 from ten, 2⁻³ to 2⁶. BEST knows the test set.",
    "The leave-one-out bound is that of Evgeniou, Pontil & Elisseeff: the share of rows with y(f + b) ≤ α "
    "k(x, x).",
    f"web7 is not in the paper: w7a, its ensemble on a kernel of rank {_WEB7_RANK:,}.",
    "In a quick run: two realizations, otherwise one run, at most 3,000 test rows, 16 values of C above 500 "
    "rows; for web7 2,000 training rows and rank 200.",
]


@experiment(
    "Table 2: test errors",
    claim="The ensemble is much better than the ρ-SVM it ends with, and comparable to the best soft-margin "
    "SVM that any C gives, sometimes better.",
    settings="Gaussian kernel exp(−|x − z|²/β), β the mean squared distance of the training rows to their "
    "mean; ε from 0.1 down to 0.005; no bias in ρ-SVM and ensemble.",
)
def table_2(effort: Effort) -> Findings:
    rows, comparisons = [], []
    for data in effort.over([*SETS, STANDARDISED_ASTRO, WEB7]):
        try:
            row, missing = row_of(data, effort), ""
            rows.append(row)
        except OSError as error:
            row, missing = Row(data, [], [], None), " ".join(str(error).split())
        comparisons += [_compare(row, method, missing) for method in METHODS]
    return Findings(comparisons, _checks(rows), _figure(comparisons), _NOTES)


def _compare(row: Row, method: str, missing: str) -> Comparison:
    labels, name = {"data": row.data.name, "classifier": method}, row.printed_name
    published = ERRORS[name][METHODS.index(method)] if name in ERRORS else None
    if missing:
        return Comparison(labels, published, None, unit="%", missing=missing)
    found = Comparison(labels, published, row.means[method], row.standard_error(method), unit="%")
    if published is None:
        return found
    is_one_file = row.data.is_one_file or name == "web2"
    found = replace(found, n_test=SIZES[name][2] * (1 if is_one_file else REALIZATIONS))
    differs = found.verdict is Verdict.DIFFERS
    return replace(found, why=reason(method, published, row.paths, row.ensembles)) if differs else found


def _checks(rows: list[Row]) -> list[Check]:
    most = 1.1  # of the ensemble over SVM (BEST) in the paper's own table, but for cancer
    better = "The ensemble is better than the ρ-SVM on every set, by 0.1 points or more."
    comparable = (
        f"The ensemble is comparable to SVM (BEST): at most {most} points above it but for cancer, the most "
        "that the paper's own table shows."
    )
    no_larger = "It has no larger error than SVM (LOO) but for cancer."
    printed = [row for row in rows if row.printed_name in ERRORS]
    checks = []
    for statement, other, largest, but in (
        (better, "ρ-SVM", -0.1, ""),
        (comparable, "SVM (BEST)", most, "cancer"),
        (no_larger, "SVM (LOO)", 0.0, "cancer"),
    ):
        excess = {row.data.name: row.means["ensemble"] - row.means[other] for row in printed}
        detail = f"ensemble minus {other}, points: " + ", ".join(f"{n} {d:+.1f}" for n, d in excess.items())
        checks.append(Check(statement, all(d <= largest for n, d in excess.items() if n != but), detail))
    return checks


def _figure(comparisons: list[Comparison]) -> Any:
    figure, (ax,) = new_figure(1, [("published (%)", "ours (%)")], log_x=True, log_y=True)
    ax.axline((2.0, 2.0), (50.0, 50.0), **PUBLISHED)
    for method, colour in zip(METHODS, COLOURS, strict=False):
        points = [c for c in comparisons if c.labels["classifier"] == method and c.difference is not None]
        x, y = (np.array([getattr(c, side) for c in points]) for side in ("published", "ours"))
        spread = [2.0 * c.standard_error for c in points]
        ax.errorbar(x, y, spread, fmt="o", markersize=4, linewidth=0.8, color=colour, label=method)
    ticks = [2, 5, 10, 20, 50]
    for set_ticks in (ax.set_xticks, ax.set_yticks):
        set_ticks(ticks, [str(tick) for tick in ticks])
        set_ticks([], minor=True)
    ax.set(xlim=(1.7, 60.0), ylim=(1.3, 75.0))
    add_legend(ax)
    return figure
