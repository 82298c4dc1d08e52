"""``adatron inspect``, ``datasets``, ``completion``, ``--version`` and the start of the program."""

import json
import re
import subprocess
import sys

import pytest

from adatron import __version__
from tests.cli.processes import environment_with
from tests.cli.tables import checkerboard, letters, surface


@pytest.fixture
def inspect(run):
    def told():
        result = run("inspect", "model.skops", "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return told


def test_what_a_model_holds(run, inspect, tmp_path):
    run("fit", checkerboard(tmp_path / "table.csv"), "--no-report", "-C", "5")
    found = inspect()
    assert found["columns"] == ["a", "b", "colour"]
    assert found["kinds"] == ["number", "number", "text"]
    assert (found["target"], found["task"], found["classes"]) == ("class", "classification", ["no", "yes"])
    assert found["steps"] == ["TableEncoder", "SVC"]
    assert (found["parameters"]["C"], found["status"]) == ("5.0", "converged")
    assert found["written_by"] == f"adatron {__version__}"
    assert found["bytes"] == (tmp_path / "model.skops").stat().st_size
    assert sum(array["bytes"] for array in found["arrays"]) < found["bytes"]
    assert found["holds_training_rows"] is True


def test_as_a_table(run, tmp_path):
    run("fit", letters(tmp_path / "table.csv", n=100, n_classes=20), "--no-report", "--model", "svc")
    result = run("inspect", "model.skops")
    assert result.exit_code == 0
    assert "classes              k0, k1, k10" in result.stdout
    assert "kinds                number (2)\n" in result.stdout
    assert "… (20 in all)" in result.stdout
    assert "float64" in result.stdout
    assert "holds training rows  yes" in result.stdout


def test_a_gap_of_zero_and_a_no_are_shown(run, monkeypatch):
    run("fit", "pima", "--no-report", "--model", "svc")
    facts = {"duality_gap": 0.0, "gap_is_exact": False, "kernel": None, "classes": []}
    monkeypatch.setattr("adatron.cli.inspect._estimator", lambda fitted: facts)
    shown = run("inspect", "model.skops").stdout
    assert re.search(r"^duality gap +0$", shown, re.MULTILINE)
    assert re.search(r"^gap is exact +no$", shown, re.MULTILINE)
    assert "kernel" not in shown.split("array")[0]


def test_a_search_tells_of_the_rows_it_holds(run, inspect, tmp_path):
    run("fit", surface(tmp_path / "table.csv"), "--no-report")
    found = inspect()
    assert found["steps"][-1] == "AutoSVR"
    assert found["support_vectors"] > 0
    assert found["holds_training_rows"] is True


def test_data_sets(run, reference_data, monkeypatch):
    found = json.loads(run("datasets", "--json").stdout)
    assert [item["name"] for item in found[:4]] == ["sonar", "breast_cancer_wisconsin", "ionosphere", "pima"]
    assert {item["where"] for item in found[4:]} == {"to be downloaded"}
    monkeypatch.setenv("ADATRON_DATA", str(reference_data))
    assert {item["where"] for item in json.loads(run("datasets", "--json").stdout)[4:]} == {"ADATRON_DATA"}
    assert "208 rows, 60 features, 2 classes" in run("datasets").stdout


@pytest.mark.parametrize("args", [["--version"], ["fit", "--version"]])
def test_version(run, args):
    assert run(*args).stdout == f"adatron {__version__}\n"


def test_without_a_command(run):
    result = run()
    assert "Usage: adatron" in result.output
    for command in ("fit", "predict", "compare", "inspect", "explain", "reproduce", "datasets", "completion"):
        assert command in result.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run, shell):
    result = run("completion", shell)
    assert result.exit_code == 0, result.output
    assert "_ADATRON_COMPLETE" in result.stdout


@pytest.mark.parametrize(
    ("words", "completed"),
    [("adatron com", "compare"), ("adatron fit --ker", "--kernel"), ("adatron fit --model en", "ensemble")],
)
def test_completion_completes(words, completed):
    asked = environment_with(
        _ADATRON_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" "))
    )
    done = subprocess.run(
        [sys.executable, "-m", "adatron"], capture_output=True, text=True, timeout=60, env=asked
    )
    assert f"plain,{completed}" in done.stdout.splitlines()


def test_start_up_imports_nothing_heavy():
    """Nor does the help, which is there at once because of that."""
    code = (
        "import sys, adatron.cli, adatron.cli.app\n"
        "try:\n    adatron.cli.main(['--help'])\nexcept SystemExit as ended:\n    assert not ended.code\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'rich'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, env=environment_with()
    )
    assert done.returncode == 0, done.stderr


def test_the_list_of_commands_is_not_cut(run):
    """Each line of it ends with its sentence, on a terminal of 80 columns."""
    lines = run("--help").stdout.partition("Commands:\n")[2].splitlines()
    assert len(lines) > 8
    assert [line for line in lines if not line.endswith(".") or line.endswith("...")] == []
