"""The case of a kernel: the kernel, items for it, and what the laws need to know of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mercer.domains import Columns, GramRows, VectorDomain
from mercer.kernels import Kernel
from mercer.testing.containers import count, take
from mercer.testing.law import Inapplicable, agree

__all__ = ["KernelCase"]


@dataclass(frozen=True)
class KernelCase:
    """A kernel with items to hold the laws against.

    Parameters
    ----------
    kernel : Kernel
        With or without unresolved heuristics.
    items : sequence, array, DataFrame or Gram matrix
        At least eight things that the kernel compares.
    names : mapping, optional
        Functions that the kernel's `repr` mentions, by name.
    tolerance : float
        Allowed rounding error, relative to the larger self-similarity of a pair.
    """

    kernel: Kernel
    items: Any
    names: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 1e-10

    def __str__(self) -> str:
        return f"{self.kernel!r} on {count(self.items)} items"

    @cached_property
    def resolved(self) -> Kernel:
        """The kernel with its heuristics resolved on the items."""
        return self.kernel.resolve(self.items)

    @cached_property
    def gram(self) -> np.ndarray:
        """k(A) of all items."""
        return np.asarray(self.resolved(self.items))

    @property
    def left(self) -> Any:
        """The first two thirds of the items."""
        return take(self.items, slice(0, 2 * count(self.items) // 3))

    @property
    def right(self) -> Any:
        """The last two thirds, in reverse order, so that the middle is in both parts."""
        n = count(self.items)
        return take(self.items, np.arange(n - 1, n // 3 - 1, -1))

    @property
    def vectors(self) -> np.ndarray:
        """The items as rows of numbers, for kernels that compare such."""
        domain = self.kernel.domain
        numeric = isinstance(self.items, np.ndarray) and self.items.dtype.kind == "f"
        if not numeric or not isinstance(domain, VectorDomain | Columns):
            raise Inapplicable("it does not compare rows of numbers")
        return self.items

    def agree(self, found: Any, expected: Any, what: str, A: Any, B: Any) -> None:
        """Assert that two versions of k(A, B) are equal up to rounding.

        An error of k(x, z) is relative to the larger of k(x, x) and k(z, z), because that is the
        size of the numbers of which most kernels are differences.
        """
        a, b = (np.abs(np.asarray(self.resolved.diagonal(side))) for side in (A, B))
        size = np.maximum(np.maximum(a[:, None], b[None, :]), np.abs(np.asarray(expected)))
        agree(found, expected, what, self.tolerance, size)

    def require_things(self) -> None:
        """Skip laws about single things where only the matrix is known."""
        if isinstance(self.resolved.admit(self.items), GramRows):
            raise Inapplicable("a precomputed kernel knows its matrix, not its items")
