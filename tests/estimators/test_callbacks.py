"""scikit-learn's callbacks on a bare fit and nested in a search over a pipeline."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, LinearSVC, LinearSVR, ParzenClassifier
from adatron.datasets import load_sonar
from adatron.estimators.callback_bridge import HAS_CALLBACKS

if HAS_CALLBACKS:
    from sklearn.callback import ProgressBar, ScoringMonitor


class StopAfter:
    """A callback that stops the fit after some epochs, and notes what it saw."""

    def __init__(self, epochs):
        self.epochs, self.seen, self.scores = epochs, 0, []

    def setup(self, estimator, context):
        self.seen = 0

    def teardown(self, estimator, context):
        self.torn_down = True

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        if context.task_name != "epoch":
            return False
        self.seen += 1
        self.scores.append(fitted_estimator.score(X, y))
        return self.seen >= self.epochs


pytestmark = pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks need scikit-learn >= 1.9")


@pytest.fixture(scope="module")
def sonar():
    return load_sonar(return_X_y=True)


@pytest.mark.parametrize("multi", [False, True])
def test_returning_true_stops_with_a_usable_model(sonar, multi):
    X, y = sonar
    labels = np.arange(len(y)) % 3 if multi else y
    stop = StopAfter(4)
    model = SVC(100.0, solver="adatron", tol=1e-9).set_callbacks(stop).fit(X, labels)
    assert model.status_ == "stopped"
    np.testing.assert_array_equal(model.n_iter_, np.full(3 if multi else 1, 4))
    assert stop.seen == len(stop.scores) == 4
    assert stop.torn_down
    assert model.score(X, labels) == stop.scores[-1] > 0.5
    assert np.isfinite(model.duality_gap_)


def test_progress_bar_on_a_bare_fit(sonar, capsys):
    model = SVC(solver="adatron", max_iter=5_000).set_callbacks(ProgressBar()).fit(*sonar)
    assert model.converged_
    assert "SVC" in capsys.readouterr().out


def test_progress_bar_through_search_and_pipeline(sonar, capsys):
    pipeline = Pipeline([("scale", StandardScaler()), ("svc", SVC(solver="adatron"))])
    search = GridSearchCV(pipeline, {"svc__C": [1.0, 10.0]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(*sonar)
    assert "SVC" in capsys.readouterr().out


def epochs_logged(monitor, select="most_recent"):
    logs = monitor.get_logs(select=select)
    rows = [row for log in (logs if select == "all" else [logs]) for row in log.data]
    return [row for row in rows if row["task_name"] == "epoch"]


def test_scoring_monitor_sees_every_epoch(sonar):
    monitor = ScoringMonitor(scoring="accuracy")
    model = SVC(solver="adatron").set_callbacks(monitor).fit(*sonar)
    logged = epochs_logged(monitor)
    assert len(logged) == int(model.n_iter_[0])
    assert logged[-1]["accuracy"] == pytest.approx(model.score(*sonar), abs=0.02)


def test_scoring_monitor_on_the_inner_svc_of_a_search(sonar):
    monitor = ScoringMonitor(scoring="accuracy")
    svc = SVC(solver="adatron").set_callbacks(monitor)
    pipeline = Pipeline([("scale", StandardScaler()), ("svc", svc)])
    GridSearchCV(pipeline, {"svc__C": [1.0, 10.0]}, cv=2).fit(*sonar)
    logged = epochs_logged(monitor, select="all")
    fits = {row["parent_task_id_path"] for row in logged}
    assert len(fits) == 5  # two candidates on two folds each, and the refit


class Tasks(StopAfter):
    """Notes the tasks that end, and the score of the model that it is shown."""

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.scores.append((type(estimator).__name__, fitted_estimator.score(X, y)))


@pytest.mark.parametrize("kind", [LinearSVC, LinearSVR, ParzenClassifier])
def test_estimators_without_epochs_tell_callbacks_of_the_fit(sonar, kind):
    X, y = sonar[0], np.where(sonar[1] == np.unique(sonar[1])[0], -1.0, 1.0)
    tasks = Tasks(1)
    model = kind().set_callbacks(tasks).fit(X, y)
    assert tasks.scores == [(kind.__name__, model.score(X, y))]
    assert tasks.torn_down


def test_progress_bar_shows_a_linear_machine_within_a_search(sonar, capsys):
    search = GridSearchCV(LinearSVC(), {"C": [0.1, 1.0]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(*sonar)
    assert "LinearSVC" in capsys.readouterr().out
