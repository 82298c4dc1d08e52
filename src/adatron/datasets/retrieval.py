"""Find the arrays of a set: in the files of ADATRON_DATA, in the cache, or by download, in this order."""

import io
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import IO

from sklearn.datasets import get_data_home

from adatron.datasets.cache import load_arrays, save_arrays
from adatron.datasets.digests import DIGESTS, digest
from adatron.datasets.download import download
from adatron.datasets.places import find_original
from adatron.datasets.readers import Arrays, unpack
from adatron.datasets.sources import Source

__all__ = ["retrieve"]


def retrieve(source: Source, data_home: str | PathLike[str] | None, download_if_missing: bool) -> Arrays:
    """Return the arrays of a set; an OSError says what to do if they are not available."""
    originals = [path for path in map(find_original, source.originals) if path is not None]
    if len(originals) == len(source.originals):
        return _understand(lambda: _read_originals(source, originals), " and ".join(map(str, originals)))
    cached = Path(get_data_home(data_home)) / "adatron" / f"{source.name}.npz"
    if cached.is_file():
        return _verified(source, lambda: load_arrays(cached), f"{cached} (delete it to download again)")
    if not download_if_missing:
        raise OSError(_advise(source, cached, "download_if_missing=False forbids the download"))
    contents = _download(source, cached)
    where = f"the download of {' and '.join(source.urls)} (nothing was kept)"
    arrays = _verified(source, lambda: _read_downloads(source, contents), where)
    save_arrays(cached, arrays)
    return arrays


def _read_originals(source: Source, paths: Sequence[Path]) -> Arrays:
    with ExitStack() as stack:
        streams = [stack.enter_context(path.open("rb")) for path in paths]
        return source.read_originals(_unpack_all([path.name for path in paths], streams))


def _read_downloads(source: Source, contents: Sequence[bytes]) -> Arrays:
    return source.read_files(_unpack_all(source.files, [io.BytesIO(content) for content in contents]))


def _unpack_all(names: Sequence[str], streams: Sequence[IO[bytes]]) -> list[IO[bytes]]:
    return [unpack(name, stream) for name, stream in zip(names, streams, strict=True)]


def _download(source: Source, cached: Path) -> list[bytes]:
    contents = []
    for url in source.urls:
        try:
            contents.append(download(url))
        except OSError as error:
            raise OSError(_advise(source, cached, f"{url} could not be downloaded ({error})")) from error
    return contents


def _verified(source: Source, read: Callable[[], Arrays], where: str) -> Arrays:
    arrays = _understand(read, where)
    found, expected = digest(arrays), DIGESTS[source.name]
    if found != expected:
        raise OSError(f"{source.name}: the SHA-256 of the arrays in {where} is {found}, not {expected}.")
    return arrays


def _understand(read: Callable[[], Arrays], where: str) -> Arrays:
    try:
        return read()
    except Exception as error:  # a damaged file makes each reader fail in a way of its own
        raise OSError(f"Cannot read {where}: {type(error).__name__}: {error}.") from error


def _advise(source: Source, cached: Path, problem: str) -> str:
    return (
        f"{source.name} is not on this machine: {' and '.join(source.originals)} are in no directory that "
        f"ADATRON_DATA names, there is no {cached}, and {problem}. Either set the environment variable "
        f"ADATRON_DATA to a directory with these files, or call again with download_if_missing=True and a "
        f"connection to the network."
    )
