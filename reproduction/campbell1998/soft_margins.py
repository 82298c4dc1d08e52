"""Figure 12 and the numbers printed for ionosphere and Pima: soft against hard margins."""

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from adatron import SVC
from adatron.datasets import load_ionosphere, load_pima
from adatron.kernels import Gaussian
from adatron.solvers import SecantAdatron
from reproduction.campbell1998.splits import correct, first_rows, hard_error, random_splits, soft_errors
from reproduction.experiment import Check, Comparison, Effort, Findings, experiment
from reproduction.figures import COLOURS, INK, PUBLISHED, add_legend, draw_band, new_figure, published_line
from reproduction.shared import HARD, Split, mean_and_error, signed

_SOFT, _SOFT_TRAINING, _HARD = 4.0, 1.0, 8.0  # errors in per cent; the paper prints 96.0, 1 and 92.0


def _training_at_best(test: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Training error of each split at the C with the lowest test error, the mean of equally good ones."""
    is_best = test[:, :-1] == test[:, :-1].min(axis=1, keepdims=True)
    return (training[:, :-1] * is_best).sum(axis=1) / is_best.sum(axis=1)


@experiment(
    "Training and test error against C, ionosphere",
    claim="A soft margin raises the rate of right answers from 92.0 to 96.0 %, at a training error of 1 %.",
    settings="Ionosphere, 200 rows to train and 150 to test of 351, Gaussian kernel, σ = 1.5, C from 1 to "
    "10, Kernel-Adatron with the secant for the bias, η = 1, μ = 0.2; 30 random splits (quick: 8) and the "
    "first 200 rows. As in the paper, the best C of a split is that with the lowest test error.",
)
def figure_12(effort: Effort) -> Findings:
    X, y = load_ionosphere(return_X_y=True)
    Cs = [*np.linspace(1.0, 10.0, effort.count(full=19, quick=10)).tolist(), HARD]
    rows, generator = np.arange(351), effort.generator()
    orders = [rows, *(generator.permutation(rows) for _ in range(effort.count(full=30, quick=8)))]
    runs = [(order[:350], C) for order in orders for C in Cs]  # 200 rows to train and then 150 to test
    values, y = [], signed(y)
    for order, C in effort.over(runs):
        train, solver = order[:200], SecantAdatron(learning_rate=1.0, mu=0.2)
        model = SVC(C, Gaussian.of_width(1.5), solver=solver, max_iter=20_000).fit(X[train], y[train])
        errors = [100.0 - 100.0 * model.score(X[part], y[part]) for part in (order[200:], train)]
        values.append([*errors, model.converged_])
    test, training, converged = np.moveaxis(np.reshape(values, (len(orders), len(Cs), 3)), 2, 0)
    comparisons = []
    n_random = f"random, mean of {len(orders) - 1}"
    for name, part in ((n_random, slice(1, None)), ("first 200 rows train", slice(1))):
        at_best = _training_at_best(test[part], training[part])
        for what, published, ours, size in (
            ("test error at the best C", _SOFT, test[part, :-1].min(axis=1), 150),
            ("training error there", _SOFT_TRAINING, at_best, 200),
            ("test error of the hard margin", _HARD, test[part, -1], 150),
        ):
            labels = {"split": name, "quantity": what}
            comparisons.append(Comparison.of_mean(labels, ours, published, n_test=size, unit="%"))
    notes = [f"{converged.sum():.0f} of {converged.size} fits with the secant converged."]
    return Findings(comparisons, *_soft_against_hard(Cs[:-1], test[1:], training[1:]), notes)


def _soft_against_hard(Cs: list[float], test: np.ndarray, training: np.ndarray) -> tuple[list[Check], Any]:
    """Checks and figure; the hard margin is the last column."""
    mean, error = mean_and_error(test[:, -1:] - test[:, :-1])
    gains = f"by {mean.min():.2f} to {mean.max():.2f} points, standard errors up to {error.max():.2f}"
    share = float((_training_at_best(test, training) > 0.0).mean())
    means, test_means = training.mean(axis=0)[:-1], test.mean(axis=0)[:-1]
    falls = f"from {means[0]:.2f} % at C = 1 to {means[-1]:.2f} % at C = 10"
    checks = [
        Check("A soft margin beats the hard one at every C.", (mean > 2.0 * error).all(), gains),
        Check("The best C leaves training errors.", share > 0.5, f"in {share:.0%} of the random splits"),
        Check("The training error falls with C.", means[-1] < means[0], falls),
        Check("The training error lies below the test error.", (means < test_means).all(), "all C"),
    ]
    figure, (ax,) = new_figure(1, [("C", "error (%)")])
    for values, label, colour in ((test, "test", COLOURS[0]), (training, "training", COLOURS[1])):
        mean, error = mean_and_error(values)
        draw_band(ax, Cs, mean[:-1], error[:-1], colour, label)
    ax.axhline(test[:, -1].mean(), color=COLOURS[0], linestyle=":", label="test, hard margin")
    ax.axhline(_SOFT, **PUBLISHED, label="published: best, hard margin")
    ax.axhline(_HARD, **PUBLISHED)
    ax.set_ylim(bottom=0.0, top=12.0)
    add_legend(ax, loc="upper right", ncols=2)
    return checks, figure


IONOSPHERE_WIDTHS, IONOSPHERE_CS = (0.5, 1.0, 1.5, 2.0, 2.5), np.arange(1.0, 11.0)


def _ionosphere_errors(splits: list[Split], effort: Effort) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Soft errors (split, σ, test or training, C), those at the best C and σ of each split, hard ones.

    The best has the least test error, then the least training error.
    """
    soft, hard = [], []
    for split in effort.over(splits):
        soft.append([soft_errors(split, sigma, IONOSPHERE_CS) for sigma in IONOSPHERE_WIDTHS])
        hard.append(hard_error(split, 1.5))
    pairs = np.transpose(soft, (0, 1, 3, 2)).reshape(len(soft), -1, 2)
    return np.array(soft), np.array([min(errors) for errors in pairs.tolist()]), np.array(hard)


@experiment(
    "Ionosphere: soft against hard margin",
    claim="A soft margin reaches 96.0 % correct, at 1 % training error; the hard margin 92.0 %.",
    settings="200 training and 150 test rows of 351; Gaussian kernel with bias, σ from 0.5 to 2.5 and C from "
    "1 to 10, the best of them by the test rows, as in the paper.",
)
def ionosphere(effort: Effort) -> Findings:
    X, y = load_ionosphere(return_X_y=True)
    splits = random_splits(X, y, 200, 150, effort.count(full=100, quick=8), effort)
    soft, best, hard = _ionosphere_errors(splits, effort)
    first = _ionosphere_errors([first_rows(X, y)], Effort())
    rows, soft_name = [], "soft margin, best σ and C"
    random = (f"{len(splits)} random", best, hard)
    for name, own_best, own_hard in (random, ("first 200, next 150", *first[1:])):
        for machine, quantity, published, values, n_test in (
            ("hard margin, σ = 1.5", "correct on the test rows", 92.0, correct(own_hard), 150),
            (soft_name, "correct on the test rows", 96.0, correct(own_best[:, 0]), 150),
            (soft_name, "training error", 1.0, 100.0 * own_best[:, 1], 200),
        ):
            labels = {"split": name, "machine": machine, "quantity": quantity}
            why = "the paper does not say which rows it trained on"
            rows.append(Comparison.of_mean(labels, values, published, n_test=n_test, unit="%", why=why))
    mean, error = mean_and_error(correct(best[:, 0]) - correct(hard))
    checks = [Check("A soft margin is better", mean > 2.0 * error, f"by {mean:.1f} ± {error:.1f} points")]
    fixed = soft[:, :, 0].mean(axis=0)
    sigma, C = np.unravel_index(fixed.argmin(), fixed.shape)
    notes = [
        f"One C and σ for all random splits: C = {IONOSPHERE_CS[C]:g}, σ = {IONOSPHERE_WIDTHS[sigma]:g} give "
        f"{correct(fixed.min()):.1f} %; the best of each split, chosen by its test rows, flatters.",
        "Printed beside it, not rerun: k nearest neighbours 92.1, C4.5 94.1, back-propagation 96.0 %.",
    ]
    figure, (ax,) = new_figure(1, [("C", "error on the test rows (%)")])
    for width, errors in zip(IONOSPHERE_WIDTHS, 100.0 * fixed, strict=True):
        ax.plot(IONOSPHERE_CS, errors, marker="o", markersize=3, label=f"σ = {width:g}")
    for level, name in ((4.0, "published, soft margin"), (8.0, "published, hard margin")):
        published_line(ax, level, name)
    ax.set_ylim(3.0, None)
    add_legend(ax, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return Findings(rows, checks, figure, notes)


PIMA_SIGMA, PIMA_C = 11.0, 1.02
PIMA_CS: tuple[float, ...] = (0.1, 0.3, PIMA_C, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0)


def _standardised(split: Split) -> Split:
    scaler = StandardScaler().fit(split.X)
    return split._replace(X=scaler.transform(split.X), X_test=scaler.transform(split.X_test))


@experiment(
    "Pima Indians diabetes: soft against hard margin",
    claim="With σ = 11 and C = 1.02 the test error is 0.248 and the training error 0.244; the hard margin's "
    "test error is 0.335.",
    settings="607 training and 161 test rows, random splits; Gaussian kernel with bias, σ = 11; raw features "
    "and standardised ones, by the mean and deviation of the training rows.",
)
def pima(effort: Effort) -> Findings:
    X, y = load_pima(return_X_y=True)
    splits = random_splits(X, y, 607, 161, effort.count(full=50, quick=5), effort)
    versions = {"raw": splits, "standardised": [_standardised(split) for split in splits]}
    figure, (ax,) = new_figure(1, [("C (last: hard margin)", "error on the test rows")], log_x=True)
    rows, checks = [], []
    for name in effort.over(versions):
        soft = np.array([soft_errors(split, PIMA_SIGMA, PIMA_CS) for split in versions[name]])
        hard = np.array([hard_error(split, PIMA_SIGMA) for split in versions[name]])
        at_C = soft[:, :, PIMA_CS.index(PIMA_C)]
        for machine, quantity, published, values, n_test in (
            ("soft margin, C = 1.02", "test error", 0.248, at_C[:, 0], 161),
            ("soft margin, C = 1.02", "training error", 0.244, at_C[:, 1], 609),
            ("hard margin", "test error", 0.335, hard, 161),
        ):
            labels = {"features": name, "machine": machine, "quantity": quantity}
            why = f"the paper does not print how it scaled the features; these are {name}"
            rows.append(Comparison.of_mean(labels, values, published, n_test=n_test, why=why))
        mean, error = mean_and_error(hard - at_C[:, 0])
        statement = f"A soft margin is better, {name} features"
        checks.append(Check(statement, mean > 2.0 * error, f"by {mean:.3f} ± {error:.3f}"))
        means = soft[:, 0].mean(axis=0)
        (line,) = ax.plot(PIMA_CS, means, marker="o", markersize=3, label=f"{name} features")
        ax.plot([1e4], [hard.mean()], marker="s", markersize=5, color=line.get_color())
    ax.axvline(PIMA_C, color=INK, linewidth=0.6)
    published_line(ax, 0.248, "published, soft margin")
    published_line(ax, 0.335, "published, hard margin", end=0.93, below=True)
    ax.set_xticks([0.1, 1.0, 10.0, 100.0, 1e3, 1e4], ["0.1", "1", "10", "100", "1000", "∞"])
    add_legend(ax, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    notes = [
        "609 + 161 rows are printed, 768 exist: 607 train here.",
        "Scaling is not printed. At σ = 11 and C = 1.02 raw features leave a training error far below the "
        "printed 0.244; standardised ones come near it.",
    ]
    return Findings(rows, checks, figure, notes)
