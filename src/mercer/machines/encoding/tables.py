"""Tables to encode: a DataFrame, or an array of numbers, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains import Items, Table, is_frame, to_numpy
from mercer.domains.vectors import read
from mercer.errors import DomainError

__all__ = ["column_of", "read_table"]


def read_table(X: Items) -> Any:
    """Return a DataFrame, or an array of float64 with NaN in gaps."""
    if sparse.issparse(X):
        raise DomainError("Encode takes dense tables, but X is sparse; take Standardize for it")
    if is_frame(X):
        Table(X)  # refuses what is empty, and names that occur twice
        if X.shape[1] == 0:
            raise DomainError(
                f"Found X with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
            )
        if len({isinstance(name, str) for name in X.columns}) > 1:
            raise DomainError("column names must be all text or all numbers; rename some of them")
        return X
    objects = _objects(X)
    if objects is not None:
        return objects
    rows = np.asarray(to_numpy(read(X, "X").array), dtype=np.float64)
    if np.isinf(rows).any():
        row, column = np.argwhere(np.isinf(rows))[0]
        raise DomainError(
            f"Input X contains infinity at row {row}, column {column}; remove the row, or make it "
            "a gap (NaN)"
        )
    return rows


def _objects(X: Items) -> Any:
    """Return an array of objects or texts as a DataFrame, None for anything else."""
    import pandas as pd

    try:
        array = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
    except ValueError:  # of rows of different lengths, refused by whoever reads numbers
        return None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or not array.size:
        return None
    if array.dtype.kind not in "OUS":
        return None
    return pd.DataFrame(array.astype(object)).infer_objects()


def column_of(table: Any, place: int) -> Any:
    """Return a Series of a DataFrame, or a column of an array."""
    return table.iloc[:, place] if is_frame(table) else table[:, place]
