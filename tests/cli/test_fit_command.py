"""``adatron fit``: what it prints and writes, and how it fails (L1 … of the fault catalogue)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest
from click.testing import CliRunner
from tests.data_dir import data_dir

from adatron import __version__
from adatron.cli import main
from adatron.cli.app import app
from adatron.estimators.callback_bridge import FitTasks

NAMES = ["sonar", "breast_cancer_wisconsin", "ionosphere", "pima"]
PNG = b"\x89PNG\r\n"


@pytest.fixture(scope="module")
def reference_data():
    return data_dir()


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty directory, without the reference data unless they are asked for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADATRON_DATA", raising=False)
    backend = mpl.get_backend()
    yield lambda *args: CliRunner().invoke(app, list(args))
    mpl.use(backend)


def one_line_error(result):
    assert result.exit_code == 1
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("adatron: error: ")
    return line


def in_process(*args, **environment):
    command = [sys.executable, "-m", "adatron", *args]
    return subprocess.run(command, capture_output=True, timeout=120, env=os.environ | environment)


def test_table(run):
    result = run("fit")
    assert result.exit_code == 0
    assert result.stderr == ""
    for text in ("sonar", "104 train, 104 test", "sigma 1", "inf (hard margin)", "test error", "converged"):
        assert text in result.stdout
    assert "convergence plot: adatron-convergence.png" in result.stdout
    assert Path("adatron-convergence.png").read_bytes().startswith(PNG)


def test_sonar_without_the_original_split_says_so(run):
    result = json.loads(run("fit", "--json").stdout)
    assert "not the original split" in result["split"]
    assert "ADATRON_DATA" in result["notes"][0]


@pytest.mark.parametrize("intercept", [[], ["--no-intercept"]])
def test_sonar_original_split(reference_data, run, monkeypatch, intercept):
    monkeypatch.setenv("ADATRON_DATA", str(reference_data))
    result = json.loads(run("fit", "sonar", "--json", *intercept).stdout)
    assert result["split"].startswith("original")
    assert result["notes"] == []
    assert result["test_error_percent"] == pytest.approx(7.69, abs=0.005)
    assert result["converged"]
    assert result["duality_gap"] <= 1e-3


@pytest.mark.parametrize("name", NAMES[1:])
def test_other_sets_are_standardised(run, name):
    result = json.loads(run("fit", name, "--json").stdout)
    assert result["converged"]
    assert result["C"] == 1.0
    assert "standardised" in result["notes"][0]
    assert result["n_train"] == pytest.approx(2 * result["n_test"], abs=2)
    assert result["test_error_percent"] < 30.0


def test_json_is_complete(run):
    result = json.loads(run("fit", "--json", "-C", "inf", "--sigma", "2").stdout)
    assert result["C"] == "inf"
    assert (result["sigma"], result["gamma"]) == (2.0, 0.125)
    assert result["plot"] == "adatron-convergence.png"
    wanted = {"data", "kernel", "solver", "status", "n_support", "epochs", "seconds", "warnings"}
    assert wanted <= set(result)


def test_options_reach_the_model(run):
    options = ["--kernel", "poly", "--gamma", "auto", "-C", "5", "--no-intercept", "--solver", "auto"]
    options += ["--tol", "0.01", "--test-size", "0.25", "--time-limit", "20"]
    result = json.loads(run("fit", "--json", *options).stdout)
    assert (result["kernel"], result["C"], result["solver"]) == ("poly", 5.0, "auto")
    assert (result["tol"], result["fit_intercept"], result["n_test"]) == (0.01, False, 52)
    assert result["gamma"] == pytest.approx(1 / 60)
    assert result["sigma"] is None


@pytest.mark.parametrize(("file", "start"), [("a.png", PNG), ("b.pdf", b"%PDF"), ("c.svg", b"<?xml")])
def test_plot_formats(run, file, start):
    result = run("fit", "pima", "--plot", file)
    assert f"convergence plot: {file}" in result.stdout
    assert Path(file).read_bytes().startswith(start)
    assert os.listdir() == [file]


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--sigme", "1"], "Did you mean '--sigma'?"),
        (["-C", "0"], "'0' is not a number > 0, or inf"),
        (["-C", "nan"], "'nan' is not"),
        (["--tol", "inf"], "'inf' is not a finite number > 0"),
        (["--gamma", "wide"], "'wide' is not"),
        (["--sigma", "1", "--gamma", "1"], "not both"),
        (["--sigma", "1", "--kernel", "linear"], "give --gamma"),
        (["--sigma", "1e-200"], "leaves no finite gamma"),
        (["--kernel", "os.system"], "is not one of"),
        (["--solver", "smo"], "is not one of 'auto', 'adatron'"),
        (["--test-size", "1.5"], "1.5 is not in the range"),
        (["--plot", "x.txt"], "'x.txt' must end in .png"),
        (["sonar", "pima"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_exits_with_2(run, args, text):  # L1
    result = run("fit", *args)
    assert result.exit_code == 2
    assert "Usage: " in result.stderr
    assert text in result.stderr
    assert os.listdir() == []


@pytest.mark.parametrize("name", ["sonnar", "table.csv", "../x", "a\x1b[31m\nb"])
def test_unknown_data_lists_the_names(run, name):  # L2, L10
    line = one_line_error(run("fit", "--", name))
    assert all(known in line for known in NAMES)
    assert "\x1b" not in line


@pytest.mark.parametrize("plot", ["missing/x.png", "directory.png"])
def test_impossible_plot_is_told_before_training(run, plot, monkeypatch):
    Path("directory.png").mkdir()
    monkeypatch.setattr("adatron.cli.training.train", None)
    assert "--plot" in one_line_error(run("fit", "--plot", plot))


def test_plot_that_fails_after_training_loses_nothing(run, monkeypatch):
    def fail(*args):
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    result = run("fit", "pima")
    assert result.exit_code == 1
    assert "test error" in result.stdout
    assert result.stderr == "adatron: error: No space left on device\n"
    assert os.listdir() == []


def test_without_matplotlib(run, monkeypatch):
    monkeypatch.setattr("adatron.cli.reporting.find_spec", lambda name: None)
    result = run("fit", "pima")
    assert result.exit_code == 0
    assert "warning: no plot was written: matplotlib is missing: pip install adatron[plot]" in result.stdout
    assert "pip install adatron[plot]" in one_line_error(run("fit", "--plot", "x.png"))


@pytest.mark.parametrize(
    ("error", "text"), [(ValueError("bad\nrow"), "bad row"), (KeyError("k"), "internal error")]
)
def test_errors_take_one_line(run, monkeypatch, error, text):  # L8
    def fail(*args):
        raise error

    monkeypatch.setattr("adatron.cli.training.train", fail)
    assert text in one_line_error(run("fit"))
    shown = run("fit", "--debug")
    assert shown.exit_code == 1
    assert "Traceback" in shown.stderr
    assert "Traceback" in run("--debug", "fit").stderr


@pytest.mark.parametrize(("strict", "code"), [([], 0), (["--strict"], 3)])
def test_not_converged(run, strict, code):  # L9
    result = run("fit", "--time-limit", "1e-9", *strict)
    assert result.exit_code == code
    assert "warning: SVC did not converge: time_limit was reached" in result.stdout
    assert Path("adatron-convergence.png").exists()


def test_strict_and_converged(run):
    assert run("fit", "--strict").exit_code == 0


def test_interrupt_keeps_the_model(run, monkeypatch):  # L4
    def press_ctrl_c(self, attributes):
        raise KeyboardInterrupt

    monkeypatch.setattr(FitTasks, "round_ended", press_ctrl_c)
    result = run("fit", "--json")
    assert result.exit_code == 130
    assert json.loads(result.stdout)["status"] == "stopped"
    assert "best model so far" in result.stderr
    assert Path("adatron-convergence.png").exists()


def test_interrupt_before_training(run, monkeypatch):
    def press_ctrl_c(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("adatron.cli.training.load_split", press_ctrl_c)
    result = run("fit")
    assert result.exit_code == 130
    assert result.stderr == "adatron: interrupted\n"


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_missing_command_line_packages(monkeypatch, capsys, missing):
    monkeypatch.setattr("adatron.cli.find_spec", lambda name: None if name == missing else object())
    with pytest.raises(SystemExit) as ended:
        main(["fit"])
    assert ended.value.code == 1
    message = f"adatron: error: the command line needs {missing}: pip install adatron[cli]\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize("args", [["--version"], ["fit", "--version"]])
def test_version(run, args):
    assert run(*args).stdout == f"adatron {__version__}\n"


def test_poor_terminal(tmp_path):  # L11
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    plot = tmp_path / "σ.png"
    ended = in_process("fit", "pima", "--plot", str(plot), TERM="dumb", COLUMNS="20", **plain)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.isascii()
    assert b"\x1b" not in ended.stdout
    assert plot.exists()


def test_start_up_imports_nothing_heavy():
    code = (
        "import sys, adatron.cli, adatron.cli.app\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'rich'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
