"""Certificates of support vector machines: how far slopes are rounded, and what curvature is seen.

The programs know slopes and boxes; only here are the items known, from whose similarities with
themselves rounding follows, and whether the kernel has a proof.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import Points, to_numpy
from mercer.engine.tiles import diagonal
from mercer.gram import Gram, GramRanges
from mercer.kernels import Kernel
from mercer.machines.svm_programs import MarginProgram, part_of
from mercer.solvers.curvature import COMPLETE_ITEMS, Curvature, examine
from mercer.solvers.margin_certificate import slope_rounding, with_curvature, with_rounding
from mercer.solvers.quadratic import Optimum

__all__ = ["certified"]


def certified(
    kernel: Kernel,
    points: Points,
    source: Gram | GramRanges | None,
    programs: list[MarginProgram],
    optima: list[Optimum],
    tol: float,
) -> list[Optimum]:
    """Return answers that claim what is known.

    Parameters
    ----------
    source : Gram operator or None
        In which curvature is to be seen; None for a kernel with a proof, or a repaired one.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        heights = np.abs(to_numpy(diagonal(kernel, points)).astype(np.float64))
    seen: list[Curvature | None] = [None] * len(programs)
    if source is not None:
        seen = list(_look(source, programs, optima))
    result = []
    for program, found, curvature in zip(programs, optima, seen, strict=True):
        own = heights[program.items]
        if curvature is not None:  # then k(x, z) may be larger than k(x, x) and k(z, z)
            own = np.maximum(own, curvature.largest)
        with np.errstate(invalid="ignore", over="ignore"):
            rounding = slope_rounding(
                program.problem, found.coefficients, np.sqrt(own), points_width(points)
            )
            found = with_rounding(found, program.problem, np.nan_to_num(rounding), tol)
            if curvature is not None:
                found = with_curvature(found, program.problem, curvature, tol)
        result.append(found)
    return result


def points_width(points: Points) -> float:
    """Return how many numbers an item has, as far as one knows."""
    return float(getattr(points, "width", None) or 1)


def _look(
    source: Gram | GramRanges, programs: list[MarginProgram], optima: list[Optimum]
) -> list[Curvature]:
    """Look at all items together, and where that does not do at those of each program."""
    if source.order <= COMPLETE_ITEMS:
        whole = examine(source)
        if not whole.negative:
            return [whole] * len(programs)
    return [
        _look_at(source, program, found) for program, found in zip(programs, optima, strict=True)
    ]


def _look_at(source: Gram | GramRanges, program: MarginProgram, found: Optimum) -> Curvature:
    beta = found.coefficients.reshape(-1, program.count).sum(axis=0)
    groups: Any = [slice(0, program.count)]
    if len(program.problem.target) == program.count:
        groups = program.problem.groups
    return examine(part_of(source, program), np.flatnonzero(beta), groups)
