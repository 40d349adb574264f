"""Ridge regression with the functions of a sketch, in memory that does not grow with the items.

For f = C(·)ᵀa with |f|² = aᵀBa, minimize Σ wᵢ(yᵢ − f(xᵢ) − b)² + λ|f|². With a = Tβ and TᵀBT = I
this is the system

    (Tᵀ CᵀWC T + λI)β = TᵀCᵀW(y − b),      b = (Σ wᵢyᵢ − (CᵀW1)ᵀa) / Σ wᵢ,

and putting b in takes ssᵀ/Σw, s = CᵀW1, away from CᵀWC. There are two ways to solve it:

- directly, for few functions: one pass adds up CᵀWC; then one eigendecomposition serves all
  penalties. Sums in CᵀWC are rounded, and T magnifies that, so that the answer is only taken for a
  preconditioner: a second pass has the true residual, and further ones make it small;
- by steps, for many functions, each with one pass, preconditioned by the same matrix of a sample
  of the items, two factors of M × M (Rudi, Carratino & Rosasco, 2017).

Whatever way, the certificate is the true residual of the system.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import lapack

from mercer.errors import SolveError, ValidityError
from mercer.gram.fold import FAN
from mercer.gram.sketch import MIN_STRIPE_ROWS, MOMENT_ROWS, STRIPE_ENTRIES, moment_sums
from mercer.solvers.conjugate_gradients import LinearMap, conjugate_gradients
from mercer.solvers.cost import (
    FLOP_SECONDS,
    OVERHEAD,
    Cost,
    Requirements,
    Size,
    factor_seconds,
    product_seconds,
)
from mercer.solvers.ridge.solver import Problem, Solution
from mercer.threads import cores

__all__ = ["SketchedRidge"]

MAX_CANDIDATES = 20_000  # items among which pivots and clusters are looked for
EXACT_SAMPLE = 2000  # items from which the exact answer is learned too, for a comparison
COMPARED_ITEMS = 1000  # other items on which both are compared
SAMPLED_ITEMS = 4  # of the preconditioner, for each function
# With more functions than this, centers that were chosen at random are the sample themselves.
MAX_SAMPLED_FUNCTIONS = 6000


class SketchedRidgeState:
    """A problem with a sketch for its Gram operator, and what its passes have found so far."""

    def __init__(self, problem: Problem, direct: bool, seed: int) -> None:
        self.problem = problem
        self.sketch: Any = problem.gram
        self.direct = direct
        self.seed = seed
        n = self.sketch.order
        self.weights = problem.weights
        self.total = float(n if self.weights is None else self.weights.sum())
        self._white: Any = None
        self._target: np.ndarray | None = None
        self._sums = np.empty((0, 0))
        self._moments: np.ndarray | None = None
        self._spectrum: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def white(self) -> Any:
        """The coordinates in which the penalty is λI."""
        if self._white is None:
            self._white = self.sketch.whitening()
        return self._white

    def sums(self, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return s = CᵀW1 and CᵀWy, with the moments if they are wanted, in one pass."""
        if self._target is None or not np.array_equal(self._target, Y):
            w = np.ones((len(Y), 1)) if self.weights is None else self.weights[:, None]
            V = np.hstack([w, w * Y])
            if self.direct and self._moments is None:
                self._moments, self._sums = self.sketch.moments_and_adjoint(V, self.weights)
            else:
                self._sums = self.sketch.adjoint(V)
            self._target = Y
        return self._sums[:, 0], self._sums[:, 1:]

    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues and vectors of the system without λ; they serve all penalties."""
        if self._spectrum is None:
            H, s = self._moments, self._sums[:, 0]
            assert H is not None
            if self.problem.intercept:
                H = H - np.outer(s, s / self.total)
            values, vectors = np.linalg.eigh(self.white.around(H))
            self._spectrum = np.maximum(values, 0.0), vectors
        return self._spectrum

    def apply(self, beta: np.ndarray, penalty: Any) -> np.ndarray:
        """Return the system times β, in one pass."""
        a = self.white.into(beta)
        values = self.sketch.normal(a, self.weights)
        if self.problem.intercept:
            s = self._sums[:, :1]
            values -= s @ (s.T @ a) / self.total
        return self.white.back(values) + penalty * beta

    def inverse(self, penalty: float) -> LinearMap:
        """Return what solves the system nearly."""
        if self.direct:
            values, vectors = self.spectrum()
            return lambda V: vectors @ ((vectors.T @ V) / (values + penalty)[:, None])
        made = self.sketch.preconditioner(self.white, penalty)
        return self._sampled(penalty) if made is None else made

    def _sampled(self, penalty: float) -> LinearMap:
        """Return the inverse of the system of a sample of the items, in single precision."""
        C, w = self._sample()
        share = self.total / max(float(w.sum()), np.finfo(float).tiny)
        if self.problem.intercept and w.any():
            C -= (C @ w / w.sum())[:, None]
        C *= np.sqrt(w * share)
        C = C.astype(np.float32)
        G = np.asfortranarray(C @ C.T)
        G[np.diag_indices(len(G))] += np.float32(penalty)
        factor, info = lapack.spotrf(G, lower=1, overwrite_a=1, clean=0)
        if info != 0 or not np.isfinite(np.diag(factor)).all():
            raise SolveError(
                f"the preconditioner of {len(G)} functions could not be factored: the values of "
                f"the kernel are too large for the penalty {penalty:.3g}; use a larger penalty, "
                "or scale the data"
            )

        def inverse(V: np.ndarray) -> np.ndarray:
            size = np.abs(V).max(initial=0.0) or 1.0  # single precision has a narrow range
            found, _ = lapack.spotrs(factor, (V / size).astype(np.float32), lower=1)
            return found.astype(np.float64) * size

        return inverse

    def _sample(self) -> tuple[np.ndarray, np.ndarray]:
        """Return columns TᵀC(x) of some items, and their weights.

        The more items, the fewer steps. But where that would take too long, and centers were
        chosen at random, these are the sample; their columns are those of the core, of which the
        whitening knows the root.
        """
        sketch, n = self.sketch, self.sketch.order
        many = sketch.count > MAX_SAMPLED_FUNCTIONS
        if many and self.weights is None and sketch.uniform:
            return self.white.root(), np.ones(sketch.count)
        there = np.arange(n) if self.weights is None else np.flatnonzero(self.weights)
        count = min(len(there), max(SAMPLED_ITEMS * sketch.count, 1000))
        rng = np.random.default_rng(self.seed)
        places = np.sort(rng.choice(there, count, replace=False))
        weights = np.ones(count) if self.weights is None else self.weights[places]
        return self.white.back(sketch.sampled(places).T), weights


def sketched_cost(size: Size, system: int, seconds: float) -> Cost:
    """Return the cost of a sketch: its system, the items and targets, and the comparison.

    How far from exact an answer is, is estimated by learning both from `EXACT_SAMPLE` items and
    comparing them on `COMPARED_ITEMS` others; pivots and clusters are looked for among
    `MAX_CANDIDATES`.
    """
    n, M = size.items, size.functions
    exact, compared = min(n, EXACT_SAMPLE), min(n, COMPARED_ITEMS)
    judging = 3 * M**2 + size.judging * exact**2 + (2 * exact + compared) * M
    items = n * size.row if size.piece is None else 3 * size.piece
    items += min(n, MAX_CANDIDATES) * size.row if n > MAX_CANDIDATES else 0
    targets = 8 * n * (3 * size.targets + 2)
    needed = int(max(system, 8 * judging) + items + targets + size.tiles + OVERHEAD)
    seconds += 2 * factor_seconds(exact) + product_seconds(EXACT_SAMPLE * M, size.row)
    return Cost(needed, seconds)


def _levels(size: Size) -> int:
    """Return how many sums of chunks wait for others, each in its level of a `Fold`."""
    chunks = max(size.items * size.row / max(size.piece or 1, 1), 1.0)
    return 1 + int(math.log(chunks, FAN))


@dataclass(frozen=True)
class SketchedRidge:
    """Solve a ridge problem with the functions of a sketch.

    Parameters
    ----------
    direct : bool
        Whether to add up the M × M system, or to take steps with passes over the items.
    tol : float, optional
        Relative residual of the system at which it is solved; by default 1e-7, or 1e-6 by steps.
    steps : int
        The most passes.
    seed : int
        Of the preconditioner's sample.

    Examples
    --------
    >>> from mercer.domains import VECTORS, InMemory
    >>> from mercer.gram.sketch import CenterSketch
    >>> from mercer.kernels import Linear
    >>> rows = InMemory(VECTORS.admit([[1.0], [2.0]]), size=2)
    >>> sketch = CenterSketch(Linear(), rows, VECTORS.admit([[1.0]]))
    >>> solver = SketchedRidge()
    >>> solution = solver.solve(solver.prepare(Problem(sketch)), np.array([1.0, 2.0]), 5.0)
    >>> solution.coefficients.round(12), solution.certificate < 1e-9
    (array([0.5]), True)
    """

    direct: bool = True
    tol: float | None = None
    steps: int = 200
    seed: int = 0
    name = "nystrom"
    requires: ClassVar[Requirements] = Requirements(
        definite=True, penalty=True, solution_only=True
    )

    def cost(self, size: Size, passes: int = 1) -> Cost:
        """Return what the system or the steps take; Newton's method adds it up in each step."""
        n, M, t = size.items, size.functions, size.targets
        one = product_seconds(n * M, size.row, 2 * t)
        sample = min(n, SAMPLED_ITEMS * M if M <= MAX_SAMPLED_FUNCTIONS else M)
        if self.direct:
            # Stripes, both triangles in the end, and sums; then decompositions with workspace.
            threads = 8 * cores() * MOMENT_ROWS * M + 24 * M**2
            sums = moment_sums(M) + (0 if size.piece is None else 1 + _levels(size))
            system = max(8 * M**2 * sums + threads, 8 * 9 * M**2)
            # The system is half a matrix product, and one more pass has its residual.
            adding = passes * (n * M**2 * FLOP_SECONDS / cores() + one)
            seconds = adding + one + 30 * factor_seconds(M)
        else:
            stripes = 8 * cores() * max(STRIPE_ENTRIES, MIN_STRIPE_ROWS * M)
            system = 8 * 3 * M**2 + 2 * 8 * sample * M + stripes
            seconds = 15 * passes * one + 3 * factor_seconds(M)  # in about 15 steps
            seconds += 2 * sample * M**2 * FLOP_SECONDS / cores()
        return sketched_cost(size, system, seconds)

    def prepare(self, problem: Problem) -> SketchedRidgeState:
        """Make room for what the passes will find."""
        return SketchedRidgeState(problem, self.direct, self.seed)

    def solve(self, state: SketchedRidgeState, target: np.ndarray, penalty: float) -> Solution:
        """Return coefficients of the functions for one penalty and one or several targets."""
        if not np.isfinite(penalty) or penalty <= 0:
            raise ValidityError(f"a sketch needs a positive, finite penalty, found {penalty!r}")
        Y = target.reshape(state.sketch.order, -1)
        s, g = state.sums(Y)
        means = _means(Y, state.weights) if state.problem.intercept else np.zeros(Y.shape[1])
        R = state.white.back(g - np.outer(s, means))
        tol = (1e-7 if self.direct else 1e-6) if self.tol is None else self.tol
        found = conjugate_gradients(
            lambda V: state.apply(V, penalty), R, state.inverse(penalty), tol, self.steps,
            "passes over the data", max(1e-5, 10 * tol),  # where rounding allows no better
            "use a larger penalty, or fewer functions",
        )  # fmt: skip
        a = state.white.into(found.values)
        b = means - (s @ a) / state.total if state.problem.intercept else means
        return Solution(
            coefficients=a.reshape(-1, *target.shape[1:]),
            intercept=b if target.ndim > 1 else float(b[0]),
            status=found.status,
            certificate=found.history[-1] if R.any() else 0.0,
            solver=self.name,
            penalty=penalty,
            history=found.history,
            message=found.message,
        )


def _means(Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    return np.asarray(np.average(Y, axis=0, weights=weights))
