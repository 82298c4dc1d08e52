"""Figures of a fit, in the style of scikit-learn's Displays; they need matplotlib.

`ConvergenceDisplay` shows the course of a fit: margin, bias, objective and violation of the
Karush–Kuhn–Tucker conditions after every epoch. `MarginDisplay` shows its result for two
features: the decision boundary, the margins and the support vectors. `KernelPathDisplay` shows the
score of each kernel width that was tried, `ClusterPathDisplay` how clusters split as the width falls,
`ImportanceDisplay` which columns matter most, and `IntervalDisplay` predicted intervals beside the targets.
Each has ``from_estimator``, keeps what it drew as attributes, and leaves showing or saving to you. `animate`
trains a model and shows how it learns:

>>> from adatron import SVC
>>> from adatron.datasets import make_parity
>>> from adatron.display import ConvergenceDisplay
>>> X, y = make_parity(4)
>>> model = SVC(C=float("inf"), gamma=0.5, solver="adatron").fit(X, y)
>>> display = ConvergenceDisplay.from_estimator(model, quantities=["margin", "violation"])
>>> [ax.get_ylabel() for ax in display.axes_]
['margin', 'KKT violation']
>>> display.figure_.savefig("convergence.png")  # doctest: +SKIP
"""

from adatron.display.animation import animate
from adatron.display.cluster_path import ClusterPathDisplay
from adatron.display.convergence import ConvergenceDisplay
from adatron.display.importance import ImportanceDisplay
from adatron.display.intervals import IntervalDisplay
from adatron.display.kernel_path import KernelPathDisplay
from adatron.display.margin import MarginDisplay

__all__ = [
    "ClusterPathDisplay", "ConvergenceDisplay", "ImportanceDisplay", "IntervalDisplay", "KernelPathDisplay",
    "MarginDisplay", "animate",
]  # fmt: skip
