"""The target of an encoding: columns to average in each level, and the folds to do it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mercer.domains.targets import admit_labels, admit_target
from mercer.errors import DomainError
from mercer.machines.folds import grouped_folds, stratified_folds

__all__ = ["TARGETS", "TargetColumns"]

TARGETS = ("classify", "regress")
MAX_CLASSES = 10  # whose shares are columns: the most frequent ones


class TargetColumns:
    """The target as columns to average, with folds; looked at when a column needs it."""

    def __init__(self, encode: Any, y: Any, count: int, groups: Any = None) -> None:
        self.encode, self.y, self.count = encode, y, count
        self.groups = None if groups is None else np.unique(groups, return_inverse=True)[1]
        self.given = y is not None
        self.known: tuple[np.ndarray, list[str], np.ndarray] | None = None

    def admitted(self) -> tuple[np.ndarray, list[str], np.ndarray]:
        """Return columns, what they are called, and the fold of each row."""
        if self.known is None:
            if not self.given:
                raise DomainError("levels='target' needs the target: pass y, or levels='onehot'")
            self.known = self._classes() if self._is_classes() else self._numbers()
        return self.known

    def _is_classes(self) -> bool:
        if self.encode.target_kind is not None:
            return self.encode.target_kind == "classify"
        y = np.asarray(self.y)
        if y.dtype.kind not in "iu":
            return y.dtype.kind != "f"
        different = len(np.unique(y))
        return different <= 2 or (different <= 20 and len(y) >= 3 * different)

    def _classes(self) -> tuple[np.ndarray, list[str], np.ndarray]:
        codes, classes = admit_labels(self.y, self.count)
        counts = np.bincount(codes)
        shown = np.sort(np.argsort(-counts, kind="stable")[:MAX_CLASSES])
        shown = shown[1:] if len(classes) == 2 else shown
        labels = [f"share of {str(classes[c])[:40]}" for c in shown]
        if self.groups is None:
            fold = stratified_folds(codes, self._folds(), self._random())
        else:
            fold = grouped_folds(codes, self.groups, self._folds(), self._random())
        return (codes[:, None] == shown).astype(np.float64), labels, fold

    def _numbers(self) -> tuple[np.ndarray, list[str], np.ndarray]:
        y = admit_target(self.y, self.count).reshape(self.count, -1)
        y = y / (np.abs(y).max(axis=0) + (np.abs(y).max(axis=0) == 0))  # sums stay finite
        one = y.shape[1] == 1
        labels = ["mean of y"] if one else [f"mean of y{j}" for j in range(y.shape[1])]
        if self.groups is None:
            fold = self._random().permutation(np.arange(self.count) % self._folds())
        else:
            codes = np.zeros(self.count, dtype=np.intp)
            fold = grouped_folds(codes, self.groups, self._folds(), self._random())
        return y, labels, fold

    def _folds(self) -> int:
        return min(int(self.encode.folds), self.count)

    def _random(self) -> Any:
        return check_random_state(self.encode.random_state)
