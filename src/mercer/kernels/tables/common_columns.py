"""Common columns: distances and products of rows with gaps, over the columns that both have."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NoReturn

import numpy as np

from mercer.engine.block import Block, Scratch

__all__ = ["CommonColumns", "Unforeseen"]


class Unforeseen(Exception):
    """A kernel asked for something that a block of common columns does not have."""


class CommonColumns(Block):
    """A block that has what most kernels ask for, and nothing else: no rows, above all.

    A pair of rows is seen in the columns that both have, so there is no single row to be seen in
    all pairs. Kernels of distances or dot products need no row. The others ask for one, and learn
    by `Unforeseen` that they must be evaluated on parts of the block.

    Parameters
    ----------
    X, Z : array
        Rows with zeros in their gaps.
    here, there : array of bool
        Which entries are missing.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X = np.array([[0.0, 2.0], [1.0, 0.0]])
    >>> gaps = np.array([[False, False], [False, True]])
    >>> Gaussian(1.0).evaluate(CommonColumns(X, X, gaps, gaps)).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    def __init__(
        self,
        X: np.ndarray,
        Z: np.ndarray,
        here: np.ndarray,
        there: np.ndarray,
        scratch: Scratch | None = None,
    ) -> None:
        self._rows = X.astype(np.float64, copy=False), Z.astype(np.float64, copy=False)
        self._gaps = here, there
        self.symmetric = False
        self.scratch = scratch
        self._shared = {}

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._rows[0]), len(self._rows[1])

    @property
    def xp(self) -> Any:
        return np

    @property
    def dtype(self) -> Any:
        return np.float64

    @property
    def left(self) -> NoReturn:
        raise Unforeseen

    @property
    def right(self) -> NoReturn:
        raise Unforeseen

    def share(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        if key not in self._shared:
            self._shared[key] = self._answer(*(key if isinstance(key, tuple) else (key,)))
        return self._shared[key]

    def _answer(self, what: Any, *given: Any) -> np.ndarray:
        """Return what `mercer.engine.distances` and `dots` would share, over common columns."""
        X, Z = self._rows
        if what == "dots":
            return X @ Z.T
        if what == "squared":
            return self._sum(lambda u, i: np.square(u, out=u), *given)
        if what == "cityblock":
            return self._sum(lambda u, i: np.abs(u, out=u), *given)
        if what == "minkowski":
            order, weights = given
            w = weights or (1.0,) * X.shape[1]
            return self._sum(lambda u, i: w[i] * np.abs(u) ** order, None)
        raise Unforeseen

    def _sum(
        self,
        term: Callable[[np.ndarray, int], np.ndarray],
        scales: tuple[float, ...] | None,
    ) -> np.ndarray:
        """Add up terms of the differences in all columns that both rows have."""
        (X, Z), (here, there) = self._rows, self._gaps
        total = np.zeros(self.shape)
        for i in range(X.shape[1]):
            u = X[:, i, None] - Z[None, :, i]
            if scales is not None:
                u /= scales[i]
            u = term(u, i)
            u[here[:, i]] = 0.0
            u[:, there[:, i]] = 0.0
            total += u
        return total
