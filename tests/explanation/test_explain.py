"""`explain`: Shapley values against enumeration, and the training rows that decided."""

from itertools import permutations
from math import factorial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from adatron import SVC, SVR, AutoSVC, AutoSVR, EnsembleSVC, KernelPerceptron, OneClassSVM, explain
from adatron.exceptions import AdatronWarning
from adatron.explanation.shapley import shapley_values
from adatron.kernels import Constant, Exponential, Gaussian, Laplacian, Linear, Polynomial
from adatron.tables import TableEncoder


def enumerated(worth, n):
    """Shapley values from the worth of all coalitions, given as tuples of booleans."""
    values, known = np.zeros(n), {}
    for number in range(2**n):
        members = tuple(bool(number >> j & 1) for j in range(n))
        known[members] = worth(np.array(members))
    for members, own in known.items():
        size = sum(members)
        for j in range(n):
            if not members[j]:
                larger = (*members[:j], True, *members[j + 1 :])
                values[j] += factorial(size) * factorial(n - size - 1) / factorial(n) * (known[larger] - own)
    return values


def test_the_enumeration_is_the_mean_over_all_orders():
    worth = lambda members: float(members @ [1.0, 2.0, 4.0]) ** 2 + members[0] * members[2]  # noqa: E731
    means = np.zeros(3)
    for order in permutations(range(3)):
        members = np.zeros(3, dtype=bool)
        for j in order:
            before, members[j] = worth(members), True
            means[j] += (worth(members) - before) / 6
    np.testing.assert_allclose(enumerated(worth, 3), means)


@pytest.mark.parametrize("d", [1, 2, 5, 10])
@pytest.mark.parametrize(
    ("kernel", "accuracy"),
    [(Gaussian(0.3), 1e-12), (Laplacian(0.4), 1e-12), (Linear(), 1e-12), (Exponential(0.5), 1e-5),
     (Gaussian(0.1) + Linear() + Constant(2.0), 1e-12)],
    ids=["gaussian", "city block", "linear", "euclidean", "sum"],
)  # fmt: skip
def test_shapley_values_agree_with_enumeration(kernel, accuracy, d):
    rng = np.random.default_rng(d)
    vectors, c = rng.normal(size=(12, d)), rng.normal(size=12)
    x, background = rng.normal(size=d), np.vstack([rng.normal(size=(3, d)), vectors[:1]])

    def worth(members):
        return float((kernel(np.where(members, x, background), vectors) @ c).mean())

    found = shapley_values(kernel, vectors, c, x, background, np.arange(d), d)
    np.testing.assert_allclose(found, enumerated(worth, d), atol=accuracy * np.abs(c).sum())


def test_features_of_one_column_are_one_player():
    rng = np.random.default_rng(0)
    vectors, c, x, background = (rng.normal(size=size) for size in ((9, 6), 9, 6, (4, 6)))
    blocks, kernel = np.array([0, 0, 2, 3, 3, 3]), Gaussian(0.2, weights=[1.0, 0.5, 2.0, 1.0, 0.0, 1.0])

    def worth(members):
        return float((kernel(np.where(members[blocks], x, background), vectors) @ c).mean())

    found = shapley_values(kernel, vectors, c, x, background, blocks, 4)
    np.testing.assert_allclose(found, enumerated(worth, 4), atol=1e-12)
    assert found[1] == 0.0


@pytest.mark.parametrize(
    "model",
    [SVC(), SVC(multi_class="ovr"), SVC(kernel="linear"), SVC(rank=30, random_state=0), AutoSVC(),
     EnsembleSVC(), KernelPerceptron(averaged=True), OneClassSVM(), SVC(multi_class="crammer_singer")],
    ids=str,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_columns_add_up_to_the_decision(model):
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    found = explain(model, X[77])
    assert found.prediction == model.predict(X[77:78])[0]
    assert found.base + found.contributions.sum() == pytest.approx(found.decision, abs=1e-5)
    assert found.columns == ["x0", "x1", "x2", "x3"]
    assert found.values == X[77].tolist()
    assert len(found.rows) == 5
    assert (np.diff(np.abs(found.shares)) <= 0.0).all()


def test_the_decision_is_that_of_the_model():
    X, y = make_classification(120, 5, random_state=0)
    model = SVC().fit(X, np.where(y == 1, "yes", "no"))
    for i in range(6):
        value, found = model.decision_function(X[i : i + 1])[0], explain(model, X[i])
        assert found.output == found.prediction
        assert found.decision == pytest.approx(abs(value))
        assert explain(model, X[i], output="yes").decision == pytest.approx(value)
    one = explain(SVR().fit(X, X[:, 0]), X[0])
    assert one.output is None
    assert one.decision == pytest.approx(one.prediction)


def test_several_classes_in_pairs():
    X, y = load_iris(return_X_y=True)
    model = SVC(decision_function_shape="ovo").fit(X, y)
    ab, ac, bc = model.decision_function(X[100:101])[0]
    for label, value in ((0, ab + ac), (1, bc - ab), (2, -ac - bc)):
        assert explain(model, X[100], output=label).decision == pytest.approx(value)


def test_training_rows():
    X, y = make_classification(80, 4, random_state=3)
    model = SVC(gamma=2.0).fit(X, y)
    row = int(model.support_[5])
    found = explain(model, X[row], n_rows=3)
    assert found.rows[0] == row
    assert found.similarities[0] == pytest.approx(1.0)
    terms = model.dual_coef_[0] * model._kernel(X[row : row + 1], model.support_vectors_)[0]
    largest = np.abs(terms).argmax()
    assert abs(found.shares[0]) == pytest.approx(abs(terms[largest]) / np.abs(terms).sum())
    assert found.rows[0] == model.support_[largest]


def a_table(n=150):
    rng = np.random.default_rng(5)
    colour, size = rng.choice(["red", "green", "blue"], n), rng.normal(size=n)
    table = pd.DataFrame({"colour": colour, "size": size, "day": pd.date_range("2024-01-01", periods=n)})
    table.loc[::17, "size"] = np.nan
    return table, np.where((colour == "red") | (size > 1.0), "good", "bad")


def test_raw_tables_are_explained_in_their_own_columns():
    table, y = a_table()
    for model in (AutoSVC(random_state=0), make_pipeline(TableEncoder(), SVC())):
        model.fit(table, y)
        red = int(np.flatnonzero((table["colour"] == "red") & (table["size"] < 0.5))[0])
        found = explain(model, table.iloc[[red]])
        assert found.columns == ["colour", "size", "day"]
        assert found.values[0] == "red"
        assert found.prediction == "good"
        assert found.columns[int(found.contributions.argmax())] == "colour"
        assert found.base + found.contributions.sum() == pytest.approx(found.decision, abs=1e-4)
        assert "colour = red" in repr(found)
        assert "training row" in repr(found)
    target = table["size"].fillna(0.0) ** 2
    numbers = explain(AutoSVR(random_state=0).fit(table, target), table.iloc[[3]])
    assert numbers.columns[int(np.abs(numbers.contributions).argmax())] == "size"


def test_pipelines_constant_columns_and_background():
    X, y = load_diabetes(as_frame=True, return_X_y=True)
    X["same"] = 1.0
    auto = AutoSVR(random_state=0).fit(X.to_numpy(), y)
    assert explain(auto, X.to_numpy()[0]).contributions[-1] == 0.0
    model = make_pipeline(StandardScaler(), SVR(C=100.0)).fit(X, y)
    found = explain(model, X.iloc[[0]], background=X)
    assert found.columns == list(X.columns)
    assert found.base == pytest.approx(model.predict(X).mean())
    same = explain(model, X.iloc[[0]], background=X.iloc[[0]])
    np.testing.assert_array_equal(same.contributions, np.zeros(11))


def test_kernels_without_shapley_values_and_sparse_rows():
    X, y = make_classification(60, 5, random_state=0)
    for kernel in ("poly", Polynomial(2), lambda A, B: A @ B.T):
        found = explain(SVC(kernel=kernel).fit(X, y), X[0])
        assert found.contributions is None
        assert len(found.rows) == 5
    K = X @ X.T
    assert explain(SVC(kernel="precomputed").fit(K, y), K[0]).contributions is None
    S = sparse.csr_array(X)
    dense, thin = explain(SVC().fit(X, y), X[0]), explain(SVC().fit(S, y), S[[0]])
    np.testing.assert_allclose(thin.contributions, dense.contributions, atol=1e-6)
    small = explain(AutoSVC(random_state=0).fit(X, y).reduced(0.1), X[0])
    assert small.base + small.contributions.sum() == pytest.approx(small.decision, abs=1e-4)


def test_bad_calls():
    X, y = make_classification(60, 5, random_state=0)
    model = SVC().fit(X, y)
    with pytest.raises(NotFittedError):
        explain(SVC(), X[0])
    with pytest.raises(TypeError, match=r"explain takes .* got LogisticRegression"):
        explain(LogisticRegression().fit(X, y), X[0])
    with pytest.raises(ValueError, match="one row"):
        explain(model, X)
    with pytest.raises(ValueError, match="Series"):
        explain(model, pd.DataFrame(X).iloc[0])
    with pytest.raises(ValueError, match="one of the classes"):
        explain(model, X[0], output=7)
    with pytest.raises(ValueError, match="has no classes"):
        explain(SVR().fit(X, y), X[0], output=1)


def test_one_of_several_targets():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = AutoSVR().fit(X, np.column_stack([X[:, 0], X[:, 1] ** 2]))
    for target in (0, 1):
        found = explain(model, X[:1], output=target)
        assert found.prediction == pytest.approx(model.predict(X[:1])[0, target])
        assert found.decision == pytest.approx(found.prediction, abs=1e-6)
        assert found.base + found.contributions.sum() == pytest.approx(found.decision, abs=1e-4)
        assert np.abs(found.contributions).argmax() == target
    with pytest.raises(ValueError, match="which of the 2 targets, from 0 to 1, got None"):
        explain(model, X[:1])


def test_the_background_is_spread_over_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    t = np.exp(2.0 * X[:, 0] + 0.1 * rng.normal(size=600))  # vectors are sorted by target
    model = AutoSVR().fit(X, t)
    assert explain(model, X[:1]).base == pytest.approx(model.predict(X).mean(), rel=0.5)


def test_odd_backgrounds_and_models():
    X, y = load_iris(return_X_y=True)
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="background has no rows"):
        explain(model, X[:1], background=X[:0])
    with pytest.raises(ValueError, match="n_rows must be an integer >= 0"):
        explain(model, X[:1], n_rows=-1)
    constant = explain(SVR(epsilon=100.0).fit(X, X[:, 0]), X[:1])
    assert constant.base == constant.decision
    assert not constant.contributions.any()
    unnamed = make_pipeline(FunctionTransformer(np.log1p), SVC()).fit(X, y)
    assert explain(unnamed, X[:1]).columns == ["x0", "x1", "x2", "x3"]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_values_are_those_of_the_columns_in_any_order(library):
    rng, i = np.random.default_rng(0), np.arange(60)
    table = pd.DataFrame(
        {"number": rng.normal(size=60), "word": np.array(["a", "b", "c"])[i % 3], "same": 1}
        | {"day": pd.date_range("2020", periods=60), "flag": i % 2 == 0}
    )
    model = SVR().fit(TableEncoder().fit_transform(table), table["number"])
    model = make_pipeline(TableEncoder().fit(table), model)
    expected = [*table.loc[7, ["number", "word"]], None, table.loc[7, "day"], False]
    row = library(table.iloc[[7]].assign(other=3)[["flag", "other", "day", "word", "number"]])
    with pytest.warns(AdatronWarning, match="ignored: 'other'"):
        found = explain(model, row)
    assert found.columns == ["number", "word", "same", "day", "flag"]
    assert found.values == expected
    assert type(found.values[0]) is float
