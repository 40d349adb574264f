"""Density and mixture kernels: alike because both are probable, or because of the same cause."""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np

from mercer.domains import Domain, Points, join
from mercer.errors import ValidityError
from mercer.kernels.base import kernel
from mercer.kernels.generative.model_kernel import (
    ModelKernel,
    NonnegativeFeatures,
    flag,
    need_model,
    refit,
)
from mercer.kernels.proof import Proof, proved
from mercer.values import Identity, positive, sequence

__all__ = ["Density", "Mixture"]


@kernel
class Density(NonnegativeFeatures, ModelKernel):
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

    def pair(self, x: object, z: object) -> float:
        log = float(self.model.log_density([x])[0] + self.model.log_density([z])[0])
        return math.exp(log) if log < 709 else math.inf

    def log_features(self, points: Points) -> np.ndarray:
        return self.model.log_density(points)[:, None]

    def key(self) -> Hashable:
        return "density", Identity(self.model)

    def prove(self) -> Proof:
        return proved(self, "it is p(x)p(z), the inner product of one feature (6.28)")


@kernel
class Mixture(NonnegativeFeatures):
    """Σᵢ p(x|i)·p(z|i)·p(i) (6.29): two things are alike if the same components explain both.

    Valid as a sum, with weights that are not negative, of products f(x)·f(z): an inner product of
    the features p(x|i)·√p(i), one for each component. It is computed in logarithms, so that
    ``normalize`` of it works where the densities themselves are too small or too large for a
    floating-point number. An item that is impossible under all components is 0 to everything,
    itself included; a warning says which.

    Parameters
    ----------
    components : sequence of Model, or one mixture model
        A mixture model, such as `mercer.models.GaussianMixtureModel`, has components of its own.
    weights : sequence of float, optional
        p(i), which must sum to one. By default those of the mixture model; equal ones for a
        sequence.
    fit_model : bool
        Whether the mixture model is fitted to the items on which the kernel is resolved.

    Examples
    --------
    >>> from mercer.models import GaussianDensity
    >>> near, far = GaussianDensity([0.0], [[1.0]]), GaussianDensity([4.0], [[1.0]])
    >>> k = Mixture((near, far), (0.5, 0.5))
    >>> k([[0.0], [4.0], [4.5]]).round(4)
    array([[0.0796, 0.0001, 0.    ],
           [0.0001, 0.0796, 0.0702],
           [0.    , 0.0702, 0.062 ]])
    """

    components: Any
    weights: Any = None
    fit_model: bool = False
    threads: ClassVar[bool] = True
    arrays: ClassVar[int] = 2

    def __post_init__(self) -> None:
        self._normalize("fit_model", flag(self, "fit_model", self.fit_model))
        if isinstance(self.components, tuple | list):
            self._check_components()
        else:
            self._normalize("components", need_model(self, "components", self.components))
            if not hasattr(self.components, "component_log_densities"):
                raise ValidityError(
                    f"{self.components!r} is no mixture; components of Mixture are a sequence of "
                    "models, or one model with components of its own"
                )
        if self.weights is not None:
            self._check_weights()

    def _check_components(self) -> None:
        parts = tuple(need_model(self, "components", part) for part in self.components)
        if not parts:
            raise ValidityError("Mixture needs at least one component")
        if self.fit_model:
            raise ValidityError(
                "fit_model of Mixture needs one mixture model: of separate components nobody "
                "knows which items are whose"
            )
        self._normalize("components", parts)
        domain: Any = parts[0].domain
        for part in parts[1:]:
            domain = domain and join(domain, part.domain)
        if domain is None:
            raise ValidityError(
                "the components of Mixture are models of different kinds of things"
            )

    def _check_weights(self) -> None:
        def weight(owner: object, name: str, value: object) -> float:
            return positive(owner, name, value, zero=True)

        clean = sequence(self, "weights", self.weights, weight)
        if isinstance(self.components, tuple) and len(clean) != len(self.components):
            raise ValidityError(
                f"Mixture has {len(self.components)} components, but {len(clean)} weights"
            )
        # Weights that were written down add up to 1 only up to rounding.
        if abs(sum(clean) - 1) > 1e-8:
            raise ValidityError(
                f"weights of Mixture must sum to 1 (6.29), but sum to {sum(clean)}"
            )
        self._normalize("weights", clean)

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        if isinstance(self.components, tuple):
            return reduce(join, (part.domain for part in self.components))
        return self.components.domain

    def unresolved(self) -> list[str]:
        return [f"fit_model=True of {self!r}"] if self.fit_model else []

    def resolve_heuristics(self, points: Points, weights: np.ndarray | None) -> Self:
        if not self.fit_model:
            return self
        fitted = refit(self.components, points, weights)
        return self.set_params(components=fitted, fit_model=False)

    def pair(self, x: object, z: object) -> float:
        logs = [self._log_densities(self.domain.admit([thing]))[0] for thing in (x, z)]
        terms = [
            a + b + math.log(w) if w > 0 else -math.inf
            for a, b, w in zip(*logs, self._weights(), strict=True)
        ]
        return math.fsum(math.exp(log) if log < 709 else math.inf for log in terms)

    def log_features(self, points: Points) -> np.ndarray:
        return self._log_densities(points) + np.log(self._weights()) / 2

    def key(self) -> Hashable:
        parts = self.components if isinstance(self.components, tuple) else (self.components,)
        return "mixture", self.weights, *map(Identity, parts)

    def prove(self) -> Proof:
        return proved(
            self, "it is a sum of products p(x|i)p(z|i) with weights p(i) ≥ 0 (6.13, 6.17, 6.29)"
        )

    def _weights(self) -> np.ndarray:
        """Return p(i) of each component."""
        if self.weights is not None:
            return np.array(self.weights)
        if isinstance(self.components, tuple):
            return np.full(len(self.components), 1 / len(self.components))
        return np.asarray(self.components.weights)

    def _log_densities(self, points: Points) -> np.ndarray:
        """Return ln p(x|i), a column for each component."""
        if isinstance(self.components, tuple):
            parts = [
                part.log_density(points.view(part.domain, part.domain.admit))
                for part in self.components
            ]
            return np.column_stack(parts)
        self.components.require_fitted()
        found = np.asarray(self.components.component_log_densities(points))
        if self.weights is not None and found.shape[1] != len(self.weights):
            raise ValidityError(
                f"{type(self.components).__name__} has {found.shape[1]} components, but Mixture "
                f"has {len(self.weights)} weights"
            )
        return found
