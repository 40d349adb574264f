"""Metrics: how much each dimension, and each direction, counts in a distance.

A vector of weights m ≥ 0, one per dimension, is what psychology calls attention:
|x − z|_M² = Σ mᵢ(xᵢ − zᵢ)², and Σ mᵢ|xᵢ − zᵢ|^r for a distance of order r. A positive
semi-definite matrix M lets dimensions act together: |x − z|_M² = (x − z)ᵀM(x − z). For an order
other than 2 it transforms rows by M^½, and the distance is that of the transformed rows.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from mercer.domains import real_numbers
from mercer.engine.transform import RowTransform, Scales
from mercer.errors import DomainError, ValidityError
from mercer.values import positive, sequence

__all__ = ["Metric", "clean_metric", "metric_rank", "metric_scales", "power_sum", "spectrum"]

Metric = Any  # None, a tuple of floats, or a symmetric matrix that cannot be written into

NEGLIGIBLE = 1e-12  # share of the largest eigenvalue up to which others are rounding errors


class PrincipalAxes(NamedTuple):
    """Eigenvalues that are not zero, rising, and their eigenvectors as columns."""

    values: np.ndarray
    vectors: np.ndarray


def clean_metric(owner: object, name: str, value: object) -> Metric:
    """Return a metric in its canonical form, or raise `ValidityError` naming the kernel."""
    if value is None:
        return None
    if _dimensions(value) != 2:
        return sequence(owner, name, value, partial(positive, zero=True))
    what = f"{name} of {type(owner).__name__}"
    try:
        M = real_numbers(value, what)
    except DomainError as error:
        raise ValidityError(str(error)) from error
    if M.shape[0] != M.shape[1] or M.size == 0:
        raise ValidityError(
            f"{what} must be a vector of weights or a square matrix, found shape {M.shape}"
        )
    if not np.isfinite(M).all():
        raise ValidityError(f"{what} holds NaN or infinity")
    if not np.allclose(M, M.T, rtol=1e-10, atol=1e-10 * np.abs(M).max()):
        raise ValidityError(f"{what} must be symmetric")
    M = (M + M.T) / 2
    lowest, highest = _extremes(len(M), M.tobytes())
    if lowest < -1e-10 * max(highest, -lowest):
        raise ValidityError(
            f"{what} must be positive semi-definite, but has the eigenvalue {lowest:.3g}; a "
            "learned matrix can be clipped at zero before"
        )
    M.setflags(write=False)
    return M


def metric_rank(metric: Metric) -> int | None:
    """Return how many directions count, None if all do, however many there are."""
    if metric is None:
        return None
    if isinstance(metric, tuple):
        return int(np.count_nonzero(metric))
    return len(spectrum(metric).values)


def metric_scales(metric: Metric, order: float, widths: tuple[float, ...] | None) -> Scales:
    """Return what rows are divided by, or transformed with, so that distances are plain ones.

    Examples
    --------
    >>> metric_scales((4.0, 0.0), 2.0, None)
    (0.5, inf)
    """
    if metric is None:
        return widths
    if isinstance(metric, tuple):
        given = widths or (1.0,) * len(metric)
        return tuple(
            s / m ** (1 / order) if m > 0 else float("inf")
            for s, m in zip(given, metric, strict=True)
        )
    return _transform(len(metric), metric.tobytes(), order == 2.0)


def spectrum(metric: np.ndarray) -> PrincipalAxes:
    """Return the spectrum of a matrix, without what is zero up to rounding."""
    return _spectrum(len(metric), metric.tobytes())


def power_sum(metric: Metric, u: np.ndarray, order: float) -> float:
    """Return Σ|uᵢ|^r as the metric sees it, by the textbook's formula."""
    if metric is None:
        return float(np.sum(np.abs(u) ** order))
    if isinstance(metric, tuple):
        return float(np.sum(np.asarray(metric) * np.abs(u) ** order))
    if order == 2.0:
        return max(float(u @ metric @ u), 0.0)
    values, vectors = spectrum(metric)
    return float(np.sum(np.abs(vectors @ (np.sqrt(values) * (vectors.T @ u))) ** order))


def _dimensions(value: Any) -> int:
    try:
        return int(np.ndim(value))
    except ValueError:  # rows of different lengths
        return 1


# A matrix is decomposed once, not again for every copy of a kernel with another bandwidth.


@lru_cache(maxsize=8)
def _decomposed(width: int, numbers: bytes) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = np.linalg.eigh(np.frombuffer(numbers).reshape(width, width))
    return values, vectors


def _extremes(width: int, numbers: bytes) -> tuple[float, float]:
    values, _ = _decomposed(width, numbers)
    return float(values[0]), float(values[-1])


def _spectrum(width: int, numbers: bytes) -> PrincipalAxes:
    values, vectors = _decomposed(width, numbers)
    kept = values > NEGLIGIBLE * max(float(values[-1]), 0.0)
    return PrincipalAxes(values[kept], vectors[:, kept])


@lru_cache(maxsize=8)
def _transform(width: int, numbers: bytes, euclidean: bool) -> RowTransform:
    """Return T with TTᵀ = M: M^½ itself, or with one column for each direction that counts.

    Only Euclidean distances are the same in coordinates that are turned.
    """
    values, vectors = _spectrum(width, numbers)
    if len(values) == 0:
        return RowTransform(np.zeros((width, 1)))
    root = vectors * np.sqrt(values)
    return RowTransform(root if euclidean else root @ vectors.T)
