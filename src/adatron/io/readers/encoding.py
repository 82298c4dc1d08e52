"""From a table of numbers and text to numbers alone, by scikit-learn."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from adatron.io.readers.matching import GENERATED_NAME
from adatron.io.readers.table import DenseTable

if TYPE_CHECKING:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

__all__ = ["encoder_for", "with_column_names"]


def encoder_for(table: DenseTable, *, impute: bool = False, scale: bool = True) -> ColumnTransformer:
    """An unfitted transformer of ``table.to_matrix()``, for the first step of a pipeline.

    Text becomes one column of 0 and 1 for each category; one that was not there at the fit becomes all 0.

    Parameters
    ----------
    table : DenseTable
        The features; only the kinds of its columns matter.
    impute : bool, default=False
        Fill in missing values: the median of numbers, the most frequent category.
    scale : bool, default=True
        Standardise numbers.

    Returns
    -------
    ColumnTransformer

    See Also
    --------
    split_target : gives the features.
    sklearn.pipeline.make_pipeline : puts the transformer before an estimator.

    Examples
    --------
    >>> import io
    >>> from adatron.io import encoder_for, read_table
    >>> table = read_table(io.StringIO("size,colour\\n1,red\\n3,blue\\n"))
    >>> encoder_for(table).fit_transform(table.to_matrix())
    array([[-1.,  0.,  1.],
           [ 1.,  1.,  0.]])
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    steps: dict[str, Any] = {
        "number": [StandardScaler()] if scale else [],
        "text": [OneHotEncoder(handle_unknown="ignore")],
    }
    transformers = []
    for kind, chain in steps.items():
        positions = [i for i, other in enumerate(table.kinds) if other == kind]
        if positions:
            transformers.append((kind, _chained([*_imputer(kind, impute), *chain]), positions))
    return ColumnTransformer(transformers)


def with_column_names(pipeline: Pipeline, columns: list[str]) -> Pipeline:
    """A copy of a fitted pipeline, with `encoder_for` in front, that matches data frames by column name.

    It was fitted on arrays, as scikit-learn would have it fitted on a data frame with these columns. Columns
    of files without a header have no names; the pipeline is then given back as it is.
    """
    from sklearn.pipeline import Pipeline

    if not columns or all(GENERATED_NAME.fullmatch(name) for name in columns):
        return pipeline
    names = np.array(columns, dtype=object)
    encoder = copy(pipeline[0])
    encoder.feature_names_in_ = names
    encoder.transformers_ = [
        (kind, _named(transformer, names[positions]), positions)
        for kind, transformer, positions in encoder.transformers_
    ]
    return Pipeline([("encode", encoder), *pipeline.steps[1:]])


def _named(transformer: Any, names: np.ndarray) -> Any:
    if isinstance(transformer, str):  # "passthrough", "drop"
        return transformer
    named = copy(transformer)
    if hasattr(named, "steps"):
        (first, step), *others = named.steps
        named.steps = [(first, _named(step, names)), *others]
    else:
        named.feature_names_in_ = names
    return named


def _imputer(kind: str, impute: bool) -> list[Any]:
    from sklearn.impute import SimpleImputer

    if not impute:
        return []
    # A column that has no value at all in some fold stays, so that the columns of all folds agree.
    strategy = "median" if kind == "number" else "most_frequent"
    return [SimpleImputer(strategy=strategy, keep_empty_features=True)]


def _chained(steps: list[Any]) -> Any:
    from sklearn.pipeline import make_pipeline

    return make_pipeline(*steps) if len(steps) > 1 else steps[0] if steps else "passthrough"
