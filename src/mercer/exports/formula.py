"""A formula: what a model computes, as steps on arrays that any language of arrays can do.

Every value has rows and columns, one row for each row of the table. Steps are written down once,
by `mercer.exports.written_model`, and read by the writers of ONNX and of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import MercerError

__all__ = ["ArrayFormula", "ExportError", "Input", "Step", "Term"]


class ExportError(MercerError, ValueError):
    """A model that cannot be written down, with the part that is in the way."""


@dataclass(frozen=True)
class Input:
    """What a model is given: a column of numbers or of texts, or whole rows of numbers."""

    name: str
    kind: str  # "numeric", "categorical" or "rows"
    width: int = 1
    signs: bool = False  # whether a dash is an entry of it, and no gap


@dataclass(frozen=True, eq=False)
class Step:
    """One operation on earlier values, which are named by their numbers."""

    operation: str
    inputs: tuple[int, ...] = ()
    value: Any = None


@dataclass(eq=False)
class ArrayFormula:
    """Steps in their order; the last ones that are named are the outputs."""

    inputs: list[Input] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    outputs: dict[str, int] = field(default_factory=dict)

    def add(self, operation: str, *terms: Term, value: object = None) -> Term:
        """Write down a step and return its value."""
        self.steps.append(Step(operation, tuple(term.place for term in terms), value))
        return Term(self, len(self.steps) - 1)

    def given(self, name: str, kind: str, width: int = 1, signs: bool = False) -> Term:
        """Return a new input."""
        self.inputs.append(Input(name, kind, width, signs))
        return self.add("input", value=len(self.inputs) - 1)

    def constant(self, value: ArrayLike) -> Term:
        """Return numbers that are part of the model: one, a row of them, or a table."""
        return self.add("constant", value=np.asarray(value, dtype=np.float64))

    def concatenate(self, terms: Sequence[Term]) -> Term:
        """Return the columns of several values beside each other."""
        return terms[0] if len(terms) == 1 else self.add("concatenate", *terms)


@dataclass(frozen=True, eq=False)
class Term:
    """A value of a formula, with which one can calculate."""

    formula: ArrayFormula
    place: int

    @property
    def source(self) -> Input | None:
        """The input that this is, unchanged; None if something has been computed."""
        step = self.formula.steps[self.place]
        return self.formula.inputs[step.value] if step.operation == "input" else None

    @property
    def is_text(self) -> bool:
        """Whether this is a column of texts."""
        return self.source is not None and self.source.kind == "categorical"

    def _with(self, operation: str, other: Any) -> Term:
        right = other if isinstance(other, Term) else self.formula.constant(other)
        return self.formula.add(operation, self, right)

    def __add__(self, other: object) -> Term:
        return self._with("add", other)

    def __sub__(self, other: object) -> Term:
        return self._with("subtract", other)

    def __mul__(self, other: object) -> Term:
        return self._with("multiply", other)

    def __truediv__(self, other: object) -> Term:
        return self._with("divide", other)

    def __matmul__(self, other: object) -> Term:
        return self._with("product", other)

    def __gt__(self, other: object) -> Term:
        return self._with("greater", other)

    def __ge__(self, other: object) -> Term:
        return self._with("greater or equal", other)

    def power(self, exponent: float) -> Term:
        return self._with("power", exponent)

    def maximum(self, other: object) -> Term:
        return self._with("maximum", other)

    def minimum(self, other: object) -> Term:
        return self._with("minimum", other)

    def equals(self, other: object) -> Term:
        return self._with("equal", other)

    def apply(self, function: str) -> Term:
        """Return a function of each entry: "exponential", "root", "absolute", "missing", …"""
        return self.formula.add(function, self)

    def where(self, yes: Term, no: Term) -> Term:
        """Return one of two values, as this one says."""
        return self.formula.add("where", self, yes, no)

    def sum(self) -> Term:
        """Return the sum of each row, as a column."""
        return self.formula.add("sum", self)

    def largest(self) -> Term:
        """Return the largest entry of each row, as a column."""
        return self.formula.add("largest", self)

    def first_largest(self) -> Term:
        """Return the place of the largest entry of each row, the first of equal ones."""
        return self.formula.add("first largest", self)

    def column(self, place: int) -> Term:
        """Return one column."""
        return self.formula.add("column", self, value=place)

    def rows_of(self, table: ArrayLike) -> Term:
        """Return the row of a table for each number of a column."""
        return self.formula.add("rows", self, value=np.asarray(table, dtype=np.float64))
