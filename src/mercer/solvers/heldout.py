"""Held out: what a ridge solution would have said of items that it had not seen.

With M = SKS + λI, C = M⁻¹ and α = CSy (see `mercer.solvers.influence`), a solution without the
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
from mercer.solvers.influence import Influence, Thin, Whole

__all__ = ["Held", "count_rows", "held_out", "nested"]


@dataclass(frozen=True)
class Held:
    """What leaving out some rows leaves there.

    Attributes
    ----------
    residuals : ndarray of shape (rows, targets)
        S(y − f − b) of the rows.
    alpha : ndarray of shape (rows, targets)
        Their α in the solution that has seen them, but not their outer fold if there is one.
    trusted : bool
        Whether C_RR was positive definite by more than rounding.
    factor : ndarray or None
        L of C_RR = LLᵀ, without the outer fold if there is one.
    across : ndarray or None
        C_io L⁻ᵀ, with the outer fold's factor.
    """

    residuals: np.ndarray
    alpha: np.ndarray
    trusted: bool = True
    factor: np.ndarray | None = None
    across: np.ndarray | None = None


def held_out(influence: Influence, removals: Sequence[Any]) -> Iterator[Held]:
    """Yield the residuals of each set of rows, left out by itself.

    Rows are slices or ascending arrays of integers.

    Examples
    --------
    >>> from mercer.solvers.influence import Inverse
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[4.0], [5.0]])
    >>> (held,) = held_out(Inverse(K, y).at(1.0), [slice(0, 1)])
    >>> held.residuals  # 4 − 1·5/(2 + 1)
    array([[2.33333333]])
    """
    if all(count_rows(rows) == 1 for rows in removals):
        return _one_by_one(influence, removals)
    return (_held(influence, rows) for rows in removals)


def _one_by_one(influence: Influence, removals: Sequence[Any]) -> Iterator[Held]:
    d = influence.diagonal()
    least = influence.least(d)
    if influence.border is not None:
        d = d - influence.border**2
    good = d > least
    residuals = influence.alpha / np.where(good, d, np.nan)[:, None]
    for rows in removals:
        place = rows.start if isinstance(rows, slice) else int(rows[0])
        here = slice(place, place + 1)
        yield Held(residuals[here], influence.alpha[here], bool(good[place]))


def _held(influence: Influence, rows: Any) -> Held:
    alpha = influence.alpha[rows]
    if isinstance(influence, Thin) and count_rows(rows) > influence.Z.shape[1] + 1:
        return _held_thin(influence, rows, alpha)
    C, least = _part(influence, rows)
    if not _holds(C, least):
        return _lost(alpha)
    return Held(lapack.solve(C, alpha), alpha, factor=C)


def _held_thin(influence: Thin, rows: Any, alpha: np.ndarray) -> Held:
    """Solve for as many unknowns as there are features."""
    Z = influence.Z[rows]
    if influence.border is not None:
        Z = np.column_stack([Z, influence.border[rows]])
    if not Z.shape[1]:
        return Held(alpha, alpha)  # all features are zero, and nothing was learned
    G = lapack.add_products(np.eye(Z.shape[1]), np.ascontiguousarray(Z.T), -1.0)
    if not _holds(G, influence.least(np.diag(G))):
        return _lost(alpha)
    return Held(alpha + Z @ lapack.solve(G, Z.T @ alpha), alpha)


def _part(influence: Influence, rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return C_RR, and what must be left of its diagonal."""
    C = influence.block(rows)
    least = influence.least(np.diag(C))
    if influence.border is not None:
        lapack.add_products(C, influence.border[rows, None].copy(), -1.0)
    return C, least


def _holds(C: np.ndarray, least: np.ndarray) -> bool:
    """Overwrite C by its factor; tell whether its pivots have kept their digits."""
    return lapack.factor(C) and bool((np.diag(C) ** 2 > least).all())


def nested(
    influence: Whole, outer: slice, inner: Sequence[np.ndarray]
) -> tuple[Held, Iterator[Held]]:
    """Return the residuals of an outer fold, and those of inner folds without it as well.

    Examples
    --------
    >>> from mercer.solvers.influence import Inverse
    >>> K, y = np.eye(3) + 1.0, np.array([[1.0], [2.0], [3.0]])
    >>> influence = Inverse(K, y).at(1.0)
    >>> alone, (both,) = nested(influence, slice(0, 1), [np.array([1])])
    >>> both.residuals.round(12)  # 2 − 1·3/(2 + 1)
    array([[1.]])
    """
    L, least = _part(influence, outer)
    alpha = influence.alpha[outer]
    if not _holds(L, least):
        lost = (influence.alpha[rows] for rows in inner)
        return _lost(alpha), (_lost(a) for a in lost)
    B = influence.between(outer)
    border = influence.border
    if border is not None:
        B -= np.outer(np.delete(border, outer), border[outer])
    lapack.solve_rows(L, B)
    half = lapack.solve_rows(L, alpha.T.copy(order="C")).T  # alpha itself is still needed
    whole = Held(lapack.solve(L, alpha), alpha, factor=L)
    return whole, (_within(influence, rows, B[_beside(rows, outer)], half) for rows in inner)


def _within(influence: Whole, rows: Any, W: np.ndarray, half: np.ndarray) -> Held:
    """Return what leaving out an inner fold leaves there, where the outer one is eliminated."""
    C, least = _part(influence, rows)
    lapack.add_products(C, W, -1.0)
    a = influence.alpha[rows] - W @ half
    return Held(lapack.solve(C, a), a, True, C, W) if _holds(C, least) else _lost(a)


def _lost(alpha: np.ndarray) -> Held:
    return Held(np.full_like(alpha, np.nan), alpha, trusted=False)


def _beside(rows: Any, outer: slice) -> Any:
    """Return where rows are when those of the outer fold are taken away."""
    size = outer.stop - outer.start
    if not isinstance(rows, slice):
        return np.where(rows < outer.start, rows, rows - size)
    return rows if rows.start < outer.start else slice(rows.start - size, rows.stop - size)


def count_rows(rows: Any) -> int:
    """Return how many rows a slice or an array stands for.

    Examples
    --------
    >>> count_rows(slice(2, 5)), count_rows(np.array([1, 7]))
    (3, 2)
    """
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)
