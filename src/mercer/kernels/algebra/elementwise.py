"""Kernels of the values of a kernel: multiples, powers, polynomials, the exponential."""

from __future__ import annotations

import math
from functools import reduce
from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np

from mercer.domains import Points, Vectors
from mercer.engine.block import Array, Block, dot
from mercer.errors import ValidityError
from mercer.kernels.algebra.composite import Composite, need_kernel
from mercer.kernels.base import Kernel, kernel, parenthesized
from mercer.kernels.features import FeatureMap, beside, crossed
from mercer.kernels.proof import Proof, derive
from mercer.kernels.vectors.dot import Constant
from mercer.values import finite, sequence, whole

__all__ = ["Exp", "PolynomialOf", "Power", "Scale", "Unary", "exp", "polynomial"]


class Unary(Composite):
    """A kernel made of one other, whose values it changes one by one."""

    kernel: Kernel

    def apply(self, values: Array, xp: ModuleType) -> Any:
        """Return the new similarities for those of the inner kernel."""
        raise NotImplementedError

    def pair(self, x: object, z: object) -> float:
        try:
            return float(self.apply(self.kernel.pair(x, z), math))
        except OverflowError:
            return math.inf

    def evaluate(self, block: Block) -> Any:
        return self.apply(self.inner(self.kernel, block), block.xp)

    def evaluate_diagonal(self, points: Points) -> Any:
        xp = points.xp if isinstance(points, Vectors) else np
        return self.apply(self.inner_diagonal(self.kernel, points), xp)

    def gradient(self, block: Block, G: Array) -> Any:
        steepness = self.derivative(self.shared_inner(self.kernel, block))
        return (
            None if steepness is None else self.inner_gradient(self.kernel, block, G * steepness)
        )

    def derivative(self, values: Array) -> Any:
        """Return the derivative of `apply` at the similarities of the inner kernel."""
        return None

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        steepness = self.derivative(self.inner(self.kernel, block))
        return {} if steepness is None else self.inner_slopes("kernel", block, G * steepness)


@kernel
class Scale(Unary):
    """A multiple of a kernel: c·k with c ≥ 0 (6.13).

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> 2 * Linear()
    2.0 * Linear()
    """

    factor: float
    kernel: Kernel
    precedence = 2

    def __post_init__(self) -> None:
        factor = finite(self, "factor", self.factor)
        if factor < 0:
            raise ValidityError(
                f"the factor of {self.kernel!r} must not be negative (6.13), found "
                f"{self.factor!r}: a negative multiple of a valid kernel is not valid"
            )
        self._normalize("factor", factor)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {parenthesized(self.kernel, 3)}"

    def apply(self, values: Array, xp: ModuleType) -> Any:
        return self.factor * values

    def evaluate(self, block: Block) -> Any:
        K = self.inner(self.kernel, block)
        K *= self.factor
        return K

    def gradient(self, block: Block, G: Array) -> Any:
        return self.inner_gradient(self.kernel, block, self.factor * G)

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        found = self.inner_slopes("kernel", block, self.factor * G)
        if self.factor > 0:
            found["factor"] = self.factor * dot(G, self.inner(self.kernel, block))
        return found

    def prove(self) -> Proof:
        return derive(self, "it is a nonnegative multiple (6.13) of", self.kernel)

    def map_features(self, points: Points) -> FeatureMap | None:
        inner = self.inner_features(self.kernel, points)
        if inner is None:
            return None
        root = math.sqrt(self.factor)
        return FeatureMap(inner.count, lambda p: inner.transform(p) * root)

    def feature_gradient(self, points: Points, weights: np.ndarray) -> Any:
        return self.kernel.feature_gradient(points, weights * math.sqrt(self.factor))

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        return self.kernel.frequencies(rng, count, width)


@kernel
class Power(Unary):
    """A kernel multiplied by itself: k^p with a whole p ≥ 1 (6.18).

    Its features are all ordered products of the inner features; ``(Linear() ** d).features`` are
    the ordered monomials of degree d, whose inner product is ⟨x, z⟩^d.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() ** 2).features([[1.0, 2.0]])
    array([[1., 2., 2., 4.]])
    """

    kernel: Kernel
    exponent: int
    precedence = 3

    def __post_init__(self) -> None:
        # Other powers of a valid kernel need not be valid.
        self._normalize("exponent", whole(self, "exponent", self.exponent))

    def __repr__(self) -> str:
        return f"{parenthesized(self.kernel, 4)} ** {self.exponent}"

    def apply(self, values: Array, xp: ModuleType) -> Any:
        return values**self.exponent

    def derivative(self, values: Array) -> Any:
        return self.exponent * values ** (self.exponent - 1)

    def prove(self) -> Proof:
        return derive(self, f"it is a product (6.18) of {self.exponent} times", self.kernel)

    def map_features(self, points: Points) -> FeatureMap | None:
        inner = self.inner_features(self.kernel, points)
        if inner is None:
            return None

        def ordered(p: Points) -> Any:
            return reduce(crossed, [inner.transform(p)] * self.exponent)

        return FeatureMap(inner.count**self.exponent, ordered)

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        total = np.zeros((count, width))
        for _ in range(self.exponent):
            drawn = self.kernel.frequencies(rng, count, width)
            if drawn is None:
                return None
            total += drawn
        return total


@kernel
class Exp(Unary):
    """The exponential of a kernel (6.16). Made by `exp`."""

    kernel: Kernel

    def __repr__(self) -> str:
        return f"exp({self.kernel!r})"

    def apply(self, values: Array, xp: ModuleType) -> Any:
        return xp.exp(values)

    def derivative(self, values: Array) -> Any:
        return array_api_compat.array_namespace(values).exp(values)

    def prove(self) -> Proof:
        return derive(self, "it is the exponential (6.16) of", self.kernel)


@kernel
class PolynomialOf(Unary):
    """A polynomial of a kernel with nonnegative coefficients (6.15). Made by `polynomial`."""

    kernel: Kernel
    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        clean = sequence(self, "coefficients", self.coefficients, finite)
        for power, c in enumerate(clean):
            if c < 0:
                raise ValidityError(
                    f"the coefficient of ({self.kernel!r})^{power} must not be negative (6.15), "
                    f"found {c}"
                )
        self._normalize("coefficients", clean)

    def __repr__(self) -> str:
        return f"polynomial({self.kernel!r}, {self.coefficients!r})"

    def apply(self, values: Array, xp: ModuleType) -> Any:
        result = 0.0 * values
        for c in reversed(self.coefficients):  # Horner's rule
            result = result * values + c
        return result

    def derivative(self, values: Array) -> Any:
        falling = tuple(c * power for power, c in enumerate(self.coefficients))[1:]
        result = 0.0 * values
        for c in reversed(falling):
            result = result * values + c
        return result

    def prove(self) -> Proof:
        rule = "it is a polynomial with nonnegative coefficients (6.15) of"
        return derive(self, rule, self.kernel)

    def map_features(self, points: Points) -> FeatureMap | None:
        terms: list[Kernel] = [
            Constant(c) if power == 0 else Scale(c, Power(self.kernel, power))
            for power, c in enumerate(self.coefficients)
            if c > 0
        ] or [Constant(0.0)]
        maps = [self.inner_features(term, points) for term in terms]
        if any(found is None for found in maps):
            return None
        count = sum(found.count for found in maps if found)
        return FeatureMap(
            count, lambda p: reduce(beside, [found.transform(p) for found in maps if found])
        )


def exp(k: Kernel) -> Kernel:
    """Return the exponential of a kernel, valid by (6.16).

    Parameters
    ----------
    k : Kernel

    Returns
    -------
    Kernel
        Valid if `k` is.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> exp(Linear()).pair([0.0], [1.0])
    1.0
    """
    return Exp(need_kernel(k))


def polynomial(k: Kernel, coefficients: Any) -> Kernel:
    """Return q(k) for the polynomial q with these coefficients, lowest power first (6.15).

    Parameters
    ----------
    k : Kernel
    coefficients : sequence of float
        Valid if none of them is negative, and `k` is valid.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> polynomial(Linear(), [1.0, 0.0, 2.0]).pair([1.0], [3.0])
    19.0
    """
    return PolynomialOf(need_kernel(k), coefficients)
