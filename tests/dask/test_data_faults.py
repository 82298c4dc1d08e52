"""Data that is wrong in one partition, or spread unevenly (rows X7 to X11 of docs/faults.md)."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import dask
from adatron import SVC, EnsembleSVC, KernelPerceptron, SupportVectorClustering
from adatron.datasets import make_waveform
from adatron.estimators.dask import dask_rows
from adatron.exceptions import ClusterError, InfeasibleError
from adatron.gram import cluster as cluster_module
from adatron.gram.cluster import Cluster
from adatron.solvers.kernel_adatron import _visit

X, y = make_waveform(120, random_state=0)
MODEL = {"solver": "multiplicative", "rank": 20, "random_state": 0, "max_iter": 4}


def in_partitions(X, y, lengths):
    return da.from_array(X, chunks=(tuple(lengths), X.shape[1])), y


def fitted(rows, labels, **changes):
    with pytest.warns(ConvergenceWarning):
        return SVC(**(MODEL | changes)).fit(rows, labels)


@pytest.mark.fault("X7")
@pytest.mark.parametrize("lengths", [(119, 1), (50, 0, 70), (1, 118, 1)])
def test_skew_and_empty_partitions(client, lengths):
    expected = fitted(X, y).decision_function(X)
    model = fitted(*in_partitions(X, y, lengths))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.fault("X7")
def test_partitions_of_one_class(client):
    order = np.argsort(y, kind="stable")
    expected = fitted(X[order], y[order]).decision_function(X)
    model = fitted(*in_partitions(X[order], y[order], (int((y == y.min()).sum()), int((y != y.min()).sum()))))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.fault("X7")
def test_skewed_partitions_are_cut_to_even_blocks(client):
    rows, _, _ = dask_rows(SVC(rank=20), da.from_array(X, chunks=((118, 1, 1), X.shape[1])))
    assert np.diff(rows.bounds).tolist() == [56, 64]  # they begin with a group of 8 rows
    np.testing.assert_array_equal(rows[:], X)


@pytest.mark.fault("X8")
def test_a_task_that_runs_twice_changes_nothing():
    random = np.random.default_rng(0)
    Z, alpha = random.normal(size=(9, 3)), np.full((9, 1), 0.2)
    fixed = (np.ones((9, 1)), np.ones((9, 1)), np.ones((9, 1)), np.ones(9), np.full(9, 0.5))
    carried = (random.normal(size=(3, 1)), (np.zeros(1), np.zeros(1), np.zeros(1)))
    for array in (Z, alpha, *fixed, carried[0], *carried[1]):
        array.setflags(write=False)
    first, again = (_visit(Z, fixed, alpha, carried) for _ in range(2))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1][0], again[1][0])


def _set_version(version):
    from adatron.gram import cluster

    cluster.__version__ = version


@pytest.mark.fault("X9")
def test_other_versions_on_the_workers(client):
    client.run(_set_version, "0.0.1")
    try:
        with pytest.raises(ClusterError, match=r"worker .* has adatron 0\.0\.1 instead of"):
            SVC(rank=5).fit(da.from_array(X), y)
    finally:
        client.run(_set_version, cluster_module.__version__)


@pytest.mark.fault("X10")
def test_a_partition_with_another_dtype_is_named(client):
    def spoil(block, block_info=None):
        return block.astype("float32") if block_info[0]["chunk-location"][0] == 1 else block

    rows = da.from_array(X, chunks=(40, -1)).map_blocks(spoil, dtype=float)
    with pytest.raises(ValueError, match="partition 1 of X has dtype float32, the collection says float64"):
        SVC(rank=5).fit(rows, y)


@pytest.mark.fault("X10")
def test_a_partition_with_other_columns_is_named(client):
    table = pd.DataFrame(X[:, :2], columns=["a", "b"])
    parts = [dask.delayed(part) for part in (table[:50], table[50:90].rename(columns={"b": "c"}), table[90:])]
    with pytest.raises(ValueError, match=r"partition 1 of X has the columns \['a', 'c'\]"):
        SVC(rank=5).fit(dd.from_delayed(parts, meta=table[:0], verify_meta=False), y)


@pytest.mark.fault("X11")
def test_blocks_are_sized_to_the_memory_of_a_worker(client, monkeypatch):
    monkeypatch.setattr(
        Cluster, "memory_of_thread", 10 * 8 * 20 * 13
    )  # a tenth has room for 13 rows of the factor
    rows, _, _ = dask_rows(SVC(rank=20), da.from_array(X[:, :5]))
    assert np.diff(rows.bounds).max() <= 13
    np.testing.assert_array_equal(rows[np.array([100, 3, 3])], X[[100, 3, 3], :5])


@pytest.mark.fault("X11")
def test_a_matrix_too_large_for_the_workers_is_refused(client, monkeypatch):
    small = [{"threads": 1, "memory": 100_000, "versions": {}}] * 2
    monkeypatch.setattr(Cluster, "workers", small)
    with pytest.raises(ValueError, match=r"120 × 120 kernel matrix takes .* set rank"):
        SVC(solver="m3", fit_intercept=False).fit(da.from_array(X), y)


def test_missing_values_are_named_by_row_column_and_partition(client):
    spoiled = X.copy()
    spoiled[77, 4] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN: 1 value.* row 77, column 4 \(partition 1\)"):
        SVC(rank=5).fit(da.from_array(spoiled, chunks=(50, -1)), y)


def test_errors_say_what_to_set(client):
    rows = da.from_array(X)
    with pytest.raises(ValueError, match="low-rank kernel only; set rank"):
        SVC().fit(rows, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        EnsembleSVC(rank=5).fit(rows, y[1:])
    with pytest.raises(ValueError, match="crammer_singer' takes rows in memory"):
        SVC(multi_class="crammer_singer").fit(rows, y)
    with pytest.raises(ValueError, match=r"KernelPerceptron takes rows in memory.*X\.compute"):
        KernelPerceptron().fit(rows, y)
    with pytest.raises(ValueError, match="takes rows in memory"):
        SupportVectorClustering().fit(rows)
    with pytest.raises(ValueError, match="Expected 2D array"):
        SVC(rank=5).fit(rows[:, 0], y)


def test_equal_rows_of_other_classes_have_no_hard_margin(client):
    doubled, labels = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    with pytest.raises(InfeasibleError, match="rows 0 and 120 of X coincide"):
        SVC(C=np.inf, fit_intercept=False, solver="rho", rank=20).fit(da.from_array(doubled), labels)


def test_equal_rows_are_merged_as_in_memory(client):
    doubled, labels = np.vstack([X, X[:40]]), np.append(y, y[:40])
    model = EnsembleSVC(rank=20, random_state=0, max_iter=4)
    with pytest.warns(ConvergenceWarning):
        expected = model.fit(doubled, labels).decision_function(X)
    with pytest.warns(ConvergenceWarning):
        found = model.fit(da.from_array(doubled, chunks=(90, -1)), labels).decision_function(X)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-9)


def test_no_client_is_an_error_that_says_so():
    with pytest.raises(ClusterError, match=r"no dask\.distributed Client is running"):
        SVC(rank=5).fit(da.from_array(X), y)
