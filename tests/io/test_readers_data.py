"""Real files: the bundled sets, and the public benchmark sets where they are."""

import csv
import lzma
from importlib.resources import files
from time import process_time

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from adatron import datasets
from adatron.io import read_table, split_target
from tests.data_dir import data_dir, needs_data

BUNDLED = ["breast_cancer_wisconsin", "ionosphere", "pima", "sonar"]


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets(name):
    path = files("adatron.datasets") / "data" / f"{name}.csv"
    features, y = split_target(read_table(path, impute=True))
    options = {"complete": False} if name == "breast_cancer_wisconsin" else {}
    bunch = getattr(datasets, f"load_{name}")(**options)
    assert features.target == "class"
    assert features.columns == bunch.feature_names
    np.testing.assert_array_equal(features.to_matrix(), bunch.data)
    assert y.tolist() == [bunch.target_names[label] for label in bunch.target]


def test_bundled_set_with_gaps_names_the_first():
    path = files("adatron.datasets") / "data" / "breast_cancer_wisconsin.csv"
    with pytest.raises(ValueError, match=r":25:11: missing value in column 'bare_nuclei' \(16 of 699\)"):
        read_table(path)


@needs_data
@pytest.mark.parametrize("name", ["a1a", "a1a.t", "svmguide1", "svmguide1.t", "housing_scale", "w1a"])
def test_svmlight_sets_are_read_as_scikit_learn_reads_them(name):
    path = data_dir() / "libsvm" / f"{name}.xz"
    table = read_table(path)
    with lzma.open(path, "rb") as stream:
        X, y = load_svmlight_file(stream, zero_based=False)
    assert table.X.shape == X.shape
    np.testing.assert_array_equal(table.X.data, X.data)
    np.testing.assert_array_equal(table.X.indices, X.indices)
    np.testing.assert_array_equal(table.X.indptr, X.indptr)
    np.testing.assert_array_equal(table.y, y)


def test_svmlight_labels_of_a1a():
    assert read_table(data_dir() / "libsvm" / "a1a.xz").spelling == {-1.0: "-1", 1.0: "+1"}


SETS = {
    "regression/cal_housing.csv.xz": (20640, 9, "longitude", []),
    "regression/abalone.data.gz": (4177, 9, "column_1", [0]),
    "regression/housing.data.gz": (506, 14, "column_1", []),
    "uci/satimage.csv.xz": (6435, 37, "x.1", [36]),
    "uci/letter.csv.xz": (20000, 17, "lettr", [0]),
    "uci/pima_ripley.tr.csv.gz": (200, 8, "npreg", [7]),
    "uci/Skin_NonSkin.txt.xz": (245057, 4, "column_1", []),
}


@needs_data
@pytest.mark.parametrize("name", SETS)
def test_tables_have_their_published_shape(name):
    n_rows, n_columns, first, text_columns = SETS[name]
    table = read_table(data_dir() / name)
    assert (table.n_rows, len(table.columns), table.columns[0]) == (n_rows, n_columns, first)
    assert [i for i, kind in enumerate(table.kinds) if kind == "text"] == text_columns
    assert table.missing == {}


@needs_data
def test_cells_of_the_housing_table():
    path = data_dir() / "regression" / "cal_housing.csv.xz"
    with lzma.open(path, "rt") as stream:
        _, *rows = csv.reader(stream)
    np.testing.assert_array_equal(read_table(path).to_matrix(), np.array(rows, dtype=float))


@needs_data
def test_classes_of_satimage():
    features, y = split_target(read_table(data_dir() / "uci" / "satimage.csv.xz"))
    counts = dict(zip(*np.unique(y, return_counts=True), strict=True))
    assert features.to_matrix().shape == (6435, 36)
    assert sorted(counts.values()) == [626, 703, 707, 1358, 1508, 1533]
    assert "very damp grey soil" in counts


@needs_data
@pytest.mark.parametrize(
    ("name", "seconds"), [("regression/cal_housing.csv.xz", 1.0), ("libsvm/a9a.xz", 2.0)]
)
def test_reading_is_fast(name, seconds):
    read_table(data_dir() / name)  # imports
    began = process_time()
    read_table(data_dir() / name)
    assert process_time() - began < seconds
