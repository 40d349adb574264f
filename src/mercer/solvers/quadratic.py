"""The quadratic program of support vector machines, and answers that carry their certificate.

All of them maximize tᵀβ − ½βᵀKβ over lower ≤ β ≤ upper with a fixed sum of β within each group:

    SVC          t = z, β = zα, 0 ≤ α ≤ C, Σβ = 0
    NuSVC        t = 0, 0 ≤ α ≤ 1, Σα = νn/2 in each class, which are the groups
    SVR          every item twice: t = y − ε with 0 ≤ β ≤ C, t = y + ε with −C ≤ β ≤ 0; Σβ = 0
    OneClassSVM  t = 0, 0 ≤ β ≤ 1, Σβ = νn

F = t − Kβ is the slope. At the optimum there is a b for each group with F ≤ b where β can grow and
F ≥ b where it can shrink: the conditions of Kuhn and Tucker. For any b and any feasible β,

    gap = Σ (F − b)₊(upper − β) + (b − F)₊(β − lower)

bounds how much the objective can still grow, because slopes of a concave function do; for SVC it
is the value of the primal problem less that of the dual. What rounding and a kernel without a
proof leave of that is said in `mercer.solvers.margin_certificate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np

from mercer.solvers.cost import Cost, Requirements, Size, item_bytes
from mercer.solvers.curvature import listed
from mercer.solvers.status import SolverResult

__all__ = [
    "Optimum", "Quadratic", "SMOOptions", "certify", "conclude", "hard_gap", "stalled_message",
    "violation_of",
]  # fmt: skip

Status = Literal["solved", "stalled", "unproved", "unbounded", "invalid"]
# How steps on some of the variables have ended: as they should, at two items on which the kernel
# is not valid, or in a direction that nothing bounds.
DONE, INVALID, UNBOUNDED = 0, 1, 2
MAX_FREE_VARIABLES = 3000  # of a system; that of more would take too long
MAX_PART = 3000  # variables that get a matrix of their own while others are settled
MAX_UNSETTLED = 0.7  # share of the variables, above which the rest is not worth a copy
SNAPPED_SHARE = 0.01  # of tol, by which going to a bound may change a slope
ROUNDING = 1e-13  # share of the box, and of the largest coefficient, that means nothing


@dataclass(frozen=True)
class Quadratic:
    """What to maximize: tᵀβ − ½βᵀKβ in a box, with fixed sums.

    Parameters
    ----------
    target : ndarray of shape (m,)
        t. With as many variables as items there is one for each; with twice as many, the items
        come twice.
    lower, upper : ndarray of shape (m,)
    start : ndarray of shape (m,)
        A feasible β; it fixes the sums.
    sizes : tuple of int, optional
        Number of variables in each of two groups, the first coming first; by default there is one
        group.

    Examples
    --------
    >>> z = np.array([1.0, -1.0])
    >>> Quadratic(z, np.minimum(z, 0.0), np.maximum(z, 0.0), np.zeros(2)).groups
    [slice(0, 2, None)]
    """

    target: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    start: np.ndarray
    sizes: tuple[int, ...] = ()

    @cached_property
    def groups(self) -> list[slice]:
        """The variables of each group."""
        ends = np.cumsum([0, *(self.sizes or (len(self.target),))]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]


@dataclass(frozen=True)
class SMOOptions:
    """How a program is solved by pairs of variables: how long, on which sets, in what memory.

    Attributes
    ----------
    tol : float
        Largest violation of the Kuhn-Tucker conditions that is called solved.
    steps : int
        Largest number of steps, each of which moves two variables.
    working, largest : int
        Number of variables in a working set, and how many it may have where many are free.
    kept : int
        Number of Gram rows to keep.
    dtype : float32 or float64
        How parts of the Gram matrix are stored. Sums are in double precision.
    trust_slopes : bool
        Whether slopes that have followed β all the way are good enough in the end.
    stored : bool
        Whether the whole Gram matrix is in memory.

    Examples
    --------
    >>> SMOOptions(stored=True).cost(Size(items=10_000)).bytes // 10**6
    910
    """

    tol: float = 1e-3
    steps: int = 10_000_000
    working: int = 4096
    largest: int = 4096
    kept: int = 0
    dtype: type = np.float64
    trust_slopes: bool = False
    stored: bool = False
    requires: ClassVar[Requirements] = Requirements()

    def cost(self, size: Size) -> Cost:
        """Return what the matrix takes, or the blocks and rows that stand for it."""
        n, each = size.items, np.dtype(self.dtype).itemsize
        other = size.tiles + item_bytes(size, feature_copies=2)
        # The system of the free variables, and its factor, if half of those that it may have are.
        other += 4 * min(n if self.stored else self.largest, n, MAX_FREE_VARIABLES) ** 2
        # The part of those that are not settled.
        other += each * min(n if self.stored else self.largest, n, MAX_PART) ** 2
        if self.stored:
            return Cost(each * n**2 + other)
        block, rows = each * min(n, self.largest) ** 2, each * n * min(self.kept, n)
        vectors = 25 * 8 * n  # β, slopes, bounds, and what a selection compares, of n variables
        return Cost(block + rows + vectors + other)


@dataclass(frozen=True)
class Optimum(SolverResult):
    """An answer with its certificate.

    Attributes
    ----------
    coefficients : ndarray of shape (m,)
        β.
    offsets : ndarray of shape (groups,)
        The b of each group.
    status : {"solved", "stalled", "unproved", "unbounded", "invalid"}
        "unproved": the conditions of Kuhn and Tucker hold, but nobody knows that the kernel is
        valid on all the items, so that no gap bounds what is missing.
    objective : float
        tᵀβ − ½βᵀKβ.
    gap : float
        Upper bound of what is missing from the largest objective, from slopes computed anew and
        from how far they may be rounded; infinite where no bound is known.
    violation : float
        Largest violation of the Kuhn-Tucker conditions, from the same slopes, and not less than
        their rounding.
    rounding : float
        Where similarities were computed in single precision: the largest difference of a slope
        from that in double precision, on a sample of the items.
    uncertainty : float
        How far a slope in double precision may be from that of exact arithmetic.
    square : float
        βᵀKβ, the squared norm of the function.
    steps : int
    history : tuple of float
        The violation before every round.
    message : str
        What went wrong and what to try.
    culprits : tuple of int, optional
        Items on which the kernel is not valid, those that show it best.

    Examples
    --------
    >>> from mercer import SVC
    >>> found = SVC("linear").fit([[-1.0], [1.0]], [0, 1]).solution_
    >>> found.status, found.gap <= 1e-9
    ('solved', True)
    """

    coefficients: np.ndarray
    offsets: np.ndarray
    status: Status
    objective: float
    gap: float
    violation: float
    square: float
    steps: int
    history: tuple[float, ...] = ()
    message: str = ""
    rounding: float = 0.0
    uncertainty: float = 0.0
    culprits: tuple[int, ...] | None = None
    slopes: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the primal objective."""
        primal = abs(self.objective + self.gap)
        return self.gap / primal if 0 < primal < np.inf else self.gap

    def named(self, label: str, places: np.ndarray) -> Optimum:
        """Return this answer with a message that says which program and which items it is about.

        `places` are those of the program's items among all.
        """
        if not self.message:
            return self
        message = label + self.message
        if self.culprits is not None:
            own = listed(self.culprits)
            message = message.replace(own, listed(places[list(self.culprits)].tolist()))
        return replace(self, message=message)


def violation_of(problem: Quadratic, beta: np.ndarray, F: np.ndarray) -> float:
    """Return the largest violation of the Kuhn-Tucker conditions.

    Examples
    --------
    >>> z = np.array([1.0, -1.0])
    >>> problem = Quadratic(z, np.minimum(z, 0.0), np.maximum(z, 0.0), np.zeros(2))
    >>> violation_of(problem, np.zeros(2), z)
    2.0
    """
    worst = 0.0
    for group in problem.groups:
        top, bottom = _extreme_slopes(problem, group, beta, F)
        worst = max(worst, top - bottom)
    return worst


def _extreme_slopes(
    problem: Quadratic, group: slice, beta: np.ndarray, F: np.ndarray
) -> tuple[float, float]:
    """Return the highest slope of a group where β can grow, and the lowest where it can shrink."""
    b, f = beta[group], F[group]
    top = np.max(f, where=b < problem.upper[group], initial=-np.inf)
    bottom = np.min(f, where=b > problem.lower[group], initial=np.inf)
    return float(top), float(bottom)


def certify(
    problem: Quadratic, beta: np.ndarray, F: np.ndarray
) -> tuple[np.ndarray, float, float]:
    """Return the offsets, the gap and the violation that belong to β and its slopes.

    Examples
    --------
    >>> z = np.array([1.0, -1.0])
    >>> problem = Quadratic(z, np.minimum(z, 0.0), np.maximum(z, 0.0), np.zeros(2))
    >>> offsets, gap, violation = certify(problem, np.zeros(2), z)
    >>> offsets.tolist(), gap, violation
    ([0.0], 2.0, 2.0)
    """
    offsets, gap, violation = [], 0.0, 0.0
    for group in problem.groups:
        b, f = beta[group], F[group]
        lower, upper = problem.lower[group], problem.upper[group]
        top, bottom = _extreme_slopes(problem, group, beta, F)
        violation = max(violation, top - bottom)
        free = (b > lower) & (b < upper)
        if free.any():
            offset = float(np.mean(f[free]))
        else:
            ends = [end for end in (top, bottom) if np.isfinite(end)]
            offset = float(np.mean(ends)) if ends else 0.0
        with np.errstate(invalid="ignore", over="ignore"):
            above, below = np.maximum(f - offset, 0.0), np.maximum(offset - f, 0.0)
            missing = np.where(above > 0, above * (upper - b), 0.0)
            missing += np.where(below > 0, below * (b - lower), 0.0)
        gap += float(np.sum(missing))
        offsets.append(offset)
    return np.array(offsets), gap, violation


def hard_gap(problem: Quadratic, beta: np.ndarray, F: np.ndarray, offset: float) -> float:
    """Return the gap of a hard margin, whose box is infinite.

    With t = ±1, an item that lacks v of its margin of 1 has it once w is divided by 1 − v; that
    is a feasible w, of which ½|w|² is compared with the dual objective.

    Examples
    --------
    >>> z, none = np.array([1.0, -1.0]), np.zeros(2)
    >>> problem = Quadratic(z, np.where(z < 0, -np.inf, 0), np.where(z > 0, np.inf, 0), none)
    >>> hard_gap(problem, np.array([0.5, -0.5]), none, 0.0)
    0.0
    """
    lacking = np.where(np.isinf(problem.upper), F - offset, 0.0)
    lacking = np.maximum(lacking, np.where(np.isinf(problem.lower), offset - F, 0.0))
    margin = 1 - max(float(lacking.max()), 0.0)
    if margin <= 0:
        return np.inf
    square = float(beta @ (problem.target - F))
    return max(square / (2 * margin**2) - (float(beta @ problem.target) - square / 2), 0.0)


def snap_to_bounds(
    problem: Quadratic, beta: np.ndarray, least: np.ndarray | float = np.inf
) -> np.ndarray:
    """Return β with what is within rounding of a bound at the bound, where it is not free.

    No entry moves by more than `least`, beyond which slopes would notice.

    Examples
    --------
    >>> problem = Quadratic(np.zeros(2), np.zeros(2), np.ones(2), np.zeros(2))
    >>> snap_to_bounds(problem, np.array([1e-17, 1 - 1e-16]))
    array([0., 1.])
    """
    width = problem.upper - problem.lower
    little = np.minimum(ROUNDING * np.minimum(width, np.abs(beta).max(initial=0.0)), least)
    beta = np.where(beta - problem.lower <= little, problem.lower, beta)
    return np.where(problem.upper - beta <= little, problem.upper, beta)


def largest_snap(diagonal: np.ndarray | None, tol: float) -> np.ndarray | float:
    """Return by how much each variable may change so that no slope changes by a share of `tol`.

    Examples
    --------
    >>> largest_snap(np.array([4.0, 1.0]), 1e-3) * 1e6
    array([2.5, 5. ])
    """
    if diagonal is None:
        return np.inf
    heights = np.abs(diagonal)
    reach = np.sqrt(heights * heights.max(initial=0.0))
    return SNAPPED_SHARE * tol / np.maximum(reach, np.finfo(float).tiny)


def conclude(
    problem: Quadratic,
    beta: np.ndarray,
    F: np.ndarray,
    steps: int,
    history: Sequence[float],
    tol: float,
    trouble: int = DONE,
    culprits: tuple[int, int] = (0, 0),
    diagonal: np.ndarray | None = None,
) -> Optimum:
    """Return the answer with its certificate, or with what is wrong and what to do.

    `trouble` is how the last steps have ended, at the items `culprits`; `diagonal` is that of K,
    for each variable.
    """
    beta = snap_to_bounds(problem, beta, largest_snap(diagonal, tol))
    offsets, gap, violation = certify(problem, beta, F)
    if np.isinf(gap):
        gap = hard_gap(problem, beta, F, float(offsets[0]))
    status: Status = "solved" if violation <= tol else "stalled"
    with np.errstate(over="ignore", invalid="ignore"):  # where nothing bounds the objective
        objective = float(beta @ (problem.target + F)) / 2
        square = float(beta @ (problem.target - F))
    found = Optimum(
        beta, offsets, status, objective, gap, violation, square, steps, tuple(history), slopes=F
    )
    if trouble == INVALID:
        message = (
            f"the kernel is not positive semi-definite on these items: the squared distance of "
            f"items {culprits[0]} and {culprits[1]} in its space is negative; use a valid kernel, "
            'or indefinite="clip", "flip" or "shift"'
        )
        return replace(found, status="invalid", message=message, culprits=culprits)
    if trouble == UNBOUNDED:
        message = (
            "the classes are not separable in the kernel's space, so there is no hard margin; use "
            "a finite C, or a richer kernel such as a Gaussian of smaller bandwidth"
        )
        return replace(found, status="unbounded", message=message)
    return replace(found, message=stalled_message(found, tol)) if status == "stalled" else found


def stalled_message(found: Optimum, tol: float) -> str:
    """Say how far an answer is from the optimum, and what to do."""
    return (
        f"stopped after {found.steps} steps with a violation of {found.violation:.2g} (tol is "
        f"{tol:.2g}) and a duality gap of {found.gap:.3g}, {found.relative_gap:.1%} of the "
        "objective: use a smaller C, scaled features, a larger max_iter, or a larger tol"
    )
