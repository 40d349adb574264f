"""Plans for ridge regression: which route, which solver, how many bytes and seconds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from mercer.errors import PlanError, ValidityError
from mercer.memory import human
from mercer.plans.approximations import Nystrom, Random
from mercer.plans.costs import factor_seconds, product_seconds, spoken
from mercer.plans.plan import OVERHEAD, Decision, Plan, Size
from mercer.plans.room import memory_of, only_route
from mercer.plans.sketches import enough_centers, plan_sketch
from mercer.solvers.cholesky import MAX_PACKED_ORDER
from mercer.solvers.pivoted_cholesky import BLOCK_COLUMNS

__all__ = ["plan_ridge"]

# From this size on a single-precision factor with refinement is faster than a double one.
MIXED_FROM = 1000
# Refinement converges, by a factor or by steps, while condition · 6e-8 is well below 1.
MIXED_CONDITION = 1e8
# From this size on, products with a matrix that is never stored are usually faster than a factor.
ITERATIVE_FROM = 10_000
RANK = 1000  # columns of the preconditioner of such products, at most
LEAST_RANK = 64
DIGITS = 1e-9  # relative residual of an exact answer by steps
EXPECTED = 15  # steps that conjugate gradients take, where they are worth it
SINGLE = 0.45  # time of a product in single precision, beside one in double


def plan_ridge(
    request: Plan, size: Size, bound: float, repair: bool = False, steps: bool = True
) -> Decision:
    """Decide how to solve a ridge problem.

    Parameters
    ----------
    request : Plan
        What the user has already decided.
    size : Size
    bound : float
        Upper bound of the condition number, (trace K + λ)/λ; infinite for λ = 0.
    repair : bool
        Whether the kernel is not valid and its spectrum must be repaired.
    steps : bool
        Whether a solution alone is enough, which steps can find, and no factor is asked for later.

    Examples
    --------
    >>> plan = plan_ridge(Plan(memory=10**9), Size(items=1000), bound=1e3)
    >>> plan.route, plan.solver
    ('dual', 'cholesky')
    """
    sketchable = steps and not repair and not math.isinf(bound)
    asked = isinstance(request.approximate, Nystrom | Random)
    if asked and not sketchable:
        raise ValidityError(
            "an approximation needs a valid kernel, a positive penalty and a machine that "
            'predicts no variances; use approximate="never"'
        )
    if asked:
        return plan_sketch(request, request.approximate, size, ())
    undecided = request.approximate == "auto" and request.route == request.solver == "auto"
    try:
        exact = _exact(request, size, bound, repair, steps)
    except PlanError as error:
        if not (undecided and sketchable):
            raise
        why = f"approximate, because exactly {str(error).split(';')[0]}"
        found = _smaller(request, size, why)
        if found is None:
            raise  # it says what would fit
        return found
    else:
        seconds = exact.seconds or 0.0
        if not (undecided and sketchable) or seconds <= request.patience:
            return exact
        why = (
            f"approximate, because an exact answer would take about {spoken(seconds)}, which is "
            f"more than the patience of {spoken(request.patience)}"
        )
    return plan_sketch(request, Nystrom(enough_centers(size.items)), size, (why,))


def _smaller(request: Plan, size: Size, why: str) -> Decision | None:
    """Return the plan of an approximation that fits, if there is one."""
    count = enough_centers(size.items)
    while count >= LEAST_RANK:
        try:
            return plan_sketch(request, Nystrom(count), size, (why,))
        except PlanError:
            count //= 2
    return None


def _exact(request: Plan, size: Size, bound: float, repair: bool, steps: bool) -> Decision:
    """Return the plan of an exact answer."""
    reasons: list[str] = []
    route = _route(request, size, bound, repair, reasons)
    memory = memory_of(request)
    possible = steps and route == "dual" and not repair and not math.isinf(bound)
    solver = _solver(request, size, possible, bound, repair, memory, reasons)
    order = size.items if route == "dual" else size.features or 0
    precision = _precision(request, solver, order, bound, size.cheap, reasons)
    rank = _rank(request, size, memory, precision) if solver == "iterative" else request.rank
    needed = _bytes(size, route, solver, precision, rank)
    direct = (
        solver == "iterative"
        and request.solver == "auto"
        and (memory is None or _bytes(size, route, "cholesky", precision) <= memory)
    )
    if precision == "mixed" and memory is not None and needed > memory:
        precision = "double"
        needed = _bytes(size, route, solver, precision, rank)
        reasons.append("what single precision needs beside that would not fit")
    if memory is not None and needed > memory:
        raise PlanError(_too_large(size, route, solver, needed, memory))
    return Decision(
        route=route, solver=solver, precision=precision, memory=memory, bytes=needed,
        reasons=tuple(reasons), rank=rank, direct=direct, approximate=request.approximate,
        request=request,
        seconds=_seconds(size, route, solver, precision, rank, request.tol),
    )  # fmt: skip


def _seconds(
    size: Size, route: str, solver: str, precision: str, rank: int | None, tol: float | None
) -> float:
    """Predict the time: similarities or features, a factor or steps."""
    n, t = size.items, size.targets
    if route == "primal":
        m = size.features or 0
        return n * m**2 / 40e9 + factor_seconds(m)
    if solver == "iterative":
        rank = rank or RANK
        once = product_seconds(n * rank, size.row) + n * rank**2 / 20e9
        steps = EXPECTED * math.log(tol or DIGITS) / math.log(DIGITS)
        each = product_seconds(n**2 / 2, size.row, 2 * t)
        # In single precision there are a few more steps, and a product in double ends each round.
        return once + each * (2 + SINGLE * 1.15 * steps if precision == "mixed" else steps)
    filled = product_seconds(n**2 / 2, size.row)
    if solver == "eigen":
        return filled + 27 * factor_seconds(n)
    return filled + factor_seconds(n, precision == "mixed")


def _route(
    request: Plan, size: Size, bound: float, repair: bool, reasons: list[str]
) -> Literal["dual", "primal"]:
    n, m = size.items, size.features
    if request.route == "primal" and (m is None or math.isinf(bound) or repair):
        raise ValidityError(
            "the primal route needs a valid kernel with finitely many features and a positive "
            "penalty; use the dual route"
        )
    only = only_route(request, size, reasons)
    if only is not None:
        return only
    assert m is not None
    if math.isinf(bound) or repair:
        reasons.append("dual, because interpolation and repair speak about the Gram matrix")
        return "dual"
    if m > n**2:
        count = str(m) if m < 10**9 else "more than a billion"
        reasons.append(f"dual, because there are {count} features and only {n} items")
        return "dual"
    primal = n * m**2 + m**3 / 3
    dual = n**2 * size.row / 8 + n**3 / 3
    better: Literal["dual", "primal"] = "primal" if primal < dual else "dual"
    reasons.append(
        f"{better}, because {m} features and {n} items take {primal:.2g} operations in the "
        f"primal and {dual:.2g} in the dual"
    )
    return better


def _solver(
    request: Plan,
    size: Size,
    possible: bool,
    bound: float,
    repair: bool,
    memory: int | None,
    reasons: list[str],
) -> Literal["cholesky", "eigen", "iterative"]:
    if request.solver == "iterative" and not possible:
        raise ValidityError(
            "the iterative solver needs the dual route, a valid kernel, a positive penalty and a "
            'machine that predicts no variances; use solver="cholesky"'
        )
    if repair:
        reasons.append("eigen, because the spectrum of an indefinite kernel is repaired")
        return "eigen"
    if request.solver != "auto":
        return request.solver
    dense = _bytes(size, "dual", "cholesky", "double")
    smaller = _bytes(size, "dual", "iterative", "double", LEAST_RANK) < dense
    if possible and smaller and memory is not None and dense > memory:
        reasons.append("iterative, because the Gram matrix would not fit")
        return "iterative"
    many = size.items >= ITERATIVE_FROM and size.cheap
    if possible and many and bound <= MIXED_CONDITION:
        reasons.append(
            f"iterative, because for {size.items} items a few dozen products with the Gram matrix "
            "are faster than a factor; if the preconditioner foresees more, the factor is taken"
        )
        return "iterative"
    return "cholesky"


def _precision(
    request: Plan, solver: str, order: int, bound: float, cheap: bool, reasons: list[str]
) -> Literal["mixed", "double"]:
    if solver == "eigen" or (solver == "iterative" and not cheap):
        return "double"
    if request.precision != "auto":
        return request.precision
    if solver == "cholesky" and not MIXED_FROM <= order <= MAX_PACKED_ORDER:
        return "double"
    if bound > MIXED_CONDITION:
        reasons.append(f"double, because the condition number may be {bound:.1e}")
        return "double"
    if solver == "iterative":
        reasons.append(
            "the products of the steps in single precision, residuals in double, are faster"
        )
    else:
        reasons.append(
            "a single-precision factor, its answer refined to double accuracy, is faster"
        )
    return "mixed"


def _rank(request: Plan, size: Size, memory: int | None, precision: str) -> int:
    """Return how many columns the preconditioner has: as many as are useful and fit."""
    if request.rank is not None:
        return min(request.rank, size.items)
    if memory is None:
        return min(RANK, size.items)
    without = _bytes(size, "dual", "iterative", precision, 0)
    fits = (memory - without) // (8 * size.items * (2 if size.weighted else 1) + 16 * RANK)
    return min(max(int(fits), LEAST_RANK), RANK, size.items)


def _bytes(size: Size, route: str, solver: str, precision: str, rank: int | None = None) -> int:
    """Predict the peak: matrix, factor and workspace, features, items, right-hand sides, tiles."""
    n = size.items
    order = n if route == "dual" else size.features or 0
    if solver == "iterative":
        rank = min(n, RANK) if rank is None else rank
        # The preconditioner, scaled by the weights once more, and a block of rows for it; then
        # solutions, residuals and directions of all right-hand sides.
        factor = 8 * n * rank * (2 if size.weighted else 1) + 16 * rank**2 + 16 * n * BLOCK_COLUMNS
        rounded = n * size.row if precision == "mixed" else 0  # half of it in two encodings
        rest = n * (size.row + 112 * size.targets) + OVERHEAD
        return int(factor + size.tiles + rounded + rest)
    if solver == "eigen":
        solving = 24 * order**2  # the vectors, and LAPACK's workspace of twice that
    else:
        solving = 2 * order * (order + 1) if precision == "mixed" else 0
    # The matrix is filled first, tile by tile; only then comes the factor.
    beside = max(solving, size.tiles if route == "dual" else 0)
    features = 8 * n * order * (2 if size.weighted else 1) if route == "primal" else 0
    rest = n * (size.row + 48 * size.targets) + OVERHEAD
    return int(8 * order**2 + beside + features + rest)


def _too_large(size: Size, route: str, solver: str, needed: int, memory: int) -> str:
    message = (
        f"a fit on {size.items} items needs {human(needed)}, but {human(memory)} are available"
    )
    if route == "primal":
        return f"{message}; there are {size.features} features: use fewer, or the dual route"
    low, high = 0, size.items  # the largest size that fits lies between
    while high - low > 1:
        middle = (low + high) // 2
        some = replace(size, items=middle)
        fits = _bytes(some, route, solver, "double", min(LEAST_RANK, middle)) <= memory
        low, high = (middle, high) if fits else (low, middle)
    return (
        f"{message}; about {low} items would fit; use fewer items, or more memory with "
        "Plan(memory=...)"
    )
