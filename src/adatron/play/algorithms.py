"""What the playground offers: algorithms, parameters and points to begin with; and checked requests."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.decomposition import PCA

from adatron.datasets import load_sonar, make_two_spirals
from adatron.estimators import SVC, EnsembleSVC, KernelPerceptron

EXTENT = 1.2  # the plane reaches from −EXTENT to EXTENT on both axes
_MOST_POINTS = 1_000
_CLASSES = (0, 1, 2)


@dataclass(frozen=True)
class Parameter:
    """A slider, or a switch if it has no range; the box `without` replaces it by `or_else`."""

    label: str
    about: str
    default: Any
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    whole: bool = False
    without: str = ""
    or_else: Any = None

    def check(self, name: str, value: Any) -> Any:
        """The value that an estimator gets, or an error that says what is allowed."""
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise ValueError(f"{name} must be true or false, got {_shown(value)}")
            return value
        if value is None and self.without:
            return self.or_else
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not self.low <= value <= self.high or (self.whole and value != int(value)):
            kind = "a whole number" if self.whole else "a number"
            raise ValueError(f"{name} must be {kind} from {self.low:g} to {self.high:g}, got {_shown(value)}")
        return int(value) if self.whole else float(value)


PARAMETERS = {
    "C": Parameter("C", "Bound on every α: the price of a mistake.", 10.0, 0.01, 1000.0, log=True,
                   without="hard margin, C = ∞", or_else=math.inf),
    "learning_rate": Parameter("rate η", "Length of a step.", None, 0.01, 5.0, log=True,
                               without="η chosen automatically", or_else="auto"),
    "fit_intercept": Parameter("bias", "Whether the boundary has an offset.", True),
    "averaged": Parameter("average of all hypotheses", "Steadier where classes overlap.", False),
    "gamma": Parameter("γ, narrowness", "A large γ lets the boundary bend more.", 4.0, 0.05, 200.0, log=True),
    "degree": Parameter("degree", "Of the polynomial.", 3, 1, 8, whole=True),
    "coef0": Parameter("constant", "The polynomial is (γ⟨x, z⟩ + constant)^degree.", 1.0, 0.0, 5.0),
    "eps": Parameter("ε at the end", "Training ends when ε falls below it.", 0.005, 0.001, 0.1, log=True),
    "tol": Parameter("tolerance", "Relative duality gap at which the fit ends.", 1e-3, 1e-6, 0.1, log=True),
    "max_iter": Parameter("max. epochs", "One epoch looks at every point once.", 300, 1, 2000, log=True,
                          whole=True),
}  # fmt: skip

KERNELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "rbf": ("Gaussian", ("gamma",)),
    "laplacian": ("Laplacian", ("gamma",)),
    "poly": ("polynomial", ("degree", "gamma", "coef0")),
    "linear": ("linear", ()),
}


@dataclass(frozen=True)
class Algorithm:
    title: str
    about: str
    parameters: tuple[str, ...]
    estimator: type = SVC
    fixed: dict[str, Any] = field(default_factory=dict)

    @property
    def has_margin(self) -> bool:
        return self.estimator is SVC  # f = ±1 are its margins


_ENDING = ("tol", "max_iter")
ALGORITHMS = {
    "perceptron": Algorithm(
        "Perceptron",
        "Looks at one point after the other; each mistake adds the point to the boundary. It stops after "
        "an epoch without a mistake, wherever the boundary then is.",
        ("fit_intercept", "averaged", "max_iter"), KernelPerceptron,
    ),
    "adatron": Algorithm(
        "Kernel-Adatron",
        "Visits the points in turn and takes the best step for the α of each: the perceptron's simplicity, "
        "but it ends at the largest margin.",
        ("C", "learning_rate", "fit_intercept", *_ENDING), fixed={"solver": "adatron"},
    ),
    "multiplicative": Algorithm(
        "Multiplicative updates",
        "Multiplies every α by a factor instead of adding to it, all at once: α stays positive by itself. "
        "A fixed η that is too large overshoots.",
        ("C", "learning_rate", "fit_intercept", *_ENDING), fixed={"solver": "multiplicative"},
    ),
    "m3": Algorithm(
        "M³",
        "Multiplicative margin maximisation: no learning rate, and every step climbs. Any kernel, no bias.",
        ("C", *_ENDING), fixed={"solver": "m3", "fit_intercept": False},
    ),
    "munk": Algorithm(
        "MUNK",
        "Like M³ for kernels that are never negative: it updates the classes in turn, so it can take longer "
        "steps.",
        ("C", *_ENDING), fixed={"solver": "munk", "fit_intercept": False},
    ),
    "rho": Algorithm(
        "ρ-SVM",
        "Begins with a Parzen window, in which all points have the same say, and reweights them with an "
        "adaptive rate until the margin is hard.",
        _ENDING, fixed={"C": math.inf, "solver": "rho", "fit_intercept": False},
    ),
    "ensemble": Algorithm(
        "Ensemble of ρ-SVMs",
        "Averages all stages that the ρ-SVM passes on its way. No C, and no stopping time to choose: each "
        "epoch adds a stage.",
        ("eps", "max_iter"), EnsembleSVC,
    ),
    "auto": Algorithm(
        "Fast path",
        "What SVC uses by default: steps on the worst points, then the exact solution. With so few "
        "points one or two rounds are enough.",
        ("C", "fit_intercept", *_ENDING),
    ),
}  # fmt: skip


def _xor() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (160, 2))
    X += 0.12 * np.sign(X)  # a gap between the squares
    return X, (X[:, 0] * X[:, 1] > 0.0).astype(int)


def _separable() -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(80, centers=[[-1.0, -0.6], [1.0, 0.6]], cluster_std=0.5, random_state=6)


def _sonar() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_sonar(return_X_y=True)
    return PCA(2, svd_solver="full").fit_transform(X), y


PRESETS: dict[str, tuple[str, Callable[[], Any]]] = {
    "moons": ("two moons", lambda: make_moons(120, noise=0.12, random_state=2)),
    "spirals": ("two spirals", lambda: make_two_spirals(194)),
    "xor": ("XOR", _xor),
    "circles": ("circles", lambda: make_circles(120, noise=0.07, factor=0.45, random_state=0)),
    "blobs": ("three clouds", lambda: make_blobs(150, 2, centers=3, cluster_std=1.6, random_state=6)),
    "lines": ("two separable clouds", _separable),
    "overlap": ("overlapping clouds, 400 points", lambda: make_moons(400, noise=0.3, random_state=1)),
    "sonar": ("sonar, first two principal components", _sonar),
}


def preset(name: str) -> list[list[float]]:
    """Rows x, y, class, within −1 … 1 and rounded to thousandths, as links have them."""
    X, y = PRESETS[name][1]()
    X = X - (X.max(axis=0) + X.min(axis=0)) / 2.0
    X = np.round(X / np.abs(X).max(), 3) + 0.0
    codes = np.unique(y, return_inverse=True)[1]
    return [[x, z, c] for (x, z), c in zip(X.tolist(), codes.tolist(), strict=True)]


def choices() -> dict[str, Any]:
    """All that the page needs to draw its controls."""
    return {
        "extent": EXTENT,
        "most_points": _MOST_POINTS,
        "algorithms": {key: {"title": a.title, "about": a.about, "parameters": a.parameters}
                       for key, a in ALGORITHMS.items()},
        "kernels": {key: {"title": title, "parameters": names} for key, (title, names) in KERNELS.items()},
        "parameters": {name: asdict(p) | {"or_else": None} for name, p in PARAMETERS.items()},
        "presets": {key: title for key, (title, _) in PRESETS.items()},
    }  # fmt: skip


@dataclass(frozen=True)
class Request:
    """A fit that the page asks for."""

    algorithm: Algorithm
    arguments: dict[str, Any]  # of the estimator
    X: np.ndarray
    y: np.ndarray

    @classmethod
    def from_json(cls, asked: Any) -> Self:
        """Check everything; an error says what was wrong."""
        if not isinstance(asked, dict):
            raise ValueError("the request must be an object with algorithm, kernel, parameters and points")
        algorithm = _chosen("algorithm", asked.get("algorithm"), ALGORITHMS)
        kernel, names = asked.get("kernel"), _chosen("kernel", asked.get("kernel"), KERNELS)[1]
        given, arguments = asked.get("parameters"), {"kernel": kernel}
        if not isinstance(given, dict):
            raise ValueError(f"parameters must be an object, got {type(given).__name__}")
        for name in (*names, *algorithm.parameters):
            arguments[name] = PARAMETERS[name].check(name, given.get(name, PARAMETERS[name].default))
        X, y = _points(asked.get("points"))
        more = {"multi_class": "ovr"} if algorithm.estimator is SVC and len(np.unique(y)) > 2 else {}
        return cls(algorithm, arguments | algorithm.fixed | more, X, y)

    def estimator(self) -> Any:
        return self.algorithm.estimator(**self.arguments)

    def code(self) -> str:
        """A Python program that does exactly this fit."""
        name = self.algorithm.estimator.__name__
        words = [f"{key}={_literal(value)}" for key, value in self.arguments.items()]
        rows = [f"[{x}, {z}, {c}]," for (x, z), c in zip(self.X.tolist(), self.y.tolist(), strict=True)]
        table = "\n".join("    " + " ".join(rows[i : i + 4]) for i in range(0, len(rows), 4))
        return (
            f"import numpy as np\nfrom adatron import {name}\n\n"
            f"points = np.array([  # x, y, class\n{table}\n])\n"
            "X, y = points[:, :2], points[:, 2].astype(int)\n\n"
            f"model = {name}({', '.join(words)})\n"
            "model.fit(X, y)  # iter_fit(X, y) stops after each epoch, with a model to look at\n\n"
            "epochs, objectives = model.history_['epoch'], model.history_['objective']\n"
            "print(f'{model.status_} after {max(epochs)} epochs, duality gap {model.duality_gap_:.3g}')\n"
            "print(f'objective {objectives[-1]:.6g}, intercept {model.intercept_}')\n"
            "print(f'{len(model.support_)} support vectors, {(model.predict(X) != y).sum()} mistakes')\n"
        )


def _shown(value: Any) -> str:
    return repr(value)[:60]


def _literal(value: Any) -> str:
    return 'float("inf")' if value == math.inf else repr(value).replace("'", '"')


def _chosen(what: str, key: Any, table: dict[str, Any]) -> Any:
    if not isinstance(key, str) or key not in table:
        raise ValueError(f"{what} must be one of {', '.join(table)}, got {_shown(key)}")
    return table[key]


def _points(points: Any) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(points, list) or not 2 <= len(points) <= _MOST_POINTS:
        found = f"{len(points):,}" if isinstance(points, list) else type(points).__name__
        raise ValueError(f"points must be a list of 2 to {_MOST_POINTS:,} points, got {found}")
    for i, point in enumerate(points):
        is_row = isinstance(point, list) and len(point) == 3
        if not is_row or not all(type(v) in (int, float) and abs(v) <= EXTENT for v in point[:2]):
            allowed = f"[x, y, class] with x and y from −{EXTENT} to {EXTENT}"
            raise ValueError(f"point {i} must be {allowed}, got {_shown(point)}")
        if type(point[2]) is not int or point[2] not in _CLASSES:
            raise ValueError(f"the class of point {i} must be 0, 1 or 2, got {_shown(point[2])}")
    table = np.array(points, dtype=float)
    y = table[:, 2].astype(int)
    if len(np.unique(y)) < 2:
        raise ValueError("there must be points of two classes at least; place some of another one")
    return table[:, :2], y
