"""Learning curves: the learner whose simulated subjects make the errors that people made."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from mercer.cognition.experiments.designs import Design
from mercer.cognition.learners.alcove import ALCOVE
from mercer.cognition.learners.learner import Learner, per_block
from mercer.domains import real_numbers
from mercer.errors import ConvergenceWarning, DomainError, ValidityError, suggestion
from mercer.values import positive

__all__ = ["Search", "fit_alcove", "fit_curves"]

DIVERGED = 1e6  # loss of learning that diverged: more than any curves can differ


@dataclass(frozen=True)
class Search:
    """What a search for parameters has tried, and found.

    Attributes
    ----------
    free : tuple of str
        Names of the parameters.
    starts, ends : ndarray of shape (starts, parameters)
        Where each descent began and ended.
    losses : ndarray of shape (starts,)
        Sum of squared errors at each end.
    converged : ndarray of shape (starts,)
    evaluations : int
        How many sets of parameters were simulated.
    sse : float
        The smallest of the losses.
    curves : tuple of ndarray
        The simulated curve of each design at the best end.

    Examples
    --------
    >>> from mercer.cognition import DeltaRule, shj
    >>> design = shj("I", blocks=4)
    >>> observed = DeltaRule(0.1, 4.0).simulate(design, subjects=20)
    >>> found = fit_curves(DeltaRule(0.05, 2.0), [observed], design, subjects=20, starts=1).search_
    >>> found.free, found.ends.shape, found.sse == found.losses.min()
    (('rate', 'choice'), (1, 2), np.True_)
    """

    free: tuple[str, ...]
    starts: np.ndarray
    ends: np.ndarray
    losses: np.ndarray
    converged: np.ndarray
    evaluations: int
    sse: float
    curves: tuple[np.ndarray, ...]

    def __str__(self) -> str:
        lines = [f"{len(self.starts)} descents, {self.evaluations} evaluations, by sse:"]
        for i in np.argsort(self.losses, kind="stable"):
            found = ", ".join(
                f"{name}={value:.4g}" for name, value in zip(self.free, self.ends[i], strict=True)
            )
            stopped = "" if self.converged[i] else " (stopped early)"
            lines.append(f"{self.losses[i]:.4g}: {found}{stopped}")
        return "\n".join(lines)


def fit_curves(
    model: Learner,
    curves: Sequence[ArrayLike],
    designs: Design | Sequence[Design],
    free: Sequence[str] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    *,
    subjects: int = 100,
    seed: int = 0,
    starts: int = 4,
    max_evaluations: int = 400,
) -> Learner:
    """Fit a learner to learning curves by least squares.

    Minimizes the sum of squared differences between observed and simulated errors, over all blocks
    of all designs. The same simulated subjects learn with every set of parameters, so the sum is a
    continuous function of them, for models that do not jump; the simplex method of Nelder & Mead
    (1965) goes down from several starts, on a logarithmic scale: from the model's own parameters,
    and from the best of many points that are drawn within the bounds.

    Parameters
    ----------
    model : Learner
        Where the first descent begins; also gives what is not free, such as ALCOVE's `teacher`.
    curves : array of shape (designs, blocks), or a sequence of arrays
        Observed proportions of errors in each block.
    designs : Design or sequence of Design
    free : sequence of str, optional
        Parameters to fit; by default all of the model's `fittable`.
    bounds : mapping, optional
        From names to (lowest, highest), both positive, instead of those of `fittable`.
    subjects : int
        Simulated subjects for each design.
    seed : int
        Of the subjects, and of the starts after the first.
    starts : int
        Number of descents.
    max_evaluations : int
        Largest number of evaluations in one descent.

    Returns
    -------
    Learner
        With the parameters found; its `search_` tells what was tried.

    Examples
    --------
    >>> from mercer.cognition import DeltaRule, shj
    >>> design = shj("I", blocks=4)
    >>> observed = DeltaRule(0.1, 4.0).simulate(design, subjects=20)
    >>> found = fit_curves(DeltaRule(0.05, 2.0), [observed], design, subjects=20, starts=1)
    >>> round(found.rate, 3), round(found.choice, 2)
    (0.1, 4.0)
    """
    if not isinstance(model, Learner):
        raise DomainError(f"model must be a learner, such as ALCOVE, found {model!r}")
    designs = [designs] if isinstance(designs, Design) else list(designs)
    if len(curves) == 0 or not designs:
        raise DomainError("there are no curves, or no designs, to fit to")
    if not isinstance(starts, numbers.Integral) or starts < 1:
        raise DomainError(f"starts must be a whole number from 1 on, found {starts!r}")
    observed = _admit_curves(curves, designs)
    names, limits = _admit_bounds(model, free, bounds)
    orders = [design.orders(subjects, seed) for design in designs]

    def simulated(values: np.ndarray) -> list[np.ndarray]:
        one = _with(model, names, values)
        pairs = zip(designs, orders, strict=True)
        return [per_block(d, one.errors(d, order)).mean(axis=0) for d, order in pairs]

    def loss(logs: np.ndarray) -> float:
        differences = zip(observed, simulated(np.exp(logs)), strict=True)
        total = sum(float(np.sum((one - two) ** 2)) for one, two in differences)
        return total if np.isfinite(total) else DIVERGED

    first = np.array([positive(model, name, getattr(model, name)) for name in names])
    search = _descend(loss, names, first, limits, seed, starts, max_evaluations)
    best = search.ends[int(np.argmin(search.losses))]
    found = _with(model, names, best)
    found.search_ = replace(search, curves=tuple(simulated(best)))
    return found


def fit_alcove(
    curves: Sequence[ArrayLike],
    designs: Design | Sequence[Design],
    start: ALCOVE | None = None,
    free: Sequence[str] = tuple(ALCOVE.fittable),
    bounds: Mapping[str, tuple[float, float]] | None = None,
    **options: int,
) -> ALCOVE:
    """Fit ALCOVE to learning curves by least squares, as `fit_curves` does for every learner.

    Parameters
    ----------
    curves, designs, free, bounds
        As in `fit_curves`.
    start : ALCOVE, optional
        Where the first descent begins; also gives what is not free, such as `order` or `teacher`.
    **options
        `subjects`, `seed`, `starts` and `max_evaluations` of `fit_curves`.

    Returns
    -------
    ALCOVE

    Examples
    --------
    >>> from mercer.cognition.experiments.designs import shj
    >>> true = ALCOVE(6.0, 2.0, 0.1, 0.5)
    >>> designs = [shj("I", blocks=4), shj("II", blocks=4)]
    >>> observed = [true.simulate(design, subjects=20) for design in designs]
    >>> near = ALCOVE(5.0, 2.0, 0.1, 0.3)
    >>> found = fit_alcove(observed, designs, near, subjects=20, starts=1)
    >>> found.search_.sse < 1e-6
    True
    """
    start = start if start is not None else ALCOVE(6.0, 2.0, 0.1, 0.5)
    found = fit_curves(start, curves, designs, free, bounds, **options)
    assert isinstance(found, ALCOVE)
    return found


def _descend(
    loss: Callable[[np.ndarray], float], names: tuple[str, ...], first: np.ndarray,
    limits: np.ndarray, seed: int, starts: int, max_evaluations: int,
) -> Search:  # fmt: skip
    """Go down from each start."""
    low, high = np.log(limits).T
    drawn = np.random.default_rng(seed).uniform(low, high, (20 * (starts - 1), len(names)))
    promising = np.argsort([loss(x) for x in drawn], kind="stable")[: starts - 1]
    begins = np.vstack([np.clip(np.log(first), low, high), drawn[promising]])
    found = [_simplex(loss, begin, low, high, max_evaluations) for begin in begins]
    ends, losses, converged, counts = (np.array(part) for part in zip(*found, strict=True))
    best = int(np.argmin(losses))
    if not converged[best]:
        warnings.warn(
            f"the best descent stopped after {max_evaluations} evaluations with an sse of "
            f"{losses[best]:.4g}; raise max_evaluations",
            ConvergenceWarning,
            stacklevel=3,
        )
    count, smallest = len(drawn) + int(counts.sum()), float(losses[best])
    return Search(names, np.exp(begins), np.exp(ends), losses, converged, count, smallest, ())


def _simplex(
    loss: Callable[[np.ndarray], float],
    begin: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    limit: int,
) -> tuple[np.ndarray, float, bool, int]:
    """Go down from one start; return the end, its loss, whether it is done, and the count."""
    from scipy.optimize import minimize

    # Edges of a third of an e-fold, turned inward at a bound.
    simplex = np.vstack([begin, begin + np.diag(np.where(begin + 0.3 <= high, 0.3, -0.3))])
    settings = {"initial_simplex": simplex, "xatol": 1e-4, "fatol": 1e-9, "maxfev": limit}
    bounds = list(zip(low, high, strict=True))
    end = minimize(loss, begin, method="Nelder-Mead", bounds=bounds, options=settings)
    return end.x, float(end.fun), bool(end.success), int(end.nfev)


def _with(model: Learner, names: tuple[str, ...], values: np.ndarray) -> Learner:
    return clone(model).set_params(**dict(zip(names, map(float, values), strict=True)))


def _admit_curves(curves: Sequence[ArrayLike], designs: list[Design]) -> list[np.ndarray]:
    """Return one curve for each design, refusing what are no proportions of errors."""
    if not designs:
        raise DomainError("there are no designs, so there is nothing to simulate")
    for i, design in enumerate(designs):
        if not isinstance(design, Design):
            raise DomainError(f"design {i} must be a Design, such as shj('II'), found {design!r}")
    rows = [curves] if np.ndim(curves[0]) == 0 else list(curves)
    if len(rows) != len(designs):
        raise DomainError(f"there are {len(rows)} curves, but {len(designs)} designs")
    found = []
    for i, (row, design) in enumerate(zip(rows, designs, strict=True)):
        curve = real_numbers(row, f"curve {i}")
        if curve.shape != (design.blocks,):
            raise DomainError(
                f"curve {i} has the shape {curve.shape}, but its design has {design.blocks} blocks"
            )
        bad = np.flatnonzero(~((curve >= 0) & (curve <= 1)))
        if len(bad):
            raise DomainError(
                f"curve {i} is {curve[bad[0]]} in block {bad[0]}; errors are proportions from 0 "
                "to 1"
            )
        found.append(curve)
    return found


def _admit_bounds(
    model: Learner, free: Sequence[str] | None, bounds: Mapping[str, tuple[float, float]] | None
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of the free parameters and their bounds, a row for each."""
    known = model.fittable
    names = (free,) if isinstance(free, str) else tuple(known if free is None else free)
    chosen = {**known, **(bounds or {})}
    for name in (*names, *chosen):
        if name not in known:
            raise ValidityError(f"{name!r} cannot be fitted{suggestion(name, known)}")
    if not names:
        raise ValidityError("no parameter is free, so there is nothing to fit")
    limits = np.array([chosen[name] for name in names], dtype=np.float64)
    for name, (low, high) in zip(names, limits, strict=True):
        if not 0 < low < high < np.inf:
            raise ValidityError(
                f"bounds of {name} must be positive numbers, the lower one first; found "
                f"{chosen[name]!r}"
            )
    return names, limits
