"""Drawings: a row as one looks at it: a picture of its pixels, a structure, letters or cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mercer.explorer.entries import plain_entry
from mercer.explorer.subject import Subject

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Gallery"]

MAX_CELLS = 400  # of a row that are told
DRAWN = ("smiles", "graph")
MIN_SIDE = 3  # pixels of a picture


@dataclass(frozen=True, eq=False)
class Gallery:
    """Shows the rows of a subject.

    Parameters
    ----------
    subject : Subject
    """

    subject: Subject

    @cached_property
    def pixels(self) -> list[tuple[str, float]]:
        """The columns that are pixels of a square, in order, with what constant ones hold."""
        from mercer.report.examples import PIXEL

        kinds = self.subject.rows.kinds
        described = [(c.name, c.kind, c.examples) for c in self.subject.recipe_columns]
        if not described:
            described = [(name, kind, ()) for name, kind in kinds.items()]
        there = [one for one in described if PIXEL.search(one[0])]
        good = all(kind in ("numeric", "constant") for _, kind, _ in there)
        others = [name for name in kinds if not PIXEL.search(name)]
        side = math.isqrt(len(there))
        if not good or others or side < MIN_SIDE or side * side != len(there):
            return []
        return [(name, _constant(examples)) for name, _, examples in there]

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest pixel."""
        spans = [self.subject.rows.spans[name] for name, _ in self.pixels
                 if name in self.subject.rows.spans]  # fmt: skip
        low = min((span[0] for span in spans), default=0.0)
        return low, max((span[1] for span in spans), default=1.0)

    def picture(self, row: pd.DataFrame) -> dict[str, Any] | None:
        """Return a picture of a row: pixels as numbers from 0 to 1, or a drawing; or nothing."""
        if self.pixels:
            low, high = self.ends
            width = (high - low) or 1.0
            shades = []
            for name, fallback in self.pixels:
                value = float(row[name].iloc[0]) if name in row else fallback
                shades.append(0.0 if math.isnan(value) else round((value - low) / width, 4))
            return {"kind": "pixels", "side": math.isqrt(len(shades)), "values": shades}
        source = next((made for made in map(self._drawing, self._drawn(row)) if made), "")
        return {"kind": "image", "source": source} if source else None

    def _drawn(self, row: pd.DataFrame) -> list[Any]:
        kinds = self.subject.rows.kinds
        return [row[name].iloc[0] for name, kind in kinds.items() if kind in DRAWN]

    @staticmethod
    def _drawing(thing: Any) -> str:
        from mercer.report.examples import drawing_of

        try:
            return drawing_of(thing)
        except ImportError:  # structures are drawn by rdkit
            return ""

    def cells(self, row: pd.DataFrame) -> list[Any]:
        """Return the entries of a row, in the order of the columns."""
        kinds = list(self.subject.rows.kinds.items())[:MAX_CELLS]
        return [plain_entry(row[name].iloc[0], kind) for name, kind in kinds]


def _constant(examples: tuple[str, ...]) -> float:
    try:
        return float(examples[0])
    except (ValueError, IndexError):
        return 0.0
