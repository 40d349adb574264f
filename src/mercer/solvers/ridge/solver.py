"""Ridge solvers: what goes into them, what comes out, and what they have in common.

Kernel ridge regression minimizes Σ wᵢ(yᵢ − f(xᵢ) − b)² + λ|f|², and its solution is
f = Σ aᵢ k(·, xᵢ) with (K + λW⁻¹)a + b = y and, if there is an intercept b, Σ aᵢ = 0. With
S = √W and a = Sα this is the symmetric system

    (SKS + λI)α + b·S1 = Sy,    1ᵀSα = 0,

in which an item of weight zero simply drops out. Every solver here solves systems with
M = SKS + λI for several right-hand sides; weights and intercept are handled once, below. A fit
needs α only, from a `Solver`; folds and criteria need blocks of M⁻¹ for many penalties, from a
`System` (`mercer.solvers.ridge.inverse`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from mercer.errors import ValidityError
from mercer.gram import Operator
from mercer.solvers.cost import Cost, Requirements, Size, factor_seconds, stored_cost
from mercer.solvers.status import SolverResult

__all__ = ["Approximation", "Problem", "Solution", "SolvedColumns", "Solver", "State"]

Status = Literal["solved", "singular", "stalled", "interrupted", "unproved"]
TRUSTED = 1e-6  # relative residual up to which an answer is called solved


@dataclass(frozen=True)
class Problem:
    """A Gram operator, sample weights (all 1 if None), and whether there is an intercept.

    Parameters
    ----------
    gram : Operator
    weights : ndarray of shape (n,), optional
    intercept : bool

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> Problem(Dense(np.eye(2)), weights=np.array([1.0, 4.0])).roots
    array([1., 2.])
    """

    gram: Operator
    weights: np.ndarray | None = None
    intercept: bool = False

    @property
    def roots(self) -> np.ndarray | None:
        """The diagonal of S, or None for the identity."""
        return None if self.weights is None else np.sqrt(self.weights)


@dataclass(frozen=True)
class SolvedColumns:
    """Solutions of M X = R for several right-hand sides, as a solver returns them."""

    values: np.ndarray
    status: Status = "solved"
    message: str = ""
    history: tuple[float, ...] = ()
    weights: np.ndarray | None = None  # the same solutions as weights of features
    residual: np.ndarray | None = None  # R − MX, if it was computed from these values


@dataclass(frozen=True)
class Approximation:
    """How an answer differs from the exact one.

    Attributes
    ----------
    method : str
        What was done, in words.
    error : float
        The difference of the predictions from those of the exact answer, relative to how much
        these vary: root mean squares, estimated by learning both from a sample. NaN where the
        sample was too small.
    unseen : float or None
        The mean share of k(x, x) that the centers do not see.
    sample : int
        Size of the sample.
    bound : bool
        Whether `error` is not an estimate but a bound, for the items that were learned from, and
        relative to how much the targets vary.

    Examples
    --------
    >>> print(Approximation("Nyström with 100 centers", 0.0123, 0.2, 2000))
    approximate: Nyström with 100 centers; predictions differ from exact ones by about 1.2 % ...
    """

    method: str
    error: float
    unseen: float | None
    sample: int
    bound: bool = False

    def __str__(self) -> str:
        apart = (
            f"predictions differ from exact ones by about {100 * self.error:.2g} % of their "
            f"spread, on a sample of {self.sample} items"
        )
        if self.bound:
            apart = (
                f"predictions differ from exact ones by at most {100 * self.error:.2g} % of the "
                f"targets' spread, on the {self.sample} items"
            )
        if self.error != self.error:
            apart = "how far from exact is not known, the sample being too small"
        blind = "" if self.unseen is None else f"; centers miss {self.unseen:.2g} of k(x, x)"
        return f"approximate: {self.method}; {apart}{blind}"


@dataclass(frozen=True)
class Solution(SolverResult):
    """An answer with its certificate.

    Attributes
    ----------
    coefficients : ndarray of shape (n,) or (n, targets)
    intercept : float or ndarray
    status : {"solved", "singular", "stalled", "interrupted", "unproved"}
        "unproved": the system is solved, but as the kernel is not valid, nothing is minimized.
    certificate : float
        Relative residual |y − b − Ka − λa| / |y|, of the worst target; where features were
        solved for, that of their own system.
    history : tuple of float
        Relative residuals of the iterations, if there were any.
    solver : str
    penalty : float
    message : str
        What went wrong and what to try, or what is worth knowing.
    weights : ndarray or None
        The same function as weights of explicit features, if the solver worked with those.
    approximation : Approximation or None
        How the answer differs from the exact one, if it is not exact. Then the coefficients are
        those of a few functions, and the certificate is about their system.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> solution = KernelRidge("linear").fit([[1.0], [2.0]], [1.0, 2.0]).solution_
    >>> solution.status, solution.certificate < 1e-12
    ('solved', True)
    """

    coefficients: np.ndarray
    intercept: Any
    status: Status
    certificate: float
    solver: str
    penalty: float
    history: tuple[float, ...] = ()
    message: str = ""
    weights: np.ndarray | None = None
    approximation: Approximation | None = None

    def noting(self, message: str) -> Self:
        """Return this solution with something more that is worth knowing."""
        return replace(self, message="; ".join(filter(None, [self.message, message])))


class State:
    """A problem that a solver has prepared, so that many targets and penalties are cheap.

    Parameters
    ----------
    problem : Problem

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> State(Problem(Dense(np.eye(2)))).multiply(np.ones((2, 1))).ravel()
    array([1., 1.])
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.roots = problem.roots

    def multiply(self, X: np.ndarray) -> np.ndarray:
        """Return SKS @ X."""
        if self.roots is None:
            return self.problem.gram @ X
        s = self.roots[:, None]
        return s * (self.problem.gram @ (s * X))


class Solver:
    """A way to solve systems with M = SKS + λI. A subclass gives `prepare` and `columns`.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> class DenseInverse(Solver):
    ...     name = "inverse"
    ...
    ...     def prepare(self, problem):
    ...         return State(problem)
    ...
    ...     def columns(self, state, R, penalty):
    ...         M = state.problem.gram.matrix() + penalty * np.eye(len(R))
    ...         return SolvedColumns(np.linalg.inv(M) @ R)
    >>> solver = DenseInverse()
    >>> solver.solve(solver.prepare(Problem(Dense(np.eye(2)))), np.ones(2), 1.0).coefficients
    array([0.5, 0.5])
    """

    name = ""
    requires: ClassVar[Requirements] = Requirements()

    def cost(self, size: Size) -> Cost:
        """Return predicted bytes and seconds; by default of a stored matrix and its factor."""
        return stored_cost(size, self.workspace(size.items), factor_seconds(size.items))

    def workspace(self, order: int) -> int:
        """Return the bytes that are needed beside a matrix of this order."""
        return 0

    @property
    def trusted(self) -> float:
        """Relative residual up to which an answer is called solved."""
        return TRUSTED

    def prepare(self, problem: Problem) -> State:
        """Do once what all targets and penalties share."""
        raise NotImplementedError

    def columns(self, state: Any, R: np.ndarray, penalty: float) -> SolvedColumns:
        """Solve M X = R."""
        raise NotImplementedError

    def certify(
        self,
        state: Any,
        R: np.ndarray,
        offset: np.ndarray,
        alpha: np.ndarray,
        W: np.ndarray | None,
        penalty: float,
    ) -> float:
        """Return the residual of Mα + offset = R relative to R, computed anew."""
        return relative(R - offset - state.multiply(alpha) - penalty * alpha, R)

    def approximation(
        self, Y: np.ndarray, b: np.ndarray, certificate: float, history: tuple[float, ...]
    ) -> Approximation | None:
        """Return how far from exact an answer is that was not meant to be exact."""
        return None

    def solve(self, state: State, target: np.ndarray, penalty: float) -> Solution:
        """Return coefficients and intercept for one penalty and one or several targets."""
        if not np.isfinite(penalty) or penalty < 0:
            raise ValidityError(f"penalty must be finite and not negative, found {penalty!r}")
        n = state.problem.gram.order
        Y = target.reshape(n, -1)
        s = np.ones(n) if state.roots is None else state.roots
        R = Y * s[:, None]
        if state.problem.intercept:
            R = np.column_stack([R, s])
        found = self.columns(state, R, penalty)
        alpha, W, residual = found.values, found.weights, found.residual
        b = np.zeros(Y.shape[1])
        if state.problem.intercept:
            b = intercepts(s, alpha)
            alpha = eliminate_intercept(alpha, b)
            W = None if W is None else eliminate_intercept(W, b)
            residual = None if residual is None else eliminate_intercept(residual, b)
        certificate, status, message = np.inf, found.status, found.message
        if residual is not None:
            certificate = relative(residual, Y * s[:, None])
        elif status != "singular":
            certificate = self.certify(state, Y * s[:, None], b * s[:, None], alpha, W, penalty)
        if status == "solved" and not certificate <= self.trusted:
            status = "stalled"
            reason = (
                f"the relative residual is {certificate:.1e}: with penalty {penalty:.3g} the "
                "system is too ill-conditioned for more; use a larger penalty"
            )
            message = "; ".join(filter(None, [message, reason]))
        return Solution(
            coefficients=(s[:, None] * alpha).reshape(target.shape),
            intercept=b if target.ndim > 1 else float(b[0]),
            status=status,
            certificate=certificate,
            solver=self.name,
            penalty=penalty,
            history=found.history,
            message=message,
            weights=None if W is None else W.reshape(-1, *target.shape[1:]),
            approximation=self.approximation(Y, b, certificate, found.history),
        )


def ended(reason: str) -> Status:
    """Return the status of an iteration that has ended early for some reason, or for none.

    Examples
    --------
    >>> ended(""), ended("interrupted after 3 products"), ended("rounding")
    ('solved', 'interrupted', 'stalled')
    """
    if reason.startswith("interrupted"):
        return "interrupted"
    return "stalled" if reason else "solved"


def intercepts(s: np.ndarray, solutions: np.ndarray) -> np.ndarray:
    """Return b for each target from M⁻¹S(y, 1), so that sᵀα = 0 for α = M⁻¹S(y − b).

    Examples
    --------
    >>> found = np.array([[1.0, 1.0], [3.0, 1.0]])  # for M = S = I and y = (1, 3)
    >>> b = intercepts(np.ones(2), found)
    >>> b, eliminate_intercept(found, b).ravel()
    (array([2.]), array([-1.,  1.]))
    """
    b: np.ndarray = s @ solutions[:, :-1] / (s @ solutions[:, -1])
    return b


def eliminate_intercept(columns: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return what belongs to the targets minus b, from columns for the targets and for S1."""
    return columns[:, :-1] - columns[:, -1:] * b


def decouple(M: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Give items of weight zero an equation of their own, whose solution is zero."""
    dropped = np.flatnonzero(roots == 0)
    M[dropped, dropped] = float(np.diag(M).max()) or 1.0
    return M


def relative(residual: np.ndarray, target: np.ndarray) -> float:
    """Return the largest |residual| / |target| over the columns."""
    scale = np.abs(target).max(axis=0, initial=0.0)  # their squares might under- or overflow
    scale = np.where(scale > 0, scale, 1.0)
    lengths = np.linalg.norm(target / scale, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    return float(np.max(np.linalg.norm(residual / scale, axis=0) / lengths, initial=0.0))


def singular_message(penalty: float, order: int, largest: float) -> str:
    """Say that a system has no solution, why that may be, and what to try.

    `largest` bounds the eigenvalues. A penalty of 1e-9 times it leaves a residual to be trusted.
    """
    if penalty > 10 * order * np.finfo(float).eps * largest:
        return (
            f"the Gram matrix with penalty {penalty:.3g} is not positive definite, so the kernel "
            "is not valid on these items; look at it with mercer.kernels.check, or use "
            'indefinite="clip" or "flip"'
        )
    enough = 2e-9 * max(largest, np.finfo(float).tiny)
    return (
        f"the Gram matrix with penalty {penalty:.3g} is singular to working precision: two items "
        "may be equal, nearly so for this bandwidth, or there are more items than features; "
        f"remove duplicates, use a smaller bandwidth, or a penalty of about {enough:.1g} or more"
    )
