"""The figures of campbell1998 in their quick form."""

import numpy as np
import pytest
from tests.data_dir import needs_data

from adatron import SVC
from adatron.kernels import Gaussian
from reproduction.campbell1998 import PAPER
from reproduction.campbell1998.learning import learning_curve
from reproduction.campbell1998.splits import mirror_splits
from reproduction.experiment import Effort, Verdict
from reproduction.shared import wisconsin_split

EXPERIMENTS = {experiment.name: experiment for experiment in PAPER.experiments}
WITHOUT_DATA = ["figure-1", "figure-3", "figures-4-5", "figures-9-11", "figure-12"]
ON_SONAR = [pytest.param(name, marks=needs_data) for name in ("figure-2", "figures-6-8")]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.fixture(scope="module")
def findings():
    known = {}

    def run(name):
        if name not in known:
            known[name] = EXPERIMENTS[name].run(Effort(quick=True, seed=0))
        return known[name]

    return run


def final_error(findings):
    return next(item for item in findings.comparisons if "last epoch" in item.labels["quantity"])


@pytest.mark.parametrize("name", [*WITHOUT_DATA, *ON_SONAR])
def test_statements_hold_and_there_is_a_figure(findings, name):
    pytest.importorskip("matplotlib")
    result = findings(name)
    assert [check.statement for check in result.checks if check.verdict is not Verdict.HOLDS] == []
    assert len(result.checks) >= 2
    assert all(ax.lines for ax in result.figure.axes)


def test_mirror_symmetry_is_learnt_fastest_with_a_small_rate(findings):
    printed, narrow = findings("figure-1").comparisons
    assert printed.verdict is Verdict.DIFFERS
    assert printed.ours < 0.5 < 0.8 <= narrow.ours <= 1.0
    assert "200 of 200" in printed.why


@needs_data
def test_sonar_error_is_the_published_one(findings):
    error = final_error(findings("figures-6-8"))
    assert error.ours == pytest.approx(100 * 8 / 104)
    assert error.verdict is Verdict.REPRODUCED


def test_breast_cancer_error_is_the_published_one(findings):
    error = final_error(findings("figures-9-11"))
    assert error.ours == pytest.approx(100 * 2 / 133)
    assert error.verdict is Verdict.REPRODUCED


def test_ionosphere_is_reproduced_on_random_splits(findings):
    items = [item for item in findings("figure-12").comparisons if item.labels["split"].startswith("random")]
    assert len(items) == 3
    assert {item.verdict for item in items} == {Verdict.REPRODUCED}


def test_same_seed_same_findings(findings):
    first, second = findings("figures-4-5"), EXPERIMENTS["figures-4-5"].run(Effort(quick=True, seed=0))
    assert (first.comparisons, first.checks, first.notes) == (
        second.comparisons, second.checks, second.notes
    )  # fmt: skip
    other = EXPERIMENTS["figures-4-5"].run(Effort(quick=True, seed=1))
    assert other.comparisons != first.comparisons


def test_test_strings_are_unseen_and_of_both_kinds():
    X_train, X_test, _, y_test = mirror_splits(Effort(seed=0), n_draws=2, n_test=5_000)[1]
    assert not {row.tobytes() for row in X_train} & {row.tobytes() for row in X_test}
    assert 4_900 < len(X_test) < 5_000
    assert 0.45 < np.mean(y_test == 1) < 0.55


def test_last_point_of_a_curve_is_the_machine_itself():
    split = wisconsin_split()
    curve = learning_curve(split, sigma=3.0, mu=50.0)
    exact = SVC(float("inf"), Gaussian.of_width(3.0), tol=1e-9).fit(split.X, split.y)
    assert curve.error[-1] == pytest.approx(100.0 * (1.0 - exact.score(split.X_test, split.y_test)))
    assert curve.bias[-1] == pytest.approx(exact.intercept_[0], abs=1e-3)
    assert curve.bias[:2].tolist() == [50.0, -50.0]  # the secant begins with ±μ
    assert curve.epoch[0] == 1
    assert (np.diff(curve.epoch) > 0).all()


def test_without_the_original_split_sonar_is_missing_data(monkeypatch, tmp_path):
    monkeypatch.setenv("ADATRON_DATA", str(tmp_path))
    with pytest.raises(OSError, match="ADATRON_DATA"):
        EXPERIMENTS["figures-6-8"].run(Effort(quick=True))
