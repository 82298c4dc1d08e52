"""`ImportanceDisplay` shows the most important columns by their names."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, AutoSVC
from adatron.display import ImportanceDisplay


def labels_of(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_bars_in_falling_order():
    display = ImportanceDisplay(np.array([0.1, 0.6, 0.3]), ["a", "b", "c"]).plot(n_columns=2)
    assert labels_of(display) == ["b", "c"]
    assert [bar.get_width() for bar in display.bars_] == [0.6, 0.3]
    assert display.ax_.yaxis_inverted()  # the first bar is on top


@pytest.mark.parametrize("within", [False, True], ids=["bare", "pipeline"])
def test_from_estimator(within):
    X, y = make_classification(80, 14, n_informative=2, random_state=0)
    frame = pd.DataFrame(X, columns=[f"a column with a name of some length {j:02d}" for j in range(14)])
    model = AutoSVC(cv=3)
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), model) if within else model
    display = ImportanceDisplay.from_estimator(model.fit(frame, y), color="red")
    shares = (model[-1] if within else model).feature_importances_
    assert [bar.get_width() for bar in display.bars_] == sorted(shares, reverse=True)[:10]
    assert all(len(label) == 30 and label.endswith("…") for label in labels_of(display))
    assert display.bars_[0].get_facecolor() == (1.0, 0.0, 0.0, 1.0)


def test_given_axes_and_columns_without_names():
    figure, ax = plt.subplots()
    X, y = make_classification(60, 4, random_state=0)
    display = ImportanceDisplay.from_estimator(AutoSVC(cv=3).fit(X, y), ax=ax)
    assert (display.figure_, display.ax_) == (figure, ax)
    assert sorted(labels_of(display)) == [f"feature {j}" for j in range(4)]


def test_errors():
    with pytest.raises(NotFittedError):
        ImportanceDisplay.from_estimator(AutoSVC())
    with pytest.raises(TypeError, match=r"SVC has no feature_importances_; AutoSVC and AutoSVR have"):
        ImportanceDisplay.from_estimator(SVC().fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(ValueError, match=r"shape \(2,\), but there are 1 names"):
        ImportanceDisplay(np.ones(2), ["a"])
    with pytest.raises(ValueError, match="n_columns must be an integer >= 1"):
        ImportanceDisplay(np.ones(1), ["a"]).plot(n_columns=0)
