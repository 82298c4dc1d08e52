"""`ClusterPathDisplay` draws what the path holds, and says what it cannot draw."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SupportVectorClustering
from adatron.clustering import ClusterPath
from adatron.display import ClusterPathDisplay

LABELS = np.array([[[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, -1]], [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1]]])
PATH = ClusterPath(np.array([4.0, 2.0, 1.0]), np.array([0.1, 0.2]), LABELS, np.arange(4))


@pytest.fixture(scope="module")
def moons():
    return make_moons(150, noise=0.05, random_state=0)[0]


def heights(bars):
    return [bar.get_height() for bar in bars]


def colours(bars):
    return [bar.get_facecolor() for bar in bars]


def test_bars_are_the_sizes_of_clusters_with_outliers_on_top():
    display = ClusterPathDisplay(PATH).plot()
    assert [heights(bars) for bars in display.bars_] == [[1.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.25, 0.25]]
    assert display.axes_[0].get_title().startswith("clusters, ν = 0.1")


def test_a_cluster_keeps_its_colour():
    one, two, three = map(colours, ClusterPathDisplay(PATH).plot().bars_)
    assert one[0] == two[0] == three[0]
    assert two[1] == three[1] != two[0]


def test_numbers_of_clusters_stand_in_the_table():
    display = ClusterPathDisplay(PATH).plot()
    assert [[text.get_text() for text in row] for row in display.numbers_] == [
        ["1", "2", "2"],
        ["1", "1", "2"],
    ]
    assert [text.get_text() for text in display.axes_[1].get_yticklabels()] == ["0.1", "0.2"]


def test_another_setting_can_be_marked():
    display = ClusterPathDisplay(PATH, chosen=(1, 2)).plot()
    assert heights(display.bars_[1]) == [1.0, 0.0]
    (frame,) = display.axes_[1].patches
    assert frame.get_xy() == (2, 1)


def test_from_a_fitted_pipeline_on_given_axes(moons):
    model = make_pipeline(StandardScaler(), SupportVectorClustering(nu=0.1)).fit(moons)
    _, axes = plt.subplots(1, 2)
    display = ClusterPathDisplay.from_estimator(model, axes=axes)
    assert display.axes_.tolist() == axes.tolist()
    assert display.path is model[-1].path_
    assert len(display.bars_) == len(model[-1].path_.sigmas)


def test_more_clusters_than_colours():
    labels = np.arange(20)[None, None]
    display = ClusterPathDisplay(ClusterPath(np.ones(1), np.ones(1), labels, np.arange(20))).plot()
    assert len(display.bars_[0]) == 21


def test_what_cannot_be_drawn_is_named(moons):
    with pytest.raises(NotFittedError):
        ClusterPathDisplay.from_estimator(SupportVectorClustering())
    with pytest.raises(TypeError, match=r"has no path_.*model.path\(X\)"):
        ClusterPathDisplay.from_estimator(SupportVectorClustering(sigma=0.2, nu=0.1).fit(moons))
    with pytest.raises(TypeError, match="path must be a ClusterPath, got ndarray"):
        ClusterPathDisplay(LABELS)
    with pytest.raises(ValueError, match="axes must be two Axes, for bars and numbers, got 1"):
        ClusterPathDisplay(PATH).plot(axes=plt.subplots()[1])
