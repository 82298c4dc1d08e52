"""How a column of each kind becomes numbers: what is learned from the training rows, and how it is applied.

Distances are what a kernel sees, so the scales are chosen together: a number has standard deviation 1, the
two values of a two-valued column are −1 and 1, and two levels of a category have their city-block distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from adatron.tables.columns import Column
from adatron.tables.parsing import parse_numbers

CLIP = 5.0  # smooth: a value far out in the tail ends up at most here
FEW_MISSING = 5  # rows from which on a missing value has its own column
FEW_IN_LEVEL = 5  # rows below which a level joins the others that are rare
MOST_LEVELS = 40  # with a column each
MOST_WORDS = 2_000
ONE_HOT = 1.0  # two levels differ in two columns by this: the city-block distance of −1 and 1


@dataclass
class Numbers:
    """A number: centred, divided by a robust scale, clipped; the median for missing, with an indicator."""

    name: str
    unit: float = 1.0  # divides first, so that nothing overflows
    centre: float = -1.0
    scale: float = 2.0
    fill: float = 0.0  # for missing values, after scaling
    is_two_valued: bool = True  # −1 at `centre`, 1 at `centre` + `scale`
    has_values: bool = True
    has_indicator: bool = False

    def __post_init__(self) -> None:
        numbers = (self.unit, self.centre, self.scale, self.fill)
        flags = (self.is_two_valued, self.has_values, self.has_indicator)
        are_numbers = all(type(number) is float and isfinite(number) for number in numbers)
        are_flags = all(type(flag) is bool for flag in flags)
        if not (are_numbers and are_flags and type(self.name) is str and min(self.unit, self.scale) > 0.0):
            raise ValueError(f"no column is scaled by {self}")

    @classmethod
    def fit(cls, name: str, values: np.ndarray, is_two_valued: bool = False) -> Numbers:
        present = np.sort(values[~np.isnan(values)])  # sums do not depend on the order of rows
        found = cls(name, float(np.abs(present).max()) or 1.0, is_two_valued=is_two_valued)
        found.has_values = bool(present[0] < present[-1])
        found.has_indicator = len(values) - len(present) >= _few(FEW_MISSING, len(values))
        scaled = present / found.unit
        if is_two_valued:
            found.centre, found.scale = float(scaled[0]), float(scaled[-1] - scaled[0]) or 1.0
        else:
            found.centre, found.scale = _robust_scale(scaled)
            found.fill = float(found._standardised(np.median(scaled)))
        return found

    @property
    def names(self) -> list[str]:
        return [self.name] * self.has_values + [f"{self.name}_missing"] * self.has_indicator

    def _standardised(self, scaled: Any) -> Any:
        z = np.clip((scaled - self.centre) / self.scale, -1e6, 1e6)
        if self.is_two_valued:
            return np.clip(2.0 * z - 1.0, -CLIP, CLIP)
        return z / np.sqrt(1.0 + (z / CLIP) ** 2)

    def encode(self, values: np.ndarray) -> np.ndarray:
        missing = np.isnan(values)
        out = np.empty((len(values), len(self.names)))
        if self.has_values:
            with np.errstate(over="ignore"):
                out[:, 0] = self._standardised(values / self.unit)
            out[missing, 0] = self.fill
        if self.has_indicator:
            out[:, -1] = np.where(missing, 1.0, -1.0)
        return out

    def transform(self, column: Column) -> np.ndarray:
        return self.encode(column.values)


def _robust_scale(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of sorted values, with the tails drawn in.

    Values farther from the median than 5 standard deviations, as the quartiles tell them, count as if they
    were just there. Well-behaved columns have none, and get their plain mean and standard deviation.
    """
    n = len(values)
    median = values[n // 2]
    for share in (0.25, 0.1, 0.05, 0.01):  # quartiles of a column that is mostly zero are equal
        width = values[int((1 - share) * (n - 1))] - values[int(share * (n - 1))]
        if width > 0:
            fence = 5.0 * width / _NORMAL_WIDTH[share]
            values = np.clip(values, median - fence, median + fence)
            break
    deviations = values - median
    scale = float(deviations.std())
    return float(median + deviations.mean()), scale if scale > 0.0 else 1.0


_NORMAL_WIDTH = {0.25: 1.349, 0.1: 2.563, 0.05: 3.290, 0.01: 4.653}  # of a standard normal distribution


def _few(limit: int, n_rows: int) -> int:
    """A limit in rows for many rows, less for few."""
    return max(1, min(limit, n_rows // 20))


@dataclass
class Levels:
    """A row of numbers for each level; the last two rows of `table` are for unseen levels and for missing."""

    names: list[str]
    levels: list[str]
    table: np.ndarray

    def __post_init__(self) -> None:
        _check_texts(self.names)
        _check_texts(self.levels)
        shape = (len(self.levels) + 2, len(self.names))
        if self.table.shape != shape or self.table.dtype != np.float64:
            raise ValueError(f"a table of levels has shape {self.table.shape} instead of {shape}")

    def transform(self, column: Column) -> np.ndarray:
        place = {level: i for i, level in enumerate(self.levels)}
        unseen = [level for level in column.levels if level not in place]
        numbers = dict(zip(unseen, parse_numbers(unseen).tolist(), strict=True))
        if any(number == number for number in numbers.values()):  # 2.0 was text among words, a number is 2
            known = dict(zip(parse_numbers(self.levels).tolist(), range(len(self.levels)), strict=True))
            place |= {level: known[number] for level, number in numbers.items() if number in known}
        rows = [place.get(level, len(self.levels)) for level in column.levels]
        rows.append(len(self.levels) + 1)  # found at −1
        return self.table[np.array(rows)].take(column.values, axis=0)


def _check_texts(values: Any) -> None:
    if type(values) is not list or {type(value) for value in values} - {str}:
        raise ValueError("names and levels must be a list of text")


def _counts(column: Column) -> np.ndarray:
    return np.bincount(column.values[column.values >= 0], minlength=len(column.levels))


def fit_binary(column: Column) -> list[Levels]:
    """−1 and 1 in the order of the levels; 0 and an indicator for missing."""
    values = [[-1.0], [1.0], [0.0], [0.0]]
    names = [f"{column.name}_{column.levels[1]}"]
    n_missing = int(column.missing.sum())
    if n_missing >= _few(FEW_MISSING, len(column.values)):
        values = [[*row, 1.0 if i == 3 else -1.0] for i, row in enumerate(values)]
        names.append(f"{column.name}_missing")
    return [Levels(names, list(column.levels), np.array(values))]


def fit_one_hot(column: Column) -> list[Levels]:
    """A column for each of the most frequent levels, one for all others, one for missing.

    Without rare levels in training, an unseen one has all columns 0. Two columns become one of −1 and 1.
    """
    counts, n_missing = _counts(column), int(column.missing.sum())
    least = _few(FEW_IN_LEVEL, len(column.values))
    by_count = sorted(range(len(counts)), key=lambda i: (-counts[i], column.levels[i]))
    kept = sorted(i for i in by_count[:MOST_LEVELS] if counts[i] >= least)
    levels = [column.levels[i] for i in kept]
    has_missing = n_missing >= least
    has_other = len(column.values) > int(counts[kept].sum()) + has_missing * n_missing
    names = levels + ["other"] * has_other + ["missing"] * has_missing
    if len(names) < 2:
        return []
    other = len(levels) if has_other else len(names)
    missing = len(names) - 1 if has_missing else other
    table = ONE_HOT * np.eye(len(names) + 1)[:, : len(names)]  # the last row is zero
    if len(names) == 2:
        names = names[1:]
        table = np.array([[-1.0], [1.0], [0.0]])
    names = [f"{column.name}_{name}" for name in names]
    return [Levels(names, levels, table[[*range(len(levels)), other, missing]])]


def fit_ordinal(column: Column) -> list[Levels]:
    """The rank in the order of all levels, standardised like a number."""
    order = column.order or column.levels
    ranks = {level: float(i) for i, level in enumerate(order)}
    levels = [*order, *(level for level in column.levels if level not in ranks)]
    of_levels = np.array([*(ranks.get(level, np.nan) for level in column.levels), np.nan])
    numbers = Numbers.fit(column.name, of_levels[column.values])
    table = numbers.encode(np.array([*(ranks.get(level, np.nan) for level in levels), np.nan, np.nan]))
    if numbers.has_indicator:
        table[-2, -1] = -1.0  # an unseen level is not missing
    return [Levels(numbers.names, levels, table)]


def fit_frequency(column: Column) -> list[Levels]:
    """The logarithm of how often a level occurs: for many levels without a target."""
    counts = np.log([*_counts(column), 0.5, max(int(column.missing.sum()), 0.5)])
    numbers = Numbers.fit(f"{column.name}_frequency", counts[column.values])
    numbers.has_indicator = False
    return [Levels(numbers.names, list(column.levels), numbers.encode(counts))] if numbers.has_values else []


@dataclass
class Dates:
    """The parts of a date that vary: elapsed days, year, month, weekday, weekend and hour, as numbers."""

    parts: dict[str, Numbers]

    def __post_init__(self) -> None:
        known = _date_parts(np.array([], dtype="datetime64[us]")).keys()
        if not self.parts.keys() <= known or {type(own) for own in self.parts.values()} - {Numbers}:
            raise ValueError(f"no date has the parts {list(self.parts)}")

    @classmethod
    def fit(cls, column: Column) -> list[Dates]:
        parts = {}
        for part, values in _date_parts(column.values).items():
            name, present = f"{column.name}_{part}", np.round(values[~column.missing], 9)
            has_indicator = part == "elapsed" and column.missing.sum() >= _few(FEW_MISSING, len(values))
            if len(present) and (present.min() < present.max() or has_indicator):
                if part in ("elapsed", "year"):
                    parts[part] = Numbers.fit(name, values)
                    parts[part].has_indicator = bool(has_indicator)
                else:
                    parts[part] = Numbers(name)  # already within ±1
        return [cls(parts)]

    @property
    def names(self) -> list[str]:
        return [name for numbers in self.parts.values() for name in numbers.names]

    def transform(self, column: Column) -> np.ndarray:
        values = _date_parts(column.values)
        return np.hstack([numbers.encode(values[part]) for part, numbers in self.parts.items()])


def _date_parts(dates: np.ndarray) -> dict[str, np.ndarray]:
    days = dates.astype("datetime64[D]")
    month = days.astype("datetime64[M]").astype(np.int64) % 12
    weekday = (days.astype(np.int64) + 3) % 7  # the epoch was a Thursday; Monday is 0
    parts = {
        "elapsed": dates.astype(np.float64) / 8.64e10,
        "year": days.astype("datetime64[Y]").astype(np.float64) + 1970.0,
    }
    hour = (dates - days).astype(np.float64) / 3.6e9
    for name, value, period in (("month", month, 12.0), ("weekday", weekday, 7.0), ("hour", hour, 24.0)):
        angle = 2.0 * np.pi * value / period
        parts |= {f"{name}_sin": np.sin(angle), f"{name}_cos": np.cos(angle)}
        if name == "weekday":
            parts["weekend"] = np.where(weekday >= 5, 1.0, -1.0)
    return {name: np.where(np.isnat(dates), np.nan, values) for name, values in parts.items()}


@dataclass
class Texts:
    """tf-idf of words and pairs of words, each text of length 1."""

    name: str
    words: list[str]
    idf: np.ndarray

    def __post_init__(self) -> None:
        _check_texts([self.name, *self.words])
        if self.idf.shape != (len(self.words),) or self.idf.dtype != np.float64:
            raise ValueError(f"{len(self.words)} words have weights of shape {self.idf.shape}")

    @classmethod
    def fit(cls, column: Column) -> list[Texts]:
        """The most frequent words that are not rare; nothing if there is none."""
        counter = CountVectorizer(ngram_range=(1, 2), binary=True)
        try:
            occurs = counter.fit_transform(column.levels)
        except ValueError:  # no word at all
            return []
        n_rows = occurs.T @ _counts(column)
        frequent = np.lexsort((np.arange(len(n_rows)), -n_rows))[:MOST_WORDS]
        kept = np.sort(frequent[n_rows[frequent] >= max(2, _few(FEW_IN_LEVEL, len(column.values)))])
        idf = 1.0 + np.log((1.0 + len(column.values)) / (1.0 + n_rows[kept]))
        words = counter.get_feature_names_out()[kept].tolist()
        return [cls(column.name, words, idf)] if words else []

    @property
    def names(self) -> list[str]:
        return [f"{self.name}_{word}" for word in self.words]

    def transform(self, column: Column) -> Any:
        """A sparse matrix; missing texts are all 0."""
        counter = CountVectorizer(ngram_range=(1, 2), vocabulary=self.words)
        weighted = counter.transform([*column.levels, ""]).multiply(self.idf).tocsr()
        return normalize(weighted)[column.values]


FORMS: dict[type, tuple[str, ...]] = {  # of columns that each encoding is for
    Numbers: ("number", "boolean", "duration"), Levels: ("label",), Texts: ("label",), Dates: ("date",),
}  # fmt: skip
