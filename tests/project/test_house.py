"""Rules of the house that can be counted: sizes, declared contracts, and how short the way of a fit is."""

import ast
import re
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

from adatron import SVC

SOURCE = Path(__file__).parents[2] / "src" / "adatron"
CORE = [
    *("numerics", "kernels", "gram", "problems", "solvers", "training", "tables", "estimators"),
    *("paths", "auto", "clustering", "explanation", "certification"),
]
MODULES = [*SOURCE.glob("*.py"), *(path for folder in CORE for path in (SOURCE / folder).rglob("*.py"))]
OUTSIDE_GRAM = [path for path in MODULES if path.parent.name != "gram"]


def name_of(path):
    return str(path.relative_to(SOURCE))


def lengths_of_functions(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            yield f"{name_of(path)}: {node.name}", node.end_lineno - node.lineno + 1


def test_no_module_is_longer_than_350_lines():
    lengths = {name_of(path): len(path.read_text().splitlines()) for path in MODULES}
    assert len(lengths) > 50
    assert {name: length for name, length in lengths.items() if length > 350} == {}


def test_no_function_is_longer_than_60_lines():
    lengths = {name: length for path in MODULES for name, length in lengths_of_functions(path)}
    assert {name: length for name, length in lengths.items() if length > 60} == {}


def test_nobody_probes_a_kernel_matrix():
    """What a Gram can do is declared in its class; others look at that, never at the class itself."""
    for path in OUTSIDE_GRAM:
        text = path.read_text()
        assert re.findall(r"(?:has|get)attr\([^()]*(?:gram|points)\b[^()]*\)", text) == [], path
        assert re.findall(r"isinstance\([^()]*,\s*[\w.|]*Gram\b", text) == [], path


def test_where_rows_are_is_known_in_gram_and_the_input_check_only():
    assert [name_of(path) for path in OUTSIDE_GRAM if "is_distributed" in path.read_text()] == []


def executed_by(function):
    """The files of the package that a call executes, and its deepest stack of the package's functions."""
    files, deepest = set(), []

    def profile(frame, event, argument):
        if event != "call" or not frame.f_code.co_filename.startswith(str(SOURCE)):
            return
        files.add(frame.f_code.co_filename)
        stack = []
        while frame is not None:
            if frame.f_code.co_filename.startswith(str(SOURCE)):
                stack.append(frame.f_code.co_qualname)
            frame = frame.f_back
        if len(stack) > len(deepest):
            deepest[:] = stack[::-1]

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
    return files, deepest


def test_a_fit_of_many_rows_takes_a_short_way():
    X, y = make_classification(10_000, 20, random_state=0)
    X = X.astype(np.float32)
    SVC().fit(X[:3_000], y[:3_000])  # compiles
    files, deepest = executed_by(lambda: SVC().fit(X, y))
    assert len(files) <= 25, sorted(files)
    assert len(deepest) <= 12, deepest
