"""Folders of graphs in the text format of the TU Dortmund collection, as sources."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import DomainError
from mercer.sources.source import Piece

__all__ = ["Graphs"]

GRAPH = "graph"
LABEL = "label"


class Graphs:
    """A folder of graphs, which are all read at once and counted from 1."""

    unit = "graph"

    def __init__(self, folder: Path) -> None:
        from mercer.datasets import read_tu

        graphs = read_tu(folder, labeled=False)
        if graphs.y.ndim != 1:
            raise DomainError(
                f"{folder} has {graphs.y.shape[1]} labels for each graph; one is expected"
            )
        self.path = folder
        self.name = folder.name
        self.graphs = graphs
        labeled = graphs.y.dtype.kind != "f" or not np.isnan(graphs.y).all()
        self.target = LABEL if labeled else None
        self.columns = (GRAPH, LABEL) if labeled else (GRAPH,)
        self.kinds = {GRAPH: "graph"}
        self.layout: dict[str, Any] = {"format": "graphs"}
        loops = graphs.extra["loops"]
        self.notes = [f"{loops:,} edges from a node to itself were left out"] if loops else []

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        columns = {GRAPH: self.graphs.X, LABEL: self.graphs.y}
        rows = np.arange(len(self.graphs))
        yield Piece(
            {name: columns[name] for name in self.columns}, rows + 1, rows, len(self.graphs)
        )
