"""Lanczos with shifts: one Krylov space for all penalties, many training sets side by side.

(M + λI)x = r for several λ has all its answers in the space of r, Mr, M²r, …, which does not
depend on λ. Lanczos' recurrence builds it with one product each step, and the tridiagonal T that
it finds gives x = |r| Q(T + λI)⁻¹e₁ for every λ, with the residual known before x is (Paige &
Saunders, 1975; Frommer & Maass, 1999). A column whose training set is only some of the items is
kept at zero elsewhere, so that all columns share the product with M.

Large penalties are done after a few steps. Small ones may take more than a factor of M would, so
whoever asks says what such a factor costs, and gets those answers that are cheaper here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mercer.engine.tiles import spans
from mercer.gram.buffers import BUFFERS
from mercer.memory import affordable
from mercer.threads import cores, in_threads, one_blas_thread

__all__ = ["KrylovSpace", "Shifted", "in_units", "lengths_of", "product", "solve_shifted"]

TOLERANCE = 2e-11  # relative residual at which the recurrence stops
MAX_RESIDUAL = 1e-10  # up to which the answer, multiplied out, is trusted
MIN_STEPS = 10  # before the pace is looked at, besides what one penalty is worth
MANY_PENALTIES = 10  # with fewer, that worth counts for less
MAX_STEPS = 1000
CAPACITY = 64  # steps for which there is room at once
MIN_COLUMNS = 256  # of a product that are worth a thread
ROUNDING = 100 * float(np.finfo(float).eps)
PACE_STEPS = 8  # over which the pace of convergence is measured


@dataclass(frozen=True)
class Shifted:
    """Answers for some of the penalties.

    Attributes
    ----------
    solved : ndarray of bool, of shape (penalties,)
        Where all columns are solved.
    solutions : ndarray of shape (penalties, columns, n)
    products : ndarray of shape (penalties, columns, n)
        M times the solutions.
    steps : int
    """

    solved: np.ndarray
    solutions: np.ndarray
    products: np.ndarray
    steps: int


def solve_shifted(
    M: np.ndarray,
    sides: np.ndarray,
    masks: np.ndarray,
    penalties: Sequence[float],
    worth: float = np.inf,
) -> Shifted:
    """Solve (M_TT + λI)x = r_T for several λ and several training sets T.

    Parameters
    ----------
    M : ndarray of shape (n, n)
        Symmetric and positive semi-definite.
    sides : ndarray of shape (columns, n)
        The r, a row for each.
    masks : ndarray of shape (columns, n)
        1 where an item belongs to the training set of the column, otherwise 0.
    penalties : sequence of float
    worth : float
        How many steps one more penalty is worth.

    Examples
    --------
    >>> M = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> found = solve_shifted(M, np.array([[4.0, 5.0]]), np.ones((1, 2)), [1.0])
    >>> found.solved, found.solutions.round(12)
    (array([ True]), array([[[0.875, 1.375]]]))
    """
    shifts = np.asarray(penalties, dtype=float)
    R, unit = in_units(sides * masks)
    lengths = lengths_of(R)

    def multiply(rows: np.ndarray, found: np.ndarray) -> None:
        product(rows, M, found)
        found *= masks

    space = KrylovSpace(multiply, R / np.where(lengths > 0, lengths, 1.0)[:, None], shifts)
    # What is tried in vain is to be a small part of what all penalties are worth.
    grace = min(
        MIN_STEPS + min(worth, MAX_STEPS) * min(len(shifts) / MANY_PENALTIES, 1.0),
        worth * len(shifts) / 2,
    )
    with one_blas_thread:
        while space.step() and not space.done.all():
            if len(space.errors) >= grace and not space.steps_left() <= worth:
                break
        solved = np.flatnonzero(space.done)
        X = space.solutions(solved, lengths)
        flat = X.reshape(-1, len(M))
        P = product(flat, M, np.empty_like(flat)).reshape(X.shape)
    residual = R - masks * P - shifts[solved, None, None] * X
    off = lengths_of(residual) / np.where(lengths > 0, lengths, 1.0)
    good = (off <= MAX_RESIDUAL).all(axis=1)
    done = np.zeros(len(shifts), dtype=bool)
    done[solved[good]] = True
    shape = (len(shifts), *R.shape)
    solutions, products = np.full(shape, np.nan), np.full(shape, np.nan)
    solutions[done], products[done] = X[good] * unit, P[good] * unit
    return Shifted(done, solutions, products, len(space.errors))


def lengths_of(rows: np.ndarray) -> np.ndarray:
    """Return the Euclidean lengths of rows."""
    return np.sqrt(np.einsum("...i,...i->...", rows, rows))


def in_units(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows divided by their largest entry, so that squares do not overflow, and that entry.

    Examples
    --------
    >>> in_units(np.array([[3e-200, -4e-200], [0.0, 0.0]]))
    (array([[ 0.75, -1.  ],
           [ 0.  ,  0.  ]]), array([[4.e-200],
           [1.e+000]]))
    """
    unit = np.abs(rows).max(axis=-1, keepdims=True)
    unit[unit == 0] = 1.0
    return rows / unit, unit


def product(rows: np.ndarray, M: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return rows @ M in `found`, a part of the columns on each core.

    BLAS could do that too, but its threads go on waiting for work for a while afterwards, and take
    the cores from whoever comes next.
    """

    def part(columns: slice) -> None:
        np.matmul(rows, M[:, columns], out=found[:, columns])

    in_threads(part, spans(len(M), max(-(-len(M) // cores()), MIN_COLUMNS)))
    return found


class KrylovSpace:
    """The Krylov spaces of several vectors, and how far each system is solved in them.

    Parameters
    ----------
    multiply : function of (rows, found)
        Writes the products of a symmetric operator with the rows into `found`.
    first : ndarray of shape (columns, n)
        Right-hand sides, of length one or zero.
    shifts : ndarray
        What is added to the diagonal; the sum must be positive definite.
    tolerance : float
        Relative residual at which a system is solved.
    """

    def __init__(
        self,
        multiply: Callable[[np.ndarray, np.ndarray], None],
        first: np.ndarray,
        shifts: np.ndarray,
        tolerance: float = TOLERANCE,
    ) -> None:
        self.multiply, self.shifts, self.tolerance = multiply, shifts, tolerance
        self.basis = BUFFERS.take((CAPACITY, *first.shape), np.float64)
        self.basis[0] = first
        self.work = np.empty_like(first)
        self.size = np.zeros(len(first))  # of T
        self.beside: list[np.ndarray] = []
        self.pivots: list[np.ndarray] = []  # of LDLᵀ of T + λI, for each column and λ
        self.tail = np.ones((len(first), len(shifts)))  # last entry of the solution
        self.done = np.zeros(len(shifts), dtype=bool)
        self.definite = np.ones(len(shifts), dtype=bool)
        self.errors: list[np.ndarray] = []  # relative residuals, of the worst column

    def steps_left(self) -> float:
        """Return how many steps the next penalty will take, at the pace of the last ones."""
        count = min(PACE_STEPS, len(self.errors) - 1)
        now, before = self.errors[-1], self.errors[-1 - count]
        next_one = int(np.argmin(np.where(self.done, np.inf, now)))
        pace = np.log(before[next_one] / now[next_one]) / max(count, 1)
        return float(np.log(now[next_one] / self.tolerance) / pace) if pace > 0 else np.inf

    def step(self) -> bool:
        """Go one step on; return whether there is a next one."""
        k = len(self.pivots)
        q = self.basis[k]
        w = self.work
        self.multiply(q, w)
        if self.beside:
            w -= self.beside[-1][:, None] * self.basis[k - 1]
        a = np.einsum("ij,ij->i", q, w)
        w -= a[:, None] * q
        b = lengths_of(w)
        pivot = a[:, None] + self.shifts
        if self.beside:
            before = self.beside[-1][:, None]
            pivot = pivot - before**2 / self.pivots[-1]
            self.tail = self.tail * -before
        self.definite &= (pivot > 0).all(axis=0)
        self.tail = np.divide(self.tail, pivot, out=self.tail, where=pivot != 0)
        self.pivots.append(pivot)
        errors = np.abs(self.tail) * b[:, None]
        self.errors.append(errors.max(axis=0))
        self.done |= self.definite & (self.errors[-1] <= self.tolerance)
        self.size = np.maximum(self.size, np.abs(a) + b)
        # A column that is solved, or has no more dimensions, stays as it is.
        b[(errors <= self.tolerance).all(axis=1) | (b <= ROUNDING * self.size)] = 0.0
        if not self.definite.all() or not b.any():
            return False  # or nothing is left to find
        self.beside.append(b)
        if k + 1 == len(self.basis):
            if not affordable(2.0 * self.basis.nbytes):
                return False
            self.basis = np.concatenate([self.basis, np.empty_like(self.basis)])
        unit = np.divide(1.0, b, out=np.zeros_like(b), where=b > 0)[:, None]
        np.multiply(w, unit, out=self.basis[k + 1])
        return True

    def solutions(self, which: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return x for some shifts, of shape (shifts, columns, n); no step may follow."""
        m = len(self.pivots)
        d = np.stack(self.pivots)[:, :, which]
        t = np.empty_like(d)
        t[0] = lengths[:, None]
        for j in range(1, m):
            t[j] = -self.beside[j - 1][:, None] / d[j - 1] * t[j - 1]
        t[m - 1] /= d[m - 1]
        for j in range(m - 2, -1, -1):
            t[j] = t[j] / d[j] - self.beside[j][:, None] / d[j] * t[j + 1]
        X = np.empty((len(which), *self.work.shape))
        for c in range(len(lengths)):
            np.matmul(t[:, c].T, self.basis[:m, c], out=X[:, c])
        BUFFERS.give(self.basis)
        return X
