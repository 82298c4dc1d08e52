"""The figures of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adatron.display.figures import COLOURS, INK_STAND_IN, add_legend, new_figure
from adatron.display.report.story import FitStory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["calibration", "convergence", "margins", "outlier_scores", "path", "residuals", "roc"]

_CALIBRATION_ROWS = 20  # in a group, at least
_LONGEST_LABEL = 30  # characters
_MOST_PROBLEMS = 6  # curves in a panel
_MOST_POINTS, _FEW_POINTS = 2_000, 300  # in a scatter plot


def convergence(machine: Any) -> Figure | None:
    """Objective, margin and violation after every epoch."""
    history = getattr(machine, "history_", None)
    if not history or not history["epoch"]:
        return None
    from matplotlib.ticker import MaxNLocator

    names = ("objective", "margin", "violation")
    figure, axes = new_figure(3, [("epoch", name) for name in names])
    table = {name: np.asarray(values, dtype=float) for name, values in history.items()}
    problems = np.unique(table["problem"])[:_MOST_PROBLEMS]
    for ax, name in zip(axes, names, strict=True):
        for problem in problems:
            own = table["problem"] == problem
            marker = "o" if own.sum() < 3 else None
            ax.plot(table["epoch"][own], table[name][own], marker=marker, markersize=4, linewidth=1.4)
        ax.ticklabel_format(useOffset=False)
        if table["epoch"].max() > 50:
            ax.set_xscale("log")
        else:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if (table["violation"] > 0).any():
        axes[2].set_yscale("log")
    return figure


def path(machine: Any) -> Figure | None:
    """Held-out error against the width of the kernel, and the choice."""
    tried = machine.path_
    if "criterion" not in tried.columns:
        return None
    figure, (ax,) = new_figure(1, [("width σ of the kernel", tried.criterion)], log_x=True)
    sigma, criterion = tried["sigma"], tried["criterion"]
    order = np.lexsort((criterion, sigma))
    best = order[np.unique(sigma[order], return_index=True)[1]]  # of each width
    ax.plot(sigma[best], criterion[best], linewidth=1.4)
    ax.plot(sigma, criterion, "o", color=COLOURS[0], markersize=4, label="tried")
    ax.plot(tried.best_sigma, tried.best["criterion"], "o", color=COLOURS[1], markersize=9, label="chosen")
    add_legend(ax)
    return figure


def margins(story: FitStory) -> Figure | None:
    """How far on the right side of the boundary the rows are."""
    values = [(name, _margins_of(story, X, y)) for name, X, y in story.parts]
    values = [(name, own) for name, own in values if len(own)]
    low, high = np.quantile(np.concatenate([own for _, own in values]), [0.005, 0.995])
    if low == high:
        return None
    edges = np.linspace(low, high, 1 + _bins(min(len(own) for _, own in values)))
    figure, (ax,) = new_figure(1, [("decision value of the own class", "share of rows")])
    for (name, own), colour in zip(values, COLOURS, strict=False):
        shares = np.histogram(np.clip(own, edges[0], edges[-1]), edges)[0] / len(own)
        ax.stairs(shares, edges, color=colour, label=name, linewidth=1.4)
    ax.axvline(0.0, color=INK_STAND_IN, linewidth=1.0, linestyle="--")
    add_legend(ax)
    return figure


def _bins(n: int) -> int:
    """Of a histogram: few for few rows, which would be a comb otherwise."""
    return int(np.clip(1.5 * np.sqrt(n), 8, 40))


def _margins_of(story: FitStory, X: Any, y: Any) -> np.ndarray:
    """y f(x); for several classes the decision value of the own class less the best of the others.

    One-vs-one machines with a column for each pair count the columns that the own class wins. Rows of
    classes that were not trained on have no margin.
    """
    classes = np.asarray(story.machine.classes_)
    known = np.isin(np.asarray(y), classes)
    decisions = np.asarray(story.model.decision_function(X))[known]
    codes = np.searchsorted(classes, np.asarray(y)[known])
    if decisions.ndim == 1:
        return np.where(codes == 1, decisions, -decisions)
    if decisions.shape[1] != len(classes):
        decisions = _votes(decisions, len(classes))
    own = decisions[np.arange(len(codes)), codes]
    others = decisions.copy()
    others[np.arange(len(codes)), codes] = -np.inf
    return own - others.max(axis=1)


def _votes(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """Pairs won by each class, from one column for each pair (0, 1), (0, 2), …"""
    votes = np.zeros((len(decisions), n_classes))
    pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    for (i, j), own in zip(pairs, decisions.T, strict=True):
        votes[:, i] += own > 0
        votes[:, j] += own <= 0
    return votes


def roc(story: FitStory) -> Figure | None:
    """Receiver operating characteristic of two classes."""
    from sklearn.metrics import roc_auc_score, roc_curve

    X, y = story.judged
    classes = np.asarray(story.machine.classes_)
    is_positive = np.asarray(y) == classes[-1]
    if len(classes) != 2 or is_positive.all() or not is_positive.any():
        return None
    decisions = story.model.decision_function(X)
    false, true, _ = roc_curve(is_positive, decisions)
    figure, (ax,) = new_figure(1, [("false positive rate", "true positive rate")])
    ax.plot(false, true, label=f"area {roc_auc_score(is_positive, decisions):.3f}")
    ax.plot([0, 1], [0, 1], color=INK_STAND_IN, linestyle="--", linewidth=1.0, label="guessing")
    add_legend(ax, loc="lower right")
    return figure


def calibration(story: FitStory) -> Figure | None:
    """How often what was said with some probability was true; of several classes, the likeliest."""
    if not hasattr(story.model, "predict_proba"):
        return None
    X, y = story.judged
    probabilities, classes = np.asarray(story.model.predict_proba(X)), np.asarray(story.machine.classes_)
    if len(classes) == 2:
        said, is_true, what = probabilities[:, 1], np.asarray(y) == classes[1], f"of {classes[1]}"
    else:
        said, what = probabilities.max(axis=1), "of the likeliest class"
        is_true = classes[probabilities.argmax(axis=1)] == np.asarray(y)
    order = np.argsort(said, kind="stable")
    bins = np.array_split(order, int(np.clip(len(order) / _CALIBRATION_ROWS, 1, 10)))
    figure, (ax,) = new_figure(
        1, [(f"predicted probability {_short(what)}", "share of rows where it was true")]
    )
    ax.plot([0, 1], [0, 1], color=INK_STAND_IN, linestyle="--", linewidth=1.0, label="perfect")
    means, shares = [float(said[own].mean()) for own in bins], [float(is_true[own].mean()) for own in bins]
    ax.plot(means, shares, "o-", markersize=5, linewidth=1.4, label=f"{len(bins)} groups of rows")
    add_legend(ax, loc="upper left")
    return figure


def _short(text: str) -> str:
    text = text.replace("$", "＄")  # which would begin a formula
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def residuals(story: FitStory) -> Figure:
    """Predicted against true values, and what is left."""
    y = np.asarray(story.judged[1], dtype=float)
    shown = np.linspace(0, len(y) - 1, min(len(y), _MOST_POINTS)).astype(int)
    labels = [("true value", "predicted value"), ("predicted − true", "rows")]
    figure, (left, right) = new_figure(2, labels)
    size = {"markersize": 3, "alpha": 0.6} if len(shown) > _FEW_POINTS else {"markersize": 7}
    left.plot(y[shown], story.predictions[shown], ".", rasterized=True, **size)
    ends = [y.min(), y.max()]
    left.plot(ends, ends, color=INK_STAND_IN, linestyle="--", linewidth=1.0)
    right.hist(story.predictions - y, bins=_bins(len(y)), color=COLOURS[0])
    return figure


def outlier_scores(story: FitStory) -> Figure:
    """Decision values: negative ones are outliers."""
    figure, (ax,) = new_figure(1, [("decision value", "rows")])
    values = np.asarray(story.model.decision_function(story.X_train))
    ax.hist(values, bins=_bins(len(values)), color=COLOURS[0])
    ax.axvline(0.0, color=INK_STAND_IN, linewidth=1.0, linestyle="--")
    return figure
