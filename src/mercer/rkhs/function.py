"""RKHS functions: what every fitted machine is.

The functions f(x) = Σ wᵢ k(x, xᵢ) of one kernel form a vector space (14) with the inner product
⟨f, g⟩ = Σᵢⱼ wᵢvⱼ k(xᵢ, yⱼ) (15). It does not depend on which expansion of f or g is used (16), and
the inner product with k(·, x) evaluates f at x (17): the space reproduces its functions. Equations
are those of Jäkel, Schölkopf & Wichmann (2007).
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import Items, Points, Table, real_numbers
from mercer.engine.block import Array
from mercer.engine.tiles import fill
from mercer.errors import DomainError, ValidityError
from mercer.gram import LowRank, features_of, product
from mercer.kernels import Kernel
from mercer.kernels.base import same_width
from mercer.rkhs.gradients import LevelDifferences, expansion_gradient

__all__ = ["Function", "as_scalar", "section"]


@dataclass(frozen=True, eq=False)
class Function:
    """A weighted sum of similarities to some points: f(x) = Σᵢ wᵢ k(x, xᵢ).

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    points : sequence or Points
        The x₁, …, x_N.
    coefficients : array of shape (N,) or (N, outputs)
        The weights; two-dimensional ones make a function with several outputs.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> f = Function(Gaussian(1.0), [[0.0], [1.0]], [1.0, -1.0])
    >>> f([[0.0]])
    array([0.39346934])
    >>> bool(f.norm() ** 2 - f.inner(f) < 1e-15)
    True
    """

    kernel: Kernel
    points: Any
    coefficients: Any

    def __post_init__(self) -> None:
        self.kernel.require_resolved()
        points = self.kernel.admit(self.points, "points")
        coefficients = real_numbers(self.coefficients, "the coefficients")
        if coefficients.ndim not in (1, 2) or len(coefficients) != len(points):
            raise DomainError(
                f"there are {len(points)} points, but coefficients of shape {coefficients.shape}"
            )
        if not np.isfinite(coefficients).all():
            raise DomainError("the coefficients hold NaN or infinity")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "coefficients", coefficients)

    def __call__(self, X: Items | Points) -> np.ndarray:
        """Return f at each item, without building the matrix of similarities."""
        points = self.kernel.admit(X).as_new()
        same_width(points, self.points)
        return product(self.kernel, points, self.points, self.coefficients)

    def gradient(self, X: Items | Points) -> np.ndarray:
        """Return ∇f at each item: of shape (n, d), or (n, d, outputs) for several outputs.

        Exact, and computed block by block. Kernels with a kink at x = xᵢ leave such pairs out.
        In a column of categories, which has no derivative, it is what the item's own level adds:
        f(x) less the mean of f with each other level (of the 16 most frequent).

        Examples
        --------
        >>> from mercer.kernels import Polynomial
        >>> f = Function(Polynomial(2), [[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0])  # x² + y²
        >>> f.gradient([[3.0, -1.0]])
        array([[ 6., -2.]])
        """
        points = self.kernel.admit(X).as_new()
        same_width(points, self.points)
        found = expansion_gradient(self.kernel, points, self.points, self.coefficients)
        if isinstance(points, Table):
            levels = LevelDifferences(self, points, self.points)
            shape = (len(points), len(levels.places), *self.coefficients.shape[1:])
            found[:, levels.places] = levels.mean.reshape(shape)
        return found

    def __len__(self) -> int:
        return len(self.points)

    def __add__(self, other: Function) -> Function:
        """Return f + g, an expansion in the points of both."""
        if not isinstance(other, Function):
            return NotImplemented
        self._require_same_space(other)
        if type(self) is Function and type(other).__add__ is not Function.__add__:
            return other + self
        points = self.points.concat(other.points)
        coefficients = np.concatenate([self.coefficients, other.coefficients])
        return Function(self.kernel, points, coefficients)

    def __mul__(self, factor: float) -> Function:
        if not isinstance(factor, numbers.Real):
            return NotImplemented
        return Function(self.kernel, self.points, self.coefficients * factor)

    __rmul__ = __mul__

    def __neg__(self) -> Function:
        return self * -1.0

    def __sub__(self, other: Function) -> Function:
        return self + (-other)

    def __truediv__(self, divisor: float) -> Function:
        return self * (1 / divisor)

    def mix(self, mixing: np.ndarray) -> Function:
        """Return combinations of the outputs: one for each column of `mixing`.

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> f = Function(Linear(), [[1.0]], [[1.0, 2.0]])
        >>> f.mix(np.array([1.0, 1.0]))([[5.0]])
        array([15.])
        """
        return Function(self.kernel, self.points, self.coefficients @ mixing)

    def inner(self, other: Function) -> Any:
        """Return ⟨f, g⟩ (15), output by output."""
        self._require_same_space(other)
        if type(self).inner is not type(other).inner:  # it knows its own weights
            return other.inner(self)
        if other is self:
            weights = self._weights_of_features()
            with np.errstate(over="ignore", invalid="ignore"):
                square = None if weights is None else np.sum(weights**2, axis=0)
            if square is not None and np.isfinite(square).all():
                return as_scalar(square)
        values = product(self.kernel, self.points, other.points, other.coefficients)
        return as_scalar(np.sum(self.coefficients * values, axis=0))

    def _weights_of_features(self) -> np.ndarray | None:
        """Return Φᵀa if features are fewer than points: aᵀKa cancels twice as many digits."""
        finite = self.kernel.map_features(self.points)
        if finite is None or finite.count >= len(self.points):
            return None
        features = LowRank(features_of(self.kernel, self.points)(self.points)).features
        return np.asarray(features.T @ self.coefficients)

    def norm(self) -> Any:
        """Return |f| = √⟨f, f⟩."""
        square = np.asarray(self.inner(self))
        rounding = 1e-12 * np.asarray(self._size_of_terms())
        if (square < -rounding).any():
            raise ValidityError(
                f"⟨f, f⟩ is {float(square.min()):.3g}: {self.kernel!r} is not positive "
                "semi-definite on these points, so there is no norm"
            )
        return as_scalar(np.sqrt(np.maximum(square, 0.0)))

    def distance(self, other: Function) -> Any:
        """Return |f − g|."""
        return (self - other).norm()

    def angle(self, other: Function) -> Any:
        """Return the angle between f and g in radians.

        Between two sections of a Gaussian its cosine is k(x, y) (section 2.3.2).
        """
        lengths = np.asarray(self.norm() * other.norm())
        if (lengths == 0).any():
            raise ValidityError("the zero function has no angle")
        return as_scalar(np.arccos(np.clip(self.inner(other) / lengths, -1.0, 1.0)))

    def project(self, points: Points) -> Function:
        """Return the closest function in the span of k(·, x) of the given points.

        It agrees with f on them, and the rest f − f.project(points) is orthogonal to the span: the
        f∥ + f⊥ of the representer theorem.
        """
        onto = self.kernel.admit(points, "points")
        same_width(onto, self.points)
        values, vectors = np.linalg.eigh(np.asarray(fill(self.kernel, onto, dtype=np.float64)))
        # Directions that the points do not span, up to rounding, get no coefficient.
        kept = values > len(values) * np.finfo(float).eps * max(float(values[-1]), 0.0)
        V = vectors[:, kept]
        target = self(onto)
        weights = (V.T @ target).T / values[kept]
        return Function(self.kernel, onto, V @ weights.T)

    def __repr__(self) -> str:
        outputs = "" if self.coefficients.ndim == 1 else f", {self.coefficients.shape[1]} outputs"
        return f"Function({self.kernel!r}, {len(self)} points{outputs})"

    def _require_same_space(self, other: Function) -> None:
        if self.kernel != other.kernel:
            raise ValidityError(
                f"functions of different spaces cannot be combined: {self.kernel!r} and "
                f"{other.kernel!r}"
            )
        if self.coefficients.shape[1:] != other.coefficients.shape[1:]:
            raise DomainError("the functions have different numbers of outputs")

    def _size_of_terms(self) -> Any:
        """Return (Σ|wᵢ|√k(xᵢ, xᵢ))², which bounds the terms that cancel in ⟨f, f⟩."""
        lengths = np.sqrt(np.abs(np.asarray(self.kernel.evaluate_diagonal(self.points))))
        return (lengths @ np.abs(self.coefficients)) ** 2


def section(kernel: Kernel, x: object) -> Function:
    """Return k(·, x), the function that stands for one thing: its representer of evaluation.

    Parameters
    ----------
    kernel : Kernel
    x : object
        One thing.

    Returns
    -------
    Function

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> k = Gaussian(1.0)
    >>> round(float(np.cos(section(k, [0.0]).angle(section(k, [1.0])))), 6)
    0.606531
    """
    return Function(kernel, [x], [1.0])


def as_scalar(values: Array) -> Any:
    """Return one number as such, and several as they are.

    Examples
    --------
    >>> as_scalar(np.array(2.0))
    2.0
    """
    return float(values) if np.ndim(values) == 0 else values
