"""Data sets: five generators, four small real sets that come with the package, five families to be fetched.

The ``make_*`` functions return ``(X, y)`` with ``y`` −1 or +1; the ``load_*`` functions return a
:class:`sklearn.utils.Bunch`, as those of :mod:`sklearn.datasets` do, with a target of 0 and 1. Neither
downloads anything. The ``DESCR`` of a real set says where it comes from, its licence, and whom to cite:
Gorman and Sejnowski (1988) for sonar, Wolberg and Mangasarian (1990) for breast cancer, Sigillito et al.
(1989) for ionosphere, Smith et al. (1988) for pima, Le Cun et al. (1990) for usps, Platt (1999) for adult and
web, Hsu et al. (2003) for astroparticle, Rätsch et al. (2001) for ida.

The ``fetch_*`` functions read larger sets from the directory that the environment variable ``ADATRON_DATA``
names, or download them (:mod:`adatron.datasets.fetched`), and return a Bunch with a training and a test part:

- ``fetch_usps()``: handwritten digits, ten classes, dense;
- ``fetch_adult(part)``, ``fetch_web(part)``: sparse and binary, in growing sizes, by which training times
  have been compared since Platt's SMO;
- ``fetch_astroparticle()``: four features of very different scales;
- ``fetch_ida(name, realization)``: twelve small problems, most with ten fixed train/test realizations, for
  the mean and the spread of an error.

Examples
--------
A generator asks how a learner copes with one known structure. Whether a string of bits is its own
mirror image does not show in any single bit, so a linear rule fails; products of two bits
tell, so a quadratic kernel does well.

>>> from sklearn.svm import SVC
>>> from adatron.datasets import make_mirror_symmetry
>>> X, y = make_mirror_symmetry(n_samples=600, n_bits=12, random_state=0)
>>> linear, quadratic = SVC(kernel="linear"), SVC(kernel="poly", degree=2)
>>> bool(linear.fit(X[:300], y[:300]).score(X[300:], y[300:]) < 0.6)
True
>>> bool(quadratic.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.9)
True
"""

from adatron.datasets.bundled import load_breast_cancer_wisconsin, load_ionosphere, load_pima, load_sonar
from adatron.datasets.fetched import fetch_adult, fetch_astroparticle, fetch_ida, fetch_usps, fetch_web
from adatron.datasets.generators import (
    make_majority,
    make_mirror_symmetry,
    make_parity,
    make_two_spirals,
    make_waveform,
)  # fmt: skip

__all__ = [
    "fetch_adult", "fetch_astroparticle", "fetch_ida", "fetch_usps", "fetch_web",
    "load_breast_cancer_wisconsin", "load_ionosphere", "load_pima", "load_sonar",
    "make_majority", "make_mirror_symmetry", "make_parity", "make_two_spirals", "make_waveform",
]  # fmt: skip
