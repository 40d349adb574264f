"""The integral over a continuous cause, where no formula is known: a sum over nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np

from mercer.domains import ANYTHING, Domain, Items, Points
from mercer.engine.tiles import quiet
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.kernels.base import kernel
from mercer.kernels.generative.model_kernel import NonnegativeFeatures, feature_products
from mercer.kernels.proof import Proof, proved
from mercer.values import Identity, whole

__all__ = ["LatentIntegral"]

METHODS = ("quadrature", "monte carlo")
MAX_NODES = 100  # along one dimension; weights of many more are not floating-point numbers


@kernel
class LatentIntegral(NonnegativeFeatures):
    """∫ p(x|u)·p(z|u)·N(u; 0, I) du (6.30) for any conditional density, by a finite sum.

    The integral becomes Σ_m w_m p(x|u_m)·p(z|u_m), by Gauss-Hermite quadrature or by Monte Carlo
    with a fixed seed. That sum is a valid kernel itself, with one feature for each node, however
    well it approximates the integral; `error` estimates how well. Computed in logarithms, so that
    ``normalize`` of it works for densities of any size.

    Parameters
    ----------
    conditional : callable
        ``conditional(x, u)`` returns ln p(x|u) of one thing for all rows of `u`, an array of shape
        (m, dimensions).
    dimensions : int
        How many numbers the cause u consists of.
    nodes : int
        Along each dimension for quadrature, altogether for Monte Carlo.
    method : {"quadrature", "monte carlo"}
        Quadrature is for one or two dimensions, and for densities that are smooth in u: for sharp
        ones it takes many nodes.
    seed : int
        Of Monte Carlo.

    Examples
    --------
    >>> import numpy as np
    >>> def rate(count, u):  # the logarithm of a count's rate is Gaussian
    ...     return count * u[:, 0] - np.exp(u[:, 0])
    >>> k = LatentIntegral(rate, nodes=40)
    >>> k([0.0, 1.0, 2.0]).round(3)
    array([[0.216, 0.105, 0.078],
           [0.105, 0.078, 0.083],
           [0.078, 0.083, 0.115]])
    >>> bool(k.error([0.0, 1.0, 2.0]).max() < 1e-5)
    True
    """

    conditional: Callable[[Any, np.ndarray], Any]
    dimensions: int = 1
    nodes: int = 32
    method: str = "quadrature"
    seed: int = 0
    domain: ClassVar[Domain] = ANYTHING
    threads: ClassVar[bool] = True
    arrays: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if not callable(self.conditional):
            raise ValidityError(
                f"conditional of LatentIntegral is a function of a thing and an array, found "
                f"{type(self.conditional).__name__}"
            )
        for name in ("dimensions", "nodes"):
            self._normalize(name, whole(self, name, getattr(self, name)))
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise ValidityError(
                f"seed of LatentIntegral must be a whole number from 0 on, found {self.seed!r}"
            )
        self._normalize("seed", int(self.seed))
        if self.method not in METHODS:
            hint = suggestion(self.method, METHODS)
            raise ValidityError(f"method of LatentIntegral cannot be {self.method!r}{hint}")
        if self.method == "quadrature" and (self.dimensions > 2 or self.nodes > MAX_NODES):
            raise ValidityError(
                f"quadrature takes at most 2 dimensions and {MAX_NODES} nodes along each, found "
                f"{self.dimensions} and {self.nodes}; use method='monte carlo'"
            )
        if self.method == "monte carlo" and self.nodes < 2:
            raise ValidityError("Monte Carlo takes at least 2 nodes, to know its error")

    def pair(self, x: object, z: object) -> float:
        left, right = (np.asarray(self.conditional(t, self._rule[0]), float) for t in (x, z))
        terms = zip(left, right, self._rule[1], strict=True)
        return math.fsum(float(w) * math.exp(min(a + b, 709.9)) for a, b, w in terms)

    def log_features(self, points: Points) -> np.ndarray:
        return self._features_at(points, *self._rule)

    def _features_at(self, points: Points, nodes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return ln p(x|u)√w of each thing at each node."""
        logs = np.empty((len(points), len(nodes)))
        for i, x in enumerate(points.items()):
            found = np.asarray(self.conditional(x, nodes), dtype=np.float64)
            if found.shape != (len(nodes),):
                raise ValidityError(
                    f"conditional of LatentIntegral must return {len(nodes)} numbers, one for "
                    f"each row of u, but returned shape {found.shape}"
                )
            bad = found[~(found < np.inf)]
            if len(bad):
                raise DomainError(
                    f"ln p(x|u) of item {i} of X is {bad[0]} for some u; it must be a number or −∞"
                )
            logs[i] = found
        return logs + np.log(weights) / 2

    def key(self) -> Hashable:
        return (
            "integral", Identity(self.conditional), self.dimensions, self.nodes, self.method,
            self.seed,
        )  # fmt: skip

    def prove(self) -> Proof:
        return proved(
            self, "it is a finite sum of products p(x|u)p(z|u) with positive weights (6.13, 6.17)"
        )

    def error(self, A: Items | Points) -> np.ndarray:
        """Return an estimate of the error of each entry of ``k(A)`` as an integral.

        For Monte Carlo it is the standard error, 1/√nodes times the spread of the products; for
        quadrature the difference to a rule of one and a half times as many nodes.
        """
        points = self.admit(A)
        logs = self.logs(points)
        with quiet():
            mean, scale = feature_products(logs, logs)
            if self.method == "quadrature":
                finer = quadrature(self.nodes + self.nodes // 2 + 1, self.dimensions)
                again = self._features_at(points, *finer)
                other, larger = feature_products(again, again)
                return np.abs(mean * np.exp(scale) - other * np.exp(larger))
            squares, _ = feature_products(2 * logs, 2 * logs)
            variance = np.maximum(self.nodes * squares - mean**2, 0.0) / (self.nodes - 1)
            return np.sqrt(variance) * np.exp(scale)

    @cached_property
    def _rule(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the nodes, one in each row, and their weights, which sum to one."""
        if self.method == "quadrature":
            return quadrature(self.nodes, self.dimensions)
        rng = np.random.default_rng(self.seed)
        nodes = rng.standard_normal((self.nodes, self.dimensions))
        return nodes, np.full(self.nodes, 1 / self.nodes)


def quadrature(count: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights for the mean of a function under a standard normal distribution."""
    places, weights = np.polynomial.hermite_e.hermegauss(count)
    weights = weights / np.sum(weights)
    grid = np.array(list(product(places, repeat=dimensions)))
    return grid, np.prod(list(product(weights, repeat=dimensions)), axis=1)
