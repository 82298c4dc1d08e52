"""What must hold of every fitted model, whatever the data: recomputed here in plain numpy.

Nothing below uses the library's kernels, problems or certificate, so a mistake there cannot
hide itself. The formulas are those of the certificate: with ``f = K (y∘α)`` and the bias b
that minimises the primal,

    D = Σα − ½ αᵀQα,    P = ½ αᵀQα + Σ u_i max(0, 1 − y_i (f_i + b)),    gap = (P − D)/max(|P|, |D|)

and for a hard margin (w scaled until no point has slack) the gap of the interval
``[min y_i (f_i + b)/‖w‖, ‖w‖/Σα]`` of margins.
"""

import pickle
import warnings
from itertools import combinations
from math import fsum

import numpy as np
from scipy import sparse
from sklearn.base import clone

__all__ = [
    "blobs",
    "check_model",
    "fit_quietly",
    "gram_matrix",
    "overlapping",
    "recomputed_gap",
]

_HARD = 1e100  # C · max k(x, x) from which a bound cannot be told from infinity
_NEARLY_HARD = 1e20  # and from which rounding alone makes a soft gap, so that the hard margin's counts too
_EPS = np.finfo(float).eps
_NOT_REPEATABLE = ("time_limit", "stopped")  # where a fit ended by the clock or by a person
_LONG = 1.0  # seconds of a fit that is not repeated just to compare


def blobs(m=60, d=3, seed=0, distance=6.0):
    """Two well separated classes 0 and 1."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 2
    X = rng.normal(size=(m, d))
    X[:, 0] += distance * y
    return X, y


def overlapping(m=60, d=3, seed=0):
    """Two classes that no linear function separates."""
    return blobs(m, d, seed, distance=1.0)


def fit_quietly(model, X, y, **fit_params):
    """Fit, whatever the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, **fit_params)


def check_model(model, X, y, sample_weight=None):
    """Assert everything the catalogue asks of a fitted model."""
    y = np.ravel(y)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    _check_finite_attributes(model)
    _check_status(model)
    problems = list(_problems(model, y, weights))
    K = gram_matrix(model, X, weights)
    gaps = []
    for rows, signs, alpha, upper, bias in problems:
        _check_feasible(alpha, signs, upper, model.fit_intercept)
        gaps.append(_gap(K[np.ix_(rows, rows)], signs, alpha, upper, bias, model.fit_intercept))
        if model.converged_ and len(problems) == 1 and np.isinf(upper).all():
            assert (signs * model.decision_function(X)[rows] > 0.0).all(), (
                "a hard margin that separates nothing"
            )
    gap, rounding = max(gaps)
    assert abs(model.duality_gap_ - gap) <= 1e-9 + rounding, (model.duality_gap_, gap)
    _check_predictions(model, X)
    _check_round_trips(model, X, y, sample_weight)


def recomputed_gap(model, X, y, sample_weight=None):
    """The worst relative duality gap over the model's problems, computed independently."""
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    K = gram_matrix(model, X, weights)
    return max(
        _gap(K[np.ix_(rows, rows)], signs, alpha, upper, bias, model.fit_intercept)[0]
        for rows, signs, alpha, upper, bias in _problems(model, np.ravel(y), weights)
    )


def gram_matrix(model, X, weights):
    """The kernel matrix of the training rows in plain numpy."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    X = X.astype(np.float64)
    if callable(model.kernel):
        return np.asarray(model.kernel(X, X), dtype=np.float64)
    if model.kernel == "precomputed":
        return X
    gamma = _gamma(model, X, weights)
    differences = X[:, None, :] - X[None, :, :]
    with np.errstate(over="ignore"):
        return {
            "linear": lambda: X @ X.T,
            "poly": lambda: (gamma * (X @ X.T) + model.coef0) ** model.degree,
            "sigmoid": lambda: np.tanh(gamma * (X @ X.T) + model.coef0),
            "rbf": lambda: np.exp(-gamma * np.square(differences).sum(axis=2)),
            "laplacian": lambda: np.exp(-gamma * np.abs(differences).sum(axis=2)),
        }[model.kernel]()


def _gamma(model, X, weights):
    if model.kernel == "linear" or not isinstance(model.gamma, str):
        return model.gamma
    if model.gamma == "auto":
        return 1.0 / X.shape[1]
    mean = np.average(X.mean(axis=1), weights=weights)
    variance = np.average(np.square(X - mean).mean(axis=1), weights=weights)
    return 1.0 / (X.shape[1] * variance) if X.shape[1] * variance > np.finfo(float).tiny else 1.0


def _problems(model, y, weights):
    """Rows, signs, α, upper bounds and bias of every two-class problem behind the model."""
    codes = np.searchsorted(model.classes_, y)
    upper = model.C * (weights * model.class_weight_[codes])
    taking_part = weights * model.class_weight_[codes] > 0.0
    stored = model.dual_coef_
    dual_coef = stored.toarray() if sparse.issparse(stored) else stored
    coefficients = np.zeros((len(dual_coef), len(y)))
    coefficients[:, model.support_] = dual_coef
    n_classes = len(model.classes_)
    if n_classes == 2 or model.multi_class == "ovr":
        positives = [1] if n_classes == 2 else range(n_classes)
        for number, positive in enumerate(positives):
            rows = np.flatnonzero(taking_part)
            signs = np.where(codes[rows] == positive, 1.0, -1.0)
            alpha = signs * coefficients[number, rows]
            yield rows, signs, alpha, upper[rows], model.intercept_[number]
        return
    for number, (i, j) in enumerate(combinations(range(n_classes), 2)):
        rows = np.flatnonzero(taking_part & ((codes == i) | (codes == j)))
        signs = np.where(codes[rows] == i, 1.0, -1.0)
        alpha = signs * np.where(codes[rows] == i, coefficients[j - 1, rows], coefficients[i, rows])
        yield rows, signs, alpha, upper[rows], model.intercept_[number]


def _check_feasible(alpha, signs, upper, has_bias):
    assert (alpha >= 0.0).all(), alpha.min()
    assert (alpha <= upper).all(), (alpha - upper).max()
    if has_bias:
        assert abs(fsum(signs * alpha)) <= 1e-9 * fsum(alpha)


def _gap(K, signs, alpha, upper, bias, has_bias):
    """Relative gap, and how far rounding of the outputs alone can move it."""
    f = K @ (signs * alpha)
    quadratic, linear = fsum(alpha * signs * f), fsum(alpha)
    noise = _EPS * len(alpha) * float(np.max(np.abs(K) @ alpha, initial=0.0))
    if np.max(upper) * np.max(np.diagonal(K)) >= _HARD:
        return _hard_gap(f, signs, bias, quadratic, linear, noise)
    dual = linear - 0.5 * quadratic
    primals = [_primal(f, b, signs, upper, quadratic) for b in _biases(f, signs, has_bias)]
    primal, size = min(primals), max(abs(min(primals)), abs(dual))
    at_intercept = _primal(f, bias, signs, upper, quadratic)
    rounding = (fsum(upper) + linear) * noise / size if size > 0.0 else 0.0
    assert at_intercept - primal <= (1e-9 + rounding) * size, "intercept_ does not minimise the primal"
    soft = (primal - dual) / size if size > 0.0 else 0.0, rounding
    if np.max(upper) * np.max(np.diagonal(K)) < _NEARLY_HARD:
        return soft
    return min(soft, _hard_gap(f, signs, bias, quadratic, linear, noise))


def _primal(f, bias, signs, upper, quadratic):
    return 0.5 * quadratic + fsum(upper * np.maximum(0.0, 1.0 - signs * (f + bias)))


def _biases(f, signs, has_bias):
    """The primal is piecewise linear in the bias: its minimum lies at one of the kinks."""
    return np.unique(signs - f) if has_bias else [0.0]


def _hard_gap(f, signs, bias, quadratic, linear, noise):
    if quadratic <= 0.0:  # α = 0, or w = 0 as far as rounding can tell
        return 1.0, 1.0 if noise * linear > 0.0 else 0.0
    norm = np.sqrt(quadratic)
    low, high = np.min(signs * (f + bias)) / norm, norm / linear
    rounding = 2.0 * noise / (norm * high)
    return (1.0 if low <= 0.0 else max(0.0, 1.0 - (low / high) ** 2)), rounding


def _check_finite_attributes(model):
    for name, value in vars(model).items():
        if not name.endswith("_") or name.startswith("_"):
            continue
        for array in value.values() if isinstance(value, dict) else [value]:
            array = array.data if sparse.issparse(array) else np.asarray(array)
            if array.dtype.kind == "f":
                assert np.isfinite(array).all(), f"{name} is not finite"


def _check_status(model):
    assert isinstance(model.duality_gap_, float)
    assert isinstance(model.converged_, bool)
    assert model.converged_ == (model.status_ == "converged") == (model.fit_status_ == 0)
    assert model.converged_ <= (model.duality_gap_ <= model.tol)
    low, high = model.bias_interval_.T
    assert (low <= model.intercept_).all()
    assert (model.intercept_ <= high).all()
    assert model.n_support_.sum() == len(model.support_) == model.dual_coef_.shape[1]


def _check_predictions(model, X):
    assert np.isfinite(model.decision_function(X)).all()
    assert set(model.predict(X).tolist()) <= set(model.classes_.tolist())


def _check_round_trips(model, X, y, sample_weight):
    decisions = model.decision_function(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), decisions)
    if model.status_ in _NOT_REPEATABLE or max(model.history_["seconds"]) > _LONG:
        return
    refitted = fit_quietly(clone(model), X, y, sample_weight=sample_weight)
    np.testing.assert_array_equal(refitted.decision_function(X), decisions)
