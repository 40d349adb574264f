"""The register of figures: a name, where it comes from, what to see, and how to draw it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mercer.errors import DomainError, suggestion
from mercer.plots.palette import INK, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "FORMATS", "Picture", "find", "picture"]

FORMATS = ("png", "svg", "pdf")
COLUMN, PAGE = 3.5, 5.6  # inches: one panel, and several that stay readable when reduced to one
# What would differ between two runs of the same drawing is left out of the files.
TIMELESS = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


@dataclass(frozen=True)
class Picture:
    """A figure that can be drawn from live computations.

    Attributes
    ----------
    name : str
        Of the file, and on the command line.
    source : str
        Where the original is.
    caption : str
        What to see.
    size : (float, float)
        Width and height in inches, with the caption.
    paint : callable
        Draws into an empty figure.
    needs : str
        A package that does not come with mercer, or nothing.
    """

    name: str
    source: str
    caption: str
    size: tuple[float, float]
    paint: Callable[[Figure], None]
    needs: str = ""

    @property
    def possible(self) -> bool:
        """Whether all that it needs is installed."""
        return not self.needs or find_spec(self.needs) is not None

    def draw(self) -> Figure:
        """Return the figure, with its caption underneath."""
        from matplotlib.figure import Figure

        with style():
            figure = Figure(figsize=self.size, layout="constrained")
            self.paint(figure)
            letters = int(self.size[0] * 72 / 4.45)
            text = textwrap.fill(f"{self.source}. {self.caption}", letters)
            figure.supxlabel(text, x=0.01, ha="left", fontsize=7.5, color=INK, linespacing=1.25)
        return figure

    def save(self, folder: Path, format: str = "png") -> Path:
        """Draw into ``folder/name.format`` and return that path."""
        if format not in FORMATS:
            raise DomainError(f"format cannot be {format!r}{suggestion(format, FORMATS)}")
        path = folder / f"{self.name}.{format}"
        figure = self.draw()
        with style():
            figure.savefig(path, format=format, metadata=TIMELESS[format])
        return path


FIGURES: dict[str, Picture] = {}


def picture(
    name: str, source: str, caption: str, size: tuple[float, float], needs: str = ""
) -> Callable[[Callable[[Figure], None]], Callable[[Figure], None]]:
    """Register the decorated function, which draws into an empty figure, under a name."""

    def register(paint: Callable[[Figure], None]) -> Callable[[Figure], None]:
        FIGURES[name] = Picture(name, source, caption, size, paint, needs)
        return paint

    return register


def find(name: str) -> Picture:
    """Return a figure by its name.

    Examples
    --------
    >>> find("tutorial-9")
    Traceback (most recent call last):
    mercer.errors.DomainError: there is no figure 'tutorial-9'; did you mean 'tutorial-8'?
    """
    if name not in FIGURES:
        raise DomainError(f"there is no figure {name!r}{suggestion(name, FIGURES)}")
    return FIGURES[name]
