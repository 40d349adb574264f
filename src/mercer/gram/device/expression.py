"""Expressions: a kernel's tree as a small program about numbers of pairs.

Most kernels on vectors look at a pair of rows through one number: a dot product, a squared or a
city-block distance. Sums, products and functions of such kernels look at a few. So the tree of a
kernel becomes a list of *metrics*, and lines of arithmetic that make the similarity of them. On a
GPU both fit into one loop, and the Gram matrix is never written down.

The lines are the structure. Numbers (bandwidths, coefficients) are kept apart as values of
parameters, so that another bandwidth is the same program. Nothing in a line comes from the user:
names are counted through, and numbers never enter the text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mercer.engine.transform import Scales
from mercer.kernels import Kernel

__all__ = ["Length", "Metric", "PairProgram", "ProgramWriter", "Unfused"]

MAX_SINGLE = 3e38  # in single precision
LOG2E = math.log2(math.e)


class Unfused(Exception):
    """A kernel that is not a function of such numbers; the message says why, in words."""


@dataclass(frozen=True)
class Metric:
    """What two rows are compared by.

    Attributes
    ----------
    kind : {"dot", "squared", "cityblock"}
    columns : tuple of int, or None for all
    scales : tuple of float, RowTransform or None
        What the columns are divided by, or the rows transformed with: once, before all products.
    change : Kernel or None
        A kernel whose own rows are compared: those of `Cosine` have length 1, those of `Periodic`
        lie on circles, one side of `QuadraticForm` is multiplied by its matrix.
    """

    kind: Literal["dot", "squared", "cityblock"]
    columns: tuple[int, ...] | None = None
    scales: Scales = None
    change: Kernel | None = None

    @property
    def centered(self) -> bool:
        """Whether rows may be seen from any origin."""
        return self.kind != "dot"


@dataclass(frozen=True)
class Length:
    """k(x, x) of each row, or 1/√k(x, x) (0 where it is 0)."""

    kernel: Kernel
    columns: tuple[int, ...] | None
    inverse: bool


@dataclass(frozen=True)
class PairProgram:
    """What is computed for each pair.

    Attributes
    ----------
    metrics : tuple of Metric
        Their values are called m0, m1, …
    steepness : tuple of float
        How fast similarity falls with each metric at most, if that is a squared distance: with an
        error of ε in the distance the similarity has one of this times ε. Infinite where a root
        of the distance is taken.
    lengths : tuple of Length
        Their values are called r0, r1, … for the rows and c0, c1, … for the columns.
    lines : tuple of str
        Assignments to e0, e1, …; the last one is the similarity.
    values : tuple of float
        Of the parameters p0, p1, …
    """

    metrics: tuple[Metric, ...]
    steepness: tuple[float, ...]
    lengths: tuple[Length, ...]
    lines: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def result(self) -> str:
        return f"e{len(self.lines) - 1}"


Columns = tuple[int, ...] | None


@dataclass
class ProgramWriter:
    """A program in the making."""

    width: int
    rules: Mapping[type, Callable[[ProgramWriter, Any, Columns], str]]
    metrics: dict[Metric, float] = field(default_factory=dict)
    lengths: dict[Length, int] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)
    values: list[float] = field(default_factory=list)

    def write(self, kernel: Kernel, columns: Columns) -> str:
        """Write what computes a kernel on some columns, and return the name of its value."""
        rule = self.rules.get(type(kernel))
        if rule is None:
            name = type(kernel).__name__
            raise Unfused(f"{name} is no function of dot products or distances")
        return rule(self, kernel, columns)

    def line(self, text: str) -> str:
        """Write an assignment, unless it is there already, and return the name."""
        return self.lines.setdefault(text, f"e{len(self.lines)}")

    def number(self, value: float) -> str:
        """Return the name of a parameter with this value."""
        self.values.append(float(value))
        return f"p{len(self.values) - 1}"

    def metric(self, metric: Metric, steep: float = 0.0) -> str:
        """Return the name of a metric's value."""
        self.metrics[metric] = max(self.metrics.get(metric, 0.0), steep)
        return f"m{list(self.metrics).index(metric)}"

    def length(self, kernel: Kernel, columns: Columns, inverse: bool) -> tuple[str, str]:
        """Return the names of a length on both sides, as a column and as a row."""
        i = self.lengths.setdefault(Length(kernel, columns, inverse), len(self.lengths))
        return f"r{i}[:, None]", f"c{i}[None, :]"

    def decay(self, distance: str, factor: float) -> str:
        """Write exp(−factor·distance), as a power of two."""
        return self.line(f"tl.exp2({distance} * {self.number(-factor * LOG2E)})")

    def power(self, base: str, exponent: int) -> str:
        """Write a whole power by repeated squaring."""
        result, square = "", base
        while exponent:
            if exponent & 1:
                result = self.line(f"{result} * {square}") if result else square
            exponent >>= 1
            if exponent:
                square = self.line(f"{square} * {square}")
        return result

    def real_power(self, base: str, exponent: float) -> str:
        """Write a power of what is not negative."""
        if exponent == 1.0:
            return base
        if exponent == 0.5:
            return self.line(f"tl.sqrt({base})")
        if exponent == int(exponent) and 1 < exponent <= 16:
            return self.power(base, int(exponent))
        return self.line(f"tl.exp2(tl.log2({base}) * {self.number(exponent)})")

    def inside(self, columns: tuple[Any, ...], outer: Columns) -> Columns:
        """Return the places of columns, seen through those that an outer kernel has chosen."""
        seen = tuple(range(self.width)) if outer is None else outer
        places: list[int] = []
        for column in columns:
            if isinstance(column, slice):
                places += seen[column]
            elif isinstance(column, str):
                raise Unfused(f"column {column!r} has a name, and the rows have none")
            elif not -len(seen) <= column < len(seen):
                raise Unfused(f"there is no column {column} of {len(seen)}")
            else:
                places.append(seen[column])
        return tuple(places)

    def program(self, result: str) -> PairProgram:
        """Return what was written, with its result in the last line."""
        if not self.metrics:
            raise Unfused("it looks at no pair of rows")
        if not self.lines or list(self.lines.values())[-1] != result:
            self.line(f"1.0 * {result}")
        return PairProgram(
            tuple(self.metrics),
            tuple(self.metrics.values()),
            tuple(self.lengths),
            tuple(f"{name} = {text}" for text, name in self.lines.items()),
            tuple(max(min(value, MAX_SINGLE), -MAX_SINGLE) for value in self.values),
        )
