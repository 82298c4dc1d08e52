"""A model file read and evaluated with the standard library alone, by what docs/model_files.md says."""

import hashlib
import json
import math
import struct

from tests.io.make_files import FILES

CODES = {"|b1": "?", "|u1": "B", "<i4": "i", "<i8": "q", "<f8": "d"}


def read(path):
    """Header and arrays (nested lists) of a file."""
    data = path.read_bytes()
    assert data[:8] == b"ADATRON\x01"
    assert hashlib.sha256(data[:-32]).digest() == data[-32:]
    (length,) = struct.unpack_from("<Q", data, 8)
    header = json.loads(data[16 : 16 + length].decode("ascii"))
    begin = (16 + length + 63) // 64 * 64
    return header, {entry["name"]: block(data, begin + entry["offset"], entry) for entry in header["arrays"]}


def block(data, start, entry):
    count = math.prod(entry["shape"])
    if entry["dtype"].startswith("<U"):
        width = 4 * int(entry["dtype"][2:])
        texts = [data[i : i + width] for i in range(start, start + count * width, width)]
        return [text.decode("utf-32-le").rstrip("\0") for text in texts]
    flat = struct.unpack_from(f"<{count}{CODES[entry['dtype']]}", data, start)
    if len(entry["shape"]) < 2:
        return list(flat)
    rows, columns = entry["shape"]
    if entry["order"] == "F":
        return [list(flat[i::rows]) for i in range(rows)]
    return [list(flat[i * columns : (i + 1) * columns]) for i in range(rows)]


def test_prediction_by_hand():
    header, arrays = read(FILES / "1.0" / "svc.adatron")
    assert (header["kind"], header["format"]) == ("model", "1.0")
    kind, state = header["model"]["estimator"]
    assert kind == "SVC"
    kernel, parameters = state["_kernel"]["object"]
    assert kernel == "kernel.Gaussian"
    vectors, coefficients, intercept, classes = (
        arrays[state[name]["array"]] for name in ("support_vectors_", "dual_coef_", "intercept_", "classes_")
    )
    said = json.loads((FILES / "1.0" / "outputs.json").read_text(encoding="utf-8"))["svc"]
    for row, decision, label in zip(said["rows"], said["decision_function"], said["predict"], strict=True):
        distances = [sum((a - b) ** 2 for a, b in zip(vector, row, strict=True)) for vector in vectors]
        values = [math.exp(-parameters["gamma"] * distance) for distance in distances]
        found = sum(c * k for c, k in zip(coefficients[0], values, strict=True)) + intercept[0]
        assert math.isclose(found, decision, rel_tol=1e-9, abs_tol=1e-9)
        assert classes[found > 0.0] == label


def test_words_are_text_of_fixed_width():
    header, arrays = read(FILES / "1.0" / "svc_words.adatron")
    state = header["model"]["estimator"][1]
    assert arrays[state["classes_"]["array"]] == ["blau", "grün", "rot"]
    assert state["feature_names_in_"] == {"objects": [[3], ["a", "b", "ç"]]}
