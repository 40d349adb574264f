"""Stimuli and exemplars: what is shown, what is remembered, and how far apart they are.

d = (Σ wₘ|xₘ − zₘ|^r)^{1/r} and log s = −c·d^p (Shepard, 1987; Nosofsky, 1986). The |xₘ − zₘ|^r do
not change while parameters are searched for, so they are computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Items, VectorDomain, admit_labels, is_frame, real_numbers
from mercer.errors import DomainError
from mercer.memory import afford

__all__ = ["Distances", "Memory", "admit_categories", "admit_stimuli", "memorize", "named_columns"]

DENSE = VectorDomain(dense_for="Shepard")


class Distances:
    """Distances from some stimuli to some exemplars, with slopes for the parameters.

    Parameters
    ----------
    X : array of shape (m, dimensions)
    Z : array of shape (n, dimensions)
    order : float
        r of the metric.
    exponent : float
        p of the decay.
    """

    def __init__(self, X: np.ndarray, Z: np.ndarray, order: float, exponent: float) -> None:
        self.shape = (len(X), len(Z))
        self.power = exponent / order
        task = f"the distances of {len(X)} stimuli to {len(Z)} exemplars in every dimension"
        afford(16.0 * len(X) * len(Z) * (X.shape[1] + 6), task, "use fewer of them at a time")
        apart = np.abs(X.T[:, :, None] - Z.T[:, None, :])
        with np.errstate(over="ignore"):
            terms = apart if order == 1 else apart**order
        if not np.isfinite(terms.sum()):
            row = int(np.argwhere(~np.isfinite(terms))[0][1])
            raise DomainError(
                f"stimulus {row} is so far from an exemplar that their distance is no number; "
                "scale the dimensions down"
            )
        self.terms = terms.reshape(X.shape[1], -1)

    def distances(self, attention: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return D = Σ wₘ|xₘ − zₘ|^r, and d^p = D^(p/r)."""
        D = (attention @ self.terms).reshape(self.shape)
        return D, D if self.power == 1 else D**self.power

    def slopes(
        self, c: float, D: np.ndarray, decay: np.ndarray, G: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Return the slopes for c and w, of something with slopes G for log s = −c·d^p."""
        if self.power != 1:
            # At distance zero nothing changes with attention, though D^(p/r − 1) is infinite.
            ratio = np.divide(decay, D, out=np.zeros_like(D), where=D > 0)
            inner = self.power * G * ratio
        else:
            inner = G
        return -float(np.vdot(G, decay)), -c * (self.terms @ inner.ravel())

    def typical_distance(self) -> float:
        """Return the median of d^p with equal attention, of things that differ."""
        _, decay = self.distances(np.full(len(self.terms), 1 / len(self.terms)))
        apart = decay[decay > 0]
        return float(np.median(apart)) if len(apart) else 1.0


def named_columns(rows: Any) -> tuple[str, ...] | None:
    """Return the names of the dimensions, if rows are a DataFrame that has names for them."""
    if not is_frame(rows) or not all(isinstance(name, str) for name in rows.columns):
        return None
    return tuple(rows.columns)


def admit_stimuli(
    rows: Items, name: str, width: int | None = None, columns: tuple[str, ...] | None = None
) -> np.ndarray:
    """Return rows of numbers as float64, refusing another number, or order, of dimensions.

    Examples
    --------
    >>> admit_stimuli([[0, 1, 1]], "stimuli", width=2)
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: stimuli have 3 dimensions (row 0 is [0. 1. 1.]), but ...
    """
    _check_lengths(rows, name)
    found = named_columns(rows)
    if columns is not None and found is not None and found != columns:
        raise DomainError(
            f"the columns of {name} are {', '.join(found)}, but those of the exemplars are "
            f"{', '.join(columns)}; put them into the same order"
        )
    array: np.ndarray = np.asarray(DENSE.admit(rows, name).array, dtype=np.float64)
    if width is not None and array.shape[1] != width:
        raise DomainError(
            f"{name} have {array.shape[1]} dimensions (row 0 is {array[0]}), but the exemplars "
            f"have {width}"
        )
    return array


def admit_categories(categories: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (codes, classes) so that ``classes[codes]`` are the categories of `count` rows."""
    if isinstance(categories, list | tuple):
        for row, name in enumerate(categories):
            if name is None or (isinstance(name, float) and name != name):
                raise DomainError(f"the category of row {row} is missing")
    if np.ndim(categories) == 1 and len(categories) != count:
        raise DomainError(f"there are {count} stimuli, but {len(categories)} categories")
    if np.ndim(categories) == 1 and len(set(np.asarray(categories).tolist())) == 1:
        raise DomainError(
            f"there is only one category, {np.asarray(categories).tolist()[0]!r}; there must be "
            "at least two"
        )
    return admit_labels(categories, count)


def _check_lengths(rows: Items, name: str) -> None:
    """Refuse rows of different lengths, naming the first that differs."""
    if not isinstance(rows, list | tuple) or not all(np.ndim(row) == 1 for row in rows):
        return
    for place, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise DomainError(
                f"row {place} of {name} has {len(row)} dimensions, but row 0 has {len(rows[0])}"
            )


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
    """

    rows: np.ndarray
    codes: np.ndarray
    classes: np.ndarray
    strengths: np.ndarray

    @property
    def width(self) -> int:
        """Number of dimensions."""
        return int(self.rows.shape[1])

    def count(self, what: str) -> int:
        """Return the number of dimensions, or of categories."""
        return self.width if what == "dimension" else len(self.classes)

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
    """Return the memory of exemplars, refusing a category that has none."""
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


def _admit_strengths(strengths: ArrayLike | None, count: int) -> np.ndarray:
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
