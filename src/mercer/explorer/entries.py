"""Entries: the rows that are explored, as a table that can be shown, typed into and changed.

Whatever a machine takes (a DataFrame, an array, a list of strings), here it is a table with named
columns, and `EntryTable.items` turns rows of it back into what the machine takes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer.domains import is_frame
from mercer.errors import DomainError, suggestion
from mercer.studies.guard import shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NUMBERS", "TYPED", "EntryTable", "plain_entry"]

NUMBERS = ("numeric", "date")
LETTERS = ("text", "sequence", "smiles")
TYPED = (*NUMBERS, "categorical", *LETTERS)  # kinds that one can type
MAX_LEVELS = 200  # of a category that one can choose from; more are typed
MAX_ENTRIES = 20_000_000  # of a sparse table that is filled up, 160 MB
MAX_TYPED = 20_000  # letters of one entry
CATEGORY_LEVELS = 30  # different texts of a column without a recipe, up to which it has levels


@dataclass(frozen=True, eq=False)
class EntryTable:
    """Rows as a table.

    Attributes
    ----------
    frame : DataFrame
        Numbers (dates are days since 1970), texts, or whole things such as graphs.
    kinds : mapping of str to str
        What each column is: "numeric", "date", "categorical", "text", "sequence", "smiles",
        "graph" or "thing".
    container : {"frame", "array", "list"}
        What the machine takes.
    names : tuple
        The names of the columns as the machine knows them.

    Examples
    --------
    >>> table = EntryTable.of(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> list(table.frame.columns), table.items(table.frame.iloc[[1]])
    (['x0', 'x1'], array([[3., 4.]]))
    """

    frame: pd.DataFrame
    kinds: Mapping[str, str]
    container: str
    names: tuple[Any, ...]

    @classmethod
    def of(cls, X: Any, kinds: Mapping[str, str] | None = None, what: str = "") -> EntryTable:
        """Return rows as a table.

        Parameters
        ----------
        X : DataFrame, array or list
        kinds : mapping, optional
            What columns of a DataFrame are; guessed without it.
        what : str
            The kind of the things in a list.
        """
        import pandas as pd

        if is_frame(X):
            frame = X.reset_index(drop=True)
            names = tuple(frame.columns)
            frame.columns = [str(name) for name in names]
            given = {str(name): kind for name, kind in (kinds or {}).items()}
            known = {name: given.get(name) or _kind_of(frame[name]) for name in frame.columns}
            return cls(frame, known, "frame", names)
        if sparse.issparse(X):
            if X.shape[0] * X.shape[1] > MAX_ENTRIES:
                raise DomainError(
                    f"{X.shape[1]} columns of a sparse table are too many to explore; take some "
                    "of them, or fewer rows"
                )
            X = X.toarray()
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub":
            frame = pd.DataFrame(np.asarray(X, dtype=np.float64))
            frame.columns = [f"x{j}" for j in range(frame.shape[1])]
            return cls(frame, dict.fromkeys(frame.columns, "numeric"), "array", ())
        column = pd.Series(np.empty(len(X), dtype=object))
        column[:] = list(X)
        kind = what or ("sequence" if len(X) and isinstance(X[0], str) else "thing")
        return cls(pd.DataFrame({"item": column}), {"item": kind}, "list", ())

    def __len__(self) -> int:
        return len(self.frame)

    def take(self, places: np.ndarray) -> EntryTable:
        """Return some of the rows."""
        return replace(self, frame=self.frame.iloc[places].reset_index(drop=True))

    def items(self, frame: pd.DataFrame | None = None) -> Any:
        """Return rows, all by default, as the machine takes them."""
        frame = self.frame if frame is None else frame
        if self.container == "array":
            return frame.to_numpy(dtype=np.float64)
        if self.container == "list":
            return frame["item"].tolist()
        found = frame.copy(deep=False)
        found.columns = list(self.names)
        return found

    @property
    def typed(self) -> list[str]:
        """The columns that one can type into."""
        return [name for name, kind in self.kinds.items() if kind in TYPED]

    @cached_property
    def levels(self) -> dict[str, list[str]]:
        """The different entries of each category, in order; of none with too many."""
        found = {}
        for name, kind in self.kinds.items():
            if kind == "categorical":
                there = sorted(set(self.frame[name].dropna().astype(str)))
                if len(there) <= MAX_LEVELS:
                    found[name] = there
        return found

    @cached_property
    def spans(self) -> dict[str, tuple[float, float, float]]:
        """The smallest and the largest entry of columns of numbers, and their spread."""
        found = {}
        for name, kind in self.kinds.items():
            if kind in NUMBERS:
                values = self.frame[name].to_numpy(dtype=np.float64)
                values = values[np.isfinite(values)]
                if len(values):
                    spread = float(values.std()) or 1.0
                    found[name] = float(values.min()), float(values.max()), spread
        return found

    def changed(self, place: int, cells: Mapping[str, Any]) -> pd.DataFrame:
        """Return a row with some entries exchanged for others, as a table of one row.

        Examples
        --------
        >>> table = EntryTable.of(np.array([[1.0, 2.0], [3.0, 4.0]]))
        >>> table.changed(0, {"x1": 7}).to_numpy()
        array([[1., 7.]])
        """
        row = self.frame.iloc[[self.place(place)]].reset_index(drop=True)
        for name, entry in cells.items():
            if name not in self.kinds:
                raise DomainError(
                    f"there is no column {name!r}{suggestion(str(name), list(self.kinds))}"
                )
            row[name] = self._column(name, [entry])
        return row

    def place(self, place: object) -> int:
        """Return the number of a row, refusing those that are not there."""
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(self):
            raise DomainError(f"there is no row {place!r}; rows are numbered 0 to {len(self) - 1}")
        return place

    def repeated(self, row: pd.DataFrame, name: str, entries: list[Any]) -> pd.DataFrame:
        """Return a row once for each of some entries of a column."""
        found = row.iloc[np.zeros(len(entries), dtype=int)].reset_index(drop=True)
        found[name] = self._column(name, entries)
        return found

    def _column(self, name: str, entries: list[Any]) -> Any:
        import pandas as pd

        made = [self.entry(name, entry) for entry in entries]
        if self.kinds[name] in NUMBERS:
            return np.array(made, dtype=np.float64)
        column = pd.Series(np.empty(len(made), dtype=object))
        column[:] = made
        return column.astype(self.frame[name].dtype) if self._settles(name, made) else column

    def _settles(self, name: str, entries: list[Any]) -> bool:
        """Tell whether a column's own type can hold entries: a category's has its levels only."""
        own = getattr(self.frame[name].dtype, "categories", None)
        return own is None or all(entry is None or entry in own for entry in entries)

    def entry(self, name: str, entry: Any) -> Any:
        """Return what was typed as an entry of a column; None or nothing stands for a gap."""
        kind = self.kinds[name]
        if kind not in TYPED:
            raise DomainError(f"the column {name!r} holds a {kind}, which cannot be typed")
        if kind in NUMBERS:
            return _number(name, kind, entry)
        if entry is None or entry == "":
            if kind == "categorical":
                return None
            raise DomainError(f"the column {name!r} needs at least one letter")
        if not isinstance(entry, str) or len(entry) > MAX_TYPED:
            raise DomainError(f"the column {name!r} needs a text of at most {MAX_TYPED} letters")
        return entry


def _number(name: str, kind: str, entry: Any) -> float:
    if entry is None or entry == "":
        return math.nan
    if isinstance(entry, str) and kind == "date" and "-" in entry.strip()[1:]:
        try:
            return float(np.datetime64(entry.strip(), "s").astype(np.int64)) / 86_400
        except ValueError:
            raise DomainError(f"{name!r} must be a date such as 2024-02-28") from None
    try:
        found = math.nan if isinstance(entry, bool) else float(entry)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise DomainError(f"{name!r} must be a number, found {str(entry)[:40]!r}")
    return found


def _kind_of(column: pd.Series) -> str:
    """Return what a column seems to be, where nobody has said so."""
    if column.dtype.kind in "fiub":
        return "numeric"
    there = column.dropna()
    if not all(isinstance(entry, str) for entry in there):
        return "thing"
    return "categorical" if there.nunique() <= CATEGORY_LEVELS else "text"


def plain_entry(entry: Any, kind: str) -> Any:
    """Return an entry as a number or a text that JSON can hold; None for a gap.

    Examples
    --------
    >>> plain_entry(np.float64(1.5), "numeric"), plain_entry(float("nan"), "numeric")
    (1.5, None)
    >>> plain_entry(0.0, "date")
    '1970-01-01'
    """
    if entry is None or (isinstance(entry, float | np.floating) and not math.isfinite(entry)):
        return None
    if kind == "date":
        return shown(float(entry), "date")
    if kind == "numeric":
        return float(entry)
    return str(entry)[:MAX_TYPED]
