"""Transforms of rows: other coordinates in which distances are looked at."""

from __future__ import annotations

from typing import Any, TypeAlias

import array_api_compat
import numpy as np
from scipy import sparse

__all__ = ["RowTransform", "Scales", "pull_back"]


class RowTransform:
    """The linear map x ↦ Tᵀx of rows, x T for a whole matrix of them.

    It is a value, equal to others with the same numbers, so that rows that were transformed for
    one kernel serve all with the same transform.

    Parameters
    ----------
    matrix : ndarray of shape (d, r)

    Examples
    --------
    >>> half = RowTransform(np.array([[1.0], [0.5]]))
    >>> half.apply(np.array([[2.0, 4.0]]))
    array([[4.]])
    >>> half == RowTransform(np.array([[1.0], [0.5]]))
    True
    """

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = np.ascontiguousarray(matrix, dtype=np.float64)
        self.matrix.setflags(write=False)
        self._hash = hash((self.matrix.shape, self.matrix.tobytes()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowTransform):
            return NotImplemented
        return self is other or (
            self._hash == other._hash and np.array_equal(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"RowTransform({self.matrix.tolist()})"

    def apply(self, rows: Any) -> Any:
        """Return rows, of any array library or sparse, in the other coordinates."""
        return rows @ self._like(rows)

    def pull_back(self, rows: Any) -> Any:
        """Return T y for each row y: gradients, and frequencies, of what sees x T."""
        return rows @ self._like(rows).T

    def _like(self, rows: Any) -> Any:
        if isinstance(rows, np.ndarray) or sparse.issparse(rows):
            return self.matrix
        xp, device = array_api_compat.array_namespace(rows), array_api_compat.device(rows)
        return xp.asarray(self.matrix.copy(), dtype=rows.dtype, device=device)


# What is done to rows before their distances are taken: nothing, a division of each column
# (by infinity, if it is not to be looked at), or a transform.
Scales: TypeAlias = tuple[float, ...] | RowTransform | None


def pull_back(scales: Scales, rows: Any) -> Any:
    """Return gradients, or frequencies, by the rows as they come, from those by scaled rows.

    Examples
    --------
    >>> pull_back((2.0, float("inf")), np.array([[1.0, 1.0]]))
    array([[0.5, 0. ]])
    """
    if scales is None:
        return rows
    if isinstance(scales, RowTransform):
        return scales.pull_back(rows)
    xp = array_api_compat.array_namespace(rows)
    return rows / xp.asarray(scales, dtype=rows.dtype, device=array_api_compat.device(rows))
