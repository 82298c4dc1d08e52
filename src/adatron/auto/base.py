"""What `AutoSVC` and `AutoSVR` share: the search for a kernel width, and the fit around it."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from time import monotonic
from typing import Any, Self

import numpy as np

from adatron.estimators.base import KernelMachine, forget_fit, unfitted_on_error
from adatron.estimators.callback_bridge import FitTasks, with_callbacks
from adatron.estimators.parameters import as_random_state, check_integer, check_number, count_threads

OUT_OF_TIME = "the search had ended"
_FIRST_OCTAVES, _FARTHEST = (0, 2, -2, 4, -4), 12  # of γ
_AFTER_CTRL_C = 0.1  # seconds that the final training may still take


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kernel width with the best that goes with it, and what they are worth on held-out rows."""

    octave: int
    gamma: float
    error: float = np.nan
    criterion: float = np.nan  # what is minimised
    stage: float = np.nan  # epochs, where training is stopped early
    loss: int = 0  # its place among the losses that are tried
    C: float = np.nan
    epochs: int = 0  # that were trained
    seconds: float = 0.0
    reason: str = ""  # why the width could not be judged, if so

    def __str__(self) -> str:
        C = "" if np.isnan(self.C) else f", C={self.C:.3g}"
        return f"gamma={self.gamma:.3g}{C}: {self.reason or f'held-out criterion {self.criterion:.4g}'}"

    def record(self, *names: str) -> dict[str, Any]:
        """A step of a `KernelPath`."""
        return {"sigma": (2.0 * self.gamma) ** -0.5} | {name: getattr(self, name) for name in names}


class Search:
    """Looks for widths, level by level; what was judged can be saved and need not be judged again."""

    part_for_search = 0.5  # of the time limit

    def __init__(self, model: Any, began: float) -> None:
        self.model, self.time_limit, self.began = model, model.time_limit, began
        self.levels: list[dict[int, Candidate]] = []  # by octave
        self.is_stopped = False  # by a callback or Ctrl-C
        self.after_width: Callable[[Candidate], bool] = lambda tried: False  # whether to stop
        self._known: list[dict[int, Candidate]] = []  # of a search that was interrupted

    def look_for_width(
        self, spread: float, judge: Callable[[Candidate, float], Candidate],
        octaves: Iterable[int] = _FIRST_OCTAVES, *, neighbours: bool = True,
    ) -> Candidate:  # fmt: skip
        """The best ``γ = 2^octave / spread``; `judge` is also given the best criterion so far."""
        known = self._known[len(self.levels)] if len(self.levels) < len(self._known) else {}
        level: dict[int, Candidate] = {}
        self.levels.append(level)
        while octaves := [octave for octave in octaves if abs(octave) <= _FARTHEST]:
            for octave in octaves:
                new = known.get(octave) or Candidate(octave, 2.0**octave / spread)
                if octave not in known and self.is_over() and level:
                    new = replace(new, reason=OUT_OF_TIME)
                elif octave not in known:
                    rivals = [other.criterion for other in level.values() if not other.reason]
                    try:
                        new = judge(new, min(rivals, default=np.inf))
                    except (ValueError, ArithmeticError) as error:  # a scorer may not like what is predicted
                        new = replace(new, reason=str(error))
                level[octave] = new
                self.width_ended(new)
            best = self.best.octave
            is_last = not neighbours or abs(best) == _FARTHEST
            octaves = () if is_last else sorted({best - 1, best + 1} - set(level))
        return self.best

    def width_ended(self, tried: Candidate) -> None:
        self.is_stopped = self.is_stopped or self.after_width(tried)

    @property
    def best(self) -> Candidate:
        """The best width of the last level."""
        tried = self.levels[-1].values()
        judged = [candidate for candidate in tried if not candidate.reason]
        if not judged:
            raise ValueError(f"no kernel width could be judged: {'; '.join(map(str, tried))}")
        return min(judged, key=lambda candidate: (candidate.criterion, abs(candidate.octave)))

    def seconds_left(self, part: float | None = None) -> float | None:
        """Seconds left of a part of the time limit, by default that for the search; None without a limit."""
        if self.time_limit is None:
            return None
        seconds = (self.part_for_search if part is None else part) * self.time_limit
        return max(0.0, seconds - (monotonic() - self.began))

    def is_over(self, part: float | None = None) -> bool:
        """Whether the search was stopped, or a part of the time limit has passed."""
        return self.is_stopped or self.seconds_left(part) == 0.0

    def saved(self) -> dict[str, Any]:
        """The widths that were judged, for a checkpoint."""
        judged = [{o: asdict(c) for o, c in level.items() if not c.reason} for level in self.levels]
        return {"levels": judged}

    def restore(self, saved: dict[str, Any]) -> None:
        self._known = [{o: Candidate(**values) for o, values in level.items()} for level in saved["levels"]]


class AutoEstimator(KernelMachine):
    """Base of the estimators, which have a ``_search``, ``_attributes_of`` it, and ``_warn`` of it."""

    kernel = "rbf"  # the only one; not a parameter
    _scales_features = True

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the parameters by cross-validation, and train.

        Parameters
        ----------
        X, y : array-like or sparse matrix of shape (n_samples, n_features), and array-like
        sample_weight, groups : array-like of shape (n_samples,), optional
            Rows of one group are never on both sides of a split; if `cv` is a number, the folds are those of
            scikit-learn's `StratifiedGroupKFold`, or `GroupKFold` for a regression.

        Returns
        -------
        estimator
        """
        with unfitted_on_error(self):
            began = monotonic()
            if self.time_limit is not None:
                check_number("time_limit", self.time_limit, allowed="None or a finite number > 0")
            if isinstance(self.cv, Integral | np.bool_):
                check_integer("cv", self.cv, at_least=2, allowed="an integer >= 2, a splitter or splits")
            count_threads(self.n_jobs)
            with unfitted_on_error(self, BaseException):  # Ctrl-C before the search: nothing to keep yet
                search = self._search(X, y, sample_weight, groups, began)
                tasks = FitTasks(self, X, y, sample_weight, None)

            def after_width(tried: Candidate) -> bool:
                if self.verbose:
                    print(f"[adatron] {tried}")
                return tasks.round_ended(lambda: self._attributes_of(search))

            search.after_width = after_width
            try:
                tasks.prepared(search)
                search.run()
                attributes = self._attributes_of(search)
            except KeyboardInterrupt:
                tasks.interrupted()
                search.is_stopped, search.time_limit = True, monotonic() - began + _AFTER_CTRL_C
                if all(candidate.reason for level in search.levels for candidate in level.values()):
                    forget_fit(self)  # no width was judged
                else:
                    self.__dict__.update(self._attributes_of(search))
                raise
            self.__dict__.update(attributes)
            tasks.ended(lambda: attributes)
        self._warn(search)
        return self

    def _random_state(self) -> np.random.RandomState:
        return as_random_state(0 if self.random_state is None else self.random_state)
