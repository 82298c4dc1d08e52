"""One self-contained HTML page about a fit.

>>> from adatron import SVC
>>> from adatron.datasets import load_sonar
>>> from adatron.display.report import FitStory, fit_report
>>> X_train, X_test, y_train, y_test = load_sonar(split="half")
>>> model = SVC(C=10.0).fit(X_train, y_train)
>>> story = FitStory("sonar", model, X_train, y_train, X_test, y_test, seconds=0.1)
>>> page = fit_report(story)
>>> page.startswith("<!doctype html>"), "relative duality gap" in page
(True, True)
"""

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, mean_absolute_error

from adatron.auto.base import AutoEstimator
from adatron.display.figures import encoder_of
from adatron.display.page import beside, code, definitions, heading, items, page, paragraph, table
from adatron.display.report import pictures, words
from adatron.display.report.judge import FitStory, what_mattered
from adatron.display.report.words import amount_words
from adatron.explanation import explain

__all__ = ["FitStory", "fit_report"]

_MOST_CLASSES = 30  # in a confusion matrix
_MOST_NAMED = 12  # classes whose support vectors are counted, columns that mattered
_MOST_COLUMNS = 100
_MOST_CLUSTERS = 50
_MOST_CELLS = 50_000  # of a machine's vectors, up to which a prediction is explained in seconds
_BACKGROUND = 10  # rows that the explained one is compared with
_COVERAGE = 0.9  # of intervals and of prediction sets


def fit_report(story: FitStory) -> str:
    """The report as one HTML document."""
    n_test = f"{story.X_test.shape[0]:,}" if story.has_test_rows else "none"
    data = [("training rows", f"{story.X_train.shape[0]:,}"), ("test rows", n_test), *story.data.items()]
    certificate = [*words.certificate_words(story.machine), *words.bound_words(story)]
    convergence = pictures.convergence(story.machine)
    body = [
        heading("Data"), definitions(data), items(story.notes),
        heading("Result"), *_result(story),
        items([f"Warning: {text}" for text in story.warnings]),
        *_model_section(story.machine),
        *_example_section(story),
        *_columns_section(story),
        *_cost_section(story),
        *([heading("Convergence"), convergence] if convergence else []),
        heading("Certificate"), *map(paragraph, certificate),
    ]  # fmt: skip
    return page(f"{type(story.machine).__name__} on {story.name}", body)


def _result(story: FitStory) -> list[str]:
    """How good the predictions are: numbers in the words of the command line, then tables and figures."""
    if story.task == "outliers":
        sentence = f"{100 * np.mean(story.predictions < 0):.2f} % of the training rows are outliers."
        return [paragraph(sentence), pictures.outlier_scores(story)]
    if story.task == "clusters":
        labels, counts = np.unique(story.machine.labels_, return_counts=True)
        names = ["noise points" if label < 0 else str(label) for label in labels.tolist()]
        sizes = [[name, f"{count:,}"] for name, count in zip(names, counts.tolist(), strict=True)]
        caption = "Sizes of the clusters"
        return [table(["cluster", "rows"], sizes[:_MOST_CLUSTERS], numeric=[1], caption=caption)]
    target = story.data.get("target", "the target")
    measured = words.score_words(story.judgement, target, is_training=not story.has_test_rows)
    more, parts = _regression(story) if story.task == "regression" else _classification(story)
    columns = [str(name) for name in getattr(story.X_train, "columns", [])]
    mattered = words.importance_words(what_mattered(story.model, columns), _MOST_NAMED)
    named = [("what mattered", mattered)] if mattered else []
    parts.insert(0, definitions([*measured, *more, *named]))
    if not story.has_test_rows:
        parts.insert(0, paragraph("These are the training rows: no test rows were held out."))
    return parts


def _classification(story: FitStory) -> tuple[list[tuple[str, str]], list[str]]:
    """Further numbers, and the pieces of HTML below all numbers."""
    (X, y), classes, more = story.judged, story.machine.classes_, []
    if isinstance(story.machine, AutoEstimator):
        sets = story.machine.predict_set(_inputs(story, X), coverage=_COVERAGE)
        held = np.mean((sets & (y[:, None] == classes)).any(axis=1))
        more = [(
            f"{100 * _COVERAGE:.0f} % prediction sets",
            f"hold the true class of {100 * held:.1f} % of these rows; {sets.sum(axis=1).mean():.2f} classes "
            "on average",
        )]  # fmt: skip
    drawn = pictures.roc(story), pictures.margins(story), pictures.calibration(story)
    names = np.union1d(classes, y)
    confusions = paragraph(f"{len(names)} classes: too many for a confusion matrix.")
    if len(names) <= _MOST_CLASSES:
        counts = confusion_matrix(y, story.predictions, labels=names).tolist()
        rows = [[str(name), *map(str, own)] for name, own in zip(names, counts, strict=True)]
        header = ["true \\ predicted", *map(str, names)]
        confusions = table(header, rows, numeric=range(1, len(header)), caption="Confusion matrix")
    return more, [confusions, beside([figure for figure in drawn if figure])]


def _regression(story: FitStory) -> tuple[list[tuple[str, str]], list[str]]:
    """Further numbers, and the pieces of HTML below all numbers."""
    X, y = story.judged
    more = [("mean absolute error", amount_words(mean_absolute_error(y, story.predictions)))]
    figures = [pictures.residuals(story)]
    if isinstance(story.machine, AutoEstimator):
        ends = story.machine.predict_interval(_inputs(story, X), coverage=_COVERAGE)
        held = np.mean((ends[:, 0] <= y) & (y <= ends[:, 1]))
        width = amount_words(np.mean(np.ptp(ends, axis=1)))
        name = f"{100 * _COVERAGE:.0f} % intervals"
        more.append((name, f"hold {100 * held:.1f} % of these rows; {width} wide on average"))
        figures.append(pictures.intervals(story, ends))
    return more, figures


def _inputs(story: FitStory, X: Any) -> Any:
    """Rows as the estimator inside the pipeline takes them."""
    return X if story.model is story.machine else story.model[:-1].transform(X)


def _model_section(machine: Any) -> list[str]:
    given = words.chosen_parameters(machine)
    shown = [("estimator", type(machine).__name__), *((name, str(own)) for name, own in given.items())]
    sigma, gamma = words.kernel_width(machine)
    if sigma is not None:
        shown.append(("kernel width σ", f"{sigma:.4g} (gamma = {gamma:.4g})"))
    if hasattr(machine, "support_"):
        counts = f"{len(machine.support_):,}"
        if hasattr(machine, "classes_") and len(machine.classes_) <= _MOST_NAMED:
            per_class = zip(machine.classes_.tolist(), np.asarray(machine.n_support_).tolist(), strict=True)
            counts += f" ({', '.join(f'{name}: {count:,}' for name, count in per_class)})"
        shown.append(("support vectors", counts))
    parts = [heading("Model"), definitions(shown)]
    if isinstance(machine, AutoEstimator):
        parts.append(paragraph(words.choice_words(machine)))
        if len(machine.path_) > 1:
            parts.append(pictures.path(machine))
    return parts


def _example_section(story: FitStory) -> list[str]:
    """Why the row that is most wrong got its prediction."""
    if not isinstance(story.machine, AutoEstimator):
        return []
    sizes = [machine.vectors.shape for machine in story.machine._expansions()]
    if max(n_rows * n_columns for n_rows, n_columns in sizes) > _MOST_CELLS:
        return []
    X, y = story.judged
    if story.task == "classification":
        probabilities = np.asarray(story.model.predict_proba(X))
        places = np.searchsorted(story.machine.classes_, y).clip(0, probabilities.shape[1] - 1)
        worst = int(probabilities[np.arange(len(y)), places].argmin())
    else:
        worst = int(np.abs(y - story.predictions).argmax())
    rows = X.iloc if hasattr(X, "iloc") else X
    others = np.linspace(0, len(y) - 1, min(len(y), _BACKGROUND)).astype(int)
    found = explain(story.model, rows[[worst]], background=rows[others])
    said, true = story.predictions[worst], y[worst]
    if story.task == "regression":
        said, true = amount_words(said), amount_words(float(true))
    sentence = (
        f"{'Test' if story.has_test_rows else 'Training'} row {worst} (counting from 0) is the worst: "
        f"predicted {said}, true {true}. What its columns added to the decision value, from "
        f"{amount_words(found.base)} on average to {amount_words(found.decision)} (Shapley values):"
    )
    rows = words.contribution_rows(found, _MOST_NAMED)
    added = table(["column", "value", "adds"], rows, numeric=[2])
    return [heading("The worst prediction, explained"), paragraph(sentence), added]


def _columns_section(story: FitStory) -> list[str]:
    """What the encoder did with every column, and how much was missing."""
    encoder = encoder_of(story.model)
    if encoder is None:
        return []
    columns = list(encoder.columns_)
    rows = [[own.name, own.kind, f"{own.n_missing:,}", own.done] for own in columns[:_MOST_COLUMNS]]
    n_more = len(columns) - len(rows)
    note = [paragraph(f"{n_more:,} further columns are not shown.")] if n_more else []
    n_missing, n_cells = sum(own.n_missing for own in columns), story.X_train.shape[0] * len(columns)
    missing = f"{n_missing:,} of {n_cells:,} cells of the training rows are missing."
    header = ["column", "kind", "missing", "what was done"]
    return [heading("Columns"), paragraph(missing), table(header, rows, numeric=[2], wide=[3]), *note]


def _cost_section(story: FitStory) -> list[str]:
    spent = [("training time", f"{story.seconds:.3g} s")]
    if story.memory is not None:
        spent.append(("peak memory", f"{story.memory / 1e6:,.0f} MB"))
    parts = [heading("Time and memory"), definitions(spent)]
    if story.model_file is None:
        return parts
    machine = "model[-1]" if hasattr(story.model, "steps") else "model"
    use = "model.predict(X)" if hasattr(story.model, "predict") else f"{machine}.labels_"
    lines = f"from adatron.io import load_model\n\nmodel = load_model({story.model_file!r})\n{use}"
    return [*parts, heading("Load the model"), code(lines)]
