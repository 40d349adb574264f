"""The chooser: of all that could run, the first that fits.

Each way to an answer is a `Candidate`: a solver with its parameters, which declares what it needs
and what it costs (`mercer.solvers.cost`), and why it comes where it comes. Candidates are listed
in the order of preference by the machines' families, `mercer.plans.ridge` and others; here they
are compared with what is known of the problem, with the memory that there is, and with the time
that the user is willing to wait. If none fits, the refusal is about the one that needs least.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from mercer.domains import Points, Vectors
from mercer.engine.tiles import on_numpy, working_bytes
from mercer.errors import PlanError, ValidityError
from mercer.gram import choose_engine, engine_named
from mercer.kernels import Kernel
from mercer.kernels.features import FeatureMap
from mercer.memory import available, format_bytes
from mercer.plans.plan import Decision, Plan, format_seconds
from mercer.solvers.cost import UNCONDITIONAL, Cost, Costed, Requirements, Size
from mercer.solvers.curvature import bytes_to_examine
from mercer.solvers.sketched_newton import EXPECTED_STEPS
from mercer.threads import cores

__all__ = [
    "Candidate",
    "choose",
    "memory_of",
    "on_gpu",
    "only_route",
    "place",
    "route_of",
    "size_of",
]

# Of things that are not rows of numbers: Python's objects, and what allocators keep.
UNSEEN_BYTES = 6_000_000
SEEN_ITEMS = 64  # whose features say how many entries those of an item have
SPREAD = 1.25  # the others may have some more

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
    worthwhile : Requirements
        What must be true for it to come where it comes, beside what its solver requires.
    beside : Costed or None
        What it may have to give way to while it runs, which must fit as well.
    """

    name: str
    solver: Costed
    size: Size
    reasons: tuple[str, ...] = ()
    instead: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    worthwhile: Requirements = UNCONDITIONAL
    beside: Costed | None = None

    @property
    def possible(self) -> bool:
        """Whether what it requires is true of the problem."""
        return self.solver.requires.met(self.size) and self.worthwhile.met(self.size)

    def cost(self, items: int | None = None) -> Cost:
        """Return bytes and seconds, for all items or for another number of them."""
        size = self.size if items is None else replace(self.size, items=items)
        return self.solver.cost(size, **self.options)

    def fits(self, memory: int | None) -> bool:
        """Tell whether it fits into memory, with what it may give way to."""
        if memory is None:
            return True
        other = 0 if self.beside is None else self.beside.cost(self.size).bytes
        return max(self.cost().bytes, other) <= memory

    def decide(self, request: Plan, memory: int | None, *why: str) -> Decision:
        """Return the decision for this candidate, with reasons that come first."""
        cost = self.cost()
        known: dict[str, Any] = {"route": self.size.route, "precision": "double"}
        known |= {"seconds": cost.seconds, "request": request} | self.fields
        return Decision(
            solver=self.name, memory=memory, bytes=cost.bytes, reasons=(*why, *self.reasons),
            **known,
        )  # fmt: skip


def choose(
    request: Plan, candidates: Iterable[Candidate], approximate: Iterable[Candidate] = ()
) -> Decision:
    """Return the decision for the first candidate that fits, or raise `PlanError`.

    Parameters
    ----------
    request : Plan
    candidates : iterable of Candidate
        In the order of preference.
    approximate : iterable of Candidate
        What is tried if none of these fits, or the first that does takes longer than the user's
        patience.
    """
    memory = memory_of(request)
    tried: list[Candidate] = []
    for one in filter(lambda one: one.possible, candidates):
        tried.append(one)
        if one.fits(memory):
            break
    found = tried[-1] if tried and tried[-1].fits(memory) else None
    refusal = "" if found else _refusal(tried, memory)
    too_long = found is not None and (found.cost().seconds or 0.0) > request.patience
    if found is None or too_long:
        why = _impatience(found, request) if found else f"exactly {refusal.split(';')[0]}"
        for one in approximate:
            if one.possible and one.fits(memory):
                return one.decide(request, memory, f"approximate, because {why}")
    if found is None:
        raise PlanError(refusal)
    if found is not tried[0] and found.instead:
        found = replace(found, reasons=(*found.reasons, found.instead))
    return found.decide(request, memory)


def _impatience(candidate: Candidate, request: Plan) -> str:
    """Say that an exact answer takes longer than the user is willing to wait."""
    seconds, patience = candidate.cost().seconds or 0.0, request.patience
    return (
        f"an exact answer would take about {format_seconds(seconds)}, "
        f"which is more than the patience of {format_seconds(patience)}"
    )


def memory_of(request: Plan) -> int | None:
    """Return the bytes that may be used, if anybody knows."""
    return available() if request.memory is None else int(request.memory)


def _refusal(candidates: Sequence[Candidate], memory: int | None) -> str:
    """Say what would be needed by the candidate that needs least, and how much less would fit."""
    assert memory is not None and candidates  # of each family, one asks for nothing special
    candidate = min(candidates, key=lambda one: one.cost().bytes)
    size, needed = candidate.size, candidate.cost().bytes
    there = f"needs {format_bytes(needed)}, but {format_bytes(memory)} are available"
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


def size_of(kernel: Kernel, points: Points, products: bool = False, **known: Any) -> Size:
    """Return how large the problem of some items is.

    Parameters
    ----------
    kernel, points
    products : bool
        Whether the kernel's values are multiplied tile by tile, not stored.
    **known
        What else is known, as in `Size`; it goes before what is found here.

    Returns
    -------
    Size

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> size = size_of(Linear(), Linear().admit([[1.0, 2.0], [3.0, 4.0]]))
    >>> size.items, size.features
    (2, 2)
    """
    finite = kernel.map_features(points) if "features" not in known else None
    tiles = working_bytes(kernel, points, products=products)
    if kernel.proof().verdict != "proved":  # its curvature is looked at
        tiles = max(tiles, bytes_to_examine(len(points)))
    plain = isinstance(points, Vectors) and not points.is_sparse and on_numpy(points)
    found: dict[str, Any] = {
        "row": points.bytes / len(points),
        "features": None if finite is None else finite.count,
        "tiles": tiles,
        "cheap": plain,
        "encodings": points.encoded_bytes + (0 if plain else UNSEEN_BYTES),
        "feature_row": None if plain or finite is None else _feature_row(finite, points),
    }
    return Size(len(points), **(found | known))


def _feature_row(finite: FeatureMap, points: Points) -> float | None:
    """Return the bytes of the features of an item, if they are sparse, by a look at some items."""
    some = np.unique(np.linspace(0, len(points) - 1, SEEN_ITEMS).astype(int))
    features = finite(points[some])
    if not sparse.issparse(features):
        return None
    entry = features.dtype.itemsize + 8  # a value and its column
    return SPREAD * entry * features.nnz / len(some)


# ---- where it is computed ----------------------------------------------------------------------


def on_gpu(request: Plan, points: Points) -> bool:
    """Tell whether a fit goes to a GPU: it is asked for, or there is one and the task is large.

    Raises `PlanError` if one is asked for that cannot be used.
    """
    asked = "cpu" if request.reproducible and request.device == "auto" else request.device
    return choose_engine(asked, points) == "cuda"


def place(
    decision: Decision,
    gpu: bool,
    kernel: Kernel,
    points: Points,
    double: bool = False,
    items: int | None = None,
    newton: bool = False,
) -> Decision:
    """Return the decision with its device, the reason for it, and its time there.

    Of many items, `points` may be a sample.
    """
    asked = decision.request.device
    if not gpu:
        return replace(decision, device="cpu" if asked in ("auto", "cuda") else asked)
    if decision.route in ("primal", "random"):
        why = f"on the CPU, because the {decision.route} route is a few matrix products"
        return replace(decision, device="cpu", reasons=(*decision.reasons, why))
    if decision.sketched:  # a small system is ill-conditioned more than it is slow
        double = double or decision.direct
        decision = replace(decision, precision="double" if double else "mixed")
    width = points.width or 1
    why = engine_named("cuda").explain(kernel, width, "double" if double else "single")
    seconds = decision.seconds
    if seconds is not None:
        seconds = _gpu_seconds(decision, items or len(points), width, newton)
    return replace(decision, device="cuda", seconds=seconds, reasons=(*decision.reasons, why))


def _gpu_seconds(decision: Decision, n: int, width: int, newton: bool) -> float:
    """Predict the time on a GPU such as an H200, with what the CPU does before and after.

    The first term of each sum is what does not grow with the items. A factor on the CPU makes
    25·10⁹ operations a second and core, as in `mercer.solvers.cost`.
    """
    M, cpu = float(decision.rank or 0), 25e9 * cores()
    pairs = n * M
    if decision.sketched and decision.precision == "mixed":
        # 30 passes, at 0.2 ps a pair and 0.015 ps for each of its numbers; and the preconditioner.
        return 1.5 + 30 * pairs * (0.2 + 0.015 * width) * 1e-12 + M**3 / 2e13
    if newton:  # about ten passes for each of its steps, at 35 ps a pair
        return 1.5 + 3.5e-10 * EXPECTED_STEPS * pairs
    if decision.sketched:
        # The moments of the features at 4·10¹³ operations a second, the features at 0.2 ns each,
        # and on the CPU the small system, in 60 M³ operations.
        return 1.5 + 2 * pairs * M / 4e13 + 2e-10 * pairs + 60 * M**3 / cpu
    if decision.solver == "cholesky":  # n³/3 operations at 3.3·10¹³ a second; 20 ps an entry
        return 0.1 + n**3 / 1e14 + 2e-11 * n**2
    # All products of the steps take 1 ns a pair; the preconditioner is made on the CPU.
    return 1.0 + 1e-9 * n**2 + 4 * pairs * M / cpu
