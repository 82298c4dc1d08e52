"""`KernelPath` and `CPath`: the steps along a path; and functions that the paths in σ and in C share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from adatron.estimators import inputs, parameters
from adatron.estimators.base import worst_of
from adatron.estimators.folds import Folds
from adatron.estimators.training_set import TrainingSet
from adatron.exceptions import warn_user
from adatron.paths.exact_path import ExactPath
from adatron.training import DualSolution, Status


@dataclass(frozen=True, repr=False)
class KernelPath:
    """Steps along a path, one record each; ``path["margin"]`` is a whole column.

    Parameters
    ----------
    records : a dict for each step, with at least the key `x` and, where the step succeeded, ``criterion``
    criterion, best_index : what ``criterion`` measures (less is better), and which step to take
    x : str, default="sigma"

    Notes
    -----
    `sigma_path` records ``sigma, gamma, criterion, margin`` (the smallest of all problems), ``radius_squared,
    bound`` (the margin bound, most often infinite), ``training_error, error`` (on folds or validation rows),
    ``n_support, epochs`` (of all problems), ``gap, status, converged, start`` ("cold", "exact": moved to the
    optimum of the new kernel before the first sweep, "scaled"), ``reason`` (of a failure) and ``seconds``.

    Examples
    --------
    >>> from adatron.selection import KernelPath
    >>> records = [{"sigma": 0.5, "gamma": 2.0, "criterion": 0.2}, {"sigma": 1.0, "criterion": 0.1}]
    >>> KernelPath(records, criterion="cv error", best_index=1)
    KernelPath(2 steps, sigma from 0.5 to 1, best sigma=1 with cv error 0.1)
    """

    records: Sequence[Mapping[str, Any]]
    criterion: str
    best_index: int
    x: str = "sigma"

    def __post_init__(self) -> None:
        records = [dict(record) for record in self.records]
        if not records:
            raise ValueError("records must have at least one step, got none")
        if without := [i for i, record in enumerate(records) if self.x not in record]:
            raise ValueError(f"every record must have the key x={self.x!r}; those at {without} lack it")
        if not -len(records) <= self.best_index < len(records):
            raise ValueError(f"best_index must be one of the {len(records)} steps, got {self.best_index!r}")
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "best_index", int(self.best_index) % len(records))

    @property
    def best(self) -> dict[str, Any]:
        """The record of the best step."""
        return self[self.best_index]

    @property
    def best_sigma(self) -> float:
        """The width σ of the best step."""
        return float(self.best["sigma"])

    @property
    def best_gamma(self) -> float:
        """The γ = 1/(2σ²) of the best step, which `SVC` calls ``gamma``."""
        return float(self.best["gamma"] if "gamma" in self.best else 0.5 / self.best["sigma"] ** 2)

    @property
    def columns(self) -> list[str]:
        """Keys of the records, in order of appearance."""
        return list(dict.fromkeys(key for record in self.records for key in record))

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(dict, self.records)

    def __getitem__(self, key: int | slice | str) -> Any:
        """A step by its number, or a column by its name; missing values are NaN, or None for text."""
        if not isinstance(key, str):
            part = self.records[key]
            return dict(part) if isinstance(part, Mapping) else [dict(record) for record in part]
        if key not in self.columns:
            raise KeyError(f"no column {key!r}; this path has {self.columns}")
        given = next(record[key] for record in self.records if key in record)
        missing = None if isinstance(given, str) else np.nan
        values = [record.get(key, missing) for record in self.records]
        return np.array(values, dtype=object if missing is None else None)

    def to_frame(self) -> Any:
        """The records as a pandas DataFrame, one row for each step.

        Returns
        -------
        pandas.DataFrame
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("KernelPath.to_frame needs pandas: pip install pandas") from error
        return pd.DataFrame(list(self), columns=self.columns)

    def __repr__(self) -> str:
        values, best = self[self.x], self.best
        steps = f"{len(self)} step{'s' if len(self) != 1 else ''}"
        spread = f"{self.x} from {values.min():.4g} to {values.max():.4g}"
        value = f" with {self.criterion} {best['criterion']:.4g}" if "criterion" in best else ""
        return f"{type(self).__name__}({steps}, {spread}, best {self.x}={best[self.x]:.4g}{value})"


@dataclass(frozen=True, repr=False)
class CPath(KernelPath):
    """The result of `c_path`: records for many C, and their SVMs.

    It predicts for every C up to its end if it is exact, otherwise for those of its grid.

    Parameters
    ----------
    records, criterion, best_index : as in `KernelPath`
    x : str, default="C"
    shared, solutions, estimator : optional
        What the SVMs have in common, their coefficients, and the SVC that checks rows to predict.

    Notes
    -----
    "loo" estimates the leave-one-out error by the share of rows with ``y_i (f_i + b) ≤ α_i K_ii``, a bound if
    there is no bias; "support" bounds it by the share of support vectors. Records have ``C, criterion,
    objective, margin`` (``1/‖w‖``, the smallest of all problems), ``n_support, training_error, loo_bound,
    loo_estimate, gap, error`` (on folds or validation rows, or 1 − score), ``epochs, seconds, status`` and
    ``converged``. The time of an exact path is divided among its records.

    Examples
    --------
    >>> from adatron import datasets, selection
    >>> X_train, X_test, y_train, y_test = datasets.load_sonar(split="half")
    >>> path = selection.c_path(X_train, y_train, exact=True)
    >>> path, round(path.oracle_C(X_test, y_test), 2)  # the latter needs the test set
    (CPath(162 steps, C from 0.01071 to 3.277e+04, best C=0.3217 with leave-one-out estimate 0.4519), 41.25)
    """

    x: str = "C"
    shared: Any = None
    solutions: Any = None
    estimator: Any = None

    @property
    def C(self) -> np.ndarray:
        """The C of every record, rising."""
        return self["C"]

    @property
    def best_C(self) -> float:
        """The C with the least criterion, the smallest of equally good ones."""
        return float(self.best["C"])

    @property
    def classes_(self) -> np.ndarray:
        """The labels of the classes."""
        return self.shared.data.classes

    @property
    def exact_path(self) -> ExactPath | None:
        """The exact path, with its breakpoints, if there is one."""
        return None if self.solutions is None else self.solutions.path

    def alpha_at(self, C: float) -> np.ndarray:
        """Multipliers of all rows of X.

        Parameters
        ----------
        C : float

        Returns
        -------
        ndarray of shape (m,), or (m, n_problems) for more than two classes
        """
        coefficients, _ = self.solutions.at(np.array([float(C)]))
        alpha = np.zeros((self.shared.data.shape[0], coefficients.shape[2]))
        alpha[self.shared.data.rows] = np.abs(coefficients[0])
        return alpha[:, 0] if self.shared.layout.is_binary else alpha

    def bias_at(self, C: float) -> Any:
        """The bias, one for each problem with more than two classes.

        Parameters
        ----------
        C : float

        Returns
        -------
        float, or ndarray of shape (n_problems,)
        """
        _, bias = self.solutions.at(np.array([float(C)]))
        return float(bias[0, 0]) if self.shared.layout.is_binary else bias[0]

    def decision_function(self, X: Any, C: float | None = None) -> np.ndarray:
        """Decision values of the SVM for one C (None: `best_C`), as `SVC` gives them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        C : float, default=None

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        """
        decisions, layout = self._decisions(X, C), self.shared.layout
        return decisions[:, 0] if layout.is_binary else layout.one_per_class(decisions)

    def predict(self, X: Any, C: float | None = None) -> np.ndarray:
        """The class of each row, by the SVM for one C (None: `best_C`).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        C : float, default=None

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.classes_[self.shared.layout.vote(self._decisions(X, C))]

    def _decisions(self, X: Any, C: float | None) -> np.ndarray:
        X, Cs = inputs.check_predict_X(self.estimator, X), np.array([self.best_C if C is None else float(C)])
        _, f, bias = next(self.shared.outputs(self.solutions, Cs, X))
        return f + bias

    def test_errors(self, X: Any, y: Any) -> np.ndarray:
        """Share of the rows of `X` that the SVM of each record misclassifies.

        Parameters
        ----------
        X, y : array-like of shape (n_samples, n_features) and (n_samples,)

        Returns
        -------
        ndarray of shape (n_records,)
        """
        X = inputs.check_predict_X(self.estimator, X)
        labels, places = inputs.check_labels(X, y)
        every = self.shared.outputs(self.solutions, self.C, X)
        predicted = (self.classes_[self.shared.layout.vote(f + bias)] for _, f, bias in every)
        return np.array([np.mean(classes != labels[places]) for classes in predicted])

    def oracle_C(self, X: Any, y: Any) -> float:
        """The C with the least error on a test set: the best that tuning C could achieve.

        Parameters
        ----------
        X, y : array-like of shape (n_samples, n_features) and (n_samples,)

        Returns
        -------
        float
        """
        return float(self.C[self.test_errors(X, y).argmin()])


def rising(name: str, values: Any, for_infinity: str = "") -> np.ndarray:
    """The values of a parameter of the path, each once, in ascending order."""
    try:
        found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers > 0, got {values!r}") from error
    if found.ndim != 1 or not len(found):
        raise ValueError(f"{name} must be a list of at least one number > 0, got shape {found.shape}")
    bad = np.flatnonzero(~(np.isfinite(found) & (found > 0.0)))
    if len(bad):
        wrong = f"{name}[{bad[0]}] is {found[bad[0]]}{for_infinity if found[bad[0]] == np.inf else ''}"
        raise ValueError(f"{name} must be finite numbers > 0, but {wrong}")
    return np.unique(found)


def criterion_name(criterion: Any, names: list[str], otherwise: str) -> str:
    """One of the names, or "validation" for a pair of rows and labels."""
    if isinstance(criterion, tuple | list) and len(criterion) == 2:
        return "validation"
    if not isinstance(criterion, str) or criterion not in names:
        suggestion = parameters.closest_name(criterion, names)
        raise ValueError(f"criterion must be one of {names}{otherwise}, got {criterion!r}{suggestion}")
    return criterion


def validation_rows(pair: Any, estimator: Any, data: TrainingSet) -> tuple[Any, np.ndarray]:
    """Checked rows and the index of each one's class, −1 for a class that training has not seen."""
    X_val = inputs.check_predict_X(estimator, pair[0])
    if X_val.shape[0] == 0:
        raise ValueError("criterion=(X_val, y_val) needs at least one validation row, got none")
    labels, places = inputs.check_labels(X_val, pair[1])
    known = {label: code for code, label in enumerate(data.classes.tolist())}
    codes = np.array([known.get(label, -1) for label in labels.tolist()])
    if (codes < 0).all():
        seen, new = (values.tolist()[:5] for values in (data.classes, labels))
        raise ValueError(f"none of the labels {new} of y_val is a class of y ({seen})")
    return X_val, codes[places]


def folds(cv: Any, random_state: Any, data: TrainingSet) -> Folds:
    """The folds of a cross-validation, each with rows of every class to train on."""
    if isinstance(cv, Integral):
        allowed, counts = "an integer >= 2, a splitter or an iterable of splits", np.bincount(data.codes)
        n_folds = parameters.check_integer("cv", cv, at_least=2, allowed=allowed)
        if counts.min() < n_folds:
            rare = f"class {data.classes[counts.argmin()].item()!r} has {counts.min()}"
            raise ValueError(f"cv={cv} needs at least {cv} rows of every class, {rare}; lower cv or add rows")
        cv = StratifiedKFold(n_folds, shuffle=True, random_state=parameters.as_random_state(random_state))
    if hasattr(cv, "split"):  # only rows that take part are dealt out
        cv = [tuple(data.rows[part] for part in parts) for parts in cv.split(data.X, data.codes)]
    found = Folds.given(data, cv, data.X, data.codes)
    found.check_classes(data.codes, data.classes, at_least=len(data.classes))
    if not found.held.any():
        raise ValueError("no fold of cv holds rows out; choose another cv")
    return found


def fit_summary(solutions: list[DualSolution]) -> dict[str, Any]:
    """Fields of a record: all epochs, the largest gap, and the status of the worst solution."""
    worst = worst_of(solutions).status
    epochs, gap = sum(s.n_iter for s in solutions), max(s.gap for s in solutions)
    return {"epochs": epochs, "gap": gap, "status": str(worst), "converged": worst is Status.CONVERGED}


def best_step(records: Sequence[Any], usable: Sequence[int], x: str, key: Callable[[Any], Any]) -> int:
    """The usable record with the least key; of fits that did not converge only if none did."""
    finished = [i for i in usable if records[i]["converged"]]
    if len(finished) < len(usable):
        where = ", ".join(f"{records[i][x]:g}" for i in usable if i not in finished)
        message = f"{x.lower()}_path did not converge at {x}={where}; raise max_iter or tol, or leave it out"
        warn_user(message, ConvergenceWarning)
    return min(finished or usable, key=lambda i: key(records[i]))
