"""Bandwidths and penalty of a ridge-like machine by exact leave-one-out errors.

Each term of a sum has a bandwidth of its own, so that the sum may be mainly one of its terms: a
wide term says little beyond a constant and a slope. One factor tells the error of one place on the
grid; one parameter is changed after the other, as long as it gains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mercer.domains import Points
from mercer.engine.tiles import fill_several
from mercer.errors import ValidityError
from mercer.kernels import Exponential, Kernel
from mercer.machines.metric_terms import add_terms, multiply_bandwidth
from mercer.solvers.ridge.inverse import CholeskySystem, RidgeInverse
from mercer.threads import in_threads

__all__ = [
    "FACTORS", "HeldOutErrors", "Place", "RidgeTargets", "descend", "first_place", "left_out",
]  # fmt: skip

# Bandwidths in units of the median distance, and penalties in units of k(x, x).
FACTORS = tuple(2.0**k for k in range(-5, 9))
PENALTIES = tuple(float(f"{10 ** (k / 2):.3g}") for k in range(-14, 4))
FIRST_PENALTY = 0.03  # where a search begins
MIN_GAIN = 2e-3  # share of an error; a smaller gain is not worth another step
KEPT_PER_TERM = 4  # Gram matrices; of the bandwidths that were tried last

Place = tuple[int, ...]  # of the penalty and of each bandwidth on the grid


@dataclass(frozen=True)
class RidgeTargets:
    """What a ridge-like machine regresses on its items.

    Attributes
    ----------
    target : ndarray of shape (n, targets)
    weights : ndarray of shape (n,) or None
    intercept : bool
    """

    target: np.ndarray
    weights: np.ndarray | None
    intercept: bool

    def __getitem__(self, rows: np.ndarray) -> RidgeTargets:
        weights = None if self.weights is None else self.weights[rows]
        return RidgeTargets(self.target[rows], weights, self.intercept)


def first_place(terms: list[Kernel], search: bool = True) -> Place:
    """Return where a search begins, or what is taken without one: the median distances.

    Examples
    --------
    >>> from mercer.kernels import Exponential, Gaussian
    >>> place = first_place([Exponential(), Gaussian()])
    >>> PENALTIES[place[0]], [FACTORS[at] for at in place[1:]]
    (0.0316, [8.0, 1.0])
    """
    median, wide = FACTORS.index(1.0), FACTORS.index(8.0)
    if not search:
        return 0, *(median for _ in terms)
    distances = [abs(math.log(penalty / FIRST_PENALTY)) for penalty in PENALTIES]
    # An exponential of Euclidean distances is best where it is almost −|x − z|, beyond the median.
    beyond = [isinstance(term, Exponential) and term.order == 2 for term in terms]
    return int(np.argmin(distances)), *(wide if far else median for far in beyond)


def descend(
    errors: Callable[[list[Place]], list[float]], place: Place, sizes: tuple[int, ...],
    axes: int | None = None,
) -> Place:  # fmt: skip
    """Return the place on a grid from which no single parameter can be changed with a gain.

    Both directions of a parameter are asked for at once, further steps one by one. With `axes`
    only the first so many parameters are changed.

    Examples
    --------
    >>> def errors(places):
    ...     return [(i - 3) ** 2 + (j - 9) ** 2 + 1.0 for i, j in places]
    >>> descend(errors, (4, 10), (14, 14))
    (3, 9)
    """
    lowest = errors([place])[0]
    while not math.isfinite(lowest) and place[0] + 1 < sizes[0]:  # a penalty that is too small
        place = (place[0] + 1, *place[1:])
        lowest = errors([place])[0]
    axis, still, axes = 0, 0, len(sizes) if axes is None else axes
    while still < axes:
        near = [step for step in (1, -1) if 0 <= place[axis] + step < sizes[axis]]
        values = errors([_step(place, axis, step) for step in near])
        value, step = min(zip(values, near, strict=True), default=(math.inf, 0))
        still += 1
        while value < lowest * (1 - MIN_GAIN):
            place, lowest, still = _step(place, axis, step), value, 0
            if not 0 <= place[axis] + step < sizes[axis]:
                break
            value = errors([_step(place, axis, step)])[0]
        axis = (axis + 1) % axes
    return place


def _step(place: Place, axis: int, step: int) -> Place:
    return (*place[:axis], place[axis] + step, *place[axis + 1 :])


class HeldOutErrors:
    """Leave-one-out errors of a sum of kernels with many bandwidths and penalties.

    Parameters
    ----------
    terms : list of Kernel
        With the median distance as bandwidth.
    points : Points
    targets : RidgeTargets
    penalty : float, optional
        The only one; otherwise there is a grid, in units of k(x, x).
    blocks : sequence of ndarray, optional
        Items that are left out together, where those of one block tell of each other what new
        items would not; by default each item is left out alone.
    """

    def __init__(
        self,
        terms: list[Kernel],
        points: Points,
        targets: RidgeTargets,
        penalty: float | None = None,
        blocks: Sequence[np.ndarray] | None = None,
    ) -> None:
        self.blocks = blocks
        self.terms, self.points, self.targets = terms, points, targets
        self.penalties = (
            (penalty,)
            if penalty is not None
            else tuple(float(f"{len(terms) * one:.6g}") for one in PENALTIES)
        )
        self.roots = None if targets.weights is None else np.sqrt(targets.weights)
        self.sizes = (len(self.penalties), *(len(FACTORS) for _ in terms))
        self.errors: dict[Place, float] = {}
        self.best: tuple[Place, RidgeInverse | None] = ((), None)
        self.matrices: dict[tuple[int, int], np.ndarray] = {}
        self.systems: dict[Place, CholeskySystem] = {}
        self.searching = False

    def penalty(self, place: Place) -> float:
        """Return the penalty of a place."""
        return self.penalties[place[0]]

    def kernels(self, place: Place) -> list[Kernel]:
        """Return the terms with the bandwidths of a place."""
        pairs = zip(self.terms, place[1:], strict=True)
        return [multiply_bandwidth(term, FACTORS[at]) for term, at in pairs]

    def __call__(self, places: list[Place]) -> list[float]:
        """Return the errors of some places, which are computed at the same time."""
        new = [place for place in places if place not in self.errors]
        systems = [self._system(place) for place in new]
        found: dict[Place, RidgeInverse | None] = {}

        def work(number: int) -> None:
            inverse = systems[number].at(self.penalty(new[number]))
            error = np.inf if inverse is None else self._error(inverse)
            self.errors[new[number]] = error if math.isfinite(error) else np.inf
            found[new[number]] = inverse

        in_threads(work, list(range(len(new))))
        for place in new:
            # An inverse is as large as the Gram matrix; only the best one is wanted in the end.
            if not self.best[0] or self.errors[place] < self.errors[self.best[0]]:
                self.best = place, found[place]
        return [self.errors[place] for place in places]

    def _error(self, inverse: RidgeInverse) -> float:
        """Return the mean squared error of items that were left out, alone or in blocks."""
        if self.blocks is None:
            return inverse.statistics().value("leave-one-out")
        squares = sum(float(np.sum(left_out(inverse, rows) ** 2)) for rows in self.blocks)
        counts = sum(float(np.sum(inverse.system.s[rows] ** 2)) for rows in self.blocks)
        return squares / counts

    def search(self, place: Place, axes: int | None = None) -> Place:
        """Return the best place that is reached from another one, as `descend` does."""
        self.searching = axes is None
        descend(self, place, self.sizes, axes)
        return self.best[0]

    def inverse(self, place: Place) -> RidgeInverse:
        """Return what the ridge system has come to at a place."""
        self([place])
        found = self.best[1] if self.best[0] == place else None
        found = self._system(place).at(self.penalty(place)) if found is None else found
        if found is None:
            raise ValidityError(
                f"{add_terms(self.kernels(place))!r}: no penalty up to "
                f"{self.penalties[-1]:g} makes the ridge system solvable"
            )
        return found

    def _system(self, place: Place) -> CholeskySystem:
        """Return the system of a sum of matrices; those of two sums are kept."""
        widths = place[1:]
        system = self.systems.pop(widths, None)
        if system is None:
            matrices = [self._matrix(term, at) for term, at in enumerate(widths)]
            K = matrices[0].copy() if len(matrices) > 1 else matrices[0]
            for other in matrices[1:]:
                K += other
            targets = self.targets
            system = CholeskySystem(K, targets.target, self.roots, targets.intercept)
        self.systems[widths] = system
        for old in list(self.systems)[:-2]:
            del self.systems[old]
        return system

    def _matrix(self, term: int, at: int) -> np.ndarray:
        """Return SKS of one term, from those that were made last if it is among them."""
        if (term, at) not in self.matrices:
            # A search looks at both neighbors next, and distances are computed once for all three.
            near = (at - 1, at + 1) if self.searching else ()
            wanted = [k for k in near if 0 <= k < len(FACTORS) and (term, k) not in self.matrices]
            wanted.append(at)
            kernels = [multiply_bandwidth(self.terms[term], FACTORS[k]) for k in wanted]
            for k, K in zip(wanted, fill_several(kernels, self.points), strict=True):
                if self.roots is not None:
                    K *= self.roots[:, None]
                    K *= self.roots
                self.matrices[term, k] = K
        found = self.matrices[term, at] = self.matrices.pop((term, at))  # the last one used
        own = [key for key in self.matrices if key[0] == term]
        for key in own[:-KEPT_PER_TERM]:
            del self.matrices[key]
        return found


def left_out(inverse: RidgeInverse, rows: np.ndarray) -> np.ndarray:
    """Return s(y − f) of some items for the f that is learned without them, in closed form.

    With P the inverse of the bordered system these are P_RR⁻¹α_R: one small system for each block
    instead of a fit (Rifkin & Lippert 2007). NaN where the block says nothing beyond rounding.

    Parameters
    ----------
    inverse : RidgeInverse
    rows : ndarray of int
        Ascending.
    """
    lower = np.tril(inverse.block(rows))
    P = lower + np.tril(lower, -1).T
    if inverse.border is not None:
        P -= np.outer(inverse.border[rows], inverse.border[rows])
    try:
        return np.linalg.solve(P, inverse.alpha[rows])
    except np.linalg.LinAlgError:
        return np.full((len(rows), inverse.alpha.shape[1]), np.nan)
