"""Newton's method on a sketch: smooth losses with M coefficients instead of n.

Minimizes Σ loss(C a + b) + λ/2 aᵀBa over the functions of a sketch (`mercer.gram.sketch`). In
whitened coordinates a = Tβ the penalty is λ/2 |β|² and the gradient λβ − TᵀCᵀR, with the loss's
residual R; its Euclidean norm is the norm of the gradient in the space of functions, as it is for
`Newton` without a sketch, and for b it is −Σ Rᵢ.

What takes time is a pass over the items, so passes are what is saved. The scores Ca + b are kept;
a step takes one pass for the gradient, one for each step of conjugate gradients
(`mercer.solvers.sketched_systems`) and one for the scores of the direction. The line search along
it needs none. At the end scores and gradient are computed anew, so that the certificate is about
the coefficients, not about a sum of steps.

The squared hinge Σ wᵢ max(0, 1 − zᵢfᵢ)² is a support vector machine with C = 1/λ, up to the
factor C. Its curvature jumps; Newton's method with one of the values at the jumps still converges
from where it is near, and the line search leads there (Mangasarian, 2002; Keerthi & DeCoste,
2005). With α = 2w max(0, 1 − zf) the dual value Σ (αᵢ − αᵢ²/4wᵢ) − |Σ αᵢzᵢφᵢ|²/2λ is not above
the minimum, if Σ αᵢzᵢ = 0 where there is an intercept; so α is made smaller on the heavier side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from mercer.errors import SolveError, ValidityError
from mercer.gram.sketch import Sketch
from mercer.gram.whitening import Whitening
from mercer.progress import convergence
from mercer.solvers.conjugate_gradients import Coupling, truncated
from mercer.solvers.cost import Cost, Requirements, Size, factor_seconds, product_seconds
from mercer.solvers.losses import Multinomial, SquaredHinge, logistic_loss
from mercer.solvers.newton import Descent, NewtonSolution
from mercer.solvers.sketched_ridge import SketchedRidge
from mercer.solvers.sketched_systems import Preconditioner, RowSample, SketchFeatures

__all__ = ["SketchState", "SketchedNewton", "SketchedSolution"]

EXPECTED_STEPS = 8  # of Newton's method


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
        passes = 8 * EXPECTED_STEPS  # over the items, eight for each step
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
        features = SketchFeatures(state.sketch, state.white, state.intercept)
        rows = 4 * state.sketch.count if self.rows is None else self.rows
        sample = RowSample(features, rows, self.seed)
        loss = self._loss(target, state.weights)
        objective = SketchObjective(features, loss, penalty, sample, self.room)
        # Where rounding is in the way, 1e-8 of the first gradient counts as solved.
        descent = Descent(objective, self.tol, 1e-8, costly=True)
        with convergence(self.title, self.tol, descent.gradient) as descent.report:
            try:
                message = descent.run(self.max_iter)
            except KeyboardInterrupt:  # the last point that was reached is the best
                if len(descent.history) == 1:
                    raise  # none was
                return self._solution(features, descent, "interrupted")
            try:
                gaps = objective.gaps(descent.here)
            except KeyboardInterrupt:
                return self._solution(features, descent, message)
        return self._solution(features, descent, message, gaps)

    def _loss(self, target: np.ndarray, w: np.ndarray) -> Any:
        if self.loss == "squared hinge":
            return SquaredHinge(np.asarray(target, dtype=float).reshape(len(target), -1), w)
        if self.loss != "logistic":
            raise ValidityError(f'loss must be "logistic" or "squared hinge", found {self.loss!r}')
        return logistic_loss(target, w)

    def _solution(
        self,
        features: SketchFeatures,
        descent: Descent[SketchPoint, SketchStep],
        message: str,
        gaps: tuple[float, ...] = (),
    ) -> SketchedSolution:
        x = descent.here.x
        a = features.white.into(x[: features.rank])
        b = x[features.rank] if features.intercept else np.zeros(x.shape[1])
        return descent.solution(
            SketchedSolution, self.name, message, a, b, passes=features.passes, gaps=gaps
        )


@dataclass(frozen=True)
class SketchPoint:
    """A point x = (β, b): scores, the loss near them, gradient, values and gradient norms.

    `sums` is ΦᵀW where the curvature is a number for each item and column. Values and norms are
    those of each problem: of each column, unless the loss mixes them.
    """

    x: np.ndarray
    F: np.ndarray
    near: Any
    gradient: np.ndarray
    sums: np.ndarray | None
    values: np.ndarray
    norms: np.ndarray


@dataclass(frozen=True)
class SketchStep:
    """Changes d of x in some of its columns, and S of the scores."""

    d: np.ndarray
    S: np.ndarray
    columns: np.ndarray


class SketchObjective:
    """Σ loss + λ/2 |β|² as a function of x = (β, b).

    Parameters
    ----------
    features : SketchFeatures
    loss : ConvexLoss
        Its columns are problems of their own, unless it is that of the softmax.
    penalty : float
    sample : RowSample
        For the preconditioner.
    room : float
        Bytes for its factors.
    """

    def __init__(
        self, features: SketchFeatures, loss: Any, penalty: float, sample: RowSample, room: float
    ) -> None:
        self.features, self.loss, self.penalty = features, loss, penalty
        self.coupling = Coupling(isinstance(loss, Multinomial))
        self.ridge = features.ridge(penalty)
        self.preconditioner = Preconditioner(features, sample, self.ridge, room)

    def start(self) -> SketchPoint:
        x = np.zeros((self.features.count, self.loss.columns))
        return self._at(x, np.zeros((self.features.sketch.order, x.shape[1])))

    def direction(
        self,
        here: SketchPoint,
        live: np.ndarray,
        accuracy: np.ndarray,
        report: Callable[[float], object],
    ) -> tuple[SketchStep, np.ndarray, int]:
        columns = self.coupling.columns(live, self.loss.columns)
        joint, near = self.coupling.joint, here.near
        inverse = self.preconditioner.inverse(near, here.sums, columns, joint)

        def product(p: np.ndarray, live: np.ndarray) -> np.ndarray:
            if joint:
                return self.features.pull(near(self.features.scores(p))) + self.ridge * p
            some = columns[live]
            sums = None if here.sums is None else here.sums[:, some]
            return self.features.normal(p, near.curvature[:, some], sums) + self.ridge * p

        x, count = truncated(
            product, inverse, -here.gradient[:, columns], self.coupling.some(accuracy, columns),
            limit=100, coupling=self.coupling, report=report,
        )  # fmt: skip
        self.preconditioner.learn(count)
        d, S = np.zeros_like(here.x), np.zeros_like(here.F)
        d[:, columns], S[:, columns] = x, self.features.scores(x)
        return SketchStep(d, S, columns), self.coupling.dots(here.gradient, d), count

    def values(self, here: SketchPoint, step: SketchStep, t: np.ndarray) -> np.ndarray:
        return self._values(here.x + t * step.d, here.F + t * step.S)

    def moved(self, here: SketchPoint, step: SketchStep, t: np.ndarray) -> SketchPoint:
        return self._at(here.x + t * step.d, here.F + t * step.S, step.columns, here)

    def recomputed(self, here: SketchPoint) -> SketchPoint:
        return self._at(here.x, self.features.scores(here.x))

    def lengths(self, here: SketchPoint, step: SketchStep, slopes: np.ndarray) -> np.ndarray:
        """Return lengths at which the objective has become nearly flat along the step, or 1.

        Such steps are worth their search: it takes no pass, and steps that are only long enough
        to decrease the objective are many more where the curvature jumps.
        """
        d, S, slope = step.d, step.S, slopes
        t, low, high = np.ones(len(slope)), np.zeros(len(slope)), np.full(len(slope), np.inf)
        left, right = slope.copy(), np.zeros(len(slope))
        for _ in range(12):
            R = self.loss.near(here.F + t * S).residual
            rise = self.coupling.dots(self.ridge * (here.x + t * d), d) - self.coupling.dots(R, S)
            steep = np.abs(rise) > 0.1 * np.abs(slope)  # of the first slope; below it is flat
            if not steep.any():
                return t
            below = rise < 0
            low, left = np.where(below, t, low), np.where(below, rise, left)
            high, right = np.where(below, high, t), np.where(below, right, rise)
            inside = np.isfinite(high)
            width = np.where(inside, high, 0.0) - low
            share = np.divide(left, left - right, out=np.full_like(t, 0.5), where=right > left)
            between = low + np.clip(share, 0.1, 0.9) * width
            t = np.where(steep, np.where(inside, between, 2 * t), t)
        return np.where(steep, 1.0, t)

    def gaps(self, here: SketchPoint) -> tuple[float, ...]:
        """Return how far each objective can be above its minimum, if the loss has a dual."""
        loss, rank = self.loss, self.features.rank
        if not isinstance(loss, SquaredHinge):
            return ()
        R = here.near.residual
        if self.features.intercept:
            R = _balanced(R)
            pulled = self.features.pull(R)[:rank]
        else:
            pulled = self.penalty * here.x - here.gradient
        dual = loss.dual(R) - np.sum(pulled**2, axis=0) / (2 * self.penalty)
        return tuple(np.maximum(here.values - dual, 0.0).tolist())

    def _at(
        self,
        x: np.ndarray,
        F: np.ndarray,
        columns: np.ndarray | None = None,
        before: SketchPoint | None = None,
    ) -> SketchPoint:
        """Return what a point is like; it may differ in some columns only from one before."""
        columns = np.arange(x.shape[1]) if columns is None else columns
        near = self.loss.near(F)
        R, count = near.residual[:, columns], len(columns)
        bordered = self.features.intercept and not self.coupling.joint
        # The sums of the curvature come with the same pass.
        pulled = self.features.pull(np.hstack([R, near.curvature[:, columns]]) if bordered else R)
        gradient = np.zeros_like(x) if before is None else before.gradient.copy()
        gradient[:, columns] = self.ridge * x[:, columns] - pulled[:, :count]
        sums = None
        if bordered:
            sums = np.zeros_like(x)
            sums[:, columns] = pulled[:, count:]
        norms = self.coupling.norms(gradient)
        if not np.isfinite(norms).all():
            raise SolveError(
                "the gradient is not finite: similarities or sample weights are not, or are too "
                "large; scale them down"
            )
        return SketchPoint(x, F, near, gradient, sums, self._values(x, F), norms)

    def _values(self, x: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Return the objective of each problem."""
        separate = isinstance(self.loss, SquaredHinge)
        losses = self.loss.values(F) if separate else np.array([self.loss.value(F)])
        return np.asarray(losses + self.coupling.dots(x, self.ridge * x) / 2)


def _balanced(R: np.ndarray) -> np.ndarray:
    """Return R with the positive or the negative numbers of a column made smaller, to sum to 0."""
    plus, minus = np.maximum(R, 0.0).sum(axis=0), np.maximum(-R, 0.0).sum(axis=0)
    least = np.minimum(plus, minus)
    up = np.divide(least, plus, out=np.zeros_like(plus), where=plus > 0)
    down = np.divide(least, minus, out=np.zeros_like(minus), where=minus > 0)
    return np.where(R > 0, up, down) * R
