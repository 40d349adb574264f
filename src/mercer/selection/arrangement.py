"""Arrangements: an order of the items in which the folds lie side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.selection.splits import Split

__all__ = ["Arrangement", "arrange"]


@dataclass
class Arrangement:
    """Items in an order in which the sets to be left out lie side by side where they can.

    Attributes
    ----------
    items : ndarray
        The items that count, in their new order.
    removed : list
        For each split the places that are left out: a slice, an ascending array, or None if the
        split cannot be had that way. Inner folds do not repeat those of their outer one.
    tests : list
        For each split where among them the test items are.
    nested : bool
        Whether inner folds stand for themselves together with their outer ones.
    """

    items: np.ndarray
    nested: bool = False
    removed: list[Any] = field(default_factory=list)
    tests: list[Any] = field(default_factory=list)


def arrange(
    splits: Sequence[Split], count: int, weights: np.ndarray | None, nest: bool = True
) -> Arrangement:
    """Return an order of the items for these splits; with `nest`, one for nested folds.

    Examples
    --------
    >>> splits = [Split(np.array([0, 2]), np.array([1, 3])), Split(np.array([1, 3]), np.r_[0, 2])]
    >>> found = arrange(splits, 4, None)
    >>> found.items, found.removed
    (array([1, 3, 0, 2]), [slice(0, 2, None), slice(2, 4, None)])
    """
    active = np.ones(count, dtype=bool) if weights is None else weights > 0
    sets = [_removed(split, active) for split in splits]
    blocks = [
        rows
        for split, rows in zip(splits, sets, strict=True)
        if rows is not None and (split.within is None or not nest)
    ]
    together = np.concatenate(blocks) if blocks else np.empty(0, dtype=np.intp)
    apart = len(np.unique(together)) == len(together)
    rest = np.setdiff1d(np.flatnonzero(active), together)
    items = np.concatenate([together, rest]) if apart else np.flatnonzero(active)
    place = np.full(count, -1)
    place[items] = np.arange(len(items))
    found = Arrangement(items, nested=nest and apart)
    for k, split in enumerate(splits):
        mine = sets[k]
        if found.nested and split.within is not None and mine is not None:
            outer = sets[split.within]
            sets[k] = None if outer is None else np.setdiff1d(mine, outer)
    for split, rows in zip(splits, sets, strict=True):
        where: Any = None if rows is None else np.sort(place[rows])
        if rows is not None and len(rows) and where[-1] - where[0] == len(where) - 1:
            where = slice(int(where[0]), int(where[-1]) + 1)
        found.removed.append(where)
        found.tests.append(None if rows is None else _within(where, place[split.test]))
        if found.tests[-1] is None:
            found.removed[-1] = None
    return found


def _removed(split: Split, active: np.ndarray) -> np.ndarray | None:
    """Return the items that a split leaves out, or None where it is not that simple."""
    learned = np.zeros(len(active), dtype=bool)
    learned[split.train] = True
    if learned.sum() != len(split.train) or learned[split.test].any():
        return None  # items that are repeated, or held out and learned from at once
    if not active[split.test].all() or not (learned & active).any():
        return None  # an item without weight is in no system
    return np.flatnonzero(active & ~learned)


def _within(rows: Any, places: np.ndarray) -> np.ndarray | None:
    if isinstance(rows, slice):
        return places - rows.start
    found = np.searchsorted(rows, places)
    good = (found < len(rows)) & (rows[np.minimum(found, len(rows) - 1)] == places)
    return found if good.all() else None
