"""Choosing a kernel and a penalty: estimators that do it by themselves, and paths that show how.

>>> from adatron.datasets import load_sonar
>>> from adatron.selection import sigma_path
>>> X_train, X_test, y_train, y_test = load_sonar(split="half")
>>> sigma_path(X_train, y_train, [0.2, 0.4, 0.8, 1.6])
KernelPath(4 steps, sigma from 0.2 to 1.6, best sigma=0.4 with R²/γ² 84.14)
"""

from adatron.auto import AutoSVC, AutoSVR
from adatron.paths import CPath, ExactPath, KernelPath, c_path, exact_path, sigma_path

__all__ = ["AutoSVC", "AutoSVR", "CPath", "ExactPath", "KernelPath", "c_path", "exact_path", "sigma_path"]
