"""Splits: which items are learned from and which are held out, checked before any work starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import check_cv
from sklearn.utils.validation import _num_samples

from mercer.domains import Items
from mercer.errors import SelectionError

__all__ = ["FoldOrder", "Split", "order_by_fold", "renumbered", "splits_of"]


@dataclass(frozen=True)
class Split:
    """Items to learn from, and items to predict.

    Attributes
    ----------
    train, test : ndarray of int
    within : int or None
        For the inner folds of nested cross-validation: which of the outer folds, counted from
        zero, is left out as well.
    """

    train: np.ndarray
    test: np.ndarray
    within: int | None = None


def splits_of(
    cv: Any,
    X: Items,
    y: ArrayLike | None,
    classifier: bool,
    groups: ArrayLike | None = None,
    codes: np.ndarray | None = None,
    classes: Sequence[Any] = (),
    name: str = "cv",
) -> list[Split]:
    """Return the splits of a splitter, a number of folds, or an iterable of (train, test).

    For classifiers, `codes` are the classes of the items: each must be among those learned from.

    Examples
    --------
    >>> [split.test.tolist() for split in splits_of(2, [[1.0], [2.0], [3.0]], None, False)]
    [[0, 1], [2]]
    """
    count = _num_samples(X)
    if y is not None and _num_samples(y) != count:
        raise SelectionError(f"there are {count} items, but {_num_samples(y)} targets")
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        _check_folds(int(cv), count, name)
    if isinstance(cv, type):
        raise SelectionError(f"{name} must be a splitter, found a class; write {cv.__name__}()")
    if cv is not None and isinstance(cv, bool | str | float):
        raise SelectionError(
            f"{name} must be a number of folds, a splitter or an iterable of splits, found {cv!r}"
        )
    if isinstance(cv, Iterable) and not hasattr(cv, "split"):
        cv = list(cv)
    try:
        splitter = check_cv(cv, y, classifier=classifier)
    except ValueError as error:
        raise SelectionError(str(error)) from error
    if groups is not None and _num_samples(groups) != count:
        raise SelectionError(f"groups has {_num_samples(groups)} entries for {count} items")
    try:
        pairs = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, groups)]
    except (TypeError, ValueError) as error:
        raise SelectionError(_why(splitter, count, groups, error)) from error
    if not pairs:
        raise SelectionError(f"{name} gives no splits at all")
    splits = [
        Split(_places(a, count, f"training part of split {k}"), _places(b, count, f"split {k}"))
        for k, (a, b) in enumerate(pairs)
    ]
    if codes is not None:
        require_classes(splits, codes, classes)
    return splits


def require_classes(
    splits: Sequence[Split], codes: np.ndarray, classes: Sequence[Any], name: str = "split"
) -> None:
    """Refuse a split that learns without having seen one of the classes."""
    for k, split in enumerate(splits):
        seen = np.bincount(codes[split.train], minlength=len(classes)) > 0
        if not seen.all():
            missing = classes[int(np.argmin(seen))]
            count = int(np.sum(codes == int(np.argmin(seen))))
            some = "there is 1 item" if count == 1 else f"there are {count} items"
            raise SelectionError(
                f"{name} {k} has no item of the class {missing!r} to learn from; {some} of it in "
                "all: use fewer or stratified folds, or leave that class out"
            )


def _check_folds(folds: int, count: int, name: str) -> None:
    if folds < 2:
        raise SelectionError(f"{name} must be at least 2 folds, found {folds}")
    if folds > count:
        raise SelectionError(f"{name} is {folds} folds, but there are only {count} items")


def _why(splitter: Any, count: int, groups: ArrayLike | None, error: Exception) -> str:
    name = type(splitter).__name__
    name = "cv" if name.startswith("_") else name
    if groups is None and "groups" in str(error):
        return f"{name} needs groups: pass groups=..., one entry for each item"
    folds = getattr(splitter, "n_splits", None)
    if isinstance(folds, int) and folds > count:
        return f"{name} is to make {folds} folds, but there are only {count} items"
    return f"{name} cannot split these items: {error}"


def _places(rows: np.ndarray, count: int, name: str) -> np.ndarray:
    """Return places of items as integers, refusing an empty set and places that do not exist."""
    if rows.ndim != 1:
        raise SelectionError(f"the {name} must be a list of items, found {rows.ndim} dimensions")
    if rows.dtype == bool:
        if len(rows) != count:
            raise SelectionError(
                f"the {name} is a mask of {len(rows)} entries, but there are {count} items"
            )
        rows = np.flatnonzero(rows)
    if len(rows) == 0:
        raise SelectionError(f"the {name} is empty")
    if rows.dtype.kind not in "iu" or rows.min() < -count or rows.max() >= count:
        raise SelectionError(f"the {name} names items that are not among the {count} given")
    return np.where(rows < 0, rows + count, rows).astype(np.intp)


def renumbered(splits: list[Split], places: list[int]) -> list[Split]:
    """Return splits whose `within` counts in their own list; it is dropped if it is not there."""
    where = {place: k for k, place in enumerate(places)}
    return [
        Split(s.train, s.test, None if s.within is None else where.get(s.within)) for s in splits
    ]


@dataclass
class FoldOrder:
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


def order_by_fold(
    splits: Sequence[Split], count: int, weights: np.ndarray | None, nest: bool = True
) -> FoldOrder:
    """Return an order of the items for these splits; with `nest`, one for nested folds.

    Examples
    --------
    >>> splits = [Split(np.array([0, 2]), np.array([1, 3])), Split(np.array([1, 3]), np.r_[0, 2])]
    >>> found = order_by_fold(splits, 4, None)
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
    found = FoldOrder(items, nested=nest and apart)
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
