"""Ridge-like machines: scores of held-out items without fitting a machine for them.

`KernelRidge`, `KernelRidgeClassifier`, `KernelDiscriminant` and `GaussianProcess` are one linear
system each, and `mercer.solvers.heldout` knows what its solution would have been without some of
the items. This module arranges the items so that the folds lie side by side, and reads the answers
as the machine would; `mercer.selection.foresight` takes the route that the plan finds cheapest.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mercer.errors import SolveError
from mercer.machines.discriminant import KernelDiscriminant, discriminants
from mercer.machines.ridge import Regression, Ridge
from mercer.plans import Plan
from mercer.selection.splits import Split
from mercer.solvers.heldout import Held, held_out, nested
from mercer.solvers.influence import Features, Influence, Inverse, Spectrum, System
from mercer.solvers.krylov import solve_shifted

__all__ = ["Arrangement", "Work", "arrange", "has_shortcut", "intercept_of"]

# Condition up to which a route keeps about nine digits (tests/oracles/test_held_out.py).
TRUSTED = {Inverse: 1e8, Spectrum: 1e7, Features: 1e7}
STEPPED = 1e6  # ... and up to which steps do


def has_shortcut(machine: Any) -> bool:
    """Tell whether a machine is a ridge regression whose weights are the same in all folds."""
    penalty = getattr(machine, "penalty", None)
    if not isinstance(penalty, numbers.Real) or not 0 < float(penalty) < np.inf:
        return False  # a fit will say what is wrong with it
    if not isinstance(getattr(machine, "follow", None), Plan | None):
        return False
    if not getattr(machine, "similarities_suffice", True):
        return False
    if isinstance(machine, KernelDiscriminant):
        return machine.n_components in (None, 1)  # others may be too many
    repaired = getattr(machine, "indefinite", "error") != "error"
    return (
        isinstance(machine, Ridge)
        and not repaired
        and getattr(machine, "class_weight", None) != "balanced"
    )


def intercept_of(machine: Any) -> bool:
    """Tell whether the machine's regression has an intercept."""
    return isinstance(machine, KernelDiscriminant) or bool(machine.intercept)


@dataclass
class Arrangement:
    """Items in an order in which the sets to be left out lie side by side where they can.

    Attributes
    ----------
    items : ndarray
        The items that count, in their new order.
    removed : list
        For each split the places that are left out: a slice, an ascending array, or None if the
        split cannot be had that way. Inner folds do not repeat those of their outer one.
    tests : list
        For each split where among them the test items are.
    nested : bool
        Whether inner folds stand for themselves together with their outer ones.
    """

    items: np.ndarray
    nested: bool = False
    removed: list[Any] = field(default_factory=list)
    tests: list[Any] = field(default_factory=list)


def arrange(
    splits: Sequence[Split], count: int, weights: np.ndarray | None, nest: bool = True
) -> Arrangement:
    """Return an order of the items for these splits; with `nest`, one for nested folds.

    Examples
    --------
    >>> splits = [Split(np.array([0, 2]), np.array([1, 3])), Split(np.array([1, 3]), np.r_[0, 2])]
    >>> found = arrange(splits, 4, None)
    >>> found.items, found.removed
    (array([1, 3, 0, 2]), [slice(0, 2, None), slice(2, 4, None)])
    """
    active = np.ones(count, dtype=bool) if weights is None else weights > 0
    sets = [_removed(split, active) for split in splits]
    blocks = [
        rows
        for split, rows in zip(splits, sets, strict=True)
        if rows is not None and (split.within is None or not nest)
    ]
    together = np.concatenate(blocks) if blocks else np.empty(0, dtype=np.intp)
    apart = len(np.unique(together)) == len(together)
    rest = np.setdiff1d(np.flatnonzero(active), together)
    items = np.concatenate([together, rest]) if apart else np.flatnonzero(active)
    place = np.full(count, -1)
    place[items] = np.arange(len(items))
    found = Arrangement(items, nested=nest and apart)
    for k, split in enumerate(splits):
        mine = sets[k]
        if found.nested and split.within is not None and mine is not None:
            outer = sets[split.within]
            sets[k] = None if outer is None else np.setdiff1d(mine, outer)
    for split, rows in zip(splits, sets, strict=True):
        where: Any = None if rows is None else np.sort(place[rows])
        if rows is not None and len(rows) and where[-1] - where[0] == len(where) - 1:
            where = slice(int(where[0]), int(where[-1]) + 1)
        found.removed.append(where)
        found.tests.append(None if rows is None else _within(where, place[split.test]))
        if found.tests[-1] is None:
            found.removed[-1] = None
    return found


def _removed(split: Split, active: np.ndarray) -> np.ndarray | None:
    """Return the items that a split leaves out, or None where it is not that simple."""
    learned = np.zeros(len(active), dtype=bool)
    learned[split.train] = True
    if learned.sum() != len(split.train) or learned[split.test].any():
        return None  # items that are repeated, or held out and learned from at once
    if not active[split.test].all() or not (learned & active).any():
        return None  # an item without weight is in no system
    return np.flatnonzero(active & ~learned)


def _within(rows: Any, places: np.ndarray) -> np.ndarray | None:
    if isinstance(rows, slice):
        return places - rows.start
    found = np.searchsorted(rows, places)
    good = (found < len(rows)) & (rows[np.minimum(found, len(rows) - 1)] == places)
    return found if good.all() else None


@dataclass
class Work:
    """One machine's regression on arranged items."""

    machine: Any
    task: Regression
    source: Any
    splits: Sequence[Split]
    found: Arrangement

    def __post_init__(self) -> None:
        n = len(self.task.target)
        self.target = self.task.target.reshape(n, -1)
        self.roots = None if self.task.weights is None else np.sqrt(self.task.weights)
        self.intercept = intercept_of(self.machine)

    @cached_property
    def matrix(self) -> np.ndarray:
        """SKS of the arranged items."""
        M, items = self.source, self.found.items
        if not np.array_equal(items, np.arange(len(M))):
            M = M.take(items, axis=0).take(items, axis=1)
        if self.roots is not None:
            M = self.roots[items][:, None] * M * self.roots[items]
        return np.ascontiguousarray(M)

    def system(self, kind: Any) -> System:
        """Return the prepared system of all items."""
        items = self.found.items
        roots = None if self.roots is None else self.roots[items]
        matrix = self.source[items] if kind is Features else self.matrix
        return kind(matrix, self.target[items], roots, self.intercept)

    def by_steps(
        self, penalties: Sequence[float], scores: list[list[np.ndarray | None]], worth: float
    ) -> None:
        """Fill in the scores of those penalties for which a few products with M suffice."""
        n = len(self.found.items)
        place = np.empty(len(self.target), dtype=np.intp)
        place[self.found.items] = np.arange(n)
        s = np.ones(n) if self.roots is None else self.roots[self.found.items]
        Y = self.target[self.found.items]
        sides = (Y * s[:, None]).T
        if self.intercept:
            sides = np.concatenate([sides, s[None]])
        usable = [k for k, rows in enumerate(self.found.removed) if rows is not None]
        masks = np.zeros((len(usable), n))
        for mask, k in zip(masks, usable, strict=True):
            train = self.splits[k].train
            mask[place[train if self.roots is None else train[self.roots[train] > 0]]] = 1.0
        count = len(sides)
        found = solve_shifted(
            self.matrix, np.tile(sides, (len(usable), 1)), np.repeat(masks, count, axis=0),
            penalties, worth,
        )  # fmt: skip
        # Errors are larger than residuals: by the root of the condition, and by how far the
        # weights are apart.
        norm = np.abs(self.matrix).sum(axis=1).max() * (s.max() / s.min()) ** 2
        near = np.asarray(penalties) * STEPPED > norm
        for p in np.flatnonzero(found.solved & near).tolist():
            for j, k in enumerate(usable):
                rows = slice(j * count, (j + 1) * count)
                alpha, product = found.solutions[p, rows].T, found.products[p, rows].T
                offset: Any = 0.0
                if self.intercept:
                    offset = s @ alpha[:, :-1] / float(s @ alpha[:, -1])
                    alpha, product = (A[:, :-1] - A[:, -1:] * offset for A in (alpha, product))
                test = place[self.splits[k].test]
                F = product[test] / s[test][:, None] + offset
                sums = Y.T @ (s[:, None] * alpha)
                scores[p][k] = self._scores(k, F, sums, penalties[p])

    def at_once(self, system: System, penalty: float, scores: list[np.ndarray | None]) -> None:
        """Fill in the scores of all splits for one penalty."""
        influence = system.at(penalty) if penalty > 0 else None
        if influence is None or not influence.condition <= TRUSTED[type(system)]:
            return
        unit = penalty if isinstance(system, Features) else 1.0
        for split, held, sums in self._held(influence, unit):
            if held.trusted and np.isfinite(held.residuals).all():
                scores[split] = self._read(split, held.residuals, sums, penalty)

    def _held(self, influence: Influence, unit: float) -> list[tuple[int, Held, Any]]:
        """Return, for each split that has one, its residuals, and YᵀA for discriminants."""
        removed, wanted = self.found.removed, []
        sums: Any = None
        if isinstance(self.machine, KernelDiscriminant):
            items = self.found.items
            alpha = influence.alpha if self.roots is None else (
                influence.alpha * self.roots[items][:, None]
            )  # fmt: skip
            sums = self.target[items].T @ alpha / unit
        inner: dict[int, list[int]] = {}
        for k, split in enumerate(self.splits):
            if removed[k] is not None and split.within is not None and self.found.nested:
                inner.setdefault(split.within, []).append(k)
        for o, parts in inner.items():
            if not isinstance(removed[o], slice):
                continue
            whole, helds = nested(influence, removed[o], [removed[k] for k in parts])  # type: ignore[arg-type]
            without = _without(sums, whole, unit)
            wanted.append((o, whole, without))
            wanted += [
                (k, held, _without(without, held, unit))
                for k, held in zip(parts, helds, strict=True)
            ]
        plain = [
            k
            for k, split in enumerate(self.splits)
            if k not in inner
            and removed[k] is not None
            and (split.within is None or not self.found.nested)
        ]
        helds = held_out(influence, [removed[k] for k in plain])
        wanted += [
            (k, held, _without(sums, held, unit)) for k, held in zip(plain, helds, strict=True)
        ]
        return wanted

    def each_by_itself(
        self, penalties: Sequence[float], scores: list[list[np.ndarray | None]]
    ) -> None:
        """Fill in the scores from a decomposition of each split's own part."""
        for k, split in enumerate(self.splits):
            if self.found.removed[k] is None:
                continue
            train = split.train if self.roots is None else split.train[self.roots[split.train] > 0]
            s = None if self.roots is None else self.roots[train]
            M = self.source.take(train, axis=0).take(train, axis=1)
            M = M if s is None else s[:, None] * M * s
            system = Spectrum(M, self.target[train], s, self.intercept)
            rows = self.source.take(split.test, axis=0).take(train, axis=1)
            for p, penalty in enumerate(penalties):
                influence = system.at(penalty) if penalty > 0 else None
                if influence is None or influence.condition > TRUSTED[Spectrum]:
                    continue
                a = influence.alpha if s is None else s[:, None] * influence.alpha
                sums = self.target[train].T @ a
                scores[p][k] = self._scores(k, rows @ a + influence.offset, sums, penalty)

    def _read(self, k: int, residuals: np.ndarray, sums: Any, penalty: float) -> Any:
        """Return the machine's scores of a split's test items from residuals."""
        test = self.splits[k].test
        r = residuals[self.found.tests[k]]
        if self.roots is not None:
            r = r / self.roots[test][:, None]
        return self._scores(k, self.target[test] - r, sums, penalty)

    def _scores(self, k: int, F: np.ndarray, sums: Any, penalty: float) -> Any:
        """Return what the machine makes of the values of its regression."""
        if not isinstance(self.machine, KernelDiscriminant):
            return F.reshape(len(F), *self.task.target.shape[1:])
        assert self.task.codes is not None
        train, classes = self.splits[k].train, self.target.shape[1]
        w = None if self.task.weights is None else self.task.weights[train]
        counts = np.bincount(self.task.codes[train], w, classes).astype(float)
        if not counts.all():
            return None  # a class without weight, which a fit will name
        try:
            found = discriminants(sums, counts, penalty)
        except SolveError:
            return None  # a fit will say it
        mixing, constants = found.decision(counts / counts.sum())
        return F @ mixing + constants


def _without(sums: Any, held: Held, unit: float) -> Any:
    """Return YᵀA when some items are left out."""
    return None if sums is None else sums - held.alpha.T @ held.residuals / unit
