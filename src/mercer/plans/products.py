"""Plans for methods that multiply with the Gram matrix: spectra, Newton steps, networks.

Their routes are those of ridge: coefficients of items, with the n × n Gram matrix, or explicit
features where those are fewer. A few products can also be made with a matrix that is never stored.
"""

from __future__ import annotations

from mercer.errors import ValidityError, suggestion
from mercer.plans.approximations import Nystrom, Random
from mercer.plans.costs import FLOP, factor_seconds, product_seconds
from mercer.plans.plan import Decision, Plan, Size
from mercer.plans.ridge import ITERATIVE_FROM, LEAST_RANK, RANK
from mercer.plans.room import item_bytes, memory_of, require_room, route_of
from mercer.solvers.pivoted_cholesky import BLOCK_COLUMNS
from mercer.threads import cores

__all__ = ["plan_network", "plan_newton", "plan_spectrum"]

METHODS = ("auto", "dense", "partial", "randomized")
# Below this order LAPACK's full decomposition takes no time worth saving.
DENSE_UP_TO = 300
# With more than this share of all eigenvalues a full decomposition is as fast.
FEW = 0.1
# Vectors, for each that is multiplied at once: Lanczos' basis and what is beside it; the same
# where the matrix is not stored, and the threads of a product have sums of their own.
BASIS, BASIS_UNSTORED = 16, 25
# The same for Davidson's method, which keeps products with its basis too.
BASIS_DAVIDSON = 40
# More columns of its factor than this share of the items would take longer than they save.
SHARE_OF_COLUMNS = 0.02
BESIDE_FACTOR = 5  # blocks of its columns that lie beside it while it is made
# Products with the Gram matrix that are usual.
PRODUCTS = 13
PRODUCTS_DAVIDSON = 6


def plan_spectrum(request: Plan, size: Size, count: int | None, solver: str) -> Decision:
    """Decide how to find the largest eigenvalues of a Gram matrix.

    Parameters
    ----------
    request : Plan
        What the user has already decided.
    size : Size
    count : int or None
        Number of eigenvalues; None for all.
    solver : {"auto", "dense", "partial", "randomized"}

    Examples
    --------
    >>> plan = plan_spectrum(Plan(memory=10**9), Size(items=6000), 10, "auto")
    >>> plan.method, plan.stored
    ('partial', True)
    """
    if isinstance(request.approximate, Nystrom | Random):
        raise ValidityError(
            "a spectrum is exact to its certificate, and there is no approximate route; use "
            'approximate="never", or the components of fewer items'
        )
    reasons: list[str] = []
    route = route_of(request, size, reasons)
    order = size.items if route == "dual" else size.features or 0
    method = _method(solver, order, count, reasons)
    memory = memory_of(request)
    stored, rank = True, 0

    def needed(n: int) -> int:
        if not stored:
            return _unstored_bytes(size, n, count or 0, min(rank, n), method)
        m = n if route == "dual" else order
        vectors = 8 * n * (min(n, m) if count is None else count)
        if method == "dense":
            # The matrix and its vectors; then LAPACK's workspace, or products with the vectors.
            kept = 16 * m**2 if route == "dual" else 16 * m**2 + vectors
            return kept + max(16 * m**2, 3 * vectors) + item_bytes(size, n, route, copies=2)
        square = 8 * n**2 if route == "dual" else 0
        basis = 8 * n * BASIS * _width(count or 0, method)
        return square + max(basis + 3 * vectors, size.tiles) + item_bytes(size, n, route, copies=2)

    large = memory is not None and needed(size.items) > memory
    many = size.cheap and size.items >= ITERATIVE_FROM
    if (large or many) and route == "dual" and method != "dense":
        rank = _columns(request, size, count or 0, method, memory)
        stored = not (large or rank)
        why = "does not fit" if large else "would take longer to store"
        if not stored:
            reasons.append(f"the Gram matrix {why}, so its tiles are computed for each product")
        if rank:
            reasons.append(
                f"Davidson's method, of few products with the help of {rank} columns of the matrix"
            )
    require_room(needed, size, memory)
    ran = "eigen" if method == "dense" else "davidson" if rank else "lanczos"
    return Decision(
        route=route, solver=ran, precision="double", memory=memory, rank=rank or None,
        bytes=needed(size.items), reasons=tuple(reasons), method=method, stored=stored,
        seconds=_spectrum_seconds(size, route, method, stored, rank, count), request=request,
    )  # fmt: skip


def _width(count: int, method: str) -> int:
    """Return how many vectors the Lanczos iteration multiplies at once."""
    return max(count + (2 if method == "partial" else 10), 8)


def _columns(request: Plan, size: Size, count: int, method: str, memory: int | None) -> int:
    """Return how many columns of the Gram matrix are a good start: those that pay and fit."""
    n = size.items
    if request.rank is not None:
        return min(request.rank, n)
    useful = min(RANK, max(int(SHARE_OF_COLUMNS * n), LEAST_RANK), n)
    if memory is None:
        return useful
    room = memory - _unstored_bytes(size, n, count, 1, method)
    fits = int(room / (8 * n + 32 * useful))
    return min(fits, useful) if fits >= min(LEAST_RANK, n) else 0


def _unstored_bytes(size: Size, n: int, count: int, rank: int, method: str) -> int:
    """Predict the bytes of an iteration that computes the tiles for each product."""
    rest = item_bytes(size, n, "dual")
    if not rank:
        basis = 8 * n * (BASIS_UNSTORED * _width(count, method) + 3 * count)
        return rest + max(basis, size.tiles)
    factor = 8 * n * rank + 32 * rank**2
    made = 8 * n * BESIDE_FACTOR * min(BLOCK_COLUMNS, n)
    return rest + factor + size.tiles + max(8 * n * BASIS_DAVIDSON * (count + 2), made)


def _spectrum_seconds(
    size: Size, route: str, method: str, stored: bool, rank: int, count: int | None
) -> float:
    """Predict the time of a spectrum."""
    n, m = size.items, size.features or 0
    if route == "primal":
        return n * m * (2 * m if method == "dense" else 4.0 * PRODUCTS * (count or 0)) * FLOP
    width = _width(count or 0, method)
    if stored:
        filled = product_seconds(n**2 / 2, size.row)
        if method == "dense":
            return filled + 27 * factor_seconds(n)
        return filled + PRODUCTS * n**2 * (2 * width + 8) * FLOP / cores()
    products = PRODUCTS_DAVIDSON if rank else PRODUCTS
    made = product_seconds(n * rank, size.row) + 3 * n * rank**2 * FLOP
    return made + products * product_seconds(n**2 / 2, size.row, 2 * width)


def plan_newton(request: Plan, size: Size) -> Decision:
    """Decide how to minimize a smooth loss by Newton's method.

    Parameters
    ----------
    request : Plan
    size : Size
        Its targets are the functions that are learned at once.

    Examples
    --------
    >>> plan = plan_newton(Plan(memory=10**9), Size(items=2000))
    >>> plan.bytes // 10**6, plan.each
    (66, True)
    """
    reasons: list[str] = []
    route = route_of(request, size, reasons)
    reasons.append("Newton's method with conjugate gradients; a factor only if those are slow")
    memory = memory_of(request)
    matrices = 1 if size.targets == 1 else size.targets + 3

    def needed(n: int) -> int:
        square = 8 * n**2 + max(8 * n**2 * matrices, size.tiles)
        square = square if route == "dual" else 0
        return square + 8 * n * size.targets * 24 + item_bytes(size, n, route, copies=2)

    each = memory is None or needed(size.items) <= memory
    if not each:
        matrices = 1
        reasons.append("that factor is common to all classes, because one for each would not fit")
    require_room(needed, size, memory)
    return Decision(
        route, "newton", "double", memory, needed(size.items), tuple(reasons), each=each,
        request=request,
    )  # fmt: skip


def plan_network(
    request: Plan, size: Size, centers: int, search: bool = False, interpolate: bool = False
) -> Decision:
    """Decide how to fit the weights of a network of basis functions.

    Parameters
    ----------
    request : Plan
    size : Size
    centers : int
        Number of basis functions.
    search : bool
        Whether centers are selected from all items, which needs the n × n matrix.
    interpolate : bool
        Whether a symmetric system is solved in the place of least squares.

    Examples
    --------
    >>> plan_network(Plan(memory=10**9), Size(items=2000), centers=50).route
    'dual'
    """
    if request.route == "primal":
        raise ValidityError("a network has no primal route; its weights belong to its centers")
    reasons = [f"least squares for the weights of {centers} basis functions"]
    if interpolate:
        reasons = [f"exact interpolation of {size.items} items by a Cholesky factor"]
    memory = memory_of(request)

    def needed(n: int) -> int:
        m = min(centers, n)
        table = 8 * n**2 + size.tiles if interpolate else 8 * n * m + 24 * (n + m) * m
        table = max(table, 24 * n**2 if search else 0, 8 * n * m + size.tiles)
        return table + 8 * n * size.targets * 6 + item_bytes(size, n, "dual")

    require_room(needed, size, memory)
    solver = "cholesky" if interpolate else "least squares"
    return Decision(
        "dual", solver, "double", memory, needed(size.items), tuple(reasons), request=request
    )


def _method(solver: str, order: int, count: int | None, reasons: list[str]) -> str:
    if not isinstance(solver, str) or solver not in METHODS:
        raise ValidityError(f"solver cannot be {solver!r}{suggestion(str(solver), METHODS)}")
    if count is None and solver in ("partial", "randomized"):
        raise ValidityError(
            f"the {solver} solver needs to know n_components; give a number, or use "
            'solver="dense" for all components'
        )
    if solver != "auto":
        reasons.append(f"the {solver} solver was asked for")
        return solver
    if count is None or order <= DENSE_UP_TO or count > FEW * order:
        reasons.append("all eigenvalues by LAPACK, because many are asked for or there are few")
        return "dense"
    reasons.append(f"only the {count} largest eigenvalues, by an iteration with blocks of vectors")
    return "partial"
