"""Grid search: kernel and parameter of one family of machines, by inner folds.

A first grid is coarse. Where its best value is at an end, it is continued there, until the best
one lies inside or the end of what makes sense is reached, which the study then says.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from mercer.domains import Items
from mercer.errors import MercerError, SelectionError
from mercer.kernels import Kernel
from mercer.machines.calibrated import scores_of
from mercer.selection import GridSearchCV
from mercer.selection.grid_edges import edge_of
from mercer.studies.arrangement import INDEPENDENT, Arrangement
from mercer.studies.candidates import CandidateKernel, ModelFamily
from mercer.studies.losses import Loss
from mercer.studies.results import Surface

__all__ = ["FamilyChoice", "InnerFolds", "choose"]

MIN_SCALE, MAX_SCALE = 1 / 16, 16.0  # of bandwidths, in units of the heuristic's
# Standard errors of an error by which the first grid of a kernel is worse than that of another one
# when it is stopped: two of a difference, as if they were of different rows.
FAR_BEHIND = 2 * 2**0.5
TIE = 1e-9  # errors that differ by less are equal, and the simpler choice is taken


@dataclass(frozen=True)
class InnerFolds:
    """What is learned from: rows, targets, and the splits that judge a choice."""

    X: Items
    y: np.ndarray
    splits: list[tuple[np.ndarray, np.ndarray]]
    arrangement: Arrangement = INDEPENDENT
    loss: Loss | None = None
    resolved: list[tuple[CandidateKernel, Kernel]] = field(default_factory=list, repr=False)

    def resolve(self, candidate: CandidateKernel) -> Kernel:
        """Return a kernel with its heuristics resolved on the rows; all families take the same."""
        for known, kernel in self.resolved:
            if known is candidate:
                return kernel
        self.resolved.append((candidate, candidate.resolve(self.X)))
        return self.resolved[-1][1]

    def on(self, name: str) -> InnerFolds:
        """Return the rows in a preparation; these are prepared already."""
        return self

    @property
    def by_scores(self) -> bool:
        """Whether scores are judged, rather than labels or numbers."""
        loss = self.loss
        return loss is not None and (loss.matrix is not None or loss.by != "loss")

    @property
    def scoring(self) -> Any:
        if self.by_scores:
            return self._minus_loss
        if self.y.dtype.kind == "f":
            absolute = self.loss is not None and self.loss.absolute
            return "neg_mean_absolute_error" if absolute else "neg_mean_squared_error"
        return "accuracy"

    def error(self, score: np.ndarray) -> np.ndarray:
        """Return a score as an error."""
        if self.by_scores or (self.loss is not None and self.loss.absolute):
            return -score
        if self.y.dtype.kind == "f":
            return np.sqrt(np.maximum(-score, 0.0))
        return 1.0 - score

    def noise(self, error: float) -> float:
        """Return the standard error of an error on these rows; infinite of other losses."""
        if self.by_scores or (self.loss is not None and self.loss.special):
            return float("inf")
        if self.y.dtype.kind == "f":  # of the root of a mean square of normal deviations
            return error / float(np.sqrt(2 * len(self.y)))
        return float(np.sqrt(max(error * (1 - error), 1 / len(self.y)) / len(self.y)))

    def _minus_loss(
        self, machine: Any, X: Items, y: np.ndarray, sample_weight: np.ndarray | None = None
    ) -> float:
        assert self.loss is not None
        codes, classes = np.searchsorted(machine.classes_, y), machine.classes_
        return -self.loss.of_scores(scores_of(machine, X), codes, classes, sample_weight)


class Prepared(Protocol):
    """Rows that choose, in several preparations."""

    def on(self, name: str) -> InnerFolds: ...


@dataclass(frozen=True)
class FamilyChoice:
    """The best of one family of machines."""

    family: ModelFamily
    kernel: Kernel
    # The kernel as text; one that holds very much that it has learned is written without that.
    formula: str
    value: float | None  # of the family's parameter
    error: float  # of the splits that chose it
    surface: Surface
    edges: tuple[str, ...]  # parameters that ended at an edge of the grid, in words
    rows: str = ""  # the preparation of the rows
    # What resolves the kernel on other rows: a text has more words in them. None if it is learned.
    again: Callable[[Items], Kernel] | None = None
    outer: np.ndarray | None = None  # the metric that was learned, of prepared columns
    reason: str = ""  # why this metric

    @property
    def candidates(self) -> int:
        """How many combinations were compared."""
        return int(np.isfinite(self.surface.errors).sum())

    def machine(self, X: Items | None = None) -> Any:
        """Return the machine, not fitted yet, its kernel resolved on some rows."""
        kernel = self.kernel if self.again is None or X is None else self.again(X)
        return self.family.machine(kernel, self.value)


def choose(
    family: ModelFamily, candidates: Sequence[CandidateKernel], inner: InnerFolds | Prepared
) -> FamilyChoice:
    """Return the best kernel and parameter for a family of machines.

    Raises
    ------
    SelectionError
        If nothing of it could be fitted.
    """
    suitable = [one for one in candidates if family.unbounded or not one.unbounded]
    grids = [Grid(family, one, inner.on(one.rows)) for one in suitable or candidates]
    for grid in grids:
        grid.begin()
    lowest = min(grid.lowest for grid in grids)
    for grid in grids:
        if grid.lowest <= lowest + FAR_BEHIND * grid.inner.noise(lowest):
            grid.go_on()
    best = min(grids, key=lambda grid: grid.lowest - TIE * (grid is grids[0]))
    if not np.isfinite(best.lowest):
        raise SelectionError(best.trouble or "no kernel and parameter could be tried")
    scale, value = best.best
    kernel, formula, edges = best.kernels[scale], best.formula(scale), tuple(best.edges())
    candidate = best.candidate

    known: list[Any] = []  # rows, and the kernel resolved on them: often asked for again

    def again(X: Items) -> Kernel:
        if not known or known[0] is not X:
            known[:] = X, candidate.resolve(X)
        return candidate.scale(known[1], scale)

    return FamilyChoice(
        best.family, kernel, formula, value, best.lowest, _surface(grids), edges, candidate.rows,
        again,
    )  # fmt: skip


def _surface(grids: list[Grid]) -> Surface:
    """Return all errors as one table; values that a grid did not try are NaN."""
    family = grids[0].family
    values = sorted({value for grid in grids for value in grid.values if value is not None})
    names, rows = [], []
    for grid in grids:
        for scale in sorted(grid.scales):
            names.append(grid.formula(scale))
            some = values or [None]
            rows.append([grid.errors.get((scale, value), np.nan) for value in some])
    return Surface(tuple(names), family.parameter, tuple(values), np.array(rows, dtype=float))


class Grid:
    """Scales of one kernel, times values of the family's parameter."""

    def __init__(self, family: ModelFamily, candidate: CandidateKernel, inner: InnerFolds) -> None:
        family = family.for_targets(inner.y)
        self.family, self.candidate, self.inner = family, candidate, inner
        self.scales: list[float] = list(candidate.scales) or [1.0]
        self.values: list[Any] = list(family.values) or [None]
        self.errors: dict[tuple[float, Any], float] = {}
        self.kernels: dict[float, Kernel] = {}
        self.trouble = ""

    @property
    def best(self) -> tuple[float, Any]:
        """The cell of the lowest error; of equal ones that with the smoothest function."""
        sense = -1 if self.family.larger_is_smoother else 1

        def rank(cell: tuple[float, Any]) -> tuple[float, ...]:
            scale, value = cell
            error = self.errors[cell]
            rounded = round(error / TIE) if np.isfinite(error) else np.inf
            return rounded, -scale, sense * (value or 0.0)

        return min(self.errors, key=rank)

    def formula(self, scale: float) -> str:
        """Return the kernel of a scale as text."""
        kernel = self.kernels[scale]
        if len(repr(kernel)) <= 1000:  # letters; one that has learned more is not written out
            return repr(kernel)
        asked = self.candidate.kernel
        if self.candidate.scales:
            asked = asked.set_params(bandwidth=kernel.bandwidth)  # type: ignore[attr-defined]
        return repr(asked)

    @property
    def lowest(self) -> float:
        errors = [error for error in self.errors.values() if np.isfinite(error)]
        return min(errors, default=float("inf"))

    def begin(self) -> None:
        """Try the first grid."""
        try:
            self.base = self.inner.resolve(self.candidate)
        except MercerError as error:
            self.trouble = str(error)
            return
        self._try(self.scales, self.values)

    def go_on(self) -> None:
        """Go on where the best cell is at an end."""
        for _ in range(6):  # extensions, on both sides together
            if not np.isfinite(self.lowest):
                return
            scales, values = self._beyond()
            if scales:
                self._try(scales, self.values)
                self.scales = sorted({*self.scales, *scales})
            elif values:
                self._try(self.scales, values)
                self.values = sorted({*self.values, *values})
            else:
                return

    def _around_best(self) -> tuple[dict[float, float], dict[Any, float]]:
        """Return errors of all scales at the best value, and of all values at the best scale."""
        scale, value = self.best
        by_scale = {s: self.errors[s, value] for s in self.scales}
        return by_scale, {v: self.errors[scale, v] for v in self.values}

    def _beyond(self) -> tuple[list[float], list[float]]:
        """Return the next scales or values to try."""
        by_scale, by_value = self._around_best()
        scales = _next(by_scale, MIN_SCALE, MAX_SCALE)
        values = [] if isinstance(self.best[1], int) else _next(by_value, *self.family.limits)
        return scales, values

    def edges(self) -> list[str]:
        """Say which parameters have their best value at the end of what was tried."""
        scale, value = self.best
        by_scale, by_value = self._around_best()
        width = getattr(self.kernels[scale], "bandwidth", None)
        found = []
        for name, errors, best, shown in (
            ("bandwidth", by_scale, scale, width),
            (self.family.parameter, by_value, value, value),
        ):
            if _at_end(errors) and (end := edge_of(best, errors)):
                found.append(f"the best {name} is the {end} that was tried, {shown:.3g}")
        return found

    def _try(self, scales: Sequence[float], values: Sequence[Any]) -> None:
        """Cross-validate all combinations of some scales and values."""
        inner, grid, cells = self.inner, [], []
        for scale in scales:
            kernel = self.candidate.scale(self.base, scale)
            self.kernels[scale] = kernel
            for value in values:
                machine = self.family.machine(kernel, value)
                name = self.family.parameter
                chosen = {name: [getattr(machine, name)]} if name else {}
                grid.append({"kernel": [kernel]} | chosen)
                cells.append((scale, value))
        search = GridSearchCV(machine, grid, scoring=inner.scoring, cv=inner.splits, refit=False)
        weights = inner.arrangement.weights
        given = {} if weights is None else {"sample_weight": weights}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")  # of candidates that fail, which are not chosen
            try:
                search.fit(inner.X, inner.y, **given)
            except MercerError as error:
                self.trouble = str(error)
                return
        errors = inner.error(search.cv_results_["mean_test_score"])
        self.errors.update(zip(cells, errors.tolist(), strict=True))
        if caught and not np.isfinite(errors).any():
            self.trouble = str(caught[0].message)


def _at_end(errors: dict[Any, float]) -> int:
    """Return -1 or 1 if the lowest error is at the first or last value, with a gain, else 0."""
    if len(errors) < 2:
        return 0
    ordered = sorted(errors)
    lowest = np.nanmin(list(errors.values()))
    for end, inside, side in ((0, 1, -1), (-1, -2, 1)):
        gain = errors[ordered[inside]] - errors[ordered[end]]
        if errors[ordered[end]] == lowest and not gain <= 0.005 * lowest:  # less is no gain
            return side
    return 0


def _next(errors: dict[float, float], low: float, high: float) -> list[float]:
    """Return the value after the end of a grid, in its steps, if the best one is at that end."""
    side, ordered = _at_end(errors), sorted(errors)
    if not side:
        return []
    end, inside = (ordered[0], ordered[1]) if side < 0 else (ordered[-1], ordered[-2])
    further = float(f"{end**2 / inside:.4g}")
    return [further] if low * (1 - 1e-9) <= further <= high * (1 + 1e-9) else []
