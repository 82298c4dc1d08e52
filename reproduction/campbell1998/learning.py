"""Figures 1, 2 and 4 to 11, parity and spirals: margin, error and bias epoch by epoch."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from adatron import SVC
from adatron.datasets import make_parity, make_two_spirals
from adatron.kernels import Gaussian
from adatron.solvers import SecantAdatron
from reproduction.campbell1998.splits import mirror_splits
from reproduction.experiment import Check, Comparison, Effort, Findings, experiment
from reproduction.figures import COLOURS, INK, PUBLISHED, add_legend, new_figure, published_line
from reproduction.shared import Split, hard_margin, mean_and_error, original_sonar, wisconsin_split

MARGIN = 0.99
RATES = {quick: np.arange(1, 2 * n) / n for quick, n in ((False, 20), (True, 10))}
_AXES = [("learning rate η", f"epochs to a margin of {MARGIN}")]
_NOT_TRIED = "Oscillations from η = 2 on are not shown: the library refuses such a rate with an error."
_EXACT = "hard margin, outputs recomputed after each epoch; beyond 1,000 epochs counts are good to 1 %"


def _train(X: Any, y: Any, sigma: float, rate: float, max_iter: int, **options: Any) -> tuple[SVC, float]:
    """An SVM without a bias, and the epochs it took to reach the margin; NaN if it did not."""
    model = hard_margin(sigma, solver="adatron", fit_intercept=False, learning_rate=rate, tol=1e-9)
    model.set_params(max_iter=max_iter, **options).fit(X, y)
    reached = np.flatnonzero(np.array(model.history_["margin"]) >= MARGIN)
    return model, float(model.history_["epoch"][reached[0]]) if len(reached) else np.nan


def _best_rate(rates: np.ndarray, epochs: np.ndarray) -> float:
    """The rate with the fewest epochs, the mean of equally good ones."""
    return float(rates[epochs == np.nanmin(epochs)].mean())


def _rise_check(models: Sequence[SVC]) -> Check:
    """What the paper derives for all rates below 2."""
    objectives = [np.array(model.history_["objective"]) for model in models]
    rising = sum((np.diff(values) >= -1e-9 * np.abs(values[1:])).all() for values in objectives)
    detail = f"in {rising} of {len(models)} runs without a bias the objective falls in no epoch"
    return Check("Each step raises the objective at any rate 0 < η < 2.", rising == len(models), detail)


def _ends_check(rates: np.ndarray, epochs: np.ndarray) -> Check:
    ends, fewest = np.nan_to_num(epochs[[0, -1]], nan=np.inf), np.nanmin(epochs)
    shown = ["not reached" if np.isinf(end) else f"{end:.0f}" for end in ends]
    detail = f"η = {rates[0]:g}: {shown[0]}, η = {rates[-1]:g}: {shown[1]}, fewest {fewest:.0f}"
    return Check("Towards η = 0 and η = 2 training takes ever longer.", ends.min() > fewest, detail)


@experiment(
    "Epochs to a margin of 0.99 against the rate, mirror symmetry",
    claim="Training converges for 0 < η < 2 only, and fastest with η = 1, since most points support the "
    "plane.",
    settings="30 bits, 200 training strings, Gaussian kernel, σ = 7, Kernel-Adatron without a bias (the "
    f"paper does not say which), 5 draws, at most 10,000 epochs (quick: 2 draws, 2,000 epochs); {_EXACT}. "
    "Also with σ² = 7, to see what the best rate depends on.",
)
def figure_1(effort: Effort) -> Findings:
    rates, max_iter, widths = RATES[effort.quick], effort.count(full=10_000, quick=2_000), (7.0, 7.0**0.5)
    splits = mirror_splits(effort, effort.count(full=5, quick=2), n_test=1)
    runs = [(split.X, split.y, sigma, rate) for split in splits for sigma in widths for rate in rates]
    models, counts = zip(*[_train(*run, max_iter) for run in effort.over(runs)], strict=True)
    epochs = np.reshape(counts, (len(splits), 2, len(rates)))
    exact = [[hard_margin(s, fit_intercept=False).fit(X, y) for X, _, y, _ in splits] for s in widths]
    support = [np.mean([model.n_support_.sum() for model in own]) for own in exact]
    mean, error = mean_and_error([[_best_rate(rates, curve) for curve in draw] for draw in epochs])
    why = (
        "The best rate comes near 1 only where nearly all points support the plane, as at σ² = 7 "
        f"({support[1]:.0f} of 200, best rate {mean[1]:.2f}); at σ = 7 only {support[0]:.0f} of 200 do."
    )
    rows = [
        Comparison({"σ": "7", "quantity": "best η"}, 1.0, mean[0], float(error[0]), why=why),
        Comparison({"σ": "√7", "quantity": "best η"}, None, mean[1], float(error[1])),
    ]
    figure, (ax,) = new_figure(1, _AXES, log_y=True)
    for curve, label in zip(epochs.mean(axis=0), ["σ = 7, as printed", "σ² = 7"], strict=True):
        ax.plot(rates, curve, marker=".", label=label)
    ax.axvline(1.0, **PUBLISHED, label="published best rate")
    add_legend(ax, loc="center right", bbox_to_anchor=(1.0, 0.7))
    return Findings(rows, [_rise_check(models), _ends_check(rates, epochs[0, 0])], figure, [_NOT_TRIED])


@experiment(
    "Epochs to a margin of 0.99 against the rate, sonar",
    claim="Where many multipliers are set to zero, the best rate is less than 1.",
    settings="Sonar, the 104 training rows of the original split, Gaussian kernel, σ = 1, Kernel-Adatron "
    "without a bias, and with a bias by the secant (μ = 0.1), at most 20,000 epochs (quick: 5,000); "
    f"{_EXACT}.",
)
def figure_2(effort: Effort) -> Findings:
    X, _, y, _ = original_sonar()
    rates, max_iter = RATES[effort.quick], effort.count(full=20_000, quick=5_000)
    runs = [_train(X, y, 1.0, rate, max_iter) for rate in effort.over(rates)]
    secant: dict[str, Any] = {"solver": "adatron-secant", "fit_intercept": True}
    with_bias = [_train(X, y, 1.0, rate, max_iter, **secant) for rate in rates]
    figure, (ax,) = new_figure(1, _AXES, log_y=True)
    checks = [_rise_check([model for model, _ in runs])]
    for label, group in (("without bias", runs), ("with bias", with_bias)):
        epochs = np.array([count for _, count in group])
        best, at_one = _best_rate(rates, epochs), epochs[rates == 1.0][0]
        ax.plot(rates, epochs, marker=".", label=label)
        detail = f"best η = {best:g} with {np.nanmin(epochs):.0f} epochs, at η = 1 {at_one:.0f}"
        checks.append(Check(f"The best rate is less than 1 ({label}).", best < 1.0, detail))
        checks += [_ends_check(rates, epochs)] if group is runs else []
    add_legend(ax)
    notes = [f"{runs[0][0].n_support_.sum()} of {len(y)} points are support vectors (without bias)."]
    return Findings([], checks, figure, [*notes, _NOT_TRIED])


class _Watched:
    """A solver of one problem that keeps y∘α and the bias of every epoch.

    A fitted `SVC` has a feasible α and the best bias for it, also when it was stopped early. The paper's
    curves are those of α and λ as the sweep leaves them.
    """

    needs: frozenset[str] = frozenset()

    def __init__(self, solver: Any) -> None:
        self.solver, self.init = solver, solver.init
        self.coefficients: list[np.ndarray] = []
        self.biases: list[float] = []

    def epoch(self, problem: Any, state: Any, pause: Any) -> Any:
        state = self.solver.epoch(problem, state, pause)
        self.coefficients.append((problem.y * state.alpha)[:, 0])
        self.biases.append(float(state.bias[0]))
        return state


class LearningCurve(NamedTuple):
    """Margin, bias and test error in per cent after some of the epochs."""

    epoch: np.ndarray
    margin: np.ndarray
    bias: np.ndarray
    error: np.ndarray


def learning_curve(split: Split, sigma: float, mu: float) -> LearningCurve:
    """Train a hard margin with η = 1 and the secant that begins with ±μ, to a certified end."""
    watched = _Watched(SecantAdatron(learning_rate=1.0, mu=mu))
    model = hard_margin(sigma, solver=watched, tol=1e-9, max_iter=5_000).fit(split.X, split.y)
    epochs, margins, biases = (np.array(model.history_[name]) for name in ("epoch", "margin", "bias"))
    wanted = np.geomspace(1.0, float(epochs[-1]), 300)  # geometrically spaced
    shown = np.unique(np.searchsorted(epochs, wanted.round(9)).clip(max=len(epochs) - 1))
    coefficients, bias = (
        np.array(kept)[epochs[shown] - 1] for kept in (watched.coefficients, watched.biases)
    )
    outputs = Gaussian.of_width(sigma)(split.X_test, split.X) @ coefficients.T + bias
    is_wrong = np.sign(outputs) != split.y_test[:, None]
    return LearningCurve(epochs[shown], margins[shown], biases[shown], 100.0 * is_wrong.mean(axis=0))


_CURVES = (
    "Gaussian kernel, hard margin, Kernel-Adatron with the secant for the bias, η = 1; margin recomputed "
    "after each epoch, test error of α and λ as the epoch leaves them. "
)
_OTHER_MU = 0.1  # the paper's example of an arbitrary μ


def _by_epoch(
    name: str, split: Split, effort: Effort, *, sigma: float, mu: float, published: float | None = None,
    n_panels: int = 3,
) -> Findings:  # fmt: skip
    """Margin, test error and bias by epoch; `published` is the final test error in per cent."""
    curve, other = (learning_curve(split, sigma, start) for start in effort.over((mu, _OTHER_MU)))
    final = float(curve.error[-1])
    settled = np.logical_and.accumulate((np.abs(curve.error - final) <= 1.0)[::-1])[::-1]
    labels = {"data": name, "quantity": "test error after the last epoch"}
    rows = [Comparison(labels, published, final, n_test=len(split.X_test), unit="%")]
    for quantity, holds in (
        (f"epochs to a margin of {MARGIN}", curve.margin >= MARGIN),
        ("epochs until the error stays within 1 point of its end", settled),
    ):
        first = int(curve.epoch[holds.argmax()]) if holds.any() else None
        rows.append(Comparison({"data": name, "quantity": quantity}, None, first))
    exact = float(hard_margin(sigma, tol=1e-9).fit(split.X, split.y).intercept_[0])
    panels = [("epoch", "margin"), ("epoch", "test error (%)"), ("epoch", "bias λ")][:n_panels]
    figure, axes = new_figure(n_panels, panels, log_x=True)
    for ax, values in zip(axes, (curve.margin, curve.error, curve.bias), strict=False):
        ax.plot(curve.epoch, values)
    axes[0].axhline(1.0, **PUBLISHED, label="maximal margin")
    add_legend(axes[0], loc="lower right")
    if published is not None:
        axes[1].axhline(published, **PUBLISHED, label="published")
        add_legend(axes[1], loc="upper right")
    return Findings(rows, _curve_checks(curve, other, exact), figure)


def _curve_checks(curve: LearningCurve, other: LearningCurve, exact: float) -> list[Check]:
    """`exact` is the bias of the solution; `other` began with another μ."""
    ends, end = f"{curve.margin[-1]:.5f} after {curve.epoch[-1]} epochs", abs(curve.margin[-1] - 1.0)
    # log(1 − margin) is nearer to a line in the epochs than in their logarithm
    later = (np.arange(len(curve.epoch)) >= (curve.margin >= 0.5).argmax()) & (curve.margin < 1.0)
    log_distance, epochs = np.log(1.0 - curve.margin[later]), curve.epoch[later]
    exponential, power = (float(np.corrcoef(x, log_distance)[0, 1] ** 2) for x in (epochs, np.log(epochs)))
    lines = f"a line explains {exponential:.3f} of log(1 − γ) in the epochs, {power:.3f} in their logarithm"
    bias, other_bias = float(curve.bias[-1]), float(other.bias[-1])
    biases = f"secant {bias:.4f}, certified solution of the quadratic programme {exact:.4f}"
    epochs, more = curve.epoch[-1], other.epoch[-1]
    both = f"{bias:.4f} with {epochs} epochs, μ = {_OTHER_MU}: {other_bias:.4f} with {more}"
    return [
        Check("The margin comes to 1 (within 0.001).", end <= 1e-3, ends),
        Check("The margin approaches 1 exponentially in the epochs.", exponential > power, lines),
        Check("The bias settles at that of the quadratic programme.", abs(bias - exact) <= 1e-3, biases),
        Check("The choice of μ does not matter for where it ends.", abs(bias - other_bias) <= 2e-3, both),
    ]


@experiment(
    "Margin and test error by epoch, mirror symmetry",
    claim="The margin grows to 1 and the test error falls with the epochs.",
    settings=f"{_CURVES}σ = 5, μ = 5; 30 bits, 200 training strings, 20,000 unseen test strings (quick: "
    "10,000).",
)
def figures_4_5(effort: Effort) -> Findings:
    split = mirror_splits(effort, 1, effort.count(full=20_000, quick=10_000))[0]
    return _by_epoch("mirror symmetry", split, effort, sigma=5.0, mu=5.0, n_panels=2)


@experiment(
    "Margin, test error and bias by epoch, sonar",
    claim="The margin grows to 1, the bias settles, and 92.3 % of the test rows are right.",
    settings=f"{_CURVES}σ = 1, μ = 5; sonar, original split, 104 rows each.",
)
def figures_6_8(effort: Effort) -> Findings:
    return _by_epoch("sonar", original_sonar(), effort, sigma=1.0, mu=5.0, published=7.7)


@experiment(
    "Margin, test error and bias by epoch, Wisconsin breast cancer",
    claim="The margin grows to 1, the bias settles, and 98.5 % of the test rows are right.",
    settings=f"{_CURVES}σ = 3, μ = 50; 683 complete rows, raw features, the first 550 train, the last 133 "
    "test.",
)
def figures_9_11(effort: Effort) -> Findings:
    return _by_epoch("breast cancer", wisconsin_split(), effort, sigma=3.0, mu=50.0, published=1.5)


def _solve(X: Any, y: Any, *, until_maximal: bool) -> tuple[list[float], int]:
    """Margins of every epoch without a bias, and the epoch from which every training point is right.

    Ends there, or when the margin is 1 within 0.001.
    """
    machine, margins, solved = hard_margin(1.0, solver="adatron", fit_intercept=False), [], 0
    for record in machine.iter_fit(X, y):
        margins.append(record.margin)
        if not solved and machine.score(X, y) == 1.0:
            solved = record.epoch
        if solved and (not until_maximal or abs(record.margin - 1.0) <= 0.001):
            break
    return margins, solved


@experiment(
    "n-parity and the two spirals",
    claim="Kernel-Adatron solves n-parity in one epoch for n = 3 to 6, and needs several for the maximal "
    "margin; it solves the two spirals, too.",
    settings="All 2ⁿ strings of ±1; 194 points of the spirals; Gaussian kernel, σ = 1 (none is printed), "
    "hard margin, no bias, η = 1.",
)
def parity_and_spirals(effort: Effort) -> Findings:
    bits = (3, 4, 5, 6)
    courses = {f"{n}-parity": _solve(*make_parity(n), until_maximal=True) for n in effort.over(bits)}
    X, y = make_two_spirals()
    _, spirals = _solve(X, y, until_maximal=False)
    machine = hard_margin(1.0, fit_intercept=False).fit(X, y)
    rows, why = [], "another σ: none is printed"
    for name, (_, solved) in [*courses.items(), ("two spirals", ([], spirals))]:
        labels = {"problem": name, "quantity": "epochs until no training error"}
        rows.append(Comparison(labels, 1 if name in courses else None, solved, why=why))
    for name, (margins, _) in courses.items():
        labels = {"problem": name, "quantity": "epochs until the margin is 1 within 0.001"}
        rows.append(Comparison(labels, None, len(margins)))
    labels = {"problem": "two spirals", "quantity": "error on 1,940 points of the same spirals"}
    between = 100.0 * (1.0 - machine.score(*make_two_spirals(1_940)))
    rows.append(Comparison(labels, None, between, unit="%"))
    needed = ", ".join(str(len(margins)) for margins, _ in courses.values())
    detail = f"{needed} epochs for n = {', '.join(map(str, bits))}"
    several = all(len(margins) > solved for margins, solved in courses.values())
    checks = [
        Check("The two spirals are solved", spirals > 0, f"epoch {spirals}"),
        Check("Maximising the margin of n-parity takes several epochs", several, detail),
    ]
    titles = ["n-parity", "two spirals: the learned boundary"]
    figure, (left, right) = new_figure(2, [("epoch", "margin"), ("", "")], titles=titles)
    for name, (margins, _) in courses.items():
        left.plot(np.arange(1, len(margins) + 1), margins, marker="o", markersize=3, label=name)
    published_line(left, 1.0, "maximal margin")
    left.set_ylim(None, 1.06)
    add_legend(left, loc="lower right")
    side = np.linspace(-7.2, 7.2, 200)
    grid = np.stack(np.meshgrid(side, side), axis=-1)
    outputs = machine.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    right.contour(side, side, outputs, levels=[0.0], colors=[INK], linewidths=1.0)
    for sign, colour in ((1, COLOURS[0]), (-1, COLOURS[1])):
        right.plot(*X[y == sign].T, linestyle="none", marker="o", markersize=3, color=colour)
    right.set(aspect="equal", xticks=[-5, 0, 5], yticks=[-5, 0, 5])
    return Findings(rows, checks, figure)
