"""The fault catalogue's files: damaged, forged, contradictory, of other programs and other versions."""

import copy
import errno
import io as streams
import os
import pickle
import random
import sys
import time
import tracemalloc

import joblib
import numpy as np
import pytest
import skops.io

from adatron import SVC
from adatron.estimators.classifier import Layout
from adatron.estimators.probabilities import ClassProbabilities
from adatron.io import load_model, save_model
from adatron.io.encoding import Encoder
from adatron.numerics.memory import peak_memory
from adatron.storage import write_container
from adatron.training import Status
from tests.io.models import FRAME, MODELS, NEW, WORDS, fitted, outputs
from tests.io.mutations import forged, mutated, mutated_values, parts_of, sealed


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.adatron"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The bytes of a small model."""
    path = tmp_path_factory.mktemp("small") / "small.adatron"
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


def test_F1_truncated_at_every_byte(path, small):
    for size in range(len(small)):
        rejected(path, small[:size], "damaged|not an adatron model")


def test_F2_one_bit_of_every_byte_flipped(path, small):
    chance = random.Random(0)
    for place in range(len(small)):
        changed = bytearray(small)
        changed[place] ^= 1 << chance.randrange(8)
        rejected(path, bytes(changed), "damaged|not an adatron model|upgrade")


class Bomb:
    """Unpickled, it makes a directory."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return os.mkdir, (str(self.place),)


def test_F3_files_of_other_programs(path, tmp_path):
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


def test_F3_pickle_within_the_header(path, tmp_path, small):
    """No value of the header is ever unpickled, imported or called."""
    header, payload = parts_of(small)
    bomb = pickle.dumps(Bomb(tmp_path / "bomb"), protocol=0).decode()
    for value in (
        bomb,
        {"pickle": bomb},
        {"object": ["os.mkdir", {"path": bomb}]},
        {"estimator": ["os", {}]},
    ):
        for name in ("kernel", "_kernel", "random_state", "class_weight"):
            forged_header = copy.deepcopy(header)
            forged_header["model"]["estimator"][1][name] = value
            path.write_bytes(forged(forged_header, payload))
            if name in ("kernel", "_kernel") or isinstance(value, dict):
                with pytest.raises(ValueError, match="cannot be read"):
                    load_model(path)
            else:
                load_model(path)
    assert not (tmp_path / "bomb").exists()


@pytest.mark.parametrize(
    "value",
    [
        {"estimator": ["subprocess.Popen", {"args": "x"}]},
        {"estimator": ["sklearn.LogisticRegression", {}]},
        {"estimator": ["SVC", {"predict": "x"}]},
        {"estimator": ["SVC", {"__class__": "x"}]},
        {"estimator": ["SVC", {"fit": {"type": "object"}}]},
        {"estimator": ["SVC", {"_expand": None}]},
        {"estimator": ["SVC", {"unknown": 1}]},
        {"estimator": ["SVC", {}]},
        {"estimator": ["SVC"]},
        {"estimator": [["SVC"], {}]},
        {"estimator": "SVC"},
        {"estimator": ["sklearn.Pipeline", {"steps": []}]},
        {"estimator": ["sklearn.Pipeline", {"steps": [{"tuple": ["a", "b"]}]}]},
        {"estimator": ["sklearn.Pipeline", {"steps": [], "memory": "/tmp"}]},
        {"estimator": ["sklearn.FunctionTransformer", {"func": {"type": "float"}}]},
        {"object": ["kernel.Gaussian", {"gamma": 1.0}]},
        {"array": "a0"},
        {},
        [],
        None,
        "SVC",
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
def test_F3_other_things_than_known_models(path, value):
    header = {"kind": "model", "format": "1.0", "arrays": [], "model": value}
    rejected(path, forged(header, b""), "cannot be read")


def forged_state(model, path, **changes):
    """A file whose estimator has attributes that `save_model` would not write."""
    changed = copy.deepcopy(model)
    for name, value in changes.items():
        setattr(changed, name, value)
    with pytest.raises(ValueError, match="inconsistent model"):
        save_model(changed, path)
    assert not path.exists()
    encoder = Encoder()
    header = {"written_by": "adatron 0.1.0", "model": encoder.estimator(changed)}
    write_container(path, "model", header, encoder.arrays)


def changed(name, attribute, change):
    """An attribute of a model after `change`, which may write into it."""
    value = copy.deepcopy(getattr(fitted(name), attribute))
    result = change(value)
    return value if result is None else result


def put(place, value):
    def change(array):
        array[place] = value

    return change


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
    "layout strategy": ("SVC", "_layout", lambda a: Layout(3, "abc")),
    "no kernel": ("SVC", "_kernel", lambda a: "rbf"),
    "precision": ("SVC", "_precision", lambda a: np.int8),
    "landmarks": ("SVC rank", "_landmarks", lambda a: a[:, :1]),
    "landmark coefficients": ("SVC rank", "_landmark_coef", lambda a: a[:, :1]),
    "slopes": ("SVC two classes", "_probabilities", lambda a: ClassProbabilities(np.array([1.0]))),
    "slopes NaN": ("SVC two classes", "_probabilities", lambda a: ClassProbabilities(np.full(2, np.nan))),
    "no pairs": ("SVC", "_probabilities", lambda a: ClassProbabilities(np.array([1.0]))),
    "shape": ("SVC", "decision_function_shape", lambda a: "xyz"),
    "status": ("SVC", "status_", lambda a: Status.MAX_ITER),
    "unknown status": ("SVC", "status_", lambda a: "fine"),
    "history": ("SVC", "history_", lambda a: {"epoch": [1, 2], "bias": [0.0]}),
    "bound is no number": ("SVC", "_bound", lambda a: "one"),
    "offset": ("OneClassSVM", "offset_", put(0, 9.0)),
    "scales": ("AutoSVC", "feature_scale_", put(0, 0.0)),
    "scales length": ("AutoSVR", "feature_scale_", lambda a: a[:2]),
    "inner machine": ("AutoSVR", "svr_", lambda a: SVC()),
    "unit": ("AutoSVR", "_unit", lambda a: float("nan")),
    "stages": ("EnsembleSVC", "_stages", lambda a: (a[0][:3], a[1], a[2])),
    "stages NaN": ("EnsembleSVC", "_stages", lambda a: (a[0], [b * np.nan for b in a[1]], a[2])),
    "stage weights": ("EnsembleSVC", "stage_weights_", lambda a: a[:, :1]),
    "stage places": ("EnsembleSVC gram", "_stages", lambda a: (a[0] + 40, a[1], a[2])),
    "clusters": ("SupportVectorClustering", "labels_", put(0, 99)),
    "ball": ("SupportVectorClustering", "dual_coef_", lambda a: 2.0 * a),
    "radius": ("SupportVectorClustering", "radius_", lambda a: -1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", INCONSISTENT)
def test_F7_model_that_contradicts_itself(path, name):
    model, attribute, change = INCONSISTENT[name]
    forged_state(fitted(model), path, **{attribute: changed(model, attribute, change)})
    with pytest.raises(ValueError, match="inconsistent model") as caught:
        load_model(path)
    assert str(path) in str(caught.value)


def test_F7_within_a_pipeline_and_an_ensemble(path):
    pipeline = copy.deepcopy(fitted("Pipeline"))
    pipeline.steps[-1][1].dual_coef_[0, 0] = 1e6
    with pytest.raises(ValueError, match=r"inconsistent model: SVC\.dual_coef_"):
        save_model(pipeline, path)
    scaled = copy.deepcopy(fitted("Pipeline scalers"))
    scaled.steps[-2][1].scale_[0] = np.nan
    with pytest.raises(ValueError, match=r"inconsistent model: StandardScaler\.scale_"):
        save_model(scaled, path)
    ensemble = copy.deepcopy(fitted("EnsembleSVC"))
    ensemble.final_svm_.n_support_[0] += 1
    with pytest.raises(ValueError, match=r"inconsistent model: SVC\.n_support_"):
        save_model(ensemble, path)


@pytest.mark.parametrize(
    "change", ["index beyond", "index negative", "pointers fall", "pointers too far", "columns"]
)
def test_F7_sparse_rows(path, change):
    data = bytes_of("SVC sparse", path)
    header, payload = parts_of(data)
    names = header["model"]["estimator"][1]["support_vectors_"]["csr"]
    entries = {entry["name"]: entry for entry in header["arrays"]}
    payload = bytearray(payload)

    def view(place):
        entry = entries[names[place]]
        return np.frombuffer(payload, entry["dtype"], entry["shape"][0], entry["offset"])

    if change == "index beyond":
        view(1)[0] = 3
    elif change == "index negative":
        view(1)[0] = -1
    elif change == "pointers fall":
        view(2)[3] = 0
    elif change == "pointers too far":
        view(2)[-1] = 2**30
    else:
        names[3][1] = 2
    rejected(path, forged(header, bytes(payload)), "cannot be read")


@pytest.mark.parametrize(
    "kernel", ["os.system", "lambda x: x", "__import__('os')", "", "RBF", None, 3, [], {}]
)
def test_K12_kernel_by_name(path, small, kernel):
    header, payload = parts_of(small)
    header["model"]["estimator"][1]["kernel"] = kernel
    rejected(path, forged(header, payload), "cannot be read")


@pytest.mark.parametrize(
    "kernel",
    [
        ["os.system", {"command": "true"}],
        ["kernel.CallableKernel", {"function": {"type": "object"}}],
        ["kernel.Gaussian", {"gamma": -1.0}],
        ["kernel.Gaussian", {"gamma": {"float": "nan"}}],
        ["kernel.Gaussian", {"gamma": "1"}],
        ["kernel.Gaussian", {"gamma": 1.0, "more": 1}],
        ["kernel.Sum", {"left": 1, "right": 2}],
        ["kernel.Sum", {"left": {"object": ["kernel.Linear", {}]}}],
        ["kernel.Power", {"base": {"object": ["kernel.Linear", {}]}, "exponent": 0.5}],
        ["part.Layout", {"n_classes": 2, "strategy": "ovo"}],
        ["Gaussian"],
        "kernel.Gaussian",
    ],
    ids=str,
)
def test_K12_kernel_object(path, small, kernel):
    header, payload = parts_of(small)
    header["model"]["estimator"][1]["_kernel"] = {"object": kernel}
    rejected(path, forged(header, payload), "cannot be read")


def test_F6_array_that_is_not_used_or_missing(path, small):
    header, payload = parts_of(small)
    attributes = header["model"]["estimator"][1]
    for reference in ({"array": "a99"}, {"array": 3}, {"array": "../x"}):
        attributes["intercept_"] = reference
        rejected(path, forged(header, payload), "does not have")
    attributes["intercept_"] = attributes["n_support_"]
    rejected(path, forged(header, payload), "cannot be read")
    header, payload = parts_of(small)
    del header["model"]["estimator"][1]["class_weight_"]
    rejected(path, forged(header, payload), "is not used")


def newer(data, version="1.7"):
    """What a later version with the same number before the point might write."""
    header, payload = parts_of(data)
    header |= {"format": version, "written_by": "adatron 1.9", "signature": {"by": "nobody"}}
    state = header["model"]["estimator"][1]
    state |= {"new_parameter": 3, "new_result_": {"array": "new"}, "_new": None}
    state["_kernel"]["object"][1]["length_scale"] = 2.0
    entry = {"name": "extra", "dtype": "<f8", "order": "C", "offset": len(payload), "shape": [1]}
    header["arrays"] += [entry, entry | {"name": "new", "offset": len(payload) + 64, "note": "new"}]
    return forged(header, payload + bytes(128))


def test_F9_newer_minor_format_is_read_without_what_is_new(path):
    data = bytes_of("SVC two classes", path)
    path.write_bytes(newer(data))
    loaded = load_model(path)
    assert loaded.decision_function(NEW).tolist() == fitted("SVC two classes").decision_function(NEW).tolist()
    assert not hasattr(loaded, "new_parameter")
    rejected(path, newer(data, "1.0"), "cannot be read")


def test_F9_newer_format_with_a_value_that_is_unknown(path, small):
    header, payload = parts_of(small)
    header["format"] = "1.3"
    header["model"]["estimator"][1]["_kernel"] = {"wavelet": {}}
    rejected(path, forged(header, payload), r"unknown type 'wavelet'.*format 1\.3, upgrade adatron")


def test_F9_newer_major_format(path, small):
    header, payload = parts_of(small)
    header |= {"format": "2.0", "written_by": "adatron 2.3"}
    rejected(path, forged(header, payload), r"written by adatron 2\.3.*upgrade")


def test_F9_parameter_that_an_older_version_had_not(path, small):
    header, payload = parts_of(small)
    del header["model"]["estimator"][1]["time_limit"]
    path.write_bytes(forged(header, payload))
    assert load_model(path).time_limit is None


@pytest.mark.parametrize("name", ["fsync", "write"])
def test_R4_disk_full_while_a_model_is_saved(path, monkeypatch, name):
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
    assert os.listdir(path.parent) == ["model.adatron"]
    assert type(load_model(path)) is SVC


def test_F8_targets_and_sources_that_are_no_files(tmp_path):
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


def test_F8_names_in_a_model_are_never_paths(path):
    frame = FRAME.rename(columns={"a": "../../etc/passwd", "b": "/dev/null"})
    model = SVC().fit(
        frame, np.array(["../up", "/root", "c"])[np.searchsorted(["blau", "grün", "rot"], WORDS)]
    )
    save_model(model, path)
    assert load_model(path).predict(frame).tolist() == model.predict(frame).tolist()
    assert os.listdir(path.parent) == ["model.adatron"]


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


def test_ten_thousand_mutated_files_are_rejected(path, small):
    """None crashes, hangs over 1 s or takes over 100 MB."""
    chance, watch = random.Random(0), Watch(path)
    others = [bytes_of(name, path) for name in ("SVC", "Pipeline", "EnsembleSVC rank", "AutoSVC two classes")]
    tracemalloc.start()
    for number in range(10_000):
        data = small if number % 5 == 0 else others[number % 4]
        damaged = mutated(data, chance)
        if damaged != data:
            watch.load(damaged, NEW)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert watch.loaded == 0
    assert watch.failures == []
    assert watch.rejected > 9_900
    assert watch.slowest < 1.0
    assert peak < 100e6


OWN = ("SVC", "SVC two classes", "SVC rank", "SVC sparse", "SVC composed", "SVR", "OneClassSVM", "AutoSVC")
OWN_2 = ("EnsembleSVC rank", "KernelPerceptron", "ParzenClassifier", "AutoSVR", "SupportVectorClustering")


def forge(path, names, count, seed):
    """Load files with a valid checksum whose bytes or values were changed."""
    chance, watch = random.Random(seed), Watch(path)
    originals = [(bytes_of(name, path), MODELS[name][1]) for name in names]
    before = peak_memory()
    for number in range(count):
        data, rows = originals[number % len(originals)]
        change = number // len(originals) % 2
        watch.load(mutated_values(data, chance) if change else sealed(mutated(data[:-32], chance)), rows)
    assert watch.slowest < 1.0
    assert not peak_memory() - before > 100e6  # not a number where it cannot be told
    return watch


@pytest.mark.filterwarnings("ignore")
def test_forged_files_with_a_valid_checksum(path):
    """They are rejected, or predict without any other error than a ValueError."""
    watch = forge(path, OWN + OWN_2, 1_300, seed=1)
    assert watch.failures == []
    assert watch.rejected > 900


@pytest.mark.filterwarnings("ignore")
def test_forged_pipelines_with_a_valid_checksum(path):
    """scikit-learn's transformers check less; what they raise is an exception all the same."""
    watch = forge(path, ("Pipeline", "Pipeline scalers"), 200, seed=2)
    assert watch.rejected > 120
    assert len(watch.failures) < 10


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [3, 4])
def test_many_forged_files_with_a_valid_checksum(path, seed):
    watch = forge(path, OWN + OWN_2, 13_000, seed)
    assert watch.failures == []


def test_F5_zeros_are_not_compressed(path):
    """A file is as long as its arrays, so that no short one takes much memory."""
    model = copy.deepcopy(fitted("ParzenClassifier"))
    save_model(model, path)
    arrays = sum(a.nbytes for a in vars(model).values() if isinstance(a, np.ndarray))
    assert path.stat().st_size > arrays
