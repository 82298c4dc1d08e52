"""What the README shows is what happens."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_code_runs_on_a_table(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "plan": random.choice(["basic", "plus", None], 120),
            "since": random.choice(["2024-03-01", "2025-07-15", "2026-01-31"], 120),
            "visits": np.where(random.random(120) < 0.1, np.nan, random.integers(0, 40, 120)),
        }
    )
    table["left"] = np.where(table["visits"].fillna(20) + 10 * (table["plan"] == "basic") < 18, "yes", "no")
    table.to_csv(tmp_path / "customers.csv", index=False)
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    names = {}
    exec(first, names)
    assert names["model"].score(table.drop(columns="left"), table["left"]) > 0.8
    assert names["model"].feature_importances_.shape == (3,)
    exec(second, names)
    assert names["record"].margin > 0.99


def test_links_lead_somewhere():
    root = Path(__file__).parents[2]
    for link in re.findall(r"\]\((?!http)([^)#\s]+)\)", README.replace("\n", " ")):
        assert (root / link).exists(), link


@pytest.mark.parametrize("command", re.findall(r"python3? ((?:tools|benchmarks)/\w+\.py)", README))
def test_commands_exist(command):
    assert (Path(__file__).parents[2] / command).exists()
