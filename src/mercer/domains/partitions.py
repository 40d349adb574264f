"""Partitions: the rows of Dask's collections, each read by whoever needs it.

A Dask DataFrame or Array is a recipe for its partitions. What travels is the part of the recipe
that makes one of them, never its rows, so that they can be made again wherever that is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mercer.domains import Items
from mercer.errors import DomainError

__all__ = ["Partition", "Partitions", "is_collection"]


def is_collection(X: object) -> bool:
    """Tell whether rows are a Dask DataFrame, Series or Array.

    Examples
    --------
    >>> is_collection([[1.0], [2.0]])
    False
    """
    package = type(X).__module__.partition(".")[0]
    return package in ("dask", "dask_expr") and hasattr(X, "__dask_graph__") and hasattr(X, "ndim")


class Partitions:
    """The partitions of a Dask collection, with those of targets and weights.

    Parameters
    ----------
    X : dask.dataframe.DataFrame or dask.array.Array
    y, weights : the same of one column, optional
        With the partitions of X.
    """

    fresh = True

    def __init__(self, X: Any, y: Any = None, weights: Any = None) -> None:
        for name, other in (("y", y), ("sample_weight", weights)):
            if other is not None and not is_collection(other):
                raise DomainError(
                    f"{name} of a Dask collection must be one too, with the same partitions, "
                    f"found {type(other).__name__}"
                )
        X = _whole_rows(X)
        self.name = type(X).__name__
        self.recipes = [_Recipe(X)]
        for name, other in (("y", y), ("sample_weight", weights)):
            self.recipes.append(_Recipe(None if other is None else _like(other, X)))
            if other is not None and len(self.recipes[-1]) != len(self.recipes[0]):
                raise DomainError(
                    f"{name} has {len(self.recipes[-1])} partitions and X {len(self.recipes[0])}; "
                    "take both from one collection"
                )

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        return (part.read() for part in self.parts())

    def parts(self) -> Iterator[Partition]:
        """Yield all of them."""
        counts = self.recipes[0].counts
        for number in range(len(self.recipes[0])):
            made = tuple(recipe.part(number) for recipe in self.recipes)
            yield Partition(made, number, self.name, counts[number])


@dataclass(frozen=True, eq=False)
class Partition:
    """One of them: for rows, targets and weights the tasks that make them."""

    made: tuple[tuple[dict[Any, Any], Any] | None, ...]
    number: int
    name: str
    count: int | None
    identity: str | None = None  # Dask's names say how rows are made, not whether files changed

    @property
    def title(self) -> str:
        return f"partition {self.number} of the {self.name}"

    def read(self) -> tuple[Any, Any, Any]:
        """Return the rows, made here."""
        from dask.local import get_sync

        found = [None if one is None else get_sync(one[0], one[1]) for one in self.made]
        return found[0], found[1], found[2]


class _Recipe:
    """The tasks of a collection."""

    def __init__(self, collection: Any) -> None:
        self.graph: dict[Any, Any] = {}
        self.keys: list[Any] = []
        self.counts: list[int | None] = []
        if collection is None:
            return
        # DataFrames drop columns that nobody wants, and read fewer of a file.
        found = collection.optimize() if hasattr(collection, "optimize") else collection
        self.graph = dict(found.__dask_graph__())
        self.keys = list(_flat(found.__dask_keys__()))
        rows = getattr(collection, "chunks", None)  # of arrays; NaN where nobody knows
        self.counts = [
            int(count) if count == count else None for count in (rows[0] if rows else ())
        ] or [None] * len(self.keys)
        if any(_is_future(value) for value in self.graph.values()):
            raise DomainError(
                "the rows are in the memory of workers (persist), where they would be lost with "
                "a worker; pass the collection as it was before"
            )

    def __len__(self) -> int:
        return len(self.keys)

    def part(self, number: int) -> tuple[dict[Any, Any], Any] | None:
        if not self.keys:
            return None
        from dask.optimization import cull

        key = self.keys[number]
        return dict(cull(self.graph, [key])[0]), key


def _whole_rows(X: Any) -> Any:
    """Return an array with all columns in each chunk."""
    return X.rechunk(dict.fromkeys(range(1, X.ndim), -1)) if hasattr(X, "rechunk") else X


def _like(other: object, X: Items) -> Any:
    """Return targets in the chunks of an array, if their lengths are known."""
    rows: Any = getattr(X, "chunks", None)
    known = rows is not None and all(count == count for count in rows[0])
    return other.rechunk({0: rows[0]}) if known and hasattr(other, "rechunk") else other


def _flat(keys: Any) -> Iterator[Any]:
    for key in keys:
        if isinstance(key, list):
            yield from _flat(key)
        else:
            yield key


def _is_future(value: object) -> bool:
    held = [value, getattr(value, "value", None), *(getattr(value, "args", None) or ())]
    return any(type(one).__name__ == "Future" for one in held)
