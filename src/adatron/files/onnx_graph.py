"""`AutoSVC` and `AutoSVR` as ONNX graphs, which compute in float64: scikit-learn has no such machines.

Imports onnx, so `to_onnx` imports this module when it is called.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from adatron.auto import AutoSVC
from adatron.auto.scaling import CLIP
from adatron.estimators.probabilities import AGREEMENT, ClassProbabilities
from adatron.kernels import Exponential, Laplacian
from adatron.tables import TableEncoder
from adatron.tables.encodings import Levels, Numbers
from adatron.tables.parsing import MISSING_TEXT

_OPSET, _IR_VERSION = 17, 8  # which onnxruntime reads since 1.12
_OUTPUTS = ("label", "probabilities", "variable")


class _Graph:
    """Nodes and constants; an inner graph shares the constants of the outer one."""

    def __init__(self, outer: _Graph | None = None) -> None:
        # names must differ from those of columns, and of the outer graph
        self.prefix = "/" if outer is None else "/row_"
        self.nodes: list[Any] = []
        self.constants: list[Any] = [] if outer is None else outer.constants

    def add(self, operator: str, *inputs: Any, name: str = "", **attributes: Any) -> str:
        """Add a node and give the name of its output; inputs are such names, or numbers and arrays."""
        names = [own if isinstance(own, str) else self._constant(np.asarray(own)) for own in inputs]
        name = name or f"{self.prefix}{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, names, [name], **attributes))
        return name

    def _constant(self, array: np.ndarray) -> str:
        name = f"/constant_{len(self.constants)}"
        if array.dtype.kind in "UO":
            texts: Any = [str(item).encode() for item in array]
            self.constants.append(helper.make_tensor(name, TensorProto.STRING, array.shape, texts))
        else:
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name


def auto_graph(model: Any) -> Any:
    """The ONNX model of a fitted `AutoSVC` or `AutoSVR`."""
    if model._scale.is_text:
        raise ValueError(
            f"this {type(model).__name__} was fitted on sparse rows of text, which ONNX cannot express; save "
            "it with adatron.io.save_model"
        )
    graph = _Graph()
    opsets = [helper.make_opsetid("", _OPSET)]
    if model.encoder_ is None:
        inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, model.n_features_in_])]
        X = _scaled(graph, graph.add("Cast", "X", to=TensorProto.DOUBLE), model._scale)
    else:
        opsets.append(helper.make_opsetid("ai.onnx.ml", 2))  # has LabelEncoder
        X, inputs = _encoded(graph, model.encoder_)
    decisions = _decisions(graph, X, model._machines)
    outputs = []
    if isinstance(model, AutoSVC):
        outputs = _classes(graph, decisions, model)
        name, width = "probabilities", len(model.classes_)
        values = _probabilities(graph, decisions, model._probabilities)
    else:
        name, width = "variable", model._n_columns
        values = _targets(graph, decisions, model._log)
    graph.add("Cast", values, name=name, to=TensorProto.FLOAT)
    outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, width]))
    whole = helper.make_graph(graph.nodes, type(model).__name__, inputs, outputs, graph.constants)
    return helper.make_model(whole, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="adatron")


def _classes(graph: _Graph, decisions: str, model: AutoSVC) -> list[Any]:
    """Add the output ``label`` and return its description."""
    classes = model.classes_
    if len(classes) == 2:
        above = graph.add("Sub", decisions, model.best_threshold_)
        decisions = graph.add("Concat", graph.add("Neg", above), above, axis=1)
    is_text = classes.dtype.kind in "UO"
    winners = graph.add("ArgMax", decisions, axis=1, keepdims=0)
    graph.add("Gather", classes if is_text else classes.astype(np.int64), winners, name="label")
    kind = TensorProto.STRING if is_text else TensorProto.INT64
    return [helper.make_tensor_value_info("label", kind, [None])]


def _probabilities(graph: _Graph, decisions: str, own: ClassProbabilities) -> str:
    """What `ClassProbabilities` makes of decisions, in agreement with the predictions."""
    scores = graph.add("Add", graph.add("Mul", decisions, own.slope), own.intercepts)
    if len(own.intercepts) == 1:
        least = graph.add("Mul", decisions, AGREEMENT * own.slope)
        ends = graph.add("Max", scores, least), graph.add("Min", scores, least)
        positive = graph.add("Sigmoid", graph.add("Where", graph.add("Greater", decisions, 0.0), *ends))
        return graph.add("Concat", graph.add("Sub", 1.0, positive), positive, axis=1)
    found = graph.add("Softmax", scores, axis=1)
    marks, values = [], []
    for of in (decisions, found):  # the predicted and the most probable class exchange their probabilities
        is_largest = graph.add("Equal", graph.add("ArgMax", of, axis=1), np.arange(len(own.intercepts)))
        marks.append(graph.add("Cast", is_largest, to=TensorProto.DOUBLE))
        values.append(graph.add("ReduceSum", graph.add("Mul", found, marks[-1]), np.array([1]), keepdims=1))
    change = graph.add("Mul", graph.add("Sub", *marks), graph.add("Sub", *reversed(values)))
    return graph.add("Add", found, change)


def _targets(graph: _Graph, decisions: str, log: Any) -> str:
    """What a `LogTarget` makes of decisions, if there is one."""
    if log is None:
        return decisions
    power = graph.add("Exp", graph.add("Min", decisions, log.highest))
    return graph.add("Sub", graph.add("Mul", power, log.ratio), log.offset)


def _scaled(graph: _Graph, X: str, scale: Any) -> str:
    """What a `Scaler` does with numbers."""
    z = graph.add("Gather", X, scale.kept, axis=1)
    for operator, values in (("Div", scale.unit), ("Sub", scale.centre), ("Div", scale.scale)):
        z = graph.add(operator, z, values[scale.kept])
    return _smoothly_clipped(graph, z)


def _smoothly_clipped(graph: _Graph, z: str) -> str:
    part = graph.add("Div", z, CLIP)
    return graph.add("Div", z, graph.add("Sqrt", graph.add("Add", graph.add("Mul", part, part), 1.0)))


def _encoded(graph: _Graph, encoder: TableEncoder) -> tuple[str, list[Any]]:
    """What a `TableEncoder` makes of a table, and the inputs: one for each column that is used."""
    inputs, blocks = [], []
    for summary, parts in zip(encoder.columns_, encoder._encodings, strict=True):
        if not all(isinstance(part, Numbers | Levels) for part in parts):
            raise ValueError(
                f"column {summary.name!r} is a {summary.kind}, which is not written as ONNX; leave it out or "
                "spread it over columns of numbers, or save the model with adatron.io.save_model"
            )
        if parts and summary.name in _OUTPUTS:
            raise ValueError(f"column {summary.name!r} has the name of an output of the file; rename it")
        if parts:
            kind = TensorProto.DOUBLE if isinstance(parts[0], Numbers) else TensorProto.STRING
            inputs.append(helper.make_tensor_value_info(summary.name, kind, [None, 1]))
        for part in parts:
            encode = _numbers if isinstance(part, Numbers) else _levels
            blocks += encode(graph, summary.name, part)
    return graph.add("Concat", *blocks, axis=1), inputs


def _numbers(graph: _Graph, column: str, numbers: Numbers) -> list[str]:
    """`Numbers.transform`."""
    blocks, is_missing = [], graph.add("IsNaN", column)
    if numbers.has_values:
        z = graph.add("Sub", graph.add("Div", column, numbers.unit), numbers.centre)
        z = graph.add("Clip", graph.add("Div", z, numbers.scale), -1e6, 1e6)
        if numbers.is_two_valued:
            z = graph.add("Clip", graph.add("Sub", graph.add("Mul", z, 2.0), 1.0), -CLIP, CLIP)
        else:
            z = _smoothly_clipped(graph, z)
        blocks.append(graph.add("Where", is_missing, numbers.fill, z))
    if numbers.has_indicator:
        blocks.append(graph.add("Where", is_missing, 1.0, -1.0))
    return blocks


def _levels(graph: _Graph, column: str, levels: Levels) -> list[str]:
    """`Levels.transform`: the last two rows of the table are for unseen levels and for missing ones."""
    n, missing = len(levels.levels), sorted(MISSING_TEXT)
    places = graph.add(
        "LabelEncoder", column, domain="ai.onnx.ml", keys_strings=[*levels.levels, *missing],
        values_int64s=[*range(n), *[n + 1] * len(missing)], default_int64=n,
    )  # fmt: skip
    return [graph.add("Gather", levels.table, graph.add("Squeeze", places, np.array([1])))]


def _decisions(graph: _Graph, X: str, machines: list[Any]) -> str:
    """The sum of the machines, row by row: distances of all pairs would take too much memory."""
    body, terms = _Graph(graph), []
    shared: dict[int, str] = {}  # differences, by the vectors they are of
    for machine in machines:
        key, kernel = id(machine.vectors), machine.kernel
        if key not in shared:
            shared[key] = body.add("Sub", machine.vectors.astype(np.float64), "/row")
        difference = shared[key]
        if kernel.weights is not None:
            difference = body.add("Mul", difference, kernel.weights)
        if isinstance(kernel, Laplacian):
            sizes = body.add("Abs", difference)
        else:
            sizes = body.add("Mul", difference, difference)
        distance = body.add("ReduceSum", sizes, np.array([1]), keepdims=0)
        if isinstance(kernel, Exponential):
            distance = body.add("Sqrt", distance)
        values = body.add("Exp", body.add("Mul", distance, -kernel.gamma))
        terms.append(body.add("Add", body.add("MatMul", values, machine.coefficients), machine.bias))
    body.add("Sum", *terms, name="/decision")
    (_, d), (_, k) = machines[0].vectors.shape, machines[0].coefficients.shape
    row = helper.make_tensor_value_info("/row", TensorProto.DOUBLE, [d])
    decision = helper.make_tensor_value_info("/decision", TensorProto.DOUBLE, [k])
    loop = helper.make_graph(body.nodes, "row", [row], [decision])
    return graph.add("Scan", X, body=loop, num_scan_inputs=1)
