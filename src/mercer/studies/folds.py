"""Folds: rows dealt like cards, so that every class is spread evenly."""

from __future__ import annotations

import numpy as np

__all__ = ["RARE", "deal", "portion", "rare", "splits"]

RARE = 3  # a class with fewer rows cannot be learned, chosen for and judged at once
PAIR = 2  # rows of it that are left for inner folds, which only learn and choose


def rare(y: np.ndarray, least: int = RARE) -> np.ndarray:
    """Tell which rows belong to a class with fewer rows than `least`; no number is rare.

    Examples
    --------
    >>> rare(np.array(["a", "a", "a", "b"], dtype=object)).tolist()
    [False, False, False, True]
    """
    if y.dtype.kind == "f":
        return np.zeros(len(y), dtype=bool)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    return counts[codes] < least


def deal(y: np.ndarray, folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return the fold of each row: shuffled within its class, then dealt in turn.

    Examples
    --------
    >>> y = np.array(["a", "b"] * 3, dtype=object)
    >>> fold = deal(y, 3, np.random.default_rng(0))
    >>> [sorted(y[fold == k]) for k in range(3)]
    [['a', 'b'], ['a', 'b'], ['a', 'b']]
    """
    order = rng.permutation(len(y))
    if y.dtype.kind != "f":
        _, codes = np.unique(y, return_inverse=True)
        order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % folds
    return fold


def splits(
    y: np.ndarray, folds: int, rng: np.random.Generator, least: int = RARE
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (train, test) of each fold; rows of classes below `least` are never learned from.

    There are fewer folds than asked for where there are fewer rows.
    """
    few = rare(y, least)
    folds = min(folds, int((~few).sum()))
    fold = np.empty(len(y), dtype=np.int64)
    fold[~few] = deal(y[~few], folds, rng)
    fold[few] = np.arange(int(few.sum())) % folds
    return [(np.flatnonzero((fold != k) & ~few), np.flatnonzero(fold == k)) for k in range(folds)]


def portion(y: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return the places of about `count` rows, every class in its share, but with two at least.

    Examples
    --------
    >>> y = np.array(["a"] * 90 + ["b"] * 10, dtype=object)
    >>> some = portion(y, 20, np.random.default_rng(0))
    >>> (y[some] == "a").sum(), (y[some] == "b").sum()
    (np.int64(18), np.int64(2))
    """
    if count >= len(y):
        return np.arange(len(y))
    order = rng.permutation(len(y))
    if y.dtype.kind == "f":
        return np.sort(order[:count])
    _, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    wanted = np.maximum(np.minimum(sizes, 2), np.rint(sizes * count / len(y)).astype(int))
    order = order[np.argsort(codes[order], kind="stable")]
    place = np.arange(len(y)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < wanted[codes[order]]])
