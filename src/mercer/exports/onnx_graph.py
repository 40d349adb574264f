"""An ONNX graph: the formula as nodes, for runtimes that know nothing of mercer.

Everything is computed in double precision, because differences of large terms lose too many digits
otherwise; "single" is about what goes in and comes out.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import mercer
from mercer.errors import DomainError
from mercer.exports.formula import Formula, Step
from mercer.exports.written_model import WrittenModel
from mercer.sources.entries import MISSING

__all__ = ["OPSET", "onnx_graph"]

OPSET, ML_OPSET, IR_VERSION = 17, 2, 8  # of 2022, which runtimes of today read
Precision = Literal["single", "double"]
NODES = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "product": "MatMul",
    "power": "Pow",
    "greater": "Greater",
    "greater or equal": "GreaterOrEqual",
    "equal": "Equal",
    "maximum": "Max",
    "minimum": "Min",
    "exponential": "Exp",
    "root": "Sqrt",
    "absolute": "Abs",
    "hyperbolic tangent": "Tanh",
    "missing": "IsNaN",
    "where": "Where",
}


def onnx_graph(model: WrittenModel, precision: Precision = "double") -> Any:
    """Return the model as an `onnx.ModelProto`.

    Parameters
    ----------
    model : WrittenModel
    precision : {"single", "double"}
        Of numbers that go in and come out.
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            f"mercer export --onnx needs {error.name}: pip install 'mercer[onnx]'", name=error.name
        ) from error
    if precision not in ("single", "double"):
        raise DomainError(f"precision must be 'single' or 'double', found {precision!r}")
    writer = GraphWriter(onnx, model, precision)
    made = onnx.helper.make_model(
        writer.graph(),
        opset_imports=[
            onnx.helper.make_opsetid("", OPSET),
            onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET),
        ],
        ir_version=IR_VERSION,
        producer_name="mercer",
        producer_version=mercer.__version__,
        doc_string=model.about,
    )
    onnx.checker.check_model(made)
    return made


class GraphWriter:
    """Nodes and constants, as they are written down."""

    def __init__(self, onnx: Any, model: WrittenModel, precision: Precision) -> None:
        self.onnx, self.model = onnx, model
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        proto = onnx.TensorProto
        self.number = proto.FLOAT if precision == "single" else proto.DOUBLE

    def graph(self) -> Any:
        """Return the whole graph."""
        formula, proto, make = self.model.formula, self.onnx.TensorProto, self.onnx.helper
        given = []
        for i, one in enumerate(formula.inputs):
            kind = proto.STRING if one.kind == "categorical" else self.number
            given.append(make.make_tensor_value_info(one.name, kind, ["rows", one.width]))
            if kind == proto.FLOAT:
                self._node("Cast", [one.name], f"input{i}", to=proto.DOUBLE)
        for place, step in enumerate(formula.steps):
            self._step(formula, step, f"v{place}")
        outputs = self._outputs(formula)
        return make.make_graph(self.nodes, "model", given, outputs, self.constants)

    def _outputs(self, formula: Formula) -> list[Any]:
        proto, make = self.onnx.TensorProto, self.onnx.helper
        scores = f"v{formula.outputs['scores']}"
        classes = self.model.classes
        name = "scores" if classes is not None else "prediction"
        self._node("Cast", [scores], name, to=self.number)
        found = [make.make_tensor_value_info(name, self.number, ["rows", None])]
        if classes is None:
            return found
        whole = classes.dtype.kind in "iub"
        kind = proto.INT64 if whole else proto.STRING
        entries = [int(c) for c in classes] if whole else [str(c).encode() for c in classes]
        self.constants.append(make.make_tensor("classes", kind, [len(classes)], entries))
        self._node("Cast", [f"v{formula.outputs['code']}"], "code", to=proto.INT64)
        flat = self._whole([-1])
        self._node("Reshape", ["code", flat], "places")
        self._node("Gather", ["classes", "places"], "prediction", axis=0)
        return [make.make_tensor_value_info("prediction", kind, ["rows"]), *found]

    def _step(self, formula: Formula, step: Step, name: str) -> None:
        """Write one step down."""
        given = [f"v{i}" for i in step.inputs]
        single = self.number == self.onnx.TensorProto.FLOAT
        match step.operation:
            case "input":
                one = formula.inputs[step.value]
                cast = single and one.kind != "categorical"
                self._node("Identity", [f"input{step.value}" if cast else one.name], name)
            case "constant":
                self._constant(name, np.asarray(step.value, dtype=np.float64))
            case "concatenate":
                self._node("Concat", given, name, axis=1)
            case "sum":
                self._node("ReduceSum", [*given, self._whole([1])], name, keepdims=1)
            case "largest":
                self._node("ReduceMax", given, name, axes=[1], keepdims=1)
            case "first largest":
                self._node("ArgMax", given, f"{name}_place", axis=1, keepdims=1)
                self._node("Cast", [f"{name}_place"], name, to=self.onnx.TensorProto.DOUBLE)
            case "number":
                self._node("Cast", given, name, to=self.onnx.TensorProto.DOUBLE)
            case "column":
                self._node("Gather", [*given, self._whole([step.value])], name, axis=1)
            case "rows":
                self._constant(f"{name}_table", step.value)
                self._node("Cast", given, f"{name}_int", to=self.onnx.TensorProto.INT64)
                self._node("Reshape", [f"{name}_int", self._whole([-1])], f"{name}_flat")
                self._node("Gather", [f"{name}_table", f"{name}_flat"], name, axis=0)
            case "codes":
                self._codes(given, name, *step.value)
            case _:
                self._node(NODES[step.operation], given, name)

    def _codes(
        self, given: list[str], name: str, known: dict[str, int], other: int, gap: int
    ) -> None:
        """Write the place of each text down; the words for what is missing have that of gaps."""
        codes = dict.fromkeys(sorted(MISSING), gap) | known
        self._node(
            "LabelEncoder", given, f"{name}_code", domain="ai.onnx.ml",
            keys_strings=list(codes), values_int64s=list(codes.values()), default_int64=other,
        )  # fmt: skip
        self._node("Cast", [f"{name}_code"], name, to=self.onnx.TensorProto.DOUBLE)

    def _node(self, kind: str, given: list[str], name: str, **settings: Any) -> None:
        self.nodes.append(self.onnx.helper.make_node(kind, given, [name], **settings))

    def _constant(self, name: str, value: np.ndarray) -> None:
        array = np.ascontiguousarray(value, dtype=np.float64).reshape(np.shape(value))
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))

    def _whole(self, values: list[int]) -> str:
        """Return the name of a constant of whole numbers."""
        name = f"whole{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.array(values, np.int64), name))
        return name
