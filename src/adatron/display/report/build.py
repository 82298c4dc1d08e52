"""Puts a report together, section by section."""

from __future__ import annotations

from typing import Any

import numpy as np

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
)
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
)
from adatron.selection import KernelPath
from adatron.tables import TableEncoder

__all__ = ["fit_report"]

_MOST_CLASSES = 30  # in a confusion matrix
_MOST_NAMED = 12  # classes whose support vectors are counted, columns that mattered
_MOST_COLUMNS = 100


def fit_report(story: FitStory) -> str:
    """The report as one HTML document.

    Parameters
    ----------
    story : FitStory

    Returns
    -------
    str
    """
    body = [
        *_data_section(story),
        *_result_section(story),
        *_choice_section(story),
        *_columns_section(story),
        *_cost_section(story),
        *_convergence_section(story),
        *_certificate_section(story),
    ]
    return page(f"{type(story.machine).__name__} on {story.name}", body)


def _data_section(story: FitStory) -> list[str]:
    known = {
        "training rows": f"{story.n_train:,}",
        "test rows": f"{story.n_test:,}" if story.has_test else "none",
    }
    return [heading("Data"), definitions([*known.items(), *story.data.items()]), items(story.notes)]


def _result_section(story: FitStory) -> list[str]:
    sections = {
        "classification": _classification,
        "regression": _regression,
        "outliers": _outliers,
        "clusters": _clusters,
    }
    return [heading("Result"), *sections[story.task](story), items([f"Warning: {w}" for w in story.warnings])]


def _classification(story: FitStory) -> list[str]:
    X, y = story.judged
    found = judge(story.model, X, y, story.y_train, is_class=True)
    where = "Test error" if story.has_test else "Error on the training rows (no test rows were held out)"
    sentences = [
        f"{where}: {rate_words(found['n_wrong'], found['n_judged'])}. Always guessing {found['baseline']} "
        f"would be wrong for {found['baseline_error_percent']:.2f} %."
    ]
    if "auc" in found:
        sentences.append(
            f"The positive class is {found['positive_class']}: of a row of it and another one, the model "
            f"ranks them rightly with probability {found['auc']:.3f} (AUC)."
        )
    figures = [
        *_figure(pictures.roc(story), "Receiver operating characteristic"),
        *_figure(pictures.margins(story), "Margins: rows left of the dashed line are misclassified"),
        *_figure(pictures.calibration(story), "Calibration: the nearer to the dashed line, the truer"),
    ]
    texts = [paragraph(sentence) for sentence in [*sentences, *_importance_words(story)]]
    return [*texts, _confusion_table(story, np.asarray(y)), beside(figures)]


def _importance_words(story: FitStory) -> list[str]:
    named = what_mattered(story.model, [str(name) for name in getattr(story.X_train, "columns", [])])
    shown = ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in named[:_MOST_NAMED])
    return [f"What mattered most: {shown}."] if shown else []


def _columns_section(story: FitStory) -> list[str]:
    """What the encoder did with every column, and how much was missing."""
    encoder = story.model[0] if hasattr(story.model, "steps") else None
    if not isinstance(encoder, TableEncoder):
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
    where = "On the test rows:" if story.has_test else "On the training rows (no test rows were held out):"
    words = [paragraph(sentence) for sentence in _importance_words(story)]
    return [paragraph(where), definitions(measured), *words, *_figure(pictures.residuals(story), caption)]


def _outliers(story: FitStory) -> list[str]:
    share = float(np.mean(np.asarray(story.model.predict(story.X_train)) < 0))
    sentence = f"{100 * share:.2f} % of the training rows are outliers."
    return [
        paragraph(sentence),
        *_figure(pictures.outlier_scores(story), "Outliers lie left of the dashed line"),
    ]


def _clusters(story: FitStory) -> list[str]:
    labels, counts = np.unique(story.machine.labels_, return_counts=True)
    rows = [
        ["none" if label < 0 else str(label), f"{count:,}"]
        for label, count in zip(labels.tolist(), counts.tolist(), strict=True)
    ]
    return [table(["cluster", "rows"], rows[:50], numeric=[1], caption="Sizes of the clusters")]


def _choice_section(story: FitStory) -> list[str]:
    machine = story.machine
    parts = [heading("Model"), definitions(_parameters(machine))]
    if not isinstance(getattr(machine, "path_", None), KernelPath):
        return parts
    caption = "What each width of each kernel was worth on held-out rows"
    if len(machine.path_) < 2:
        return [*parts, paragraph(choice_words(machine))]
    return [*parts, paragraph(choice_words(machine)), *_figure(pictures.path(machine), caption)]


def _parameters(machine: Any) -> list[tuple[str, str]]:
    shown = machine.get_params(deep=False)
    given = [(name, str(value)) for name, value in shown.items() if value != _default(machine, name)]
    sigma, gamma = kernel_width(machine)
    found = [("estimator", type(machine).__name__), *given]
    if sigma is not None:
        found.append(("kernel width σ", f"{sigma:.4g} (gamma = {gamma:.4g})"))
    if hasattr(machine, "support_"):
        found.append(("support vectors", _support_words(machine)))
    return found


def _default(machine: Any, name: str) -> Any:
    return type(machine)().get_params(deep=False)[name]


def _support_words(machine: Any) -> str:
    total = f"{len(machine.support_):,}"
    if not hasattr(machine, "classes_") or len(machine.classes_) > _MOST_NAMED:
        return total
    per_class = zip(machine.classes_.tolist(), np.asarray(machine.n_support_).tolist(), strict=True)
    return f"{total} ({', '.join(f'{name}: {count:,}' for name, count in per_class)})"


def _convergence_section(story: FitStory) -> list[str]:
    machine = story.machine
    n_problems = len(set(getattr(machine, "history_", {"problem": ()})["problem"]))
    several = "; a curve for each problem, at most six" if n_problems > 1 else ""
    drawn = _figure(pictures.convergence(machine), f"Objective, margin and violation by epoch{several}")
    return [heading("Convergence"), *drawn] if drawn else []


def _certificate_section(story: FitStory) -> list[str]:
    sentences = [*certificate_words(story.machine), *bound_words(story)]
    return [heading("Certificate"), *(paragraph(sentence) for sentence in sentences)]


def _cost_section(story: FitStory) -> list[str]:
    spent = [("time of the fit", f"{story.seconds:.3g} s")]
    if story.memory is not None:
        spent.append(("memory at the peak", f"{story.memory / 1e6:,.0f} MB"))
    parts = [heading("Time and memory"), definitions(spent)]
    if story.model_file is None:
        return parts
    use = "model.predict(X)" if hasattr(story.model, "predict") else "model[-1].labels_"
    lines = f"from adatron.io import load_model\n\nmodel = load_model({story.model_file!r})\n{use}"
    return [*parts, heading("Load the model"), code(lines)]


def _figure(figure: Any, caption: str) -> list[str]:
    return [] if figure is None else [figure_html(figure, caption)]
