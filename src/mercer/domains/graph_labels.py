"""Label sets: the labels that occur in a set of graphs, and how those of two sets match."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import chain
from typing import Any

import numpy as np

__all__ = ["Labels", "coded"]


class Labels:
    """Different labels, each with a number.

    Examples
    --------
    >>> Labels(["C", "N"]).places(Labels(["N", "O"]))
    array([-1,  0])
    """

    only_equal = False  # whether a label says nothing but which others are equal to it

    def __init__(self, values: Iterable[Hashable]) -> None:
        self.values = tuple(values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, code: int) -> Any:
        return self.values[code]

    def places(self, other: Any) -> np.ndarray:
        """Return the number that each label has in another set, -1 where it has none."""
        if other is self:
            return np.arange(len(self))
        known = {value: code for code, value in enumerate(other.values)}
        found = (known.get(value, -1) for value in self.values)
        return np.fromiter(found, np.int64, len(self))


def coded(labels: list[tuple[Hashable, ...]]) -> tuple[np.ndarray, Labels]:
    """Return the numbers of labels that stand in several tuples, in one array.

    Examples
    --------
    >>> codes, labels = coded([("C", "C"), (), ("O", "C")])
    >>> codes, labels.values
    (array([0, 0, 1, 0]), ('C', 'O'))
    """
    values = tuple(dict.fromkeys(chain.from_iterable(labels)))
    index = {value: code for code, value in enumerate(values)}
    codes = map(index.__getitem__, chain.from_iterable(labels))
    return np.fromiter(codes, np.int64, sum(map(len, labels))), Labels(values)
