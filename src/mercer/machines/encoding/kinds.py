"""Kinds: what each column of a table holds, as the user says or as it looks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError, suggestion
from mercer.machines.encoding.reading import as_days, as_numbers, different
from mercer.machines.encoding.tables import column_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KINDS", "infer_kind", "kinds_of"]

KINDS = ("numeric", "categorical", "ordered", "boolean", "date", "missing", "ignored")
SAID = tuple(kind for kind in KINDS if kind != "missing")  # what a user may say of a column
ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")
ZEROS = re.compile(r"[+-]?0\d+")  # a code, such as a postal code, rather than a number
NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")
TIMES = ("datetime", "datetime64", "date")


def kinds_of(
    table: Any, names: list[Any], said: Mapping[Any, str] | None, texts: bool
) -> dict[Any, str]:
    """Return the kind of each column: what the user says, or what it looks like.

    Parameters
    ----------
    table : DataFrame or ndarray
    names : list
        Names of its columns, or their numbers.
    said : dict, optional
        What the user says of some columns.
    texts : bool
        As for `infer_kind`.
    """
    said = dict(said or {})
    _check_said(said, names)
    return {name: _kind(column_of(table, j), name, said, texts) for j, name in enumerate(names)}


def _kind(column: pd.Series, name: Any, said: dict[Any, str], texts: bool) -> str:
    if said.get(name) == "ignored":
        return "ignored"
    if isinstance(column, np.ndarray):
        found = "missing" if np.isnan(column).all() else "numeric"
    elif name in said and column.dtype.kind != "c":  # no entry has to be looked at
        found = said[name] if column.notna().any() else "missing"
    else:
        found = infer_kind(column, texts)
    kind = found if found == "missing" else said.get(name, found)
    if kind == "ordered" and not hasattr(column, "cat"):
        raise DomainError(
            f"kinds: column {name!r} has no order; make it an ordered pandas.Categorical"
        )
    return kind


def _check_said(said: dict[Any, str], names: list[Any]) -> None:
    for name, kind in said.items():
        if name not in names:
            hint = suggestion(str(name), map(str, names))
            raise DomainError(f"kinds names {name!r}, which is no column of X{hint}")
        if kind not in SAID:
            raise DomainError(f"kinds: {name!r} cannot be {kind!r}{suggestion(str(kind), SAID)}")


def infer_kind(column: pd.Series, texts: bool = True) -> str:
    """Return what a column of a DataFrame holds, one of `KINDS`.

    Parameters
    ----------
    column : Series
    texts : bool
        Whether texts that are all numbers, or all dates as 2024-03-01, are taken for such.
        Numbers with zeros before them are codes, and stay texts.

    Examples
    --------
    >>> import pandas as pd
    >>> [infer_kind(pd.Series(list(x))) for x in (["1", "2.5"], ["01", "02"], [True, None])]
    ['numeric', 'categorical', 'boolean']
    """
    from pandas.api import types

    dtype = column.dtype
    if not column.notna().any():
        return "missing"
    if getattr(dtype, "categories", None) is not None:
        return "ordered" if dtype.ordered else "categorical"
    if types.is_complex_dtype(dtype):
        raise DomainError(f"Complex data not supported: column {column.name!r} of X")
    if types.is_bool_dtype(dtype):
        return "boolean"
    if types.is_numeric_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        return "numeric"
    if types.is_datetime64_any_dtype(dtype) or getattr(dtype, "name", "").startswith("period"):
        return "date"
    return _kind_of_objects(column, texts)


def _kind_of_objects(column: pd.Series, texts: bool) -> str:
    from pandas.api.types import infer_dtype

    found = infer_dtype(column, skipna=True)
    if found == "boolean":
        return "boolean"
    if found in NUMBERS:
        return "numeric"
    if found in TIMES:
        return "date"
    entries = different(column)
    if not texts or found != "string":
        return "categorical"
    if not any(map(ZEROS.fullmatch, entries)) and not np.isnan(as_numbers(entries)).any():
        return "numeric"
    dates = all(map(ISO.fullmatch, entries)) and not np.isnan(as_days(entries)).any()
    return "date" if dates else "categorical"
