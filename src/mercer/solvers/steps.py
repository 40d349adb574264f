"""Steps: conjugate gradients for several right-hand sides, until the true residual is small.

Each step takes one product for all right-hand sides that are not solved yet. The residual that the
recurrence carries along drifts away from the true one, so that this is computed anew at the end of
a round, and worked on in another one if it is not small enough. Therefore the steps of a round may
use rough products, which gain a few digits; the next round gains as many. Whoever interrupts keeps
what was found so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mercer.solvers.conjugate import Map
from mercer.solvers.digits import digits
from mercer.solvers.problem import Columns, relative

__all__ = ["descend"]

ROUNDS = 6  # times that the true residual is computed and worked on
DIGITS = 3e-5  # what a round of rough products gains
POOR = 0.1  # ... and if it gains less than this, the products were too rough
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
        The most steps.
    title : str
        Of the progress bar.
    accepted : float
        Relative residual that is called solved as well, where rounding allows no better.
    advice : str
        What to try if it is not.
    rough : callable, optional
        The same as `apply`, faster and less accurate, for the steps of a round.

    Returns
    -------
    Columns
        The last entry of its history is the true residual.

    Examples
    --------
    >>> A = np.array([[3.0, 1.0], [1.0, 2.0]])
    >>> found = descend(lambda V: A @ V, np.array([[5.0], [5.0]]), lambda V: V, 1e-12, 10)
    >>> found.values.ravel().round(12)
    array([1., 2.])
    """
    X, D, rest, history = np.zeros_like(R), np.zeros_like(R), R.copy(), [1.0]
    left, anew = relative(rest, R), True
    with digits(title, tol) as tell:
        try:
            for _ in range(ROUNDS):
                before, taken, fine = left, len(history), rough is None
                goal = tol if fine else max(tol, DIGITS * left)
                new = _round(rough or apply, D, rest, R, inverse, goal, steps, history, tell)
                drifted = not fine or len(history) - taken > FEW
                new = R - apply(X + D) if drifted else new
                now = relative(new, R)
                if now < before:
                    X, rest, left, anew = X + D, new, now, drifted
                D, history[-1] = np.zeros_like(R), left
                if left <= tol or len(history) > steps or (fine and left > before / 2):
                    break
                rough = rough if left <= POOR * before else None
        except KeyboardInterrupt:  # what was found so far is kept
            if len(history) == 1:
                raise  # nothing was
            message = f"interrupted at a relative residual of about {history[-1]:.1e}"
            return Columns(X + D, "stalled", message, tuple(history))
    found = Columns(X, history=tuple(history), rest=rest if anew else None)
    if left <= max(tol, accepted):
        return found
    message = (
        f"{len(history) - 1} steps of conjugate gradients left a relative residual of "
        f"{left:.1e}; {advice}"
    )
    return replace(found, status="stalled", message=message)


def _round(
    apply: Map,
    D: np.ndarray,
    rest: np.ndarray,
    R: np.ndarray,
    inverse: Map,
    tol: float,
    steps: int,
    history: list[float],
    tell: Callable[[float], None],
) -> np.ndarray:
    """Add to D what solves for the rest; return the rest that the recurrence leaves."""
    rest = rest.copy()
    lengths = np.linalg.norm(R, axis=0)
    live = np.flatnonzero(np.linalg.norm(rest, axis=0) > tol * lengths)
    Z = inverse(rest[:, live])
    P, sizes = Z.copy(), np.einsum("ij,ij->j", rest[:, live], Z)
    while len(live) and len(history) <= steps:
        AP = apply(P)
        curved = np.einsum("ij,ij->j", P, AP)
        t = np.where(curved > 0, sizes / np.where(curved > 0, curved, 1.0), 0.0)
        D[:, live] += t * P
        rest[:, live] -= t * AP
        left = np.linalg.norm(rest[:, live], axis=0) / lengths[live]
        history.append(float(left.max()))
        tell(history[-1])
        going = (left > tol) & (sizes > 0) & (curved > 0)
        live, P, sizes = live[going], P[:, going], sizes[going]
        Z = inverse(rest[:, live])
        new = np.einsum("ij,ij->j", rest[:, live], Z)
        P = Z + (new / sizes) * P
        sizes = new
    return rest
