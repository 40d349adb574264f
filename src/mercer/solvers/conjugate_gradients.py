"""Conjugate gradients for several right-hand sides (Hestenes & Stiefel, 1952).

There is one recurrence, `iterate`, and three ways to use it:

- `conjugate_gradients` solves a system as accurately as rounding allows, for ridge regression;
- `truncated` stops as soon as it is worthwhile, for a step of Newton's method (Dembo, Eisenstat &
  Steihaug, 1982);
- `in_kernel_space` does the same for the operator λ + HK, with any positive semi-definite H. As a
  matrix it is not symmetric, but it is in the inner product ⟨u, v⟩ = uᵀKv of the functions
  Σ uᵢ k(·, xᵢ): there it is λ + Σ Hᵢ k(·, xᵢ)⊗k(·, xᵢ).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mercer.gram import Operator
from mercer.gram.low_rank import LinearMap
from mercer.progress import convergence
from mercer.solvers.ridge.solver import SolvedColumns, relative

__all__ = [
    "Coupling",
    "LinearMap",
    "conjugate_gradients",
    "in_kernel_space",
    "iterate",
    "truncated",
]

ColumnMap = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Coupling:
    """Whether columns are systems of their own, or all of them are one system.

    Examples
    --------
    >>> U = np.array([[1.0, 2.0]])
    >>> Coupling(joint=False).dots(U, U), Coupling(joint=True).dots(U, U)
    (array([1., 4.]), array([5.]))
    """

    joint: bool

    def dots(self, U: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return inner products of the systems' columns."""
        if self.joint:
            return np.sum(U * V, keepdims=True)[0]  # in pairs, which loses fewer digits
        return np.einsum("ij,ij->j", U, V)

    def norms(self, U: np.ndarray) -> np.ndarray:
        """Return lengths of the systems' columns."""
        return np.sqrt(self.dots(U, U))

    def columns(self, mask: np.ndarray, count: int) -> np.ndarray:
        """Return the columns, of so many, that belong to some of the systems."""
        return np.flatnonzero(np.broadcast_to(mask, count))

    def some(self, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the values of those systems to which these columns belong."""
        return values if self.joint else values[columns]


SEPARATE, JOINT = Coupling(joint=False), Coupling(joint=True)


def iterate(
    product: ColumnMap,
    inverse: ColumnMap,
    X: np.ndarray,
    rest: np.ndarray,
    live: np.ndarray,
    unsolved: ColumnMap,
    limit: int,
    coupling: Coupling = SEPARATE,
    dual: LinearMap = lambda V: V,
    share: float = 0.0,
) -> int:
    """Add to X, and take from `rest`, what steps of conjugate gradients find; return their number.

    Parameters
    ----------
    product, inverse : callable
        (V, live) ↦ AV and P⁻¹V, for the columns `live` of X.
    X, rest : ndarray
        Both are changed.
    live : ndarray of int
        The columns to work on.
    unsolved : callable
        (rest, live) ↦ which of the systems go on; it is asked after each step.
    limit : int
        The most steps.
    coupling : Coupling
    dual : callable
        What residuals are paired with, of a direction V: V itself, unless directions are kept
        together with their images.
    share : float
        Share of its first value at which the residual's square in the preconditioner's metric is
        small enough.
    """
    R = rest[:, live]
    P = Z = inverse(R, live)
    sizes = coupling.dots(R, dual(Z))
    count, enough = 0, share * sizes
    while len(live) and count < limit and (sizes > enough).any():
        AP = product(P, live)
        curvatures = coupling.dots(dual(P), AP)
        sound = (curvatures > 0) & (sizes > 0)
        t = np.where(sound, sizes / np.where(sound, curvatures, 1.0), 0.0)
        whole = len(live) == X.shape[1]  # then nothing is copied
        X[:, slice(None) if whole else live] += t * P
        rest[:, slice(None) if whole else live] -= t * AP
        count += 1
        R = rest if whole else rest[:, live]
        kept = coupling.columns(sound & unsolved(R, live), len(live))
        if not len(kept):
            break
        if len(kept) < len(live):
            live, R, P = live[kept], R[:, kept], P[:, kept]
            sizes, enough = coupling.some(sizes, kept), coupling.some(enough, kept)
        Z = inverse(R, live)
        before, sizes = sizes, coupling.dots(R, dual(Z))
        P = Z + sizes / before * P
    return count


def truncated(
    product: ColumnMap,
    inverse: ColumnMap,
    right: np.ndarray,
    accuracy: np.ndarray | float,
    limit: int,
    coupling: Coupling,
    report: Callable[[float], object],
) -> tuple[np.ndarray, int]:
    """Solve A X = right as far as is worthwhile; return X and the number of steps.

    Each system stops when its residual is `accuracy` times its right-hand side; wherever it
    stops, X points in a direction of descent.

    Examples
    --------
    >>> A, quiet = np.diag([1.0, 2.0]), lambda left: None
    >>> x, steps = truncated(
    ...     lambda P, live: A @ P, lambda R, live: R, np.ones((2, 1)), 1e-9, 10, SEPARATE, quiet
    ... )
    >>> x.ravel().round(9), steps
    (array([1. , 0.5]), 2)
    """
    X, lengths = np.zeros_like(right), coupling.norms(right)
    enough = accuracy * lengths

    def unsolved(rest: np.ndarray, live: np.ndarray) -> np.ndarray:
        left = coupling.norms(rest)
        report(float(left.max()))
        return np.asarray(left > coupling.some(enough, live))

    live = coupling.columns(lengths > 0, right.shape[1])
    return X, iterate(product, inverse, X, right.copy(), live, unsolved, limit, coupling)


def in_kernel_space(
    gram: Operator,
    apply: Callable[[np.ndarray, np.ndarray], np.ndarray],
    right: np.ndarray,
    accuracy: float,
    limit: int,
    precondition: LinearMap | None = None,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Solve A x = right by conjugate gradients in the inner product uᵀKv.

    `apply(p, Kp)` returns Ap; a preconditioner P⁻¹ must have P ≥ A. All columns are one system.
    Stops when the norm of the residual, in the preconditioner's metric, has fallen to `accuracy`
    times its first value. Returns x, Kx and the number of steps.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[4.0], [5.0]])
    >>> x, Kx, steps = in_kernel_space(Dense(K), lambda p, Kp: p + Kp, y, 1e-12, 10)
    >>> x.ravel().round(9), steps
    (array([0.875, 1.375]), 2)
    """
    n = len(right)
    X, last = np.zeros((2 * n, right.shape[1])), np.empty(0)  # x above Kx, as all directions

    def inverse(rest: np.ndarray, live: np.ndarray) -> np.ndarray:
        nonlocal last
        z = rest if precondition is None else precondition(rest)
        last = np.vstack([z, gram @ z])
        return last

    count = iterate(
        lambda P, live: apply(P[:n], P[n:]), inverse, X, right.copy(), np.arange(right.shape[1]),
        lambda rest, live: np.ones(1, dtype=bool), limit, JOINT, lambda V: V[n:], accuracy**2,
    )  # fmt: skip
    if precondition is not None:
        X += last  # coefficients along directions that K does not see are left to this last step
    return X[:n], X[n:], count


def conjugate_gradients(
    apply: LinearMap,
    R: np.ndarray,
    inverse: LinearMap,
    tol: float,
    steps: int,
    title: str = "conjugate gradients",
    accepted: float = 0.0,
    advice: str = "use a larger penalty, or a preconditioner of higher rank",
    single: LinearMap | None = None,
) -> SolvedColumns:
    """Solve A X = R until the true residual is small.

    Each step takes one product for all right-hand sides that are not solved yet. The residual that
    the recurrence carries along drifts away from the true one, so that this is computed anew at
    the end of a round, and worked on in another one if it is not small enough. Therefore the steps
    of a round may use products in single precision, which gain a few digits; the next round gains
    as many, as in iterative redoublement. Where they gain too little, the rounds go on in double
    precision. Whoever interrupts keeps what was found so far.

    Parameters
    ----------
    apply : callable
        V ↦ AV, A being symmetric and positive definite.
    R : ndarray of shape (n, columns)
    inverse : callable
        The preconditioner: V ↦ P⁻¹V.
    tol : float
        Relative residual at which a column is solved.
    steps : int
        The most steps; those in single precision are counted apart.
    title : str
        Of the progress bar.
    accepted : float
        Relative residual that is called solved as well, where rounding allows no better.
    advice : str
        What to try if it is not.
    single : callable, optional
        The same as `apply`, faster and less accurate, for the first rounds.

    Returns
    -------
    SolvedColumns
        The last entry of its history is the relative residual in the end.

    Examples
    --------
    >>> A = np.array([[3.0, 1.0], [1.0, 2.0]])
    >>> found = conjugate_gradients(
    ...     lambda V: A @ V, np.array([[5.0], [5.0]]), lambda V: V, 1e-12, 10
    ... )
    >>> found.values.ravel().round(12)
    array([1., 2.])
    """
    # Squares of tiny or huge numbers do not exist. Powers of two cost no digits.
    powers = np.frexp(np.abs(R).max(axis=0, initial=0.0))[1]
    with convergence(title, tol) as report:
        work = Redoublement(apply, np.ldexp(R, -powers), inverse, tol, report)
        try:
            if single is not None:
                work.rounds(single, steps)
            work.rounds(apply, steps)
        except KeyboardInterrupt:  # what was found so far is kept
            if len(work.history) == 1:
                raise  # nothing was
            work.keep_better()
            message = f"interrupted at a relative residual of {work.left:.1e}"
            return SolvedColumns(
                np.ldexp(work.X, powers), "interrupted", message, tuple(work.history),
                residual=np.ldexp(work.rest, powers),
            )  # fmt: skip
    residual = np.ldexp(work.rest, powers) if work.true else None
    found = SolvedColumns(np.ldexp(work.X, powers), history=tuple(work.history), residual=residual)
    if work.left <= max(tol, accepted):
        return found
    message = (
        f"{len(work.history) - 1} steps of conjugate gradients left a relative residual of "
        f"{work.left:.1e}; {advice}"
    )
    return replace(found, status="stalled", message=message)


class Redoublement:
    """An answer on its way: X, the rest R − AX, and the change D that a round is working out.

    `left` is the relative size of the rest, and `true` says whether that was computed from X.
    """

    def __init__(
        self,
        apply: LinearMap,
        R: np.ndarray,
        inverse: LinearMap,
        tol: float,
        report: Callable[..., None],
    ) -> None:
        self.apply = apply
        self.R = R
        self.inverse = inverse
        self.tol = tol
        self.report = report
        self.X, self.D, self.rest = np.zeros_like(R), np.zeros_like(R), R
        self.left, self.true = relative(R, R), True
        self.history = [self.left]

    def rounds(self, product: LinearMap, steps: int) -> None:
        """Work on the rest in rounds, until it is small or hardly gets smaller."""
        double, most = product is self.apply, len(self.history) + steps
        for _ in range(6):  # times that the true residual is computed and worked on
            before, taken = self.left, len(self.history)
            if before <= self.tol or taken == most:
                return
            # Products in single precision are good for a few digits.
            goal = self.tol if double else max(self.tol, 3e-5 * before)
            rest = self._round(product, goal, most, double)
            # After two steps the residual of the recurrence is still the true one.
            drifted = not double or len(self.history) - taken > 2
            self._keep(self.R - self.apply(self.X + self.D) if drifted else rest, drifted)
            self.history[-1] = self.left
            # If more is left, rounding allows no better, or accurate products are faster.
            if self.left > (0.5 if double else 1e-2) * before:
                return

    def keep_better(self) -> None:
        """Take the answer that a round was working on, or the one before, whichever is better."""
        if self.D.any() or not self.true:
            before = self.X if self.D.any() and self.true else None
            rest = self.R - self.apply(self.X + self.D)
            if before is None or relative(rest, self.R) < self.left:
                self.X, self.D = self.X + self.D, np.zeros_like(self.R)
                self.rest, self.left, self.true = rest, relative(rest, self.R), True
        self.history[-1] = self.left

    def _keep(self, rest: np.ndarray, true: bool) -> None:
        """Make the change, if it leaves less than there was."""
        left, nothing = relative(rest, self.R), np.zeros_like(self.R)
        if not left < self.left:
            self.D = nothing
            return
        X = self.X + self.D
        self.X, self.D = X, nothing  # at once: an interruption must not find both
        self.rest, self.left, self.true = rest, left, true

    def _round(self, product: LinearMap, tol: float, most: int, double: bool) -> np.ndarray:
        """Find the change D that solves for the rest; return what the recurrence leaves."""
        rest, begun = self.rest.copy(), len(self.history)
        lengths = np.linalg.norm(self.R, axis=0)

        def unsolved(rest: np.ndarray, live: np.ndarray) -> np.ndarray:
            left = np.linalg.norm(rest, axis=0) / lengths[live]
            self.history.append(float(left.max()))
            self.report(self.history[-1])
            # A residual of ten times its smallest: single precision leads nowhere.
            lost = not double and self.history[-1] > 10.0 * min(self.history[begun:])
            return np.zeros(len(live), dtype=bool) if lost else left > tol

        live = np.flatnonzero(np.linalg.norm(rest, axis=0) > tol * lengths)
        iterate(
            lambda P, live: product(P), lambda Z, live: self.inverse(Z), self.D, rest, live,
            unsolved, most - begun,
        )  # fmt: skip
        return rest
