"""`certify`: never smaller than the truth, hardly larger, for everyone's machines."""

import re

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.oracles.decimals import true_gaps
from tests.oracles.qp import (
    coupled_objective,
    dual_objective,
    regression_terms,
    solve_coupled_piqp,
    solve_cvxopt,
)

import adatron
from adatron import SVC, SVR, AutoSVC, NuSVR, OneClassSVM, certify, io

LIBRARIES = {"sklearn": sklearn.svm, "adatron": adatron}


def shifted_product(A, B):
    return A @ B.T + 1.0


def random_model(seed):
    """A fitted machine with its data, and the keywords for the oracle."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 26)), int(rng.integers(1, 4))
    library = LIBRARIES[["sklearn", "adatron"][seed % 2]]
    kind = ["SVC", "SVC of three", "SVR", "OneClassSVM"][seed // 2 % 4]
    kernels = ["rbf", "rbf", "poly", "linear", "precomputed", "function"] + ["laplacian"] * (seed % 2)
    kernel = str(rng.choice(kernels))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 1)
    gamma = float(10.0 ** rng.uniform(-2, 1) / X.var())
    weights = rng.uniform(0.1, 3.0, n) if rng.random() < 0.5 else None
    given, truth = X, {"gamma": gamma}
    options = {"gamma": gamma, "tol": float(10.0 ** rng.uniform(-8, -0.5)), "kernel": kernel}
    if kernel in ("precomputed", "function"):
        truth = {"K": shifted_product(X, X)}
        given = truth["K"] if kernel == "precomputed" else X
        options["kernel"] = "precomputed" if kernel == "precomputed" else shifted_product
    if kernel == "poly":
        options |= {"degree": 2, "coef0": 1.0}
    C = float(10.0 ** rng.uniform(-2, 3))
    if kind == "SVR":
        y = X[:, 0] / X.std() + rng.normal(size=n)
        model = library.SVR(C=C, epsilon=float(rng.uniform(0.0, 0.5)), **options)
    elif kind == "OneClassSVM":
        y, model = None, library.OneClassSVM(nu=float(rng.uniform(0.05, 0.9)), **options)
    else:
        y = rng.permutation(np.arange(n) % (3 if "three" in kind else 2))
        balance = "balanced" if rng.random() < 0.3 else None
        model = library.SVC(C=C, class_weight=balance, **options)
    return model.fit(given, y, sample_weight=weights), given, y, weights, truth


def check_against_truth(seed):
    model, X, y, weights, truth = random_model(seed)
    found, true = certify(model, X, y, weights), true_gaps(model, X, y, weights, **truth)
    problems = found.problems or (found,)
    assert len(problems) == len(true), seed
    for own, (primal, dual, gap) in zip(problems, true, strict=True):
        assert own.primal >= primal, seed
        assert own.dual <= dual, seed
        is_small = (
            type(model).__name__ == "OneClassSVM" and abs(dual) < 1e-7
        )  # then the gap has another denominator
        if not is_small:
            assert own.gap >= gap, seed
            assert own.gap <= float(gap) * (1.0 + 1e-9) + 1e-9, seed
        assert 0.0 <= own.rounding <= own.gap, seed
    assert found.gap == max(own.gap for own in problems)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(14))
def test_never_smaller_than_the_truth_and_hardly_larger(seed):
    check_against_truth(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_300_models():
    gaps = [check_against_truth(seed).gap for seed in range(14, 314)]
    assert sum(gap > 1e-6 for gap in gaps) > 50  # there is something to see
    assert sum(gap < 1e-9 for gap in gaps) > 50


def extreme_model(seed):
    """A machine on badly scaled, far or nearly equal rows, perhaps far from its optimum; None without one."""
    rng = np.random.default_rng(5_000 + seed)
    n, d = int(rng.integers(6, 20)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-4, 4) + 10.0 ** rng.uniform(0, 7) * rng.integers(2)
    if rng.random() < 0.3:
        half = n // 2
        X[half : 2 * half] = X[:half] + 1e-7 * X.std() * rng.normal(size=(half, d))
    library, gamma = LIBRARIES[["sklearn", "adatron"][seed % 2]], float(10.0 ** rng.uniform(-4, 4) / X.var())
    kernel = str(rng.choice(["rbf", "linear", "poly"]))
    options = {"kernel": kernel, "gamma": gamma, "tol": float(10.0 ** rng.uniform(-8, -1)), "max_iter": 3_000}
    options |= {"degree": int(rng.integers(1, 4)), "coef0": 1.0} if kernel == "poly" else {}
    C = float(10.0 ** rng.uniform(-6, 8))
    if seed // 2 % 2:
        y, model = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 3), library.SVR(C=C, **options)
    else:
        y, model = rng.permutation(np.arange(n) % 2), library.SVC(C=C, **options)
    try:
        return model.fit(X, y), X, y, gamma
    except ValueError:  # scaled too badly to be trained
        return None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_extreme_machines():
    made = [machine for seed in range(200) if (machine := extreme_model(seed)) is not None]
    assert len(made) > 150
    for model, X, y, gamma in made:
        found, ((primal, dual, gap),) = certify(model, X, y), true_gaps(model, X, y, gamma=gamma)
        assert found.primal >= primal, model
        assert found.dual <= dual, model
        assert found.gap >= gap, model


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_optimum_of_cvxopt_lies_between_primal_and_dual(library):
    rng = np.random.default_rng(3)
    for tol in (1e-1, 1e-3, 1e-6):
        X, C = rng.normal(size=(40, 3)), 5.0
        y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
        K = np.exp(-0.7 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        best = dual_objective(K, y, solve_cvxopt(K, y, np.full(40, C), True))
        found = certify(LIBRARIES[library].SVC(C=C, gamma=0.7, tol=tol).fit(X, y), X, y)
        assert found.dual <= best * (1.0 + 1e-11)
        assert found.primal >= best * (1.0 - 1e-11)
        assert found.gap >= (found.primal - best) / found.primal - 1e-11
        t = X[:, 1] + 0.3 * rng.normal(size=40)
        terms = regression_terms(K, t, 0.1)
        alpha = solve_cvxopt(terms[0], terms[1], np.full(80, C), True, terms[2])
        best = dual_objective(terms[0], terms[1], alpha, terms[2])
        found = certify(LIBRARIES[library].SVR(C=C, gamma=0.7, tol=tol).fit(X, t), X, t)
        assert found.dual <= best * (1.0 + 1e-10)
        assert found.primal >= best * (1.0 - 1e-10)


@pytest.mark.parametrize("library", LIBRARIES)
def test_gamma_scale_and_sparse_rows(library):
    X, y = load_iris(return_X_y=True)
    module = LIBRARIES[library]
    scale = certify(module.SVC().fit(X, y), X, y)
    gamma = 1.0 / (4 * X.var())
    assert scale.gap == pytest.approx(certify(module.SVC(gamma=gamma).fit(X, y), X, y).gap, abs=1e-6)
    assert scale.problems[0].name == "0 against 1"
    S = sparse.csr_matrix(X)
    thin = module.SVC(tol=1e-9).fit(S, y)
    assert certify(thin, S, y).gap == pytest.approx(certify(thin, X, y).gap, abs=1e-12)
    wide = sparse.hstack([S, sparse.csr_matrix((150, 100_000))], format="csr")  # too wide to fill up
    assert certify(module.SVC(tol=1e-9, gamma=0.1).fit(wide, y), wide, y).gap < 1e-6


def test_worst_rows_and_a_changed_machine():
    X, y = make_classification(80, 5, random_state=0)
    model = sklearn.svm.SVC(tol=1e-8).fit(X, y)
    good = certify(model, X, y)
    assert good.gap < 1e-6
    model.intercept_ = model.intercept_ + 0.1
    moved = certify(model, X, y)
    assert moved.gap > 100 * good.gap
    model.intercept_ = model.intercept_ - 0.1
    y = y.copy()
    inner = np.flatnonzero(model.decision_function(X) * (2 * y - 1) > 1.2)[0]
    y[inner] = 1 - y[inner]  # now the machine is far from right about this row
    wrong = certify(model, X, y)
    assert wrong.worst_rows[0] == inner
    assert wrong.worst_shares[0] > 0.5
    assert f"worst_rows=[{inner}" in repr(wrong)


def test_hard_margin():
    X, y = make_classification(60, 5, class_sep=3.0, flip_y=0.0, random_state=1)
    model = SVC(C=np.inf).fit(X, y)
    found = certify(model, X, y)
    assert found.gap == pytest.approx(model.duality_gap_, abs=1e-9)
    assert found.dual <= found.primal < np.inf
    model.intercept_ = model.intercept_ + 10.0
    assert certify(model, X, y).gap == 1.0
    t = np.sin(X[:, 0])
    tube = SVR(C=np.inf, epsilon=0.2).fit(X, t)
    assert certify(tube, X, t).gap == pytest.approx(tube.duality_gap_, abs=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(1, 40, 2))
def test_an_exact_gap_of_a_fit_is_not_smaller(seed):
    model, X, y, weights, _ = random_model(seed)
    assert model.duality_gap_ >= certify(model, X, y, weights).gap - 1e-9


def test_low_rank_machines_are_measured_against_the_kernel_itself():
    X, y = load_iris(return_X_y=True)
    rough, fine = (certify(SVC(rank=rank, random_state=0).fit(X, y), X, y).gap for rank in (5, 100))
    assert rough > 1e-3
    assert fine < 1e-3 * rough


def test_a_probability_machine_and_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    assert certify(SVC(probability=True).fit(X, y), X, y).gap < 1e-3
    rest = certify(SVC(multi_class="ovr", tol=1e-9).fit(X, y), X, y)
    assert rest.gap < 1e-9
    assert rest.problems[2].name == "2 against the others"


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_all_classes_at_once(n_classes, fit_intercept):
    rng = np.random.default_rng(n_classes)
    X, y = rng.normal(size=(40, 2)), rng.permutation(np.arange(40) % n_classes)
    for C, tol in ((0.5, 1e-1), (5.0, 1e-3), (20.0, 1e-9)):
        options = {"multi_class": "crammer_singer", "fit_intercept": fit_intercept, "gamma": 0.7}
        model = SVC(C=C, tol=tol, **options).fit(X, y)
        K = np.exp(-0.7 * ((X[:, None] - X[None]) ** 2).sum(axis=2)) + float(fit_intercept)
        best = coupled_objective(K, y, solve_coupled_piqp(K, y, n_classes, np.full(40, C)))
        found = certify(model, X, y)
        assert found.dual <= best * (1.0 + 1e-8)
        assert found.primal >= best * (1.0 - 1e-8)
        assert found.gap == pytest.approx(model.duality_gap_, abs=1e-9)
        assert found.gap >= model.duality_gap_ - 1e-15
    model.intercept_ = model.intercept_ + np.arange(len(model.intercept_)) + 0.5
    if fit_intercept:
        assert certify(model, X, y).gap > 1e-3
    else:
        with pytest.raises(ValueError, match="fit_intercept=False, but intercept_ is"):
            certify(model, X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_libsvm_files(tmp_path, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    path = tmp_path / "model.txt"
    for model, target in ((SVC(C=2.0), y), (SVR(C=2.0), X[:, 0] ** 2), (OneClassSVM(nu=0.3), None)):
        io.to_libsvm(model.fit(X, target), path)
        assert certify(path, X, target).gap == pytest.approx(certify(model, X, target).gap, abs=1e-9)
    io.to_libsvm(SVC(C=2.0).fit(X, y), path)
    assert certify(str(path), X, y, C=3.0).gap > 1e-3  # not what was trained
    fine = X * (1.0 + 1e-12)  # LIBSVM itself writes 8 digits, which are those of X
    io.to_libsvm(SVC(C=2.0).fit(X, y), path)
    assert certify(path, fine, y).gap < 1e-8


def test_libsvm_files_that_are_wrong(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "model.txt"
    io.to_libsvm(SVC().fit(X, y), path)
    with pytest.raises(ValueError, match="no row of X"):
        certify(path, X + 1.0, y)
    with pytest.raises(ValueError, match="features"):
        certify(path, X[:, :2], y)
    with pytest.raises(ValueError, match="label 7"):
        certify(path, X, y + 7)
    path.write_text("svm_type nu_svc\nkernel_type rbf\nSV\n")
    with pytest.raises(ValueError, match="nu_svc"):
        certify(path, X, y)
    path.write_text("svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class 2\nrho zero\nSV\n1 1:1\n")
    with pytest.raises(ValueError, match="damaged"):
        certify(path, X, y)
    io.save_model(SVC().fit(X, y), tmp_path / "model.skops")
    assert certify(tmp_path / "model.skops", X, y).gap < 1e-3


@pytest.mark.parametrize(
    ("line", "other", "message"),
    [
        ("rho .*", "rho", "0 values of rho, not 3"), ("rho .*", "rho 1 2", "2 values of rho, not 3"),
        ("rho .*", "rho nan 1 2", "NaN"), ("nr_sv .*", "nr_sv 1 1 1", "nr_sv does not add up"),
        ("nr_sv .*", "", "do not agree"), ("label .*", "label 0 1", "do not agree"),
        ("label .*", "label 0 1 1", "do not agree"), ("nr_class .*", "nr_class 2", "damaged"),
        ("SV\n[^ ]+", "SV\ninf", "infinity"), (" 1:", " 0:", "Invalid index"), (" 2:[^ ]+", " 2:nan", "NaN"),
    ],
)  # fmt: skip
def test_libsvm_files_that_contradict_themselves(tmp_path, line, other, message):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "model.txt"
    io.to_libsvm(SVC().fit(X, y), path)
    path.write_text(
        re.sub(f"^{line}" if line[0] != " " else line, other, path.read_text(), count=1, flags=re.M)
    )
    with pytest.raises(ValueError, match=message):
        certify(path, X, y)


@pytest.mark.parametrize(
    "model",
    [AutoSVC(), LogisticRegression(), sklearn.svm.NuSVC(), make_pipeline(StandardScaler(), SVC()),
     CalibratedClassifierCV(SVC()), 3],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_what_has_no_certificate(model):
    with pytest.raises(TypeError, match=r"certify takes .*, got \w+"):
        certify(model, [[0.0], [1.0]], [0, 1])


def test_what_is_taken_names_no_machine_that_is_not():
    with pytest.raises(TypeError, match=r"a NuSVC or NuSVR of adatron, .*, got NuSVC$"):
        certify(sklearn.svm.NuSVC(), [[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"C": -1.0}, r"C must be a number > 0, got -1\.0"),
        ({"C": np.nan}, "C must be a number > 0, got nan"),
        ({"C": "large"}, "C must be a number > 0, got 'large'"),
        ({"epsilon": -0.1}, r"epsilon must be a finite number >= 0, got -0\.1"),
        ({"epsilon": np.nan}, "epsilon must be a finite number >= 0, got nan"),
        ({"y": [0, 1, 1] * 10}, "40 rows, 30 entries of y"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("model", [SVC(), SVR()], ids=repr)
def test_bad_calls_for_a_libsvm_file(tmp_path, model, given, message):
    X, y = make_classification(40, 5, random_state=0)
    path = tmp_path / "model"
    io.to_libsvm(model.fit(X, y), path)
    with pytest.raises(ValueError, match=message):
        certify(path, X, **{"y": y} | given)


def test_bad_calls():
    X, y = make_classification(40, 5, random_state=0)
    model = SVC().fit(X, y)
    with pytest.raises(NotFittedError):
        certify(SVC(), X, y)
    with pytest.raises(ValueError, match="trained on 40"):
        certify(model, X[:-1], y[:-1])
    with pytest.raises(ValueError, match="is not what the estimator was trained on"):
        certify(model, 2.0 * X, y)
    with pytest.raises(ValueError, match="label 2"):
        certify(model, X, y + 1)
    with pytest.raises(ValueError, match="has its own C"):
        certify(model, X, y, C=1.0)
    with pytest.raises(ValueError, match="1d array"):
        certify(model, X)
    with pytest.raises(ValueError, match="negative eigenvalues"):
        certify(sklearn.svm.SVC(kernel="sigmoid", coef0=-5.0).fit(X, y), X, y)


def test_models_of_scikit_learn_with_rows_of_no_weight():
    X, y = make_classification(60, 5, random_state=0)
    weights = np.where(np.arange(60) < 7, 0.0, 1.0)
    for model, target, rows in (
        (sklearn.svm.SVC(), y, X),
        (sklearn.svm.SVR(), X[:, 0], X),
        (sklearn.svm.SVC(kernel="precomputed"), y, X @ X.T),
    ):
        assert certify(model.fit(rows, target, weights), rows, target, weights).gap < 1e-3
    hard = SVR(C=np.inf, epsilon=0.5).fit(X, X[:, 0] ** 2, weights)
    assert certify(hard, X, X[:, 0] ** 2, weights).gap < 1e-6


@pytest.mark.parametrize("nu", [0.1, 1.0])
def test_gap_of_a_nu_regression_is_that_of_its_own_problem(nu):
    X = np.random.default_rng(0).normal(size=(150, 3))
    t = np.sin(X[:, 0]) + 0.3 * X[:, 1]
    model = NuSVR(nu, C=10.0).fit(X, t)
    found = certify(model, X, t)
    assert found.gap - found.rounding <= model.duality_gap_ + 1e-12 <= found.gap + 1e-12


def test_what_proves_nothing_is_refused():
    X, y = make_classification(90, 8, n_classes=3, n_informative=4, random_state=1)
    model = sklearn.svm.SVC().fit(X, y)
    model.intercept_[1] = np.nan
    with pytest.raises(ValueError, match="must be finite"):
        certify(model, X, y)
    with pytest.raises(ValueError, match="90 rows, y has 89"):
        certify(sklearn.svm.SVC().fit(X, y), X, y[:-1])
    rng = np.random.default_rng(0)
    Z, v = rng.normal(size=(600, 40)), rng.normal(size=600)
    K = Z @ Z.T - 60.0 * np.outer(v, v) / (v @ v)
    labels = np.sign(Z[:, 0])
    with pytest.raises(ValueError, match="negative eigenvalues"):
        certify(sklearn.svm.SVC(kernel="precomputed", max_iter=1_000).fit(K, labels), K, labels)
    K = Z @ Z.T
    model = sklearn.svm.SVC(kernel="precomputed").fit(K, labels)
    K[0, 1] += 1.0
    with pytest.raises(ValueError, match="not symmetric"):
        certify(model, K, labels)
