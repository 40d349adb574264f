"""Functions of features: f(x) = Σ wⱼ φⱼ(x), of an approximate kernel k̂ = φ·φ."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import Items, Points, real_numbers
from mercer.engine.block import Array
from mercer.engine.tiles import spans
from mercer.errors import DomainError, ValidityError
from mercer.kernels.features import RandomFeatures, Spectral
from mercer.threads import in_threads

__all__ = ["Featured"]


@dataclass(frozen=True, eq=False)
class Featured:
    """A weighted sum of random features of a shift-invariant kernel.

    It lies in the space of the approximate kernel k̂(x, z) = φ(x)ᵀφ(z), where its norm is that of
    its weights.

    Parameters
    ----------
    features : RandomFeatures
    weights : array of shape (count,) or (count, outputs)

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> f = Featured(Gaussian(1.0).random_features(2, seed=0), [1.0, 0.0])
    >>> f([[0.0]]), f.norm()
    (array([1.]), 1.0)
    """

    features: RandomFeatures
    weights: Any

    def __post_init__(self) -> None:
        weights = real_numbers(self.weights, "the weights")
        if weights.ndim not in (1, 2) or len(weights) != self.features.count:
            raise DomainError(
                f"there are {self.features.count} features, but weights of shape {weights.shape}"
            )
        if not np.isfinite(weights).all():
            raise DomainError("the weights hold NaN or infinity")
        object.__setattr__(self, "weights", weights)

    @property
    def kernel(self) -> Spectral:
        """The kernel that is approximated."""
        return self.features.kernel

    def __call__(self, X: Items | Points) -> np.ndarray:
        """Return f at each item."""
        points: Points = self.kernel.admit(X)
        result = np.empty((len(points), *self.weights.shape[1:]))

        def some(rows: slice) -> None:
            result[rows] = self.features(points[rows]) @ self.weights

        in_threads(some, spans(len(points), 4096))  # features of a few items at a time
        return result

    def gradient(self, X: Items | Points) -> np.ndarray:
        """Return ∇f at each item: of shape (n, d), or (n, d, outputs) for several outputs."""
        points: Points = self.kernel.admit(X)
        W = self.weights.reshape(len(self.weights), -1)
        result = np.empty((len(points), points.width or 0, W.shape[1]))

        def some(rows: slice) -> None:
            result[rows] = self.features.gradient(points[rows], W)

        in_threads(some, spans(len(points), 1024))
        return result.reshape(*result.shape[:2], *self.weights.shape[1:])

    def __len__(self) -> int:
        return len(self.weights)

    def __add__(self, other: Featured) -> Featured:
        if not isinstance(other, Featured):
            return NotImplemented
        self._require_same_space(other)
        return Featured(self.features, self.weights + other.weights)

    def __mul__(self, factor: float) -> Featured:
        if not isinstance(factor, numbers.Real):
            return NotImplemented
        return Featured(self.features, self.weights * factor)

    __rmul__ = __mul__

    def __neg__(self) -> Featured:
        return self * -1.0

    def __sub__(self, other: Featured) -> Featured:
        return self + (-other)

    def inner(self, other: Featured) -> Any:
        """Return ⟨f, g⟩, output by output."""
        self._require_same_space(other)
        return _scalar(np.sum(self.weights * other.weights, axis=0))

    def norm(self) -> Any:
        """Return |f|."""
        return _scalar(np.sqrt(self.inner(self)))

    def __repr__(self) -> str:
        return f"Featured({self.kernel!r} approximated by {len(self)} random features)"

    def _require_same_space(self, other: Featured) -> None:
        if self.features != other.features or self.weights.shape != other.weights.shape:
            raise ValidityError("functions of different features cannot be combined")


def _scalar(values: Array) -> Any:
    return float(values) if np.ndim(values) == 0 else values
