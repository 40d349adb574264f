"""Quadratic programs solved by an engine where its Gram matrix lies.

The engine climbs on all of them at once, and gives back β and its slopes (`mercer.gram.climbing`);
what an answer is worth is judged here, by the same words as everywhere. What the engine could not
finish, or is not made for (a box without bounds, a kernel that is not valid), is left to
`mercer.solvers.working_set`, which goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer.gram.climbing import BoxProgram, Climbing
from mercer.solvers.quadratic import Optimum, Quadratic, SMOOptions, conclude

__all__ = ["maximize_there"]


def maximize_there(
    source: Climbing,
    items: Sequence[np.ndarray],
    problems: Sequence[Quadratic],
    options: SMOOptions,
) -> list[tuple[Optimum | None, np.ndarray]]:
    """Return the answer of each program, or None, and the β that was found.

    Parameters
    ----------
    source : Climbing
    items : sequence of ndarray of int
        The items of each program; with twice as many variables, they come twice.
    problems : sequence of Quadratic
    options : SMOOptions

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.gram.device.climber import ArrayOnDevice
    >>> z = np.array([1.0, -1.0])
    >>> problem = Quadratic(z, np.minimum(9 * z, 0.0), np.maximum(9 * z, 0.0), np.zeros(2))
    >>> K = ArrayOnDevice(np.array([[1.0, -1.0], [-1.0, 1.0]]), torch.device("cpu"))
    >>> [(found, beta)] = maximize_there(K, [np.arange(2)], [problem], SMOOptions())
    >>> found.coefficients, found.status
    (array([ 0.5, -0.5]), 'solved')
    """
    found: list[tuple[Optimum | None, np.ndarray]] = [(None, p.start) for p in problems]
    finite = [k for k, p in enumerate(problems) if np.isfinite(p.upper - p.lower).all()]
    if not finite:
        return found
    boxes = [_box(items[k], problems[k]) for k in finite]
    climbed = source.climb(boxes, options.tol, options.steps)
    if climbed is None:
        return found
    for k, one in zip(finite, climbed, strict=True):
        answer = conclude(problems[k], one.beta, one.slopes, one.steps, one.history, options.tol)
        found[k] = (answer if answer.status == "solved" else None, one.beta)
    return found


def _box(items: np.ndarray, problem: Quadratic) -> BoxProgram:
    group = np.zeros(len(problem.target), dtype=np.int32)
    for number, some in enumerate(problem.groups):
        group[some] = number
    return BoxProgram(
        np.resize(items, len(problem.target)), problem.target, problem.lower, problem.upper,
        problem.start, group,
    )  # fmt: skip
