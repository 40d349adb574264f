"""Studies on a cluster: families and folds as tasks, and what ran where in words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from mercer.cluster import Cluster, alone, current
from mercer.cluster.account import WorkerShare, at_work, here
from mercer.cluster.passes import Task
from mercer.errors import MercerError
from mercer.threads import one_blas_thread, using

__all__ = ["choices_on", "where_notes"]


def choices_on(
    cluster: Cluster, folds: Sequence[Any], families: Sequence[Any], step: Callable[..., None]
) -> dict[tuple[int, str], Any]:
    """Return what each family chooses on each fold, or the error that it ends with.

    The rows of a fold are sent to each worker that needs them, once.
    """
    kept = [cluster.keep((fold, cluster.threads), "fold") for fold in folds]
    places = [(family, number) for family in families for number in range(len(folds))]
    tasks = [
        Task(_choose, (kept[number], family), f"{family.label} on fold {number}")
        for family, number in places
    ]
    try:
        found = cluster.map(tasks, "families", lambda number: step(1, places[number][0].label))
    finally:
        for ticket in kept:
            cluster.scheduler.release(ticket)
    return {
        (number, family.name): one for (family, number), one in zip(places, found, strict=True)
    }


def _choose(kept: tuple[Any, int], family: Any) -> tuple[Any, dict[str, WorkerShare]]:
    fold, threads = kept
    with (
        at_work(family.label) as share,
        using(threads),
        one_blas_thread,
        alone(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of candidates; those of the winner are told
        share.rows += len(fold.y)
        try:
            fold.choose(family)
            found = fold.choices.pop(family.name)
        except MercerError as error:
            found = error
    return found, {here(): share}


def where_notes() -> tuple[str, ...]:
    """Return what ran where, if a cluster was there.

    Examples
    --------
    >>> where_notes()
    ()
    """
    cluster = current()
    if cluster is None or not cluster.account.workers:
        return ()
    shares = sorted(cluster.account.workers.items())
    each = ", ".join(
        f"{address} ({share.tasks} tasks, {share.seconds:.1f} s)" for address, share in shares
    )
    found = f"Kernels and parameters were chosen on {len(shares)} workers of a cluster: {each}."
    again = cluster.account.again + cluster.account.twice
    return (f"{found} {again} tasks were computed again." if again else found,)
