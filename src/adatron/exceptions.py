"""Errors and warnings that are adatron's own.

Examples
--------
>>> from adatron.exceptions import InfeasibleError
>>> issubclass(InfeasibleError, ValueError)
True
"""

__all__ = ["AdatronWarning", "InfeasibleError", "KernelError", "KernelWarning"]


class InfeasibleError(ValueError):
    """The problem has no solution: the classes cannot be separated with this kernel."""


class KernelError(ValueError):
    """A kernel gave values no support vector machine can be trained on."""


class AdatronWarning(UserWarning):
    """Base of adatron's own warnings."""


class KernelWarning(AdatronWarning):
    """A kernel is legal but suspicious: constant, the identity, not repeatable, indefinite."""
