"""Kernel parameters: the positive parameters of a kernel as one vector of logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import Points, Vectors
from mercer.errors import MercerError
from mercer.kernels import Block, Kernel
from mercer.kernels.vectors.stationary import Stationary

__all__ = ["AMPLITUDES", "BANDWIDTHS", "LogParameters", "per_dimension", "with_medians"]

# Parameters that say how far similarity reaches, and so are worth starting at other sizes.
BANDWIDTHS = ("bandwidth", "sensitivity", "scale")
AMPLITUDES = ("factor", "value")  # and those that say how large similarity is
SAME_SPREAD = 3.0  # up to this ratio the spreads of columns are taken to be equal
CONSTANT_BANDWIDTH = 1e3  # bandwidth of a column that is always the same, times what it is


@dataclass(frozen=True)
class LogParameters:
    """Names and sizes of the parameters that can be searched.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Polynomial
    >>> k = 2.0 * Gaussian((1.0, 10.0)) + Polynomial(3)
    >>> found = LogParameters.of(k, k.admit([[0.0, 0.0], [1.0, 1.0]]))
    >>> found.names, found.sizes
    (('left__factor', 'left__kernel__bandwidth', 'right__scale'), (1, 2, 1))
    >>> found.write(k, np.zeros(4))
    1.0 * Gaussian(bandwidth=(1.0, 1.0)) + Polynomial(degree=3, offset=0.0, scale=1.0)
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, kernel: Kernel, points: Points) -> LogParameters:
        """Ask a kernel which of its parameters have slopes."""
        few = points[: min(2, len(points))]
        kernel.encode(few)
        found = kernel.slopes(Block(few, few, True), np.zeros((len(few), len(few))))
        names = tuple(sorted(found))
        return cls(names, tuple(int(np.size(found[name])) for name in names))

    @property
    def count(self) -> int:
        return sum(self.sizes)

    def read(self, kernel: Kernel) -> np.ndarray:
        """Return the logarithms of a kernel's parameters."""
        values = kernel.get_params()
        parts = [np.atleast_1d(np.asarray(values[name], float)) for name in self.names]
        return np.log(np.concatenate([*parts, np.empty(0)]))

    def write(self, kernel: Kernel, logs: np.ndarray) -> Kernel:
        """Return a kernel with the parameters that have these logarithms."""
        values = kernel.get_params()
        changes: dict[str, Any] = {}
        for name, part in zip(self.names, self.split(np.exp(logs)), strict=True):
            several = isinstance(values[name], tuple)
            changes[name] = tuple(part.tolist()) if several else float(part[0])
        return kernel.set_params(**changes) if changes else kernel

    def gather(self, slopes: dict[str, Any]) -> np.ndarray:
        """Return slopes in the order of the vector."""
        return np.concatenate([*(np.atleast_1d(slopes[name]) for name in self.names), np.empty(0)])

    def split(self, vector: np.ndarray) -> list[np.ndarray]:
        """Return the parts of a vector that belong to the names."""
        return np.split(vector, np.cumsum(self.sizes)[:-1]) if self.names else []

    def among(self, kind: tuple[str, ...]) -> np.ndarray:
        """Return 1 for each number of a parameter of this kind, and 0 for others."""
        ours = [float(name.split("__")[-1] in kind) for name in self.names]
        return np.repeat(ours, self.sizes) if self.names else np.empty(0)

    def fixed(self, kernel: Kernel) -> dict[str, str]:
        """Say of each number in a kernel that is not searched why that is so."""
        reasons = {}
        for name, value in kernel.get_params().items():
            numeric = isinstance(value, int | float) and not isinstance(value, bool)
            several = isinstance(value, tuple) and all(isinstance(v, float) for v in value)
            if name in self.names or not (numeric or several):
                continue
            if numeric and value == 0:
                reasons[name] = "it is zero, which has no logarithm"
            elif isinstance(value, int):
                reasons[name] = "a whole number; try some with GridSearchCV"
            else:
                reasons[name] = "its derivative is not known; try some with GridSearchCV"
        return reasons


def with_medians(
    kernel: Kernel, names: tuple[str, ...], points: Points, weights: np.ndarray | None
) -> Kernel:
    """Return a kernel whose bandwidths are the median distances, where there is such a rule.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Periodic
    >>> k = Gaussian(99.0) * Periodic(7.0, 99.0)
    >>> points = k.admit([[0.0], [1.0], [3.0]])
    >>> with_medians(k, ("left__bandwidth", "right__bandwidth"), points, None)
    Gaussian(bandwidth=2.0) * Periodic(period=7.0, bandwidth=99.0)
    """
    for name in names:
        value = kernel.get_params()[name]
        if not name.endswith("bandwidth"):
            continue
        try:
            changed = kernel.set_params(**{name: "median"}).resolve(points, weights)
        except MercerError:  # a bandwidth without a unit, or a single item
            continue
        if isinstance(value, tuple):
            median = changed.get_params()[name]
            changed = kernel.set_params(**{name: (median,) * len(value)})
        kernel = changed
    return kernel


def per_dimension(kernel: Kernel, points: Points, by_spread: bool = False) -> Kernel:
    """Return a kernel with one bandwidth per dimension wherever it can have that.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    points : Points
    by_spread : bool
        Whether they are those of columns scaled to the same standard deviation, where these
        differ much, with the median distance then.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> k = 2.0 * Gaussian(1.0)
    >>> per_dimension(k, k.admit([[0.0, 0.0], [1.0, 3.0]]))
    2.0 * Gaussian(bandwidth=(1.0, 1.0))
    """
    if isinstance(kernel, Stationary):
        matrix = isinstance(getattr(kernel, "metric", None), np.ndarray)  # has them already
        if not isinstance(kernel.bandwidth, float) or (points.width or 1) < 2 or matrix:
            return kernel
        widths = _standardized(kernel, points) if by_spread else None
        if widths is None:
            widths = np.full(points.width or 1, kernel.bandwidth)
        return kernel.set_params(bandwidth=tuple(widths.tolist()))
    parts = {
        name: per_dimension(child, points.view(*kernel.sees(child)), by_spread)
        for name, child in kernel.parameters().items()
        if isinstance(child, Kernel)
    }
    return kernel.set_params(**parts) if parts else kernel


def _standardized(kernel: Stationary, points: Points) -> np.ndarray | None:
    """Return bandwidths in proportion to the columns' spread, None if there is no need."""
    if not isinstance(points, Vectors) or points.is_sparse:
        return None
    varies = np.ptp(points.array, axis=0) > 0
    spread = np.std(points.array, axis=0)[varies]
    if not len(spread) or spread.max() <= SAME_SPREAD * spread.min():
        return None
    try:
        again = kernel.set_params(bandwidth="median").resolve(points.array[:, varies] / spread)
    except MercerError:  # a bandwidth without a unit
        return None
    # Nothing is known about a column that is constant, so it is not to matter.
    widths = np.maximum(CONSTANT_BANDWIDTH * np.abs(points.array[0]), spread.max() * again.sigma)
    widths[varies] = spread * again.sigma
    return widths
