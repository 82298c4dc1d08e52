"""Independent solvers of the same dual: cvxopt and piqp."""

import cvxopt
import numpy as np
import piqp

LOOSE = 1e30


def dual_objective(K, y, alpha):
    """Σα − ½ αᵀQα."""
    coefficients = y * alpha
    return float(alpha.sum() - 0.5 * coefficients @ K @ coefficients)


def solve_cvxopt(K, y, upper, bias):
    """Optimal α by cvxopt's interior-point method."""
    m = len(y)
    Q = y[:, None] * K * y
    rows, bounds = [-np.eye(m)], [np.zeros(m)]
    if np.isfinite(upper).all():
        rows.append(np.eye(m))
        bounds.append(upper)
    constraint = (cvxopt.matrix(y[None, :]), cvxopt.matrix(0.0)) if bias else ()
    options = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12, "maxiters": 300}
    solution = cvxopt.solvers.qp(
        cvxopt.matrix(Q),
        cvxopt.matrix(-np.ones(m)),
        cvxopt.matrix(np.vstack(rows)),
        cvxopt.matrix(np.concatenate(bounds)),
        *constraint,
        options=options,
    )
    return np.asarray(solution["x"]).ravel()


def solve_piqp(K, y, upper, bias):
    """Optimal α by piqp's proximal interior-point method."""
    m = len(y)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    solver.settings.max_iter = 1000
    A, b = (y[None, :], np.zeros(1)) if bias else (None, None)
    high = np.where(np.isfinite(upper), upper, LOOSE)
    solver.setup(y[:, None] * K * y, -np.ones(m), A, b, None, None, None, np.zeros(m), high)
    solver.solve()
    return np.asarray(solver.result.x)
