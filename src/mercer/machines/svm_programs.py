"""Quadratic programs of support vector machines: their parameters, and all of them solved at once.

The programs of a fit are about ranges of the same items, so that they share one Gram matrix.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from mercer.domains import Points, Vectors
from mercer.engine.tiles import on_numpy
from mercer.errors import ValidityError
from mercer.gram import Gram, GramRanges, Pieces, product
from mercer.gram.climbing import Climbing
from mercer.kernels import Kernel
from mercer.machines.machine import number
from mercer.solvers.engine_margins import maximize_there
from mercer.solvers.quadratic import Optimum, Quadratic, SMOOptions
from mercer.solvers.smo import solve_batch
from mercer.solvers.working_set import maximize
from mercer.threads import in_threads

__all__ = [
    "MarginProgram",
    "box_bounds",
    "fill_bounds",
    "fraction",
    "max_steps",
    "part_of",
    "positive_C",
    "rounding",
    "run",
]

CHECKED_ITEMS = 256  # on which the rounding of single precision is measured
MIN_BATCH = 3  # programs from which on they are solved in batches
BATCHES = 8  # shares of the programs, which the cores take in turn


def max_steps(max_iter: Any) -> int:
    """Return the largest number of steps; None and −1 leave it to the library.

    Examples
    --------
    >>> max_steps(None)
    10000000
    """
    if max_iter is None or (isinstance(max_iter, numbers.Integral) and max_iter == -1):
        return 10_000_000
    if not isinstance(max_iter, numbers.Integral) or max_iter < 1:
        raise ValidityError(
            f"max_iter must be a positive whole number or None, found {max_iter!r}"
        )
    return int(max_iter)


def positive_C(C: Any) -> float:
    """Return C, a positive number that may be infinite.

    Examples
    --------
    >>> positive_C(np.inf)
    inf
    """
    found = float(C) if isinstance(C, numbers.Real) else np.nan
    if not found > 0:
        raise ValidityError(f"C must be a positive number, or infinity; found {C!r}")
    return found


def box_bounds(C: Any, weights: np.ndarray | None, count: int) -> np.ndarray:
    """Return C·wᵢ of each item."""
    return np.full(count, positive_C(C)) if weights is None else positive_C(C) * weights


def fraction(nu: Any) -> float:
    """Return ν, which lies above 0 and not above 1."""
    found = number(nu, "nu")
    if not 0 < found <= 1:
        raise ValidityError(f"nu must lie above 0 and not above 1, found {nu!r}")
    return found


def fill_bounds(bounds: np.ndarray, total: float) -> np.ndarray:
    """Return amounts of the given total, filling one bound after the other.

    Examples
    --------
    >>> fill_bounds(np.ones(3), 1.5)
    array([1. , 0.5, 0. ])
    """
    before = np.concatenate([[0.0], np.cumsum(bounds)[:-1]])
    return np.clip(total - before, 0.0, bounds)


@dataclass(frozen=True)
class MarginProgram:
    """A quadratic program on some ranges of the items."""

    ranges: list[tuple[int, int]]
    problem: Quadratic

    @property
    def items(self) -> np.ndarray:
        """The items that take part."""
        return np.concatenate([np.arange(a, b) for a, b in self.ranges])

    @property
    def count(self) -> int:
        """How many items take part."""
        return sum(b - a for a, b in self.ranges)

    def begin(self, found: Optimum) -> MarginProgram:
        """Return the same program, beginning where another solution has ended."""
        return replace(self, problem=replace(self.problem, start=found.coefficients))

    @property
    def is_simple(self) -> bool:
        """Whether there is one variable for each item, one sum, and a finite box."""
        problem = self.problem
        plain = not problem.sizes and len(problem.target) == self.count
        return plain and bool(np.isfinite(problem.upper - problem.lower).all())


def rounding(
    kernel: Kernel, points: Points, programs: list[MarginProgram], optima: list[Optimum]
) -> float:
    """Return the largest difference of slopes from those in double precision, on a sample."""
    n = len(points)
    C = np.zeros((n, len(programs)))
    for column, (program, found) in enumerate(zip(programs, optima, strict=True)):
        C[program.items, column] = found.coefficients.reshape(-1, len(program.items)).sum(axis=0)
    used = np.flatnonzero(C.any(axis=1))
    sample = np.unique(
        np.concatenate([np.linspace(0, n - 1, CHECKED_ITEMS).astype(int), far(points)])
    )
    exact = np.zeros((len(sample), len(programs)))
    if len(used):
        exact = product(kernel, points[sample], points[used], C[used])
    largest = 0.0
    for column, (program, found) in enumerate(zip(programs, optima, strict=True)):
        place = np.full(n, -1)
        place[program.items] = np.arange(len(program.items))
        here = place[sample] >= 0
        where = place[sample[here]]
        values = program.problem.target[where] - found.slopes[where]
        largest = max(largest, float(np.abs(values - exact[here, column]).max(initial=0.0)))
    return largest


def far(points: Points, count: int = CHECKED_ITEMS // 4) -> np.ndarray:
    """Return the vectors farthest from the others, for which rounding is largest."""
    if not isinstance(points, Vectors) or points.is_sparse or not on_numpy(points):
        return np.empty(0, dtype=int)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(points.array - points.array.mean(axis=0), axis=1)
    return np.argsort(-lengths, kind="stable")[:count]


def part_of(source: Gram | GramRanges, program: MarginProgram) -> Pieces:
    """Return the Gram matrix of the items of a program."""
    if isinstance(source, GramRanges):
        return GramRanges(source.array, program.ranges)
    if np.array_equal(program.items, np.arange(source.order)):
        return source
    return source.part(program.items)


def run(
    source: Gram | GramRanges | Climbing, programs: list[MarginProgram], options: SMOOptions
) -> list[Optimum]:
    """Solve all programs, those on a stored matrix at the same time on all cores.

    An engine solves them all at once; what it leaves over is solved here.
    """
    optima: list[Any] = [None] * len(programs)
    if isinstance(source, Climbing):
        problems = [program.problem for program in programs]
        there = maximize_there(source, [p.items for p in programs], problems, options)
        optima = [found for found, _ in there]
        programs = [
            replace(p, problem=replace(p.problem, start=beta))
            for p, (_, beta) in zip(programs, there, strict=True)
        ]
        source = source.pieces  # type: ignore[assignment]

    def one(job: int) -> None:
        optima[job] = maximize(
            part_of(cast(Gram, source), programs[job]), programs[job].problem, options
        )

    def several(jobs: list[int]) -> None:
        some = [programs[job] for job in jobs]
        ranges, problems = [p.ranges for p in some], [p.problem for p in some]
        assert isinstance(source, GramRanges)
        for job, found in zip(jobs, solve_batch(source, ranges, problems, options), strict=True):
            optima[job] = found

    largest_first = sorted(range(len(programs)), key=lambda job: -programs[job].count)
    if isinstance(source, GramRanges) and len(programs) >= MIN_BATCH and not options.trust_slopes:
        simple = [job for job in largest_first if programs[job].is_simple]
        in_threads(several, [simple[k::BATCHES] for k in range(BATCHES) if simple[k::BATCHES]])
    rest = [job for job in largest_first if optima[job] is None]
    in_threads(one, rest, threads=isinstance(source, GramRanges))
    return optima
