"""Codecs of mercer's own things: values, records, points, machines, graphs and functions."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from mercer.domains import Graph, Labels, Points
from mercer.errors import FileError
from mercer.files.codecs import Codec, Reader, Writer, within
from mercer.files.points import needed_columns, parts_of, rebuilt
from mercer.files.registry import name_of_function, registered
from mercer.machines.abilities import cached_names, saved_names
from mercer.plans import Decision, Plan
from mercer.values import Value

__all__ = ["CODECS"]

# What a machine knows besides its parameters has a name with an underscore at the end, or is
# declared by its class (`mercer.machines.abilities`).
LEARNED = re.compile(r"[A-Za-z][A-Za-z0-9_]*_")
OUTPUT = "_sklearn_output_config"  # what scikit-learn's set_output has stored
# Fields of records about the way to an answer, not the answer.
WAYS = frozenset({"history", "objectives", "slopes"})


# ---- values, records, points ------------------------------------------------------------------


def _encode_value(writer: Writer, value: Value, place: str) -> Any:
    return [writer.class_name(type(value)), writer.fields(value.parameters(), place)]


def _decode_value(reader: Reader, node: Any) -> Any:
    name, parameters = node
    return reader.class_named(name, Value)(**reader.fields(parameters))


def _is_record(thing: Any) -> bool:
    return dataclasses.is_dataclass(thing) and not isinstance(thing, type | Value | Points)


def _encode_record(writer: Writer, record: Any, place: str) -> Any:
    kept = {}
    for field in dataclasses.fields(record):
        optional = (
            field.default is not dataclasses.MISSING
            or field.default_factory is not dataclasses.MISSING
        )
        if field.init and not (optional and field.name in WAYS):
            kept[field.name] = getattr(record, field.name)
    node = writer.fields({n: v for n, v in kept.items() if n != "points"}, place)
    if "points" in kept:
        where = within(place, "points")
        node["points"] = _encode_seen(writer, kept.get("kernel"), kept["points"], where)
    return [writer.class_name(type(record)), node]


def _encode_seen(writer: Writer, kernel: Any, points: Any, place: str) -> Any:
    """Write points as far as a kernel sees them."""
    seen = needed_columns(kernel, points)
    if seen is points:
        return writer.encode(points, place)
    parts = {**parts_of(points), "frame": seen}
    return {"points": [writer.class_name(type(points)), writer.fields(parts, place)]}


def _decode_record(reader: Reader, node: Any) -> Any:
    name, fields = node
    cls: Any = reader.class_named(name, object)
    if issubclass(cls, Value | Points) or not dataclasses.is_dataclass(cls):
        raise FileError(f"the file is damaged or tampered with: {name!r} is out of place")
    if cls is Plan and isinstance(fields, dict) and "bytes" in fields:
        return _decode_decided(reader, fields)
    made: Any = cls
    return made(**reader.fields(fields))


def _decode_decided(reader: Reader, fields: dict[str, Any]) -> Decision:
    """Return the decision of a file in which a plan was what is asked and decided, in one."""
    found = reader.fields(fields)
    asked = {name: found.pop(name) for name in ("patience", "tol") if name in found}
    return Decision(**found, request=Plan(**asked))


def _encode_points(writer: Writer, points: Points, place: str) -> Any:
    _check_room(type(points))
    return [writer.class_name(type(points)), writer.fields(parts_of(points), place)]


def _decode_points(reader: Reader, node: Any) -> Any:
    name, parts = node
    cls = reader.class_named(name, Points)
    _check_room(cls)
    return rebuilt(cls, reader.fields(parts))


def _check_room(cls: type[Points]) -> None:
    """Refuse what kernels make of points, which can be made again, and is not checked."""
    if cls.__module__.startswith("mercer.kernels."):
        raise FileError(f"model files hold points, not what kernels make of them: {cls.__name__}")


# ---- machines ---------------------------------------------------------------------------------


def _encode_machine(writer: Writer, machine: Any, place: str) -> Any:
    parameters = machine.get_params(deep=False)
    if hasattr(machine, "best_estimator_"):
        raise FileError("a search is no machine; save its best_estimator_, which is one")
    if parameters.get("memory") is not None:
        raise FileError("a pipeline with a memory on disk cannot be saved; use memory=None")
    given = vars(type(machine)(**parameters))  # constructors only store, but not only parameters
    learned = {}
    for name in sorted(set(vars(machine)) - set(given)):
        if name in cached_names(type(machine)):
            continue
        if not _is_saved(type(machine), name):
            raise FileError(
                f"{type(machine).__name__} keeps {name!r}, of which nobody knows whether to save "
                f"it; name it in `saved` or `cached` of the class {type(machine).__name__}"
            )
        value = vars(machine)[name]
        learned[name] = _encode_learned(writer, machine, name, value, within(place, name))
    if type(machine).__module__.startswith("mercer."):
        # A machine that was given to another one is only a pattern, whatever it has learned.
        parameters = {name: _blank(value) for name, value in parameters.items()}
    return [writer.class_name(type(machine)), writer.fields(parameters, place), learned]


def _is_saved(cls: type, name: str) -> bool:
    return bool(LEARNED.fullmatch(name)) or name in saved_names(cls) or name == OUTPUT


def _blank(value: Any) -> Any:
    pattern = isinstance(value, BaseEstimator) and not isinstance(value, type)
    return clone(value) if pattern else value


def _encode_learned(writer: Writer, machine: Any, name: str, value: Any, place: str) -> Any:
    if isinstance(value, Decision):
        value = dataclasses.replace(value, memory=None)  # that of another day and computer
    things = name == "support_vectors_" and isinstance(value, list)
    if things and len(value) == len(machine.function_.points):
        return None  # they are the points of the function
    if isinstance(value, Points):
        return _encode_seen(writer, getattr(machine, "kernel_", None), value, place)
    return writer.encode(value, place)


def _decode_machine(reader: Reader, node: Any) -> Any:
    name, parameters, learned = node
    cls = reader.class_named(name, BaseEstimator)
    given = reader.fields(parameters)
    if given.get("memory") is not None:  # a pipeline would unpickle what lies in that folder
        raise FileError("a pipeline with a memory on disk cannot be loaded")
    machine = cls(**given)
    for attribute, value in reader.fields(learned).items():
        if value is None and attribute in cached_names(cls):
            continue  # older files say so that there was something
        if (
            not _is_saved(cls, attribute)
            or inspect.getattr_static(cls, attribute, None) is not None
        ):
            raise FileError(f"the file is tampered with: a {cls.__name__} keeps no {attribute!r}")
        setattr(machine, attribute, value)
    if vars(machine).get("support_vectors_", ()) is None:
        machine.support_vectors_ = list(machine.function_.points.items())
    return machine


# ---- graphs and functions ---------------------------------------------------------------------


def _encode_graph(writer: Writer, graph: Graph, place: str) -> Any:
    parts = {"nodes": graph.nodes, "edges": graph.edges, "labels": graph.labels,
             "edge_labels": graph.edge_labels, "attributes": graph.attributes}  # fmt: skip
    return writer.fields(parts, place)


def _decode_graph(reader: Reader, node: Any) -> Graph:
    parts = reader.fields(node)
    return Graph(**{**parts, "edges": np.asarray(parts["edges"], np.int64)})


def _encode_function(writer: Writer, function: Any, place: str) -> str:
    name = name_of_function(function)
    if name is None:
        shown = getattr(function, "__qualname__", type(function).__name__)
        raise FileError(
            f"{place or 'this'} is the Python function {shown!r}, and a model file never holds "
            f"code; register it under a name, with mercer.files.register({shown!r}, function), in "
            "this program and in those that will load the file"
        )
    return name


CODECS = (
    Codec("value", _encode_value, _decode_value, fits=lambda x: isinstance(x, Value)),
    Codec("points", _encode_points, _decode_points, fits=lambda x: isinstance(x, Points)),
    Codec("machine", _encode_machine, _decode_machine,
          fits=lambda x: isinstance(x, BaseEstimator)),
    Codec("graph", _encode_graph, _decode_graph, (Graph,)),
    Codec("labels", lambda writer, x, place: writer.row(x.values, place),
          lambda reader, node: Labels(reader.row(node)), (Labels,)),
    Codec("record", _encode_record, _decode_record, fits=_is_record),
    Codec("function", _encode_function, lambda _, node: registered(node), fits=callable),
)  # fmt: skip
