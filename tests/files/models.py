"""Small fitted models of every kind, with rows to predict for."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, KernelPCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

import adatron
from adatron import kernels, solvers
from adatron.tables import TableEncoder

__all__ = ["METHODS", "MODELS", "fitted", "outputs", "table"]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
NEW = RNG.normal(size=(25, 3))
CODES = RNG.integers(0, 3, 40)
WORDS = np.array(["blau", "grün", "rot"])[CODES]
TARGETS = X[:, 0] + np.sin(X[:, 1])
MANY = np.random.default_rng(1).normal(size=(120, 3))
GRAM, NEW_GRAM = X @ X.T + 1.0, NEW @ X.T + 1.0
SPARSE, NEW_SPARSE = (sparse.csr_array(rows * (rows > 0.0)) for rows in (X, NEW))
FRAME, NEW_FRAME = (pd.DataFrame(rows, columns=["a", "b", "ç"]) for rows in (X, NEW))
COMPOSED = kernels.Gaussian(0.5) + kernels.Linear() ** 2 * kernels.Polynomial(2) * kernels.Constant(0.1)
METHODS = ("predict", "decision_function", "predict_proba", "score_samples", "transform", "predict_interval",
           "predict_set")  # fmt: skip


def table(n: int = 40, seed: int = 0) -> pd.DataFrame:
    """Numbers with gaps, words with gaps, truth values, and a column that is passed through."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "height": rng.normal(size=n),
        "width": rng.normal(size=n),
        "colour": rng.choice(["red", "green", "blue", "ultraviolet"], n),
        "new": rng.choice([True, False], n),
        "rest": rng.normal(size=n),
    })  # fmt: skip
    frame.loc[3, "height"] = np.nan
    frame.loc[5, "colour"] = None
    return frame


def preparation() -> ColumnTransformer:
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=3),
    )
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    parts = [("numbers", numbers, ["height", "width"]), ("words", words, ["colour"])]
    return ColumnTransformer([*parts, ("flags", OrdinalEncoder(), ["new"])], remainder="passthrough")


def _pipeline() -> Any:
    model = Pipeline([("preparation", preparation()), ("model", adatron.SVC(probability=True))])
    return model.fit(table(), np.where(table().width > 0.0, "wide", "narrow"))


def _decomposed() -> Any:
    model = make_pipeline(KernelPCA(3, kernel="cosine"), VarianceThreshold(), PCA(2), adatron.AutoSVC(cv=3))
    return make_pipeline(StandardScaler(), model).fit(X, WORDS)


def _scalers() -> Any:
    steps = MinMaxScaler(), MaxAbsScaler(), RobustScaler(), StandardScaler(with_mean=False)
    return make_pipeline(*steps, adatron.SVR()).fit(X, TARGETS)


def mixed(n: int = 60, seed: int = 0) -> pd.DataFrame:
    """A column of every kind, with holes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "size": rng.normal(size=n),
        "colour": rng.choice(["red", "gr[ee]n", "{blue}"], n),
        "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True),
        "town": [f"town {i}" for i in rng.integers(0, 45, n)],
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="h"),
        "lasted": pd.to_timedelta(rng.integers(0, 900, n), unit="min"),
        "new": rng.choice([True, False], n),
        "price": [f"${value:,.2f}" for value in rng.uniform(1.0, 5_000.0, n)],
        "note": [" ".join([*rng.choice(["good", "bad", "late", "café"], 4), f"{i}"]) for i in range(n)],
        "same": "x",
    })  # fmt: skip
    frame.loc[frame.index % 7 == 3, "size"] = np.nan
    frame.loc[frame.index % 9 == 4, "colour"] = None
    frame.loc[frame.index % 8 == 5, "when"] = pd.NaT
    return frame


MIXED, NEW_MIXED = mixed(), mixed(25, seed=1)
MIXED_CODES = np.where(MIXED.new, "new", "used")


def _encoded() -> Any:
    return make_pipeline(TableEncoder(), adatron.SVC()).fit(MIXED, MIXED_CODES)


def _text() -> Any:
    rows = sparse.random_array((40, 1_200), density=0.02, rng=np.random.default_rng(0), format="csr")
    return adatron.AutoSVC(cv=3).fit(
        rows + sparse.csr_array((np.ones(40), (range(40), CODES)), rows.shape), CODES
    )


A = adatron
MODELS: dict[str, tuple[Any, Any]] = {
    "SVC": (lambda: A.SVC(probability=True, warm_start=True).fit(X, CODES), NEW),
    "SVC words": (lambda: A.SVC(class_weight="balanced").fit(FRAME, WORDS), NEW_FRAME),
    "SVC two classes": (lambda: A.SVC(C=2.0, probability=True).fit(X, CODES == 1), NEW),
    "SVC ovr": (lambda: A.SVC(multi_class="ovr", probability=True).fit(X, CODES), NEW),
    "SVC direct": (lambda: A.SVC(multi_class="crammer_singer").fit(X, WORDS), NEW),
    "SVC direct two": (lambda: A.SVC(multi_class="crammer_singer").fit(X, CODES == 1), NEW),
    "SVC rank": (lambda: A.SVC(rank=8).fit(X, CODES), NEW),
    "SVC sparse": (lambda: A.SVC().fit(SPARSE, CODES), NEW_SPARSE),
    "SVC precomputed": (lambda: A.SVC(kernel="precomputed").fit(GRAM, CODES), NEW_GRAM),
    "SVC composed": (lambda: A.SVC(kernel=COMPOSED).fit(X, WORDS), NEW),
    "SVC laplacian": (lambda: A.SVC(kernel="laplacian", gamma=0.3).fit(X, CODES), NEW),
    "SVC weighted": (lambda: A.SVC(kernel=kernels.Laplacian(0.5, [1.0, 0.5, 0.0])).fit(X, CODES), NEW),
    "SVC hard margin": (lambda: A.SVC(C=np.inf, gamma=20.0).fit(X, CODES), NEW),
    "SVC solver": (lambda: A.SVC(solver=solvers.KernelAdatron(), max_iter=3).fit(X, CODES), NEW),
    "SVC weights": (lambda: A.SVC().fit(X, CODES, np.linspace(0.0, 9.0, 40)), NEW),
    "SVC class weights": (lambda: A.SVC(class_weight={0: 5.0, np.int64(1): 2}).fit(X, CODES), NEW),
    "SVC sigmoid": (lambda: A.SVC(kernel="sigmoid", gamma=0.1, coef0=-1.0).fit(X, CODES), NEW),
    "SVR": (lambda: A.SVR().fit(X, TARGETS), NEW),
    "SVR rank": (lambda: A.SVR(rank=0.1).fit(X, TARGETS), NEW),
    "SVR quantile": (lambda: A.SVR(loss="quantile", quantile=0.8).fit(X, TARGETS), NEW),
    "SVR no support": (lambda: A.SVR(epsilon=99.0).fit(X, TARGETS), NEW),
    "LinearSVC": (lambda: A.LinearSVC().fit(X, CODES), NEW),
    "LinearSVR": (lambda: A.LinearSVR().fit(FRAME, TARGETS), NEW_FRAME),
    "NuSVC": (lambda: A.NuSVC(0.4, probability=True).fit(X, CODES), NEW),
    "NuSVR": (lambda: A.NuSVR(0.4).fit(X, TARGETS), NEW),
    "OneClassSVM": (lambda: A.OneClassSVM(nu=0.2).fit(X), NEW),
    "SupportVectorClustering": (lambda: A.SupportVectorClustering().fit(X), NEW),
    "EnsembleSVC": (lambda: A.EnsembleSVC().fit(X, CODES), NEW),
    "EnsembleSVC rank": (lambda: A.EnsembleSVC(fit_intercept=True, rank=8).fit(X, CODES == 1), NEW),
    "EnsembleSVC short": (lambda: A.EnsembleSVC(max_iter=4).fit(X, WORDS), NEW),
    "EnsembleSVC gram": (lambda: A.EnsembleSVC(kernel="precomputed").fit(GRAM, CODES == 1), NEW_GRAM),
    "KernelPerceptron": (lambda: A.KernelPerceptron(max_iter=5, averaged=True).fit(X, WORDS), NEW),
    "ParzenClassifier": (lambda: A.ParzenClassifier().fit(X, CODES), NEW),
    "AutoSVC": (lambda: A.AutoSVC().fit(FRAME, WORDS), NEW_FRAME),
    "AutoSVC two classes": (lambda: A.AutoSVC(cv=3).fit(X, CODES == 1), NEW),
    "AutoSVR": (lambda: A.AutoSVR().fit(X, TARGETS), NEW),
    "AutoSVR targets": (lambda: A.AutoSVR(cv=3).fit(X, np.column_stack([TARGETS, -X[:, 2]])), NEW),
    "AutoSVR prices": (lambda: A.AutoSVR(cv=3).fit(MANY, np.exp(2.0 * MANY[:, 0] - MANY[:, 1])), NEW),
    "AutoSVC table": (lambda: A.AutoSVC(cv=3).fit(MIXED, MIXED_CODES), NEW_MIXED),
    "AutoSVR table": (lambda: A.AutoSVR(cv=3).fit(MIXED, np.arange(60.0) % 7), NEW_MIXED),
    "AutoSVR holes": (lambda: A.AutoSVR(cv=3).fit(np.where(X > 1.0, np.nan, X), TARGETS), NEW),
    "AutoSVC text": (_text, sparse.random_array((9, 1_200), density=0.02, rng=RNG, format="csr")),
    "TableEncoder": (lambda: TableEncoder().fit(MIXED, MIXED_CODES), NEW_MIXED),
    "Pipeline encoder": (_encoded, NEW_MIXED),
    "Pipeline": (_pipeline, table(25, seed=1)),
    "Pipeline scalers": (_scalers, NEW),
    "Pipeline in a pipeline": (_decomposed, NEW),
    "LabelEncoder": (lambda: LabelEncoder().fit(WORDS), WORDS[:9]),
}


@cache
def fitted(name: str) -> Any:
    """A model of `MODELS`; not to be changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name][0]()


def outputs(model: Any, rows: Any) -> dict[str, Any]:
    """Everything that a model says about rows."""
    found = {name: getattr(model, name)(rows) for name in METHODS if hasattr(model, name)}
    if hasattr(model, "staged_decision_function"):
        found["stages"] = np.array(list(model.staged_decision_function(rows)))
    if hasattr(model, "labels_"):
        found["labels"] = model.labels_
    return found
