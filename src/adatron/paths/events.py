"""Which side of the margin points are on, and what happens next on a regularisation path."""

from __future__ import annotations

import numpy as np

from adatron.numerics.compiled import compiled

__all__ = ["ELBOW", "LEFT", "PARKED", "RIGHT", "first_meeting", "next_event"]

RIGHT, ELBOW, LEFT, PARKED = 0, 1, 2, 3


@compiled
def next_event(side, w, C, alpha, speeds, slack, slopes, allowed, still):
    """The step to the next event and its point; (inf, −1) if there is none.

    Of events that rounding cannot tell apart the one that moves fastest comes first, as in the ratio test of
    P. M. J. Harris, *Pivot selection methods of the Devex LP code*, 1973: `allowed` says by how much a slack,
    and a multiplier, may go too far. What moves by less than `still` while C doubles does not move.
    """
    m = len(side)
    rooms, rates, pivots = np.empty(m), np.empty(m), np.empty(m)
    longest = np.inf
    for i in range(m):
        if side[i] == ELBOW:
            grows = speeds[i] > 0.5 * w[i]
            rooms[i] = C * w[i] - alpha[i] if grows else alpha[i]
            rates[i] = speeds[i] - w[i] if grows else -speeds[i]
            pivots[i] = rates[i] / w[i]
        else:
            sign = 1.0 if side[i] == LEFT else -1.0
            rooms[i], rates[i] = sign * slack[i], -sign * slopes[i]
            if side[i] == PARKED:
                rooms[i], rates[i] = 0.0, abs(slopes[i])
            pivots[i] = C * rates[i]
        if pivots[i] > still:
            further = allowed[1] if side[i] == ELBOW else allowed[0]
            longest = min(longest, (max(rooms[i], 0.0) + further) / rates[i])
    best, point = still, -1
    for i in range(m):
        if pivots[i] > best and rooms[i] <= longest * rates[i]:
            best, point = pivots[i], i
    return (max(rooms[point], 0.0) / rates[point], point) if point >= 0 else (np.inf, -1)


def first_meeting(
    turns: np.ndarray, speeds: np.ndarray, from_above: np.ndarray, still: float
) -> tuple[float, tuple[int, int]] | None:
    """When the first of the lines ``turns + t speeds`` from above meets one from below, and which.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.paths.events import first_meeting
    >>> turns, speeds = np.array([0.0, 3.0, 2.0]), np.array([1.0, 0.0, 0.0])
    >>> first_meeting(turns, speeds, np.array([False, True, True]), still=0.0)
    (2.0, (2, 0))
    """
    above, below = np.flatnonzero(from_above), np.flatnonzero(~from_above)
    distances = np.subtract.outer(turns[above], turns[below])
    closing = -np.subtract.outer(speeds[above], speeds[below])
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(closing > still, np.maximum(distances, 0.0) / closing, np.inf)
    i, j = np.unravel_index(int(steps.argmin()), steps.shape)
    if not np.isfinite(steps[i, j]):
        return None
    return float(steps[i, j]), (int(above[i]), int(below[j]))
