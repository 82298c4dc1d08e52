"""Errors and warnings of adatron."""

import sys
import warnings

__all__ = ["AdatronWarning", "ClusterError", "InfeasibleError", "KernelError", "KernelWarning"]

_ON_THE_WAY = ("adatron", "sklearn", "functools", "joblib")  # packages between a user's line and a warning


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, and show the line of the user's code that called adatron, perhaps through scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _ON_THE_WAY:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class ClusterError(OSError):
    """A cluster cannot continue: no workers, no scheduler, or a partition that ends every worker.

    See Also
    --------
    adatron.callbacks.Checkpoint : saves the fit, to resume on a new cluster.

    Examples
    --------
    >>> from adatron.exceptions import ClusterError
    >>> issubclass(ClusterError, OSError)
    True
    """


class InfeasibleError(ValueError):
    """The problem has no solution: no hard margin, no tube that holds all targets, or a ν out of reach.

    See Also
    --------
    adatron.SVC : ``C=float("inf")`` asks for a hard margin.

    Examples
    --------
    >>> from adatron import SVC
    >>> SVC(C=float("inf"), gamma=1.0).fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    Traceback (most recent call last):
    adatron.exceptions.InfeasibleError: the classes are not separable ...: rows 0 and 1 of X coincide ...
    """


class KernelError(ValueError):
    """A kernel gave values that no SVM can be trained on.

    See Also
    --------
    adatron.kernels.CallableKernel : wraps a function.

    Examples
    --------
    >>> from adatron import SVC
    >>> SVC(kernel=lambda X, Z: "no numbers").fit([[0.0], [1.0]], [0, 1])
    Traceback (most recent call last):
    adatron.exceptions.KernelError: kernel function '<lambda>' must return a NumPy array ...
    """


class AdatronWarning(UserWarning):
    """Base of adatron's own warnings.

    See Also
    --------
    sklearn.exceptions.ConvergenceWarning : says that a fit ended early.

    Examples
    --------
    >>> import warnings
    >>> from adatron import SVC
    >>> from adatron.exceptions import AdatronWarning
    >>> with warnings.catch_warnings(action="error", category=AdatronWarning):  # as batch jobs may want
    ...     SVC(gamma=1e6).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    Traceback (most recent call last):
    adatron.exceptions.KernelWarning: the kernel matrix is numerically the identity: ...; decrease gamma
    """


class KernelWarning(AdatronWarning):
    """A kernel matrix is valid but suspicious: constant, the identity, not reproducible, or indefinite.

    See Also
    --------
    adatron.kernels.is_indefinite : tells whether a kernel matrix has a negative eigenvalue.

    Examples
    --------
    >>> from adatron.exceptions import KernelWarning
    >>> KernelWarning.__base__.__name__
    'AdatronWarning'
    """
