"""Room: what a plan may use, what items take, and what is refused because it would not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from mercer.errors import PlanError, ValidityError
from mercer.memory import available, human
from mercer.plans.plan import OVERHEAD, Plan, Size

__all__ = ["item_bytes", "memory_of", "only_route", "require_room", "route_of"]


def route_of(request: Plan, size: Size, reasons: list[str]) -> Literal["dual", "primal"]:
    """Return whether coefficients are those of items or of features, and add the reason."""
    features = size.features
    if request.route == "primal" and features is None:
        raise ValidityError(
            "the primal route needs a kernel with finitely many features; use the dual route"
        )
    only = only_route(request, size, reasons)
    if only is not None:
        return only
    assert features is not None
    better: Literal["dual", "primal"] = "primal" if 2 * features < size.items else "dual"
    reasons.append(f"{better}, because there are {features} features for {size.items} items")
    return better


def only_route(request: Plan, size: Size, reasons: list[str]) -> Literal["dual", "primal"] | None:
    """Return the route where there is no choice, and add the reason."""
    if request.route == "dual" or request.route == "primal":
        reasons.append(f"the {request.route} route was asked for")
        return request.route
    if size.features is None:
        reasons.append("dual, because the kernel has no finite feature map")
        return "dual"
    return None


def memory_of(request: Plan) -> int | None:
    """Return the bytes that may be used."""
    return available() if request.memory is None else int(request.memory)


def item_bytes(size: Size, items: int, route: str, copies: int = 1) -> int:
    """Predict the bytes of the items, of their features, and of all that is small."""
    features = 8 * items * (size.features or 0) * copies if route == "primal" else 0
    return int(items * size.row + features + OVERHEAD)


def require_room(needed: Callable[[int], int], size: Size, memory: int | None) -> None:
    """Refuse work that would not fit, saying how many items would."""
    if memory is None or needed(size.items) <= memory:
        return
    low, high = 0, size.items  # the largest size that fits lies between
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needed(middle) <= memory else (low, middle)
    raise PlanError(
        f"a fit on {size.items} items needs {human(needed(size.items))}, but {human(memory)} are "
        f"available; about {low} items would fit; use fewer items, or more memory with "
        "Plan(memory=...)"
    )
