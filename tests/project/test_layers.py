"""The architecture is the folder order: no module imports from the right of its own folder."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE, REPRODUCTION = ROOT / "src" / "adatron", ROOT / "reproduction"
ORDER = [
    "numerics",
    "kernels",
    "gram",
    "problems",
    "solvers",
    "training",
    "tables",
    "estimators",
    "paths",
    "auto",
    "clustering",
    "explanation",
    "selection",
    "files",
    "certification",
    "io",
    "callbacks",
    "display",
    "play",
    "cli",
]
BOTTOM = {"datasets", "exceptions", "bounds"}
MODULES = sorted(SOURCE.rglob("*.py"))


@cache
def nodes_of(path):
    return list(ast.walk(ast.parse(path.read_text())))


def layer_of(path):
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported_layers(path):
    """Layers of adatron that a module imports, wherever in the file it does so."""
    for node in nodes_of(path):
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
        for node in nodes_of(path):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            if module and module.split(".")[0] == "sklearn":
                names = [*module.split("."), *(alias.name for alias in node.names)]
                assert not any(name.startswith("_") for name in names), f"{path}: {names}"


def test_one_module_imports_the_callbacks_of_scikit_learn():
    """They came with 1.9, and fits work without them."""
    importing = [path for path in MODULES if "import sklearn.callback" in (text := path.read_text())
                 or "from sklearn.callback" in text]  # fmt: skip
    assert [path.name for path in importing] == ["callback_bridge.py"]


def test_solvers_have_no_clock_print_or_sklearn():
    for path in (SOURCE / "solvers").glob("*.py"):
        nodes = nodes_of(path)
        assert "print" not in {node.id for node in nodes if isinstance(node, ast.Name)}, path
        imported = {n.module.split(".")[0] for n in nodes if isinstance(n, ast.ImportFrom) and n.module}
        assert not imported & {"sklearn", "time", "warnings"}, path


def test_experiments_use_names_of_packages():
    """What the papers' experiments import is public or named by a package, but for the style of pages."""
    paths = sorted(REPRODUCTION.rglob("*.py"))
    assert len(paths) > 10
    for path in paths:
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "adatron":
                name = node.module
                name = f"{name}.{node.names[0].name}" if name == "adatron.display" else name
                is_page = name in ("adatron.display.figures", "adatron.display.page")
                assert name.count(".") <= 1 or is_page, f"{path}: {name}"


def test_the_library_does_not_know_the_experiments():
    for path in MODULES:
        for node in nodes_of(path):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(module and module.split(".")[0] == "reproduction" for module in modules), path
