"""`benchmarks/tables.py` on two small tables: results, resumption, report, picture and page."""

import importlib
import json
import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from benchmarks import tables as benchmark
from benchmarks.table_models import MODELS, WithCategories
from benchmarks.table_report import BEGIN, END
from benchmarks.table_sets import Table

MODELS_RUN = ("AutoSVC", "random forest")
ARGUMENTS = ["--models", *MODELS_RUN, "--splits", "1", "--rows", "40"]


def small_tables():
    """Two tables of 60 rows with a category and missing values; the target follows from both columns."""
    rng = np.random.default_rng(0)
    number, category = rng.normal(size=60), np.array(["red", "green", None], dtype=object)[np.arange(60) % 3]
    X = pd.DataFrame({"number": number, "category": category})
    X.loc[::9, "number"] = np.nan
    target = np.where(category == "red", 2.0, -2.0) + 0.3 * number
    labels = pd.Series(np.where(target > 0, "yes", "no"))
    return [
        Table("small-classes", "tables", "a", "classification", X, labels),
        Table("small-numbers", "tables", "a", "regression", X, pd.Series(target)),
    ]


def test_run_resume_and_page(tmp_path, capsys, monkeypatch):
    out, page = tmp_path / "tables.json", tmp_path / "comparison.md"
    page.write_text(f"# Title\n\nBefore.\n\n{BEGIN}\nold\n{END}\n\nAfter.\n")
    arguments = [*ARGUMENTS, "--out", str(out), "--page", str(page)]
    benchmark.main(arguments, small_tables())
    record = json.loads(out.read_text())
    keys = {f"{name}|0|{model}" for name in ("small-classes", "small-numbers") for model in MODELS_RUN}
    assert set(record["results"]) == keys
    found = record["results"]["small-classes|0|AutoSVC"]
    assert found["error"] < 10.0
    assert 0.0 < found["log_loss"] < 0.4
    assert 0.8 < found["best_score"] <= 1.0
    assert found["n_train"] == 40
    assert record["results"]["small-numbers|0|AutoSVC"]["error"] < 40.0
    assert record["runs"][0]["versions"]["scikit-learn"]

    text = page.read_text()
    assert text.startswith("# Title\n\nBefore.")
    assert text.endswith("After.\n")
    assert "old" not in text
    assert "| AutoSVR |" in text
    assert (tmp_path / "images" / "comparison.png").stat().st_size > 1000

    monkeypatch.setattr(benchmark, "measured", lambda *_: pytest.fail("what is known was run again"))
    benchmark.main(arguments, small_tables())
    assert json.loads(out.read_text()) == record
    assert "Classification, mixed tables, half a: 1 table" in capsys.readouterr().out


def test_a_model_that_fails_is_recorded_and_named(tmp_path, capsys, monkeypatch):
    class Broken:
        def fit(self, X, y):
            raise RuntimeError("no such thing")

    monkeypatch.setitem(MODELS, "random forest", (lambda task: Broken(), "sklearn"))
    out = tmp_path / "tables.json"
    models = ["--models", "AutoSVC", "HistGradientBoosting", "random forest"]
    benchmark.main([*models, "--splits", "1", "--rows", "40", "--out", str(out)], small_tables()[:1])
    failed = json.loads(out.read_text())["results"]["small-classes|0|random forest"]["failed"]
    assert failed == "RuntimeError: no such thing"
    assert "random forest failed on small-classes: RuntimeError: no such thing" in capsys.readouterr().out


def test_fits_of_other_sizes_are_not_mixed(tmp_path):
    out = tmp_path / "tables.json"
    out.write_text(json.dumps({"rows": 1000, "runs": [], "results": {}}))
    with pytest.raises(SystemExit, match="at most 1000 rows"):
        benchmark.main([*ARGUMENTS, "--out", str(out)], small_tables())


def test_categories_with_many_levels_become_numbers_for_histograms():
    X = pd.DataFrame({"c": [f"level {i}" for i in range(300)], "d": ["x", "y", None] * 100})
    model = WithCategories(MODELS["HistGradientBoosting"][0]("regression").model, "at most 255 levels")
    model.fit(X, np.arange(300.0))
    frame = model._frame(pd.DataFrame({"c": ["level 7", "unseen"], "d": ["y", None]}))
    assert frame["c"].dtype == float
    assert frame["c"].isna().tolist() == [False, True]
    assert isinstance(frame["d"].dtype, pd.CategoricalDtype)
    assert np.isfinite(model.predict(X)).all()


class StandInForAbstractModel:
    """The part of AutoGluon's `AbstractModel` that the wrapper for TabArena relies on."""

    def __init__(self, problem_type):
        self.problem_type = problem_type

    def _get_model_params(self):
        return {"random_state": 0}

    def preprocess(self, X, is_train=False):
        return X

    def _get_default_auxiliary_params(self):
        return {"valid_raw_types": None, "ignored_type_group_raw": None}


@pytest.mark.parametrize("place", [0, 1])
def test_wrapper_for_tabarena_fits(monkeypatch, place):
    names = ("autogluon", "autogluon.core", "autogluon.core.models", "benchmarks.tabarena.adatron_model")
    for name in names[:-1]:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules[names[2]].AbstractModel = StandInForAbstractModel
    monkeypatch.delitem(sys.modules, names[-1], raising=False)
    wrapper = importlib.import_module(names[-1])
    table = small_tables()[place]
    model = wrapper.AdatronModel("regression" if place else "binary")
    model._fit(table.X, table.y, time_limit=30.0, num_cpus=1, X_val=None)
    assert type(model.model).__name__ == ("AutoSVR" if place else "AutoSVC")
    assert model.model.score(table.X, table.y) > 0.9
    params = model._get_default_auxiliary_params()
    assert "category" in params["valid_raw_types"]
    assert "ignored_type_group_raw" in params
