"""What the README shows is what happens."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_example_prints_what_is_said():
    code, output = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, flags=re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == output


def test_links_lead_somewhere():
    root = Path(__file__).parents[2]
    for link in re.findall(r"\]\((?!http)([^)#\s]+)\)", README.replace("\n", " ")):
        assert (root / link).exists(), link


@pytest.mark.parametrize("command", re.findall(r"python3? ((?:tools|benchmarks)/\w+\.py)", README))
def test_commands_exist(command):
    assert (Path(__file__).parents[2] / command).exists()
