"""Which way to held-out predictions of ridge-like machines is the cheapest.

The unit is the time of one multiplication in a product of large matrices. With n items, m
penalties and sets R of items to be left out, of which n_R = n − |R| are learned from:

| route | work |
|---|---|
| inverse | m·(2n³ + Σ |R|³), a factor and its inverse for each penalty |
| spectrum | 11n³ once, then m·Σ (1.5n|R|² + |R|³); for single items m·n² instead |
| features | p²n + 11p³ once, then m·Σ min(|R|, p)²·max(|R|, p) |
| refit | m·Σ n_R³, each machine fitted by itself on its part of the Gram matrix |
| refit spectrum | Σ 11n_R³, one decomposition of each part, for all penalties |

Before any of them but features, large penalties are tried by steps (`mercer.solvers.krylov`), each
of which costs n²(2.5c + 50) for c columns: as many as are cheaper than the route itself.

In nested folds, for the outer folds o and their inner folds i, the inverse takes for each penalty
2n³ + Σ_o (|o|²n + Σ_i |i|²(|o| + |i|)). The factors are not counts of operations but measured:
decompositions and small factors reach a fraction of the speed of products. The benchmark
``python -m benchmarks selection`` prints predicted and measured times side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["HeldOutPlan", "plan_held_out"]

Route = Literal["inverse", "spectrum", "features", "refit", "refit spectrum"]

INVERSE = 2.0  # of n³, a factor and the inverse
DECOMPOSITION = 11.0  # of n³
FACTOR = 1.0  # of n³, a factor alone
PRODUCT = 1.5  # of n|R|², one triangle of a product
CALL = 3e5  # what each small step costs besides its arithmetic
REFIT_CALL = 3e7  # ... and each fit of a machine
COLUMN, PASS = 2.5, 50.0  # of n², for each column of a step, and for reading the matrix
WORTHWHILE = 2.0  # steps that a penalty must be worth for them to be tried


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
    penalties: int,
    features: int | None = None,
    nested: Sequence[tuple[int, Sequence[int]]] = (),
    columns: int = 0,
) -> HeldOutPlan:
    """Return the cheapest route.

    Parameters
    ----------
    order : int
        Number of items.
    removals : sequence of int
        Sizes of the sets that are left out.
    penalties : int
    features : int, optional
        Number of explicit features, where they are to be used instead of the Gram matrix.
    nested : sequence of (int, sequence of int)
        Sizes of outer folds and their inner folds, if that is what is left out.
    columns : int
        Right-hand sides of all splits together, if large penalties may be tried by steps.
    """
    n, m = float(order), penalties
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
    costs["inverse"] = m * (INVERSE * n**3 + blocks)
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
    step = n**2 * (COLUMN * columns + PASS) + 10 * CALL
    fixed = DECOMPOSITION * n**3 if route == "spectrum" else 0.0
    steps = (costs[route] - fixed) / m / step
    tried = columns > 0 and steps >= WORTHWHILE
    return HeldOutPlan(route, costs, steps if tried else 0.0)
