"""Dot-product kernels: xᵀz and functions of it."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer.domains import ANYTHING, Domain, Points, Vectors, real_numbers
from mercer.engine.block import Array, Block, dot, dots, norms, rows
from mercer.engine.gradients import right_sums
from mercer.errors import DomainError, ValidityError
from mercer.kernels.base import Kernel, VectorKernel, kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.proof import Proof, Witness, proved, refute
from mercer.values import finite, positive, whole

__all__ = ["Constant", "Linear", "Polynomial", "QuadraticForm", "Sigmoid"]


@kernel
class Linear(VectorKernel):
    """The dot product of two vectors: xᵀz.

    Valid because it is an inner product, the identity being its feature map (6.1).

    Examples
    --------
    >>> Linear().pair([1.0, 2.0], [3.0, 4.0])
    11.0
    """

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return float(np.dot(np.asarray(x, float), np.asarray(z, float)))

    def evaluate(self, block: Block) -> Any:
        return block.copy(dots(block))

    def gradient(self, block: Block, G: Array) -> Any:
        return right_sums(block, G)

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return squared_norms(points)

    def prove(self) -> Proof:
        return proved(self, "xᵀz is an inner product (6.1)")

    def map_features(self, points: Vectors) -> FeatureMap:
        return FeatureMap(points.width, lambda p: p.array)

    def feature_gradient(self, points: Points, weights: np.ndarray) -> Any:
        return np.broadcast_to(weights, (len(points), *weights.shape)).copy()


@kernel
class Polynomial(VectorKernel):
    """All products of up to `degree` coordinates: (scale·xᵀz + offset)^degree.

    With offset 0 it compares exactly the monomials of that degree, with a positive offset also
    those of lower degree. Valid for scale ≥ 0 and offset ≥ 0, as a polynomial of xᵀz with
    nonnegative coefficients (6.15).

    Parameters
    ----------
    degree : int
        At least 1.
    offset : float
    scale : float

    Examples
    --------
    >>> Polynomial(2, offset=1.0).pair([1.0, 2.0], [3.0, 4.0])
    144.0
    """

    degree: int
    offset: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        self._normalize("degree", whole(self, "degree", self.degree))
        for name in ("offset", "scale"):
            self._normalize(name, finite(self, name, getattr(self, name)))

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        try:
            return (self.scale * Linear().pair(x, z) + self.offset) ** self.degree
        except OverflowError:
            return math.inf

    def evaluate(self, block: Block) -> Any:
        return (self.scale * dots(block) + self.offset) ** self.degree

    def evaluate_diagonal(self, points: Vectors) -> Any:
        return (self.scale * squared_norms(points) + self.offset) ** self.degree

    def gradient(self, block: Block, G: Array) -> Any:
        base = self.scale * dots(block) + self.offset
        return right_sums(block, (self.scale * self.degree) * G * base ** (self.degree - 1))

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        D = dots(block)
        H = G * (self.degree * (self.scale * D + self.offset) ** (self.degree - 1))
        found = {"scale": self.scale * dot(H, D), "offset": self.offset * float(np.sum(H))}
        return {name: slope for name, slope in found.items() if getattr(self, name) > 0}

    def prove(self) -> Proof:
        if self.offset >= 0 and self.scale >= 0:
            rule = "it is a polynomial with nonnegative coefficients (6.15) of xᵀz"
            return proved(self, rule, Linear().proof())
        if self.offset <= 0 and self.scale <= 0 and self.degree % 2 == 0:
            rule = "an even power cancels the signs, and (6.15) applies to"
            return proved(self, rule, Linear().proof())
        # At scale·x² + offset = 0 a one-dimensional point is not similar to itself but is to −x.
        x = math.sqrt(abs(self.offset / self.scale)) if self.offset and self.scale else 1.0
        reason = "it has a negative coefficient as a polynomial of xᵀz, against (6.15)"
        return refute(self, reason, ([[x], [-x]],))

    def map_features(self, points: Vectors) -> FeatureMap | None:
        if self.offset < 0 or self.scale < 0 or (points.is_sparse and self.degree > 1):
            return None
        width = points.width + (self.offset > 0)
        count = math.comb(width + self.degree - 1, self.degree)
        return FeatureMap(count, self._monomials)

    def _monomials(self, points: Vectors) -> Any:
        """Return each distinct monomial, weighted by the root of its multinomial coefficient."""
        X, index = self._factors(points)
        features = np.empty((len(X), len(index)))
        weights = np.sqrt(_multinomials(index))
        for some in range(0, len(index), 64):  # a few columns at a time, to save memory
            part = slice(some, some + 64)
            features[:, part] = weights[part]
            for column in index[part].T:
                features[:, part] *= X[:, column]
        return features

    def feature_gradient(self, points: Points, weights: np.ndarray) -> Any:
        X, index = self._factors(points)
        heights, width = np.sqrt(_multinomials(index) * self.scale), points.width or 0
        result = np.zeros((len(X), width, weights.shape[1]))
        for place in range(self.degree):  # the product rule, one factor after the other
            others = np.prod(X[:, np.delete(index, place, axis=1)], axis=2) * heights
            for j in range(width):
                chosen = index[:, place] == j
                result[:, j] += others[:, chosen] @ weights[chosen]
        return result

    def _factors(self, points: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers that monomials are products of, and of which each of them is."""
        X: Any = rows(Block(points, points))[0] * math.sqrt(self.scale)
        if sparse.issparse(X):
            X = X.toarray()
        if self.offset > 0:
            X = np.concatenate([X, np.full((len(X), 1), math.sqrt(self.offset))], axis=1)
        terms = combinations_with_replacement(range(X.shape[1]), self.degree)
        return X, np.array(list(terms))


@kernel
class QuadraticForm(VectorKernel):
    """A dot product in other coordinates: xᵀAz (6.20).

    Valid if and only if the symmetric matrix A is positive semi-definite; otherwise an
    eigenvector with a negative eigenvalue is the witness.

    Parameters
    ----------
    matrix : array of shape (d, d), symmetric

    Examples
    --------
    >>> QuadraticForm([[2.0, 0.0], [0.0, -1.0]]).proof().verdict
    'refuted'
    """

    matrix: Any

    def __post_init__(self) -> None:
        try:
            A = real_numbers(self.matrix, "matrix of QuadraticForm").copy()
        except DomainError as error:
            raise ValidityError(str(error)) from error
        if A.ndim != 2 or A.shape[0] != A.shape[1] or A.size == 0:
            raise ValidityError(f"matrix of QuadraticForm must be square, found shape {A.shape}")
        if not np.isfinite(A).all():
            raise ValidityError("matrix of QuadraticForm holds NaN or infinity")
        if not np.allclose(A, A.T, rtol=1e-12, atol=1e-12 * np.abs(A).max(initial=0.0)):
            raise ValidityError("matrix of QuadraticForm must be symmetric (6.20)")
        A.setflags(write=False)
        self._normalize("matrix", A)

    @property
    def width(self) -> int:
        return len(self.matrix)

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return float(np.asarray(x, float) @ self.matrix @ np.asarray(z, float))

    def evaluate(self, block: Block) -> Any:
        A, B = rows(block)
        product = (A @ self._matrix_for(A)) @ B.T
        return product.toarray() if sparse.issparse(product) else product

    def gradient(self, block: Block, G: Array) -> Any:
        found = right_sums(block, G)
        return found @ self._matrix_for(found)

    def evaluate_diagonal(self, points: Vectors) -> Any:
        A, _ = rows(Block(points, points))
        if points.is_sparse:
            return np.asarray(A.multiply(A @ self._matrix_for(A)).sum(axis=1)).ravel()
        return points.xp.sum((A @ self._matrix_for(A)) * A, axis=1)

    def prove(self) -> Proof:
        values, vectors = np.linalg.eigh(self.matrix)
        if values[0] >= -1e-12 * max(abs(values[-1]), abs(values[0])):
            return proved(self, "its matrix is symmetric and positive semi-definite (6.20)")
        witness = Witness(vectors[:, :1].T, float(values[0]))
        reason = f"its matrix has the negative eigenvalue {values[0]:.3g}, against (6.20)"
        return Proof(self, "refuted", reason, witness=witness)

    def map_features(self, points: Vectors) -> FeatureMap | None:
        values, vectors = np.linalg.eigh(self.matrix)
        if self.proof().verdict != "proved":
            return None
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return FeatureMap(len(values), lambda p: p.array @ root)

    def _matrix_for(self, A: Array) -> Any:
        if isinstance(A, np.ndarray) or sparse.issparse(A):
            return self.matrix
        xp, device = array_api_compat.array_namespace(A), array_api_compat.device(A)
        return xp.asarray(self.matrix.copy(), dtype=A.dtype, device=device)


@kernel
class Constant(Kernel):
    """The same similarity for every two things: value ≥ 0.

    In a sum it lets a function have an offset. Valid as f(x)f(z) with a constant f.

    Parameters
    ----------
    value : float

    Examples
    --------
    >>> (Linear() + 1.0)
    Linear() + Constant(value=1.0)
    """

    value: float
    domain: ClassVar[Domain] = ANYTHING
    threads: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._normalize("value", positive(self, "value", self.value, zero=True))

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return self.value

    def evaluate(self, block: Block) -> Any:
        if not isinstance(block.left, Vectors) or block.xp.__name__.endswith("numpy"):
            return np.full(block.shape, self.value)
        array = block.left.array
        device = array_api_compat.device(array)
        return block.xp.full(block.shape, self.value, dtype=array.dtype, device=device)

    def evaluate_diagonal(self, points: Points) -> Any:
        return self.constant(points, self.value)

    def gradient(self, block: Block, G: Array) -> Any:
        if block.left.width is None:
            return None
        xp = array_api_compat.array_namespace(G)
        device = array_api_compat.device(G)
        return xp.zeros((len(block.left), block.left.width), dtype=G.dtype, device=device)

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        return {"value": self.value * float(np.sum(G))} if self.value > 0 else {}

    def prove(self) -> Proof:
        return proved(self, "it is f(x)f(z) with a constant f (6.14)")

    def map_features(self, points: Points) -> FeatureMap:
        return FeatureMap(1, lambda p: np.full((len(p), 1), math.sqrt(self.value)))

    def feature_gradient(self, points: Points, weights: np.ndarray) -> Any:
        return np.zeros((len(points), points.width or 0, weights.shape[1]))

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray:
        return np.zeros((count, width))


@kernel
class Sigmoid(VectorKernel):
    """A neural network's unit as a similarity: tanh(slope·xᵀz + offset) (6.37).

    Its Gram matrix is in general not positive semi-definite. For a positive slope, a short
    vector z and a long one x with slope·xᵀz = s have the determinant
    tanh(offset) − tanh²(s + offset), roughly, which is negative for large s.

    Parameters
    ----------
    slope, offset : float

    Examples
    --------
    >>> print(Sigmoid(1.0, -1.0).proof())
    Sigmoid(slope=1.0, offset=-1.0) is not positive semi-definite because tanh of ...
       witness: the Gram matrix of [[0.]] has the eigenvalue -0.762
    """

    slope: float
    offset: float

    def __post_init__(self) -> None:
        for name in ("slope", "offset"):
            self._normalize(name, finite(self, name, getattr(self, name)))

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return math.tanh(self.slope * Linear().pair(x, z) + self.offset)

    def evaluate(self, block: Block) -> Any:
        return block.xp.tanh(self.slope * dots(block) + self.offset)

    def gradient(self, block: Block, G: Array) -> Any:
        K = block.share(("gram", self), lambda: self.evaluate(block))
        return right_sums(block, self.slope * G * (1 - K * K))

    def evaluate_diagonal(self, points: Vectors) -> Any:
        xp = points.xp
        return xp.tanh(self.slope * squared_norms(points) + self.offset)

    def prove(self) -> Proof:
        if self.slope == 0 and self.offset >= 0:
            return proved(self, "with slope 0 it is a constant that is not negative")
        reason = "tanh of xᵀz has Taylor coefficients of both signs (6.37)"
        unit = 1 / math.sqrt(abs(self.slope)) if self.slope else 1.0
        pairs = ([[t * unit], [s / t * unit]] for t in (3.0, 10.0, 100.0) for s in (1.0, 2.0, 5.0))
        return refute(self, reason, ([[0.0]], [[unit]], *pairs))


def squared_norms(points: Vectors) -> Any:
    """Return xᵀx of each point."""
    return norms(Block(points, points))[0]


def _multinomials(index: np.ndarray) -> np.ndarray:
    """Return degree!/∏ multiplicity! of each row of sorted indices."""
    counts = np.full(len(index), float(math.factorial(index.shape[1])))
    for i, term in enumerate(index):
        _, repeats = np.unique(term, return_counts=True)
        counts[i] /= math.prod(math.factorial(r) for r in repeats)
    return counts
