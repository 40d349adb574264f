"""Folds: rows dealt like cards, so that every class is spread evenly, and what they say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer.machines.folds import stratified_folds

__all__ = [
    "MIN_IN_CLASS", "MIN_IN_INNER_CLASS", "baseline_error", "deal", "pooled_error", "portion",
    "rare", "splits",
]  # fmt: skip

MIN_IN_CLASS = 3  # rows; a class with fewer cannot be learned, chosen for and judged at once
MIN_IN_INNER_CLASS = 2  # rows of it that are left for inner folds, which only learn and choose


def rare(y: np.ndarray, least: int = MIN_IN_CLASS) -> np.ndarray:
    """Tell which rows belong to a class with fewer rows than `least`; no number is rare."""
    if y.dtype.kind == "f":
        return np.zeros(len(y), dtype=bool)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    return counts[codes] < least


def deal(y: np.ndarray, folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return the fold of each row: shuffled within its class, then dealt in turn."""
    codes = np.zeros(len(y), dtype=np.intp)  # numbers are all of one kind
    if y.dtype.kind != "f":
        _, codes = np.unique(y, return_inverse=True)
    return stratified_folds(codes, folds, rng)


def splits(
    y: np.ndarray, folds: int, rng: np.random.Generator, least: int = MIN_IN_CLASS
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
    """Return the places of about `count` rows, every class in its share, but with two at least."""
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


def pooled_error(
    truths: Sequence[np.ndarray], answers: Sequence[np.ndarray]
) -> tuple[float, float]:
    """Return the error of all held-out rows together, and its standard error.

    The error is the share of wrong labels, or the root mean squared error. Its standard error is
    that of the mean over folds, weighted by their rows, but at least that of as many rows drawn
    one by one: folds may agree by luck, and must where classes are dealt evenly and all rows get
    the same answer. For the root, it is multiplied by its derivative.
    """
    numbers = truths[0].dtype.kind == "f"
    scale = 1.0
    if numbers:  # so that neither the squares of huge numbers nor those of tiny ones are lost
        off = [truth - answer for truth, answer in zip(truths, answers, strict=True)]
        scale = float(max(np.abs(one).max(initial=0.0) for one in off)) or 1.0
        losses = [(one / scale) ** 2 for one in off]
    else:
        losses = [(t != a).astype(float) for t, a in zip(truths, answers, strict=True)]
    sizes = np.array([len(loss) for loss in losses], dtype=float)
    means = np.array([loss.mean() for loss in losses])
    every = np.concatenate(losses)
    total = float(every.mean())
    folds = len(losses)
    share = sizes / sizes.sum()
    spread = np.sqrt(np.sum(share**2 * (means - total) ** 2) * folds / max(folds - 1, 1))
    spread = max(float(spread), float(np.sqrt(every.var() / max(len(every) - 1, 1))))
    if numbers:
        root = float(np.sqrt(total))
        return scale * root, scale * spread / (2 * root) if root else 0.0
    return total, spread


def baseline_error(y: np.ndarray, splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the error of an answer that looks at nothing: the most frequent class, or the mean.

    The mean is that of the training rows of each split. The most frequent class is that of all
    rows: where classes are balanced, that of the training rows is by construction one of which
    fewer are held out, so that its error would be too large.
    """
    if y.dtype.kind != "f":
        return float(1 - np.unique(y, return_counts=True)[1].max() / len(y))
    answers = [np.full(len(test), y[train].mean()) for train, test in splits]
    return pooled_error([y[test] for _, test in splits], answers)[0]
