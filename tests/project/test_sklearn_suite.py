"""scikit-learn's own tests of its support vector machines, with ours in their place."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

TESTS = Path(sklearn.__file__).parent / "svm" / "tests"
DOCS = Path(__file__).resolve().parents[2] / "docs" / "coming_from_sklearn.md"
OTHERS = "not linear and not Linear and not liblinear"  # those of LIBLINEAR ask for its solvers and penalties
CONFTEST = """
import pytest, sklearn.svm, adatron

@pytest.fixture
def global_random_seed():
    return 42

for name in ("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"):
    setattr(sklearn.svm, name, getattr(adatron, name))
"""


@pytest.mark.slow
@pytest.mark.skipif(not (TESTS / "test_svm.py").exists(), reason="this scikit-learn comes without its tests")
def test_scikit_learns_suite_fails_only_where_the_docs_say_so(tmp_path):
    for name in ("test_svm.py", "test_sparse.py"):
        shutil.copy(TESTS / name, tmp_path)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    command = [sys.executable, "-m", "pytest", "-q", "-rf", "--tb=no", "-p", "no:cacheprovider", "-k", OTHERS]
    output = subprocess.run([*command, "."], cwd=tmp_path, capture_output=True, text=True, timeout=600).stdout
    failed = set(re.findall(r"^FAILED \S+::(test_\w+)", output, re.MULTILINE))
    section = DOCS.read_text().split("## scikit-learn's own tests")[1].split("\n## ")[0]
    assert failed == set(re.findall(r"^\| `(test_\w+)` \|", section, re.MULTILINE)), output[-3000:]
    assert int(re.search(r"(\d+) passed", output).group(1)) >= 188
