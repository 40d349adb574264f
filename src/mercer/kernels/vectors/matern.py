"""The Matérn family: distance kernels of any smoothness."""

from __future__ import annotations

import math
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from mercer.domains import to_numpy
from mercer.engine.block import Block
from mercer.engine.distances import squared_distances
from mercer.kernels.base import kernel
from mercer.kernels.proof import Proof, proved
from mercer.kernels.vectors.bandwidths import Bandwidth
from mercer.kernels.vectors.decay import student
from mercer.kernels.vectors.metrics import Metric
from mercer.kernels.vectors.stationary import Stationary
from mercer.values import positive

__all__ = ["Matern"]


@kernel
class Matern(Stationary):
    """A distance kernel whose functions are as smooth as ν says: 2^(1−ν)/Γ(ν)·t^ν K_ν(t).

    Here t = √(2ν)|x − z|/σ and K_ν is a modified Bessel function. ν = 1/2 is `Exponential`;
    ν = 3/2 and 5/2 have the closed forms (1 + t)e^(−t) and (1 + t + t²/3)e^(−t); ν = ∞ is
    `Gaussian`. Valid as the Fourier transform of a multivariate t density (Bochner).

    Parameters
    ----------
    nu : float
        Positive, may be infinite.
    bandwidth : float, sequence of float, "median" or "scale"
    metric : sequence of float or array of shape (d, d), optional
        As for `Gaussian`.

    Examples
    --------
    >>> round(Matern(1.5, 1.0).pair([0.0], [1.0]), 6)
    0.483358
    """

    arrays = 7

    nu: float = 1.5
    bandwidth: Bandwidth = "median"
    metric: Metric = None

    def __post_init__(self) -> None:
        nu = math.inf if self.nu == math.inf else positive(self, "nu", self.nu)
        self._normalize("nu", nu)
        super().__post_init__()

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        distance = math.sqrt(self.power_sum(x, z))
        if self.nu == math.inf:
            return math.exp(-(distance**2) / 2)
        t = math.sqrt(2 * self.nu) * distance
        if t == 0.0:
            return 1.0
        with np.errstate(all="ignore"):
            height = 2 ** (1 - self.nu) / special.gamma(self.nu)
            value = float(height * t**self.nu * special.kv(self.nu, t)) if height else math.nan
        # Where a factor is too large or small for a float, only the logarithms are numbers.
        return value if math.isfinite(value) else float(_bessel_form(np.array([t]), self.nu)[0])

    def evaluate(self, block: Block) -> Any:
        xp, D = block.xp, squared_distances(block, self.scales)
        if self.nu == math.inf:
            return block.exp(D, -0.5 * self.precision)
        t = xp.sqrt(D) * (math.sqrt(2 * self.nu) / self.sigma)
        if self.nu == 0.5:
            return xp.exp(-t)
        if self.nu == 1.5:
            return (1 + t) * xp.exp(-t)
        if self.nu == 2.5:
            return (1 + t + t * t / 3) * xp.exp(-t)
        return xp.asarray(
            _bessel_form(to_numpy(t), self.nu), dtype=t.dtype, device=array_api_compat.device(t)
        )

    def falloff(self, block: Block) -> Any:
        # The derivative of t^ν K_ν(t) is −t^ν K_{ν−1}(t) (Abramowitz & Stegun, 9.6.28).
        if self.nu == math.inf:
            return self.evaluate(block)
        xp, D = block.xp, squared_distances(block, self.scales)
        T = xp.sqrt(D) * (math.sqrt(2 * self.nu) / self.sigma)
        if self.nu == 0.5:
            return xp.where(T > 0, xp.exp(-T) / xp.where(T > 0, T, xp.ones_like(T)), 0.0 * T)
        if self.nu == 1.5:
            return 3 * xp.exp(-T)
        if self.nu == 2.5:
            return 5 / 3 * (1 + T) * xp.exp(-T)
        return xp.asarray(
            self._bessel_falloff(to_numpy(T)), dtype=T.dtype, device=array_api_compat.device(T)
        )

    def _bessel_falloff(self, t: np.ndarray) -> np.ndarray:
        if self.nu > 1:
            return self.nu / (self.nu - 1) * _bessel_form(t, self.nu - 1)
        safe = np.where(t > 0, t, 1.0)
        height = 2 ** (2 - self.nu) * self.nu / special.gamma(self.nu)
        steep = height * safe ** (self.nu - 1) * special.kv(1 - self.nu, safe)
        return np.where((t > 0) & np.isfinite(steep), steep, 0.0)

    def prove(self) -> Proof:
        return proved(self, "it is the Fourier transform of a multivariate t density (Bochner)")

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray:
        if self.nu == math.inf:
            return self.spread(lambda inside: rng.standard_normal((count, inside)), width)
        return self.spread(lambda inside: student(rng, count, inside, 2 * self.nu), width)


def _bessel_form(t: np.ndarray, nu: float) -> np.ndarray:
    """Return 2^(1−ν)/Γ(ν)·t^ν K_ν(t), in logarithms so that nothing overflows."""
    safe = np.where(t > 0, t, 1.0)
    log_height = (1 - nu) * math.log(2) - special.gammaln(nu)
    with np.errstate(all="ignore"):
        # From order 50 on the asymptotic series has twelve digits.
        if nu < 50.0:
            values = np.exp(log_height + nu * np.log(safe) + np.log(special.kve(nu, safe)) - safe)
        else:
            values = np.exp(log_height + nu * np.log(safe) + _log_bessel(safe, nu))
        # K_ν overflows at short distances, where 1 − t²/4(ν − 1) is exact.
        near = 1 - safe**2 / (4 * max(nu - 1, 1e-3))
    values = np.where(np.isfinite(values), values, near)
    return np.where(t > 0, values, 1.0)


def _log_bessel(t: np.ndarray, nu: float) -> np.ndarray:
    """Return log K_ν(t) for large ν by Debye's expansion (Abramowitz & Stegun, 9.7.8)."""
    z = t / nu
    root = np.sqrt(1 + z * z)
    p = 1 / root
    q = p * p
    terms: tuple[Any, ...] = (
        1.0,
        -p * (3 - 5 * q) / 24,
        q * (81 - 462 * q + 385 * q**2) / 1152,
        -p * q * (30375 - 369603 * q + 765765 * q**2 - 425425 * q**3) / 414720,
        q**2
        * (4465125 - 94121676 * q + 349922430 * q**2 - 446185740 * q**3 + 185910725 * q**4)
        / 39813120,
    )
    series = np.sum([term / nu**k for k, term in enumerate(np.broadcast_arrays(*terms))], axis=0)
    exponent = nu * (root + np.log(z / (1 + root)))
    return 0.5 * math.log(math.pi / (2 * nu)) - exponent - 0.5 * np.log(root) + np.log(series)
