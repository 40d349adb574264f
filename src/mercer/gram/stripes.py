"""Stripes: a stored Gram matrix times a few vectors, on all cores.

Such a product reads the whole matrix and computes little, so it is as fast as memory is, if every
core reads its own rows. BLAS's own threads wait for each other after each of many small steps,
which takes long on a computer that is also busy with something else. They also may add up in
another order than one thread would; stripes of fixed height give the same answer on any number.
"""

from __future__ import annotations

import numpy as np

from mercer.engine.tiles import spans
from mercer.gram.operator import Dense
from mercer.threads import in_threads, one_blas_thread

__all__ = ["Striped", "one_blas_thread"]

ROWS = 512
# Products with fewer multiplications than this are done before threads would have started.
SMALL = 15_000_000


class Striped(Dense):
    """A stored Gram matrix whose products are made in stripes of rows.

    Examples
    --------
    >>> Striped(np.eye(2)) @ np.array([1.0, 2.0])
    array([1., 2.])
    """

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        if self.array.size * (vectors.size // self.order) < SMALL:
            with one_blas_thread:
                return self.array @ vectors
        result = np.empty((self.order, *vectors.shape[1:]))

        def stripe(rows: slice) -> None:
            np.matmul(self.array[rows], vectors, out=result[rows])

        in_threads(stripe, spans(self.order, ROWS))
        return result
