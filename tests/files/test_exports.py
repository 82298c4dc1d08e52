"""Models in the formats of others: scikit-learn's machines, LIBSVM's text, ONNX, skops."""

import itertools
import math
import os
import pickle

import numpy as np
import onnxruntime
import pytest
import skops.io
from scipy import sparse
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn import svm
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import adatron
from adatron import SVC, SVR, AutoSVC, AutoSVR, EnsembleSVC, KernelPerceptron, OneClassSVM, ParzenClassifier
from adatron.io import SKOPS_TRUSTED, save_model, to_libsvm, to_onnx
from tests.files.models import CODES, GRAM, MODELS, NEW, NEW_GRAM, TARGETS, WORDS, X, fitted, outputs

KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.5},
    "rbf": {"kernel": "rbf"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.1, "coef0": 0.1},
}
TASKS = {"two": CODES == 1, "three": CODES, "words": WORDS}
SPARSE, NEW_SPARSE = (sparse.csr_array(rows * (rows > 0.0)) for rows in (X, NEW))


def pairwise(model, rows):
    """Decisions of every pair of classes, or of two, in columns."""
    model = pickle.loads(pickle.dumps(model)).set_params(decision_function_shape="ovo")
    return model.decision_function(rows).reshape(len(rows), -1)


def assert_close(found, expected, tol=1e-12):
    np.testing.assert_allclose(found, expected, rtol=tol, atol=tol * max(1.0, np.abs(expected).max()))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestSklearn:
    @pytest.mark.parametrize("task", TASKS)
    @pytest.mark.parametrize("kernel", KERNELS)
    def test_classification(self, kernel, task):
        model = SVC(C=3.0, **KERNELS[kernel]).fit(X, TASKS[task])
        theirs = model.to_sklearn()
        assert type(theirs) is svm.SVC
        assert theirs.C == 3.0
        assert theirs.predict(NEW).tolist() == model.predict(NEW).tolist()
        assert_close(theirs.decision_function(NEW), model.decision_function(NEW))
        assert_close(pairwise(theirs, NEW), pairwise(model, NEW))
        for name in ("classes_", "support_", "support_vectors_", "dual_coef_", "intercept_", "n_support_"):
            np.testing.assert_array_equal(getattr(theirs, name), getattr(model, name))

    def test_regression_and_novelty(self):
        model = SVR(C=2.0, epsilon=0.05).fit(X, TARGETS)
        assert_close(model.to_sklearn().predict(NEW), model.predict(NEW))
        detector = OneClassSVM(nu=0.3).fit(X)
        theirs = detector.to_sklearn()
        assert_close(theirs.decision_function(NEW), detector.decision_function(NEW))
        assert_close(theirs.score_samples(NEW), detector.score_samples(NEW))
        assert theirs.predict(NEW).tolist() == detector.predict(NEW).tolist()

    @pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM", "no support"])
    def test_sparse_rows(self, name):
        models = {"SVC": SVC(), "SVR": SVR(), "OneClassSVM": OneClassSVM(), "no support": SVR(epsilon=99.0)}
        model = models[name].fit(SPARSE, CODES if name == "SVC" else TARGETS)
        theirs = model.to_sklearn()
        clear = np.ones(len(NEW), dtype=bool)
        if hasattr(model, "decision_function"):
            decisions = model.decision_function(NEW_SPARSE)
            assert_close(theirs.decision_function(NEW_SPARSE), decisions)
            clear = decisions != 0.0 if name == "OneClassSVM" else clear  # rounding decides on the surface
        assert clear.sum() > 15
        assert_close(theirs.predict(NEW_SPARSE)[clear], model.predict(NEW_SPARSE)[clear])

    def test_precomputed_hard_margin_low_rank_and_ties(self):
        model = SVC(kernel="precomputed").fit(GRAM, CODES)
        assert_close(model.to_sklearn().decision_function(NEW_GRAM), model.decision_function(NEW_GRAM))
        model = SVC(C=math.inf, gamma=20.0, break_ties=True).fit(X, CODES)
        assert math.inf == model.to_sklearn().C
        assert model.to_sklearn().predict(NEW).tolist() == model.predict(NEW).tolist()
        model = SVC(rank=9).fit(X, CODES == 1)
        assert_close(model.to_sklearn().decision_function(NEW), model.decision_function(NEW))
        model = SVR(rank=9).fit(X, TARGETS)
        assert_close(model.to_sklearn().predict(NEW), model.predict(NEW))

    def test_subclass(self):
        class Mine(SVC):
            pass

        assert type(Mine().fit(X, WORDS).to_sklearn()) is svm.SVC

    def test_it_is_a_whole_estimator(self):
        theirs = fitted("SVC words").to_sklearn()
        rows = MODELS["SVC words"][1]
        assert theirs.feature_names_in_.tolist() == ["a", "b", "ç"]
        again = pickle.loads(pickle.dumps(theirs))
        assert_close(again.decision_function(rows), theirs.decision_function(rows))
        refitted = clone(theirs).fit(X, WORDS)
        assert refitted.score(X, WORDS) > 0.4
        assert SVC(kernel="linear").fit(X, CODES).to_sklearn().coef_.shape == (3, 3)

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (SVC(multi_class="ovr"), "one problem for each of its 3 classes"),
            (SVC(multi_class="crammer_singer"), "one problem for each"),
            (SVC(kernel="laplacian"), "Laplacian"),
            (SVC(kernel=adatron.kernels.Gaussian(0.5, [1.0, 2.0, 0.0])), "weights"),
            (SVC(kernel=lambda A, B: A @ B.T), "CallableKernel"),
            (SVC(rank=5), "landmarks"),
        ],
    )
    def test_what_scikit_learn_cannot_express(self, model, message):
        with pytest.raises(ValueError, match=message):
            model.fit(X, CODES).to_sklearn()


def naive_libsvm(path, rows):
    """LIBSVM's text read and evaluated as its README says: decisions of each pair, or of the one problem."""
    lines = path.read_text().splitlines()
    start = lines.index("SV")
    head = {line.split()[0]: line.split()[1:] for line in lines[:start]}
    gamma, coef0, degree = (float(head.get(name, ["0"])[0]) for name in ("gamma", "coef0", "degree"))
    functions = {
        "linear": lambda x, z: x @ z,
        "polynomial": lambda x, z: (gamma * x @ z + coef0) ** int(degree),
        "rbf": lambda x, z: math.exp(-gamma * (x - z) @ (x - z)),
        "sigmoid": lambda x, z: math.tanh(gamma * x @ z + coef0),
    }
    k = functions[head["kernel_type"][0]]
    n_rows = int(head["nr_class"][0]) - 1
    coefficients, vectors = [], []
    for line in lines[start + 1 :]:
        words = line.split()
        coefficients.append([float(word) for word in words[:n_rows]])
        vectors.append(np.zeros(rows.shape[1]))
        for word in words[n_rows:]:
            index, value = word.split(":")
            vectors[-1][int(index) - 1] = float(value)
    assert len(vectors) == int(head["total_sv"][0])
    values = np.array([[k(x, z) for z in vectors] for x in rows])
    coefficients, rho = np.array(coefficients), [float(word) for word in head["rho"]]
    if "nr_sv" not in head:
        return head, (values @ coefficients[:, 0] - rho[0])[:, None]
    ends = np.cumsum([0, *map(int, head["nr_sv"])])
    own = [slice(a, b) for a, b in itertools.pairwise(ends)]
    pairs = [(i, j) for i in range(n_rows + 1) for j in range(i + 1, n_rows + 1)]
    columns = [
        values[:, own[i]] @ coefficients[own[i], j - 1] + values[:, own[j]] @ coefficients[own[j], i] - rho[p]
        for p, (i, j) in enumerate(pairs)
    ]
    return head, np.column_stack(columns)


def libsvm_official(path, rows):
    """Predictions and decisions of LIBSVM itself."""
    svmutil = pytest.importorskip("libsvm.svmutil", reason="pip install libsvm-official, which compiles")
    model = svmutil.svm_load_model(str(path))
    labels, _, decisions = svmutil.svm_predict([], sparse.csr_matrix(rows), model, "-q")
    return np.array(labels), np.array(decisions)


LIBSVM = {
    f"{kernel} {task}": (lambda kernel=kernel, task=task: SVC(**KERNELS[kernel]).fit(X, TASKS[task]))
    for kernel in KERNELS
    for task in TASKS
} | {
    "SVR": lambda: SVR().fit(X, TARGETS),
    "SVR rank": lambda: SVR(rank=9).fit(X, TARGETS),
    "SVC rank": lambda: SVC(rank=9).fit(X, CODES == 1),
    "OneClassSVM": lambda: OneClassSVM(nu=0.3).fit(X),
    "sparse": lambda: SVC().fit(SPARSE, CODES),
    "labels": lambda: SVC().fit(X, np.array([-7, 0, 12])[CODES]),
}


def decisions_of(model, rows):
    return model.predict(rows)[:, None] if isinstance(model, SVR) else (
        pairwise(model, rows) if isinstance(model, SVC) else model.decision_function(rows)[:, None]
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestLibsvm:
    @pytest.mark.parametrize("name", LIBSVM)
    def test_text_read_by_the_book(self, tmp_path, name):
        model = LIBSVM[name]()
        to_libsvm(model, tmp_path / "model")
        head, found = naive_libsvm(tmp_path / "model", NEW)
        assert_close(found, decisions_of(model, NEW))
        if isinstance(model, SVC):
            numbers = model.classes_ if model.classes_.dtype.kind in "iu" else np.arange(len(model.classes_))
            assert sorted(map(int, head["label"])) == numbers.tolist()

    @pytest.mark.parametrize("name", LIBSVM)
    def test_libsvm_itself_predicts_the_same(self, tmp_path, name):
        model = LIBSVM[name]()
        to_libsvm(model, tmp_path / "model")
        labels, decisions = libsvm_official(tmp_path / "model", NEW)
        assert_close(decisions.reshape(len(NEW), -1), decisions_of(model, NEW))
        expected = model.predict(NEW)
        if isinstance(model, SVC) and model.classes_.dtype.kind not in "iu":
            expected = np.searchsorted(model.classes_, expected)
        assert_close(labels, expected)

    def test_what_libsvm_cannot_express(self, tmp_path):
        cases = {
            "precomputed": SVC(kernel="precomputed").fit(GRAM, CODES),
            "each of its 3 classes": SVC(multi_class="ovr").fit(X, CODES),
            "no AutoSVC": fitted("AutoSVC"),
            "Laplacian": fitted("SVC laplacian"),
        }
        for message, model in cases.items():
            with pytest.raises(ValueError, match=message):
                to_libsvm(model, tmp_path / "model")
        assert os.listdir(tmp_path) == []


def assert_single(found, expected, model):
    """Equal to float32's rounding of a sum with the model's coefficients."""
    machine = model.steps[-1][1] if hasattr(model, "steps") else model
    if isinstance(machine, AutoSVC | AutoSVR):
        size = sum(np.abs(own.coefficients).sum() + np.abs(own.bias).max() for own in machine._machines)
    else:
        size = np.abs(machine.dual_coef_).sum(axis=1).max() + np.abs(machine.intercept_).max()
    assert np.abs(found - expected).max() < 5e-7 * size


def run_onnx(path, inputs):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


CLASSIFIERS = {
    "three classes": (SVC(), WORDS),
    "numbers": (SVC(), CODES),
    "two classes": (SVC(), CODES == 1),
    "poly": (SVC(**KERNELS["poly"]), WORDS),
    "sigmoid": (SVC(**KERNELS["sigmoid"]), WORDS),
    "linear": (SVC(kernel="linear"), WORDS),
    "AutoSVC": (AutoSVC(), np.where(CODES == 1, "yes", "no")),
    "AutoSVC three classes": (AutoSVC(), WORDS),
    "AutoSVC threshold": (AutoSVC(scoring="balanced_accuracy"), CODES == 1),
    "EnsembleSVC": (EnsembleSVC(), CODES == 1),
    "KernelPerceptron": (KernelPerceptron(max_iter=3), CODES == 1),
    "ParzenClassifier": (ParzenClassifier(), CODES == 1),
    "pipeline": (make_pipeline(StandardScaler(), SVC()), WORDS),
    "AutoSVC in a pipeline": (make_pipeline(StandardScaler(), AutoSVC()), CODES == 1),
}


@pytest.mark.filterwarnings("ignore")
class TestOnnx:
    @pytest.mark.parametrize("name", CLASSIFIERS)
    def test_classification(self, tmp_path, name):
        estimator, labels = CLASSIFIERS[name]
        model = clone(estimator).fit(X, labels)
        to_onnx(model, tmp_path / "model.onnx")
        found = run_onnx(tmp_path / "model.onnx", {"X": NEW.astype(np.float32)})
        assert found["label"].tolist() == model.predict(NEW).tolist()
        scores = found["probabilities"]
        if name.startswith("AutoSVC"):
            assert_close(scores, model.predict_proba(NEW), 1e-6)
            return
        decisions = model.decision_function(NEW)
        if decisions.ndim == 1:
            assert_close(scores[:, 0], -scores[:, 1], 1e-6)
            scores = scores[:, 1]
        assert_single(scores, decisions, model)

    @pytest.mark.parametrize("model", [SVR(), SVR(rank=9), AutoSVR(), make_pipeline(StandardScaler(), SVR())])
    def test_regression(self, tmp_path, model):
        model.fit(X, TARGETS)
        to_onnx(model, tmp_path / "model.onnx")
        found = run_onnx(tmp_path / "model.onnx", {"X": NEW.astype(np.float32)})["variable"]
        assert_single(found[:, 0], model.predict(NEW), model)

    @pytest.mark.parametrize("name", ["AutoSVR targets", "AutoSVR prices"])
    def test_several_targets_and_logarithms(self, tmp_path, name):
        model = fitted(name)
        to_onnx(model, tmp_path / "model.onnx")
        found = run_onnx(tmp_path / "model.onnx", {"X": NEW.astype(np.float32)})["variable"]
        expected = model.predict(NEW)
        np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-5, atol=1e-5)

    def test_novelty(self, tmp_path):
        model = OneClassSVM(nu=0.3).fit(X)
        to_onnx(model, tmp_path / "model.onnx")
        found = run_onnx(tmp_path / "model.onnx", {"X": NEW.astype(np.float32)})
        assert found["label"].ravel().tolist() == model.predict(NEW).tolist()
        assert_single(found["scores"].ravel(), model.decision_function(NEW), model)

    def test_table_with_words(self, tmp_path):
        import pandas as pd

        table = pd.DataFrame({"size": X[:, 0], "colour": np.roll(WORDS, 1)})
        encoders = [("size", StandardScaler(), ["size"]), ("colour", OneHotEncoder(), ["colour"])]
        model = make_pipeline(ColumnTransformer(encoders), SVC()).fit(table, CODES)
        types = [("size", FloatTensorType([None, 1])), ("colour", StringTensorType([None, 1]))]
        to_onnx(model, tmp_path / "model.onnx", initial_types=types)
        inputs = {"size": X[:, :1].astype(np.float32), "colour": np.roll(WORDS, 1)[:, None].astype(object)}
        assert run_onnx(tmp_path / "model.onnx", inputs)["label"].tolist() == model.predict(table).tolist()

    def test_unfitted_models(self, tmp_path):
        for model in (SVC(), AutoSVC(), make_pipeline(StandardScaler(), SVC())):
            with pytest.raises(NotFittedError):
                to_onnx(model, tmp_path / "model.onnx")

    @pytest.mark.parametrize("estimator", [OneClassSVM(), EnsembleSVC(), make_pipeline(OneClassSVM())])
    def test_machines_that_encode_tables_are_refused(self, tmp_path, estimator):
        import pandas as pd

        model = clone(estimator).fit(pd.DataFrame({"a": X[:, 0], "word": WORDS}), CODES == 1)
        with pytest.raises(ValueError, match="was fitted on a table"):
            to_onnx(model, tmp_path / "model.onnx")
        with pytest.raises(ValueError, match=r"was fitted on a table|LIBSVM has no"):
            to_libsvm(model, tmp_path / "model")
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize("estimator", [AutoSVC(), AutoSVR()])
    def test_tables(self, tmp_path, estimator):
        import pandas as pd

        i, rng = np.arange(90), np.random.default_rng(0)
        table = pd.DataFrame({
            "number": np.where(i % 9 == 0, np.nan, rng.normal(size=90)),
            "few missing": np.where(i == 3, np.nan, i % 7), "two": i % 2, "flag": i % 3 == 0,
            "category": np.array(["red", "blue", "n/a", "green", None])[i % 5],
            "binary": np.array(["yes", "no"])[i % 2], "level": pd.Categorical(i % 4, ordered=True),
            "code": [f"{j % 45:02d}" for j in i], "same": "same",
            "row": i % 5, "constant_0": i % 6, "X": i % 8,
        })  # fmt: skip
        model = estimator.fit(table, (table["two"] + (table["category"] == "red") > 0).astype(int))
        assert {column.kind for column in model.encoder_.columns_} >= {
            "number",
            "category",
            "ordinal",
            "binary",
        }
        to_onnx(model, tmp_path / "model.onnx")
        new = pd.concat([table, table.iloc[:1].assign(category="unseen", number=1e300, code="99")])
        inputs = {
            name: new[[name]].astype(float).to_numpy()
            if new[name].dtype.kind in "fib"
            else new[[name]].astype(object).fillna("").astype(str).to_numpy(dtype=object)
            for name in new.columns.drop("same")
        }
        found = run_onnx(tmp_path / "model.onnx", inputs)
        if isinstance(model, AutoSVC):
            assert found["label"].tolist() == model.predict(new).tolist()
            assert_close(found["probabilities"], model.predict_proba(new), 1e-6)
        else:
            assert_close(found["variable"][:, 0], model.predict(new), 1e-6)

    def test_a_column_named_like_an_output(self, tmp_path):
        import pandas as pd

        model = AutoSVC().fit(pd.DataFrame({"label": WORDS, "a": X[:, 0]}), CODES == 1)
        with pytest.raises(ValueError, match="column 'label' has the name of an output"):
            to_onnx(model, tmp_path / "model.onnx")

    def test_what_onnx_cannot_express(self, tmp_path):
        refused = {
            "AutoSVC table": "column '.*' is a (date|text), which is not written as ONNX",
            "AutoSVC text": "sparse rows of text", "Pipeline encoder": "no counterpart of TableEncoder",
            "SupportVectorClustering": "no counterpart", "SVC laplacian": "LIBSVM", "EnsembleSVC": "LIBSVM",
            "SVR no support": "without support vectors",
        }  # fmt: skip
        for name, reason in refused.items():
            with pytest.raises(ValueError, match=reason):
                to_onnx(fitted(name), tmp_path / "model.onnx")
        assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("Pipeline scal")])
def test_skops_loads_every_model_with_the_ready_list(tmp_path, name):
    model = fitted(name)
    skops.io.dump(model, tmp_path / "model.skops")
    loaded = skops.io.load(tmp_path / "model.skops", trusted=SKOPS_TRUSTED)
    found, expected = outputs(loaded, MODELS[name][1]), outputs(model, MODELS[name][1])
    assert found.keys() == expected.keys()
    for method in expected:
        np.testing.assert_array_equal(found[method], expected[method])
    save_model(loaded, tmp_path / "model.skops")


def test_skops_list_names_classes_of_adatron_only():
    others = [name for name in SKOPS_TRUSTED if not name.startswith("adatron.")]
    assert others == ["numpy.dtype", "scipy.sparse._csr.csr_array"]
    assert "adatron.kernels.standard.CallableKernel" not in SKOPS_TRUSTED
    own = [*adatron.kernels.KERNELS.values(), *adatron.solvers.SOLVERS.values()]
    named = [getattr(adatron, name) for name in adatron.__all__]
    own += [thing for thing in named if isinstance(thing, type) and issubclass(thing, BaseEstimator)]
    assert {f"{kind.__module__}.{kind.__name__}" for kind in own} <= set(SKOPS_TRUSTED)
    assert {kind.__name__ for kind in (SVC, SVR, AutoSVC)} <= {name.split(".")[-1] for name in SKOPS_TRUSTED}
    assert adatron.io.SKOPS_TRUSTED is SKOPS_TRUSTED
