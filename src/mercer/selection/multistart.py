"""Multistart search: descents of a criterion from several kernels; the best end is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize

from mercer.engine.tiles import diagonal
from mercer.errors import SelectionError, SolveError, ValidityError
from mercer.gram.slopes import Tiling
from mercer.kernels import Kernel
from mercer.progress import progress
from mercer.selection.kernel_parameters import (
    AMPLITUDES,
    BANDWIDTHS,
    LogParameters,
    per_dimension,
    with_medians,
)
from mercer.selection.ridge_task import RidgeTask
from mercer.solvers.ridge.objective import along_penalties, criterion
from mercer.threads import cores, in_threads, one_blas_thread

__all__ = ["BestPoint", "MultistartSearch", "Trial", "one_thread_if_small", "search_bytes"]

MAX_RATIO = 1e3  # a parameter may become so many times larger or smaller
PENALTY_RANGE = 1e-9, 1e5  # times the mean of k(x, x)
STARTING_PENALTIES = 29  # penalties that are tried at a start
BANDWIDTH_RATIO = 3.0  # between the bandwidths that are looked at before the descents
BANDWIDTH_POWERS = range(-3, 7)  # of that ratio, times the median distance
DEFAULT_DESCENTS = 3  # descents from the best of them
MATRICES_PER_DESCENT = 6  # of the size of K, that a descent may hold at once
MAX_PARALLEL_ITEMS = 2000  # up to which starts share the cores; beyond, each has them all
FAILURE_HEIGHT = 10.0  # how much worse a place counts where nothing can be computed
# Errors below this share of the targets' mean square are rounding errors.
ROUNDING = 1e-12
SAME_VALUE = 1e-6  # share of a criterion that is no difference
EDGE_WIDTH = 0.01  # distance of a logarithm from the edge of its box that counts as none


@dataclass(frozen=True)
class Trial:
    """One descent: where it began and ended (as for ``set_params``), and how it went."""

    start: dict[str, Any]
    end: dict[str, Any]
    value: float
    steps: int
    message: str


@dataclass
class BestPoint:
    """The best place so far, and the parameters that were at the edge of what was searched."""

    value: float = np.inf
    kernel: Any = None
    penalty: float = np.nan
    logs: np.ndarray | None = None
    edges: tuple[str, ...] = ()


@dataclass
class MultistartSearch:
    """A criterion of the parameters of a system, and what is known of it so far."""

    system: RidgeTask
    name: str
    max_iter: int
    trials: list[Trial] = field(default_factory=list)
    best: BestPoint = field(default_factory=BestPoint)
    failure: str = ""
    step: Callable[..., None] = lambda *_: None  # told of each evaluation

    def __post_init__(self) -> None:
        system = self.system
        self.tiling = Tiling(system.points)
        square = float(np.mean(system.target**2))
        self.worst = 1e6 * (system.variance + 1.0) if self.name != "evidence" else 1e6
        self.floor = ROUNDING * (system.variance + ROUNDING * square) + np.finfo(float).tiny
        typical = float(np.mean(np.abs(diagonal(system.kernel, system.points)))) or 1.0
        self.penalties = np.log([typical * PENALTY_RANGE[0], typical * PENALTY_RANGE[1]])
        self.excess = 0.0
        if self.name == "evidence" and system.variance > 0:
            # A Gaussian process has the units of the targets, in its values and in its noise.
            self.excess = math.log(system.variance / typical)
            self.penalties[1] += max(self.excess, 0.0)
        self.begin(system.kernel)
        if self.logs.among(AMPLITUDES).any():
            self.penalties[0] += min(self.excess, 0.0)

    def begin(self, kernel: Kernel, others: Sequence[Kernel] = ()) -> None:
        """Search the parameters of this kernel, near where they are in it and in others."""
        points, weights = self.system.points, self.system.weights
        self.given, self.logs = kernel, LogParameters.of(kernel, points)
        self.medians = with_medians(kernel, self.logs.names, points, weights)
        self.sizes = np.stack([self.logs.read(k) for k in (kernel, self.medians, *others)])

    def require_dimensions(self) -> None:
        """Refuse to search one bandwidth per dimension where there is no such thing."""
        several = self.logs.count > len(self.logs.names)
        if not several and per_dimension(self.given, self.system.points) == self.given:
            raise SelectionError(
                f"no part of {self.given!r} can have one bandwidth per dimension on these items; "
                "leave out per_dimension"
            )

    def search_per_dimension(self, count: int | None, rng: np.random.Generator) -> None:
        """Go on from the best kernel with one bandwidth per dimension."""
        common, points = self.best.kernel, self.system.points
        several = per_dimension(common, points)
        if several == common:
            return
        # The best common bandwidth may be one at which the others are hard to tell apart.
        starts = [several, per_dimension(self.medians, points)]
        starts.append(per_dimension(self.medians, points, by_spread=True))
        self.begin(several, starts)
        spread = self.logs.read(starts[-1])
        starts[-1] = self.logs.write(several, (self._ranked(spread) or [spread])[0])
        for _ in range((count or 0) - len(starts)):
            noise = rng.normal(scale=math.log(BANDWIDTH_RATIO), size=self.logs.count)
            starts.append(self.logs.write(several, spread + self.logs.among(BANDWIDTHS) * noise))
        self.run(list(dict.fromkeys(starts)))

    def parameters(self, kernel: Kernel, penalty: float) -> dict[str, Any]:
        """Return what has been searched, as for ``set_params`` of the machine."""
        values = kernel.get_params()
        found = {f"kernel__{name}": values[name] for name in self.logs.names}
        return {**found, "penalty": penalty}

    def starts(self, count: int | None, rng: np.random.Generator) -> list[Kernel]:
        """Return kernels at which to begin: the given one, and those that look best."""
        given, medians = self.sizes
        reach = self.logs.among(BANDWIDTHS)
        middle = medians + self.excess * self.logs.among(AMPLITUDES)
        wanted = 1 + DEFAULT_DESCENTS if count is None else count
        places = [given, *(self._ranked(middle) if wanted > 1 else [])][:wanted]
        for _ in range(0 if count is None else count - len(places)):
            places.append(middle + reach * rng.normal(scale=2 * math.log(BANDWIDTH_RATIO)))
        return list(dict.fromkeys(self.logs.write(self.given, place) for place in places))

    def _ranked(self, middle: np.ndarray) -> list[np.ndarray]:
        """Return places with all bandwidths wider or narrower, from the best one on.

        Each has its best penalty. Of two neighbors the worse one comes after all others.
        """
        reach = self.logs.among(BANDWIDTHS)
        if not reach.any():
            return [middle] if np.abs(middle - self.sizes[0]).max(initial=0.0) > 0 else []
        places = [middle + scale * math.log(BANDWIDTH_RATIO) * reach for scale in BANDWIDTH_POWERS]
        heights = np.full(len(places), np.inf)

        def look(k: int) -> None:
            try:
                heights[k] = self._along(self.logs.write(self.given, places[k]))[1]
            except (SolveError, ValidityError) as error:
                self.failure = str(error)

        count = len(self.system.points)
        with one_thread_if_small(count):
            in_threads(look, range(len(places)), threads=count <= MAX_PARALLEL_ITEMS)
        order = [k for k in np.argsort(heights, kind="stable").tolist() if heights[k] < np.inf]
        apart = [k for i, k in enumerate(order) if not {k - 1, k + 1} & set(order[:i])]
        return [places[k] for k in [*apart, *(k for k in order if k not in apart)]]

    def box(self) -> np.ndarray:
        """Return the limits of all logarithms, those of the penalty last."""
        amplitude = self.logs.among(AMPLITUDES)
        low, high = self.sizes.min(axis=0), self.sizes.max(axis=0)
        margin = math.log(MAX_RATIO) * (1 + amplitude)
        low = low - margin + amplitude * min(self.excess, 0.0)
        high = high + margin + amplitude * max(self.excess, 0.0)
        return np.concatenate([np.stack([low, high], axis=1), [self.penalties]])

    def evaluate_at(self, kernel: Kernel, penalty: float, message: str) -> None:
        """Try one place as it is."""
        value = np.inf
        try:
            with one_thread_if_small(len(self.system.points)):
                value = self._criterion(self.tiling.gram(kernel), penalty).value
        except (SolveError, ValidityError) as error:
            message, self.failure = f"{message}; {error}", str(error)
        if value < self.best.value:
            self.best = BestPoint(value, kernel, penalty)
        place = self.parameters(kernel, penalty)
        self.trials.append(Trial(place, place, value, 0, message))

    def run(self, kernels: list[Kernel]) -> None:
        """Descend from each kernel to a minimum; remember the best."""
        ends: dict[int, tuple[Trial, BestPoint]] = {}

        def one(place: int) -> None:
            ends[place] = self._descend(kernels[place])

        small = len(self.system.points) <= MAX_PARALLEL_ITEMS
        title = f"search from {len(kernels)} starts"
        with (
            progress(title, len(kernels) * self.max_iter) as self.step,
            one_thread_if_small(len(self.system.points)),
        ):
            in_threads(one, range(len(kernels)), threads=small)
        for place in range(len(kernels)):
            trial, best = ends[place]
            self.trials.append(trial)
            # Of several ends that are as good, the one that began nearer to what was given.
            known = math.isfinite(self.best.value)
            least_gain = SAME_VALUE * abs(self.best.value) if known else 0.0
            if best.value < self.best.value - least_gain:
                self.best = best

    def _descend(self, kernel: Kernel) -> tuple[Trial, BestPoint]:
        """Descend from a kernel, with the best penalty for it, to a minimum."""
        here, box = BestPoint(kernel=kernel), self.box()
        try:
            penalty, _ = self._along(kernel)
        except (SolveError, ValidityError) as error:
            self.failure = str(error)
            place = self.parameters(kernel, np.nan)
            return Trial(place, place, np.inf, 0, str(error)), here
        start = np.clip(np.append(self.logs.read(kernel), math.log(penalty)), *box.T)
        found = minimize(
            lambda place: self._at(place, kernel, here),
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=box,
            options={"maxiter": self.max_iter, "ftol": 1e-7, "gtol": 1e-5},
        )
        here.edges = self._edges(here.logs, box)
        before = self.parameters(self.logs.write(kernel, start[:-1]), math.exp(start[-1]))
        after = self.parameters(here.kernel, here.penalty)
        return Trial(before, after, here.value, int(found.nit), _message(found)), here

    def _along(self, kernel: Kernel) -> tuple[float, float]:
        """Return the best of many penalties, and the criterion there."""
        task, grid = (
            self.system,
            np.exp(np.linspace(self.penalties[0], self.penalties[1], STARTING_PENALTIES)),
        )
        K = self.tiling.gram(kernel)
        heights = along_penalties(self.name, K, grid, task.target, task.weights, task.intercept)
        if not math.isfinite(heights.min()):
            raise SolveError("the criterion is infinite for all penalties")
        return float(grid[heights.argmin()]), float(heights.min())

    def _edges(self, logs: np.ndarray | None, box: np.ndarray) -> tuple[str, ...]:
        """Return the names of parameters that are at the edge of their box."""
        if logs is None:
            return ()
        low, high = (np.abs(logs - edge) < EDGE_WIDTH for edge in box.T)
        names = [*(f"kernel__{name}" for name in self.logs.names), "penalty"]
        parts = np.cumsum((*self.logs.sizes, 1))[:-1]
        at = []
        for name, below, above in zip(
            names, np.split(low, parts), np.split(high, parts), strict=True
        ):
            # One of several bandwidths without end is an answer: that dimension does not matter.
            if below.any() or above.all():
                at.append(name)
        return tuple(at)

    def _criterion(self, K: np.ndarray, penalty: float) -> Any:
        task = self.system
        return criterion(self.name, K, penalty, task.target, task.weights, task.intercept)

    def _height(self, value: float) -> float:
        """Return what is minimized: the logarithm of an error, the mean of −log p."""
        if self.name == "evidence":
            return value / self.system.target.size
        return math.log(value + self.floor)

    def _at(self, place: np.ndarray, kernel: Kernel, here: BestPoint) -> tuple[float, np.ndarray]:
        """Return the height and its slopes at a place, and remember it if it is the best."""
        self.step(1)
        now, penalty = self.logs.write(kernel, place[:-1]), math.exp(place[-1])
        nowhere = self._height(min(here.value, self.worst)) + FAILURE_HEIGHT, np.zeros_like(place)
        try:
            found = self._criterion(self.tiling.gram(now), penalty)
        except (SolveError, ValidityError) as error:
            self.failure = str(error)
            return nowhere
        slopes = self.tiling.slopes(now, found.by_gram) if self.logs.names else {}
        gradient = np.append(self.logs.gather(slopes), found.by_log_penalty)
        if not math.isfinite(found.value) or not np.isfinite(gradient).all():
            return nowhere
        if found.value < here.value:
            here.value, here.kernel, here.penalty = found.value, now, penalty
            here.logs = place.copy()
        unit = self.system.target.size if self.name == "evidence" else found.value + self.floor
        return self._height(found.value), gradient / unit


def search_bytes(count: int) -> int:
    """Return the bytes that a search over so many items may hold at once."""
    together = min(cores(), 3) if count <= MAX_PARALLEL_ITEMS else 1
    return 8 * count**2 * (2 + MATRICES_PER_DESCENT * together)


def one_thread_if_small(count: int) -> AbstractContextManager[None]:
    """Keep BLAS to one thread for few items: more gain little there, and wait by spinning."""
    return one_blas_thread if count <= MAX_PARALLEL_ITEMS else nullcontext()


def _message(found: Any) -> str:
    """Say in words how a descent ended."""
    return {0: "converged", 1: "stopped at max_iter"}.get(found.status, "no further descent")
