"""Held-out residuals: what a ridge solution would have said of items that it had not seen.

With M = SKS + λI, C = M⁻¹ and α = CSy (see `mercer.solvers.ridge.inverse`), a solution without the
items R leaves there the residuals

    S_R (y − f − b)_R = C_RR⁻¹ α_R,

exactly: nothing is fitted again. For one item this is αᵢ/Cᵢᵢ, the formula for leaving one out. If
R consists of o and i, the outer and the inner fold of nested cross-validation, o is eliminated
once for all its i: C_ii − C_io C_oo⁻¹ C_oi. If C is I − ZZᵀ with fewer columns than R has items,
C_RR⁻¹α is α + Z(I − ZᵀZ)⁻¹Zᵀα.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import lapack
from mercer.solvers.ridge.inverse import FullInverse, RidgeInverse, Rows
from mercer.solvers.ridge.spectral import FeatureInverse

__all__ = ["HeldOutResiduals", "count_rows", "held_out", "nested"]


@dataclass(frozen=True)
class HeldOutResiduals:
    """What leaving out some rows leaves there.

    Attributes
    ----------
    residuals : ndarray of shape (rows, targets)
        S(y − f − b) of the rows.
    alpha : ndarray of shape (rows, targets)
        Their α in the solution that has seen them, but not their outer fold if there is one.
    trusted : bool
        Whether C_RR was positive definite by more than rounding, and the residuals are finite.
    """

    residuals: np.ndarray
    alpha: np.ndarray
    trusted: bool = True


def held_out(inverse: RidgeInverse, removals: Sequence[Rows]) -> Iterator[HeldOutResiduals]:
    """Yield the residuals of each set of rows, left out by itself.

    Rows are slices or ascending arrays of integers.

    Examples
    --------
    >>> from mercer.solvers.ridge.inverse import CholeskySystem
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[4.0], [5.0]])
    >>> (held,) = held_out(CholeskySystem(K, y).at(1.0), [slice(0, 1)])
    >>> held.residuals  # 4 − 1·5/(2 + 1)
    array([[2.33333333]])
    """
    if all(count_rows(rows) == 1 for rows in removals):
        return _one_by_one(inverse, removals)
    return (_held(inverse, rows) for rows in removals)


def _one_by_one(inverse: RidgeInverse, removals: Sequence[Rows]) -> Iterator[HeldOutResiduals]:
    d, floor = inverse.bordered_diagonal()
    good = d > floor
    alpha, residuals = inverse.alpha, inverse.alpha / np.where(good, d, np.nan)[:, None]
    trusted: np.ndarray = np.all(np.isfinite(residuals), axis=1)
    for rows in removals:
        place = rows.start if isinstance(rows, slice) else int(rows[0])
        here = slice(place, place + 1)
        yield HeldOutResiduals(residuals[here], alpha[here], bool(trusted[place]))


def _held(inverse: RidgeInverse, rows: Rows) -> HeldOutResiduals:
    alpha = inverse.alpha[rows]
    if isinstance(inverse, FeatureInverse) and count_rows(rows) > inverse.Z.shape[1] + 1:
        return _held_thin(inverse, rows, alpha)
    C, floor = _part(inverse, rows)
    if not _holds(C, floor):
        return _lost(alpha)
    return _finite(lapack.solve(C, alpha), alpha)


def _held_thin(inverse: FeatureInverse, rows: Rows, alpha: np.ndarray) -> HeldOutResiduals:
    """Solve for as many unknowns as there are features."""
    Z = inverse.Z[rows]
    if inverse.border is not None:
        Z = np.column_stack([Z, inverse.border[rows]])
    if not Z.shape[1]:
        return _finite(alpha, alpha)  # all features are zero, and nothing was learned
    G = lapack.add_outer(np.eye(Z.shape[1]), np.ascontiguousarray(Z.T), -1.0)
    if not _holds(G, inverse.pivot_floor(np.diag(G))):
        return _lost(alpha)
    return _finite(alpha + Z @ lapack.solve(G, Z.T @ alpha), alpha)


def _part(inverse: RidgeInverse, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return C_RR, and its pivot floor."""
    C = inverse.block(rows)
    floor = inverse.pivot_floor(np.diag(C))
    if inverse.border is not None:
        lapack.add_outer(C, inverse.border[rows, None].copy(), -1.0)
    return C, floor


def _holds(C: np.ndarray, floor: np.ndarray) -> bool:
    """Overwrite C by its factor; tell whether its pivots have kept their digits."""
    return lapack.factor(C) and bool((np.diag(C) ** 2 > floor).all())


def nested(
    inverse: FullInverse, outer: slice, inner: Sequence[np.ndarray]
) -> tuple[HeldOutResiduals, Iterator[HeldOutResiduals]]:
    """Return the residuals of an outer fold, and those of inner folds without it as well.

    Examples
    --------
    >>> from mercer.solvers.ridge.inverse import CholeskySystem
    >>> K, y = np.eye(3) + 1.0, np.array([[1.0], [2.0], [3.0]])
    >>> inverse = CholeskySystem(K, y, full=True).at(1.0)
    >>> alone, (both,) = nested(inverse, slice(0, 1), [np.array([1])])
    >>> both.residuals.round(12)  # 2 − 1·3/(2 + 1)
    array([[1.]])
    """
    L, floor = _part(inverse, outer)
    alpha = inverse.alpha[outer]
    if not _holds(L, floor):
        lost = (inverse.alpha[rows] for rows in inner)
        return _lost(alpha), (_lost(a) for a in lost)
    B = inverse.between(outer)
    border = inverse.border
    if border is not None:
        B -= np.outer(np.delete(border, outer), border[outer])
    lapack.solve_rows(L, B)
    half = lapack.solve_rows(L, alpha.T.copy(order="C")).T  # alpha itself is still needed
    whole = _finite(lapack.solve(L, alpha), alpha)
    return whole, (_within(inverse, rows, B[_beside(rows, outer)], half) for rows in inner)


def _within(inverse: FullInverse, rows: Rows, W: np.ndarray, half: np.ndarray) -> HeldOutResiduals:
    """Return what leaving out an inner fold leaves there, where the outer one is eliminated."""
    C, floor = _part(inverse, rows)
    lapack.add_outer(C, W, -1.0)
    a = inverse.alpha[rows] - W @ half
    return _finite(lapack.solve(C, a), a) if _holds(C, floor) else _lost(a)


def _finite(residuals: np.ndarray, alpha: np.ndarray) -> HeldOutResiduals:
    return HeldOutResiduals(residuals, alpha, bool(np.isfinite(residuals).all()))


def _lost(alpha: np.ndarray) -> HeldOutResiduals:
    return HeldOutResiduals(np.full_like(alpha, np.nan), alpha, trusted=False)


def _beside(rows: Rows, outer: slice) -> Any:
    """Return where rows are when those of the outer fold are taken away."""
    size = outer.stop - outer.start
    if not isinstance(rows, slice):
        return np.where(rows < outer.start, rows, rows - size)
    return rows if rows.start < outer.start else slice(rows.start - size, rows.stop - size)


def count_rows(rows: Rows) -> int:
    """Return how many rows a slice or an array stands for.

    Examples
    --------
    >>> count_rows(slice(2, 5)), count_rows(np.array([1, 7]))
    (3, 2)
    """
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)
