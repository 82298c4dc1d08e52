"""A run as plain values, so that it can be taken up again where it was left.

All that changes in a run is kept: the solver's state (α, f, bias, the bracket of λ, the working set, …),
certificates, records and the epoch. What it is set up with, the problem and the solver, is not: whoever
restores a run has set up the same one before.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from time import monotonic
from typing import Any

import numpy as np

from adatron.training.certificate import Certificate, is_single
from adatron.training.records import History
from adatron.training.run import Run
from adatron.training.solution import DualSolution
from adatron.training.status import Status

__all__ = ["restore_run", "saved_run"]

_SET_UP = frozenset(
    {
        "problem", "solver", "tol", "max_iter", "indefinite", "first", "began", "left_at",
        "_live_problem", "_pause", "_is_greedy", "_factor", "is_watched",
    }
)  # fmt: skip
_KINDS: dict[str, type] = {"certificate": Certificate, "solution": DualSolution}


def saved_run(run: Run) -> dict[str, Any]:
    """What `restore_run` needs; nested plain values and arrays.

    Parameters
    ----------
    run : Run
        Between two epochs.

    Returns
    -------
    dict
    """
    state = {name: _plain(value) for name, value in vars(run).items() if name not in _SET_UP}
    state |= _reopened(run)
    seconds, is_exact = monotonic() - run.began, not is_single(run.problem.gram)
    return {"state": state, "seconds": seconds, "is_exact": is_exact}


def _reopened(run: Run) -> dict[str, Any]:
    """Columns that a limit has ended count as under way: another limit may let them go on."""
    if run.left_at is None:
        return {}
    live, state = run.left_at
    solutions = [None if column in live else own for column, own in enumerate(run.solutions)]
    again = {"live": live, "state": _plain(state), "solutions": _plain(solutions)}
    if hasattr(run, "last"):
        again["last"] = {column: _plain(own) for column, own in run.last.items() if column not in live}
    return again


def restore_run(run: Run, saved: dict[str, Any]) -> None:
    """Take a run that was just set up to where another one was saved.

    Parameters
    ----------
    run : Run
    saved : dict
        Of a run of the same problem, solver and settings.
    """
    state = {name: _object(run, value) for name, value in saved["state"].items()}
    if state.keys() != {name for name in vars(run) if name not in _SET_UP}:
        raise ValueError("the saved run has other attributes than this one: it belongs to another solver")
    if state["state"].alpha.shape[0] != run.state.alpha.shape[0]:
        raise ValueError("the saved run has another number of rows")
    vars(run).update(state)
    run.began = monotonic() - saved["seconds"]
    gram: Any = run.problem.gram
    if saved["is_exact"] and is_single(gram):
        run.problem = replace(run.problem, gram=gram.exact())
    is_whole = len(run.live) == run.problem.n_columns
    run._live_problem = run.problem if is_whole or not len(run.live) else run.problem.columns(run.live)


def _plain(value: Any) -> Any:
    if isinstance(value, Status):
        return {"": "status", "name": value.name}
    if isinstance(value, History):
        return {"": "history", "limit": value.limit, "growth": value._growth, "rows": _plain(value.rows)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {"": "state", **value._asdict()}
    if is_dataclass(value):
        kind = next(name for name, known in _KINDS.items() if isinstance(value, known))
        return {"": kind} | {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list) and value and type(value[0]) is tuple:
        return {"": "rows", "values": np.array(value, dtype=float)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _object(run: Run, value: Any) -> Any:
    if isinstance(value, list):
        return [_object(run, item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("")
    content = {key: _object(run, item) for key, item in value.items() if key != ""}
    if kind == "status":
        return Status[content["name"]]
    if kind == "rows":  # of a trace; the first entry is the epoch
        return [(int(row[0]), *row[1:]) for row in content["values"].tolist()]
    if kind == "history":
        history = History(content["limit"])
        history.rows, history._growth = content["rows"], content["growth"]
        return history
    if kind == "state":
        return type(run.state)(**content)
    return content if kind is None else _KINDS[kind](**content)
