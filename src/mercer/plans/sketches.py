"""Plans for sketches: how many functions, added up or by steps, in how many bytes and seconds."""

from __future__ import annotations

import math

from mercer.errors import PlanError
from mercer.gram.sketch import MIN_STRIPE_ROWS, MOMENT_ROWS, STRIPE_ENTRIES, moment_sums
from mercer.memory import human
from mercer.plans.approximations import Nystrom, Random
from mercer.plans.costs import FLOP, factor_seconds, product_seconds
from mercer.plans.plan import OVERHEAD, Decision, Plan, Size
from mercer.plans.room import memory_of
from mercer.solvers.sketched_ridge import MAX_SAMPLED_FUNCTIONS, SAMPLED_ITEMS
from mercer.threads import cores

__all__ = ["enough_centers", "plan_approximate", "plan_sketch"]

FEWEST, MOST = 1000, 10_000  # centers that are taken where nobody says how many
PASSES = 15  # that steps take
CANDIDATES = 20_000  # items among which pivots and clusters are looked for
JUDGES = 2000  # items from which the exact answer is learned too, for a comparison
WITNESSES = 1000  # ... and other items on which both are compared


def enough_centers(items: int) -> int:
    """Return how many centers are taken where nobody says: twice the root of the items.

    With the root, up to a logarithm, Nyström ridge regression learns as fast as the exact one does
    in the worst case (Rudi, Camoriano & Rosasco, 2015).

    Examples
    --------
    >>> enough_centers(1_000_000), enough_centers(1000)
    (2000, 1000)
    """
    return min(max(2 * math.isqrt(items), FEWEST), MOST, items)


def plan_sketch(
    request: Plan,
    how: Nystrom | Random,
    size: Size,
    reasons: tuple[str, ...] = (),
    passes: int = 1,
    whole: bool = False,
) -> Decision:
    """Decide how to learn with the functions of a sketch.

    Parameters
    ----------
    request : Plan
    how : Nystrom or Random
    size : Size
    reasons : tuple of str
        Why the answer is approximate.
    passes : int
        How often the system of the functions is added up.
    whole : bool
        Whether the system itself is needed, so that steps will not do.

    Examples
    --------
    >>> plan = plan_sketch(Plan(memory=10**9), Nystrom(100), Size(items=10**6, row=80.0))
    >>> plan.route, plan.direct
    ('nystrom', True)
    """
    nystrom = isinstance(how, Nystrom)
    chosen = isinstance(how, Nystrom) and not how.given
    M = min(how.count, size.items) if chosen else how.count
    memory = memory_of(request)
    by_steps = _seconds(size, M, direct=False, passes=passes)
    added_up = _seconds(size, M, direct=True, passes=passes)
    direct = whole or added_up <= by_steps
    why = [*reasons, how.describe(M)]
    if direct and not whole and memory is not None and sketch_bytes(size, M, True) > memory:
        direct = False
    why.append(
        f"the system of {M} functions is added up in one pass over the items"
        if direct
        else f"{M} functions by conjugate gradients, with one pass over the items for each step"
    )
    seconds = added_up if direct else by_steps
    if passes > 1:  # Newton's method, whose steps take some eight passes each
        seconds = 8 * passes * product_seconds(size.items * M, size.row, 2 * size.targets)
        seconds += 30 * factor_seconds(M)
    needed = sketch_bytes(size, M, direct)
    if memory is not None and needed > memory:
        raise PlanError(
            f"a fit with {M} functions on {size.items} items needs {human(needed)}, but "
            f"{human(memory)} are available; use fewer, or more memory with Plan(memory=...)"
        )
    return Decision(
        "nystrom" if nystrom else "random", "eigen" if direct else "iterative", "double",
        memory, needed, tuple(why), M, direct, how, seconds=seconds, request=request,
    )  # fmt: skip


def plan_approximate(request: Plan, size: Size, passes: int = 1, whole: bool = False) -> Decision:
    """Decide how to learn approximately: items that are read in passes, or too many of them.

    Examples
    --------
    >>> plan_approximate(Plan(memory=10**9), Size(items=10**6, row=80.0, piece=10**7)).rank
    2000
    """
    streamed = size.piece is not None
    if streamed and (request.approximate == "never" or request.route in ("dual", "primal")):
        raise PlanError(
            "items that are read in passes are not kept, so that an exact answer cannot be had; "
            "use Plan(approximate=Nystrom(...)), or read them into memory"
        )
    how, why = request.approximate, ""
    if streamed:
        why = "approximate, because the items are read in passes"
    elif how == "auto":
        why = f"approximate, because the Gram matrix of {size.items} items would not fit"
    how = Nystrom(enough_centers(size.items)) if how == "auto" else how
    return plan_sketch(request, how, size, (why,) if why else (), passes, whole)


def sketch_bytes(size: Size, count: int, direct: bool) -> int:
    """Predict the peak: sums, the small system, stripes of each thread, items and targets."""
    M, n = count, size.items
    if direct:
        sums = 8 * M**2 * moment_sums(M)
        threads = 8 * cores() * MOMENT_ROWS * M + 24 * M**2  # stripes; both triangles in the end
        system = max(sums + threads, 8 * 9 * M**2)  # then decompositions, with their workspace
    else:
        sample = 8 * min(n, _sampled(M)) * M
        system = 8 * 3 * M**2 + 2 * sample + 8 * cores() * max(STRIPE_ENTRIES, MIN_STRIPE_ROWS * M)
    judges, witnesses = min(n, JUDGES), min(n, WITNESSES)
    judging = 3 * M**2 + size.judging * judges**2 + (2 * judges + witnesses) * M
    system = max(system, 8 * judging)
    items = n * size.row if size.piece is None else 3 * size.piece
    items += min(n, CANDIDATES) * size.row if n > CANDIDATES else 0
    targets = 8 * n * (3 * size.targets + 2)
    return int(system + items + targets + size.tiles + OVERHEAD)


def _seconds(size: Size, count: int, direct: bool, passes: int = 1) -> float:
    n, M, t = size.items, count, size.targets
    one = product_seconds(n * M, size.row, 2 * t)
    judging = 2 * factor_seconds(min(n, JUDGES)) + product_seconds(JUDGES * M, size.row)
    if direct:
        # The system is half a matrix product, and one more pass has its residual.
        adding = passes * (n * M**2 * FLOP / cores() + one)
        return adding + one + 30 * factor_seconds(M) + judging
    sample = 2 * min(n, _sampled(M)) * M**2 * FLOP / cores()
    return PASSES * passes * one + sample + 3 * factor_seconds(M) + judging


def _sampled(count: int) -> int:
    """Return how many items a preconditioner's sample has."""
    return SAMPLED_ITEMS * count if count <= MAX_SAMPLED_FUNCTIONS else count
