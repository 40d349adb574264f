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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from mercer import lapack
from mercer.solvers.heldout import Held
from mercer.solvers.influence import Inverse, Whole
from mercer.solvers.krylov import Space, lengths_of, product

__all__ = ["Fold", "Nearby", "Pole", "Removal"]

TOLERANCE = 2e-11  # relative residual at which the recurrence stops
ACCEPTED = 1e-10  # ... and up to which the answer, multiplied out, is trusted
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

    With C_RR = LLᵀ of the outer fold and X = L⁻¹ it is XᵀX. For an inner fold let W = C_io Xᵀ and
    D the inverse of C_ii − WWᵀ. Then s = D(u_i − WXu_o) is the inner part of C_RR⁻¹u, and
    Xᵀ(Xu_o − Wᵀs) the outer one.

    Parameters
    ----------
    whole : Fold
    inner : sequence of Fold
    """

    def __init__(self, whole: Fold, inner: Sequence[Fold] = ()) -> None:
        assert whole.held.factor is not None
        self.rows = np.r_[whole.rows]
        self.X = np.tril(lapack.invert(whole.held.factor.copy()))
        self.places = np.array([whole.place, *(fold.place for fold in inner)])
        sizes = [len(fold.held.alpha) for fold in inner]
        shape = len(inner), max(sizes, default=0)
        # Shorter folds are filled up with rows of the outer one, which are written last, and
        # with zeros.
        self.inside = np.full(shape, self.rows[0])
        self.W = np.zeros((*shape, len(self.rows)))
        self.D = np.zeros((*shape, shape[1]))
        for j, (fold, size) in enumerate(zip(inner, sizes, strict=True)):
            factor, across = fold.held.factor, fold.held.across
            assert factor is not None and across is not None
            self.inside[j, :size] = np.r_[fold.rows]
            self.W[j, :size] = across
            D = np.tril(lapack.multiply_out(lapack.invert(factor.copy())))
            self.D[j, :size, :size] = D + np.tril(D, -1).T

    def subtract(self, U: np.ndarray, G: np.ndarray) -> None:
        """Subtract C_RR⁻¹u_R from rows R of G; both are of shape (splits, targets, n)."""
        targets = np.arange(U.shape[1])
        outside = np.ix_(self.places, targets, self.rows)
        H = U[outside] @ self.X.T
        if len(self.inside):
            inside = self.places[1:, None, None], targets[None, :, None], self.inside[:, None]
            S = (U[inside] - H[1:] @ self.W.transpose(0, 2, 1)) @ self.D
            H[1:] -= S @ self.W
            G[inside] -= S
        G[outside] -= H @ self.X


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

    @cached_property
    def removals(self) -> list[Removal]:
        """What is subtracted for the splits; only those who go on from here need it."""
        return [Removal(whole, inner) for whole, *inner in self.left_out]

    def smallest_eigenvalue(self) -> float:
        """Return about the smallest eigenvalue of M, from above."""
        C = self.influence.C
        w = np.random.default_rng(0).normal(size=(1, len(C)))
        before, diagonal, beside = np.zeros_like(w), [], [0.0]
        q = w / np.linalg.norm(w)
        for _ in range(min(LOOKS, len(C))):
            w = lapack.times_symmetric(C, q, np.empty_like(q))
            diagonal.append(float(np.vdot(q, w)))
            w -= diagonal[-1] * q + beside[-1] * before
            beside.append(float(np.linalg.norm(w)))
            if not beside[-1] > 0:
                break
            before, q = q, w / beside[-1]
        highest = eigvalsh_tridiagonal(diagonal, beside[1 : len(diagonal)])[-1]
        return max(1.0 / float(highest) - self.penalty, 0.0)

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
        lapack.times_symmetric(self.influence.C, rows, found)
        border = self.influence.border
        if border is not None:
            found -= np.outer(rows @ border, border)

    def solve(self, penalties: np.ndarray, steps: int) -> Nearby:
        """Solve for other penalties, as far as that many steps go."""
        system, masks = self.system, self.masks[:, None]
        sides = masks * system.sides.T[None, : self.influence.alpha.shape[1]]
        if system.intercept:  # what it takes up has no part in the rest
            s = masks * system.s
            sides -= s * ((sides * s).sum(axis=-1) / (s * s).sum(axis=-1))[..., None]
        flat = np.ascontiguousarray(sides).reshape(-1, system.order)
        first = np.empty_like(flat)
        self.multiply(flat, first)
        lengths = lengths_of(first)
        unit = np.where(lengths > 0, lengths, 1.0)[:, None]
        apart = penalties - self.penalty
        apart[apart == 0] = EPS * self.penalty
        tolerance = TOLERANCE / system.spread  # residuals, without the weights
        space = Space(self.multiply, first / unit, 1 / apart, tolerance, flat / unit)
        for _ in range(steps):
            if not space.step() or space.done.all():
                break
        solved = np.flatnonzero(space.done)
        X = space.solutions(solved, lengths) / apart[solved, None, None]
        flat = X.reshape(-1, system.order)
        P = product(flat, system.matrix, np.empty_like(flat))
        X, P = (A.reshape(-1, *sides.shape) for A in (X, P))
        return self._checked(solved, X, P, penalties[solved])

    def _checked(
        self, solved: np.ndarray, X: np.ndarray, P: np.ndarray, penalties: np.ndarray
    ) -> Nearby:
        """Find the intercepts, and keep what is accurate in all splits."""
        system, masks = self.system, self.masks[:, None]
        sides = masks * system.sides.T[None, : self.influence.alpha.shape[1]]
        rest = sides - masks * P - penalties[:, None, None, None] * X
        offsets = np.zeros(rest.shape[:-1])
        if system.intercept:
            s = masks * system.s
            offsets = (rest * s).sum(axis=-1) / (s * s).sum(axis=-1)
            rest -= offsets[..., None] * s
        size = lengths_of(sides)
        off = (lengths_of(rest) / np.where(size > 0, size, 1.0)).max(axis=(1, 2))
        good = system.spread * off <= ACCEPTED
        return Nearby(solved[good], X[good], P[good], offsets[good])
