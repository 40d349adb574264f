"""Rows: parts of a Gram matrix that an iteration asks for again and again.

The rows that were used last are kept, as many as there is room for; missing ones are computed
together, in blocks.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from mercer.engine.tiles import spans
from mercer.gram.operator import Pieces
from mercer.threads import in_threads

__all__ = ["Rows"]

WIDTH = 1024  # columns that one thread adds up at a time


class Rows:
    """A Gram operator with a memory for rows.

    Parameters
    ----------
    operator : Operator or Stored
    capacity : int
        Number of rows to keep.
    dtype : float32 or float64
        How they are kept.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> rows = Rows(Dense(np.diag([1.0, 2.0])), capacity=1)
    >>> for _ in range(2):
    ...     total = rows.combine(np.array([0, 1]), np.array([3.0, 4.0]), keep=np.arange(2) == 0)
    >>> total, rows.kept
    (array([3., 8.]), [0])
    """

    def __init__(self, operator: Pieces, capacity: int, dtype: type = np.float64) -> None:
        self.operator = operator
        self.capacity = min(capacity, operator.order)
        self.dtype = dtype
        self._store: np.ndarray | None = None
        self._seen = np.zeros(operator.order, dtype=bool)
        self._slots: OrderedDict[int, int] = OrderedDict()  # the least recently used comes first

    @property
    def kept(self) -> list[int]:
        """Which rows are here, the least recently used first."""
        return list(self._slots)

    def combine(
        self, columns: np.ndarray, coefficients: np.ndarray, keep: np.ndarray
    ) -> np.ndarray:
        """Return K[:, columns] @ coefficients.

        Of the rows that are to be kept, those are that are asked for a second time: most are
        wanted once, and storing them would cost more than computing them.
        """
        slots = np.array([self._slots.get(int(c), -1) for c in columns], dtype=np.intp)
        here = slots >= 0
        for c in columns[here]:
            self._slots.move_to_end(int(c))
        new = ~here & keep & self._seen[columns]
        self._seen[columns] = True
        if new.sum() > self.capacity:
            new[:] = False
        total = np.zeros(self.operator.order)
        if here.any():  # before new rows take their places
            self._add(total, slots[here], coefficients[here])
        if new.any():
            self._add(total, self._fetch(columns[new]), coefficients[new])
        others = ~here & ~new
        if others.any():
            total += self.operator.combine(columns[others], coefficients[others])
        return total

    def _fetch(self, items: np.ndarray) -> np.ndarray:
        """Compute rows as one block, in the places of those that were not used for longest."""
        if self._store is None:
            self._store = np.empty((self.capacity, self.operator.order), dtype=self.dtype)
        slots = []
        for item in items:
            full = len(self._slots) == self.capacity
            slot = self._slots.popitem(last=False)[1] if full else len(self._slots)
            self._slots[int(item)] = slot
            slots.append(slot)
        places = np.array(slots, dtype=np.intp)
        self.operator.fill_rows(items, self._store, places)
        return places

    def _add(self, total: np.ndarray, slots: np.ndarray, coefficients: np.ndarray) -> None:
        store = self._store
        assert store is not None

        def span(columns: slice) -> None:
            total[columns] += coefficients @ store[slots, columns].astype(np.float64, copy=False)

        in_threads(span, spans(len(total), WIDTH))
