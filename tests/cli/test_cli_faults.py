"""How the command line fails: faults L1–L3, L6–L10 and L12 of the catalogue."""

import json
import math
import os
import re
from pathlib import Path

import pytest

from adatron.cli import main
from tests.cli.tables import checkerboard, write_csv
from tests.silent_callback import needs_callbacks

BUNDLED = ["sonar", "breast_cancer_wisconsin", "ionosphere", "pima"]


def one_line_error(result):
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("adatron: error: ")
    return line


@pytest.mark.fault("L1")
@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--sigme", "1"], "--sigma"),
        (["-C", "0"], "0.0 is not in the range x>0.0"),
        (["-C", "much"], "'much' is not a valid number"),
        (["-C", "nan"], "'nan' is not"),
        (["--tol", "inf"], "'inf' is not a finite number"),
        (["--gamma", "wide"], "'wide' is not"),
        (["--sigma", "1", "--gamma", "1"], "not both"),
        (["--sigma", "1", "--kernel", "linear"], "give --gamma"),
        (["--sigma", "1e-200"], "leaves no finite gamma"),
        (["--kernel", "os.system"], "is not one of"),
        (["--solver", "smo"], "is not one of 'auto', 'adatron'"),
        (["--test-size", "1.5"], "1.5 is not in the range"),
        *(
            (["--delimiter", bad], "--delimiter must be one character of ASCII")
            for bad in ("", "::", "é", '"', "\n")
        ),
        (["--test-size", "nan"], "'nan' is not a finite number"),
        (["--epsilon", "inf"], "'inf' is not a finite number"),
        (["--resume"], "--resume needs --checkpoint"),
        (["--model", "auto", "--no-scale"], "--no-scale does not apply to --model auto; it belongs to svc"),
        (["--model", "cluster", "-C", "1"], "-C does not apply to --model cluster; it belongs to svc, svr"),
        (["sonar", "pima"], "unexpected extra argument"),
        (["sonar", "a\nb\x1b[2J"], r"unexpected extra argument (a\nb\x1b[2J)"),
    ],
)
def test_wrong_usage(run, args, text):
    result = run("fit", *args)
    assert result.exit_code == 2
    assert result.stderr.startswith("Usage: adatron fit [OPTIONS] [DATA]")
    assert text in result.stderr
    assert os.listdir() == []


@pytest.mark.fault("L1")
def test_wrong_command_and_missing_argument(run):
    wrong = run("fitt")
    assert wrong.exit_code == 2
    assert "No such command 'fitt'" in wrong.stderr
    missing = run("predict", "model.skops")
    assert missing.exit_code == 2
    assert "Missing argument 'DATA'" in missing.stderr
    assert "Usage: adatron predict" in missing.stderr


@pytest.mark.fault("L2", "L10")
@pytest.mark.parametrize("name", ["sonnar", "table.csv", "../x", "a\x1b[31m\nb", ""])
def test_unknown_data_lists_the_names(run, name):
    line = one_line_error(run("fit", "--", name))
    assert all(known in line for known in BUNDLED)
    assert "\x1b" not in line
    assert ("did you mean 'sonar'" in line) == (name == "sonnar")


@pytest.mark.fault("L2")
@pytest.mark.parametrize("command", [["fit"], ["predict", "model.skops"], ["compare"], ["inspect"]])
def test_a_directory_is_no_file(run, command):
    run("fit", "pima", "--model", "svc", "--no-report")
    Path("directory").mkdir()
    assert "directory" in one_line_error(run(*command, "directory"))


@pytest.mark.fault("L2")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(run):
    path = checkerboard(Path("table.csv"))
    path.chmod(0)
    assert "table.csv: Permission denied" in one_line_error(run("fit", path))


@pytest.mark.fault("L2")
@needs_callbacks
def test_no_model_file(run):
    Path("text.skops").write_text("not a model")
    assert "text.skops" in one_line_error(run("inspect", "text.skops"))
    assert "nowhere.skops" in one_line_error(run("predict", "nowhere.skops", "sonar"))
    run("fit", "pima", "--no-report", "--model", "svc", "--checkpoint", "fit.checkpoint")
    assert "not an adatron model but a checkpoint" in one_line_error(run("inspect", "fit.checkpoint"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,class\n1,x\n2,y\n3O,x\n" + "4,y\n" * 20,
            r"t\.csv:4: column 'a': '3O' is not a number; --categorical",
        ),
        ("a,class\n1,x\n1,2,y\n", r"t\.csv:3: row with too many cells, found 3, expected 2"),
        ("a,a\n1,x\n", r"t\.csv:1: column name 'a' twice"),
        ("1 1:0.5\n2 x:1\n", r"t\.csv:2:3: found 'x:1', expected index:value"),
        ("", r"t\.csv: is empty, expected a table"),
    ],
)
def test_parse_errors_name_the_place(run, text, message):
    Path("t.csv").write_text(text)
    options = ["--format", "svmlight"] if ":" in text else []
    line = one_line_error(run("fit", "t.csv", *options))
    assert re.fullmatch(f"adatron: error: {message}.*", line), line


@pytest.mark.parametrize("command", ["fit", "compare"])
@pytest.mark.parametrize("column", ["a", "y"])
def test_infinity_is_told_with_the_row_of_the_file(run, command, column):
    rows = [{"a": i * 0.5, "y": i * 1.5} for i in range(40)]
    rows[30][column] = math.inf
    Path("t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    line = one_line_error(run(command, "t.jsonl"))
    assert line.startswith(f"adatron: error: t.jsonl: column '{column}' is infinite in row 31")


@pytest.mark.fault("L3")
@pytest.mark.parametrize(
    "args", [["--help"], ["fit", "--help"], ["datasets"], ["predict", "m", "table.csv", "--ignore", "class"]]
)
def test_broken_pipe(start, tmp_path, args):
    table = checkerboard(tmp_path / "table.csv", n=3000)
    if args[0] == "predict":
        assert start("fit", table, "--no-report", "--test-size", "0.9", "-o", "m").wait() == 0
    os.mkfifo(tmp_path / "pipe")
    command = start(*args, stdout=tmp_path / "pipe")
    with open(tmp_path / "pipe", "rb", buffering=0) as pipe:
        pipe.read(1 if args[0] == "predict" else 0)
    assert command.wait() in (0, 141)
    assert command.errors() == ""


@pytest.mark.fault("L6")
@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_named_file_is_not_overwritten(run, option):
    Path("mine").write_text("precious")
    fit = ["fit", "pima", "--model", "svc", option, "mine"]
    line = one_line_error(run(*fit))
    assert f"{option} mine: already exists; use --force to overwrite it" in line
    assert Path("mine").read_text() == "precious"
    assert os.listdir() == ["mine"]
    assert run(*fit, "--force").exit_code == 0
    assert Path("mine").read_bytes() != b"precious"


@pytest.mark.fault("L6")
@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            ["-o", "mine", "--report", "mine"],
            "-o and --report: both would be written to mine; name two files",
        ),
        (["--checkpoint", "model.skops"], "-o and --checkpoint: both would be written to model.skops"),
        (["--checkpoint", "report.html"], "--report and --checkpoint: both would be written to report.html"),
    ],
)
def test_two_files_of_one_name(run, files, message):
    assert message in one_line_error(run("fit", "pima", *files))
    assert os.listdir() == []


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_column_to_ignore_that_is_not_there(run, tmp_path, command):
    path = checkerboard(tmp_path / "table.csv")
    line = one_line_error(run(command, path, "--ignore", "color"))
    assert line.endswith("--ignore 'color': " + str(path) + " has no such column; did you mean 'colour'?")


@pytest.mark.fault("L6")
def test_default_files_are_overwritten(run):
    for _ in range(2):
        assert run("fit", "pima", "--model", "svc").exit_code == 0
    assert sorted(os.listdir()) == ["model.skops", "report.html"]


@pytest.mark.fault("L6")
def test_predictions_and_comparisons(run):
    run("fit", "pima", "--model", "svc", "--no-report")
    Path("mine").write_text("precious")
    assert "-o mine: already exists" in one_line_error(run("predict", "model.skops", "pima", "-o", "mine"))
    assert "--report mine: already exists" in one_line_error(run("compare", "pima", "--report", "mine"))
    assert Path("mine").read_text() == "precious"


@pytest.mark.fault("L7")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "<stdin>: is empty, expected a table"),
        (b"\x00\x01\x02", "<stdin>:1: not utf-8 text: found byte 0x00 at byte offset 0"),
        (b"\x89PNG\r\n", "<stdin>:1: not utf-8 text: found byte 0x89"),
        (b"\x1f\x8b\x08garbage", "<stdin>: the gzip data are damaged or incomplete"),
    ],
)
def test_standard_input(run, content, message):
    assert message in one_line_error(run("fit", "-", input=content))


@pytest.mark.fault("L7")
def test_a_table_from_standard_input(run, tmp_path):
    text = checkerboard(tmp_path / "table.csv").read_bytes()
    assert run("fit", "-", "--no-report", input=text).exit_code == 0
    assert run("predict", "model.skops", "-", input=text).stdout.startswith("prediction\n")
    line = one_line_error(run("predict", "model.skops", "-", input=b"u,v\n1,2\n"))
    assert line.startswith("adatron: error: <stdin>: lacks ")


@pytest.mark.fault("L8")
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("bad\nrow"), "bad row"),
        (OSError(5, "Input/output error", "a\nb"), r"a\nb: Input/output error"),
        (MemoryError(), "not enough memory"),
        (KeyError("k"), "internal error: KeyError: 'k' (--debug shows where; please report it)"),
    ],
)
def test_errors_take_one_line(run, monkeypatch, error, text):
    def fail(*args):
        raise error

    monkeypatch.setattr("adatron.cli.fit._train", fail)
    assert text in one_line_error(run("fit"))
    shown = run("fit", "--debug")
    assert shown.exit_code == 1
    assert "Traceback" in shown.stderr
    assert "Traceback" in run("--debug", "fit").stderr


@pytest.mark.fault("L9")
@pytest.mark.parametrize(("strict", "code"), [([], 0), (["--strict"], 3)])
def test_not_converged(run, strict, code):
    args = ["fit", "pima", "--model", "svc", "--solver", "adatron", "--time-limit", "1e-9"]
    result = run(*args, "--json", *strict)
    assert result.exit_code == code
    assert "warning: SVC did not converge: time_limit was reached" in result.stderr
    told = json.loads(result.stdout)
    assert told["converged"] is False
    assert "SVC did not converge" in told["warnings"][0]
    assert Path("model.skops").exists()
    assert Path("report.html").exists()


@pytest.mark.fault("L9")
def test_strict_and_converged(run):
    assert run("fit", "--strict", "--model", "svc").exit_code == 0


HOSTILE = ["\x1b[31mred, two\nlines.csv", "--help", "σ and space <b>&amp;'\"$(x).csv"]


@pytest.mark.fault("L10")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_names(run, name, tmp_path):
    checkerboard(tmp_path / name)
    result = run("fit", "--model", "svc", "-o", f"./{name}.model", "--report", f"{name}.html", "--", name)
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "lines.csv" not in result.stdout.splitlines()
    assert (tmp_path / f"{name}.model").exists()
    assert "<b>" not in (tmp_path / f"{name}.html").read_text()
    predicted = run("predict", "--json", "--", f"./{name}.model", name)
    assert len(json.loads(predicted.stdout)["prediction"]) == 60


@pytest.mark.fault("L10")
@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_name_that_is_no_text(run, tmp_path):
    name = os.fsdecode(b"\xff\xfe.csv")
    checkerboard(tmp_path / name)
    args = ["fit", name, "--model", "svc", "-o", f"{name}.model", "--report", f"{name}.html", "--force"]
    result = run(*args)
    assert result.exit_code == 0, result.output
    assert r"\udcff\udcfe.csv" in result.stdout
    told = json.loads(run(*args, "--json").stdout)
    assert told["model_file"] == r"\udcff\udcfe.csv.model"
    assert (tmp_path / f"{name}.html").exists()


@pytest.mark.fault("L10")
def test_hostile_cells(run, tmp_path):
    rows = [(i, "\x1b[31mbad" if i % 2 else "<script>") for i in range(40)]
    path = write_csv(tmp_path / "table.csv", "a,\x1b[2Jclass", rows)
    result = run("fit", path, "--target", "\x1b[2Jclass")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "<script" not in Path("report.html").read_text()
    shown = run("inspect", "model.skops")
    assert shown.exit_code == 0
    assert "\x1b" not in shown.output


def full_disk(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.fault("L12")
@pytest.mark.parametrize("call", ["fsync", "write", "replace"])
def test_predictions_are_whole_or_not_there(run, monkeypatch, call):
    run("fit", "pima", "--model", "svc", "--no-report")
    Path("out.csv").write_text("old")
    monkeypatch.setattr(f"adatron.files.atomic.os.{call}", full_disk)
    line = one_line_error(run("predict", "model.skops", "pima", "-o", "out.csv", "--force"))
    assert "out.csv: cannot write the file: No space left on device" in line
    assert Path("out.csv").read_text() == "old"
    assert sorted(os.listdir()) == ["model.skops", "out.csv"]


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_missing_command_line_packages(monkeypatch, capsys, missing):
    monkeypatch.setattr("adatron.cli.find_spec", lambda name: None if name == missing else object())
    with pytest.raises(SystemExit) as ended:
        main(["fit"])
    assert ended.value.code == 1
    message = f"adatron: error: the command line needs {missing}: pip install {missing}\n"
    assert capsys.readouterr().err == message


@pytest.mark.fault("L1")
def test_a_missing_choice_is_listed_in_one_line(run):
    result = run("completion")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].endswith("Choose from: bash, zsh, fish")
