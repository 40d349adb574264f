"""Devices: whether a fit goes to a GPU, and what then runs there."""

from __future__ import annotations

from dataclasses import replace

from mercer.domains import Points
from mercer.gram import Gram, assemble, choose_engine, engine_named
from mercer.kernels import Kernel
from mercer.plans import Decision, Plan
from mercer.solvers.sketched_newton import EXPECTED_STEPS
from mercer.threads import cores

__all__ = ["TORCH", "assembled", "on_gpu", "placed", "prefers_gpu"]

TORCH = "cuda"  # Torch's name of the GPU
FASTER = 100.0  # a GPU than a few cores, about


def prefers_gpu(request: Plan, points: Points) -> bool:
    """Tell whether a fit goes to a GPU: it is asked for, or there is one and the task is large.

    Raises `PlanError` if one is asked for that cannot be used.
    """
    return choose_engine(request.device, points) == "cuda"


def placed(
    plan: Decision,
    gpu: bool,
    kernel: Kernel,
    points: Points,
    double: bool = False,
    items: int | None = None,
    newton: bool = False,
) -> Decision:
    """Return the plan with its device, the reason for it, and its time there.

    Of many items, `points` may be a sample.
    """
    if not gpu:
        return replace(plan, device=_elsewhere(plan.request.device))
    if plan.route in ("primal", "random"):
        why = f"on the CPU, because the {plan.route} route is a few matrix products"
        return replace(plan, device="cpu", reasons=(*plan.reasons, why))
    if plan.sketched:  # a small system is ill-conditioned more than it is slow
        double = double or plan.direct
        plan = replace(plan, precision="double" if double else "mixed")
    precision = "double" if double else "single"
    why = engine_named("cuda").explain(kernel, points.width or 1, precision)
    seconds = (
        None if plan.seconds is None else _seconds(plan, items or len(points), points, newton)
    )
    return replace(plan, device="cuda", seconds=seconds, reasons=(*plan.reasons, why))


def _seconds(plan: Decision, n: int, points: Points, newton: bool) -> float:
    """Predict the time on a GPU such as an H200, with what the CPU does before and after."""
    M, width = float(plan.rank or 0), points.width or 1
    pairs, cpu = n * M, 25e9 * cores()
    if plan.sketched and plan.precision == "mixed":
        return 1.5 + 30 * pairs * (0.2 + 0.015 * width) * 1e-12 + M**3 / 2e13
    if newton:  # with about ten passes for each of its steps
        return 1.5 + 3.5e-10 * EXPECTED_STEPS * pairs
    if plan.sketched:
        return 1.5 + 2 * pairs * M / 4e13 + 2e-10 * pairs + 60 * M**3 / cpu
    if plan.solver == "cholesky":
        return 0.1 + n**3 / 1e14 + 2e-11 * n**2
    return 1.0 + 1e-9 * n**2 + 4 * pairs * M / cpu


def on_gpu(plan: Decision) -> bool:
    """Tell whether a decided plan computes on a GPU."""
    return plan.device == "cuda"


def _elsewhere(asked: str) -> str:
    """Return the engine that was asked for by its name, or else the processor."""
    return "cpu" if asked in ("auto", "cuda") else asked


def assembled(kernel: Kernel, points: Points, plan: Decision, double: bool = True) -> Gram:
    """Return the Gram operator of a plan, where the plan says."""
    return assemble(kernel, points, plan, "double" if double else "single")


def fits(points: Points) -> bool:
    """Tell whether the Gram matrix fits into the memory of the GPU, in double precision."""
    return 8.5 * len(points) ** 2 <= (engine_named("cuda").free_bytes() or 0)
