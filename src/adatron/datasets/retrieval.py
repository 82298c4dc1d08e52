"""The fetched sets: their files and readers, and how they are found or downloaded.

A set is a dictionary of arrays. Most have ``data``, ``target`` and, if there is a test part, ``data_test``
and ``target_test``. Those of the IDA repository have ``data``, ``target``, ``train`` and ``test``: the first
row of ``train`` holds the (zero-based) training rows of realization 1, and so on; without realizations
``train`` and ``test`` are empty.

>>> from io import BytesIO
>>> from adatron.datasets.retrieval import read_svmlight
>>> read_svmlight([BytesIO(b"+1 1:0.5 3:2\\n-1 2:1\\n")], n_features=3)["data"].toarray()
array([[0.5, 0. , 2. ],
       [0. , 1. , 0. ]])
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

DIGESTS = {
    "a1a": "25e0e0930ac484f6505b32a961d7f3fb411e9e24a10efc92723743a867fa2da4",
    "a2a": "64d2e121223371eb0eb7139f7636da07694744484b8b404191e2d410b2121b39",
    "a3a": "149a89816b445452cc9693031a18e916e37f0750ca8df8b83c18d62dccc611d8",
    "a9a": "713c8f0d745b6de5bb6bc7a8062f06812a516bba039e8d04bd4b1c080c9a0bac",
    "svmguide1": "74ba7c5ac0b2c85b4e3fe141c9fec3304c395b14798222e702afd6c3e0660ba3",
    "ida_banana": "63653d6852b1fa53428ba98b6bdb4be8739613e5b94ff41d93142dfae5bc16e1",
    "ida_breast_cancer": "a31bd92cb87309a5ab5922610d3bc626390a5e2571b9f282abb7d6ae910d143e",
    "ida_flare_solar": "75e9f4b54321718eaed867cd548ac7ee3320e580f88fa8ca41568c2dfb66734c",
    "ida_german": "dc8a8fe238403cbcb81ee62eda5a6b0e6f4e185c3983c33586d1292b68493744",
    "ida_heart": "d74015078a9805b60ae1db18b269f6e7090baf61ba739a0f7c5d2eaed3b63b34",
    "ida_image": "d7925f7aa4b22555ff0455f4b12f95cdaaa036fc1878446233c2a1a8d0c1c1c1",
    "ida_ringnorm": "f5df45bc571d336d384bd382a8e799c5b512e8df8a13e32af90765701d4586ea",
    "ida_splice": "6471c7b9bcfe31b9b330015c51348c025b11bae7982bdf66c918bc412ca0d575",
    "ida_thyroid": "90c091c18bcb34e11d60518ea7bb90ad65504c98e1d99f88340cc80848955c4a",
    "ida_titanic": "4bb976105db98b135f5b4ee74a4cf3f7656cb38e25835c3ba5636956ffb110f2",
    "ida_twonorm": "296d0fec18d33ab98ac53a5947a29d9eb8a3ca2b86df5107eca205f73fa85185",
    "ida_waveform": "5e9ca78b2c8707685e8c2f0809be6190f0f9932a6eece180e533a8d79c823620",
    "usps": "51b49a23f287a73cffe37cacf91e837f9f0cbbc9730e5e34a4846f2cf9ff04a4",
    "w1a": "daaca295a27273e6546fc571caf4a0578d7c6fd25f145611dbf307f6fcb03e17",
    "w7a": "141bf1c8c1c99c8b529bb591a364dafaf01fdc5069637a00dc8aa57342c8440d",
    "w8a": "bbfad51a5be9e7ff285bff68a3de883c0438549bdaafa520c88d1f0bf17e6c05",
}


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
