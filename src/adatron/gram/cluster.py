"""Tasks on the workers of a running dask.distributed `Client`, and what may go wrong with them.

Every task is a function without side effects, of arguments that the scheduler keeps: when a worker is lost,
what it held is computed again elsewhere, with the same result. Only what no other worker can help with ends
in a `ClusterError`: no worker or no scheduler for ``adatron.timeout`` seconds (50 by default), a step that
takes longer than ``adatron.step-timeout`` (an hour), a partition that ends every worker that touches it. Both
times are settings of Dask: ``dask.config.set({"adatron.timeout": 300})``.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from functools import cached_property
from time import monotonic
from typing import Any

import numpy as np

from adatron import __version__
from adatron.exceptions import ClusterError
from adatron.numerics.threads import one_blas_thread

__all__ = ["Cluster", "running_cluster", "same"]

_RETRIES = 3  # of a task that raises an error
_TOGETHER = 8  # summands of one task of a tree
_TIMEOUT, _STEP_TIMEOUT = 50.0, 3600.0  # seconds, unless Dask's configuration says otherwise
_LOOK_EVERY = 1.0  # seconds


class Cluster:
    """The workers behind a `distributed.Client`."""

    def __init__(self, client: Any) -> None:
        self.client = client

    @cached_property
    def workers(self) -> list[dict[str, Any]]:
        """What every worker says of itself; an error if one of them has other versions."""
        timeout = _setting("timeout", _TIMEOUT)
        try:
            self.client.wait_for_workers(1, timeout=timeout)
            answers = self.client.run(_about_worker, on_error="return")
        except (TimeoutError, OSError) as error:
            raise ClusterError(f"the cluster has no worker after {timeout:g} s; start some") from error
        here = _versions()
        for address, answer in answers.items():
            if isinstance(answer, Exception):
                raise ClusterError(
                    f"the worker {address} cannot run adatron {__version__}: {answer!r}; install it there"
                )
            there = answer["versions"]
            differing = [
                f"{name} {there.get(name)} instead of {here[name]}"
                for name in here
                if there.get(name) != here[name]
            ]
            if differing:
                raise ClusterError(
                    f"the worker {address} has {', '.join(differing)}; install the same versions everywhere"
                )
        return list(answers.values())

    @property
    def n_threads(self) -> int:
        return sum(worker["threads"] for worker in self.workers)

    @property
    def memory_of_thread(self) -> int:
        """Bytes that the tasks of one thread may use, on the smallest worker."""
        return min(worker["memory"] // worker["threads"] for worker in self.workers)

    def map(self, name: str, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """Futures of ``function(*row)`` for every row of `columns`; `name` is what the dashboard shows."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            key = f"adatron-{name}"
            functions = [function] * len(columns[0])
            return self.client.map(_on_one_thread, functions, *columns, key=key, pure=False, retries=_RETRIES)

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """The future of one result."""
        return self.map(name, function, *([argument] for argument in arguments))[0]

    def shared(self, value: Any) -> Any:
        """A value that many tasks need, as a future: workers pass it on to one another."""
        return self.submit("shared", same, value)

    def total(self, parts: list[Any], add: Callable[..., Any], add_last: Callable[..., Any]) -> Any:
        """The future of a sum by a tree; `add_last` is the function of its root."""
        options: dict[str, Any] = {"key": None, "pure": False, "retries": _RETRIES}
        while len(parts) > _TOGETHER:
            groups = [parts[i : i + _TOGETHER] for i in range(0, len(parts), _TOGETHER)]
            parts = [self.client.submit(add, group, **options) for group in groups]
        return self.client.submit(add_last, parts, **options)

    def gather(self, futures: list[Any], partitions: Sequence[int] | None = None) -> list[Any]:
        """The results; `partitions` are named when one of them fails."""
        import asyncio  # takes time to load

        loop = self.client.loop.asyncio_loop
        waiting = asyncio.run_coroutine_threadsafe(self.client.gather(futures, asynchronous=True), loop)
        began = last_good = monotonic()
        try:
            while True:
                try:
                    return waiting.result(timeout=_LOOK_EVERY)
                except TimeoutError:
                    if waiting.done():
                        raise
                    last_good = self._still_good(began, last_good)
        except ClusterError:
            raise
        except Exception as error:
            raise _explained(error, futures, partitions) from error
        finally:
            waiting.cancel()

    def _still_good(self, began: float, last_good: float) -> float:
        """When the cluster last answered with a worker; an error if a result can no longer be expected."""
        try:
            cores = self.client.sync(self.client.scheduler.ncores, callback_timeout=5.0)
            problem = "" if cores else "the cluster has had no worker"
        except Exception:  # whatever the transport raises
            problem = "the scheduler has not answered"
        now = monotonic()
        timeout, step_timeout = _setting("timeout", _TIMEOUT), _setting("step-timeout", _STEP_TIMEOUT)
        if problem and now - last_good > timeout:
            raise ClusterError(
                f"{problem} for {timeout:g} s (adatron.timeout); start workers and fit again, with "
                "Checkpoint(…, resume=True) if the fit was saved"
            )
        if now - began > step_timeout:
            raise ClusterError(
                f"one step of the fit has taken more than {step_timeout:g} s (adatron.step-timeout): "
                "a worker hangs or cannot be reached; restart the cluster or raise the limit"
            )
        return last_good if problem else now

    def __reduce__(self) -> Any:
        raise TypeError("a Cluster stays in the process of its Client")


def running_cluster() -> Cluster:
    """The cluster of the `Client` that is active in this thread or process."""
    try:
        from distributed import get_client
    except ImportError as error:
        raise ImportError(
            f"Dask collections need the extra 'dask': pip install 'adatron[dask]' ({error})"
        ) from error
    try:
        return Cluster(get_client())
    except ValueError as error:
        raise ClusterError(
            "X is a Dask collection but no dask.distributed Client is running; start one, e.g. "
            "Client(LocalCluster()), or pass X.compute()"
        ) from error


def _setting(name: str, default: float) -> float:
    import dask

    return float(dask.config.get(f"adatron.{name}", default))


def _explained(error: Exception, futures: list[Any], partitions: Sequence[int] | None) -> Exception:
    """The error of a task as one of ours, with the partition it belongs to."""
    failed = [number for number, future in enumerate(futures) if future.status == "error"]
    where = "a task of the fit"
    if partitions is not None and failed:
        where = f"partition {partitions[failed[0]]} of X"
    kind = type(error).__name__
    if kind == "KilledWorker":
        return ClusterError(
            f"{where} ended every worker that worked on it; look for what is special about it (memory, a "
            "crash in its loader), or make partitions smaller"
        )
    if "Cancelled" in kind or "CommClosed" in kind or (isinstance(error, OSError) and not failed):
        return ClusterError(f"the connection to the cluster is lost ({kind}); start a new one and fit again")
    if isinstance(error, ValueError):
        has_place = kind == "KernelError" or "partition" in str(error)
        return error if has_place else ValueError(f"{where}: {error}")
    return ClusterError(f"{where} could not be computed: {kind}: {error}")


def _about_worker(dask_worker: Any) -> dict[str, Any]:
    memory = dask_worker.memory_manager.memory_limit
    return {
        "threads": dask_worker.state.nthreads,
        "memory": int(memory) if memory else 2**62,
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    return {
        "adatron": __version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": ".".join(np.__version__.split(".")[:2]),
    }


def _on_one_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Workers run a task on every thread, so a product must not start more threads."""
    with one_blas_thread():
        return function(*arguments)


def same(value: Any) -> Any:
    """A task that puts a value on a worker."""
    return value
