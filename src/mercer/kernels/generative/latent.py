"""The latent Gaussian kernel: alike because the same continuous cause explains both."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import linalg

from mercer.domains import Points, Vectors, real_numbers
from mercer.engine.block import Array, Block
from mercer.engine.tiles import quiet
from mercer.errors import DomainError, ValidityError
from mercer.kernels.base import VectorKernel, in_library_of, kernel
from mercer.kernels.generative.model_kernel import numpy_points
from mercer.kernels.proof import Proof, proved
from mercer.values import Identity, whole

__all__ = ["LatentGaussian"]


@kernel
class LatentGaussian(VectorKernel):
    """∫ p(x|u)·p(z|u)·p(u) du (6.30) for vectors that depend linearly on a Gaussian cause u.

    With x = Wu + m + ε, u ~ N(0, I) and ε ~ N(0, Ψ), two vectors are alike if the same u explains
    both: probabilistic principal components for Ψ = σ²I, factor analysis for a diagonal Ψ. The
    integral is the density of both vectors side by side, whose halves have the covariance WWᵀ in
    common. Sum and difference of the two are independent, so that

        ln k(x, z) = ln N((x + z)/√2; √2·m, Ψ + 2WWᵀ) + ln N((x − z)/√2; 0, Ψ).

    Valid as an integral of products f(x)·f(z), with the weight p(u) ≥ 0. It is computed in
    logarithms, so that ``normalize`` of it works where the densities are too small or too large
    for a floating-point number. For other conditional densities see `LatentIntegral`.

    Parameters
    ----------
    loading : array of shape (d, q), or int
        W. A whole number q asks for the most probable W, σ² and m under probabilistic principal
        components with q of them (Tipping & Bishop, 1999), learned from the items on which the
        kernel is resolved.
    noise : float, array of shape (d,) or (d, d), optional
        Ψ: one variance for all dimensions, one for each, or a covariance matrix.
    mean : array of shape (d,), optional
        m, by default 0.

    Examples
    --------
    >>> k = LatentGaussian([[2.0], [1.0]], noise=0.5)
    >>> k([[2.0, 1.0], [2.2, 0.9], [-2.0, -1.0]]).round(5)
    array([[0.01373, 0.01281, 0.     ],
           [0.01281, 0.01215, 0.     ],
           [0.     , 0.     , 0.01373]])
    >>> LatentGaussian(1).resolve([[1.0, 1.0], [-1.0, -1.0], [1.0, 0.0], [-1.0, 0.0]]).noise
    0.1909...
    """

    loading: Any
    noise: Any = None
    mean: Any = None
    arrays: ClassVar[int] = 3

    def __post_init__(self) -> None:
        if np.ndim(self.loading) == 0:
            self._normalize("loading", whole(self, "loading", self.loading))
            if self.noise is not None or self.mean is not None:
                raise ValidityError(
                    "noise and mean of LatentGaussian are learned together with its loading; "
                    "give all, or only the number of latent dimensions"
                )
            return
        W = _numbers("loading", self.loading)
        W = W[:, None] if W.ndim == 1 else W
        if W.ndim != 2 or W.size == 0:
            raise ValidityError(
                f"loading of LatentGaussian has a row for each dimension of x and a column for "
                f"each of the cause, found shape {W.shape}"
            )
        self._normalize("loading", _frozen(W))
        self._normalize("noise", self._checked_noise(len(W)))
        mean = np.zeros(len(W)) if self.mean is None else _numbers("mean", self.mean)
        if mean.shape != (len(W),):
            raise ValidityError(
                f"mean of LatentGaussian must have {len(W)} entries, found shape {mean.shape}"
            )
        self._normalize("mean", None if self.mean is None else _frozen(mean))

    def _checked_noise(self, width: int) -> Any:
        if self.noise is None:
            raise ValidityError("LatentGaussian with a given loading needs its noise, Ψ of (6.30)")
        noise = _numbers("noise", self.noise)
        if noise.shape not in ((), (width,), (width, width)):
            raise ValidityError(
                f"noise of LatentGaussian is a number, {width} numbers or a matrix of order "
                f"{width}, found shape {noise.shape}"
            )
        if noise.ndim < 2 and not (noise > 0).all():
            raise ValidityError(
                f"noise of LatentGaussian must be positive, found {float(noise.min())}"
            )
        if noise.ndim == 2:
            _root(noise)
        return float(noise) if noise.ndim == 0 else _frozen(noise)

    @property
    def width(self) -> int | None:
        return None if isinstance(self.loading, int) else len(self.loading)

    def unresolved(self) -> list[str]:
        return [f"loading={self.loading} of {self!r}"] if isinstance(self.loading, int) else []

    def resolve_heuristics(self, points: Vectors, weights: np.ndarray | None) -> Self:
        if not isinstance(self.loading, int):
            return self
        loading, noise, mean = principal(_rows(points), weights, self.loading)
        return type(self)(loading, noise, mean)

    def pair(self, x: object, z: object) -> float:
        from scipy.stats import multivariate_normal

        W, d = self.loading, len(self.loading)
        common = W @ W.T
        alone = common + _matrix(self.noise, d)
        mean = np.zeros(d) if self.mean is None else self.mean
        both = multivariate_normal(
            np.concatenate([mean, mean]), np.block([[alone, common], [common, alone]])
        )
        log = float(both.logpdf(np.concatenate([np.asarray(x, float), np.asarray(z, float)])))
        return math.exp(log) if log < 709 else math.inf

    def evaluate_diagonal(self, points: Points) -> Any:
        with quiet():
            return in_library_of(np.exp(self.log_diagonal(points)), points)

    def logarithms(self, block: Block) -> np.ndarray:
        from scipy.spatial.distance import cdist

        left, right = self._sides(block.left), self._sides(block.right)
        with quiet():
            logs = cdist(left.differences, right.differences, "sqeuclidean")
            logs += cdist(left.sums, -right.sums, "sqeuclidean")
            logs *= -0.25
        logs += self._parts.constant
        return logs

    def log_diagonal(self, points: Points) -> np.ndarray:
        sums = self._sides(points).sums
        with quiet():
            return self._parts.constant - np.einsum("ij,ij->i", sums, sums)

    def encode(self, points: Points) -> None:
        super().encode(points)
        self._sides(points)

    def prove(self) -> Proof:
        return proved(
            self, "it is an integral of products p(x|u)p(z|u) with weight p(u) ≥ 0 (6.30)"
        )

    def _sides(self, points: Points) -> _Sides:
        """Return the rows in units in which differences, and in which sums, have variance 1."""
        key = "latent", Identity(self.loading), Identity(self.noise), Identity(self.mean)
        both = points.view(key, self._whitened).array  # type: ignore[attr-defined]
        half = both.shape[1] // 2
        return _Sides(both[:, :half], both[:, half:])

    def _whitened(self, points: Vectors) -> Vectors:
        parts = self._parts
        X = _rows(points) - (0.0 if self.mean is None else self.mean)
        with quiet():
            both = [
                linalg.solve_triangular(root, X.T, lower=True, check_finite=False).T
                for root in (parts.difference, parts.sum)
            ]
        return Vectors(np.concatenate(both, axis=1))

    @cached_property
    def _parts(self) -> _Parts:
        W, d = self.loading, len(self.loading)
        noise = _matrix(self.noise, d)
        difference, total = _root(noise), _root(noise + 2 * W @ W.T)
        constant = -d * math.log(2 * math.pi)
        for root in (difference, total):
            constant -= float(np.sum(np.log(np.diag(root))))
        return _Parts(difference, total, constant)


class _Parts(NamedTuple):
    """Roots of the covariances of (x − z)/√2 and (x + z)/√2, and the logarithm of the height."""

    difference: np.ndarray
    sum: np.ndarray
    constant: float


class _Sides(NamedTuple):
    differences: np.ndarray
    sums: np.ndarray


def principal(
    X: np.ndarray, weights: np.ndarray | None, count: int
) -> tuple[np.ndarray, float, np.ndarray]:
    """Return loading, noise and mean of probabilistic principal components (maximum likelihood).

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    >>> loading, noise, mean = principal(X, None, 1)
    >>> loading.round(3).tolist(), round(noise, 3), mean.round(3).tolist()
    ([[0.745], [0.0]], 0.667, [0.333, 0.0])
    """
    if count >= X.shape[1]:
        raise DomainError(
            f"{count} latent dimensions cannot explain rows of X with {X.shape[1]} columns; "
            "there must be fewer"
        )
    w = np.full(len(X), 1 / len(X)) if weights is None else weights / np.sum(weights)
    mean = w @ X
    centered = X - mean
    values, vectors = np.linalg.eigh((centered * w[:, None]).T @ centered)
    values, vectors = values[::-1], vectors[:, ::-1]
    noise = float(np.mean(values[count:]))
    if not noise > 1e-12 * values[0]:
        raise DomainError(
            f"the rows of X lie in {count} or fewer dimensions, so that there is no noise to "
            "learn; give loading and noise of LatentGaussian"
        )
    leading = (
        vectors[:, :count]
        * np.sign(vectors[np.abs(vectors).argmax(0), range(len(values))])[:count]
    )
    return leading * np.sqrt(np.maximum(values[:count] - noise, 0.0)), noise, mean


def _rows(points: Vectors) -> np.ndarray:
    array = numpy_points(points).array  # type: ignore[attr-defined]
    return array.toarray() if points.is_sparse else array


def _matrix(noise: Any, width: int) -> np.ndarray:
    """Return the covariance matrix of the noise."""
    return np.diag(np.broadcast_to(noise, width)) if np.ndim(noise) < 2 else np.asarray(noise)


def _root(covariance: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of a covariance matrix."""
    symmetric = np.allclose(covariance, covariance.T, rtol=1e-12, atol=0.0)
    try:
        if not symmetric:
            raise linalg.LinAlgError
        return linalg.cholesky(covariance, lower=True)
    except linalg.LinAlgError:
        raise ValidityError(
            "noise of LatentGaussian must be a symmetric, positive definite matrix"
        ) from None


def _numbers(name: str, values: Array) -> np.ndarray:
    try:
        found = real_numbers(values, f"{name} of LatentGaussian")
    except DomainError as error:
        raise ValidityError(str(error)) from error
    if not np.isfinite(found).all():
        raise ValidityError(f"{name} of LatentGaussian holds NaN or infinity")
    return found


def _frozen(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.setflags(write=False)
    return array
