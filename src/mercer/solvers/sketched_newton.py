"""Newton's method on a sketch: smooth losses with M coefficients instead of n.

Minimizes Σ loss(C a + b) + λ/2 aᵀBa over the functions of a sketch (`mercer.gram.sketch`). In
whitened coordinates a = Tβ the penalty is λ/2 |β|² and the gradient λβ − TᵀCᵀR, with the loss's
residual R; its Euclidean norm is the norm of the gradient in the space of functions, as it is for
`Newton` without a sketch, and for b it is −Σ Rᵢ.

The steps are in `mercer.solvers.walk`. At the end scores and gradient are computed anew, so that
the certificate is about the coefficients, not about a sum of steps.

The squared hinge Σ wᵢ max(0, 1 − zᵢfᵢ)² is a support vector machine with C = 1/λ, up to the
factor C. Its curvature jumps; Newton's method with one of the values at the jumps still converges
from where it is near, and the line search leads there (Mangasarian, 2002; Keerthi & DeCoste,
2005). With α = 2w max(0, 1 − zf) the dual value Σ (αᵢ − αᵢ²/4wᵢ) − |Σ αᵢzᵢφᵢ|²/2λ is not above
the minimum, if Σ αᵢzᵢ = 0 where there is an intercept; so α is made smaller on the heavier side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from mercer.errors import ValidityError
from mercer.gram.sketch import Sketch
from mercer.gram.whitening import Whitening
from mercer.progress import progress
from mercer.solvers.cost import Cost, Requirements, Size, factor_seconds, product_seconds
from mercer.solvers.losses import Binary, Multinomial, SquaredHinge
from mercer.solvers.newton import NewtonSolution
from mercer.solvers.sketched_ridge import SketchedRidge
from mercer.solvers.sketched_systems import Features, Sample
from mercer.solvers.walk import DIGITS, Descent, Teller

__all__ = ["SketchState", "SketchedNewton", "SketchedSolution"]

EXPECTED_STEPS = 8  # of Newton's method
PASSES_OF_A_STEP = 8  # over the items
ROUNDED = 1e-8  # share of the first gradient that counts as solved where rounding is in the way


@dataclass(frozen=True)
class SketchedSolution(NewtonSolution):
    """A solution on a sketch; `history` holds gradient norms, the last being the certificate.

    Attributes
    ----------
    coefficients : ndarray of shape (M,) or (M, columns)
        a, for the columns of the sketch: the centers.
    certificate : float
        Norm of the gradient; of several machines that do not know of each other, the largest.
    objectives : tuple of float
        Σ loss + λ/2 |f|², of all machines together.
    products : int
        Steps of conjugate gradients in all.
    passes : int
        Passes over the items, but for the samples of rows.
    gaps : tuple of float
        For the squared hinge, how far each machine's objective can be above its minimum; empty
        for other losses, and after an interruption.
    """

    passes: int = 0
    gaps: tuple[float, ...] = ()

    @property
    def gap(self) -> float | None:
        """The largest of the gaps."""
        return max(self.gaps) if self.gaps else None


@dataclass(frozen=True)
class SketchState:
    """A sketch with its whitening, so that many targets and penalties are cheap."""

    sketch: Sketch
    white: Whitening
    weights: np.ndarray
    intercept: bool


@dataclass(frozen=True)
class SketchedNewton:
    """Minimize a smooth loss plus λ/2 |f|² over the functions of a sketch.

    Parameters
    ----------
    tol : float
        Stop when the norm of the gradient is at most this.
    max_iter : int
        Largest number of Newton steps.
    loss : {"logistic", "squared hinge"}
        The target is the codes 0, 1, … of classes, or signs of shape (n,) or (n, machines), zero
        for items that are not part of a machine.
    rows : int, optional
        Items whose curvature makes the preconditioner; four for each center if not given.
    seed : int
        Of their choice.
    room : float
        Bytes for the factors of the preconditioner. Where there is not one for each column, they
        share one.
    title : str
        Of the progress bar.

    Examples
    --------
    >>> from mercer.domains import VECTORS, InMemory
    >>> from mercer.gram.sketch import CenterSketch
    >>> from mercer.kernels import Linear
    >>> points = VECTORS.admit([[1.0], [-1.0], [2.0]])
    >>> solver = SketchedNewton()
    >>> state = solver.prepare(CenterSketch(Linear(), InMemory(points, size=3), points[:1]))
    >>> solution = solver.solve(state, np.array([1, 0, 0]), penalty=1.0)
    >>> solution.coefficients.round(4), solution.certificate < 1e-6
    (array([0.]), True)
    """

    tol: float = 1e-6
    max_iter: int = 100
    loss: Literal["logistic", "squared hinge"] = "logistic"
    rows: int | None = None
    seed: int = 0
    room: float = 4e8
    title: str = "Newton's method"
    name = "sketched newton"
    requires: ClassVar[Requirements] = Requirements(
        definite=True, penalty=True, solution_only=True
    )

    def cost(self, size: Size, direct: bool = True) -> Cost:
        """Return what the passes take, in the memory of a ridge system of that kind."""
        passes = PASSES_OF_A_STEP * EXPECTED_STEPS
        seconds = passes * product_seconds(size.items * size.functions, size.row, 2 * size.targets)
        seconds += 30 * factor_seconds(size.functions)
        return Cost(SketchedRidge(direct).cost(size).bytes, seconds)

    def prepare(
        self, sketch: Sketch, weights: np.ndarray | None = None, intercept: bool = False
    ) -> SketchState:
        """Whiten the sketch."""
        weights = np.ones(sketch.order) if weights is None else weights
        return SketchState(sketch, Whitening(sketch.core()), weights, intercept)

    def solve(self, state: SketchState, target: np.ndarray, penalty: float) -> SketchedSolution:
        """Return coefficients and intercept for one penalty > 0."""
        if not (np.isfinite(penalty) and penalty > 0):
            raise ValidityError(f"penalty must be finite and positive, found {penalty!r}")
        loss = self._loss(target, state.weights)
        features = Features(state.sketch, state.white, state.intercept)
        rows = 4 * state.sketch.count if self.rows is None else self.rows
        sample = Sample(features, rows, self.seed)
        descent = Descent(features, loss, penalty, self.tol, sample, self.room)
        total = round(DIGITS * max(math.log10(max(descent.gradient, 1e-300) / self.tol), 0.0))
        with progress(self.title, total) as step:
            descent.teller = Teller(step, total, self.tol)
            try:
                message = self._descend(descent)
            except KeyboardInterrupt:  # the last point that was reached is the best
                if len(descent.history) == 1:
                    raise  # none was
                return _solution(self.name, descent, "interrupted")
            try:
                gaps = descent.gaps()
            except KeyboardInterrupt:
                return _solution(self.name, descent, message)
        return _solution(self.name, descent, message, gaps)

    def _descend(self, descent: Descent) -> str:
        """Take steps; return why the gradient is not smaller, if it is not small enough."""
        count, fresh = 0, True
        while True:
            if descent.live.any() and count < self.max_iter:
                count, fresh = count + 1, not descent.step() and fresh
            elif not fresh:
                descent.refresh()
                fresh = True
            elif descent.live.any():
                return f"{self.max_iter} steps were not enough; give more with max_iter"
            elif descent.gradient > max(self.tol, ROUNDED * descent.first.max()):
                return "rounding errors allow no smaller one; use a larger penalty or tol"
            else:
                return ""

    def _loss(self, target: np.ndarray, w: np.ndarray) -> Any:
        if self.loss == "squared hinge":
            return SquaredHinge(np.asarray(target, dtype=float).reshape(len(target), -1), w)
        if self.loss != "logistic":
            raise ValidityError(f'loss must be "logistic" or "squared hinge", found {self.loss!r}')
        classes = int(target.max()) + 1
        return Binary(target, w) if classes == 2 else Multinomial(target, w, classes)


def _solution(
    name: str, descent: Descent, message: str, gaps: tuple[float, ...] = ()
) -> SketchedSolution:
    """Return where the descent is."""
    rank, one = descent.features.rank, descent.loss.columns == 1
    a = descent.features.white.into(descent.here.x[:rank])
    b = descent.here.x[rank] if descent.features.intercept else np.zeros(descent.loss.columns)
    return SketchedSolution(
        coefficients=a[:, 0] if one else a,
        intercept=float(b[0]) if one else b,
        status="stalled" if message else "solved",
        certificate=descent.gradient,
        solver=name,
        penalty=descent.penalty,
        history=tuple(descent.history),
        message=message and f"the gradient norm is {descent.gradient:.2g}: {message}",
        objectives=tuple(descent.objectives),
        products=descent.products,
        passes=descent.features.passes,
        gaps=gaps,
    )
