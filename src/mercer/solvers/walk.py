"""Descent: Newton steps on a sketch, one after the other, and what was seen on the way.

What takes time is a pass over the items, so passes are what is saved. The scores Ca + b are kept;
a step takes one pass for the gradient, one for each step of conjugate gradients
(`mercer.solvers.sketched_systems`) and one for the scores of the direction. The line search along
it needs none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.errors import SolveError
from mercer.solvers.conjugate_gradients import Coupling, truncated
from mercer.solvers.losses import Multinomial, SquaredHinge
from mercer.solvers.newton import ARMIJO, HALVINGS, ROUNDING
from mercer.solvers.sketched_systems import (
    Features,
    Inverse,
    Sample,
    factor,
    joined,
    moments_pay,
)

__all__ = ["DIGITS", "Descent", "Teller"]

STEPS = 100  # of conjugate gradients for one step of Newton's
LARGEST = 3000  # rows of one matrix for all classes
FORESEEN = 8.0  # of them, before any were seen
LINE = 12  # slopes along a direction that are looked at
FLAT = 0.1  # share of the first slope at which the objective is called flat
DIGITS = 100  # steps of a progress bar for each digit that is gained


@dataclass(frozen=True)
class Here:
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


class Descent:
    """Newton steps from f = 0, and what was seen on the way."""

    def __init__(
        self,
        features: Features,
        loss: Any,
        penalty: float,
        tol: float,
        sample: Sample,
        room: float,
    ) -> None:
        self.features, self.loss, self.penalty, self.tol = features, loss, penalty, tol
        self.sample, self.room = sample, room
        self.mixed = isinstance(loss, Multinomial)
        self.coupling = Coupling(self.mixed)
        self.foreseen = FORESEEN
        self.sampled = True  # what the last preconditioner was made of
        self.products = 0
        self.teller = Teller(lambda count, doing: None, 0, self.tol)
        self.ridge = self.features.ridge(penalty)
        n, columns = features.sketch.order, loss.columns
        x = np.zeros((self.features.count, columns))
        self.here = self._at(x, np.zeros((n, columns)), np.arange(columns))
        self.first = self.here.norms
        self.stuck = np.zeros(len(self.first), dtype=bool)
        self.history = [self.gradient]
        self.objectives = [float(self.here.values.sum())]

    @property
    def gradient(self) -> float:
        """Norm of the gradient here."""
        return float(self.here.norms.max())

    @property
    def live(self) -> np.ndarray:
        """Which problems are neither solved nor at the end of what rounding allows."""
        return (self.here.norms > self.tol) & ~self.stuck

    def step(self) -> bool:
        """Take one Newton step; return False if rounding errors leave none to take."""
        here, live = self.here, self.live
        columns = self.coupling.columns(live, self.loss.columns)
        d = np.zeros_like(here.x)
        d[:, columns] = self._direction(columns)
        S = np.zeros_like(here.F)
        S[:, columns] = self.features.scores(d[:, columns])
        t = self._search(d, S, self.coupling.dots(here.gradient, d))
        there = self._at(here.x + t * d, here.F + t * S, columns)
        gained = here.values - there.values > ROUNDING * np.abs(here.values)
        onward = (t > 0) & ((there.norms < here.norms / 2) | gained)
        self.stuck |= live & ~onward
        if not onward.any() and there.norms.max() >= here.norms.max():
            return False
        self.here = there
        self.history.append(self.gradient)
        self.objectives.append(float(there.values.sum()))
        self.teller(self.gradient)
        return True

    def refresh(self) -> None:
        """Compute scores and gradient of the coefficients anew."""
        x = self.here.x
        self.here = self._at(x, self.features.scores(x), np.arange(x.shape[1]))
        self.history[-1] = self.gradient
        self.objectives[-1] = float(self.here.values.sum())

    def gaps(self) -> tuple[float, ...]:
        """Return how far each objective can be above its minimum, if the loss has a dual."""
        loss, here, rank = self.loss, self.here, self.features.rank
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

    def _at(self, x: np.ndarray, F: np.ndarray, columns: np.ndarray) -> Here:
        """Return what a point is like; it may be new in these columns only."""
        near = self.loss.near(F)
        R, count = near.residual[:, columns], len(columns)
        bordered = self.features.intercept and not self.mixed
        # The sums of the curvature come with the same pass.
        pulled = self.features.pull(np.hstack([R, near.curvature[:, columns]]) if bordered else R)
        gradient = np.zeros_like(x) if count == x.shape[1] else self.here.gradient.copy()
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
        return Here(x, F, near, gradient, sums, self._values(x, F), norms)

    def _values(self, x: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Return the objective of each problem."""
        separate = isinstance(self.loss, SquaredHinge)
        losses = self.loss.values(F) if separate else np.array([self.loss.value(F)])
        return np.asarray(losses + self.coupling.dots(x, self.ridge * x) / 2)

    def _search(self, d: np.ndarray, S: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return how far to go in each problem, so that its objective decreases enough."""
        here = self.here
        t = self._flat(d, S, slope)
        for _ in range(HALVINGS):
            wanted = here.values + ARMIJO * t * np.minimum(slope, 0.0)
            wanted += ROUNDING * np.abs(here.values)
            far = ~(self._values(here.x + t * d, here.F + t * S) <= wanted)
            if not far.any():
                return t
            t[far] /= 2
        t[far] = 0.0
        return t

    def _flat(self, d: np.ndarray, S: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return steps where the objective has become nearly flat along d, or 1.

        Such steps are worth their search: it takes no pass, and steps that are only long enough
        to decrease the objective are many more where the curvature jumps.
        """
        here = self.here
        t, low, high = np.ones(len(slope)), np.zeros(len(slope)), np.full(len(slope), np.inf)
        left, right = slope.copy(), np.zeros(len(slope))
        for _ in range(LINE):
            R = self.loss.near(here.F + t * S).residual
            rise = self.coupling.dots(self.ridge * (here.x + t * d), d) - self.coupling.dots(R, S)
            steep = np.abs(rise) > FLAT * np.abs(slope)
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

    def _direction(self, columns: np.ndarray) -> np.ndarray:
        """Return the Newton step of these columns, as accurate as is worthwhile."""
        here, near = self.here, self.here.near
        norms = self.coupling.some(here.norms, columns)
        first = self.coupling.some(self.first, columns)
        accuracy = np.minimum(0.1, np.sqrt(norms / np.maximum(first, norms)))
        accuracy = np.maximum(accuracy, 0.1 * self.tol / norms)
        inverse = self._inverse(columns)
        W = None if self.mixed else near.curvature

        def apply(p: np.ndarray, live: np.ndarray) -> np.ndarray:
            if W is None:
                return self.features.pull(near(self.features.scores(p))) + self.ridge * p
            some = columns[live]
            sums = None if here.sums is None else here.sums[:, some]
            return self.features.normal(p, W[:, some], sums) + self.ridge * p

        def tell(left: float) -> None:
            self.teller(self.gradient, left)

        right = -here.gradient[:, columns]
        x, count = truncated(apply, inverse, right, accuracy, STEPS, self.coupling, tell)
        self.products += count
        if self.sampled:
            self.foreseen = count
        return x

    def _inverse(self, columns: np.ndarray) -> Inverse:
        """Return the preconditioner of these columns."""
        features, near, count = self.features, self.here.near, len(columns)
        each = 8.0 * features.count**2 * count <= self.room
        whole = self.mixed and features.count * count <= LARGEST
        whole = whole and each and 8.0 * (features.count * count) ** 2 <= self.room
        D = near.classes() if self.mixed else near.curvature[:, columns]
        if not each:
            D = near.scale()[:, None]
        pay = moments_pay(features.sketch.count, count, self.mixed, self.foreseen)
        exact = pay and not self.sample.complete and (whole if self.mixed else each)
        self.sampled = not exact
        if self.sampled:
            self.sample.renew(D)
        moments = features.moments if exact else self.sample.moments
        if whole:
            G = joined(moments, near.probabilities, near.weights)
            if features.intercept:  # the same for all classes, where Q never leads
                last = np.arange(features.count - 1, len(G), features.count)
                G[np.ix_(last, last)] += G[last, last].mean() / count
            return Inverse([factor(G, np.tile(self.ridge, (count, 1)))], True, whole=True)
        if exact and self.here.sums is not None:
            sums = self.here.sums[:, columns]
            found = [features.moments(w, s) for w, s in zip(D.T, sums.T, strict=True)]
        else:
            found = [moments(w) for w in D.T]
        return Inverse([factor(G, self.ridge) for G in found], self.mixed)


class Teller:
    """Moves a progress bar by the digits that are gained."""

    def __init__(self, step: Callable[..., None], total: int, tol: float) -> None:
        self.step, self.total, self.tol, self.done = step, total, tol, 0

    def __call__(self, gradient: float, inner: float | None = None) -> None:
        left = round(DIGITS * max(math.log10(max(gradient, 1e-300) / self.tol), 0.0))
        gained = max(self.total - left - self.done, 0)
        aside = "" if inner is None else f", conjugate gradients {inner:.1e}"
        self.step(gained, f"gradient {gradient:.1e}{aside}")
        self.done += gained


def _balanced(R: np.ndarray) -> np.ndarray:
    """Return R with the positive or the negative numbers of a column made smaller, to sum to 0."""
    plus, minus = np.maximum(R, 0.0).sum(axis=0), np.maximum(-R, 0.0).sum(axis=0)
    least = np.minimum(plus, minus)
    up = np.divide(least, plus, out=np.zeros_like(plus), where=plus > 0)
    down = np.divide(least, minus, out=np.zeros_like(minus), where=minus > 0)
    return np.where(R > 0, up, down) * R
