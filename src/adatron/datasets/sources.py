"""The fetched sets: their names, files and readers.

A set is a dictionary of arrays. Most have ``data``, ``target`` and, if there is a test part, ``data_test``
and ``target_test``. Those of the IDA repository have ``data``, ``target``, ``train`` and ``test``: the first
row of ``train`` holds the (zero-based) training rows of realization 1, and so on; without realizations
``train`` and ``test`` are empty.

>>> from io import BytesIO
>>> from adatron.datasets.sources import read_svmlight
>>> read_svmlight([BytesIO(b"+1 1:0.5 3:2\\n-1 2:1\\n")], n_features=3)["data"].toarray()
array([[0.5, 0. , 2. ],
       [0. , 1. , 0. ]])
"""

import gzip
import io
import lzma
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

import numpy as np
import scipy.io
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

Arrays = dict[str, Any]
Reader = Callable[[Sequence[IO[bytes]]], Arrays]

ADDRESSES = {
    "libsvm": "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/",
    "usps": "https://hastie.su.domains/ElemStatLearn/datasets/",
    "ida": "https://raw.githubusercontent.com/tdiethe/gunnar_raetsch_benchmark_datasets/master/",
}
IDA_WITH_SPLITS = ("banana", "breast_cancer", "german", "heart", "image", "ringnorm", "titanic", "waveform")
IDA_WITHOUT_SPLITS = ("flare_solar", "splice", "thyroid", "twonorm")
IDA_REALIZATIONS = 10
_IDA_DECIMALS = 12  # more than any value of the repository has
_LARGEST = 256 * 2**20  # bytes; the largest of our files has 13 MB
_OPEN: dict[str, Callable[[IO[bytes]], Any]] = {".gz": gzip.open, ".xz": lzma.open}


@dataclass(frozen=True)
class Source:
    """One set: its files in ADATRON_DATA and on the web, and a reader for each."""

    name: str
    originals: tuple[str, ...]
    read_originals: Reader
    address: str
    files: tuple[str, ...]
    read_files: Reader

    @property
    def urls(self) -> list[str]:
        return [ADDRESSES[self.address] + file for file in self.files]


def usps() -> Source:
    originals = ("usps/zip.train.xz", "usps/zip.test.xz")
    return Source("usps", originals, read_digits, "usps", ("zip.train.gz", "zip.test.gz"), read_digits)


def adult(part: int) -> Source:
    return _libsvm(f"a{part}a", n_features=123)


def web(part: int) -> Source:
    return _libsvm(f"w{part}a", n_features=300, has_test=part != 8)


def astroparticle() -> Source:
    return _libsvm("svmguide1", n_features=4, dense=True)


def ida(name: str) -> Source:
    read_files = partial(read_ida_mat, name=name, has_splits=name in IDA_WITH_SPLITS)
    return Source(f"ida_{name}", (f"ida/{name}.npz",), read_ida_npz, "ida", ("benchmarks.mat",), read_files)


def _libsvm(name: str, n_features: int, dense: bool = False, has_test: bool = True) -> Source:
    files = (name, f"{name}.t") if has_test else (name,)
    read = partial(read_svmlight, n_features=n_features, dense=dense)
    return Source(name, tuple(f"libsvm/{file}.xz" for file in files), read, "libsvm", files, read)


def unpack(name: str, stream: IO[bytes]) -> IO[bytes]:
    """Return the stream, decompressed into memory if the name ends in .gz or .xz."""
    suffix = name[name.rfind(".") :]
    if suffix not in _OPEN:
        return stream
    with _OPEN[suffix](stream) as unpacked:
        content = unpacked.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError(f"{name} has more than {_LARGEST} bytes unpacked")
    return io.BytesIO(content)


def read_svmlight(streams: Sequence[IO[bytes]], n_features: int, dense: bool = False) -> Arrays:
    """Read the training part and, if there is a second stream, the test part."""
    parts = []
    for stream in streams:
        X, y = load_svmlight_file(stream, n_features=n_features)
        parts.append((X.toarray() if dense else _with_short_indices(X), y.astype(np.int64)))
    return _name_parts(parts)


def read_digits(streams: Sequence[IO[bytes]]) -> Arrays:
    """Read tables of a digit and its 256 grey values a row."""
    tables = [np.loadtxt(stream) for stream in streams]
    # Adding 0 turns the -0.000 of the tables into 0.
    return _name_parts([(table[:, 1:] + 0.0, table[:, 0].astype(np.int64)) for table in tables])


def read_ida_npz(streams: Sequence[IO[bytes]]) -> Arrays:
    """Read one set from its own file: X, t and, for most sets, the indices of ten realizations."""
    with np.load(streams[0], allow_pickle=False) as file:
        indices = {key: file[key] if key in file else np.empty((0, 0), np.intp) for key in ("train", "test")}
        return {"data": file["X"], "target": file["t"].astype(np.int64)} | indices


def read_ida_mat(streams: Sequence[IO[bytes]], name: str, has_splits: bool) -> Arrays:
    """Read one set from the MATLAB file of all sets, a struct x, t, train, test with one-based indices.

    The rows are brought into the order of the single files: training part of realization 1, then its test
    part. Rounding takes away what another decimal conversion may have left in the last bit.
    """
    struct = scipy.io.loadmat(streams[0], variable_names=[name])[name][0, 0]
    train, test = (struct[key].astype(np.intp)[:IDA_REALIZATIONS] - 1 for key in ("train", "test"))
    order = np.concatenate([train[0], test[0]])
    new_row = np.empty(len(struct["x"]), dtype=np.intp)
    new_row[order] = np.arange(len(order))
    n_splits = IDA_REALIZATIONS if has_splits else 0
    return {
        "data": np.round(struct["x"].astype(np.float64)[order], _IDA_DECIMALS) + 0.0,
        "target": struct["t"].ravel()[order].astype(np.int64),
        "train": new_row[train[:n_splits]],
        "test": new_row[test[:n_splits]],
    }


def _with_short_indices(X: csr_matrix) -> csr_matrix:
    """The matrix in canonical form, without the 64-bit indices that scikit-learn's SVC refuses."""
    X.sum_duplicates()
    X.eliminate_zeros()  # a9a.t begins with a zero in column 123, to show how many columns there are
    return csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _name_parts(parts: Sequence[tuple[Any, Any]]) -> Arrays:
    keys = (("data", "target"), ("data_test", "target_test"))
    return {
        key: array
        for pair, part in zip(keys, parts, strict=False)
        for key, array in zip(pair, part, strict=True)
    }
