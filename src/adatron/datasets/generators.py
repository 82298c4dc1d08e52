"""Artificial classification problems from the literature of neural networks and kernels.

Each function returns ``X`` (float64) and ``y`` (−1 or +1), ready for any two-class learner.
"""

from math import isfinite, nan
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

Dataset = tuple[NDArray[np.float64], NDArray[np.int64]]
RandomState = int | np.random.RandomState | None

_MAX_PARITY_BITS = 20
_SPIRAL_OUTER_RADIUS, _SPIRAL_INNER_RADIUS = 6.5, 0.5
_WAVE_PEAKS = np.array([7, 11, 15])
_WAVE_PAIRS = np.array([[0, 1], [0, 2], [1, 2]])  # the two waves that class 0, 1, 2 mixes


def make_majority(n_samples: int = 200, n_bits: int = 40, *, random_state: RandomState = None) -> Dataset:
    """Random bits, labelled by the sign in the majority.

    Parameters
    ----------
    n_samples, n_bits : int, default=200, 40
        Shape of ``X``.
    random_state : int, RandomState or None, default=None
        An int makes the result repeatable.

    Returns
    -------
    X : ndarray of shape (n_samples, n_bits)
        Independent bits, −1 or +1 with equal probability.
    y : ndarray of shape (n_samples,)
        +1 where more bits are +1 than −1; −1 otherwise, so a tie is −1.

    References
    ----------
    Minsky, M. and Papert, S. (1969). Perceptrons. MIT Press.

    Examples
    --------
    >>> from adatron.datasets import make_majority
    >>> X, y = make_majority(n_samples=50, n_bits=9, random_state=0)
    >>> bool(((X.sum(axis=1) > 0) == (y == 1)).all())
    True
    """
    _check_count("n_samples", n_samples)
    _check_count("n_bits", n_bits)
    X = check_random_state(random_state).choice([-1.0, 1.0], size=(n_samples, n_bits))
    return X, np.where(X.sum(axis=1) > 0, 1, -1)


def make_mirror_symmetry(
    n_samples: int = 200, n_bits: int = 30, *, random_state: RandomState = None
) -> Dataset:
    """Bit strings that are their own mirror image, against random ones.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_bits : int, default=30
        Number of columns, even.
    random_state : int, RandomState or None, default=None
        An int makes the result repeatable.

    Returns
    -------
    X : ndarray of shape (n_samples, n_bits)
        Bits −1 or +1. The first half of each row is random.
    y : ndarray of shape (n_samples,)
        −1 or +1 with equal probability. Where +1, the second half mirrors the first; where −1, it is random,
        and hence a mirror image by chance in 1 of ``2 ** (n_bits / 2)`` such rows.

    References
    ----------
    Sejnowski, T. J., Kienker, P. K. and Hinton, G. E. (1986). Learning symmetry groups with hidden units:
    beyond the perceptron. Physica D 22, 260-275.

    Examples
    --------
    >>> from adatron.datasets import make_mirror_symmetry
    >>> X, y = make_mirror_symmetry(random_state=0)
    >>> bool((X[y == 1] == X[y == 1, ::-1]).all())
    True
    """
    _check_count("n_samples", n_samples)
    _check_count("n_bits", n_bits, even=True)
    rng = check_random_state(random_state)
    X, y = rng.choice([-1.0, 1.0], size=(n_samples, n_bits)), rng.choice([-1, 1], size=n_samples)
    mirrored = np.hstack([X[:, : n_bits // 2], X[:, : n_bits // 2][:, ::-1]])
    return np.where(y[:, None] == 1, mirrored, X), y


def make_parity(n_bits: int = 4) -> Dataset:
    """Give every string of ``n_bits`` bits, labelled by its parity.

    Parameters
    ----------
    n_bits : int, default=4
        Number of columns, at most 20.

    Returns
    -------
    X : ndarray of shape (2 ** n_bits, n_bits)
        All strings of +1 and −1, in the order of counting: +1 before −1, the last bit changing fastest.
    y : ndarray of shape (2 ** n_bits,)
        The product of the bits: +1 where the number of −1 bits is even.

    References
    ----------
    Minsky, M. and Papert, S. (1969). Perceptrons. MIT Press.

    Examples
    --------
    >>> from adatron.datasets import make_parity
    >>> X, y = make_parity(n_bits=3)
    >>> X.shape, y.tolist()
    ((8, 3), [1, -1, -1, 1, -1, 1, 1, -1])
    """
    _check_count("n_bits", n_bits)
    limit = f"give at most {_MAX_PARITY_BITS}, as there are 2**n_bits rows"
    _require(n_bits <= _MAX_PARITY_BITS, "n_bits", n_bits, limit)
    binary = np.arange(2**n_bits)[:, None] >> np.arange(n_bits)[::-1] & 1
    signs = 1 - 2 * binary
    return signs.astype(np.float64), signs.prod(axis=1)


def make_two_spirals(
    n_samples: int = 194, *, noise: float = 0.0, turns: float = 3.0, random_state: RandomState = None
) -> Dataset:
    """Two interlocked spirals in the plane, one per class.

    The defaults give the original benchmark: 97 points on each spiral, from radius 6.5 inwards to 0.5.

    Parameters
    ----------
    n_samples : int, default=194
        Number of rows, even: half of them on each spiral.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to both coordinates.
    turns : float, default=3.0
        How often each spiral goes round the origin.
    random_state : int, RandomState or None, default=None
        Used for the noise only. An int makes the result repeatable.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Even rows lie on the first spiral; each odd row is the one before it, reflected in the origin.
    y : ndarray of shape (n_samples,)
        +1 on the first spiral, −1 on the second.

    References
    ----------
    Lang, K. J. and Witbrock, M. J. (1988). Learning to tell two spirals apart. Proceedings of the 1988
    Connectionist Models Summer School, 52-59. Morgan Kaufmann.

    Examples
    --------
    >>> from adatron.datasets import make_two_spirals
    >>> X, y = make_two_spirals()
    >>> X[:2].tolist(), y[:2].tolist()
    ([[0.0, 6.5], [-0.0, -6.5]], [1, -1])
    """
    _check_count("n_samples", n_samples, even=True)
    _check_real("noise", noise)
    _check_real("turns", turns, positive=True)
    progress = np.linspace(0.0, 1.0, n_samples // 2)
    angle = 2 * np.pi * turns * progress
    radius = _SPIRAL_OUTER_RADIUS + (_SPIRAL_INNER_RADIUS - _SPIRAL_OUTER_RADIUS) * progress
    first = radius[:, None] * np.column_stack([np.sin(angle), np.cos(angle)])
    X = np.stack([first, -first], axis=1).reshape(n_samples, 2)
    if noise > 0:
        X = X + noise * check_random_state(random_state).standard_normal(X.shape)
    return X, np.tile([1, -1], n_samples // 2)


def make_waveform(
    n_samples: int = 400, *, noise: float = 1.0, binary: bool = True, random_state: RandomState = None
) -> Dataset:
    """Noisy mixtures of two out of three triangular waves.

    The waves are ``max(6 - |i - peak|, 0)`` at ``i = 1, ..., 21``, with peaks at 7, 11 and 15. A row of
    class 0 mixes waves 1 and 2, of class 1 waves 1 and 3, of class 2 waves 2 and 3, with weights ``u`` and
    ``1 - u``, ``u`` uniform in [0, 1). Sources number the waves differently; this order makes class 0 the
    positive class of the IDA benchmark.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows.
    noise : float, default=1.0
        Standard deviation of the Gaussian noise added to every feature.
    binary : bool, default=True
        Whether to label class 0 against the other two, as the IDA benchmark does.
    random_state : int, RandomState or None, default=None
        An int makes the result repeatable.

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
        The mixed waves.
    y : ndarray of shape (n_samples,)
        +1 for class 0 (about a third of the rows) and −1 for the rest; with ``binary=False`` the class
        0, 1 or 2.

    References
    ----------
    Breiman, L., Friedman, J. H., Olshen, R. A. and Stone, C. J. (1984). Classification and Regression Trees.
    Wadsworth.

    Rätsch, G., Onoda, T. and Müller, K.-R. (2001). Soft margins for AdaBoost. Machine Learning 42, 287-320.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron.datasets import make_waveform
    >>> X, y = make_waveform(n_samples=3000, random_state=0)
    >>> X.shape, bool(0.3 < np.mean(y == 1) < 0.37)
    ((3000, 21), True)
    """
    _check_count("n_samples", n_samples)
    _check_real("noise", noise)
    rng = check_random_state(random_state)
    waves = np.maximum(6.0 - np.abs(np.arange(1, 22) - _WAVE_PEAKS[:, None]), 0.0)
    labels, u = rng.randint(3, size=n_samples), rng.uniform(size=(n_samples, 1))
    first, second = _WAVE_PAIRS[labels].T
    X = u * waves[first] + (1 - u) * waves[second] + noise * rng.standard_normal((n_samples, 21))
    return X, np.where(labels == 0, 1, -1) if binary else labels


def _require(valid: bool, name: str, value: object, fix: str) -> None:
    if not valid:
        raise ValueError(f"{name}={value!r} is not allowed: {fix}.")


def _check_count(name: str, value: Any, *, even: bool = False) -> None:
    valid = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
    _require(valid, name, value, "give an integer of at least 1")
    if even:
        _require(value % 2 == 0, name, value, f"give an even integer, such as {value + 1}")


def _check_real(name: str, value: Any, *, positive: bool = False) -> None:
    number = float(value) if isinstance(value, Real) else nan
    valid = isfinite(number) and (number > 0 or (number == 0 and not positive))
    _require(valid, name, value, f"give a finite number {'above' if positive else 'of at least'} 0")
