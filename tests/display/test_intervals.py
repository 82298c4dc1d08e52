"""`IntervalDisplay` shows which targets are within their intervals."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.exceptions import NotFittedError

from adatron import SVR, AutoSVR
from adatron.display import IntervalDisplay


def test_targets_inside_and_outside():
    display = IntervalDisplay([1.0, 2.0, 3.0], [[0, 2], [1, 3], [-np.inf, np.inf]], [0.0, 4.0, 9.0]).plot()
    np.testing.assert_array_equal(display.inside_, [True, False, True])
    inside, outside = display.points_
    np.testing.assert_array_equal(inside.get_offsets(), [[1.0, 0.0], [3.0, 9.0]])
    np.testing.assert_array_equal(outside.get_offsets(), [[2.0, 4.0]])
    assert len(display.lines_.get_segments()) == 2  # infinite ones are not drawn
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["inside: 66.7 %", "outside: 33.3 %"]


def test_from_estimator_on_given_axes():
    X, y = make_friedman1(300, random_state=0)
    model = AutoSVR(cv=3).fit(X[:150], y[:150])
    figure, ax = plt.subplots()
    display = IntervalDisplay.from_estimator(model, X[150:], y[150:], coverage=0.7, ax=ax, color="red")
    assert (display.figure_, display.ax_) == (figure, ax)
    segments = np.array(display.lines_.get_segments())
    np.testing.assert_array_equal(segments[:, :, 1], model.predict_interval(X[150:], 0.7))
    np.testing.assert_array_equal(segments[:, 0, 0], model.predict(X[150:]))
    assert ax.get_legend().get_title().get_text() == "intervals of 70 %"


def test_errors():
    with pytest.raises(NotFittedError):
        IntervalDisplay.from_estimator(AutoSVR(), [[0.0]], [1.0])
    with pytest.raises(TypeError, match="SVR has no predict_interval; AutoSVR has"):
        IntervalDisplay.from_estimator(SVR(), [[0.0]], [1.0])
    with pytest.raises(ValueError, match=r"have the shapes \(2,\), \(1, 2\) and \(1,\)"):
        IntervalDisplay([1.0, 2.0], [[0.0, 1.0]], [1.0])
