"""The figures of a report with their captions, as pieces of HTML; empty where there is nothing to draw."""

from typing import Any

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import roc_curve

from adatron.display.convergence import ConvergenceDisplay
from adatron.display.figures import COLOURS, INK, add_legend, new_figure, shortened
from adatron.display.intervals import IntervalDisplay
from adatron.display.kernel_path import KernelPathDisplay
from adatron.display.page import figure_html
from adatron.display.report.judge import FitStory
from adatron.estimators.classifier import ExpansionClassifier

_CALIBRATION_ROWS = 20  # in a group, at least
_MOST_PROBLEMS = 6  # curves in a panel
_MOST_POINTS, _FEW_POINTS = 2_000, 300  # in a scatter plot


def convergence(machine: Any) -> str:
    history = getattr(machine, "history_", None)
    if not history or not history["epoch"]:
        return ""
    names = ("objective", "margin", "violation")
    figure, axes = new_figure(3, [("epoch", "")])
    problems = np.unique(history["problem"])[:_MOST_PROBLEMS]
    ConvergenceDisplay(history).plot(quantities=names, problem=problems, axes=axes)
    several = "; a curve for each problem, at most six" if len(problems) > 1 else ""
    return figure_html(figure, f"Objective, margin and violation by epoch{several}")


def path(machine: Any) -> str:
    figure, (ax,) = new_figure(1, [("", "")])
    KernelPathDisplay(machine.path_).plot(ax=ax, support_vectors=False)
    return figure_html(figure, "How well each width of each kernel did on held-out rows")


def margins(story: FitStory) -> str:
    """Histogram of the margins: positive where a row is classified correctly."""
    values = {"training": _margins_of(story, story.X_train, story.y_train)}
    if story.has_test_rows and len(test := _margins_of(story, story.X_test, story.y_test)):
        values["test"] = test
    low, high = np.quantile(np.concatenate(list(values.values())), [0.005, 0.995])
    if low == high:
        return ""
    edges = np.linspace(low, high, 1 + _n_bins(min(map(len, values.values()))))
    figure, (ax,) = new_figure(1, [("decision value of the true class", "share of rows")])
    for (name, own), colour in zip(values.items(), COLOURS, strict=False):
        shares = np.histogram(np.clip(own, low, high), edges)[0] / len(own)
        ax.stairs(shares, edges, color=colour, label=name, linewidth=1.4)
    ax.axvline(0.0, color=INK, linewidth=1.0, linestyle="--")
    add_legend(ax)
    return figure_html(figure, "Margins: rows left of the dashed line are misclassified")


def _n_bins(n: int) -> int:
    """Number of bins of a histogram; few rows get few bins."""
    return int(np.clip(1.5 * np.sqrt(n), 8, 40))


def _margins_of(story: FitStory, X: Any, y: Any) -> np.ndarray:
    """y f(x); with several classes, the decision value of the true class minus the best of the others.

    Rows of classes that were not trained on have no margin.
    """
    classes, y = np.asarray(story.machine.classes_), np.asarray(y)
    known = np.isin(y, classes)
    decisions = np.asarray(story.model.decision_function(X))[known]
    codes = np.searchsorted(classes, y[known])
    if decisions.ndim == 1:
        return np.where(codes == 1, decisions, -decisions)
    if isinstance(story.machine, ExpansionClassifier) and story.machine.decision_function_shape == "ovo":
        decisions = story.machine._layout.one_per_class(decisions)
    rows = np.arange(len(codes))
    own, others = decisions[rows, codes], decisions.copy()
    others[rows, codes] = -np.inf
    return own - others.max(axis=1)


def roc(story: FitStory) -> str:
    if "auc" not in story.judgement:
        return ""
    X, y = story.judged
    false, true, _ = roc_curve(y == story.machine.classes_[1], story.model.decision_function(X))
    figure, (ax,) = new_figure(1, [("false positive rate", "true positive rate")])
    ax.plot(false, true, label=f"area {story.judgement['auc']:.3f}")
    ax.plot([0, 1], [0, 1], color=INK, linestyle="--", linewidth=1.0, label="guessing")
    add_legend(ax, loc="lower right")
    return figure_html(figure, "ROC curve: the closer to the upper left corner, the better")


def calibration(story: FitStory) -> str:
    """How often a prediction of given probability was right; for several classes, the likeliest one."""
    if not hasattr(story.model, "predict_proba"):
        return ""
    X, y = story.judged
    probabilities, classes = np.asarray(story.model.predict_proba(X)), np.asarray(story.machine.classes_)
    if len(classes) == 2:
        said, is_true, what = probabilities[:, 1], y == classes[1], f"of {classes[1]}"
    else:
        said, what = probabilities.max(axis=1), "of the likeliest class"
        is_true = classes[probabilities.argmax(axis=1)] == y
    n_bins = int(np.clip(len(said) / _CALIBRATION_ROWS, 1, 10))
    shares, means = calibration_curve(is_true, said, n_bins=n_bins, strategy="quantile")
    said_what = f"predicted probability {shortened(what)}".replace("$", "＄")  # $ would begin a formula
    figure, (ax,) = new_figure(1, [(said_what, "share of rows where it was true")])
    ax.plot([0, 1], [0, 1], color=INK, linestyle="--", linewidth=1.0, label="perfect")
    ax.plot(means, shares, "o-", markersize=5, linewidth=1.4, label=f"{len(means)} groups of rows")
    add_legend(ax, loc="upper left")
    return figure_html(figure, "Calibration: the closer to the dashed line, the better")


def residuals(story: FitStory) -> str:
    y = story.judged[1]
    shown = np.linspace(0, len(y) - 1, min(len(y), _MOST_POINTS)).astype(int)
    labels = [("true value", "predicted value"), ("predicted − true", "rows")]
    figure, (left, right) = new_figure(2, labels)
    size = {"markersize": 3, "alpha": 0.6} if len(shown) > _FEW_POINTS else {"markersize": 7}
    left.plot(y[shown], story.predictions[shown], ".", rasterized=True, **size)
    ends = [y.min(), y.max()]
    left.plot(ends, ends, color=INK, linestyle="--", linewidth=1.0)
    right.hist(story.predictions - y, bins=_n_bins(len(y)), color=COLOURS[0])
    return figure_html(figure, "Predicted against true values, and the residuals")


def intervals(story: FitStory, ends: np.ndarray) -> str:
    y = story.judged[1]
    shown = np.linspace(0, len(y) - 1, min(len(y), _FEW_POINTS)).astype(int)
    figure, (ax,) = new_figure(1, [("", "")])
    IntervalDisplay(story.predictions[shown], ends[shown], y[shown]).plot(ax=ax)
    return figure_html(figure, "Predictions with their intervals")


def outlier_scores(story: FitStory) -> str:
    figure, (ax,) = new_figure(1, [("decision value", "rows")])
    values = np.asarray(story.model.decision_function(story.X_train))
    ax.hist(values, bins=_n_bins(len(values)), color=COLOURS[0])
    ax.axvline(0.0, color=INK, linewidth=1.0, linestyle="--")
    return figure_html(figure, "Outliers lie left of the dashed line")
