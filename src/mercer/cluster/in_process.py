"""A scheduler in this process, which does one task after the other.

It is for trying things out: nothing has to be started, errors come with their whole history, and
a debugger sees everything.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Any

from mercer.cluster.scheduler import State
from mercer.errors import ClusterError

__all__ = ["InProcess", "Ticket"]


class Ticket:
    """A task that waits, and what became of it."""

    def __init__(self, function: Callable[..., Any], given: tuple[Any, ...], name: str) -> None:
        self.function, self.given, self.name = function, given, name
        self.state: State = "waiting"
        self.value: Any = None
        self.error: BaseException | None = None


class InProcess:
    """Does all tasks here.

    Parameters
    ----------
    travel : bool
        Whether functions and arguments are pickled on their way, as they would be on theirs to
        another computer, so that what cannot travel is noticed.

    Examples
    --------
    >>> here = InProcess()
    >>> ticket = here.submit(max, 1, 2, name="larger")
    >>> here.wait([ticket], seconds=1.0)
    >>> here.result(ticket, seconds=1.0)
    2
    """

    def __init__(self, travel: bool = False) -> None:
        self.travel = travel
        self.waiting: list[Ticket] = []

    def submit(
        self, function: Callable[..., Any], *given: Any, name: str, avoid: Iterable[str] = ()
    ) -> Ticket:
        ticket = Ticket(function, given, name)
        self.waiting.append(ticket)
        return ticket

    def wait(self, tickets: Collection[Ticket], seconds: float) -> None:
        for ticket in list(self.waiting):
            if ticket in tickets:
                with suppress(Exception):  # its state says what has happened
                    self.work(ticket)
                return

    def work(self, ticket: Ticket) -> Any:
        """Do a task, and whatever it needs before that."""
        if ticket in self.waiting:
            self.waiting.remove(ticket)
        if ticket.state == "waiting":
            try:
                given = [
                    self.work(one) if isinstance(one, Ticket) else one for one in ticket.given
                ]
                ticket.value, ticket.state = self.run(ticket, given), "done"
            except Exception as error:
                ticket.error, ticket.state = error, "failed"
        if ticket.error is not None:
            raise ticket.error
        return ticket.value

    def run(self, ticket: Ticket, given: list[Any]) -> Any:
        """Call a function; a test's own scheduler lets it fail here."""
        function = ticket.function
        if self.travel:
            function, given = pickle.loads(pickle.dumps((function, given)))
        return function(*given)

    def state(self, ticket: Ticket) -> State:
        return ticket.state

    def error(self, ticket: Ticket) -> BaseException:
        return ticket.error or ClusterError("nothing has failed")

    def result(self, ticket: Ticket, seconds: float) -> Any:
        return ticket.value

    def release(self, ticket: Ticket) -> None:
        if ticket in self.waiting:
            self.waiting.remove(ticket)
        ticket.value = None

    def workers(self) -> dict[str, int]:
        return {"here": 1}

    def working_on(self, ticket: Ticket) -> list[str]:
        return ["here"]

    def gone(self) -> list[str]:
        return []

    def now(self) -> float:
        return time.monotonic()

    def memory(self) -> int | None:
        return None
