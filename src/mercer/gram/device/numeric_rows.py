"""Plain rows: what a device computes with, a matrix of numbers whose columns have no names."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains import VECTORS, Points, Table, Vectors, is_frame
from mercer.errors import DomainError, PlanError
from mercer.gram.device.devices import Tensor
from mercer.gram.device.expression import PairProgram, Unfused
from mercer.gram.device.prepared_rows import seen_width
from mercer.gram.device.rules import SERIES_BELOW, fuse
from mercer.kernels import Kernel
from mercer.kernels.algebra.composite import Composite
from mercer.kernels.tables import On

__all__ = ["explain_products", "number_columns", "numbers", "program_of"]


def numbers(points: Points) -> Any:
    """Return the rows of points as a dense or sparse matrix of floats, or raise `PlanError`.

    Examples
    --------
    >>> numbers(VECTORS.admit([[1.0, 2.0]]))
    array([[1., 2.]])
    """
    if isinstance(points, Vectors):
        return points.array
    if isinstance(points, Table):
        try:
            return VECTORS.admit(points).array
        except DomainError as error:
            raise PlanError(f'{error}; use device="cpu"') from error
    if isinstance(points, Points):
        name = type(points).__name__.lower()
        raise PlanError(f'{name} are no rows of numbers for a GPU; use device="cpu"')
    return VECTORS.admit(points).array


def number_columns(kernel: Kernel, points: Points) -> Kernel:
    """Return the kernel with the numbers of columns in place of their names."""
    frame: Any = getattr(points, "frame", None)
    names = getattr(points, "names", None)
    if is_frame(frame):
        names = tuple(map(str, frame.columns))
    return kernel if names is None else _numbered(kernel, tuple(names))


def _numbered(kernel: object, names: tuple[str, ...]) -> Any:
    if isinstance(kernel, On):
        width = len(names)
        places: list[int] = []
        for column in kernel.columns:
            if isinstance(column, slice):
                places += range(*column.indices(width))
            else:
                places.append(names.index(column) if column in names else column)
        inner = _numbered(kernel.kernel, tuple(names[j] for j in places))
        return dataclasses.replace(kernel, kernel=inner, columns=tuple(places))
    if not isinstance(kernel, Composite):
        return kernel
    parts = {
        name: _numbered(part, names)
        for name, part in kernel.parameters().items()
        if isinstance(part, Kernel)
    }
    return dataclasses.replace(kernel, **parts)  # type: ignore[type-var]


def program_of(kernel: Kernel, width: int, double: bool = False) -> tuple[PairProgram | None, str]:
    """Return the program of a kernel, or None and the reason why there is none."""
    from mercer.gram.device.fused import MAX_DOUBLE_WIDTH

    try:
        found = fuse(kernel, width)
    except Unfused as reason:
        return None, str(reason)
    if double and any(SERIES_BELOW in line for line in found.lines):
        return None, "the series of a sigmoid is that of single precision"
    if double and sum(seen_width(metric, width) for metric in found.metrics) > MAX_DOUBLE_WIDTH:
        return None, f"for {width} columns in double precision products of matrices are faster"
    return found, ""


def explain_products(kernel: Kernel, width: int, device: str, precision: str = "single") -> str:
    """Say in words how products with a kernel are computed on a device, for plans."""
    from mercer.gram.device.fused import available

    program, reason = program_of(kernel, width, precision == "double")
    if program is None:
        return f"not fused, because {reason}; blocks of Torch instead"
    if not available(device):
        return "not fused, because Triton is not here; blocks of Torch instead"
    how = ", in double precision" if precision == "double" else ""
    return f"fused by Triton{how}, the Gram matrix never written"


def dense(rows: Tensor) -> np.ndarray:
    """Return rows as a dense array."""
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
