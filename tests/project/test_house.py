"""Rules of the house that can be counted: sizes, and contracts that are declared instead of probed for."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "adatron"
CORE = [
    *("numerics", "kernels", "gram", "problems", "solvers", "training", "estimators"),
    *("paths", "auto", "clustering", "bounds", "callbacks"),
]
MODULES = [*SOURCE.glob("*.py"), *(path for folder in CORE for path in (SOURCE / folder).rglob("*.py"))]
OUTSIDE_GRAM = [path for path in MODULES if path.parent.name != "gram"]


def name_of(path):
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", sorted(MODULES), ids=name_of)
def test_no_module_is_longer_than_350_lines(path):
    assert len(path.read_text().splitlines()) <= 350


@pytest.mark.parametrize("path", sorted(MODULES), ids=name_of)
def test_no_function_is_longer_than_60_lines(path):
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    assert [f.name for f in functions if f.end_lineno - f.lineno >= 60] == []


@pytest.mark.parametrize("path", sorted(OUTSIDE_GRAM), ids=name_of)
def test_nobody_probes_a_kernel_matrix(path):
    """What a Gram can do is declared in its class; others look at that, never at the class itself."""
    text = path.read_text()
    assert re.findall(r"(?:has|get)attr\([^()]*(?:gram|points)\b[^()]*\)", text) == []
    assert re.findall(r"isinstance\([^()]*,\s*[\w.|]*Gram\b", text) == []


@pytest.mark.parametrize("path", sorted(OUTSIDE_GRAM), ids=name_of)
def test_where_rows_are_is_known_in_gram_and_the_input_check_only(path):
    assert "is_distributed" not in path.read_text()
