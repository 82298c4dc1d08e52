"""Choosing a kernel: paths of widths, and the results they leave.

>>> from adatron.datasets import load_sonar
>>> from adatron.selection import sigma_path
>>> X_train, X_test, y_train, y_test = load_sonar(split="half")
>>> path = sigma_path(X_train, y_train, [0.2, 0.4, 0.8, 1.6])
>>> path
KernelPath(4 steps, sigma from 0.2 to 1.6, best sigma=0.4 with R²/γ² 84.14)
"""

from adatron.selection.auto_svc import AutoSVC
from adatron.selection.kernel_path import KernelPath
from adatron.selection.sigma_path import sigma_path

__all__ = ["AutoSVC", "KernelPath", "sigma_path"]
