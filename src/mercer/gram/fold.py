"""Folds: the order in which sums of chunks are added up, whoever has made them.

Rounding depends on the order. Sums of neighboring chunks are added one after the other, `FAN` of
them at a time, then the results of that, and so on: a tree, of which one computer keeps the last
branch only, and which many computers walk at once, with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["FAN", "Fold", "add_up"]

FAN = 8  # sums that are added up at a time; that many are in a worker's memory


def add_up(parts: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Return the sums of arrays that belong together, in their order.

    Examples
    --------
    >>> add_up([[np.ones(2)], [np.ones(2)]])
    [array([2., 2.])]
    """
    total = [np.array(one) for one in parts[0]]
    for part in parts[1:]:
        for one, more in zip(total, part, strict=True):
            one += more
    return total


class Fold:
    """Adds up the sums of chunks as they come.

    Examples
    --------
    >>> fold = Fold()
    >>> for number in range(20):
    ...     fold.add([np.array([float(number)])])
    >>> fold.total()
    [array([190.])]
    """

    def __init__(self) -> None:
        self.levels: list[tuple[int, list[np.ndarray]] | None] = []

    def add(self, sums: list[np.ndarray], level: int = 0) -> None:
        """Add what the next chunk has brought; its arrays are kept and changed."""
        if level == len(self.levels):
            self.levels.append(None)
        before = self.levels[level]
        count, total = 1, sums
        if before is not None:
            count, total = before[0] + 1, before[1]
            for one, more in zip(total, sums, strict=True):
                one += more
        self.levels[level] = (count, total) if count < FAN else None
        if count == FAN:
            self.add(total, level + 1)

    def total(self) -> list[np.ndarray]:
        """Return the sums of all chunks."""
        carried: list[np.ndarray] | None = None
        for held in self.levels:
            if held is None:
                continue
            if carried is not None:
                for one, more in zip(held[1], carried, strict=True):
                    one += more
            carried = held[1]
        assert carried is not None  # a stream without rows has been refused
        return carried
