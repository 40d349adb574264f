"""Codecs of mercer's own objects: values, records, points, machines, graphs and functions."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from mercer.domains import Graph, Labels, Points, Table, Trees, is_frame
from mercer.domains.molecules import SMILES
from mercer.errors import FileError
from mercer.files.codecs import Codec, Decoder, Encoder, Json, within
from mercer.files.pandas_codecs import Trimmed
from mercer.files.registry import name_of_function, registered
from mercer.kernels import Kernel
from mercer.kernels.algebra import Power, Product, Scale, Sum
from mercer.kernels.algebra.elementwise import Exp, PolynomialOf
from mercer.kernels.algebra.normalization import AssumePSD, GaussianOver, Normalize
from mercer.kernels.tables import On
from mercer.machines.abilities import cached_names, saved_names
from mercer.plans import Decision, Plan
from mercer.values import Value

__all__ = ["CODECS", "check_points", "needed_columns", "parts_of", "rebuild"]

# What a machine knows besides its parameters has a name with an underscore at the end, or is
# declared by its class (`mercer.machines.abilities`).
LEARNED = re.compile(r"[A-Za-z][A-Za-z0-9_]*_")
OUTPUT = "_sklearn_output_config"  # what scikit-learn's set_output has stored
# Fields of records about the way to an answer, not the answer.
PROGRESS_FIELDS = frozenset({"history", "objectives", "slopes"})
# Where a constructor calls a part by another name than the attribute.
PARTS = {"Objects": {"X": "array"}, "Molecules": {"texts": "texts"}}
# What ran, where older files have classes of plans that only imply it.
OLDER_SOLVERS = {"plans.MarginPlan": "smo", "plans.NewtonPlan": "newton"}
# Kernels that see of a row only what their parts see.
INDIRECT = (Sum, Product, Scale, Power, Exp, PolynomialOf, Normalize, GaussianOver, AssumePSD)


# ---- values, records, points ------------------------------------------------------------------


def _encode_value(encoder: Encoder, value: Value, place: str) -> Json:
    return [encoder.class_name(type(value)), encoder.fields(value.parameters(), place)]


def _decode_value(decoder: Decoder, node: Json) -> Any:
    name, parameters = node
    return decoder.class_named(name, Value)(**decoder.fields(parameters))


def _is_record(thing: object) -> bool:
    return dataclasses.is_dataclass(thing) and not isinstance(thing, type | Value | Points)


def _encode_record(encoder: Encoder, record: Any, place: str) -> Json:
    kept = {}
    for field in dataclasses.fields(record):
        optional = (
            field.default is not dataclasses.MISSING
            or field.default_factory is not dataclasses.MISSING
        )
        if field.init and not (optional and field.name in PROGRESS_FIELDS):
            kept[field.name] = getattr(record, field.name)
    node = encoder.fields({n: v for n, v in kept.items() if n != "points"}, place)
    if "points" in kept:
        where = within(place, "points")
        node["points"] = _encode_seen(encoder, kept.get("kernel"), kept["points"], where)
    return [encoder.class_name(type(record)), node]


def _encode_seen(encoder: Encoder, kernel: Kernel | None, points: Points, place: str) -> Json:
    """Write points as far as a kernel sees them."""
    seen = needed_columns(kernel, points)
    if seen is points:
        return encoder.encode(points, place)
    parts = {**parts_of(points), "frame": seen}
    return {"points": [encoder.class_name(type(points)), encoder.fields(parts, place)]}


def _decode_record(decoder: Decoder, node: Json) -> Any:
    name, fields = node
    cls: Any = decoder.class_named(name, object)
    if issubclass(cls, Value | Points) or not dataclasses.is_dataclass(cls):
        raise FileError(f"the file is damaged or tampered with: {name!r} is out of place")
    if cls is Plan and isinstance(fields, dict) and "bytes" in fields:
        return _decode_older_plan(decoder, name, fields)
    made: Any = cls
    return made(**decoder.fields(fields))


def _decode_older_plan(decoder: Decoder, name: Json, fields: dict[str, Any]) -> Plan | Decision:
    """Return the plan or the decision of a file in which one class was both."""
    found = decoder.fields(fields)
    names = {field.name for field in dataclasses.fields(Plan)}
    if found["bytes"] is None:  # nothing was decided yet
        return Plan(**{field: value for field, value in found.items() if field in names})
    asked = {field: found.pop(field) for field in ("patience", "tol") if field in found}
    if name in OLDER_SOLVERS:
        found["solver"] = OLDER_SOLVERS[name]
    return Decision(**found, request=Plan(**asked))


def _encode_points(encoder: Encoder, points: Points, place: str) -> Json:
    _check_room(type(points))
    return [encoder.class_name(type(points)), encoder.fields(parts_of(points), place)]


def _decode_points(decoder: Decoder, node: Json) -> Any:
    name, parts = node
    cls = decoder.class_named(name, Points)
    _check_room(cls)
    return rebuild(cls, decoder.fields(parts))


def _check_room(cls: type[Points]) -> None:
    """Refuse what kernels make of points, which can be made again, and is not checked."""
    if cls.__module__.startswith("mercer.kernels."):
        raise FileError(f"model files hold points, not what kernels make of them: {cls.__name__}")


# ---- machines ---------------------------------------------------------------------------------


def _encode_machine(encoder: Encoder, machine: BaseEstimator, place: str) -> Json:
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
        learned[name] = _encode_learned(encoder, machine, name, value, within(place, name))
    if type(machine).__module__.startswith("mercer."):
        # A machine that was given to another one is only a pattern, whatever it has learned.
        parameters = {name: _blank(value) for name, value in parameters.items()}
    return [encoder.class_name(type(machine)), encoder.fields(parameters, place), learned]


def _is_saved(cls: type, name: str) -> bool:
    return bool(LEARNED.fullmatch(name)) or name in saved_names(cls) or name == OUTPUT


def _blank(value: object) -> object:
    pattern = isinstance(value, BaseEstimator) and not isinstance(value, type)
    return clone(value) if pattern else value


def _encode_learned(encoder: Encoder, machine: Any, name: str, value: Any, place: str) -> Json:
    if isinstance(value, Decision):
        value = dataclasses.replace(value, memory=None)  # that of another day and computer
    things = name == "support_vectors_" and isinstance(value, list)
    if things and len(value) == len(machine.function_.points):
        return None  # they are the points of the function
    if isinstance(value, Points):
        return _encode_seen(encoder, getattr(machine, "kernel_", None), value, place)
    return encoder.encode(value, place)


def _decode_machine(decoder: Decoder, node: Json) -> Any:
    name, parameters, learned = node
    cls = decoder.class_named(name, BaseEstimator)
    given = decoder.fields(parameters)
    if given.get("memory") is not None:  # a pipeline would unpickle what lies in that folder
        raise FileError("a pipeline with a memory on disk cannot be loaded")
    machine = cls(**given)
    for attribute, value in decoder.fields(learned).items():
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


def _encode_graph(encoder: Encoder, graph: Graph, place: str) -> Json:
    parts = {"nodes": graph.nodes, "edges": graph.edges, "labels": graph.labels,
             "edge_labels": graph.edge_labels, "attributes": graph.attributes}  # fmt: skip
    return encoder.fields(parts, place)


def _decode_graph(decoder: Decoder, node: Json) -> Graph:
    parts = decoder.fields(node)
    return Graph(**{**parts, "edges": np.asarray(parts["edges"], np.int64)})


def _encode_function(encoder: Encoder, function: object, place: str) -> str:
    name = name_of_function(function)
    if name is None:
        shown = getattr(function, "__qualname__", type(function).__name__)
        raise FileError(
            f"{place or 'this'} is the Python function {shown!r}, and a model file never holds "
            f"code; register it under a name, with mercer.files.register({shown!r}, function), in "
            "this program and in those that will load the file"
        )
    return name


def parts_of(points: Points) -> dict[str, Any]:
    """Return the arguments with which a constructor makes the same points.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> parts_of(VECTORS.admit([[1.0, 2.0]]))["array"]
    array([[1., 2.]])
    """
    # Points know what to leave out of a pickle, such as the nodes of graphs outside a selection.
    state = points.__getstate__()
    parts = {}
    for name, attribute in _constructor(type(points)).items():
        found = attribute if attribute in state else f"_{attribute}"
        if found not in state:
            raise FileError(
                f"{type(points).__name__} keeps its part {name!r} elsewhere; say where, in PARTS "
                "of mercer.files.model_codecs"
            )
        parts[name] = state[found]
    return parts


def rebuild(cls: type[Points], parts: dict[str, Any]) -> Points:
    """Return points made of their parts, which were checked."""
    if set(parts) != set(_constructor(cls)):
        raise FileError(f"the file is damaged or tampered with: other parts of {cls.__name__}")
    if cls.__name__ == "Molecules":
        return SMILES.admit(parts["texts"])
    points = cls(**parts)
    check_points(points)
    return points


def _constructor(cls: type) -> dict[str, str]:
    """Return the parts that a class of points is made of, and the attributes that hold them."""
    if cls.__name__ in PARTS:
        return PARTS[cls.__name__]
    names = list(inspect.signature(cls).parameters)
    return {name: name for name in names if name != "name"}  # which is for error messages


def needed_columns(kernel: Kernel | None, points: object) -> Any:
    """Return the table with only the columns that a kernel looks at, other points as they are.

    A column that is not looked at may hold things that are nobody's business.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.kernels import Linear
    >>> table = Table(pd.DataFrame({"name": ["Ann"], "age": [44.0]}))
    >>> sorted(needed_columns(Linear().on("age"), table).kept)
    [1]
    """
    if not isinstance(points, Table) or not is_frame(points.frame):
        return points
    columns = _columns(kernel)
    if columns is None:
        return points
    return Trimmed(points.frame, frozenset(points.select(tuple(columns)).places or ()))


def _columns(kernel: Kernel | None) -> list[Any] | None:
    """Return the columns that a kernel looks at, None for all."""
    if isinstance(kernel, On):
        return list(kernel.columns)
    if not isinstance(kernel, INDIRECT):
        return None
    found: list[Any] = []
    for part in kernel.children():
        some = _columns(part)
        if some is None:
            return None
        found += some
    return found


# ---- offsets that loops without bounds checks rely on ------------------------------------------


def check_points(points: Points) -> None:
    """Refuse points whose numbers lead outside of their arrays."""
    check = CHECKS.get(type(points).__name__)
    if check is not None and not check(points):
        name = type(points).__name__
        raise FileError(f"the file is damaged or tampered with: its {name} do not fit together")


def _are_offsets(starts: Any, end: int) -> bool:
    """Tell whether places begin with 0, never fall, and end where they should."""
    whole = isinstance(starts, np.ndarray) and starts.dtype.kind == "i" and starts.ndim == 1
    return bool(
        whole and len(starts) and starts[0] == 0 and starts[-1] == end
        and (np.diff(starts) >= 0).all()
    )  # fmt: skip


def _inside(places: Any, low: int | np.ndarray, high: int | np.ndarray) -> bool:
    whole = isinstance(places, np.ndarray) and places.dtype.kind == "i" and places.ndim == 1
    return bool(whole and (places >= low).all() and (places < high).all())


def _check_graphs(points: Any) -> bool:
    net, first, last = points.net, points.first, points.last
    nodes, entries = len(net.starts) - 1, len(net.neighbors)
    # Graphs stand in the net one after the other, because they were packed before.
    borders = np.concatenate([first[:1], last]) if len(first) else np.zeros(1, np.int64)
    good = (
        _are_offsets(net.starts, entries)
        and _are_offsets(borders, nodes)
        and np.array_equal(first[1:], last[:-1])
    )
    if not good:
        return False
    degrees = net.starts[last] - net.starts[first]
    inside = _inside(net.neighbors, np.repeat(first, degrees), np.repeat(last, degrees))
    coded = net.codes is None or (
        len(net.codes) == nodes and _inside(net.codes, 0, len(net.labels))
    )
    written = net.edge_codes is None or (
        len(net.edge_codes) == entries and _inside(net.edge_codes, 0, len(net.edge_labels))
    )
    return (
        inside and coded and written and (net.attributes is None or len(net.attributes) == nodes)
    )


def _check_trees(points: Trees) -> bool:
    count = len(points.labels)
    if not _are_offsets(points.starts, count) or len(points.parents) != count:
        return False
    place = np.arange(count) - np.repeat(points.starts[:-1], np.diff(points.starts))
    root = place == 0
    return _inside(points.parents, -1, np.maximum(place, 0)) and bool(
        ((points.parents == -1) == root).all()
    )


CHECKS: dict[str, Callable[[Any], bool]] = {
    "Graphs": _check_graphs,
    "Trees": _check_trees,
    "Series": lambda points: (
        points.steps.ndim == 2 and _are_offsets(points.starts, len(points.steps))
    ),
    "Symbols": lambda points: (
        _are_offsets(points.starts, len(points.codes))
        and _inside(points.codes, -1, len(points.alphabet))
    ),
    "Bags": lambda points: (
        len(points.starts) == len(points.bags) + 1
        and _are_offsets(points.starts, 0 if points.elements is None else len(points.elements))
    ),
}


CODECS = (
    Codec("value", _encode_value, _decode_value, fits=lambda x: isinstance(x, Value)),
    Codec("points", _encode_points, _decode_points, fits=lambda x: isinstance(x, Points)),
    Codec("machine", _encode_machine, _decode_machine,
          fits=lambda x: isinstance(x, BaseEstimator)),
    Codec("graph", _encode_graph, _decode_graph, (Graph,)),
    Codec("labels", lambda encoder, x, place: encoder.row(x.values, place),
          lambda decoder, node: Labels(decoder.row(node)), (Labels,)),
    Codec("record", _encode_record, _decode_record, fits=_is_record),
    Codec("function", _encode_function, lambda _, node: registered(node), fits=callable),
)  # fmt: skip
