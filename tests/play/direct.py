"""What somebody would write for what the page of the playground asks for."""

from math import inf

from sklearn.base import clone

from adatron import SVC, EnsembleSVC, KernelPerceptron

__all__ = ["DIRECT", "direct"]

DIRECT = {
    "perceptron": KernelPerceptron(gamma=4.0),
    "adatron": SVC(10.0, gamma=4.0, solver="adatron"),
    "multiplicative": SVC(10.0, gamma=4.0, solver="multiplicative"),
    "m3": SVC(10.0, gamma=4.0, solver="m3", fit_intercept=False),
    "munk": SVC(10.0, gamma=4.0, solver="munk", fit_intercept=False),
    "rho": SVC(inf, gamma=4.0, solver="rho", fit_intercept=False),
    "ensemble": EnsembleSVC(gamma=4.0),
    "auto": SVC(10.0, gamma=4.0),
}


def direct(algorithm, **parameters):
    """An estimator that is the caller's own."""
    return clone(DIRECT[algorithm]).set_params(**parameters)
