"""Preparation: what is done with the rows of a table before a kernel sees them.

Numbers, categories and dates become columns of numbers (`Encode`), on one or several scales; rows
with texts, sequences, molecules or graphs keep their columns, and only numbers are standardized.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from mercer.domains import Items, is_frame
from mercer.errors import DomainError
from mercer.machines import Encode, Standardize
from mercer.sources import Column

__all__ = [
    "COMMON", "NUMBERS", "PREPARATIONS", "Preparation", "PreparedFold", "encodable", "numeric",
    "take_rows",
]  # fmt: skip

NUMBERS = ("numeric", "date")
ENCODED = (*NUMBERS, "categorical")
# How columns of numbers are scaled, by the name of the preparation.
PREPARATIONS: dict[str, tuple[str, ...]] = {
    "standard": ("standard",),
    "ranks": ("quantile",),
    "both": ("standard", "quantile"),
}
COMMON = "common"  # one scale for all columns of numbers, such as pixels


def encodable(X: Any, columns: Sequence[Column]) -> bool:
    """Tell whether all columns of a table can become numbers."""
    if not is_frame(X):
        return False
    kinds = {column.name: column.kind for column in columns if column.used}
    return all(kinds.get(name, "numeric") in ENCODED for name in X.columns)


def numeric(X: Items, columns: Sequence[Column]) -> bool:
    """Tell whether a table has several columns, of numbers alone, which may have one unit."""
    kinds = {column.name: column.kind for column in columns if column.used}
    names = X.columns if is_frame(X) else []
    return len(names) > 1 and all(kinds.get(name, "numeric") == "numeric" for name in names)


@dataclass(frozen=True)
class Preparation:
    """How rows are prepared.

    Attributes
    ----------
    columns : sequence of Column
        What the columns were taken for.
    task : {"classify", "regress"}
    encode, standardize : bool
    seed : int
        Deals the folds in which targets are averaged for categories with many levels.
    """

    columns: Sequence[Column]
    task: str
    encode: bool
    standardize: bool
    seed: int

    def transformer(self, name: str) -> Encode | Standardize | None:
        """Return what prepares rows, not fitted yet."""
        if self.encode and name == COMMON:
            return Standardize(common=True)
        if self.encode:
            used = {column.name: column.kind for column in self.columns if column.used}
            scales = PREPARATIONS[name]
            return Encode(
                scales[0] if len(scales) == 1 else scales,
                kinds=used, target_kind=self.task, random_state=self.seed,
            )  # fmt: skip
        return Standardize() if self.standardize else None


class PreparedFold:
    """Training rows and new rows, prepared in each way that is asked for.

    Attributes
    ----------
    X, new : items
        As they are in the file, without columns that no training row has an entry of.
    y : ndarray
    groups : ndarray or None
        Rows that must not see each other's targets.
    """

    def __init__(
        self, how: Preparation, X: Items, y: np.ndarray, new: Items,
        groups: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        if how.encode or how.standardize:
            X, new = _drop_empty_columns(X, new)
        self.how, self.X, self.y, self.new, self.groups = how, X, y, new, groups
        self.done: dict[str, tuple[Any, Items]] = {}

    def fitted(self, name: str) -> Any:
        """Return the fitted transformer, None if rows stay as they are."""
        return self._prepared(name)[0]

    def rows(self, name: str) -> Items:
        """Return the training rows."""
        return self._prepared(name)[1]

    def new_rows(self, name: str) -> Items:
        """Return the new rows."""
        transformer = self.fitted(name)
        if transformer is None or not len(self.new):  # type: ignore[arg-type]
            return self.new
        return transformer.transform(self.new)

    def model(self, name: str, machine: Any) -> Any:
        """Return a fitted machine that takes rows as they are in the file."""
        transformer = self.fitted(name)
        if transformer is None:
            return machine
        step = "encode" if isinstance(transformer, Encode) else "standardize"
        return Pipeline([(step, transformer), ("machine", machine)])

    def forget(self) -> None:
        """Give the memory of prepared rows back."""
        self.done.clear()

    def _prepared(self, name: str) -> tuple[Any, Items]:
        if name not in self.done:
            transformer = self.how.transformer(name)
            rows = self.X
            if isinstance(transformer, Encode):
                rows = transformer.fit_transform(self.X, self.y, groups=self.groups)
            elif transformer is not None:
                rows = transformer.fit_transform(self.X, self.y)
            self.done[name] = transformer, rows
        return self.done[name]


def _drop_empty_columns(own: Any, new: Any) -> tuple[Any, Any]:
    """Return training and new rows without columns of which no training row has an entry."""
    if not is_frame(own):
        return own, new
    there = own.notna().any().to_numpy()
    if not there.any():
        raise DomainError(
            f"there are too few entries in {', '.join(map(repr, own.columns[:5]))}: some folds "
            "have none to learn from"
        )
    return (own, new) if there.all() else (own.loc[:, there], new.loc[:, there])


def take_rows(X: Items, rows: np.ndarray) -> Items:
    """Return some rows."""
    return _safe_indexing(X, rows)
