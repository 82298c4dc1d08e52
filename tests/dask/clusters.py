"""Small clusters for tests: processes on this machine that listen on 127.0.0.1 only."""

import os
import signal
import time
from contextlib import contextmanager

from tests.silent_callback import SilentCallback


@contextmanager
def local_cluster(n_workers=2, **options):
    """A client of a new cluster that ends with the context."""
    from distributed import Client, LocalCluster

    import dask

    settings = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    settings |= {"processes": True, "host": "127.0.0.1", **options}
    patient = {
        "distributed.worker.memory.terminate": False,
        # a cluster closes the nanny of a worker that happens to be missing so long after it was first lost
        "distributed.deploy.lost-worker-timeout": "10 minutes",
    }
    with (
        dask.config.set(patient),
        LocalCluster(**settings) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def wait_until_restarted(client, n_workers=2, timeout=120):
    """Until every worker is there, and its nanny knows it.

    A worker is known to the scheduler a moment before its nanny: killed in between, it is not replaced.
    """
    client.wait_for_workers(n_workers, timeout=timeout)
    until = time.monotonic() + timeout
    while not all(_is_running(nanny) for nanny in client.cluster.workers.values()):
        assert time.monotonic() < until, "a nanny has not seen its worker start"
        time.sleep(0.05)


def _is_running(nanny):
    return nanny.process is not None and nanny.process.status.name == "running"


def worker_processes(client):
    """Process numbers of the workers."""
    return list(client.run(os.getpid, on_error="return").values())


def kill_one(client, place=0):
    """kill -9 to one of the workers."""
    pids = [pid for pid in worker_processes(client) if isinstance(pid, int)]
    os.kill(pids[place % len(pids)], signal.SIGKILL)


class AfterEpochs(SilentCallback):
    """A callback that calls a function after some epochs."""

    def __init__(self, epochs, function):
        self.epochs, self.function, self.seen = set(epochs), function, 0

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "epoch":
            self.seen += 1
            if self.seen in self.epochs:
                self.function()
        return False
