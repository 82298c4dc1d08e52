"""What the SVM of every C is worth: on its own rows, by leave-one-out bounds, and on rows held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adatron.estimators.held_out import HeldOutModel
from adatron.paths.grid import PathData
from adatron.paths.solutions import Solutions, in_chunks

__all__ = ["held_out_values", "measures", "outputs", "scorer_of"]

Score = Callable[[np.ndarray, np.ndarray, np.ndarray], float]  # of decisions, codes and weights


def outputs(
    shared: PathData, solutions: Solutions, Cs: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """``y∘α`` (m, P), outputs (m, P) without bias and biases (P,) for every C."""
    m = len(shared.data.codes)
    for part in in_chunks(Cs, m * shared.n_problems):
        coefficients, bias = solutions.at(part)
        columns = np.asfortranarray(coefficients.transpose(1, 0, 2).reshape(m, -1))
        f = shared.gram.matmul(columns).reshape(m, len(part), -1)
        yield from ((coefficients[k], f[:, k], bias[k]) for k in range(len(part)))


def measures(shared: PathData, solutions: Solutions, Cs: np.ndarray) -> Iterator[dict[str, Any]]:
    """Objective, margin, support vectors, errors and gap for every C."""
    signs, diagonal = shared.signs, shared.gram.diagonal()[:, None]
    share = shared.data.sample_weight / shared.data.sample_weight.sum()
    for C, (coefficients, f, bias) in zip(Cs.tolist(), outputs(shared, solutions, Cs), strict=True):
        alpha, decisions = np.abs(coefficients), f + bias
        squares = np.maximum((coefficients * f).sum(axis=0), 0.0)  # ‖w‖² of every problem
        support = alpha.any(axis=1)
        wrong = shared.layout.vote(decisions) != shared.data.codes
        doubtful = ((signs * decisions <= alpha * diagonal) & (signs != 0.0)).any(axis=1)
        yield {
            "objective": float(alpha.sum() - 0.5 * squares.sum()),
            "margin": float(1.0 / np.sqrt(squares.max())) if squares.max() > 0.0 else np.inf,
            "n_support": int(np.count_nonzero(support)),
            "training_error": float(share @ wrong),
            "loo_bound": float(share @ support),
            "loo_estimate": float(share @ doubtful),
            "gap": _gap(alpha, signs, decisions, squares, C * shared.data.weights[:, None]),
        }


def _gap(
    alpha: np.ndarray, signs: np.ndarray, decisions: np.ndarray, squares: np.ndarray, upper: np.ndarray
) -> float:
    """Relative duality gap, the worst of all problems."""
    slack = np.where(signs != 0.0, 1.0 - signs * decisions, 0.0)
    difference = np.where(slack > 0.0, (upper - alpha) * slack, -alpha * slack).sum(axis=0)
    dual = alpha.sum(axis=0) - 0.5 * squares
    return float((difference / np.maximum(np.abs(dual + difference), np.finfo(float).tiny)).max())


def held_out_values(
    shared: PathData, solutions: Solutions, Cs: np.ndarray, held: np.ndarray, score: Score
) -> np.ndarray:
    """The score of some training rows, which the solutions have not seen, for every C."""
    codes, weights = shared.data.codes[held], shared.data.sample_weight[held]
    rows = outputs(shared, solutions, Cs)
    return np.array([score(f[held] + bias, codes, weights) for _, f, bias in rows])


def scorer_of(shared: PathData, scorer: Callable[..., float] | None) -> Score:
    """A score to minimise: the share of wrong predictions, or 1 − score by one of scikit-learn's scorers."""
    layout, classes = shared.layout, shared.data.classes

    def error(decisions: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
        return float(weights @ (layout.vote(decisions) != codes) / weights.sum())

    if scorer is None:
        return error

    def one_minus_score(decisions: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
        values = decisions if layout.is_binary else layout.one_per_class(decisions)
        places = np.arange(len(codes))[:, None]
        return 1.0 - float(scorer(HeldOutModel(values, classes).fit(), places, classes[codes]))

    return one_minus_score
