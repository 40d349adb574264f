"""Sums over the items: what machines need whose coefficients are counted, not solved for.

Means, votes and corrections take the items themselves and a few numbers for each; some compare
all items once, and the perceptron in the dual keeps the whole Gram matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from mercer.domains import Points
from mercer.kernels import Kernel
from mercer.plans.chooser import Candidate, choose, size_of
from mercer.plans.plan import Decision, Plan
from mercer.solvers.cost import Cost, Requirements, Size, item_bytes, product_seconds

__all__ = ["SumOverItems", "choose_sum"]


@dataclass(frozen=True)
class SumOverItems:
    """What sums take.

    Parameters
    ----------
    columns : int
        Numbers of each item that are held at the same time, for each target.
    compared : bool
        Whether all items are compared with each other, tile by tile.
    stored : bool
        Whether the similarities are kept.
    """

    columns: int
    compared: bool = False
    stored: bool = False
    requires: ClassVar[Requirements] = Requirements()

    def cost(self, size: Size) -> Cost:
        """Return bytes and seconds."""
        n = size.items
        kept = 8 * n * self.columns * size.targets + item_bytes(size, feature_copies=2)
        compared = self.compared and size.route == "dual"
        matrix = 8 * n**2 if self.stored and compared else 0
        return Cost(
            kept + matrix + (size.tiles if compared else 0),
            product_seconds(float(n) ** 2, size.row, size.targets) if compared else 0.0,
        )


def choose_sum(
    name: str,
    kernel: Kernel,
    points: Points,
    way: SumOverItems,
    why: str,
    *,
    targets: int = 1,
    primal: bool = False,
) -> Decision:
    """Return the decision for the only way there is, or raise `PlanError`.

    Parameters
    ----------
    name : str
        As the decision calls the solver.
    kernel, points
    way : SumOverItems
    why : str
    targets : int
    primal : bool
        Whether explicit features are taken.
    """
    size = size_of(kernel, points, targets=targets)
    size = replace(size, route="primal" if primal else "dual")
    return choose(Plan(), [Candidate(name, way, size, (why,), fields={"stored": way.stored})])
