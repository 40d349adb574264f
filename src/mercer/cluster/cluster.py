"""Clusters: where to work, and how long to wait."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

from mercer.cluster.account import ClusterAccount
from mercer.cluster.connection import connect, load_distributed, require_alike, started
from mercer.cluster.journal import Journal
from mercer.cluster.passes import Task, run_all, run_sum
from mercer.cluster.scheduler import DaskScheduler, Scheduler
from mercer.errors import ClusterError

__all__ = ["Cluster", "alone", "current"]

CONNECT_SECONDS = 30.0  # to reach a scheduler, and for its workers to say what they are
PATIENCE_SECONDS = 900.0  # without any task that ends


class Cluster:
    """The computers that share the work inside of a ``with``.

    Fits to streams then read and sum up their chunks there, searches give their fits to the
    workers, and so does whatever asks for ``Plan(device="cluster")``.

    Parameters
    ----------
    where : Client, str, Scheduler or None
        A `distributed.Client`; the address of a scheduler; "local:4" for four processes on this
        computer; `InProcess()` to try things out. None takes the client that there is.
    checkpoint : path, optional
        A folder in which the answer of every pass over the data is kept. After this process was
        killed, the same fit with the same folder goes on where it was.
    patience : float
        Seconds without any task that ends, after which there is an error.
    attempts : int
        How often a chunk is read, if reading fails.
    threads : int
        Cores for each task. A worker runs as many tasks at once as it has threads of Dask's.

    Attributes
    ----------
    account : ClusterAccount
        What ran where.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge, Nystrom, Plan, Stream
    >>> from mercer.cluster import Cluster, InProcess
    >>> X = np.linspace(0, 6, 400)[:, None]
    >>> machine = KernelRidge("gaussian", 1e-3, follow=Plan(approximate=Nystrom(20)))
    >>> with Cluster(InProcess()) as cluster:
    ...     machine = machine.fit(Stream.rows(X, np.sin(X[:, 0]), size=100))
    >>> machine.plan_.device, cluster.account.workers["here"].rows >= 400
    ('cluster', True)
    """

    def __init__(
        self,
        where: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        patience: float = PATIENCE_SECONDS,
        attempts: int = 3,
        threads: int = 1,
    ) -> None:
        if not patience > 0:
            raise ClusterError(
                f"patience must be a positive number of seconds, found {patience!r}"
            )
        for name, count in (("attempts", attempts), ("threads", threads)):
            if not (isinstance(count, int) and count > 0):
                raise ClusterError(f"{name} must be a whole number from 1 on, found {count!r}")
        self.patience, self.attempts, self.threads = float(patience), attempts, threads
        self.journal = None if checkpoint is None else Journal(checkpoint)
        self.account = ClusterAccount()
        self._own: Any = None
        self.scheduler: Scheduler = self._scheduler(where)

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)
        self.close()

    def close(self) -> None:
        """End what this has started; a client that was given stays."""
        if self._own is not None:
            started(self._own)
            self._own = None

    @property
    def workers(self) -> dict[str, int]:
        """Addresses of the workers, and how many tasks each runs at once."""
        return self.scheduler.workers()

    def map(
        self, tasks: Sequence[Task], name: str, done: Callable[[int], None] = lambda number: None
    ) -> list[Any]:
        """Return what each of some tasks has found; `done` is called with the number of each."""
        return run_all(self.scheduler, self.account, tasks, self.patience, name, done)

    def sum(self, tasks: Sequence[Task], name: str, combine: Callable[..., Any], fan: int) -> Any:
        """Return what `combine` makes of the results of tasks, `fan` of them at a time."""
        return run_sum(self.scheduler, self.account, tasks, self.patience, name, combine, fan)

    def keep(self, thing: Any, name: str) -> Any:
        """Return a ticket that stands for a thing in the arguments of tasks.

        It is sent once, to the scheduler, and from worker to worker then. It is not lost with
        them, since the scheduler can make it again.
        """
        return self.scheduler.submit(_same, thing, name=name)

    def _scheduler(self, where: Any) -> Scheduler:
        if (
            where is not None
            and not isinstance(where, str)
            and not hasattr(where, "scheduler_info")
        ):
            if not hasattr(where, "working_on"):
                raise ClusterError(
                    "expected a distributed.Client, the address of a scheduler or local:N, found "
                    f"{type(where).__name__}"
                )
            return where
        client = where
        if isinstance(where, str):
            client = self._own = connect(where, CONNECT_SECONDS)
        elif where is None:
            client = default_client()
        try:
            return DaskScheduler(client, require_alike(client, CONNECT_SECONDS))
        except BaseException:
            self.close()
            raise


def default_client() -> Any:
    """Return the client of Dask that there is, or say how to make one."""
    distributed = load_distributed()
    try:
        return distributed.default_client()
    except ValueError as error:
        raise ClusterError(
            'there is no Client of Dask: make one, Client("tcp://scheduler:8786") or Client(), '
            "or use `with Cluster(address):`"
        ) from error


def current(required: bool = False) -> Cluster | None:
    """Return the cluster of the innermost ``with``; if required, else that of Dask's client.

    Examples
    --------
    >>> current() is None
    True
    """
    found = _current.get()
    if found is not None or not required:
        return found
    client = default_client()
    known = getattr(client, "mercer_cluster", None)
    if known is None:
        known = client.mercer_cluster = Cluster(client)
    return known


@contextmanager
def alone() -> Iterator[None]:
    """Work without a cluster for a while, as tasks themselves do.

    Examples
    --------
    >>> from mercer.cluster import InProcess
    >>> with Cluster(InProcess()), alone():
    ...     current() is None
    True
    """
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def _same(thing: Any) -> Any:
    return thing


_current: ContextVar[Cluster | None] = ContextVar("mercer cluster", default=None)
