"""Too little memory or disk, no permission, another fit's checkpoint: faults R1, R4–R6 and R9."""

import json
import os
import sys
from pathlib import Path

import pytest

from adatron.io import load_model
from tests.cli.tables import checkerboard, letters
from tests.silent_callback import needs_callbacks

TRAINED = ["--model", "svc", "--solver", "adatron", "-C", "5", "--no-report"]


def full_disk(*_):
    raise OSError(28, "No space left on device")


def fails(result):
    assert result.exit_code == 1, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("adatron: error: ")
    return line


@pytest.mark.fault("R1")
@pytest.mark.parametrize("options", [[], ["--model", "svc"], ["--model", "svc", "--solver", "adatron"]])
def test_a_matrix_larger_than_memory(run, monkeypatch, tmp_path, options):
    """4 MB must do where the matrix would take 8; the model is as good."""
    path = letters(tmp_path / "table.csv", n=1500, n_classes=2)
    errors = []
    for memory in (2**34, 2**22):
        for module in ("adatron.gram.choose", "adatron.auto.base"):
            monkeypatch.setattr(f"{module}.available_memory", lambda memory=memory: memory)
        result = run("fit", path, "--json", "--no-report", "--time-limit", "20", *options)
        assert result.exit_code == 0, result.output
        errors.append(json.loads(result.stdout)["test_error_percent"])
    assert errors[1] == pytest.approx(errors[0], abs=3.0)


@pytest.mark.fault("R4")
@pytest.mark.parametrize("call", ["fsync", "write", "replace"])
def test_disk_full_when_the_model_is_saved(run, monkeypatch, call):
    Path("model.skops").write_bytes(b"old")
    monkeypatch.setattr(f"adatron.files.atomic.os.{call}", full_disk)
    result = run("fit", "pima", "--model", "svc")
    assert result.exit_code == 1
    assert result.stderr == ("adatron: error: model.skops: cannot write the file: No space left on device\n")
    assert "test error" in result.stdout  # hours of work, and at least the result is told
    assert Path("model.skops").read_bytes() == b"old"
    assert os.listdir() == ["model.skops"]


@pytest.mark.fault("R4")
def test_disk_full_when_the_report_is_written(run, monkeypatch):
    monkeypatch.setattr("adatron.files.atomic.atomic_write", full_disk)
    result = run("fit", "pima", "--model", "svc", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["model_file"] == "model.skops"
    assert load_model("model.skops").predict([[0.0] * 8]).shape == (1,)
    assert not Path("report.html").exists()


@pytest.mark.fault("R4")
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files there")
def test_a_file_that_may_not_grow(start, tmp_path):
    """As a quota does it: the operating system refuses in the middle of the file."""
    (tmp_path / "model.skops").write_bytes(b"old")
    command = start("fit", "pima", "--model", "svc", "--no-report", file_limit=2000)
    assert command.wait() == 1
    assert command.errors() == "adatron: error: model.skops: cannot write the file: File too large\n"
    assert "test error" in command.output()
    assert (tmp_path / "model.skops").read_bytes() == b"old"
    assert not list(tmp_path.glob(".adatron-*"))


@pytest.mark.fault("R5")
@needs_callbacks
def test_disk_full_when_a_checkpoint_is_saved(run, monkeypatch):
    run("fit", "pima", *TRAINED, "--checkpoint", "c")
    before = Path("c").read_bytes()
    monkeypatch.setattr("adatron.callbacks.atomic_write", full_disk)
    result = run("fit", "pima", *TRAINED, "--checkpoint", "c", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["converged"]
    assert told["warnings"] == [
        "no checkpoint was written, the fit goes on: [Errno 28] No space left on device"
    ]
    assert "warning: no checkpoint was written" in result.stderr
    assert Path("c").read_bytes() == before


@pytest.mark.fault("R6")
@pytest.mark.parametrize("place", ["nowhere/file", "table.csv/file", "directory"])
@pytest.mark.parametrize(
    "command",
    [
        ["fit", "table.csv", "-o"],
        ["fit", "table.csv", "--report"],
        ["fit", "table.csv", "--checkpoint"],
        ["compare", "table.csv", "--report"],
        ["predict", "no model is read before", "table.csv", "-o"],
    ],
)
def test_a_place_that_cannot_be_written(run, tmp_path, monkeypatch, command, place):
    """An error before anything is read or trained."""
    checkerboard(tmp_path / "table.csv")
    (tmp_path / "directory").mkdir()
    monkeypatch.setattr("adatron.cli.fit._fit", None)
    monkeypatch.setattr("adatron.cli.compare._compare_models", None)
    line = fails(run(*command, place))
    assert f"error: {place}: cannot write the file: " in line
    assert sorted(os.listdir()) == ["directory", "table.csv"]


@pytest.mark.fault("R6")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission(run, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "no permission to write its directory 'locked'" in fails(run("fit", "-o", "locked/m"))


@pytest.mark.fault("R6")
def test_a_link_is_not_followed(run, tmp_path):
    (tmp_path / "real").write_text("precious")
    (tmp_path / "link").symlink_to("real")
    assert "symbolic link" in fails(run("fit", "pima", "-o", "link", "--force"))
    assert (tmp_path / "real").read_text() == "precious"


@pytest.mark.fault("R9")
@needs_callbacks
@pytest.mark.parametrize(
    ("data", "options", "difference"),
    [
        ("one.csv", ["-C", "51"], "C was 5.0, is 51.0"),
        ("one.csv", ["--gamma", "0.1"], "gamma was 'scale', is 0.1"),
        ("one.csv", ["--kernel", "laplacian"], "kernel was 'rbf', is 'laplacian'"),
        ("one.csv", ["--no-scale", "--ignore", "colour"], "X differs"),
        ("one.csv", ["--test-size", "0.1"], "X differs"),
        ("one.csv", ["--model", "ensemble"], "estimator was SVC, is EnsembleSVC"),
        ("two.csv", [], "X differs"),
        ("labels.csv", [], "y differs"),
    ],
)
def test_resume_with_something_else(run, tmp_path, data, options, difference):
    one = checkerboard(tmp_path / "one.csv", seed=1)
    checkerboard(tmp_path / "two.csv", seed=2)
    swapped = one.read_text().replace("yes", "?").replace("no", "yes").replace("?", "no")
    (tmp_path / "labels.csv").write_text(swapped)
    saved = ["--no-report", "--checkpoint", "c"]
    assert run("fit", "one.csv", *TRAINED, *saved).exit_code == 0
    usual = [] if "ensemble" in options else TRAINED[:-1]
    line = fails(run("fit", data, *usual, *saved, "--resume", *options))
    assert "the checkpoint 'c' belongs to another fit: " in line
    assert difference in line
    assert "leave out --resume" in line


@pytest.mark.fault("R9")
@needs_callbacks
def test_a_damaged_checkpoint(run, tmp_path):
    run("fit", "pima", *TRAINED, "--checkpoint", "c")
    content = bytearray(Path("c").read_bytes())
    content[len(content) // 2] ^= 1
    Path("c").write_bytes(content)
    line = fails(run("fit", "pima", *TRAINED, "--checkpoint", "c", "--resume"))
    assert "'c'" in line
    assert "damaged" in line


@needs_callbacks
def test_resume_without_a_checkpoint_begins_and_with_a_finished_one_ends(run):
    first = run("fit", "pima", *TRAINED, "--checkpoint", "c", "--resume", "--json")
    again = run("fit", "pima", *TRAINED, "--checkpoint", "c", "--resume", "--json")
    assert (first.exit_code, again.exit_code) == (0, 0)
    told = [json.loads(result.stdout) for result in (first, again)]
    for key in ("epochs", "duality_gap", "test_error_percent", "n_support", "status"):
        assert told[0][key] == told[1][key]


@needs_callbacks
def test_a_checkpoint_that_will_be_replaced_is_told_of(run):
    run("fit", "pima", *TRAINED, "--checkpoint", "c")
    result = run("fit", "pima", *TRAINED, "--checkpoint", "c")
    assert "note: c will be replaced; --resume would continue from it" in result.stderr
