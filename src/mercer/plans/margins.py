"""Support vector machines: a stored Gram matrix, or rows as they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.domains import Points, Table, Vectors
from mercer.engine.tiles import unpacks
from mercer.gram import engine_named, name_of
from mercer.gram.engines import Carrying
from mercer.kernels import Kernel
from mercer.plans.chooser import Candidate, choose, memory_of, on_gpu, place, route_of, size_of
from mercer.plans.plan import Decision, Plan
from mercer.solvers.cost import Size
from mercer.solvers.quadratic import SMOOptions
from mercer.solvers.working_set import (
    LEAST_WORKING,
    MAX_ROW_BYTES,
    MAX_STORED_ITEMS,
    MAX_WORKING,
    MIN_ITEMS_A_FEATURE,
    MIN_WORKING,
)

__all__ = ["choose_margin", "decide_margin"]


def decide_margin(
    request: Plan, kernel: Kernel, points: Points, problems: int, single: bool, repair: bool
) -> Decision:
    """Decide how to train a support vector machine, and where.

    The spectrum of a kernel that is not valid is repaired, for which its matrix is decomposed.
    """
    n = len(points)
    known: dict[str, Any] = {"features": None} if repair else {}
    size = size_of(kernel, points, products=True, **known)
    if unpacks(points):
        size = replace(size, row=8.0 * (points.width or 0))
    size = replace(size, tiles=size.tiles + (24 * n**2 if repair else 0))
    cheap = isinstance(points, Vectors) and not repair
    single = single and request.precision != "double"
    engine = None if repair else _engine_of(request, points)
    if engine is not None and _dual_there(request, size):
        return _decide_there(request, size, points, single, engine)
    found = choose_margin(request, size, problems, cheap, single)
    return place(found, engine is not None, kernel, points, double=not single)


def _engine_of(request: Plan, points: Points) -> Carrying | None:
    """Return the engine that solves the programs, if one is asked for or wants them.

    One that is asked for also takes matrices of things that it cannot compare itself.
    """
    if isinstance(points, Vectors | Table):
        gpu = on_gpu(request, points)
    else:
        gpu = request.device == "cuda"
    engine = engine_named("cuda") if gpu else None
    return engine if isinstance(engine, Carrying) else None


def _dual_there(request: Plan, size: Size) -> bool:
    """Tell whether there are no explicit features that are faster on the CPU."""
    if request.route == "auto":
        few = size.features is not None and size.items > MAX_STORED_ITEMS
        return not few or size.features * MIN_ITEMS_A_FEATURE >= size.items  # type: ignore[operator]
    return route_of(request, size)[0] == "dual"


def _decide_there(
    request: Plan, size: Size, points: Points, single: bool, engine: Any
) -> Decision:
    """Decide to solve all programs in the memory of an engine."""
    n, each = size.items, 4 if single else 8
    rows = isinstance(points, Vectors | Table)
    usual = min(n, max(MIN_WORKING, min(n // 8, MAX_WORKING)))
    options = SMOOptions(
        working=usual, largest=max(usual, MAX_WORKING), stored=not rows,
        dtype=np.float32 if single else np.float64,
    )  # fmt: skip
    candidate = Candidate(
        "smo", options, size, (engine.explain_programs(n, points.width if rows else None, each),),
        fields={
            "stored": options.stored, "working": options.working, "largest": options.largest,
            "kept": 0, "precision": "mixed" if single else "double", "device": name_of(engine),
        },
    )  # fmt: skip
    return choose(request, (candidate,))


def choose_margin(request: Plan, size: Size, problems: int, cheap: bool, single: bool) -> Decision:
    """Choose how to train a support vector machine, from its size alone.

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
    >>> found = choose_margin(Plan(memory=10**9), Size(items=50_000), 1, cheap=True, single=True)
    >>> found.stored, found.working
    (False, 4096)
    """
    n, m = size.items, size.features
    why: tuple[str, ...] = ()
    few = m is not None and n > MAX_STORED_ITEMS and m * MIN_ITEMS_A_FEATURE < n
    if request.route != "auto" or few:
        route, why = route_of(request, size)
        size = replace(size, route=route)
    single = single and request.precision != "double"
    return choose(request, tuple(_block_smo(request, size, problems, cheap, single, why)))


def _block_smo(
    request: Plan, size: Size, problems: int, cheap: bool, single: bool, why: tuple[str, ...]
) -> Iterator[Candidate]:
    """Yield the stored matrix where it is worth it, then ever smaller working sets."""
    n, memory = size.items, memory_of(request)
    usual = min(n, max(MIN_WORKING, min(n // 8, MAX_WORKING)))
    largest, kept = max(usual, MAX_WORKING), 0

    def candidate(solver: SMOOptions, reason: str) -> Candidate:
        fields = {"stored": solver.stored, "working": solver.working, "largest": solver.largest,
                  "kept": solver.kept, "precision": "mixed" if single else "double"}  # fmt: skip
        return Candidate("smo", solver, size, (*why, reason), fields=fields)

    dtype = np.float32 if single else np.float64
    stored = SMOOptions(working=usual, largest=largest, dtype=dtype, stored=True)
    fits = memory is None or stored.cost(size).bytes <= memory
    words = "rows as they are needed, not the whole Gram matrix: "
    words += "rows are cheap to compute again" if fits else "it does not fit"
    if size.route == "primal":
        words = f"{size.features} features are cheaper than similarities of {n} items"
    elif n <= MAX_STORED_ITEMS:
        yield candidate(stored, "the whole Gram matrix, because it is small")
    elif problems > 1 or not cheap:
        shared = f"{problems} problems share it" if problems > 1 else "similarities are expensive"
        yield candidate(stored, f"the whole Gram matrix, because it fits and {shared}")
    if size.route == "dual" and not cheap:  # rows that are kept are a convenience
        room = MAX_ROW_BYTES if memory is None else min(MAX_ROW_BYTES, memory / 4)
        kept = min(n, int(room / ((4 if single else 8) * n)))
        yield candidate(replace(stored, kept=kept, stored=False), words)
    while True:
        working = min(usual, largest)
        yield candidate(replace(stored, working=working, largest=largest, stored=False), words)
        if largest <= LEAST_WORKING:
            return
        largest //= 2
