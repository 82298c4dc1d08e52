"""`AutoSVC` and `AutoSVR` as ONNX graphs: scikit-learn has no machine with their kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.auto import AutoSVC
from adatron.auto.scaling import CLIP
from adatron.kernels import Exponential, Laplacian

_OPSET, _IR_VERSION = 17, 8  # which onnxruntime reads since 1.12


class _Graph:
    """Nodes and constants."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix  # of names, which an inner graph must not share with the outer one
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any) -> str:
        """Add an array; its name."""
        from onnx import TensorProto, helper, numpy_helper

        array, name = np.asarray(value), f"constant_{len(self.constants)}"
        if array.dtype.kind in "UO":
            texts: Any = [str(item).encode() for item in array]
            self.constants.append(helper.make_tensor(name, TensorProto.STRING, array.shape, texts))
        else:
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Add a node; the name of its output."""
        from onnx import helper

        name = name or f"{self.prefix}{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name


def auto_graph(model: Any) -> Any:
    """The ONNX model of a fitted `AutoSVC` or `AutoSVR`; it computes in float64."""
    from onnx import TensorProto, helper

    if model.encoder_ is not None or model._scale.is_text:
        what = "a table with missing values or columns that are no numbers"
        raise ValueError(
            f"this {type(model).__name__} was fitted on {'text' if model._scale.is_text else what}; only "
            "models of complete numbers can be written as ONNX. Save it with adatron.io.save_model"
        )
    graph, outputs = _Graph(), []
    X = _scaled(graph, graph.add("Cast", "X", to=TensorProto.DOUBLE), model._scale)
    decisions = _decisions(graph, X, model._machines)
    if isinstance(model, AutoSVC):
        classes, k = model.classes_, len(model.classes_)
        is_text, kind = classes.dtype.kind in "UO", TensorProto.INT64
        values = _probabilities(graph, decisions, model._probabilities.slopes)
        if k == 2:
            decisions = graph.add("Sub", decisions, graph.constant(np.float64(model.best_threshold_)))
            decisions = graph.add("Concat", graph.add("Neg", decisions), decisions, axis=1)
        winners = graph.add("ArgMax", decisions, axis=1, keepdims=0)
        labels = graph.constant(classes if is_text else classes.astype(np.int64))
        graph.add("Gather", labels, winners, name="label")
        kind = TensorProto.STRING if is_text else TensorProto.INT64
        outputs = [helper.make_tensor_value_info("label", kind, [None])]
    else:
        k, log, values = model._n_columns, model._log, decisions
        if log is not None:
            power = graph.add("Exp", graph.add("Min", decisions, graph.constant(np.float64(log.highest))))
            mean = graph.add("Mul", power, graph.constant(np.float64(log.ratio)))
            values = graph.add("Sub", mean, graph.constant(np.float64(log.offset)))
    last = "probabilities" if isinstance(model, AutoSVC) else "variable"
    graph.add("Cast", values, name=last, to=TensorProto.FLOAT)
    outputs.append(helper.make_tensor_value_info(last, TensorProto.FLOAT, [None, k]))
    X_info = helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, model.n_features_in_])
    whole = helper.make_graph(graph.nodes, type(model).__name__, [X_info], outputs, graph.constants)
    opset = [helper.make_opsetid("", _OPSET)]
    return helper.make_model(whole, opset_imports=opset, ir_version=_IR_VERSION, producer_name="adatron")


def _probabilities(graph: _Graph, decisions: str, slopes: np.ndarray) -> str:
    """What `ClassProbabilities` makes of decisions."""
    if len(slopes) == 1:
        return graph.add("Softmax", graph.add("Mul", decisions, graph.constant(slopes[0])), axis=1)
    is_above = graph.add("Greater", decisions, graph.constant(np.float64(0.0)))
    slope = graph.add("Where", is_above, graph.constant(slopes[1]), graph.constant(slopes[0]))
    positive = graph.add("Sigmoid", graph.add("Mul", slope, decisions))
    negative = graph.add("Sub", graph.constant(np.float64(1.0)), positive)
    return graph.add("Concat", negative, positive, axis=1)


def _scaled(graph: _Graph, X: str, scale: Any) -> str:
    """What a `Scaler` does with numbers."""
    kept = graph.constant(scale.kept)
    z = graph.add("Gather", X, kept, axis=1)
    for operator, values in (("Div", scale.unit), ("Sub", scale.centre), ("Div", scale.scale)):
        z = graph.add(operator, z, graph.constant(values[scale.kept]))
    part = graph.add("Div", z, graph.constant(np.float64(CLIP)))
    size = graph.add("Add", graph.add("Mul", part, part), graph.constant(np.float64(1.0)))
    return graph.add("Div", z, graph.add("Sqrt", size))


def _decisions(graph: _Graph, X: str, machines: list[Any]) -> str:
    """The sum of the machines, row by row: distances of all pairs would take too much memory."""
    from onnx import TensorProto, helper

    body, parts = _Graph("row_"), []
    shared: dict[int, str] = {}  # differences, by the vectors they are of
    for machine in machines:
        key = id(machine.vectors)
        if key not in shared:
            shared[key] = body.add("Sub", graph.constant(machine.vectors.astype(np.float64)), "row")
        difference, kernel = shared[key], machine.kernel
        if kernel.weights is not None:
            difference = body.add("Mul", difference, graph.constant(np.array(kernel.weights)))
        is_city_block = isinstance(kernel, Laplacian)
        terms = body.add("Abs", difference) if is_city_block else body.add("Mul", difference, difference)
        distance = body.add("ReduceSum", terms, graph.constant(np.array([1])), keepdims=0)
        distance = body.add("Sqrt", distance) if isinstance(kernel, Exponential) else distance
        exponent = body.add("Mul", distance, graph.constant(np.float64(-kernel.gamma)))
        coefficients = graph.constant(machine.coefficients)
        part = body.add("MatMul", body.add("Exp", exponent), coefficients)
        parts.append(body.add("Add", part, graph.constant(machine.bias)))
    body.add("Sum", *parts, name="decision")
    d, k = machines[0].vectors.shape[1], machines[0].coefficients.shape[1]
    row = helper.make_tensor_value_info("row", TensorProto.DOUBLE, [d])
    decision = helper.make_tensor_value_info("decision", TensorProto.DOUBLE, [k])
    loop = helper.make_graph(body.nodes, "row", [row], [decision])
    return graph.add("Scan", X, body=loop, num_scan_inputs=1)
