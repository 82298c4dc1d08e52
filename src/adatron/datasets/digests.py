"""SHA-256 of the arrays of each fetched set: what a download must contain, however it is packed.

The digest of a set is that of the following arrays, one after the other:

- ``data``, ``target``, ``data_test``, ``target_test``, as far as the set has them. A sparse matrix counts as
  three arrays, ``data``, ``indices`` and ``indptr`` of its canonical CSR form (the indices of a row sorted,
  none twice, no zeros), after the line ``csr (rows, columns)``.
- For a set of the IDA repository: the table of all rows with the label as last column, then those of the
  training and test part of realization 1, of realization 2 and so on. The rows of each table are sorted
  lexicographically: equal rows are interchangeable there, and their order within a part is not hashed.

Each array contributes the line ``dtype shape`` in ASCII, such as ``<f8 (7291, 256)``, a line feed, and then
its elements in C order, little-endian: numbers as ``<f8``, labels as ``<i8``, indices as ``<i4``. The sign of
a zero is dropped. Values are hashed to the last bit; only those of the IDA repository, whose public file may
come from another decimal conversion, are read rounded to twelve decimals, which is more than they have.

Examples
--------
>>> import numpy as np
>>> from adatron.datasets.digests import digest
>>> arrays = {"data": np.eye(2), "target": np.array([1, 2])}
>>> digest(arrays)[:8]
'378d08a4'
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from adatron.datasets.readers import Arrays

__all__ = ["DIGESTS", "digest"]

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


def digest(arrays: Arrays) -> str:
    """Return the SHA-256 of a set as a string of 64 hexadecimal digits."""
    sha = hashlib.sha256()
    for line, array in _lines_and_arrays(arrays):
        sha.update(line.encode("ascii"))
        sha.update(array.tobytes())
    return sha.hexdigest()


def _lines_and_arrays(arrays: Arrays) -> Iterator[tuple[str, NDArray[Any]]]:
    for table in _tables(arrays):
        prefix = f"csr {table.shape}\n" if issparse(table) else ""
        pieces = (table.data, table.indices, table.indptr) if issparse(table) else (table,)
        for piece in map(_little_endian, pieces):
            yield f"{prefix}{piece.dtype.str} {piece.shape}\n", piece
            prefix = ""


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    """The array in C order, of type <f8, <i8 or <i4, without negative zeros."""
    width = 4 if array.dtype.itemsize == 4 else 8
    converted = np.ascontiguousarray(array, dtype=f"<{array.dtype.kind}{width}")
    return converted + 0.0 if array.dtype.kind == "f" else converted


def _tables(arrays: Arrays) -> list[Any]:
    if "train" not in arrays:
        keys = ("data", "target", "data_test", "target_test")
        return [arrays[key] for key in keys if key in arrays]
    rows = np.column_stack([arrays["data"], arrays["target"]])
    pairs = zip(arrays["train"], arrays["test"], strict=True)
    parts = [rows, *(rows[part] for pair in pairs for part in pair)]
    return [part[np.lexsort(part.T[::-1])] for part in parts]
