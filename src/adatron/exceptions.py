"""Errors and warnings that are adatron's own.

Examples
--------
>>> from adatron.exceptions import InfeasibleError
>>> issubclass(InfeasibleError, ValueError)
True
"""

__all__ = ["AdatronWarning", "ClusterError", "InfeasibleError", "KernelError", "KernelWarning"]


class ClusterError(OSError):
    """A cluster cannot go on: no workers, no scheduler, or a part of the data that ends every worker.

    See Also
    --------
    adatron.callbacks.Checkpoint : keeps what was done, for a new cluster.

    Examples
    --------
    >>> from adatron.exceptions import ClusterError
    >>> issubclass(ClusterError, OSError)
    True
    """


class InfeasibleError(ValueError):
    """The problem has no solution: the classes cannot be separated with this kernel.

    See Also
    --------
    adatron.SVC : ``C=float("inf")`` asks for a hard margin.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.exceptions import InfeasibleError
    >>> try:
    ...     SVC(C=float("inf"), gamma=1.0).fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    ... except InfeasibleError as error:
    ...     print("rows 0 and 1" in str(error))
    True
    """


class KernelError(ValueError):
    """A kernel gave values no support vector machine can be trained on.

    See Also
    --------
    adatron.kernels.CallableKernel : wraps a function.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.exceptions import KernelError
    >>> try:
    ...     SVC(kernel=lambda X, Z: "no numbers").fit([[0.0], [1.0]], [0, 1])
    ... except KernelError as error:
    ...     print("must return a NumPy array" in str(error))
    True
    """


class AdatronWarning(UserWarning):
    """Base of adatron's own warnings.

    See Also
    --------
    KernelWarning : says that a kernel is suspicious.
    sklearn.exceptions.ConvergenceWarning : says that a fit ended early.

    Examples
    --------
    Make them errors, as tests and batch jobs may want:

    >>> import warnings
    >>> from adatron.exceptions import AdatronWarning, KernelWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", AdatronWarning)
    ...     try:
    ...         warnings.warn("of any kind", KernelWarning)
    ...     except AdatronWarning as warning:
    ...         print(warning)
    of any kind
    """


class KernelWarning(AdatronWarning):
    """A kernel is legal but suspicious: constant, the identity, not repeatable, indefinite.

    See Also
    --------
    KernelError : is raised where no model can be trained.
    adatron.kernels.is_indefinite : tells whether a kernel matrix has a negative eigenvalue.

    Examples
    --------
    >>> import warnings
    >>> from adatron import SVC
    >>> from adatron.exceptions import KernelWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", KernelWarning)
    ...     _ = SVC(gamma=1e6).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> print(caught[0].message)
    the kernel matrix is numerically the identity: no two points are similar; decrease gamma
    """
