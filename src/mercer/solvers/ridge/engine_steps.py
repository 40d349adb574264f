"""Steps where an engine keeps the rows: the exact solution without storing the matrix.

They are the steps of `mercer.solvers.iterative`: products in single precision, refined to double
by true residuals, preconditioned by a randomly pivoted factor. What differs is where that happens
and what it costs. A GPU makes thousands of columns of the factor in a second, and a product takes
half a picosecond for each pair of rows; so there are more columns and fewer steps than on a CPU.
Vectors come and go, which takes a thousandth of a step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mercer.solvers.cost import Cost, Requirements, Size
from mercer.solvers.iterative import Iterative

__all__ = ["EngineSteps", "engine_rank"]

# Seconds on an H200: of a pair in a product in single and double precision, without its columns
# and for each of them; and of a pair where products are made in blocks of Torch.
FUSED_PAIR, FUSED_COLUMN = 4e-13, 2e-14
DOUBLE_PAIR, DOUBLE_COLUMN = 2e-12, 1.3e-13
BLOCK_PAIR, BLOCK_COLUMN = 2e-11, 3e-14
FACTOR_RATE = 2.2e13  # 3nr² operations a second: columns, their system, its factor
BEGIN_SECONDS = 0.3
USUAL_STEPS = 60.0  # for nine digits, before a preconditioner shows how many there are
DOUBLE_PRODUCTS = 4  # true residuals of two or three rounds, and of the certificate
# Columns of a factor for each root of the items, so that it takes as long as about ten products.
COLUMNS_A_ROOT = 7
MAX_RANK, MIN_RANK = 8000, 64
STRIPE_BYTES, STRIPE_BYTES_AN_ITEM = 5 * 10**9, 20_000  # of blocks of columns in the making
FACTOR_SHARE = 0.6  # of the engine's free memory


@dataclass(frozen=True)
class EngineSteps(Iterative):
    """Solve by preconditioned conjugate gradients in the memory of an engine.

    Parameters
    ----------
    fused : bool
        Whether products are fused, so that no block of the matrix is ever written.

    The others are those of `Iterative`.

    Examples
    --------
    >>> EngineSteps(rank=4000).cost(Size(items=1_000_000, row=72.0)).seconds < 90
    True
    """

    mixed: bool = True
    fused: bool = True
    requires: ClassVar[Requirements] = Iterative.requires

    def cost(self, size: Size) -> Cost:
        """Return what the preconditioner and the steps take of the engine."""
        n, rank, width = size.items, min(self.rank, size.items), size.row / 8
        steps = size.steps or USUAL_STEPS * math.log(self.tol) / math.log(Iterative.tol)
        if self.fused:
            single = FUSED_PAIR + FUSED_COLUMN * width
            double = DOUBLE_PAIR + DOUBLE_COLUMN * width
        else:
            single = double = BLOCK_PAIR + BLOCK_COLUMN * width
        products = size.targets * n**2 * (steps * single + DOUBLE_PRODUCTS * double)
        seconds = BEGIN_SECONDS + 3 * n * rank**2 / FACTOR_RATE + products
        factor = 8 * n * rank + 24 * rank**2 + stripe_bytes(n)
        rows = 6 * size.row + 14 * 8 * size.targets  # with their copies, and vectors
        return Cost(int(factor + n * rows), seconds)


def engine_rank(items: int, free: int) -> int:
    """Return how many columns of a preconditioner are worth their while, and fit.

    Examples
    --------
    >>> engine_rank(1_000_000, 140 * 10**9), engine_rank(1_000_000, 20 * 10**9)
    (7000, 875)
    """
    room = (FACTOR_SHARE * free - stripe_bytes(items)) / (8 * items)
    return int(max(min(COLUMNS_A_ROOT * math.isqrt(items), MAX_RANK, room, items), MIN_RANK))


def stripe_bytes(items: int) -> int:
    """Return what blocks of columns take while they are made."""
    return min(STRIPE_BYTES, STRIPE_BYTES_AN_ITEM * items)
