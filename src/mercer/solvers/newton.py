"""Newton's method for Σ loss + λ/2 |f|²: the steps, the line search, and when to stop.

What is minimized is a `NewtonObjective`, which knows points and their gradients, and solves the
system of a Newton step as accurately as is asked for: on a Gram operator in
`mercer.solvers.newton_systems`, on a sketch in `mercer.solvers.sketched_newton`. The accuracy
grows as the gradient falls (Dembo, Eisenstat & Steihaug, 1982). The direction is one of descent
however inaccurate it is, and a backtracking line search follows (Armijo, 1966).

An objective may be several problems that do not know of each other, one for each column. They take
their steps together, each with its own length, until all are solved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from mercer.gram import LowRank
from mercer.gram.stored import Striped
from mercer.solvers.cost import Cost, Requirements, Size, item_bytes
from mercer.solvers.losses import ConvexLoss, logistic_loss
from mercer.solvers.newton_systems import GramObjective
from mercer.solvers.ridge.solver import Problem, Solution, State, ended

__all__ = ["Descent", "Newton", "NewtonObjective", "NewtonSolution"]

ROUNDING = 1e-13  # relative size of differences between objectives that mean nothing


class Point(Protocol):
    """Where a descent is."""

    @property
    def values(self) -> np.ndarray:
        """The objective of each problem."""
        ...

    @property
    def norms(self) -> np.ndarray:
        """The norm of its gradient."""
        ...


P = TypeVar("P", bound=Point)
S = TypeVar("S")


class NewtonObjective(Protocol[P, S]):
    """What is minimized: one problem, or several that are columns of the same arrays."""

    @property
    def loss(self) -> ConvexLoss: ...

    @property
    def penalty(self) -> float: ...

    def start(self) -> P:
        """Return the point f = 0."""
        ...

    def direction(
        self, here: P, live: np.ndarray, accuracy: np.ndarray, report: Callable[[float], object]
    ) -> tuple[S, np.ndarray, int]:
        """Return a step for the problems that are `live`, slopes along it, and products taken."""
        ...

    def lengths(self, here: P, step: S, slopes: np.ndarray) -> np.ndarray:
        """Return the lengths with which the line search begins."""
        ...

    def values(self, here: P, step: S, t: np.ndarray) -> np.ndarray:
        """Return the objectives at t times the step from here."""
        ...

    def moved(self, here: P, step: S, t: np.ndarray) -> P:
        """Return the point at t times the step from here."""
        ...

    def recomputed(self, here: P) -> P:
        """Return the same point, with nothing in it that is a sum of steps."""
        ...


class Descent(Generic[P, S]):
    """Newton steps from f = 0, and what was seen on the way.

    Parameters
    ----------
    objective : NewtonObjective
    tol : float
        Norm of the gradient at which a problem is solved.
    rounded : float
        Share of the first gradient that counts as solved as well, where rounding is in the way.
    costly : bool
        Whether steps are so dear that one which does not halve the gradient must be seen to
        decrease the objective. Otherwise that is enough which promises a decrease, or has made
        the gradient any smaller. What is less means that rounding errors allow no better.
    """

    def __init__(
        self,
        objective: NewtonObjective[P, S],
        tol: float,
        rounded: float = 0.0,
        costly: bool = False,
    ) -> None:
        self.objective, self.tol, self.rounded, self.costly = objective, tol, rounded, costly
        self.here = objective.start()
        self.first = self.here.norms
        self.stuck = np.zeros(len(self.first), dtype=bool)
        self.history = [self.gradient]
        self.objectives = [float(self.here.values.sum())]
        self.products = 0
        self.report: Callable[..., object] = lambda gradient, doing: None

    @property
    def gradient(self) -> float:
        """Norm of the gradient here, of several problems the largest."""
        return float(self.here.norms.max())

    @property
    def live(self) -> np.ndarray:
        """Which problems are neither solved nor at the end of what rounding allows."""
        return (self.here.norms > self.tol) & ~self.stuck

    def run(self, max_iter: int) -> str:
        """Take steps; return why the gradient is not smaller, if it is not small enough."""
        count, moved = 0, False
        while True:
            while self.live.any() and count < max_iter:
                count, moved = count + 1, self.step() or moved
            if not moved:
                break
            self.here, moved = self.objective.recomputed(self.here), False
            self.history[-1] = self.gradient
            self.objectives[-1] = float(self.here.values.sum())
        if self.live.any():
            return f"{max_iter} steps were not enough; give more with max_iter"
        if self.gradient > max(self.tol, self.rounded * float(self.first.max())):
            return "rounding errors allow no smaller one; use a larger penalty or tol"
        return ""

    def step(self) -> bool:
        """Take one Newton step; return False if rounding errors leave none to take."""
        here, live = self.here, self.live
        norms = np.maximum(here.norms, self.tol)
        accuracy = np.minimum(0.1, np.sqrt(norms / np.maximum(self.first, norms)))
        accuracy = np.maximum(accuracy, 0.1 * self.tol / norms)
        step, slopes, count = self.objective.direction(here, live, accuracy, self._report_inner)
        self.products += count
        t = self._search(step, slopes)
        there = self.objective.moved(here, step, t)
        decrease = here.values - there.values if self.costly else -slopes
        gained = decrease > ROUNDING * np.abs(here.values)
        smaller = there.norms < here.norms * (0.5 if self.costly else 1.0)
        onward = (t > 0) & (smaller | gained)
        self.stuck |= live & ~onward
        if not onward.any() and there.norms.max() >= here.norms.max():
            return False
        self.here = there
        self.history.append(self.gradient)
        self.objectives.append(float(there.values.sum()))
        self.report(self.gradient, f"gradient {self.gradient:.1e}")
        return True

    def solution(
        self,
        kind: type[Kind],
        name: str,
        message: str,
        coefficients: np.ndarray,
        intercept: np.ndarray,
        **more: Any,
    ) -> Kind:
        """Return where the descent is, as this kind of solution."""
        one = self.objective.loss.columns == 1
        return kind(
            coefficients=coefficients[:, 0] if one else coefficients,
            intercept=float(intercept[0]) if one else intercept,
            status=ended(message),
            certificate=self.gradient,
            solver=name,
            penalty=self.objective.penalty,
            history=tuple(self.history),
            message=message and f"the gradient norm is {self.gradient:.2g}: {message}",
            objectives=tuple(self.objectives),
            products=self.products,
            **more,
        )

    def _search(self, step: S, slopes: np.ndarray) -> np.ndarray:
        """Return how far to go in each problem, so that its objective decreases enough."""
        values = self.here.values
        t = self.objective.lengths(self.here, step, slopes)
        for _ in range(40):  # halvings, with Armijo's share of the predicted decrease
            wanted = values + 1e-4 * t * np.minimum(slopes, 0.0)
            wanted += ROUNDING * np.abs(values)
            far = ~(self.objective.values(self.here, step, t) <= wanted)
            if not far.any():
                return t
            t[far] /= 2
        t[far] = 0.0
        return t

    def _report_inner(self, left: float) -> None:
        doing = f"gradient {self.gradient:.1e}, conjugate gradients {left:.1e}"
        self.report(self.gradient, doing)


@dataclass(frozen=True)
class NewtonSolution(Solution):
    """A solution whose `history` holds gradient norms, the last one being the certificate.

    Parameters
    ----------
    coefficients : ndarray
    intercept : float or ndarray
    status : str
        "solved", or why not.
    certificate : float
    solver : str
    penalty : float
    history : tuple of float
    message : str
        What to try, if it is not solved.
    weights : ndarray or None
        Of features, on the primal route.
    approximation : optional
        What was approximated, and how well.

    Attributes
    ----------
    objectives : tuple of float
        Σ loss + λ/2 |f|² at each of them.
    products : int
        Steps of conjugate gradients in all.

    Examples
    --------
    >>> found = NewtonSolution(np.zeros(2), 0.0, "solved", 1e-9, "newton", 1.0, products=7)
    >>> found.products, found.certificate
    (7, 1e-09)
    """

    objectives: tuple[float, ...] = ()
    products: int = 0


Kind = TypeVar("Kind", bound=NewtonSolution)


@dataclass(frozen=True)
class Newton:
    """Minimize the negative log likelihood of labels plus λ/2 |f|².

    Parameters
    ----------
    tol : float
        Stop when the norm of the gradient is at most this.
    max_iter : int
        Largest number of Newton steps.
    each : bool
        Whether there is memory for a matrix of each class, should one be needed.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> solver = Newton()
    >>> state = solver.prepare(Problem(Dense(np.array([[2.0, 1.0], [1.0, 2.0]]))))
    >>> solution = solver.solve(state, np.array([0, 1]), penalty=1.0)
    >>> solution.coefficients.round(4), solution.certificate < 1e-6
    (array([-0.4011,  0.4011]), True)
    """

    tol: float = 1e-6
    max_iter: int = 100
    each: bool = True
    name = "newton"
    requires: ClassVar[Requirements] = Requirements(definite=True, penalty=True)

    def cost(self, size: Size) -> Cost:
        """Return what the Gram matrix, preconditioners and vectors of a step take."""
        n, t = size.items, size.targets
        matrices = t + 3 if self.each and t > 1 else 1
        square = 8 * n**2 + max(8 * n**2 * matrices, size.tiles) if size.route == "dual" else 0
        return Cost(square + 8 * n * t * 24 + item_bytes(size, feature_copies=2))

    def prepare(self, problem: Problem) -> State:
        """Store the Gram matrix, or keep features as they are."""
        gram = problem.gram
        if not isinstance(gram, LowRank):
            problem = replace(problem, gram=Striped(gram.matrix()))
        return State(problem)

    def solve(self, state: State, target: np.ndarray, penalty: float) -> NewtonSolution:
        """Return coefficients and intercept for labels coded 0, 1, …, and one penalty > 0."""
        problem = state.problem
        loss = logistic_loss(target, problem.weights)
        objective = GramObjective(problem, loss, penalty, self.tol, self.each)
        descent = Descent(objective, self.tol)
        message = descent.run(self.max_iter)
        a, gram = descent.here.a, problem.gram
        features = gram.features if isinstance(gram, LowRank) else None
        one = a[:, 0] if loss.columns == 1 else a
        weights = None if features is None else np.asarray(features.T @ one)
        b = descent.here.b
        return descent.solution(NewtonSolution, self.name, message, a, b, weights=weights)
