"""Predictions for folds: what ridge-like machines would say of items, without fitting them again.

A machine that declares closed-form folds is one linear system, and `mercer.solvers.ridge.held_out`
knows what its solution would have been without some of the items. This module reads the answers as
the machine would; `mercer.selection.closed_form` takes the route that the plan finds cheapest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer import lapack
from mercer.machines.abilities import ClosedForm
from mercer.machines.ridge import Regression
from mercer.selection.splits import FoldOrder, Split
from mercer.solvers.ridge.held_out import HeldOutResiduals, held_out, nested
from mercer.solvers.ridge.inverse import CholeskySystem, System
from mercer.solvers.ridge.shifted_lanczos import CAPACITY, solve_shifted
from mercer.solvers.ridge.solver import eliminate_intercept, intercepts
from mercer.solvers.ridge.spectral import FeatureSystem, TridiagonalSystem

__all__ = ["FoldPredictor", "Predictions"]

Predictions = list[
    np.ndarray | None
]  # f(x) + b for each split; None where only a refit can be trusted

# Condition up to which a route keeps about nine digits (tests/oracles/test_held_out.py).
MAX_CONDITION: dict[type[System], float] = {
    CholeskySystem: 1e8, TridiagonalSystem: 1e7, FeatureSystem: 1e7,
}  # fmt: skip
MAX_STEPPED_CONDITION = 1e6  # the same for Lanczos steps
MIN_MARGIN = 1e-6  # between classes, for labels that are differences of large numbers
TIED = 1e-9  # predictions that differ by less have no order that can be trusted
RECOMPUTING_STEPS = 100.0  # that a prediction which is computed anew is worth
ALWAYS_STORED = 2**22  # numbers for which there is always room


@dataclass
class FoldPredictor:
    """One machine's regression on items that are ordered by folds.

    Attributes
    ----------
    machine : ClosedForm
        Its penalty does not matter.
    regression : Regression
    source : ndarray or sparse array
        The Gram matrix of all items, or their features.
    splits : sequence of Split
    folds : FoldOrder
    ranked : bool
        Whether the order of the items by their predictions matters, not only their labels.
    """

    machine: ClosedForm
    regression: Regression
    source: Any
    splits: Sequence[Split]
    folds: FoldOrder
    ranked: bool = False

    def __post_init__(self) -> None:
        n = len(self.regression.target)
        self.target = self.regression.target.reshape(n, -1)
        self.roots = None if self.regression.weights is None else np.sqrt(self.regression.weights)
        self.intercept = self.machine.has_intercept

    # ---- systems -------------------------------------------------------------------------------

    @cached_property
    def matrix(self) -> np.ndarray:
        """SKS of the ordered items."""
        M, items = self.source, self.folds.items
        if not np.array_equal(items, np.arange(len(M))):
            M = M.take(items, axis=0).take(items, axis=1)
        if self.roots is not None:
            M = self.roots[items][:, None] * M * self.roots[items]
        return np.ascontiguousarray(M)

    def system(self, route: str, penalties: Sequence[float] = ()) -> System:
        """Return the system of all items, prepared for a route and some penalties."""
        items = self.folds.items
        roots = None if self.roots is None else self.roots[items]
        parts = self.target[items], roots, self.intercept
        if route == "features":
            return FeatureSystem(self.source[items], *parts)
        if route == "tridiagonal":
            return TridiagonalSystem(self.matrix, *parts, penalties)
        inner = any(split.within is not None for split in self.splits)
        return CholeskySystem(self.matrix, *parts, full=self.folds.nested and inner)

    def is_definite(self, penalty: float) -> bool:
        """Tell whether the matrix with the penalty has a Cholesky factor."""
        M = self.matrix.copy()
        M.flat[:: len(M) + 1] += penalty
        return lapack.factor(M)

    @cached_property
    def scale(self) -> np.ndarray:
        """The diagonal of S."""
        n = len(self.folds.items)
        return np.ones(n) if self.roots is None else self.roots[self.folds.items]

    @cached_property
    def sides(self) -> np.ndarray:
        """Sy, a row for each target, and S1 if there is an intercept."""
        sides = (self.target[self.folds.items] * self.scale[:, None]).T
        return np.concatenate([sides, self.scale[None]]) if self.intercept else sides

    @cached_property
    def place(self) -> np.ndarray:
        """Where each of the user's items is now."""
        place = np.empty(len(self.target), dtype=np.intp)
        place[self.folds.items] = np.arange(len(self.folds.items))
        return place

    def masks(self, splits: Sequence[int]) -> np.ndarray:
        """Return 1 where an item is learned from in a split, otherwise 0."""
        masks = np.zeros((len(splits), len(self.folds.items)))
        for mask, k in zip(masks, splits, strict=True):
            train = self.splits[k].train
            mask[self.place[train if self.roots is None else train[self.roots[train] > 0]]] = 1.0
        return masks

    # ---- routes --------------------------------------------------------------------------------

    def by_inverse(self, system: System, penalty: float, predictions: Predictions) -> None:
        """Fill in the predictions of all splits for one penalty, from the inverse of all items."""
        inverse = system.at(penalty) if penalty > 0 else None
        if inverse is None or inverse.condition > MAX_CONDITION[type(system)]:
            return  # too many digits are lost
        close = [
            k for k, held, sums in self._held_out(inverse)
            if self._store(k, held, sums, penalty, predictions)
        ]  # fmt: skip
        self._recompute(penalty, predictions, close)

    def by_steps(
        self,
        penalties: Sequence[float],
        predictions: list[Predictions],
        worth: float,
        usable: Sequence[int] | None = None,
    ) -> None:
        """Fill in the predictions of those penalties for which a few Lanczos steps suffice.

        All splits are done that leave items out, or some of them.
        """
        sides, s = self.sides, self.scale
        if usable is None:
            usable = [k for k, rows in enumerate(self.folds.removed) if rows is not None]
        count = len(sides)
        found = solve_shifted(
            self.matrix, np.tile(sides, (len(usable), 1)),
            np.repeat(self.masks(usable), count, axis=0), penalties, worth,
        )  # fmt: skip
        # Errors are larger than residuals: by the root of the condition, and by how far the
        # weights are apart.
        norm = lapack.norm(self.matrix) * (s.max() / s.min()) ** 2
        near = np.asarray(penalties) * MAX_STEPPED_CONDITION > norm
        for p in np.flatnonzero(found.solved & near).tolist():
            for j, k in enumerate(usable):
                rows = slice(j * count, (j + 1) * count)
                alpha, product = found.solutions[p, rows].T, found.products[p, rows].T
                offset: Any = 0.0
                if self.intercept:
                    offset = intercepts(s, alpha)
                    alpha, product = (eliminate_intercept(A, offset) for A in (alpha, product))
                predictions[p][k] = self._from_solution(k, alpha, product, offset, penalties[p])

    def by_parts(self, penalties: Sequence[float], predictions: list[Predictions]) -> None:
        """Fill in the predictions from a decomposition of each split's own part."""
        for k, split in enumerate(self.splits):
            if self.folds.removed[k] is None:
                continue
            train = split.train if self.roots is None else split.train[self.roots[split.train] > 0]
            s = None if self.roots is None else self.roots[train]
            M = self.source.take(train, axis=0).take(train, axis=1)
            M = M if s is None else s[:, None] * M * s
            system = TridiagonalSystem(M, self.target[train], s, self.intercept)
            rows = self.source.take(split.test, axis=0).take(train, axis=1)
            for p, penalty in enumerate(penalties):
                inverse = system.at(penalty) if penalty > 0 else None
                if inverse is None or inverse.condition > MAX_CONDITION[TridiagonalSystem]:
                    continue
                a = inverse.alpha if s is None else s[:, None] * inverse.alpha
                sums = self.target[train].T @ a
                predictions[p][k] = self._decision_values(
                    k, rows @ a + inverse.offset, sums, penalty
                )

    # ---- reading answers -----------------------------------------------------------------------

    def _held_out(self, inverse: Any) -> Iterator[tuple[int, HeldOutResiduals, Any]]:
        """Yield each split that has one with its residuals, and YᵀA if predictions mix targets."""
        removed, unit = self.folds.removed, inverse.unit
        sums: Any = None
        if self.machine.mixes_targets:
            A = inverse.alpha * self.scale[:, None]
            sums = self.target[self.folds.items].T @ A / unit
        inner: dict[int, list[int]] = {}
        for k, split in enumerate(self.splits):
            if removed[k] is not None and split.within is not None and self.folds.nested:
                inner.setdefault(split.within, []).append(k)
        for o, parts in inner.items():
            if not isinstance(removed[o], slice):
                continue
            whole, helds = nested(inverse, removed[o], [removed[k] for k in parts])
            without = _without(sums, whole, unit)
            yield o, whole, without
            for k, held in zip(parts, helds, strict=True):
                yield k, held, _without(without, held, unit)
        plain = [
            k
            for k, split in enumerate(self.splits)
            if k not in inner
            and removed[k] is not None
            and (split.within is None or not self.folds.nested)
        ]
        helds = held_out(inverse, [removed[k] for k in plain])
        for k, held in zip(plain, helds, strict=True):
            yield k, held, _without(sums, held, unit)

    def _store(
        self,
        split: int,
        held: HeldOutResiduals,
        sums: Any,
        penalty: float,
        predictions: Predictions,
    ) -> bool:
        """Fill in the predictions of a split from its residuals, unless classes are too close.

        Returns whether they are. A prediction is y minus a residual. Where it is small beside y,
        as with narrow kernels, it has lost its digits, and with them the label.
        """
        if not held.trusted:
            return False
        test = self.splits[split].test
        r = held.residuals[self.folds.tests[split]]
        if self.roots is not None:
            r = r / self.roots[test][:, None]
        F = self.target[test] - r
        found = self._decision_values(split, F, sums, penalty)
        labels = found is not None and self.regression.classes is not None
        if labels and ((self.ranked and _are_tied(F)) or _are_close(F, found, MIN_MARGIN)):
            return True
        predictions[split] = found
        return False

    def _recompute(self, penalty: float, predictions: Predictions, splits: Sequence[int]) -> None:
        """Multiply out the predictions where classes are close, if a few steps suffice."""
        if not isinstance(self.source, np.ndarray) or self.source.shape[1] != len(self.target):
            return  # features, which a refit will use
        n = len(self.folds.items)
        some = max(1, max(n**2, ALWAYS_STORED) // (CAPACITY * n * len(self.sides)))
        for start in range(0, len(splits), some):
            self.by_steps(
                [penalty], [predictions], RECOMPUTING_STEPS, splits[start : start + some]
            )

    def _from_solution(
        self, k: int, alpha: np.ndarray, product: np.ndarray, offset: Any, penalty: float
    ) -> np.ndarray | None:
        """Return the machine's predictions for a split's test items from a solution α, and Mα."""
        test = self.place[self.splits[k].test]
        F = product[test] / self.scale[test][:, None] + offset
        mixed, sums = self.machine.mixes_targets, None
        if mixed:
            sums = self.target[self.folds.items].T @ (self.scale[:, None] * alpha)
        found = self._decision_values(k, F, sums, penalty)
        if found is None or self.regression.classes is None or not self.intercept:
            return found
        # Beside an intercept a small function is lost again, and a refit depends on rounding.
        flat = len(F) > 1 and np.ptp(F, axis=0).max() <= MIN_MARGIN
        lost = self.ranked and (flat or (mixed and _are_tied(F)))
        return None if lost or _are_close(F, found, TIED) else found

    def _decision_values(self, k: int, F: np.ndarray, sums: Any, penalty: float) -> Any:
        """Return what the machine makes of the values of its regression."""
        if not self.machine.mixes_targets:
            return F.reshape(len(F), *self.regression.target.shape[1:])
        assert self.regression.codes is not None
        train, classes = self.splits[k].train, self.target.shape[1]
        w = None if self.regression.weights is None else self.regression.weights[train]
        sizes = np.bincount(self.regression.codes[train], w, classes).astype(float)
        if not sizes.all():
            return None  # a class without weight, which a fit will name
        return self.machine.regression_scores(F, sums, sizes, penalty)


def _without(sums: Any, held: HeldOutResiduals, unit: float) -> Any:
    """Return YᵀA when some items are left out."""
    return None if sums is None else sums - held.alpha.T @ held.residuals / unit


def _are_tied(F: np.ndarray) -> bool:
    """Tell whether two items have nearly the same value."""
    return len(F) > 1 and bool(np.diff(np.sort(F, axis=0), axis=0).min() <= TIED)


def _are_close(F: np.ndarray, values: np.ndarray, apart: float) -> bool:
    """Tell whether two classes have nearly the same decision value for some item.

    F are the values of the regression that they are made of, some of them many times as
    large.
    """
    if values.ndim == 1:
        margins = np.abs(values)
    else:
        best = np.sort(values, axis=1)
        margins = best[:, -1] - best[:, -2]
    largest = np.abs(F).max()
    factor = max(1.0, float(np.abs(values).max() / largest)) if largest > 0 else 1.0
    return bool(margins.min() <= apart * factor)
