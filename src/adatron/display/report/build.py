"""The report, section by section."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.auto import AutoSVC, AutoSVR
from adatron.auto.base import AutoEstimator
from adatron.display.page import (
    beside,
    code,
    definitions,
    figure_html,
    heading,
    items,
    page,
    paragraph,
    table,
)  # fmt: skip
from adatron.display.report import pictures
from adatron.display.report.judge import judge, what_mattered
from adatron.display.report.story import FitStory
from adatron.display.report.words import (
    amount_words,
    bound_words,
    certificate_words,
    choice_words,
    kernel_width,
    rate_words,
)  # fmt: skip
from adatron.display.style import encoder_of
from adatron.explanation import explain
from adatron.selection import KernelPath

_MOST_CLASSES = 30  # in a confusion matrix
_MOST_NAMED = 12  # classes whose support vectors are counted, columns that mattered
_MOST_COLUMNS = 100
_MOST_CELLS = 50_000  # of a machine's vectors, up to which a prediction is explained in seconds
_BACKGROUND = 10  # rows that the explained one is compared with
_COVERAGE = 0.9  # of intervals and of sets of classes


def fit_report(story: FitStory) -> str:
    """The report as one HTML document."""
    n_test = f"{story.n_test:,}" if story.n_test else "none"
    data = [("training rows", f"{story.n_train:,}"), ("test rows", n_test), *story.data.items()]
    results = {
        "classification": _classification, "regression": _regression, "outliers": _outliers,
        "clusters": _clusters,
    }  # fmt: skip
    certificate = [*certificate_words(story.machine), *bound_words(story)]
    body = [
        heading("Data"), definitions(data), items(story.notes),
        heading("Result"), *results[story.task](story), items([f"Warning: {w}" for w in story.warnings]),
        *_model_section(story.machine),
        *_example_section(story),
        *_columns_section(story),
        *_cost_section(story),
        *_convergence_section(story.machine),
        heading("Certificate"), *map(paragraph, certificate),
    ]  # fmt: skip
    return page(f"{type(story.machine).__name__} on {story.name}", body)


def _classification(story: FitStory) -> list[str]:
    X, y = story.judged
    found = judge(story.model, X, y, story.y_train, is_class=True)
    where = "Test error" if story.n_test else "Error on the training rows (no test rows were held out)"
    sentences = [
        f"{where}: {rate_words(found['n_wrong'], found['n_judged'])}. Always guessing {found['baseline']} "
        f"would be wrong for {found['baseline_error_percent']:.2f} %."
    ]
    if "auc" in found:
        sentences.append(
            f"The positive class is {found['positive_class']}: a row of it scores above a row of the other "
            f"class with probability {found['auc']:.3f} (AUC)."
        )
    drawn = [
        (pictures.roc(story), "Receiver operating characteristic"),
        (pictures.margins(story), "Margins: rows left of the dashed line are misclassified"),
        (pictures.calibration(story), "Calibration: the closer to the dashed line, the better"),
    ]
    figures = [figure_html(figure, caption) for figure, caption in drawn if figure is not None]
    if isinstance(story.machine, AutoSVC):
        sets = story.machine.predict_set(story.inputs, coverage=_COVERAGE)
        places = np.searchsorted(story.machine.classes_, np.asarray(y))
        known = np.isin(np.asarray(y), story.machine.classes_)
        held = np.mean(known & sets[np.arange(len(sets)), np.where(known, places, 0)])
        sentences.append(
            f"Sets of classes that should hold the true one for {100 * _COVERAGE:.0f} % of the rows hold it "
            f"for {100 * held:.1f} %, with {sets.sum(axis=1).mean():.2f} classes on average."
        )
    texts = [paragraph(sentence) for sentence in [*sentences, *_importance_words(story)]]
    return [*texts, _confusion_table(story, np.asarray(y)), beside(figures)]


def _importance_words(story: FitStory) -> list[str]:
    named = what_mattered(story.model, [str(name) for name in getattr(story.X_train, "columns", [])])
    shown = ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in named[:_MOST_NAMED])
    return [f"What mattered most: {shown}."] if shown else []


def _columns_section(story: FitStory) -> list[str]:
    """What the encoder did with every column, and how much was missing."""
    encoder = encoder_of(story.model)
    if encoder is None:
        return []
    columns = list(encoder.columns_)
    rows = [[own.name, own.kind, f"{own.n_missing:,}", own.done] for own in columns[:_MOST_COLUMNS]]
    more = len(columns) - len(rows)
    note = [paragraph(f"{more:,} further columns are not shown.")] if more else []
    n_missing = sum(own.n_missing for own in columns)
    missing = f"{n_missing:,} of {story.n_train * len(columns):,} cells of the training rows are missing."
    head = ["column", "kind", "missing", "what was done"]
    return [heading("Columns"), paragraph(missing), table(head, rows, numeric=[2], wide=[3]), *note]


def _confusion_table(story: FitStory, y: np.ndarray) -> str:
    from sklearn.metrics import confusion_matrix

    classes = np.union1d(story.machine.classes_, y)
    if len(classes) > _MOST_CLASSES:
        return paragraph(f"{len(classes)} classes: too many for a table of confusions.")
    counts = confusion_matrix(y, story.predictions, labels=classes)
    rows = [[str(name), *map(str, own)] for name, own in zip(classes, counts.tolist(), strict=True)]
    header = ["true \\ predicted", *map(str, classes)]
    return table(header, rows, numeric=range(1, len(header)), caption="Confusions")


def _regression(story: FitStory) -> list[str]:
    from sklearn.metrics import mean_absolute_error

    y = np.asarray(story.judged[1], dtype=float)
    found = judge(story.model, *story.judged, story.y_train, is_class=False)
    low, high = (amount_words(end) for end in found["rmse_interval"])
    measured = [
        ("R²", f"{found['r2']:.4f}"),
        ("root mean squared error", amount_words(found["rmse"])),
        ("with 95 % confidence", f"between {low} and {high}"),
        ("that of the mean", amount_words(found["baseline_rmse"])),
        ("mean absolute error", amount_words(mean_absolute_error(y, story.predictions))),
    ]
    caption = "Predicted against true values, and the residuals"
    where = "On the test rows:" if story.n_test else "On the training rows (no test rows were held out):"
    words = [paragraph(sentence) for sentence in _importance_words(story)]
    figures = [figure_html(pictures.residuals(story), caption)]
    if isinstance(story.machine, AutoSVR):
        ends = story.machine.predict_interval(story.inputs, coverage=_COVERAGE)
        held, width = (
            np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])),
            amount_words(np.mean(np.ptp(ends, axis=1))),
        )
        name = f"{100 * _COVERAGE:.0f} % intervals"
        measured.append((name, f"hold {100 * held:.1f} % of these rows; {width} wide on average"))
        figures.append(figure_html(pictures.intervals(story, ends), "Predictions with their intervals"))
    return [paragraph(where), definitions(measured), *words, *figures]


def _example_section(story: FitStory) -> list[str]:
    """Why the row that is most wrong got its prediction."""
    X, y = story.judged
    if not isinstance(story.machine, AutoEstimator):
        return []
    shapes = [one.vectors.shape for one in story.machine._expansions()]
    if max(n * d for n, d in shapes) > _MOST_CELLS:
        return []
    if story.task == "classification":
        own = np.asarray(story.model.predict_proba(X))
        places = np.searchsorted(story.machine.classes_, np.asarray(y)).clip(0, own.shape[1] - 1)
        worst = int(own[np.arange(len(own)), places].argmin())
    else:
        worst = int(np.abs(np.asarray(y, dtype=float) - story.predictions).argmax())
    pick = (lambda rows: X.iloc[rows]) if hasattr(X, "iloc") else (lambda rows: X[rows])
    others = np.linspace(0, story.n_judged - 1, min(story.n_judged, _BACKGROUND)).astype(int)
    found = explain(story.model, pick([worst]), background=pick(others))
    if found.contributions is None:
        return []
    order = np.argsort(-np.abs(found.contributions), kind="stable")[:_MOST_NAMED]
    rows = [
        [found.columns[j], str(found.values[j]), _signed(float(found.contributions[j]))]
        for j in order.tolist()
    ]
    said, true = story.predictions[worst], np.asarray(y)[worst]
    if story.task == "regression":
        said, true = amount_words(said), amount_words(float(true))
    which = "Test row" if story.n_test else "Training row"
    sentence = (
        f"{which} {worst} (counting from 0) is furthest off: predicted {said}, true {true}. What its columns "
        f"added to the decision value, from {amount_words(found.base)} on average to "
        f"{amount_words(found.decision)} (Shapley values):"
    )
    head = ["column", "value", "adds"]
    return [heading("The worst prediction, explained"), paragraph(sentence), table(head, rows, numeric=[2])]


def _signed(value: float) -> str:
    return f"{'+' if value >= 0.0 else '−'}{amount_words(abs(value))}"


def _outliers(story: FitStory) -> list[str]:
    share = float(np.mean(np.asarray(story.model.predict(story.X_train)) < 0))
    sentence = f"{100 * share:.2f} % of the training rows are outliers."
    picture = figure_html(pictures.outlier_scores(story), "Outliers lie left of the dashed line")
    return [paragraph(sentence), picture]


def _clusters(story: FitStory) -> list[str]:
    labels, counts = np.unique(story.machine.labels_, return_counts=True)
    rows = [
        ["none" if label < 0 else str(label), f"{count:,}"]
        for label, count in zip(labels.tolist(), counts.tolist(), strict=True)
    ]
    return [table(["cluster", "rows"], rows[:50], numeric=[1], caption="Sizes of the clusters")]


def _model_section(machine: Any) -> list[str]:
    default = type(machine)().get_params(deep=False)
    shown = [("estimator", type(machine).__name__)]
    shown += [(n, str(own)) for n, own in machine.get_params(deep=False).items() if own != default[n]]
    sigma, gamma = kernel_width(machine)
    if sigma is not None:
        shown.append(("kernel width σ", f"{sigma:.4g} (gamma = {gamma:.4g})"))
    if hasattr(machine, "support_"):
        counts = f"{len(machine.support_):,}"
        if hasattr(machine, "classes_") and len(machine.classes_) <= _MOST_NAMED:
            per_class = zip(machine.classes_.tolist(), np.asarray(machine.n_support_).tolist(), strict=True)
            counts += f" ({', '.join(f'{name}: {count:,}' for name, count in per_class)})"
        shown.append(("support vectors", counts))
    parts = [heading("Model"), definitions(shown)]
    if isinstance(getattr(machine, "path_", None), KernelPath):
        parts.append(paragraph(choice_words(machine)))
        figure = pictures.path(machine) if len(machine.path_) > 1 else None
        if figure is not None:
            parts.append(figure_html(figure, "What each width of each kernel was worth on held-out rows"))
    return parts


def _convergence_section(machine: Any) -> list[str]:
    figure = pictures.convergence(machine)
    if figure is None:
        return []
    several = "; a curve for each problem, at most six" if len(set(machine.history_["problem"])) > 1 else ""
    caption = f"Objective, margin and violation by epoch{several}"
    return [heading("Convergence"), figure_html(figure, caption)]


def _cost_section(story: FitStory) -> list[str]:
    spent = [("time of the fit", f"{story.seconds:.3g} s")]
    if story.memory is not None:
        spent.append(("memory at the peak", f"{story.memory / 1e6:,.0f} MB"))
    parts = [heading("Time and memory"), definitions(spent)]
    if story.model_file is None:
        return parts
    machine = "model[-1]" if hasattr(story.model, "steps") else "model"
    use = "model.predict(X)" if hasattr(story.model, "predict") else f"{machine}.labels_"
    lines = f"from adatron.io import load_model\n\nmodel = load_model({story.model_file!r})\n{use}"
    return [*parts, heading("Load the model"), code(lines)]
