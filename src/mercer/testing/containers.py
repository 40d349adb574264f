"""Containers: what users keep their items in, taken apart without asking mercer."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["count", "same", "snapshot", "take", "things"]


def take(items: Any, rows: Any) -> Any:
    """Return the items at `rows`, in the kind of container that they came in."""
    if hasattr(items, "iloc"):
        return items.iloc[rows]
    if isinstance(items, np.ndarray) or sparse.issparse(items):
        return items[rows]
    return [items[i] for i in np.arange(len(items))[rows]]


def things(items: Any) -> list[Any]:
    """Return the items one by one, as `pair` takes them: a row of a DataFrame is a dict."""
    return items.to_dict(orient="records") if hasattr(items, "iloc") else list(items)


def count(items: Any) -> int:
    """Return the number of items."""
    return int(items.shape[0]) if hasattr(items, "shape") else len(items)


def snapshot(items: Any) -> Any:
    """Return a copy that shares nothing with the original."""
    return copy.deepcopy(items)


def same(one: Any, two: Any) -> bool:
    """Tell whether two containers hold equal items of equal types."""
    if hasattr(one, "iloc"):
        return type(one) is type(two) and one.equals(two) and list(one.index) == list(two.index)
    if sparse.issparse(one):
        return all(
            np.array_equal(getattr(one, part), getattr(two, part))
            for part in ("data", "indices", "indptr")
        )
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two)
    return len(one) == len(two) and all(same_thing(a, b) for a, b in zip(one, two, strict=True))


def same_thing(one: Any, two: Any) -> bool:
    """Tell whether two items are equal, arrays entry by entry."""
    if isinstance(one, np.ndarray):
        return same(one, two)
    return type(one) is type(two) and bool(one == two)
