"""Training that is killed, interrupted or asked to end: faults R7, R8, R10 and R11."""

import random
import signal
import sys
import time

import numpy as np
import pytest

from adatron.display.figures import innermost
from adatron.files.values import read_value
from adatron.io import load_model
from tests.cli.processes import ENDLESS, Command
from tests.cli.tables import checkerboard
from tests.silent_callback import needs_callbacks

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="CPU time is read from /proc")

HARD_MARGIN = ["fit", "sonar", "--model", "svc", "--solver", "adatron", "-C", "inf", "--sigma", "1"]
HARD_MARGIN += ["--no-scale", "--test-size", "0.5", "--no-report"]
SAVED = ["--checkpoint", "fit.checkpoint", "--every", "0"]


def epoch_of(checkpoint):
    """The epoch that a checkpoint was saved after; reading it checks every byte."""
    return read_value(checkpoint, "checkpoint")["fit"]["runs"][0]["epoch"]


def parameters_of(model_file):
    machine = innermost(load_model(model_file))
    return np.concatenate([machine.dual_coef_.ravel(), machine.intercept_, machine.support_])


def after_seconds(seconds):
    return lambda command: command.until(lambda: command.cpu() >= seconds)


def says(text):
    return lambda command: command.until(lambda: text in command.errors())


@pytest.fixture(scope="module")
def undisturbed(fork_server, tmp_path_factory):
    directory = tmp_path_factory.mktemp("undisturbed")
    command = Command(fork_server, directory, *HARD_MARGIN)
    assert command.wait() == 0, command.errors()
    return parameters_of(directory / "model.skops")


def assert_same(model_file, undisturbed):
    found = parameters_of(model_file)
    np.testing.assert_allclose(found, undisturbed, rtol=0, atol=1e-9 * np.abs(undisturbed).max())


def written(path):
    """When a file was written, 0 before."""
    return path.stat().st_mtime_ns if path.exists() else 0


def killed(start, directory, n_kills, draw, undisturbed):
    """Kills so many processes that train one model after another; epochs that the checkpoints had then."""
    epochs, n_left = [0], n_kills
    checkpoint, model = directory / "fit.checkpoint", directory / "model.skops"
    while n_left:
        before = written(checkpoint)
        command = start(*HARD_MARGIN, *SAVED, "--resume")
        if draw.random() < 0.8:  # in the training, however long it took to get there
            command.until(lambda before=before: written(checkpoint) != before)
        after_seconds(command.cpu() + draw.uniform(0.0, 0.1))(command)
        seen = epoch_of(checkpoint) if checkpoint.exists() else 0
        command.send(signal.SIGKILL)
        n_left -= command.wait() == -signal.SIGKILL
        if checkpoint.exists():
            assert epoch_of(checkpoint) >= max(seen, epochs[-1])  # what was written once is never lost
            epochs.append(epoch_of(checkpoint))
        if model.exists():  # this one has come to its end
            assert_same(model, undisturbed)
            model.unlink()
            checkpoint.unlink()
            epochs.append(0)
    return epochs


@pytest.mark.fault("R7")
@needs_callbacks
@pytest.mark.parametrize("n_kills", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_killed_again_and_again(start, tmp_path, undisturbed, n_kills):
    epochs = killed(start, tmp_path, n_kills, random.Random(n_kills), undisturbed)
    assert len(set(epochs)) > n_kills // 2  # they came at different times, most of them in the training
    last = start(*HARD_MARGIN, *SAVED, "--resume")
    assert last.wait() == 0, last.errors()
    assert_same(tmp_path / "model.skops", undisturbed)


@pytest.mark.fault("R8")
@pytest.mark.parametrize("n_kills", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_killed_while_it_saves(start, tmp_path, n_kills):
    """The old predictions or the new ones, never a mix."""
    draw, table = random.Random(n_kills), checkerboard(tmp_path / "table.csv", n=400)
    assert start("fit", table, "--no-report").wait() == 0
    new = start("predict", "model.skops", table, "-o", "new.csv")
    assert new.wait() == 0
    contents = {"old": b"prediction\nold\n", "new": (tmp_path / "new.csv").read_bytes()}
    path, seen = tmp_path / "out.csv", []
    for slow_files in (0.5, *[0.005] * (n_kills - 1)):  # the first takes seconds, and is killed in mid-save
        path.write_bytes(contents["old"])
        command = start("predict", "model.skops", table, "-o", path, "--force", slow_files=slow_files)
        command.until(lambda: any(tmp_path.glob(".adatron-*.tmp")))
        time.sleep(draw.uniform(0.0, 0.2))  # as long as saving takes, or longer
        command.send(signal.SIGKILL)
        command.wait()
        seen.append(path.read_bytes())
        for left in tmp_path.glob(".adatron-*.tmp"):
            left.unlink()
    assert set(seen) <= set(contents.values())
    assert contents["old"] in seen


@pytest.mark.fault("R10", "R11")
@needs_callbacks
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_model_and_checkpoint(start, tmp_path, undisturbed, number, code):
    command = start(*HARD_MARGIN, "--checkpoint", "fit.checkpoint", "--every", "0")
    command.until(lambda: (tmp_path / "fit.checkpoint").exists())
    command.send(number)
    assert command.wait() == code, command.errors()
    assert command.errors() == "adatron: interrupted; keeping the best model so far\n"
    assert str(innermost(load_model(tmp_path / "model.skops")).status_) == "stopped"
    assert epoch_of(tmp_path / "fit.checkpoint") >= 1
    again = start(*HARD_MARGIN, *SAVED, "--resume")
    assert again.wait() == 0, again.errors()
    assert_same(tmp_path / "model.skops", undisturbed)


@pytest.mark.fault("R10")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_effective_at_once(start, number):
    command = start(*ENDLESS)
    after_seconds(0.4)(command)
    before = command.cpu()
    command.send(number)
    says("interrupted")(command)
    assert command.cpu() - before < 2.0  # of ten and more: a slow machine ends it in time, too
    assert command.wait() == 128 + number


@pytest.mark.fault("R10")
def test_a_second_signal_ends_the_process(start, tmp_path):
    command = start(*ENDLESS, slow_files=0.5)  # saving the model would take minutes
    after_seconds(0.5)(command)
    command.send(signal.SIGINT)
    says("interrupted")(command)
    command.until(lambda: any(tmp_path.glob(".adatron-*.tmp")))
    command.send(signal.SIGINT)
    assert command.wait() == -signal.SIGINT  # which a shell calls 130
    assert not (tmp_path / "model.skops").exists()


@pytest.mark.fault("R7")
def test_a_kill_leaves_the_old_model(start, tmp_path):
    (tmp_path / "model.skops").write_bytes(b"old")
    command = start(*ENDLESS)
    after_seconds(0.3)(command)
    command.send(signal.SIGKILL)
    assert command.wait() == -signal.SIGKILL
    assert (tmp_path / "model.skops").read_bytes() == b"old"
