"""Columns and anything: the domains that take a container as it comes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.domains.categories import CategoryDomain
from mercer.domains.points import Domain, Items, Points
from mercer.domains.tables import Objects, Table, is_frame
from mercer.domains.vectors import VECTORS, VectorDomain, Vectors, read

__all__ = ["ANYTHING", "COLUMNS", "Anything", "Columns"]


@dataclass(frozen=True)
class Columns(Domain):
    """Anything with columns: DataFrames and two-dimensional arrays.

    Parameters
    ----------
    gaps : bool
        Whether numbers of an array may be missing (NaN): some kernel knows what to do then, and
        every other one looks for itself. A DataFrame is always looked at column by column.

    Examples
    --------
    >>> import numpy as np
    >>> Columns().admit(np.array([[1.0, 2.0], [3.0, 4.0]])).width
    2
    >>> Columns(gaps=True).admit(np.array([[1.0, np.nan]])).width
    2
    """

    gaps: bool = False

    def admit(self, X: Items | Points, name: str = "X") -> Points:
        if isinstance(X, Table):
            return X
        if is_frame(X):
            return Table(X, name)
        if isinstance(X, Objects):
            X = X.array
        if isinstance(X, np.ndarray) and X.dtype.kind in "OUS" and X.ndim == 2:
            return Table(X, name)
        if isinstance(X, Vectors):
            return Table(X.array, name)
        return Table(read(X, name).array if self.gaps else VECTORS.admit(X, name).array, name)

    def merge(self, other: Domain) -> Domain | None:
        if isinstance(other, Columns):
            return Columns(self.gaps or other.gaps)
        return self if isinstance(other, VectorDomain | CategoryDomain) else None


COLUMNS = Columns()


@dataclass(frozen=True)
class Anything(Domain):
    """Whatever the user has: rows of arrays and tables, or a sequence of Python objects.

    Examples
    --------
    >>> list(Anything().admit(["cat", {1, 2}]).items())
    ['cat', {1, 2}]
    """

    def admit(self, X: Items | Points, name: str = "X") -> Points:
        if isinstance(X, Points):
            return X
        return Table(X, name) if is_frame(X) else Objects(X, name)

    def merge(self, other: Domain) -> Domain | None:
        return other


ANYTHING = Anything()
