"""The work of ``adatron predict``: rows as a model wants them, and what it says of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from adatron.cli.data import is_bundled, load_rows
from adatron.io import DenseTable, SparseTable, align, describe_file, load_model, read_table
from adatron.io.printing import printable_path

__all__ = ["predictions"]


@dataclass(frozen=True)
class _Fitted:
    """A model from a file, and the columns that it was fitted on: none if these have no names."""

    file: str
    model: Any
    columns: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    impute: bool = False

    @property
    def n_features(self) -> int:
        return int(self.model.n_features_in_)

    @property
    def machine(self) -> Any:
        return self.model[-1] if hasattr(self.model, "steps") else self.model


def predictions(file: str, data: str, *, proba: bool, **options: Any) -> dict[str, list[Any]]:
    """Columns by name: the prediction, and the probability of every class if wanted."""
    fitted = _fitted(file)
    _check_able(fitted, proba=proba)
    X = _rows(fitted, data, options)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # they have been matched
        columns = {"prediction": fitted.model.predict(X).tolist()}
        values = fitted.model.predict_proba(X) if proba else None
    if values is not None:
        names = [f"probability of {name}" for name in fitted.machine.classes_]
        columns |= {name: values[:, i].tolist() for i, name in enumerate(names)}
    return columns


def _fitted(file: str) -> _Fitted:
    """What the file says about the data may be anything; what is used of it is checked."""
    model, about = load_model(file), describe_file(file)["about"]
    columns, kinds, ignored = (about.get(name, []) for name in ("columns", "kinds", "ignored"))
    is_text = all(_is_list_of_text(names) for names in (columns, kinds, ignored, [about.get("target") or ""]))
    is_known = is_text and len(columns) == len(kinds) and {"number", "text"}.issuperset(kinds)
    if not is_known or (columns and len(columns) != model.n_features_in_):
        raise ValueError(f"{printable_path(file)}: what it says about its columns does not fit the model")
    ignored = [*ignored, *([about["target"]] if about.get("target") else [])]
    return _Fitted(file, model, columns, kinds, ignored, about.get("impute") is True)


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _check_able(fitted: _Fitted, *, proba: bool) -> None:
    name, kind = printable_path(fitted.file), type(fitted.machine).__name__
    if not hasattr(fitted.model, "predict"):
        raise ValueError(f"{name}: {kind} groups the rows it was fitted on, and predicts nothing of others")
    if proba and not hasattr(fitted.model, "predict_proba"):
        raise ValueError(
            f"--proba: {name} holds {kind}, which has no probabilities; fit with --model auto, or with "
            "--model svc --probability"
        )


def _rows(fitted: _Fitted, data: str, options: dict[str, Any]) -> Any:
    table = _table(fitted, data, options)
    if isinstance(table, SparseTable):
        return _widened(table, fitted)
    if fitted.columns:
        return align(table, fitted.columns).to_matrix()
    if len(table.columns) != fitted.n_features or "text" in table.kinds:
        raise ValueError(
            f"{table.source}: the model was fitted on {fitted.n_features} columns of numbers without names; "
            f"expected as many, or svmlight, found {len(table.columns)} columns"
        )
    return table.to_matrix()


def _table(fitted: _Fitted, data: str, options: dict[str, Any]) -> DenseTable | SparseTable:
    if options.pop("impute", False) and not fitted.impute:
        raise ValueError(f"--impute: {printable_path(fitted.file)} was fitted without it")
    if is_bundled(data):
        rows = load_rows(data, has_target=False, **options)
        return DenseTable(rows.columns, list(rows.X.T), rows.name)
    kinds = dict(zip(fitted.columns, fitted.kinds, strict=True)) | dict.fromkeys(fitted.ignored, "ignored")
    return read_table(data, impute=fitted.impute, kinds=kinds, **options)


def _widened(table: SparseTable, fitted: _Fitted) -> Any:
    """Sparse rows with all features of the model; those that no row has are missing at their end."""
    from scipy.sparse import csr_array

    X, n_features = table.X, fitted.n_features
    if fitted.columns:
        raise ValueError(f"{table.source}: is svmlight, but the model was fitted on named columns")
    if X.shape[1] > n_features:
        raise ValueError(f"{table.source}: has {X.shape[1]} features, the model was fitted on {n_features}")
    return csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))
