"""Fixtures of the command line's tests: commands in this process, and in others."""

import sys

import pytest
from click.testing import CliRunner

from adatron.cli.app import app
from tests.cli.processes import Command, ForkServer
from tests.cli.tables import checkerboard
from tests.data_dir import data_dir


@pytest.fixture(scope="session")
def reference_data():
    """The directory that ADATRON_DATA names, before `run` hides it."""
    return data_dir()


@pytest.fixture
def pictures():
    """For tests of whole reports; those of others have no pictures, which take most of the time of a fit."""


@pytest.fixture
def run(request, tmp_path, monkeypatch):
    """Run a command in an empty directory, without the reference data unless they are asked for."""
    if "pictures" not in request.fixturenames:
        monkeypatch.setattr("adatron.display.page.figure_svg", lambda figure: '<svg width="72pt"></svg>')
    # no lines that tell of progress, which on a slow machine there are some of
    monkeypatch.setattr("adatron.cli.progress.perf_counter", lambda: 0.0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADATRON_DATA", raising=False)
    return lambda *args, **options: CliRunner().invoke(app, [str(arg) for arg in args], **options)


@pytest.fixture
def table(run, tmp_path):
    """A table with a model of it."""
    path = checkerboard(tmp_path / "table.csv", n=90)
    assert run("fit", path, "--no-report").exit_code == 0
    return path


@pytest.fixture(scope="session")
def fork_server():
    if sys.platform == "win32":
        pytest.skip("signals are sent differently there")
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture
def start(fork_server, tmp_path):
    """Start a command in a process of its own."""
    return lambda *args, **options: Command(fork_server, tmp_path, *args, **options)
