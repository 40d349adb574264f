"""Schedulers: what hands tasks to workers. Dask's is one, and one in this process another.

A task is a function with arguments, some of which may be tickets of other tasks. Nothing is pinned
to a worker and no data are scattered: whatever is lost can be computed again from its task.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Collection, Iterable
from typing import Any, Literal, Protocol
from uuid import uuid4

from mercer.cluster.connection import require_alike
from mercer.errors import ClusterError

__all__ = ["DaskScheduler", "Scheduler", "State"]

State = Literal["waiting", "done", "failed", "lost"]

KNOWN_SECONDS = 1.0  # for which a list of workers is believed
# What Dask calls a task that is gone; the names of its classes differ between versions.
LOST = ("KilledWorker", "CancelledError", "FutureCancelledError", "FuturesCancelledError")
ANSWER_SECONDS = 10.0  # to answer a question of bookkeeping, such as who works on what


class Scheduler(Protocol):
    """What passes over data need of whoever runs their tasks."""

    def submit(
        self, function: Callable[..., Any], *given: Any, name: str, avoid: Iterable[str] = ()
    ) -> Any:
        """Return a ticket for a task; tickets among its arguments stand for their results."""

    def wait(self, tickets: Collection[Any], seconds: float) -> None:
        """Return when one of some tasks has ended, or after so many seconds."""

    def state(self, ticket: Any) -> State:
        """Say how far a task is; "lost" is one that has to be handed in again."""

    def error(self, ticket: Any) -> BaseException:
        """Return what a failed or lost task has raised."""

    def result(self, ticket: Any, seconds: float) -> Any:
        """Return what a task that is done has found."""

    def release(self, ticket: Any) -> None:
        """Say that nobody needs a task or its result any more."""

    def workers(self) -> dict[str, int]:
        """Return the addresses of the workers, and how many tasks each runs at once."""

    def working_on(self, ticket: Any) -> list[str]:
        """Return the workers that a task was given to."""

    def gone(self) -> list[str]:
        """Return the addresses of workers that were there once."""

    def memory(self) -> int | None:
        """Return the bytes that a worker allows for each of its tasks; None if nobody says."""

    def now(self) -> float:
        """Return the time in seconds, from any beginning."""


class DaskScheduler:
    """The scheduler of a `distributed.Client`.

    Parameters
    ----------
    client : distributed.Client
    known : sequence of str
        Workers that have been looked at.
    """

    def __init__(self, client: Any, known: Iterable[str] = ()) -> None:
        self.client = client
        self._seen = set(known)
        self._workers: tuple[float, dict[str, int]] = (-math.inf, {})

    def submit(
        self, function: Callable[..., Any], *given: Any, name: str, avoid: Iterable[str] = ()
    ) -> Any:
        options: dict[str, Any] = {}
        slow = set(avoid)
        others = [one for one in self.workers() if one not in slow] if slow else []
        if others:
            options = {"workers": others, "allow_other_workers": True}
        with warnings.catch_warnings():
            # Centers travel with their task, so that whoever needs them can have them again.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self.client.submit(
                function, *given, key=f"mercer-{name}-{uuid4().hex}", pure=False, **options
            )

    def wait(self, tickets: Collection[Any], seconds: float) -> None:
        from distributed import wait

        self._require_running()
        try:
            with self.client.as_current():
                wait(list(tickets), timeout=seconds, return_when="FIRST_COMPLETED")
        except TimeoutError:
            pass
        except Exception as error:  # one was cancelled, which its state says
            if type(error).__name__ not in LOST:
                raise

    def state(self, ticket: Any) -> State:
        status = ticket.status
        if status == "finished":
            return "done"
        if status == "cancelled":
            self._require_running()
            return "lost"
        if status != "error":
            return "waiting"
        return "lost" if type(self.error(ticket)).__name__ in LOST else "failed"

    def error(self, ticket: Any) -> BaseException:
        if ticket.status == "cancelled":
            return ClusterError("the task was cancelled")
        found = ticket.exception(timeout=ANSWER_SECONDS)
        return found if isinstance(found, BaseException) else ClusterError(str(found))

    def result(self, ticket: Any, seconds: float) -> Any:
        return ticket.result(timeout=seconds)

    def release(self, ticket: Any) -> None:
        ticket.release()

    def workers(self) -> dict[str, int]:
        asked, known = self._workers
        if time.monotonic() - asked > KNOWN_SECONDS:
            try:
                found = self.client.sync(
                    self.client.scheduler.ncores, callback_timeout=ANSWER_SECONDS
                )
                known = {str(address): int(count) for address, count in found.items()}
            except (TimeoutError, OSError):  # what was known is believed; patience has an end
                self._require_running()
            if new := sorted(set(known) - self._seen):
                require_alike(self.client, ANSWER_SECONDS, new)
                self._seen.update(new)
            self._workers = (time.monotonic(), known)
        return known

    def working_on(self, ticket: Any) -> list[str]:
        try:
            found = self.client.sync(
                self.client.scheduler.processing,
                workers=None,
                callback_timeout=ANSWER_SECONDS,
            )
        except (TimeoutError, OSError):
            return []
        return [address for address, keys in found.items() if ticket.key in keys]

    def gone(self) -> list[str]:
        """Return workers that were there once."""
        return sorted(self._seen - set(self._workers[1]))

    def now(self) -> float:
        return time.monotonic()

    def memory(self) -> int | None:
        try:
            found = self.client.sync(
                self.client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER_SECONDS
            )
        except (TimeoutError, OSError, TypeError):
            return None
        allowed = [
            int(one.get("memory_limit") or 0) // max(int(one["nthreads"]), 1)
            for one in found["workers"].values()
        ]
        return min((some for some in allowed if some), default=None)

    def _require_running(self) -> None:
        if self.client.status not in ("running", "newly-created"):
            raise ClusterError(
                f"the connection to the scheduler {self.client!r} is {self.client.status}; start "
                "it again, and use checkpoint=FOLDER to go on where the fit was"
            )
