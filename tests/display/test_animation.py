"""`animate` shows the epochs of a fit, as the fit gives them."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression

from adatron import SVC, SVR, EnsembleSVC, KernelPerceptron, OneClassSVM
from adatron.display import animate

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Animation was deleted:UserWarning"
)
MODELS = [
    SVC(10.0, gamma=2.0, solver="adatron"),
    SVC(10.0, gamma=2.0, solver="multiplicative", max_iter=60),
    SVC(10.0, gamma=2.0, solver="munk", fit_intercept=False, max_iter=60),
    SVC(float("inf"), gamma=2.0, solver="rho", fit_intercept=False, max_iter=60),
    SVC(10.0, gamma=2.0),
    KernelPerceptron(gamma=2.0),
    EnsembleSVC(gamma=2.0),
]


@pytest.fixture(scope="module")
def moons():
    return make_moons(60, noise=0.1, random_state=0)


def drawn(animation, number):
    """The figure as it is at one frame."""
    animation._func(number)
    return animation._fig


@pytest.mark.parametrize(
    "model", MODELS, ids=lambda model: f"{type(model).__name__}-{model.get_params().get('solver')}"
)
def test_the_last_frame_is_the_fitted_model(moons, model):
    X, y = moons
    animation = animate(model, X, y, grid_resolution=20)
    same = type(model)(**model.get_params()).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, same.dual_coef_, rtol=1e-12)
    plane, curve = drawn(animation, animation._save_count - 1).axes
    assert plane.get_title() == f"epoch {max(same.history_['epoch'])}, {len(same.support_)} support vectors"
    rings = plane.collections[-1]
    np.testing.assert_allclose(rings.get_offsets(), model.support_vectors_)
    sizes, alpha = rings.get_sizes(), np.abs(model.dual_coef_[0])
    assert np.argmax(sizes) == np.argmax(alpha)
    np.testing.assert_allclose((sizes - 30.0) / 130.0, alpha / alpha.max())
    line, dot = curve.get_lines()
    np.testing.assert_array_equal(line.get_ydata(), model.history_["margin"])
    assert dot.get_xdata()[0] == model.history_["epoch"][-1]


def test_frames_are_epochs(moons):
    model = SVC(10.0, gamma=2.0, solver="adatron")
    animation = animate(model, *moons, grid_resolution=20)
    records = list(model.iter_fit(*moons))
    frames = [*range(30), animation._save_count - 1]
    titles = [drawn(animation, k).axes[0].get_title() for k in frames]
    epochs = [int(title.split(",")[0].removeprefix("epoch ")) for title in titles]
    assert epochs[:20] == list(range(1, 21))
    assert epochs[-1] == records[-1].epoch
    assert np.all(np.diff(epochs) > 0)
    assert np.diff(epochs)[25] > 1
    counts = [int(title.split()[2]) for title in titles]
    assert counts[0] > counts[-1] == len(model.support_)


@pytest.mark.parametrize("quantity", ["margin", "objective", "bias", "violation"])
def test_quantities(moons, quantity):
    model = KernelPerceptron(gamma=2.0)
    _, curve = drawn(animate(model, *moons, quantity=quantity, grid_resolution=10), 0).axes
    np.testing.assert_array_equal(curve.get_lines()[0].get_ydata(), model.history_[quantity])
    assert curve.get_xlabel() == "epoch"


def test_it_is_saved_as_gif(moons, tmp_path):
    animation = animate(SVC(10.0, gamma=2.0, solver="adatron", max_iter=3), *moons, grid_resolution=20)
    animation.save(tmp_path / "fit.gif", writer="pillow", dpi=40)
    with Image.open(tmp_path / "fit.gif") as image:
        assert image.n_frames == 3
        assert image.size == (360, 152)


def test_it_plays_in_a_notebook(moons):
    animation = animate(SVC(10.0, gamma=2.0, max_iter=5), *moons, grid_resolution=10)
    assert "data:image/png;base64" in animation.to_jshtml()


def test_data_frames(moons):
    X, y = pd.DataFrame(moons[0], columns=["left", "up"]), np.where(moons[1] == 1, "yes", "no")
    model = SVC(10.0, gamma=2.0, solver="adatron", max_iter=5)
    plane = drawn(animate(model, X, y, grid_resolution=10), 0).axes[0]
    assert (plane.get_xlabel(), plane.get_ylabel()) == ("left", "up")
    assert model.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("model", [SVR(), OneClassSVM(), LogisticRegression(), None])
def test_other_models_are_refused(moons, model):
    with pytest.raises(TypeError, match=f"got {type(model).__name__}"):
        animate(model, *moons)


def test_what_cannot_be_drawn_is_refused(moons):
    X, y = moons
    with pytest.raises(
        ValueError, match="quantity must be one of margin, bias, objective, violation, got 'gap'"
    ):
        animate(SVC(), X, y, quantity="gap")
    with pytest.raises(ValueError, match="two features"):
        animate(SVC(), np.hstack([X, X]), y)
    with pytest.raises(ValueError, match="two classes"):
        animate(SVC(), X, np.arange(len(y)) % 3)
