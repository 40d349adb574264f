"""Gradients of functions: how a learned function changes with each column of an item."""

from __future__ import annotations

from typing import Any, Protocol

import array_api_compat
import numpy as np

from mercer.domains import (
    CategoryDomain,
    Items,
    Points,
    Table,
    admit_weights,
    is_frame,
    to_numpy,
)
from mercer.engine.block import Block
from mercer.engine.tiles import common_origin, lend_block, on_numpy, quiet, spans
from mercer.errors import ValidityError
from mercer.kernels import Constant, Kernel
from mercer.kernels.tables import On
from mercer.threads import in_threads

__all__ = ["LevelDifferences", "expansion_gradient", "gradient_outer_product"]

ROWS, COLUMNS = 512, 768  # of a block
ENTRIES = 1 << 23  # of the gradients that an outer product holds at once
MAX_LEVELS = 16  # of a column of categories that are tried: the most frequent ones


class Differentiable(Protocol):
    """A function with a gradient, `Function` or `Featured`."""

    @property
    def kernel(self) -> Any: ...

    def gradient(self, X: Items) -> np.ndarray: ...


def expansion_gradient(
    kernel: Kernel, A: Points, B: Points, coefficients: np.ndarray
) -> np.ndarray:
    """Return Σⱼ cⱼ ∂k(x, zⱼ)/∂x for each x of A: (n, d), or (n, d, outputs).

    Block by block, in memory for a few of them; all outputs share the derivatives of a block.
    """
    C = coefficients.reshape(len(B), -1)
    if A.width is None:
        raise _without(kernel)
    width = A.width
    result = np.zeros((len(A), width, C.shape[1]))
    if on_numpy(A):
        A, B = common_origin(kernel, A, B)
    columns = [(B[j], C[j]) for j in spans(len(B), COLUMNS)]

    def stripe(i: slice) -> None:
        rows = A[i]
        for other, c in columns:
            with lend_block(rows, other) as block, quiet():
                for k in range(C.shape[1]):
                    result[i, :, k] += _of_block(kernel, block, c[:, k])

    in_threads(stripe, spans(len(A), ROWS), kernel.threads and on_numpy(A))
    _require_finite(kernel, result)
    return result.reshape(len(A), width, *coefficients.shape[1:])


def _of_block(kernel: Kernel, block: Block, c: np.ndarray) -> np.ndarray:
    array: Any = getattr(block.left, "array", getattr(block.left, "frame", None))
    if on_numpy(block.left):
        G: Any = np.broadcast_to(c, block.shape)
    else:
        xp, device = array_api_compat.array_namespace(array), array_api_compat.device(array)
        G = xp.broadcast_to(xp.asarray(c, dtype=array.dtype, device=device), block.shape)
    found = kernel.gradient(block, G)
    if found is None:
        raise _without(kernel)
    return to_numpy(found)


def _without(kernel: Kernel) -> ValidityError:
    node = kernel.lacks_gradient() or kernel
    return ValidityError(
        f"{node!r} has no gradient: what it compares cannot change by a little, or its derivative "
        "is not known; use a kernel on numbers, or look at columns of numbers with .on(...)"
    )


def _require_finite(kernel: Kernel, result: np.ndarray) -> None:
    if not np.isfinite(result).all():
        item = int(np.argwhere(~np.isfinite(result))[0][0])
        raise ValidityError(f"the gradient of {kernel!r} is not finite at item {item}")


# ---- categories --------------------------------------------------------------------------------


class LevelDifferences:
    """What other levels of a category would change: differences in place of derivatives.

    Attributes
    ----------
    places : list of int
        Columns that a kernel looks at as categories alone.
    mean : ndarray of shape (n, columns, outputs)
        f(x) less the mean of f with each of the other levels: what its own level adds.
    square : ndarray of the same shape
        The mean square of these differences.
    """

    def __init__(self, function: Any, points: Points, centers: Points) -> None:
        self.places = category_places(function.kernel, points)
        own = _values(function, points) if self.places else np.empty((len(points), 0))
        shape = len(points), len(self.places), own.shape[1]
        self.mean, self.square = np.zeros(shape), np.zeros(shape)
        for number, place in enumerate(self.places):
            counted = np.zeros((len(points), 1))
            entries = _entries(points, place)
            for level in _levels(centers, place):
                other = np.array([entry != level for entry in entries])[:, None]
                apart = np.where(other, own - _values(function, _put(points, place, level)), 0.0)
                self.mean[:, number] += apart
                self.square[:, number] += apart**2
                counted += other
            self.mean[:, number] /= np.maximum(counted, 1.0)
            self.square[:, number] /= np.maximum(counted, 1.0)


def category_places(kernel: Kernel, points: Points) -> list[int]:
    """Return the columns of a table that are looked at as categories, and not as numbers."""
    if not isinstance(points, Table):
        return []
    categories: set[int] = set()
    numbers: set[int] = set()
    _sort_columns(kernel, points, list(range(points.width)), categories, numbers)
    return sorted(categories - numbers)


def _sort_columns(
    kernel: Kernel, table: Table, seen: list[int], categories: set[int], numbers: set[int]
) -> None:
    if isinstance(kernel, On):
        inside = table.select(kernel.columns)
        seen = [seen[place] for place in table.positions(kernel.columns)]
        _sort_columns(kernel.kernel, inside, seen, categories, numbers)
    elif kernel.children():
        for child in kernel.children():
            _sort_columns(child, table, seen, categories, numbers)
    elif isinstance(kernel.domain, CategoryDomain):
        categories.update(seen)
    elif not isinstance(kernel, Constant):
        numbers.update(seen)


def _values(function: Any, points: Points) -> np.ndarray:
    return np.asarray(function(points)).reshape(len(points), -1)


def _entries(points: Any, place: int) -> list[Any]:
    frame = points.frame
    return list(frame.iloc[:, place] if is_frame(frame) else to_numpy(frame)[:, place])


def _levels(points: Points, place: int) -> list[Any]:
    """Return the levels of a column of the centers, the most frequent first."""
    counts: dict[Any, int] = {}
    for entry in _entries(points, place):
        counts[entry] = counts.get(entry, 0) + 1
    return sorted(counts, key=lambda level: -counts[level])[:MAX_LEVELS]


def _put(points: Any, place: int, level: Any) -> Table:
    """Return a table with the same level in all rows of a column."""
    frame = points.frame
    if not is_frame(frame):
        changed = to_numpy(frame).copy()
        changed[:, place] = level
        return Table(changed)
    changed = frame.copy()
    changed[frame.columns[place]] = level
    return Table(changed)


# ---- outer products ----------------------------------------------------------------------------


def gradient_outer_product(
    f: Differentiable, X: Items | Points, weights: Any = None, diagonal: bool = False
) -> np.ndarray:
    """Return the mean of ∇f(x)∇f(x)ᵀ over items: along which directions f changes, and how fast.

    A positive semi-definite matrix, summed over the outputs of f; its diagonal says how much
    each column matters. As the `metric` of a kernel it turns attention to what matters
    (Radhakrishnan et al., Science 2024).

    Parameters
    ----------
    f : Function or Featured
    X : items
    weights : array of shape (n,), optional
        A weight counts like a repetition of its item.
    diagonal : bool
        Whether only the diagonal is wanted, which takes less time and memory.

    Returns
    -------
    ndarray of shape (d, d) or (d,)

    Notes
    -----
    A column of categories has no derivative; a change of level counts as a step of one unit. Its
    entry on the diagonal is the mean square of f(x) − f(x with another level) over the other
    levels (the 16 most frequent), beside it the mean difference stands for the gradient.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> from mercer.rkhs import Function
    >>> f = Function(Linear(), [[1.0, 2.0]], [1.0])
    >>> gradient_outer_product(f, [[0.0, 0.0], [5.0, 1.0]])
    array([[1., 2.],
           [2., 4.]])
    """
    points: Points = f.kernel.admit(X)
    given = admit_weights(weights, len(points))
    w = np.ones(len(points)) if given is None else given
    total: Any = 0.0
    width = max(points.width or 1, 1)
    for rows in spans(len(points), max(ENTRIES // width, 64)):
        total = total + _sum_of_outer(f, points[rows], w[rows], diagonal)
    return np.asarray(total / w.sum())


def _sum_of_outer(f: Any, points: Points, w: np.ndarray, diagonal: bool) -> np.ndarray:
    g = f.gradient(points)
    g = g.reshape(*g.shape[:2], -1)
    levels = LevelDifferences(f, points, f.points) if isinstance(points, Table) else None
    extra = np.zeros(g.shape[1])
    if levels is not None and levels.places:
        beyond = np.einsum("i,ijk->j", w, levels.square - levels.mean**2)
        extra[levels.places] = np.maximum(beyond, 0.0)
    if diagonal:
        return np.einsum("i,ijk,ijk->j", w, g, g) + extra
    rows = (g * np.sqrt(w)[:, None, None]).transpose(0, 2, 1).reshape(-1, g.shape[1])
    return rows.T @ rows + np.diag(extra)
