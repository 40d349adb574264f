"""What users hand over as data: a file, a table of any library, or rows and targets apart."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer.domains import is_frame
from mercer.errors import DomainError
from mercer.sources.frames import as_pandas

__all__ = ["GivenTable", "given_table"]

GivenTable = tuple[Any, "str | None", dict[str, "str | None"]]
TARGET = "target"  # what targets without a name are called


def given_table(data: Any, target: Any, roles: Mapping[str, Any]) -> GivenTable:
    """Return a path, a sheet or a DataFrame, with the names of its target and of its roles.

    Rows and targets may be apart, as scikit-learn has them, and groups, times and weights may be
    sequences with an entry for each row; all of them become columns of one DataFrame.

    Examples
    --------
    >>> frame, target, roles = given_table(np.eye(3), [1.0, 2.0, 3.0], {"groups": ["a", "b", "a"]})
    >>> list(frame.columns), target, roles
    (['x0', 'x1', 'x2', 'target', 'groups'], 'target', {'groups': 'groups'})
    """
    apart = {role: given for role, given in roles.items() if _is_column(given)}
    named = {role: given for role, given in roles.items() if role not in apart}
    whole = isinstance(data, str | os.PathLike) or type(data).__name__ == "Sheet"
    if whole and (apart or _is_column(target)):
        raise DomainError(
            "a file has its targets, groups, times and weights in columns: name the columns"
        )
    if whole:
        return data, target, named
    frame = _frame(data, _is_column(target))
    if _is_column(target):
        name = _free(str(getattr(target, "name", None) or TARGET), frame)
        frame = frame.assign(**{name: _column(target, len(frame), "targets")})
        target = name
    for role, given in apart.items():
        name = _free(role, frame)
        frame = frame.assign(**{name: _column(given, len(frame), role)})
        named[role] = name
    return frame, target, named


def _is_column(given: Any) -> bool:
    return given is not None and not isinstance(given, str) and hasattr(given, "__len__")


def _frame(data: Any, apart: bool) -> Any:
    """Return rows as a DataFrame of pandas, whatever library their table is of."""
    import pandas as pd

    if (
        (hasattr(data, "collect") and not hasattr(data, "__len__"))
        or hasattr(data, "__dataframe__")
        or hasattr(data, "to_pandas")
        or is_frame(data)
    ):
        return as_pandas(data)
    array = np.asarray(data, dtype=None if not isinstance(data, list) else object)
    if not apart or array.ndim not in (1, 2):
        raise DomainError(
            "data must be the path of a file, a DataFrame, or rows with their targets as "
            f"study(X, y); found {type(data).__name__}"
        )
    if array.dtype == object and array.ndim == 2:
        array = np.array(array.tolist())
    if array.ndim == 1:
        return pd.DataFrame({"x0": array})
    return pd.DataFrame({f"x{j}": array[:, j] for j in range(array.shape[1])})


def _column(given: Sequence[Any], count: int, what: str) -> np.ndarray:
    if len(given) != count:
        raise DomainError(f"there are {count} rows, but {len(given)} {what}")
    array = np.asarray(given)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DomainError(f"{what} must have one entry for each row, found shape {array.shape}")
    return array


def _free(name: str, frame: Any) -> str:
    """Return a name that no column has."""
    while name in frame.columns:
        name = f"{name} "[:-1] + "_"
    return name
