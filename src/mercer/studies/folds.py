"""Folds: rows dealt like cards, so that every class is spread evenly, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np

from mercer.machines.folds import stratified_folds

__all__ = [
    "MIN_IN_CLASS", "MIN_IN_INNER_CLASS", "as_error", "baseline_error", "deal", "pooled_error",
    "pooled_mean", "portion", "rare", "row_losses", "shared_rows", "splits", "standard_error",
]  # fmt: skip

MIN_IN_CLASS = 3  # rows; a class with fewer cannot be learned, chosen for and judged at once
NORMAL_KURTOSIS = 15.0  # of squares of normal deviates; losses with more have heavy tails
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


class Tied(Protocol):
    """What ties the rows of a fold together, as `Arrangement` says it."""

    @property
    def groups(self) -> np.ndarray | None: ...

    @property
    def weights(self) -> np.ndarray | None: ...


class RowLoss(Protocol):
    """What is lost by the answer for each row, as `Loss` says it."""

    @property
    def rooted(self) -> bool: ...

    def of(self, truth: np.ndarray, answer: np.ndarray) -> np.ndarray: ...

    def constant(self, y: np.ndarray, weights: np.ndarray) -> Any: ...


def pooled_error(
    truths: Sequence[np.ndarray], answers: Sequence[np.ndarray], tied: Sequence[Tied] = (),
    loss: RowLoss | None = None, shared: float = 0.0,
) -> tuple[float, float]:  # fmt: skip
    """Return the error of all held-out rows together, and its standard error.

    The error is the share of wrong labels, or the root mean squared error. Its standard error is
    that of the mean over folds, weighted by their rows, but at least that of as many rows drawn
    one by one: folds may agree by luck, and must where classes are dealt evenly and all rows get
    the same answer. For the root, it is multiplied by its derivative. Rows count by their weights,
    and where they come in groups, as many groups are drawn instead of rows. Another loss than
    these is a mean of what each row loses.

    Parameters
    ----------
    truths, answers : sequence of ndarray
        Of each fold.
    tied : sequence of Tied
    loss : RowLoss, optional
    shared : float
        What the variance of rows is more by than that of rows drawn one by one, as a share, where
        machines of several folds have learned from the same rows (`shared_rows`).
    """
    losses, unit = row_losses(truths, answers, loss)
    return as_error(*pooled_mean(losses, tied, shared), unit)


def as_error(mean: float, spread: float, unit: float | None) -> tuple[float, float]:
    """Return a mean of `row_losses` and its standard error as an error."""
    if unit is None:
        return mean, spread
    root = float(np.sqrt(max(mean, 0.0)))
    return unit * root, unit * spread / (2 * root) if root else 0.0


def row_losses(
    truths: Sequence[np.ndarray], answers: Sequence[np.ndarray], loss: RowLoss | None = None
) -> tuple[list[np.ndarray], float | None]:
    """Return what is lost in each row, and the unit of errors whose squares these are, if any.

    Errors of numbers are divided by the largest one, so that neither the squares of huge ones nor
    those of tiny ones are lost.

    Examples
    --------
    >>> row_losses([np.array(["a", "b"])], [np.array(["a", "a"])])
    ([array([0., 1.])], None)
    >>> row_losses([np.array([1.0, 2.0])], [np.array([1.0, 4.0])])
    ([array([0., 1.])], 2.0)
    """
    pairs = list(zip(truths, answers, strict=True))
    if truths[0].dtype.kind == "f" and (loss is None or loss.rooted):
        off = [truth - answer for truth, answer in pairs]
        unit = float(max(np.abs(one).max(initial=0.0) for one in off)) or 1.0
        return [(one / unit) ** 2 for one in off], unit
    if loss is not None:
        return [loss.of(truth, answer) for truth, answer in pairs], None
    return [(truth != answer).astype(float) for truth, answer in pairs], None


def shared_rows(held: Sequence[int], learned: Sequence[int]) -> float:
    """Return what folds add to the variance of an error by learning from the same rows.

    The error is meant of a machine that learns from new rows too, but the machines of k folds
    share most of their rows, and err together: of the variance between machines, means over folds
    show too little. Where each holds out a share ρ of its rows, Nadeau & Bengio (2003) take ρ for
    the correlation of two folds, so that to 1/k is added ρ/(1 − ρ): the rows that all folds hold
    out over those that one learns from.

    Examples
    --------
    >>> shared_rows([20] * 5, [80] * 5), round(shared_rows([10], [90]), 3)
    (1.25, 0.111)
    """
    return float(np.sum(held) / np.mean(learned)) if np.sum(learned) else 0.0


def pooled_mean(
    losses: Sequence[np.ndarray], tied: Sequence[Tied] = (), shared: float = 0.0
) -> tuple[float, float]:
    """Return the mean of what is lost in the rows of all folds, and its standard error.

    Parameters
    ----------
    losses, tied, shared
        As in `pooled_error`.
    """
    weights = [_weights(one, len(loss)) for one, loss in zip_longest(tied, losses)]
    sizes = np.array([w.sum() for w in weights])
    means = np.array([w @ loss for w, loss in zip(weights, losses, strict=True)])
    means = np.divide(means, sizes, out=np.zeros_like(means), where=sizes > 0)
    total = float(sizes @ means / sizes.sum())
    folds, share = len(losses), sizes / sizes.sum()
    spread = np.sqrt(np.sum(share**2 * (means - total) ** 2) * folds / max(folds - 1, 1))
    groups = None
    if tied and tied[0].groups is not None:
        groups = np.concatenate([one.groups for one in tied])
    by_rows = standard_error(np.concatenate(losses), np.concatenate(weights), groups)
    return total, max(float(spread), by_rows * float(np.sqrt(1 + shared)))


def _weights(one: Tied | None, count: int) -> np.ndarray:
    return np.ones(count) if one is None or one.weights is None else one.weights


def standard_error(
    values: np.ndarray, weights: np.ndarray, groups: np.ndarray | None = None
) -> float:
    """Return the standard error of a weighted mean of rows, or groups of rows, drawn one by one.

    Of groups it is that of a ratio of sums over groups (Taylor linearization): rows of a group are
    alike, so that there are hardly more independent ones than groups. The variance that it takes
    is itself an estimate, which is mostly too small where a few rows have most of the loss, as
    squares of errors with heavy tails do. So what tails add to the standard
    error of that variance is added to it: with kurtosis κ a share √((κ − 15)/n), where squares of
    normal errors have κ = 15.

    Examples
    --------
    >>> x = np.array([0.0, 0.0, 1.0, 1.0])
    >>> round(standard_error(x, np.ones(4)), 3), standard_error(x, np.ones(4), np.r_[0, 0, 1, 1])
    (0.289, 0.5)
    """
    off = weights * (values - np.average(values, weights=weights))
    if groups is not None:
        off = np.bincount(np.unique(groups, return_inverse=True)[1], off)
    count = len(off)
    squares = off**2
    variance = float(np.sum(squares)) * count / max(count - 1, 1)
    if variance > 0:
        kurtosis = float(np.mean(squares**2) / np.mean(squares) ** 2)
        variance *= 1 + np.sqrt(max(kurtosis - NORMAL_KURTOSIS, 0.0) / count)
    return float(np.sqrt(variance) / weights.sum())


def baseline_error(
    y: np.ndarray, splits: Sequence[tuple[np.ndarray, np.ndarray]], tied: Any = None,
    loss: RowLoss | None = None,
) -> float:  # fmt: skip
    """Return the error of an answer that looks at nothing: the most frequent class, or the mean.

    With another loss it is the one answer that loses least.

    The mean is that of the training rows of each split. The most frequent class is that of all
    rows: where classes are balanced, that of the training rows is by construction one of which
    fewer are held out, so that its error would be too large. Only where the past predicts the
    future it is that of the training rows, because the shares of the classes may change.
    """
    weights = np.ones(len(y)) if tied is None or tied.weights is None else tied.weights
    if loss is not None:
        whole = y.dtype.kind != "f" and (tied is None or tied.time is None)
        every = loss.constant(y, weights) if whole else None
        answers = [
            np.full(len(test), every if whole else loss.constant(y[train], weights[train]))
            for train, test in splits
        ]
    elif y.dtype.kind != "f":
        if tied is None or tied.time is None:
            return float(1 - _class_weights(y, weights)[1].max() / weights.sum())
        answers = [np.full(len(test), _usual(y[train], weights[train])) for train, test in splits]
    else:
        answers = [
            np.full(len(test), np.average(y[train], weights=weights[train]))
            for train, test in splits
        ]
    parts = [] if tied is None else [tied.part(test) for _, test in splits]
    return pooled_error([y[test] for _, test in splits], answers, parts, loss)[0]


def _class_weights(y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    classes, codes = np.unique(y, return_inverse=True)
    return classes, np.bincount(codes, weights)


def _usual(y: np.ndarray, weights: np.ndarray) -> object:
    classes, counts = _class_weights(y, weights)
    return classes[counts.argmax()]
