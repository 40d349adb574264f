"""The engine: products of one kernel on one device, fused where that is possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import mercer.gram.device.blocks as blocks
from mercer.gram.device import fused
from mercer.gram.device.devices import Tensor
from mercer.gram.device.numeric_rows import program_of
from mercer.gram.device.prepared_rows import PreparedRows, Products, Role, origins, prepare
from mercer.kernels import Kernel

__all__ = ["Multiplier", "Precision", "ReadyRows"]

Precision = Literal["single", "double"]
# Columns of coefficients in double precision, for more of which blocks of Torch are faster.
MAX_DOUBLE_COLUMNS = 8


@dataclass
class ReadyRows:
    """Rows on a device, with what fused products need of them."""

    rows: Any
    side: PreparedRows | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, items: Tensor) -> ReadyRows:
        side = None if self.side is None else self.side.take(items)
        return ReadyRows(self.rows[items], side)


class Multiplier:
    """Products with Gram matrices of rows on a device.

    Parameters
    ----------
    kernel : Kernel
        Resolved, without names of columns.
    reference : tensor of shape (m, width)
        Rows whose mean is the origin from which all others are seen.
    precision : {"single", "double"}
    products : {"split", "half", "tf32x3", "tf32", "ieee"}
        How dot products are computed in single precision. "split" has full accuracy, "half" is
        faster and has three to four digits.

    Attributes
    ----------
    program : Program or None
        None where products are not fused.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.kernels import Linear
    >>> X = torch.tensor([[1.0], [2.0]])
    >>> engine = Multiplier(Linear(), X)
    >>> A, B = engine.ready(X, "first"), engine.ready(X, "second")
    >>> engine.multiply(A, B, torch.ones(2, 1)).ravel().tolist()
    [3.0, 6.0]
    """

    def __init__(
        self,
        kernel: Kernel,
        reference: Any,
        precision: Precision = "single",
        products: Products = "split",
    ) -> None:
        self.kernel = kernel
        self.precision = precision
        self.products: Products = products if precision == "single" else "double"
        program = None
        if fused.available(str(reference.device)):
            program, _ = program_of(kernel, int(reference.shape[1]), precision == "double")
        self.program = program
        self._origins = None if program is None else origins(program, reference)

    def ready(self, rows: Tensor, role: Role) -> ReadyRows:
        """Return rows that are ready for products; the two sides of one have different roles."""
        if self.program is None or self._origins is None:
            return ReadyRows(rows.double() if self.precision == "double" else rows)
        side = prepare(self.program, rows, self._origins, role, self.products)
        return ReadyRows(rows.double() if self.precision == "double" else rows, side)

    def multiply(self, A: ReadyRows, B: ReadyRows, V: Tensor, exact: bool = False) -> Any:
        """Return K(A, B) @ V in double precision; what is not finite is left to the caller."""
        if self.program is None or A.side is None or B.side is None:
            return blocks.multiply(self.kernel, A.rows, B.rows, V)
        # So few columns may count with all their digits at little cost.
        exact = exact and V.shape[1] <= 4 and self.products not in ("half", "tf32")
        if self.precision == "double" and V.shape[1] > MAX_DOUBLE_COLUMNS:
            return blocks.multiply(self.kernel, A.rows, B.rows, V)
        return fused.multiply(self.program, A.side, B.side, V, self.products, exact)

    def normal(self, A: ReadyRows, B: ReadyRows, V: Tensor, W: Tensor = None) -> Any:
        """Return CᵀW(CV) with C = K(A, B), in double precision."""
        if (self.program is None or A.side is None) and len(B.rows) <= blocks.MAX_BLOCK_COLUMNS:
            return blocks.normal(self.kernel, A.rows, B.rows, V, W)
        values = self.multiply(A, B, V, exact=True)
        return self.multiply(B, A, values if W is None else values * W)

    def careful(self) -> Multiplier:
        """Return an engine for numbers that single precision cannot hold."""
        again = Multiplier.__new__(Multiplier)
        again.kernel, again.precision, again.products = self.kernel, "double", self.products
        again.program, again._origins = None, None
        return again
