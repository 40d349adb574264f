"""Plans for support vector machines: a stored Gram matrix, or rows as they are needed."""

from __future__ import annotations

from typing import Literal

from mercer.plans.plan import Decision, Plan, Size
from mercer.plans.room import item_bytes, memory_of, require_room, route_of

__all__ = ["plan_margin"]

# A matrix of so few items is stored whatever else is true.
SMALL = 6000
# Working sets: an eighth of the items, but not fewer or more than this.
WORKING = (1024, 4096)
FEWEST = 128  # ... unless memory is very small
# Rows of free variables that are kept take no more than this, and no more than a quarter of what
# is free. More was slower: memory that is touched for the first time costs more than arithmetic.
KEPT = 256_000_000
# Explicit features are used where there are at least so many items for each.
ITEMS_A_FEATURE = 8


def plan_margin(request: Plan, size: Size, problems: int, cheap: bool, single: bool) -> Decision:
    """Decide how to train a support vector machine.

    Parameters
    ----------
    request : Plan
        What the user has already decided.
    size : Size
    problems : int
        Number of quadratic programs on the same items: pairs of classes, or classes.
    cheap : bool
        Whether computing a similarity again costs little more than looking it up.
    single : bool
        Whether single precision is enough for similarities that are stored.

    Examples
    --------
    >>> plan = plan_margin(Plan(memory=10**9), Size(items=50_000), 1, cheap=True, single=True)
    >>> plan.stored, plan.working
    (False, 4096)
    """
    reasons: list[str] = []
    n, m = size.items, size.features
    route: Literal["dual", "primal"] = "dual"
    if request.route != "auto" or (m is not None and n > SMALL and m * ITEMS_A_FEATURE < n):
        route = route_of(request, size, reasons)
    single = single and request.precision != "double"
    bytes_each = 4 if single else 8
    memory = memory_of(request)
    spare = float("inf") if memory is None else memory
    working = min(n, max(WORKING[0], min(n // 8, WORKING[1])))
    whole = bytes_each * n**2 + size.tiles + item_bytes(size, n, "dual", copies=2)
    stored, kept = True, 0
    if route == "primal":
        stored = False
        reasons.append(f"{m} features are cheaper than similarities of {n} items")
    elif n <= SMALL and whole <= spare:
        reasons.append("the whole Gram matrix, because it is small")
    elif (problems > 1 or not cheap) and whole <= spare:
        why = f"{problems} problems share it" if problems > 1 else "similarities are expensive"
        reasons.append(f"the whole Gram matrix, because it fits and {why}")
    else:
        stored = False
        why = "rows are cheap to compute again" if whole <= spare else "it does not fit"
        reasons.append(f"rows as they are needed, not the whole Gram matrix: {why}")
        if not cheap:
            kept = min(n, int(min(KEPT, spare / 4) / (bytes_each * n)))

    def needed(count: int) -> int:
        if stored:
            return bytes_each * count**2 + size.tiles + item_bytes(size, count, "dual", copies=2)
        block = bytes_each * min(count, largest) ** 2
        rows = bytes_each * count * min(kept, count)
        return block + rows + size.tiles + 200 * count + item_bytes(size, count, route, copies=2)

    largest = max(working, WORKING[1])
    if memory is not None and needed(n) > memory:
        kept = 0  # these are a convenience
    while memory is not None and needed(n) > memory and largest > FEWEST and not stored:
        largest //= 2
    working = min(working, largest)
    require_room(needed, size, memory)
    return Decision(
        route=route, solver="smo", precision="mixed" if single else "double", memory=memory,
        bytes=needed(n), reasons=tuple(reasons), stored=stored, working=working, largest=largest,
        kept=kept, request=request,
    )  # fmt: skip
