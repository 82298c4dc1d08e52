"""Choosing a kernel and a penalty: estimators that do it by themselves, and paths that show how.

`sigma_path` is the procedure of C. Campbell, N. Cristianini, *Simple Learning Algorithms for Training Support
Vector Machines*, 1998; `exact_path` follows T. Hastie, S. Rosset, R. Tibshirani, J. Zhu, *The entire
regularization path for the SVM*, JMLR 5, 2004. The leave-one-out criteria of `c_path` are those of
T. Evgeniou, M. Pontil, A. Elisseeff, *Leave one out error, stability, and generalization of voting
combinations of classifiers*, 2004; in I. W. Tsang, J. T. Kwok, *Ensembles of Partially Trained SVMs with
Multiplicative Updates*, 2007, SVM(LOO) is `best_C` by the default criterion, and SVM(BEST) is `oracle_C`.

>>> from adatron.datasets import load_sonar
>>> from adatron.selection import sigma_path
>>> X_train, X_test, y_train, y_test = load_sonar(split="half")
>>> sigma_path(X_train, y_train, [0.2, 0.4, 0.8, 1.6])
KernelPath(4 steps, sigma from 0.2 to 1.6, best sigma=0.4 with R²/γ² 84.14)
"""

from adatron.auto import AutoSVC, AutoSVR
from adatron.paths import CPath, ExactPath, KernelPath, c_path, exact_path, sigma_path

__all__ = ["AutoSVC", "AutoSVR", "CPath", "ExactPath", "KernelPath", "c_path", "exact_path", "sigma_path"]
