"""Lanczos: a few of the largest eigenvalues, from products with blocks of vectors.

A random block W is multiplied by K again and again; in the space that the blocks span, K is a
small matrix T = QᵀKQ whose largest eigenvalues soon are those of K (Golub & Underwood, 1977). The
basis Q is kept orthogonal to rounding, so no eigenvalue is found twice. When it is full, it is
replaced by the best vectors found so far (thick restart; Wu & Simon, 2000). The block is wider
than the number of eigenvalues asked for, so equal ones are all found.

With KQ = QT + W'B, where W' is the next block, the residual of the eigenvector Qs is |B s_last|,
without another product. The answer's own residuals are computed at the end.

Stopping after a few products is the randomized method: block Krylov iteration, more accurate than
the power iteration of Halko, Martinsson & Tropp (2011) at the same number of products (Musco &
Musco, 2015).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from mercer.gram import Operator
from mercer.gram.stored import one_blas_thread
from mercer.lapack import EPS
from mercer.progress import convergence
from mercer.solvers.cost import (
    FLOP_SECONDS,
    Cost,
    Requirements,
    Size,
    item_bytes,
    product_seconds,
)
from mercer.solvers.eigenpairs import Eigenpairs, certify_eigenpairs
from mercer.solvers.ridge.solver import ended
from mercer.threads import cores
from mercer.values import Seed

__all__ = ["Lanczos"]

MAX_BLOCKS = 10  # blocks in a basis before it is restarted
# Vectors, for each that is multiplied at once: the basis and what is beside it; more where the
# matrix is not stored, because the threads of a product have sums of their own.
BASIS_VECTORS, UNSTORED_BASIS_VECTORS = 16, 25
ROUNDINGS = 4  # of the entries of a product, of which its directions may consist
USUAL_PRODUCTS = 13


@dataclass(frozen=True)
class Lanczos:
    """Find the largest eigenvalues by block Lanczos iteration.

    Parameters
    ----------
    tol : float
        Stop when every |Kv − λv| ≤ tol·λ, or is at the level of rounding.
    passes : int, optional
        Stop after this many products, whatever the residuals are.
    max_passes : int
    random_state : int, RandomState or None
        For the first block.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> gram = Dense(np.diag(np.arange(100.0)))
    >>> Lanczos(random_state=0).solve(gram, 3).values.round(9)
    array([99., 98., 97.])
    """

    tol: float = 1e-10
    passes: int | None = None
    max_passes: int = 300
    random_state: Seed = None

    requires: ClassVar[Requirements] = Requirements()

    def cost(self, size: Size, stored: bool = True) -> Cost:
        """Return what the basis takes, and the matrix if it is stored."""
        n, count = size.items, size.components or 0
        width = self.width(count)
        if size.route == "primal":
            vectors = 8 * n * (BASIS_VECTORS * width + 3 * count)
            seconds = 4.0 * n * (size.features or 0) * USUAL_PRODUCTS * count * FLOP_SECONDS
            needed = max(vectors, size.tiles) + item_bytes(size, feature_copies=2)
            return Cost(needed, seconds)
        if stored:
            vectors = 8 * n * (BASIS_VECTORS * width + 3 * count)
            seconds = product_seconds(n**2 / 2, size.row)
            seconds += USUAL_PRODUCTS * n**2 * (2 * width + 8) * FLOP_SECONDS / cores()
            return Cost(8 * n**2 + max(vectors, size.tiles) + item_bytes(size), seconds)
        vectors = 8 * n * (UNSTORED_BASIS_VECTORS * width + 3 * count)
        seconds = USUAL_PRODUCTS * product_seconds(n**2 / 2, size.row, 2 * width)
        return Cost(max(vectors, size.tiles) + item_bytes(size), seconds)

    def width(self, count: int) -> int:
        """Return how many vectors are multiplied at once: those that are asked for and some more.

        More vectors make up for the few products of the randomized method.
        """
        return max(count + (2 if self.passes is None else 10), 8)

    @property
    def name(self) -> str:
        return "partial" if self.passes is None else "randomized"

    def solve(self, gram: Operator, count: int) -> Eigenpairs:
        """Return the `count` largest eigenvalues and their vectors."""
        with one_blas_thread:
            return self._solve(gram, count)

    def _solve(self, gram: Operator, count: int) -> Eigenpairs:
        n = gram.order
        width = min(self.width(count), n)
        basis = KrylovBasis(n, min(n, MAX_BLOCKS * width) + width)
        start = check_random_state(self.random_state).standard_normal((n, width))
        W, stop = np.linalg.qr(start)[0], ""
        history: list[float] = []
        with convergence("principal components", self.tol) as report:
            while True:
                try:
                    KW = gram @ W
                except KeyboardInterrupt:  # what was found so far is kept
                    if not history:
                        raise
                    stop = f"interrupted after {len(history)} products"
                    break
                W, B = basis.extend(W, KW)
                values, S = basis.ritz()
                estimates = np.linalg.norm(B @ S[len(S) - B.shape[1] :, :count], axis=0)
                enough = self.tol * np.abs(values[:count]) + 4 * np.sqrt(n) * EPS * abs(values[0])
                enough += np.finfo(float).tiny
                history.append(float(np.max(estimates / enough)) * self.tol)
                report(history[-1])
                if (estimates <= enough).all() or W.shape[1] == 0:
                    break
                if len(history) >= (self.passes or self.max_passes):
                    if self.passes is None:
                        stop = f"not converged in {len(history)} products; use the dense solver"
                    break
                if basis.size + W.shape[1] > basis.room:
                    basis.restart(values, S, count + width)
                    S = np.eye(basis.size)
        return certify_eigenpairs(
            gram,
            values[:count],
            basis.vectors @ S[:, :count],
            ended(stop),
            self.name,
            history=tuple(history),
            message=stop,
        )


class KrylovBasis:
    """An orthonormal basis Q that grows block by block, and T = QᵀKQ."""

    def __init__(self, order: int, room: int) -> None:
        self.room = room
        self.size = 0
        self._largest = float(np.finfo(float).tiny)  # norm of a product so far
        self._Q = np.empty((order, room), order="F")
        self._T = np.zeros((room, room))

    @property
    def vectors(self) -> np.ndarray:
        return self._Q[:, : self.size]

    def extend(self, W: np.ndarray, KW: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Append the block W; return the next one and the B of KW = QT + W'B."""
        width = W.shape[1]
        old, self.size = self.size, self.size + width
        self._Q[:, old : self.size] = W
        Q = self.vectors
        C = Q.T @ KW
        rest = KW - Q @ C
        again = Q.T @ rest  # the second time takes away what rounding left
        rest -= Q @ again
        C += again
        self._T[: self.size, old : self.size] = C
        self._T[old : self.size, : self.size] = C.T
        # Directions that are only rounding would not be orthogonal to Q, so they are left out:
        # what is small beside the largest product, as all is once the rank is exhausted.
        W, R = np.linalg.qr(rest)
        U, s, Vt = np.linalg.svd(R)
        self._largest = max(self._largest, float(np.linalg.norm(KW, axis=0).max(initial=0.0)))
        real = s > ROUNDINGS * EPS * np.sqrt(len(W)) * self._largest
        return W @ U[:, real], s[real, None] * Vt[real]

    def ritz(self) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues of T, descending, and its vectors."""
        values, S = np.linalg.eigh(self._T[: self.size, : self.size])
        return values[::-1], S[:, ::-1]

    def restart(self, values: np.ndarray, S: np.ndarray, kept: int) -> None:
        """Replace the basis by its best `kept` vectors."""
        self._Q[:, :kept] = self.vectors @ S[:, :kept]
        self.size = kept
        self._T[...] = 0.0
        np.fill_diagonal(self._T[:kept, :kept], values[:kept])
