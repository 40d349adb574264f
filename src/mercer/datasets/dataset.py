"""A data set: items, what they are to be mapped to, and what is known about both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Items `X` with labels or targets `y`. Unpacks as ``X, y = dataset``.

    Attributes
    ----------
    X : ndarray
        One item per row.
    y : ndarray
        One label or number per item.
    names : tuple of str
        What the labels mean, in the order of the sorted labels; empty for regression.
    extra : mapping
        What else is known, such as the true function or the best possible error.

    Examples
    --------
    >>> from mercer.datasets import xor
    >>> X, y = xor()
    >>> y.tolist()
    [-1, 1, 1, -1]
    """

    X: np.ndarray
    y: np.ndarray
    names: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.X, self.y))

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        known = f", names={self.names!r}" if self.names else ""
        more = f", extra={sorted(self.extra)!r}" if self.extra else ""
        return f"Dataset({len(self)} items, X of shape {self.X.shape}{known}{more})"
