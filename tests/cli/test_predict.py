"""``adatron predict``: rows matched by name, classes as they were spelled."""

import csv
import io
import json
import os
from pathlib import Path

import numpy as np
import pandas
import pytest

from adatron import SVC
from adatron.io import load_model, save_model
from tests.cli.tables import checkerboard, letters, surface, write_csv


@pytest.fixture
def predict(run):
    """The rows that ``adatron predict`` writes, without the first, which has the names."""

    def predicted(*args):
        result = run("predict", "model.skops", *args)
        assert result.exit_code == 0, result.output
        return list(csv.reader(io.StringIO(result.stdout)))[1:]

    return predicted


def fails(result):
    assert result.exit_code == 1, result.output
    return result.stderr


def test_most_of_the_training_rows_are_right(table, predict):
    rows = list(csv.reader(table.open()))[1:]
    found = predict(table)
    assert len(found) == len(rows) == 90
    assert np.mean([own[-1] == guess[0] for own, guess in zip(rows, found, strict=True)]) > 0.9


def test_columns_are_matched_by_name(table, predict, tmp_path):
    rows = list(csv.DictReader(table.open()))
    other = [(row["colour"], row["b"], row["a"]) for row in rows]
    moved = write_csv(tmp_path / "moved.csv", "colour,b,a", other)
    assert predict(moved) == predict(table)


def test_columns_that_the_model_dropped_need_not_be_there(run, table, predict, tmp_path):
    header, *rows = table.read_text().splitlines()
    numbered = tmp_path / "numbered.csv"
    numbered.write_text("\n".join([f"customer_id,{header}", *(f"{i},{row}" for i, row in enumerate(rows))]))
    assert "dropped: customer_id (identifier)" in run("fit", numbered, "--no-report").stdout
    assert predict(table) == predict(numbered)


def test_the_target_may_be_unknown(table, predict, tmp_path):
    unknown = tmp_path / "unknown.csv"
    unknown.write_text(table.read_text().replace(",yes", ",").replace(",no", ",?"))
    assert predict(unknown) == predict(table)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("a,colour", "other.csv: lacks 'b' that the model was fitted on"),
        ("a,b,color", "lacks 'colour' that the model was fitted on; did you mean 'color'?"),
    ],
)
def test_missing_columns(run, table, tmp_path, header, message):
    other = write_csv(tmp_path / "other.csv", header, [["1"] * len(header.split(","))] * 3)
    assert message in fails(run("predict", "model.skops", other))


def test_extra_columns_are_ignored_with_a_note_and_kept_on_request(run, predict, table, tmp_path):
    rows = [
        (f"n{i}", row["a"], row["b"], row["colour"], i) for i, row in enumerate(csv.DictReader(table.open()))
    ]
    other = write_csv(tmp_path / "other.csv", "id,a,b,colour,extra", rows)
    result = run("predict", "model.skops", other, "--keep", "id")
    assert result.exit_code == 0, result.output
    assert "note: columns that the model was not fitted on are ignored: 'extra'" in result.stderr
    kept = list(csv.reader(io.StringIO(result.stdout)))
    assert kept[0] == ["id", "prediction"]
    assert [row[0] for row in kept[1:]] == [row[0] for row in rows]
    assert [row[1:] for row in kept[1:]] == predict(table)
    assert "--keep 'idd'" in fails(run("predict", "model.skops", other, "--keep", "idd"))


def test_a_column_to_copy_must_not_have_the_name_of_one_that_is_written(run, tmp_path):
    rows = [(i, 39 - i, "ny"[i > 20]) for i in range(40)]
    path = write_csv(tmp_path / "t.csv", "prediction,probability of n,class", rows)
    assert run("fit", path, "--model", "svc", "--probability", "--no-report").exit_code == 0
    predict = ["predict", "model.skops", path, "--keep"]
    assert "--keep 'prediction': a column of this name is written" in fails(run(*predict, "prediction"))
    assert run(*predict, "probability of n").stdout.startswith("probability of n,prediction\n39,")
    assert "'probability of n': a column" in fails(run(*predict, "probability of n", "--proba"))


def test_the_error_is_told_where_the_target_is_known(run, table, tmp_path):
    result = run("predict", "model.skops", table, "--json")
    score, truth = json.loads(result.stdout), [row["class"] for row in csv.DictReader(table.open())]
    wrong = sum(own != guess for own, guess in zip(truth, score["prediction"], strict=True))
    assert score["score"]["n_wrong"] == wrong
    said = run("predict", "model.skops", table).stderr
    assert f"({wrong} of 90 rows wrong)" in said
    assert "how sure, if the model was not trained on these rows: with 95 % confidence" in said
    half = tmp_path / "half.csv"
    lines = table.read_text().splitlines()
    half.write_text("\n".join([*lines[:41], *(line.rpartition(",")[0] + "," for line in lines[41:])]))
    assert json.loads(run("predict", "model.skops", half, "--json").stdout)["score"]["n_judged"] == 40


def test_text_where_numbers_were(run, table, tmp_path):
    other = write_csv(tmp_path / "other.csv", "a,b,colour", [("x", 1, "red")] * 3)
    assert "other.csv:2: column 'a': 'x' is not a number" in fails(run("predict", "model.skops", other))


def test_a_category_that_was_never_seen(predict, table, tmp_path):
    other = write_csv(tmp_path / "other.csv", "a,b,colour", [(1, 1, "green"), (1, -1, "green")])
    assert {row[0] for row in predict(other)} <= {"yes", "no"}


@pytest.mark.parametrize(("first", "second"), [("+1", "-1"), ("1.0", "2.0"), ("01", "02")])
def test_classes_keep_their_spelling(run, predict, tmp_path, first, second):
    rows = [(i, first if i < 20 else second) for i in range(40)]
    path = write_csv(tmp_path / "table.csv", "a,class", rows)
    run("fit", path, "--no-report")
    assert {row[0] for row in predict(path)} == {first, second}


def test_svmlight(run, predict, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{'+1' if i < 20 else '-1'} 1:{i} 3:1\n" for i in range(40)))
    run("fit", path, "--no-report")
    assert {row[0] for row in predict(path)} == {"+1", "-1"}
    wide, narrow = tmp_path / "wide.svm", tmp_path / "narrow.svm"
    wide.write_text("0 4:1\n")
    narrow.write_text("0 1:1\n")
    assert "has 4 features, the model was fitted on 3" in fails(run("predict", "model.skops", wide))
    assert len(predict(narrow)) == 1
    named = write_csv(tmp_path / "named.csv", "a,b", [(1, 2)])
    assert "fitted on 3 columns of numbers without names" in fails(run("predict", "model.skops", named))
    plain = write_csv(tmp_path / "plain.csv", "a,b,c", [(1, 0, 1)])
    assert len(predict(plain)) == 1


def test_svmlight_has_no_columns_to_name(run, tmp_path):
    """``--keep`` ended in an internal error, and other options were not heeded without a word."""
    (tmp_path / "rows.svm").write_text("".join(f"{i % 2} 1:{i} 3:1\n" for i in range(40)))
    assert run("fit", "rows.svm", "--no-report").exit_code == 0
    message = fails(run("predict", "model.skops", "rows.svm", "--keep", "id"))
    assert "--keep 'id': svmlight has no names of columns" in message
    for option in ("--target", "--ignore", "--categorical"):
        message = fails(run("fit", "rows.svm", "--no-report", option, "a"))
        assert f"{option}: rows.svm is svmlight, which has no names of columns" in message


def test_svmlight_for_named_columns(run, table, tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n")
    message = fails(run("predict", "model.skops", "rows.svm"))
    assert "rows.svm: is svmlight, but the model was fitted on named columns" in message


def test_missing_values(run, predict, tmp_path):
    rows = [("" if i % 9 == 0 else i, i % 4, "lh"[i > 20]) for i in range(40)]
    path = write_csv(tmp_path / "table.csv", "a,b,class", rows)
    run("fit", path, "--no-report")
    assert len(predict(path)) == 40
    complete = write_csv(
        tmp_path / "complete.csv", "a,b,class", [(i, i % 4, "lh"[i > 20]) for i in range(40)]
    )
    run("fit", complete, "--no-report")
    assert len(predict(path)) == 40


def test_columns_that_were_ignored_stay_so(run, predict, tmp_path):
    path = write_csv(tmp_path / "table.csv", "id,a,class", [(f"n{i}", i, "lh"[i > 20]) for i in range(40)])
    run("fit", path, "--no-report", "--ignore", "id")
    assert len(predict(path)) == 40


@pytest.mark.parametrize("options", [["--model", "auto"], ["--model", "svc", "--probability"]])
def test_probabilities(run, tmp_path, options):
    path = letters(tmp_path / "table.csv", n=90, n_classes=3)
    run("fit", path, "--no-report", *options)
    result = json.loads(run("predict", "model.skops", path, "--proba", "--json").stdout)
    names = ["probability of k0", "probability of k1", "probability of k2"]
    assert list(result) == ["prediction", *names, "score", "notes", "warnings"]
    np.testing.assert_allclose(np.sum([result[name] for name in names], axis=0), 1.0)


def test_no_probabilities(run, tmp_path):
    run("fit", checkerboard(tmp_path / "table.csv"), "--no-report", "--model", "ensemble")
    message = fails(run("predict", "model.skops", "table.csv", "--proba"))
    assert "EnsembleSVC, which has no probabilities; fit with --model auto" in message


def test_regression(run, predict, tmp_path):
    path = surface(tmp_path / "table.csv", n=60)
    run("fit", path, "--no-report", "--epsilon", "0.05", "-C", "100")
    expected = [float(row[-1]) for row in list(csv.reader(path.open()))[1:]]
    found = [float(row[0]) for row in predict(path)]
    assert np.corrcoef(expected, found)[0, 1] > 0.9
    model = load_model("model.skops")
    assert found == model.predict(pandas.read_csv(path)[["a", "b"]]).tolist()


def test_outliers_and_clusters(run, predict, tmp_path):
    path = checkerboard(tmp_path / "table.csv")
    run("fit", path, "--no-report", "--model", "oneclass", "--target", "class")
    assert {row[0] for row in predict(path)} == {"1", "-1"}
    run("fit", path, "--no-report", "--model", "cluster", "--target", "class")
    message = fails(run("predict", "model.skops", path))
    assert "SupportVectorClustering only groups the rows it was fitted on; it cannot predict" in message


def test_bundled_set(run, predict):
    run("fit", "pima", "--no-report")
    assert len(predict("pima")) == 768
    assert "sonar: lacks 'pregnant', 'glucose'" in fails(run("predict", "model.skops", "sonar"))


def test_output_file(run, table):
    shown = run("predict", "model.skops", table).stdout
    result = run("predict", "model.skops", table, "-o", "out.csv")
    assert (result.exit_code, result.stdout) == (0, "")
    assert Path("out.csv").read_text() == shown


def test_a_model_saved_in_python(run, predict, tmp_path):
    """It has no names of columns: they are taken in their order."""
    X = np.arange(80.0).reshape(40, 2)
    save_model(SVC(probability=True).fit(X, np.repeat(["l", "h"], 20)), tmp_path / "model.skops")
    rows = write_csv(tmp_path / "rows.csv", "u,v", X)
    assert {row[0] for row in predict(rows, "--proba")} == {"l", "h"}


@pytest.mark.parametrize(
    "about",
    [
        {"columns": [1, 2], "kinds": ["number", "number"]},
        {"columns": ["a"], "kinds": ["number"]},
        {"columns": ["a", "b"], "kinds": ["number"]},
        {"columns": 5},
        {"columns": ["a", "b"], "kinds": ["number", "number"], "target": 1.5},
    ],
)
def test_a_model_with_nonsense_about_its_columns(run, tmp_path, about):
    model = SVC().fit(np.arange(8.0).reshape(4, 2), [0, 0, 1, 1])
    save_model(model, tmp_path / "model.skops", about=about)
    rows = write_csv(tmp_path / "rows.csv", "a,b", [(1, 2)])
    assert "about its columns does not fit the model" in fails(run("predict", "model.skops", rows))


def test_nothing_is_left_behind(run, table):
    before = sorted(os.listdir())
    run("predict", "model.skops", table)
    assert sorted(os.listdir()) == before


def test_columns_without_names_go_by_position_unless_the_target_shifts_them(run, predict, tmp_path):
    rows = [("lh"[i > 20], i, i % 4) for i in range(40)]
    (tmp_path / "table.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    run("fit", "table.csv", "--no-report", "--target", "column_1")
    (tmp_path / "bare.csv").write_text("\n".join(",".join(map(str, row[1:])) for row in rows))
    assert predict("bare.csv") == predict("table.csv")
    named = write_csv(tmp_path / "named.csv", "column_3,column_2", [(row[2], row[1]) for row in rows])
    assert predict(named) == predict("table.csv")
