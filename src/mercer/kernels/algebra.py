"""The algebra of kernels: sums, products, powers, exponentials.

Each operation is a rule of Bishop's section 6.2 (and of the lecture's "kernel engineering") that
keeps validity, with its side conditions checked when the kernel is made.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

from mercer.domains import Domain, Points, Vectors, join
from mercer.errors import ValidityError
from mercer.kernels.base import Kernel, kernel, wrapped
from mercer.kernels.block import Block
from mercer.kernels.columns import On
from mercer.kernels.dot import Constant
from mercer.kernels.features import FeatureMap, beside, crossed
from mercer.kernels.parameters import finite, sequence, whole
from mercer.kernels.proof import Proof, derive

__all__ = [
    "Exp",
    "On",
    "PolynomialOf",
    "Power",
    "Product",
    "Scale",
    "Sum",
    "add",
    "exp",
    "multiply",
    "polynomial",
]


class Composite(Kernel):
    """A kernel made of others on the same things."""

    arrays = 1

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return joined(self)

    @property
    def threads(self) -> bool:  # type: ignore[override]
        return all(child.threads for child in self.children())


class Binary(Composite):
    """A kernel made of two others."""

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        joined(self)


@kernel
class Sum(Binary):
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
        return f"{self.left!r} + {wrapped(self.right, 2)}"

    def pair(self, x: Any, z: Any) -> float:
        return self.left.pair(x, z) + self.right.pair(x, z)

    def evaluate(self, block: Block) -> Any:
        K = self.inner(self.left, block)
        K += self.inner(self.right, block)
        return K

    def evaluate_diagonal(self, points: Points) -> Any:
        return self.inner_diagonal(self.left, points) + self.inner_diagonal(self.right, points)

    def prove(self) -> Proof:
        return derive(self, "it is a sum (6.17) of", self.left, self.right)

    def map_features(self, points: Points) -> FeatureMap | None:
        one = self.inner_features(self.left, points)
        two = self.inner_features(self.right, points)
        if one is None or two is None:
            return None
        count = one.count + two.count
        return FeatureMap(count, lambda p: beside(one.transform(p), two.transform(p)))

    def frequencies(self, rng: np.random.Generator, count: int, width: int) -> np.ndarray | None:
        one = self.left.frequencies(rng, count, width)
        two = self.right.frequencies(rng, count, width)
        if one is None or two is None:
            return None
        left, right = (height(part, width) for part in (self.left, self.right))
        from_left = rng.random(count) * (left + right) < left
        return np.where(from_left[:, None], one, two)


@kernel
class Product(Binary):
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
        return f"{wrapped(self.left, 2)} * {wrapped(self.right, 3)}"

    def pair(self, x: Any, z: Any) -> float:
        return self.left.pair(x, z) * self.right.pair(x, z)

    def evaluate(self, block: Block) -> Any:
        K = self.inner(self.left, block)
        K *= self.inner(self.right, block)
        return K

    def evaluate_diagonal(self, points: Points) -> Any:
        return self.inner_diagonal(self.left, points) * self.inner_diagonal(self.right, points)

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


class Unary(Composite):
    """A kernel made of one other, whose values it changes one by one."""

    kernel: Kernel

    def apply(self, values: Any, xp: Any) -> Any:
        """Return the new similarities for those of the inner kernel."""
        raise NotImplementedError

    def pair(self, x: Any, z: Any) -> float:
        try:
            return float(self.apply(self.kernel.pair(x, z), math))
        except OverflowError:
            return math.inf

    def evaluate(self, block: Block) -> Any:
        return self.apply(self.inner(self.kernel, block), block.xp)

    def evaluate_diagonal(self, points: Points) -> Any:
        xp = points.xp if isinstance(points, Vectors) else np
        return self.apply(self.inner_diagonal(self.kernel, points), xp)


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
        return f"{self.factor!r} * {wrapped(self.kernel, 3)}"

    def apply(self, values: Any, xp: Any) -> Any:
        return self.factor * values

    def prove(self) -> Proof:
        return derive(self, "it is a nonnegative multiple (6.13) of", self.kernel)

    def map_features(self, points: Points) -> FeatureMap | None:
        inner = self.inner_features(self.kernel, points)
        if inner is None:
            return None
        root = math.sqrt(self.factor)
        return FeatureMap(inner.count, lambda p: inner.transform(p) * root)

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
        return f"{wrapped(self.kernel, 4)} ** {self.exponent}"

    def apply(self, values: Any, xp: Any) -> Any:
        return values**self.exponent

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

    def apply(self, values: Any, xp: Any) -> Any:
        return xp.exp(values)

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

    def apply(self, values: Any, xp: Any) -> Any:
        result = 0.0 * values
        for c in reversed(self.coefficients):  # Horner's rule
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
        return reduce(Sum, terms).map_features(points)


def exp(k: Kernel) -> Kernel:
    """Return the exponential of a kernel, valid by (6.16).

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> exp(Linear()).pair([0.0], [1.0])
    1.0
    """
    return Exp(need_kernel(k))


def polynomial(k: Kernel, coefficients: Any) -> Kernel:
    """Return q(k) for the polynomial q with these coefficients, lowest power first (6.15).

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> polynomial(Linear(), [1.0, 0.0, 2.0]).pair([1.0], [3.0])
    19.0
    """
    return PolynomialOf(need_kernel(k), coefficients)


def add(left: Any, right: Any) -> Kernel:
    """Return left + right, where a number is a constant kernel."""
    if not (operand(left) and operand(right)):
        return NotImplemented
    for zero, other in ((left, right), (right, left)):
        if not isinstance(zero, Kernel) and zero == 0:
            return other  # so that sum(kernels) is what it says
    return Sum(*(part if isinstance(part, Kernel) else Constant(part) for part in (left, right)))


def multiply(left: Any, right: Any) -> Kernel:
    """Return left · right, where a number scales."""
    if not (operand(left) and operand(right)):
        return NotImplemented
    if isinstance(left, Kernel) and isinstance(right, Kernel):
        return Product(left, right)
    return Scale(left, right) if isinstance(right, Kernel) else Scale(right, left)


def operand(value: Any) -> bool:
    """Tell whether a value may stand in the algebra."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number or isinstance(value, Kernel)


def need_kernel(value: Any) -> Kernel:
    """Return a kernel, refusing anything else."""
    if not isinstance(value, Kernel):
        raise ValidityError(f"the algebra is about kernels, found {value!r}; see also named(...)")
    return value


def joined(whole: Kernel) -> Domain:
    """Return what all parts of a kernel can compare."""
    parts = whole.children()
    domain = parts[0].domain
    for part in parts[1:]:
        shared = join(domain, part.domain)
        if shared is None:
            raise ValidityError(
                f"{parts[0]!r} and {part!r} compare different things, so they cannot be combined; "
                "for tables, say which columns each looks at with .on(...)"
            )
        domain = shared
    return domain


def height(k: Kernel, width: int) -> float:
    """Return k(0, 0) of a kernel on vectors, which is k(x, x) if it is stationary."""
    return float(k.evaluate_diagonal(Vectors(np.zeros((1, width))))[0])
