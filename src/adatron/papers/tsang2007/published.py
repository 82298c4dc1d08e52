"""What Tsang & Kwok print: sizes of the data sets (Table 1) and test errors (Table 2).

Table 3, seconds and iterations, and the paragraph on the full adult set are not in the text that was at hand.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ERRORS", "METHODS", "REALIZATIONS", "SIZES", "Size"]

METHODS = ("SVM (BEST)", "SVM (LOO)", "Parzen window", "ρ-SVM", "ensemble")
REALIZATIONS = 100  # of each of the five small sets


class Size(NamedTuple):
    """A row of Table 1."""

    dim: int
    training: int
    test: int


SIZES = {
    "cancer": Size(9, 200, 77),
    "diabetis": Size(8, 468, 300),
    "german": Size(20, 700, 300),
    "titanic": Size(3, 150, 2_051),
    "waveform": Size(21, 200, 4_600),
    "astro": Size(4, 3_089, 4_000),
    "adult1": Size(123, 1_605, 30_956),
    "adult2": Size(123, 2_265, 30_296),
    "adult3": Size(123, 3_185, 29_376),
    "adult": Size(123, 32_561, 16_281),
    "web1": Size(300, 2_477, 47_272),
    "web2": Size(300, 3_470, 46_279),
}

# test errors in per cent, in the order of METHODS
ERRORS = {
    "cancer": (23.1, 26.1, 27.4, 33.5, 28.2),
    "diabetis": (24.8, 28.9, 33.4, 34.5, 24.8),
    "german": (22.6, 24.9, 29.8, 29.3, 23.7),
    "titanic": (22.7, 25.5, 23.3, 45.2, 22.5),
    "waveform": (11.2, 18.8, 22.0, 11.2, 10.0),
    "astro": (5.8, 9.3, 7.0, 22.1, 3.4),
    "adult1": (16.3, 17.7, 24.1, 19.4, 15.9),
    "adult2": (16.0, 17.4, 24.0, 22.8, 15.8),
    "adult3": (16.1, 16.2, 24.1, 19.7, 15.9),
    "web1": (2.3, 2.8, 3.0, 14.4, 2.8),
    "web2": (2.1, 2.2, 3.0, 3.4, 2.1),
}
