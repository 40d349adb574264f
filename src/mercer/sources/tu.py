"""Folders of graphs in the text format of the TU Dortmund collection (Morris et al., 2020)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mercer.domains import Graph
from mercer.errors import DomainError
from mercer.sources.source import Piece, objects
from mercer.sources.textfile import file_errors, open_lines

__all__ = ["GraphFolder", "GraphSet", "read_folder"]

GRAPH = "graph"
LABEL = "label"


class GraphSet(NamedTuple):
    """The graphs of a folder, their labels or numbers, and what is known about both."""

    graphs: np.ndarray
    y: np.ndarray
    label_names: tuple[str, ...]
    name: str
    loops: int  # edges from a node to itself, which were left out


def read_folder(folder: Path, labeled: bool = True) -> GraphSet:
    """Return the graphs of a folder with files ``NAME_A.txt``, ``NAME_graph_indicator.txt``, ….

    Without labels or numbers of graphs, which is an error if they must be `labeled`, y is NaN.
    """
    files = _Files(folder)
    graph_of = files.whole_numbers("graph_indicator")[:, 0] - 1
    files.check(graph_of < 0, "graph_indicator", "graphs are numbered from 1")
    count = int(graph_of.max(initial=-1)) + 1
    y, names = _target(files) if labeled or files.labeled else (np.full(count, np.nan), ())
    if len(y) < count:
        raise DomainError(f"{files.shown} has {count} graphs, but labels for {len(y)}")
    graphs, loops = _graphs(files, graph_of, len(y))
    return GraphSet(objects(graphs), y, names, files.name, loops)


class GraphFolder:
    """A folder of graphs as a source: all are read at once, and counted from 1."""

    unit = "graph"

    def __init__(self, folder: Path) -> None:
        found = read_folder(folder, labeled=False)
        if found.y.ndim != 1:
            raise DomainError(
                f"{folder} has {found.y.shape[1]} labels for each graph; one is expected"
            )
        self.path = folder
        self.name = folder.name
        self.found = found
        labeled = found.y.dtype.kind != "f" or not np.isnan(found.y).all()
        self.target = LABEL if labeled else None
        self.columns = (GRAPH, LABEL) if labeled else (GRAPH,)
        self.kinds = {GRAPH: "graph"}
        self.layout: dict[str, Any] = {"format": "graphs"}
        loops = found.loops
        self.notes = [f"{loops:,} edges from a node to itself were left out"] if loops else []

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        columns = {GRAPH: self.found.graphs, LABEL: self.found.y}
        rows = np.arange(len(self.found.y))
        yield Piece({name: columns[name] for name in self.columns}, rows + 1, rows, len(rows))


def _graphs(files: _Files, graph_of: np.ndarray, count: int) -> tuple[list[Graph], int]:
    """Return the graphs, and how many loops were left out."""
    order = np.argsort(graph_of, kind="stable")  # nodes of a graph need not stand together
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    starts = np.searchsorted(graph_of[order], np.arange(count + 1))
    edges, labels, loops = _edges(files, graph_of, place)
    begins = np.searchsorted(edges[:, 0], starts)
    node_labels = _labels(files, "node_labels", len(order))
    attributes = _attributes(files, len(order))
    found = []
    for g in range(count):
        a, b, first, last = begins[g], begins[g + 1], starts[g], starts[g + 1]
        nodes = order[first:last]
        found.append(
            Graph.made(
                int(last - first),
                edges[a:b] - first,
                None if node_labels is None else tuple(node_labels[v] for v in nodes.tolist()),
                None if labels is None else tuple(labels[a:b]),
                None if attributes is None else attributes[nodes],
            )
        )
    return found, loops


def _edges(
    files: _Files, graph_of: np.ndarray, place: np.ndarray
) -> tuple[np.ndarray, list[Hashable] | None, int]:
    """Return each edge once, sorted, in the order of the graphs, with its label."""
    pairs = files.whole_numbers("A", columns=2) - 1
    nodes = len(graph_of)
    outside = ((pairs < 0) | (pairs >= nodes)).any(axis=1)
    files.check(outside, "A", f"nodes are numbered from 1 to {nodes}")
    apart = graph_of[pairs[:, 0]] != graph_of[pairs[:, 1]]
    files.check(apart, "A", "an edge joins nodes of different graphs")
    written = _labels(files, "edge_labels", len(pairs))
    kept = np.flatnonzero(pairs[:, 0] != pairs[:, 1])
    loops = len(pairs) - len(kept)
    edges = np.sort(place[pairs[kept]], axis=1)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    edges, kept = edges[order], kept[order]
    again = np.zeros(len(edges), bool)
    again[1:] = (edges[1:] == edges[:-1]).all(axis=1)
    if written is None:
        return edges[~again], None, loops
    for i in np.flatnonzero(again):
        if written[kept[i]] != written[kept[i - 1]]:
            lines = sorted((int(kept[i - 1]) + 1, int(kept[i]) + 1))
            where = files.path("edge_labels")
            raise DomainError(
                f"{where}: lines {lines[0]} and {lines[1]} label one edge differently"
            )
    return edges[~again], [written[i] for i in kept[~again].tolist()], loops


def _labels(files: _Files, what: str, count: int) -> list[Hashable] | None:
    """Return one label for each line: a whole number, or several."""
    if not files.has(what):
        return None
    found = files.numbers(what, lines=count)
    files.check(~np.isfinite(found).all(axis=1), what, "not a finite number")
    if (found == np.rint(found)).all():
        found = found.astype(np.int64)
    if found.shape[1] == 1:
        return found[:, 0].tolist()
    return list(map(tuple, found.tolist()))


def _attributes(files: _Files, count: int) -> np.ndarray | None:
    if not files.has("node_attributes"):
        return None
    found = files.numbers("node_attributes", lines=count)
    files.check(~np.isfinite(found).all(axis=1), "node_attributes", "not a finite number")
    return found


def _target(files: _Files) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the labels of the graphs, or else their numbers."""
    if files.has("graph_labels"):
        y = files.numbers("graph_labels")
        y = y[:, 0] if y.shape[1] == 1 else y
        if (y == np.rint(y)).all():
            y = y.astype(np.int64)
            return y, tuple(str(label) for label in np.unique(y)) if y.ndim == 1 else ()
        return y, ()
    y = files.numbers("graph_attributes")
    return (y[:, 0] if y.shape[1] == 1 else y), ()


class _Files:
    """The files of one set of graphs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shown = str(folder)
        if not folder.is_dir():
            raise DomainError(f"{folder} is not a folder")
        found = sorted({path.name.split("_A.txt")[0] for path in folder.glob("*_A.txt*")})
        if len(found) != 1:
            raise DomainError(
                f"{folder} must hold one set of graphs, a file NAME_A.txt; found {len(found)}"
            )
        self.name = found[0]

    def path(self, what: str) -> Path:
        plain = self.folder / f"{self.name}_{what}.txt"
        packed = plain.with_name(plain.name + ".gz")
        return packed if packed.exists() and not plain.exists() else plain

    def has(self, what: str) -> bool:
        return self.path(what).exists()

    @property
    def labeled(self) -> bool:
        return self.has("graph_labels") or self.has("graph_attributes")

    def numbers(self, what: str, columns: int | None = None, lines: int | None = None) -> Any:
        """Return the table of numbers in a file, complaining about its first bad line."""
        path = self.path(what)
        with file_errors(path, "a file of graphs"), open_lines(path) as file:
            text = file.read()
        rows = text.splitlines()
        if not text.strip():
            table = np.empty((0, columns or 1))
        else:
            try:
                table = np.loadtxt(rows, delimiter=",", ndmin=2, comments=None)
            except ValueError as error:
                raise DomainError(_first_bad(path, rows)) from error
        if columns is not None and table.shape[1] != columns:
            raise DomainError(f"{path}: line 1 has {table.shape[1]} numbers, expected {columns}")
        if lines is not None and len(table) != lines:
            raise DomainError(f"{path} has {len(table)} lines, expected {lines}")
        return table

    def whole_numbers(self, what: str, columns: int | None = None) -> Any:
        """Return the table of whole numbers in a file."""
        table = self.numbers(what, columns)
        with np.errstate(invalid="ignore"):
            fractions = ~(table % 1 == 0).all(axis=1)
        self.check(fractions, what, "not a whole number")
        return table.astype(np.int64)

    def check(self, bad: np.ndarray, what: str, problem: str) -> None:
        """Complain about the first line of a file that is bad."""
        if bad.any():
            raise DomainError(f"{self.path(what)}: line {int(np.argmax(bad)) + 1}: {problem}")


def _first_bad(path: Path, rows: list[str]) -> str:
    """Return a complaint about the first line that is not as many numbers as the one before."""
    width = None
    for number, row in enumerate(rows, 1):
        parts = row.split(",") if row.strip() else []
        try:
            [float(part) for part in parts]
        except ValueError:
            return f"{path}: line {number} is not a row of numbers: {row.strip()[:40]!r}"
        if width is not None and parts and len(parts) != width:
            return f"{path}: line {number} has {len(parts)} numbers, lines before have {width}"
        width = len(parts) or width
    return f"{path} is not a table of numbers"
