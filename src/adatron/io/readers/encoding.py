"""From a table of numbers and text to numbers alone, by scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adatron.io.readers.table import DenseTable

if TYPE_CHECKING:
    from sklearn.compose import ColumnTransformer

__all__ = ["encoder_for"]


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


def _imputer(kind: str, impute: bool) -> list[Any]:
    from sklearn.impute import SimpleImputer

    if not impute:
        return []
    # A column that has no value at all in some fold stays, so that the columns of all folds agree.
    strategy = (
        {"strategy": "median"} if kind == "number" else {"strategy": "most_frequent", "missing_values": None}
    )
    return [SimpleImputer(keep_empty_features=True, **strategy)]


def _chained(steps: list[Any]) -> Any:
    from sklearn.pipeline import make_pipeline

    return make_pipeline(*steps) if len(steps) > 1 else steps[0] if steps else "passthrough"
