"""Ridge-like machines: scores of held-out items without fitting a machine for them.

`KernelRidge`, `KernelRidgeClassifier`, `KernelDiscriminant` and `GaussianProcess` are one linear
system each, and `mercer.solvers.heldout` knows what its solution would have been without some of
the items. This module reads the answers as the machine would; `mercer.selection.closed_form` takes
the route that the plan finds cheapest.
"""

from __future__ import annotations

import numbers
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer import lapack
from mercer.errors import SolveError
from mercer.machines.discriminant import KernelDiscriminant, discriminants
from mercer.machines.ridge import Regression, Ridge
from mercer.plans import Decision, Plan
from mercer.selection.splits import FoldOrder, Split
from mercer.solvers.heldout import Held, held_out, nested
from mercer.solvers.influence import Features, Inverse, Spectrum, System
from mercer.solvers.krylov import CAPACITY, solve_shifted
from mercer.solvers.nearby import Fold, Pole

__all__ = ["Work", "has_shortcut", "intercept_of", "is_ridge"]

# Condition up to which a route keeps about nine digits (tests/oracles/test_held_out.py).
TRUSTED = {Inverse: 1e8, Spectrum: 1e7, Features: 1e7}
STEPPED = 1e6  # ... and up to which steps do
CLOSE = 1e-6  # scores of classes that differ by less are not trusted, being differences
TIED = 1e-9  # scores of items that differ by less have no order that can be trusted
STEPS = 100.0  # what a score that is computed anew is worth
ROOM = 2**22  # numbers that may always be stored


def has_shortcut(machine: Any) -> bool:
    """Tell whether a machine is a ridge regression whose weights are the same in all folds."""
    penalty = getattr(machine, "penalty", None)
    if not isinstance(penalty, numbers.Real) or not 0 < float(penalty) < np.inf:
        return False  # a fit will say what is wrong with it
    if not isinstance(getattr(machine, "follow", None), Plan | Decision | None):
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


def is_ridge(machine: Any) -> bool:
    """Tell whether a machine is a ridge regression inside.

    Examples
    --------
    >>> from mercer import SVC, GaussianProcess
    >>> is_ridge(GaussianProcess()), is_ridge(SVC())
    (True, False)
    """
    return isinstance(machine, Ridge | KernelDiscriminant)


def intercept_of(machine: Any) -> bool:
    """Tell whether the machine's regression has an intercept."""
    return isinstance(machine, KernelDiscriminant) or bool(machine.intercept)


@dataclass
class Work:
    """One machine's regression on arranged items; `ranked` if their order by scores matters."""

    machine: Any
    task: Regression
    source: Any
    splits: Sequence[Split]
    found: FoldOrder
    ranked: bool = False

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

    def inverse(self) -> Inverse:
        """Return the system whose influences are matrices."""
        system = self.system(Inverse)
        assert isinstance(system, Inverse)
        return system

    def is_definite(self, penalty: float) -> bool:
        """Tell whether the matrix with the penalty has a Cholesky factor."""
        M = self.matrix.copy()
        M.flat[:: len(M) + 1] += penalty
        return lapack.factor(M)

    def by_steps(
        self,
        penalties: Sequence[float],
        scores: list[list[np.ndarray | None]],
        worth: float,
        usable: Sequence[int] | None = None,
    ) -> None:
        """Fill in the scores of those penalties for which a few products with M suffice.

        All splits are done that leave items out, or some of them.
        """
        sides, s = self.sides, self.scale
        if usable is None:
            usable = [k for k, rows in enumerate(self.found.removed) if rows is not None]
        count = len(sides)
        found = solve_shifted(
            self.matrix, np.tile(sides, (len(usable), 1)),
            np.repeat(self.masks(usable), count, axis=0), penalties, worth,
        )  # fmt: skip
        # Errors are larger than residuals: by the root of the condition, and by how far the
        # weights are apart.
        norm = lapack.norm(self.matrix) * (s.max() / s.min()) ** 2
        near = np.asarray(penalties) * STEPPED > norm
        for p in np.flatnonzero(found.solved & near).tolist():
            for j, k in enumerate(usable):
                rows = slice(j * count, (j + 1) * count)
                alpha, product = found.solutions[p, rows].T, found.products[p, rows].T
                offset: Any = 0.0
                if self.intercept:
                    offset = s @ alpha[:, :-1] / float(s @ alpha[:, -1])
                    alpha, product = (A[:, :-1] - A[:, -1:] * offset for A in (alpha, product))
                scores[p][k] = self._told(k, alpha, product, offset, penalties[p])

    def from_pole(
        self, pole: Pole, penalties: np.ndarray, scores: list[list[np.ndarray | None]], steps: int
    ) -> None:
        """Fill in the scores of penalties near one at which the inverse is known."""
        found = pole.solve(penalties, steps)
        for j, p in enumerate(found.solved.tolist()):
            for i, k in enumerate(pole.splits):
                parts = found.solutions[j, i].T, found.products[j, i].T, found.offsets[j, i]
                scores[p][k] = self._told(k, *parts, penalties[p])

    @cached_property
    def scale(self) -> np.ndarray:
        """The diagonal of S."""
        n = len(self.found.items)
        return np.ones(n) if self.roots is None else self.roots[self.found.items]

    @cached_property
    def sides(self) -> np.ndarray:
        """Sy, a row for each target, and S1 if there is an intercept."""
        sides = (self.target[self.found.items] * self.scale[:, None]).T
        return np.concatenate([sides, self.scale[None]]) if self.intercept else sides

    @cached_property
    def place(self) -> np.ndarray:
        """Where each of the user's items is now."""
        place = np.empty(len(self.target), dtype=np.intp)
        place[self.found.items] = np.arange(len(self.found.items))
        return place

    def masks(self, splits: Sequence[int]) -> np.ndarray:
        """Return 1 where an item is learned from in a split, otherwise 0."""
        masks = np.zeros((len(splits), len(self.found.items)))
        for mask, k in zip(masks, splits, strict=True):
            train = self.splits[k].train
            mask[self.place[train if self.roots is None else train[self.roots[train] > 0]]] = 1.0
        return masks

    def _told(
        self, k: int, alpha: np.ndarray, product: np.ndarray, offset: Any, penalty: float
    ) -> Any:
        """Return the machine's scores of a split's test items from a solution α, and Mα."""
        test = self.place[self.splits[k].test]
        F = product[test] / self.scale[test][:, None] + offset
        sums: Any = None
        if isinstance(self.machine, KernelDiscriminant):
            sums = self.target[self.found.items].T @ (self.scale[:, None] * alpha)
        found = self._scores(k, F, sums, penalty)
        if found is None or self.task.classes is None or not self.intercept:
            return found
        # Beside an intercept a small function is lost again, and a refit depends on rounding.
        mixed = isinstance(self.machine, KernelDiscriminant)
        flat = len(F) > 1 and np.ptp(F, axis=0).max() <= CLOSE
        lost = self.ranked and (flat or (mixed and _are_tied(F)))
        return None if lost or _are_close(F, found, TIED) else found

    def at_once(self, system: System, penalty: float, scores: list[np.ndarray | None]) -> None:
        """Fill in the scores of all splits for one penalty."""
        influence = self._trusted(system, penalty)
        if influence is not None:
            unit = penalty if isinstance(system, Features) else 1.0
            found = self._held(influence, unit)
            self._mend(
                penalty, scores, [one[0] for one in found if self._put(*one, penalty, scores)]
            )

    def pole(
        self, system: Inverse, penalty: float, scores: list[np.ndarray | None]
    ) -> Pole | None:
        """Fill in the scores of all splits for one penalty, and return what its neighbors need.

        It is None if not all splits can be had.
        """
        influence = self._trusted(system, penalty)
        if influence is None:
            return None
        found = list(self._held(influence, 1.0))
        self._mend(penalty, scores, [one[0] for one in found if self._put(*one, penalty, scores)])
        splits = [split for split, _, _ in found]
        if any(scores[split] is None or held.factor is None for split, held, _ in found):
            return None
        removed, families = self.found.removed, defaultdict(list)
        for place, (k, held, _) in enumerate(found):
            owner = self.splits[k].within if self.found.nested else None
            families[k if owner is None else owner].append(Fold(removed[k], held, place))
        left_out = list(families.values())
        return Pole(system, influence, penalty, left_out, self.masks(splits), splits)

    def _trusted(self, system: System, penalty: float) -> Any:
        """Return the influence at a penalty, or None if too many digits are lost."""
        influence = system.at(penalty) if penalty > 0 else None
        known = influence is not None and influence.condition <= TRUSTED[type(system)]
        return influence if known else None

    def _put(
        self, split: int, held: Held, sums: Any, penalty: float, scores: list[np.ndarray | None]
    ) -> bool:
        """Fill in the scores of a split from its residuals, unless classes are too close.

        Returns whether they are. A score is y minus a residual. Where it is small beside y, as
        with narrow kernels, it has lost its digits, and with them the label.
        """
        if not held.trusted or not np.isfinite(held.residuals).all():
            return False
        test = self.splits[split].test
        r = held.residuals[self.found.tests[split]]
        if self.roots is not None:
            r = r / self.roots[test][:, None]
        F = self.target[test] - r
        found = self._scores(split, F, sums, penalty)
        labels = found is not None and self.task.classes is not None
        if labels and ((self.ranked and _are_tied(F)) or _are_close(F, found, CLOSE)):
            return True
        scores[split] = found
        return False

    def _mend(
        self, penalty: float, scores: list[np.ndarray | None], doubtful: Sequence[int]
    ) -> None:
        """Multiply out the scores of some splits, if a few steps suffice for that."""
        if not isinstance(self.source, np.ndarray) or self.source.shape[1] != len(self.target):
            return  # features, which a refit will use
        n = len(self.found.items)
        some = max(1, max(n**2, ROOM) // (CAPACITY * n * len(self.sides)))
        for start in range(0, len(doubtful), some):
            self.by_steps([penalty], [scores], STEPS, doubtful[start : start + some])

    def _held(self, influence: Any, unit: float) -> Iterator[tuple[int, Held, Any]]:
        """Yield, for each split that has one, its residuals, and YᵀA for discriminants."""
        removed = self.found.removed
        sums: Any = None
        if isinstance(self.machine, KernelDiscriminant):
            items = self.found.items
            sums = self.target[items].T @ (influence.alpha * self.scale[:, None]) / unit
        inner: dict[int, list[int]] = {}
        for k, split in enumerate(self.splits):
            if removed[k] is not None and split.within is not None and self.found.nested:
                inner.setdefault(split.within, []).append(k)
        for o, parts in inner.items():
            if not isinstance(removed[o], slice):
                continue
            whole, helds = nested(influence, removed[o], [removed[k] for k in parts])
            without = _without(sums, whole, unit)
            yield o, whole, without
            for k, held in zip(parts, helds, strict=True):
                yield k, held, _without(without, held, unit)
        plain = [
            k
            for k, split in enumerate(self.splits)
            if k not in inner
            and removed[k] is not None
            and (split.within is None or not self.found.nested)
        ]
        helds = held_out(influence, [removed[k] for k in plain])
        for k, held in zip(plain, helds, strict=True):
            yield k, held, _without(sums, held, unit)

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


def _are_tied(F: np.ndarray) -> bool:
    """Tell whether two items have nearly the same value."""
    return len(F) > 1 and bool(np.diff(np.sort(F, axis=0), axis=0).min() <= TIED)


def _are_close(F: np.ndarray, scores: np.ndarray, apart: float) -> bool:
    """Tell whether two classes have nearly the same score for some item.

    F are the values of the regression that the scores are made of, some of them many times as
    large.
    """
    if scores.ndim == 1:
        margins = np.abs(scores)
    else:
        best = np.sort(scores, axis=1)
        margins = best[:, -1] - best[:, -2]
    largest = np.abs(F).max()
    factor = max(1.0, float(np.abs(scores).max() / largest)) if largest > 0 else 1.0
    return bool(margins.min() <= apart * factor)
