"""Costs: what a solver asks of a problem, and how many bytes and seconds it takes.

A solver declares both beside its algorithm, and whoever chooses one compares them:

- ``requires``, a `Requirements`: what must be true of the problem for the solver to be tried; some
  also declare when they are worth trying before others (`Iterative.worthwhile`);
- ``cost(size)``, a `Cost`: the predicted peak of its memory and about how long it takes, for a
  problem of some `Size`, with the solver's own parameters (its rank, its precision).

So `Cholesky("mixed").cost(size)` and `Iterative(rank=500).cost(size)` can be compared without a
word about either in `mercer.plans`. Bytes are meant to be right within 1.3. The constants of the
seconds are those of one core of an AMD EPYC of 2024 or so, and a prediction is meant to be right
within a factor of three on computers of its kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from mercer.threads import cores

__all__ = [
    "UNCONDITIONAL", "Cost", "Costed", "Requirements", "Size", "factor_seconds", "item_bytes",
    "product_seconds", "stored_cost",
]  # fmt: skip

OVERHEAD = 2_000_000  # bytes besides large arrays: threads, small vectors, Python itself
FLOP_SECONDS = 1 / 40e9  # of an operation of a matrix product in double precision; half in single


@dataclass(frozen=True)
class Size:
    """How large a problem is, and what is known of it.

    The numbers come first, by which a solver computes its cost; then, from `definite` on, what
    decides whether it may run, and whether it is worth trying.

    Attributes
    ----------
    items : int
    row : float
        Bytes of one item's numbers, which also say what one kernel evaluation costs.
    features : int or None
        Number of explicit features, if there are finitely many.
    targets : int
        Number of right-hand sides.
    tiles : int
        Bytes that evaluating the kernel takes.
    weighted : bool
        Whether items have weights, for which features are copied.
    cheap : bool
        Whether a similarity takes a nanosecond or two, so that it may be computed at each step.
    piece : int or None
        Bytes of the largest chunk, where items are streamed and not kept.
    judging : int
        Gram matrices of a sample that comparing an approximate answer with the exact one takes.
    route : {"dual", "primal"}
        Whether the operator is that of similarities or of explicit features.
    functions : int
        Functions of a sketch, or basis functions of a network.
    components : int or None
        Eigenvalues that are asked for; None for all.
    definite : bool
        Whether the kernel is valid, so that its spectrum needs no repair.
    condition : float
        Upper bound of the condition number, (trace K + λ)/λ; infinite for λ = 0.
    single : bool
        Whether products with the similarities can be computed in single precision.
    solution_only : bool
        Whether nobody asks for a factor of the matrix after the fit.
    steps : float or None
        Steps of conjugate gradients that a preconditioner foresees, once there is one.
    encodings : int
        Bytes of what kernels make of the items before they compare them: counts of patterns.
    feature_row : float or None
        Bytes of the explicit features of one item, where most of them are zero and not stored.

    Examples
    --------
    >>> size = Size(items=1000, row=80.0)
    >>> size.items, size.route, size.definite
    (1000, 'dual', True)
    """

    items: int
    row: float = 8.0
    features: int | None = None
    targets: int = 1
    tiles: int = 0
    weighted: bool = False
    cheap: bool = True
    piece: int | None = None
    judging: int = 2
    route: Literal["dual", "primal"] = "dual"
    functions: int = 0
    components: int | None = None
    definite: bool = True
    condition: float = 1.0
    single: bool = True
    solution_only: bool = True
    steps: float | None = None
    encodings: int = 0
    feature_row: float | None = None

    @property
    def order(self) -> int:
        """Order of the symmetric matrix of the route."""
        return self.items if self.route == "dual" else self.features or 0


@dataclass(frozen=True)
class Cost:
    """The peak of the memory, and about how long it takes; None where nobody can say."""

    bytes: int
    seconds: float | None = None


@dataclass(frozen=True)
class Requirements:
    """What must be true of a problem for a solver to be tried, or to be preferred.

    Examples
    --------
    >>> Requirements(penalty=True).met(Size(items=10, condition=float("inf")))
    False
    >>> Requirements(min_order=1000).met(Size(items=10))
    False
    """

    features: bool = False  # there are finitely many
    definite: bool = False  # the kernel is valid
    penalty: bool = False  # it is positive
    solution_only: bool = False  # nobody asks for a factor later
    similarities: bool = False  # the operator is that of items, not of features
    cheap: bool = False  # a similarity may be computed at each step
    single: bool = False  # products can be computed in single precision
    min_order: int = 0  # of the matrix
    max_order: float = math.inf
    max_condition: float = math.inf
    items_a_step: float = 0.0  # for each step that is foreseen there are as many items

    def met(self, size: Size) -> bool:
        """Tell whether a problem is one that the solver can solve."""
        return not (
            (self.features and size.features is None)
            or (self.definite and not size.definite)
            or (self.penalty and size.condition == math.inf)
            or (self.solution_only and not size.solution_only)
            or (self.similarities and size.route != "dual")
            or (self.cheap and not size.cheap)
            or (self.single and not size.single)
            or not self.min_order <= size.order <= self.max_order
            or size.condition > self.max_condition
            or self.items_a_step * (size.steps or 0.0) > size.items
        )


UNCONDITIONAL = Requirements()


class Costed(Protocol):
    """A solver that declares what it needs and what it costs."""

    requires: ClassVar[Requirements]

    def cost(self, size: Size) -> Cost:
        """Return predicted bytes and seconds."""


def product_seconds(pairs: float, row: float, targets: int = 1) -> float:
    """Return the time of so many similarities that are multiplied with a few vectors.

    Examples
    --------
    >>> product_seconds(1.0, row=160.0) < 1e-8
    True
    """
    # In a tile that is used up at once, a similarity takes 4 ns and 0.03 ns for each number of it.
    pair = 4e-9 + 3e-11 * row / 8
    return pairs * (pair + 2 * FLOP_SECONDS * targets) / cores()


def factor_seconds(order: float, mixed: bool = False) -> float:
    """Return the time of a Cholesky factor, at 25·10⁹ operations a second."""
    return order**3 / 3 * (1 / 25e9) / (2 if mixed else 1) / cores()


def stored_cost(size: Size, workspace: int, seconds: float) -> Cost:
    """Return the cost of a stored Gram matrix, and of what is done with it afterwards.

    The matrix is filled first, tile by tile; only then comes the workspace.
    """
    n = size.items
    vectors = (
        6 * 8
    )  # bytes of an item and target: what is given, solved for, left over, and copies
    rows = 2 * size.row  # as they are learned from, and a copy that the caller cannot change
    rest = n * (rows + vectors * size.targets) + size.encodings + OVERHEAD
    filled = product_seconds(n**2 / 2, size.row)
    return Cost(int(8 * n**2 + max(workspace, size.tiles) + rest), filled + seconds)


def item_bytes(size: Size, feature_copies: int = 1) -> int:
    """Predict the bytes of the items, of their features, and of all that is small."""
    row = 8.0 * (size.features or 0) if size.feature_row is None else size.feature_row
    features = size.items * row * feature_copies if size.route == "primal" else 0.0
    return int(size.items * size.row + features + size.encodings + OVERHEAD)
