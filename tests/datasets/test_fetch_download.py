"""The download, from a server on this machine: what is kept, and what each failure says."""

import gzip
import io
import lzma
import socket
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from scipy.sparse import issparse
from tests.data_dir import data_dir, needs_data
from tests.datasets.local_server import LocalServer

from adatron.datasets import fetch_adult, fetch_astroparticle, retrieval
from adatron.datasets.retrieval import DIGESTS, SOURCES, digest, retrieve

TRAIN, TEST = b"1 1:0.5 4:-2\n0 2:1e-3\n", b"1 3:4\n"
SVMGUIDE1 = {"svmguide1": TRAIN, "svmguide1.t": TEST}


@pytest.fixture
def reference():
    """The directory of reference data; asked for before the server, which hides it."""
    return data_dir()


@pytest.fixture
def server(monkeypatch):
    """A server that stands for all public ones, asked by a machine without ADATRON_DATA."""
    server = LocalServer()
    monkeypatch.delenv("ADATRON_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    for name in retrieval.ADDRESSES:
        monkeypatch.setitem(retrieval.ADDRESSES, name, server.url)
    yield server
    server.close()


@pytest.fixture
def small_astroparticle(server, monkeypatch):
    """The server has a small set under the name of svmguide1, and its digest is the expected one."""
    server.files = dict(SVMGUIDE1)
    arrays = SOURCES["svmguide1"].read([io.BytesIO(TRAIN), io.BytesIO(TEST)])
    monkeypatch.setitem(DIGESTS, "svmguide1", digest(arrays))
    return server


def assert_same_arrays(first, second):
    assert list(first) == list(second)
    for key, array in first.items():
        other = second[key]
        assert array.dtype == other.dtype
        assert issparse(array) == issparse(other)
        for field in ("data", "indices", "indptr") if issparse(array) else ():
            np.testing.assert_array_equal(getattr(array, field), getattr(other, field), strict=True)
        if not issparse(array):
            np.testing.assert_array_equal(array, other)


def kept_files(data_home):
    return [str(path.relative_to(data_home)) for path in data_home.rglob("*") if path.is_file()]


def test_data_directory_comes_first(small_astroparticle, monkeypatch, tmp_path):
    (tmp_path / "libsvm").mkdir()
    for name, content in SVMGUIDE1.items():
        (tmp_path / "libsvm" / f"{name}.xz").write_bytes(lzma.compress(content))
    monkeypatch.setenv("ADATRON_DATA", str(tmp_path))
    bunch = fetch_astroparticle(data_home=tmp_path / "home")
    np.testing.assert_array_equal(bunch.data, [[0.5, 0, 0, -2], [0, 1e-3, 0, 0]])
    assert small_astroparticle.asked == []
    assert not (tmp_path / "home").exists()


def test_data_directory_without_the_test_part_is_not_enough(small_astroparticle, monkeypatch, tmp_path):
    (tmp_path / "libsvm").mkdir()
    (tmp_path / "libsvm" / "svmguide1.xz").write_bytes(lzma.compress(TRAIN))
    monkeypatch.setenv("ADATRON_DATA", str(tmp_path))
    fetch_astroparticle(data_home=tmp_path / "home")
    assert small_astroparticle.asked == ["svmguide1", "svmguide1.t"]


def test_download_is_kept_and_not_repeated(small_astroparticle, tmp_path):
    first = fetch_astroparticle(data_home=tmp_path)
    np.testing.assert_array_equal(first.data, [[0.5, 0, 0, -2], [0, 1e-3, 0, 0]])
    np.testing.assert_array_equal(first.target, [1, 0])
    np.testing.assert_array_equal(first.data_test, [[0, 0, 4, 0]])
    np.testing.assert_array_equal(first.target_test, [1])
    assert sorted(path.name for path in (tmp_path / "adatron").iterdir()) == ["svmguide1", "svmguide1.t"]
    small_astroparticle.files = {}
    second = fetch_astroparticle(data_home=tmp_path, download_if_missing=False)
    assert small_astroparticle.asked == ["svmguide1", "svmguide1.t"]
    for key in ("data", "target", "data_test", "target_test"):
        np.testing.assert_array_equal(first[key], second[key])


def test_default_home_is_that_of_scikit_learn(small_astroparticle, monkeypatch, tmp_path):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    fetch_astroparticle()
    assert (tmp_path / "adatron" / "svmguide1").is_file()


def test_answer_without_a_length_is_read_to_its_end(small_astroparticle, tmp_path):
    small_astroparticle.fault = "unannounced"
    assert fetch_astroparticle(data_home=tmp_path).data.shape == (2, 4)


def serve_originals(server, source, files):
    """Let the server have the reference data in the form of the public servers."""
    if source.address == "ida":
        with np.load(files / source.originals[0]) as original:
            server.files = {"benchmarks.mat": as_matlab(source.name.removeprefix("ida_"), dict(original))}
        return
    pack = partial(gzip.compress, compresslevel=1) if source.address == "usps" else bytes
    for original, name in zip(source.originals, source.files, strict=True):
        server.files[name] = pack(lzma.decompress((files / original).read_bytes()))


def as_matlab(name, original):
    """The public file has its rows in another order, one-based indices and 20 realizations or more."""
    rng = np.random.default_rng(0)
    n_rows = len(original["X"])
    order = rng.permutation(n_rows)
    place = np.argsort(order)
    some_split = rng.permutation(n_rows)[None]
    train = original.get("train", some_split[:, : n_rows // 2])
    test = original.get("test", some_split[:, n_rows // 2 :])
    noise = 1 + np.finfo(float).eps * rng.integers(-1, 2, original["X"].shape)
    struct = {
        "x": (original["X"] * noise)[order],
        "t": original["t"][order, None].astype(float),
        "train": np.vstack([place[train]] * 2).astype(np.uint16) + 1,
        "test": np.vstack([place[test]] * 2).astype(np.uint16) + 1,
    }
    file = io.BytesIO()
    scipy.io.savemat(file, {name: struct, "others": np.zeros(3)}, do_compression=True)
    return file.getvalue()


@needs_data
@pytest.mark.parametrize(
    "name",
    ["usps", "svmguide1", "a1a", "w8a", "ida_banana", "ida_titanic", "ida_thyroid", "ida_flare_solar"],
)
def test_download_gives_the_arrays_of_the_data_directory(name, reference, server, monkeypatch, tmp_path):
    source = SOURCES[name]
    serve_originals(server, source, reference)
    downloaded = retrieve(name, tmp_path, True)
    cached = retrieve(name, tmp_path, False)
    assert_same_arrays(downloaded, cached)
    monkeypatch.setenv("ADATRON_DATA", str(reference))
    original = retrieve(name, tmp_path, False)
    assert digest(original) == digest(downloaded)
    if source.address != "ida":  # where the order of equal rows is free
        assert_same_arrays(original, downloaded)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("truncated", r"the connection ended after 11 of 22 bytes"),
        ("silent", r"timed out"),
        ("garbage", r"the answer is incomplete or not HTTP"),
    ],
)
def test_faulty_server_is_one_error_that_names_both_ways(
    fault, reason, small_astroparticle, monkeypatch, tmp_path
):
    if fault == "silent":
        monkeypatch.setattr(retrieval, "_TIMEOUT", 0.2)
    small_astroparticle.fault = fault
    assert_advice(lambda: fetch_astroparticle(data_home=tmp_path), reason)
    assert kept_files(tmp_path) == []


def assert_advice(call, reason):
    with pytest.raises(OSError, match=reason) as raised:
        call()
    message = str(raised.value)
    assert "\n" not in message
    assert message.startswith(
        "svmguide1 is not on this machine: libsvm/svmguide1.xz and libsvm/svmguide1.t.xz"
    )
    assert "Either set the environment variable ADATRON_DATA to a directory with these files" in message
    assert "or call again with download_if_missing=True and a connection" in message


def test_missing_file_is_one_error_that_names_both_ways(small_astroparticle, tmp_path):
    del small_astroparticle.files["svmguide1.t"]
    reason = r"/svmguide1\.t could not be downloaded \(HTTP Error 404: Not Found\)"
    assert_advice(lambda: fetch_astroparticle(data_home=tmp_path), reason)
    assert kept_files(tmp_path) == []


def test_no_server_is_one_error_that_names_both_ways(server, monkeypatch, tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening: nobody answers here
        monkeypatch.setitem(retrieval.ADDRESSES, "libsvm", f"http://127.0.0.1:{unused.getsockname()[1]}/")
        assert_advice(lambda: fetch_astroparticle(data_home=tmp_path), r"svmguide1 could not be downloaded")
    assert kept_files(tmp_path) == []


def test_download_if_missing_false_does_not_ask_the_server(small_astroparticle, tmp_path):
    call = lambda: fetch_astroparticle(data_home=tmp_path, download_if_missing=False)  # noqa: E731
    assert_advice(call, "download_if_missing=False forbids the download")
    assert small_astroparticle.asked == []


def test_other_contents_are_refused_and_not_kept(server, tmp_path):
    server.files = dict(SVMGUIDE1)
    with pytest.raises(
        OSError, match=r"svmguide1: the SHA-256 of .* \(nothing was kept\) is \w{64}, not \w{64}"
    ):
        fetch_astroparticle(data_home=tmp_path)
    assert kept_files(tmp_path) == []


def test_unreadable_contents_are_refused_and_not_kept(server, tmp_path):
    server.files = {"a1a": b"<html>moved</html>", "a1a.t": b""}
    with pytest.raises(
        OSError, match=r"Cannot read the download of .*/a1a and .*/a1a\.t \(nothing was kept\)"
    ):
        fetch_adult(1, data_home=tmp_path)
    assert kept_files(tmp_path) == []


def test_too_large_file_is_refused(small_astroparticle, monkeypatch, tmp_path):
    monkeypatch.setattr(retrieval, "_LARGEST_DOWNLOAD", 21)
    assert_advice(lambda: fetch_astroparticle(data_home=tmp_path), "the file has more than 21 bytes")


def test_redirection_from_https_to_http_is_refused(monkeypatch):
    class Redirected(io.BytesIO):
        url = "http://example.org/file"

    monkeypatch.setattr(retrieval, "urlopen", lambda *_, **__: Redirected(b"content"))
    with pytest.raises(OSError, match="the server redirects to http://"):
        retrieval.download("https://example.org/file")


def test_public_addresses_are_https():
    assert all(
        address.startswith("https://") and address.endswith("/") for address in retrieval.ADDRESSES.values()
    )


def test_damaged_cache_is_named(small_astroparticle, tmp_path):
    fetch_astroparticle(data_home=tmp_path)
    cached = tmp_path / "adatron" / "svmguide1"
    cached.write_bytes(b"<html>")
    with pytest.raises(OSError, match=r"Cannot read .*svmguide1\.t \(delete to download again\): ValueError"):
        fetch_astroparticle(data_home=tmp_path)


def test_altered_cache_is_named(small_astroparticle, tmp_path):
    fetch_astroparticle(data_home=tmp_path)
    cached = tmp_path / "adatron" / "svmguide1"
    cached.write_bytes(cached.read_bytes().replace(b"0.5", b"0.6"))
    with pytest.raises(OSError, match=r"SHA-256 .*svmguide1\.t \(delete to download again\) is"):
        fetch_astroparticle(data_home=tmp_path)


def test_failed_write_leaves_nothing_behind(small_astroparticle, monkeypatch, tmp_path):
    write = Path.write_bytes

    def fail(path, content):
        write(path, content[:3])
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="No space left on device"):
        fetch_astroparticle(data_home=tmp_path)
    assert kept_files(tmp_path) == []
