"""Choosing a kernel and a penalty: a classifier that does it by itself, and paths that show how.

- ``auto``: `AutoSVC`, width and stage by cross-validation with folds as columns;
- ``width_path``: `sigma_path`, the kernel selection procedure of the documents;
- ``penalty_path``: `c_path`, warm-started over C, and `exact_path`, the solutions for all C at once.

>>> from adatron.datasets import load_sonar
>>> from adatron.selection import sigma_path
>>> X_train, X_test, y_train, y_test = load_sonar(split="half")
>>> path = sigma_path(X_train, y_train, [0.2, 0.4, 0.8, 1.6])
>>> path
KernelPath(4 steps, sigma from 0.2 to 1.6, best sigma=0.4 with R²/γ² 84.14)
"""

from adatron.selection.auto.auto_svc import AutoSVC
from adatron.selection.auto.auto_svr import AutoSVR
from adatron.selection.kernel_path import KernelPath
from adatron.selection.penalty_path.c_path import c_path
from adatron.selection.penalty_path.exact_path import exact_path
from adatron.selection.penalty_path.exact_result import ExactPath
from adatron.selection.penalty_path.result import CPath
from adatron.selection.width_path.sigma_path import sigma_path

__all__ = ["AutoSVC", "AutoSVR", "CPath", "ExactPath", "KernelPath", "c_path", "exact_path", "sigma_path"]
