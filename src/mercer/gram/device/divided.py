"""A Gram matrix on several devices of one computer: each has a share of the rows of a product.

All of them see all items, which are few numbers beside the matrix. Parts of the matrix, factors of
low rank and programs of margins are the first device's work. The answer depends on the number of
devices only by the order of rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.domains import Points, to_numpy
from mercer.engine.tiles import spans
from mercer.gram.device.multiplier import Multiplier, Precision
from mercer.gram.device.on_device import OnDevice
from mercer.gram.device.streaming import tensor
from mercer.kernels import Kernel
from mercer.threads import in_threads

__all__ = ["Divided"]


class Divided(OnDevice):
    """A Gram matrix that several devices multiply with.

    Parameters
    ----------
    kernel : Kernel
    points : Points
    devices : sequence of str
        Torch's names; the first is that of everything but products.
    precision : {"single", "double"}

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> Divided(k, k.admit([[1.0], [2.0]]), ["cpu", "cpu"]) @ np.array([1.0, 1.0])
    array([3., 6.])
    """

    def __init__(
        self,
        kernel: Kernel,
        points: Points,
        devices: Sequence[str],
        precision: Precision = "single",
    ) -> None:
        super().__init__(kernel, points, devices[0], precision)
        self.others = [OnDevice(kernel, points, device, precision) for device in devices[1:]]
        self.way += f"; rows divided among {len(devices)} devices"

    def _seeing(self, precision: Precision) -> OnDevice:
        found: Any = super()._seeing(precision)
        found.__class__ = Divided
        found.others = [other._seeing(precision) for other in self.others]
        return found

    def part(self, items: np.ndarray) -> OnDevice:
        devices = [str(one.device) for one in (self, *self.others)]
        return Divided(self.kernel, self.points[items], devices, self.precision)

    def _product(self, V: np.ndarray, engine: Multiplier) -> np.ndarray:
        members = [self, *self.others]
        if not all(one.rows.stay for one in members):  # they come from the host, one after another
            return super()._product(V, engine)
        result = np.empty((self.order, V.shape[1]))
        places = spans(self.order, -(-self.order // len(members)))

        def share(number: int) -> None:
            one, rows = members[number], places[number]
            own = engine if one is self else one.engine
            result[rows] = rows_times(one, rows, V, own)

        in_threads(share, range(len(places)), threads=True)
        if not np.isfinite(result).all() and engine.precision == "single":
            return super()._product(V, engine.careful())
        return result


def rows_times(gram: OnDevice, rows: slice, V: np.ndarray, engine: Multiplier) -> np.ndarray:
    """Return K[rows] @ V, computed on the device of a matrix whose rows stay there."""
    ((_, right),) = gram._sides("second", engine)
    name = f"first {rows.start}:{rows.stop}"
    if name not in gram._ready:
        gram._ready[name] = engine.ready(gram.rows.all()[rows], "first")
    found = engine.multiply(gram._ready[name], right, tensor(V, gram.device), exact=True)
    return np.asarray(to_numpy(found))
