"""Products in single precision, of Gram matrices that are never stored.

Such a product takes half the time of one in double precision, and serves steps whose true residual
is computed in double now and then.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from mercer.domains import Points, Vectors
from mercer.engine.tiles import fill, on_numpy, prepare_points, tile
from mercer.errors import ValidityError
from mercer.gram.operator import Blocked, Operator
from mercer.kernels import Kernel

__all__ = ["Rounding", "SinglePrecision", "allows_single", "single_products"]


class SinglePrecision(Blocked):
    """A Gram matrix of vectors that can be multiplied with in single precision.

    Where that cannot hold the similarities, products are in double precision after all.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> SinglePrecision(k, k.admit([[1.0], [2.0]])) @ np.array([1.0, 1.0])
    array([3., 6.])
    """

    def __init__(self, kernel: Kernel, points: Points, exact: Blocked | None = None) -> None:
        super().__init__(kernel, points)
        self.exact = exact or Blocked(kernel, points)  # which knows where products are computed
        self.rounded: Points | None = prepare_points(kernel, points, single=True)

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        if self.rounded is not None:
            size = np.abs(vectors).max(axis=0, initial=0.0)
            size = np.where(size > 0, size, 1.0)  # single precision has a narrow range
            try:
                found = self.exact.multiply(self.rounded, vectors / size) * size
            except ValidityError:
                found = np.full_like(vectors, np.nan)
            if np.isfinite(found).all():  # similarities may fit where their sums do not
                return found
            self.rounded = None
        return self.exact @ vectors

    def fill_upper(self, out: np.ndarray) -> None:
        """Write the upper triangle, for which single precision is enough, into an array."""
        points = self.points if self.rounded is None else self.rounded
        fill(self.kernel, points, dtype=out.dtype, half=True, out=out)


@runtime_checkable
class Rounding(Protocol):
    """A Gram matrix of an engine that can also multiply in single precision."""

    def rounded(self) -> Operator | None:
        """Return the matrix whose products are in single precision, if they are faster."""
        ...


def single_products(gram: Operator) -> Operator | None:
    """Return what multiplies faster, if there is such a thing: for rows of numbers, not stored."""
    if isinstance(gram, Rounding):
        return gram.rounded()
    if not isinstance(gram, Blocked) or not allows_single(gram.kernel, gram.points):
        return None
    return SinglePrecision(gram.kernel, gram.points, gram)


def allows_single(kernel: Kernel, points: Points) -> bool:
    """Tell whether a kernel computes in single precision if the items ask for it."""
    if not isinstance(points, Vectors) or points.is_sparse or not on_numpy(points):
        return False
    one = prepare_points(kernel, points[:1], single=True)
    with tile(kernel, one, one, 0, 0, finite=False) as T:
        return T.dtype == np.float32
