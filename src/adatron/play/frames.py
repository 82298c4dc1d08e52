"""A fit as a series of frames: the model and its numbers after each epoch."""

import math
from base64 import b64encode
from collections.abc import Iterator
from time import monotonic
from typing import Any

import numpy as np

from adatron.bounds import novikoff_bound, radius_margin_bound, support_vector_loo_bound
from adatron.estimators import SVC, KernelPerceptron
from adatron.exceptions import InfeasibleError
from adatron.kernels import KERNELS as KERNEL_CLASSES
from adatron.play.algorithms import EXTENT, KERNELS, Request

__all__ = ["GRID", "frames"]

GRID = 60  # values of each coordinate at which decisions are shown
_EVERY_EPOCH_UP_TO = 200
_CLIPPED_AT = 3.0  # decision values beyond the margins are all alike
_LONGEST = 60.0  # seconds

_SIDE = np.linspace(-EXTENT, EXTENT, GRID)
_PLACES = np.array(np.meshgrid(_SIDE, _SIDE)).reshape(2, -1).T


def frames(request: Request) -> Iterator[dict[str, Any]]:
    """Train; first comes what is known before, then a frame for each epoch, at last the fitted model.

    Beyond 200 epochs every second one is shown, beyond 400 every third, and so on.
    """
    novikoff = _novikoff(request)
    yield {
        "classes": np.unique(request.y).tolist(),
        "code": request.code(),
        "grid": GRID,
        "novikoff": novikoff,
        "has_margin": request.algorithm.has_margin,
    }
    model, epoch, ends = request.estimator(), 0, monotonic() + _LONGEST
    for record in model.iter_fit(request.X, request.y):
        if record.epoch > epoch:  # one record of each round is enough: all problems are in the model
            epoch = record.epoch
            if epoch % math.ceil(epoch / _EVERY_EPOCH_UP_TO) == 0:
                yield _frame(request, model, epoch)
        if monotonic() > ends:
            raise TimeoutError(f"the fit was stopped after {_LONGEST:.0f} seconds; allow fewer epochs")
    status = {"status": str(model.status_), "sentence": model.status_.sentence}
    status["exact"] = model.finished_exactly_
    yield _frame(request, model, epoch) | status | {"bounds": _bounds(request, model, novikoff)}


def _frame(request: Request, model: Any, epoch: int) -> dict[str, Any]:
    history = model.history_
    last = dict(zip(history["problem"], range(len(history["problem"])), strict=True))  # newest row of each
    numbers = {name: [_finite(history[name][i]) for i in last.values()] for name in ("objective", "margin")}
    alpha = np.zeros(len(request.y))
    alpha[model.support_] = np.abs(model.dual_coef_).max(axis=0)
    frame = {
        "epoch": epoch,
        **numbers,
        "bias": [_finite(value) for value in model.intercept_.tolist()],
        "gap": _finite(model.duality_gap_),
        "wrong": np.flatnonzero(model.predict(request.X) != request.y).tolist(),
        "support": len(model.support_),
        "alpha": _packed(alpha, np.uint16),
        "decisions": [
            _packed(f, np.int16, _CLIPPED_AT if request.algorithm.has_margin else np.inf)
            for f in np.atleast_2d(model.decision_function(_PLACES).T)
        ],
    }
    if request.algorithm.estimator is KernelPerceptron:
        frame["made"] = int(model.mistakes_.sum())
    return frame


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _packed(values: np.ndarray, kind: Any, most: float = np.inf) -> dict[str, Any]:
    """Integers as base64 text, and what one of them stands for; only 0 becomes 0."""
    unit = float(min(np.abs(values).max(), most)) / np.iinfo(kind).max or 1.0
    whole = np.clip(np.rint(values / unit), np.iinfo(kind).min, np.iinfo(kind).max)
    whole = np.where((whole == 0) & (values != 0), np.sign(values), whole).astype(kind)
    return {"unit": unit, "data": b64encode(whole.tobytes()).decode()}


def _geometry(request: Request, model: Any) -> tuple[float, float, float]:
    """R, the margin γ of a two-class machine, and its bias, in units of feature space."""
    name = request.arguments["kernel"]
    given = {key: request.arguments[key] for key in KERNELS[name][1]}
    radius = math.sqrt(KERNEL_CLASSES[name](**given).diagonal(request.X).max())
    outputs = model.decision_function(model.support_vectors_) - model.intercept_[0]
    length = math.sqrt(max(float(model.dual_coef_[0] @ outputs), 0.0)) or math.inf
    signs = np.where(request.y == model.classes_[1], 1.0, -1.0)
    margin = float((signs * model.decision_function(request.X)).min()) / length
    return radius, margin, float(model.intercept_[0]) / length


def _novikoff(request: Request) -> float | None:
    """Most mistakes that the perceptron can make, where the theorem holds: separable, two classes."""
    if request.algorithm.estimator is not KernelPerceptron or len(np.unique(request.y)) > 2:
        return None
    bias = request.arguments["fit_intercept"]
    given = {key: request.arguments[key] for key in ("kernel", *KERNELS[request.arguments["kernel"]][1])}
    best = SVC(C=math.inf, fit_intercept=bias, time_limit=2.0, **given)
    try:
        best.fit(request.X, request.y)
    except InfeasibleError:
        return None
    radius, margin, offset = _geometry(request, best)
    return _finite(novikoff_bound(radius, margin, bias=bias)) if abs(offset) <= radius else None


def _bounds(request: Request, model: Any, novikoff: float | None) -> list[str]:
    """What theory says of the fitted model, in sentences."""
    m, said = len(request.y), []
    if novikoff is not None:
        made = int(model.mistakes_.sum())
        said.append(f"Novikoff: at most {math.floor(novikoff):,} mistakes; there were {made:,}.")
    if not request.algorithm.has_margin or not model.converged_ or len(model.classes_) > 2:
        return said
    share = support_vector_loo_bound(len(model.support_), m)
    said.append(f"Leave-one-out error at most {share:.1%}: the share of support vectors.")
    if request.arguments["C"] == math.inf:
        radius, margin, _ = _geometry(request, model)
        bound = radius_margin_bound(radius, margin, m, bias=request.arguments["fit_intercept"])
        known = f"at most {bound:.1%}" if bound < 1.0 else "no bound below 100 %"
        said.append(f"From radius {radius:.3g} and margin {margin:.3g}: leave-one-out error {known}.")
    return said
