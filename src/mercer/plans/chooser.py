"""The chooser: of all that could run, the first that fits.

Each way to an answer is a `Candidate`: a solver with its parameters, which declares what it needs
and what it costs (`mercer.solvers.cost`), and why it comes where it comes. Candidates are listed
in the order of preference by the machines' families, `mercer.plans.ridge` and others; here they
are compared with the memory that there is. If none fits, the refusal is about the last one, which
needs least.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from mercer.errors import PlanError, ValidityError
from mercer.memory import available, human
from mercer.plans.plan import Decision, Plan
from mercer.solvers.cost import Cost, Size

__all__ = ["Candidate", "choose", "memory_of", "only_route", "route_of"]

Route = Literal["dual", "primal"]


@dataclass(frozen=True)
class Candidate:
    """One way to an answer.

    Attributes
    ----------
    name : str
        As the decision calls the solver.
    solver : Costed
        With its parameters.
    size : Size
        Of the problem as this way sees it: its route, its functions.
    reasons : tuple of str
        Why it is preferred to those that come after it.
    instead : str
        Why it is taken, if one before it does not fit.
    fields : dict
        Of the decision, beside those that follow from the others.
    options : dict
        Of the solver's `cost`.
    """

    name: str
    solver: Any
    size: Size
    reasons: tuple[str, ...] = ()
    instead: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def cost(self, items: int | None = None) -> Cost:
        """Return bytes and seconds, for all items or for another number of them."""
        size = self.size if items is None else replace(self.size, items=items)
        return self.solver.cost(size, **self.options)

    def decide(self, request: Plan, memory: int | None, gave_way: bool) -> Decision:
        """Return the decision for this candidate."""
        cost = self.cost()
        reasons = (*self.reasons, self.instead) if gave_way and self.instead else self.reasons
        known: dict[str, Any] = {"route": self.size.route, "precision": "double"}
        known |= {"seconds": cost.seconds, "request": request} | self.fields
        return Decision(
            solver=self.name, memory=memory, bytes=cost.bytes, reasons=reasons, **known
        )


def choose(request: Plan, candidates: Iterable[Candidate]) -> Decision:
    """Return the decision for the first candidate that fits, or raise `PlanError`."""
    memory, gave_way = memory_of(request), False
    for candidate in candidates:
        if memory is None or candidate.cost().bytes <= memory:
            return candidate.decide(request, memory, gave_way)
        gave_way = True
    assert memory is not None
    raise PlanError(_refusal(candidate, memory))


def memory_of(request: Plan) -> int | None:
    """Return the bytes that may be used, if anybody knows."""
    return available() if request.memory is None else int(request.memory)


def _refusal(candidate: Candidate, memory: int) -> str:
    """Say what would be needed, and how much less would fit."""
    size, needed = candidate.size, candidate.cost().bytes
    there = f"needs {human(needed)}, but {human(memory)} are available"
    more = "or more memory with Plan(memory=...)"
    if candidate.fields.get("route") in ("nystrom", "random"):
        what = f"a fit with {size.functions} functions on {size.items} items"
        return f"{what} {there}; use fewer, {more}"
    low, high = 0, size.items  # the largest size that fits lies between
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if candidate.cost(middle).bytes <= memory else (low, middle)
    what = f"a fit on {size.items} items {there}"
    if not low and size.route == "primal" and size.order > size.items:
        return f"{what}; there are {size.features} features: use fewer, or the dual route"
    return f"{what}; about {low} items would fit; use fewer items, {more}"


def only_route(request: Plan, size: Size) -> tuple[Route, tuple[str, ...]] | None:
    """Return the route where there is no choice, and why."""
    if request.route == "dual" or request.route == "primal":
        return request.route, (f"the {request.route} route was asked for",)
    if size.features is None:
        return "dual", ("dual, because the kernel has no finite feature map",)
    return None


def route_of(request: Plan, size: Size) -> tuple[Route, tuple[str, ...]]:
    """Return the route of fewer numbers, and why."""
    if request.route == "primal" and size.features is None:
        raise ValidityError(
            "the primal route needs a kernel with finitely many features; use the dual route"
        )
    only = only_route(request, size)
    if only is not None:
        return only
    assert size.features is not None
    better: Route = "primal" if 2 * size.features < size.items else "dual"
    return better, (
        f"{better}, because there are {size.features} features for {size.items} items",
    )
