"""The map: rows on a plane, so that those that are alike are near each other.

Places are kernel principal components of the similarity that was learned. A row that is not on
the map, such as one that is typed, is put where the components of its similarities lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import Points, to_numpy
from mercer.kernels import Kernel
from mercer.memory import afford

__all__ = ["SimilarityMap", "principal_axes"]

FEW = 500  # rows up to which all eigenvalues are computed, which is quick then


@dataclass(frozen=True, eq=False)
class SimilarityMap:
    """Places of rows on a plane.

    Attributes
    ----------
    kernel : Kernel
    points : Points
    places : ndarray of shape (n, 2)
    shares : ndarray of shape (2,)
        Of the variance in the kernel's space.
    """

    kernel: Kernel
    points: Points
    places: np.ndarray
    shares: np.ndarray
    _means: np.ndarray
    _axes: np.ndarray

    @classmethod
    def of(cls, kernel: Kernel, points: Points) -> SimilarityMap:
        """Return the map of some points.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> points = Linear().admit(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.1]]))
        >>> SimilarityMap.of(Linear(), points).places[:, 0].round(1) + 0.0
        array([-1.,  0.,  1.])
        """
        n = len(points)
        afford(24 * n**2, f"the map of {n} rows", "explore fewer rows")
        K = np.asarray(to_numpy(kernel(points)), dtype=np.float64)
        means = K.mean(axis=0)
        values, axes = principal_axes(K - means - means[:, None] + means.mean(), 2)
        total = float(np.trace(K) - n * means.mean())
        scaled = axes / np.sqrt(np.maximum(values, 1e-300)) * (values > 1e-12 * (abs(total) or 1))
        places = axes * np.sqrt(np.maximum(values, 0.0))
        shares = np.maximum(values, 0.0) / total if total > 0 else np.zeros(2)
        return cls(kernel, points, places, shares, means, scaled)

    def locate(self, new: Points) -> np.ndarray:
        """Return the places of other points.

        Examples
        --------
        >>> from mercer.kernels import Gaussian
        >>> kernel, X = Gaussian(1.0), np.random.default_rng(0).normal(size=(9, 2))
        >>> found = SimilarityMap.of(kernel, kernel.admit(X))
        >>> bool(np.allclose(found.locate(kernel.admit(X[:3])), found.places[:3]))
        True
        """
        from mercer.engine.tiles import common_origin, fill

        left, right = common_origin(self.kernel, new, self.points)
        K = np.asarray(to_numpy(fill(self.kernel, left, right)), dtype=np.float64)
        return (K - K.mean(axis=1, keepdims=True) - self._means + self._means.mean()) @ self._axes


def principal_axes(K: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of a symmetric matrix and their vectors, with fixed signs."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import ArpackError, eigsh

    n = len(K)
    found: Any = None
    if n > FEW:
        start = np.random.default_rng(0).normal(size=n)
        try:
            found = eigsh(K, count, which="LA", v0=start, tol=1e-6, ncv=24)
        except ArpackError:  # it gave up on a cluster of equal eigenvalues
            found = None
    if found is None:
        found = eigh(K, subset_by_index=(max(n - count, 0), n - 1), check_finite=False)
    values, vectors = found
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    if len(values) < count:
        values = np.pad(values, (0, count - len(values)))
        vectors = np.pad(vectors, ((0, 0), (0, count - vectors.shape[1])))
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)])
    return values, vectors * np.where(signs == 0, 1.0, signs)
