"""What the answer of a margin's program may claim: rounding of its slopes, and curvature.

The gap and the violation of an answer come from its slopes F = t − Kβ. These are rounded: a
similarity by a few units in the last place of √(k(x, x)·k(z, z)), and the sum of m of them by
about √m units of its terms (Higham & Mary, SIAM J. Sci. Comput. 2019). So a slope is known to

    rᵢ = u·(c + √m)·√kᵢᵢ·Σⱼ |βⱼ|√kⱼⱼ + u·(1 + √m)·|tᵢ|,    u = 1.1e-16,

and no violation below the largest of these is claimed; the gap is that of the worst slopes within
rᵢ. And a gap bounds what is missing only where the objective is concave, which for a kernel
without a proof is to be seen (`mercer.solvers.curvature`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.lapack import EPS
from mercer.solvers.curvature import Curvature
from mercer.solvers.quadratic import Optimum, Quadratic, hard_gap, stalled_message

__all__ = ["slope_rounding", "with_curvature", "with_rounding"]

ENTRY_ROUNDINGS = 8  # of one similarity, beside one for each root of its numbers


def slope_rounding(
    problem: Quadratic, beta: np.ndarray, roots: np.ndarray, width: float = 1.0
) -> np.ndarray:
    """Return how far each slope may be from that of exact arithmetic.

    Parameters
    ----------
    problem : Quadratic
    beta : ndarray of shape (m,)
    roots : ndarray of shape (items,)
        √k(x, x) of each item.
    width : float
        How many numbers an item has.

    Examples
    --------
    >>> z = np.array([1.0, -1.0])
    >>> problem = Quadratic(z, np.minimum(z, 0.0), np.maximum(z, 0.0), np.zeros(2))
    >>> bool(slope_rounding(problem, z, np.array([1e9, 1e9])).max() > 100)
    True
    """
    heights = np.tile(roots, len(problem.target) // len(roots))
    used = int(np.count_nonzero(beta))
    unit = EPS / 2 * (ENTRY_ROUNDINGS + np.sqrt(width) + np.sqrt(used))
    sums = EPS / 2 * (1 + np.sqrt(used)) * np.abs(problem.target)  # from which Kβ is taken away
    return unit * heights * float(np.abs(beta) @ heights) + sums


def with_rounding(found: Optimum, problem: Quadratic, rounding: np.ndarray, tol: float) -> Optimum:
    """Return an answer that claims no more than its slopes allow.

    Examples
    --------
    >>> from mercer import SVC
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     machine = SVC("linear", 0.1).fit([[1e9], [1e9]], [0, 1])
    >>> machine.solution_.status, machine.solution_.violation > 1
    ('stalled', True)
    """
    largest = float(rounding.max(initial=0.0))
    gap = _gap_within(found, problem, rounding)
    violation = max(found.violation, largest)
    stalled = found.status == "stalled"
    found = replace(found, gap=max(gap, found.gap), violation=violation, uncertainty=largest)
    if stalled:
        return replace(found, message=stalled_message(found, tol))
    if found.status != "solved" or largest <= tol:
        return found
    message = (
        f"similarities as large as these leave slopes uncertain by up to {largest:.2g} (tol is "
        f"{tol:.2g}), with a duality gap of {found.gap:.3g}, {found.relative_gap:.1%} of the "
        "objective: use scaled features, a smaller C, or a larger tol"
    )
    return replace(found, status="stalled", message=message)


def with_curvature(
    found: Optimum, problem: Quadratic, curvature: Curvature, tol: float
) -> Optimum:
    """Return an answer that claims no more than what is known of its objective's curvature.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.kernels import from_function
    >>> SVC(from_function(lambda a, b: -(abs(a - b) ** 3)), C=10.0).fit([0, 1, 3, 4], [0, 1, 0, 1])
    Traceback (most recent call last):
        ...
    mercer.errors.ValidityError: the kernel is not positive semi-definite on these items: ...
    """
    advice = ', or indefinite="clip", "flip" or "shift"'
    if found.status == "invalid":
        return found
    if curvature.negative:
        return replace(
            found, status="invalid", message=curvature.refusal() + advice, culprits=curvature.items
        )
    if found.status == "unbounded":
        return found
    size = curvature.largest * float(np.abs(found.coefficients).sum()) ** 2
    if found.square < -1e-9 * size:
        message = (
            f"the kernel is not positive semi-definite on these items: |w|² is {found.square:.3g} "
            f"for the function that was found; use a valid kernel{advice}"
        )
        return replace(found, status="invalid", message=message)
    if found.status == "solved" and not curvature.complete:
        message = (
            "the conditions of Kuhn and Tucker hold, but whether no other function is better is "
            f"not known: {curvature.doubt}"
        )
        return replace(found, status="unproved", gap=np.inf, message=message)
    return _with_rise(found, problem, curvature, tol)


def _with_rise(found: Optimum, problem: Quadratic, curvature: Curvature, tol: float) -> Optimum:
    """Return an answer whose gap counts negative eigenvalues that are too small for a witness.

    Along such a direction the objective may rise again, and by more the larger the box is. Where
    that is more than violations of `tol` explain, the conditions that hold say nothing.
    """
    room = np.maximum(problem.upper - found.coefficients, found.coefficients - problem.lower)
    if np.isfinite(room).all():
        rise = -curvature.lowest * float(room @ room) / 2
        explained = rise <= tol * float(room.sum())
    else:
        rise, explained = (0.0, True) if curvature.rounded else (np.inf, False)
    found = replace(found, gap=found.gap + rise)
    if explained or found.status != "solved":
        return found
    message = (
        "the conditions of Kuhn and Tucker hold, but whether no other function is better is not "
        f"known: the Gram matrix has eigenvalues down to {curvature.lowest:.2g}, and a box as "
        f"large as this lets the objective grow by up to {rise:.2g} along them; use a smaller C, "
        "or a kernel with a proof"
    )
    return replace(found, status="unproved", message=message)


def _gap_within(found: Optimum, problem: Quadratic, rounding: np.ndarray) -> float:
    """Return the gap of the worst slopes within their rounding."""
    beta, F = found.coefficients, found.slopes
    if not (np.isfinite(problem.upper).all() and np.isfinite(problem.lower).all()):
        worst = np.where(np.isinf(problem.upper), F + rounding, F - rounding)
        return hard_gap(problem, beta, worst, float(found.offsets[0]))
    gap = 0.0
    for group, offset in zip(problem.groups, found.offsets, strict=True):
        f, r, b = F[group] - offset, rounding[group] + EPS * abs(offset), beta[group]
        grow = np.maximum(f + r, 0.0) * (problem.upper[group] - b)
        shrink = np.maximum(r - f, 0.0) * (b - problem.lower[group])
        gap += float(np.maximum(grow, shrink).sum())
    return gap
