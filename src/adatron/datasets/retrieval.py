"""The fetched sets: their files and readers, and how they are found or downloaded.

A set is a dictionary of arrays. Most have ``data``, ``target`` and, if there is a test part, ``data_test``
and ``target_test``. Those of the IDA repository have ``data``, ``target``, ``train`` and ``test``: the first
row of ``train`` holds the (zero-based) training rows of realization 1, and so on; without realizations
``train`` and ``test`` are empty.
"""

import gzip
import hashlib
import io
import lzma
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import numpy as np
import scipy.io
from scipy.sparse import csr_matrix, issparse
from sklearn.datasets import get_data_home, load_svmlight_file

from adatron.datasets.bundled import find_original

Arrays = dict[str, Any]
Reader = Callable[[Sequence[IO[bytes]]], Arrays]
ADDRESSES = {
    "libsvm": "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/",
    "usps": "https://hastie.su.domains/ElemStatLearn/datasets/",
    "ida": "https://raw.githubusercontent.com/tdiethe/gunnar_raetsch_benchmark_datasets/master/",
}
_PARTS = ("data", "target", "data_test", "target_test")
ADULT_PARTS, WEB_PARTS = (1, 2, 3, 9), (1, 7, 8)
IDA_WITH_SPLITS = ("banana", "breast_cancer", "german", "heart", "image", "ringnorm", "titanic", "waveform")
IDA_WITHOUT_SPLITS = ("flare_solar", "splice", "thyroid", "twonorm")
IDA_REALIZATIONS = 10
_IDA_DECIMALS = 12  # more than any value of the repository has
_TIMEOUT = 30.0  # seconds without a byte
_LARGEST_DOWNLOAD, _LARGEST_UNPACKED = 2**26, 2**28  # bytes; our files have 8 MB, and 13 MB unpacked
_OPEN: dict[str, Callable[[IO[bytes]], Any]] = {".gz": gzip.open, ".xz": lzma.open}
_DIGESTS = files("adatron.datasets") / "data" / "digests.txt"
DIGESTS = dict(line.split() for line in _DIGESTS.read_text(encoding="ascii").splitlines())


def unpack(name: str, stream: IO[bytes]) -> IO[bytes]:
    """Return the stream, decompressed into memory if the name ends in .gz or .xz."""
    suffix = name[name.rfind(".") :]
    if suffix not in _OPEN:
        return stream
    with _OPEN[suffix](stream) as unpacked:
        content = unpacked.read(_LARGEST_UNPACKED + 1)
    if len(content) > _LARGEST_UNPACKED:
        raise ValueError(f"{name} has more than {_LARGEST_UNPACKED} bytes unpacked")
    return io.BytesIO(content)


def read_svmlight(streams: Sequence[IO[bytes]], n_features: int, dense: bool = False) -> Arrays:
    """Read the training part and, if there is a second stream, the test part."""
    parts = []
    for stream in streams:
        X, y = load_svmlight_file(stream, n_features=n_features)
        X.sum_duplicates()
        X.eliminate_zeros()  # a9a.t begins with a zero in column 123, to show how many columns there are
        indices, indptr = (own.astype(np.int32) for own in (X.indices, X.indptr))  # SVC takes no others
        X = X.toarray() if dense else csr_matrix((X.data, indices, indptr), shape=X.shape)
        parts.append((X, y.astype(np.int64)))
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


def _name_parts(parts: Sequence[tuple[Any, Any]]) -> Arrays:
    return dict(zip(_PARTS, chain.from_iterable(parts), strict=False))


@dataclass(frozen=True)
class Source:
    """One set: its files on the web and in ADATRON_DATA, and how to read them."""

    name: str
    address: str
    files: tuple[str, ...]
    read: Reader
    originals: tuple[str, ...]
    read_originals: Reader | None = None  # where it is another


def _libsvm(name: str, n_features: int, *, dense: bool = False, has_test: bool = True) -> Source:
    files = (name, f"{name}.t") if has_test else (name,)
    read = partial(read_svmlight, n_features=n_features, dense=dense)
    return Source(name, "libsvm", files, read, tuple(f"libsvm/{file}.xz" for file in files))


def _ida(name: str) -> Source:
    read = partial(read_ida_mat, name=name, has_splits=name in IDA_WITH_SPLITS)
    return Source(f"ida_{name}", "ida", ("benchmarks.mat",), read, (f"ida/{name}.npz",), read_ida_npz)


_USPS_FILES, _USPS_ORIGINALS = ("zip.train.gz", "zip.test.gz"), ("usps/zip.train.xz", "usps/zip.test.xz")
_ALL = [
    Source("usps", "usps", _USPS_FILES, read_digits, _USPS_ORIGINALS),
    *(_libsvm(f"a{part}a", 123) for part in ADULT_PARTS),
    *(_libsvm(f"w{part}a", 300, has_test=part != 8) for part in WEB_PARTS),
    _libsvm("svmguide1", 4, dense=True),
    *map(_ida, IDA_WITH_SPLITS + IDA_WITHOUT_SPLITS),
]
SOURCES = {source.name: source for source in _ALL}


def retrieve(name: str, data_home: str | os.PathLike[str] | None, download_if_missing: bool) -> Arrays:
    """Return the arrays of a set; an OSError says what to do if they are not available."""
    source = SOURCES[name]
    originals = [path for path in map(find_original, source.originals) if path is not None]
    if len(originals) == len(source.originals):
        contents, where = [path.read_bytes() for path in originals], " and ".join(map(str, originals))
        return _parsed(source.read_originals or source.read, source.originals, contents, where)
    cached = [Path(get_data_home(data_home)) / "adatron" / file for file in source.files]
    urls = [ADDRESSES[source.address] + file for file in source.files]
    is_cached = all(path.is_file() for path in cached)
    if is_cached:
        contents, where = [path.read_bytes() for path in cached], " and ".join(map(str, cached))
        where += " (delete to download again)"
    elif download_if_missing:
        contents = [_downloaded(source, url) for url in urls]
        where = f"the download of {' and '.join(urls)} (nothing was kept)"
    else:
        raise OSError(_advice(source, "download_if_missing=False forbids the download"))
    arrays = _parsed(source.read, source.files, contents, where)
    found, expected = digest(arrays), DIGESTS[name]
    if found != expected:
        raise OSError(f"{name}: the SHA-256 of the arrays in {where} is {found}, not {expected}.")
    if not is_cached:
        cached[0].parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached[0].parent) as scratch:  # a file is whole or not there
            for path, content in zip(cached, contents, strict=True):
                complete = Path(scratch) / path.name
                complete.write_bytes(content)
                complete.replace(path)
    return arrays


def _parsed(read: Reader, names: Sequence[str], contents: Sequence[bytes], where: str) -> Arrays:
    try:
        return read([unpack(*pair) for pair in zip(names, map(io.BytesIO, contents), strict=True)])
    except Exception as error:  # each reader fails in its own way on a damaged file
        raise OSError(f"Cannot read {where}: {type(error).__name__}: {error}.") from error


def _downloaded(source: Source, url: str) -> bytes:
    try:
        return download(url)
    except OSError as error:
        raise OSError(_advice(source, f"{url} could not be downloaded ({error})")) from error


def _advice(source: Source, problem: str) -> str:
    return (
        f"{source.name} is not on this machine: {' and '.join(source.originals)} are in no directory that "
        f"ADATRON_DATA names, no earlier download was kept, and {problem}. Either set the environment "
        "variable ADATRON_DATA to a directory with these files, or call again with download_if_missing=True "
        "and a connection to the network."
    )


def download(url: str) -> bytes:
    """Return what is at the address; an OSError says why it is not all there."""
    try:
        with urlopen(Request(url, headers={"User-Agent": "adatron"}), timeout=_TIMEOUT) as response:
            if urlsplit(url).scheme != urlsplit(response.url).scheme:  # on http, anyone may answer
                raise OSError(f"the server redirects to {response.url}")
            content = response.read(_LARGEST_DOWNLOAD + 1)
            announced = response.headers.get("Content-Length", "")
    except HTTPException as error:
        raise OSError(f"the answer is incomplete or not HTTP ({error!r})") from error
    if len(content) > _LARGEST_DOWNLOAD:
        raise OSError(f"the file has more than {_LARGEST_DOWNLOAD} bytes")
    if announced.isdigit() and len(content) != int(announced):
        raise OSError(f"the connection ended after {len(content)} of {announced} bytes")
    return content


def digest(arrays: Arrays) -> str:
    """Return the SHA-256 of the arrays of a set, one after the other, however its files are packed.

    A sparse matrix counts as ``data``, ``indices`` and ``indptr`` of its canonical CSR form, after the line
    ``csr (rows, columns)``. A set of the IDA repository is the table of all rows with the label as last
    column, then the training and test tables of each realization, their rows sorted: equal rows are
    interchangeable there. Each array contributes the line ``dtype shape`` in ASCII, such as ``<f8 (7291,
    256)``, and then its elements in C order, little-endian: numbers as ``<f8``, labels as ``<i8``, indices as
    ``<i4``, zeros without a sign.
    """
    tables = [arrays[key] for key in _PARTS if key in arrays]
    if "train" in arrays:
        rows = np.column_stack([arrays["data"], arrays["target"]])
        pairs = zip(arrays["train"], arrays["test"], strict=True)
        tables = [rows, *(rows[part] for pair in pairs for part in pair)]
        tables = [table[np.lexsort(table.T[::-1])] for table in tables]
    sha = hashlib.sha256()
    for table in tables:
        if issparse(table):
            sha.update(f"csr {table.shape}\n".encode())
        for piece in (table.data, table.indices, table.indptr) if issparse(table) else (table,):
            kind, width = piece.dtype.kind, 4 if piece.dtype.itemsize == 4 else 8
            piece = np.ascontiguousarray(piece, dtype=f"<{kind}{width}")
            piece = piece + 0.0 if kind == "f" else piece  # drops the sign of zeros
            sha.update(f"{piece.dtype.str} {piece.shape}\n".encode() + piece.tobytes())
    return sha.hexdigest()
