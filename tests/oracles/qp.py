"""Independent solvers of the same dual: cvxopt and piqp.

Maximise ``pᵀα − ½ αᵀQα`` for ``0 ≤ α ≤ upper`` and, with a bias, ``yᵀα = r``; p is 1 unless given. With a
`total`, ``Σα = total`` as well.
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


def _equalities(y, bias, r, total):
    """A and b of ``A α = b``; None without any."""
    rows = [(y, r)] * bool(bias) + [(np.ones(len(y)), total)] * (total is not None)
    return (np.array([row for row, _ in rows]), np.array([float(b) for _, b in rows])) if rows else None


def solve_cvxopt(K, y, upper, bias, p=None, r=0.0, total=None):
    """Optimal α by cvxopt's interior-point method."""
    m = len(y)
    Q = y[:, None] * K * y
    rows, bounds = [-np.eye(m)], [np.zeros(m)]
    if np.isfinite(upper).all():
        rows.append(np.eye(m))
        bounds.append(upper)
    constraint = [cvxopt.matrix(part) for part in _equalities(y, bias, r, total) or ()]
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


def solve_piqp(K, y, upper, bias, p=None, r=0.0, total=None):
    """Optimal α by piqp's proximal interior-point method."""
    m = len(y)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    solver.settings.max_iter = 1000
    A, b = _equalities(y, bias, r, total) or (None, None)
    high = np.where(np.isfinite(upper), upper, LOOSE)
    linear = -np.ones(m) if p is None else -p
    solver.setup(y[:, None] * K * y, linear, A, b, None, None, None, np.zeros(m), high)
    solver.solve()
    return np.asarray(solver.result.x)


def coupled_objective(K, codes, A):
    """Σ_i A_{i,y_i} − ½ Σ_c A_cᵀ K A_c of Crammer & Singer's dual."""
    return float(A[np.arange(len(codes)), codes].sum() - 0.5 * np.sum(A * (K @ A)))


def coupled_bounds(codes, n_classes, upper):
    """C_i δ_{c,y_i}."""
    bounds = np.zeros((len(codes), n_classes))
    bounds[np.arange(len(codes)), codes] = upper
    return bounds


def solve_coupled_cvxopt(K, codes, n_classes, upper):
    """Optimal A of Crammer & Singer's dual by cvxopt; the variables are the rows of A, one after another."""
    m = len(codes)
    own = coupled_bounds(codes, n_classes, np.ones(m))
    options = {"show_progress": False, "abstol": 1e-13, "reltol": 1e-13, "feastol": 1e-13, "maxiters": 300}
    solution = cvxopt.solvers.qp(
        cvxopt.matrix(np.kron(K, np.eye(n_classes))),
        cvxopt.matrix(-own.ravel()),
        cvxopt.matrix(np.eye(m * n_classes)),
        cvxopt.matrix(coupled_bounds(codes, n_classes, upper).ravel()),
        cvxopt.matrix(np.kron(np.eye(m), np.ones((1, n_classes)))),
        cvxopt.matrix(np.zeros(m)),
        options=options,
    )
    return np.asarray(solution["x"]).reshape(m, n_classes)


def solve_coupled_piqp(K, codes, n_classes, upper):
    """Optimal A of Crammer & Singer's dual by piqp."""
    m = len(codes)
    n = m * n_classes
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-12
    solver.settings.max_iter = 1000
    own, high = (coupled_bounds(codes, n_classes, values) for values in (np.ones(m), upper))
    sums = np.kron(np.eye(m), np.ones((1, n_classes)))
    low = np.full(n, -LOOSE)
    P = np.kron(K, np.eye(n_classes))
    solver.setup(P, -own.ravel(), sums, np.zeros(m), None, None, None, low, high.ravel())
    solver.solve()
    return np.asarray(solver.result.x).reshape(m, n_classes)
