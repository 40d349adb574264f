"""Fold machines: what is fitted without a fold, and says of new items how wrong it may be.

A width is constant, or follows the item: in units of the size of errors, which another machine
learns from held-out errors (normalized; Papadopoulos, Gammerman & Vovk, 2008), or between two
quantiles that are learned in the place of the mean (Romano, Patterson & Candès, 2019).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from mercer.domains import Items
from mercer.errors import ValidityError
from mercer.kernels import Kernel
from mercer.machines.conforming.closed_form import answers_without, has_closed_form
from mercer.machines.folds import grouped_folds, stratified_folds
from mercer.machines.quantile import KernelQuantile
from mercer.machines.ridge import KernelRidge
from mercer.solvers.ridge.held_out import held_out
from mercer.solvers.ridge.spectral import TridiagonalSystem

__all__ = [
    "WIDTHS", "FoldMachine", "TrainingRows", "deal_folds", "fit_fold", "held_out_errors",
    "last_of",
    "learn_sizes", "log_sizes", "with_last",
]  # fmt: skip

WIDTHS = ("constant", "normalized", "quantile")
INNER_FOLDS = 5  # by which the size of errors is learned where no closed form tells them
SIZE_ROWS = 1000  # rows from which sizes of errors are learned; of more, a sample
# Errors below this share of the typical one count as this: their logarithm says nothing more.
SMALLEST_ERROR = 0.05
PENALTIES = 10.0 ** np.arange(-2, 5)  # of sizes, in units of the mean self-similarity
E_LOG = 0.63518  # −E log|z| of a normal deviate; takes the mean of logarithms to its size


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Items with targets, weights and groups.

    Attributes
    ----------
    X : items
    y : ndarray
    weights : ndarray or None
    groups : ndarray of int or None
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.y)

    def part(self, rows: np.ndarray) -> TrainingRows:
        """Return some of them."""
        w = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        if groups is not None:
            groups = np.unique(groups, return_inverse=True)[1]
        return TrainingRows(_safe_indexing(self.X, rows), self.y[rows], w, groups)

    def fit(self, machine: BaseEstimator) -> Any:
        """Return a clone of a machine, fitted to them."""
        given: dict[str, Any] = {} if self.weights is None else {"sample_weight": self.weights}
        if given and isinstance(machine, Pipeline):
            given = {f"{machine.steps[-1][0]}__sample_weight": self.weights}
        return clone(machine).fit(self.X, self.y, **given)


@dataclass(frozen=True, eq=False)
class FoldMachine:
    """A fitted machine, and what it says between which bounds, in which unit.

    Attributes
    ----------
    machine : fitted machine
        Of a mean, or of quantiles, of which the first and the last are the bounds.
    sizes : fitted machine or None
        Predicts the logarithm of the size of an error.
    """

    machine: Any
    sizes: Any = None

    def bounds(self, X: Items) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds that are widened; both are the prediction where there is only one."""
        found = np.asarray(self.machine.predict(X), dtype=np.float64)
        table = found.reshape(len(found), -1)
        return table[:, 0], table[:, -1]

    def scale(self, X: Items) -> np.ndarray | None:
        """Return the unit in which errors are told at each item."""
        return None if self.sizes is None else np.exp(self.sizes.predict(X))

    def scores(self, X: Items, y: np.ndarray) -> np.ndarray:
        """Return how far targets are beyond the bounds, in their unit; negative between them."""
        low, high = self.bounds(X)
        scale = self.scale(X)
        beyond = np.maximum(low - y, y - high)
        return beyond if scale is None else beyond / scale


def last_of(machine: BaseEstimator) -> Any:
    """Return the last step of a pipeline, or the machine itself."""
    return machine.steps[-1][1] if isinstance(machine, Pipeline) else machine


def with_last(machine: BaseEstimator, last: Any) -> Any:
    """Return a pipeline with another last step, or that alone; not fitted."""
    if not isinstance(machine, Pipeline):
        return last
    return Pipeline([*clone(machine).steps[:-1], (machine.steps[-1][0], last)])


def deal_folds(
    rows: TrainingRows, codes: np.ndarray | None, folds: int, rng: np.random.RandomState
) -> np.ndarray:
    """Return the fold of each item, −1 for those that are never held out."""
    if rows.groups is not None:
        kinds = np.zeros(len(rows), dtype=np.intp) if codes is None else codes
        return grouped_folds(kinds, rows.groups, folds, rng)
    if codes is None:
        return stratified_folds(np.zeros(len(rows), dtype=np.intp), min(folds, len(rows)), rng)
    return stratified_folds(codes, folds, rng, min_count=2)


def splits(fold: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the items that are learned from and those that are held out, fold by fold."""
    for k in range(int(fold.max()) + 1):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def fit_fold(
    machine: BaseEstimator,
    rows: TrainingRows,
    widths: str,
    sizes: Any,
    level: float,
    rng: np.random.RandomState,
) -> FoldMachine:
    """Return what is learned from some items."""
    if widths == "quantile":
        return FoldMachine(rows.fit(_quantiles(machine, rows, sizes, level)))
    fitted = rows.fit(machine)
    if widths == "constant":
        return FoldMachine(fitted)
    errors = held_out_errors(machine, fitted, rows, rng)
    return FoldMachine(fitted, learn_sizes(sizes, machine, rows, errors, rng)[0])


def _quantiles(machine: BaseEstimator, rows: TrainingRows, given: Any, level: float) -> Any:
    """Return the machine of two quantiles that belongs to a machine of the mean."""
    last = last_of(machine)
    if given is not None:
        return given
    if isinstance(last, KernelQuantile):
        return machine
    if not hasattr(last, "kernel"):
        raise ValidityError(
            f"{type(last).__name__} has no kernel to learn quantiles with; say which machine "
            "does: sizes=KernelQuantile(kernel, level=(0.05, 0.95), C=...)"
        )
    spread = float(np.std(rows.y)) or 1.0
    C = spread / float(getattr(last, "penalty", 1.0) or 1.0)
    levels = ((1 - level) / 2, (1 + level) / 2)
    return with_last(machine, KernelQuantile(last.kernel, levels, C=C))


def held_out_errors(
    machine: BaseEstimator, fitted: Any, rows: TrainingRows, rng: np.random.RandomState
) -> np.ndarray:
    """Return how wrong a machine is about each item when it has not seen it, or its group."""
    if has_closed_form(machine):
        groups = np.arange(len(rows)) if rows.groups is None else rows.groups
        order = np.argsort(groups, kind="stable")
        removals = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
        found = answers_without(fitted, rows.X, rows.y, removals, rows.weights)
        if found is not None:
            return found.residuals
    errors = np.zeros(len(rows))
    for train, test in splits(deal_folds(rows, None, INNER_FOLDS, rng)):
        part = rows.part(train).fit(machine)
        errors[test] = rows.y[test] - part.predict(_safe_indexing(rows.X, test))
    return errors


def log_sizes(errors: np.ndarray) -> np.ndarray:
    """Return the logarithms of the sizes of errors, as they are learned.

    Examples
    --------
    >>> log_sizes(np.array([-1.0, 1.0])).round(3)
    array([0.635, 0.635])
    """
    size = np.abs(errors)
    typical = float(np.median(size)) or float(size.max()) or 1.0
    return np.log(np.maximum(size, SMALLEST_ERROR * typical)) + E_LOG


def learn_sizes(
    given: Any,
    machine: BaseEstimator,
    rows: TrainingRows,
    errors: np.ndarray,
    rng: np.random.RandomState,
) -> tuple[Any, np.ndarray]:
    """Return a machine that predicts the logarithm of the size of an error, and what it has seen.

    Parameters
    ----------
    given : machine or None
        That learns it; by default a ridge regression with the kernel of `machine`.
    machine : machine
    rows : TrainingRows
    errors : ndarray
        Of the rows, when they were held out.
    rng : RandomState
    """
    some = np.arange(len(rows))
    if len(rows) > SIZE_ROWS:
        some = np.sort(rng.permutation(len(rows))[:SIZE_ROWS])
    part = TrainingRows(rows.X, log_sizes(errors), None, rows.groups).part(some)
    if given is not None:
        return part.fit(given), some
    last = last_of(machine)
    if not hasattr(last, "kernel"):
        raise ValidityError(
            f"{type(last).__name__} has no kernel to learn the size of errors with; say which "
            "regressor does: sizes=..."
        )
    return part.fit(with_last(machine, _ridge_of_sizes(machine, last.kernel, part))), some


def _ridge_of_sizes(machine: BaseEstimator, kernel: Kernel, rows: TrainingRows) -> KernelRidge:
    """Return a ridge regression whose penalty predicts held-out sizes best.

    Examples
    --------
    >>> X = np.linspace(0.0, 1.0, 60)[:, None]
    >>> sizes = np.sin(6 * X[:, 0])
    >>> found = _ridge_of_sizes(KernelRidge(), "gaussian", TrainingRows(X, sizes))
    >>> found.penalty < 1.0 and found.intercept  # sizes without noise need little of it
    True
    """
    first = with_last(machine, KernelRidge(kernel, 1.0, intercept=True))
    fitted = rows.fit(first)
    X = fitted[:-1].transform(rows.X) if isinstance(fitted, Pipeline) else rows.X
    inside = last_of(fitted)
    K = np.array(inside.kernel_(inside._admit(X)), dtype=np.float64)
    unit = float(np.mean(np.diag(K))) or 1.0
    system = TridiagonalSystem(K, rows.y[:, None], None, True, tuple(PENALTIES * unit))
    groups = np.arange(len(rows)) if rows.groups is None else rows.groups
    removals = [np.flatnonzero(groups == k) for k in range(int(groups.max()) + 1)]
    best, least = float(PENALTIES[-1] * unit), np.inf
    for penalty in (PENALTIES * unit)[::-1].tolist():
        inverse = system.at(penalty)
        if inverse is None:
            continue
        parts = list(held_out(inverse, removals))
        loss = float(np.mean(np.concatenate([one.residuals for one in parts]) ** 2))
        if all(one.trusted for one in parts) and loss < least:
            best, least = penalty, loss
    return KernelRidge(kernel, best, intercept=True)
