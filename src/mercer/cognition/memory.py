"""Memory: the exemplars that a learner has stored, with their categories and strengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.cognition.designs import admit_categories
from mercer.cognition.space import admit_stimuli
from mercer.domains import real_numbers
from mercer.errors import DomainError

__all__ = ["Memory", "memorize"]


@dataclass(frozen=True)
class Memory:
    """Stored exemplars.

    Attributes
    ----------
    rows : ndarray of shape (n, dimensions)
    codes : ndarray of shape (n,)
        The category of each, as its number in `classes`.
    classes : ndarray
    strengths : ndarray of shape (n,)

    Examples
    --------
    >>> memorize([[0.0], [2.0], [5.0]], ["a", "a", "b"]).means().rows
    array([[1.],
           [5.]])
    """

    rows: np.ndarray
    codes: np.ndarray
    classes: np.ndarray
    strengths: np.ndarray

    @property
    def width(self) -> int:
        """Number of dimensions."""
        return int(self.rows.shape[1])

    @property
    def labels(self) -> np.ndarray:
        """A column for each category, with the strengths of its exemplars."""
        return self.strengths[:, None] * (self.codes[:, None] == np.arange(len(self.classes)))

    def means(self) -> Memory:
        """Return the memory of one prototype for each category: its mean, weighted by strength."""
        H = self.labels
        count = len(self.classes)
        rows = (H.T @ self.rows) / H.sum(axis=0)[:, None]
        return Memory(rows, np.arange(count), self.classes, np.ones(count))


def memorize(exemplars: Any, categories: Any, strengths: Any = None) -> Memory:
    """Return the memory of exemplars, refusing a category that has none.

    Examples
    --------
    >>> memorize([[0.0], [1.0]], ["a", "b"], strengths=[1.0, 0.0])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: all exemplars of the category 'b' (row 1 first) have strength ...
    """
    rows = admit_stimuli(exemplars, "exemplars")
    if np.ndim(categories) == 1 and len(categories) != len(rows):
        raise DomainError(f"there are {len(rows)} exemplars, but {len(categories)} categories")
    _refuse_unused(categories)
    codes, classes = admit_categories(categories, len(rows))
    V = _admit_strengths(strengths, len(rows))
    empty = np.flatnonzero(np.bincount(codes, V, len(classes)) == 0)
    if len(empty):
        first = int(np.flatnonzero(codes == empty[0])[0])
        raise DomainError(
            f"all exemplars of the category {classes.tolist()[empty[0]]!r} (row {first} first) "
            "have strength zero, so nothing can be similar to it; leave the category out, or give "
            "one of them a strength"
        )
    return Memory(rows, codes, classes, V)


def _refuse_unused(categories: Any) -> None:
    """Refuse a level of a pandas column that no exemplar belongs to."""
    levels = getattr(getattr(categories, "dtype", None), "categories", None)
    if levels is None:
        return
    present = set(categories)
    for name in levels:
        if name not in present:
            raise DomainError(
                f"the category {name!r} has no exemplars; add some, or remove the level"
            )


def _admit_strengths(strengths: Any, count: int) -> np.ndarray:
    if strengths is None:
        return np.ones(count)
    V = real_numbers(strengths, "strengths")
    if V.shape != (count,):
        raise DomainError(
            f"strengths must be one number for each of {count} exemplars, found shape {V.shape}"
        )
    wrong = np.flatnonzero(~np.isfinite(V) | (V < 0))
    if len(wrong):
        row = int(wrong[0])
        raise DomainError(f"strengths must be finite and not negative; row {row} has {V[row]}")
    return V
