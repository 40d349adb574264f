"""Passes: one task for each chunk, and whatever happens to the workers meanwhile.

Tasks are handed in a window at a time. Sums go up a tree whose shape depends on the number of
chunks alone, so that the result has the same bits whoever computed what. A task whose worker is
gone is handed in again, a slow one at the end is given to a second worker, whose answer counts if
it comes first. Nothing is waited for longer than the cluster's patience without any progress.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from mercer.cluster.account import ClusterAccount, WorkerShare
from mercer.cluster.scheduler import Scheduler
from mercer.errors import ClusterError

__all__ = ["Task", "run_all", "run_sum"]

TICK_SECONDS = 0.5  # after which the workers are looked at, if nothing has ended
LOSSES = 4  # of the same task, after which its workers do not go by chance
SLOW_FACTOR = 3.0  # times what a task takes, after which it is computed twice
MIN_SLOW_SECONDS = 2.0  # below which a second computation would not pay
SHOWN = 3  # tasks and workers that a message names
SPARE_TASKS = 16  # that wait at the workers, so that none is idle


@dataclass(frozen=True)
class Task:
    """A function and its arguments; it returns a result and the worker's share."""

    function: Callable[..., tuple[Any, dict[str, WorkerShare]]]
    given: tuple[Any, ...]
    title: str


Place = tuple[int, int]  # level in the tree, from 0 for tasks on, and number


@dataclass
class Running:
    """A task on its way."""

    place: Place
    since: float
    twin: bool = False


def run_all(
    scheduler: Scheduler,
    account: ClusterAccount,
    tasks: Sequence[Task],
    patience: float,
    name: str,
    done: Callable[[int], None] = lambda number: None,
) -> list[Any]:
    """Return what each of some tasks has found, in their order."""
    found: list[Any] = [None] * len(tasks)

    def put(place: Place, result: Any) -> None:
        found[place[1]] = result
        done(place[1])

    _Pass(scheduler, account, tasks, patience, name, put, None, 1).run()
    return found


def run_sum(
    scheduler: Scheduler,
    account: ClusterAccount,
    tasks: Sequence[Task],
    patience: float,
    name: str,
    combine: Callable[..., Any],
    fan: int,
) -> Any:
    """Return what `combine` makes of the results, `fan` of them at a time, up a tree."""
    found: list[Any] = []
    run = _Pass(
        scheduler, account, tasks, patience, name,
        lambda place, result: found.append(result), combine, fan,
    )  # fmt: skip
    run.run()
    return found[0]


@dataclass
class _Pass:
    """All tasks of a pass, and the tree of their sums."""

    scheduler: Scheduler
    account: ClusterAccount
    tasks: Sequence[Task]
    patience: float
    name: str
    put: Callable[[Place, Any], None]
    combine: Callable[..., Any] | None
    fan: int
    running: dict[Any, Running] = field(default_factory=dict)
    ready: dict[Place, Any] = field(default_factory=dict)
    below: dict[Place, list[Place]] = field(default_factory=dict)
    losses: dict[Place, int] = field(default_factory=dict)

    def run(self) -> None:
        self.queue = deque((0, number) for number in range(len(self.tasks)))
        self.sizes = [len(self.tasks)]
        while self.combine is not None and self.sizes[-1] > 1:
            self.sizes.append(-(-self.sizes[-1] // self.fan))
        self.left = len(self.tasks) if self.combine is None else 1
        self.done = 0
        self.began = self.moved = self.last = self.scheduler.now()
        try:
            while self.left:
                self._step()
        finally:
            for ticket in [*self.running, *self.ready.values()]:
                self.scheduler.release(ticket)

    def _step(self) -> None:
        workers = self.scheduler.workers()
        threads = sum(workers.values())
        while self.queue and len(self.running) < 2 * threads + SPARE_TASKS:
            self._hand_in(self.queue.popleft())
        self.scheduler.wait(list(self.running), TICK_SECONDS)
        for ticket in list(self.running):
            state = self.scheduler.state(ticket)
            if state != "waiting" and ticket in self.running:
                self.moved = self.scheduler.now()
                {"done": self._finished, "lost": self._lost, "failed": self._failed}[state](ticket)
        now = self.scheduler.now()
        if now - self.moved > self.patience:
            raise ClusterError(self._waited_for(workers))
        if not self.queue and len(workers) > 1:
            self._repeat_slow(now, threads)

    def _waited_for(self, workers: dict[str, int]) -> str:
        titles = [self._title(one.place) for one in self.running.values()][:SHOWN]
        gone = self.scheduler.gone()
        left = (
            f", and {len(gone)} have gone{_listed(gone)}, whose logs may say why" if gone else ""
        )
        return (
            f"nothing has ended for {self.patience:.0f} seconds, and {len(self.running)} tasks "
            f"are waited for, such as {'; '.join(titles)}; the cluster has {len(workers)} workers"
            f"{_listed(workers)}{left}. Start workers, or wait longer with Cluster(patience=...)"
        )

    def _hand_in(self, place: Place, avoid: Sequence[str] = (), twin: bool = False) -> None:
        level, number = place
        label = f"{self.name}-{level}"
        if level == 0:
            task = self.tasks[number]
            ticket = self.scheduler.submit(task.function, *task.given, name=label, avoid=avoid)
        else:
            parts = [self.ready[child] for child in self.below[place]]
            ticket = self.scheduler.submit(self.combine, *parts, name=label)  # type: ignore[arg-type]
        self.running[ticket] = Running(place, self.scheduler.now(), twin)

    def _finished(self, ticket: Any) -> None:
        place = self.running.pop(ticket).place
        for other in [t for t, one in self.running.items() if one.place == place]:
            self.scheduler.release(other)  # the first answer counts
            del self.running[other]
        if place[0] == 0:
            self.done, self.last = self.done + 1, self.scheduler.now()
        for child in self.below.pop(place, []):
            self.scheduler.release(self.ready.pop(child))
        if self.combine is None or place[0] == len(self.sizes) - 1:
            try:
                result, shares = self.scheduler.result(ticket, self.patience)
            except TimeoutError:
                raise ClusterError(
                    f"{self._title(place)} is done, but its result did not come within "
                    f"{self.patience:.0f} seconds"
                ) from None
            self.account.add(shares)
            self.put(place, result)
            self.scheduler.release(ticket)
            self.left -= 1
            return
        self.ready[place] = ticket
        self._ascend(place)

    def _ascend(self, place: Place) -> None:
        """Hand in the sum that a result belongs to, if all of its parts are there."""
        level, number = place[0] + 1, place[1] // self.fan
        first = number * self.fan
        last = min(first + self.fan, self.sizes[place[0]])
        children = [(place[0], n) for n in range(first, last)]
        if all(child in self.ready for child in children):
            self.below[level, number] = children
            self._hand_in((level, number))

    def _lost(self, ticket: Any) -> None:
        """Hand a task in again whose worker is gone; of a sum all that it is made of."""
        place = self.running.pop(ticket).place
        error = self.scheduler.error(ticket)
        self.scheduler.release(ticket)
        self.losses[place] = self.losses.get(place, 0) + 1
        if self.losses[place] > LOSSES:
            raise ClusterError(
                f"the workers of {self._title(place)} were gone {self.losses[place]} times "
                f"({error}); is their memory too small for it?"
            ) from error
        self.account.again += 1
        if any(one.place == place for one in self.running.values()):
            return  # a twin is at work
        for child in self.below.pop(place, []):
            self._discard(child)
        if place[0] == 0:
            self.queue.append(place)

    def _discard(self, place: Place) -> None:
        """Let go of a result, and compute it again from its chunks."""
        ticket = self.ready.pop(place, None)
        if ticket is not None:
            self.scheduler.release(ticket)
        level, number = place
        if level == 0:
            self.done -= 1
            self.queue.append(place)
            return
        first = number * self.fan
        for child in range(first, min(first + self.fan, self.sizes[level - 1])):
            self._discard((level - 1, child))

    def _failed(self, ticket: Any) -> None:
        error = self.scheduler.error(ticket)
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("mercer"):
            where = ", ".join(self.scheduler.working_on(ticket)) or "a worker"
            raise ClusterError(
                f"{where} cannot import {error.name}: install this version of mercer on every "
                "worker"
            ) from error
        raise error

    def _repeat_slow(self, now: float, threads: int) -> None:
        """Give tasks that take much longer than others to a second worker."""
        late = {t: one for t, one in self.running.items() if one.place[0] == 0}
        if not self.done or len(late) > threads or self.done < len(late):
            return
        # To the end of the last task, since waiting for a slow one must not make it usual.
        usual = (self.last - self.began) * threads / self.done
        for ticket, one in late.items():
            alone = sum(other.place == one.place for other in late.values()) == 1
            if alone and now - one.since > max(MIN_SLOW_SECONDS, SLOW_FACTOR * usual):
                self.account.twice += 1
                self._hand_in(one.place, self.scheduler.working_on(ticket), twin=True)

    def _title(self, place: Place) -> str:
        if place[0] == 0:
            return self.tasks[place[1]].title
        return f"the sum of tasks {place[1] * self.fan ** place[0]} and following"


def _listed(workers: Collection[str]) -> str:
    some = list(workers)[:SHOWN]
    return f" ({', '.join(some)}{', …' if len(workers) > SHOWN else ''})" if some else ""
