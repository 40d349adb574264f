"""Charts: what a page draws, as plain values in the coordinates of the data.

A mark is a dictionary with its kind: "line", "dots", "field" (a grid of numbers as colors),
"area" (filled) or "text". Colors are numbers of classes, or "ink" and "muted".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from mercer.errors import DomainError

__all__ = [
    "Chart", "Demonstration", "Knob", "Scene", "State", "dots", "field_of", "grid", "level_line",
    "line", "text",
]  # fmt: skip

SIDE = 61  # places along each axis of a field
MAX_POINTS = 200  # that can be dragged
MAX_STEP = 100_000
FARTHEST = 1e6  # coordinate of a point


@dataclass(frozen=True)
class Knob:
    """What one can turn: a slider ("range", or "log" for ratios) or a choice of words."""

    name: str
    label: str
    kind: str
    value: Any
    low: float = 0.0
    high: float = 1.0
    options: tuple[str, ...] = ()

    def admit(self, found: Any) -> Any:
        """Return a position of the knob, refusing what it cannot be."""
        if self.kind == "choice":
            if found not in self.options:
                raise DomainError(f"{self.label} must be one of {', '.join(self.options)}")
            return found
        good = isinstance(found, int | float) and not isinstance(found, bool)
        if not good or not self.low <= found <= self.high:
            raise DomainError(
                f"{self.label} must be a number from {self.low:g} to {self.high:g}, found "
                f"{str(found)[:40]}"
            )
        return float(found)


@dataclass(frozen=True)
class State:
    """Where the knobs are, where the points are, and how many steps were made."""

    values: dict[str, Any]
    points: np.ndarray  # of shape (n, 3): x, y and the class
    step: int

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def X(self) -> np.ndarray:
        """The points without their classes."""
        return self.points[:, :2]

    @property
    def y(self) -> np.ndarray:
        """The class of each point."""
        return self.points[:, 2].astype(int)


@dataclass
class Chart:
    """A pair of axes with marks."""

    title: str
    x: tuple[float, float]
    y: tuple[float, float]
    xlabel: str = ""
    ylabel: str = ""
    equal: bool = False  # whether a unit has one length along both
    drag: str = ""  # "xy", "x", "y", or "" if its points stay where they are
    marks: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Scene:
    """What one sees in one state."""

    charts: list[Chart]
    readouts: list[tuple[str, str]]
    words: str
    step: int = 0
    last: bool = True  # whether no step is left

    def plain(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Demonstration:
    """An experiment of a textbook.

    Attributes
    ----------
    title, about, source : str
    knobs : tuple of Knob
    points : ndarray of shape (n, 3)
        Where the points are at first.
    draw : callable
        From a `State` to a `Scene`.
    classes : tuple of str
        Names of the classes of points.
    steps : bool
        Whether it goes step by step.
    """

    title: str
    about: str
    source: str
    knobs: tuple[Knob, ...]
    points: np.ndarray
    draw: Callable[[State], Scene]
    classes: tuple[str, ...] = ("circles", "crosses")
    steps: bool = False

    def state(self, values: Any = None, points: Any = None, step: Any = 0) -> State:
        """Return a state, refusing what it cannot be."""
        values = {} if values is None else values
        known = {knob.name for knob in self.knobs}
        if not isinstance(values, dict) or set(values) - known:
            raise DomainError(f"the knobs are {', '.join(sorted(known))}")
        found = {knob.name: knob.admit(values.get(knob.name, knob.value)) for knob in self.knobs}
        if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= MAX_STEP:
            raise DomainError(f"a step is a whole number from 0 to {MAX_STEP}")
        return State(found, self._points(points), step)

    def _points(self, points: Any) -> np.ndarray:
        if points is None:
            return self.points
        try:
            array = np.asarray(points, dtype=np.float64).reshape(len(points), -1)
        except (TypeError, ValueError):
            array = np.empty((0, 0))
        shaped = array.shape == (len(array), 3) and 0 < len(array) <= MAX_POINTS
        if not shaped or not np.isfinite(array).all() or np.abs(array).max() > FARTHEST:
            raise DomainError(f"points are 1 to {MAX_POINTS} lists of x, y and a class")
        if not np.isin(array[:, 2], np.arange(len(self.classes))).all():
            raise DomainError(f"the class of a point is 0 to {len(self.classes) - 1}")
        return array


def line(points: Any, color: Any = "ink", width: float = 2.0, dash: bool = False, name: str = ""
         ) -> dict[str, Any]:  # fmt: skip
    """Return a line through points."""
    array = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    return {"kind": "line", "points": array.round(6).tolist(), "color": color, "width": width,
            "dash": dash, "name": name}  # fmt: skip


def dots(points: Any, codes: Sequence[Any], size: float = 6.0, drag: bool = False,
         rings: Sequence[bool] = (), name: str = "") -> dict[str, Any]:  # fmt: skip
    """Return points with the colors and shapes of their classes; some with rings around them."""
    array = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    return {"kind": "dots", "points": array.round(6).tolist(), "codes": list(codes), "size": size,
            "drag": drag, "rings": [bool(ring) for ring in rings], "name": name}  # fmt: skip


def text(place: np.ndarray, words: str) -> dict[str, Any]:
    """Return words beside a place."""
    return {"kind": "text", "x": float(place[0]), "y": float(place[1]), "text": words}


def grid(x: tuple[float, float], y: tuple[float, float], side: int = SIDE) -> np.ndarray:
    """Return places that fill a rectangle, row by row from below."""
    axes = np.meshgrid(np.linspace(*x, side), np.linspace(*y, side))
    return np.stack(axes, axis=-1).reshape(-1, 2)


def field_of(
    values: np.ndarray, x: tuple[float, float], y: tuple[float, float], limit: float | None = None
) -> dict[str, Any]:
    """Return numbers on a grid as colors, from one class (negative) to the other."""
    side = round(len(values) ** 0.5)
    table = np.asarray(values, dtype=np.float64).reshape(side, side)
    largest = limit or float(np.abs(table).max()) or 1.0
    return {"kind": "field", "field": (table / largest).clip(-1, 1).round(3).tolist(),
            "x": list(x), "y": list(y)}  # fmt: skip


def level_line(
    values: np.ndarray, x: tuple[float, float], y: tuple[float, float], level: float,
    color: Any = "ink", width: float = 2.0, dash: bool = False,
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the lines along which numbers on a grid have a value."""
    from contourpy import contour_generator

    side = round(len(values) ** 0.5)
    found = contour_generator(
        np.linspace(*x, side), np.linspace(*y, side), np.asarray(values).reshape(side, side)
    ).lines(level)
    return [line(one, color, width, dash) for one in found if len(one) > 1]
