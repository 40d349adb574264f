"""Points: a user's objects after admission, and the domains that admit them.

The first room of a fit. A `Domain` says which objects a kernel can compare and turns the
user's container into `Points`: validated once, sliceable, with every encoding that the kernel
asked for carried along. Only this room complains about data.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import DomainError

__all__ = [
    "Domain",
    "Items",
    "Points",
    "RowIndex",
    "join",
    "name_type",
    "nonempty",
    "select_ragged",
]

# What a user hands over to be learned from, before any domain has looked at it: rows of numbers,
# or any container of things (strings, sets, graphs, a DataFrame, a sparse matrix, a stream). The
# kernel's domain says which of them it can compare.
Items: TypeAlias = ArrayLike | Iterable[object]

RowIndex: TypeAlias = slice | np.ndarray | list[int]  # which rows of a set of points are taken


class Points:
    """A validated sequence of things, with the encodings that kernels made of it.

    A subclass implements ``__len__``, `take` and `items`. Encodings (`view`) are made once for
    the whole set and sliced along with it, so that a kernel working on small tiles never
    validates or encodes the same item twice.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> points = VECTORS.admit([[1.0, 2.0], [3.0, 4.0]])
    >>> isinstance(points, Points), len(points), points.width
    (True, 2, 2)
    >>> list(points[1:].items())
    [array([3., 4.])]
    """

    def __init__(self) -> None:
        self._views: dict[Hashable, Points] = {}

    def __len__(self) -> int:
        raise NotImplementedError

    def take(self, rows: RowIndex) -> Points:
        """Return the points at `rows` (a slice or an integer array), without their views."""
        raise NotImplementedError

    def items(self) -> Iterator[Any]:
        """Iterate over single things, as a function of one thing would want them."""
        raise NotImplementedError

    def concat(self, other: Any) -> Points:
        """Return these points followed by others of the same kind."""
        raise NotImplementedError

    def units(self) -> list[list[str]] | None:
        """Return what each thing is made of: its letters, nodes or atoms; None for nothing."""
        return None

    @property
    def width(self) -> int | None:
        """Number of columns, or None where things have no columns."""
        return None

    def as_new(self) -> Points:
        """Return these points as things that are not among those that were learned from."""
        return self

    @property
    def bytes(self) -> int:
        """Memory that a working copy of the numbers would take."""
        return 8 * len(self) * (self.width or 0)

    @property
    def encoded_bytes(self) -> int:
        """Memory that the encodings of these points take, and what a fit makes of them."""
        return sum(view.fitted_bytes for view in self._views.values() if isinstance(view, Points))

    @property
    def fitted_bytes(self) -> int:
        """Memory that an encoding takes while it is used, with encodings of its own."""
        return self.bytes + self.encoded_bytes

    def __getitem__(self, rows: RowIndex) -> Points:
        part = self.take(rows)
        part._views = {key: view[rows] for key, view in self._views.items()}
        return part

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the encodings, which can be made again, of what is pickled."""
        return {**self.__dict__, "_views": {}}

    def view(self, key: Hashable, encode: Callable[[Any], Points]) -> Points:
        """Return ``encode(self)``, remembered under `key` and sliced with these points."""
        if key in self._views:
            return self._views[key]
        encoded = encode(self)
        if encoded is not self:
            self._views[key] = encoded
        return encoded

    def forget(self) -> None:
        """Let go of all encodings; they are made again when somebody asks."""
        self._views = {}


class Domain:
    """What a kernel can compare. ``admit`` turns a user's container into `Points`.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> isinstance(VECTORS, Domain), len(VECTORS.admit([[1.0, 2.0], [3.0, 4.0]]))
    (True, 2)
    >>> VECTORS.admit([[1.0], [float("nan")]])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: Input X contains NaN at row 1, column 0; remove the item or ...
    """

    def admit(self, X: Items | Points, name: str = "X") -> Points:
        """Validate and encode `X`, raising `DomainError` with the item that is wrong."""
        raise NotImplementedError

    def merge(self, other: Domain) -> Domain | None:
        """Return a domain whose points also serve `other`, or None if there is none."""
        return self if self == other else None


def join(left: Domain, right: Domain) -> Domain | None:
    """Return a domain that serves two kernels at once, or None if there is none.

    Parameters
    ----------
    left, right : Domain

    Returns
    -------
    Domain or None

    Examples
    --------
    >>> from mercer.domains import STRINGS, VECTORS
    >>> join(VECTORS, VECTORS) == VECTORS, join(VECTORS, STRINGS)
    (True, None)
    """
    return left.merge(right) or right.merge(left)


def select_ragged(starts: np.ndarray, rows: RowIndex) -> tuple[np.ndarray, slice | np.ndarray]:
    """Choose some of the items that stand one after the other in one array.

    Parameters
    ----------
    starts : ndarray of int
        Where each item begins, and where the last one ends.
    rows : slice or array
        The chosen items.

    Returns
    -------
    starts : ndarray of int
        Of the chosen items among their own entries.
    places : slice or ndarray of int
        Where these entries stand now.
    """
    begins, sizes = starts[:-1][rows], np.diff(starts)[rows]
    chosen = np.concatenate([[0], np.cumsum(sizes)])
    if isinstance(rows, slice) and rows.step in (None, 1):
        first = int(begins[0]) if len(begins) else 0
        return chosen, slice(first, first + int(chosen[-1]))
    return chosen, np.repeat(begins - chosen[:-1], sizes) + np.arange(chosen[-1])


def name_type(item: object) -> str:
    """Say what something is, for errors: "None" or "of type …"."""
    return "None" if item is None else f"of type {type(item).__name__}"


def nonempty(count: int, name: str, shape: tuple[int, ...] | None = None) -> None:
    """Refuse an empty set, in scikit-learn's words."""
    if count == 0:
        where = f" (shape={shape})" if shape else ""
        raise DomainError(
            f"Found {name} with 0 sample(s){where} while a minimum of 1 is required."
        )
