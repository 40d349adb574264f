"""Stratified folds and samples: items dealt like cards, every class in its share."""

from __future__ import annotations

import numpy as np

__all__ = ["grouped_folds", "stratified_folds", "stratified_sample"]


def stratified_folds(
    codes: np.ndarray,
    folds: int,
    rng: np.random.Generator | np.random.RandomState,
    rows: np.ndarray | None = None,
    min_count: int = 1,
    restart: bool = False,
) -> np.ndarray:
    """Return the fold in which each item is held out, −1 for items that never are.

    Items are shuffled within their class and dealt in turn.

    Parameters
    ----------
    codes : ndarray of int
        The class of each item.
    folds : int
    rng : random generator
    rows : ndarray of int, optional
        The items that are dealt, by default all.
    min_count : int
        Number of items that a class must have to be dealt.
    restart : bool
        Whether each class begins with the first fold; otherwise it goes on where the one before
        has ended, so that folds are of the same size.

    Examples
    --------
    >>> stratified_folds(np.array([0, 0, 1, 1, 2]), 5, np.random.RandomState(0), min_count=2)
    array([ 0,  1,  2,  3, -1])
    """
    rows = np.arange(len(codes)) if rows is None else rows
    if restart:
        parts = [rng.permutation(rows[codes[rows] == code]) for code in np.unique(codes[rows])]
        order = np.concatenate(parts)
        turn = np.concatenate([np.arange(len(part)) for part in parts])
    else:
        order = rng.permutation(rows)
        order = order[np.argsort(codes[order], kind="stable")]
        order = order[np.bincount(codes[order])[codes[order]] >= min_count]
        turn = np.arange(len(order))
    fold = np.full(len(codes), -1)
    fold[order] = turn % folds
    return fold


def grouped_folds(
    codes: np.ndarray,
    groups: np.ndarray,
    folds: int,
    rng: np.random.Generator | np.random.RandomState,
) -> np.ndarray:
    """Return the fold in which each item is held out; items of one group are in one fold.

    Groups are shuffled, the largest are dealt first, and each goes where it makes the classes
    most even (as in scikit-learn's `StratifiedGroupKFold`). There are at most as many folds as
    groups.

    Parameters
    ----------
    codes : ndarray of int
        The class of each item; all alike if there are none.
    groups : ndarray of int
        The group of each item, from 0 without gaps.
    folds : int
    rng : random generator

    Examples
    --------
    >>> groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    >>> fold = grouped_folds(
    ...     np.array([0, 0, 0, 0, 1, 1, 1, 1]), groups, 2, np.random.RandomState(0)
    ... )
    >>> [len(set(fold[groups == k])) for k in range(4)], np.bincount(fold)
    ([1, 1, 1, 1], array([4, 4]))
    """
    count, classes = int(groups.max()) + 1, int(codes.max()) + 1
    folds = min(folds, count)
    table = np.bincount(groups * classes + codes, minlength=count * classes)
    table = table.reshape(count, classes).astype(np.float64)
    share = table / np.maximum(table.sum(axis=0), 1.0)
    size = table.sum(axis=1) / len(codes)
    order = rng.permutation(count)
    order = order[np.argsort(-share.max(axis=1)[order], kind="stable")]
    filled, fullness = np.zeros((folds, classes)), np.zeros(folds)
    dealt = np.zeros(count, dtype=np.int64)
    for group in order.tolist():
        # What the squares of the shares of all folds would grow by.
        growth = 2 * filled @ share[group] + 2 * fullness * size[group]
        fold = int(np.argmin(growth))
        dealt[group] = fold
        filled[fold] += share[group]
        fullness[fold] += size[group]
    return dealt[groups]


def stratified_sample(
    codes: np.ndarray,
    rows: np.ndarray,
    count: int,
    rng: np.random.Generator | np.random.RandomState,
    least: int = 0,
) -> np.ndarray:
    """Return about so many of some items, every class in its share.

    Parameters
    ----------
    codes : ndarray of int
        The class of each item; all alike if there are none.
    rows : ndarray of int
        The items to choose from.
    count : int
    rng : Generator or RandomState
    least : int
        Of each class so many at least, as far as there are.

    Examples
    --------
    >>> codes = np.repeat([0, 1], [90, 10])
    >>> some = stratified_sample(codes, np.arange(100), 20, np.random.default_rng(0))
    >>> np.bincount(codes[some])
    array([18,  2])
    """
    if len(rows) <= count:
        return rows
    order = rows[rng.permutation(len(rows))]
    order = order[np.argsort(codes[order], kind="stable")]
    places = np.floor(np.arange(count) * (len(order) / count)).astype(np.int64)
    chosen = order[places]
    if least:
        sizes = np.bincount(codes[order])
        starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        first = np.arange(len(order)) - starts < least
        chosen = np.union1d(chosen, order[first])
    return np.sort(chosen)
