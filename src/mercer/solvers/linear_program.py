"""Linear programs: separate two classes by few items, with any matrix of similarities.

With signs z = ±1 the support vector machine of linear programming is

    minimize    Σ αⱼ + Σ Cᵢξᵢ
    subject to  zᵢ(Σ αⱼzⱼ k(xᵢ, xⱼ) + b) ≥ 1 − ξᵢ,   α ≥ 0,  ξ ≥ 0

(Machine Learning lecture, "Linear Programming Support Vector Machines", whose print leaves out zⱼ;
Mangasarian, 2000). The sum of the α stands for their number, so few of them are positive. There is
no quadratic form, so nothing asks for a positive semi-definite matrix. HiGHS (Huangfu & Hall,
2018) gets the dual,

    maximize Σ yᵢ   subject to   zⱼ Σ yᵢzᵢ k(xᵢ, xⱼ) ≤ 1,   Σ yᵢzᵢ = 0,   0 ≤ yᵢ ≤ Cᵢ,

which has half the variables; the α are its multipliers. What HiGHS says about its own accuracy is
not used, for it rounds similarities below 1e-9 to zero: from its α and y we make points that
satisfy all constraints, and the difference of their objectives bounds how far both are from the
optimum. With the items that HiGHS has on the margin, and those that have coefficients, a small
system of equations gives the digits that are missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import real_numbers
from mercer.errors import DomainError, ValidityError
from mercer.lapack import EPS
from mercer.solvers.cost import Cost, Requirements, Size, item_bytes
from mercer.solvers.status import SolverResult

__all__ = ["BYTES_PER_ENTRY", "LinearSolution", "separate"]

# For each entry of the matrix, at the peak: it, the program, and what SciPy and HiGHS copy.
SOLVER_BYTES = 4_000_000  # of a program without any numbers
BYTES_PER_ENTRY = 130
HIGHS_TOLERANCE = 1e-9  # of HiGHS; its own choice, 1e-7, may leave a gap that can be seen
POLISHING_STEPS = 2
BOUND_TOLERANCE = 1e-9  # share of C by which a y must be inside its bounds


@dataclass(frozen=True)
class LinearSolution(SolverResult):
    """A linear program's answer with its certificate.

    Attributes
    ----------
    coefficients : ndarray of shape (n,)
        The αⱼzⱼ, most of them zero.
    intercept : float
        Where several are equally good, the middle of them.
    status : {"solved", "stalled", "inseparable", "failed"}
    objective : float
        Σ αⱼ + Σ Cᵢξᵢ, the ξ being what coefficients and intercept leave.
    dual_objective : float
        A lower bound of what can be reached: Σ yᵢ of a y that satisfies all constraints.
    gap : float
        The difference of both, relative to the objective.
    violation : float
        Largest part of the margin that an item lacks without paying for it.
    iterations : int
        Steps of the simplex method.
    message : str
        What went wrong and what to try.

    Examples
    --------
    >>> solution = separate([[1.0, -2.0], [-2.0, 4.0]], [1, -1])
    >>> solution.coefficients.round(6), solution.gap < 1e-12, solution.status
    (array([ 0.      , -0.333333]), True, 'solved')
    """

    coefficients: np.ndarray
    intercept: float
    status: Literal["solved", "stalled", "inseparable", "failed"]
    objective: float = np.inf
    dual_objective: float = -np.inf
    gap: float = np.inf
    violation: float = np.inf
    iterations: int = 0
    message: str = ""

    @property
    def certificate(self) -> float:
        """The larger one of gap and violation."""
        return max(self.gap, self.violation)


@dataclass(frozen=True)
class SimplexMethod:
    """What the simplex method takes.

    The matrix is there once as similarities, once more times the signs as the constraints, and
    three times in what the solver makes of them: numbers with their rows, columns with theirs, and
    factors.

    Examples
    --------
    >>> SimplexMethod().cost(Size(items=1000)).bytes > 8 * 1000**2
    True
    """

    requires: ClassVar[Requirements] = Requirements()

    def cost(self, size: Size) -> Cost:
        """Return the bytes of a program of so many items."""
        entries = int(BYTES_PER_ENTRY * size.items**2)
        return Cost(entries + size.tiles + item_bytes(size) + SOLVER_BYTES)


def separate(
    K: ArrayLike, signs: ArrayLike, C: ArrayLike = 1.0, tol: float = 1e-6
) -> LinearSolution:
    """Return the coefficients and the intercept that separate two classes by a linear program.

    Parameters
    ----------
    K : array of shape (n, n)
        Similarities; row i holds those of item i to the points of the expansion.
    signs : array of shape (n,)
        +1 or −1.
    C : float or array of shape (n,)
        Price of the slack, of each item if they differ. With infinity there is no slack.
    tol : float
        Largest gap and violation that count as solved.

    Examples
    --------
    >>> x = np.array([-2.0, -1.0, 1.0, 3.0])
    >>> solution = separate(np.outer(x, x), [-1, -1, 1, 1], C=np.inf)
    >>> solution.coefficients, solution.intercept, round(solution.objective, 12)
    (array([0. , 0. , 0. , 0.333...]), 0.0, 0.333333333333)
    """
    program = LinearProgram(*_admit(K, signs, C))
    answer, alpha, y = program.optimize()
    if answer.status != 0:
        return _refusal(answer, program.C)
    best = program.judge(alpha, y)
    for _ in range(POLISHING_STEPS):
        best = min(best, program.judge(*program.polish(best)), key=lambda p: p.certificate)
    solved = best.certificate <= tol
    return LinearSolution(
        coefficients=best.alpha * program.z + 0.0,  # no −0
        intercept=best.b,
        status="solved" if solved else "stalled",
        objective=best.objective,
        dual_objective=best.bound,
        gap=best.gap,
        violation=best.violation,
        iterations=int(answer.nit),
        message="" if solved else _inaccurate(best, tol),
    )


def _admit(
    K: ArrayLike, signs: ArrayLike, C: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return similarities, signs and a price for each item."""
    K, z = np.asarray(K, dtype=np.float64), real_numbers(signs, "the signs")
    if z.ndim != 1 or K.shape != (len(z), len(z)):
        raise DomainError(
            "there must be a sign for each row of a square matrix, but the matrix has shape "
            f"{K.shape} and the signs {z.shape}"
        )
    if set(z.tolist()) != {-1.0, 1.0}:
        raise DomainError(f"the signs must be +1 and -1, both; found {sorted(set(z.tolist()))}")
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise DomainError(f"the similarity of items {i} and {j} is {K[i, j]}")
    prices = real_numbers(C, "C")
    if prices.shape not in ((), z.shape):
        raise DomainError(
            f"C must be a number, or one for each of {len(z)} items; found shape {prices.shape}"
        )
    if not (prices > 0).all():
        raise ValidityError(f"C must be positive, found {np.min(prices)}")
    return K, z, np.broadcast_to(prices, z.shape)


@dataclass(frozen=True)
class PrimalDualPair:
    """α and y, with what can be said about them.

    `bound` is Σ yᵢ after y has been made to satisfy its constraints.
    """

    alpha: np.ndarray
    y: np.ndarray
    b: float
    objective: float
    bound: float
    violation: float

    @property
    def gap(self) -> float:
        return max(self.objective - self.bound, 0.0) / self.objective

    @property
    def certificate(self) -> float:
        return max(self.gap, self.violation)


@dataclass(frozen=True)
class LinearProgram:
    """Similarities, signs, and the price of each item's slack."""

    K: np.ndarray
    z: np.ndarray
    C: np.ndarray

    def optimize(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """Let HiGHS solve the dual; return what it says, α and y."""
        from scipy.optimize import linprog  # here: not everybody who solves needs it

        # HiGHS has absolute tolerances, so rows are brought near 1, and prices not below it.
        z, nothing = self.z, np.full(len(self.z), np.nan)
        rows = _powers(np.abs(self.K).max(axis=0))
        unit = min(1.0, float(self.C.max() * rows.max())) / float(rows.max())
        answer = linprog(
            np.full(len(z), -1.0),
            A_ub=(self.K * np.outer(z, z / rows)).T,
            b_ub=1.0 / (rows * unit),
            A_eq=z[None, :],
            b_eq=[0.0],
            bounds=np.column_stack([np.zeros(len(z)), self.C / unit]),
            method="highs-ds",  # it ends at a vertex, which is sparse
            options={
                "presolve": False,  # a dense matrix has nothing to take out
                "primal_feasibility_tolerance": HIGHS_TOLERANCE,
                "dual_feasibility_tolerance": HIGHS_TOLERANCE,
            },
        )
        if answer.status != 0:
            return answer, nothing, nothing
        return answer, -answer.ineqlin.marginals / rows, answer.x * unit

    def judge(self, alpha: np.ndarray, y: np.ndarray) -> PrimalDualPair:
        """Return the nearest points that satisfy the constraints, with their objectives."""
        alpha = np.maximum(alpha, 0.0)
        alpha[alpha <= len(alpha) * EPS * alpha.max()] = 0.0
        f = self.K @ (alpha * self.z)
        b = self.middle(f)
        lack = np.maximum(1.0 - self.z * (f + b), 0.0)
        paid = np.isfinite(self.C) & (lack > 1e-9)  # less is on the margin
        objective = float(np.sum(alpha) + self.C[paid] @ lack[paid])
        violation = float(np.max(lack, initial=0.0, where=~paid))
        return PrimalDualPair(alpha, y, b, objective, self.bound(y), violation)

    def bound(self, y: np.ndarray) -> float:
        """Return Σ yᵢ after y has been made to satisfy the constraints: no α does better."""
        z, y = self.z, np.clip(y, 0.0, self.C)
        sides = np.array([y[z > 0].sum(), y[z < 0].sum()])
        if not sides.all():
            return 0.0
        share = sides.min() / sides
        y = y * np.where(z > 0, share[0], share[1])
        return float(np.sum(y) / max(1.0, float(np.max(z * ((y * z) @ self.K)))))

    def middle(self, f: np.ndarray) -> float:
        """Return the intercept for given values f: the middle of all that are optimal.

        The slack Σ Cᵢ max(0, 1 − zᵢ(fᵢ + b)) is a convex function of b with corners at zᵢ − fᵢ.
        With the same price on both sides it is flat between two of them, and HiGHS would return
        either.
        """
        z, C, corners, soft = self.z, self.C, self.z - f, np.isfinite(self.C)
        low = float(np.max(corners, initial=-np.inf, where=~soft & (z > 0)))
        high = float(np.min(corners, initial=np.inf, where=~soft & (z < 0)))
        if low > high:  # by rounding
            low = high = (low + high) / 2
        order = np.flatnonzero(soft)
        order = order[np.argsort(corners[order], kind="stable")]
        edges = np.concatenate([[-np.inf], corners[order], [np.inf]])
        slopes = np.concatenate([[0.0], np.cumsum(C[order])]) - np.sum(C[soft & (z > 0)])
        flat = len(z) * EPS * np.sum(C[soft])
        left = edges[np.argmax(slopes >= -flat)]
        right = edges[len(slopes) - np.argmax(slopes[::-1] <= flat)]
        left, right = np.clip([left, right], low, high)
        return float(left + (right - left) / 2)

    def polish(self, point: PrimalDualPair) -> tuple[np.ndarray, np.ndarray]:
        """Return α and y corrected, so that what should hold with equality does.

        Items with 0 < yᵢ < Cᵢ are on the margin, and where αⱼ > 0 the constraint of y is tight.
        Both are systems with the same matrix. Least squares, because copies of an item make it
        singular.
        """
        z, y, alpha = self.z, point.y.copy(), point.alpha.copy()
        on = np.flatnonzero((y > BOUND_TOLERANCE * y.max()) & (y < (1 - BOUND_TOLERANCE) * self.C))
        used = np.flatnonzero(alpha)
        if not len(on):
            return alpha, y
        M = np.column_stack([z[on, None] * self.K[np.ix_(on, used)] * z[used], z[on]])
        sizes = _powers(np.abs(M).max(axis=0))
        M /= sizes
        margins = z[on] * (self.K[on] @ (alpha * z) + point.b)
        alpha[used] += (_least(M, 1.0 - margins) / sizes)[:-1]
        rest = np.append(1.0 - z[used] * ((y * z) @ self.K[:, used]), -(y @ z))
        y[on] += _least(M.T, rest / sizes)
        return alpha, y


def _powers(sizes: np.ndarray) -> np.ndarray:
    """Return powers of two near some sizes, by which one divides without rounding."""
    return 2.0 ** np.floor(np.log2(np.where(sizes > 0, sizes, 1.0)))


def _least(M: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Return the shortest of the vectors that solve M x = rest best."""
    return np.linalg.lstsq(M, rest, rcond=None)[0]


def _refusal(answer: Any, C: np.ndarray) -> LinearSolution:
    """Return a solution that is none, and says why."""
    nothing = np.full(len(C), np.nan)
    if answer.status == 3 and np.isinf(C).any():
        message = (
            "the classes are not separable in feature space: there are no coefficients with "
            "which every item is on its side, beyond the margin. Use a finite C, or a richer "
            "kernel, such as Gaussian() with a smaller bandwidth"
        )
        return LinearSolution(nothing, np.nan, "inseparable", message=message)
    message = (
        f"HiGHS could not solve the linear program ({answer.message}): the similarities differ "
        "too much in size, or too little from each other, for this C. Scale the data, use a "
        "smaller C, or a smaller bandwidth"
    )
    return LinearSolution(nothing, np.nan, "failed", message=message)


def _inaccurate(found: PrimalDualPair, tol: float) -> str:
    return (
        f"the linear program is solved to a relative gap of {found.gap:.1e}, and items lack up "
        f"to {found.violation:.1e} of their margin, where tol={tol:.1e} was asked for: the "
        "similarities leave no more digits. Scale the data, or use a smaller C, a smaller "
        "bandwidth, or a larger tol"
    )
