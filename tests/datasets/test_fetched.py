"""The fetched sets: what they hold, and what they refuse; the download is in test_fetch_download.py."""

import gzip
import io
import lzma

import numpy as np
import pytest
from sklearn.svm import SVC
from tests.data_dir import needs_data

from adatron.datasets import (
    fetch_adult,
    fetch_astroparticle,
    fetch_ida,
    fetch_usps,
    fetch_web,
    retrieval,
)
from adatron.datasets.retrieval import DIGESTS, SOURCES, digest, retrieve


def sorted_rows(X, y):
    table = np.column_stack([X, y])
    return table[np.lexsort(table.T)]


@needs_data
@pytest.mark.parametrize("name", SOURCES)
def test_files_of_the_reference_data_have_the_recorded_digest(name):
    assert digest(retrieve(name, None, False)) == DIGESTS[name]


def test_every_set_has_a_digest_of_its_own():
    assert set(SOURCES) == set(DIGESTS)
    assert len(set(DIGESTS.values())) == len(DIGESTS)


@needs_data
@pytest.mark.parametrize(
    ("fetch", "part", "rows", "positives", "n_features"),
    [
        (fetch_adult, 1, (1605, 30956), (395, 7446), 123),
        (fetch_adult, 2, (2265, 30296), (572, 7269), 123),
        (fetch_adult, 3, (3185, 29376), (773, 7068), 123),
        (fetch_adult, 9, (32561, 16281), (7841, 3846), 123),
        (fetch_web, 1, (2477, 47272), (72, 1407), 300),
        (fetch_web, 7, (24692, 25057), (740, 739), 300),
    ],
)
def test_adult_and_web_have_the_known_counts(fetch, part, rows, positives, n_features):
    bunch = fetch(part)
    parts = [(bunch.data, bunch.target), (bunch.data_test, bunch.target_test)]
    for (X, y), n_rows, n_positive in zip(parts, rows, positives, strict=True):
        assert X.format == "csr"
        assert X.shape == (n_rows, n_features)
        assert X.indices.dtype == X.indptr.dtype == np.int32
        assert set(X.data) == {1.0}
        assert np.unique(y).tolist() == [-1, 1]
        assert (y == 1).sum() == n_positive


@needs_data
def test_w8a_has_no_test_part():
    web = fetch_web(8)
    assert web.data.shape == (49749, 300)
    assert web.data_test is None
    assert web.target_test is None
    assert "test part is not offered" in web.DESCR


def test_w8a_as_arrays_is_refused_before_anything_is_read():
    with pytest.raises(ValueError, match="return_X_y=True needs a test part and part=8 has none"):
        fetch_web(8, return_X_y=True)


@needs_data
def test_usps_has_the_known_digits():
    usps = fetch_usps()
    assert np.bincount(usps.target).tolist() == [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]
    assert np.bincount(usps.target_test).tolist() == [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]
    assert usps.data.shape == (7291, 256)
    assert (usps.data.min(), usps.data.max()) == (-1.0, 1.0)
    assert not np.signbit(usps.data[usps.data == 0]).any()


@needs_data
def test_astroparticle_has_the_known_counts():
    X_train, X_test, y_train, y_test = fetch_astroparticle(return_X_y=True)
    assert X_train.shape == (3089, 4)
    assert X_test.shape == (4000, 4)
    assert np.bincount(y_train).tolist() == [1089, 2000]
    assert np.bincount(y_test).tolist() == [2000, 2000]


@needs_data
def test_a1a_gives_the_known_accuracy():
    # 25875 of 30956 with C = 1 and γ = 1/119 is what LIBSVM itself gives with its defaults.
    X_train, X_test, y_train, y_test = fetch_adult(1, return_X_y=True)
    predicted = SVC(gamma=1 / 119).fit(X_train, y_train).predict(X_test)
    assert (predicted == y_test).sum() == 25875


@needs_data
@pytest.mark.parametrize("name", retrieval.IDA_WITH_SPLITS)
def test_ida_realizations_cut_all_rows_in_two(name):
    whole = fetch_ida(name)
    assert whole.data_test is None
    assert np.unique(whole.target).tolist() == [-1, 1]
    table = sorted_rows(whole.data, whole.target)
    training_parts = set()
    for realization in range(1, 11):
        X_train, X_test, y_train, y_test = fetch_ida(name, realization, return_X_y=True)
        together = sorted_rows(np.vstack([X_train, X_test]), np.concatenate([y_train, y_test]))
        np.testing.assert_array_equal(together, table)
        training_parts.add(sorted_rows(X_train, y_train).tobytes())
    assert len(training_parts) == (9 if name == "image" else 10)  # 1 and 10 of image are the same


@needs_data
@pytest.mark.parametrize(
    ("name", "shape", "counts"),
    [
        ("flare_solar", (1066, 9), [477, 589]),
        ("splice", (3175, 60), [1648, 1527]),
        ("thyroid", (215, 5), [150, 65]),
        ("twonorm", (7400, 20), [3697, 3703]),
    ],
)
def test_ida_sets_without_realizations(name, shape, counts):
    X, y = fetch_ida(name, return_X_y=True)
    assert X.shape == shape
    assert [(y == -1).sum(), (y == 1).sum()] == counts


@needs_data
@pytest.mark.parametrize(
    "fetch", [fetch_usps, fetch_astroparticle, lambda: fetch_adult(1), lambda: fetch_ida("heart", 3)]
)
def test_bunch_describes_itself(fetch):
    bunch = fetch()
    assert set(bunch) == {"data", "target", "data_test", "target_test", "DESCR"}
    for word in ("Source:", "Paper:", "Licence:", "ADATRON_DATA"):
        assert word in bunch.DESCR
    assert "\n## " not in bunch.DESCR


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fetch_adult(4), "part=4 is not offered: use one of 1, 2, 3, 9."),
        (lambda: fetch_adult("1"), "part='1' is not offered: use one of 1, 2, 3, 9."),
        (lambda: fetch_web(2), "part=2 is not offered: use one of 1, 7, 8."),
        (lambda: fetch_ida("diabetis"), "name='diabetis' is not offered: use one of 'banana', "),
        (lambda: fetch_ida("banana", 0), "realization=0 is not offered: use one of 1, 2, "),
        (lambda: fetch_ida("banana", 11), "realization=11 is not offered: use one of 1, 2, "),
        (lambda: fetch_ida("splice", 1), "realization=1: splice has no realizations here"),
    ],
)
def test_unknown_part_name_or_realization_is_named(call, message):
    with pytest.raises(ValueError) as raised:
        call()
    assert str(raised.value).startswith(message)


def test_damaged_file_of_the_data_directory_is_named(monkeypatch, tmp_path):
    (tmp_path / "libsvm").mkdir()
    for name in ("svmguide1.xz", "svmguide1.t.xz"):
        (tmp_path / "libsvm" / name).write_bytes(lzma.compress(b"1 1:2\n")[:-20])
    monkeypatch.setenv("ADATRON_DATA", str(tmp_path))
    with pytest.raises(OSError, match=r"Cannot read .*svmguide1\.xz and .*svmguide1\.t\.xz: EOFError"):
        fetch_astroparticle()


def test_file_that_unpacks_to_more_than_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr(retrieval, "_LARGEST_UNPACKED", 10)
    with pytest.raises(ValueError, match=r"zip\.train\.gz has more than 10 bytes unpacked"):
        retrieval.unpack("zip.train.gz", io.BytesIO(gzip.compress(bytes(11))))
