"""A model file read and evaluated with the standard library alone, by what docs/model_files.md says."""

import ast
import hashlib
import json
import math
import struct
import zipfile

from adatron import __version__
from adatron.io import save_model
from tests.files.models import MODELS, fitted

CODES = {"|b1": "?", "<i4": "i", "<i8": "q", "<f8": "d"}


def read(path):
    """Attributes of the estimator by name; arrays are flat lists with their shapes."""
    data = path.read_bytes()
    seal = f"adatron {__version__} model sha256:{hashlib.sha256(data[:-64]).hexdigest()}"
    with zipfile.ZipFile(path) as archive:
        assert archive.comment.decode() == seal
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        schema = json.loads(archive.read("schema.json"))
        return schema, {
            name: array(archive.read(node["file"])) if "file" in node else node
            for name, node in schema["content"]["content"].items()
        }


def array(content):
    assert content[:8] == b"\x93NUMPY\1\0"
    (length,) = struct.unpack_from("<H", content, 8)
    header = ast.literal_eval(content[10 : 10 + length].decode())
    code, shape = header["descr"], header["shape"]
    if code.startswith("<U"):
        width = 4 * int(code[2:])
        texts = [content[i : i + width] for i in range(10 + length, len(content), width)]
        return [text.decode("utf-32-le").rstrip("\0") for text in texts], shape
    return list(struct.unpack_from(f"<{math.prod(shape)}{CODES[code]}", content, 10 + length)), shape


def test_prediction_by_hand(tmp_path):
    save_model(fitted("SVC two classes"), tmp_path / "svc.skops")
    schema, state = read(tmp_path / "svc.skops")
    assert (schema["__module__"], schema["__class__"]) == ("adatron", "SVC")
    kernel = state["_expansion"]["content"]["content"]["kernel"]
    assert (kernel["__module__"], kernel["__class__"]) == ("adatron.kernels", "Gaussian")
    gamma = json.loads(kernel["content"]["content"]["gamma"]["content"])
    (vectors, (n, d)), (coefficients, _) = state["support_vectors_"], state["dual_coef_"]
    ((intercept,), _), (classes, _) = state["intercept_"], state["classes_"]
    rows = MODELS["SVC two classes"][1]
    model = fitted("SVC two classes")
    for row, decision, label in zip(rows, model.decision_function(rows), model.predict(rows), strict=True):
        distances = [math.dist(vectors[i * d : (i + 1) * d], row) ** 2 for i in range(n)]
        terms = [c * math.exp(-gamma * own) for c, own in zip(coefficients, distances, strict=True)]
        found = sum(terms) + intercept
        assert math.isclose(found, decision, rel_tol=1e-9, abs_tol=1e-9)
        assert classes[found > 0.0] == label


def test_words_are_text_of_fixed_width(tmp_path):
    save_model(fitted("SVC words"), tmp_path / "svc.skops")
    state = read(tmp_path / "svc.skops")[1]
    assert state["classes_"] == (["blau", "grün", "rot"], (3,))
    assert [json.loads(node["content"]) for node in state["feature_names_in_"]["content"]] == ["a", "b", "ç"]
