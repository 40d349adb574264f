"""A sheet: the rows of a file, what each column was taken for, and what was wrong with some."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["KINDS", "BadRow", "Column", "Sheet"]

# What a column can be taken for. The first ones are learned from, in this order of kernels; the
# others are set aside.
KINDS = (
    "numeric", "date", "categorical", "text", "sequence", "smiles", "graph",
    "identifier", "constant", "missing",
)  # fmt: skip
SET_ASIDE = frozenset({"identifier", "constant", "missing", "groups", "time", "weights"})


@dataclass(frozen=True)
class Column:
    """What a column was taken for, and why.

    Attributes
    ----------
    name : str
    kind : one of `KINDS`, or the role "groups", "time" or "weights"
    why : str
        The reason, in words that a user understands.
    missing : int
        How many entries are missing.
    distinct : int
        How many different entries there are, of those that were looked at.
    examples : tuple of str
        The first few different entries, as they stand in the file.
    style : dict
        How entries are written, for reading others in the same way: plain values only, such as
        ``{"decimal": ",", "thousands": "."}`` or ``{"order": "day first"}``.

    Examples
    --------
    >>> Column("name", "identifier", "every entry is different").used
    False
    """

    name: str
    kind: str
    why: str
    missing: int = 0
    distinct: int = 0
    examples: tuple[str, ...] = ()
    style: dict[str, Any] = field(default_factory=dict)

    @property
    def used(self) -> bool:
        """Whether something can be learned from it."""
        return self.kind not in SET_ASIDE


@dataclass(frozen=True)
class BadRow:
    """A row that cannot be read: its line in the file, and what is wrong with it.

    Where there are no lines, `unit` says what is counted: "row" or "graph".

    Parameters
    ----------
    line : int
    problem : str
    unit : {"line", "row", "graph"}

    Examples
    --------
    >>> print(BadRow(17, "the target 'kind' is missing"))
    line 17: the target 'kind' is missing
    """

    line: int
    problem: str
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.unit} {self.line}: {self.problem}"


@dataclass(frozen=True, eq=False)
class Sheet:
    """Rows to learn from.

    Attributes
    ----------
    X : DataFrame or sparse array
        The columns that are used, one row for each item. Numbers and dates are float64 (dates in
        days since 1970), with NaN for what is missing; categories, texts, sequences and SMILES
        are str objects, graphs are graphs, with None for what is missing.
    y : ndarray or None
        The target: strings for classes, float64 for numbers.
    columns : tuple of Column
        All columns of the file except the target, in their order. A sparse array has one, which
        stands for all its numbers.
    target : Column or None
    lines : ndarray of int
        The line of the file on which each row begins (the number of the graph, of the batch's
        row or of the DataFrame's row where there are no lines; all count from 1).
    rows : ndarray of int
        The number of each row in the file, from 0; a row that was left out has a number too.
    total : int
        Rows of the file; more than there are here if some were bad or only a sample was taken.
    bad : tuple of BadRow
    notes : tuple of str
        What a user should know about the reading: sentences.
    name : str
        Of the file, without its folder.
    layout : dict
        How the file is laid out, for reading others in the same way: plain values only.
    path : path or None
        Where the file is; None for a DataFrame.
    roles : RowRoles or None
        Groups, times and weights of the rows, if columns have these roles.
    codes : dict
        Entries that stand for nothing, by column, "" standing for all columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import read_frame
    >>> frame = pd.DataFrame({"size": [1.5, 2.0, 3.5], "same": "x", "kind": ["a", "b", "a"]})
    >>> sheet = read_frame(frame, "kind")
    >>> len(sheet), [(column.name, column.kind) for column in sheet.columns]
    (3, [('size', 'numeric'), ('same', 'constant')])
    >>> [column.name for column in sheet.used]
    ['size']
    """

    X: Any
    y: np.ndarray | None
    columns: tuple[Column, ...]
    target: Column | None
    lines: np.ndarray
    rows: np.ndarray
    total: int
    bad: tuple[BadRow, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""
    layout: dict[str, Any] = field(default_factory=dict)
    path: Any = None
    roles: Any = None
    codes: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that are learned from, in the order of those of `X`."""
        return tuple(column for column in self.columns if column.used)
