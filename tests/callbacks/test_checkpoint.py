"""Checkpoints: a resumed fit is the undisturbed one (rows R5 to R7, R9, R10 of docs/faults.md)."""

import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes
from tests.silent_callback import SilentCallback

from adatron import (
    SVC,
    SVR,
    AutoSVC,
    AutoSVR,
    EnsembleSVC,
    KernelPerceptron,
    NuSVC,
    NuSVR,
    OneClassSVM,
)
from adatron.callbacks import Checkpoint, Patience, digest
from adatron.datasets import load_sonar, make_waveform
from adatron.exceptions import AdatronWarning


class Interrupt(SilentCallback):
    """Ctrl-C after some rounds."""

    def __init__(self, rounds):
        self.left = rounds

    def on_fit_task_end(self, estimator, context):
        self.left -= context.task_name == "epoch"
        if self.left == 0:
            raise KeyboardInterrupt
        return False


def sonar():
    return load_sonar(return_X_y=True)


def three_classes():
    X, y = sonar()
    return X, np.array(["a", "b", "c"])[(y + 2 * (X[:, 0] > 0.03)) % 3]


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X[:150], y[:150]


MODELS = {
    "adatron": (lambda: SVC(C=50.0, solver="adatron"), sonar, 30),
    "secant": (lambda: SVC(C=5.0, solver="adatron-secant", max_iter=200), sonar, 30),
    "multiplicative": (lambda: SVC(C=5.0, solver="multiplicative", max_iter=150), sonar, 60),
    "m3": (lambda: SVC(C=5.0, solver="m3", fit_intercept=False, max_iter=150), sonar, 60),
    "munk": (lambda: SVC(C=5.0, solver="munk", fit_intercept=False, max_iter=150), sonar, 60),
    "rho": (lambda: SVC(C=np.inf, solver="rho", fit_intercept=False, gamma=1.0, tol=1e-2), sonar, 5),
    "greedy": (lambda: SVC(C=1e4, tol=1e-9), sonar, 2),
    "pairs": (lambda: SVC(C=50.0, solver="adatron"), three_classes, 30),
    "crammer-singer": (lambda: SVC(C=5.0, multi_class="crammer_singer", tol=1e-3), three_classes, 10),
    "low-rank": (lambda: SVC(C=5.0, rank=40, solver="adatron", random_state=3), sonar, 20),
    "ensemble": (EnsembleSVC, sonar, 9),
    "perceptron": (KernelPerceptron, sonar, 3),
    "regression": (lambda: SVR(C=500.0, solver="adatron", max_iter=400), diabetes, 50),
    "one-class": (lambda: OneClassSVM(nu=0.2, solver="adatron"), diabetes, 10),
    "nu": (lambda: NuSVC(nu=0.2, tol=1e-9), three_classes, 2),
    "nu-regression": (lambda: NuSVR(nu=0.3, C=500.0), diabetes, 3),
    "auto": (AutoSVC, sonar, 3),
    "auto-regression": (AutoSVR, diabetes, 2),
}


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def outputs_of(model, X):
    return model.predict(X) if not hasattr(model, "decision_function") else model.decision_function(X)


@pytest.mark.fault("R7")
@pytest.mark.parametrize("name", MODELS)
def test_a_resumed_fit_is_the_undisturbed_one(name, tmp_path):
    make, data, rounds = MODELS[name]
    X, y = data()
    whole = fitted(make(), X, y)
    path = tmp_path / "fit.checkpoint"
    killed = make().set_callbacks(Checkpoint(path, every=0.0), Interrupt(rounds))
    with pytest.raises(KeyboardInterrupt):
        fitted(killed, X, y)
    resumed = fitted(make().set_callbacks(Checkpoint(path, resume=True)), X, y)
    if name != "auto-regression":  # which counts none
        assert np.max(resumed.n_iter_) == np.max(whole.n_iter_)
    expected = outputs_of(whole, X)
    np.testing.assert_allclose(outputs_of(resumed, X), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert resumed.status_ is whole.status_
    if hasattr(whole, "history_"):
        assert resumed.history_["objective"] == pytest.approx(whole.history_["objective"], rel=1e-9)


def test_a_finished_fit_is_not_done_again(tmp_path):
    X, y = sonar()
    path = tmp_path / "fit.checkpoint"
    first = SVC(C=50.0, solver="adatron").set_callbacks(Checkpoint(path)).fit(X, y)
    rounds = Interrupt(1)
    again = SVC(C=50.0, solver="adatron").set_callbacks(Checkpoint(path, resume=True), rounds).fit(X, y)
    assert rounds.left == 1  # no epoch was run
    np.testing.assert_array_equal(again.dual_coef_, first.dual_coef_)


class OneHourLater(SilentCallback):
    """After 20 epochs, training's clock says that an hour has passed."""

    def __init__(self, patch):
        self.epochs = 0
        patch.setattr(
            "adatron.training.run.monotonic", lambda: time.monotonic() + 3600.0 * (self.epochs >= 20)
        )

    def on_fit_task_end(self, estimator, context):
        self.epochs += context.task_name == "epoch"
        return False


@pytest.mark.parametrize("limit", [{"max_iter": 20}, {"time_limit": 3600.0}])
def test_a_limit_can_be_raised(limit, tmp_path, monkeypatch):
    X, y = sonar()
    path = tmp_path / "fit.checkpoint"
    settings = {"C": 1e3, "gamma": 0.2, "solver": "adatron", "tol": 1e-3}
    clock = OneHourLater(monkeypatch)
    part = fitted(SVC(**settings, **limit).set_callbacks(Checkpoint(path), clock), X, y)
    assert not part.converged_
    whole = SVC(**settings).set_callbacks(Checkpoint(path, resume=True)).fit(X, y)
    assert whole.converged_
    assert whole.n_iter_[0] > part.n_iter_[0] >= 20


@pytest.mark.fault("R9")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 2.0}, "C was 1.0, is 2.0"),
        ({"gamma": "auto"}, "gamma was 'scale', is 'auto'"),
        ({"kernel": "poly"}, "kernel was 'rbf', is 'poly'"),
    ],
)
def test_resume_with_other_parameters(change, message, tmp_path):
    X, y = sonar()
    path = tmp_path / "fit.checkpoint"
    SVC().set_callbacks(Checkpoint(path)).fit(X, y)
    other = SVC(**change).set_callbacks(Checkpoint(path, resume=True))
    with pytest.raises(ValueError, match=message):
        other.fit(X, y)
    assert not hasattr(other, "dual_coef_")


@pytest.mark.fault("R9")
def test_resume_with_other_data_estimator_or_version(tmp_path, monkeypatch):
    X, y = sonar()
    path = tmp_path / "fit.checkpoint"
    SVC().set_callbacks(Checkpoint(path)).fit(X, y)
    with pytest.raises(ValueError, match="X differs"):
        SVC().set_callbacks(Checkpoint(path, resume=True)).fit(X + 1e-12, y)
    with pytest.raises(ValueError, match="y differs"):
        SVC().set_callbacks(Checkpoint(path, resume=True)).fit(X, y[::-1])
    with pytest.raises(ValueError, match="sample_weight differs"):
        SVC().set_callbacks(Checkpoint(path, resume=True)).fit(X, y, np.ones(len(y)))
    with pytest.raises(ValueError, match="estimator was SVC, is EnsembleSVC"):
        EnsembleSVC().set_callbacks(Checkpoint(path, resume=True)).fit(X, y)
    monkeypatch.setattr("adatron.callbacks.__version__", "9.9")
    with pytest.raises(ValueError, match=r"adatron was .*, is 9.9"):
        SVC().set_callbacks(Checkpoint(path, resume=True)).fit(X, y)


@pytest.mark.fault("R9")
def test_resume_with_other_landmarks(tmp_path):
    X, y = sonar()
    path = tmp_path / "fit.checkpoint"
    SVC(rank=20).set_callbacks(Checkpoint(path)).fit(X, y)
    with pytest.raises(ValueError, match="set random_state"):
        SVC(rank=20).set_callbacks(Checkpoint(path, resume=True)).fit(X, y)


@pytest.mark.fault("R9")
def test_a_damaged_checkpoint_is_an_error(tmp_path):
    X, y = sonar()
    path = tmp_path / "fit.checkpoint"
    SVC().set_callbacks(Checkpoint(path)).fit(X, y)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match="damaged"):
        SVC().set_callbacks(Checkpoint(path, resume=True)).fit(X, y)


@pytest.mark.fault("R5")
def test_a_full_disk_does_not_end_the_fit(tmp_path, monkeypatch):
    X, y = sonar()
    path = tmp_path / "fit.checkpoint"
    SVC(C=50.0, solver="adatron").set_callbacks(Checkpoint(path)).fit(X, y)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("adatron.files.atomic.os.fsync", full)
    with pytest.warns(AdatronWarning, match="No space left"):
        model = SVC(C=51.0, solver="adatron").set_callbacks(Checkpoint(path)).fit(X, y)
    assert model.converged_
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.fault("R6")
def test_a_missing_directory_is_an_error_before_training(tmp_path):
    X, y = sonar()
    model = SVC().set_callbacks(Checkpoint(tmp_path / "nowhere" / "fit.checkpoint"), Interrupt(1))
    with pytest.raises(FileNotFoundError, match="no directory"):
        model.fit(X, y)


@pytest.mark.fault("R10")
def test_ctrl_c_writes_a_checkpoint(tmp_path):
    X, y = sonar()
    path = tmp_path / "fit.checkpoint"
    model = SVC(C=1e4, solver="adatron").set_callbacks(Checkpoint(path, every=1e6), Interrupt(7))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert path.exists()
    assert str(model.status_) == "stopped"
    whole = SVC(C=1e4, solver="adatron").set_callbacks(Checkpoint(path, resume=True)).fit(X, y)
    assert whole.history_["epoch"][:9] == [1, 2, 3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("every", [-1, "a"])
def test_every_must_be_a_time(every):
    with pytest.raises(ValueError, match=f"every must be a number of seconds >= 0, got {every!r}"):
        Checkpoint("x", every=every)


def test_digests_tell_values_not_containers():
    X = np.arange(6.0).reshape(2, 3)
    assert digest(X) == digest(np.asfortranarray(X)) == digest(X.astype(np.float32))
    assert digest(X) == digest(X.tolist()) == digest(sparse.csr_array(X)) != digest(X + 1)
    assert digest(["a", "b"]) == digest(np.array(["a", "b"], dtype=object)) != digest(["a", "c"])


def test_patience():
    X, y = make_waveform(400, random_state=0)
    stop = Patience(X[200:], y[200:], epochs=4, scoring="balanced_accuracy")
    model = SVC(C=1e3, solver="adatron").set_callbacks(stop).fit(X[:200], y[:200])
    assert str(model.status_) == "stopped"
    assert len(stop.scores) == model.n_iter_[0]
    assert max(stop.scores[:-4]) >= max(stop.scores[-4:])
    for epochs in (0, "a"):
        with pytest.raises(ValueError, match=f"epochs must be at least 1, got {epochs!r}"):
            Patience(X, y, epochs=epochs)
