"""Items: what a user hands over to be learned from, before any domain has looked at it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Items", "RowIndex"]

# Rows of numbers, or any container of things: strings, sets, graphs, a DataFrame, a sparse matrix,
# a stream. The kernel's domain says which of them it can compare.
Items: TypeAlias = ArrayLike | Iterable[object]

RowIndex: TypeAlias = slice | np.ndarray | list[int]  # which rows of a set of points are taken
