"""Tasks and blocks of rows on the workers of a dask.distributed `Client`, and their failures.

Every task is a function without side effects, of arguments that the scheduler keeps: when a worker is lost,
what it held is computed again elsewhere, with the same result. What another worker cannot repair
is a `ClusterError`: no worker or no scheduler for ``adatron.timeout`` seconds (50 by default), a step that
takes longer than ``adatron.step-timeout`` (an hour), a partition that ends every worker that touches it. Both
times are settings of Dask: ``dask.config.set({"adatron.timeout": 300})``.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import pairwise
from operator import getitem
from time import monotonic
from typing import Any

import numpy as np

from adatron import __version__
from adatron.exceptions import ClusterError
from adatron.gram.base import Rows
from adatron.gram.row_source import DistributedRows, group_by_group
from adatron.numerics import reproducible
from adatron.numerics.threads import one_blas_thread

_TIMEOUTS = {"timeout": 50.0, "step-timeout": 3600.0}  # seconds, unless Dask's configuration says otherwise
_SUMMANDS = 8  # summed by one task of a tree


class Cluster:
    """The workers behind a `distributed.Client`."""

    def __init__(self, client: Any) -> None:
        self.client = client

    @cached_property
    def workers(self) -> list[dict[str, Any]]:
        """Information on every worker; an error if one of them has other versions."""
        timeout, here = _setting("timeout"), _versions()
        try:
            self.client.wait_for_workers(1, timeout=timeout)
            answers = self.client.run(_about_worker, on_error="return")
        except (TimeoutError, OSError) as error:
            raise ClusterError(f"the cluster has no worker after {timeout:g} s; start some") from error
        for address, answer in answers.items():
            worker = f"the worker {address}"
            if isinstance(answer, Exception):
                raise ClusterError(f"{worker} cannot run adatron {__version__}: {answer!r}; install it there")
            pairs = [(name, answer["versions"].get(name), own) for name, own in here.items()]
            differing = [f"{name} {other} instead of {own}" for name, other, own in pairs if other != own]
            if differing:
                message = f"{worker} has {', '.join(differing)}; install the same versions everywhere"
                raise ClusterError(message)
        return list(answers.values())

    @property
    def memory_of_thread(self) -> int:
        """Bytes that the tasks of one thread may use, on the smallest worker."""
        return min(worker["memory"] // worker["threads"] for worker in self.workers)

    def map(self, function: Callable[..., Any], first: list[Any], *others: Any) -> list[Any]:
        """Futures of ``function(*arguments)`` for arguments in lists; other arguments are used for all."""
        import dask

        columns = [column if isinstance(column, list) else [column] * len(first) for column in others]
        name = getattr(function, "__name__", "task").strip("_").replace("_", "-")  # for the dashboard
        options = {"key": f"adatron-{name}", "pure": False, "retries": 3}
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self.client.map(partial(_on_one_thread, function), first, *columns, **options)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The future of one result."""
        return self.map(function, *([argument] for argument in arguments))[0]

    def shared(self, value: Any) -> Any:
        """A value for many tasks, as a future: workers get it from one another."""
        return self.submit(same, value)

    def gather(self, futures: list[Any], partitions: Sequence[int] | None = None) -> list[Any]:
        """The results; `partitions` are named when one of them fails."""
        import asyncio  # takes time to load

        loop = self.client.loop.asyncio_loop
        waiting = asyncio.run_coroutine_threadsafe(self.client.gather(futures, asynchronous=True), loop)
        began = last_good = monotonic()
        try:
            while True:
                try:
                    return waiting.result(timeout=1.0)
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
        timeout, step_timeout = _setting("timeout"), _setting("step-timeout")
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


class RowBlocks(DistributedRows):
    """Rows of features, or of a factor, as futures of arrays of shape (length, width).

    `partitions` are those of the user's data that the blocks begin with, for messages.
    """

    def __init__(self, cluster: Cluster, blocks: list, lengths: Any, width: int, partitions: Any) -> None:
        self.cluster, self.blocks, self.partitions = cluster, blocks, list(partitions)
        self.bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.shape = (int(self.bounds[-1]), int(width))
        # that are multiplied together, in every block
        self.rows_at_once = reproducible.rows_at_once(self.shape[0])

    def parts(self, V: np.ndarray) -> list[np.ndarray]:
        """Split an array of this process like the blocks."""
        return [np.ascontiguousarray(V[first:last]) for first, last in pairwise(self.bounds)]

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Futures of ``function(block, *arguments)``; a list has an argument for every block."""
        return self.cluster.map(function, self.blocks, *arguments)

    def gathered(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """``function(block, *arguments)`` of every block, brought to this process."""
        return self.cluster.gather(self.each(function, *arguments), self.partitions)

    def map_rows(self, function: Callable[..., Any], *values: Any) -> np.ndarray:
        """``function(rows, *values)``, one result for every row, brought to this process."""
        return np.concatenate(self.gathered(group_by_group, function, self.rows_at_once, *values))

    def mapped(self, function: Callable[..., Any], width: int, *arguments: Any) -> RowBlocks:
        """The matrix of ``function(block, *arguments)``, which stays on the workers."""
        blocks = self.each(function, *arguments)
        return RowBlocks(self.cluster, blocks, np.diff(self.bounds), width, self.partitions)

    def times(self, W: Any) -> np.ndarray:
        """``M W`` in this process, W an array or a future of one."""
        return np.concatenate(self.gathered(reproducible.times, W, self.rows_at_once, 1))

    def transposed_times(self, V: np.ndarray) -> Any:
        """The future of ``Mᵀ V``, summed by a tree."""
        pairs = self.each(reproducible.transposed_times_pair, self.parts(V), self.rows_at_once, 1)
        while len(pairs) > _SUMMANDS:
            groups = [pairs[i : i + _SUMMANDS] for i in range(0, len(pairs), _SUMMANDS)]
            pairs = self.cluster.map(reproducible.add_pairs, groups)
        return self.cluster.submit(reproducible.rounded_sum, pairs)

    def keep(self, rows: np.ndarray) -> RowBlocks:
        """Some of the rows, in any order; they stay on the workers, sorted ones where they are."""
        is_sorted, even = (np.diff(rows) > 0).all(), np.linspace(0, len(rows), len(self.blocks) + 1)
        return self.rearranged(np.searchsorted(rows, self.bounds) if is_sorted else even, rows)

    def rearranged(self, bounds: np.ndarray, rows: np.ndarray | None = None) -> RowBlocks:
        """All rows, or some, in blocks with about the given bounds; each has whole groups of rows."""
        bounds = reproducible.aligned(bounds, self.shape[0] if rows is None else len(rows))
        lengths, blocks, firsts = np.diff(self.bounds), [], []
        for first, last in pairwise(bounds.tolist()):
            used, local, order = self._located(np.arange(first, last) if rows is None else rows[first:last])
            sources = [self.blocks[b] for b in used]
            if len(used) == 1 and order is None and last - first == lengths[used[0]]:
                blocks.append(sources[0])
            else:
                blocks.append(self.cluster.submit(_joined, self.cluster.map(getitem, sources, local), order))
            firsts.append(self.partitions[used[0]])
        return RowBlocks(self.cluster, blocks, np.diff(bounds), self.shape[1], firsts)

    def __getitem__(self, rows: Rows) -> np.ndarray:
        """Some of the rows, brought to this process."""
        rows = np.arange(self.shape[0])[rows]
        if len(rows) == 0:
            return np.empty((0, self.shape[1]))
        used, local, order = self._located(rows)
        pieces = self.cluster.map(getitem, [self.blocks[b] for b in used], local)
        return _joined(self.cluster.gather(pieces, [self.partitions[b] for b in used]), order)

    def _located(self, rows: np.ndarray) -> tuple[list[int], list[Any], np.ndarray | None]:
        """The blocks that hold some rows, the places in them, and the order of the pieces if it differs."""
        is_sorted = (np.diff(rows) > 0).all()
        distinct, order = (rows, None) if is_sorted else np.unique(rows, return_inverse=True)
        cuts = np.searchsorted(distinct, self.bounds)
        used = np.flatnonzero(np.diff(cuts)).tolist()
        local: list[Any] = [distinct[cuts[b] : cuts[b + 1]] - self.bounds[b] for b in used]
        for k, part in enumerate(local):
            if part[-1] - part[0] == len(part) - 1:  # consecutive rows as a slice, which is a shorter message
                local[k] = slice(part[0], part[-1] + 1)
        return used, local, order


def running_cluster() -> Cluster:
    """The cluster of the `Client` that is active in this thread or process."""
    try:
        from distributed import get_client
    except ImportError as error:
        message = f"Dask collections need dask: pip install 'dask[array,dataframe,distributed]' ({error})"
        raise ImportError(message) from error
    try:
        return Cluster(get_client())
    except ValueError as error:
        raise ClusterError(
            "X is a Dask collection but no dask.distributed Client is running; start one, e.g. "
            "Client(LocalCluster()), or pass X.compute()"
        ) from error


def _setting(name: str) -> float:
    import dask

    return float(dask.config.get(f"adatron.{name}", _TIMEOUTS[name]))


def _explained(error: Exception, futures: list[Any], partitions: Sequence[int] | None) -> Exception:
    """Turn the error of a task into one of ours that names the partition."""
    failed = [number for number, future in enumerate(futures) if future.status == "error"]
    where = f"partition {partitions[failed[0]]} of X" if partitions and failed else "a task of the fit"
    kind = type(error).__name__
    if kind == "KilledWorker":
        advice = "look at its memory and at what loads it, or make partitions smaller"
        return ClusterError(f"{where} ended every worker that worked on it; {advice}")
    if "Cancelled" in kind or "CommClosed" in kind or (isinstance(error, OSError) and not failed):
        return ClusterError(f"the connection to the cluster is lost ({kind}); start a new one and fit again")
    if isinstance(error, ValueError):
        names_it = kind == "KernelError" or "partition" in str(error)
        return error if names_it else ValueError(f"{where}: {error}")
    return ClusterError(f"{where} could not be computed: {kind}: {error}")


def _about_worker(dask_worker: Any) -> dict[str, Any]:
    memory = int(dask_worker.memory_manager.memory_limit or 2**62)
    return {"threads": dask_worker.state.nthreads, "memory": memory, "versions": _versions()}


def _versions() -> dict[str, str]:
    python, numpy = platform.python_version_tuple(), np.__version__.split(".")
    return {"adatron": __version__, "python": ".".join(python[:2]), "numpy": ".".join(numpy[:2])}


def _on_one_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Use one BLAS thread: workers run a task on every thread already."""
    with one_blas_thread():
        return function(*arguments)


def same(value: Any) -> Any:
    """A task that puts a value on a worker."""
    return value


def _joined(pieces: list[np.ndarray], order: np.ndarray | None) -> np.ndarray:
    whole = np.concatenate(pieces)
    return whole if order is None else whole[order]
