"""Slopes: how a function of a Gram matrix changes with the parameters of its kernel.

Let a criterion J of the Gram matrix K have the derivatives G = ∂J/∂K. Then its derivative by the
logarithm of a parameter is Σ Gᵢⱼ ∂Kᵢⱼ/∂log θ. Kernels pass such sums on to their parts
(`Kernel.slopes`), so that all parameters together cost about as much as the matrix. Nothing of
the size of the matrix is stored for it: the sums are taken tile by tile.

A search computes the same matrix many times, with other numbers in the kernel. `Tiling` keeps
what does not depend on them: dot products, and distances that no bandwidth has scaled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from mercer.domains import Points
from mercer.engine.block import Block, Scratch
from mercer.engine.tiles import TILE, on_numpy, prepare_points, quiet, spans, tile_size
from mercer.errors import ValidityError
from mercer.kernels import Kernel
from mercer.memory import affordable
from mercer.threads import in_threads
from mercer.values import Value

__all__ = ["Tiling", "slopes_of"]

Slopes = dict[str, float | np.ndarray]


def slopes_of(kernel: Kernel, points: Points, G: np.ndarray) -> Slopes:
    """Return the derivatives of Σ Gᵢⱼ k(xᵢ, xⱼ) by the logarithms of a kernel's parameters.

    Parameters
    ----------
    kernel : Kernel
    points : Points
        As the kernel admits them.
    G : ndarray of shape (n, n)
        Symmetric.
    """
    return Tiling(points, keep=False).slopes(kernel, G)


class Tiling:
    """The tiles of a symmetric Gram matrix, for kernels that differ in their numbers.

    Parameters
    ----------
    points : Points
    keep : bool
        Whether to keep distances for the next kernel, if there is memory for them.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> tiling = Tiling(Gaussian(1.0).admit([[0.0], [1.0]]))
    >>> [tiling.gram(Gaussian(s))[0, 1].round(3) for s in (1.0, 2.0)]
    [np.float64(0.607), np.float64(0.882)]
    """

    def __init__(self, points: Points, keep: bool = True) -> None:
        if not on_numpy(points):
            raise ValidityError(
                "derivatives of kernels are computed with NumPy only; pass the items as a NumPy "
                "array"
            )
        self.points = points
        spread = spans(len(points), tile_size(points))
        self.places = [(i, j) for i in spread for j in spread if i.start <= j.start]
        self.kept: list[dict[Hashable, Any]] | None = None
        if keep and affordable(8 * len(points) ** 2 * 4):
            self.kept = [{} for _ in self.places]

    def gram(self, kernel: Kernel) -> np.ndarray:
        """Return the Gram matrix, in double precision."""
        K = np.empty((len(self.points), len(self.points)))

        def one(i: slice, j: slice, block: Block) -> None:
            T = kernel.evaluate(block)
            K[i, j] = T
            K[j, i] = T.T

        self._each(kernel, one)
        if not np.isfinite(np.sum(K)) and not np.isfinite(K).all():
            row, column = np.argwhere(~np.isfinite(K))[0]
            raise ValidityError(f"{kernel!r} is not a finite number for items {row} and {column}")
        for i, j in self.places:  # rounded differently on the two sides of the diagonal
            if i == j:
                K[i, i] = np.triu(K[i, i]) + np.triu(K[i, i], 1).T
        return K

    def slopes(self, kernel: Kernel, G: np.ndarray) -> Slopes:
        """Return what `slopes_of` returns."""
        found: dict[tuple[int, int], Slopes] = {}

        def one(i: slice, j: slice, block: Block) -> None:
            twice = 1.0 if i == j else 2.0
            parts = kernel.slopes(block, np.asarray(G[i, j], dtype=np.float64))
            found[i.start, j.start] = {key: twice * part for key, part in parts.items()}

        self._each(kernel, one)
        order = sorted(found)  # not that in which threads were done: same items, same answer
        return {key: sum(found[place][key] for place in order) for key in found[order[0]]}

    def _each(self, kernel: Kernel, work: Callable[[slice, slice, Block], None]) -> None:
        """Do some work with every tile on or above the diagonal."""
        # Settled anew each time, so that the encodings of one kernel do not outlive it.
        points = prepare_points(kernel, self.points)
        sides = {i.start: points[i] for i, j in self.places if i == j}

        def one(place: int) -> None:
            i, j = self.places[place]
            scratch = _thread.__dict__.setdefault("scratch", Scratch(8 * TILE**2))
            kept = None if self.kept is None else self.kept[place]
            block = KeptBlock(sides[i.start], sides[j.start], i == j, scratch, kept)
            try:
                with quiet():
                    work(i, j, block)
            finally:
                scratch.reset()

        in_threads(one, range(len(self.places)), kernel.threads)


class KeptBlock(Block):
    """A block that leaves what no parameter has touched in `kept`, for its successors."""

    def __init__(
        self,
        left: Points,
        right: Points,
        symmetric: bool,
        scratch: Scratch | None,
        kept: dict[Hashable, Any] | None,
    ) -> None:
        super().__init__(left, right, symmetric, scratch)
        self.kept = kept

    def share(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        if self.kept is None or key not in PARAMETER_FREE:
            return super().share(key, compute)
        if key not in self.kept:
            self.kept[key] = np.array(compute())  # a copy: scratch memory will be used again
        return self.kept[key]

    def _encoded(self, key: Hashable, left: Points, right: Points) -> Block:
        kept = None
        if self.kept is not None and not _parametrized(key):
            kept = self.kept.setdefault(("view", key), {})
        return KeptBlock(left, right, self.symmetric, self.scratch, kept)


PARAMETER_FREE = ("dots", ("squared", None), ("cityblock", None))
_thread = threading.local()


def _parametrized(key: Hashable) -> bool:
    """Tell whether an encoding depends on the numbers of a kernel."""
    return any(isinstance(part, Value) for part in (key if isinstance(key, tuple) else (key,)))
