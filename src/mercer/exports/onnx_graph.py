"""An ONNX graph: the formula as nodes, for runtimes that know nothing of mercer.

Everything is computed in double precision, because differences of large terms lose too many digits
otherwise; "single" is about what goes in and comes out.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import mercer
from mercer.errors import DomainError
from mercer.exports.formula import ArrayFormula, ExportError, Step
from mercer.exports.written_model import WrittenModel
from mercer.sources.entries import MISSING

__all__ = ["OPSET", "onnx_graph"]

OPSET, ML_OPSET, IR_VERSION = 17, 2, 8  # of 2022, which runtimes of today read
OUTPUTS = ("prediction", "scores", "probabilities")
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
        # Names are unique in a graph, and columns may have any: ours begin as none of them does.
        self.mark = "/"
        while any(one.name.startswith(self.mark) for one in model.formula.inputs):
            self.mark += "/"

    def graph(self) -> Any:
        """Return the whole graph."""
        formula, proto, make = self.model.formula, self.onnx.TensorProto, self.onnx.helper
        given = []
        for i, one in enumerate(formula.inputs):
            if one.name in OUTPUTS:
                raise ExportError(
                    f"the column {one.name!r} is called as an output of the graph is; give it "
                    "another name and learn anew, or export Python"
                )
            kind = proto.STRING if one.kind == "categorical" else self.number
            given.append(make.make_tensor_value_info(one.name, kind, ["rows", one.width]))
            if kind == proto.FLOAT:
                self._node("Cast", [one.name], self._own(f"input{i}"), to=proto.DOUBLE)
        for place, step in enumerate(formula.steps):
            self._step(formula, step, self._own(f"v{place}"))
        outputs = self._outputs(formula)
        return make.make_graph(self.nodes, "model", given, outputs, self.constants)

    def _outputs(self, formula: ArrayFormula) -> list[Any]:
        proto, make = self.onnx.TensorProto, self.onnx.helper
        scores = self._own(f"v{formula.outputs['scores']}")
        classes = self.model.classes
        name = "scores" if classes is not None else "prediction"
        self._node("Cast", [scores], name, to=self.number)
        found = [make.make_tensor_value_info(name, self.number, ["rows", None])]
        if classes is None:
            return found
        if "probabilities" in formula.outputs:
            chances = self._own(f"v{formula.outputs['probabilities']}")
            self._node("Cast", [chances], "probabilities", to=self.number)
            found.append(
                make.make_tensor_value_info("probabilities", self.number, ["rows", len(classes)])
            )
        kind, entries = self._labels(classes)
        names = {name: self._own(name) for name in ("classes", "code", "places")}
        self.constants.append(make.make_tensor(names["classes"], kind, [len(classes)], entries))
        code = self._own(f"v{formula.outputs['code']}")
        self._node("Cast", [code], names["code"], to=proto.INT64)
        self._node("Reshape", [names["code"], self._whole([-1])], names["places"])
        self._node("Gather", [names["classes"], names["places"]], "prediction", axis=0)
        return [make.make_tensor_value_info("prediction", kind, ["rows"]), *found]

    def _labels(self, classes: np.ndarray) -> tuple[int, list[Any]]:
        """Return the type of labels and the labels: whole numbers, numbers or texts."""
        proto = self.onnx.TensorProto
        if classes.dtype.kind in "iub":
            return proto.INT64, [int(c) for c in classes]
        if classes.dtype.kind == "f":
            return proto.DOUBLE, [float(c) for c in classes]
        return proto.STRING, [str(c).encode() for c in classes]

    def _step(self, formula: ArrayFormula, step: Step, name: str) -> None:
        """Write one step down."""
        given = [self._own(f"v{i}") for i in step.inputs]
        single = self.number == self.onnx.TensorProto.FLOAT
        match step.operation:
            case "input":
                one = formula.inputs[step.value]
                cast = single and one.kind != "categorical"
                read = self._own(f"input{step.value}") if cast else one.name
                self._node("Identity", [read], name)
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
                read = formula.inputs[formula.steps[step.inputs[0]].value]
                self._codes(given, name, MISSING - {"-"} if read.signs else MISSING, *step.value)
            case _:
                self._node(NODES[step.operation], given, name)

    def _codes(
        self, given: list[str], name: str, gaps: frozenset[str], known: dict[str, int],
        other: int, gap: int,
    ) -> None:  # fmt: skip
        """Write the place of each text down; the words for what is missing have that of gaps."""
        codes = known | dict.fromkeys(sorted(gaps), gap)
        self._node(
            "LabelEncoder", given, f"{name}_code", domain="ai.onnx.ml",
            keys_strings=list(codes), values_int64s=list(codes.values()), default_int64=other,
        )  # fmt: skip
        self._node("Cast", [f"{name}_code"], name, to=self.onnx.TensorProto.DOUBLE)

    def _own(self, name: str) -> str:
        return self.mark + name

    def _node(self, kind: str, given: list[str], name: str, **settings: Any) -> None:
        self.nodes.append(self.onnx.helper.make_node(kind, given, [name], **settings))

    def _constant(self, name: str, value: np.ndarray) -> None:
        array = np.ascontiguousarray(value, dtype=np.float64).reshape(np.shape(value))
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))

    def _whole(self, values: list[int]) -> str:
        """Return the name of a constant of whole numbers."""
        name = self._own(f"whole{len(self.constants)}")
        self.constants.append(self.onnx.numpy_helper.from_array(np.array(values, np.int64), name))
        return name
