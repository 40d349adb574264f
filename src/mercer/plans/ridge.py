"""Ridge regression: a factor, a decomposition, steps or a sketch, in the order of preference.

What each of them needs and costs is declared beside its algorithm. Here is only what they are
preferred for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from mercer.domains import Points
from mercer.errors import PlanError, ValidityError
from mercer.gram import engine_named
from mercer.gram.single_precision import allows_single
from mercer.kernels import Kernel
from mercer.plans.approximations import Nystrom, Random
from mercer.plans.chooser import Candidate, choose, memory_of, on_gpu, only_route, place
from mercer.plans.plan import Decision, Plan, format_seconds
from mercer.solvers.cost import Size
from mercer.solvers.iterative import MIN_ITEMS, MIN_RANK, Iterative
from mercer.solvers.ridge.cholesky import (
    MAX_PACKED_ORDER,
    MAX_REFINED_CONDITION,
    MIN_MIXED_ORDER,
    Cholesky,
)
from mercer.solvers.ridge.eigen import Eigen
from mercer.solvers.ridge.primal import Primal
from mercer.solvers.ridge.solver import Solver
from mercer.solvers.sketched_newton import EXPECTED_STEPS, SketchedNewton
from mercer.solvers.sketched_ridge import SketchedRidge

__all__ = [
    "choose_approximation",
    "choose_ridge",
    "choose_sketch",
    "decide_ridge",
    "decide_sketch",
    "enough_centers",
    "solver_for",
]  # fmt: skip

GPU_SPEED = 100.0  # of a GPU, beside that of a few cores, about

MIN_CENTERS, MAX_CENTERS = 1000, 10_000  # that are taken where nobody says how many


def decide_ridge(request: Plan, kernel: Kernel, points: Points, size: Size) -> Decision:
    """Decide how to solve a ridge problem, and where: on a CPU as `choose_ridge` says.

    Of the size, `condition`, `definite` and `solution_only` count as well.
    """
    if not size.definite or not on_gpu(request, points):
        found = choose_ridge(request, size)
        mixed = found.solver == "iterative" and found.precision == "mixed"
        if mixed and not allows_single(kernel, points):
            found = choose_ridge(request, replace(size, single=False))
        return place(found, False, kernel, points)
    patient = replace(request, patience=GPU_SPEED * request.patience)
    found = choose_ridge(patient, size)
    exact = found.route == "dual"
    if exact and (found.solver == "iterative" or size.solution_only):
        fits = fits_on_gpu(size.items)
        solver, fit = ("cholesky", "fits") if fits else ("iterative", "does not fit")
        why = f"{solver}, because the Gram matrix {fit} into the memory of the GPU"
        reasons = (found.reasons[0], why)  # after that of the route they are about the CPU
        found = replace(found, solver=solver, precision="double", reasons=reasons)
    double = exact or request.precision == "double"
    return replace(place(found, True, kernel, points, double), request=request)


def fits_on_gpu(items: int) -> bool:
    """Tell whether the Gram matrix fits into the memory of the GPU, in double precision."""
    return 8.5 * items**2 <= (engine_named("cuda").free_bytes() or 0)


def decide_sketch(
    request: Plan,
    kernel: Kernel,
    sample: Points,
    size: Size,
    newton: bool = False,
    whole: bool = False,
) -> Decision:
    """Decide how to learn approximately, and where; `sample` are some of the items."""
    gpu = on_gpu(request, sample)
    found = choose_approximation(request, size, newton, whole)
    # Newton's method asks for more digits than one system does.
    double = request.precision == "double" or newton
    return place(found, gpu, kernel, sample, double, size.items, newton)


def solver_for(decision: Decision, indefinite: str = "error") -> Solver:
    """Return the solver of a ridge system that was decided on."""
    precision: Any = decision.precision
    if decision.device == "cuda" and decision.solver == "cholesky" and decision.route == "dual":
        from mercer.solvers.device_cholesky import DeviceCholesky

        return DeviceCholesky()
    if decision.solver == "iterative":
        direct = Cholesky(precision) if decision.direct else None
        tol, mixed = decision.tol or Iterative.tol, precision == "mixed"
        return Iterative(decision.rank or Iterative.rank, tol, direct=direct, mixed=mixed)
    policy: Any = indefinite
    solver = Eigen(policy) if decision.solver == "eigen" else Cholesky(precision)
    return Primal(solver) if decision.route == "primal" else solver


def choose_ridge(request: Plan, size: Size) -> Decision:
    """Choose how to solve a ridge problem, from its size alone.

    Parameters
    ----------
    request : Plan
        What the user has already decided.
    size : Size

    Examples
    --------
    >>> decision = choose_ridge(Plan(memory=10**9), Size(items=1000, condition=1e3))
    >>> decision.route, decision.solver
    ('dual', 'cholesky')
    """
    sketchable, asked = SketchedRidge.requires.met(size), request.approximate
    if isinstance(asked, Nystrom | Random):
        if not sketchable:
            raise ValidityError(
                "an approximation needs a valid kernel, a positive penalty and a machine that "
                'predicts no variances; use approximate="never"'
            )
        return choose_sketch(request, asked, size)
    free = sketchable and asked == request.route == request.solver == "auto"
    try:
        exact = choose(request, tuple(_exact(request, size)))
    except PlanError as error:
        why = f"approximate, because exactly {str(error).split(';')[0]}"
        found = _smaller_sketch(request, size, why) if free else None
        if found is None:
            raise  # it says what would fit
        return found
    seconds = exact.seconds or 0.0
    if not free or seconds <= request.patience:
        return exact
    why = (
        f"approximate, because an exact answer would take about {format_seconds(seconds)}, "
        f"which is more than the patience of {format_seconds(request.patience)}"
    )
    return choose_sketch(request, Nystrom(enough_centers(size.items)), size, (why,))


def _smaller_sketch(request: Plan, size: Size, why: str) -> Decision | None:
    """Return the decision for an approximation that fits, if there is one."""
    count = enough_centers(size.items)
    while count >= MIN_RANK:
        try:
            return choose_sketch(request, Nystrom(count), size, (why,))
        except PlanError:
            count //= 2
    return None


def _exact(request: Plan, size: Size) -> Iterator[Candidate]:
    """Yield the exact ways: by a factor, a decomposition or steps, on either route."""
    route, why = _ridge_route(request, size)
    size = replace(size, route=route)
    possible = Iterative.requires.met(size)
    if request.solver == "iterative" and not possible:
        raise ValidityError(
            "the iterative solver needs the dual route, a valid kernel, a positive penalty and a "
            'machine that predicts no variances; use solver="cholesky"'
        )
    if not size.definite:
        why = (*why, "eigen, because the spectrum of an indefinite kernel is repaired")
    memory, needed = memory_of(request), Cholesky().cost(size).bytes
    fits = memory is None or needed <= memory
    smaller = Iterative(MIN_RANK).cost(size).bytes < needed
    many = size.items >= MIN_ITEMS and size.cheap and size.condition <= MAX_REFINED_CONDITION
    if not size.definite or request.solver == "eigen":
        yield from _direct(request, size, why, Eigen())
    elif request.solver == "cholesky" or not possible:
        yield from _direct(request, size, why, Cholesky())
    elif request.solver == "iterative":
        yield from _by_steps(request, size, why)
    elif not fits and smaller:
        reason = "iterative, because the Gram matrix would not fit"
        yield from _by_steps(request, size, (*why, reason))
    elif many:
        reason = (
            f"iterative, because for {size.items} items a few dozen products with the Gram matrix "
            "are faster than a factor; if the preconditioner foresees more, the factor is taken"
        )
        yield from _by_steps(request, size, (*why, reason))
    else:
        yield from _direct(request, size, why, Cholesky())


def _direct(
    request: Plan, size: Size, why: tuple[str, ...], solver: Cholesky | Eigen
) -> Iterator[Candidate]:
    """Yield a factor in single precision where that is faster and safe, and one in double."""
    fields: dict[str, Any] = {"rank": request.rank, "approximate": request.approximate}
    reasons, mixed = why, isinstance(solver, Cholesky) and request.precision == "mixed"
    if isinstance(solver, Cholesky) and request.precision == "auto":
        large = MIN_MIXED_ORDER <= size.order <= MAX_PACKED_ORDER
        mixed = large and size.condition <= MAX_REFINED_CONDITION
        if mixed:
            better = "a single-precision factor, its answer refined to double accuracy, is faster"
            reasons = (*why, better)
        elif large:
            why = (*why, f"double, because the condition number may be {size.condition:.1e}")
    if mixed:
        factor: Any = Cholesky("mixed")
        chosen = Primal(factor) if size.route == "primal" else factor
        yield Candidate("cholesky", chosen, size, reasons, fields=fields | {"precision": "mixed"})
    yield Candidate(
        solver.name, Primal(solver) if size.route == "primal" else solver, size, why,
        "what single precision needs beside that would not fit" if mixed else "", fields,
    )  # fmt: skip


def _by_steps(request: Plan, size: Size, why: tuple[str, ...]) -> Iterator[Candidate]:
    """Yield conjugate gradients with products in single precision, where that is safe, or double.

    Where nobody has asked for them, they give way to a factor if that turns out to be faster.
    """
    memory, mixed = memory_of(request), request.precision == "mixed"
    reasons = why
    if request.precision == "auto" and size.cheap and size.single:
        mixed = size.condition <= MAX_REFINED_CONDITION
        if mixed:
            better = "the products of the steps in single precision, residuals in double, are "
            reasons = (*why, f"{better}faster")
        else:
            why = (*why, f"double, because the condition number may be {size.condition:.1e}")
    mixed = mixed and size.cheap and size.single
    for single in (True, False) if mixed else (False,):
        solver = Iterative(tol=request.tol or Iterative.tol, mixed=single)
        rank = min(request.rank or solver.rank, size.items)
        if request.rank is None and memory is not None:
            rank = solver.rank_within(size, memory)
        factor = Cholesky("mixed" if single else "double").cost(size).bytes
        fields = {
            "rank": rank, "approximate": request.approximate,
            "precision": "mixed" if single else "double",
            "direct": request.solver == "auto" and (memory is None or factor <= memory),
        }  # fmt: skip
        yield Candidate(
            "iterative", replace(solver, rank=rank), size, reasons if single else why,
            "what single precision needs beside that would not fit" if mixed else "", fields,
        )  # fmt: skip


def _ridge_route(request: Plan, size: Size) -> tuple[Literal["dual", "primal"], tuple[str, ...]]:
    """Return whether the system is that of items or of features, and why."""
    n, m = size.items, size.features
    if request.route == "primal" and not Primal.requires.met(size):
        raise ValidityError(
            "the primal route needs a valid kernel with finitely many features and a positive "
            "penalty; use the dual route"
        )
    only = only_route(request, size)
    if only is not None:
        return only
    assert m is not None
    if not Primal.requires.met(size):
        return "dual", ("dual, because interpolation and repair speak about the Gram matrix",)
    if m > n**2:
        count = str(m) if m < 10**9 else "more than a billion"
        return "dual", (f"dual, because there are {count} features and only {n} items",)
    primal, dual = n * m**2 + m**3 / 3, n**2 * size.row / 8 + n**3 / 3
    better: Literal["dual", "primal"] = "primal" if primal < dual else "dual"
    why = (
        f"{better}, because {m} features and {n} items take {primal:.2g} operations in the primal "
        f"and {dual:.2g} in the dual"
    )
    return better, (why,)


# ---- sketches ----------------------------------------------------------------------------------


def enough_centers(items: int) -> int:
    """Return how many centers are taken where nobody says: twice the root of the items.

    With the root, up to a logarithm, Nyström ridge regression learns as fast as the exact one does
    in the worst case (Rudi, Camoriano & Rosasco, 2015).

    Examples
    --------
    >>> enough_centers(1_000_000), enough_centers(1000)
    (2000, 1000)
    """
    return min(max(2 * math.isqrt(items), MIN_CENTERS), MAX_CENTERS, items)


def choose_sketch(
    request: Plan,
    how: Nystrom | Random,
    size: Size,
    reasons: tuple[str, ...] = (),
    newton: bool = False,
    whole: bool = False,
) -> Decision:
    """Choose how to learn with the functions of a sketch.

    Parameters
    ----------
    request : Plan
    how : Nystrom or Random
    size : Size
    reasons : tuple of str
        Why the answer is approximate.
    newton : bool
        Whether a loss is minimized by Newton's method, not one system solved.
    whole : bool
        Whether the system itself is needed, so that steps will not do.

    Examples
    --------
    >>> decision = choose_sketch(Plan(memory=10**9), Nystrom(100), Size(items=10**6, row=80.0))
    >>> decision.route, decision.direct
    ('nystrom', True)
    """
    nystrom = isinstance(how, Nystrom)
    chosen = isinstance(how, Nystrom) and not how.given
    M = min(how.count, size.items) if chosen else how.count
    size = replace(size, functions=M)
    passes = EXPECTED_STEPS if newton else 1
    added_up, by_steps = (SketchedRidge(way).cost(size, passes).seconds for way in (True, False))
    assert added_up is not None and by_steps is not None
    words = {
        True: f"the system of {M} functions is added up in one pass over the items",
        False: f"{M} functions by conjugate gradients, with one pass over the items for each step",
    }
    ways = [True] if whole else [True, False] if added_up <= by_steps else [False]
    why = (*reasons, how.describe(M))
    return choose(request, [
        Candidate(
            "newton" if newton else "eigen" if direct else "iterative",
            SketchedNewton() if newton else SketchedRidge(direct), size, (*why, words[direct]),
            fields={"route": "nystrom" if nystrom else "random", "rank": M, "direct": direct,
                    "approximate": how},
            options={"direct": direct} if newton else {},
        )
        for direct in ways
    ])  # fmt: skip


def choose_approximation(
    request: Plan, size: Size, newton: bool = False, whole: bool = False
) -> Decision:
    """Choose how to learn approximately: items that are read in passes, or too many of them.

    Examples
    --------
    >>> choose_approximation(Plan(memory=10**9), Size(items=10**6, row=80.0, piece=10**7)).rank
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
    return choose_sketch(request, how, size, (why,) if why else (), newton, whole)
