"""The four forms of covariances in a mixture of normal distributions, as scikit-learn names them.

Each form knows its array, what it says of rows, its scores, its information, and which array is
best for given responsibilities. Roots are Cholesky factors, or standard deviations where columns
are independent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.compiled import compiled
from mercer.errors import ValidityError
from mercer.models.gaussian import (
    LOG_TWO_PI,
    factor,
    factor_information,
    factor_names,
    factor_scores,
    floored_covariances,
    inverse,
    log_normal,
)
from mercer.models.parameter_arrays import numbers

__all__ = ["COVARIANCES"]

FARTHEST_MEAN = 1e5  # squared, in deviations, from the middle; beyond it digits would be lost


class FullCovariance:
    """A matrix for each component."""

    def check(self, owner: object, given: ArrayLike, components: int, width: int) -> np.ndarray:
        """Return a valid array."""
        array = numbers(owner, "covariances", given, (components, width, width))
        for k, covariance in enumerate(array):
            factor(covariance, f"covariance {k} of {type(owner).__name__}")
        return array

    def roots(self, covariances: np.ndarray, components: int, width: int) -> np.ndarray:
        """Return the root of each component."""
        return np.linalg.cholesky(covariances)

    def logs(self, X: np.ndarray, means: np.ndarray, roots: np.ndarray) -> np.ndarray:
        """Return ln p(x|k) of each row and component."""
        found = np.empty((len(X), len(means)))
        for k, (mean, L) in enumerate(zip(means, roots, strict=True)):
            found[:, k] = log_normal((X - mean) @ inverse(L).T, L)
        return found

    def scores(
        self, X: np.ndarray, R: np.ndarray, means: np.ndarray, roots: np.ndarray,
        excess: np.ndarray, out: np.ndarray,
    ) -> None:  # fmt: skip
        """Write the scores of weights, which are in `excess`, then of means and covariances,
        given the responsibilities R."""
        begin, width = excess.shape[1], means.shape[1]
        out[:, :begin] = excess
        place = begin + means.size
        i, j = np.tril_indices(width)
        for k, (mean, L) in enumerate(zip(means, roots, strict=True)):
            back, r = inverse(L), R[:, k, None]
            Y = (X - mean) @ back.T
            A = r * (Y @ back)
            out[:, begin + k * width : begin + (k + 1) * width] = A
            part = A[:, i] * Y[:, j]
            part[:, i == j] = part[:, i == j] * np.diag(L) - r
            out[:, place : place + len(i)] = part
            place += len(i)

    def names(self, components: int, width: int) -> list[str]:
        """Return the names of the parameters of the covariances."""
        return [name for k in range(components) for name in factor_names(f"{k}, ", width)]

    def blocks(self, weights: np.ndarray, roots: np.ndarray) -> list[np.ndarray]:
        """Return the information of means and covariances where components do not overlap."""
        back = [inverse(L) for L in roots]
        means = [w * B.T @ B for w, B in zip(weights, back, strict=True)]
        return means + [w * factor_information(L) for w, L in zip(weights, roots, strict=True)]

    def estimate(
        self, X: np.ndarray, R: np.ndarray, means: np.ndarray, shares: np.ndarray
    ) -> np.ndarray:
        """Return the best array for columns of weights that sum to one, of components that have
        these shares of all items."""
        found = np.empty((*means.shape, means.shape[1]))
        for k, mean in enumerate(means):
            D = X - mean
            S = (D * R[:, k, None]).T @ D
            found[k] = (S + S.T) / 2
        return found

    def with_floor(self, covariances: np.ndarray, floors: np.ndarray) -> np.ndarray:
        """Return the array that is nowhere below a floor for each column."""
        return floored_covariances(covariances, floors)

    def noise(self, k: np.ndarray, roots: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw deviations from the means of some components."""
        return np.einsum("nij,nj->ni", roots[k], rng.standard_normal((len(k), roots.shape[-1])))


class TiedCovariance(FullCovariance):
    """One matrix for all components."""

    def check(self, owner: object, given: ArrayLike, components: int, width: int) -> np.ndarray:
        array = numbers(owner, "covariances", given, (width, width))
        factor(array, f"covariances of {type(owner).__name__}")
        return array

    def roots(self, covariances: np.ndarray, components: int, width: int) -> np.ndarray:
        return np.repeat(np.linalg.cholesky(covariances)[None], components, axis=0)

    def scores(
        self, X: np.ndarray, R: np.ndarray, means: np.ndarray, roots: np.ndarray,
        excess: np.ndarray, out: np.ndarray,
    ) -> None:  # fmt: skip
        begin, width, L = excess.shape[1], means.shape[1], roots[0]
        out[:, :begin] = excess
        back, second = inverse(L), np.zeros((len(X), width, width))
        for k, mean in enumerate(means):
            Y = (X - mean) @ back.T
            weighted = R[:, k, None] * Y
            out[:, begin + k * width : begin + (k + 1) * width] = weighted @ back
            second += weighted[:, :, None] * Y[:, None, :]
        out[:, begin + means.size :] = factor_scores(second, R.sum(axis=1), L)

    def names(self, components: int, width: int) -> list[str]:
        return factor_names("", width)

    def blocks(self, weights: np.ndarray, roots: np.ndarray) -> list[np.ndarray]:
        back = inverse(roots[0])
        return [w * back.T @ back for w in weights] + [factor_information(roots[0])]

    def estimate(
        self, X: np.ndarray, R: np.ndarray, means: np.ndarray, shares: np.ndarray
    ) -> np.ndarray:
        return np.tensordot(shares, super().estimate(X, R, means, shares), axes=1)

    def with_floor(self, covariances: np.ndarray, floors: np.ndarray) -> np.ndarray:
        return floored_covariances(covariances[None], floors)[0]


class DiagonalCovariance:
    """Variances of independent columns for each component."""

    def check(self, owner: object, given: ArrayLike, components: int, width: int) -> np.ndarray:
        return _variances(owner, given, (components, width))

    def roots(self, covariances: np.ndarray, components: int, width: int) -> np.ndarray:
        return np.sqrt(covariances)

    def logs(self, X: np.ndarray, means: np.ndarray, roots: np.ndarray) -> np.ndarray:
        # Seen from the middle of the means, where (x − μ)² loses few digits when multiplied out.
        center = means.mean(axis=0)
        M, P = means - center, roots**-2.0
        squares = (M * M * P).sum(axis=1)
        constants = np.log(roots).sum(axis=1) + 0.5 * means.shape[1] * LOG_TWO_PI
        if not squares.max() < FARTHEST_MEAN:
            parts = zip(means, P, strict=True)
            return np.column_stack([-0.5 * ((X - m) ** 2 @ p) for m, p in parts]) - constants
        D = X - center
        logs = D @ (M * P).T
        np.square(D, out=D)
        logs -= 0.5 * (D @ P.T)
        logs -= constants + 0.5 * squares
        return logs

    def scores(
        self, X: np.ndarray, R: np.ndarray, means: np.ndarray, roots: np.ndarray,
        excess: np.ndarray, out: np.ndarray,
    ) -> None:  # fmt: skip
        diagonal_scores(X, R, means, roots**-2.0, excess, out)

    def names(self, components: int, width: int) -> list[str]:
        return [f"log_deviation[{k}, {c}]" for k in range(components) for c in range(width)]

    def blocks(self, weights: np.ndarray, roots: np.ndarray) -> list[np.ndarray]:
        means = np.ravel(weights[:, None] * roots**-2.0)
        return [np.diag(means), np.diag(np.repeat(2.0 * weights, roots.shape[1]))]

    def estimate(
        self, X: np.ndarray, R: np.ndarray, means: np.ndarray, shares: np.ndarray
    ) -> np.ndarray:
        return np.array([R[:, k] @ (X - mean) ** 2 for k, mean in enumerate(means)])

    def with_floor(self, covariances: np.ndarray, floors: np.ndarray) -> np.ndarray:
        return np.maximum(covariances, floors)

    def noise(self, k: np.ndarray, roots: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return roots[k] * rng.standard_normal((len(k), roots.shape[1]))


class SphericalCovariance(DiagonalCovariance):
    """One variance of all columns for each component."""

    def check(self, owner: object, given: ArrayLike, components: int, width: int) -> np.ndarray:
        return _variances(owner, given, (components,))

    def roots(self, covariances: np.ndarray, components: int, width: int) -> np.ndarray:
        return np.repeat(np.sqrt(covariances)[:, None], width, axis=1)

    def scores(
        self, X: np.ndarray, R: np.ndarray, means: np.ndarray, roots: np.ndarray,
        excess: np.ndarray, out: np.ndarray,
    ) -> None:  # fmt: skip
        begin, width = excess.shape[1], means.shape[1]
        out[:, :begin] = excess
        for k, (mean, root) in enumerate(zip(means, roots, strict=True)):
            Y = (X - mean) / root
            out[:, begin + k * width : begin + (k + 1) * width] = R[:, k, None] * Y / root
            out[:, begin + means.size + k] = R[:, k] * (np.einsum("nc,nc->n", Y, Y) - width)

    def names(self, components: int, width: int) -> list[str]:
        return [f"log_deviation[{k}]" for k in range(components)]

    def blocks(self, weights: np.ndarray, roots: np.ndarray) -> list[np.ndarray]:
        means = np.ravel(weights[:, None] * roots**-2.0)
        return [np.diag(means), np.diag(2.0 * weights * roots.shape[1])]

    def estimate(
        self, X: np.ndarray, R: np.ndarray, means: np.ndarray, shares: np.ndarray
    ) -> np.ndarray:
        return super().estimate(X, R, means, shares).mean(axis=1)

    def with_floor(self, covariances: np.ndarray, floors: np.ndarray) -> np.ndarray:
        return np.maximum(covariances, floors.mean())


COVARIANCES: dict[str, Any] = {
    "full": FullCovariance(),
    "tied": TiedCovariance(),
    "diag": DiagonalCovariance(),
    "spherical": SphericalCovariance(),
}


def _variances(owner: object, given: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    array = numbers(owner, "covariances", given, shape)
    if (array <= 0).any():
        raise ValidityError(f"covariances of {type(owner).__name__} must be positive variances")
    return array


@compiled
def diagonal_scores(X, R, means, precisions, excess, out):
    """Write all scores of a mixture with independent columns: first those of the weights, which
    are in `excess`, then γ(x − μ)/σ² of the means, then γ((x − μ)²/σ² − 1) of log deviations.

    `R` holds the γ and `precisions` 1/σ²; `out` is zero before. What is written is much more than
    what is read, and the memory is touched for the first time, so each row is written at once
    from end to end. Most components have nothing to do with an item. Those below 10⁻²⁰ are left
    out: beside what the others contribute they are zero in all digits, at any distance.
    """
    components, width = means.shape
    begin = excess.shape[1]
    half = begin + components * width
    for i in range(len(X)):
        x = X[i]
        out[i, :begin] = excess[i]
        for k in range(components):
            g, mean, precision = R[i, k], means[k], precisions[k]
            if g < 1e-20:
                continue
            first = out[i, begin + k * width : begin + (k + 1) * width]
            second = out[i, half + k * width : half + (k + 1) * width]
            for c in range(width):
                d = x[c] - mean[c]
                pull = d * precision[c]
                first[c] = g * pull
                second[c] = g * (d * pull - 1.0)
