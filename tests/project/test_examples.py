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


def run(directory, *paths):
    """Run examples one after the other in a process of their own; each must draw."""
    code = f"{PROLOGUE}\nfor path in sys.argv[1:]:\n    plt.close('all'); runpy.run_path(path)\n"
    code += "    assert plt.get_fignums(), 'no figure'"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code, *map(str, paths)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=directory, timeout=180, env=environment
    )
    assert done.returncode == 0, done.stderr


def test_there_are_a_dozen():
    assert len(EXAMPLES) >= 12


def test_quick_examples(tmp_path):
    chosen = [path for path in EXAMPLES if path.name in QUICK]
    assert len(chosen) == len(QUICK)
    run(tmp_path, *chosen)


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    run(tmp_path, path)
