"""The fetched sets: their names, files and readers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO

from adatron.datasets.readers import Arrays, read_digits, read_ida_mat, read_ida_npz, read_svmlight

__all__ = [
    "ADDRESSES",
    "IDA_WITHOUT_SPLITS",
    "IDA_WITH_SPLITS",
    "Source",
    "adult",
    "astroparticle",
    "ida",
    "usps",
    "web",
]

Reader = Callable[[Sequence[IO[bytes]]], Arrays]

ADDRESSES = {
    "libsvm": "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/",
    "usps": "https://hastie.su.domains/ElemStatLearn/datasets/",
    "ida": "https://raw.githubusercontent.com/tdiethe/gunnar_raetsch_benchmark_datasets/master/",
}
IDA_WITH_SPLITS = ("banana", "breast_cancer", "german", "heart", "image", "ringnorm", "titanic", "waveform")
IDA_WITHOUT_SPLITS = ("flare_solar", "splice", "thyroid", "twonorm")


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
