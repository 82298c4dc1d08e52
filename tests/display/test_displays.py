"""The Displays draw what the estimator holds, and say clearly what they cannot draw."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, AutoSVC
from adatron.display import ConvergenceDisplay, MarginDisplay

QUANTITIES = ["margin", "bias", "objective", "violation"]


@pytest.fixture(scope="module")
def moons():
    return make_moons(80, noise=0.15, random_state=0)


@pytest.fixture(scope="module")
def model(moons):
    return SVC(C=10.0, solver="adatron").fit(*moons)


@pytest.fixture(scope="module")
def iris_model():
    iris = load_iris()
    return SVC(solver="adatron").fit(iris.data, iris.target_names[iris.target])


def make_history(n_problems=1, violation=(1.0, 0.1, 0.01)):
    n = len(violation)
    history = {"problem": np.repeat(np.arange(n_problems), n).tolist()}
    history["epoch"] = list(range(1, n + 1)) * n_problems
    return history | {name: list(violation) * n_problems for name in QUANTITIES}


def labels_of(legend):
    return [text.get_text() for text in legend.get_texts()]


# ConvergenceDisplay


def test_curves_are_the_history(model):
    display = ConvergenceDisplay.from_estimator(model)
    assert list(display.lines_) == QUANTITIES
    for name in QUANTITIES:
        (line,) = display.lines_[name]
        np.testing.assert_array_equal(line.get_xdata(), model.history_["epoch"])
        np.testing.assert_allclose(line.get_ydata(), model.history_[name], rtol=1e-12)


def test_panels_are_labelled(model):
    display = ConvergenceDisplay.from_estimator(model)
    assert [ax.get_ylabel() for ax in display.axes_] == ["margin", "bias", "objective", "KKT violation"]
    assert {ax.get_xlabel() for ax in display.axes_} == {"epoch"}
    assert [ax.get_yscale() for ax in display.axes_] == ["linear"] * 3 + ["log"]
    assert "converged" in display.figure_.get_suptitle()


def test_reference_lines(model):
    display = ConvergenceDisplay.from_estimator(model)
    dashed, dotted = display.axes_[0].lines[-1], display.axes_[1].lines[-1]
    assert set(dashed.get_ydata()) == {1.0}
    assert dashed.get_linestyle() == "--"
    assert set(dotted.get_ydata()) == {float(model.intercept_[0])}
    assert labels_of(display.axes_[0].get_legend()) == ["margin = 1"]


def test_quantities_in_the_order_given(model):
    display = ConvergenceDisplay.from_estimator(model, quantities=("violation", "margin", "bias"))
    assert [ax.get_ylabel() for ax in display.axes_] == ["KKT violation", "margin", "bias"]
    assert display.figure_.axes == list(display.axes_)


def test_one_quantity_as_a_string(model):
    display = ConvergenceDisplay.from_estimator(model, quantities="bias", color="black")
    assert len(display.axes_) == 1
    assert display.lines_["bias"][0].get_color() == "black"


@pytest.mark.parametrize("quantities", ["loss", ["margin", "gap"], [], ["bias", "bias"]])
def test_unknown_quantities(model, quantities):
    with pytest.raises(ValueError, match=r"quantities must be some of \['margin', 'bias'"):
        ConvergenceDisplay.from_estimator(model, quantities=quantities)
    assert plt.get_fignums() == []


def test_few_problems_have_a_legend(iris_model):
    display = ConvergenceDisplay.from_estimator(iris_model)
    names = ["setosa / versicolor", "setosa / virginica", "versicolor / virginica"]
    assert labels_of(display.figure_.legends[0]) == names
    assert [len(lines) for lines in display.lines_.values()] == [3] * 4
    assert len({line.get_color() for line in display.lines_["bias"]}) == 3
    last = np.flatnonzero(np.array(iris_model.history_["problem"]) == 2)
    assert display.lines_["bias"][2].get_ydata()[-1] == iris_model.history_["bias"][last[-1]]


def test_one_vs_rest_names():
    iris = load_iris()
    display = ConvergenceDisplay.from_estimator(SVC(multi_class="ovr").fit(iris.data, iris.target))
    assert labels_of(display.figure_.legends[0]) == ["0 / rest", "1 / rest", "2 / rest"]


def test_many_problems_have_none():
    display = ConvergenceDisplay(make_history(n_problems=10)).plot()
    assert display.figure_.legends == []
    assert len(display.lines_["margin"]) == 10


@pytest.mark.parametrize(("problem", "n_lines"), [(1, 1), ([0, 2], 2), (np.array([2]), 1)])
def test_chosen_problems(iris_model, problem, n_lines):
    display = ConvergenceDisplay.from_estimator(iris_model, problem=problem)
    assert len(display.lines_["margin"]) == n_lines


def test_absent_problem(model):
    with pytest.raises(ValueError, match=r"problem must be among the numbers \[0\].*got \[3\]"):
        ConvergenceDisplay.from_estimator(model, problem=3)


def test_given_axes(iris_model):
    figure, axes = plt.subplots(1, 2)
    display = ConvergenceDisplay.from_estimator(iris_model, quantities=["margin", "bias"], axes=axes)
    assert display.figure_ is figure
    assert display.axes_[1] is axes[1]
    assert "setosa / virginica" in labels_of(axes[0].get_legend())
    with pytest.raises(ValueError, match="axes must be 1 Axes"):
        ConvergenceDisplay.from_estimator(iris_model, quantities="bias", axes=axes)


@pytest.mark.parametrize(
    ("n", "log_epochs", "scale"), [(3, None, "linear"), (1500, None, "log"), (3, True, "log")]
)
def test_scale_of_epochs(n, log_epochs, scale):
    display = ConvergenceDisplay(make_history(violation=[1.0] * n)).plot(log_epochs=log_epochs)
    assert {ax.get_xscale() for ax in display.axes_} == {scale}


@pytest.mark.parametrize(("violation", "drawn"), [((1.0, 0.1, 0.0), 0.1), ((0.0, 0.0), 1e-16)])
def test_zero_violation_on_a_log_scale(violation, drawn):
    display = ConvergenceDisplay(make_history(violation=violation)).plot()
    assert display.lines_["violation"][0].get_ydata()[-1] == drawn
    display.figure_.canvas.draw()


def test_empty_history(recwarn):
    display = ConvergenceDisplay({name: [] for name in ["problem", "epoch", *QUANTITIES]}).plot()
    display.figure_.canvas.draw()
    assert display.lines_["margin"] == []
    assert "no epoch" in display.axes_[0].texts[0].get_text()
    assert len(recwarn) == 0


@pytest.mark.parametrize("broken", [{"bias": None}, {"bias": [1.0]}])
def test_broken_history(broken):
    history = {k: v for k, v in (make_history() | broken).items() if v is not None}
    with pytest.raises(ValueError, match="history"):
        ConvergenceDisplay(history).plot()


def test_exact_finish_is_told(moons):
    display = ConvergenceDisplay.from_estimator(SVC(C=10.0, solver="auto").fit(*moons))
    assert "finished exactly" in display.figure_.get_suptitle()


def test_pipeline_and_search(moons):
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 2.0]}, cv=2).fit(*moons)
    display = ConvergenceDisplay.from_estimator(search)
    assert display.history is search.best_estimator_[-1].history_


def test_unfitted():
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator(SVC())
    with pytest.raises(NotFittedError):
        MarginDisplay.from_estimator(SVC(), np.zeros((2, 2)), [0, 1])


def test_estimator_without_history(moons):
    with pytest.raises(TypeError, match="LogisticRegression has no history_"):
        ConvergenceDisplay.from_estimator(LogisticRegression().fit(*moons))


# MarginDisplay


def test_margin_artists(model, moons):
    X, y = moons
    display = MarginDisplay.from_estimator(model, X, y, grid_resolution=40)
    assert [len(points.get_offsets()) for points in display.points_] == [np.sum(y == 0), np.sum(y == 1)]
    np.testing.assert_array_equal(display.rings_.get_offsets(), model.support_vectors_)
    assert display.response.shape == (40, 40)
    assert display.boundary_.levels.tolist() == [0.0]
    assert display.margins_.levels.tolist() == [-1.0, 1.0]
    assert labels_of(display.ax_.get_legend()) == ["class 0", "class 1", "support vector", "f = 0", "f = ±1"]


def test_boundary_is_where_f_vanishes(model, moons):
    display = MarginDisplay.from_estimator(model, *moons, grid_resolution=100)
    (line,) = [p for p in display.boundary_.get_paths() if len(p.vertices)]
    assert np.abs(model.decision_function(line.vertices)).max() < 0.05


def test_grid_covers_the_points(model, moons):
    display = MarginDisplay.from_estimator(model, *moons, grid_resolution=5)
    low, high = moons[0].min(axis=0), moons[0].max(axis=0)
    assert display.ax_.get_xlim()[0] < low[0] < high[0] < display.ax_.get_xlim()[1]
    assert display.ax_.get_ylim()[0] < low[1] < high[1] < display.ax_.get_ylim()[1]


def test_estimator_without_support(moons):
    display = MarginDisplay.from_estimator(LogisticRegression().fit(*moons), *moons, grid_resolution=20)
    assert display.rings_ is None
    assert "support vector" not in labels_of(display.ax_.get_legend())


def test_pipeline_rings_training_points(moons):
    X, y = moons
    pipeline = make_pipeline(StandardScaler(), SVC(C=10.0)).fit(X, y)
    display = MarginDisplay.from_estimator(pipeline, X, y, grid_resolution=20)
    np.testing.assert_array_equal(display.rings_.get_offsets(), X[pipeline[-1].support_])
    assert MarginDisplay.from_estimator(pipeline, X[:5], y[:5], grid_resolution=20).rings_ is None


def test_given_ax_without_legend(model, moons):
    figure, ax = plt.subplots()
    display = MarginDisplay.from_estimator(model, *moons, ax=ax, grid_resolution=20, legend=False)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert ax.get_legend() is None


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_name_the_axes(moons, library, recwarn):
    module = pytest.importorskip(library)
    X = module.DataFrame({"left": moons[0][:, 0], "right": moons[0][:, 1]})
    display = MarginDisplay.from_estimator(SVC().fit(X, moons[1]), X, moons[1], grid_resolution=20)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("left", "right")
    assert not [w for w in recwarn if "feature names" in str(w.message)]


def test_sparse_points(moons):
    X, y = sparse.csr_array(moons[0]), moons[1]
    display = MarginDisplay.from_estimator(SVC().fit(X, y), X, y, grid_resolution=20)
    assert display.rings_ is not None


def test_flat_decision(moons, recwarn):
    display = MarginDisplay.from_estimator(SVC(C=1e-6).fit(*moons), *moons, grid_resolution=20)
    assert display.margins_ is None
    assert not [w for w in recwarn if "contour" in str(w.message)]


def test_three_features(model):
    with pytest.raises(ValueError, match=r"two features, but X has shape \(4, 3\); choose two columns"):
        MarginDisplay.from_estimator(model, np.zeros((4, 3)), [0, 1, 0, 1])


def test_three_classes():
    iris = load_iris()
    X = iris.data[:, :2]
    with pytest.raises(ValueError, match=r"two classes, but classes_ has shape \(3,\)"):
        MarginDisplay.from_estimator(SVC().fit(X, iris.target), X, iris.target)


def test_labels_must_fit(model, moons):
    with pytest.raises(ValueError, match=r"y must hold only the classes \[0, 1\], got also \[2\]"):
        MarginDisplay.from_estimator(model, moons[0], np.full(80, 2))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MarginDisplay.from_estimator(model, moons[0], [0, 1])


def test_bad_resolution(model, moons):
    with pytest.raises(ValueError, match="grid_resolution must be an integer >= 2, got 1"):
        MarginDisplay.from_estimator(model, *moons, grid_resolution=1)


# Both


@pytest.mark.parametrize("kind", ["convergence", "margin"])
def test_saved_picture(model, moons, kind, tmp_path):
    if kind == "convergence":
        display = ConvergenceDisplay.from_estimator(model)
    else:
        display = MarginDisplay.from_estimator(model, *moons)
    display.figure_.savefig(tmp_path / "picture.png")
    pixels = (255 * plt.imread(tmp_path / "picture.png")).astype(int)
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    assert min(pixels.shape[:2]) > 300
    assert len(np.unique(pixels[..., :3] @ [1, 256, 65_536])) > 20


def test_matplotlib_missing(model, moons, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        ConvergenceDisplay.from_estimator(model)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        MarginDisplay.from_estimator(model, *moons)


def test_margin_of_auto_svc_has_no_rings():
    """All of its rows are support vectors."""
    X, y = make_moons(60, noise=0.2, random_state=0)
    display = MarginDisplay.from_estimator(AutoSVC(cv=3).fit(X, y), X, y, grid_resolution=20)
    assert display.rings_ is None
    assert display.boundary_ is not None
