"""Clusters: what a fit takes there, in tasks, bytes of a worker, bytes on the way, and seconds."""

from __future__ import annotations

import math
from dataclasses import replace

from mercer.cluster import Cluster, current
from mercer.domains import Points
from mercer.errors import PlanError
from mercer.gram.fold import FAN
from mercer.gram.operator import SUM_GROUPS
from mercer.gram.sketch import MOMENT_ROWS, moment_sums
from mercer.memory import format_bytes
from mercer.plans.plan import Decision, Plan
from mercer.solvers.cost import Size
from mercer.solvers.iterative import EXPECTED_STEPS as STEPS
from mercer.solvers.sketched_newton import EXPECTED_STEPS
from mercer.threads import cores

__all__ = ["products_on_cluster", "sketch_on_cluster", "workers_speed"]

# Of a worker that has loaded mercer, Dask and what its kernels compile: 280 MB were seen.
PROCESS_BYTES = 280_000_000
TASK_SECONDS = 0.004  # that a task spends at the scheduler and on its way
NETWORK = 1.25e9  # bytes a second, of 10 Gbit
# A chunk as it was read, as numbers, and as the kernel wants them.
COPIES = 3
DIRECT_PASSES, STEP_PASSES = 3, 16  # the system and its residuals; about as many steps
MIN_ITEMS = 20_000  # from which on products are worth the way


def sketch_on_cluster(decision: Decision, size: Size, newton: bool) -> Decision:
    """Return the decision for a sketch of a stream, with what it takes on the cluster."""
    cluster = current(required=True)
    assert cluster is not None
    M, t, n = decision.rank or 1, size.targets + 1, size.items
    piece = size.piece or int(n * size.row)
    chunks = max(math.ceil(n * size.row / piece), 1)
    slots, workers = sum(cluster.workers.values()), len(cluster.workers)
    passes = 1 + (DIRECT_PASSES if decision.direct else STEP_PASSES)
    passes *= EXPECTED_STEPS if newton else 1
    tasks = passes * (chunks + chunks // (FAN - 1))
    sums = 8 * M * (M if decision.direct else t)
    threads = cluster.threads
    stripes = 8 * M * MOMENT_ROWS * threads
    worker = PROCESS_BYTES + int(
        COPIES * piece + 2 * M * size.row + stripes
        + 8 * M**2 * (2 + moment_sums(M)) * decision.direct + FAN * sums
    )  # fmt: skip
    own = 8 * n * t * (passes - 1)  # targets and weights, to the tasks of their chunks
    network = int(
        own + 8 * n * size.targets + workers * M * (size.row + passes * 8 * t)
        + (passes - 1) * sums * min(chunks, 2 * workers)
    )  # fmt: skip
    _require_memory(cluster, worker, threads)
    seconds = decision.seconds
    if seconds is not None:
        seconds = seconds * cores() / max(slots * threads, 1)
        seconds += tasks * TASK_SECONDS + network / NETWORK
    why = (
        f"on {workers} workers: {tasks} tasks, about {format_bytes(worker)} a worker, "
        f"{format_bytes(network)} over the network"
    )
    return replace(
        decision, device="cluster", seconds=seconds, reasons=(*decision.reasons, why),
        tasks=tasks, worker_bytes=worker, network=network,
    )  # fmt: skip


def workers_speed(request: Plan) -> float:
    """Return how many times faster than here products are on the cluster, or 1 without one."""
    cluster = current(required=request.device == "cluster")
    if cluster is None or request.device not in ("auto", "cluster"):
        return 1.0
    slots = min(sum(cluster.workers.values()), SUM_GROUPS) * cluster.threads
    return max(slots / cores(), 1.0)


def products_on_cluster(decision: Decision, points: Points, speed: float) -> Decision:
    """Return the decision for steps, whose products workers compute if that pays."""
    asked = decision.request.device
    cluster = current()
    pays = speed > 1 or asked == "cluster"
    if cluster is None or decision.solver != "iterative" or not pays:
        return decision
    if asked != "cluster" and len(points) < MIN_ITEMS:
        return decision
    slots, workers = sum(cluster.workers.values()), len(cluster.workers)
    tasks = STEPS * SUM_GROUPS
    worker = PROCESS_BYTES + int(COPIES * points.bytes) + 16 * len(points)
    network = workers * points.bytes + tasks * 16 * len(points)
    _require_memory(cluster, worker, cluster.threads)
    seconds = decision.seconds
    if seconds is not None:
        seconds = seconds / speed + tasks * TASK_SECONDS + network / NETWORK
    why = (
        f"products of the steps on {min(slots, SUM_GROUPS)} cores of {workers} workers: about "
        f"{tasks} tasks, {format_bytes(worker)} a worker, {format_bytes(network)} over the network"
    )
    return replace(
        decision, device="cluster", seconds=seconds, reasons=(*decision.reasons, why),
        tasks=tasks, worker_bytes=worker, network=network,
    )  # fmt: skip


def _require_memory(cluster: Cluster, needed: int, threads: int) -> None:
    """Refuse chunks that a worker has no room for, as far as workers say how much they have."""
    there = cluster.scheduler.memory()
    if there is not None and needed > there:
        raise PlanError(
            f"a task needs about {format_bytes(needed)}, and a worker allows "
            f"{format_bytes(there)} for each; use smaller chunks (rows= of the stream), fewer "
            "centers, or workers with more memory or fewer threads"
        )
