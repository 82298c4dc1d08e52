"""What the fitted attributes of adatron's estimators must satisfy."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.estimators import SVR
from adatron.estimators.classifier import Layout
from adatron.estimators.expansion import dense_coef
from adatron.estimators.probabilities import ClassProbabilities, PairProbabilities
from adatron.io.facts import Facts
from adatron.kernels import Kernel, Precomputed
from adatron.training import Status

__all__ = [
    "check_bound",
    "check_classes",
    "check_clusters",
    "check_features",
    "check_kernel",
    "check_one_class",
    "check_probabilities",
    "check_scales",
    "check_shape_of_decisions",
    "check_single",
    "check_stages",
    "check_summary",
    "check_support",
    "check_targets",
]

_ROUNDING = 1e-6
_STRATEGIES = ("ovo", "ovr", "crammer_singer")


def check_features(facts: Facts) -> None:
    n_features = facts.integer("n_features_in_", 1)
    if "feature_names_in_" in facts.attributes:
        names = facts.a("feature_names_in_", np.ndarray)
        facts.shaped("feature_names_in_", names, (n_features,))
        facts.require(all(isinstance(n, str) for n in names.tolist()), "feature_names_in_", "are not names")


def check_kernel(facts: Facts) -> None:
    facts.a("_kernel", Kernel)
    facts.require(facts.get("_precision") in (np.float32, np.float64), "_precision", "is unknown")


def check_support(facts: Facts) -> None:
    """Support vectors, their places and coefficients, intercepts, and landmarks if there are any."""
    support = facts.array("support_", (None,), "i")
    n_features, shape = facts.attributes["n_features_in_"], facts.a("shape_fit_", tuple)
    facts.require(len(shape) == 2 and all(type(n) is int for n in shape), "shape_fit_", "is no shape")
    facts.require(shape[1] == n_features, "shape_fit_", f"has {shape[1]} columns, expected {n_features}")
    facts.require(not len(support) or support.min() >= 0, "support_", "has negative places")
    facts.require(not len(support) or support.max() < shape[0], "support_", "points beyond the data")
    is_precomputed = isinstance(facts.attributes["_kernel"], Precomputed)
    is_empty = getattr(facts.get("support_vectors_"), "shape", (1,))[0] == 0
    stayed = is_empty and facts.get("_landmark_coef") is not None  # on the cluster they were trained on
    n_vectors = 0 if stayed else len(support)
    facts.rows("support_vectors_", (0, 0) if is_precomputed else (n_vectors, n_features))
    intercept = facts.array("intercept_", (None,))
    coefficients = facts.rows("dual_coef_", (None, len(support)))
    facts.require(intercept.dtype == coefficients.dtype == np.float64, "intercept_", "is not float64")
    if facts.get("_landmark_coef") is not None:
        landmarks = facts.array("_landmark_coef", (None, len(intercept)))
        facts.rows("_landmarks", (len(landmarks), n_features))
    counts = facts.array("n_support_", (None,), "i")
    facts.require(not len(counts) or counts.min() >= 0, "n_support_", "has negative numbers")
    total = int(counts.sum(dtype=np.int64))
    what = f"adds up to {total}, but there are {len(support)} support vectors"
    facts.require(total == len(support), "n_support_", what)


def check_classes(facts: Facts) -> None:
    """Classes, and as many problems and coefficients as they need."""
    classes = facts.a("classes_", np.ndarray)
    n = len(classes) if classes.ndim == 1 else 0
    facts.require(n >= 2, "classes_", "has not two classes or more")
    facts.require(_are_sorted(classes), "classes_", "is not sorted, or has a class twice")
    layout = facts.a("_layout", Layout)
    facts.require(layout.strategy in _STRATEGIES, "_layout", "is unknown")
    facts.require(type(layout.n_classes) is int and layout.n_classes == n, "_layout", "has other classes")
    problems = 1 if layout.is_binary else n * (n - 1) // 2 if layout.is_pairwise else n
    facts.shaped("intercept_", facts.attributes["intercept_"], (problems,))
    rows = n - 1 if layout.is_pairwise else problems
    facts.shaped("dual_coef_", facts.attributes["dual_coef_"], (rows, None))
    facts.shaped("n_support_", facts.attributes["n_support_"], (n,))
    if "class_weight_" in facts.attributes:
        facts.array("class_weight_", (n,))


def _are_sorted(classes: np.ndarray) -> bool:
    if classes.dtype.kind != "O":
        return bool(np.all(classes[:-1] < classes[1:]))
    values = classes.tolist()  # of mixed kinds they have no order
    return all(isinstance(value, str | int | float) for value in values) and len(set(values)) == len(values)


def check_bound(facts: Facts) -> None:
    """α ≤ C, with the largest weight that a row had."""
    if "_bound" not in facts.attributes:
        facts.require(facts.attributes.get("C") == np.inf, "_bound", "is missing")
        return
    bound = facts.a("_bound", float)
    largest = float(np.abs(dense_coef(facts.model)).max(initial=0.0))
    what = f"has a multiplier {largest:g}, above its bound C = {bound:g}"
    facts.require(largest <= bound * (1.0 + _ROUNDING), "dual_coef_", what)


def check_single(facts: Facts) -> None:
    facts.shaped("intercept_", facts.attributes["intercept_"], (1,))
    facts.shaped("dual_coef_", facts.attributes["dual_coef_"], (1, None))
    facts.shaped("n_support_", facts.attributes["n_support_"], (1,))


def check_one_class(facts: Facts) -> None:
    offset = facts.array("offset_", (1,))
    facts.require(offset[0] == -facts.attributes["intercept_"][0], "offset_", "is not -intercept_")
    facts.require((dense_coef(facts.model) >= 0.0).all(), "dual_coef_", "has negative multipliers")


def check_summary(facts: Facts) -> None:
    """How the fit went; its history has columns of one length."""
    status = facts.a("status_", str)  # skops gives plain text back
    facts.require(status in set(Status), "status_", f"is {status[:50]!r}")
    facts.require(facts.a("converged_", bool) == (status == Status.CONVERGED), "converged_", "denies status_")
    facts.a("duality_gap_", float)
    history = facts.a("history_", dict)
    columns = list(history.values())
    facts.require(all(isinstance(column, list) for column in columns), "history_", "has no lists")
    facts.require(len({len(column) for column in columns}) <= 1, "history_", "has columns of many lengths")


def check_shape_of_decisions(facts: Facts) -> None:
    shape = facts.get("decision_function_shape")
    facts.require(shape in ("ovr", "ovo"), "decision_function_shape", f"is {str(shape)[:50]!r}")
    for name in ("break_ties", "probability"):
        facts.require(isinstance(facts.get(name), bool | np.bool_), name, "is neither True nor False")


def check_probabilities(facts: Facts) -> None:
    if "_probabilities" not in facts.attributes:
        return
    layout, found = facts.attributes["_layout"], facts.get("_probabilities")
    kind = PairProbabilities if layout.is_pairwise else ClassProbabilities
    facts.require(isinstance(found, kind), "_probabilities", "do not fit the classes")
    if isinstance(found, PairProbabilities):
        facts.require(isinstance(found.pairs, list), "_probabilities", "has no pairs")
        facts.require(len(found.pairs) == len(layout.pairs), "_probabilities", "has a wrong number of pairs")
        for pair in found.pairs:
            _check_slopes(facts, pair, 2)
        found = found.together
    _check_slopes(facts, found, 2 if layout.is_binary else 1)


def _check_slopes(facts: Facts, found: Any, n: int) -> None:
    slopes = found.slopes if isinstance(found, ClassProbabilities) else None
    fits = isinstance(slopes, np.ndarray) and slopes.shape == (n,) and slopes.dtype == np.float64
    facts.require(fits and bool(np.isfinite(found.slopes).all()), "_probabilities", f"has not {n} slopes")


def check_scales(facts: Facts) -> None:
    scales = facts.array("feature_scale_", (facts.attributes["n_features_in_"],))
    facts.require((scales > 0.0).all(), "feature_scale_", "has numbers that are not positive")
    if "best_threshold_" in facts.attributes:
        facts.number("best_threshold_")


def check_targets(facts: Facts) -> None:
    facts.number("_centre")
    facts.number("_unit", above=0.0)
    inner = facts.a("svr_", SVR)
    fits = getattr(inner, "n_features_in_", None) == facts.attributes["n_features_in_"]
    facts.require(fits, "svr_", "has other features")


def check_stages(facts: Facts) -> None:
    """The ensemble's stages: rows, and for each class their coefficients and offsets by stage."""
    layout = facts.attributes["_layout"]
    n = 1 if layout.is_binary else layout.n_classes
    facts.array("stage_weights_", (None,) if n == 1 else (None, n))
    if "_stages" not in facts.attributes:
        return
    stages = facts.a("_stages", tuple)
    facts.require(len(stages) == 3 and len(stages[1]) == len(stages[2]) == n, "_stages", "has other classes")
    rows, coefficients, offsets = stages
    is_precomputed = isinstance(facts.attributes["_kernel"], Precomputed)
    columns = () if is_precomputed else (facts.attributes["n_features_in_"],)
    facts.shaped("_stages", rows, (None, *columns))
    if is_precomputed:
        fits = rows.dtype.kind == "i" and ((rows >= 0) & (rows < facts.attributes["n_features_in_"])).all()
        facts.require(fits, "_stages", "points beyond the data")
    for own, offset in zip(coefficients, offsets, strict=True):
        facts.shaped("_stages", own, (rows.shape[0], None))
        facts.shaped("_stages", offset, (own.shape[1],))
        is_finite = own.dtype.kind == offset.dtype.kind == "f" and np.isfinite(own).all()
        facts.require(is_finite and np.isfinite(offset).all(), "_stages", "has NaN or infinity")


def check_clusters(facts: Facts) -> None:
    labels = facts.array("labels_", (None,), "i")
    n_clusters = facts.integer("n_clusters_", 0)
    facts.require(len(labels) and labels.min() >= -1, "labels_", "has labels below -1")
    facts.require(int(labels.max()) + 1 == n_clusters, "n_clusters_", "is not the number of labels_")
    support = facts.array("support_", (None,), "i")
    inside = len(support) and support.min() >= 0 and support.max() < len(labels)
    facts.require(inside, "support_", "points beyond the data")
    facts.rows("support_vectors_", (len(support), facts.attributes["n_features_in_"]))
    centre = facts.array("dual_coef_", (1, len(support)))
    facts.require((centre >= 0.0).all(), "dual_coef_", "has negative multipliers")
    facts.require(abs(centre.sum() - 1.0) < _ROUNDING, "dual_coef_", "does not add up to 1")
    facts.number("radius_", above=-1e-300)
    for name in ("sigma_", "gamma_"):
        facts.number(name, above=0.0)
