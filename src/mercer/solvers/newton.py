"""Newton's method for Σ loss + λ/2 |f|², on the coefficients of the representer theorem.

With f = Σ aᵢ k(·, xᵢ) + b the gradient is the function g = Σ (λaᵢ − Rᵢ) k(·, xᵢ), where R is the
loss's residual, and −Σ Rᵢ for b; at the minimum λa = R and Σ aᵢ = 0. Its norm in the kernel's
space, |g|² = dᵀKd with d = λa − R, is the Euclidean norm of the gradient for the weights of any
features, so the certificate does not depend on how f is written down. Without b, J is λ-strongly
convex: |f − f*| ≤ |g|/λ and J − J* ≤ |g|²/2λ.

A Newton step solves (λ + H̃K)δ = −d̃ where H̃ is the loss's curvature after the best change of b
for each δ has been put in (a Schur complement; Rasmussen & Williams, 3.4 and 3.5, solve the same
system by a Cholesky factor for each class). In the inner product uᵀKv this operator is symmetric
and positive definite, so conjugate gradients apply, with one product by K for each of their
steps. They stop early, at a tolerance that falls with the gradient (Dembo, Eisenstat & Steihaug,
1982), and the direction is one of descent wherever they stop. A backtracking line search follows
(Armijo, 1966).

With a small λ the conjugate gradients become slow. Also, they care about functions, not about
coefficients: along directions in which K is zero to rounding, d stays as it was, and the rounding
errors of dᵀKd hide how small the gradient is. In both cases a preconditioner by Cholesky factors
is made for the remaining steps, which then need few products.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mercer.errors import SolveError
from mercer.gram import LowRank, Operator
from mercer.gram.stored import Striped
from mercer.solvers.conjugate_gradients import LinearMap, in_kernel_space
from mercer.solvers.cost import Cost, Requirements, Size, item_bytes
from mercer.solvers.losses import Binary, Curvature, Loss, Multinomial
from mercer.solvers.newton_systems import preconditioner
from mercer.solvers.problem import Problem, Solution, State

__all__ = ["Newton", "NewtonSolution"]

ARMIJO = 1e-4  # share of the predicted decrease that a step must reach
HALVINGS = 40
STEPS = 1000  # of conjugate gradients for one step of Newton's
EPS = float(np.finfo(float).eps)
ROUNDING = 1e-13  # relative size of differences between objectives that mean nothing


@dataclass(frozen=True)
class NewtonSolution(Solution):
    """A solution whose `history` holds gradient norms, the last one being the certificate.

    Attributes
    ----------
    objectives : tuple of float
        Σ loss + λ/2 |f|² at each of them.
    products : int
        Steps of conjugate gradients in all.
    """

    objectives: tuple[float, ...] = ()
    products: int = 0


@dataclass(frozen=True)
class Iterate:
    """Coefficients a, intercept b, the values Ka, and |f|² = aᵀKa."""

    a: np.ndarray
    b: np.ndarray
    Ka: np.ndarray
    square: float

    def scores(self) -> np.ndarray:
        return self.Ka + self.b

    def moved(self, step: Iterate, t: float) -> Iterate:
        """Return this iterate and t times a step."""
        square = self.square + 2 * t * float(np.sum(self.a * step.Ka)) + t**2 * step.square
        return Iterate(
            self.a + t * step.a, self.b + t * step.b, self.Ka + t * step.Ka, max(square, 0.0)
        )


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
        loss = _loss(state.problem, target)
        descent = Descent(state.problem, loss, penalty, self.each)
        message = ""
        while descent.gradient > self.tol and not message:
            if len(descent.history) > self.max_iter:
                message = f"{self.max_iter} steps were not enough; give more with max_iter"
            elif not descent.step(self.tol):
                message = "rounding errors allow no smaller one; use a larger penalty or tol"
        return descent.solution(self.name, message)


class Descent:
    """Newton steps from f = 0, and what was seen on the way."""

    def __init__(self, problem: Problem, loss: Loss, penalty: float, each: bool) -> None:
        self.gram, self.intercept = problem.gram, problem.intercept
        self.loss, self.penalty, self.each = loss, penalty, each
        self.history: list[float] = []
        self.objectives: list[float] = []
        self.products = 0
        self.factor = False  # whether conjugate gradients need a preconditioner
        self.trace = float(np.sum(self.gram.diagonal()))
        zero = np.zeros((self.gram.order, loss.columns))
        self._arrive(Iterate(zero, np.zeros(loss.columns), zero, 0.0))

    @property
    def gradient(self) -> float:
        """Norm of the gradient here."""
        return self.history[-1]

    def step(self, tol: float) -> bool:
        """Take one Newton step; return False if rounding errors leave none to take."""
        gradient, objective = self.gradient, self.objectives[-1]
        self.factor |= self.noise > 0.1 * tol and gradient < 100 * self.noise
        system = System(self.gram, self.near, self.penalty, self.intercept)
        if self.factor:
            system.inverse = preconditioner(self.gram, self.near, self.penalty, self.each)
        accuracy = max(min(0.1, np.sqrt(gradient / self.history[0])), 0.1 * tol / gradient)
        step, count = system.solve(self.D, accuracy)
        self.products += count
        self.factor |= count > _patience(self.gram, self.loss.columns)
        slope = float(np.sum(self.D * step.Ka) - self.near.residual.sum(axis=0) @ step.b)
        there = self._search(step, slope)
        if there is None:
            return False
        self._arrive(there)
        return self.gradient < gradient or -slope > ROUNDING * abs(objective)

    def solution(self, name: str, message: str) -> NewtonSolution:
        """Return where the descent is."""
        columns = slice(None) if self.loss.columns > 1 else 0
        a, b = self.here.a[:, columns], self.here.b[columns]
        features = self.gram.features if isinstance(self.gram, LowRank) else None
        return NewtonSolution(
            coefficients=a,
            intercept=b if self.loss.columns > 1 else float(b),
            status="stalled" if message else "solved",
            certificate=self.gradient,
            solver=name,
            penalty=self.penalty,
            history=tuple(self.history),
            message=message and f"the gradient norm is {self.gradient:.2g}: {message}",
            weights=None if features is None else np.asarray(features.T @ a),
            objectives=tuple(self.objectives),
            products=self.products,
        )

    def _arrive(self, there: Iterate) -> None:
        # Ka anew, so that the certificate is about the coefficients, not about sums of steps.
        Ka = self.gram @ there.a
        there = replace(there, Ka=Ka, square=max(float(np.sum(there.a * Ka)), 0.0))
        self.here = there
        self.near = self.loss.near(there.scores())
        self.D = self.penalty * there.a - self.near.residual
        sums = self.near.residual.sum(axis=0) if self.intercept else np.zeros(1)
        self.history.append(float(np.hypot(self._length(self.D), np.linalg.norm(sums))))
        self.objectives.append(self._value(there))

    def _length(self, D: np.ndarray) -> float:
        """Return |Σ dᵢ k(·, xᵢ)|, and note the size that rounding errors alone would give it."""
        if isinstance(self.gram, LowRank):
            self.noise = 0.0
            return float(np.linalg.norm(np.asarray(self.gram.features.T @ D)))
        square = float(np.sum(D * (self.gram @ D)))
        uncertain = EPS * max(self.trace, 0.0) * float(np.sum(D**2))
        if square < -1e3 * uncertain:
            raise SolveError(
                "the Gram matrix has a negative eigenvalue, so |f|² can be negative and the "
                "penalized loss has no minimum; use a positive semi-definite kernel"
            )
        self.noise = float(np.sqrt(uncertain))
        return float(np.sqrt(max(square, 0.0)))

    def _value(self, there: Iterate) -> float:
        return self.loss.value(there.scores()) + self.penalty / 2 * there.square

    def _search(self, step: Iterate, slope: float) -> Iterate | None:
        """Return the first of the steps 1, ½, ¼, … that decreases the objective enough."""
        objective = self.objectives[-1]
        t = 1.0
        for _ in range(HALVINGS):
            there = self.here.moved(step, t)
            wanted = objective + ARMIJO * t * min(slope, 0.0) + ROUNDING * abs(objective)
            if self._value(there) <= wanted:
                return there
            t /= 2
        return None


class System:
    """The equations of one Newton step."""

    def __init__(self, gram: Operator, near: Curvature, penalty: float, intercept: bool) -> None:
        self.gram, self.near, self.penalty, self.intercept = gram, near, penalty, intercept
        self.total = np.linalg.inv(near.total()) if intercept else None
        self.inverse: LinearMap | None = None

    def solve(self, D: np.ndarray, accuracy: float) -> tuple[Iterate, int]:
        """Return the step for d = λa − R, and the number of products that it took."""
        R = self.near.residual
        right = -D
        if self.intercept:
            right = right - self._spread(R.sum(axis=0))
        x, Kx, count = in_kernel_space(
            self.gram, self._apply, right, accuracy, STEPS, self.inverse
        )
        b = np.zeros(R.shape[1])
        if self.total is not None:
            b = self.total @ (R.sum(axis=0) - self.near(Kx).sum(axis=0))
        return Iterate(x, b, Kx, float(np.sum(x * Kx))), count

    def _apply(self, P: np.ndarray, KP: np.ndarray) -> np.ndarray:
        """Return (λ + H̃K)P."""
        HKP = self.near(KP)
        if self.intercept:
            HKP -= self._spread(HKP.sum(axis=0))
        return self.penalty * P + HKP

    def _spread(self, sums: np.ndarray) -> np.ndarray:
        """Return the change of H(Ka + b) by the b that changes its sums by these."""
        assert self.total is not None
        return self.near(np.broadcast_to(self.total @ sums, self.near.residual.shape))


def _loss(problem: Problem, codes: np.ndarray) -> Loss:
    weights = np.ones(len(codes)) if problem.weights is None else problem.weights
    classes = int(codes.max()) + 1
    return Binary(codes, weights) if classes == 2 else Multinomial(codes, weights, classes)


def _patience(gram: Operator, columns: int) -> int:
    """Return about how many products cost as much as a preconditioner."""
    if isinstance(gram, LowRank):
        return 10 + gram.features.shape[1]
    return 10 + gram.order // (40 if columns == 1 else 10)
