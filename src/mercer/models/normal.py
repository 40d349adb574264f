"""Normal distributions by their Cholesky factor: density, score and information.

The covariance is Σ = LLᵀ, and its free parameters are the entries of L below the diagonal and the
logarithms of those on it (Pinheiro and Bates, 1996): every choice of them is a covariance. With
y = L⁻¹(x − μ) and a = L⁻ᵀy the scores are plain: a for the mean, aᵢyⱼ for Lᵢⱼ, and aᵢyᵢLᵢᵢ − 1 for
ln Lᵢᵢ. For independent columns, L holds the standard deviations, and the last one is yᵢ² − 1.
"""

from __future__ import annotations

import math

import numpy as np

from mercer.errors import ValidityError

__all__ = [
    "LOG_TWO_PI",
    "factor",
    "factor_information",
    "factor_names",
    "factor_scores",
    "inverse",
    "log_normal",
    "raised",
]

LOG_TWO_PI = math.log(2 * math.pi)


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


def raised(covariances: np.ndarray, floors: np.ndarray) -> np.ndarray:
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
