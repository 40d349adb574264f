"""Shepard's law: generalization falls off with psychological distance."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Domain, VectorDomain
from mercer.engine.block import Block
from mercer.engine.transform import Scales
from mercer.kernels.base import kernel
from mercer.kernels.vectors.decay import PowerDecay
from mercer.kernels.vectors.metrics import (
    Metric,
    clean_metric,
    metric_rank,
    metric_scales,
    power_sum,
)
from mercer.values import positive

__all__ = ["Shepard"]


@kernel
class Shepard(PowerDecay):
    """Human similarity: exp(−c·(Σ wᵢ|xᵢ − zᵢ|^r)^(p/r)) (Shepard, 1987; Nosofsky, 1986).

    r = 1 for separable and r = 2 for integral dimensions, p = 1 for exponential and p = 2 for
    Gaussian decay. With a bandwidth in place of the sensitivity it is `Exponential`.

    Valid for 0 < p ≤ r ≤ 2 (Schoenberg, 1938). In one dimension r cancels and 0 < p ≤ 2
    suffices; in two, r ≥ 1 with p ≤ 1 does. Elsewhere it is refuted where a witness is found.

    Parameters
    ----------
    sensitivity : float
        c > 0.
    order : float
        r > 0.
    exponent : float
        p > 0.
    attention : sequence of float or array of shape (d, d), optional
        Weights w ≥ 0, one per dimension; by default all are 1. A positive semi-definite matrix M
        lets dimensions act together: for r = 2 the sum is (x − z)ᵀM(x − z), for other orders
        that of the rows transformed by M^½.

    Examples
    --------
    >>> Shepard(sensitivity=1.0, order=1, exponent=1).proof().verdict
    'proved'
    >>> Shepard(sensitivity=1.0, order=1, exponent=2).proof().verdict
    'refuted'
    """

    sensitivity: float = 1.0
    order: float = 1.0
    exponent: float = 1.0
    attention: Metric = None

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        plain = self.attention is None and self.order in (1.0, 2.0)
        return VectorDomain(dense_for="" if plain else "Shepard")

    def __post_init__(self) -> None:
        for name in ("sensitivity", "order", "exponent"):
            self._normalize(name, positive(self, name, getattr(self, name)))
        self._normalize("attention", clean_metric(self, "attention", self.attention))

    @property
    def width(self) -> int | None:
        return None if self.attention is None else len(self.attention)

    @property
    def rate(self) -> float:
        return self.sensitivity

    @cached_property
    def scales(self) -> Scales:
        return metric_scales(self.attention, self.order, None)

    @property
    def rank(self) -> int | None:
        return metric_rank(self.attention)

    def pair(self, x: ArrayLike, z: ArrayLike) -> float:
        total = power_sum(self.attention, np.asarray(x, float) - np.asarray(z, float), self.order)
        return math.exp(-self.sensitivity * total ** (self.exponent / self.order))

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        return {"sensitivity": self.by_rate(block, G)}
