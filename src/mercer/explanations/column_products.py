"""Column products: a kernel as a sum of products, each factor of which looks at few columns.

A Gaussian of d numbers is a product of d Gaussians of one, an equality of two columns is a product
of two, and the algebra of kernels multiplies and adds these up. What is left of a kernel then is
Σ_t w_t Π_f k_f, where each k_f looks at some columns only. Where a factor looks at columns that
belong to different groups (a Matérn kernel, a metric with a matrix), the kernel cannot be taken
apart, and its name is said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce, singledispatch
from itertools import product
from typing import Any

import numpy as np

from mercer.errors import ValidityError
from mercer.kernels import (
    Categorical,
    Constant,
    Exponential,
    Gaussian,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Periodic,
    Polynomial,
    Shepard,
    gaussian_over,
    normalize,
)
from mercer.kernels import exp as exponential
from mercer.kernels.algebra import Exp, PolynomialOf, Power, Product, Scale, Sum
from mercer.kernels.algebra.normalization import AssumePSD, GaussianOver, Normalize
from mercer.kernels.tables import On

__all__ = ["ColumnFactor", "ColumnProduct", "column_products"]

# A polynomial of many columns is a sum of so many products that other ways would be shorter.
MAX_PRODUCTS = 2000


@dataclass(frozen=True)
class ColumnFactor:
    """A kernel of some columns, by their places in the table; no places for a whole item."""

    kernel: Kernel
    places: tuple[int, ...]
    missing: str = "error"
    columns: tuple[object, ...] = ()  # what `.on` calls these places

    def changed(self, change: Callable[[Kernel], Kernel]) -> ColumnFactor:
        """Return a kernel made of this one, which looks at the same columns."""
        return replace(self, kernel=change(self.on()), missing="seen")

    def on(self) -> Kernel:
        """Return the factor as a kernel on the whole table, or on a whole item."""
        if not self.places or self.missing == "seen":
            return self.kernel
        return On(self.kernel, self.columns, self.missing)


@dataclass(frozen=True)
class ColumnProduct:
    """A product of factors times a weight."""

    weight: float
    factors: tuple[ColumnFactor, ...] = ()

    def __mul__(self, other: ColumnProduct) -> ColumnProduct:
        return ColumnProduct(self.weight * other.weight, self.factors + other.factors)

    def scaled(self, factor: float) -> ColumnProduct:
        """Return the same product with another weight."""
        return replace(self, weight=factor * self.weight)


@dataclass(frozen=True)
class _View:
    """What a part of a kernel sees: the places of its columns, None for a whole item."""

    places: tuple[int, ...] | None
    groups: tuple[int, ...]
    columns: tuple[object, ...]
    named: bool  # whether columns have names, so that a number may be one

    def find(self, asked: tuple[Any, ...]) -> tuple[int, ...]:
        """Return the places of columns given by indices, slices or names, as `On` reads them."""
        there = self.places if self.places is not None else (0,)
        names = [self.columns[place] for place in there] if self.named else []
        found: list[int] = []
        for one in asked:
            if isinstance(one, slice):
                found += there[one]
            else:
                found.append(there[names.index(one) if one in names else int(one)])
        return tuple(found)

    def factor(
        self, kernel: Kernel, places: tuple[int, ...] | None, missing: str = "error"
    ) -> ColumnFactor:
        """Return a kernel of some columns as a factor."""
        there = places or ()
        return ColumnFactor(kernel, there, missing, tuple(self.columns[place] for place in there))

    def group(self, places: tuple[int, ...] | None) -> set[int]:
        return {-1} if places is None else {self.groups[place] for place in places}


def column_products(
    kernel: Kernel,
    groups: Sequence[int],
    columns: Sequence[object],
    named: bool = False,
) -> list[ColumnProduct]:
    """Return a kernel on a table as a sum of products over groups of its columns.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    groups : sequence of int
        The group of each column; columns of one group need not be told apart. Empty if items are
        whole things.
    columns : sequence
        What ``kernel.on(...)`` calls each column.
    named : bool
        Whether those are names.

    Examples
    --------
    >>> parts = column_products(Gaussian(2.0) + 1.0, [0, 1], [0, 1])
    >>> [(part.weight, len(part.factors)) for part in parts]
    [(1.0, 2), (1.0, 0)]
    """
    places = tuple(range(len(groups))) if groups else None
    found = separate(kernel, _View(places, tuple(groups), tuple(columns), named))
    return _merged(found)


@singledispatch
def separate(kernel: Kernel, view: _View) -> list[ColumnProduct]:
    """Return the products of a part of a kernel; by default a factor by itself."""
    if len(view.group(view.places)) > 1:
        raise ValidityError(
            f"{kernel!r} looks at several columns at once and is no product over them, so that "
            "exact Shapley values of its columns would take exponential time; use Gaussian, "
            "Laplacian, Categorical, Linear or others with one bandwidth or weight per column, "
            "kernels of one column each (.on(...)), or their sums and products"
        )
    return [ColumnProduct(1.0, (view.factor(kernel, view.places),))]


def _each(
    kernel: Kernel, view: _View, part: Callable[[int], Kernel | None], additive: bool = False
) -> list[ColumnProduct]:
    """Return a product, or a sum, of kernels of one column each."""
    if view.places is None:
        return separate.dispatch(Kernel)(kernel, view)
    made = [(part(j), place) for j, place in enumerate(view.places)]
    factors = [view.factor(one, (place,)) for one, place in made if one is not None]
    if additive:
        return [ColumnProduct(1.0, (factor,)) for factor in factors]
    return [ColumnProduct(1.0, tuple(factors))]


def _weight(metric: object, j: int) -> float:
    return 1.0 if metric is None else float(metric[j])  # type: ignore[index]


def _matrix(kernel: Kernel, metric: object, view: _View) -> list[ColumnProduct] | None:
    """Return the whole kernel as a factor where its metric is a matrix; None where it is not."""
    if isinstance(metric, np.ndarray):
        return separate.dispatch(Kernel)(kernel, view)
    return None


@separate.register
def _(kernel: Gaussian | Laplacian, view: _View) -> list[ColumnProduct]:
    return _matrix(kernel, kernel.metric, view) or _each(kernel, view, _narrow(kernel))


@separate.register
def _(kernel: Exponential, view: _View) -> list[ColumnProduct]:
    if kernel.order != kernel.exponent:
        return separate.dispatch(Kernel)(kernel, view)
    return _matrix(kernel, kernel.metric, view) or _each(kernel, view, _narrow(kernel))


def _narrow(kernel: Gaussian | Laplacian | Exponential) -> Callable[[int], Kernel | None]:
    """Return the kernel of one column, or None where it does not look at it."""

    def part(j: int) -> Kernel | None:
        width, weight = kernel.bandwidth, _weight(kernel.metric, j)
        sigma = width[j] if isinstance(width, tuple) else width
        metric = None if kernel.metric is None else (weight,)
        return replace(kernel, bandwidth=sigma, metric=metric) if weight > 0 else None

    return part


@separate.register
def _(kernel: Shepard, view: _View) -> list[ColumnProduct]:
    if kernel.order != kernel.exponent:
        return separate.dispatch(Kernel)(kernel, view)

    def part(j: int) -> Kernel | None:
        weight = _weight(kernel.attention, j)
        attention = None if kernel.attention is None else (weight,)
        return replace(kernel, attention=attention) if weight > 0 else None

    return _matrix(kernel, kernel.attention, view) or _each(kernel, view, part)


@separate.register
def _(kernel: Periodic, view: _View) -> list[ColumnProduct]:
    width = kernel.bandwidth
    return _each(
        kernel,
        view,
        lambda j: replace(kernel, bandwidth=width[j] if isinstance(width, tuple) else width),
    )


@separate.register
def _(kernel: Categorical, view: _View) -> list[ColumnProduct]:
    return _each(kernel, view, lambda j: kernel)


@separate.register
def _(kernel: Linear | Intersection, view: _View) -> list[ColumnProduct]:
    return _each(kernel, view, lambda j: kernel, additive=True)


@separate.register
def _(kernel: Constant, view: _View) -> list[ColumnProduct]:
    return [ColumnProduct(float(kernel.value))]


@separate.register
def _(kernel: Sum, view: _View) -> list[ColumnProduct]:
    return separate(kernel.left, view) + separate(kernel.right, view)


@separate.register
def _(kernel: Product, view: _View) -> list[ColumnProduct]:
    return _times(kernel, separate(kernel.left, view), separate(kernel.right, view))


@separate.register
def _(kernel: Scale, view: _View) -> list[ColumnProduct]:
    return [one.scaled(float(kernel.factor)) for one in separate(kernel.kernel, view)]


@separate.register
def _(kernel: AssumePSD, view: _View) -> list[ColumnProduct]:
    return separate(kernel.kernel, view)


@separate.register
def _(kernel: Power, view: _View) -> list[ColumnProduct]:
    return _polynomial(kernel, separate(kernel.kernel, view), [0.0] * kernel.exponent + [1.0])


@separate.register
def _(kernel: PolynomialOf, view: _View) -> list[ColumnProduct]:
    return _polynomial(kernel, separate(kernel.kernel, view), list(kernel.coefficients))


@separate.register
def _(kernel: Polynomial, view: _View) -> list[ColumnProduct]:
    if len(view.group(view.places)) == 1:
        return separate.dispatch(Kernel)(kernel, view)
    inner = [one.scaled(float(kernel.scale)) for one in separate(Linear(), view)]
    if kernel.offset:
        inner.append(ColumnProduct(float(kernel.offset)))
    return _polynomial(kernel, inner, [0.0] * kernel.degree + [1.0])


@separate.register
def _(kernel: Exp, view: _View) -> list[ColumnProduct]:
    whole, constant = _by_group(kernel, separate(kernel.kernel, view), view)
    factors = tuple(one.changed(exponential) for one in whole)
    return [ColumnProduct(math.exp(constant), factors)]


@separate.register
def _(kernel: GaussianOver, view: _View) -> list[ColumnProduct]:
    whole, _ = _by_group(kernel, separate(kernel.kernel, view), view)
    width = float(kernel.bandwidth)
    return [ColumnProduct(1.0, tuple(f.changed(lambda k: gaussian_over(k, width)) for f in whole))]


@separate.register
def _(kernel: Normalize, view: _View) -> list[ColumnProduct]:
    if len(view.group(view.places)) == 1:
        return separate.dispatch(Kernel)(kernel, view)
    inner = _merged(separate(kernel.kernel, view))
    if len(inner) != 1 or inner[0].weight <= 0:  # the length of a sum is a matter of all columns
        return separate.dispatch(Kernel)(kernel, view)
    return [ColumnProduct(1.0, tuple(f.changed(normalize) for f in inner[0].factors))]


@separate.register
def _(kernel: On, view: _View) -> list[ColumnProduct]:
    places = view.find(kernel.columns)
    narrow = replace(view, places=places)
    if kernel.missing == "error":
        return separate(kernel.kernel, narrow)
    if len(view.group(places)) == 1:
        return [ColumnProduct(1.0, (view.factor(kernel.kernel, places, kernel.missing),))]
    found = separate(kernel.kernel, narrow)
    if any(factor.missing != "error" for one in found for factor in one.factors):
        return separate.dispatch(Kernel)(kernel, narrow)
    gaps = {place: view.factor(Constant(1.0), (place,), kernel.missing) for place in places}
    return [_with_gaps(one, kernel.missing, gaps) for one in found]


def _with_gaps(one: ColumnProduct, missing: str, gaps: dict[int, ColumnFactor]) -> ColumnProduct:
    """Return a product whose factors know what a gap means.

    With "own category" two rows must lack the same columns, also those that no factor looks at.
    """
    factors = tuple(replace(factor, missing=missing) for factor in one.factors)
    if missing == "own category":
        seen = {place for factor in factors for place in factor.places}
        factors += tuple(factor for place, factor in gaps.items() if place not in seen)
    return replace(one, factors=factors)


def _times(
    kernel: Kernel, one: list[ColumnProduct], two: list[ColumnProduct]
) -> list[ColumnProduct]:
    if len(one) * len(two) > 4 * MAX_PRODUCTS:
        _refuse_many(kernel, len(one) * len(two))
    found = _merged([a * b for a, b in product(one, two)])
    if len(found) > MAX_PRODUCTS:
        _refuse_many(kernel, len(found))
    return found


def _refuse_many(kernel: Kernel, count: int) -> None:
    raise ValidityError(
        f"{kernel!r} is a sum of more than {MAX_PRODUCTS} products over columns ({count} were "
        "found), which is more than exact Shapley values are made of; use a smaller degree or "
        "fewer columns"
    )


def _polynomial(
    kernel: Kernel, inner: list[ColumnProduct], coefficients: list[float]
) -> list[ColumnProduct]:
    """Return Σ cᵢ kⁱ as products."""
    power, found = [ColumnProduct(1.0)], []
    for i, coefficient in enumerate(coefficients):
        if i:
            power = _times(kernel, power, inner)
        if coefficient:
            found += [one.scaled(coefficient) for one in power]
    return _merged(found)


def _by_group(
    kernel: Kernel, inner: list[ColumnProduct], view: _View
) -> tuple[list[ColumnFactor], float]:
    """Return a sum of kernels of one group each, and its constant; refuse a sum of others."""
    sums: dict[int, tuple[Kernel, tuple[int, ...]]] = {}
    constant = 0.0
    for one in _merged(inner):
        groups = set().union(*(view.group(f.places or None) for f in one.factors))
        if len(groups) > 1:
            separate.dispatch(Kernel)(kernel, view)  # refuses it
        if not one.factors:
            constant += one.weight
            continue
        summand: Kernel = one.weight * reduce(Kernel.__mul__, (f.on() for f in one.factors))
        places = tuple(dict.fromkeys(p for f in one.factors for p in f.places))
        (group,) = groups
        known = sums.get(group)
        if known is None:
            sums[group] = (summand, places)
        else:
            sums[group] = known[0] + summand, tuple(dict.fromkeys(known[1] + places))
    return [ColumnFactor(total, places, "seen") for total, places in sums.values()], constant


def _merged(products: list[ColumnProduct]) -> list[ColumnProduct]:
    """Return the sum with equal products added up, and without those whose weight is zero."""
    if len(products) < 2:
        return [one for one in products if one.weight]
    totals: dict[object, tuple[float, ColumnProduct]] = {}
    for one in products:
        key = frozenset(Counter(one.factors).items())
        total, first = totals.get(key, (0.0, one))
        totals[key] = total + one.weight, first
    return [replace(first, weight=total) for total, first in totals.values() if total]
