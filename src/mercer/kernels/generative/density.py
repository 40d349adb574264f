"""The density kernel: alike because both are probable."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from mercer.domains import Points
from mercer.kernels.base import kernel
from mercer.kernels.generative.modeled import Modeled
from mercer.kernels.generative.positive import Positive
from mercer.kernels.proof import Proof, proved
from mercer.values import Identity

__all__ = ["Density"]


@kernel
class Density(Positive, Modeled):
    """p(x)·p(z) under a generative model (6.28): two things are alike if both are probable.

    Valid as the inner product of one feature, p(x). It is computed in logarithms; a value that is
    too small for a floating-point number is 0, and ``normalize`` of this kernel is 1 for all that
    is possible. An item that is impossible under the model, ln p(x) = −∞, is 0 to everything,
    itself included; a warning says which.

    Parameters
    ----------
    model : Model
        Or what `mercer.models.as_model` makes one of.
    fit_model : bool
        Whether the model is fitted to the items on which the kernel is resolved: the training
        items of each fold.

    Examples
    --------
    >>> from mercer.models import GaussianDensity
    >>> k = Density(GaussianDensity([0.0], [[1.0]]))
    >>> k([[0.0], [1.0]]).round(4)
    array([[0.1592, 0.0965],
           [0.0965, 0.0585]])
    """

    model: Any
    fit_model: bool = False

    def pair(self, x: Any, z: Any) -> float:
        log = float(self.model.log_density([x])[0] + self.model.log_density([z])[0])
        return math.exp(log) if log < 709 else math.inf

    def log_features(self, points: Points) -> np.ndarray:
        return self.model.log_density(points)[:, None]

    def key(self) -> Hashable:
        return "density", Identity(self.model)

    def prove(self) -> Proof:
        return proved(self, "it is p(x)p(z), the inner product of one feature (6.28)")
