"""``adatron fit``: what it reads, prints and writes."""

import bz2
import gzip
import json
import lzma
import os
import re
from pathlib import Path

import numpy as np
import pandas
import pytest
from sklearn.datasets import dump_svmlight_file

from adatron.display.figures import innermost
from adatron.io import load_model
from tests.cli.tables import checkerboard, letters, surface, write_csv

BUNDLED = ["sonar", "breast_cancer_wisconsin", "ionosphere", "pima"]


def told(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def fit(run):
    """What ``adatron fit --json`` says; without a report unless it is asked for."""
    return lambda *args, report="--no-report": told(
        run("fit", *args, "--json", *([report] if report else []))
    )


def test_table(run):
    result = run("fit", "pima")
    assert result.exit_code == 0
    assert result.stderr == ""
    for text in (
        "pima: 768 rows, 8 columns, to predict class",
        "256 rows kept for testing (33.3 % of each class, drawn at random with seed 0)",
        "AutoSVC(); converged",
        "always guessing 'neg': ",
        "on new rows; better than guessing",
        "chance that a row of class 'pos' scores above",
        "to predict: adatron predict model.skops NEW_ROWS;",
    ):
        assert text in result.stdout
    assert "duality" not in result.stdout
    assert sorted(os.listdir()) == ["model.skops", "report.html"]


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets(fit, name, pictures):
    result = fit(name, report=None)
    assert (result["model"], result["status"]) == ("AutoSVC", "converged")
    assert result["test_error_percent"] < 30.0
    assert result["report"] == "report.html"
    page = Path("report.html").read_text()
    assert "ROC curve" in page
    assert page.count("</svg>") == page.count("<figure>") > 2


@pytest.mark.parametrize("name", ["svmguide1", "a1a"])
def test_svmlight_files_as_they_are(reference_data, fit, name):
    """The held-out third of the training files; the README of the data has what others reach."""
    result = fit(reference_data / "libsvm" / f"{name}.xz")
    assert result["test_error_percent"] < {"svmguide1": 6.0, "a1a": 20.0}[name]


@pytest.mark.slow
def test_cal_housing(reference_data, fit):
    result = fit(reference_data / "regression" / "cal_housing.csv.xz", "--target", "medianHouseValue")
    assert (result["model"], result["n_train"] + result["n_test"]) == ("AutoSVR", 20640)
    assert result["test_r2"] > 0.7


def test_sonar_without_the_original_split_says_so(fit):
    result = fit("sonar")
    assert "not the original split" in result["split"]
    assert "ADATRON_DATA" in result["notes"][0]
    assert fit("sonar", "--test-size", "0.5")["notes"] == []


@pytest.mark.parametrize("intercept", [[], ["--no-intercept"]])
def test_sonar_as_published(reference_data, fit, monkeypatch, intercept):
    """8 of 104 wrong: Campbell & Cristianini 1998, Table 1; Friess, Cristianini & Campbell 1998."""
    monkeypatch.setenv("ADATRON_DATA", str(reference_data))
    options = ["--model", "svc", "--solver", "adatron", "--sigma", "1", "-C", "inf", "--no-scale"]
    result = fit("sonar", *options, *intercept)
    assert result["split"] == "the original split"
    assert result["test_error_percent"] == pytest.approx(7.69, abs=0.005)
    assert result["converged"]
    assert result["duality_gap"] <= 1e-3
    assert result["notes"] == []


def test_json_is_complete(fit):
    result = fit("sonar", "-C", "inf", "--sigma", "2", "--solver", "adatron", report=None)
    assert (result["model"], result["parameters"]["C"], result["parameters"]["solver"]) == (
        "SVC",
        "inf",
        "adatron",
    )
    assert (result["sigma"], result["gamma"]) == (2.0, 0.125)
    wanted = {
        "data",
        "target",
        "task",
        "split",
        "n_train",
        "n_test",
        "status",
        "n_support",
        "epochs",
        "seconds",
    }
    assert wanted | {"peak_memory_mb", "notes", "warnings", "model_file", "report"} <= set(result)


def test_options_reach_the_model(fit):
    options = ["--kernel", "poly", "--gamma", "auto", "-C", "5", "--no-intercept", "--solver", "auto"]
    options += ["--tol", "0.01", "--test-size", "0.25", "--time-limit", "20", "--probability"]
    result = fit("sonar", *options)
    wanted = {"kernel": "poly", "gamma": "auto", "C": 5.0, "fit_intercept": False, "tol": 0.01}
    assert result["parameters"] == wanted | {"time_limit": 20.0, "probability": True}
    assert (result["n_test"], result["sigma"]) == (52, None)
    assert result["gamma"] == pytest.approx(1 / 60)


@pytest.mark.parametrize(
    ("options", "model"),
    [
        (["--model", "svc"], "SVC"),
        (["--model", "ensemble"], "EnsembleSVC"),
        (["--model", "auto"], "AutoSVC"),
        (["--model", "oneclass", "--nu", "0.2", "--target", "class"], "OneClassSVM"),
        (["--model", "cluster", "--target", "class"], "SupportVectorClustering"),
    ],
)
def test_models(fit, tmp_path, options, model):
    result = fit(checkerboard(tmp_path / "table.csv"), *options, report=None)
    assert (result["model"], result["warnings"], result["n_features"]) == (model, [], 3)
    assert type(innermost(load_model("model.skops"))).__name__ == model
    has_target = model not in ("OneClassSVM", "SupportVectorClustering")
    assert ("test_error_percent" in result) == has_target


@pytest.mark.parametrize(("options", "model"), [([], "AutoSVR"), (["--epsilon", "0.01"], "SVR")])
def test_regression(fit, tmp_path, options, model, pictures):
    result = fit(surface(tmp_path / "table.csv", n=90), *options, report=None)
    assert (result["model"], result["task"]) == (model, "regression")
    assert result["test_r2"] > 0.7
    assert result["n_support"] > 0
    page = Path("report.html").read_text()
    assert f"{result['test_r2']:.4f}" in page
    assert "soft-margin" not in page
    assert ("machines were compared by cross-validation" in page) == (model == "AutoSVR")


@pytest.mark.parametrize("number", ["1", "0.5"])
def test_a_few_whole_numbers_are_classes(fit, tmp_path, number):
    path = write_csv(tmp_path / "table.csv", "a,y", [(i, i % 3 * float(number)) for i in range(60)])
    assert fit(path)["task"] == ("classification" if number == "1" else "regression")


def test_missing_values_are_filled_in(fit, tmp_path):
    rows = [
        ("" if i % 5 == 0 else i % 7, "" if i % 11 == 0 else "ab"[i % 2], "xy"[i % 7 > 3]) for i in range(60)
    ]
    path = write_csv(tmp_path / "table.csv", "a,b,class", rows)
    assert fit(path, report=None)["n_train"] == 40
    page = Path("report.html").read_text()
    assert "missing indicated" in page
    found = re.search(r"(\d+) of 80 cells of the training rows are missing", page)
    assert 8 <= int(found[1]) <= 18  # of 12 + 6 in all


@pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".bz2"])
def test_compressed_svmlight(fit, tmp_path, ending):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.7)
    plain = tmp_path / "rows.svm"
    dump_svmlight_file(X, np.where(X.sum(1) > 0, 1, -1), str(plain), zero_based=False)
    openers = {"": open, ".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
    path = tmp_path / f"rows.svm{ending}"
    text = plain.read_bytes()
    with openers[ending](path, "wb") as stream:
        stream.write(text)
    result = fit(path)
    assert (result["n_features"], result["task"]) == (4, "classification")
    assert result["test_error_percent"] < 40.0


@pytest.mark.parametrize("model", ["auto", "svc", "ensemble"])
def test_large_sparse_svmlight(start, tmp_path, model):
    """A million features, of which a row has twenty: nothing is made dense."""
    draw, n = np.random.default_rng(0), 100
    with open(tmp_path / "rows.svm", "w") as stream:
        for label in np.repeat([1, 2], n // 2):
            columns = np.sort(draw.choice(np.arange(3, 1_000_000), 20, replace=False))
            stream.write(f"{label} {label}:1 {' '.join(f'{column}:1' for column in columns)}\n")
    report = [] if model == "svc" else ["--no-report"]
    command = start("fit", "rows.svm", "--model", model, "--json", *report)
    assert command.wait() == 0, command.errors()
    result = json.loads(command.output())
    assert result["n_features"] > 990_000
    assert result["test_error_percent"] == 0.0
    assert result["peak_memory_mb"] < 700.0  # 800 for the rows alone if they were dense
    predicted = start("predict", "model.skops", "rows.svm")
    assert predicted.wait() == 0, predicted.errors()
    assert len(predicted.output().splitlines()) == n + 1


def test_parquet(fit, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    columns = {"a": np.arange(60) % 9, "colour": ["red", "blue"] * 30, "class": ["x"] * 20 + ["y"] * 40}
    write_table(pyarrow.table(columns), tmp_path / "table.parquet")
    assert fit(tmp_path / "table.parquet")["target"] == "class"


def test_ways_of_writing_a_table(fit, tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("".join(f"{i},5;{i % 5};-;{'ab'[i % 2]}\n" for i in range(40)))
    options = ["--no-header", "--delimiter", ";", "--decimal", ",", "--ignore", "column_1", "--missing", "zz"]
    result = fit(path, *options, "--categorical", "column_2")
    assert (result["target"], result["n_features"]) == ("column_4", 1)
    assert result["notes"] == ["empty columns were left out: 'column_3'"]
    zero = tmp_path / "zero.svm"
    zero.write_text("".join(f"{i % 2} 0:{i} 3:1\n" for i in range(40)))
    assert fit(zero, "--zero-based")["n_features"] == 4


def test_target_that_is_not_there(run, tmp_path):
    result = run("fit", checkerboard(tmp_path / "table.csv"), "--target", "clas")
    assert result.exit_code == 1
    assert "target='clas' is not one of the columns 'a', 'b', 'colour', 'class'; did you mean 'class'?" in (
        result.stderr
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "age"], "is called 'class'"),
        (["--encoding", "latin-1"], "--encoding is for files"),
        (["--zero-based"], "files"),
    ],
)
def test_bundled_sets_need_no_options(run, options, message):
    result = run("fit", "pima", *options)
    assert result.exit_code == 1
    assert message in result.stderr


def test_text_is_no_number_to_predict(run, tmp_path):
    result = run("fit", checkerboard(tmp_path / "table.csv"), "--model", "svr")
    assert result.exit_code == 1
    assert "the target 'class' is text, not a number" in result.stderr


def test_one_column_is_not_enough(run, tmp_path):
    path = write_csv(tmp_path / "table.csv", "a", [(i,) for i in range(20)])
    assert "only one column, 'a'; expected features and a target" in run("fit", path).stderr


def test_a_row_that_is_alone_in_its_class_is_trained_on(fit, tmp_path):
    path = letters(tmp_path / "table.csv", n=60, n_classes=3)
    path.write_text(path.read_text() + "9,9,alone\n")
    result = fit(path, report=None)
    assert "of each class" in result["split"]
    assert "alone" in innermost(load_model("model.skops")).classes_


@pytest.mark.parametrize("options", [[], ["--model", "svc"], ["--model", "ensemble"]])
def test_more_classes_than_test_rows(fit, tmp_path, options):
    """Not all of them can be in the test part, and some are not in the training part."""
    result = fit(letters(tmp_path / "table.csv", n=30, n_classes=14), *options, report=None)
    assert "of each class" not in result["split"]
    assert (result["n_train"], result["n_test"]) == (20, 10)
    assert "Confusion matrix" in Path("report.html").read_text()


def test_all_rows_for_training(fit, tmp_path):
    result = fit(checkerboard(tmp_path / "table.csv"), "--test-size", "0", report=None)
    assert (result["n_train"], result["n_test"]) == (60, 0)
    assert "test_error_percent" not in result
    assert "no test rows were held out" in Path("report.html").read_text()


def test_no_rows_left_for_training(run, tmp_path):
    result = run("fit", checkerboard(tmp_path / "table.csv", n=10), "--test-size", "0.95")
    assert result.exit_code == 1
    assert "--test-size 0.95 leaves 0 of 10 rows for training" in result.stderr


def test_one_test_row(run, tmp_path):
    """R² of one row does not exist; the summary and the page say so without a fuss."""
    result = told(
        run("fit", surface(tmp_path / "table.csv", n=30), "--epsilon", "0.1", "--test-size", "0.01", "--json")
    )
    assert (result["n_test"], result["test_r2"]) == (1, "nan")
    shown = run("fit", tmp_path / "table.csv", "--epsilon", "0.1", "--test-size", "0.01").stdout
    assert "1 row kept for testing" in shown
    assert "(root mean square, 1 row)" in shown
    assert "one row is too few to say" in shown
    assert "nan" not in shown
    assert "R²" not in shown


def test_without_skops_nothing_is_trained(run, monkeypatch):
    monkeypatch.setattr("adatron.cli.fit.find_spec", lambda name: None)
    result = run("fit", "pima", "--model", "svc", "--no-report")
    assert result.exit_code == 1
    assert "model files need skops: pip install skops" in result.stderr
    assert os.listdir() == []


def test_without_matplotlib(run, monkeypatch):
    monkeypatch.setattr("adatron.cli.fit.find_spec", lambda name: name != "matplotlib" or None)
    result = run("fit", "pima", "--model", "svc")
    assert result.exit_code == 0
    assert "note: no report was written: it needs matplotlib, pip install matplotlib" in result.stderr
    explicit = run("fit", "pima", "--model", "svc", "--report", "x.html")
    assert explicit.exit_code == 1
    assert "--report needs matplotlib" in explicit.stderr


def test_the_model_file_matches_the_columns_of_data_frames_by_name(run):
    """Labels keep their type, and missing values are filled in, in Python as on the command line."""
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    frame["c"] = rng.choice(["x", "y", "z"], 300)
    frame["label"] = ((frame["a"] > 0.0) & (frame["c"] != "x")).astype(int) + 1
    frame.loc[::7, "c"], frame.loc[::11, "b"] = None, np.nan
    frame.to_csv("t.csv", index=False)
    assert run("fit", "t.csv", "--no-report").exit_code == 0
    model, X, y = load_model("model.skops"), frame.drop(columns="label"), frame["label"]
    assert model.classes_.tolist() == [1, 2]
    assert model.score(X, y) > 0.85
    assert model.score(X[["c", "b", "a"]], y) == model.score(X, y)
    with pytest.raises(ValueError, match="c"):
        model.predict(X[["a", "b"]])
    told_by_command = run("predict", "model.skops", "t.csv").stdout.split()[1:]
    assert told_by_command == [str(label) for label in model.predict(X)]


@pytest.mark.parametrize("labels", [("1", "0"), ("0.5", "-1.5"), ("01", "02"), ("no", "yes")])
def test_labels_keep_their_type_unless_that_would_change_their_spelling(run, labels):
    rows = [f"{i % 7 - 3},{i % 5},{labels[i % 7 < 3]}" for i in range(60)]
    Path("t.csv").write_text("\n".join(["a,b,class", *rows]))
    assert run("fit", "t.csv", "--model", "svc", "--no-report").exit_code == 0
    classes = load_model("model.skops").classes_
    assert sorted(str(label) for label in classes) == sorted(labels)
    assert classes.dtype.kind == {"1": "i", "0.5": "U", "01": "U", "no": "U"}[labels[0]]


def test_rows_without_a_target_and_empty_columns_are_left_out_with_a_note(run, fit, tmp_path):
    lines = checkerboard(tmp_path / "table.csv").read_text().splitlines()
    lines = [f"{lines[0]},empty", *(f"{line}," for line in lines[1:]), "1,2,red,,", "3,4,blue,NA,"]
    (tmp_path / "gaps.csv").write_text("\n".join(lines))
    result = fit(tmp_path / "gaps.csv", "--target", "class", report=None)
    assert result["notes"] == [
        "2 of 62 rows have no 'class' and were left out",
        "empty columns were left out: 'empty'",
    ]
    assert (result["n_train"] + result["n_test"], result["n_features"]) == (60, 3)
    assert "2 of 62 rows have no" in Path("report.html").read_text()


def test_task_seed_and_scoring(run, fit, tmp_path):
    path = write_csv(tmp_path / "table.csv", "a,y", [(i, i % 5) for i in range(100)])
    assert fit(path, "--task", "regression")["model"] == "AutoSVR"
    assert fit(path, "--task", "classification")["model"] == "AutoSVC"
    assert "svr is for regression" in run("fit", path, "--model", "svr", "--task", "classification").stderr
    first, again, other = (fit("pima", "--seed", seed, "--model", "svc") for seed in (1, 1, 2))
    assert first["test"] == again["test"] != other["test"]
    result = fit(letters(tmp_path / "letters.csv", n_classes=2), "--scoring", "roc_auc")
    assert result["test"]["scoring"][0] == "roc_auc"
    assert result["test"]["scoring"][1] == pytest.approx(result["test"]["auc"])
    assert "--scoring does not apply to --model svc" in run("fit", "--scoring", "f1", "--model", "svc").stderr


@pytest.mark.parametrize("scoring", ["f1", "average_precision", "neg_brier_score", "r2"])
def test_the_second_of_two_classes_is_the_one_that_a_score_is_of(fit, tmp_path, scoring):
    rows = [(i, i % 7, i > 40 or i % 5 == 0) for i in range(120)]
    spelled = [(a, b, "yes" if own else "no") for a, b, own in rows]
    numbers = [(a, b, int(own)) for a, b, own in rows]
    text, same = (
        fit(write_csv(tmp_path / "table.csv", "a,b,class", own), "--scoring", scoring, "--no-report")
        for own in (spelled, numbers)
    )
    assert text["test"]["scoring"] == same["test"]["scoring"]


def test_a_score_that_test_rows_do_not_have_loses_no_model(run, tmp_path):
    rows = [(i, "ny"[i > 20]) for i in range(40)] + [(99, "alone")]
    path = write_csv(tmp_path / "table.csv", "a,class", rows)
    result = run("fit", path, "--scoring", "neg_log_loss", "--no-report", "--json")
    assert result.exit_code == 0, result.output
    assert "warning: neg_log_loss of the test rows is not known" in result.stderr
    assert load_model("model.skops").classes_.tolist() == ["alone", "n", "y"]


def test_encoding(run, fit, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("größe,class\n".encode("latin-1") + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(40)))
    refused = run("fit", path)
    assert "table.csv:1: not utf-8 text: found byte 0xf6 at byte offset 2" in refused.stderr
    assert fit(path, "--encoding", "latin-1")["n_features"] == 1
    assert "encoding='klingon' is not known" in run("fit", path, "--encoding", "klingon").stderr


def test_a_target_that_nothing_tells_of(run, tmp_path):
    """Noise is no better than a constant guess, and the person is told so."""
    draw = np.random.default_rng(0)
    rows = [(a, "xy"[b]) for a, b in zip(draw.normal(size=90).round(3), draw.integers(0, 2, 90), strict=True)]
    result = run("fit", write_csv(tmp_path / "table.csv", "a,class", rows), "--no-report")
    assert "perhaps no better than guessing" in result.stdout
    assert re.search(r"what next +do not rely on this model yet", result.stdout)


def test_numbers_are_told_in_units_of_the_target(run, fit, tmp_path):
    path = surface(tmp_path / "table.csv", n=120)
    test = fit(path)["test"]
    low, high = test["rmse_interval"]
    assert low < test["rmse"] < high
    assert test["is_better"]
    frame = pandas.read_csv(path)
    assert test["baseline_rmse"] == pytest.approx(frame["y"].std(), rel=0.5)
    shown = run("fit", path, "--no-report").stdout
    assert (
        f"{test['rmse']:.4g} in units of y (root mean square, 40 rows); always guessing the mean: " in shown
    )


def test_the_report_tells_of_classes_columns_and_calibration(fit, tmp_path):
    fit(checkerboard(tmp_path / "table.csv", n=200), report=None)
    page = Path("report.html").read_text()
    assert "chance that a row of class &#x27;yes&#x27; scores above one of the other" in page
    assert "always guessing " in page
    assert "Calibration: the closer to the dashed line, the better" in page
    assert "<td>colour</td><td>binary</td>" in page
    assert (
        page.index("<h2>Certificate</h2>")
        > page.index("<h2>Time and memory</h2>")
        > page.index("<h2>Columns")
    )


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\x1b[31mred", "$x^2$", "=cmd()"])
def test_hostile_names_are_harmless_everywhere(run, tmp_path, name, pictures):
    rows = [(i, i % 7, f'"{name} {i % 2}"') for i in range(60)]
    path = write_csv(tmp_path / "table.csv", f'"{name}",b,"class {name}"', rows)
    assert run("fit", path).exit_code == 0
    page = Path("report.html").read_text()
    assert "<script" not in page
    assert "\x1b" not in page
    for command in (["fit", path, "--no-report"], ["inspect", "model.skops"]):
        result = run(*command)
        assert result.exit_code == 0, result.output
        assert "\x1b" not in result.output
    found = json.loads(run("predict", "model.skops", path, "--keep", name, "--json").stdout)
    assert found[name] == list(range(60))
    assert set(found["prediction"]) <= {f"{name} 0", f"{name} 1"}
    assert "\x1b" not in run("predict", "model.skops", path, "-o", "out.csv").output


def test_auto_gets_the_raw_table(fit, tmp_path):
    result = fit(checkerboard(tmp_path / "table.csv"), report=None)
    model = load_model("model.skops")
    assert type(model).__name__ == "AutoSVC"  # without an encoder in front of its own
    assert result["columns"] == "2 numeric, 1 two-valued"
    assert [own.name for own in model.encoder_.columns_] == ["a", "b", "colour"]
    page = Path("report.html").read_text()
    assert "<h2>Columns</h2>" in page
    assert fit("sonar")["columns"] == "60 numeric"


def test_a_value_missing_only_among_the_test_rows(fit, tmp_path):
    rows = [(i, i % 7, "lh"[i > 20]) for i in range(40)]
    for lost in (0, 13, 26):
        other = [("" if i == lost else a, b, label) for i, (a, b, label) in enumerate(rows)]
        assert fit(write_csv(tmp_path / "table.csv", "a,b,class", other), "--no-report")["n_test"] == 14


def test_a_tube_of_width_zero(fit, tmp_path):
    result = fit(surface(tmp_path / "table.csv", n=60), "--epsilon", "0")
    assert (result["model"], result["parameters"]) == ("SVR", {"epsilon": 0.0})


def test_row_numbers_of_a_data_frame_are_no_feature(fit, tmp_path):
    random = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": random.normal(size=90), "class": np.repeat(["u", "v"], 45)})
    frame.to_csv(tmp_path / "rows.csv")  # sorted by class
    told = fit(tmp_path / "rows.csv", "--target", "class")
    assert told["importances"] == {"a": 1.0, "unnamed: 0": 0.0}
    assert told["test"]["error_percent"] > 20.0


def test_targets_that_are_money_are_numbers(fit, tmp_path):
    random = np.random.default_rng(0)
    a = random.normal(size=80)
    prices = [f"${1_500 + 400 * own:,.0f}" for own in a]
    pandas.DataFrame({"a": a, "price": prices}).to_csv(tmp_path / "prices.csv", index=False)
    told = fit(tmp_path / "prices.csv", "--target", "price")
    assert told["task"] == "regression"
    assert told["test"]["r2"] > 0.9
    assert any("is read as numbers" in note for note in told["notes"])
