"""docs/transcript.md shows what ``tools/transcript.py`` runs."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("transcript", ROOT / "tools" / "transcript.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_command_is_in_the_page(tool):
    lines = tool.PAGE.read_text(encoding="utf-8").splitlines()
    assert [line[2:] for line in lines if line.startswith("$ ")] == [typed for typed, _ in tool.COMMANDS]


@pytest.mark.slow
def test_the_page_can_be_written_anew(tool, monkeypatch, tmp_path):
    old = tool.PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(tool, "PAGE", tmp_path / "transcript.md")
    tool.main()
    new = tool.PAGE.read_text(encoding="utf-8")
    assert len(new.splitlines()) == len(old.splitlines())
