"""Spectra: the largest eigenvalues of a Gram operator, with vectors and a certificate.

For a symmetric matrix every λ with a unit vector v and the residual r = |Kv − λv| is within r of
an eigenvalue (Parlett, The Symmetric Eigenvalue Problem, 4.5). The residuals are computed from
the vectors that are returned, so they certify them however they were found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh

from mercer.gram import LowRank, Operator
from mercer.gram.centered import Centered
from mercer.lapack import EPS
from mercer.solvers.cost import (
    FLOP_SECONDS,
    Cost,
    Requirements,
    Size,
    factor_seconds,
    item_bytes,
    product_seconds,
)
from mercer.solvers.ridge.solver import Approximation, Status

__all__ = ["DenseEigensolver", "Eigenpairs", "certify_eigenpairs", "rounding"]


@dataclass(frozen=True)
class Eigenpairs:
    """Eigenvalues in descending order with their unit vectors.

    Attributes
    ----------
    values : ndarray of shape (count,)
    vectors : ndarray of shape (n, count)
        The entry of largest magnitude of each is positive, so that signs are determined.
    residuals : ndarray of shape (count,)
        |Kv − λv| of each.
    status : {"solved", "stalled", "interrupted"}
    solver : str
    history : tuple of float
        The largest relative residual after each product with a block, if there were several.
    message : str
    smallest : float or None
        The smallest eigenvalue of all, if the solver has seen it.
    approximation : Approximation or None
        How far the components are from exact ones, if they are not exact. Residuals are then those
        of the approximate matrix.
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    status: Status
    solver: str
    history: tuple[float, ...] = ()
    message: str = ""
    smallest: float | None = None
    approximation: Approximation | None = None

    @property
    def certificate(self) -> float:
        """The largest |Kv − λv| / λ."""
        scale = np.maximum(np.abs(self.values), np.finfo(float).tiny)
        return float(np.max(self.residuals / scale, initial=0.0))

    def first(self, count: int) -> Eigenpairs:
        """Return the first of these.

        Examples
        --------
        >>> pairs = Eigenpairs(np.array([2.0, 1.0]), np.eye(2), np.zeros(2), "solved", "dense")
        >>> pairs.first(1).values
        array([2.])
        """
        if count >= len(self.values):
            return self
        return replace(
            self,
            values=self.values[:count],
            vectors=self.vectors[:, :count],
            residuals=self.residuals[:count],
        )

    @property
    def rank(self) -> int:
        """How many of the eigenvalues are not zero to rounding."""
        return int(np.sum(self.values > rounding(self.values, len(self.vectors))))


@dataclass(frozen=True)
class DenseEigensolver:
    """The whole spectrum by LAPACK, at about 9n³ operations; with m features at nm² + 9m³.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> DenseEigensolver().solve(Dense(np.array([[2.0, 1.0], [1.0, 2.0]])), 1).values.round(12)
    array([3.])
    """

    name = "dense"
    requires: ClassVar[Requirements] = Requirements()

    def cost(self, size: Size) -> Cost:
        """Return what the decomposition takes: the matrix, its vectors, LAPACK's workspace."""
        n, m = size.items, size.order
        vectors = 8 * n * (min(n, m) if size.components is None else size.components)
        kept = 16 * m**2 + (vectors if size.route == "primal" else 0)
        # Either LAPACK's workspace, or products with the vectors.
        needed = kept + max(16 * m**2, 3 * vectors) + item_bytes(size, feature_copies=2)
        if size.route == "primal":
            return Cost(needed, 2 * n * m**2 * FLOP_SECONDS)
        return Cost(needed, product_seconds(n**2 / 2, size.row) + 27 * factor_seconds(n))

    def solve(self, gram: Operator, count: int | None = None) -> Eigenpairs:
        """Return the `count` largest eigenvalues, by default all that are above rounding."""
        values, vectors = _by_features(gram) if isinstance(gram, LowRank) else _by_matrix(gram)
        if count is None:
            count = int(np.sum(values > rounding(values, gram.order)))
        return certify_eigenpairs(
            gram, values[:count], vectors[:, :count], "solved", self.name,
            smallest=float(values.min(initial=0.0)),
        )  # fmt: skip


def certify_eigenpairs(
    gram: Operator, values: np.ndarray, vectors: np.ndarray, status: Status, solver: str,
    images: np.ndarray | None = None, **more: Any,
) -> Eigenpairs:  # fmt: skip
    """Return a spectrum with determined signs and the residuals of its vectors.

    `images` are the products of the matrix with the vectors, where those have been made already.
    """
    if images is None:
        images = gram @ vectors
    apart = vectors * values
    np.subtract(images, apart, out=apart)
    # Squares of very small or large numbers would be zero or infinite.
    size = max(float(apart.max(initial=0.0)), -float(apart.min(initial=0.0))) or 1.0
    apart /= size
    residuals = np.linalg.norm(apart, axis=0) * size
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    vectors = vectors * np.where(largest < 0, -1.0, 1.0)
    return Eigenpairs(values, vectors, residuals, status, solver, **more)


def rounding(values: np.ndarray, order: int) -> float:
    """Return the size below which an eigenvalue of a matrix of this order is zero."""
    return order * EPS * float(np.abs(values).max(initial=0.0))


def _by_matrix(gram: Operator) -> tuple[np.ndarray, np.ndarray]:
    M = gram.matrix()
    # The fast driver counts its workspace of 2n² numbers in 32 bits.
    driver = "evd" if len(M) < 30_000 else "evr"
    owned = isinstance(gram, Centered)
    values, vectors = eigh(M.T, driver=driver, overwrite_a=owned, check_finite=False)
    return values[::-1], vectors[:, ::-1]


def _by_features(gram: LowRank) -> tuple[np.ndarray, np.ndarray]:
    """Return the spectrum of ΦΦᵀ from that of ΦᵀΦ; where it is zero there are no vectors."""
    G = gram.features.T @ gram.features
    values, vectors = eigh(G.toarray() if hasattr(G, "toarray") else G, check_finite=False)
    kept = np.flatnonzero(values > rounding(values, max(gram.features.shape)))[::-1]
    return values[kept], np.asarray(gram.features @ vectors[:, kept]) / np.sqrt(values[kept])
