"""scikit-learn's own checks: every one passes, none is expected to fail, none is skipped."""

import os
import subprocess
import sys

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from adatron import SVC

ESTIMATORS = [SVC(), SVC(kernel="linear"), SVC(kernel="poly"), SVC(fit_intercept=False)]
CASES = [pair for estimator in ESTIMATORS for pair in estimator_checks_generator(estimator)]


def name_of(case):
    return getattr(case, "func", case).__name__ if callable(case) else repr(case)


@pytest.mark.filterwarnings("ignore::adatron.exceptions.KernelWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "check"), CASES, ids=name_of)
def test_check(estimator, check):
    check(estimator)


REPORT = """
import warnings
warnings.simplefilter("ignore")
from sklearn.utils.estimator_checks import check_estimator
from adatron import SVC
results = check_estimator(SVC(), on_fail=None, on_skip=None)
print(*sorted({r["status"] for r in results}), len(results))
"""


def test_no_check_is_skipped_with_array_api_dispatch():
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-c", REPORT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    statuses, count = done.stdout.split()[:-1], int(done.stdout.split()[-1])
    assert statuses == ["passed"]
    assert count >= 60
