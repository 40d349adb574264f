"""A normal distribution of vectors: density, score and information by its Cholesky factor.

The covariance is Σ = LLᵀ, and its free parameters are the entries of L below the diagonal and the
logarithms of those on it (Pinheiro and Bates, 1996): every choice of them is a covariance. With
y = L⁻¹(x − μ) and a = L⁻ᵀy the scores are plain: a for the mean, aᵢyⱼ for Lᵢⱼ, and aᵢyᵢLᵢᵢ − 1 for
ln Lᵢᵢ. For independent columns, L holds the standard deviations, and the last one is yᵢ² − 1.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Domain, VectorDomain, Vectors
from mercer.errors import DomainError, ValidityError
from mercer.models.base import Model, choice, model
from mercer.models.parameter_arrays import numbers, read_only, rows

__all__ = [
    "LOG_TWO_PI",
    "GaussianDensity",
    "factor",
    "factor_information",
    "factor_names",
    "factor_scores",
    "floored_covariances",
    "inverse",
    "log_normal",
]

LOG_TWO_PI = math.log(2 * math.pi)
PARTS = ("mean", "covariance")


@model
class GaussianDensity(Model):
    """A normal distribution, N(x|μ, Σ).

    The free parameters are the mean and the Cholesky factor of the covariance, whose diagonal is
    taken in logarithms. If the covariance is known and fixed, the score is Σ⁻¹(x − μ) and the
    Fisher kernel (x − μ)ᵀΣ⁻¹(z − μ): linear. Everything is exact, the information too.

    Parameters
    ----------
    mean : array of shape (d,), optional
        None until it is learned.
    covariance : array of shape (d, d), optional
        Or d variances, or one variance for all columns. None until it is learned.
    fixed : str or tuple of str
        What is known: "mean" or "covariance". It is not learned and has no score.

    Examples
    --------
    >>> model = GaussianDensity([1.0, 0.0], covariance=4.0, fixed="covariance")
    >>> model.score([[3.0, 4.0]])
    array([[0.5, 1. ]])
    >>> model.information()
    array([[0.25, 0.  ],
           [0.  , 0.25]])
    """

    mean: Any = None
    covariance: Any = None
    fixed: tuple[str, ...] = ()

    domain: ClassVar[Domain] = VectorDomain(dense_for="GaussianDensity")

    def __post_init__(self) -> None:
        fixed = (self.fixed,) if isinstance(self.fixed, str) else tuple(self.fixed)
        for part in fixed:
            choice(self, "fixed", part, PARTS)
            if getattr(self, part) is None:
                raise ValidityError(f"{part} of GaussianDensity is fixed, but not given")
        if len(set(fixed)) == len(PARTS):
            raise ValidityError("mean and covariance of GaussianDensity cannot both be fixed")
        self._normalize("fixed", tuple(part for part in PARTS if part in fixed))
        if self.mean is not None:
            self._normalize("mean", numbers(self, "mean", self.mean, (None,)))
        if self.covariance is not None:
            self._normalize("covariance", self._matrix(self.covariance))

    def _matrix(self, given: ArrayLike) -> np.ndarray:
        """Return the covariance as a matrix, as soon as the number of columns is known."""
        array = numbers(self, "covariance", given, (None,) * min(np.ndim(given), 2))
        if array.ndim < 2:
            if (array <= 0).any():
                raise ValidityError("variances of GaussianDensity must be positive")
            if array.ndim == 0 and self.mean is None:
                return array
            array = read_only(np.eye(self._width(array)) * array)
        width = self._width(array)
        if array.shape != (width, width):
            raise ValidityError(
                f"covariance of GaussianDensity must have the shape {width} × {width}, found "
                f"{array.shape[0]} × {array.shape[1]}"
            )
        factor(array, "covariance of GaussianDensity")
        return array

    def _width(self, covariance: np.ndarray) -> int:
        return len(covariance) if self.mean is None else len(self.mean)

    def _known_width(self) -> int | None:
        """Return the number of columns of what is fixed, if it has one."""
        if "mean" in self.fixed:
            return len(self.mean)
        return len(self.covariance) if self.fixed and self.covariance.ndim else None

    @property
    def fitted(self) -> bool:
        return self.mean is not None and self.covariance is not None

    @cached_property
    def _factor(self) -> np.ndarray:
        return factor(self.covariance, "covariance of GaussianDensity")

    def _whiten(self, points: Vectors) -> np.ndarray:
        """Return y = L⁻¹(x − μ) of each row."""
        return (rows(points, len(self.mean), self) - self.mean) @ inverse(self._factor).T

    def log_densities(self, points: Vectors) -> np.ndarray:
        return log_normal(self._whiten(points), self._factor)

    def scores(self, points: Vectors) -> np.ndarray:
        Y, parts = self._whiten(points), []
        if "mean" not in self.fixed:
            parts.append(Y @ inverse(self._factor))
        if "covariance" not in self.fixed:
            second = Y[:, :, None] * Y[:, None, :]
            parts.append(factor_scores(second, np.ones(len(Y)), self._factor))
        return np.hstack(parts)

    @property
    def parameter_names(self) -> list[str]:
        self.require_fitted()
        means = [f"mean[{i}]" for i in range(len(self.mean))]
        factors = factor_names("", len(self.mean))
        return (means if "mean" not in self.fixed else []) + (
            factors if "covariance" not in self.fixed else []
        )

    def information(self) -> np.ndarray:
        self.require_fitted()
        blocks = []
        if "mean" not in self.fixed:
            whitener = inverse(self._factor)
            blocks.append(whitener.T @ whitener)
        if "covariance" not in self.fixed:
            blocks.append(factor_information(self._factor))
        return block_diagonal(blocks)

    def learn(self, points: Vectors, weights: np.ndarray | None, seed: int) -> Self:
        X = rows(points, self._known_width(), self)
        w = np.ones(len(X)) if weights is None else weights
        mean = self.mean if "mean" in self.fixed else w @ X / w.sum()
        if "covariance" in self.fixed:
            return self.set_params(mean=mean)
        D = (X - mean) * np.sqrt(w / w.sum())[:, None]
        covariance = D.T @ D
        size = np.sqrt(np.diag(covariance))
        correlation = (
            covariance / np.outer(size, size) if size.all() else np.zeros_like(covariance)
        )
        if np.linalg.eigvalsh(correlation)[0] < 1e-12:  # zero up to rounding
            raise DomainError(
                f"the covariance of the {X.shape[1]} columns of X is singular with {len(X)} "
                "items: some column is constant, or depends on others; drop it, or fix the "
                "covariance"
            )
        return self.set_params(mean=mean, covariance=covariance)

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        return self.mean + rng.standard_normal((count, len(self.mean))) @ self._factor.T


def block_diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    """Return a matrix with these along its diagonal, and zeros elsewhere."""
    from scipy.linalg import block_diag

    return block_diag(*blocks)


def factor(covariance: np.ndarray, name: str) -> np.ndarray:
    """Return the Cholesky factor L of a covariance, refusing what is none."""
    if not np.allclose(covariance, covariance.T, rtol=1e-8, atol=0.0):
        raise ValidityError(f"{name} must be symmetric")
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError as error:
        raise ValidityError(
            f"{name} must be positive definite; its smallest eigenvalue is "
            f"{np.linalg.eigvalsh(covariance)[0]:.3g}"
        ) from error


def inverse(L: np.ndarray) -> np.ndarray:
    """Return L⁻¹ of a triangular matrix."""
    from scipy.linalg import solve_triangular

    return solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)


def log_normal(Y: np.ndarray, L: np.ndarray) -> np.ndarray:
    """Return ln N(x|μ, LLᵀ) of each row y = L⁻¹(x − μ)."""
    constant = np.log(np.diag(L)).sum() + 0.5 * len(L) * LOG_TWO_PI
    return -0.5 * np.einsum("ij,ij->i", Y, Y) - constant


def factor_scores(second: np.ndarray, count: np.ndarray, L: np.ndarray) -> np.ndarray:
    """Return the scores of the entries of L, in the order of `factor_names`.

    Parameters
    ----------
    second : array of shape (items, d, d)
        Σ wₜyₜyₜᵀ over the observations of each item.
    count : array of shape (items,)
        Σ wₜ.
    """
    found = inverse(L).T @ second
    i, j = np.tril_indices(len(L))
    scores = found[:, i, j]
    diagonal = i == j
    scores[:, diagonal] = scores[:, diagonal] * np.diag(L) - count[:, None]
    return scores


def factor_names(prefix: str, width: int) -> list[str]:
    """Return the names of the free parameters of L, row by row; `prefix` begins their place."""
    places = zip(*np.tril_indices(width), strict=True)
    return [
        f"log_factor[{prefix}{i}]" if i == j else f"factor[{prefix}{i}, {j}]" for i, j in places
    ]


def factor_information(L: np.ndarray) -> np.ndarray:
    """Return the Fisher information of the entries of L, in the order of `factor_names`.

    With U = L⁻ᵀ and P = Σ⁻¹, E[(aᵢyⱼ − Uᵢⱼ)(aₖyₗ − Uₖₗ)] = PᵢₖIⱼₗ + UᵢₗUₖⱼ, by the moments of four
    normal variables (Isserlis, 1918).
    """
    U = inverse(L).T
    P, unit = U @ U.T, np.eye(len(L))
    i, j = np.tril_indices(len(L))
    F = P[np.ix_(i, i)] * unit[np.ix_(j, j)] + U[np.ix_(i, j)] * U[np.ix_(i, j)].T
    scale = np.where(i == j, L[i, j], 1.0)
    return scale[:, None] * F * scale


def floored_covariances(covariances: np.ndarray, floors: np.ndarray) -> np.ndarray:
    """Return covariances that are nowhere below a floor for each channel.

    Among those that are not below it, this is the one of highest likelihood: variances are cut
    off, or eigenvalues in units in which the floor is 1. So a step still never loses likelihood.
    """
    if covariances.ndim == 2:
        return np.maximum(covariances, floors)
    sizes = np.sqrt(floors)
    values, vectors = np.linalg.eigh(covariances / np.outer(sizes, sizes))
    if (values >= 1).all():
        return covariances
    cut = (vectors * np.maximum(values, 1.0)[:, None, :]) @ vectors.transpose(0, 2, 1)
    return (cut + cut.transpose(0, 2, 1)) / 2 * np.outer(sizes, sizes)
