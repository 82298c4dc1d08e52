"""The command line at a terminal, rich or poor: faults L4, L5, L7 and L11."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.cli.processes import ENDLESS, environment_with
from tests.cli.tables import checkerboard, letters, surface
from tests.cli.terminals import Terminal
from tests.silent_callback import needs_callbacks

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs pseudo terminals, /proc")


@pytest.fixture
def terminal(request):
    opened = Terminal(**getattr(request, "param", {}))
    yield opened
    opened.close()


@needs_callbacks
def test_a_bar_while_it_trains_and_a_table_at_the_end(start, terminal):
    command = start(
        *ENDLESS, "--time-limit", "0.5", environment={"TERM": "xterm-256color"}, **terminal.streams
    )
    assert command.until(lambda: "epochs" in terminal.text())
    assert command.wait() == 0, terminal.text()
    assert "━" in terminal.text()  # the bar
    assert "╭" in terminal.text()  # the table
    assert "test error" in terminal.text()
    assert "\x1b[?25l" not in terminal.shown()  # a kill could not bring the cursor back


@pytest.mark.fault("L4")
@needs_callbacks
def test_ctrl_c_at_the_terminal(start, terminal, tmp_path):
    command = start(*ENDLESS, "--checkpoint", "c", **terminal.streams)
    assert command.until(lambda: "epochs" in terminal.text())
    terminal.press(b"\x03")
    assert command.until(lambda: "keeping the best model so far" in terminal.text()), terminal.text()
    assert command.wait() == 130
    assert "Traceback" not in terminal.text()
    assert {"c", "model.skops"} <= set(os.listdir(tmp_path))


@pytest.mark.fault("L4", "L5")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_before_there_is_a_model(start, tmp_path, number, code):
    """While the data are still being read: nothing to keep, no traceback."""
    os.mkfifo(tmp_path / "slow.csv")
    command = start("fit", "slow.csv")
    writer = os.open(tmp_path / "slow.csv", os.O_WRONLY)  # waits until the command reads
    command.send(number)
    assert command.wait() == code
    os.close(writer)
    assert command.errors() == "adatron: interrupted\n"
    assert command.output() == ""
    assert not (tmp_path / "model.skops").exists()


@pytest.mark.fault("L4")
@needs_callbacks
@pytest.mark.parametrize("make", [checkerboard, surface], ids=["AutoSVC", "AutoSVR"])
def test_ctrl_c_during_the_search(run, monkeypatch, tmp_path, make):
    calls = []

    def press_ctrl_c(self, attributes):
        calls.append(self)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr("adatron.estimators.base.FitTasks.round_ended", press_ctrl_c)
    result = run("fit", make(tmp_path / "table.csv"), "--checkpoint", "c")
    assert result.exit_code == 130
    assert "Traceback" not in result.stderr
    assert result.stderr == "adatron: interrupted; keeping the best model so far\n"
    assert "stopped" in run("inspect", "model.skops").stdout


@pytest.mark.fault("L4")
def test_signals_that_the_parent_ignores_are_ignored(start, tmp_path):
    """As under nohup, or for a command in the background of a script."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from adatron.cli.terminal import ending_signals\n"
        "with ending_signals() as signals:\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "    sys.exit(signals.received or 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.fault("L7")
def test_a_terminal_is_no_table(start, terminal):
    command = start("fit", "-", **terminal.streams)
    assert command.wait() == 1
    assert "<stdin>: is a terminal or closed; pipe data into it, or name a file" in " ".join(
        terminal.text().split()
    )


@pytest.mark.fault("L11")
@pytest.mark.parametrize(
    ("environment", "has_colour"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, None),
    ],
)
def test_kinds_of_terminals(start, terminal, environment, has_colour):
    command = start(
        "fit", "pima", "--model", "svc", "--no-report", environment=environment, **terminal.streams
    )
    assert command.wait() == 0
    assert "test error" in terminal.text()
    colours = [part for part in terminal.shown().split("\x1b[")[1:] if part[:2] in ("31", "32", "38")]
    assert not colours or has_colour
    if has_colour is False:
        assert "\x1b" not in terminal.shown()


@pytest.mark.fault("L11")
@pytest.mark.parametrize("terminal", [{"columns": columns} for columns in (10, 40)], indirect=True)
@pytest.mark.parametrize(
    "command", [["fit", "pima", "--model", "svc", "--no-report"], ["datasets"], ["fit", "--help"]]
)
def test_narrow_terminals(start, terminal, command):
    ended = start(*command, environment={"TERM": "xterm"}, **terminal.streams)
    assert ended.wait() == 0
    assert "Traceback" not in terminal.text()
    assert len(terminal.text()) > 100


@pytest.mark.fault("L11")
def test_poor_locale(tmp_path):
    """ASCII only, as in a bare container or a cron job."""
    poor = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TERM": "dumb", "COLUMNS": "20"}
    surface(tmp_path / "σ.csv")
    command = [sys.executable, "-m", "adatron", "fit", "σ.csv", "--epsilon", "0.1", "--report", "σ.html"]
    done = subprocess.run(
        command, capture_output=True, timeout=300, env=environment_with(**poor), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert done.stderr.isascii()
    assert b"R^2 " in done.stdout
    assert b"\x1b" not in done.stdout
    assert (tmp_path / "σ.html").exists()


@pytest.mark.fault("L11")
@needs_callbacks
def test_lines_instead_of_a_bar(run, monkeypatch):
    """Where the error stream is no terminal, a line every five seconds; JSON stays JSON."""
    monkeypatch.setattr("adatron.cli.progress.perf_counter", lambda: 50.0 * time.perf_counter())
    result = run(*ENDLESS, "--time-limit", "0.5", "--json")
    lines = [line for line in result.stderr.splitlines() if line.startswith("SVC: ")]
    seconds = [int(re.fullmatch(r"SVC: [\d,]+ epochs?, (\d+) s", line)[1]) for line in lines]
    assert len(lines) > 1
    assert min(np.diff(seconds)) >= 4  # two that are rounded
    assert json.loads(result.stdout)["status"] == "time_limit"


def test_many_classes_fit_on_any_terminal(run, tmp_path):
    result = run("fit", letters(tmp_path / "table.csv", n=200, n_classes=40), "--model", "svc")
    assert result.exit_code == 0
    assert "40 classes: too many for a confusion matrix" in (tmp_path / "report.html").read_text()
