"""Everything a newcomer needs, with nothing but Python ≥ 3.11 and its venv module.

    python3 tools/run.py demo    set up, then train on the bundled sonar data
    python3 tools/run.py test    set up, then pass the tests
    python3 tools/run.py nojit   the numerical tests again, with compilation switched off
    python3 tools/run.py browser pages looked at in Chromium, which must be installed
    python3 tools/run.py docs    the site, in docs/_build; its links are checked
    python3 tools/run.py lint    style and types
    python3 tools/run.py reproduce [PAPER ...] [--quick] [--out DIR]
                                 every table and figure of the papers, published beside ours, as one page

The environment is ``.venv`` in the repository. Further arguments go to the tool that is run.
"""

import os
import signal
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin") / "python"

EXTRAS = {
    "demo": "cli,plot",
    "test": "test",
    "nojit": "test",
    "browser": "browser",
    "docs": "docs",
    "lint": "lint,test",
    "reproduce": "plot",
}
SITE = "docs/_build/html"
WITHOUT_JIT = [
    "tests/solvers",
    "tests/training",
    "tests/contracts",
    "tests/kernels",
    "tests/estimators/test_callbacks.py",
]
# One BLAS thread in each test process: two processes with two threads each wait for one another.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "SCIPY_ARRAY_API": "1"}


def set_up(extras: str) -> None:
    """Create the environment if need be, and install adatron into it."""
    if not PYTHON.exists():
        print(f"creating {ENVIRONMENT}", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
    install = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--editable", f"{ROOT}[{extras}]"], check=True)


def run(*arguments: str, **environment: str) -> None:
    child = subprocess.Popen([str(PYTHON), "-m", *arguments], cwd=ROOT, env={**os.environ, **environment})
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
    set_up(EXTRAS[task])
    if task == "demo":
        run("adatron", "fit", *arguments)
    elif task == "test":
        run("pytest", "-n", "2", *arguments, **ONE_THREAD)
    elif task == "browser":
        run("pytest", "-m", "browser", "tests/browser", *arguments, **ONE_THREAD)
    elif task == "docs":
        run("sphinx", "-W", "--keep-going", "-b", "html", "docs", SITE, *arguments)
        run("tools.check_links", SITE)
    elif task == "reproduce":
        run("reproduction", *arguments)
    elif task == "nojit":
        run("pytest", "-n", "2", *WITHOUT_JIT, *arguments, **ONE_THREAD, NUMBA_DISABLE_JIT="1")
    else:
        run("ruff", "check", ".")
        run("ruff", "format", "--check", ".")
        run("mypy")


if __name__ == "__main__":
    main()
