"""Randomly pivoted Cholesky: a matrix of low rank near the Gram matrix, from few of its columns.

Columns are drawn with probabilities proportional to the diagonal of what is left, which is what
makes the result nearly as good as the best one of its rank (Chen, Epperly, Tropp & Webber, 2023).
A block of columns is drawn at once, because one column at a time would read the kernel slowly; to
keep the distribution, a column of the block is then accepted with the probability by which its
diagonal has survived the earlier ones of the block (Epperly, Tropp & Webber, 2024).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular

from mercer.engine.tiles import spans
from mercer.gram import Pieces
from mercer.gram.low_rank import LinearMap, accept_columns
from mercer.threads import in_threads

__all__ = ["LowRankFactor", "pivoted_cholesky"]

STRIPE_ROWS = 2048  # rows that one thread multiplies at a time
MIN_RANK = 64  # columns of a factor that is worth its while, as a preconditioner
BLOCK_COLUMNS = 128  # computed at once


@dataclass(frozen=True)
class LowRankFactor:
    """F with FFᵀ near K.

    Attributes
    ----------
    columns : ndarray of shape (n, rank)
        F.
    pivots : ndarray of int
        The items whose columns it was made from.
    left : ndarray of shape (n,)
        The diagonal of K − FFᵀ, which is positive semi-definite.
    """

    columns: np.ndarray
    pivots: np.ndarray
    left: np.ndarray

    @property
    def rank(self) -> int:
        return int(self.columns.shape[1])

    def inverse(self, penalty: float, roots: np.ndarray | None = None) -> LinearMap | None:
        """Return V ↦ (SFFᵀS + λI)⁻¹V, or None if there is none; `roots` are the diagonal of S.

        Its products are made in stripes: BLAS's own threads go on waiting for work for a while,
        and take a core from the products with K.
        """
        if not self.rank:
            return lambda V: V / penalty
        F = self.columns if roots is None else roots[:, None] * self.columns
        with np.errstate(over="ignore", invalid="ignore"):  # asked below
            G = F.T @ F
        G[np.diag_indices(len(G))] += penalty
        if not np.isfinite(G).all():
            return None
        factor, info = lapack.dpotrf(G, lower=0, overwrite_a=1, clean=0)
        if info != 0:
            return None
        stripes = spans(len(F), STRIPE_ROWS)

        def inverse(V: np.ndarray) -> np.ndarray:
            parts, found = np.empty((len(stripes), F.shape[1], V.shape[1])), np.empty_like(V)

            def down(place: int) -> None:
                np.matmul(F[stripes[place]].T, V[stripes[place]], out=parts[place])

            def up(rows: slice) -> None:
                np.matmul(F[rows], weights, out=found[rows])

            in_threads(down, range(len(stripes)))
            weights = lapack.dpotrs(factor, parts.sum(axis=0), lower=0)[0]
            in_threads(up, stripes)
            return (V - found) / penalty

        return inverse


def pivoted_cholesky(
    gram: Pieces, rank: int, enough: float = 0.0, seed: int = 0, block: int = BLOCK_COLUMNS
) -> LowRankFactor:
    """Return a factor of at most this rank.

    Parameters
    ----------
    gram : Gram operator
        Only its diagonal and the rows of the pivots are computed.
    rank : int
        The most columns.
    enough : float
        Stops as soon as the trace of what is left is no more than this.
    seed : int
    block : int
        Columns that are drawn at once.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> F = pivoted_cholesky(Dense(np.array([[4.0, 2.0], [2.0, 1.0]])), 2)
    >>> F.rank, (F.columns @ F.columns.T).round(12)
    (1, array([[4., 2.],
           [2., 1.]]))
    """
    n, rng = gram.order, np.random.default_rng(seed)
    left = gram.diagonal().astype(np.float64)
    rank = min(rank, n)
    floor = 1e-13 * float(left.max(initial=0.0))  # what is left below it is noise
    F = np.empty((n, rank), order="F")
    pivots: list[int] = []
    idle = 0
    while len(pivots) < rank and idle < 5:  # blocks in a row without an accepted column
        left[left < floor] = 0.0
        total = float(left.sum())
        if total <= enough or total <= 0:
            break
        drawn = rng.choice(n, min(block, n), p=left / total)
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]  # once, in their order
        done = len(pivots)
        rows = np.empty((len(drawn), n))
        gram.fill_rows(drawn, rows, np.arange(len(drawn)))
        rows -= F[drawn, :done] @ F[:, :done].T
        kept, L = accept_columns(rows[:, drawn], left[drawn], floor, rng, rank - done)
        if not len(kept):
            idle += 1
            continue
        idle = 0
        new = solve_triangular(L, rows[kept], lower=True, overwrite_b=True, check_finite=False)
        F[:, done : done + len(kept)] = new.T
        left -= np.einsum("ij,ij->j", new, new)
        np.maximum(left, 0.0, out=left)
        left[drawn[kept]] = 0.0
        pivots += drawn[kept].tolist()
    return LowRankFactor(F[:, : len(pivots)], np.array(pivots, dtype=np.int64), left)
