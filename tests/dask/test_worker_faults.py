"""Workers, schedulers and clients that die in mid-fit (rows X1 to X6, X12, X13 of docs/faults.md)."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress

import dask.array as da
import numpy as np
import psutil
import pytest
from sklearn.exceptions import ConvergenceWarning

import dask
from adatron import SVC, EnsembleSVC
from adatron.callbacks import Checkpoint
from adatron.datasets import make_waveform
from adatron.exceptions import ClusterError
from adatron.gram.cluster import Cluster
from tests.dask.clusters import AfterEpochs, kill_one, local_cluster, wait_until_restarted

X, y = make_waveform(120, random_state=0)
ROWS = da.from_array(X, chunks=(40, -1))


def multiplicative(epochs):
    return SVC(solver="multiplicative", rank=20, random_state=0, max_iter=epochs)


def fitted(model, rows=ROWS):
    with pytest.warns(ConvergenceWarning):
        return model.fit(rows, y)


KILLED = {
    "multiplicative": multiplicative(14),
    "ensemble": EnsembleSVC(rank=20, random_state=0, max_iter=14),
    "sweeps": SVC(solver="adatron", rank=20, random_state=0, max_iter=14),
    "m3": SVC(solver="m3", fit_intercept=False, max_iter=14),
}


@pytest.mark.fault("X1")
@pytest.mark.parametrize(
    ("name", "n_kills"),
    [("multiplicative", 1), *(pytest.param(n, 5, marks=pytest.mark.slow) for n in KILLED)],
)
def test_a_worker_killed_in_mid_epoch(client, monkeypatch, name, n_kills):
    model = KILLED[name]
    expected = fitted(model).decision_function(X)
    gather, seen, killed = Cluster.gather, [0], []

    def kill_then_gather(self, futures, partitions=None):
        """The tasks of an epoch are on their way when a worker dies."""
        seen[0] += 1
        if seen[0] >= 10 and seen[0] % 4 == 2 and len(killed) < n_kills:
            killed.append(seen[0])
            wait_until_restarted(client)  # one that is only starting has no epoch to be in
            kill_one(client, len(killed))
        return gather(self, futures, partitions)

    monkeypatch.setattr(Cluster, "gather", kill_then_gather)
    found = fitted(model).decision_function(X)
    wait_until_restarted(client)
    assert len(killed) == n_kills
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.fault("X3")
def test_all_workers_lost_then_resumed_on_a_new_cluster(client, tmp_path):
    expected = fitted(multiplicative(8)).decision_function(X)
    path = tmp_path / "fit.checkpoint"
    with (
        local_cluster(n_workers=1, processes=False, host=None) as other,
        other.as_current(),
        dask.config.set({"adatron.timeout": 0.5}),
    ):
        lose_all = AfterEpochs([4], lambda: other.cluster.scale(0))
        model = multiplicative(8).set_callbacks(Checkpoint(path, every=0), lose_all)
        began = time.monotonic()
        with pytest.raises(ClusterError, match=r"no worker for 0\.5 s .adatron\.timeout"):
            model.fit(ROWS, y)
        assert time.monotonic() - began < 120
        assert not hasattr(model, "classes_")
    with client.as_current():
        resumed = multiplicative(8).set_callbacks(Checkpoint(path, resume=True))
        again = fitted(resumed, da.from_array(X, chunks=(70, -1)))  # other partitions, too
    assert again.n_iter_[0] == 8
    np.testing.assert_allclose(again.decision_function(X), expected, rtol=1e-9, atol=1e-12)


def test_a_checkpoint_of_other_data_is_refused(client, tmp_path):
    path = tmp_path / "fit.checkpoint"
    fitted(multiplicative(2).set_callbacks(Checkpoint(path, every=0)))
    with pytest.raises(ValueError, match="belongs to another fit: X differs"):
        multiplicative(4).set_callbacks(Checkpoint(path, resume=True)).fit(ROWS + 1.0, y)


def _sleepy(block):
    time.sleep(0.5)
    return block


@pytest.mark.fault("X12")
def test_a_step_that_never_ends_is_given_up(client):
    slow = ROWS.map_blocks(_sleepy, dtype=float)
    with (
        dask.config.set({"adatron.step-timeout": 0.1}),
        pytest.raises(ClusterError, match=r"one step of the fit has taken more than 0\.1 s"),
    ):
        multiplicative(2).fit(slow, y)


def _crowd(n_threads=9):
    """Threads that want the interpreter as much as the worker's own: it is ten times slower."""
    import threading

    until = time.monotonic() + 60.0

    def busy():
        while not getattr(threading, "_adatron_alone", False) and time.monotonic() < until:
            pass

    threading._adatron_alone = False
    for _ in range(n_threads):
        threading.Thread(target=busy, daemon=True).start()


def _leave_alone():
    import threading

    threading._adatron_alone = True


@pytest.mark.fault("X6")
@pytest.mark.slow
def test_a_worker_ten_times_slower(client):
    expected = fitted(multiplicative(6)).decision_function(X)
    slow = list(client.scheduler_info()["workers"])[:1]
    client.run(_crowd, workers=slow)
    try:
        found = fitted(multiplicative(6)).decision_function(X)
    finally:
        client.run(_leave_alone, workers=slow)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.fault("X13")
def test_no_port_is_opened_without_a_client():
    before = _listening()
    with pytest.raises(ClusterError, match="Client"):
        EnsembleSVC(rank=2).fit(da.from_array(np.eye(4)), [0, 1, 0, 1])
    assert _listening() == before


def _listening():
    """Ports of this process; another test may have a cluster, which no fit finds by itself."""
    connections = psutil.Process().net_connections()
    return {connection.laddr for connection in connections if connection.status == psutil.CONN_LISTEN}


@pytest.mark.fault("X13")
def test_tests_and_documented_clusters_listen_here_only(client):
    addresses = [client.scheduler.address, *client.scheduler_info()["workers"]]
    assert all(address.startswith("tcp://127.0.0.1:") for address in addresses)


def _fails(block, block_info=None):
    if block_info and block_info[0]["chunk-location"][0] == 2:
        raise OSError("the disk is gone")
    return block


def test_a_partition_that_cannot_be_loaded_is_named(client):
    with pytest.raises(
        ClusterError, match="partition 2 of X could not be computed: OSError: the disk is gone"
    ):
        multiplicative(2).fit(ROWS.map_blocks(_fails, dtype=float), y)


def _ends_its_worker(block, block_info=None):
    if block_info and block_info[0]["chunk-location"][0] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.fault("X2")
@pytest.mark.slow
def test_a_poison_partition_is_named_after_three_tries(tmp_path):
    path = tmp_path / "fit.checkpoint"
    with local_cluster() as client, client.as_current():
        fitted(multiplicative(3).set_callbacks(Checkpoint(path, every=0)))
        before = path.read_bytes()
        model = multiplicative(9).set_callbacks(Checkpoint(path, every=0))
        with pytest.raises(ClusterError, match="partition 1 of X ended every worker"):
            model.fit(ROWS.map_blocks(_ends_its_worker, dtype=float), y)
        assert path.read_bytes() == before


@pytest.fixture
def scheduler_process():
    """A scheduler and a worker in processes of their own."""
    listening = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    scheduler = subprocess.Popen(
        [*listening, "--no-dashboard", "--no-show"], stderr=subprocess.PIPE, text=True
    )
    address = next(line for line in scheduler.stderr if "Scheduler at:" in line).split()[-1]
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
    worker = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_worker", address, *options])
    yield scheduler, address
    for process in (worker, scheduler):
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()


@pytest.mark.fault("X4")
@pytest.mark.slow
def test_scheduler_lost(scheduler_process, tmp_path, client):
    from distributed import Client

    scheduler, address = scheduler_process
    path = tmp_path / "fit.checkpoint"
    lost = []
    lose_it = AfterEpochs([4], lambda: (scheduler.kill(), lost.append(time.monotonic())))
    with Client(address, set_as_default=False) as other, other.as_current():
        model = multiplicative(8).set_callbacks(Checkpoint(path, every=0), lose_it)
        with pytest.raises(ClusterError):
            model.fit(ROWS, y)
        assert time.monotonic() - lost[0] < 60
    with client.as_current():
        again = fitted(multiplicative(8).set_callbacks(Checkpoint(path, resume=True)))
        expected = fitted(multiplicative(8)).decision_function(X)
    np.testing.assert_allclose(again.decision_function(X), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.fault("X5")
@pytest.mark.slow
def test_client_killed(client, tmp_path):
    path = tmp_path / "fit.checkpoint"
    script = f"""
        from distributed import Client
        from adatron.callbacks import Checkpoint
        from tests.dask.test_worker_faults import ROWS, y, multiplicative
        with Client({client.scheduler.address!r}):
            multiplicative(100_000).set_callbacks(Checkpoint({str(path)!r}, every=0)).fit(ROWS, y)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)])
    until = time.monotonic() + 120
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.1)
    process.kill()
    process.wait()
    resumed = multiplicative(100_000).set_callbacks(Checkpoint(path, resume=True)).fit(ROWS, y)
    expected = multiplicative(100_000).fit(ROWS, y).decision_function(X)
    np.testing.assert_allclose(resumed.decision_function(X), expected, rtol=1e-9, atol=1e-12)
