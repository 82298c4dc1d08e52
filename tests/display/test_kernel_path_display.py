"""`KernelPathDisplay` draws what the path holds, and says clearly what it cannot draw."""

import types

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, AutoSVC
from adatron.display import KernelPathDisplay
from adatron.selection import KernelPath


def make_path(criteria=(0.4, 0.1, 0.2), name="cv error", best=1, **columns):
    records = [
        {
            "sigma": 2.0**i,
            "gamma": 0.5 / 4.0**i,
            "criterion": value,
            "error": value,
            "stage": 3,
            "seconds": 0.1,
        }
        for i, value in enumerate(criteria)
    ]
    for key, values in columns.items():
        for record, value in zip(records, values, strict=True):
            record[key] = value
    return KernelPath(records, criterion=name, best_index=best)


class Chooser(BaseEstimator):
    """An estimator that chose its kernel on a path."""

    def fit(self, X, y=None):
        self.path_ = make_path()
        return self


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_draws_criterion_and_best():
    display = KernelPathDisplay.from_path(make_path())
    np.testing.assert_array_equal(display.line_.get_xdata(), [1.0, 2.0, 4.0])
    np.testing.assert_array_equal(display.line_.get_ydata(), [0.4, 0.1, 0.2])
    assert (display.best_.get_xdata()[0], display.best_.get_ydata()[0]) == (2.0, 0.1)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("width σ", "cv error")
    assert display.ax_.get_xscale() == "log"
    assert legend_of(display) == ["cv error", "best: σ = 2"]
    assert display.failed_ is None
    assert display.support_ax_ is None


def test_steps_in_any_order_are_drawn_from_left_to_right():
    path = make_path()
    shuffled = KernelPath([path[2], path[0], path[1]], criterion="cv error", best_index=2)
    display = KernelPathDisplay.from_path(shuffled)
    np.testing.assert_array_equal(display.line_.get_xdata(), [1.0, 2.0, 4.0])
    assert display.best_.get_xdata()[0] == 2.0


def test_support_vectors_have_their_own_axis():
    path = make_path(n_support=[30, 20, 10])
    display = KernelPathDisplay.from_path(path)
    np.testing.assert_array_equal(display.support_line_.get_ydata(), [30, 20, 10])
    assert display.support_ax_.get_ylabel() == "support vectors"
    assert legend_of(display)[-1] == "support vectors"
    without = KernelPathDisplay.from_path(path, support_vectors=False)
    assert without.support_ax_ is None
    assert "support vectors" not in legend_of(without)


def test_failed_steps_are_crosses_and_not_on_the_curve():
    display = KernelPathDisplay.from_path(make_path((0.4, 0.1, np.inf), n_support=[30, 20, np.nan]))
    np.testing.assert_array_equal(display.line_.get_xdata(), [1.0, 2.0])
    np.testing.assert_array_equal(display.failed_.get_xdata(), [4.0])
    assert "failed" in legend_of(display)


@pytest.mark.parametrize(
    ("criteria", "asked", "scale"),
    [
        ((100.0, 5_000.0, 90.0), None, "log"),
        ((100.0, 200.0, 90.0), None, "linear"),
        ((0.5, 0.01, 0.2), None, "linear"),  # shares
        ((0.5, 0.01, 0.2), True, "log"),
        ((100.0, 5_000.0, 90.0), False, "linear"),
        ((3.0, 0.0, 40.0), None, "linear"),
    ],
)
def test_scale_of_the_criterion(criteria, asked, scale):
    display = KernelPathDisplay.from_path(make_path(criteria), log_criterion=asked)
    assert display.ax_.get_yscale() == scale
    if scale == "linear":
        assert display.ax_.get_ylim()[0] == 0.0


def test_given_axes_and_line_style():
    figure, ax = plt.subplots()
    display = KernelPathDisplay.from_path(make_path(), ax=ax, color="red", label="folds")
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.line_.get_color() == "red"
    assert legend_of(display)[0] == "folds"
    assert len(plt.get_fignums()) == 1


def test_from_estimator_also_inside_a_pipeline():
    X = np.eye(3)
    for model in (Chooser(), make_pipeline(StandardScaler(), Chooser())):
        display = KernelPathDisplay.from_estimator(model.fit(X))
        assert display.best_.get_xdata()[0] == 2.0


def test_errors():
    with pytest.raises(NotFittedError):
        KernelPathDisplay.from_estimator(Chooser())
    with pytest.raises(TypeError, match="SVC has no path_"):
        KernelPathDisplay.from_estimator(SVC().fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(TypeError, match=r"must be a KernelPath.*SimpleNamespace"):
        KernelPathDisplay(types.SimpleNamespace())
    with pytest.raises(AttributeError, match="nonsense"):
        KernelPathDisplay.from_path(make_path(), nonsense=1)


def test_figure_can_be_saved(tmp_path):
    display = KernelPathDisplay.from_path(make_path((0.4, 0.1, np.inf), n_support=[30, 20, np.nan]))
    display.figure_.savefig(tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 5_000


def test_only_the_last_level_of_a_search_is_drawn():
    steps = [{"sigma": s, "criterion": 0.5, "level": 0} for s in (1.0, 2.0, 4.0)]
    steps += [{"sigma": s, "criterion": 0.1 * s, "level": 1} for s in (2.0, 3.0)]
    display = KernelPathDisplay.from_path(KernelPath(steps, criterion="error", best_index=3))
    assert display.line_.get_xdata().tolist() == [2.0, 3.0]
    assert display.line_.get_ydata().tolist() == pytest.approx([0.2, 0.3])


def test_a_line_for_each_kernel_and_diamonds_for_weighted_features():
    columns = {
        "kernel": ["laplacian", "rbf", "rbf", "rbf"],
        "power": [0.0, 0.0, 0.0, 0.5],
        "seconds": [0.1] * 4,
    }
    display = KernelPathDisplay.from_path(make_path((0.4, 0.3, 0.2, 0.1), best=3, **columns))
    assert list(display.lines_) == ["laplacian", "rbf"]
    np.testing.assert_array_equal(display.lines_["rbf"].get_xdata(), [2.0, 4.0])
    np.testing.assert_array_equal(display.weighted_["rbf"].get_xdata(), [8.0])
    assert display.line_ is display.lines_["rbf"]
    assert len({line.get_color() for line in display.lines_.values()}) == 2
    assert display.weighted_["rbf"].get_marker() == "D"
    assert legend_of(display) == ["laplacian", "rbf", "weighted features", "best: σ = 8"]


def test_the_search_of_auto_svc():
    X, y = make_moons(80, noise=0.2, random_state=0)
    model = AutoSVC(cv=3).fit(X, y)
    display = KernelPathDisplay.from_estimator(model)
    assert set(display.lines_) == {"laplacian", "exponential", "rbf"}
    assert display.best_.get_xdata()[0] == model.path_.best["sigma"]
    drawn = sum(len(line.get_xdata()) for line in display.lines_.values())
    assert drawn == len({(r["kernel"], r["sigma"]) for r in model.path_.records if not r["power"]})
