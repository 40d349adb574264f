"""What is kept of points: the parts that their constructors take, and nothing that can be made
again."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.domains import Points, Table, is_frame
from mercer.domains.molecules import SMILES
from mercer.errors import FileError
from mercer.files.frames import Trimmed
from mercer.kernels import Kernel
from mercer.kernels.algebra import Power, Product, Scale, Sum
from mercer.kernels.algebra.elementwise import Exp, PolynomialOf
from mercer.kernels.algebra.normalization import AssumePSD, GaussianOver, Normalize
from mercer.kernels.tables import On

__all__ = ["checked", "needed_columns", "parts_of", "rebuilt"]

# Where a constructor calls a part by another name than the attribute.
PARTS = {"Objects": {"X": "array"}, "Molecules": {"texts": "texts"}}
# Kernels that see of a row only what their parts see.
INDIRECT = (Sum, Product, Scale, Power, Exp, PolynomialOf, Normalize, GaussianOver, AssumePSD)


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
                "of mercer.files.points"
            )
        parts[name] = state[found]
    return parts


def rebuilt(cls: type[Points], parts: dict[str, Any]) -> Points:
    """Return points made of their parts, which were checked."""
    if set(parts) != set(_constructor(cls)):
        raise FileError(f"the file is damaged or tampered with: other parts of {cls.__name__}")
    if cls.__name__ == "Molecules":
        return SMILES.admit(parts["texts"])
    points = cls(**parts)
    checked(points)
    return points


def _constructor(cls: type) -> dict[str, str]:
    """Return the parts that a class of points is made of, and the attributes that hold them."""
    if cls.__name__ in PARTS:
        return PARTS[cls.__name__]
    names = list(inspect.signature(cls).parameters)
    return {name: name for name in names if name != "name"}  # which is for error messages


def needed_columns(kernel: Any, points: Any) -> Any:
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


def _columns(kernel: Kernel) -> list[Any] | None:
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


# ---- places that loops without bounds checks rely on ------------------------------------------


def checked(points: Points) -> None:
    """Refuse points whose numbers lead outside of their arrays."""
    check = CHECKS.get(type(points).__name__)
    if check is not None and not check(points):
        name = type(points).__name__
        raise FileError(f"the file is damaged or tampered with: its {name} do not fit together")


def _stairs(starts: Any, end: int) -> bool:
    """Tell whether places begin with 0, never fall, and end where they should."""
    whole = isinstance(starts, np.ndarray) and starts.dtype.kind == "i" and starts.ndim == 1
    return bool(
        whole and len(starts) and starts[0] == 0 and starts[-1] == end
        and (np.diff(starts) >= 0).all()
    )  # fmt: skip


def _inside(places: Any, low: Any, high: Any) -> bool:
    whole = isinstance(places, np.ndarray) and places.dtype.kind == "i" and places.ndim == 1
    return bool(whole and (places >= low).all() and (places < high).all())


def _check_graphs(points: Any) -> bool:
    net, first, last = points.net, points.first, points.last
    nodes, entries = len(net.starts) - 1, len(net.neighbors)
    # Graphs stand in the net one after the other, because they were packed before.
    borders = np.concatenate([first[:1], last]) if len(first) else np.zeros(1, np.int64)
    good = (
        _stairs(net.starts, entries)
        and _stairs(borders, nodes)
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


def _check_trees(points: Any) -> bool:
    count = len(points.labels)
    if not _stairs(points.starts, count) or len(points.parents) != count:
        return False
    place = np.arange(count) - np.repeat(points.starts[:-1], np.diff(points.starts))
    root = place == 0
    return _inside(points.parents, -1, np.maximum(place, 0)) and bool(
        ((points.parents == -1) == root).all()
    )


CHECKS: dict[str, Callable[[Any], bool]] = {
    "Graphs": _check_graphs,
    "Trees": _check_trees,
    "Series": lambda points: points.steps.ndim == 2 and _stairs(points.starts, len(points.steps)),
    "Symbols": lambda points: (
        _stairs(points.starts, len(points.codes))
        and _inside(points.codes, -1, len(points.alphabet))
    ),
    "Bags": lambda points: (
        len(points.starts) == len(points.bags) + 1
        and _stairs(points.starts, 0 if points.elements is None else len(points.elements))
    ),
}
