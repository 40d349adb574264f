"""Chunks: some rows of a stream, admitted, with everything that can be wrong with them."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer.domains.memmap import copied
from mercer.domains.points import Domain, Points
from mercer.domains.tables import Table, is_frame
from mercer.domains.targets import column, is_missing, read_weights
from mercer.domains.vectors import Vectors
from mercer.errors import DomainError

__all__ = ["Chunk", "ChunkForm", "admit_chunk", "describe_rows", "locate_errors", "require_whole"]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of a stream.

    Attributes
    ----------
    number : int
        Which one of the stream it is, from 0 on; those without rows are counted too.
    start : int
        The number of its first row in the stream.
    points : Points
    target, weights : ndarray or None
        What came with the rows. Nothing is encoded yet: the target may hold numbers or labels.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> chunk = Chunk(0, 0, VECTORS.admit([[1.0], [2.0]]), target=np.array(["a", "b"]))
    >>> len(chunk.points), chunk.target.tolist()
    (2, ['a', 'b'])
    """

    number: int
    start: int
    points: Points
    target: np.ndarray | None = None
    weights: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.points)

    @property
    def place(self) -> slice:
        """Where the rows are in the stream."""
        return slice(self.start, self.start + len(self))

    @property
    def title(self) -> str:
        """What errors call it."""
        return f"chunk {self.number}, {describe_rows(self.start, len(self))}"


@dataclass(frozen=True)
class ChunkForm:
    """What the chunks of a stream have in common."""

    kind: str
    width: int | None
    names: tuple[Any, ...] | None
    target: str | None  # what it holds: "numbers", "text", "times" ...
    targets: tuple[int, ...]  # shape of one item's target
    weighted: bool

    @classmethod
    def of(cls, chunk: Chunk) -> ChunkForm:
        """Return the form of a chunk."""
        points, y = chunk.points, chunk.target
        return cls(
            _kind(points),
            points.width,
            _names(points),
            None if y is None else _holding(y),
            () if y is None else y.shape[1:],
            chunk.weights is not None,
        )

    def require(self, first: ChunkForm, name: str) -> None:
        """Refuse a chunk that is not like the first one."""
        if self.kind != first.kind:
            raise DomainError(f"{name} holds {self.kind}, but the first chunk {first.kind}")
        if self.width != first.width:
            raise DomainError(
                f"{name} has {_columns(self.width)}, but the first chunk has "
                f"{_columns(first.width)}"
            )
        if self.names != first.names:
            raise DomainError(_other_names(self.names, first.names, name))
        for what, now, then in (
            ("y", self.target is not None, first.target is not None),
            ("weights", self.weighted, first.weighted),
        ):
            if now != then:
                here, there = ("has", "does not") if now else ("has no", "has")
                raise DomainError(f"the chunk {here} {what}, but the first one {there}")
        if self.target != first.target:
            raise DomainError(f"y holds {self.target}, but that of the first chunk {first.target}")
        if self.targets != first.targets:
            raise DomainError(
                f"y has {_dimensions(self.targets)}, but that of the first chunk has "
                f"{_dimensions(first.targets)}"
            )


def admit_chunk(
    raw: object, domain: Domain, number: int, start: int, name: str, copy: bool
) -> Chunk | None:
    """Return the rows of a chunk as a domain admits them, or None if it has none.

    `copy` is for rows that their owner may overwrite while they are in use.
    """
    with locate_errors(f"chunk {number}, {describe_rows(start, None)}"):
        X, y, weights = _parts(raw)
        count = _rows(X)
    if count == 0 and (y is None or _rows(y) == 0):
        return None
    with locate_errors(f"chunk {number}, {describe_rows(start, count)}"):
        held = copied(X)
        if copy and held is X and hasattr(X, "shape"):
            again = getattr(X, "copy", None) or getattr(X, "clone", None)  # Torch's word
            held = again() if again else X
        points = domain.admit(held, name)
        count = len(points)
        return Chunk(
            number,
            start,
            points,
            _target(y, count),
            None if weights is None else read_weights(copied(weights), count),
        )


@contextmanager
def locate_errors(place: str) -> Iterator[None]:
    """Say in every error where it happened: in the message of ours, in a note of others'."""
    try:
        yield
    except DomainError as error:
        raise type(error)(f"{place}: {error}") from error
    except Exception as error:
        error.add_note(f"while mercer read {place} of a stream")
        raise


def describe_rows(start: int, count: int | None) -> str:
    """Return rows in words.

    Examples
    --------
    >>> describe_rows(700, 100), describe_rows(7, 1), describe_rows(7, None)
    ('rows 700 to 799', 'row 7', 'from row 7 on')
    """
    if not count:
        return f"from row {start} on"
    return f"row {start}" if count == 1 else f"rows {start} to {start + count - 1}"


def require_whole(name: str, value: object) -> int:
    """Return a whole number from 1 on, refusing anything else.

    Examples
    --------
    >>> require_whole("size", 2.5)
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: size must be a whole number from 1 on, found 2.5
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise DomainError(f"{name} must be a whole number from 1 on, found {value!r}")
    return int(value)


def _parts(raw: object) -> tuple[Any, Any, Any]:
    """Return X, y and weights of what a user's iterator gave."""
    if not isinstance(raw, tuple):
        return raw, None, None
    if not 1 <= len(raw) <= 3:
        raise DomainError(
            f"a chunk is X, (X, y) or (X, y, weights), found a tuple of {len(raw)}; put things "
            "that are to be compared into a list"
        )
    X, y, weights = (*raw, None, None)[:3]
    return X, y, weights


def _rows(X: object) -> int | None:
    """Return how many rows there are, if a look from outside tells."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    return len(X) if hasattr(X, "__len__") else None


def _target(y: ArrayLike | None, count: int) -> np.ndarray | None:
    """Return a target that is as long as X and has no gaps, in memory of its own."""
    if y is None:
        return None
    target = np.array(column(copied(y), count))
    if target.dtype.kind == "f" and not np.isfinite(target).all():
        row = int(np.argwhere(~np.isfinite(target))[0][0])
        raise DomainError(f"Input y contains NaN or infinity at row {row}")
    if target.dtype.kind in "OM":
        for row, label in enumerate(target.reshape(count, -1).tolist()):
            if any(map(is_missing, label)):
                raise DomainError(f"the label of item {row} is missing; fill it in or drop it")
    return target


def _kind(points: Points) -> str:
    rows = points.array if isinstance(points, Vectors) else getattr(points, "frame", None)
    if sparse.issparse(rows):
        return "sparse rows"
    if isinstance(points, Vectors):
        return "dense rows"
    if isinstance(points, Table):
        return "a DataFrame" if is_frame(points.frame) else "dense rows"
    return type(points).__name__.lower()


def _names(points: Points) -> tuple[Any, ...] | None:
    if isinstance(points, Table) and is_frame(points.frame):
        return tuple(points.frame.columns)
    return points.names if isinstance(points, Vectors) else None


def _holding(y: np.ndarray) -> str:
    """Say what a target holds, so that numbers are not silently turned into text."""
    if y.dtype.kind == "O":
        return "text" if any(isinstance(label, str) for label in y.ravel()) else "numbers"
    return {"U": "text", "S": "bytes", "M": "times", "m": "durations"}.get(y.dtype.kind, "numbers")


def _columns(count: int | None) -> str:
    if count is None:
        return "no columns"
    return "1 column" if count == 1 else f"{count} columns"


def _dimensions(shape: tuple[int, ...]) -> str:
    return _columns(*shape) if shape else "one dimension"


def _other_names(now: tuple[Any, ...] | None, then: tuple[Any, ...] | None, name: str) -> str:
    if now is None or then is None:
        here, there = ("names", "no names") if then is None else ("no names", "names")
        return f"the columns of {name} have {here}, but those of the first chunk have {there}"
    place = next(j for j, (a, b) in enumerate(zip(now, then, strict=True)) if a != b)
    return (
        f"column {place} of {name} is called {now[place]!r}, but {then[place]!r} in the first "
        "chunk; every chunk needs the same columns in the same order"
    )
