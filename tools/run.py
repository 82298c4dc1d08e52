"""Everything a newcomer needs, with nothing but Python ≥ 3.11 and its venv module.

    python3 tools/run.py demo    set up, then train on the bundled sonar data
    python3 tools/run.py test    set up, then pass the tests
    python3 tools/run.py lowest  the tests with the lowest versions that pyproject.toml allows
    python3 tools/run.py nojit   the numerical tests again, with compilation switched off
    python3 tools/run.py browser pages looked at in Chromium, which must be installed
    python3 tools/run.py docs    the site, in docs/_build; its links are checked
    python3 tools/run.py lint    style and types
    python3 tools/run.py reproduce [PAPER ...] [--quick] [--out DIR]
                                 every table and figure of the papers, published beside ours, as one page

The environment is ``.venv`` in the repository, ``.venv-lowest`` for the lowest versions. Further arguments
go to the tool that is run.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = {
    "demo": "cli,plot",
    "test": "test",
    "lowest": "test",
    "nojit": "test",
    "browser": "browser",
    "docs": "docs",
    "lint": "lint,test",
    "reproduce": "plot",
}
USER_EXTRAS = ("plot", "cli", "dask", "export")
SITE = "docs/_build/html"
WITHOUT_JIT = [
    "tests/solvers",
    "tests/training",
    "tests/contracts",
    "tests/kernels",
    "tests/estimators/test_callbacks.py",
    "--ignore=tests/training/test_interior.py",  # LAPACK, on problems whose epochs take minutes each
]
# All tests of a file run in one process: fixtures are made, and functions compiled, in one of the two only.
TESTS = ("pytest", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
# One BLAS thread in each test process: two processes with two threads each wait for one another.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "SCIPY_ARRAY_API": "1"}


def set_up(environment: Path, extras: str, constraints: str = "") -> Path:
    """Create the environment if need be, install adatron into it, and return its Python."""
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        print(f"creating {environment}", flush=True)
        venv.create(environment, with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as directory:
        limits = Path(directory) / "constraints.txt"
        limits.write_text(constraints)
        subprocess.run([*install, "-c", str(limits), "--editable", f"{ROOT}[{extras}]"], check=True)
    return python


def lowest_versions() -> str:
    """Return pip constraints: ``==`` in the place of ``>=`` for every library that users bring."""
    import tomllib  # Python >= 3.11, which `main` has checked by now

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = project["dependencies"] + [line for extra in USER_EXTRAS for line in extras[extra]]
    lines += [line for line in extras["test"] if line.startswith(("pandas", "polars"))]
    bounds = [re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", line) for line in lines]
    return "".join(f"{bound[1]}=={bound[2]}\n" for bound in bounds if bound)


def run(python: Path, *arguments: str, **variables: str) -> None:
    """Run a module of Python; its exit code, if not 0, is ours."""
    child = subprocess.Popen([str(python), "-m", *arguments], cwd=ROOT, env={**os.environ, **variables})
    # the tool decides how it ends after a signal: `reproduce` first writes what it has
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.signal(signal.SIGTERM, lambda number, frame: child.terminate())
    code = child.wait()
    if code:
        sys.exit(code if code > 0 else 128 - code)


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 — pip's own message would come much later
        sys.exit(f"adatron needs Python 3.11 or newer, this is {sys.version.split()[0]}")
    task, *arguments = sys.argv[1:] or ["--help"]
    if task not in EXTRAS:
        sys.exit(__doc__)
    if task == "lowest":
        python = set_up(ROOT / ".venv-lowest", EXTRAS[task], lowest_versions())
    else:
        python = set_up(ROOT / ".venv", EXTRAS[task])
    if task == "demo":
        run(python, "adatron", "fit", *arguments)
    elif task in ("test", "lowest"):
        run(python, *TESTS, *arguments, **ONE_THREAD)
    elif task == "browser":
        run(python, "pytest", "-m", "browser", "tests/browser", *arguments, **ONE_THREAD)
    elif task == "docs":
        run(python, "sphinx", "-W", "--keep-going", "-b", "html", "docs", SITE, *arguments)
        run(python, "tools.check_links", SITE)
    elif task == "reproduce":
        run(python, "reproduction", *arguments)
    elif task == "nojit":
        run(python, *TESTS, *WITHOUT_JIT, *arguments, **ONE_THREAD, NUMBA_DISABLE_JIT="1")
    else:
        run(python, "ruff", "check", ".")
        run(python, "ruff", "format", "--check", ".")
        run(python, "mypy")


if __name__ == "__main__":
    main()
