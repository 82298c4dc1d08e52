"""N. Cristianini, C. Campbell and J. Shawe-Taylor: multiplicative updates for support vector machines.

>>> from adatron.papers.cristianini1999 import DOCUMENT
>>> [experiment.name for experiment in DOCUMENT.experiments][:4]
['majority', 'mirror-symmetry', 'sonar', 'breast-cancer']
"""

from adatron.papers.cristianini1999.binary_strings import run_majority, run_mirror_symmetry
from adatron.papers.cristianini1999.compression import run_compression
from adatron.papers.cristianini1999.equality import run_equality
from adatron.papers.cristianini1999.measured_data import run_breast_cancer, run_sonar
from adatron.papers.cristianini1999.rates import run_rates
from adatron.papers.cristianini1999.regression import run_regression
from adatron.papers.cristianini1999.sparsity import run_bounds
from adatron.papers.experiment import Document, Experiment

__all__ = ["DOCUMENT"]

_RATE = (
    'SVC(C=inf, solver="multiplicative") to a relative duality gap of 1e-3; η, which is not printed, is '
    "three quarters of the largest stable rate"
)
_FOUR = "The four problems of section 4, with a bias; one draw of each artificial problem"

DOCUMENT = Document(
    name="cristianini1999",
    citation=(
        "N. Cristianini, C. Campbell, J. Shawe-Taylor, A Multiplicative Updating Algorithm for Training "
        "Support Vector Machines, ESANN 1999."
    ),
    summary=(
        "Every multiplier is multiplied by the exponential of its gradient, all at once, with the bias in "
        "closed form; good when few points become support vectors."
    ),
    experiments=[
        Experiment(
            "majority",
            "Majority rule (section 4.1, figure 1)",
            "The margin rises to its maximum and the test error falls; no training error from epoch 2 on.",
            f"40 bits, 200 training and 500 test strings, σ = 5. {_RATE}.",
            run_majority,
        ),
        Experiment(
            "mirror-symmetry",
            "Mirror symmetry (section 4.2, figure 2 left)",
            "The margin rises to its maximum; the error on 10,000 test strings is 0.0455.",
            f"30 bits, 200 training strings, test strings may repeat, σ = 5. {_RATE} in the figure and "
            '"auto" for the repeated draws.',
            run_mirror_symmetry,
        ),
        Experiment(
            "sonar",
            "Sonar (section 4.3, figure 2 right)",
            "92.31 % correct on the test set, more than the best network trained by back-propagation.",
            f"The original halves of 104 rows, σ = 1. {_RATE}.",
            run_sonar,
        ),
        Experiment(
            "breast-cancer",
            "Wisconsin breast cancer (section 4.4)",
            "95.56 % correct on the test set, and no training error after the first epoch.",
            f"Raw features of the 683 complete rows, first 550 train, last 133 test, σ = 1. {_RATE}.",
            run_breast_cancer,
        ),
        Experiment(
            "qp",
            "The solution is that of quadratic programming (section 4)",
            "Multipliers and bias end where a quadratic program has its solution.",
            f"{_FOUR}. Exact solution α*, b*: SVC(C=inf, tol=1e-9), certified by its duality gap. The "
            "updates run without the exact finish of SVC, at three quarters of the largest stable rate.",
            run_equality,
        ),
        Experiment(
            "bounds",
            "Convergence for sparse and dense solutions (section 3.1)",
            "After as many updates the objective is closer to its maximum than with gradient ascent, by "
            "bounds ε_MU and ε_GD, when there are few support vectors; in general neither is always faster.",
            "200 normal points in 4 to 128 dimensions labelled by the sign of one feature, σ² = number of "
            "features; and the four problems. Hard margin without a bias, so that all methods have the same "
            "constraints. ε from the exact solution with R = 1, γ = 1/‖w‖, and α* under the sum; epochs "
            "until the objective is within 1 % of its maximum. Gradient ascent: Kernel-Adatron at a fixed "
            "rate that simultaneous ascent could bear; both rates are three quarters of the largest stable.",
            run_bounds,
        ),
        Experiment(
            "learning-rate",
            "The choice of the learning rate (section 4, end)",
            "Too large a rate does not converge, too small a one is slow, and for that reason the algorithm "
            "is slower than quadratic programming.",
            f"{_FOUR}. Rates as shares of the largest stable one, 2/λ_max of the updates linearised at the "
            "solution; fits to a relative duality gap of 1e-3.",
            run_rates,
        ),
        Experiment(
            "compression-bound",
            "Few support vectors, low error (section 2)",
            "With d support vectors of p points and no training error, the test error is bounded by "
            "(d log₂(ep/d) + log₂(p/δ))/(p − d) with confidence 1 − δ.",
            f"{_FOUR}, and wider kernels on breast cancer; δ = 0.05. Exact solutions.",
            run_compression,
        ),
        Experiment(
            "regression",
            "Regression (section 4, end)",
            "The algorithm is readily extended to regression.",
            "sin(x)/x at 100 points with noise of 0.1, Gaussian σ = 1, ε = 0.1; twin multipliers with upper "
            "bounds C, rate halved when the objective falls; exact solution: SVR(tol=1e-9).",
            run_regression,
        ),
    ],
)
