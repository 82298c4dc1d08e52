"""Every row of docs/faults.md has a test that carries its number, and every number has its row."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_rows_and_tests_have_the_same_numbers():
    rows = re.findall(r"^\| ([A-Z]\d+) \|", (ROOT / "docs" / "faults.md").read_text(), re.M)
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    marked = set(re.findall(r'"([A-Z]\d+)"', "".join(re.findall(r"mark\.fault\(([^)]*)\)", tests))))
    assert len(rows) == len(set(rows)) > 150
    assert marked == set(rows)
