"""The empirical feature map: features of any valid kernel on given points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.domains import Items, Points
from mercer.engine.block import Array
from mercer.engine.tiles import fill
from mercer.errors import ValidityError
from mercer.gram import product
from mercer.kernels import Kernel, named
from mercer.kernels.base import same_width
from mercer.values import whole

__all__ = ["EmpiricalMap", "empirical_map"]


@dataclass(frozen=True)
class EmpiricalMap:
    """x ↦ Λ^(−1/2)Vᵀk(x), which maps the reference point xᵢ to (√λ_t v_ti)_t.

    Attributes
    ----------
    kernel : Kernel
    points : Points
        The reference points.
    values : ndarray of shape (rank,)
        Positive eigenvalues λ_t of their Gram matrix, descending.
    vectors : ndarray of shape (n, rank)

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> empirical_map(Linear(), [[3.0], [4.0]]).values
    array([25.])
    """

    kernel: Kernel
    points: Points
    values: np.ndarray
    vectors: np.ndarray

    def __call__(self, A: Array) -> np.ndarray:
        """Return the features of new things; their inner products with reference points are k."""
        new = self.kernel.admit(A)
        same_width(new, self.points)
        return product(self.kernel, new, self.points, self.vectors / np.sqrt(self.values))

    @property
    def features(self) -> np.ndarray:
        """The features √λ_t v_ti of the reference points."""
        return self.vectors * np.sqrt(self.values)


def empirical_map(kernel: Kernel, X: Items | Points, rank: int | None = None) -> EmpiricalMap:
    """Return features of a valid kernel on the items of `X`, and their extension to new ones.

    With K = VΛVᵀ the item xᵢ gets the features √λ_t v_ti, whose inner products are the Gram
    matrix. Directions with eigenvalues that are zero to rounding are left out.

    Parameters
    ----------
    kernel : Kernel
        Heuristics are resolved on `X`.
    X : sequence of things
    rank : int, optional
        Keep only this many of the largest eigenvalues.

    Returns
    -------
    EmpiricalMap
        Callable with items; its features are a matrix with a row for each.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> k, X = Gaussian(1.0), [[0.0], [1.0], [3.0]]
    >>> phi = empirical_map(k, X)
    >>> bool(np.allclose(phi(X) @ phi(X).T, k(X)))
    True
    """
    if rank is not None:
        rank = whole(empirical_map, "rank", rank)
    kernel = named(kernel).resolve(X)
    points = kernel.admit(X)
    values, vectors = np.linalg.eigh(np.asarray(fill(kernel, points, dtype=np.float64)))
    rounding = len(values) * np.finfo(float).eps * float(np.abs(values).max())
    if values[0] < -rounding:
        raise ValidityError(
            f"{kernel!r} has the negative eigenvalue {values[0]:.3g} on these items, so it has no "
            "real features"
        )
    order = np.argsort(values)[::-1][:rank]
    order = order[values[order] > rounding]
    return EmpiricalMap(kernel, points, values[order], vectors[:, order])
