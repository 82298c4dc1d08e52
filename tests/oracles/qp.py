"""Independent solvers of the same dual: cvxopt and piqp.

Maximise ``pᵀα − ½ αᵀQα`` for ``0 ≤ α ≤ upper`` and, with a bias, ``yᵀα = r``; p is 1 unless given.
"""

import cvxopt
import numpy as np
import piqp

LOOSE = 1e30


def dual_objective(K, y, alpha, p=None):
    """pᵀα − ½ αᵀQα."""
    coefficients = y * alpha
    linear = alpha.sum() if p is None else p @ alpha
    return float(linear - 0.5 * coefficients @ K @ coefficients)


def regression_terms(K, t, epsilon):
    """K, y and p of the 2m variables of a regression."""
    m = len(t)
    y = np.concatenate([np.ones(m), -np.ones(m)])
    return np.tile(K, (2, 2)), y, np.concatenate([t - epsilon, -t - epsilon])


def solve_cvxopt(K, y, upper, bias, p=None, r=0.0):
    """Optimal α by cvxopt's interior-point method."""
    m = len(y)
    Q = y[:, None] * K * y
    rows, bounds = [-np.eye(m)], [np.zeros(m)]
    if np.isfinite(upper).all():
        rows.append(np.eye(m))
        bounds.append(upper)
    constraint = (cvxopt.matrix(y[None, :]), cvxopt.matrix(float(r))) if bias else ()
    options = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12, "maxiters": 300}
    solution = cvxopt.solvers.qp(
        cvxopt.matrix(Q),
        cvxopt.matrix(-np.ones(m) if p is None else -p),
        cvxopt.matrix(np.vstack(rows)),
        cvxopt.matrix(np.concatenate(bounds)),
        *constraint,
        options=options,
    )
    return np.asarray(solution["x"]).ravel()


def solve_piqp(K, y, upper, bias, p=None, r=0.0):
    """Optimal α by piqp's proximal interior-point method."""
    m = len(y)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    solver.settings.max_iter = 1000
    A, b = (y[None, :], np.full(1, float(r))) if bias else (None, None)
    high = np.where(np.isfinite(upper), upper, LOOSE)
    linear = -np.ones(m) if p is None else -p
    solver.setup(y[:, None] * K * y, linear, A, b, None, None, None, np.zeros(m), high)
    solver.solve()
    return np.asarray(solver.result.x)
