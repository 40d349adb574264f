"""Plans: what would run, how many bytes it takes, and why.

A plan is made before any work starts. It never runs out of memory that it could have foreseen:
work that does not fit is refused with the size that would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from mercer.errors import PlanError, ValidityError, suggestion
from mercer.plans.memory import available, human

__all__ = ["Plan", "plan_ridge"]

Route = Literal["auto", "dual", "primal"]
Solver = Literal["auto", "cholesky", "eigen"]
Precision = Literal["auto", "mixed", "double"]

# From this size on a single-precision factor with refinement is faster than a double one.
MIXED_FROM = 1000
# LAPACK's packed format is addressed with n(n + 1), computed in 32 bits.
MIXED_UP_TO = 46_000
# Refinement converges while condition · 6e-8 is well below 1.
MIXED_CONDITION = 1e8
# What a fit needs besides its large arrays: tiles, threads, small vectors.
OVERHEAD = 8_000_000


@dataclass(frozen=True)
class Plan:
    """How a fit will run. Leave a choice at "auto" and the plan decides it.

    Parameters
    ----------
    route : {"auto", "dual", "primal"}
        Coefficients of the items (with the Gram matrix) or of explicit features.
    solver : {"auto", "cholesky", "eigen"}
    precision : {"auto", "mixed", "double"}
        Whether the Cholesky factor is in single precision, its answer refined to double.
    memory : int, optional
        Bytes that may be used; by default what the machine has free.

    Attributes
    ----------
    bytes : int or None
        Predicted peak, once decided.
    reasons : tuple of str
        Why each choice was made.

    Examples
    --------
    >>> plan = plan_ridge(
    ...     Plan(memory=10**9), items=1000, width=5, features=None, targets=1, bound=1e3
    ... )
    >>> plan.route, plan.solver
    ('dual', 'cholesky')
    """

    route: Route = "auto"
    solver: Solver = "auto"
    precision: Precision = "auto"
    memory: int | None = None
    bytes: int | None = None
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        choices = {
            "route": ("auto", "dual", "primal"),
            "solver": ("auto", "cholesky", "eigen"),
            "precision": ("auto", "mixed", "double"),
        }
        for name, allowed in choices.items():
            value = getattr(self, name)
            if value not in allowed:
                raise ValidityError(
                    f"{name} of a plan cannot be {value!r}{suggestion(value, allowed)}"
                )

    def explain(self) -> str:
        """Say in plain words what would run, how many bytes it takes and why."""
        if self.bytes is None:
            return "Nothing is decided yet: machine.plan(X) makes the plan for its data."
        first = f"Route {self.route}, solver {self.solver}, {self.precision} precision."
        memory = f"Needs about {human(self.bytes)}"
        memory += f" of {human(self.memory)} available." if self.memory is not None else "."
        return "\n".join([first, memory, *(f"- {reason}" for reason in self.reasons)])


def plan_ridge(
    request: Plan,
    items: int,
    width: int,
    features: int | None,
    targets: int,
    bound: float,
    repair: bool = False,
) -> Plan:
    """Decide how to solve a ridge problem.

    Parameters
    ----------
    request : Plan
        What the user has already decided.
    items, width, targets : int
        Sizes: n, the cost of one kernel evaluation, number of right-hand sides.
    features : int or None
        Number of explicit features, if there are finitely many.
    bound : float
        Upper bound of the condition number, (trace K + λ)/λ; infinite for λ = 0.
    repair : bool
        Whether the kernel is not valid and its spectrum must be repaired.
    """
    reasons: list[str] = []
    route = _route(request, items, width, features, bound, repair, reasons)
    order = items if route == "dual" else features or 0
    solver = _solver(request, repair, reasons)
    precision = _precision(request, solver, order, bound, reasons)
    memory = available() if request.memory is None else request.memory
    extra = 8 * items * (order if route == "primal" else 0) + 8 * items * (width + 6 * targets)
    needed = _matrix_bytes(order, solver, precision) + extra + OVERHEAD
    if precision == "mixed" and memory is not None and needed > memory:
        precision = "double"
        needed = _matrix_bytes(order, solver, precision) + extra + OVERHEAD
        reasons.append("a single-precision factor beside the matrix would not fit")
    if memory is not None and needed > memory:
        raise PlanError(_too_large(needed, memory, items, order, route, solver))
    return replace(
        request, route=route, solver=solver, precision=precision, memory=memory,
        bytes=int(needed), reasons=tuple(reasons),
    )  # fmt: skip


def _route(
    request: Plan, n: int, width: int, features: int | None, bound: float, repair: bool,
    reasons: list[str],
) -> Literal["dual", "primal"]:  # fmt: skip
    if request.route == "primal" and (features is None or math.isinf(bound) or repair):
        raise ValidityError(
            "the primal route needs a valid kernel with finitely many features and a positive "
            "penalty; use the dual route"
        )
    if request.route != "auto":
        reasons.append(f"the {request.route} route was asked for")
        return request.route
    if features is None or features > n**2:
        reasons.append("dual, because the kernel has no finite feature map, or too large a one")
        return "dual"
    if math.isinf(bound) or repair:
        reasons.append("dual, because interpolation and repair speak about the Gram matrix")
        return "dual"
    primal = n * features**2 + features**3 / 3
    dual = n**2 * width + n**3 / 3
    better: Literal["dual", "primal"] = "primal" if primal < dual else "dual"
    reasons.append(
        f"{better}, because {features} features and {n} items take {primal:.2g} operations in "
        f"the primal and {dual:.2g} in the dual"
    )
    return better


def _solver(request: Plan, repair: bool, reasons: list[str]) -> Literal["cholesky", "eigen"]:
    if repair:
        reasons.append("eigen, because the spectrum of an indefinite kernel is repaired")
        return "eigen"
    return "cholesky" if request.solver == "auto" else request.solver


def _precision(
    request: Plan, solver: str, order: int, bound: float, reasons: list[str]
) -> Literal["mixed", "double"]:
    if solver == "eigen":
        return "double"
    if request.precision != "auto":
        return request.precision
    if not MIXED_FROM <= order <= MIXED_UP_TO:
        return "double"
    if bound > MIXED_CONDITION:
        reasons.append(f"double, because the condition number may be {bound:.1e}")
        return "double"
    reasons.append("a single-precision factor, its answer refined to double accuracy, is faster")
    return "mixed"


def _matrix_bytes(order: int, solver: str, precision: str) -> int:
    """Return the bytes of the matrices: Gram, factor, workspace."""
    if solver == "eigen":
        return 32 * order**2  # the matrix, its vectors, and LAPACK's workspace of twice that
    packed = 2 * order * (order + 1) if precision == "mixed" else 0
    return 8 * order**2 + packed


def _too_large(needed: float, memory: int, n: int, order: int, route: str, solver: str) -> str:
    per_square = {"cholesky": 8, "eigen": 32}[solver]
    message = f"a fit on {n} items needs {human(needed)}, but {human(memory)} are available"
    if route == "dual":
        fits = int(math.sqrt(max(memory - OVERHEAD, 0) / per_square))
        message += f"; about {fits} items would fit"
    return message + "; use fewer items, or more memory with Plan(memory=...)"
