"""``adatron explain``: what each column adds to one prediction."""

import json

import numpy as np
import pytest

from adatron import explain
from adatron.io import load_model, read_table


def test_the_numbers_are_those_of_the_library(run, table):
    result = run("explain", "model.skops", table, "--row", 7, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    row = read_table(table).iloc[[7]]
    found = explain(load_model("model.skops"), row[told["columns"]])
    assert told["columns"] == found.columns == ["a", "b", "colour"]
    np.testing.assert_allclose(told["contributions"], found.contributions)
    assert told["prediction"] == found.prediction
    assert told["rows"] == found.rows.tolist()
    assert told["base"] + sum(told["contributions"]) == pytest.approx(told["decision"], abs=1e-4)


def test_what_is_printed(run, table):
    result = run("explain", "model.skops", table)
    assert result.exit_code == 0, result.output
    for word in ("prediction", "decision value", "column", "adds", "training row", "similarity"):
        assert word in result.stdout


def test_columns_that_are_not_listed_are_added_up(run):
    assert run("fit", "sonar", "--no-report").exit_code == 0
    shown, found = (run("explain", "model.skops", "sonar", *more).stdout for more in ([], ["--json"]))
    rest = np.sort(np.abs(json.loads(found)["contributions"]))[:40]
    (line,) = [line for line in shown.splitlines() if line.startswith("40 other columns")]
    assert abs(float(line.split()[-1].replace("−", "-"))) <= rest.sum()


def test_another_class_and_another_machine(run, table):
    first, second = (
        json.loads(run("explain", "model.skops", table, "--class", name, "--json").stdout)["decision"]
        for name in ("yes", "no")
    )
    assert first == pytest.approx(-second)
    assert run("fit", table, "--kernel", "poly", "--no-report", "--force").exit_code == 0
    result = run("explain", "model.skops", table)
    assert "not known for this kernel" in result.stdout


def test_bad_calls(run, table):
    for args, words in (
        (["--row", 90], "has 90 rows"),
        (["--class", "maybe"], "the model has other classes: no, yes"),
    ):
        result = run("explain", "model.skops", table, *args)
        assert result.exit_code == 1
        assert words in result.stderr
    assert run("explain", "model.skops", table, "--row", -1).exit_code == 2
    assert run("fit", table, "--model", "cluster", "--no-report", "--force").exit_code == 0
    assert "predicts nothing" in run("explain", "model.skops", table).stderr
