"""Which way to held-out predictions of ridge-like machines is the cheapest.

The unit is the time of one multiplication in a product of large matrices. With n items, m
penalties and sets R of items to be left out, of which n_R = n − |R| are learned from:

| route | once | for each penalty |
|---|---|---|
| inverse | | 1.5n³ + Σ (½n|R|² + |R|³), a factor and its inverse |
| tridiagonal | 7.5n³ | 50n² + Σ (2.5n|R|² + |R|³); for single items 50n² |
| features | p²n + 11p³ | Σ min(|R|, p)²·max(|R|, p) |
| refit | | Σ n_R³, each machine fitted by itself on its part of the Gram matrix |
| refit tridiagonal | Σ 7.5n_R³ | Σ n_R², one decomposition of each part |

Before any of them but features, large penalties are tried by the steps of
`mercer.solvers.ridge.shifted_lanczos`, each of which costs n²(2.5c + 50) for c columns: as many as
are cheaper than the route itself. What they leave is done by the inverse or the tridiagonal
form, whichever is cheaper for so many penalties.

In nested folds, for the outer folds o and their inner folds i, the inverse takes for each penalty
2n³ + Σ_o (|o|²n + Σ_i |i|²(|o| + |i|)). The factors are not counts of operations but measured:
decompositions and small factors reach a fraction of the speed of products. The benchmark
``python -m benchmarks selection`` prints predicted and measured times side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["ClosedFormRoute", "RouteName", "cheapest_route", "numbers_stepped"]

RouteName = Literal["inverse", "tridiagonal", "features", "refit", "refit tridiagonal"]

FACTOR, TRIANGLE, INVERSE = 1.0, 1.5, 2.0  # of n³: a factor, its inverse as well, and all of C
TRIDIAGONAL = 7.5  # of n³, the reduction of a matrix to tridiagonal form
SPECTRUM = 11.0  # of p³, an eigendecomposition
PRODUCT = 2.5  # of n|R|², one triangle of a product
SWEEP = 50.0  # of n², a pass over a matrix row by row
CALL = 3e5  # what each small operation costs besides its arithmetic
REFIT_CALL = 3e7  # the same for each fit of a machine
COLUMN, PASS = 2.5, 50.0  # of n², for each column of a step, and for reading the matrix
MIN_STEPS_EACH = 2.0  # that a penalty must be worth for steps to be tried
MIN_STEPS_ALL = 20.0  # that all penalties together must be worth
STEPPED_ARRAYS = 100  # arrays of all columns that steps take, besides the answers


@dataclass(frozen=True)
class ClosedFormRoute:
    """The chosen route, and what each would have cost.

    Examples
    --------
    >>> route = cheapest_route(1000, [1] * 1000, penalties=20)
    >>> route.name, route.name_for(1)
    ('tridiagonal', 'inverse')
    >>> print(route.explain())
    tridiagonal, because it takes 8.5e+09 multiplications; inverse 3e+10, ...
    """

    name: RouteName
    costs: dict[RouteName, float]
    lanczos_budget: float = 0.0  # steps that cost as much as one penalty; 0: none are tried
    next: RouteName = "inverse"  # for penalties at which the route loses digits
    once: dict[RouteName, float] = field(default_factory=dict)  # what a route costs but once
    each: dict[RouteName, float] = field(default_factory=dict)  # and for each penalty

    def name_for(self, left: int) -> RouteName:
        """Return the cheaper of inverse and tridiagonal form for what steps have left."""

        def cost(route: RouteName) -> float:
            return self.once[route] + left * self.each[route]

        both = [route for route in ("inverse", "tridiagonal") if route in self.each]
        return min(both, key=cost, default=self.name)

    def explain(self) -> str:
        """Say what was chosen and what the others would have cost."""
        others = ", ".join(
            f"{name} {cost:.2g}" for name, cost in self.costs.items() if name != self.name
        )
        chosen = self.costs[self.name]
        return f"{self.name}, because it takes {chosen:.2g} multiplications; {others}"


def cheapest_route(
    order: int,
    removals: Sequence[int],
    penalties: int,
    features: int | None = None,
    nested: Sequence[tuple[int, Sequence[int]]] = (),
    columns: int = 0,
    intercept: bool = False,
) -> ClosedFormRoute:
    """Return the cheapest route.

    Parameters
    ----------
    order : int
        Number of items.
    removals : sequence of int
        Sizes of the sets that are left out.
    penalties : int
        Their number.
    features : int, optional
        Number of explicit features, where they are to be used instead of the Gram matrix.
    nested : sequence of (int, sequence of int)
        Sizes of outer folds and their inner folds, if that is what is left out.
    columns : int
        Targets of all splits together, if penalties may be solved by steps.
    intercept : bool
    """
    n, m = float(order), penalties
    once, each = (
        _by_features(n, features, removals)
        if features is not None
        else _costs(n, removals, nested)
    )
    costs = {name: once[name] + m * each[name] for name in each}
    best = min(costs, key=lambda name: costs[name])
    if best in ("features", "refit", "refit tridiagonal"):
        return ClosedFormRoute(best, costs, next="features" if best == "features" else "inverse")
    step = n**2 * (COLUMN * (columns + len(removals) * intercept) + PASS) + 10 * CALL
    worth = each[best] / step
    tried = columns > 0 and worth >= max(MIN_STEPS_EACH, MIN_STEPS_ALL / m)
    return ClosedFormRoute(best, costs, worth if tried else 0.0, once=once, each=each)


def _by_features(
    n: float, p: int, removals: Sequence[int]
) -> tuple[dict[RouteName, float], dict[RouteName, float]]:
    single = all(size == 1 for size in removals)
    thin = sum(min(s, p) ** 2 * max(s, p) + CALL * (not single) for s in removals)
    return {"features": n * p**2 + SPECTRUM * p**3}, {"features": thin}


def _costs(
    n: float, removals: Sequence[int], nested: Sequence[tuple[int, Sequence[int]]]
) -> tuple[dict[RouteName, float], dict[RouteName, float]]:
    """Return what each route costs once, and for each penalty."""
    learned = [n - size for size in removals]
    refit = sum(FACTOR * size**3 + REFIT_CALL for size in learned)
    if nested:
        blocks = sum(
            o**2 * n + sum(i**2 * (o + FACTOR * i) + CALL for i in inner) for o, inner in nested
        )
        each: dict[RouteName, float] = {"inverse": INVERSE * n**3 + blocks, "refit": refit}
        return dict.fromkeys(each, 0.0), each
    single = all(size == 1 for size in removals)
    blocks = sum(FACTOR * size**3 + CALL * (not single) for size in removals)
    squares = sum(n * size**2 for size in removals)
    once: dict[RouteName, float] = {
        "inverse": 0.0,
        "tridiagonal": TRIDIAGONAL * n**3,
        "refit": 0.0,
        "refit tridiagonal": sum(TRIDIAGONAL * size**3 for size in learned),
    }
    each = {
        "inverse": TRIANGLE * n**3 + (n**2 if single else squares / 2) + blocks,
        "tridiagonal": SWEEP * n**2 + (0.0 if single else PRODUCT * squares) + blocks,
        "refit": refit,
        "refit tridiagonal": sum(size**2 + CALL for size in learned),
    }
    return once, each


def numbers_stepped(order: int, columns: int, penalties: int) -> float:
    """Return how many numbers steps from nothing take, if they are no more than a hundred.

    More steps than that are taken only where there is room.

    Examples
    --------
    >>> numbers_stepped(1000, columns=10, penalties=20)
    2800000.0
    """
    return float(STEPPED_ARRAYS + 9 * penalties) * order * columns
