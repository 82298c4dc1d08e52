"""How far an early-stopped model is from an exact SVM: a certificate without C."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

__all__ = ["nearest_penalty"]


def nearest_penalty(
    alpha: np.ndarray, outputs: np.ndarray, bias: float, y: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """The C of the 2-norm soft-margin SVM that a model is closest to, and its relative duality gap there.

    That SVM minimises ``½‖w‖² + ½C Σ u_i s_i²``, ``s_i = max(0, 1 − y_i (f_i + b))``; its dual is
    ``max Σα − ½ αᵀQα − Σ α_i²/(2C u_i)`` with ``α ≥ 0, yᵀα = 0``. The model's w gives the primal value, the
    best multiple of its α the dual one. A gap of 0 says that training on would not change the model.

    Parameters
    ----------
    alpha, outputs, y, weights : arrays of shape (m,)
        ``outputs`` are those of ``Σ α_i y_i k(x_i, ·)``, without the bias.
    bias : float

    Returns
    -------
    C, gap : float
    """
    square = float(np.maximum(alpha * y @ outputs, 0.0))
    total, spread = float(alpha.sum()), float((alpha**2 / weights).sum())
    loss = float(weights @ np.maximum(0.0, 1.0 - y * (outputs + bias)) ** 2)
    if total <= 0.0 or spread <= 0.0:
        return np.inf, 1.0

    def gap(log_C: float) -> float:
        C = np.exp(log_C)
        primal = 0.5 * (square + C * loss)
        dual = 0.5 * total**2 / (square + spread / C)
        return max(0.0, 1.0 - dual / primal) if primal > 0.0 else 0.0

    scale = np.log(weights.sum())
    found = minimize_scalar(gap, bounds=(-30.0 - scale, 30.0), method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x)), float(found.fun)
