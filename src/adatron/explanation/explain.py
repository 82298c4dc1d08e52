"""`explain`: why a model predicts what it does for one row."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from adatron.estimators.expansion import ExpansionMachine
from adatron.estimators.parameters import check_integer
from adatron.explanation.shapley import cost_of_a_pair, is_separable, shapley_values
from adatron.tables import TableEncoder
from adatron.tables.columns import as_frame

_BACKGROUND, _FEWEST = 50, 5  # rows to compare with, at most and at least
_WORK = 400_000_000  # multiplications that they may take, about a second
_MOST_FEATURES = 5_000  # that sparse rows may have
_SHOWN = 10  # columns in the text


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """A prediction for one row, and the reasons for it.

    Parameters
    ----------
    prediction : object
        The predicted class or target.
    output : object
        The class whose decision value is explained; None for a regression or one class.
    decision, base : float
        The decision value of the row for that class, and its mean over the background rows.
    columns : list of str
    values : list
        The row's values in these columns.
    contributions : ndarray of shape (n_columns,) or None
        What each column adds: Shapley values, whose sum is ``decision − base``. None for kernels that have no
        product form, such as polynomials.
    rows : ndarray of int
        Training rows that decided most, the heaviest first; −1 where a model does not know which row it was.
    similarities : ndarray
        Kernel values of these rows with the row, 1 for the same row.
    shares : ndarray
        What these rows add to the decision, over the sum of the absolute contributions of all rows.

    See Also
    --------
    explain : returns it.

    References
    ----------
    L. S. Shapley, *A Value for n-Person Games*, Contributions to the Theory of Games II, 1953.

    Examples
    --------
    >>> from adatron import SVC, explain
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(as_frame=True, return_X_y=True)
    >>> found = explain(SVC().fit(X, y), X.iloc[[60]])
    >>> type(found).__name__, found.columns[found.contributions.argmax()]
    ('Explanation', 'petal length (cm)')
    """

    prediction: Any
    output: Any
    decision: float
    base: float
    columns: list[str]
    values: list[Any]
    contributions: np.ndarray | None
    rows: np.ndarray
    similarities: np.ndarray
    shares: np.ndarray

    def __repr__(self) -> str:
        of = "" if self.output is None else f" for {self.output!r}"
        predicted = f"{self.prediction:.6g}" if isinstance(self.prediction, float) else repr(self.prediction)
        lines = [f"prediction {predicted}: decision value {self.decision:.4g}{of}"]
        if self.contributions is not None:
            lines[0] += f", {self.base:.4g} on average"
            order = np.argsort(-np.abs(self.contributions), kind="stable")
            for j in order[:_SHOWN].tolist():
                lines.append(f"  {self.contributions[j]:+.4g}  {self.columns[j]} = {self.values[j]}")
            if len(order) > _SHOWN:
                rest = float(self.contributions[order[_SHOWN:]].sum())
                lines.append(f"  {rest:+.4g}  {len(order) - _SHOWN} other columns")
        for row, similarity, share in zip(self.rows, self.similarities, self.shares, strict=True):
            name = f"training row {row}" if row >= 0 else "a vector of the model"
            lines.append(f"  {100 * share:+.1f} %  {name}, similarity {similarity:.3g}")
        return "\n".join(lines)


def explain(
    model: Any, x: Any, *, background: Any = None, output: Any = None, n_rows: int = 5
) -> Explanation:
    """Explain the prediction for one row: what each column adds, and which training rows decided.

    A column adds its Shapley value: the mean, over all orders in which columns of background rows are
    replaced by those of `x`, of what its replacement changes. The values are exact for Gaussian, linear and
    city-block Laplace kernels and sums of them, and have 5 digits or more for the Euclidean Laplace kernel.

    Parameters
    ----------
    model : estimator
        A fitted estimator of adatron that predicts, or a `Pipeline` that ends in one. Columns are those that
        `AutoSVC` or a `TableEncoder` was given; after other transformers, what these give. Decisions and
        contributions are logarithms where `AutoSVR` has learned those of its targets.
    x : data frame or array-like of shape (1, n_features), or array-like of shape (n_features,)
        The row.
    background : like `x`, of shape (n_background, n_features), optional
        Rows to compare with. By default 50 or fewer of the model's own vectors.
    output : object, optional
        The class to explain; by default the predicted one. With several targets, the number of one.
    n_rows : int, default=5
        How many training rows are named.

    Returns
    -------
    Explanation

    See Also
    --------
    adatron.AutoSVC : its ``feature_importances_`` are about all rows.

    References
    ----------
    L. S. Shapley, *A Value for n-Person Games*, Contributions to the Theory of Games II, 1953. M. Mohammadi,
    S. Chau, K. Muandet, *Computing Exact Shapley Values in Polynomial Time for Product-Kernel Methods*, 2025.

    Examples
    --------
    >>> from adatron import AutoSVC, explain
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(as_frame=True, return_X_y=True)
    >>> found = explain(AutoSVC(random_state=0).fit(X, y), X.iloc[[60]])
    >>> int(found.prediction), len(found.columns)
    (1, 4)
    >>> bool(abs(found.base + found.contributions.sum() - found.decision) < 1e-4)
    True
    """
    check_is_fitted(model)
    machine = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not isinstance(machine, ExpansionMachine):
        raise TypeError(
            "explain takes a fitted estimator of adatron that predicts, or a pipeline that ends in one, got "
            f"{type(machine).__name__}"
        )
    check_integer("n_rows", n_rows, at_least=0, allowed="an integer >= 0")
    return _explained(model, machine, _one_row(x), background, output, n_rows)


def _explained(model: Any, machine: Any, row: Any, background: Any, output: Any, n_rows: int) -> Explanation:
    predicted = _plain(model.predict(row)[0])
    label, weights = _weights(machine, predicted, output)
    expansions, features = machine._expansions(), _features(model, machine, row)
    terms = [one.kernel_values(features)[0] * (one.by_problem() @ weights) for one in expansions]
    decision = float(sum(own.sum() for own in terms) + sum(one.bias @ weights for one in expansions))
    names, blocks = _columns(model, machine, features.shape[1])
    others = None if background is None else _features(model, machine, background)
    base, contributions = _contributions(expansions, weights, features, others, blocks, len(names), decision)
    values = _values(row, names, features)
    if np.ndim(predicted):
        predicted = float(predicted[output])
    nearest = _heaviest(machine, expansions, terms, features, n_rows)
    return Explanation(predicted, label, decision, base, names, values, contributions, *nearest)


def _contributions(
    expansions: list[Any], weights: np.ndarray, features: Any, others: Any, blocks: np.ndarray,
    n_columns: int, decision: float,
) -> tuple[float, np.ndarray | None]:  # fmt: skip
    """The mean decision of the background rows, and what each column adds to it in this row."""
    if others is not None and not others.shape[0]:
        raise ValueError("background has no rows; pass some, or None for vectors of the model")
    contributions = np.zeros(n_columns)
    if not sum(len(one.coefficients) for one in expansions):
        return decision, contributions  # a constant
    if not all(is_separable(one.kernel) for one in expansions):
        return float("nan"), None
    if others is None:  # vectors of the model; fewer where each costs much time
        cost = sum(len(one.coefficients) * cost_of_a_pair(one.kernel, n_columns) for one in expansions)
        vectors = expansions[0].vectors
        n = vectors.shape[0]
        k = min(n, int(np.clip(_WORK // max(cost, 1), _FEWEST, _BACKGROUND)))
        others = vectors[((np.arange(k) + 0.5) * n / k).astype(int)]  # may be sorted by target: no ends
    others = _dense(others)
    for one in expansions:
        vectors, coefficients = _dense(one.vectors), one.by_problem() @ weights
        contributions += shapley_values(
            one.kernel, vectors, coefficients, _dense(features)[0], others, blocks, n_columns
        )
    return float(np.mean(sum(one(others) for one in expansions) @ weights)), contributions


def _one_row(x: Any) -> Any:
    """The row as an array or a table of one row."""
    if isinstance(as_frame(x), nw.DataFrame) or sparse.issparse(x):
        row = x
    elif nw.dependencies.is_pandas_series(x):
        raise ValueError("x is a pandas Series; pass a data frame of one row, such as X.iloc[[i]]")
    else:
        row = np.asarray(x).reshape(1, -1) if np.ndim(x) == 1 else np.asarray(x)
    if len(row.shape) != 2 or row.shape[0] != 1:
        raise ValueError(f"x must be one row, got shape {tuple(row.shape)}; pass X[i : i + 1]")
    return row


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _weights(machine: Any, predicted: Any, output: Any) -> tuple[Any, np.ndarray]:
    """The class to explain, and the weights with which problems add up to its decision."""
    if "classes_" not in vars(machine):
        k = np.size(predicted)
        if k == 1 and output is not None:
            raise ValueError(f"output={output!r} is for classifiers; {type(machine).__name__} has no classes")
        if k > 1 and output not in range(k):
            raise ValueError(f"output must say which of the {k} targets, from 0 to {k - 1}, got {output!r}")
        return output, np.eye(k)[output or 0]
    label = predicted if output is None else output
    classes, layout = machine.classes_.tolist(), machine._layout
    if label not in classes:
        raise ValueError(f"output must be one of the classes {classes!r}, got {output!r}")
    k = classes.index(label)
    if layout.is_binary:
        return label, np.array([1.0 if k == 1 else -1.0])
    if layout.is_pairwise:
        return label, np.array([float(i == k) - float(j == k) for i, j in layout.pairs])
    return label, np.eye(len(classes))[k]


def _features(model: Any, machine: Any, X: Any) -> Any:
    """Rows as the expansions of the machine take them."""
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        X = model[:-1].transform(X)
    return machine._rows_to_expand(X)


def _columns(model: Any, machine: Any, n_features: int) -> tuple[list[str], np.ndarray]:
    """Names of columns, and the column of every feature of the expansions."""
    blocks, owner = np.arange(n_features), machine
    fitted = vars(machine)
    scale, encoder = fitted.get("_scale"), fitted.get("encoder_")
    if scale is not None and scale.kept is not None:  # constant features are left out
        blocks = np.asarray(scale.kept)
    before = [step for _, step in model.steps[:-1]] if isinstance(model, Pipeline) else []
    if encoder is None and len(before) == 1 and isinstance(before[0], TableEncoder):
        encoder = owner = before[0]
    if encoder is not None:
        blocks = encoder.output_columns_[blocks]
    names: Any = vars(owner).get("feature_names_in_")
    if names is None and before and encoder is None:
        with suppress(AttributeError):  # some transformers name nothing
            names = model[:-1].get_feature_names_out()
    if names is None:
        names = [f"x{j}" for j in range(owner.n_features_in_)]
    return [str(name) for name in names], blocks


def _dense(rows: Any) -> np.ndarray:
    if not sparse.issparse(rows):
        return np.asarray(rows, dtype=np.float64)
    if rows.shape[1] > _MOST_FEATURES:
        raise ValueError(f"the rows have {rows.shape[1]} features; {_MOST_FEATURES} at most can be explained")
    return rows.toarray()


def _values(row: Any, names: list[str], features: Any) -> list[Any]:
    """What the row has in the columns of these names, which may be those of the features."""
    frame = as_frame(row)
    if isinstance(frame, nw.DataFrame):
        cells = frame.row(0)
        by_name = dict(zip(frame.columns, cells, strict=True))
        if by_name.keys() & set(names):  # in any order, with others, or without some that the model ignores
            return [_plain(by_name.get(name)) for name in names]
    else:
        cells = (row.toarray() if sparse.issparse(row) else row)[0]
    if len(cells) != len(names):
        cells = _dense(features)[0]
    return [_plain(cell) for cell in cells]


def _heaviest(
    machine: Any, expansions: list[Any], terms: list[np.ndarray], features: Any, n_rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows that add most to the decision, their similarities and shares."""
    similarities = [one.similarities(features)[0] for one in expansions]
    known = all(len(own) == len(machine.support_) for own in terms) and "kernel_error_" not in vars(machine)
    if known:  # every expansion rests on the same rows
        added, alike, rows = np.sum(terms, axis=0), np.mean(similarities, axis=0), machine.support_
    else:
        added, alike = np.concatenate(terms), np.concatenate(similarities)
        rows = np.full(len(added), -1)
    order = np.argsort(-np.abs(added), kind="stable")[:n_rows]
    total = max(float(np.abs(added).sum()), np.finfo(float).tiny)
    return np.asarray(rows)[order], alike[order], added[order] / total
