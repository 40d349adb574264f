"""Evaluation on a cluster: candidates and folds as tasks, each of which is what one computer does.

Where nothing is fitted again (closed forms), candidates of one kernel stay together with all
folds, because one factor serves them all. Where solutions are followed along C, they stay together
fold by fold. Anything else is one task for each candidate and fold. The items are sent to each
worker that needs them, once.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from mercer.cluster import Cluster, alone
from mercer.cluster.account import WorkerShare, at_work, here
from mercer.cluster.passes import Task
from mercer.domains import Items
from mercer.kernels import named
from mercer.selection.closed_form import has_closed_form
from mercer.selection.evaluation import Account, Outcome
from mercer.selection.splits import Split
from mercer.selection.svc_along_C import has_path
from mercer.threads import one_blas_thread, using

__all__ = ["evaluate_on"]

Found = tuple[list[list[Outcome]], Account]
Place = tuple[tuple[int, ...], tuple[int, ...]]  # candidates, and folds


def evaluate_on(
    cluster: Cluster,
    run: Callable[..., Found],
    machines: Sequence[BaseEstimator],
    data: tuple[Items, ArrayLike | None],
    splits: Sequence[Split],
    given: tuple[Any, ...],
    how: dict[str, Any],
) -> Found:
    """Return what `run` would return for all machines and splits, done by the workers."""
    how = dict(how)
    step = how.pop("step", lambda count: None)
    places = _places(machines, len(splits))
    before = {address: share.seconds for address, share in cluster.account.workers.items()}
    items = cluster.keep((data, list(splits), given, how, cluster.threads), "items")
    tasks = [
        Task(_work, (items, run, [machines[i] for i in some], folds), _title(some, folds))
        for some, folds in places
    ]

    def done(number: int) -> None:
        step(len(places[number][0]) * len(places[number][1]))

    try:
        answers = cluster.map(tasks, "candidates", done)
    finally:
        cluster.scheduler.release(items)
    outcomes = [[Outcome() for _ in splits] for _ in machines]
    account = Account()
    for (some, folds), (rows, own, told) in zip(places, answers, strict=True):
        for i, row in zip(some, rows, strict=True):
            for k, outcome in zip(folds, row, strict=True):
                outcomes[i][k] = outcome
        account.add(own)
        for category, text in told:
            warnings.warn(text, category, stacklevel=4)
    account.counts["tasks on the cluster"] += len(tasks)
    for address, share in sorted(cluster.account.workers.items()):
        account.seconds[f"worker {address}"] += share.seconds - before.get(address, 0.0)
    return outcomes, account


def _places(machines: Sequence[BaseEstimator], folds: int) -> list[Place]:
    """Return which candidates and folds are one task."""
    every = tuple(range(folds))
    whole: dict[Hashable, list[int]] = defaultdict(list)
    paths: dict[Hashable, list[int]] = defaultdict(list)
    found: list[Place] = []
    for i, machine in enumerate(machines):
        if has_closed_form(machine):
            whole[named(machine.kernel)].append(i)
        elif has_path(machine):
            paths[named(machine.kernel)].append(i)
        else:
            found += [((i,), (k,)) for k in every]
    found += [(tuple(some), (k,)) for some in paths.values() for k in every]
    return [*((tuple(some), every) for some in whole.values()), *found]


def _title(some: tuple[int, ...], folds: tuple[int, ...]) -> str:
    return f"candidates {', '.join(map(str, some))} on folds {', '.join(map(str, folds))}"


def _work(
    kept: tuple[Any, ...],
    run: Callable[..., Found],
    machines: list[BaseEstimator],
    folds: tuple[int, ...],
) -> tuple[tuple[list[list[Outcome]], Account, list[Any]], dict[str, WorkerShare]]:
    """Evaluate some candidates on some folds, and bring the warnings home."""
    (X, y), splits, given, how, threads = kept
    with (
        at_work(f"{len(machines)} candidates on folds {', '.join(map(str, folds))}") as share,
        using(threads),
        one_blas_thread,
        alone(),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        outcomes, account = run(machines, X, y, [splits[k] for k in folds], *given, **how)
    told = [(one.category, str(one.message)) for one in caught]
    return (outcomes, account, list(dict.fromkeys(told))), {here(): share}
