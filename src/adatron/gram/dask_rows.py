"""A tall matrix whose blocks of rows live on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from adatron.gram.base import Rows
from adatron.gram.cluster import Cluster
from adatron.numerics.reproducible import (
    add_pairs,
    aligned,
    group_by_group,
    rounded,
    rows_at_once,
    times,
    transposed_times_pair,
)

__all__ = ["RowBlocks"]

_SORTED_UP_TO = 100_000  # rows that every worker may see all of


class RowBlocks:
    """Rows of features, or of a factor, in blocks; results come back in the order of the rows.

    Parameters
    ----------
    cluster : Cluster
    blocks : list of futures of arrays of shape (n_b, width), none of them empty
    lengths : sequence of int, n_b
    width : int
    partitions : sequence of int
        The partition of the user's data that a block begins with, for messages.
    order : array of int, optional
        Where each row stands in the blocks one after the other, if not in the same place.
    """

    def __init__(
        self, cluster: Cluster, blocks: list[Any], lengths: Any, width: int,
        partitions: Sequence[int], order: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.cluster, self.blocks, self.partitions, self.order = cluster, blocks, list(partitions), order
        self.bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.shape = (int(self.bounds[-1]), int(width))

    @classmethod
    def of_pieces(
        cls, cluster: Cluster, pieces: list[Any], lengths: Sequence[int], width: int,
        partitions: Sequence[int], bounds: Any, order: np.ndarray | None = None,
    ) -> RowBlocks:  # fmt: skip
        """Blocks with about the given bounds from pieces that have others; empty ones are left out."""
        bounds, starts = aligned(bounds, sum(lengths)), np.concatenate([[0], np.cumsum(lengths)])
        blocks, firsts = [], []
        for first, last in pairwise(bounds.tolist()):
            overlaps = (starts[:-1] < last) & (starts[1:] > first) & (np.asarray(lengths) > 0)
            used = np.flatnonzero(overlaps).tolist()
            cuts = [(max(first - starts[n], 0), min(last - starts[n], lengths[n])) for n in used]
            is_whole = len(used) == 1 and cuts[0] == (0, lengths[used[0]])
            sources = [pieces[n] for n in used]
            blocks.append(sources[0] if is_whole else cluster.submit("block", _joined_cuts, sources, cuts))
            firsts.append(partitions[used[0]])
        return cls(cluster, blocks, np.diff(bounds), width, firsts, order)

    @property
    def rows_at_once(self) -> int:
        """Rows that are multiplied together, in every block."""
        return rows_at_once(self.shape[0])

    def parts(self, V: np.ndarray) -> list[np.ndarray]:
        """The rows of an array on this side, as they belong to the blocks."""
        if self.order is not None:
            moved = np.empty_like(V)
            moved[self.order] = V
            V = moved
        return [np.ascontiguousarray(V[first:last]) for first, last in pairwise(self.bounds)]

    def joined(self, parts: list[np.ndarray]) -> np.ndarray:
        """Results of the blocks as one array on this side."""
        whole = np.concatenate(parts)
        return whole if self.order is None else whole[self.order]

    def each(self, name: str, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """Futures of ``function(block, *row)`` for every block, with a row of `columns` each."""
        return self.cluster.map(name, function, self.blocks, *columns)

    def alike(self, *values: Any) -> list[list[Any]]:
        """Arguments that are the same for every block, as columns."""
        return [[value] * len(self.blocks) for value in values]

    def gathered(self, name: str, function: Callable[..., Any], *values: Any) -> list[Any]:
        """``function(block, *values)`` of every block, on this side."""
        futures = self.each(name, function, *self.alike(*values))
        return self.cluster.gather(futures, self.partitions)

    def map_rows(self, function: Callable[..., Any], *values: Any) -> np.ndarray:
        """``function(rows, *values)``, one result for every row, on this side."""
        return self.joined(self.gathered("rows", _by_groups, function, self.rows_at_once, *values))

    def mapped(self, name: str, function: Callable[..., Any], width: int, *values: Any) -> RowBlocks:
        """The matrix of ``function(block, *values)``, which stays on the workers."""
        blocks = self.each(name, function, *self.alike(*values))
        return RowBlocks(self.cluster, blocks, np.diff(self.bounds), width, self.partitions, self.order)

    def times(self, W: Any) -> np.ndarray:
        """``M W`` on this side, W an array or a future of one."""
        return self.joined(self.gathered("times", times, W, self.rows_at_once, 1))

    def transposed_times(self, V: np.ndarray) -> Any:
        """The future of ``Mᵀ V``, summed by a tree."""
        columns = [self.parts(V), *self.alike(self.rows_at_once, 1)]
        pairs = self.each("transposed", transposed_times_pair, *columns)
        return self.cluster.total(pairs, add_pairs, _rounded_sum)

    def weighted_sum(self, weights: np.ndarray) -> np.ndarray:
        """``weights @ M`` on this side."""
        return self.cluster.gather([self.transposed_times(weights)])[0]

    def keep(self, rows: np.ndarray) -> RowBlocks:
        """Some of the rows, in any order; they stay on the workers."""
        places = rows if self.order is None else self.order[rows]
        if len(places) <= _SORTED_UP_TO and (np.diff(places) < 0).any():
            return self._sorted(places)
        sorted_places = np.sort(places)
        order = np.searchsorted(sorted_places, places)
        new_order = None if len(order) < 2 or (np.diff(order) > 0).all() else order
        if len(places) == self.shape[0]:
            unchanged = np.diff(self.bounds)
            return RowBlocks(self.cluster, self.blocks, unchanged, self.shape[1], self.partitions, new_order)
        used, local = self._located(sorted_places)
        pieces = self.cluster.map("keep", _take, [self.blocks[b] for b in used], local)
        lengths, partitions = [len(part) for part in local], [self.partitions[b] for b in used]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        return RowBlocks.of_pieces(
            self.cluster, pieces, lengths, self.shape[1], partitions, bounds, new_order
        )

    def _sorted(self, places: np.ndarray) -> RowBlocks:
        """Rows moved to where they are wanted, so that they are added up in the order of memory."""
        shares = np.linspace(0, len(places), len(self.blocks) + 1)
        bounds = aligned(shares, len(places))
        parts = [places[first:last] for first, last in pairwise(bounds.tolist())]
        blocks = self.cluster.map("sorted", _taken_from, [self.blocks] * len(parts), parts)
        owners = np.searchsorted(self.bounds, [part[0] for part in parts], side="right") - 1
        partitions = [self.partitions[b] for b in owners]
        return RowBlocks(self.cluster, blocks, np.diff(bounds), self.shape[1], partitions)

    def __getitem__(self, rows: Rows) -> np.ndarray:
        """Some of the rows, on this side."""
        rows = np.arange(self.shape[0])[rows]
        if len(rows) == 0:
            return np.empty((0, self.shape[1]))
        places = rows if self.order is None else self.order[rows]
        distinct, back = np.unique(places, return_inverse=True)
        used, local = self._located(distinct)
        futures = self.cluster.map("fetch", _take, [self.blocks[b] for b in used], local)
        return np.concatenate(self.cluster.gather(futures, [self.partitions[b] for b in used]))[back]

    def _located(self, places: np.ndarray) -> tuple[list[int], list[np.ndarray]]:
        """The blocks that have some places (sorted), and where in them."""
        owner = np.searchsorted(self.bounds, places, side="right") - 1
        used = np.unique(owner).tolist()
        return used, [places[owner == b] - self.bounds[b] for b in used]


def _rounded_sum(pairs: list[np.ndarray]) -> np.ndarray:
    return rounded(add_pairs(pairs))


def _by_groups(block: np.ndarray, function: Callable[..., Any], size: int, *values: Any) -> np.ndarray:
    return group_by_group(function, block, size, *values)


def _joined_cuts(sources: list[np.ndarray], cuts: list[tuple[int, int]]) -> np.ndarray:
    return np.concatenate([source[first:last] for source, (first, last) in zip(sources, cuts, strict=True)])


def _taken_from(blocks: list[np.ndarray], places: np.ndarray) -> np.ndarray:
    return np.concatenate(blocks)[places]


def _take(block: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return block[rows]
