"""Slides 4 to 10: Rosenblatt's perceptron in both of its forms, and Novikoff's bound on its mistakes."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr
from sklearn.datasets import load_iris

from adatron import SVC, KernelPerceptron
from adatron.bounds import novikoff_bound
from adatron.datasets import make_parity
from reproduction.cisc889.points import draw_classes, draw_line, separable_points, weights_of
from reproduction.experiment import Check, Comparison, Effort, Findings, experiment
from reproduction.figures import COLOURS, INK, PUBLISHED, add_legend, new_figure
from reproduction.shared import HARD, multipliers, one_blas_thread

EPOCHS = 100_000
MARGINS = (0.3, 0.1, 0.03, 0.01, 0.003)
OFFSETS = {False: 0.0, True: 0.2}  # of the separating plane, without and with a bias
_PRIMAL: dict[str, Any] = {"color": COLOURS[2], "linewidth": 3.0, "alpha": 0.6, "label": "primal"}
_DUAL: dict[str, Any] = {"color": INK, "linewidth": 1.0, "linestyle": "--", "label": "dual"}


def train_both(X: np.ndarray, y: np.ndarray, *, bias: bool) -> tuple[KernelPerceptron, KernelPerceptron]:
    """The perceptron on the weights (primal) and on the matrix of inner products (dual)."""
    settings: dict[str, Any] = {"fit_intercept": bias, "max_iter": EPOCHS}
    primal = KernelPerceptron("linear", **settings).fit(X, y)
    return primal, KernelPerceptron("precomputed", **settings).fit(X @ X.T, y)


def _separable_problems(rng: np.random.Generator, *, bias: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Without a bias by a plane through the origin."""
    iris, species = load_iris(return_X_y=True)
    return {
        "plane": separable_points(rng, 120, 2, 0.03, offset=0.2 * bias),
        "20 features": separable_points(rng, 400, 20, 0.02, offset=0.05 * bias),
        "iris": (iris, np.where(species == 0, 1, -1)),
    }


@experiment(
    "Rosenblatt's algorithm in primal and in dual form",
    claim="Changing weights after each mistake and counting the mistakes on each point are the same "
    "algorithm, since the weights are the sum of the labelled points times those counts; the dual form needs "
    "inner products only, so any kernel will do. The learning rate plays no part (slides 4, 6, 8-10).",
    settings="Points of the unit ball apart from a random plane (120 in two, 400 in twenty dimensions), and "
    "iris setosa against the other species; with and without a bias; drawn anew in each repetition.",
)
@one_blas_thread()
def perceptron(effort: Effort) -> Findings:
    rng, n_runs, n_same, n_separating = effort.generator(), 0, 0, 0
    mistakes: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    for _ in effort.over(range(effort.count(full=20, quick=5))):
        for bias in (True, False):
            for name, (X, y) in _separable_problems(rng, bias=bias).items():
                primal, dual = train_both(X, y, bias=bias)
                same_points = (multipliers(primal, len(y)) == multipliers(dual, len(y))).all()
                n_runs += 1
                n_same += bool(same_points and primal.n_iter_[0] == dual.n_iter_[0])
                n_separating += primal.score(X, y) == dual.score(X @ X.T, y) == 1.0
                both = int(primal.mistakes_[0]), int(dual.mistakes_[0])
                mistakes.setdefault((name, bias), []).append(both)
    rows = []
    for (name, bias), counts in mistakes.items():
        for form, column in zip(("primal", "dual"), np.array(counts).T, strict=True):
            labels = {"data": name, "bias": "yes" if bias else "no", "form": form, "quantity": "mistakes"}
            rows.append(Comparison.of_mean(labels, column))
    same = "The primal and the dual form make the same mistakes on the same points, in every run."
    ends = "On separable data the algorithm ends, with a plane that separates."
    checks = [
        Check(same, n_same == n_runs, f"{n_same} of {n_runs} runs agree"),
        Check(ends, n_separating == n_runs, f"{n_separating} of {n_runs} runs"),
        *_rate_and_kernel_checks(effort),
    ]
    return Findings(rows, checks, _draw_forms(effort))


def _rate_and_kernel_checks(effort: Effort) -> list[Check]:
    """A rate η multiplies w, b and every output, like a kernel η⟨x, z⟩; exclusive or needs a kernel."""
    X, y = separable_points(effort.generator(), 120, 2, 0.03)
    K, machine = X @ X.T, KernelPerceptron("precomputed", max_iter=EPOCHS)
    made = {rate: machine.fit(rate * K, y).mistakes_[0] for rate in (0.25, 1.0, 4.0)}  # exact multiples
    rates = ", ".join(f"η = {rate:g}: {count} mistakes" for rate, count in made.items())
    X, y = make_parity(2)
    line = KernelPerceptron("linear", max_iter=1000).fit(X, y)
    curve = KernelPerceptron("rbf", gamma=0.5).fit(X, y)
    ended = not line.converged_ and curve.converged_ and curve.score(X, y) == 1.0
    never = "Where no plane separates, as for exclusive or, it never ends; the dual form with a kernel does."
    ends = f"linear: no end after {line.n_iter_[0]} epochs; Gaussian: {curve.mistakes_[0]} mistakes"
    return [
        Check("The rate η has no bearing on the number of mistakes.", len(set(made.values())) == 1, rates),
        Check(never, ended, ends),
    ]


def _draw_forms(effort: Effort) -> Any:
    X, y = _separable_problems(effort.generator(), bias=True)["plane"]
    primal, dual = train_both(X, y, bias=True)
    labels = [("feature 1", "feature 2"), ("epoch", "mistakes so far")]
    titles = ["Planes of both forms; size: mistakes", "Mistakes by epoch"]
    figure, (plane, curve) = new_figure(2, labels, titles=titles)
    alpha = multipliers(dual, len(y))
    draw_classes(plane, X, y, 12.0 + 60.0 * alpha / alpha.max())
    n_epochs = int(primal.n_iter_[0])
    epochs = np.unique(np.geomspace(1, n_epochs, min(n_epochs, 40)).round().astype(int))
    forms = ((primal, "linear", X, _PRIMAL), (dual, "precomputed", X @ X.T, _DUAL))
    for form, kernel, data, style in forms:
        draw_line(plane, weights_of(form, X), float(form.intercept_[0]), **style)
        made = [KernelPerceptron(kernel, max_iter=int(end)).fit(data, y).mistakes_[0] for end in epochs]
        curve.plot(epochs, made, **style)
    add_legend(plane, loc="upper left", bbox_to_anchor=(0.0, -0.2), ncols=4, handletextpad=0.4)
    add_legend(curve, loc="lower right")
    return figure


class Course(NamedTuple):
    """One training of a perceptron."""

    asked: float  # the margin that the points keep at least
    margin: float  # the largest there is
    mistakes: int
    bound: float
    bias: bool


def count_mistakes(X: np.ndarray, y: np.ndarray, *, bias: bool, asked: float = 0.0) -> Course:
    """Mistakes of the perceptron, and Novikoff's bound from the largest margin."""
    machine = SVC(HARD, "linear", fit_intercept=bias, tol=1e-6).fit(X, y)
    margin = 1.0 / float(np.linalg.norm(machine.coef_))
    radius = float(np.linalg.norm(X, axis=1).max())
    model = KernelPerceptron("linear", fit_intercept=bias, max_iter=1_000_000).fit(X, y)
    return Course(asked, margin, int(model.mistakes_[0]), novikoff_bound(radius, margin, bias=bias), bias)


@experiment(
    "Novikoff's theorem",
    claim="If a unit vector separates points of norm at most R by a margin γ, the perceptron makes at most "
    "(R/γ)² mistakes before it converges, so a large margin means fast convergence (slides 5-7).",
    settings="200 points of the unit ball in three dimensions that keep a given distance to a random plane; "
    "γ is the largest margin, from the hard-margin machine; with a bias the bound is (2R/γ)².",
)
@one_blas_thread()
def novikoff(effort: Effort) -> Findings:
    rng, n_draws, runs = effort.generator(), effort.count(full=20, quick=5), []
    for margin in effort.over(MARGINS):
        for bias, offset in OFFSETS.items():
            for _ in range(n_draws):
                X, y = separable_points(rng, 200, 3, margin, offset=offset)
                runs.append(count_mistakes(X, y, bias=bias, asked=margin))
    rows = []
    for bias, margin in [(bias, margin) for bias in OFFSETS for margin in MARGINS]:
        own = [run for run in runs if run.bias is bias and run.asked == margin]
        bound = float(np.mean([run.bound for run in own]))
        labels = {"margin": f"≥ {margin:g}", "bias": "yes" if bias else "no", "mean bound": f"{bound:,.0f}"}
        rows.append(Comparison.of_mean(labels | {"quantity": "mistakes"}, [run.mistakes for run in own]))
    return Findings(rows, _novikoff_checks(runs), _draw_mistakes(runs))


def _novikoff_checks(runs: list[Course]) -> list[Check]:
    shares = [100.0 * run.mistakes / run.bound for run in runs]
    most = f"at most {max(shares):.1f} % of the bound, {np.median(shares):.2g} % in median"
    within = "No run makes more mistakes than (R/γ)², or (2R/γ)² with a bias."
    # orthogonal unit vectors: γ = 1/√n, and none helps to classify another
    tight = {n: count_mistakes(np.eye(n), np.resize([1, -1], n), bias=False) for n in (4, 16, 64)}
    attained = all(abs(run.mistakes - run.bound) <= 1e-6 * run.bound for run in tight.values())
    counts = [f"{n} vectors: {run.mistakes} mistakes, bound {run.bound:.6g}" for n, run in tight.items()]
    best = "The bound cannot be improved: n orthogonal unit vectors attain it."
    without, with_bias = (
        spearmanr(*np.array([(run.margin, run.mistakes) for run in runs if run.bias is bias]).T).statistic
        for bias in OFFSETS
    )
    ranks = f"rank correlation of margin and mistakes: {without:.2f}, with a bias {with_bias:.2f}"
    return [
        Check(within, max(shares) <= 100.0, f"{len(runs)} runs; {most}"),
        Check(best, attained, ", ".join(counts)),
        Check("The larger the margin, the sooner it converges.", max(without, with_bias) < -0.5, ranks),
    ]


def _draw_mistakes(runs: list[Course]) -> Any:
    titles = ["Without a bias", "With a bias"]
    figure, axes = new_figure(2, [("largest margin γ", "mistakes")], log_x=True, log_y=True, titles=titles)
    for ax, bias in zip(axes, OFFSETS, strict=True):
        own = sorted(run for run in runs if run.bias is bias)
        margins = np.sort([run.margin for run in own])
        bounds = [novikoff_bound(1.0, margin, bias=bias) for margin in margins]
        ax.plot(margins, bounds, **PUBLISHED, label=f"bound {'(2R/γ)²' if bias else '(R/γ)²'}, R = 1")
        style: dict[str, Any] = {"s": 14, "color": COLOURS[0], "alpha": 0.7, "linewidth": 0}
        ax.scatter([run.margin for run in own], [run.mistakes for run in own], label="perceptron", **style)
        add_legend(ax, loc="upper right")
    return figure
