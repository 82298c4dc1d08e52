"""Ways to a tuned kernel SVM, each a function from training rows, labels and test rows to predictions."""

import importlib.util
import warnings

import numpy as np

from benchmarks.splits import standardised

__all__ = ["TUNERS", "available_tuners"]

# the grid of the LIBSVM guide: 11 x 11
GRID = {"C": 2.0 ** np.arange(-5, 16, 2), "gamma": 2.0 ** np.arange(-15, 6, 2)}


class _Standardised:
    """Standardises, then fits and predicts with a scikit-learn model."""

    def __init__(self, model):
        self.model = model

    def __call__(self, X, y, X_test):
        X, self.X_test = standardised(X, X_test)
        self.model.fit(X, y)
        return lambda: self.model.predict(self.X_test)


def grid_search():
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    return _Standardised(GridSearchCV(SVC(cache_size=1000), GRID, cv=5, n_jobs=-1))


def our_grid_search():
    """The same search with the same optima by our SVC, for sets on which scikit-learn's takes hours."""
    from sklearn.model_selection import GridSearchCV

    from adatron import SVC

    return _Standardised(
        GridSearchCV(SVC(cache_size=1000), GRID, cv=5, verbose=3)
    )  # takes long: each fit is told


def halving():
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV
    from sklearn.svm import SVC

    return _Standardised(HalvingGridSearchCV(SVC(cache_size=1000), GRID, cv=5, n_jobs=-1, random_state=0))


def default_svc():
    from sklearn.svm import SVC

    return _Standardised(SVC(cache_size=1000))


def auto_svc():
    from adatron import AutoSVC

    def tune(X, y, X_test):
        model = AutoSVC(random_state=0).fit(X, y)
        return lambda: model.predict(X_test)

    return tune


def liquid_svm():
    import liquidSVM

    def tune(X, y, X_test):
        X, X_test = standardised(X, X_test)
        labels, codes = np.unique(y, return_inverse=True)
        model = liquidSVM.mcSVM(X, codes + 1.0, threads=2)
        # its `predict` wants labels that it knows
        answer = lambda: model.test(X_test, np.ones(len(X_test)))[0][:, 0]  # noqa: E731
        return lambda: labels[answer().astype(int) - 1]

    return tune


# name: (factory, module that must be installed)
TUNERS = {
    "AutoSVC": (auto_svc, "adatron"),
    "GridSearchCV": (grid_search, "sklearn"),
    "GridSearchCV adatron": (our_grid_search, "adatron"),
    "HalvingGridSearchCV": (halving, "sklearn"),
    "liquidSVM": (liquid_svm, "liquidSVM"),
    "default SVC": (default_svc, "sklearn"),
}


WHEN_NAMED = ("GridSearchCV adatron",)  # a second grid search is run only where it is asked for


def available_tuners():
    """Names of the tuners that are installed."""
    names = [name for name in TUNERS if name not in WHEN_NAMED]
    return [name for name in names if importlib.util.find_spec(TUNERS[name][1])]


def quietly(tune, *arguments):
    """Call without the warnings of halving searches about small samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tune(*arguments)
