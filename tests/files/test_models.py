"""Saving and loading: what a model was, it is again, and the file holds nothing else."""

import copy
import dataclasses
import getpass
import json
import os
import pickle
import socket
import sys
import tempfile
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR, AutoSVC
from adatron.io import describe_file, load_model, save_model
from adatron.kernels import CallableKernel, Linear
from tests.files.models import CODES, COMPOSED, MODELS, NEW, WORDS, X, fitted, outputs
from tests.files.mutations import forged, parts_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


def again(model, path):
    save_model(model, path)
    return load_model(path)


def assert_same(found, expected, where="model"):
    """Equal to the last bit, of the same types, all the way down."""
    assert type(found) is type(expected), where
    if isinstance(expected, BaseEstimator):
        assert_same(vars(found), vars(expected), where)
    elif isinstance(expected, dict):
        assert set(found) == set(expected), where
        for key in expected:
            assert_same(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), where
        for i, pair in enumerate(zip(found, expected, strict=True)):
            assert_same(*pair, f"{where}[{i}]")
    elif isinstance(expected, np.ndarray) and expected.dtype.kind == "O":
        assert found.shape == expected.shape, where
        assert_same(found.ravel().tolist(), expected.ravel().tolist(), where)
    elif isinstance(expected, np.ndarray | np.generic):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), where
        assert found.tobytes() == expected.tobytes(), where
    elif sparse.issparse(expected):
        assert_same(
            [found.data, found.indices, found.indptr], [expected.data, expected.indices, expected.indptr]
        )
    elif dataclasses.is_dataclass(expected) and not isinstance(expected, type):
        assert_same(vars(found), vars(expected), where)
    elif isinstance(expected, float):
        assert repr(found) == repr(expected), where
    else:
        assert found == expected, where


@pytest.mark.parametrize("name", MODELS)
def test_model_is_the_same_bit_for_bit(path, name):
    model = fitted(name)
    loaded = again(model, path)
    assert_same(loaded, model)
    assert_same(outputs(loaded, MODELS[name][1]), outputs(model, MODELS[name][1]))
    first = path.read_bytes()
    save_model(loaded, path)
    assert path.read_bytes() == first


@pytest.mark.parametrize("name", MODELS)
def test_pickle_of_every_model(name):
    model = fitted(name)
    assert_same(pickle.loads(pickle.dumps(model)), model)


def test_many_rows_and_float32_kernel_values(path):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6_000, 5))
    model = SVC(C=0.5).fit(rows, rows[:, 0] + 0.3 * rows[:, 1] ** 2 > 0.0)
    assert model._precision is np.float32
    loaded = again(model, path)
    assert loaded.decision_function(rows).tobytes() == model.decision_function(rows).tobytes()
    assert path.stat().st_size < 1.3 * model.support_vectors_.nbytes + model.dual_coef_.nbytes + 100_000


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", "ß", "日本語"]),
        np.array(["a", "b", "c"], dtype=object),
        np.array(["x" * 300, "y", "z"]),
        np.array([-1, 0, 127], dtype=np.int8),
        np.array([0, 1, 2**63], dtype=np.uint64),
        np.array([0.0, 1.0, 2.0]),
        ["", " ", "\t"],
        pd.Series(["u", "v", "w"], dtype="category"),
        pd.Series(["u", "v", "w"]),
    ],
    ids=str,
)
def test_labels_of_every_kind(path, labels):
    rows = np.array([[0.0], [1.0], [2.0]] * 3)
    model = SVC(gamma=1.0).fit(rows, list(labels) * 3 if isinstance(labels, list) else np.tile(labels, 3))
    loaded = again(model, path)
    assert_same(loaded.classes_, model.classes_)
    assert_same(loaded.predict(rows), model.predict(rows))


def test_loaded_model_can_be_trained_again(path):
    model = again(fitted("SVC"), path)
    before = [alpha.copy() for alpha in model._alphas]
    assert clone(model).fit(X, WORDS).classes_.tolist() == ["blau", "grün", "rot"]
    model.fit(X, WORDS)
    assert model.converged_
    assert [a.shape for a in model._alphas] == [b.shape for b in before]


def test_arrays_of_a_loaded_model_can_be_written_to(path):
    model = again(fitted("SVC"), path)
    model.support_vectors_[0] = 0.0
    assert np.isfinite(model.decision_function(NEW)).all()


def test_what_belongs_to_a_run_is_left_out(path):
    ProgressBar = pytest.importorskip("sklearn.callback", reason="scikit-learn >= 1.9").ProgressBar
    model = SVC(random_state=np.random.RandomState(0)).set_callbacks(ProgressBar())
    model.fit(X, WORDS)
    loaded = again(model, path)
    assert loaded.random_state is None
    assert not hasattr(loaded, "_skl_callbacks")
    assert_same(loaded.predict(NEW), model.predict(NEW))
    assert again(SVC(random_state=7).fit(X, WORDS), path).random_state == 7


@pytest.mark.fault("F17")
def test_file_tells_nothing_about_the_machine(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    cached = make_pipeline(StandardScaler(), SVC(), memory=str(path.parent)).fit(X, WORDS)
    for model in (cached, fitted("AutoSVC"), fitted("Pipeline")):
        save_model(model, "here.skops")
        data = (path.parent / "here.skops").read_bytes()
        for word in (
            os.getcwd(),
            str(path.parent),
            os.path.expanduser("~"),
            getpass.getuser(),
            socket.gethostname(),
        ):
            if len(word) > 4:  # shorter ones may be part of any word
                assert word.encode() not in data
                assert "".join(f"{c}\0\0\0" for c in word).encode() not in data
    assert load_model("here.skops") is not None


@pytest.mark.fault("F17")
def test_same_model_same_bytes(tmp_path):
    """No date and no counter."""
    for name in ("one", "two"):
        save_model(fitted("EnsembleSVC"), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_equal_arrays_are_stored_once(path):
    save_model(fitted("EnsembleSVC"), path)
    tables = [array for array in describe_file(path)["arrays"] if "coef" not in array["name"]]
    # sorted by class for the ensemble and its final_svm_, as they came for the stages
    assert sum(array["shape"] == list(X.shape) for array in tables) == 2
    loaded = load_model(path)
    assert loaded.final_svm_.support_vectors_ is loaded.support_vectors_


def test_members_have_the_names_of_attributes(path):
    save_model(fitted("Pipeline scalers"), path)
    names = [array["name"] for array in describe_file(path)["arrays"]]
    assert "Pipeline_steps_0_1_data_min_" in names
    assert "Pipeline_steps_4_1_support_vectors_" in names


def test_long_histories_take_little_time_and_space(path):
    model = SVR().fit(X, X[:, 0])
    values = [i / 7 for i in range(100_000)]
    model.history_ = {name: list(values) for name in model.history_} | {"epoch": list(range(100_000))}
    assert_same(again(model, path).history_, model.history_)
    assert path.stat().st_size < 20e6


def test_parts_of_any_registered_class(path):
    """Nothing is said anywhere about an estimator that holds several expansions."""
    pipeline = make_pipeline(StandardScaler(), SVR()).fit(X, X[:, 0])
    model = pipeline[-1]
    model.parts_ = [model._expansion, fitted("SVC rank")._expansion, {"kernel": COMPOSED}]
    loaded = again(pipeline, path)
    assert_same(loaded[-1].parts_, model.parts_)
    assert loaded[-1].parts_[0].vectors is loaded[-1].support_vectors_
    assert_same(loaded[-1].parts_[0](NEW), model._expansion(NEW))
    for part, value in (("vectors", X), ("bias", np.full(1, np.nan)), ("coefficients", np.zeros((9, 1)))):
        model.parts_ = [copy.copy(model._expansion)]
        vars(model.parts_[0])[part] = value
        with pytest.raises(ValueError, match="inconsistent model: SVR"):
            save_model(model, path)


@dataclasses.dataclass(frozen=True)
class Unknown:
    number: int


def test_data_class_that_is_not_registered(path):
    model = copy.copy(fitted("SVR"))
    model.part_ = Unknown(3)
    with pytest.raises(ValueError, match="SVR_part_: a Unknown cannot be part of a model file"):
        save_model(model, path)


def test_truth_values_as_keys(path):
    model = SVC(class_weight={True: 2.0, False: 1.0}).fit(X, CODES == 1)
    assert again(model, path).class_weight == model.class_weight


@pytest.mark.fault("F18")
@pytest.mark.parametrize("kernel", ["own function", "wrapped", "within a sum"])
def test_kernel_function(path, kernel):
    kernels = {
        "own function": lambda A, B: A @ B.T,
        "wrapped": CallableKernel(lambda A, B: A @ B.T),
        "within a sum": Linear() + CallableKernel(lambda A, B: A @ B.T),
    }
    path.write_bytes(b"old")
    model = SVC(kernel=kernels[kernel]).fit(X, WORDS)
    with pytest.raises(ValueError, match=r"SVC_kernel.*function.*holds no code.*adatron\.kernels"):
        save_model(model, path)
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == ["model.skops"]


def test_what_cannot_be_saved_is_named(path):
    model = SVC().fit(X, WORDS)
    with pytest.raises(NotFittedError):
        save_model(SVC(), path)
    with pytest.raises(ValueError, match="a LogisticRegression cannot be part of a model file"):
        save_model(LogisticRegression().fit(X, WORDS), path)
    with pytest.raises(ValueError, match="a LogisticRegression cannot be part of a model file"):
        save_model(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, WORDS), path)
    with pytest.raises(ValueError, match="int cannot be stored"):
        save_model(3, path)
    with pytest.raises(ValueError, match="AutoSVC_cv: a KFold cannot be part of a model file"):
        save_model(AutoSVC(cv=KFold(3)).fit(X, WORDS), path)
    for value in ({1, 2}, b"bytes", np.zeros(1, dtype=complex), np.array(["2020"], dtype="M8[D]"), 1j):
        model.value_ = value
        with pytest.raises(ValueError, match="cannot"):
            save_model(model, path)
    del model.value_
    model.note = "mine"
    with pytest.raises(ValueError, match="note is neither a parameter nor set by fit"):
        save_model(model, path)
    assert os.listdir(path.parent) == []


def test_labels_that_are_dates_are_named(path):
    y = np.array(["2024-01-01", "2024-06-01"] * 10, dtype="datetime64[D]")
    with pytest.raises(
        ValueError, match=r"datetime64\[D\] cannot be stored; make labels text: y\.astype\(str\)"
    ):
        save_model(SVC().fit(np.arange(20.0)[:, None], y), path)


def test_subclass_is_not_mistaken_for_its_base(path):
    class Mine(SVC):
        pass

    with pytest.raises(ValueError, match="Mine cannot be part of a model file"):
        save_model(Mine().fit(X, WORDS), path)


def test_parameters_changed_after_the_fit_can_be_saved(path):
    model = SVC(C=5.0).fit(X, WORDS).set_params(C=0.01)
    assert again(model, path).C == 0.01


def test_version_of_scikit_learn_is_told(path):
    model = fitted("Pipeline")
    save_model(model, path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_model(path)
    schema, members = parts_of(path.read_bytes())
    text = json.dumps(schema)
    place = text.index(sklearn.__version__)
    path.write_bytes(forged((text[:place] + "0." + text[place:]).encode(), members))
    with pytest.warns(UserWarning, match="from version 0"):
        loaded = load_model(path)
    assert loaded.predict(MODELS["Pipeline"][1]).tolist() == model.predict(MODELS["Pipeline"][1]).tolist()


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
numbers = st.lists(st.floats(), max_size=40) | st.lists(st.integers(-9, 9), max_size=40)
texts = st.lists(st.text(max_size=5), max_size=40)
arrays = st.lists(st.floats(width=32), max_size=20).map(lambda v: np.array(v, dtype=np.float32))
many_arrays = st.lists(arrays, min_size=16, max_size=20)
leaves = plain | numbers | texts | arrays | many_arrays | st.just(np.str_("label")) | st.just(np.float32(0.1))
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=20)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        | st.dictionaries(st.integers(-99, 99), inner, max_size=4)
        | st.lists(inner, min_size=1, max_size=4).map(lambda items: _objects(items))
    ),
    max_leaves=15,
)


def _objects(items):
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array


@given(values)
@settings(max_examples=60)
def test_any_tree_of_plain_values_comes_back(value):
    model = copy.copy(fitted("SVR"))
    model.path_ = value
    with tempfile.TemporaryDirectory() as directory:
        assert_same(again(model, f"{directory}/model.skops").path_, value)


def test_list_that_holds_itself_is_refused(path):
    endless = []
    endless.append(endless)
    model = SVR().fit(X, X[:, 0])
    model.loop_ = endless
    with pytest.raises(ValueError, match="nested without end"):
        save_model(model, path)


def test_without_skops_the_error_says_how_to_get_it(path, monkeypatch):
    save_model(fitted("SVR"), path)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    for act in (load_model, lambda path: save_model(fitted("SVR"), path)):
        with pytest.raises(ImportError, match=r"model files and checkpoints need skops: pip install skops"):
            act(path)
    assert describe_file(path)["written_by"].startswith("adatron ")
