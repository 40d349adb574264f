"""Reservoirs: uniform samples of rows that come by once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import numpy as np

__all__ = ["Reservoir"]


class Takeable(Protocol):
    """Some rows, of which some can be taken."""

    def __len__(self) -> int: ...

    def take(self, chosen: np.ndarray, /) -> Takeable: ...


P = TypeVar("P", bound=Takeable)


class Reservoir(Generic[P]):
    """A uniform sample of rows that come by once, each equally likely to be in it.

    Every row gets a random number, and those with the smallest ones stay. So the sample does not
    depend on how the rows were cut into parts.

    Parameters
    ----------
    limit : int
        The most rows to keep.
    seed : int
    join : callable
        Makes one part of several.

    Attributes
    ----------
    kept : list of parts
        The sample, in the order of the rows; as one part after `settle`.
    places : ndarray of int
        The numbers of these rows among all that came by, after `settle`.
    """

    def __init__(self, limit: int, seed: int, join: Callable[[list[P]], P]) -> None:
        self.limit, self.join = limit, join
        self.kept: list[P] = []
        self.places = np.empty(0, dtype=np.int64)
        self._rng = np.random.default_rng(seed)
        self._draws: list[np.ndarray] = []
        self._places: list[np.ndarray] = []
        self._bound = np.inf
        self._seen = self._unsettled = 0

    def offer(self, part: P) -> None:
        """Keep what belongs to the sample of all rows so far."""
        draws = self._rng.random(len(part))
        chosen = np.flatnonzero(draws < self._bound)
        if len(chosen) > self.limit:
            chosen = np.sort(chosen[np.argpartition(draws[chosen], self.limit)[: self.limit]])
        start, self._seen = self._seen, self._seen + len(part)
        if not len(chosen):
            return
        self.kept.append(part.take(chosen))  # type: ignore[arg-type]
        self._draws.append(draws[chosen])
        self._places.append(chosen + start)
        self._unsettled += len(part)
        # What was taken may hold on to all rows of its part, until parts are joined.
        if self._unsettled > 2 * self.limit:
            self.settle()

    def settle(self) -> None:
        """Join what was kept, without the rows that have the largest numbers."""
        if not self.kept:
            return
        whole, draws = self.join(self.kept), np.concatenate(self._draws)
        places = np.concatenate(self._places)
        if len(draws) > self.limit:
            order = np.argpartition(draws, self.limit)
            self._bound = float(draws[order[self.limit]])
            chosen = np.sort(order[: self.limit])
            whole, draws, places = whole.take(chosen), draws[chosen], places[chosen]  # type: ignore[assignment]
        self.kept, self._draws, self._places = [whole], [draws], [places]
        self.places, self._unsettled = places, 0
