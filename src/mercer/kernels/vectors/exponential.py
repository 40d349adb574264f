"""Exponential decay of a distance: Shepard's law in the words of a bandwidth."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Domain, VectorDomain
from mercer.engine.block import Block
from mercer.engine.distances import absolute_differences, squared_differences
from mercer.engine.transform import Scales
from mercer.kernels.base import kernel
from mercer.kernels.proof import Proof, proved
from mercer.kernels.vectors.bandwidths import Bandwidth
from mercer.kernels.vectors.decay import PowerDecay
from mercer.kernels.vectors.metrics import (
    Metric,
    metric_rank,
    metric_scales,
)
from mercer.kernels.vectors.stationary import Stationary
from mercer.values import positive

__all__ = ["Exponential"]


@kernel
class Exponential(PowerDecay, Stationary):
    """Exponential decay of a distance, or of a power of it: exp(−(|x − z|_p/σ)^q).

    By default of the Euclidean distance, p = 2 and q = 1: Shepard's law of generalization for
    integral dimensions, the Matérn kernel with ν = 1/2, valid as the Fourier transform of a
    multivariate Cauchy density (Bochner). With other orders p and exponents q it is the family
    of p,q-Laplace kernels, `Shepard` with the sensitivity σ^(−q), valid for 0 < q ≤ p ≤ 2
    (Schoenberg, 1938).

    Parameters
    ----------
    bandwidth : float, sequence of float (one per dimension), "median" or "scale"
    exponent : float
        q > 0.
    order : float
        p > 0: 2 for the Euclidean, 1 for the city-block distance.
    metric : sequence of float or array of shape (d, d), optional
        Weights m ≥ 0 of the dimensions, with |x − z|_p = (Σ mᵢ|xᵢ − zᵢ|^p)^(1/p), or a positive
        semi-definite matrix M: |x − z| = √((x − z)ᵀM(x − z)) for p = 2; for other orders M^½
        transforms rows before their distance.

    Examples
    --------
    >>> Exponential(5.0).pair([0.0, 0.0], [3.0, 4.0])
    0.36787944117144233
    >>> Exponential(2.0, exponent=1.5, order=1.0).proof().verdict
    'refuted'
    """

    bandwidth: Bandwidth = "median"
    exponent: float = 1.0
    order: float = 2.0
    metric: Metric = None
    unspoken: ClassVar[dict[str, Any]] = {"exponent": 1.0, "order": 2.0, "metric": None}

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return VectorDomain(dense_for="" if self.order in (1.0, 2.0) else "Exponential")

    def __post_init__(self) -> None:
        for name in ("exponent", "order"):
            self._normalize(name, positive(self, name, getattr(self, name)))
        super().__post_init__()

    @property
    def _order(self) -> float:
        return self.order

    @property
    def rate(self) -> float:
        return (
            1 / self.sigma if self.exponent == 1.0 else _finite_power(self.sigma, -self.exponent)
        )

    @cached_property
    def scales(self) -> Scales:
        widths = self.bandwidth if isinstance(self.bandwidth, tuple) else None
        return metric_scales(self.metric, self.order, widths)

    @property
    def rank(self) -> int | None:
        return metric_rank(self.metric)

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        return math.exp(-(self.power_sum(x, z) ** (self.exponent / self.order)))

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        if not isinstance(self.bandwidth, tuple):
            return {"bandwidth": -self.exponent * self.by_rate(block, G)}
        H = self.steepness(block) * G
        if self.order == 2.0:
            return {"bandwidth": squared_differences(block, H, self.scales)}
        return {"bandwidth": absolute_differences(block, H, self.scales, self.order)}

    def prove(self) -> Proof:
        if (self.order, self.exponent) == (2.0, 1.0):
            return proved(self, "it is the Fourier transform of a multivariate Cauchy density")
        return super().prove()


def _finite_power(base: float, exponent: float) -> float:
    try:
        return min(base**exponent, 1e300)
    except OverflowError:
        return 1e300
