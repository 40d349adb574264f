"""The algebra of kernels: sums and products, and the operators that make them.

Each operation is a rule of Bishop's section 6.2 (and of the lecture's "kernel engineering") that
keeps validity, with its side conditions checked when the kernel is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import Points, Vectors
from mercer.engine.block import Array, Block
from mercer.kernels.algebra.composite import Composite, common_domain
from mercer.kernels.algebra.elementwise import Power, Scale
from mercer.kernels.base import OPERATIONS, Kernel, kernel, parenthesized
from mercer.kernels.features import FeatureMap, beside, crossed
from mercer.kernels.proof import Proof, derive
from mercer.kernels.vectors.dot import Constant

__all__ = ["Product", "Sum", "add", "multiply"]


class BinaryComposite(Composite):
    """A kernel made of two others."""

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        common_domain(self)


@kernel
class Sum(BinaryComposite):
    """Similar in one way or another: k₁ + k₂ (6.17, 6.21).

    Dot products and distances that both parts need are computed once.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> (Gaussian(1.0) + Linear()).pair([1.0], [1.0])
    2.0
    """

    left: Kernel
    right: Kernel
    precedence = 1

    def __repr__(self) -> str:
        return f"{self.left!r} + {parenthesized(self.right, 2)}"

    def pair(self, x: object, z: object) -> float:
        return self.left.pair(x, z) + self.right.pair(x, z)

    def evaluate(self, block: Block) -> Any:
        K = self.inner(self.left, block)
        K += self.inner(self.right, block)
        return K

    def evaluate_diagonal(self, points: Points) -> Any:
        return self.inner_diagonal(self.left, points) + self.inner_diagonal(self.right, points)

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        return self.inner_slopes("left", block, G) | self.inner_slopes("right", block, G)

    def gradient(self, block: Block, G: Array) -> Any:
        one = self.inner_gradient(self.left, block, G)
        two = self.inner_gradient(self.right, block, G)
        return None if one is None or two is None else one + two

    def prove(self) -> Proof:
        return derive(self, "it is a sum (6.17) of", self.left, self.right)

    def map_features(self, points: Points) -> FeatureMap | None:
        one = self.inner_features(self.left, points)
        two = self.inner_features(self.right, points)
        if one is None or two is None:
            return None
        count = one.count + two.count
        return FeatureMap(count, lambda p: beside(one.transform(p), two.transform(p)))

    def feature_gradient(self, points: Points, weights: np.ndarray) -> Any:
        one = self.inner_features(self.left, points)
        count = one.count if one is not None else 0
        left = self.left.feature_gradient(points, weights[:count])
        right = self.right.feature_gradient(points, weights[count:])
        return None if left is None or right is None else left + right

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        one = self.left.frequencies(rng, count, width)
        two = self.right.frequencies(rng, count, width)
        if one is None or two is None:
            return None
        left, right = (height(part, width) for part in (self.left, self.right))
        from_left = rng.random(count) * (left + right) < left
        return np.where(from_left[:, None], one, two)


@kernel
class Product(BinaryComposite):
    """Similar in both ways: k₁·k₂ (6.18, 6.22).

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() * Linear()).pair([1.0, 2.0], [3.0, 4.0])
    121.0
    """

    left: Kernel
    right: Kernel
    precedence = 2

    def __repr__(self) -> str:
        return f"{parenthesized(self.left, 2)} * {parenthesized(self.right, 3)}"

    def pair(self, x: object, z: object) -> float:
        return self.left.pair(x, z) * self.right.pair(x, z)

    def evaluate(self, block: Block) -> Any:
        K = self.inner(self.left, block)
        K *= self.inner(self.right, block)
        return K

    def evaluate_diagonal(self, points: Points) -> Any:
        return self.inner_diagonal(self.left, points) * self.inner_diagonal(self.right, points)

    def slopes(self, block: Block, G: np.ndarray) -> dict[str, Any]:
        left = self.inner_slopes("left", block, G * self.inner(self.right, block))
        return left | self.inner_slopes("right", block, G * self.inner(self.left, block))

    def gradient(self, block: Block, G: Array) -> Any:
        one = self.inner_gradient(self.left, block, G * self.shared_inner(self.right, block))
        two = self.inner_gradient(self.right, block, G * self.shared_inner(self.left, block))
        return None if one is None or two is None else one + two

    def prove(self) -> Proof:
        return derive(self, "it is a product (6.18) of", self.left, self.right)

    def map_features(self, points: Points) -> FeatureMap | None:
        one = self.inner_features(self.left, points)
        two = self.inner_features(self.right, points)
        if one is None or two is None:
            return None
        count = one.count * two.count
        return FeatureMap(count, lambda p: crossed(one.transform(p), two.transform(p)))

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        one = self.left.frequencies(rng, count, width)
        two = self.right.frequencies(rng, count, width)
        return None if one is None or two is None else one + two


def add(left: Array, right: Array) -> Kernel:
    """Return left + right, where a number is a constant kernel."""
    if not (operand(left) and operand(right)):
        return NotImplemented
    for zero, other in ((left, right), (right, left)):
        if not isinstance(zero, Kernel) and zero == 0:
            return other  # so that sum(kernels) is what it says
    return Sum(*(part if isinstance(part, Kernel) else Constant(part) for part in (left, right)))


def multiply(left: Array, right: Array) -> Kernel:
    """Return left · right, where a number scales."""
    if not (operand(left) and operand(right)):
        return NotImplemented
    if isinstance(left, Kernel) and isinstance(right, Kernel):
        return Product(left, right)
    return Scale(left, right) if isinstance(right, Kernel) else Scale(right, left)


def operand(value: object) -> bool:
    """Tell whether a value may stand in the algebra."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number or isinstance(value, Kernel)


def height(k: Kernel, width: int) -> float:
    """Return k(0, 0) of a kernel on vectors, which is k(x, x) if it is stationary."""
    return float(k.evaluate_diagonal(Vectors(np.zeros((1, width))))[0])


OPERATIONS.update(add=add, multiply=multiply, power=Power)
