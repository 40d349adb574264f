"""DataFrames as sources."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import DomainTypeError
from mercer.sources.names import unique_names
from mercer.sources.pieces import Piece, objects

__all__ = ["Frame"]

DAY = 86_400.0


class Frame:
    """A DataFrame of pandas, or of a library that can turn its own into that.

    Rows are counted from 1; the index is not read.
    """

    unit = "row"
    target: str | None = None
    path: Path | None = None

    def __init__(self, frame: Any) -> None:
        if hasattr(frame, "to_pandas"):
            frame = frame.to_pandas()
        if not (hasattr(frame, "iloc") and hasattr(frame, "columns")):
            raise DomainTypeError(
                f"expected a path or a DataFrame, found something of type {type(frame).__name__}"
            )
        self.frame = frame
        self.name = "the DataFrame"
        self.columns, self.notes = unique_names([str(name) for name in frame.columns])
        self.layout: dict[str, Any] = {"format": "frame"}
        self.kinds = {
            name: "categorical"
            for place, name in enumerate(self.columns)
            if str(frame.dtypes.iloc[place]) == "category"
        }

    def pieces(self, size: int, wanted: Collection[str] | None = None) -> Iterator[Piece]:
        for start in range(0, len(self.frame), size):
            part = self.frame.iloc[start : start + size]
            columns = {
                name: _entries(part.iloc[:, place])
                for place, name in enumerate(self.columns)
                if wanted is None or name in wanted
            }
            rows = np.arange(start, start + len(part))
            yield Piece(columns, rows + 1, rows, len(part))


def _entries(series: Any) -> np.ndarray:
    """Return a column as numbers or times if pandas says so, else as objects."""
    kind = getattr(series.dtype, "kind", "O")
    gaps = series.isna().to_numpy(dtype=bool)
    if kind == "f":
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind in "iu" and not gaps.any():
        return series.to_numpy()
    if kind == "m":
        return series.dt.total_seconds().to_numpy(dtype=np.float64, na_value=np.nan) / DAY
    if kind == "M":
        if getattr(series.dtype, "tz", None) is not None:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return series.to_numpy(dtype="datetime64[us]")
    pairs = zip(series.tolist(), gaps.tolist(), strict=True)
    return objects(None if gap else value for value, gap in pairs)
