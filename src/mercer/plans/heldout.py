"""Which way to held-out predictions of ridge-like machines is the cheapest.

The unit is the time of one multiplication in a product of large matrices. With n items, m
penalties and sets R of items to be left out, of which n_R = n − |R| are learned from:

| route | work |
|---|---|
| inverse | m·(2n³ + Σ |R|³), a factor and its inverse for each penalty; fewer, see below |
| spectrum | 11n³ once, then m·Σ (1.5n|R|² + |R|³); for single items m·n² instead |
| features | p²n + 11p³ once, then m·Σ min(|R|, p)²·max(|R|, p) |
| refit | m·Σ n_R³, each machine fitted by itself on its part of the Gram matrix |
| refit spectrum | Σ 11n_R³, one decomposition of each part, for all penalties |

Before any of them but features, large penalties are tried by steps (`mercer.solvers.krylov`), each
of which costs n²(2.5c + 50) for c columns: as many as are cheaper than the route itself.

An inverse at one penalty serves its neighbors, as far as that is cheaper (`mercer.plans.reach`),
by steps that cost 2n²(2.5c + 50) and 15 times the multiplications with the factors of the folds.
If the values of the penalties are known, the route is taken to cost what they do when the smallest
eigenvalue is zero, and the largest 40 % of them have been done by steps before, in the time of one
inverse.

In nested folds, for the outer folds o and their inner folds i, the inverse takes for each penalty
2n³ + Σ_o (|o|²n + Σ_i |i|²(|o| + |i|)). The factors are not counts of operations but measured:
decompositions and small factors reach a fraction of the speed of products. The benchmark
``python -m benchmarks selection`` prints predicted and measured times side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mercer.plans.reach import Reach

__all__ = ["HeldOutPlan", "numbers_kept", "numbers_stepped", "plan_held_out"]

Route = Literal["inverse", "spectrum", "features", "refit", "refit spectrum"]

INVERSE = 2.0  # of n³, a factor and the inverse
DECOMPOSITION = 11.0  # of n³
FACTOR = 1.0  # of n³, a factor alone
PRODUCT = 1.5  # of n|R|², one triangle of a product
CALL = 3e5  # what each small step costs besides its arithmetic
REFIT_CALL = 3e7  # ... and each fit of a machine
COLUMN, PASS = 2.5, 50.0  # of n², for each column of a step, and for reading the matrix
WORTHWHILE = 2.0  # steps that a penalty must be worth for them to be tried ...
TOGETHER = 20.0  # ... and that all of them must be
BESIDE = 15.0  # of the multiplications of single columns with the factors of folds
PREPARED = 4.0  # of the cubes of inner folds, for their inverses
LARGE = 0.4  # share of the penalties of a grid that is done by steps
ROOMY = 100  # arrays of all columns that steps take, besides the answers
MANY = 200  # penalties beyond which it is not worked out how near they are to each other


@dataclass(frozen=True)
class HeldOutPlan:
    """The chosen route, and what each would have cost.

    Examples
    --------
    >>> plan = plan_held_out(1000, [1] * 1000, penalties=20)
    >>> plan.route
    'spectrum'
    >>> print(plan.explain())
    spectrum, because it takes 1.1e+10 multiplications; inverse 4e+10, ...
    """

    route: Route
    costs: dict[Route, float]
    steps: float = 0.0  # that one penalty is worth; 0 if none are to be tried
    next: Route = "inverse"  # for penalties at which the route loses digits
    reach: Reach | None = None  # how far to go from an inverse to its neighbors

    def explain(self) -> str:
        """Say what was chosen and what the others would have cost."""
        others = ", ".join(
            f"{name} {cost:.2g}" for name, cost in self.costs.items() if name != self.route
        )
        chosen = self.costs[self.route]
        return f"{self.route}, because it takes {chosen:.2g} multiplications; {others}"


def plan_held_out(
    order: int,
    removals: Sequence[int],
    penalties: int | Sequence[float],
    features: int | None = None,
    nested: Sequence[tuple[int, Sequence[int]]] = (),
    columns: int = 0,
    intercept: bool = False,
) -> HeldOutPlan:
    """Return the cheapest route.

    Parameters
    ----------
    order : int
        Number of items.
    removals : sequence of int
        Sizes of the sets that are left out.
    penalties : int or sequence of float
        Their number, or their values.
    features : int, optional
        Number of explicit features, where they are to be used instead of the Gram matrix.
    nested : sequence of (int, sequence of int)
        Sizes of outer folds and their inner folds, if that is what is left out.
    columns : int
        Targets of all splits together, if penalties may be solved by steps.
    intercept : bool
    """
    n = float(order)
    m = penalties if isinstance(penalties, int) else len(penalties)
    learned = [n - size for size in removals]
    single = all(size == 1 for size in removals)
    blocks = sum(FACTOR * size**3 + CALL * (not single) for size in removals)
    costs: dict[Route, float] = {}
    if features is not None:
        p = features
        thin = sum(min(s, p) ** 2 * max(s, p) + CALL * (not single) for s in removals)
        costs["features"] = n * p**2 + DECOMPOSITION * p**3 + m * thin
        return HeldOutPlan("features", costs, next="features")
    if nested:
        blocks = sum(
            o**2 * n + sum(i**2 * (o + FACTOR * i) + CALL for i in inner) for o, inner in nested
        )
    inverse = INVERSE * n**3 + blocks
    step = n**2 * (COLUMN * (columns + len(removals) * intercept) + PASS) + 10 * CALL
    each = inverse  # what a penalty costs that is not done by steps
    costs["inverse"] = m * inverse
    reach = None
    if columns and not single:
        reach = _reach(n, nested or [(size, ()) for size in removals], columns, inverse)
        if not isinstance(penalties, int):
            left = _not_stepped(penalties, stepped := inverse >= WORTHWHILE * step)
            if 1 < len(left) <= MANY:
                each *= reach.inverses(left) / len(left)
                costs["inverse"] = min(costs["inverse"], each * len(left) + inverse * stepped)
    if not nested:
        products = n**2 if single else sum(PRODUCT * n * size**2 for size in removals)
        costs["spectrum"] = DECOMPOSITION * n**3 + m * (products + blocks)
    costs["refit"] = m * sum(FACTOR * size**3 + REFIT_CALL for size in learned)
    if not nested:
        costs["refit spectrum"] = sum(
            DECOMPOSITION * size**3 + m * (size**2 + CALL) for size in learned
        )
    route = min(costs, key=lambda name: costs[name])
    if route in ("refit", "refit spectrum"):
        return HeldOutPlan(route, costs)
    if route == "spectrum":
        each = (costs[route] - DECOMPOSITION * n**3) / m
    tried = columns > 0 and each >= max(WORTHWHILE, TOGETHER / m) * step
    return HeldOutPlan(route, costs, each / step if tried else 0.0, reach=reach)


def _not_stepped(penalties: Sequence[float], stepped: bool) -> np.ndarray:
    """Return, in order, the penalties that are left when steps have done the large ones."""
    levels = np.sort([value for value in penalties if 0 < value < np.inf])
    return levels[: len(levels) - int(LARGE * len(levels)) * stepped]


def _reach(
    n: float, folds: Sequence[tuple[int, Sequence[int]]], columns: int, inverse: float
) -> Reach:
    """Return what an inverse is worth in steps to its neighbors."""
    splits = sum(1 + len(inner) for _, inner in folds)
    beside = sum(
        2 * o**2 * (1 + len(inner)) + sum(2 * o * i + i**2 for i in inner) for o, inner in folds
    )
    small = BESIDE * beside * columns / splits
    step = 2 * n**2 * (COLUMN * columns + PASS) + small + 10 * CALL * len(folds)
    prepared = sum(o**3 + PREPARED * sum(i**3 for i in inner) for o, inner in folds)
    return Reach(inverse / step, 1 + prepared / step)


def numbers_kept(
    order: int, folds: Sequence[tuple[int, Sequence[int]]], columns: int, penalties: int
) -> float:
    """Return how many numbers an inverse, its folds and the steps to its neighbors take.

    Examples
    --------
    >>> numbers_kept(1000, [(100, ())] * 10, columns=10, penalties=20) / 1000**2
    5.1
    """
    n = float(order)
    parts = sum(
        o**2 + o * n * bool(inner) + sum(2 * o * i + 4 * i**2 for i in inner) for o, inner in folds
    )
    return 3 * n**2 + parts + (ROOMY + 5 * penalties) * n * columns


def numbers_stepped(order: int, columns: int, penalties: int) -> float:
    """Return how many numbers steps from nothing take, if they are no more than a hundred.

    More steps than that are taken only where there is room.

    Examples
    --------
    >>> numbers_stepped(1000, columns=10, penalties=20)
    2800000.0
    """
    return float(ROOMY + 9 * penalties) * order * columns
