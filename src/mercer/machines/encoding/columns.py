"""Columns: each kind of column with what was learned about it, from entries to new columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError
from mercer.machines.encoding.levels import MISSING, Levels
from mercer.machines.encoding.reading import read_days, read_numbers, read_texts
from mercer.machines.encoding.scales import NumberScale, NumberScales, is_even, learn_scales
from mercer.machines.encoding.times import Dates, learn_dates

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EncodedColumn", "learn_quantity", "zeros"]

# False and True are √2 apart, as two levels are.
BOOLEAN = NumberScale(0.5, float(np.sqrt(0.5)))


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """A column of the input, and what becomes of it.

    Attributes
    ----------
    place : int
        Where it stood in the training table.
    kind : str
    lenient : bool
        Whether what cannot be read is a gap, because the column was of texts.
    told : bool
        Whether gaps have a column of their own, 1 where there is a gap and 0 elsewhere.
    maker : NumberScale, NumberScales, Dates, Levels or None
        None if only the gaps tell something.
    order : list of str
        Levels of an ordered category.
    """

    place: int
    kind: str
    lenient: bool
    told: bool
    maker: NumberScale | NumberScales | Dates | Levels | None
    order: list[str]

    @property
    def parts(self) -> list[str]:
        """What stands behind the name of the column in the names of the new ones."""
        made = [""] if isinstance(self.maker, NumberScale) else getattr(self.maker, "parts", [])
        return [*made, *([f" {MISSING}"] if self.told else [])]

    def __call__(self, column: pd.Series) -> np.ndarray:
        """Return the new columns."""
        if isinstance(self.maker, Levels):
            return self.maker(column)
        return self.encode(read_quantity(column, self.place, self.kind, self.lenient, self.order))

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return the new columns of quantities."""
        found = [] if self.maker is None else [self.maker(values)]
        if self.told:
            found.append(np.isnan(values).astype(np.float64))
        if len(found) == 1 and found[0].ndim == 1:
            return found[0][:, None]
        return np.column_stack(found)


def read_quantity(
    column: pd.Series, place: int, kind: str, lenient: bool, order: list[str]
) -> np.ndarray:
    """Return a column as float64: numbers, days, 0 and 1, or ranks."""
    if kind == "boolean":
        values = column if isinstance(column, np.ndarray) else read_numbers(column)
        _check_booleans(values, getattr(column, "name", place))
        return values
    if isinstance(column, np.ndarray):
        return column
    if kind == "date":
        return read_days(column, lenient)
    if kind == "ordered":
        codes, found = read_texts(column)
        ranks = {level: float(rank) for rank, level in enumerate(order)}
        return np.array([*(ranks.get(level, np.nan) for level in found), np.nan])[codes]
    return read_numbers(column, lenient)


def learn_quantity(
    column: pd.Series, place: int, kind: str, numbers: tuple[str, ...]
) -> tuple[EncodedColumn | None, np.ndarray]:
    """Return what was learned about a column that is no category, and its values.

    None if all entries are the same and none is missing.
    """
    lenient = kind in ("numeric", "date") and _is_text(column)
    order = _order(column) if kind == "ordered" else []
    values = read_quantity(column, place, kind, lenient, order)
    if np.isnan(values).all():
        raise DomainError(
            f"kinds: no entry of column {getattr(column, 'name', place)!r} can be read as {kind}; "
            "call it 'categorical', or leave it to how it looks"
        )
    told = bool(np.isnan(values).any())
    maker: NumberScale | NumberScales | Dates | None
    if is_even(values):
        maker = None
    elif kind == "boolean":
        maker = BOOLEAN
    elif kind == "date":
        maker = learn_dates(values, numbers[0])
    else:
        maker = learn_scales(values, numbers)
    if maker is None and not told:
        return None, values
    return EncodedColumn(place, kind, lenient, told, maker, order), values


def zeros(place: int, kind: str, count: int) -> tuple[EncodedColumn, np.ndarray]:
    """Return a column that is zero whatever its entries are."""
    nothing = Levels(np.array([], dtype=object), np.zeros((2, 1)), [""])
    return EncodedColumn(place, kind, False, False, nothing, []), np.zeros((count, 1))


def _is_text(column: pd.Series) -> bool:
    if isinstance(column, np.ndarray) or column.dtype.kind in "biufcmM":
        return False
    return any(isinstance(entry, str) for entry in column)


def _check_booleans(values: np.ndarray, name: Any) -> None:
    odd = np.flatnonzero(~(np.isnan(values) | (values == 0) | (values == 1)))
    if len(odd):
        raise DomainError(
            f"row {odd[0]}, column {name!r} of X: {values[odd[0]]:g} is neither true nor false, 1 "
            f"nor 0; is the column 'numeric'? Say so in kinds"
        )


def _order(column: pd.Series) -> list[str]:
    import pandas as pd

    return read_texts(pd.Series(column.cat.categories))[1]
