"""Blocks: products with a Gram matrix on a Torch device, a block of it at a time.

Any kernel on vectors can do that, in any precision: its array-API code runs on tensors as it does
on NumPy's arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.domains import Vectors
from mercer.engine.tiles import fill
from mercer.gram.device.devices import Tensor, empty_cache, free_bytes, is_full
from mercer.kernels import Kernel

__all__ = ["evaluate", "in_parts", "multiply", "normal", "rows_at_once"]

MAX_BLOCK_COLUMNS = 1 << 16  # columns of a block
MIN_BLOCK_ROWS = 16  # rows below which a block is not made smaller


def evaluate(kernel: Kernel, A: Tensor, B: Tensor = None) -> Any:
    """Return K(A, B) of tensors of rows; with one, an exactly symmetric matrix.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.kernels import Linear
    >>> evaluate(Linear(), torch.ones(2, 3)).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    return fill(kernel, Vectors(A), None if B is None else Vectors(B))


def multiply(kernel: Kernel, A: Tensor, B: Tensor, V: Tensor) -> Any:
    """Return K(A, B) @ V in double precision, for tensors of rows."""
    import torch

    V = V.double()
    out = torch.zeros((len(A), V.shape[1]), dtype=torch.float64, device=A.device)
    for j in range(0, len(B), MAX_BLOCK_COLUMNS):
        right, some = B[j : j + MAX_BLOCK_COLUMNS], V[j : j + MAX_BLOCK_COLUMNS]
        height = rows_at_once(kernel, len(right), A)

        def use(i: slice, right: Tensor = right, some: Tensor = some) -> None:
            out[i] += evaluate(kernel, A[i], right).double() @ some

        in_parts(len(A), height, use)
    return out


def normal(kernel: Kernel, A: Tensor, B: Tensor, V: Tensor, W: Tensor = None) -> Any:
    """Return CᵀW(CV) with C = K(A, B) in double precision, each of its entries computed once.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.kernels import Linear
    >>> X, Z = torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0]])
    >>> normal(Linear(), X, Z, torch.ones(1, 1), torch.tensor([[1.0], [10.0]])).tolist()
    [[41.0]]
    """
    import torch

    V = V.double()
    total = torch.zeros((len(B), V.shape[1]), dtype=torch.float64, device=A.device)

    def use(i: slice) -> None:
        C = evaluate(kernel, A[i], B).double()
        values = C @ V
        total.add_(C.T @ (values if W is None else values * W[i]))

    in_parts(len(A), rows_at_once(kernel, len(B), A), use)
    return total


def rows_at_once(kernel: Kernel, columns: int, rows: Tensor) -> int:
    """Return how many rows of a block fit into the device's memory."""
    each = columns * rows.element_size() * (kernel.workspace() + 3)
    # Blocks may take less than half of the free memory.
    return max(int(0.4 * free_bytes(rows.device) / each), MIN_BLOCK_ROWS)


def in_parts(count: int, size: int, use: Callable[[slice], None]) -> None:
    """Use all of a range part by part; a part that does not fit is halved, down to a few rows."""
    start = 0
    while start < count:
        try:
            use(slice(start, min(start + size, count)))
        except Exception as error:
            if not is_full(error) or size <= MIN_BLOCK_ROWS:
                raise
            size = max(min(size, count - start) // 2, MIN_BLOCK_ROWS)
        else:
            start += size
            continue
        empty_cache()
