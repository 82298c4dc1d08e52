"""The bundled sets are complete, described, and equal to the originals."""

import csv
import gzip
import sys

import numpy as np
import pytest
from tests.data_dir import data_dir, needs_data

from adatron.datasets import load_breast_cancer_wisconsin, load_ionosphere, load_pima, load_sonar


def load_all_wisconsin(**options):
    return load_breast_cancer_wisconsin(complete=False, **options)


# loader, shape, names of the classes, rows of each class
SETS = [
    pytest.param(load_sonar, (208, 60), ["R", "M"], [97, 111], id="sonar"),
    pytest.param(load_all_wisconsin, (699, 9), ["benign", "malignant"], [458, 241], id="wisconsin-all"),
    pytest.param(load_breast_cancer_wisconsin, (683, 9), ["benign", "malignant"], [444, 239], id="wisconsin"),
    pytest.param(load_ionosphere, (351, 34), ["bad", "good"], [126, 225], id="ionosphere"),
    pytest.param(load_pima, (768, 8), ["neg", "pos"], [500, 268], id="pima"),
]
each_loader = pytest.mark.parametrize("load", [pytest.param(p.values[0], id=p.id) for p in SETS])


def read_original(relative_path):
    with gzip.open(data_dir() / relative_path, "rt", encoding="ascii") as stream:
        return [row for row in csv.reader(stream) if row]


def to_numbers(rows):
    return np.array([[np.nan if field == "?" else float(field) for field in row] for row in rows])


@pytest.mark.parametrize(("load", "shape", "names", "counts"), SETS)
def test_bunch(load, shape, names, counts):
    bunch = load()
    assert bunch.data.shape == shape
    assert bunch.data.dtype == np.float64
    assert np.issubdtype(bunch.target.dtype, np.integer)
    assert bunch.target_names == names
    assert np.bincount(bunch.target).tolist() == counts
    assert len(set(bunch.feature_names)) == shape[1]
    assert bunch.filename.endswith(bunch.DESCR.splitlines()[0])
    assert "Licence:" in bunch.DESCR
    assert "\n## " not in bunch.DESCR


@each_loader
def test_return_X_y(load):
    X, y = load(return_X_y=True)
    np.testing.assert_array_equal(X, load().data)
    np.testing.assert_array_equal(y, load().target)


@each_loader
def test_loading_twice_gives_independent_equal_objects(load):
    first = load()
    first.data[:] = 0
    first.target_names.reverse()
    assert load().data.any()
    assert load().target_names != first.target_names


@each_loader
def test_as_frame(load):
    pd = pytest.importorskip("pandas")
    arrays, frames = load(), load(as_frame=True)
    assert arrays.frame is None
    assert isinstance(frames.target, pd.Series)
    assert list(frames.data.columns) == arrays.feature_names
    assert list(frames.frame.columns) == [*arrays.feature_names, "target"]
    np.testing.assert_array_equal(frames.data.to_numpy(), arrays.data)
    np.testing.assert_array_equal(frames.frame["target"].to_numpy(), arrays.target)
    X, y = load(as_frame=True, return_X_y=True)
    assert X.equals(frames.data)
    assert y.equals(frames.target)


def test_as_frame_without_pandas_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="as_frame=True needs pandas: install it"):
        load_pima(as_frame=True)


def test_wisconsin_misses_16_values_of_one_feature():
    missing = np.isnan(load_all_wisconsin().data)
    column = load_all_wisconsin().feature_names.index("bare_nuclei")
    assert missing.sum() == missing[:, column].sum() == 16
    assert not np.isnan(load_breast_cancer_wisconsin().data).any()


def test_complete_wisconsin_keeps_the_order():
    everything = load_all_wisconsin()
    kept = ~np.isnan(everything.data).any(axis=1)
    X, y = load_breast_cancer_wisconsin(return_X_y=True)
    np.testing.assert_array_equal(X, everything.data[kept])
    np.testing.assert_array_equal(y, everything.target[kept])


def assert_splits_sonar(parts):
    X_train, X_test, y_train, y_test = parts
    X, y = load_sonar(return_X_y=True)
    assert X_train.shape == X_test.shape == (104, 60)
    assert X_train.dtype == np.float64
    assert np.issubdtype(y_train.dtype, np.integer)
    together = np.column_stack([np.vstack([X_train, X_test]), np.concatenate([y_train, y_test])])
    np.testing.assert_array_equal(np.unique(together, axis=0), np.unique(np.column_stack([X, y]), axis=0))


def test_half_split_is_stratified_and_repeatable():
    parts = load_sonar(split="half")
    assert_splits_sonar(parts)
    assert np.bincount(parts[2]).tolist() == [48, 56]
    for part, again in zip(parts, load_sonar(split="half"), strict=True):
        np.testing.assert_array_equal(part, again)


@pytest.mark.parametrize("set_variable", [True, False], ids=["no-file", "no-variable"])
def test_aspect_without_the_original_warns_and_halves(monkeypatch, tmp_path, set_variable):
    monkeypatch.delenv("ADATRON_DATA", raising=False)
    if set_variable:
        monkeypatch.setenv("ADATRON_DATA", str(tmp_path))
    with pytest.warns(UserWarning, match="seeded half split instead"):
        parts = load_sonar(split="aspect")
    for part, half in zip(parts, load_sonar(split="half"), strict=True):
        np.testing.assert_array_equal(part, half)


def test_aspect_reads_the_named_directory(monkeypatch, tmp_path):
    X, y = load_sonar(return_X_y=True)
    (tmp_path / "sonar").mkdir()
    with gzip.open(tmp_path / "sonar" / "sonar.csv.gz", "wt") as stream:
        print("id,split," + ",".join(f"f{i}" for i in range(1, 61)) + ",class", file=stream)
        for i, (row, label) in enumerate(zip(X, y, strict=True)):
            print(i, "test" if i % 4 else "train", *row, "RM"[label], sep=",", file=stream)
    monkeypatch.setenv("ADATRON_DATA", str(tmp_path))
    X_train, X_test, y_train, y_test = load_sonar(split="aspect")
    np.testing.assert_array_equal(X_train, X[::4])
    np.testing.assert_array_equal(y_train, y[::4])
    assert X_test.shape == (156, 60)
    assert y_test.shape == (156,)


@needs_data
def test_aspect_split_is_the_original():
    parts = load_sonar(split="aspect")
    assert_splits_sonar(parts)
    assert np.bincount(parts[2]).tolist() == [55, 49]
    assert np.bincount(parts[3]).tolist() == [42, 62]


def test_unknown_split_is_named():
    with pytest.raises(ValueError, match="split='angle' is not known: use 'aspect', 'half' or None"):
        load_sonar(split="angle")


def test_split_of_frames_is_refused():
    with pytest.raises(ValueError, match="as_frame=True does not go with split='half'"):
        load_sonar(split="half", as_frame=True)


@needs_data
def test_sonar_equals_the_original():
    original = read_original("sonar/sonar.csv.gz")[1:]
    rocks_then_mines = sorted(original, key=lambda row: row[-1] == "M")
    sonar = load_sonar()
    np.testing.assert_array_equal(sonar.data, to_numbers([row[2:-1] for row in rocks_then_mines]))
    assert [sonar.target_names[t] for t in sonar.target] == [row[-1] for row in rocks_then_mines]


@needs_data
@pytest.mark.parametrize(
    ("load", "relative_path", "first_feature", "codes"),
    [
        (load_all_wisconsin, "uci/breast-cancer-wisconsin.data.gz", 1, ["2", "4"]),
        (load_ionosphere, "uci/ionosphere.data.gz", 0, ["b", "g"]),
        (load_pima, "uci/pima-indians-diabetes.data.gz", 0, ["0", "1"]),
    ],
)
def test_uci_set_equals_the_original(load, relative_path, first_feature, codes):
    original = read_original(relative_path)
    bunch = load()
    np.testing.assert_array_equal(bunch.data, to_numbers([row[first_feature:-1] for row in original]))
    assert [codes[t] for t in bunch.target] == [row[-1] for row in original]
