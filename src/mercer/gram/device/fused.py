"""Fused products: K(A, B) @ V in one Triton kernel, the Gram matrix never written.

The kernel's text is made from the program of the expression, compiled when it is first used and
kept; bandwidths and other numbers are arguments of it.
"""

from __future__ import annotations

import importlib.util
import linecache
from dataclasses import replace
from functools import cache
from typing import Any

from mercer.forks import Lock
from mercer.gram.device.devices import Tensor
from mercer.gram.device.expression import PairProgram
from mercer.gram.device.prepared_rows import ROW_PADDING, PreparedRows, Products, clearance, whole
from mercer.gram.device.source import SourceShape, Way, text

__all__ = ["available", "compiled", "multiply", "on_device"]

ADDED_ONE_BY_ONE = (1, 2, 4, 8)  # columns of coefficients that are added up one by one
WITH_SUMS_APART = (1, 2, 4)  # the same where each pair of places has its own sums
BY_PRODUCTS = (16, 32, 64)  # columns that are added up by products of matrices
DOUBLE_AT_ONCE = 2  # columns of coefficients in double precision
# Columns that pairs are compared by, up to which double precision is faster fused than by Torch's
# products of matrices, which use units that Triton does not.
MAX_DOUBLE_WIDTH = 48
MIN_INSTANCES = 4096  # of the kernel, in which the work should be cut at least
MIN_INSTANCE_COLUMNS = 2048  # columns that one instance should have at least
MAX_INSTANCE_COLUMNS = 4096  # and at most, where its sums are all in single precision


def available(device: str) -> bool:
    """Tell whether Triton is here and the device is one that it can compile for."""
    if importlib.util.find_spec("triton") is None:
        return False
    return device.startswith("cuda") or _interpreted()


def multiply(
    program: PairProgram,
    first: PreparedRows,
    second: PreparedRows,
    V: Tensor,
    products: Products = "split",
    exact: bool = False,
    blocks: tuple[int, int, int, int] | None = None,
) -> Any:
    """Return K(first, second) @ V in double precision.

    Parameters
    ----------
    program : Program
    first, second : Side
        Prepared for this program with different roles (either way round).
    V : tensor of shape (len(second), t)
    products : str
        As for the sides.
    exact : bool
        Whether V counts with all its digits, as a sum of two single-precision numbers, so that
        the product is a linear function of it beyond single precision.
    blocks : tuple, optional
        Rows and columns of a block, warps, stages; by default from a table of what was fastest.
    """
    import torch

    V = V.double()
    if products == "double":
        places = range(0, V.shape[1], DOUBLE_AT_ONCE)
        some = [V[:, start : start + DOUBLE_AT_ONCE] for start in places]
        return torch.cat([_some(program, first, second, v, products, blocks) for v in some], dim=1)
    if exact:
        high = V.float()
        columns = torch.cat([high, (V - high.double()).float()], dim=1)
    else:
        columns = V.float()
    found = torch.cat(
        [
            _some(
                program,
                first,
                second,
                columns[:, start : start + BY_PRODUCTS[-1]],
                products,
                blocks,
            )
            for start in range(0, columns.shape[1], BY_PRODUCTS[-1])
        ],
        dim=1,
    )
    t = V.shape[1]
    return found[:, :t] + found[:, t:] if exact else found


def _some(
    program: PairProgram,
    first: PreparedRows,
    second: PreparedRows,
    V: Tensor,
    products: Products,
    blocks: Any,
) -> Any:
    """Multiply by at most as many columns as fit at once."""
    import torch

    t = int(V.shape[1])
    ways, nears = _ways(program, first, second)
    few = WITH_SUMS_APART if set(ways) == {"difference"} else ADDED_ONE_BY_ONE
    form = _form(program, first, ways, products, next(k for k in few + BY_PRODUCTS if k >= t))
    n, m = first.padded, second.padded
    bm, bn, warps, stages = blocks or table(form)
    span = _span(form, n, m, bm)
    cuts = -(-m // span)
    shape = (cuts, n, form.targets) if form.by_product else (cuts, form.targets, n)
    out = torch.empty(shape, dtype=torch.float64, device=V.device)
    arguments = {
        "out": out, "V": _coefficients(form, V, m), "m": m, "n": n, "span": span,
        "UA": _units(first), "UB": _units(second),
        **_tensors(first, second, nears),
        **{f"p{i}": value for i, value in enumerate(program.values)},
    }  # fmt: skip
    if products == "double":
        arguments["P"] = torch.tensor(program.values, dtype=torch.float64, device=V.device)
    ordered = [arguments[name] for name in form.arguments()]
    kernel = compiled(text(form))
    with on_device(V.device):
        kernel[(n // bm, cuts)](*ordered, BM=bm, BN=bn, num_warps=warps, num_stages=stages)
    total = out[0] if cuts == 1 else out.sum(dim=0)
    return total[: first.count, :t] if form.by_product else total[:t, : first.count].T


def _form(
    program: PairProgram,
    side: PreparedRows,
    ways: tuple[Way, ...],
    products: Products,
    targets: int,
) -> SourceShape:
    """Return what decides about the text, in which values of parameters do not count."""
    widths = [
        int(part.columns.shape[0] if way == "difference" else part.table.shape[1])
        for part, way in zip(side.parts, ways, strict=True)
    ]
    structure = replace(program, values=(0.0,) * len(program.values))
    return SourceShape(structure, ways, tuple(widths), products, targets)


def _span(form: SourceShape, n: int, m: int, bm: int) -> int:
    """Return how many columns an instance has: few if there are few rows, to have many of them."""
    cuts = max(min(-(-MIN_INSTANCES * bm // n), m // MIN_INSTANCE_COLUMNS), 1)
    if form.apart:
        cuts = max(cuts, -(-m // MAX_INSTANCE_COLUMNS))
    return -(-m // cuts // ROW_PADDING) * ROW_PADDING


def _coefficients(form: SourceShape, V: Tensor, m: int) -> Any:
    """Return coefficients as the kernel reads them, with zeros for padding."""
    import torch

    shape = (m, form.targets) if form.by_product else (form.targets, m)
    real = torch.float64 if form.products == "double" else torch.float32
    found = torch.zeros(shape, dtype=real, device=V.device)
    (found if form.by_product else found.T)[: V.shape[0], : V.shape[1]] = V
    return found


def _ways(
    program: PairProgram, first: PreparedRows, second: PreparedRows
) -> tuple[tuple[Way, ...], list[float]]:
    """Return how each metric is computed, and the distances below which pairs are close."""
    ways: list[Way] = []
    nears = []
    for metric, steep, a, b in zip(
        program.metrics, program.steepness, first.parts, second.parts, strict=True
    ):
        near = 0.0
        tables = a.table is not None and b.table is not None
        if metric.kind == "squared" and tables and a.columns is not None and b.columns is not None:
            near = clearance(steep, max(float(a.longest), float(b.longest)))
        # In so few dimensions nearly every block has pairs that are close.
        close = near > 0 and int(a.columns.shape[0]) <= 4
        if a.table is None or close:
            ways.append("difference")
        else:
            ways.append("mended" if near > 0 else "product")
        nears.append(near)
    return tuple(ways), nears


def _tensors(first: PreparedRows, second: PreparedRows, nears: list[float]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for i, (a, b) in enumerate(zip(first.parts, second.parts, strict=True)):
        found |= {
            f"A{i}": a.table, f"B{i}": b.table, f"SA{i}": a.squares, f"SB{i}": b.squares,
            f"X{i}": a.columns, f"Z{i}": b.columns, f"near{i}": nears[i],
            f"D{i}": 0 if a.columns is None else int(a.columns.shape[0]),
        }  # fmt: skip
    for i, (a, b) in enumerate(zip(first.lengths, second.lengths, strict=True)):
        found |= {f"LR{i}": a, f"LC{i}": b}
    return found


def _units(side: PreparedRows) -> Any:
    """Return what a unit of each table is worth, on the device: nobody waits for it."""
    import torch

    units = [part.unit for part in side.parts]
    given = next((unit for unit in units if unit is not None), None)
    if given is None:
        place = next(p.columns for p in side.parts if p.columns is not None).device
        given = torch.ones((), dtype=torch.float32, device=place)
    return torch.stack([given if unit is None else unit for unit in units])


def table(form: SourceShape) -> tuple[int, int, int, int]:
    """Return rows and columns of a block, warps and stages: what was fastest on an H200."""
    if form.products == "double":
        return 64, 32, 4, 2
    if form.by_product:
        return (64, 64, 4, 3) if set(form.ways) != {"product"} else (128, 64, 8, 2)
    if "difference" in form.ways:
        return (128, 64, 4, 2) if form.targets == 1 else (64, 64, 4, 2)
    if "mended" in form.ways:
        return (64, 128, 4, 3) if form.targets <= 2 else (64, 64, 4, 3)
    longest = max(form.widths)
    if longest > whole(form.products):
        return (128, 256, 8, 3) if form.targets <= 2 else (128, 128, 8, 3)
    if longest > 128:
        return (128, 128, 8, 2) if form.targets == 1 else (64, 64, 4, 2)
    if longest > 64 or form.targets > 2:
        return 128, 64, 4, 3
    return (128, 128, 4, 3) if form.targets == 1 else (64, 128, 4, 3)


_lock = Lock()
_kernels: dict[str, Any] = {}


def compiled(source: str, name_of_kernel: str = "fused") -> Any:
    """Return the kernel of a text, made once; Triton compiles it when it is called."""
    with _lock:
        if source not in _kernels:
            import triton
            import triton.language as tl

            # Triton reads a function's source where Python keeps it.
            name = f"<mercer fused {len(_kernels)}>"
            lines = source.splitlines(keepends=True)
            linecache.cache[name] = (len(source), None, lines, name)
            space: dict[str, Any] = {"triton": triton, "tl": tl, "__name__": __name__}
            exec(compile(source, name, "exec"), space)
            _kernels[source] = space[name_of_kernel]
        return _kernels[source]


def on_device(device: Tensor) -> Any:
    """Make a device the current one while a kernel is launched."""
    import contextlib

    import torch

    return torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext()


@cache
def _interpreted() -> bool:
    """Tell whether Triton runs its kernels in Python, for tests."""
    import os

    return os.environ.get("TRITON_INTERPRET") == "1"
