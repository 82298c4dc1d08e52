"""The kernel selection procedure of section 3.4: the bound along a path of widths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adatron.datasets import load_ionosphere
from adatron.display.figures import COLOURS, add_legend, new_figure
from adatron.papers.campbell1998.repeated import Split, correct, plain_ticks, split_rows
from adatron.papers.data import original_sonar, wisconsin_split
from adatron.papers.experiment import Check, Comparison, Effort, Experiment, Findings
from adatron.selection import KernelPath, sigma_path

__all__ = ["EXPERIMENTS"]

_BIAS = {True: "with bias", False: "without bias"}
_BY_BOUND, _BY_FOLDS = "the least R²/γ²", "the least error of five folds"


@dataclass(frozen=True)
class _Walk:
    """A data set walked along, with or without a bias."""

    name: str
    bias: bool
    split: Split
    sigmas: np.ndarray
    path: KernelPath  # with the errors on the test rows, which are only looked at
    chosen: dict[str, int]  # by what, and which place on the path

    @property
    def title(self) -> str:
        return f"{self.name}, {_BIAS[self.bias]}"

    @property
    def ratio(self) -> np.ndarray:
        """R²/γ² at every width."""
        return self.path["radius_squared"] / self.path["margin"] ** 2


def _ionosphere() -> Split:
    X, y = load_ionosphere(return_X_y=True)
    return split_rows(X, y, slice(200), slice(200, 350))


_DATA: dict[str, tuple[Callable[[], Any], float, float]] = {
    "sonar": (original_sonar, 0.1, 3.0),
    "Wisconsin": (wisconsin_split, 0.3, 8.0),
    "ionosphere": (_ionosphere, 0.1, 6.0),
}


def _walks(name: str, effort: Effort) -> list[_Walk]:
    load, first, last = _DATA[name]
    split, sigmas = Split(*load()), np.geomspace(first, last, effort.count(full=40, quick=16))
    return [_walk(name, bias, split, sigmas, effort.seed) for bias in _BIAS]


def _walk(name: str, bias: bool, split: Split, sigmas: np.ndarray, seed: int) -> _Walk:
    """From the smallest width up, each maximal margin from the last."""
    by_bound = _path(split, sigmas, bias, criterion="vc")
    by_folds = _path(split, sigmas, bias, criterion="cv", random_state=seed)
    watched = _path(split, sigmas, bias, criterion=(split.X_test, split.y_test))
    chosen = {_BY_BOUND: by_bound.best_index, _BY_FOLDS: by_folds.best_index}
    return _Walk(name, bias, split, sigmas, watched, chosen)


def _path(split: Split, sigmas: np.ndarray, bias: bool, **options: Any) -> KernelPath:
    return sigma_path(split.X_train, split.y_train, sigmas, fit_intercept=bias, **options)


def _run(effort: Effort) -> Findings:
    walks = [walk for name in effort.over(_DATA) for walk in _walks(name, effort)]
    rows = [row for walk in walks for row in _rows(walk)]
    checks = [_is_good(walk, way) for way in (_BY_BOUND, _BY_FOLDS) for walk in walks]
    checks += [_is_continuous(walk) for walk in walks if walk.bias]
    checks.append(_is_fast(walks[0]))
    least = min(float(walk.path["bound"].min()) for walk in walks)
    notes = [
        "R = 1 for a Gaussian. R²/γ² orders the widths as the bound does. The bound itself, which would have "
        f"to be below 1 to say anything, is {'infinite' if np.isinf(least) else f'{least:.3g}'} at best.",
        "A warm start first solves the linear system of the last support vectors, which epochs do not count.",
    ]
    return Findings(rows, checks, _figure(walks), notes)


def _rows(walk: _Walk) -> list[Comparison]:
    accuracy = correct(walk.path["error"])
    quantities = [("correct on the test rows at the best σ", float(accuracy.max()), "%")]
    for way, place in walk.chosen.items():
        quantities.append((f"σ by {way}", float(walk.sigmas[place]), ""))
        quantities.append((f"correct on the test rows at σ by {way}", float(accuracy[place]), "%"))
    shared = {"data": walk.name, "machine": f"KA {_BIAS[walk.bias]}"}
    return [Comparison(shared | {"quantity": name}, None, ours, unit=unit) for name, ours, unit in quantities]


def _is_good(walk: _Walk, way: str) -> Check:
    """Whether the chosen width is as good as the best, but for two standard errors of the test set."""
    errors, place = walk.path["error"], walk.chosen[way]
    least, ours = float(errors.min()), float(errors[place])
    noise = 2.0 * float(np.sqrt(ours * (1.0 - ours) / len(walk.split.y_test)))
    statement = f"{walk.title}: {way} finds a good σ (less than two standard errors lost)"
    detail = f"test error {100 * ours:.1f} % at σ = {walk.sigmas[place]:.2g}, least {100 * least:.1f} %"
    return Check(statement, ours - least <= noise, detail)


def _is_continuous(walk: _Walk) -> Check:
    """A continuous margin moves about half as far in steps half as long."""
    margins = walk.path["margin"]
    fine, coarse = (float(np.abs(np.diff(values)).max()) for values in (margins, margins[::2]))
    statement = f"{walk.title}: the margin is continuous in σ (steps halved, its largest change, too)"
    return Check(statement, fine <= 0.75 * coarse, f"{coarse:.4f}, then {fine:.4f}")


def _is_fast(walk: _Walk) -> Check:
    """Sweeps with and without a start from the last width."""
    cold = _path(walk.split, walk.sigmas, walk.bias, warm_start=False)
    warm_epochs, cold_epochs = (int(path["epochs"].sum()) for path in (walk.path, cold))
    detail = f"{warm_epochs} epochs for the whole path; {cold_epochs:,} from α = 0 at every σ"
    return Check(
        f"{walk.title}: little work is left after a change of σ", warm_epochs < 0.1 * cold_epochs, detail
    )


def _figure(walks: list[_Walk]) -> Any:
    names = list(_DATA)
    labels = [("σ", "R²/γ²")] * len(names) + [("σ", "error on the test rows (%)")] * len(names)
    figure, axes = new_figure(2 * len(names), labels, log_x=True, titles=names + [""] * len(names))
    for walk in walks:
        column, colour = names.index(walk.name), COLOURS[0 if walk.bias else 1]
        above, below = axes[column], axes[column + len(names)]
        above.set_yscale("log")
        above.plot(walk.sigmas, walk.ratio, color=colour)
        below.plot(walk.sigmas, 100.0 * walk.path["error"], color=colour, label=_BIAS[walk.bias])
        for ax in (above, below):
            ax.axvline(walk.sigmas[walk.chosen[_BY_BOUND]], color=colour, linestyle=":", linewidth=1.2)
    for ax in axes:
        plain_ticks(ax, [0.1, 0.2, 0.5, 1.0, 2.0, 5.0])
    add_legend(axes[len(names)], loc="upper right")
    return figure


EXPERIMENTS = [
    Experiment(
        name="kernel-selection",
        title="Kernel selection: the bound against the test error along σ",
        claim="Starting from a tiny σ and training each to its maximal margin from the last, the VC bound "
        "finds a good σ fast, as the margin depends continuously on σ. No number is printed.",
        settings="Gaussian kernel, hard margin; sonar (original split), Wisconsin (550/133), ionosphere "
        "(first 200, next 150); σ in geometric progression, by the bound and by the error of five folds in "
        "place of a validation set. Dotted: σ by the bound.",
        run=_run,
    )
]
