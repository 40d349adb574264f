"""Frames: tables in memory, of whichever library, as DataFrames of pandas."""

from __future__ import annotations

from typing import Any

from mercer.errors import DomainError, DomainTypeError

__all__ = ["as_pandas"]


def as_pandas(frame: Any) -> Any:
    """Return a DataFrame of pandas; of other libraries by column, so that none is needed.

    Polars is read through its own columns, Arrow by its `to_pandas`, and what else speaks the
    dataframe interchange protocol by that.
    """
    import pandas as pd

    if isinstance(frame, pd.DataFrame) or (hasattr(frame, "iloc") and hasattr(frame, "columns")):
        return frame
    if hasattr(frame, "collect") and not hasattr(frame, "__len__"):
        raise DomainError("the table is not computed yet; pass table.collect()")
    if type(frame).__module__.split(".")[0] == "polars" and hasattr(frame, "columns"):
        return pd.DataFrame({str(name): _entries(frame[name]) for name in frame.columns})
    if hasattr(frame, "to_pandas"):
        return frame.to_pandas()
    if hasattr(frame, "__dataframe__"):
        return pd.api.interchange.from_dataframe(frame)
    raise DomainTypeError(
        "expected a path or a DataFrame of pandas, polars or Arrow, found something of type "
        f"{type(frame).__module__}.{type(frame).__qualname__}"
    )


def _entries(series: Any) -> Any:
    """Return a column of polars: numbers and times as arrays, everything else as objects."""
    import pandas as pd

    kind = str(series.dtype)
    if kind.startswith(("Int", "UInt", "Float")):
        return series.to_numpy()
    if kind.startswith(("Date", "Datetime")) and "time_zone='" not in kind:
        return series.to_numpy().astype("datetime64[us]")
    levels = kind.startswith(("Cat", "Enum"))
    return pd.Series(series.to_list(), dtype="category" if levels else object)
