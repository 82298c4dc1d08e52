"""What importing loads, and that compiled code comes from the disk cache the second time.

`benchmarks/import_time.py` has the seconds.
"""

import os
import subprocess
import sys

import pytest

FIT = """
import numpy as np
import adatron.solvers.greedy_steps as module
import adatron.problems as problems
from adatron import SVC
X = np.array([[-1.0], [1.0], [2.0], [-3.0]])
SVC().fit(X, [0, 1, 1, 0])
stats = [f._call.stats for f in (module.pair_steps, problems._measure_columns)]
print(sum(sum(s.cache_hits.values()) for s in stats), sum(sum(s.cache_misses.values()) for s in stats))
"""


def run(code, **environment):
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=True
    ).stdout


def packages_after(statement):
    return set(run(f"{statement}; import sys; print(*{{m.split('.')[0] for m in sys.modules}})").split())


def test_an_estimator_loads_numba_and_otherwise_what_sklearn_svm_loads():
    code = "import sys, sklearn.svm; theirs = set(sys.modules); from adatron import SVC; "
    code += "print(*{m.split('.')[0] for m in sys.modules.keys() - theirs}); "
    loaded, pictures = run(f"{code}import adatron.display; print('matplotlib' in sys.modules)").splitlines()
    assert pictures == "False"  # what draws is loaded when something is drawn
    more = {name for name in set(loaded.split()) - sys.stdlib_module_names if not name.startswith("_")}
    already = {"sklearn", "scipy", "numpy"}  # of which some further modules
    assert more - already <= {"adatron", "numba", "llvmlite", "yaml"}
    assert "numba" in more


def test_import_alone_loads_neither_numpy_nor_sklearn():
    assert not {"numpy", "sklearn", "numba", "scipy"} & packages_after("import adatron")


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled with the JIT off")
def test_second_process_hits_the_disk_cache(tmp_path):
    cache = str(tmp_path / "cache")
    hits, misses = map(int, run(FIT, NUMBA_CACHE_DIR=cache).split())
    assert (hits, misses) == (0, 2)
    hits, misses = map(int, run(FIT, NUMBA_CACHE_DIR=cache).split())
    assert (hits, misses) == (2, 0)


def test_without_callbacks_fits_work_and_setting_one_is_an_error():
    """As with scikit-learn < 1.9, which has no `sklearn.callback`."""
    code = (
        "import sys, warnings, sklearn.svm, sklearn.metrics, sklearn.calibration, sklearn.model_selection\n"
        "import sklearn.compose, sklearn.feature_extraction.text, sklearn.pipeline\n"
        "sys.modules['sklearn.callback'] = None\n"
        "from adatron import SVC, AutoSVC, callbacks, datasets\n"
        "X, y = datasets.load_sonar(return_X_y=True)\n"
        "models = SVC().fit(X, y), AutoSVC().set_callbacks().fit(X, y)\n"
        "assert all(model.score(X, y) > 0.8 for model in models)\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    SVC(solver='adatron', max_iter=1).fit(X, y)\n"
        "assert [one.filename for one in caught] == ['<string>'], caught\n"
        "try:\n"
        "    SVC().set_callbacks(callbacks.Patience(X, y))\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    assert run(code).startswith("callbacks need scikit-learn >= 1.9, and this is ")
