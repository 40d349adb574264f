"""Attention: how much each column matters to a metric that was learned, and which act together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["ColumnAttention", "column_attention"]

MAX_PAIRS = 5  # of columns that act together, that are told
MIN_TOGETHER = 0.2  # |Mᵢⱼ|/√(MᵢᵢMⱼⱼ) of a pair worth telling


@dataclass(frozen=True)
class ColumnAttention:
    """How much each column of a table matters.

    Attributes
    ----------
    names : tuple of str
        Columns, the one that matters most first.
    shares, spreads : tuple of float
        Of the metric's diagonal (together 1), and their standard deviation over the outer folds.
    pairs : tuple of (str, str, float)
        Columns that act together, with |Mᵢⱼ|/√(MᵢᵢMⱼⱼ) of the metric; only of a full one.
    """

    names: tuple[str, ...]
    shares: tuple[float, ...]
    spreads: tuple[float, ...]
    pairs: tuple[tuple[str, str, float], ...] = ()


def column_attention(
    metric: np.ndarray, blocks: np.ndarray, names: Sequence[str],
    others: Sequence[tuple[np.ndarray, np.ndarray, Sequence[str]]] = (),
) -> ColumnAttention:  # fmt: skip
    """Return what a metric of prepared columns says of the columns that they were made of.

    Parameters
    ----------
    metric : ndarray of shape (d,) or (d, d)
    blocks : ndarray of shape (d,)
        The column from which each prepared one comes.
    names : sequence of str
    others : sequence of (metric, blocks, names)
        The same of the outer folds.

    Examples
    --------
    >>> metric = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]])
    >>> found = column_attention(metric, np.array([0, 0, 1]), ["size", "age"])
    >>> found.names, [round(share, 2) for share in found.shares]
    (('size', 'age'), [0.67, 0.33])
    >>> [(one, two, round(value, 2)) for one, two, value in found.pairs]
    [('size', 'age', 0.35)]
    """
    shares = _shares(metric, blocks, names)
    folds = [_shares(*other) for other in others]
    order = sorted(shares, key=lambda name: -shares[name])
    spreads = [
        float(np.std([fold.get(name, 0.0) for fold in folds], ddof=1)) if len(folds) > 1 else 0.0
        for name in order
    ]
    found = tuple(shares[name] for name in order)
    return ColumnAttention(tuple(order), found, tuple(spreads), _pairs(metric, blocks, names))


def _shares(metric: np.ndarray, blocks: np.ndarray, names: Sequence[str]) -> dict[str, float]:
    own = np.diag(metric) if metric.ndim == 2 else metric
    totals: np.ndarray = np.bincount(blocks, own, len(names))
    totals = totals / (float(totals.sum()) or 1.0)
    return {str(name): float(total) for name, total in zip(names, totals, strict=True)}


def _pairs(
    metric: np.ndarray, blocks: np.ndarray, names: Sequence[str]
) -> tuple[tuple[str, str, float], ...]:
    """Return the pairs of columns whose block off the diagonal is largest."""
    if metric.ndim < 2:
        return ()
    squares = np.zeros((len(names), len(names)))
    np.add.at(squares, (blocks[:, None], blocks[None, :]), metric**2)
    sizes = np.sqrt(np.bincount(blocks, np.diag(metric), len(names)))
    scale = np.outer(sizes, sizes)
    together = np.divide(np.sqrt(squares), scale, out=np.zeros_like(scale), where=scale > 0)
    # A pair of which one column hardly matters says nothing.
    floor = 0.02 * float(np.max(sizes**2, initial=0.0))
    rows, columns = np.triu_indices(len(names), 1)
    found = [
        (float(together[i, j]), int(i), int(j))
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
        if together[i, j] >= MIN_TOGETHER and min(sizes[i], sizes[j]) ** 2 >= floor
    ]
    top = sorted(found, reverse=True)[:MAX_PAIRS]
    return tuple((str(names[i]), str(names[j]), value) for value, i, j in top)
