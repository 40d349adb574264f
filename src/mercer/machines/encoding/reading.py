"""Reading columns: their entries as numbers, days or texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError, DomainTypeError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_days", "as_numbers", "different", "read_days", "read_numbers", "read_texts"]

DAY = np.timedelta64(1, "D")
PLAIN = (str, bytes, bool, int, float, np.generic)


def read_numbers(column: pd.Series, lenient: bool = False) -> np.ndarray:
    """Return entries as float64, NaN in gaps; durations are in days.

    What is no number is refused with its row, or a gap if `lenient`, as in a column of texts that
    happened to be numbers so far. Infinite numbers are refused.
    """
    from pandas.api import types

    dtype = column.dtype
    if dtype == np.float64 and isinstance(dtype, np.dtype):  # what most tables are made of
        values = column.to_numpy()
    elif types.is_timedelta64_dtype(dtype):
        values = column.to_numpy() / DAY
    elif types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = as_numbers(column.astype(object))
        if not lenient:
            _refuse(np.isnan(values) & column.notna().to_numpy(), column, "a number")
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise DomainError(
            f"Input X contains infinity at row {row}, column {column.name!r}; remove the row, or "
            "make it a gap (NaN)"
        )
    return values


def read_days(column: pd.Series, lenient: bool = False) -> np.ndarray:
    """Return times as days since 1970, NaN in gaps; numbers are such days already.

    Examples
    --------
    >>> import pandas as pd
    >>> read_days(pd.Series(["1970-01-02", None, "1970-01-03 12:00"]))
    array([1. , nan, 2.5])
    """
    from pandas.api import types

    if types.is_numeric_dtype(column.dtype):
        return read_numbers(column)
    if getattr(column.dtype, "name", "").startswith("period"):
        column = column.dt.to_timestamp()
    values = as_days(column)
    if not lenient:
        _refuse(np.isnan(values) & column.notna().to_numpy(), column, "a date")
    return values


def read_texts(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """Return the number of each entry among the different ones (−1 in gaps), and these as texts.

    The whole number 1, 1.0 and "1" are one level: a gap elsewhere in a column makes floats of
    its whole numbers, and a file makes texts of all.

    Examples
    --------
    >>> import pandas as pd
    >>> codes, levels = read_texts(pd.Series([1, "a", 1.0, None, "1"], dtype=object))
    >>> codes.tolist(), levels
    ([0, 1, 0, -1, 0], ['1', 'a'])
    """
    import pandas as pd

    column = pd.Series(column)
    try:
        codes, entries = pd.factorize(column)
    except TypeError as error:
        raise _unreadable(column) from error
    known: dict[str, int] = {}
    places = [known.setdefault(_text(entry), len(known)) for entry in list(entries)]
    return np.append(places, -1)[codes].astype(np.int64), list(known)


def _text(entry: Any) -> str:
    if isinstance(entry, float) and entry.is_integer() and abs(entry) < 2**53:
        return str(int(entry))
    return str(entry)


def different(column: pd.Series) -> list[Any]:
    """Return the different entries of a column, without gaps."""
    try:
        found = list(column.dropna().unique())
    except TypeError as error:
        raise _unreadable(column) from error
    return found


def as_numbers(entries: Any) -> np.ndarray:
    """Return things as float64, NaN where one is no number."""
    import pandas as pd

    series = pd.Series(entries, dtype=object)
    return pd.to_numeric(series, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)


def as_days(entries: Any) -> np.ndarray:
    """Return things as days since 1970, NaN where one is no date."""
    import pandas as pd

    series = pd.Series(entries)
    given = {} if series.dtype.kind == "M" else {"format": "ISO8601"}
    times = pd.to_datetime(series, errors="coerce", utc=True, **given)
    values = times.dt.tz_localize(None).to_numpy().astype("datetime64[us]")
    return np.where(np.isnat(values), np.nan, values.astype(np.int64) / 86_400_000_000)


def _refuse(bad: np.ndarray, column: pd.Series, what: str) -> None:
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DomainError(
            f"row {row}, column {column.name!r} of X: {str(column.iloc[row])[:40]!r} is not "
            f"{what}, as all entries of this column must be; make it a gap, or call the column a "
            f"category from the start: kinds={{{column.name!r}: 'categorical'}}"
        )


def _unreadable(column: pd.Series) -> DomainTypeError:
    entries = column.dropna()
    odd = next((entry for entry in entries if not isinstance(entry, PLAIN)), entries.iloc[0])
    return DomainTypeError(
        f"column {column.name!r} of X holds entries of type {type(odd).__name__}, but an argument "
        "must be a string or a number; leave the column out, or take a kernel for such things"
    )
