"""Every example of the gallery runs and draws."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
QUICK = ("plot_auto_svc.py", "plot_probabilities.py")
PROLOGUE = (
    "import sys, runpy, matplotlib; matplotlib.use('agg'); "
    "import matplotlib.pyplot as plt; plt.show = lambda: None"
)


def run(path, directory):
    code = f"{PROLOGUE}; runpy.run_path(sys.argv[1]); assert plt.get_fignums(), 'no figure'"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, cwd=directory, timeout=180,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_there_are_a_dozen():
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("name", QUICK)
def test_quick_example(name, tmp_path):
    run(next(path for path in EXAMPLES if path.name == name), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    run(path, tmp_path)
