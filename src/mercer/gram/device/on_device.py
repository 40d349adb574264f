"""A Gram matrix on a device: rows stay there, vectors come and go as NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from mercer.domains import Points, to_numpy
from mercer.engine.tiles import diagonal, spans
from mercer.gram.climbing import BoxProgram, Climbed
from mercer.gram.device.blocks import evaluate, in_parts, rows_at_once
from mercer.gram.device.climber import climb_on, whole_matrix
from mercer.gram.device.devices import (
    Tensor,
    allocate,
    empty_cache,
    is_full,
    or_on_the_cpu,
    torch_device,
)
from mercer.gram.device.fused import available
from mercer.gram.device.low_rank import DeviceFactor, pivoted_on_device
from mercer.gram.device.multiplier import Multiplier, Precision, ReadyRows
from mercer.gram.device.numeric_rows import explain_products, number_columns
from mercer.gram.device.prepared_rows import Products
from mercer.gram.device.streaming import DeviceRows, tensor
from mercer.gram.operator import Blocked
from mercer.kernels import Kernel
from mercer.memory import afford

__all__ = ["OnDevice", "product"]

T = TypeVar("T")


class OnDevice:
    """A Gram matrix that is never stored: products with it are computed on a device.

    It is an operator for iterative solvers and gives pieces to solvers with working sets. Where
    the device's memory is full, work is cut into smaller parts, and in the end done on the CPU,
    with a warning.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    points : Points
        Admitted rows of numbers.
    device : str
        "cuda", or "cpu" for Torch on the CPU.
    precision : {"single", "double"}
        In single precision similarities have errors of about 2e-7, and sums are in double; a
        vector counts with all its digits, so that a solver may refine its answer.
    products : str
        See `mercer.gram.device.Engine`.
    stay : bool, optional
        Whether rows stay on the device; by default if there is room.

    Attributes
    ----------
    way : str
        In words, how products are computed.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> OnDevice(k, k.admit([[1.0], [2.0]]), device="cpu") @ np.array([1.0, 1.0])
    array([3., 6.])
    """

    def __init__(
        self,
        kernel: Kernel,
        points: Points,
        device: str = "cuda",
        precision: Precision = "single",
        products: Products = "split",
        stay: bool | None = None,
    ) -> None:
        self.kernel, self.points = kernel, points
        self.device, self.precision, self.products = torch_device(device), precision, products
        self.rows = DeviceRows(points, self.device, stay)
        self._plain = number_columns(kernel, points)
        self._engine: Multiplier | None = None
        self._ready: dict[str, ReadyRows] = {}
        self.way = explain_products(self._plain, self.rows.width, str(self.device), precision)

    @property
    def order(self) -> int:
        return self.rows.count

    # ---- products ---------------------------------------------------------------------------

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        V = np.asarray(vectors, dtype=np.float64)
        found = self._guarded(
            lambda: self._product(V.reshape(self.order, -1), self.engine),
            lambda: (self.on_cpu @ V).reshape(self.order, -1),
            "a product with a Gram matrix",
        )
        return found.reshape(V.shape)

    def combine(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        c = np.asarray(coefficients, dtype=np.float64)
        found = self._guarded(
            lambda: self._combined(columns, c.reshape(len(columns), -1), self.engine),
            lambda: self.on_cpu.combine(columns, c).reshape(self.order, -1),
            "a product with some columns of a Gram matrix",
        )
        return found.reshape(self.order, *c.shape[1:])

    def _product(self, V: np.ndarray, engine: Multiplier) -> np.ndarray:
        vectors = tensor(V, self.device)
        result = np.empty((self.order, V.shape[1]))
        for i, A in self._sides("first", engine):
            total = 0.0
            for j, B in self._sides("second", engine):
                total = total + engine.multiply(A, B, vectors[j], exact=True)
            result[i] = to_numpy(total)
        if not np.isfinite(result).all() and engine.precision == "single":
            return self._product(V, engine.careful())
        return result

    def _combined(self, columns: np.ndarray, c: np.ndarray, engine: Multiplier) -> np.ndarray:
        B = engine.ready(self._some(columns), "second")
        coefficients, result = tensor(c, self.device), np.empty((self.order, c.shape[1]))
        for i, A in self._sides("first", engine):
            result[i] = to_numpy(engine.multiply(A, B, coefficients, exact=True))
        if not np.isfinite(result).all() and engine.precision == "single":
            return self._combined(columns, c, engine.careful())
        return result

    def _sides(self, role: Any, engine: Multiplier) -> Any:
        """Yield places and ready rows; rows that stay are made ready once."""
        if not self.rows.stay or engine is not self._engine:
            return ((place, engine.ready(rows, role)) for place, rows in self.rows.chunks())
        if role not in self._ready:
            self._ready[role] = engine.ready(self.rows.all(), role)
        return [(slice(0, self.order), self._ready[role])]

    @property
    def engine(self) -> Multiplier:
        if self._engine is None:
            reference = self.rows.all() if self.rows.stay else next(iter(self.rows.chunks()))[1]
            self._engine = Multiplier(self._plain, reference, self.precision, self.products)
        return self._engine

    # ---- parts of the matrix ----------------------------------------------------------------

    def diagonal(self) -> np.ndarray:
        return to_numpy(diagonal(self.kernel, self.points)).astype(np.float64)

    def block(self, items: np.ndarray, out: np.ndarray) -> np.ndarray:
        def work() -> np.ndarray:
            out[...] = to_numpy(evaluate(self._plain, self._some(items)))
            return out

        return self._guarded(work, lambda: self.on_cpu.block(items, out), "part of a Gram matrix")

    def fill_rows(self, items: np.ndarray, out: np.ndarray, places: np.ndarray) -> None:
        def work() -> None:
            some = self._some(items)
            for j, right in self.rows.chunks():
                if self.precision == "double":
                    right = right.double()

                def use(i: slice, j: slice = j, right: Tensor = right) -> None:
                    out[places[i], j] = to_numpy(evaluate(self._plain, some[i], right))

                in_parts(len(some), rows_at_once(self._plain, len(right), some), use)

        self._guarded(
            work, lambda: self.on_cpu.fill_rows(items, out, places), "rows of a Gram matrix"
        )

    def matrix(self) -> np.ndarray:
        n = self.order
        afford(8.0 * n * n, f"a Gram matrix of {n} × {n} items", "use an iterative solver")
        K = np.empty((n, n))
        self.fill(K)
        return K

    def upper(self) -> np.ndarray:
        return self.matrix()

    def fill(self, out: np.ndarray) -> None:
        self._guarded(
            lambda: self._fill(out),
            lambda: np.copyto(out, self.on_cpu.matrix()),
            "a Gram matrix",
        )

    def _fill(self, K: Tensor) -> None:
        """Write the whole matrix, symmetric to the last bit, into an array or a tensor."""
        X = self.rows.all().double()
        parts = list(spans(self.order, 8192))  # sides of the blocks
        for number, i in enumerate(parts):
            for j in parts[number:]:
                block = evaluate(self._plain, X[i], None if i == j else X[j])
                block = to_numpy(block) if isinstance(K, np.ndarray) else block
                K[i, j] = block
                if i != j:
                    K[j, i] = block.T

    def tensor(self) -> Any:
        """Return the whole matrix in double precision, on the device."""
        import torch

        K = allocate((self.order, self.order), torch.float64, self.device)
        self._fill(K)
        return K

    # ---- for solvers that work where the rows are --------------------------------------------

    def rounded(self) -> OnDevice | None:
        """Return the same matrix with products in single precision, if those are faster."""
        if self.precision == "single":
            return None
        found = self._seeing("single")
        return found if found.engine.program is not None else None

    def low_rank(self, rank: int, enough: float, seed: int) -> DeviceFactor:
        """Return a factor of low rank near the matrix, made and kept on the device.

        If that is full, it has fewer columns, and a warning says so.
        """
        return pivoted_on_device(self, rank, enough, seed)

    def in_double(self) -> OnDevice:
        """Return the same matrix with products in double precision."""
        return self._seeing("double")

    def _seeing(self, precision: Precision) -> OnDevice:
        """Return the matrix of the same rows in another precision."""
        found = OnDevice.__new__(OnDevice)
        found.__dict__.update(self.__dict__)
        found.precision, found.products = precision, "split"
        found._engine, found._ready = None, {}
        found.way = explain_products(self._plain, self.rows.width, str(self.device), precision)
        return found

    @property
    def pieces(self) -> OnDevice:
        return self

    def climb(
        self, programs: Sequence[BoxProgram], tol: float, steps: int
    ) -> list[Climbed] | None:
        """Solve quadratic programs where the rows are; see `mercer.gram.climbing`."""
        each = 4 if self.precision == "single" else 8
        if self.device.type == "cuda" and not available("cuda"):  # every step would wait
            return None
        return climb_on(self, lambda: whole_matrix(self, each), programs, tol, steps)

    def fill_there(self, K: Tensor) -> None:
        """Write the whole matrix into a tensor on the device, in the precision of that."""
        self._fill(K)

    def similarities(self, A: Tensor, B: Tensor) -> Any:
        """Return K(A, B) of rows on the device, as a tensor in their precision."""
        return evaluate(self._plain, A, B)

    def part(self, items: np.ndarray) -> OnDevice:
        return OnDevice(
            self.kernel, self.points[items], str(self.device), self.precision, self.products
        )

    def _some(self, items: np.ndarray) -> Any:
        """Return the rows of some items, on the device."""
        import torch

        if self.rows.stay:
            rows = self.rows.all()[torch.as_tensor(np.asarray(items), device=self.device)]
        else:
            rows = DeviceRows(self.points[items], self.device, True, self.rows.dtype).all()
        return rows.double() if self.precision == "double" else rows

    # ---- when the memory is full ------------------------------------------------------------

    @property
    def on_cpu(self) -> Blocked:
        """The same matrix, computed on the CPU."""
        return Blocked(self.kernel, self.points)

    def _guarded(self, work: Callable[[], T], instead: Callable[[], T], task: str) -> T:
        def again() -> T:
            while True:
                try:
                    return work()
                except Exception as error:
                    if not is_full(error):
                        raise
                    self._ready, self._engine = {}, None
                    if not self.rows.halve():
                        raise
                empty_cache()

        return or_on_the_cpu(again, instead, task, self.device)


def product(
    kernel: Kernel,
    A: Points,
    B: Points,
    coefficients: np.ndarray,
    device: str = "cuda",
    precision: Precision = "single",
    products: Products = "split",
) -> np.ndarray:
    """Return K(A, B) @ coefficients, computed on a device: what a prediction is.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> A, B = k.admit([[1.0], [2.0]]), k.admit([[3.0], [4.0]])
    >>> product(k, A, B, np.array([1.0, 1.0]), device="cpu")
    array([ 7., 14.])
    """
    from mercer.gram.device.sketch import DeviceSketch

    C = np.asarray(coefficients, dtype=np.float64)
    sketch = DeviceSketch(kernel, A, B, device, precision, products)
    found = sketch.product(C.reshape(len(B), -1))
    return found.reshape(len(A), *C.shape[1:])
