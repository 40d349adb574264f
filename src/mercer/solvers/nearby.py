"""Nearby penalties: what an inverse at one of them says about the others.

Let A = (M_TT + λ₀I)⁻¹ for a training set T, and δ = λ − λ₀. Then

    (M_TT + λI)⁻¹r = (I + δA)⁻¹x₀,   x₀ = Ar,

and the condition of I + δA is (τ + λ)/(τ + λ₀), or the inverse of that, where τ is the smallest
eigenvalue of M_TT. That is a small number for penalties near λ₀, and for all that are small beside
τ. So the space of x₀, Ax₀, A²x₀, … has their answers after a few steps, which all of them share
(shift-and-invert Lanczos; Ruhe, 1984).

A is not stored. With C = (M + λ₀I)⁻¹ of all items, of which R are left out,

    Av = C(v − E_R g),   g = C_RR⁻¹(Cv)_R,

and the factors of C_RR are those that `mercer.solvers.heldout` needs at λ₀ anyway. With an
intercept C is a block of the inverse of the bordered system, and all of this holds for it as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from mercer import lapack
from mercer.solvers.heldout import Held
from mercer.solvers.influence import Inverse, Whole
from mercer.solvers.krylov import ACCEPTED, TOLERANCE, Space, in_units, lengths_of, product

__all__ = ["Fold", "Nearby", "Pole", "Removal"]

EPS = float(np.finfo(float).eps)
LOOKS = 10  # products by which the smallest eigenvalue is estimated


@dataclass(frozen=True)
class Fold:
    """Items that a split leaves out: their rows, the factors, and which of the splits it is."""

    rows: Any
    held: Held
    place: int


class Removal:
    """C_RR⁻¹ for a fold, and for the same fold together with each of its inner folds.

    With C_RR = LLᵀ of the outer fold and X = L⁻¹ it is XᵀX. The factors of the folds are
    overwritten.

    Parameters
    ----------
    whole : Fold
    inner : sequence of Fold
    """

    def __init__(self, whole: Fold, inner: Sequence[Fold] = ()) -> None:
        assert whole.held.factor is not None
        self.rows = np.r_[whole.rows]
        self.X = lapack.invert(whole.held.factor)
        self.X[~np.tri(len(self.X), dtype=bool)] = 0.0
        alike = defaultdict(list)  # in size: they are worked on together
        for fold in inner:
            alike[len(fold.held.alpha).bit_length()].append(fold)
        self.inner = [Inner(folds, int(self.rows[0])) for folds in alike.values()]
        places = [whole.place, *(place for some in self.inner for place in some.places)]
        self.places = np.array(places)

    def subtract(self, U: np.ndarray, G: np.ndarray) -> None:
        """Subtract C_RR⁻¹u_R from rows R of G; both are of shape (splits, targets, n)."""
        outside = np.ix_(self.places, np.arange(U.shape[1]), self.rows)
        H = U[outside] @ self.X.T
        start = 1
        for some in self.inner:
            stop = start + len(some.places)
            some.subtract(U, H[start:stop], G)
            start = stop
        G[outside] -= H @ self.X


class Inner:
    """Inner folds of similar size.

    Let W = C_io Xᵀ and D the inverse of C_ii − WWᵀ. Then s = D(u_i − WXu_o) is the inner part of
    C_RR⁻¹u, and Xᵀ(Xu_o − Wᵀs) the outer one.

    Parameters
    ----------
    folds : sequence of Fold
    spare : int
        A row that is written later on.
    """

    def __init__(self, folds: Sequence[Fold], spare: int) -> None:
        self.places = [fold.place for fold in folds]
        sizes = [len(fold.held.alpha) for fold in folds]
        shape = len(folds), max(sizes)
        assert folds[0].held.across is not None
        # Shorter folds are filled up with zeros.
        self.rows = np.full(shape, spare)
        self.W = np.zeros((*shape, folds[0].held.across.shape[1]))
        self.D = np.zeros((*shape, shape[1]))
        for j, (fold, size) in enumerate(zip(folds, sizes, strict=True)):
            factor, across = fold.held.factor, fold.held.across
            assert factor is not None and across is not None
            self.rows[j, :size] = np.r_[fold.rows]
            self.W[j, :size] = across
            self.D[j, :size, :size] = lapack.mirror(lapack.multiply_out(lapack.invert(factor)))

    def subtract(self, U: np.ndarray, H: np.ndarray, G: np.ndarray) -> None:
        """Subtract the inner part from G; overwrite H, which is Xu_o, by Xu_o − Wᵀs."""
        targets = np.arange(U.shape[1])[:, None]
        inside = np.array(self.places)[:, None, None], targets, self.rows[:, None]
        S = (U[inside] - H @ self.W.transpose(0, 2, 1)) @ self.D
        H -= S @ self.W
        G[inside] -= S


@dataclass(frozen=True)
class Nearby:
    """Answers for those penalties that are solved.

    Attributes
    ----------
    solved : ndarray of int
        Which penalties these are.
    solutions, products : ndarray of shape (solved, splits, targets, n)
        α, and M times it.
    offsets : ndarray of shape (solved, splits, targets)
        The intercepts.
    """

    solved: np.ndarray
    solutions: np.ndarray
    products: np.ndarray
    offsets: np.ndarray


class Pole:
    """The penalty λ₀ with its inverse.

    Parameters
    ----------
    system : Inverse
    influence : Whole
        The system at λ₀.
    penalty : float
    left_out : sequence of sequences of Fold
        What the splits leave out, each fold with its inner ones.
    masks : ndarray of shape (splits, n)
        1 where an item belongs to the training set, otherwise 0.
    splits : sequence of int
        What the caller calls these splits.
    """

    def __init__(
        self,
        system: Inverse,
        influence: Whole,
        penalty: float,
        left_out: Sequence[Sequence[Fold]],
        masks: np.ndarray,
        splits: Sequence[int],
    ) -> None:
        self.system, self.influence, self.penalty = system, influence, penalty
        self.left_out, self.masks, self.splits = left_out, masks, splits
        self.C = lapack.mirror(influence.C)

    @cached_property
    def removals(self) -> list[Removal]:
        """What is subtracted for the splits; only those who go on from here need it."""
        return [Removal(whole, inner) for whole, *inner in self.left_out]

    def smallest_eigenvalue(self) -> float:
        """Return about the smallest eigenvalue of M, from above."""
        C = self.C
        w = np.random.default_rng(0).normal(size=(1, len(C)))
        before, diagonal, beside = np.zeros_like(w), [], [0.0]
        q = w / np.linalg.norm(w)
        for _ in range(min(LOOKS, len(C))):
            w = self.penalty * (q @ C)  # no longer than q
            diagonal.append(float(np.vdot(q, w)))
            w -= diagonal[-1] * q + beside[-1] * before
            beside.append(float(np.linalg.norm(w)))
            if not beside[-1] > 0:
                break
            before, q = q, w / beside[-1]
        highest = eigvalsh_tridiagonal(diagonal, beside[1 : len(diagonal)])[-1]
        return self.penalty * max(1.0 / float(highest) - 1.0, 0.0)

    def multiply(self, rows: np.ndarray, found: np.ndarray) -> None:
        """Write A times the rows into `found`; each is zero outside its training set."""
        shape = len(self.masks), -1, rows.shape[1]
        self._times_inverse(rows, found)
        left = rows.copy()
        for removal in self.removals:
            removal.subtract(found.reshape(shape), left.reshape(shape))
        self._times_inverse(left, found)
        found.reshape(shape)[...] *= self.masks[:, None]

    def _times_inverse(self, rows: np.ndarray, found: np.ndarray) -> None:
        product(rows, self.C, found)
        border = self.influence.border
        if border is not None:
            found -= np.outer(rows @ border, border)

    @cached_property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Sy of each training set, of shape (splits, targets, n), in units that come with it."""
        rows = self.system.sides.T[None, : self.influence.alpha.shape[1]]
        return in_units(np.ascontiguousarray(self.masks[:, None] * rows))

    def solve(self, penalties: np.ndarray, steps: int) -> Nearby:
        """Solve for other penalties, as far as that many steps go."""
        system, (sides, unit) = self.system, self.sides
        flat = self._without_mean(sides).reshape(-1, system.order)
        first = np.empty_like(flat)
        self.multiply(flat, first)
        lengths = lengths_of(first)
        size = np.where(lengths > 0, lengths, 1.0)[:, None]
        apart = penalties - self.penalty
        apart[apart == 0] = EPS * self.penalty
        tolerance = TOLERANCE / system.spread  # of residuals, without the weights
        space = Space(self.multiply, first / size, 1 / apart, tolerance, flat / size)
        for _ in range(steps):
            if not space.step() or space.done.all():
                break
        solved = np.flatnonzero(space.done)
        X = space.solutions(solved, lengths) / apart[solved, None, None]
        flat = X.reshape(-1, system.order)
        P = product(flat, system.matrix, np.empty_like(flat))
        X, P = (A.reshape(-1, *sides.shape) for A in (X, P))
        good, offsets = self._checked(X, P, penalties[solved])
        X, P, offsets = X[good] * unit, P[good] * unit, offsets[good] * unit[..., 0]
        return Nearby(solved[good], X, P, offsets)

    def _without_mean(self, sides: np.ndarray) -> np.ndarray:
        """Return what no intercept takes up; errors are to be small beside that."""
        if not self.system.intercept:
            return sides
        s = self.masks[:, None] * self.system.s
        return sides - s * ((sides * s).sum(axis=-1) / (s * s).sum(axis=-1))[..., None]

    def _checked(
        self, X: np.ndarray, P: np.ndarray, penalties: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which penalties are accurate in all splits, and the intercepts."""
        system, masks, (sides, _) = self.system, self.masks[:, None], self.sides
        rest = sides - masks * P - penalties[:, None, None, None] * X
        offsets = np.zeros(rest.shape[:-1])
        if system.intercept:
            s = masks * system.s
            offsets = (rest * s).sum(axis=-1) / (s * s).sum(axis=-1)
            rest -= offsets[..., None] * s
        size = lengths_of(sides)
        off = (lengths_of(rest) / np.where(size > 0, size, 1.0)).max(axis=(1, 2))
        return system.spread * off <= ACCEPTED, offsets
