"""Paths of widths: true margins, warm starts that change nothing but the effort, clear errors."""

import os
import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC as SklearnSVC
from tests.data_dir import needs_data
from tests.problems_for_tests import noisy_points

from adatron import SVC
from adatron.bounds import margin_bound
from adatron.datasets import load_ionosphere, load_sonar
from adatron.exceptions import InfeasibleError
from adatron.kernels import Gaussian
from adatron.paths.sigma_path import default_sigmas
from adatron.selection import KernelPath, sigma_path

HARD = float("inf")
fixed = settings(max_examples=10)
WIDTHS = {"sonar": np.geomspace(0.17, 1.7, 20), "ionosphere": np.geomspace(0.2, 2.5, 20)}


def whole(name):
    return {"sonar": load_sonar, "ionosphere": load_ionosphere}[name](return_X_y=True)


@pytest.fixture(scope="module")
def paths():
    """The warm and the cold path of each set."""
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("the cold paths are too many sweeps for plain Python")
    return {
        name: [sigma_path(*whole(name), widths, warm_start=warm) for warm in (True, False)]
        for name, widths in WIDTHS.items()
    }


def margin_of(model, gamma):
    """``1/‖w‖`` of a two-class model with a Gaussian kernel."""
    coef, kernel = model.dual_coef_[0], Gaussian(gamma)
    return 1.0 / np.sqrt(coef @ kernel(model.support_vectors_, model.support_vectors_) @ coef)


# what a path finds


@pytest.mark.parametrize("name", WIDTHS)
def test_warm_starts_save_at_least_half_of_the_epochs(paths, name):
    warm, cold = paths[name]
    assert warm["converged"].all()
    assert cold["converged"].all()
    assert set(cold["start"]) == {"cold"}
    assert warm["epochs"].sum() <= 0.5 * cold["epochs"].sum()
    assert cold["epochs"].sum() > 5_000  # the sweeps of the paper, not a shortcut


@pytest.mark.parametrize("name", WIDTHS)
def test_warm_and_cold_paths_are_the_same(paths, name):
    warm, cold = paths[name]
    np.testing.assert_allclose(warm["margin"], cold["margin"], rtol=2e-3)  # tol = 1e-3
    assert warm.best_index == cold.best_index
    assert warm["gap"].max() <= 1e-3
    np.testing.assert_array_equal(warm["training_error"], 0.0)


@pytest.mark.parametrize("name", WIDTHS)
def test_margins_are_those_of_other_solvers(paths, name):
    warm, _ = paths[name]
    X, y = whole(name)
    for step in (0, 7, 13, 17):
        gamma = warm[step]["gamma"]
        ours = SVC(C=HARD, gamma=gamma, tol=1e-8).fit(X, y)
        theirs = SklearnSVC(C=1e6, gamma=gamma, tol=1e-6).fit(X, y)
        assert warm[step]["margin"] == pytest.approx(margin_of(ours, gamma), rel=1e-3)
        assert warm[step]["margin"] == pytest.approx(margin_of(theirs, gamma), rel=1e-3)
        assert warm[step]["n_support"] == pytest.approx(len(ours.support_), abs=2)


def test_vc_orders_by_the_ratio_of_radius_and_margin(paths):
    path, _ = paths["sonar"]
    np.testing.assert_allclose(path["criterion"], 1.0 / path["margin"] ** 2, rtol=1e-12)
    assert path.best_index == int(path["criterion"].argmin())
    assert 0.3 < path.best_sigma < 0.6  # the papers' data: near 0.4
    assert path.criterion == "R²/γ²"
    assert path["bound"].tolist() == [margin_bound(1.0, margin, 208) for margin in path["margin"]]
    np.testing.assert_allclose(path["gamma"], 0.5 / path["sigma"] ** 2)
    assert path.best_gamma == path.best["gamma"]


def test_loo_is_the_share_of_support_vectors(paths):
    X, y = whole("sonar")
    path = sigma_path(X, y, WIDTHS["sonar"][::4], criterion="loo")
    np.testing.assert_allclose(path["criterion"], path["n_support"] / len(y))
    assert path["n_support"].tolist() == paths["sonar"][0]["n_support"][::4].tolist()
    assert path.best_index == int(path["criterion"].argmin())
    assert np.isnan(path["error"]).all()


@pytest.mark.parametrize(("C", "bias"), [(HARD, True), (HARD, False), (2.0, True)])
def test_cv_error_is_that_of_training_every_fold_apart(C, bias):
    X, y = whole("sonar")
    splits = list(StratifiedKFold(4, shuffle=True, random_state=1).split(X, y))
    sigmas = [0.4, 0.9]
    path = sigma_path(X, y, sigmas, criterion="cv", cv=splits, C=C, fit_intercept=bias)
    for record in path:
        model = SVC(C=C, gamma=record["gamma"], fit_intercept=bias, tol=1e-6)
        wrong = sum(np.sum(model.fit(X[a], y[a]).predict(X[b]) != y[b]) for a, b in splits)
        assert record["error"] == record["criterion"] == pytest.approx(wrong / len(y), abs=1.001 / len(y))
    assert path.criterion == "cv error"


def test_validation_error_is_that_of_the_model():
    X, X_val, y, y_val = load_sonar(split="half")
    names = np.array(["rock", "mine"])
    path = sigma_path(X, names[y], [0.5, 1.0, 3.0], criterion=(X_val, names[y_val]))
    for record in path:
        model = SVC(C=HARD, gamma=record["gamma"], tol=1e-6).fit(X, y)
        assert record["error"] == pytest.approx(1.0 - model.score(X_val, y_val), abs=1.001 / len(y_val))
    unseen = names[y_val].astype(object)
    unseen[:10] = "fish"
    assert sigma_path(X, names[y], [1.0], criterion=(X_val, unseen))[0]["error"] >= 10 / 104


@needs_data
@pytest.mark.parametrize("bias", [True, False])
def test_sonar_as_published(bias):
    """7.69 % wrong at σ = 1 on the original split, with and without a bias; 4.81 % at best without."""
    X, X_val, y, y_val = load_sonar(split="aspect")
    path = sigma_path(X, y, [0.5, 0.6, 1.0], criterion=(X_val, y_val), fit_intercept=bias)
    assert path["error"][2] == pytest.approx(8 / 104)
    assert bias or path.best["error"] == pytest.approx(5 / 104)


def test_several_classes_are_trained_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    path = sigma_path(X, y, [0.3, 0.6], criterion="cv", cv=3, random_state=0)
    for record in path:
        models = [SVC(C=HARD, gamma=record["gamma"], tol=1e-8).fit(X, y == c) for c in range(3)]
        margins = [margin_of(model, record["gamma"]) for model in models]
        support = set().union(*(model.support_.tolist() for model in models))
        assert record["margin"] == pytest.approx(min(margins), rel=1e-3)
        assert record["n_support"] == pytest.approx(len(support), abs=3)
        assert record["training_error"] == 0.0
        assert 0.0 < record["error"] < 0.15


def test_soft_margin_counts_training_errors():
    X, y = noisy_points(0, m=60)
    path = sigma_path(X, y, [0.5, 2.0, 8.0], C=1.0, criterion="loo")
    for record in path:
        model = SVC(C=1.0, gamma=record["gamma"], tol=1e-6).fit(X, y)
        assert record["training_error"] == pytest.approx(1.0 - model.score(X, y))
        assert record["n_support"] == len(model.support_)
        if record["training_error"] > 0.0:
            assert record["margin"] < 0.0
            assert record["bound"] == HARD


# what must not matter


@fixed
@given(st.integers(0, 5), st.floats(0.01, 100.0), st.booleans())
def test_units_labels_and_order_of_rows_do_not_matter(seed, scale, flip):
    X, y = noisy_points(seed, m=24)
    sigmas = np.array([0.3, 0.8, 2.0])
    plain = sigma_path(X, y, sigmas)
    order = np.random.default_rng(seed).permutation(len(y))
    again = sigma_path(scale * X[order], (-y if flip else y)[order], scale * sigmas)
    np.testing.assert_allclose(again["margin"], plain["margin"], rtol=2e-3)
    assert again.best_index == plain.best_index


def test_sorted_once_each_and_sparse_or_dense():
    X, y = noisy_points(1, m=30)
    X[np.abs(X) < 0.3] = 0.0
    path = sigma_path(X, y, [2.0, 0.5, 1.0, 0.5])
    assert path["sigma"].tolist() == [0.5, 1.0, 2.0]
    alike = sigma_path(sparse.csr_matrix(X), y, [0.5, 1.0, 2.0])
    np.testing.assert_allclose(alike["margin"], path["margin"], rtol=1e-9)
    assert len(sigma_path(X, y, 0.7)) == 1


def test_folds_follow_the_random_state():
    X, y = noisy_points(2, m=60)
    errors = [
        sigma_path(X, y, [0.5, 1.0], criterion="cv", C=1.0, random_state=seed)["error"].tolist()
        for seed in (0, 0, 1, 2, 3)
    ]
    assert errors[0] == errors[1]
    assert any(other != errors[0] for other in errors[2:])


@fixed
@given(st.integers(0, 20), st.floats(0.001, 1_000.0))
def test_default_widths_have_the_unit_of_the_data(seed, scale):
    X, y = noisy_points(seed, m=25)
    sigmas = default_sigmas(X)
    np.testing.assert_allclose(default_sigmas(scale * X), scale * sigmas, rtol=1e-6)
    assert len(sigmas) == 20
    assert (np.diff(sigmas) > 0.0).all()
    first = sigma_path(X, y, sigmas[:1])
    assert first[0]["n_support"] == 25  # tiny: every point stands alone


# what goes wrong


def test_one_failing_width_is_recorded_and_the_others_kept():
    X, y = noisy_points(3, m=20)
    path = sigma_path(X, y, [1e-200, 0.5, 1e6])
    assert path["status"].tolist() == ["failed", "converged", "failed"]
    assert path.best_sigma == 0.5
    assert "sigma=1e-200 is too small" in path[0]["reason"]
    assert "cannot be separated" in path[2]["reason"]
    assert path["criterion"].tolist()[::2] == [HARD, HARD]
    assert np.isnan(path["margin"][[0, 2]]).all()


def test_all_failing_is_an_error_with_every_reason():
    X, y = noisy_points(3, m=20)
    with pytest.raises(
        ValueError, match=r"each of the 2 failed: sigma=1e-200: .*too small.*; sigma=1e\+06: "
    ):
        sigma_path(X, y, [1e-200, 1e6])
    with pytest.raises(ValueError, match="the classes are not separated, so there is no margin"):
        sigma_path(X, y, [50.0], C=0.1)


def test_equal_rows_of_different_classes():
    X, y = noisy_points(4, m=20)
    X[1] = X[0]
    with pytest.raises(InfeasibleError, match="rows 0 and 1 of X coincide"):
        sigma_path(X, y)
    assert sigma_path(X, y, C=1.0, criterion="loo")["converged"].all()


def test_fits_that_do_not_converge_are_chosen_only_if_none_does():
    X, y = whole("sonar")
    with pytest.warns(ConvergenceWarning, match=r"did not converge at sigma=1\.5"):
        path = sigma_path(X, y, [0.2, 1.5], criterion="loo", max_iter=30, warm_start=False)
    assert path["converged"].tolist() == [True, False]
    assert path[1]["criterion"] < path[0]["criterion"]
    assert path.best_index == 0
    with pytest.warns(ConvergenceWarning):
        assert sigma_path(X, y, [1.5], criterion="loo", max_iter=3).best_index == 0


GOOD = noisy_points(5, m=20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sigmas": []}, "sigmas must be a list of at least one number > 0"),
        ({"sigmas": [0.5, 0.0]}, r"sigmas must be finite numbers > 0, but sigmas\[1\] is 0\.0"),
        ({"sigmas": [-1.0]}, r"sigmas\[0\] is -1\.0"),
        ({"sigmas": [0.5, np.nan]}, r"sigmas\[1\] is nan"),
        ({"sigmas": [0.5, np.inf]}, r"sigmas\[1\] is inf"),
        ({"sigmas": ["wide"]}, r"sigmas must be numbers > 0, got \['wide'\]"),
        ({"sigmas": [[0.5, 1.0]]}, r"got shape \(1, 2\)"),
        (
            {"criterion": "lo"},
            r"criterion must be one of \['vc', 'loo', 'cv'\] or a pair.*'lo'; did you mean 'loo'",
        ),
        ({"criterion": 3}, "criterion must be one of .* got 3"),
        ({"criterion": (GOOD[0], ["a"] * 20)}, "none of the labels .* of y_val is a class of y"),
        ({"criterion": (GOOD[0][:, :2], GOOD[1])}, "X has 2 features, but SVC is expecting 3"),
        ({"criterion": (GOOD[0][:0], GOOD[1][:0])}, "at least one validation row"),
        ({"criterion": "cv", "cv": 1}, "cv must be an integer >= 2.*got 1"),
        ({"criterion": "cv", "cv": 15}, "cv=15 needs at least 15 rows of every class"),
        (
            {"criterion": "cv", "cv": [([0], [1, 2])]},
            r"fold 0 of cv leaves no row of the classes \[-1.0\] to",
        ),
        ({"C": 0.0}, r"C must be a number > 0 \(inf for a hard margin\), got 0\.0"),
        ({"tol": -1.0}, r"tol must be .* got -1\.0"),
        ({"max_iter": 0}, "max_iter must be .* got 0"),
        ({"warm_start": "yes"}, "warm_start must be a bool, got 'yes'"),
        ({"fit_intercept": None}, "fit_intercept must be a bool, got None"),
        ({"y": np.ones(20)}, "at least two classes"),
        ({"X": np.ones((20, 3)), "C": 1.0}, "all rows of X are equal"),
        ({"X": np.full((20, 3), np.nan)}, "contains NaN"),
    ],
)
def test_errors_say_what_is_wrong(arguments, message):
    X, y = GOOD
    with pytest.raises(ValueError, match=message):
        sigma_path(**({"X": X, "y": y} | arguments))


def test_verbose_prints_a_line_for_each_width(capsys):
    X, y = noisy_points(6, m=20)
    sigma_path(X, y, [0.5, 1.0])
    assert capsys.readouterr().out == ""
    sigma_path(X, y, [1e-200, 0.5, 1.0], verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "too small" in lines[0]
    assert re.search(r"sigma 0\.5: R²/γ² .* support vectors, \d+ epochs", lines[1])


# KernelPath


RECORDS = [
    {"sigma": 0.5, "gamma": 2.0, "criterion": 0.3, "stage": 4, "seconds": 0.1},
    {"sigma": 1.0, "gamma": 0.5, "criterion": 0.1, "stage": 9, "seconds": 0.2, "note": "good"},
]


def test_a_path_is_a_sequence_of_records_and_a_table():
    path = KernelPath(RECORDS, criterion="cv error", best_index=1)
    assert len(path) == 2
    assert list(path) == RECORDS
    assert path[0] == RECORDS[0]
    assert path[-1:] == RECORDS[1:]
    assert path["stage"].tolist() == [4, 9]
    assert path["note"].tolist() == [None, "good"]
    assert (path.best, path.best_sigma, path.best_gamma) == (RECORDS[1], 1.0, 0.5)
    assert repr(path) == "KernelPath(2 steps, sigma from 0.5 to 1, best sigma=1 with cv error 0.1)"
    path[0]["sigma"] = 99.0  # a copy
    assert path[0]["sigma"] == 0.5
    frame = path.to_frame()
    assert list(frame.columns) == path.columns == ["sigma", "gamma", "criterion", "stage", "seconds", "note"]
    assert frame["criterion"].tolist() == [0.3, 0.1]
    with pytest.raises(KeyError, match="no column 'margin'"):
        path["margin"]


def test_a_path_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        KernelPath(RECORDS, criterion="cv error", best_index=0).to_frame()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"records": []}, "at least one step"),
        ({"best_index": 2}, "best_index must be one of the 2 steps, got 2"),
        ({"x": "C"}, r"every record must have the key x='C'; those at \[0, 1\]"),
    ],
)
def test_a_path_that_makes_no_sense(arguments, message):
    with pytest.raises(ValueError, match=message):
        KernelPath(**({"records": RECORDS, "criterion": "cv error", "best_index": 0} | arguments))
