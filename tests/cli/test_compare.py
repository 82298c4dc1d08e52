"""``adatron compare``: ours and scikit-learn's on the same folds."""

import json
import os
from pathlib import Path

import joblib
import numpy as np
import pytest
import sklearn.svm
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from adatron.datasets import load_ionosphere
from adatron.tables import TableEncoder
from tests.cli.tables import checkerboard, letters, surface

OURS = ["adatron AutoSVC", "adatron EnsembleSVC", "adatron SVC"]
SIMPLE = ["constant guess", "logistic regression", "gradient boosting"]
THEIRS = [*SIMPLE, "scikit-learn SVC", "scikit-learn SVC + grid search"]


@pytest.fixture
def small_grid(monkeypatch):
    """No test is about the grid, which takes most of the time, and starts processes."""
    monkeypatch.setattr("adatron.cli.compare._GRID", {"C": [1.0, 100.0], "gamma": ["scale"]})
    with joblib.parallel_config("sequential"):
        yield


@pytest.fixture
def compare(run):
    def found(*args):
        result = run("compare", *args, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return found


def test_errors_are_those_of_cross_validation(small_grid, compare):
    found = compare("ionosphere", "--folds", "3")
    models = {model["name"]: model for model in found["models"]}
    assert list(models) == OURS + THEIRS
    X, y = load_ionosphere(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(make_pipeline(TableEncoder(), sklearn.svm.SVC()), X, y, cv=folds)
    expected = 100 * (1 - scores)
    assert models["scikit-learn SVC"]["error"] == pytest.approx(expected.mean())
    assert models["scikit-learn SVC"]["standard_error"] == pytest.approx(expected.std(ddof=1) / np.sqrt(3))
    assert models["adatron SVC"]["error"] == pytest.approx(expected.mean(), abs=0.3)
    assert all(model["seconds"] > 0.0 for model in found["models"])


def test_table_and_page(small_grid, run, tmp_path):
    result = run("compare", checkerboard(tmp_path / "table.csv"), "--folds", "2")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split()[0] == "model"
    assert len(lines) == 4 + len(OURS + THEIRS)
    assert all("±" in line for line in lines[1:-3])
    assert "An SVM is" in lines[-1] or "constant guess" in lines[-1]
    assert "█" in result.stdout
    assert result.stderr == "page: comparison.html\n"
    page = Path("comparison.html").read_text()
    assert page.count("<tr>") == 1 + len(OURS + THEIRS)
    assert "<figure>" in page


def test_regression(small_grid, compare, tmp_path):
    found = compare(surface(tmp_path / "table.csv"), "--folds", "2")
    assert (found["task"], found["measure"]) == ("regression", "1 − R² (%)")
    assert [model["name"] for model in found["models"]] == [
        "adatron AutoSVR", "adatron SVR", "constant guess", "ridge regression", "gradient boosting",
        "scikit-learn SVR", "scikit-learn SVR + grid search",
    ]  # fmt: skip
    models = {model["name"]: model["error"] for model in found["models"]}
    assert models["adatron SVR"] == pytest.approx(models["scikit-learn SVR"], rel=0.05)
    assert models["constant guess"] >= 100.0
    assert models["adatron AutoSVR"] < 50.0
    assert found["verdict"].startswith("An SVM is worth it here: adatron")


def test_a_part_of_the_rows(small_grid, run, compare, tmp_path):
    path = letters(tmp_path / "table.csv", n=60, n_classes=2)
    found = compare(path, "--rows", "40", "--folds", "2")
    assert found["rows"] == 40
    assert found["notes"] == ["40 of 60 rows, drawn at random; --rows 0 takes all"]
    assert compare(path, "--rows", "0", "--folds", "2")["rows"] == 60
    head, *rows = path.read_text().splitlines()
    path.write_text("\n".join([f"empty,{head}", *(f",{row}" for row in rows)]))
    notes = run("compare", path, "--rows", "40", "--folds", "2").stderr.splitlines()[:2]
    assert notes[0] == "note: empty columns were left out: 'empty'"
    assert notes[1].startswith("note: 40 of 60 rows, drawn at random")


def test_the_split_of_a_data_set_is_no_matter_of_folds(small_grid, compare):
    """``fit`` tells that it has not the original split of sonar; here all rows are in folds."""
    assert compare("sonar", "--folds", "2")["notes"] == []


def test_a_class_with_one_row(small_grid, compare, tmp_path):
    path = letters(tmp_path / "table.csv", n=60, n_classes=2)
    path.write_text(path.read_text() + "9,9,alone\n")
    found = compare(path, "--folds", "3")
    assert "least populated class" in found["warnings"][0]
    assert len(found["models"]) == len(OURS + THEIRS)


def test_more_folds_than_rows(run, tmp_path):
    result = run("compare", letters(tmp_path / "table.csv", n=6, n_classes=3), "--folds", "5")
    assert result.exit_code == 1
    assert "--folds 5 needs at least 5 rows, the largest class has 2; take fewer folds" in result.stderr
    result = run("compare", surface(tmp_path / "numbers.csv", n=9), "--folds", "5")
    assert "--folds 5 needs at least 10 rows, there are 9; take fewer folds" in result.stderr


def test_ctrl_c_keeps_what_was_measured(run, monkeypatch, tmp_path):
    def press_ctrl_c(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr("sklearn.svm.SVC.fit", press_ctrl_c)
    result = run("compare", checkerboard(tmp_path / "table.csv"), "--folds", "2")
    assert result.exit_code == 130
    assert all(name in result.stdout for name in OURS)
    assert "scikit-learn" not in result.stdout
    assert "adatron: interrupted; the other models were not measured" in result.stderr


def test_ctrl_c_before_anything_was_measured(run, monkeypatch, tmp_path):
    def press_ctrl_c(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr("adatron.AutoSVC.fit", press_ctrl_c)
    result = run("compare", checkerboard(tmp_path / "table.csv"))
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "adatron: interrupted\n")
    assert os.listdir() == ["table.csv"]


def test_without_matplotlib(small_grid, run, monkeypatch, tmp_path):
    monkeypatch.setattr("adatron.cli.compare.find_spec", lambda name: None)
    result = run("compare", checkerboard(tmp_path / "table.csv"), "--folds", "2")
    assert result.exit_code == 0
    assert "needs matplotlib: pip install matplotlib" in result.stderr


@pytest.mark.parametrize("label", ["{}", "{}.5"])
def test_sparse_rows(small_grid, compare, tmp_path, label):
    draw = np.random.default_rng(0)
    rows = [
        (label.format(i % 2 if label == "{}" else i), i % 2 + draw.normal(), draw.normal()) for i in range(60)
    ]
    (tmp_path / "rows.svm").write_text("".join(f"{y} 1:{a:.3f} 4:{b:.3f}\n" for y, a, b in rows))
    found = compare(tmp_path / "rows.svm", "--folds", "2")
    assert found["task"] == ("classification" if label == "{}" else "regression")
    assert found["notes"] == ["gradient boosting takes no sparse rows"]
    assert found["verdict"]
