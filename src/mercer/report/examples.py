"""Examples: rows worth looking at, beside those that are most like them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.domains import Graph
from mercer.report.pictures import gray, sketch
from mercer.report.words import amount, count, percent, shorten

if TYPE_CHECKING:
    from mercer.sources import Column
    from mercer.studies import Example, Study

__all__ = ["Card", "Cell", "Item", "Viewer", "cards", "drawing_of"]

MAX_CARDS = 12
MAX_CELLS, MAX_CELLS_BESIDE_PICTURE = 6, 3
LONGEST = {"text": 200, "sequence": 120, "smiles": 80}  # letters
MAX_NODES = 60  # of a graph that is drawn
PIXEL = re.compile(r"pixel|px", re.IGNORECASE)


@dataclass(frozen=True)
class Cell:
    """An entry: text to show, and whether it is one of letters, or missing."""

    text: str
    letters: bool = False
    missing: bool = False


@dataclass(frozen=True)
class Item:
    """A row, as it is shown."""

    row: str  # where it stands in the file
    true: str  # the target
    predicted: str  # while it was held out
    wrong: bool
    sure: str  # the probability of what was predicted, if there is one
    similarity: str  # to the example; empty for the example itself
    cells: list[Cell]
    picture: str  # a data URI, or empty
    pixels: bool  # whether the picture is one of pixels


@dataclass(frozen=True)
class Card:
    """An example: why it is shown, the row itself, and the rows most like it."""

    reason: str
    item: Item
    neighbors: list[Item]


class Viewer:
    """Shows rows of a study: a few cells of a table, or pictures of what can be drawn."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.frame = study.X if hasattr(study.X, "iloc") else None

    @cached_property
    def columns(self) -> list[Column]:
        """The columns whose cells are shown."""
        if self.frame is None or self.side:
            return []
        most = MAX_CELLS_BESIDE_PICTURE if self.drawn is not None else MAX_CELLS
        return [c for c in self.study.sheet.used if c is not self.drawn][:most]

    @property
    def names(self) -> list[str]:
        return [shorten(column.name, 32) for column in self.columns]

    @property
    def wide(self) -> bool:
        """Whether a card needs the whole width of a page."""
        if self.side or self.drawn is not None:
            return False
        long = any(column.kind in LONGEST for column in self.columns)
        return long or self.frame is None or len(self.columns) > 3

    @property
    def more(self) -> int:
        """How many columns are not shown."""
        if self.frame is None or self.side:
            return 0
        return len(self.study.sheet.used) - len(self.columns) - (self.drawn is not None)

    @cached_property
    def drawn(self) -> Column | None:
        """The one column of graphs or molecules, if there is just one."""
        found = [c for c in self.study.sheet.used if c.kind in ("graph", "smiles")]
        if self.frame is None or len(found) != 1:
            return None
        return found[0] if found[0].kind == "graph" or _chemistry() else None

    @cached_property
    def pixels(self) -> list[Column]:
        """The columns that are the pixels of a square picture, in order, or none.

        Those that are the same in all pictures are not learned from, but they are part of it.
        """
        columns = self.study.sheet.columns
        there = [c for c in columns if c.kind in ("numeric", "constant") and PIXEL.search(c.name)]
        side = math.isqrt(len(there))
        others = [c for c in self.study.sheet.used if c not in there]
        if self.frame is None or others or side < 3 or side * side != len(there):
            return []
        return there

    @cached_property
    def side(self) -> int:
        """The side of that picture, or 0."""
        return math.isqrt(len(self.pixels))

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest pixel."""
        assert self.frame is not None
        values = self.frame.to_numpy(dtype=np.float64)
        return float(np.nanmin(values)), float(np.nanmax(values))

    def item(self, place: int, similarity: float | None = None) -> Item:
        """Return a row, as it is shown."""
        study = self.study
        held = study.held_out
        true, at = study.y[place], int(np.searchsorted(held.rows, place))
        predicted = held.prediction[at]
        sure = ""
        if held.probabilities is not None and study.classes is not None:
            found = np.flatnonzero(study.classes == predicted)
            sure = percent(float(held.probabilities[at, found[0]])) if len(found) else ""
        numbers = study.task != "classify"
        return Item(
            row=str(int(study.sheet.rows[place])),
            true=amount(float(true)) if numbers else shorten(true, 40),
            predicted=amount(float(predicted)) if numbers else shorten(predicted, 40),
            wrong=not numbers and bool(true != predicted),
            sure=sure,
            similarity="" if similarity is None else f"{similarity:.2f}",
            cells=self.cells(place),
            picture=self.picture(place),
            pixels=bool(self.side),
        )

    def cells(self, place: int) -> list[Cell]:
        """Return the cells of a row that are shown."""
        if self.frame is not None:
            room = 1 if len(self.columns) == 1 else 2  # several share the width
            return [_cell(self.frame[c.name].iloc[place], c.kind, room) for c in self.columns]
        first = next((c.style["first"] for c in self.study.sheet.used if "first" in c.style), 1)
        return [_sparse_cell(self.study.X[[place]], first)]

    def picture(self, place: int) -> str:
        """Return a row as a picture, if it is one."""
        if self.frame is None:
            return ""
        if self.side:
            shades = [self._pixel(column, place) for column in self.pixels]
            return gray(np.reshape(shades, (self.side, self.side)), *self.ends)
        if self.drawn is None:
            return ""
        return drawing_of(self.frame[self.drawn.name].iloc[place])

    def _pixel(self, column: Column, place: int) -> float:
        assert self.frame is not None
        if column.used:
            return float(self.frame[column.name].iloc[place])
        try:
            return float(column.examples[0])
        except (ValueError, IndexError):
            return self.ends[0]


def cards(study: Study, examples: tuple[Example, ...], viewer: Viewer) -> list[Card]:
    """Return examples as they are shown."""
    return [
        Card(
            example.reason,
            viewer.item(example.place),
            [viewer.item(near.place, near.similarity) for near in example.neighbors],
        )
        for example in examples[:MAX_CARDS]
    ]


def _cell(value: Any, kind: str, share: int = 1) -> Cell:
    """Return an entry of a table as text; with others beside it, a part of its length."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Cell("missing", missing=True)
    if kind == "numeric":
        return Cell(amount(float(value)))
    if kind == "date":
        return Cell(_date(float(value)))
    if isinstance(value, Graph):
        return Cell(f"{value.nodes} nodes, {len(value.edges)} edges")
    text = str(value)
    longest = LONGEST.get(kind, 80) // share
    letters = kind in ("sequence", "smiles")
    if len(text) > longest:
        what = "letters" if letters else "characters"
        return Cell(f"{shorten(text, longest)} ({count(len(text))} {what})", letters)
    return Cell(text, letters)


def _date(days: float) -> str:
    """Return days since 1970 as a date, with the time if it is not midnight.

    Examples
    --------
    >>> _date(0.0), _date(1.75), _date(1e300)
    ('1970-01-01', '1970-01-02 18:00', '1e+300 days after 1970')
    """
    if abs(days) > 3_000_000:
        return f"{days:.3g} days after 1970"
    minutes = np.datetime64("1970-01-01T00:00") + np.timedelta64(round(days * 1440), "m")
    day, time = str(minutes).split("T")
    return day if time == "00:00" else f"{day} {time}"


def _sparse_cell(row: Any, first: int) -> Cell:
    """Return the entries of a row that are largest, by the numbers of their columns in the file.

    Examples
    --------
    >>> _sparse_cell(np.array([[0.0, 2.5, -1.0]]), 1).text
    '2:2.5  3:−1'
    """
    flat = np.asarray(row.toarray() if hasattr(row, "toarray") else row, dtype=float).ravel()
    filled = np.flatnonzero(flat)
    top = np.sort(filled[np.argsort(-np.abs(flat[filled]), kind="stable")][: 2 * MAX_CELLS])
    text = "  ".join(f"{k + first}:{amount(float(flat[k]), 3)}" for k in top)
    more = f"  … ({count(len(filled))} entries)" if len(filled) > len(top) else ""
    return Cell(text + more, letters=True)


def drawing_of(thing: object) -> str:
    """Return a graph or a molecule as a small drawing, or nothing if it cannot be drawn."""
    from mercer.errors import DomainError
    from mercer.plots.explanation import layout, skeleton

    if isinstance(thing, Graph):
        if not 0 < thing.nodes <= MAX_NODES:
            return ""
        names = [""] * thing.nodes if thing.labels is None else [str(n) for n in thing.labels]
        return sketch(layout(thing), thing.edges, [1] * len(thing.edges), names)
    if thing is None or len(str(thing)) > 2 * LONGEST["smiles"]:
        return ""
    try:
        places, bonds, strokes, symbols = skeleton(str(thing))
    except DomainError:
        return ""
    # As chemists draw: carbon is a corner, everything else has its symbol.
    names = ["" if symbol == "C" and len(symbols) > 1 else symbol for symbol in symbols]
    return sketch(places, bonds, strokes, names, dots=0)


def _chemistry() -> bool:
    from importlib.util import find_spec

    return find_spec("rdkit") is not None
