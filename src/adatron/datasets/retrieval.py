"""Find the arrays of a fetched set: in ADATRON_DATA, in the cache, or by download, in this order.

A download must have the recorded digest (`DIGESTS`), however it is packed: the SHA-256 of its parsed arrays,
one after the other.

- The arrays are ``data``, ``target``, ``data_test``, ``target_test``, as far as the set has them. A sparse
  matrix counts as ``data``, ``indices`` and ``indptr`` of its canonical CSR form, after the line
  ``csr (rows, columns)``.
- A set of the IDA repository is the table of all rows with the label as last column, then the training and
  test tables of each realization, their rows sorted: equal rows are interchangeable there.

Each array contributes the line ``dtype shape`` in ASCII, such as ``<f8 (7291, 256)``, and then its elements
in C order, little-endian: numbers as ``<f8``, labels as ``<i8``, indices as ``<i4``, zeros without a sign.
"""

import hashlib
import io
import os
import tempfile
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import numpy as np
from scipy.sparse import issparse
from sklearn.datasets import get_data_home

from adatron.datasets.bundled import find_original
from adatron.datasets.sources import Arrays, Reader, Source, unpack

_TIMEOUT = 30.0  # seconds without a byte
_LARGEST = 64 * 2**20  # bytes; the largest of our files has 8 MB

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


def retrieve(source: Source, data_home: str | os.PathLike[str] | None, download_if_missing: bool) -> Arrays:
    """Return the arrays of a set; an OSError says what to do if they are not available."""
    originals = [path for path in map(find_original, source.originals) if path is not None]
    if len(originals) == len(source.originals):
        contents = [path.read_bytes() for path in originals]
        return _parsed(source.read_originals, source.originals, contents, " and ".join(map(str, originals)))
    cached = [Path(get_data_home(data_home)) / "adatron" / file for file in source.files]
    is_cached = all(path.is_file() for path in cached)
    if is_cached:
        contents, where = [path.read_bytes() for path in cached], " and ".join(map(str, cached))
        where += " (delete to download again)"
    elif download_if_missing:
        contents = [_downloaded(source, url) for url in source.urls]
        where = f"the download of {' and '.join(source.urls)} (nothing was kept)"
    else:
        raise OSError(_advice(source, "download_if_missing=False forbids the download"))
    arrays = _parsed(source.read_files, source.files, contents, where)
    found, expected = digest(arrays), DIGESTS[source.name]
    if found != expected:
        raise OSError(f"{source.name}: the SHA-256 of the arrays in {where} is {found}, not {expected}.")
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
            content = response.read(_LARGEST + 1)
            announced = response.headers.get("Content-Length", "")
    except HTTPException as error:
        raise OSError(f"the answer is incomplete or not HTTP ({error!r})") from error
    if len(content) > _LARGEST:
        raise OSError(f"the file has more than {_LARGEST} bytes")
    if announced.isdigit() and len(content) != int(announced):
        raise OSError(f"the connection ended after {len(content)} of {announced} bytes")
    return content


def digest(arrays: Arrays) -> str:
    """Return the SHA-256 of a set as a string of 64 hexadecimal digits."""
    tables = [arrays[key] for key in ("data", "target", "data_test", "target_test") if key in arrays]
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
