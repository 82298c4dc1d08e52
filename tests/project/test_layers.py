"""The architecture is the folder order: no module imports from the right of its own folder."""

import ast
from pathlib import Path

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
    "files",
    "io",
    "callbacks",
    "display",
    "papers",
    "cli",
]
BOTTOM = {"datasets", "exceptions", "bounds"}
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


def is_allowed(layer, other):
    if layer in BOTTOM:
        return other == layer
    return other in BOTTOM or other == "__version__" or ORDER.index(other) <= ORDER.index(layer)


def test_imports_only_from_the_left():
    layered = [
        path for path in MODULES if layer_of(path) not in ("__init__", "__main__")
    ]  # these load lazily
    assert len(layered) > 50
    wrong = [
        f"{path.relative_to(SOURCE)} imports {other}"
        for path in layered
        for other in imported_layers(path)
        if not is_allowed(layer_of(path), other)
    ]
    assert wrong == []


def test_only_public_scikit_learn():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            if module and module.split(".")[0] == "sklearn":
                names = [*module.split("."), *(alias.name for alias in node.names)]
                assert not any(name.startswith("_") for name in names), f"{path}: {names}"


def test_solvers_have_no_clock_print_or_sklearn():
    for path in (SOURCE / "solvers").glob("*.py"):
        tree = ast.parse(path.read_text())
        nodes = list(ast.walk(tree))
        assert "print" not in {node.id for node in nodes if isinstance(node, ast.Name)}, path
        imported = {n.module.split(".")[0] for n in nodes if isinstance(n, ast.ImportFrom) and n.module}
        assert not imported & {"sklearn", "time", "warnings"}, path
