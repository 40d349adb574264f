"""A normal distribution of vectors."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from mercer.domains import Domain, VectorDomain, Vectors
from mercer.errors import DomainError, ValidityError
from mercer.models.arrays import numbers, read_only, rows
from mercer.models.base import Model, choice, model
from mercer.models.normal import (
    factor,
    factor_information,
    factor_names,
    factor_scores,
    inverse,
    log_normal,
)

__all__ = ["GaussianDensity"]

PARTS = ("mean", "covariance")
SINGULAR = 1e-12  # an eigenvalue of correlations that is zero up to rounding


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

    def _matrix(self, given: Any) -> np.ndarray:
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

    def _whitened(self, points: Vectors) -> np.ndarray:
        """Return y = L⁻¹(x − μ) of each row."""
        return (rows(points, len(self.mean), self) - self.mean) @ inverse(self._factor).T

    def log_densities(self, points: Vectors) -> np.ndarray:
        return log_normal(self._whitened(points), self._factor)

    def scores(self, points: Vectors) -> np.ndarray:
        Y, parts = self._whitened(points), []
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
        if not size.all() or np.linalg.eigvalsh(covariance / np.outer(size, size))[0] < SINGULAR:
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
