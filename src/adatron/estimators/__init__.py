"""Estimators in the manner of scikit-learn: validate once, choose an operator, solve, store.

>>> from adatron.estimators import SVC
>>> from adatron.datasets import make_parity
>>> X, y = make_parity(3)
>>> SVC(C=float("inf"), gamma=1.0).fit(X, y).predict(X[:4]).tolist() == y[:4].tolist()
True
"""

from adatron.estimators.ensemble import EnsembleSVC, ParzenClassifier
from adatron.estimators.kernel_perceptron import KernelPerceptron
from adatron.estimators.linear import LinearSVC, LinearSVR
from adatron.estimators.nu import NuSVC, NuSVR
from adatron.estimators.one_class_svm import OneClassSVM
from adatron.estimators.svc import SVC
from adatron.estimators.svr import SVR
