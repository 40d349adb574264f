"""Sketches on a device: similarities of many items to some centers, never stored.

See `mercer.gram.sketch` for what a sketch is. The centers stay on the device. The items stay there
too if there is room; otherwise they come from the host in chunks, at each pass anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from mercer.domains import VECTORS, InMemory, Points, to_numpy
from mercer.engine.tiles import diagonal
from mercer.gram.device.blocks import evaluate, in_parts, rows_at_once
from mercer.gram.device.devices import (
    Tensor,
    allocate,
    empty_cache,
    is_full,
    or_on_the_cpu,
    torch_device,
)
from mercer.gram.device.multiplier import Multiplier, Precision, ReadyRows
from mercer.gram.device.numeric_rows import explain_products, number_columns
from mercer.gram.device.prepared_rows import Products
from mercer.gram.device.streaming import DeviceRows, tensor
from mercer.gram.device.whitening import DeviceWhitening, Map, inverse
from mercer.gram.sketch import CenterSketch
from mercer.gram.whitening import EIGEN_UP_TO, Whitening
from mercer.kernels import Kernel

__all__ = ["DeviceSketch"]

T = TypeVar("T")
SAMPLED_UP_TO = 6000  # centers with which a preconditioner is made from more items than those
# Errors of similarities in single precision are a few times 1e-7. Below this share of the core's
# diagonal they make steps go astray; with it, predictions change by less than the data's noise.
SINGLE_NOISE_SHARE = 1e-6


class DeviceSketch:
    """An n × M matrix of similarities to centers, computed again on a device at each pass.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    rows : array, Points, or an object with `count` and `pieces()`
    centers : array or Points
    device : str
    precision : {"single", "double"}
    products : str
        See `mercer.gram.device.Engine`.
    stay : bool, optional
        Whether the items stay on the device; by default if there is room.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.kernels import Linear
    >>> sketch = DeviceSketch(Linear(), [[1.0], [2.0], [3.0]], [[2.0]], device="cpu")
    >>> sketch.product(np.array([[1.0]])).ravel(), sketch.moments()
    (array([2., 4., 6.]), array([[56.]]))
    """

    def __init__(
        self,
        kernel: Kernel,
        rows: Tensor,
        centers: Any,
        device: str = "cuda",
        precision: Precision = "single",
        products: Products = "split",
        stay: bool | None = None,
    ) -> None:
        self.device, self.precision = torch_device(device), precision
        self._given = kernel, rows, centers
        centers = centers if isinstance(centers, Points) else VECTORS.admit(centers, "centers")
        self.kernel = number_columns(kernel, centers)
        self.rows = DeviceRows(_held(rows), self.device, stay)
        self.centers = DeviceRows(centers, self.device, True).all()
        self.count = len(self.centers)
        self.uniform = False  # it makes its own preconditioner, which need not know
        self.passes = 0
        self._engine = Multiplier(self.kernel, self.centers, precision, products)
        self._right = self._engine.ready(self.centers, "second")
        self._left: ReadyRows | None = None
        self.way = explain_products(self.kernel, self.rows.width, str(self.device), precision)

    @property
    def order(self) -> int:
        """Number of items."""
        return self.rows.count

    def core(self) -> np.ndarray:
        """Return k(Z, Z) in double precision."""
        return to_numpy(self._core())

    def diagonal_sum(self, kernel: Kernel) -> float:
        """Return Σ k(xᵢ, xᵢ) over all items."""
        pieces = _held(self._given[1]).pieces()
        return sum(float(np.sum(to_numpy(diagonal(kernel, part)))) for _, part in pieces)

    def _core(self) -> Any:
        return evaluate(self.kernel, self.centers.double())

    def product(self, A: np.ndarray) -> np.ndarray:
        """Return C @ A."""

        def work(engine: Multiplier, right: ReadyRows) -> np.ndarray:
            coefficients = tensor(A, self.device)
            result = np.empty((self.order, A.shape[1]))
            for place, left in self._chunks(engine):
                result[place] = to_numpy(engine.multiply(left, right, coefficients, exact=True))
            return result

        return self._pass(work, "product", A)

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        """Return Cᵀ @ V."""

        def work(engine: Multiplier, right: ReadyRows) -> np.ndarray:
            total = self._zeros(V.shape[1])
            for place, left in self._chunks(engine):
                total += engine.multiply(right, left, tensor(V[place], self.device))
            return to_numpy(total)

        return self._pass(work, "adjoint", V)

    def normal(self, A: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return CᵀW(CA), with weights of the items, or of items and columns."""
        W = weights[:, None] if weights is not None and weights.ndim == 1 else weights

        def work(engine: Multiplier, right: ReadyRows) -> np.ndarray:
            coefficients, total = tensor(A, self.device), self._zeros(A.shape[1])
            for place, left in self._chunks(engine):
                some = None if W is None else tensor(W[place], self.device)
                total += engine.normal(left, right, coefficients, some)
            return to_numpy(total)

        return self._pass(work, "normal", A, weights)

    def moments(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return CᵀWC."""
        return self.moments_and_adjoint(np.empty((self.order, 0)), weights)[0]

    def moments_and_adjoint(
        self, V: np.ndarray, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return CᵀWC and CᵀV, in one pass, with similarities in double precision."""

        def work() -> tuple[np.ndarray, np.ndarray]:
            import torch

            Z = self.centers.double()
            H = allocate((self.count, self.count), torch.float64, self.device).zero_()
            sums = self._zeros(V.shape[1])
            for place, rows in self.rows.chunks():
                start = place.start

                def use(some: slice, rows: Tensor = rows, start: int = start) -> None:
                    C = evaluate(self.kernel, rows[some].double(), Z)
                    i = slice(start + some.start, start + some.stop)
                    sums.add_(C.T @ tensor(V[i], self.device))
                    if weights is not None:
                        C *= tensor(np.sqrt(weights[i]), self.device)[:, None]
                    H.addmm_(C.T, C)

                in_parts(len(rows), rows_at_once(self.kernel, self.count, Z), use)
            return to_numpy((H + H.T) / 2), to_numpy(sums)

        self.passes += 1
        return self._guarded(work, "moments_and_adjoint", V, weights)

    def sampled(self, places: np.ndarray) -> np.ndarray:
        """Return the rows of some items, in double precision; `places` ascend."""
        return self._guarded(lambda: to_numpy(self._sampled(places)), "sampled", places)

    def _sampled(self, places: np.ndarray) -> Any:
        import torch

        found = allocate((len(places), self.count), torch.float64, self.device)
        Z = self.centers.double()
        for place, rows in self.rows.chunks():
            a, b = np.searchsorted(places, [place.start, place.stop])
            some = rows[tensor(places[a:b] - place.start, self.device).long()].double()

            def use(i: slice, some: Tensor = some, a: int = int(a)) -> None:
                found[a + i.start : a + i.stop] = evaluate(self.kernel, some[i], Z)

            in_parts(len(some), rows_at_once(self.kernel, self.count, Z), use)
        return found

    # ---- what solvers ask for ---------------------------------------------------------------

    def whitening(self) -> Any:
        """Return coordinates in which the penalty is λI, computed on the device if they are many.

        Directions in which the core is no larger than the errors of single precision cannot be
        told from rounding. So as much is added to its diagonal.
        """
        if self.count <= EIGEN_UP_TO and self.precision == "double":
            return Whitening(self.core())
        least = SINGLE_NOISE_SHARE if self.precision == "single" else 0.0
        return DeviceWhitening(self._core(), least)

    def whitened_moments(
        self, white: Whitening | DeviceWhitening, V: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return TᵀCᵀCT and TᵀCᵀV, from the sums of C: T comes afterwards."""
        H, sums = self.moments_and_adjoint(V)
        return white.around(H), white.back(sums)

    def preconditioner(
        self,
        white: Whitening | DeviceWhitening,
        penalty: float,
        total: float | None = None,
        seed: int = 0,
    ) -> Map:
        """Return what nearly solves (TᵀCᵀCT + λI)β = g: the inverse for a sample of the items.

        With many centers these are the sample themselves, because CᵀC is about n/M times the
        square of the core if they are one (Rudi, Carratino & Rosasco, 2017). That needs no further
        similarities; a larger sample makes fewer steps.

        Parameters
        ----------
        white : from `whitening`
        penalty : float
        total : float, optional
            Sum of the items' weights.
        seed : int
            Of the sample.
        """
        total = float(self.order) if total is None else total
        if self.count > SAMPLED_UP_TO and isinstance(white, DeviceWhitening):
            return white.squared(total / self.count, penalty)
        count = min(self.order, max(4 * self.count, 1000))  # four items for each center
        places = np.random.default_rng(seed).choice(self.order, count, replace=False)
        C = self._sampled(np.sort(places)).T
        if isinstance(white, DeviceWhitening):
            F = white.solve(C)
        else:
            F = tensor(white.back(to_numpy(C)), self.device)
        return inverse(F, total / count, penalty)

    # ---- passes -----------------------------------------------------------------------------

    def _zeros(self, columns: int) -> Any:
        import torch

        return torch.zeros((self.count, columns), dtype=torch.float64, device=self.device)

    def _chunks(self, engine: Multiplier) -> Any:
        """Yield places and ready rows; rows that stay are made ready once."""
        if not self.rows.stay or engine is not self._engine:
            return ((place, engine.ready(rows, "first")) for place, rows in self.rows.chunks())
        if self._left is None:
            self._left = engine.ready(self.rows.all(), "first")
        return [(slice(0, self.order), self._left)]

    def _pass(
        self, work: Callable[[Multiplier, ReadyRows], np.ndarray], name: str, *given: Any
    ) -> np.ndarray:
        """Go through all items; in double precision if single cannot hold the result."""
        self.passes += 1
        found = self._guarded(lambda: work(self._engine, self._right), name, *given)
        if self.precision == "single" and not np.isfinite(found).all():
            careful = self._engine.careful()
            right = careful.ready(self.centers, "second")
            return self._guarded(lambda: work(careful, right), name, *given)
        return found

    def _guarded(self, work: Callable[[], T], name: str, *given: Any) -> T:
        """Do a pass; with smaller chunks, or in the end on the CPU, if the memory is full."""

        def again() -> T:
            while True:
                try:
                    return work()
                except Exception as error:
                    if not is_full(error):
                        raise
                    self._left = None
                    if not self.rows.halve():
                        raise
                empty_cache()

        instead = lambda: getattr(self.on_cpu, name)(*given)  # noqa: E731
        return or_on_the_cpu(again, instead, "a pass over the items", self.device)

    @property
    def on_cpu(self) -> CenterSketch:
        """The same sketch, computed on the CPU."""
        kernel, rows, centers = self._given
        if not hasattr(rows, "pieces"):
            rows = InMemory(
                rows if isinstance(rows, Points) else VECTORS.admit(rows), self.rows.size
            )
        centers = centers if isinstance(centers, Points) else VECTORS.admit(centers)
        return CenterSketch(kernel, rows, centers)


def _held(rows: Tensor) -> Any:
    """Return rows as they are if they know how to be read, admitted otherwise."""
    if isinstance(rows, Points | np.ndarray) or hasattr(rows, "pieces"):
        return rows
    return VECTORS.admit(rows)
