"""Methods that multiply with the Gram matrix: spectra, Newton steps, networks.

Their routes are those of ridge: coefficients of items, with the n × n Gram matrix, or explicit
features where those are fewer. A few products can also be made with a matrix that is never stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mercer.domains import Points
from mercer.errors import ValidityError, suggestion
from mercer.kernels import Kernel
from mercer.plans.approximations import Nystrom, Random
from mercer.plans.chooser import Candidate, choose, memory_of, on_gpu, place, route_of
from mercer.plans.plan import Decision, Plan
from mercer.solvers.cost import Size
from mercer.solvers.davidson import Davidson
from mercer.solvers.eigenpairs import DenseEigensolver
from mercer.solvers.iterative import MIN_ITEMS
from mercer.solvers.lanczos import Lanczos
from mercer.solvers.newton import Newton
from mercer.solvers.ridge.cholesky import Cholesky
from mercer.solvers.ridge.least_squares import LeastSquares

__all__ = ["choose_network", "choose_newton", "choose_spectrum", "decide_spectrum"]

METHODS = ("auto", "dense", "partial", "randomized")
MAX_DENSE_ORDER = 300  # below which LAPACK's full decomposition takes no time worth saving
MAX_PARTIAL_SHARE = 0.1  # of all eigenvalues, above which a full decomposition is as fast


def decide_spectrum(
    request: Plan, kernel: Kernel, points: Points, size: Size, count: int | None, solver: str
) -> Decision:
    """Decide how to find the largest eigenvalues of a Gram matrix, and where."""
    gpu = on_gpu(request, points)
    if gpu and request.solver == "auto" and count is not None:
        # There the matrix is computed faster than it is read.
        found = choose_spectrum(request, replace(size, cheap=True), count, solver)
        stored = found.method == "dense"
        return place(replace(found, stored=stored), not stored, kernel, points, double=True)
    return place(choose_spectrum(request, size, count, solver), False, kernel, points)


def choose_spectrum(request: Plan, size: Size, count: int | None, solver: str) -> Decision:
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
    >>> found = choose_spectrum(Plan(memory=10**9), Size(items=6000), 10, "auto")
    >>> found.method, found.stored
    ('partial', True)
    """
    if isinstance(request.approximate, Nystrom | Random):
        raise ValidityError(
            "a spectrum is exact to its certificate, and there is no approximate route; use "
            'approximate="never", or the components of fewer items'
        )
    route, why = route_of(request, size)
    size = replace(size, route=route, components=count)
    method, reason = _spectral_method(solver, size.order, count)
    return choose(request, tuple(_eigensolvers(request, size, method, (*why, reason))))


def _eigensolvers(
    request: Plan, size: Size, method: str, why: tuple[str, ...]
) -> Iterator[Candidate]:
    """Yield LAPACK, or iterations on a matrix that is stored where that is faster and fits."""
    if method == "dense":
        yield Candidate("eigen", DenseEigensolver(), size, why, fields={"method": method})
        return
    lanczos = Lanczos(passes=None if method == "partial" else 1)
    stored = Candidate("lanczos", lanczos, size, why, fields={"method": method})
    if size.route == "primal":
        yield stored
        return
    memory = memory_of(request)
    many = size.cheap and size.items >= MIN_ITEMS
    davidson = Davidson(passes=lanczos.passes)
    rank = davidson.rank_within(size, memory)
    rank = rank if request.rank is None else min(request.rank, size.items)
    fits = memory is None or stored.cost().bytes <= memory
    verdict = "would take longer to store" if fits else "does not fit"
    tiles = "so its tiles are computed for each product"
    unstored = {"method": method, "stored": False}
    by_columns = Candidate(
        "davidson", replace(davidson, rank=rank), size,
        (*why, f"the Gram matrix {verdict}, {tiles}",
         f"Davidson's method, of few products with the help of {rank} columns of the matrix"),
        fields=unstored | {"rank": rank},
    )  # fmt: skip
    yield from [by_columns, stored] if many and rank else [stored]
    if rank and not many:
        yield by_columns
    reason = f"the Gram matrix does not fit, {tiles}"
    yield Candidate("lanczos", lanczos, size, (*why, reason), "", unstored, {"stored": False})


def _spectral_method(solver: str, order: int, count: int | None) -> tuple[str, str]:
    """Return whether all eigenvalues are found or the largest only, and why."""
    if not isinstance(solver, str) or solver not in METHODS:
        known = suggestion(str(solver), METHODS)
        raise ValidityError(f"solver cannot be {solver!r}{known}")
    if count is None and solver in ("partial", "randomized"):
        raise ValidityError(
            f"the {solver} solver needs to know n_components; give a number, or use "
            'solver="dense" for all components'
        )
    if solver != "auto":
        return solver, f"the {solver} solver was asked for"
    if count is None or order <= MAX_DENSE_ORDER or count > MAX_PARTIAL_SHARE * order:
        return "dense", "all eigenvalues by LAPACK, because many are asked for or there are few"
    words = f"only the {count} largest eigenvalues, by an iteration with blocks of vectors"
    return "partial", words


def choose_newton(request: Plan, size: Size) -> Decision:
    """Decide how to minimize a smooth loss by Newton's method.

    Parameters
    ----------
    request : Plan
    size : Size
        Its targets are the functions that are learned at once.

    Examples
    --------
    >>> found = choose_newton(Plan(memory=10**9), Size(items=2000))
    >>> found.bytes // 10**6, found.each
    (66, True)
    """
    route, why = route_of(request, size)
    why = (*why, "Newton's method with conjugate gradients; a factor only if those are slow")
    common = "that factor is common to all classes, because one for each would not fit"
    size = replace(size, route=route)
    return choose(request, [
        Candidate("newton", Newton(each=True), size, why),
        Candidate("newton", Newton(each=False), size, why, common, {"each": False}),
    ])  # fmt: skip


def choose_network(
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
    >>> choose_network(Plan(memory=10**9), Size(items=2000), centers=50).route
    'dual'
    """
    if request.route == "primal":
        raise ValidityError("a network has no primal route; its weights belong to its centers")
    size = replace(size, functions=centers)
    words = f"least squares for the weights of {centers} basis functions"
    by_factor = f"exact interpolation of {size.items} items by a Cholesky factor"
    if interpolate:
        return choose(request, [Candidate("cholesky", Cholesky("double"), size, (by_factor,))])
    searched = {"searched": search}
    found = Candidate("least squares", LeastSquares(), size, (words,), options=searched)
    return choose(request, [found])
