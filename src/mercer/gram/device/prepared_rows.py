"""Sides: rows made ready for a fused product, once for all products with them.

A product of matrices in single precision is slow on a GPU, one in half precision about fifteen
times as fast. So each number is written as a sum of two halves, x = h + l with h of eleven bits
and l of the next eleven, and xᵀz becomes hᵀh' + hᵀl' + lᵀh', *one* product of rows of three times
the length: (h, h, l) on the first side and (h, l, h) on the second. What is left out is of the
size of rounding in single precision. Before that, rows are seen from an origin and multiplied by a
power of two, so that nothing is too large or too small for a half.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from mercer.domains import Vectors
from mercer.engine.block import scaled
from mercer.engine.transform import RowTransform
from mercer.gram.device.devices import Tensor
from mercer.gram.device.expression import Length, Metric, PairProgram
from mercer.kernels import Cosine, Kernel, Periodic, QuadraticForm
from mercer.kernels.algebra.normalization import Normalize
from mercer.kernels.vectors.cosine import unit_rows

__all__ = ["ROW_PADDING", "MetricRows", "PreparedRows", "Products", "Role", "origins", "prepare"]

Role = Literal["first", "second"]
# How the products are computed: of halves split in two, of halves, or of single-precision numbers
# in one of Triton's ways; or of double-precision ones, without a table.
Products = Literal["split", "half", "tf32x3", "tf32", "ieee", "double"]
ROW_PADDING = 256  # rows are padded to a multiple of this, so that no loop needs a mask
MAX_HALF_EXPONENT = 14  # the largest entry is brought below 2 to this power
MAX_WHOLE_ROW = 320  # halves of a row that are loaded at once
ROW_PIECE = 64  # halves of a longer row that are loaded at once
COPY_ENTRIES = 1 << 25  # entries of a working copy in double precision


@dataclass
class MetricRows:
    """One metric's share of a side.

    Attributes
    ----------
    table : tensor of shape (padded, K) or None
        Rows for products of matrices.
    unit : tensor of shape ()
        What one unit in the table is worth.
    squares : tensor of shape (padded,) or None
        Squared lengths.
    columns : tensor of shape (d, padded) or None
        The same rows in single precision, for differences.
    longest : tensor of shape ()
        The largest squared length.
    """

    table: Any = None
    unit: Any = None
    squares: Any = None
    columns: Any = None
    longest: Any = None

    def take(self, items: Tensor, padded: int) -> MetricRows:
        return MetricRows(
            _taken(self.table, items, padded, 0),
            self.unit,
            _taken(self.squares, items, padded, 0),
            _taken(self.columns, items, padded, 1),
            self.longest,
        )


@dataclass
class PreparedRows:
    """Rows that are ready.

    Attributes
    ----------
    count : int
    parts : list of Part
        One for each metric of the program.
    lengths : list of tensor of shape (padded,)
        One for each length of the program.
    """

    count: int
    parts: list[MetricRows]
    lengths: list[Any]

    @property
    def padded(self) -> int:
        return padded(self.count)

    def take(self, items: Tensor) -> PreparedRows:
        """Return some of the rows; `items` is a tensor of their numbers."""
        count = len(items)
        padded_count = padded(count)
        return PreparedRows(
            count,
            [part.take(items, padded_count) for part in self.parts],
            [_taken(values, items, padded_count, 0) for values in self.lengths],
        )

    @property
    def bytes(self) -> int:
        """What it takes of the device's memory."""
        tensors = [t for p in self.parts for t in (p.table, p.squares, p.columns)] + self.lengths
        return sum(t.numel() * t.element_size() for t in tensors if t is not None)


def padded(count: int) -> int:
    """Return the number of rows with padding.

    Examples
    --------
    >>> padded(3), padded(257)
    (256, 512)
    """
    return max(-(-count // ROW_PADDING), 1) * ROW_PADDING


def origins(program: PairProgram, X: Tensor) -> list[Any]:
    """Return where each metric's rows are seen from: their mean, or zero for dot products."""
    return [
        _seen(metric, X, "second").double().mean(dim=0) if metric.centered else None
        for metric in program.metrics
    ]


def prepare(
    program: PairProgram,
    X: Tensor,
    centers: list[Any],
    role: Role,
    products: Products,
    near: bool = True,
) -> PreparedRows:
    """Return a side of rows.

    Parameters
    ----------
    program : Program
    X : tensor of shape (n, width), float32 or float64
    centers : list
        From `origins`, the same for both sides.
    role : {"first", "second"}
        Which side of the halves it is; the two sides of a product have different ones.
    products : str
        How they are computed.
    near : bool
        Whether single-precision rows are kept beside halves, for pairs that are close.
    """
    parts = [
        _part(metric, X, center, role, products, near)
        for metric, center in zip(program.metrics, centers, strict=True)
    ]
    lengths = [_length(length, X, products) for length in program.lengths]
    return PreparedRows(len(X), parts, lengths)


def seen_width(metric: Metric, width: int) -> int:
    """Return the length of the rows that a metric compares."""
    if isinstance(metric.scales, RowTransform):
        return int(metric.scales.matrix.shape[1])
    chosen = width if metric.columns is None else len(metric.columns)
    return 2 * chosen if isinstance(metric.change, Periodic) else chosen


def table_width(d: int, products: Products) -> int:
    """Return the length of the rows of a table."""
    K = 3 * d if products == "split" else d
    # A matrix unit takes 16 entries of a row at a time.
    step = ROW_PIECE if K > whole(products) else 16
    return -(-K // step) * step


def whole(products: Products) -> int:
    """Return up to which length rows are loaded at once; longer ones come in pieces."""
    return MAX_WHOLE_ROW if products in ("split", "half") else MAX_WHOLE_ROW // 2


def _part(
    metric: Metric, X: Tensor, center: Tensor, role: Role, products: Products, near: bool
) -> MetricRows:
    import torch

    n, d = len(X), seen_width(metric, int(X.shape[1]))
    padded_count, place = padded(n), {"device": X.device}
    real = torch.float64 if products == "double" else torch.float32
    rows = torch.empty((n, d), dtype=real, **place)
    for start in range(0, n, max(COPY_ENTRIES // d, 1)):
        some = slice(start, start + max(COPY_ENTRIES // d, 1))
        seen = _seen(metric, X[some], role).double()
        if center is not None:
            seen = seen - center
        rows[some] = scaled(Vectors(seen), metric.scales)
    part = MetricRows()
    if products == "double":
        part.columns = torch.zeros((d, padded_count), dtype=real, **place)
        part.columns[:, :n] = rows.T
        return part
    if metric.kind == "squared":
        part.squares = _padded(torch.linalg.vecdot(rows, rows), padded_count)
        part.longest = part.squares.amax()
    if metric.kind == "cityblock" or (near and metric.kind == "squared"):
        part.columns = torch.zeros((d, padded_count), dtype=torch.float32, **place)
        part.columns[:, :n] = rows.T
    if metric.kind != "cityblock":
        part.table, part.unit = _table(rows, padded_count, role, products)
    return part


def _table(rows: Tensor, padded_count: int, role: Role, products: Products) -> tuple[Any, Any]:
    import torch

    n, d = rows.shape
    width, place = table_width(d, products), {"device": rows.device}
    if products not in ("split", "half"):
        table = torch.zeros((padded_count, width), dtype=torch.float32, **place)
        table[:n, :d] = rows
        return table, torch.ones((), dtype=torch.float32, **place)
    table = torch.zeros((padded_count, width), dtype=torch.float16, **place)
    exponent = torch.frexp(rows.abs().amax()).exponent
    one = torch.ones((), dtype=torch.float32, **place)
    rows = rows * torch.ldexp(one, MAX_HALF_EXPONENT - exponent)
    high = table[:n, :d]
    high.copy_(rows)
    if products == "split":
        low = (rows - high.float()).half()
        first, second = (high, low) if role == "first" else (low, high)
        table[:n, d : 2 * d] = first
        table[:n, 2 * d : 3 * d] = second
    return table, torch.ldexp(one, exponent - MAX_HALF_EXPONENT)


def _seen(metric: Metric, X: Tensor, role: Role) -> Any:
    """Return the rows that a metric compares, neither centered nor scaled."""
    import torch

    if metric.columns is not None:
        X = X[:, list(metric.columns)]
    change = metric.change
    if isinstance(change, Cosine):
        return unit_rows(Vectors(X.double()))[0]
    if isinstance(change, Periodic):
        return change._circle(Vectors(X.double())).array
    if isinstance(change, QuadraticForm) and role == "first":
        return X.double() @ torch.tensor(change.matrix, dtype=torch.float64, device=X.device)
    return X


def _length(length: Length, X: Tensor, products: Products) -> Any:
    """Return a length of all rows, in the precision of the products."""
    rows = X if length.columns is None else X[:, list(length.columns)]
    values = lengths_of(length.kernel, rows, length.inverse)
    return _padded(values if products == "double" else values.float(), padded(len(X)))


def lengths_of(kernel: Kernel, rows: Tensor, inverse: bool) -> Any:
    points = Vectors(rows.double())
    if inverse:
        return Normalize(kernel)._inverse_lengths(points)
    return Normalize(kernel).inner_diagonal(kernel, points)


def _padded(values: Tensor, padded_count: int) -> Any:
    import torch

    found = torch.zeros(padded_count, dtype=values.dtype, device=values.device)
    found[: len(values)] = values
    return found


def _taken(values: Tensor, items: Tensor, padded_count: int, axis: int) -> Any:
    import torch

    if values is None:
        return None
    shape = list(values.shape)
    shape[axis] = padded_count
    found = torch.zeros(shape, dtype=values.dtype, device=values.device)
    found.narrow(axis, 0, len(items)).copy_(values.index_select(axis, items))
    return found


def clearance(steep: float, longest: float) -> float:
    """Return the squared distance below which one of |x|² + |z|² − 2xᵀz is not good enough.

    Such a distance has an error of about 1e-7·(|x|² + |z|²). If that changes a similarity by less
    than a millionth, all are good enough, and it is 0. Otherwise it is where similarity has fallen
    to nearly nothing, or, for a function of the root of the distance, where a thousandth of the
    lengths is left, so that the root has four digits.
    """
    if steep * longest * 2e-7 <= 1e-6:
        return 0.0
    return 1e-3 * 2 * longest if math.isinf(steep) else 16 / steep
