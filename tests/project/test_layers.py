"""The architecture is the folder order: no module imports from the right of its own folder."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "adatron"
ORDER = [
    "numerics",
    "kernels",
    "gram",
    "problems",
    "solvers",
    "training",
    "estimators",
    "paths",
    "auto",
    "clustering",
    "selection",
    "io",
    "callbacks",
    "display",
    "papers",
    "cli",
]
BOTTOM = {"storage", "datasets", "exceptions", "bounds"}
MODULES = sorted(SOURCE.rglob("*.py"))


def layer_of(path):
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported_layers(path):
    """Layers of adatron that a module imports, wherever in the file it does so."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "adatron" and len(parts) > 1:
                yield parts[1]


def test_every_folder_has_its_place():
    folders = {p.name for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert folders <= set(ORDER) | BOTTOM


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_only_from_the_left(path):
    layer = layer_of(path)
    if layer in ("__init__", "__main__"):
        return  # the package itself loads names lazily from anywhere
    for other in imported_layers(path):
        if layer in BOTTOM:
            assert other == layer, f"{layer} stands at the bottom and imports {other}"
        elif other not in BOTTOM and other != "__version__":
            assert ORDER.index(other) <= ORDER.index(layer), f"{layer} must not import {other}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_public_scikit_learn(path):
    for node in ast.walk(ast.parse(path.read_text())):
        module = node.module if isinstance(node, ast.ImportFrom) else None
        if module and module.split(".")[0] == "sklearn":
            names = [*module.split("."), *(alias.name for alias in node.names)]
            assert not any(name.startswith("_") for name in names), f"{path}: {names}"


@pytest.mark.parametrize("path", sorted((SOURCE / "solvers").glob("*.py")), ids=lambda p: p.name)
def test_solvers_have_no_clock_print_or_sklearn(path):
    tree = ast.parse(path.read_text())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert "print" not in names
    imported = {n.module.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
    assert not imported & {"sklearn", "time", "warnings"}
