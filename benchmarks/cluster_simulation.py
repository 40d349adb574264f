"""A simulation of very many workers: mercer's own passes on a modelled scheduler.

What is real: `mercer.cluster.passes`, with its window, its tree of sums, its second computations
and its limits; the lengths of tasks, measured here; the bytes. What is modelled: a clock, a
network of 10 Gbit/s at each computer, a scheduler that takes a millisecond for each task, failures
of workers that come by chance (Poisson), each worker being replaced after two minutes, and lengths
that spread as those measured do, with one in a thousand five times as long.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.cluster import run_all, run_sum
from mercer.cluster.account import ClusterAccount
from mercer.cluster.passes import Task
from mercer.domains import InMemory
from mercer.domains.parts import Part
from mercer.gram.fold import FAN
from mercer.gram.sketch import CenterSketch
from mercer.kernels import Kernel
from mercer.threads import one_blas_thread, using

REPLACED_SECONDS = 120.0  # until there is another worker in the place of one that failed
SLOW_SHARE, SLOW_TIMES = 0.001, 5.0
MEASURED = 5  # repetitions of each task


@dataclass(frozen=True)
class Network:
    """What travelling takes."""

    bytes_a_second: float = 1.25e9
    task_seconds: float = 0.001  # of the scheduler, for each task

    def seconds(self, size: float) -> float:
        """Return the time of so many bytes from one computer to another."""
        return size / self.bytes_a_second


def measured_lengths(part: Part, kernel: Kernel, centers: int) -> dict[str, np.ndarray]:
    """Return seconds of the tasks of a ridge fit on one core: look, moments, residual."""
    with using(1), one_blas_thread:
        raw = part.read()
        points = kernel.admit(raw[0])
        sketch = CenterSketch(kernel, InMemory(points, len(points)), points[:centers])
        V, A = np.ones((len(points), 2)), np.ones((centers, 1))
        works: dict[str, Callable[[], Any]] = {
            "survey": lambda: kernel.admit(part.read()[0]),
            "moments": lambda: (kernel.admit(part.read()[0]), sketch.moments_and_adjoint(V)),
            "normal": lambda: (kernel.admit(part.read()[0]), sketch.normal(A)),
        }
        return {name: np.array([_seconds(work) for _ in range(MEASURED)])
                for name, work in works.items()}  # fmt: skip


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@dataclass(eq=False)
class Ticket:
    """A task on its way."""

    seconds: float
    received: int
    parts: tuple[Ticket, ...] = ()
    avoid: frozenset[int] = frozenset()
    state: str = "waiting"
    worker: int | None = None
    released: bool = False


@dataclass
class Simulation:
    """A scheduler with a clock of its own."""

    count: int
    lengths: np.ndarray
    sums: int  # bytes of a task's result
    own: int  # bytes that each task of a chunk brings from the client
    rate: float  # failures of a worker, an hour
    network: Network
    rng: np.random.Generator
    clock: float = 0.0
    events: list[Any] = field(default_factory=list)
    queue: deque[Ticket] = field(default_factory=deque)
    working: dict[int, Ticket] = field(default_factory=dict)
    free: list[int] = field(default_factory=list)
    held: dict[int, set[Ticket]] = field(default_factory=dict)
    useful: float = 0.0
    spent: float = 0.0
    moved: float = 0.0
    failures: int = 0
    ready_at: float = 0.0

    def __post_init__(self) -> None:
        self.order, self.free = itertools.count(), list(range(self.count))
        self.alive, self.fresh = set(self.free), itertools.count(self.count)
        if self.rate:
            self._at(self._until_failure(), "failure", None)

    def submit(self, function: Any, *given: Any, name: str, avoid: Iterable[str] = ()) -> Ticket:
        parts = tuple(one for one in given if isinstance(one, Ticket))
        if parts:
            travelled = self.network.seconds(self.sums * (len(parts) - 1))
            ticket = Ticket(travelled + len(parts) * self.sums / 4e9, 0, parts)
        else:
            length = float(self.rng.choice(self.lengths))
            length *= SLOW_TIMES if self.rng.random() < SLOW_SHARE else 1.0
            ticket = Ticket(length, self.own, (), frozenset(map(int, avoid)))
        self.queue.append(ticket)
        return ticket

    def wait(self, tickets: Collection[Ticket], seconds: float) -> None:
        """Go to the next event that ends one of the tasks."""
        end, wanted = self.clock + seconds, set(tickets)
        while not any(ticket.state != "waiting" for ticket in wanted):
            self._assign()
            if not self.events or self.events[0][0] > end:
                self.clock = end
                return
            self.clock, _, kind, what = heapq.heappop(self.events)
            getattr(self, f"_{kind}")(what)

    def state(self, ticket: Ticket) -> Any:
        return ticket.state

    def result(self, ticket: Ticket, seconds: float) -> Any:
        self.clock += self.network.seconds(self.sums)
        self.moved += self.sums
        return None, {}

    def release(self, ticket: Ticket) -> None:
        ticket.released = True
        if ticket.worker is not None:
            self.held.get(ticket.worker, set()).discard(ticket)

    def workers(self) -> dict[str, int]:
        return {str(worker): 1 for worker in self.alive}

    def working_on(self, ticket: Ticket) -> list[str]:
        return [] if ticket.worker is None else [str(ticket.worker)]

    def now(self) -> float:
        return self.clock

    def gone(self) -> list[str]:
        return []

    def memory(self) -> int | None:
        return None

    def error(self, ticket: Ticket) -> BaseException:
        return RuntimeError("nothing fails in a simulation but workers")

    # ---- events ---------------------------------------------------------------------------------

    def _at(self, when: float, kind: str, what: Any) -> None:
        heapq.heappush(self.events, (when, next(self.order), kind, what))

    def _until_failure(self) -> float:
        return self.clock + float(self.rng.exponential(3600 / (self.rate * self.count)))

    def _assign(self) -> None:
        """Give waiting tasks to free workers; the scheduler and the client's link take turns."""
        for _ in range(len(self.queue)):
            if not self.free:
                return
            ticket = self.queue.popleft()
            if ticket.released:
                continue
            if any(part.state != "done" for part in ticket.parts):
                self.queue.append(ticket)  # a part is made again
                continue
            worker = next((one for one in self.free if one not in ticket.avoid), self.free[0])
            self.free.remove(worker)
            self.ready_at = max(self.ready_at, self.clock) + self.network.task_seconds
            self.ready_at += self.network.seconds(ticket.received)
            travelled = sum(part.worker != worker for part in ticket.parts) * self.sums
            self.moved += ticket.received + travelled
            ticket.worker, self.working[worker] = worker, ticket
            self._at(self.ready_at + ticket.seconds, "end", (worker, ticket))

    def _end(self, what: tuple[int, Ticket]) -> None:
        worker, ticket = what
        if self.working.get(worker) is not ticket:
            return  # the worker had gone
        del self.working[worker]
        self.free.append(worker)
        self.spent += ticket.seconds
        if ticket.state == "waiting" and not ticket.released:
            self.useful += ticket.seconds
            ticket.state = "done"
            self.held.setdefault(worker, set()).add(ticket)

    def _failure(self, _: None) -> None:
        """Let a worker go, with what it was doing and what it held."""
        self._at(self._until_failure(), "failure", None)
        if not self.alive:
            return
        worker = int(self.rng.choice(sorted(self.alive)))
        self.failures += 1
        self.alive.discard(worker)
        if worker in self.free:
            self.free.remove(worker)
        lost = [self.working.pop(worker)] if worker in self.working else []
        if lost:
            self.spent += lost[0].seconds / 2
        for ticket in self.held.pop(worker, set()):
            self.useful -= ticket.seconds  # it is made again
            lost.append(ticket)
        for ticket in lost:
            if not ticket.released:
                ticket.state, ticket.worker = "waiting", None
                self.queue.appendleft(ticket)
        self._at(self.clock + REPLACED_SECONDS, "replacement", next(self.fresh))

    def _replacement(self, worker: int) -> None:
        self.alive.add(worker)
        self.free.append(worker)


def simulated(
    lengths: dict[str, np.ndarray], rows: int, chunk: int, centers: int, workers: int,
    rate: float, network: Network, seed: int = 0,
) -> str:  # fmt: skip
    """Return in words what the passes of a ridge fit take: time, bytes, and the share of waste."""
    rng, account = np.random.default_rng(seed), ClusterAccount()
    chunks, total, moved, spent, useful, failures = -(-rows // chunk), 0.0, 0.0, 0.0, 0.0, 0
    tasks = [Task(print, (), f"chunk {number}") for number in range(chunks)]
    passes = (
        ("survey", 8 * chunk, 0),
        ("moments", 8 * centers**2, 16 * chunk),
        ("normal", 8 * centers, 0),
        ("normal", 8 * centers, 0),
    )
    for name, sums, own in passes:
        there = Simulation(workers, lengths[name], sums, own, rate, network, rng)
        if name == "survey":
            run_all(there, account, tasks, 900.0, name)
        else:
            run_sum(there, account, tasks, 900.0, name, print, FAN)
        total, moved = total + there.clock, moved + there.moved
        spent, useful = spent + there.spent, useful + there.useful
        failures += there.failures
    waste = 1 - useful / spent
    used = useful / total / workers
    return (
        f"{total / 60:.1f} minutes, {moved / 1e9:.0f} GB over the network, {waste:.1%} of work "
        f"in vain, {used:.0%} of the workers' time used, {failures} failures, {account.twice} "
        "tasks computed twice"
    )
