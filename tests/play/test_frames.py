"""Frames of the playground against direct fits, and the code that the page shows."""

import contextlib
import io
import math
from base64 import b64decode
from itertools import product

import numpy as np
import pytest
from tests.play.direct import DIRECT, direct

from adatron import SVC
from adatron.play.algorithms import ALGORITHMS, EXTENT, KERNELS, PARAMETERS, PRESETS, Request, choices, preset
from adatron.play.frames import GRID, frames

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

INF = float("inf")


def request_for(algorithm, points, kernel="rbf", **parameters):
    asked = {"algorithm": algorithm, "kernel": kernel, "parameters": {"max_iter": 60} | parameters}
    return Request.from_json(asked | {"points": points})


def unpacked(packed, kind):
    return np.frombuffer(b64decode(packed["data"]), kind) * packed["unit"]


def data_of(name):
    table = np.array(preset(name))
    return table[:, :2], table[:, 2].astype(int)


def test_every_algorithm_has_a_direct_fit():
    assert list(DIRECT) == list(ALGORITHMS)


@pytest.mark.parametrize("algorithm", DIRECT)
def test_frames_are_those_of_a_direct_fit(algorithm):
    X, y = data_of("moons")
    about, *shown = frames(request_for(algorithm, preset("moons")))
    model = direct(algorithm, max_iter=60)
    records = list(model.iter_fit(X, y))
    assert [frame["epoch"] for frame in shown] == [*(r.epoch for r in records), records[-1].epoch]
    assert [frame["objective"] for frame in shown[:-1]] == [[r.objective] for r in records]
    assert [frame["margin"] for frame in shown[:-1]] == [[r.margin] for r in records]
    last = shown[-1]
    assert (last["status"], last["gap"]) == (model.status_, model.duality_gap_)
    assert (last["bias"], last["support"]) == (model.intercept_.tolist(), len(model.support_))
    assert last["wrong"] == np.flatnonzero(model.predict(X) != y).tolist()
    alpha = unpacked(last["alpha"], np.uint16)
    assert np.flatnonzero(alpha).tolist() == sorted(model.support_)
    sizes = np.abs(model.dual_coef_[0])
    assert abs(alpha[model.support_] - sizes).max() <= sizes.max() / 60_000
    side = np.linspace(-EXTENT, EXTENT, GRID)
    grid = np.array([[x, z] for z in side for x in side])
    f, (seen,) = model.decision_function(grid), last["decisions"]
    most = 3.0 if about["has_margin"] else np.inf
    assert abs(unpacked(seen, np.int16) - np.clip(f, -most, most)).max() <= 2e-4 * min(most, abs(f).max())


@pytest.mark.parametrize("algorithm", DIRECT)
def test_three_classes(algorithm):
    X, y = data_of("blobs")
    about, *shown = frames(request_for(algorithm, preset("blobs"), gamma=2.0, max_iter=20))
    model = direct(algorithm, gamma=2.0, max_iter=20)
    if isinstance(model, SVC):
        model.set_params(multi_class="ovr")
    model.fit(X, y)
    assert about["classes"] == [0, 1, 2]
    assert shown[-1]["gap"] == model.duality_gap_
    assert shown[-1]["bias"] == model.intercept_.tolist()
    assert len(shown[-1]["decisions"]) == 3
    assert [frame["epoch"] for frame in shown[:-1]] == list(range(1, shown[-1]["epoch"] + 1))


@pytest.mark.parametrize(
    ("algorithm", "kernel", "parameters"),
    [
        *((name, "rbf", {}) for name in DIRECT),
        ("adatron", "linear", {"fit_intercept": False, "C": None}),
        ("adatron", "poly", {"degree": 2, "learning_rate": 0.05}),
        ("auto", "laplacian", {"gamma": 0.7, "tol": 1e-6}),
        ("perceptron", "linear", {"averaged": True}),
    ],
)
def test_code_does_exactly_this_fit(algorithm, kernel, parameters):
    about, *shown = frames(request_for(algorithm, preset("lines"), kernel, **parameters))
    known, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(about["code"], known)
    model, last = known["model"], shown[-1]
    assert (model.duality_gap_, model.intercept_.tolist()) == (last["gap"], last["bias"])
    assert (len(model.support_), known["objectives"][-1:]) == (last["support"], last["objective"])
    assert f"{last['status']} after {last['epoch']} epochs" in printed.getvalue()
    assert all(repr(value) in about["code"] for value in parameters.values() if isinstance(value, float))


def test_later_epochs_are_shown_more_sparsely():
    points = [[0.0, 0.0, 0], [0.5, 0.0, 1], [1.0, 0.0, 0], [0.25, 0.1, 1], [0.26, 0.1, 0]]
    asked = request_for("m3", points, C=None, max_iter=414, gamma=200.0, tol=1e-6)
    _, *shown = frames(asked)
    epochs = [frame["epoch"] for frame in shown]
    assert epochs[:200] == list(range(1, 201))
    assert epochs[200:205] == [202, 204, 206, 208, 210]
    assert epochs[-1] == 414
    assert len(epochs) < 310


NO_LINE = ("linear", False)  # none through the origin separates these points


@pytest.mark.parametrize(
    ("kernel", "bias"), [case for case in product(KERNELS, [True, False]) if case != NO_LINE]
)
def test_novikoffs_bound_holds_where_it_is_told(kernel, bias):
    asked = request_for("perceptron", preset("lines"), kernel, fit_intercept=bias, gamma=1.0, max_iter=300)
    about, *shown = frames(asked)
    assert shown[-1]["status"] == "converged"
    assert 0 < shown[-1]["made"] <= about["novikoff"] < math.inf
    assert f"there were {shown[-1]['made']}." in shown[-1]["bounds"][0]
    assert shown[-1]["made"] >= shown[0]["made"] > 0


@pytest.mark.parametrize(("name", "bias"), [("moons", True), ("lines", False)])
def test_no_bound_where_no_line_separates(name, bias):
    about, *shown = frames(request_for("perceptron", preset(name), "linear", fit_intercept=bias))
    assert about["novikoff"] is None
    assert shown[-1]["bounds"] == []


def test_bounds_of_a_hard_margin():
    _, *shown = frames(request_for("auto", preset("xor"), C=None, gamma=1.0))
    share, radius_margin = shown[-1]["bounds"]
    assert f"{shown[-1]['support'] / len(preset('xor')):.1%}" in share
    assert "From radius 1 and margin" in radius_margin


def test_a_step_that_overshoots_is_told_as_numbers_or_none():
    _, *shown = frames(request_for("multiplicative", preset("moons"), C=None, learning_rate=5.0))
    assert shown[-1]["status"] == "diverged"
    numbers = [frame["objective"][0] for frame in shown]
    assert all(value is None or math.isfinite(value) for value in numbers)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_points_of_the_plane(name):
    points = preset(name)
    X, y = request_for("auto", points).X, [c for *_, c in points]
    assert abs(X).max() == 1.0
    assert np.array_equal(np.unique(y), np.arange(3 if name == "blobs" else 2))
    assert np.array_equal(np.round(X, 3), X)


def test_defaults_are_allowed_by_their_own_ranges():
    for name, parameter in PARAMETERS.items():
        parameter.check(name, parameter.default)
    assert choices()["parameters"].keys() == PARAMETERS.keys()
