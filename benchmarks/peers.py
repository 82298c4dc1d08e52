"""One way to train, predict and look at a model, for every library of the benchmarks."""

import importlib.util

import numpy as np

__all__ = ["PEERS", "REGRESSORS", "available"]

CACHE_MB = 2000


def _adatron(C, gamma):
    from adatron import SVC

    return SVC(C=C, gamma=gamma)


def _sklearn(C, gamma):
    from sklearn.svm import SVC

    return SVC(C=C, gamma=gamma, cache_size=CACHE_MB)


def _sklearnex(C, gamma):
    from sklearnex.svm import SVC

    return SVC(C=C, gamma=gamma, cache_size=CACHE_MB)


def _thundersvm(C, gamma):
    from thundersvm import SVC

    return SVC(C=C, gamma=gamma, max_mem_size=CACHE_MB)


class _LibSVM:
    """LIBSVM's own Python interface."""

    def __init__(self, C, gamma):
        self.options = f"-s 0 -t 2 -c {float(C)!r} -g {float(gamma)!r} -m {CACHE_MB} -q"

    def fit(self, X, y):
        from libsvm.svmutil import svm_train

        self.labels, codes = np.unique(y, return_inverse=True)
        self.model = svm_train(codes.astype(float), X, self.options)
        return self

    def predict(self, X):
        from libsvm.svmutil import svm_predict

        codes, _, _ = svm_predict(np.zeros(X.shape[0]), X, self.model, "-q")
        return self.labels[np.asarray(codes, dtype=int)]


# name: (constructor, precision of the rows it is given, module that must be installed)
PEERS = {
    "adatron": (_adatron, np.float64, "adatron"),
    "sklearn": (_sklearn, np.float64, "sklearn"),
    "sklearnex float32": (_sklearnex, np.float32, "sklearnex"),
    "sklearnex float64": (_sklearnex, np.float64, "sklearnex"),
    "libsvm": (_LibSVM, np.float64, "libsvm"),
    "thundersvm": (_thundersvm, np.float32, "thundersvm"),
}


def _adatron_regression(C, gamma):
    from adatron import SVR

    return SVR(C=C, gamma=gamma)


def _sklearn_regression(C, gamma):
    from sklearn.svm import SVR

    return SVR(C=C, gamma=gamma, cache_size=CACHE_MB)


def _sklearnex_regression(C, gamma):
    from sklearnex.svm import SVR

    return SVR(C=C, gamma=gamma, cache_size=CACHE_MB)


REGRESSORS = {
    "adatron": (_adatron_regression, np.float64, "adatron"),
    "sklearn": (_sklearn_regression, np.float64, "sklearn"),
    "sklearnex float32": (_sklearnex_regression, np.float32, "sklearnex"),
    "sklearnex float64": (_sklearnex_regression, np.float64, "sklearnex"),
}


def available(peers=PEERS):
    """Names of the peers that are installed."""
    return [name for name, (_, _, module) in peers.items() if importlib.util.find_spec(module)]
