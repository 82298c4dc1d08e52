"""The duality gap of anyone's fitted machine.

`machines` reads what a fitted estimator or a model file is: a function, and the multipliers of dual problems.
`gap` makes a gap of both that is never too small, with the bounds of rounding errors in `kernels.rounding`.
"""

from adatron.certification.gap import DualityGap, certify

__all__ = ["DualityGap", "certify"]
