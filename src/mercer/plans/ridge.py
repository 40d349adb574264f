"""Ridge regression: a factor, a decomposition, steps or a sketch, in the order of preference.

What each of them needs and costs, and when it is worth trying before others, is declared beside
its algorithm. Here they are listed, and the chooser takes the first that may run and fits. Only
one of them learns more while it runs: the preconditioner of conjugate gradients foresees how many
steps there will be. Then `prepare` goes back to the chooser with that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from mercer.domains import Points
from mercer.errors import PlanError, ValidityError
from mercer.gram import engine_named, name_of, surveying_engine
from mercer.gram.engines import Storing
from mercer.gram.single_precision import allows_single
from mercer.kernels import Kernel
from mercer.memory import format_bytes
from mercer.plans.approximations import Nystrom, Random
from mercer.plans.chooser import Candidate, choose, memory_of, on_gpu, only_route, place
from mercer.plans.on_cluster import products_on_cluster, sketch_on_cluster, workers_speed
from mercer.plans.plan import Decision, Plan
from mercer.solvers.cost import UNCONDITIONAL, Requirements, Size, item_bytes
from mercer.solvers.iterative import Iterative, Preconditioned
from mercer.solvers.pivoted_cholesky import MIN_RANK
from mercer.solvers.ridge.cholesky import MAX_REFINED_CONDITION, Cholesky
from mercer.solvers.ridge.eigen import Eigen
from mercer.solvers.ridge.engine_cholesky import EngineCholesky
from mercer.solvers.ridge.engine_steps import EngineSteps, engine_rank
from mercer.solvers.ridge.primal import Primal
from mercer.solvers.ridge.single_cholesky import SingleCholesky
from mercer.solvers.ridge.solver import Problem, Solver, State
from mercer.solvers.sketched_newton import EXPECTED_STEPS, SketchedNewton
from mercer.solvers.sketched_ridge import SketchedRidge

__all__ = [
    "choose_approximation",
    "choose_ridge",
    "choose_sketch",
    "decide_ridge",
    "decide_sketch",
    "enough_centers",
    "prepare",
    "reconsider",
    "solver_for",
]  # fmt: skip

GPU_SPEED = 100.0  # of a GPU, beside that of a few cores, about

MIN_CENTERS, MAX_CENTERS = 1000, 10_000  # that are taken where nobody says how many


def decide_ridge(request: Plan, kernel: Kernel, points: Points, size: Size) -> Decision:
    """Decide how to solve a ridge problem, and where: on a CPU as `choose_ridge` says.

    Of the size, `condition`, `definite` and `solution_only` count as well.
    """
    if not size.definite or not on_gpu(request, points):
        speed = workers_speed(request)
        found = choose_ridge(replace(request, patience=speed * request.patience), size)
        found = replace(found, request=request)
        mixed = found.solver == "iterative" and found.precision == "mixed"
        if mixed and not allows_single(kernel, points):  # which is asked only where it matters
            found = choose_ridge(request, replace(size, single=False))
        return products_on_cluster(place(found, False, kernel, points), points, speed)
    patient = replace(request, patience=GPU_SPEED * request.patience)
    engine = engine_named("cuda")
    if request.approximate == "never" or isinstance(request.approximate, str):
        exact = _exactly_there(request, kernel, points, size, engine)
        if exact is not None:
            return exact
    found = choose_ridge(patient, size)
    double = found.route == "dual" or request.precision == "double"
    return replace(place(found, True, kernel, points, double), request=request)


def _exactly_there(
    request: Plan, kernel: Kernel, points: Points, size: Size, engine: Any
) -> Decision | None:
    """Decide between a factor and steps in the memory of an engine, or on neither.

    What is predicted is the peak of the engine's memory. Steps need no matrix; a factor is taken
    where it is faster, as far as one knows before there is a preconditioner.
    """
    size = replace(size, route="dual")
    if request.solver == "eigen" or not size.solution_only:
        return None
    if _ridge_route(request, size)[0] != "dual":
        return None
    free = int(engine.free_bytes() or 0)
    ways = {"cholesky": EngineCholesky(engine), "iterative": _steps(request, kernel, size, free)}
    asked = [request.solver] if request.solver in ways else list(ways)
    able = {name: ways[name].cost(size) for name in asked if ways[name].requires.met(size)}
    costs = {name: cost for name, cost in able.items() if cost.bytes <= free}
    if able and not costs:
        why = f"on the CPU, because not even steps fit into the {format_bytes(free)} of the GPU"
        found = choose_ridge(request, size)
        return place(replace(found, reasons=(*found.reasons, why)), False, kernel, points)
    if not costs:
        return None
    solver = min(costs, key=lambda name: costs[name].seconds or 0.0)
    cost = costs[solver]
    if (cost.seconds or 0.0) > request.patience and request.approximate != "never":
        return None
    there = f"{format_bytes(cost.bytes)} of the {format_bytes(free)} that are free on the GPU"
    if solver == "cholesky":
        why = f"cholesky, because the Gram matrix fits into the memory of the GPU: {there}"
    else:
        why = f"iterative, because steps are faster than a factor and store no matrix: {there}"
        if "cholesky" in able and "cholesky" not in costs:
            why = f"iterative, because the Gram matrix does not fit into the GPU's memory: {there}"
    fields: dict[str, Any] = _wishes(request)
    if solver == "iterative":
        fields |= {"rank": ways["iterative"].rank, "direct": request.solver == "auto"}  # type: ignore[attr-defined]
    found = Decision(
        route="dual", solver=solver, precision="mixed" if solver == "iterative" else "double",
        memory=memory_of(request), bytes=item_bytes(size), seconds=cost.seconds, request=request,
        reasons=(*_ridge_route(request, size)[1], why), **fields,
    )  # fmt: skip
    return replace(place(found, True, kernel, points, double=True), seconds=cost.seconds)


def _steps(request: Plan, kernel: Kernel, size: Size, free: int) -> EngineSteps:
    """Return the steps of an engine, with as many columns of a preconditioner as fit."""
    rank = min(request.rank or engine_rank(size.items, free), size.items)
    return EngineSteps(rank, request.tol or Iterative.tol)


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
    reader = None if size.piece is None else surveying_engine(request.device)
    if reader is not None:
        if name_of(reader) == "cluster":
            return sketch_on_cluster(found, size, newton)
        return replace(found, device=name_of(reader))
    return place(found, gpu, kernel, sample, double, size.items, newton)


def solver_for(decision: Decision, indefinite: str = "error") -> Solver:
    """Return the solver of a ridge system that was decided on."""
    precision: Any = decision.precision
    engine = engine_named(decision.device)
    if decision.solver == "cholesky" and decision.route == "dual" and isinstance(engine, Storing):
        free = engine.free_bytes() or 0
        steps = EngineSteps(engine_rank(10**6, free), decision.tol or Iterative.tol)
        return EngineCholesky(
            engine, (steps, Cholesky()) if indefinite == "error" else (Cholesky(),)
        )
    if decision.solver == "iterative" and isinstance(engine, Storing):
        return EngineSteps(decision.rank or MIN_RANK, decision.tol or Iterative.tol)
    if decision.solver == "iterative":
        tol = decision.tol or Iterative.tol
        return Iterative(decision.rank or Iterative.rank, tol, mixed=precision == "mixed")
    if decision.precision == "single":
        return SingleCholesky(tol=decision.tol or Iterative.tol)
    policy: Any = indefinite
    solver = Eigen(policy) if decision.solver == "eigen" else Cholesky(precision)
    return Primal(solver) if decision.route == "primal" else solver


def prepare(
    decision: Decision, problem: Problem, size: Size, penalty: float, indefinite: str = "error"
) -> tuple[Decision, Solver, State]:
    """Return the solver of a decision and its state, and the decision, which may be another one.

    Steps that nobody has asked for are reconsidered as soon as it is known how many they will be.
    """
    solver = solver_for(decision, indefinite)
    state = solver.prepare(problem)
    if decision.direct and isinstance(solver, Iterative) and isinstance(state, Preconditioned):
        steps = solver.foresee(state, penalty)
        again = reconsider(decision, replace(size, steps=steps))
        if again is not decision:
            del state  # before there is another one
            return prepare(again, problem, size, penalty, indefinite)
    return decision, solver, state


def reconsider(decision: Decision, size: Size) -> Decision:
    """Return the decision after so many steps are foreseen: the same, or one for a factor."""
    engine: Any = engine_named(decision.device)
    precision: Any = decision.precision
    if isinstance(engine, Storing):
        return _reconsider_there(decision, size, engine)
    asked = replace(
        decision.request, precision=precision, memory=decision.memory,
        approximate="never",
    )  # fmt: skip
    found = choose_ridge(asked, size)
    if found.solver == decision.solver:
        return decision
    why = f"about {size.steps:.0f} steps were foreseen, so that the direct way was taken"
    return replace(
        found, reasons=(*decision.reasons, why), approximate=decision.approximate,
        request=decision.request, device=decision.device,
    )  # fmt: skip


def _reconsider_there(decision: Decision, size: Size, engine: Any) -> Decision:
    """Return the decision on steps of an engine, or one for its factor if that fits and is faster.

    Where it does not fit, the steps are taken however many they are: nothing that was refused for
    its memory is begun.
    """
    factor = EngineCholesky(engine).cost(replace(size, route="dual"))
    steps = EngineSteps(decision.rank or MIN_RANK, decision.tol or Iterative.tol).cost(size)
    if factor.bytes > (engine.free_bytes() or 0) or factor.seconds >= steps.seconds:  # type: ignore[operator]
        return decision
    why = f"about {size.steps:.0f} steps were foreseen, so that the direct way was taken"
    return replace(
        decision, solver="cholesky", precision="double", direct=False, seconds=factor.seconds,
        reasons=(*decision.reasons, why),
    )  # fmt: skip


def choose_ridge(request: Plan, size: Size) -> Decision:
    """Choose how to solve a ridge problem, from its size alone.

    Parameters
    ----------
    request : Plan
        What the user has already decided.
    size : Size

    Returns
    -------
    Decision

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
    rescue = _ever_smaller_sketches(size) if free else ()
    return choose(request, _exact(request, size), rescue)


def _exact(request: Plan, size: Size) -> Iterator[Candidate]:
    """Yield the exact ways: by steps, a factor or a decomposition, on either route."""
    route, why = _ridge_route(request, size)
    size = replace(size, route=route)
    if request.solver == "iterative" and not Iterative.requires.met(size):
        raise ValidityError(
            "the iterative solver needs the dual route, a valid kernel, a positive penalty and a "
            'machine that predicts no variances; use solver="cholesky"'
        )
    if not size.definite:
        why = (*why, "eigen, because the spectrum of an indefinite kernel is repaired")
    faster = (
        f"iterative, because for {size.items} items a few dozen products with the Gram matrix "
        "are faster than a factor; if the preconditioner foresees more, the factor is taken"
    )
    smaller = "iterative, because the Gram matrix would not fit"
    asked, free = request.solver, request.solver == "auto"
    if free:
        yield from _by_steps(request, size, (*why, faster), Iterative.worthwhile, Cholesky())
    if free or asked == "cholesky":
        yield from _by_factor(request, size, why)
    if asked == "eigen" or not size.definite:
        eigen = Primal(Eigen()) if route == "primal" else Eigen()
        yield Candidate("eigen", eigen, size, why, fields=_wishes(request))
    if free or asked == "iterative":
        yield from _by_steps(request, size, (*why, smaller) if free else why)


def _by_factor(request: Plan, size: Size, why: tuple[str, ...]) -> Iterator[Candidate]:
    """Yield a factor in single precision where that is faster and safe, and one in double."""
    if request.precision == "single" and size.route == "dual":
        reason = "the matrix and its factor in single precision, refined by steps, as asked for"
        yield Candidate(
            "cholesky", SingleCholesky(tol=request.tol or Iterative.tol), size, (*why, reason),
            fields=_wishes(request) | {"precision": "single"},
        )  # fmt: skip
    better = "a single-precision factor, its answer refined to double accuracy, is faster"
    for precision, reasons, instead in _precisions(request, size, Cholesky, better):
        factor = Cholesky(precision)
        yield Candidate(
            "cholesky", Primal(factor) if size.route == "primal" else factor, size,
            (*why, *reasons), instead, _wishes(request) | {"precision": precision},
        )  # fmt: skip


def _by_steps(
    request: Plan,
    size: Size,
    why: tuple[str, ...],
    worthwhile: Requirements = UNCONDITIONAL,
    beside: Cholesky | None = None,
) -> Iterator[Candidate]:
    """Yield conjugate gradients with products in single precision, where that is safe, or double.

    With a factor `beside` them, they may give way to that when it is known how many they are.
    """
    better = "the products of the steps in single precision, residuals in double, are faster"
    memory = memory_of(request)
    for precision, reasons, instead in _precisions(request, size, Iterative, better):
        solver = Iterative(tol=request.tol or Iterative.tol, mixed=precision == "mixed")
        rank = min(request.rank or solver.rank, size.items)
        if request.rank is None and memory is not None:
            rank = solver.rank_within(size, memory)
        fields = {"rank": rank, "precision": precision, "direct": beside is not None}
        yield Candidate(
            "iterative", replace(solver, rank=rank), size, (*why, *reasons), instead,
            _wishes(request) | fields, worthwhile=worthwhile, beside=beside,
        )  # fmt: skip


def _precisions(
    request: Plan, size: Size, solver: type[Cholesky | Iterative], better: str
) -> list[tuple[Literal["mixed", "double"], tuple[str, ...], str]]:
    """Return the precisions to try, why, and why the second if the first does not fit."""
    asked, risk = request.precision, f"the condition number may be {size.condition:.1e}"
    if asked == "double" or (asked == "auto" and not solver.single_pays.met(size)):
        return [("double", (), "")]
    if asked == "auto" and size.condition > MAX_REFINED_CONDITION:
        return [("double", (f"double, because {risk}",), "")]
    if not solver.single_possible.met(size):
        return [("double", (), "")]
    instead = "what single precision needs beside that would not fit"
    return [("mixed", (better,) if asked == "auto" else (), ""), ("double", (), instead)]


def _wishes(request: Plan) -> dict[str, Any]:
    """Return what a decision repeats of the plan."""
    return {"rank": request.rank, "approximate": request.approximate}


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
    primal, dual = Primal.operations(size), Cholesky.operations(size)
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

    Returns
    -------
    Decision

    Examples
    --------
    >>> decision = choose_sketch(Plan(memory=10**9), Nystrom(100), Size(items=10**6, row=80.0))
    >>> decision.route, decision.direct
    ('nystrom', True)
    """
    return choose(request, list(_sketched(how, size, reasons, newton, whole)))


def _ever_smaller_sketches(size: Size) -> Iterator[Candidate]:
    """Yield approximations that nobody has asked for: the usual number of centers, or fewer."""
    count = enough_centers(size.items)
    yield from _sketched(Nystrom(count), size)
    while (count := count // 2) >= MIN_RANK:
        yield from _sketched(Nystrom(count), size)


def _sketched(
    how: Nystrom | Random,
    size: Size,
    reasons: tuple[str, ...] = (),
    newton: bool = False,
    whole: bool = False,
) -> Iterator[Candidate]:
    """Yield the system of a sketch where that is the faster way, and steps."""
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
    route = "nystrom" if isinstance(how, Nystrom) else "random"
    for direct in [True] if whole else [True, False] if added_up <= by_steps else [False]:
        yield Candidate(
            "newton" if newton else "eigen" if direct else "iterative",
            SketchedNewton() if newton else SketchedRidge(direct), size,
            (*reasons, how.describe(M), words[direct]),
            fields={"route": route, "rank": M, "direct": direct, "approximate": how},
            options={"direct": direct} if newton else {},
        )  # fmt: skip


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
