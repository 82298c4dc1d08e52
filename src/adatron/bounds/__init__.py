"""Bounds on mistakes and errors, as plain formulas.

Each takes numbers that a fit leaves behind; its docstring says what it assumes, and when it says nothing.
`novikoff_bound` counts the mistakes of a perceptron; `margin_bound` and `compression_bound` limit the
error on new points with confidence 1 − δ; `support_vector_loo_bound`, `radius_margin_bound` and
`span_bound` concern the leave-one-out error.

>>> from adatron.bounds import compression_bound, support_vector_loo_bound
>>> support_vector_loo_bound(n_support=20, n_samples=2_000), round(compression_bound(20, 2_000), 3)
(0.01, 0.089)
"""

from adatron.bounds.leave_one_out import radius_margin_bound, span_bound, support_vector_loo_bound
from adatron.bounds.mistakes import compression_bound, margin_bound, novikoff_bound

__all__ = [
    "compression_bound",
    "margin_bound",
    "novikoff_bound",
    "radius_margin_bound",
    "span_bound",
    "support_vector_loo_bound",
]
