"""Five families of real sets that are too large for the package: read where they are, or downloaded.

Each function first looks in the directory that the environment variable ``ADATRON_DATA`` names, for the files
that ``DESCR`` lists; what it finds there is taken as it is. Otherwise it looks in ``adatron`` within
scikit-learn's data home (see :func:`sklearn.datasets.get_data_home`), and then downloads. A download is kept
there if the SHA-256 of its arrays is the recorded one. The download is tested with a server on the same
machine; it was not exercised against the public ones.

All return a :class:`sklearn.utils.Bunch` with ``data``, ``target``, ``data_test``, ``target_test`` and
``DESCR``; where a set has no test part, ``data_test`` and ``target_test`` are None. With ``return_X_y=True``
they return arrays in the order of :func:`sklearn.model_selection.train_test_split`.
"""

from collections.abc import Collection
from os import PathLike
from typing import Any

from sklearn.utils import Bunch

from adatron.datasets import retrieval
from adatron.datasets.bundled import describe

DataHome = str | PathLike[str] | None


def fetch_usps(
    *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Any:
    """Fetch the handwritten digits of the U.S. Postal Service: 7291 + 2007 rows, 256 features, ten classes.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Where downloads are kept; None is scikit-learn's data home.
    download_if_missing : bool, default=True
        If False, raise an OSError instead of downloading, which was not exercised against the public server.
    return_X_y : bool, default=False
        Return ``(X_train, X_test, y_train, y_test)`` instead of a Bunch.

    Returns
    -------
    Bunch or (X_train, X_test, y_train, y_test)
        The target is 0 to 9, the features are grey values from -1 to 1 with three decimals.

    Examples
    --------
    >>> from adatron.datasets import fetch_usps
    >>> usps = fetch_usps()
    >>> usps.data.shape, usps.data_test.shape
    ((7291, 256), (2007, 256))
    """
    return _presented(retrieval.retrieve("usps", data_home, download_if_missing), "usps", return_X_y)


def fetch_adult(
    part: int, *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Any:
    """Fetch a part of Adult in binary form, a1a to a9a: 123 features as a sparse matrix, two classes.

    Parameters
    ----------
    part : {1, 2, 3, 9}
        1, 2 and 3 (a1a, a2a, a3a) train on 1605, 2265 and 3185 rows, 9 (a9a) on all 32561.
    data_home, download_if_missing, return_X_y : as in `fetch_usps`, default=None, True, False

    Returns
    -------
    Bunch or (X_train, X_test, y_train, y_test)
        The target is -1 or +1, the features are a SciPy CSR matrix with 32-bit indices.

    Examples
    --------
    >>> from adatron.datasets import fetch_adult
    >>> adult = fetch_adult(1)
    >>> adult.data.shape, adult.data_test.shape, int((adult.target == 1).sum())
    ((1605, 123), (30956, 123), 395)
    """
    _check_choice("part", part, retrieval.ADULT_PARTS)
    arrays = retrieval.retrieve(f"a{int(part)}a", data_home, download_if_missing)
    return _presented(arrays, "adult", return_X_y)


def fetch_web(
    part: int, *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Any:
    """Fetch a part of the web pages, w1a to w8a: 300 features as a sparse matrix, two classes.

    Parameters
    ----------
    part : {1, 7, 8}
        1 and 7 (w1a, w7a) train on 2477 and 24692 rows, 8 (w8a) on all 49749, without a test part.
    data_home, download_if_missing, return_X_y : as in `fetch_usps`, default=None, True, False
        Part 8 has no test part, so it is not returned as arrays.

    Returns
    -------
    Bunch or (X_train, X_test, y_train, y_test)
        The target is -1 or +1, the features are a SciPy CSR matrix with 32-bit indices.

    Examples
    --------
    >>> from adatron.datasets import fetch_web
    >>> web = fetch_web(1)
    >>> web.data.shape, web.data_test.shape, int((web.target == 1).sum())
    ((2477, 300), (47272, 300), 72)
    """
    _check_choice("part", part, retrieval.WEB_PARTS)
    if part == 8 and return_X_y:
        raise ValueError("return_X_y=True needs a test part and part=8 has none: use the Bunch.")
    return _presented(retrieval.retrieve(f"w{int(part)}a", data_home, download_if_missing), "web", return_X_y)


def fetch_astroparticle(
    *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Any:
    """Fetch the astroparticle data of the LIBSVM guide, svmguide1: 3089 + 4000 rows, 4 features.

    Parameters
    ----------
    data_home, download_if_missing, return_X_y : as in `fetch_usps`, default=None, True, False

    Returns
    -------
    Bunch or (X_train, X_test, y_train, y_test)
        The target is 0 or 1. The features are not scaled.

    Examples
    --------
    >>> from adatron.datasets import fetch_astroparticle
    >>> X_train, X_test, y_train, y_test = fetch_astroparticle(return_X_y=True)
    >>> X_train.shape, X_test.shape
    ((3089, 4), (4000, 4))
    """
    arrays = retrieval.retrieve("svmguide1", data_home, download_if_missing)
    return _presented(arrays, "astroparticle", return_X_y)


def fetch_ida(
    name: str, realization: int | None = None, *,
    data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool = False,
) -> Any:  # fmt: skip
    """Fetch a problem of the IDA benchmark repository, whole or cut in one of its train/test realizations.

    Parameters
    ----------
    name : str
        banana, breast_cancer, german, heart, image, ringnorm, titanic or waveform, which have realizations,
        or flare_solar, splice, thyroid or twonorm, which have none here.
    realization : int, default=None
        1 to 10; None is all rows in one part.
    data_home, download_if_missing, return_X_y : as in `fetch_usps`, default=None, True, False
        One download of 8 MB holds all problems; without a realization, arrays are ``(X, y)``.

    Returns
    -------
    Bunch, (X_train, X_test, y_train, y_test) or (X, y)
        The target is -1 or +1.

    Examples
    --------
    >>> from adatron.datasets import fetch_ida
    >>> heart = fetch_ida("heart", realization=1)
    >>> heart.data.shape, heart.data_test.shape
    ((170, 13), (100, 13))
    >>> X, y = fetch_ida("thyroid", return_X_y=True)
    >>> X.shape
    (215, 5)
    """
    _check_choice("name", name, retrieval.IDA_WITH_SPLITS + retrieval.IDA_WITHOUT_SPLITS)
    if realization is not None and name in retrieval.IDA_WITHOUT_SPLITS:
        raise ValueError(f"realization={realization!r}: {name} has no realizations here, use None.")
    _check_choice("realization", realization, (*range(1, retrieval.IDA_REALIZATIONS + 1), None))
    arrays = retrieval.retrieve(f"ida_{name}", data_home, download_if_missing)
    X, y = arrays["data"], arrays["target"]
    chosen = {"data": X, "target": y}
    if realization is not None:
        train, test = (arrays[key][int(realization) - 1] for key in ("train", "test"))
        chosen = {"data": X[train], "target": y[train], "data_test": X[test], "target_test": y[test]}
    return _presented(chosen, "ida", return_X_y)


def _presented(arrays: retrieval.Arrays, heading: str, return_X_y: bool) -> Any:
    if return_X_y:
        return tuple(arrays[key] for key in ("data", "data_test", "target", "target_test") if key in arrays)
    test_part = {"data_test": None, "target_test": None}
    return Bunch(**(test_part | arrays), DESCR=describe("FETCHED.md", heading))


def _check_choice(argument: str, value: Any, choices: Collection[Any]) -> None:
    if value not in choices:
        raise ValueError(f"{argument}={value!r} is not offered: use one of {', '.join(map(repr, choices))}.")
