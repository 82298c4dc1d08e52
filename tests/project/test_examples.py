"""Every example of the gallery runs and draws."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
QUICK = "plot_probabilities.py"
PROLOGUE = (
    "import sys, runpy, matplotlib; matplotlib.use('agg'); "
    "import matplotlib.pyplot as plt; plt.show = lambda: None"
)


def run(directory, path):
    """Run an example in a process of its own; it must draw."""
    code = f"{PROLOGUE}\nrunpy.run_path(sys.argv[1])\nassert plt.get_fignums(), 'no figure'"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=directory, timeout=180, env=environment
    )
    assert done.returncode == 0, done.stderr


def test_there_are_a_dozen():
    assert len(EXAMPLES) >= 12


def test_a_quick_example(tmp_path):
    run(tmp_path, ROOT / "examples" / QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    run(tmp_path, path)
