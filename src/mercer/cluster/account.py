"""Accounts: what ran where, in a few numbers for each worker."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mercer.errors import MercerError
from mercer.memory import format_bytes

__all__ = ["ClusterAccount", "WorkerShare", "at_work", "here"]


@dataclass
class WorkerShare:
    """What a worker has done.

    Attributes
    ----------
    tasks, rows : int
    seconds : float
        Of work, reading included.
    reading : float
        Seconds of it that went into reading rows.
    peak : int
        The most bytes that its process has had, as far as the system says.
    """

    tasks: int = 0
    rows: int = 0
    seconds: float = 0.0
    reading: float = 0.0
    peak: int = 0

    def add(self, other: WorkerShare) -> None:
        """Add what it has done besides."""
        self.tasks += other.tasks
        self.rows += other.rows
        self.seconds += other.seconds
        self.reading += other.reading
        self.peak = max(self.peak, other.peak)


@dataclass
class ClusterAccount:
    """What passes over data have taken.

    Attributes
    ----------
    workers : dict
        Their shares, by address.
    passes : int
        Over the rows, whoever made them.
    recalled : int
        Passes of which a checkpoint had the answer.
    twice, again : int
        Tasks that were given to a second worker because the first was slow, and because it was
        gone.
    received : int
        Bytes that came back to this process.
    """

    workers: dict[str, WorkerShare] = field(default_factory=dict)
    passes: int = 0
    recalled: int = 0
    twice: int = 0
    again: int = 0
    received: int = 0

    def add(self, shares: dict[str, WorkerShare]) -> None:
        """Add what some workers have done."""
        for address, share in shares.items():
            self.workers.setdefault(address, WorkerShare()).add(share)

    def __str__(self) -> str:
        lines = [
            f"{self.passes} passes over the rows, {self.recalled} of them from the checkpoint; "
            f"{format_bytes(self.received)} came back"
        ]
        if self.twice or self.again:
            lines.append(
                f"{self.twice} tasks computed twice because they were slow, {self.again} again "
                "because their worker was gone"
            )
        for address, share in sorted(self.workers.items()):
            lines.append(
                f"{address}: {share.tasks} tasks, {share.rows:,} rows, {share.seconds:.1f} s "
                f"({share.reading:.1f} s reading), at most {format_bytes(share.peak)}"
            )
        return "\n".join(lines)


def here() -> str:
    """Return the address of the worker that this task runs on."""
    if "distributed" in sys.modules:
        from distributed import get_worker

        try:
            return str(get_worker().address)
        except ValueError:
            pass
    return "here"


@contextmanager
def at_work(title: str) -> Iterator[WorkerShare]:
    """Count what a task takes, and say in its errors where it ran and what it worked on."""
    share, start = WorkerShare(tasks=1), time.perf_counter()
    try:
        yield share
    except MercerError as error:
        raise type(error)(f"{error} ({title}; worker {here()})") from error
    except Exception as error:
        error.add_note(f"while mercer worked on {title} (worker {here()})")
        raise
    share.seconds, share.peak = time.perf_counter() - start, _peak()


def _peak() -> int:
    if os.name != "posix":
        return 0
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
