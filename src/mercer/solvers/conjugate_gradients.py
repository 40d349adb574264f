"""Steps: conjugate gradients for several right-hand sides, until the true residual is small.

Each step takes one product for all right-hand sides that are not solved yet. The residual that the
recurrence carries along drifts away from the true one, so that this is computed anew at the end of
a round, and worked on in another one if it is not small enough. Therefore the steps of a round may
use rough products, which gain a few digits; the next round gains as many. Where they gain too
little, the rounds go on with accurate products. Whoever interrupts keeps what was found so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mercer.progress import convergence
from mercer.solvers.conjugate import Map
from mercer.solvers.problem import Columns, relative

__all__ = ["descend"]

ROUNDS = 6  # times that the true residual is computed and worked on, of either kind
LITTLE = 0.5  # share of a residual that a last round leaves: rounding allows no better
DIGITS = 3e-5  # share that a round of rough products is to leave
POOR = 1e-2  # ... and if it leaves more than this, accurate products are faster
LOST = 10.0  # rise of the residual above its smallest, at which rough products lead nowhere
FEW = 2  # steps after which the recurrence has not drifted yet


def descend(
    apply: Map,
    R: np.ndarray,
    inverse: Map,
    tol: float,
    steps: int,
    title: str = "conjugate gradients",
    accepted: float = 0.0,
    advice: str = "use a larger penalty, or a preconditioner of higher rank",
    rough: Map | None = None,
) -> Columns:
    """Solve A X = R.

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
        The most steps; those with rough products are counted apart.
    title : str
        Of the progress bar.
    accepted : float
        Relative residual that is called solved as well, where rounding allows no better.
    advice : str
        What to try if it is not.
    rough : callable, optional
        The same as `apply`, faster and less accurate, for the first rounds.

    Returns
    -------
    Columns
        The last entry of its history is the relative residual in the end.

    Examples
    --------
    >>> A = np.array([[3.0, 1.0], [1.0, 2.0]])
    >>> found = descend(lambda V: A @ V, np.array([[5.0], [5.0]]), lambda V: V, 1e-12, 10)
    >>> found.values.ravel().round(12)
    array([1., 2.])
    """
    # Squares of tiny or huge numbers do not exist. Powers of two cost no digits.
    powers = np.frexp(np.abs(R).max(axis=0, initial=0.0))[1]
    with convergence(title, tol) as report:
        work = Descent(apply, np.ldexp(R, -powers), inverse, tol, report)
        try:
            if rough is not None:
                work.rounds(rough, steps)
            work.rounds(apply, steps)
        except KeyboardInterrupt:  # what was found so far is kept
            if len(work.history) == 1:
                raise  # nothing was
            message = f"interrupted at a relative residual of about {work.history[-1]:.1e}"
            values = np.ldexp(work.X + work.D, powers)
            return Columns(values, "stalled", message, tuple(work.history))
    rest = np.ldexp(work.rest, powers) if work.anew else None
    found = Columns(np.ldexp(work.X, powers), history=tuple(work.history), rest=rest)
    if work.left <= max(tol, accepted):
        return found
    message = (
        f"{len(work.history) - 1} steps of conjugate gradients left a relative residual of "
        f"{work.left:.1e}; {advice}"
    )
    return replace(found, status="stalled", message=message)


class Descent:
    """An answer on its way: X, the rest R − AX, and the change D that a round is working out.

    `left` is the relative size of the rest, and `anew` says whether that was computed from X.
    """

    def __init__(
        self, apply: Map, R: np.ndarray, inverse: Map, tol: float, report: Callable[..., None]
    ) -> None:
        self.apply = apply
        self.R = R
        self.inverse = inverse
        self.tol = tol
        self.report = report
        self.X, self.D, self.rest = np.zeros_like(R), np.zeros_like(R), R
        self.left, self.anew = relative(R, R), True
        self.history = [self.left]

    def rounds(self, product: Map, steps: int) -> None:
        """Work on the rest in rounds, until it is small or hardly gets smaller."""
        fine, most = product is self.apply, len(self.history) + steps
        for _ in range(ROUNDS):
            before, taken = self.left, len(self.history)
            if before <= self.tol or taken == most:
                return
            goal = self.tol if fine else max(self.tol, DIGITS * before)
            rest = self._round(product, goal, most, fine)
            drifted = not fine or len(self.history) - taken > FEW
            self._keep(self.R - self.apply(self.X + self.D) if drifted else rest, drifted)
            self.history[-1] = self.left
            if self.left > (LITTLE if fine else POOR) * before:
                return

    def _keep(self, rest: np.ndarray, anew: bool) -> None:
        """Make the change, if it leaves less than there was."""
        left, nothing = relative(rest, self.R), np.zeros_like(self.R)
        if not left < self.left:
            self.D = nothing
            return
        X = self.X + self.D
        self.X, self.D = X, nothing  # at once: an interruption must not find both
        self.rest, self.left, self.anew = rest, left, anew

    def _round(self, product: Map, tol: float, most: int, fine: bool) -> np.ndarray:
        """Find the change D that solves for the rest; return what the recurrence leaves."""
        rest, begun = self.rest.copy(), len(self.history)
        lengths = np.linalg.norm(self.R, axis=0)
        live = np.flatnonzero(np.linalg.norm(rest, axis=0) > tol * lengths)
        Z = self.inverse(rest[:, live])
        P, sizes = Z.copy(), np.einsum("ij,ij->j", rest[:, live], Z)
        while len(live) and len(self.history) < most:
            AP = product(P)
            curved = np.einsum("ij,ij->j", P, AP)
            t = np.where(curved > 0, sizes / np.where(curved > 0, curved, 1.0), 0.0)
            self.D[:, live] += t * P
            rest[:, live] -= t * AP
            left = np.linalg.norm(rest[:, live], axis=0) / lengths[live]
            self.history.append(float(left.max()))
            self.report(self.history[-1])
            if not fine and self.history[-1] > LOST * min(self.history[begun:]):
                break
            going = (left > tol) & (sizes > 0) & (curved > 0)
            live, P, sizes = live[going], P[:, going], sizes[going]
            Z = self.inverse(rest[:, live])
            new = np.einsum("ij,ij->j", rest[:, live], Z)
            P = Z + (new / sizes) * P
            sizes = new
        return rest
