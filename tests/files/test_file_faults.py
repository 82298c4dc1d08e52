"""The fault catalogue's files: damaged, forged, contradictory, of other programs and other versions."""

import copy
import errno
import io as streams
import os
import pickle
import random
import sys
import time

import joblib
import numpy as np
import pytest
import skops.io
from scipy import sparse

from adatron import SVC, __version__
from adatron.estimators.classifier import Layout
from adatron.estimators.expansion import Expansion
from adatron.estimators.probabilities import ClassProbabilities
from adatron.io import load_model, save_model
from adatron.kernels import Gaussian, Laplacian
from adatron.numerics.memory import peak_memory
from adatron.training import Status
from tests.files.models import FRAME, MODELS, NEW, WORDS, fitted, outputs
from tests.files.mutations import (
    EMPTY,
    forged,
    json_node,
    mutated,
    mutated_values,
    npy,
    object_node,
    parts_of,
    sealed,
    sequence,
    state_of,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The bytes of a small model."""
    path = tmp_path_factory.mktemp("small") / "small.skops"
    save_model(SVC(gamma=1.0).fit([[-1.0], [1.0]], ["no", "yes"]), path)
    return path.read_bytes()


def bytes_of(name, path):
    save_model(fitted(name), path)
    return path.read_bytes()


def rejected(path, data, message=""):
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message) as caught:
        load_model(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


EVERY = pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)])


@pytest.mark.fault("F1")
@EVERY
def test_truncated_at_every_byte(path, small, step):
    for size in range(0, len(small), step):
        rejected(path, small[:size], "damaged|not an adatron model")


@pytest.mark.fault("F2")
@EVERY
def test_one_bit_of_every_byte_flipped(path, small, step):
    chance = random.Random(step)
    for place in range(0, len(small), step):
        changed = bytearray(small)
        changed[place] ^= 1 << chance.randrange(8)
        rejected(path, bytes(changed), "damaged|not an adatron model|upgrade")


class Bomb:
    """Unpickled, it makes a directory."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return os.mkdir, (str(self.place),)


@pytest.mark.fault("F3")
def test_files_of_other_programs(path, tmp_path):
    model = fitted("SVC")
    buffer = streams.BytesIO()
    np.savez(buffer, x=np.ones(3))
    joblib.dump(model, tmp_path / "joblib")
    with open(sys.executable, "rb") as program:
        executable = program.read(10_000)
    others = [
        pickle.dumps(model), pickle.dumps(Bomb(tmp_path / "bomb")), (tmp_path / "joblib").read_bytes(),
        skops.io.dumps(model), buffer.getvalue(), executable, b"", b"svm_type c_svc\n", b"adatron\x01",
        b"\0" * 500,
    ]  # fmt: skip
    for data in others:
        rejected(path, data, "not an adatron model")
    assert not (tmp_path / "bomb").exists()


def node(loader, name, content=None):
    module, _, kind = name.rpartition(".")
    return {
        "__class__": kind,
        "__module__": module,
        "__loader__": loader,
        "content": content,
        "attrs": content,
    }


FOREIGN = {
    "class": object_node("subprocess.Popen"),
    "class of ours": object_node("adatron.files.models.save_model"),
    "estimator": object_node("sklearn.linear_model._logistic.LogisticRegression"),
    "kernel with code": object_node("adatron.kernels.CallableKernel"),
    "own module": object_node("mine.Thing"),
    "function": node("FunctionNode", "os.system"),
    "ufunc": node("FunctionNode", "numpy.add"),
    "method": node("MethodNode", "adatron.SVC", {"func": "fit", "obj": object_node("adatron.SVC")}),
    "partial": node("PartialNode", "functools.partial", {}),
    "operator": node("OperatorFuncNode", "operator.methodcaller", sequence("tuple", json_node("x"))),
    "constructor": node("ConstructorFromReduceNode", "adatron.kernels.Linear", sequence("tuple")),
    "constructor of theirs": node("ConstructorFromReduceNode", "pathlib.Path", sequence("tuple")),
    "type": node("TypeNode", "os.path"),
    "type of object": node("TypeNode", "builtins.object"),
    "random numbers": node("RandomStateNode", "numpy.random.mtrand.RandomState", EMPTY),
    "tree": node("TreeNode", "sklearn.tree._tree.Tree", EMPTY),
    "dict of another class": EMPTY | {"__class__": "OrderedDict", "__module__": "collections"},
    "list of another class": sequence("list") | {"__class__": "deque", "__module__": "collections"},
    "unknown loader": node("PickleNode", "builtins.str", "x"),
    "no loader": {"content": []},
    "text": "SVC",
    "nothing": None,
    "number": 3,
    "JSON of JSON": json_node([[1]]),
    "JSON object": json_node({"a": 1}),
    "reference": json_node(1) | {"__id__": 5},
    "another node": {"__class__": None, "__module__": None, "__loader__": "CachedNode", "__id__": 1},
    "schema as an array": node("NdArrayNode", "numpy.ndarray") | {"type": "numpy", "file": "schema.json"},
    "missing array": node("NdArrayNode", "numpy.ndarray") | {"type": "numpy", "file": "a99.npy"},
    "path": node("NdArrayNode", "numpy.ndarray") | {"type": "numpy", "file": "../../etc/passwd.npy"},
}


@pytest.mark.fault("F3")
@pytest.mark.parametrize("name", FOREIGN)
def test_other_things_than_known_models(path, small, name):
    """Neither as the model nor within it."""
    schema, members = parts_of(small)
    rejected(path, forged(_at_the_root(FOREIGN[name]), members), "cannot be read")
    for attribute in ("random_state", "_expansion", "new_"):
        changed = copy.deepcopy(schema)
        state_of(changed)[attribute] = FOREIGN[name]
        rejected(path, forged(changed, members), "cannot be read")


def _at_the_root(value):
    return value | {"protocol": 2} if isinstance(value, dict) else value


MODULE = "open(__file__ + '.imported', 'w')\nclass Thing: pass\n"


@pytest.mark.fault("F3")
def test_nothing_is_imported_or_unpickled(path, tmp_path, monkeypatch, small):
    (tmp_path / "mine.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    schema, members = parts_of(small)
    state_of(schema)["new_"] = object_node("mine.Thing")
    rejected(path, forged(schema, members), "cannot be part of a model file")
    bomb = pickle.dumps(Bomb(tmp_path / "bomb"))
    rejected(path, forged(schema, members | {"SVC_classes_.npy": bomb}), "cannot be read")
    assert not list(tmp_path.glob("*.imported"))
    assert not (tmp_path / "bomb").exists()


@pytest.mark.fault("F3")
@pytest.mark.parametrize(
    ("name", "value"),
    [("predict", "x"), ("__class__", "x"), ("fit", None), ("_decisions", None), ("unknown", 1), ("a b_", 1)],
)
def test_attributes_that_no_fit_sets(path, small, name, value):
    """A value must not take the place of a method."""
    schema, members = parts_of(small)
    state_of(schema)[name] = json_node(value)
    schema["content"]["key_types"]["content"].append(schema["content"]["key_types"]["content"][0])
    rejected(path, forged(schema, members), "cannot be read: inconsistent model")


@pytest.mark.fault("F3")
@pytest.mark.parametrize("kind", ["list", "list with a file", "array of objects"])
def test_few_nodes_that_become_many(path, small, kind):
    """Thirty lists, each of which holds the next one twice."""
    schema, members = parts_of(small)
    name, bomb = state_of(schema)["classes_"]["file"], json_node(1)
    for i in range(30):
        first, again = ({**item, "__id__": i + 100} for item in (bomb, json_node(0)))
        bomb = sequence("list", first, again)
        if kind != "list":
            bomb["file"] = name
        if kind == "array of objects":
            array = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode"}
            bomb |= array | {"type": "json", "shape": sequence("tuple", json_node(2))}
    state_of(schema)["new_"] = bomb
    began = time.thread_time()
    rejected(path, forged(schema, members), "refers to another|is not such an array")
    assert time.thread_time() - began < 5.0


@pytest.mark.fault("F4")
@pytest.mark.parametrize("name", ["deep", "many nodes", "numbers", "text", "keys"])
def test_hostile_schema(path, small, name):
    members = parts_of(small)[1]
    text = {
        "deep": b"[" * 10**6,
        "many nodes": b"[" + b"{}," * 400_000 + b"{}]",
        "numbers": b"[" + b"1," * 6_000_000 + b"1]",
        "text": b'"' + b"a" * 70_000_000 + b'"',
        "keys": b'{"__loader__":"a","__loader__":"b"}',
    }[name]
    path.write_bytes(forged(text, members))
    began = time.thread_time()
    with pytest.raises(ValueError, match="cannot be read"):
        load_model(path)
    assert time.thread_time() - began < 5.0


@pytest.mark.fault("F4")
def test_deep_lists_in_a_schema(path, small):
    schema, members = parts_of(small)
    value = json_node(1)
    for _ in range(300):
        value = sequence("list", value)
    state_of(schema)["new_"] = value
    rejected(path, forged(schema, members), "cannot be read")


def forged_state(model, path, monkeypatch, **changes):
    """A file whose estimator has attributes that `save_model` would not write."""
    changed = copy.deepcopy(model)
    for name, value in changes.items():
        setattr(changed, name, value)
    with pytest.raises(ValueError, match="inconsistent model"):
        save_model(changed, path)
    assert not path.exists()
    with monkeypatch.context() as patch:
        patch.setattr("adatron.files.models.check_model", lambda model: None)
        save_model(changed, path)


def changed(name, attribute, change):
    """An attribute of a model after `change`, which may write into it."""
    value = copy.deepcopy(getattr(fitted(name), attribute))
    result = change(value)
    return value if result is None else result


def with_parts(**parts):
    """A change of the expansion that predictions are made of; its parts are not checked."""

    def change(expansion):
        for name, part in parts.items():
            value = part(vars(expansion)[name])
            vars(expansion)[name] = vars(expansion)[name] if value is None else value

    return change


def with_machine(**parts):
    """A change of the first of several expansions, or residuals."""

    def change(machines):
        with_parts(**parts)(machines[0])

    return change


def put(place, value):
    def change(array):
        array[place] = value

    return change


def with_gamma(gamma):
    """A Gaussian that was never checked."""
    kernel = Gaussian(1.0)
    vars(kernel)["gamma"] = gamma
    return kernel


def sizes_of(width, weights):
    """Local sizes of residuals of rows with so many features."""
    return Expansion(np.zeros((3, width)), np.ones((3, 2)), np.ones(2), Laplacian(1.0, weights))


INCONSISTENT = {
    "n_support_ sum": ("SVC", "n_support_", put(0, 99)),
    "n_support_ negative": ("SVC", "n_support_", lambda a: np.array([a.sum() + 1, -1, 0], dtype=np.int32)),
    "n_support_ length": ("SVC", "n_support_", lambda a: np.array([a.sum()], dtype=np.int32)),
    "n_support_ floats": ("SVC", "n_support_", lambda a: a.astype(float)),
    "alpha above C": ("SVC", "dual_coef_", put((0, 0), 1.001)),
    "alpha below -C": ("SVC", "dual_coef_", put((0, 0), -1.001)),
    "alpha above C, two classes": ("SVC two classes", "dual_coef_", put((0, 0), -2.5)),
    "alpha above C, regression": ("SVR", "dual_coef_", put((0, 0), 9.0)),
    "alpha above 1, one-class": ("OneClassSVM", "dual_coef_", put((0, 0), 1.1)),
    "alpha negative, one-class": ("OneClassSVM", "dual_coef_", put((0, 0), -0.1)),
    "alpha above its weight": ("SVC weights", "dual_coef_", put((0, 0), 9.1)),
    "dual_coef_ NaN": ("SVC", "dual_coef_", put((0, 0), np.nan)),
    "dual_coef_ rows": ("SVC", "dual_coef_", lambda a: a[:1]),
    "dual_coef_ columns": ("SVC", "dual_coef_", lambda a: a[:, 1:]),
    "dual_coef_ flat": ("SVR", "dual_coef_", lambda a: a.ravel()),
    "intercept_ infinite": ("SVC", "intercept_", put(0, np.inf)),
    "intercept_ length": ("SVC", "intercept_", lambda a: a[:2]),
    "intercept_ missing": ("SVC", "intercept_", lambda a: "nothing"),
    "support vectors NaN": ("SVC", "support_vectors_", put((0, 0), np.nan)),
    "support vectors columns": ("SVC", "support_vectors_", lambda a: a[:, :2]),
    "support vectors rows": ("SVC", "support_vectors_", lambda a: a[1:]),
    "support vectors float32": ("SVC", "support_vectors_", lambda a: a.astype(np.float32)),
    "support vectors sparse NaN": ("SVC sparse", "support_vectors_", lambda a: a * np.nan),
    "support_ beyond": ("SVC precomputed", "support_", put(0, 40)),
    "support_ negative": ("SVC precomputed", "support_", put(0, -1)),
    "classes unsorted": ("SVC", "classes_", lambda a: a[::-1].copy()),
    "classes twice": ("SVC words", "classes_", lambda a: np.array(["a", "a", "b"])),
    "classes too many": ("SVC", "classes_", lambda a: np.arange(4)),
    "one class": ("SVC", "classes_", lambda a: a[:1]),
    "classes 2-D": ("SVC", "classes_", lambda a: a[:, None]),
    "n_features_in_": ("SVC", "n_features_in_", lambda n: 4),
    "n_features_in_ text": ("SVC", "n_features_in_", lambda n: "3"),
    "names of features": ("SVC words", "feature_names_in_", lambda a: a[:2]),
    "no names": ("SVC words", "feature_names_in_", lambda a: np.arange(3)),
    "layout": ("SVC", "_layout", lambda a: Layout(3, "ovr")),
    "layout classes": ("SVC", "_layout", lambda a: Layout(2, "ovo")),
    "layout strategy": ("SVC", "_layout", lambda a: vars(a).update(strategy="abc")),
    "no kernel": ("SVC", "_expansion", with_parts(kernel=lambda a: "rbf")),
    "another bias": ("SVC", "_expansion", with_parts(bias=lambda a: a + 1.0)),
    "other vectors": ("SVC", "_expansion", with_parts(vectors=lambda a: a + 1.0)),
    "vectors of other rows": ("SVC", "_expansion", with_parts(vectors=lambda a: a[1:])),
    "vectors NaN": ("SVC rank", "_expansion", with_parts(vectors=put((0, 0), np.nan))),
    "vectors float32": ("SVC rank", "_expansion", with_parts(vectors=lambda a: a.astype(np.float32))),
    "other coefficients": ("SVR", "_expansion", with_parts(coefficients=lambda a: 2.0 * a)),
    "coefficients flat": ("SVR", "_expansion", with_parts(coefficients=lambda a: a.ravel())),
    "places beyond": ("SVC precomputed", "_expansion", with_parts(vectors=put(0, 40))),
    "groups": ("SVC", "_expansion", with_parts(n_support=lambda a: a[::-1].copy())),
    "groups negative": ("SVC", "_expansion", with_parts(n_support=lambda a: np.array([a.sum() + 1, -1, 0]))),
    "groups of other classes": ("SVC", "_expansion", with_parts(n_support=lambda a: a[:2])),
    "no expansion": ("SVR", "_expansion", lambda a: "nothing"),
    "another object": ("SVR", "_expansion", lambda a: Layout(2, "ovr")),
    "kernel by another name": ("SVC", "kernel", lambda a: "os.system"),
    "kernel that is none": ("SVC", "kernel", lambda a: Layout(3, "ovo")),
    "negative gamma": ("SVC", "_expansion", with_parts(kernel=lambda a: with_gamma(-1.0))),
    "gamma NaN": ("SVC", "_expansion", with_parts(kernel=lambda a: with_gamma(float("nan")))),
    "gamma text": ("SVC", "_expansion", with_parts(kernel=lambda a: with_gamma("1"))),
    "gamma within a sum": ("SVC composed", "_expansion", with_parts(kernel=lambda a: a + with_gamma(-1.0))),
    "gamma of the search": ("AutoSVC", "gamma_", lambda a: -a),
    "many features": ("SVR no support", "n_features_in_", lambda a: 10**12),
    "many classes": ("SVC", "_layout", lambda a: Layout(10**9, "ovo")),
    "truth values": ("SVC two classes", "classes_", lambda a: np.array([0, 2], np.uint8).view(bool)),
    "sparse coefficients": ("SVC sparse", "dual_coef_", lambda a: sparse.csr_array((2, 10**9))),
    "precision": ("SVC", "_expansion", with_parts(precision=lambda a: np.int8)),
    "landmarks": ("SVC rank", "_expansion", with_parts(vectors=lambda a: a[:, :1])),
    "landmark coefficients": ("SVC rank", "_expansion", with_parts(coefficients=lambda a: a[:, :1])),
    "intercepts": ("SVC two classes", "_probabilities", lambda a: ClassProbabilities(1.0, np.zeros(2))),
    "no pairs": ("SVC", "_probabilities", lambda a: ClassProbabilities(1.0, np.zeros(1))),
    "shape": ("SVC", "decision_function_shape", lambda a: "xyz"),
    "status": ("SVC", "status_", lambda a: Status.MAX_ITER),
    "unknown status": ("SVC", "status_", lambda a: "fine"),
    "history": ("SVC", "history_", lambda a: {"epoch": [1, 2], "bias": [0.0]}),
    "bound is no number": ("SVC", "_bound", lambda a: "one"),
    "offset": ("OneClassSVM", "offset_", put(0, 9.0)),
    "scales": ("AutoSVC", "_scale", with_parts(scale=put(0, 0.0))),
    "scales length": ("AutoSVR", "_scale", with_parts(unit=lambda a: a[:2])),
    "kept features": ("AutoSVR", "_scale", with_parts(kept=put(0, 99))),
    "no scales": ("AutoSVC", "_scale", lambda a: Layout(3, "ovr")),
    "other features": ("AutoSVC", "_scale", with_parts(kept=lambda a: a[:2])),
    "no machines": ("AutoSVR", "_machines", lambda a: []),
    "inner machine": ("AutoSVR", "_machines", lambda a: [SVC()]),
    "machine of others": ("AutoSVC", "_machines", with_machine(coefficients=lambda a: a[:, :1])),
    "machine of other rows": ("AutoSVR", "_machines", with_machine(vectors=lambda a: a[1:])),
    "machine of other features": ("AutoSVR", "_machines", with_machine(vectors=lambda a: a[:, 1:])),
    "machine NaN": ("AutoSVR", "_machines", with_machine(coefficients=put((0, 0), np.nan))),
    "machine weights": ("AutoSVR", "_machines", with_machine(kernel=lambda a: Gaussian(1.0, [1.0, 2.0]))),
    "residuals": ("AutoSVR", "_residuals", lambda a: [fitted("AutoSVC")._set_scores]),
    "residuals NaN": ("AutoSVR", "_residuals", with_machine(scores=put(0, np.nan))),
    "residuals of others": ("AutoSVR", "_residuals", with_machine(local=lambda a: sizes_of(9, [1.0] * 9))),
    "sizes of residuals": ("AutoSVR", "_residuals", with_machine(local=lambda a: sizes_of(4, [1.0] * 9))),
    "weights of residuals": ("AutoSVR", "_residuals", with_machine(weights=put(0, 0.0))),
    "residuals of few targets": ("AutoSVR targets", "_residuals", lambda a: a[:1]),
    "logarithm": ("AutoSVR prices", "_log", with_parts(ratio=lambda a: -a)),
    "no logarithm": ("AutoSVR prices", "_log", lambda a: Layout(3, "ovr")),
    "scores of sets": ("AutoSVC", "_set_scores", with_parts(scores=put(0, -1.0))),
    "no scores of sets": ("AutoSVC", "_set_scores", lambda a: fitted("AutoSVR")._residuals[0]),
    "importances": ("AutoSVC", "feature_importances_", lambda a: 2.0 * a),
    "importances length": ("AutoSVC", "feature_importances_", lambda a: a[:2] / a[:2].sum()),
    "threshold": ("AutoSVC two classes", "best_threshold_", lambda a: "0"),
    "another encoder": ("AutoSVC table", "encoder_", lambda a: fitted("AutoSVR holes").encoder_),
    "encoder of others": ("AutoSVC", "encoder_", lambda a: fitted("TableEncoder")),
    "encodings": ("AutoSVC table", "encoder_", with_parts(_encodings=lambda a: a[:-1])),
    "encodings turned": ("TableEncoder", "_encodings", lambda a: a[::-1]),
    "readings turned": ("TableEncoder", "_readings", lambda a: a[::-1]),
    "names of outputs": ("TableEncoder", "_names_out", lambda a: a[1:]),
    "columns of outputs": ("TableEncoder", "output_columns_", put(0, 3)),
    "number of columns": ("TableEncoder", "n_features_in_", lambda n: n + 1),
    "scale of a number": ("TableEncoder", "_encodings", lambda a: vars(a[0][0]).update(scale=0.0)),
    "levels": ("TableEncoder", "_encodings", lambda a: a[1][0].levels.pop()),
    "table of levels": ("TableEncoder", "_encodings", lambda a: put((0, 0), np.nan)(a[1][0].table)),
    "stages": ("EnsembleSVC", "_stages", lambda a: (a[0][:3], a[1], a[2])),
    "stages NaN": ("EnsembleSVC", "_stages", lambda a: (a[0], [b * np.nan for b in a[1]], a[2])),
    "stage weights": ("EnsembleSVC", "stage_weights_", lambda a: a[:, :1]),
    "stage places": ("EnsembleSVC gram", "_stages", lambda a: (a[0] + 40, a[1], a[2])),
    "clusters": ("SupportVectorClustering", "labels_", put(0, 99)),
    "ball": ("SupportVectorClustering", "dual_coef_", lambda a: 2.0 * a),
    "radius": ("SupportVectorClustering", "radius_", lambda a: -1.0),
}  # fmt: skip


@pytest.mark.fault("F7")
@pytest.mark.parametrize("name", INCONSISTENT)
def test_model_that_contradicts_itself(path, monkeypatch, name):
    model, attribute, change = INCONSISTENT[name]
    forged_state(fitted(model), path, monkeypatch, **{attribute: changed(model, attribute, change)})
    began = time.thread_time()
    with pytest.raises(ValueError, match="cannot be read") as caught:
        load_model(path)
    assert time.thread_time() - began < 5.0
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()


SCALERS = [
    (0, "scale_", lambda a: a[:2]),
    (0, "min_", lambda a: a * np.inf),
    (1, "scale_", lambda a: a * np.nan),
    (2, "center_", lambda a: np.append(a, 1.0)),
    (3, "scale_", lambda a: a * np.nan),
    (3, "n_features_in_", lambda n: 4),
    (3, "n_features_in_", lambda n: 10**12),
]


@pytest.mark.fault("F7")
def test_within_a_pipeline_and_an_ensemble(path):
    pipeline = copy.deepcopy(fitted("Pipeline"))
    pipeline.steps[-1][1].dual_coef_[0, 0] = 1e6
    with pytest.raises(ValueError, match=r"inconsistent model: SVC: dual_coef_"):
        save_model(pipeline, path)
    for step, attribute, change in SCALERS:
        scaled = copy.deepcopy(fitted("Pipeline scalers"))
        setattr(scaled.steps[step][1], attribute, change(getattr(scaled.steps[step][1], attribute)))
        with pytest.raises(ValueError, match="inconsistent model"):
            save_model(scaled, path)
    encoded = copy.deepcopy(fitted("Pipeline"))
    encoded.steps[0][1].transformers_[1][1].steps[1][1].categories_.pop()
    with pytest.raises(ValueError, match="inconsistent model"):
        save_model(encoded, path)
    ensemble = copy.deepcopy(fitted("EnsembleSVC"))
    ensemble.final_svm_.n_support_[0] += 1
    with pytest.raises(ValueError, match=r"inconsistent model: SVC: n_support_"):
        save_model(ensemble, path)


@pytest.mark.fault("F7")
@pytest.mark.parametrize(
    "change",
    ["index beyond", "index negative", "pointers fall", "pointers too far", "columns", "format", "no format"],
)
def test_sparse_rows(path, change):
    data = bytes_of("SVC sparse", path)
    schema, members = parts_of(data)
    name = state_of(schema)["support_vectors_"]["file"]
    matrix = dict(np.load(streams.BytesIO(members[name])))
    if change == "index beyond":
        matrix["indices"][0] = 3
    elif change == "index negative":
        matrix["indices"][0] = -1
    elif change == "pointers fall":
        matrix["indptr"][3] = 0
    elif change == "pointers too far":
        matrix["indptr"][-1] = 2**30
    elif change == "columns":
        matrix["shape"][1] = 2
    else:
        matrix["format"] = np.array(b"csc" if change == "format" else b"block")
    buffer = streams.BytesIO()
    np.savez(buffer, **matrix)
    rejected(path, forged(schema, members | {name: buffer.getvalue()}), "cannot be read")


KERNEL = "adatron.kernels.Gaussian"


def kernel_node(name, **parts):
    key = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
    nodes = {part: value if isinstance(value, dict) else json_node(value) for part, value in parts.items()}
    return object_node(name, EMPTY | {"content": nodes, "key_types": sequence("list", *(key for _ in parts))})


@pytest.mark.fault("K12")
@pytest.mark.parametrize(
    "kernel",
    [
        kernel_node("os.system", command="true"),
        kernel_node("adatron.kernels.CallableKernel", function="x"),
        kernel_node(KERNEL, gamma=-1.0),
        kernel_node(KERNEL, gamma=float("nan")),
        kernel_node(KERNEL, gamma="1"),
        kernel_node(KERNEL),
        kernel_node("adatron.kernels.Sum", left=1, right=2),
        kernel_node("adatron.kernels.Sum", left=kernel_node("adatron.kernels.Linear")),
        kernel_node("adatron.kernels.Power", base=kernel_node("adatron.kernels.Linear"), exponent=0.5),
        object_node(KERNEL, json_node([1.0])),
        object_node(KERNEL, None),
        json_node("rbf"),
    ],
    ids=lambda kernel: kernel["__class__"],
)
def test_kernel_object(path, small, kernel):
    schema, members = parts_of(small)
    state_of(state_of(schema)["_expansion"])["kernel"] = kernel
    rejected(path, forged(schema, members), "cannot be read")


@pytest.mark.fault("K12")
@pytest.mark.parametrize(
    "kernel", ["os.system", "lambda x: x", "__import__('os')", "", "RBF", None, 3, [1, 2]]
)
def test_kernel_by_name(path, small, kernel):
    schema, members = parts_of(small)
    state_of(schema)["kernel"] = json_node(kernel)
    rejected(path, forged(schema, members), "cannot be read")


@pytest.mark.fault("F7")
def test_absurd_arrays_with_a_valid_checksum(path, small):
    schema, members = parts_of(small)
    arrays = [np.zeros((0, 10**12)), np.zeros((3, 10)), np.float64(1.0), np.array(["a", "a"]), np.zeros(0)]
    for array in arrays:
        for name in ("support_vectors_", "dual_coef_", "intercept_", "n_support_", "support_", "classes_"):
            file = state_of(schema)[name]["file"]
            rejected(path, forged(schema, members | {file: npy(array)}), "cannot be read")


@pytest.mark.fault("F9")
def test_file_of_a_later_version(path, small):
    schema, members = parts_of(small)
    rejected(path, forged(schema, members, version="2.3"), r"written by adatron 2\.3.*upgrade")
    path.write_bytes(forged(schema, members, version=__version__))
    assert load_model(path).predict([[2.0]]) == ["yes"]


@pytest.mark.fault("F9")
def test_files_from_before_skops(path):
    rejected(path, b"ADATRON\x01" + bytes(300), "load it with the version that wrote it")


@pytest.mark.fault("F9")
def test_parameter_that_an_older_version_had_not(path, small):
    schema, members = parts_of(small)
    keys = schema["content"]["key_types"]["content"]
    del state_of(schema)["time_limit"], keys[0]
    path.write_bytes(forged(schema, members, version="0.0.1"))
    assert load_model(path).time_limit is None


@pytest.mark.fault("F9")
def test_classes_are_named_by_the_packages_that_offer_them(small):
    schema, _ = parts_of(small)
    assert (schema["__module__"], schema["__class__"]) == ("adatron", "SVC")
    assert state_of(state_of(schema)["_expansion"])["kernel"]["__module__"] == "adatron.kernels"


@pytest.mark.fault("R4")
@pytest.mark.parametrize("name", ["fsync", "write"])
def test_disk_full_while_a_model_is_saved(path, monkeypatch, name):
    save_model(fitted("SVC"), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, name, full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        save_model(fitted("SVR"), path)
    monkeypatch.undo()
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["model.skops"]
    assert type(load_model(path)) is SVC


@pytest.mark.fault("F8")
def test_targets_and_sources_that_are_no_files(tmp_path):
    with pytest.raises(IsADirectoryError):
        save_model(fitted("SVC"), tmp_path)
    with pytest.raises(IsADirectoryError):
        load_model(tmp_path)
    with pytest.raises(FileNotFoundError):
        save_model(fitted("SVC"), tmp_path / "missing" / "model")
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "missing")
    if os.name == "posix":
        (tmp_path / "link").symlink_to(tmp_path / "real")
        with pytest.raises(OSError, match="symbolic link"):
            save_model(fitted("SVC"), tmp_path / "link")
        os.mkfifo(tmp_path / "pipe")
        for act in (load_model, lambda path: save_model(fitted("SVC"), path)):
            with pytest.raises(OSError, match="pipe"):
                act(tmp_path / "pipe")


@pytest.mark.fault("F8")
def test_names_in_a_model_are_never_paths(path):
    frame = FRAME.rename(columns={"a": "../../etc/passwd", "b": "/dev/null"})
    model = SVC().fit(
        frame, np.array(["../up", "/root", "c"])[np.searchsorted(["blau", "grün", "rot"], WORDS)]
    )
    save_model(model, path)
    assert load_model(path).predict(frame).tolist() == model.predict(frame).tolist()
    assert os.listdir(path.parent) == ["model.skops"]


class Watch:
    """How long loading takes at most, in processor time, and how much memory it takes."""

    def __init__(self, path):
        self.path, self.slowest = path, 0.0
        self.loaded, self.rejected, self.failures = 0, 0, []

    def load(self, data, rows):
        self.path.write_bytes(data)
        began = time.thread_time()
        try:
            model = load_model(self.path)
        except (ValueError, OSError) as error:
            self.rejected += 1
            model = None
            if str(self.path) not in str(error):
                self.failures.append(f"does not name the file: {error!r}")
        self.slowest = max(self.slowest, time.thread_time() - began)
        if model is not None:
            self.loaded += 1
            try:
                outputs(model, rows)
            except ValueError:
                pass
            except Exception as error:
                self.failures.append(repr(error))


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutated_files_are_rejected(path, small, count):
    """None crashes, hangs or takes over 100 MB of the process."""
    chance, watch = random.Random(0), Watch(path)
    others = [bytes_of(name, path) for name in ("SVC", "Pipeline", "EnsembleSVC rank", "AutoSVC two classes")]
    before = peak_memory()
    for number in range(count):
        data = small if number % 5 == 0 else others[number % 4]
        damaged = mutated(data, chance)
        if damaged != data:
            watch.load(damaged, NEW)
    assert watch.loaded == 0
    assert watch.failures == []
    assert watch.rejected > 0.99 * count
    assert watch.slowest < 5.0
    assert not peak_memory() - before > 100e6  # not a number where it cannot be told


OWN = ("SVC", "SVC two classes", "SVC rank", "SVC sparse", "SVC composed", "SVR", "OneClassSVM", "AutoSVC")
OWN_2 = ("EnsembleSVC rank", "KernelPerceptron", "ParzenClassifier", "AutoSVR", "SupportVectorClustering")
TABLES = ("AutoSVC table", "AutoSVR holes", "TableEncoder")


def forge(path, names, count, seed):
    """Load files with a valid checksum whose bytes or values were changed."""
    chance, watch = random.Random(seed), Watch(path)
    originals = [(bytes_of(name, path), MODELS[name][1]) for name in names]
    before = peak_memory()
    for number in range(count):
        data, rows = originals[number % len(originals)]
        change = number // len(originals) % 2
        watch.load(mutated_values(data, chance) if change else sealed(mutated(data[:-64], chance)), rows)
    assert watch.slowest < 5.0
    assert not peak_memory() - before > 100e6  # not a number where it cannot be told
    return watch


@pytest.mark.filterwarnings("ignore")
def test_forged_files_with_a_valid_checksum(path):
    """They are rejected, or predict without any other error than a ValueError."""
    watch = forge(path, OWN + OWN_2, 300, seed=1)
    assert watch.failures == []
    assert watch.rejected > 200


@pytest.mark.filterwarnings("ignore")
def test_forged_encoders_with_a_valid_checksum(path):
    watch = forge(path, TABLES, 80, seed=5)
    assert watch.failures == []
    assert watch.rejected > 50


@pytest.mark.filterwarnings("ignore")
def test_forged_pipelines_with_a_valid_checksum(path):
    """scikit-learn's transformers check less; what they raise is an exception all the same."""
    watch = forge(path, ("Pipeline", "Pipeline scalers"), 100, seed=2)
    assert watch.rejected > 60
    assert len(watch.failures) < 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [3, 4])
def test_many_forged_files_with_a_valid_checksum(path, seed):
    watch = forge(path, OWN + OWN_2 + TABLES, 16_000, seed)
    assert watch.failures == []


@pytest.mark.fault("F5")
def test_zeros_are_not_compressed(path):
    """A file is as long as its arrays, so that no short one takes much memory."""
    model = copy.deepcopy(fitted("ParzenClassifier"))
    save_model(model, path)
    arrays = sum(a.nbytes for a in vars(model).values() if isinstance(a, np.ndarray))
    assert path.stat().st_size > arrays
