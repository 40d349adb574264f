"""Items: what a user hands over to be learned from, before any domain has looked at it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from numpy.typing import ArrayLike

__all__ = ["Items"]

# Rows of numbers, or any container of things: strings, sets, graphs, a DataFrame, a sparse matrix,
# a stream. The kernel's domain says which of them it can compare.
Items: TypeAlias = ArrayLike | Iterable[object]
