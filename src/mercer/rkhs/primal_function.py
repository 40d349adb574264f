"""Functions by their weights: f(x) = Σ wⱼ φⱼ(x), where a kernel has finitely many features.

With k(x, z) = φ(x)ᵀφ(z) an expansion Σ aᵢ k(·, xᵢ) has the weights w = Φᵀa. A machine that has
solved for w knows them to the last digits; the a that belong to them are differences divided by a
penalty, and where columns are of different size, Φᵀa is not w: its terms cancel. So the weights
are the function, and the expansion is kept as the answer to which items it comes from.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr

from mercer.domains import Items, Points, Table, real_numbers
from mercer.engine.tiles import spans
from mercer.errors import DomainError
from mercer.gram import LowRank, features_of
from mercer.kernels import Kernel
from mercer.kernels.base import same_width
from mercer.rkhs.function import Function, as_scalar
from mercer.rkhs.gradients import LevelDifferences, expansion_gradient

__all__ = ["PrimalFunction", "function_of"]

BLOCK_ITEMS = 4096  # whose features are computed at a time
# Where features of an item are missing, the squares of the others do not add up to k(x, x).
COMPLETE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class PrimalFunction(Function):
    """A weighted sum of a kernel's own features, which fixes its values, norm and gradient.

    Parameters
    ----------
    kernel, points, coefficients
        As in `Function`: an expansion of the same function, up to rounding, that says how much
        each item counts.
    weights : array of shape (features,) or (features, outputs)
    reference : Points, optional
        The items that fix the columns of the features; by default the points.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> f = PrimalFunction(Linear(), [[1.0, 0.0], [0.0, 1.0]], [3.0, 4.0], weights=[3.0, 4.0])
    >>> f([[1.0, 1.0]]), f.norm(), f.gradient([[7.0, 7.0]])
    (array([7.]), 5.0, array([[3., 4.]]))
    """

    weights: Any = None
    reference: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        reference = self.points if self.reference is None else self.reference
        object.__setattr__(self, "reference", self.kernel.admit(reference, "the reference"))
        weights = real_numbers(self.weights, "the weights")
        found = self.kernel.map_features(self.reference)
        count = None if found is None else found.count
        if count is None or weights.shape != (count, *self.coefficients.shape[1:]):
            raise DomainError(
                f"{self.kernel!r} has {count} features of these points and the function "
                f"{self.coefficients.shape[1:] or 'one output'}, but weights are of shape "
                f"{weights.shape}"
            )
        if not np.isfinite(weights).all():
            raise DomainError("the weights hold NaN or infinity")
        object.__setattr__(self, "weights", weights)

    def features(self, points: Points) -> Any:
        """Return φ(x) of admitted points, in arrays of NumPy or SciPy."""
        return LowRank(features_of(self.kernel, self.reference)(points)).features

    def __call__(self, X: Items | Points) -> np.ndarray:
        """Return f at each item, by its features."""
        points = self.kernel.admit(X).as_new()
        same_width(points, self.points)
        transform = features_of(self.kernel, self.reference)
        result = np.empty((len(points), *self.weights.shape[1:]))
        for some in spans(len(points), BLOCK_ITEMS):
            result[some] = LowRank(transform(points[some])).features @ self.weights
        return result

    def gradient(self, X: Items | Points) -> np.ndarray:
        """Return ∇f at each item, as `Function.gradient` does.

        By the derivatives of features where they are known. Otherwise it is that of an expansion
        in so few of the points that their features determine its coefficients, so that less
        cancels.
        """
        points = self.kernel.admit(X).as_new()
        same_width(points, self.points)
        w = self.weights.reshape(len(self.weights), -1)
        known = self.kernel.feature_gradient(points, w)
        if known is not None:
            return np.asarray(known).reshape(*known.shape[:2], *self.weights.shape[1:])
        centers, coefficients = self._few
        found = expansion_gradient(self.kernel, points, centers, coefficients)
        if isinstance(points, Table):
            levels = LevelDifferences(self, points, self.points)
            shape = (len(points), len(levels.places), *self.weights.shape[1:])
            found[:, levels.places] = levels.mean.reshape(shape)
        return found

    @property
    def _few(self) -> tuple[Points, np.ndarray]:
        """An expansion in points that are as different as they can be, with Φᵀc = w."""
        known = self.__dict__.get("_expansion")
        if known is None:
            features = self.features(self.points)
            Phi = features.toarray() if sparse.issparse(features) else np.asarray(features)
            # In units of each column's size no column hides another one.
            size = np.abs(Phi).max(axis=0)
            size[size == 0] = 1.0
            _, R, order = qr((Phi / size).T, mode="economic", pivoting=True)
            pivots = np.abs(np.diag(R))
            rank = int(np.sum(pivots > 1e-13 * pivots.max(initial=0.0)))
            places = np.sort(order[:rank])
            A, right = (Phi[places] / size).T, (self.weights.T / size).T
            c = np.linalg.lstsq(A, right, rcond=None)[0]
            c += np.linalg.lstsq(A, right - A @ c, rcond=None)[0]
            known = (self.points[places], c)
            object.__setattr__(self, "_expansion", known)
        return known

    def __add__(self, other: Function) -> Function:
        if not isinstance(other, Function):
            return NotImplemented
        self._require_same_space(other)
        plain = super().__add__(other)
        weights = self._weights_of(other)
        if weights is None:
            return plain
        return PrimalFunction(
            self.kernel, plain.points, plain.coefficients, self.weights + weights, self.reference
        )

    def __mul__(self, factor: float) -> Function:
        if not isinstance(factor, numbers.Real):
            return NotImplemented
        return PrimalFunction(
            self.kernel, self.points, self.coefficients * factor, self.weights * factor,
            self.reference,
        )  # fmt: skip

    __rmul__ = __mul__

    def mix(self, mixing: np.ndarray) -> Function:
        return PrimalFunction(
            self.kernel, self.points, self.coefficients @ mixing, self.weights @ mixing,
            self.reference,
        )  # fmt: skip

    def inner(self, other: Function) -> Any:
        """Return ⟨f, g⟩, output by output: the product of their weights where g has the same
        features, otherwise Σ cⱼ f(zⱼ), because f evaluates itself (17).
        """
        self._require_same_space(other)
        weights = self._weights_of(other)
        if weights is not None:
            return as_scalar(np.sum(self.weights * weights, axis=0))
        return as_scalar(np.sum(other.coefficients * self(other.points), axis=0))

    def norm(self) -> Any:
        """Return |f| = |w|."""
        return as_scalar(np.linalg.norm(self.weights, axis=0))

    def _weights_of(self, other: Function) -> np.ndarray | None:
        """Return another function as weights of the features of this one, if it has no others."""
        if isinstance(other, PrimalFunction):
            if other.reference is self.reference:
                return np.asarray(other.weights)
            one, two = (self.kernel.map_features(f.reference) for f in (self, other))
            if one is None or two is None or one.count != two.count:
                return None
            same = all(
                _equal(one.transform(f.reference), two.transform(f.reference))
                for f in (self, other)
            )
            return np.asarray(other.weights) if same else None
        features = self.features(other.points)
        features = sparse.csr_array(features) if sparse.issparse(features) else features
        squares = np.asarray(self.kernel.evaluate_diagonal(other.points), dtype=float)
        found = np.asarray((features * features).sum(axis=1)).ravel()
        if (np.abs(found - squares) > COMPLETE * np.abs(squares)).any():
            return None
        return np.asarray(features.T @ other.coefficients)


def function_of(
    kernel: Kernel, points: Points, coefficients: np.ndarray, weights: np.ndarray | None
) -> Function:
    """Return the function that a solver has found: by its weights, if it found those.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> type(function_of(k, k.admit([[1.0]]), np.ones(1), None)).__name__
    'Function'
    """
    if weights is None:
        return Function(kernel, points, coefficients)
    return PrimalFunction(kernel, points, coefficients, weights)


def _equal(A: Any, B: Any) -> bool:
    if sparse.issparse(A) or sparse.issparse(B):
        return abs(sparse.csr_array(A) - sparse.csr_array(B)).nnz == 0
    return bool(np.array_equal(A, B))
