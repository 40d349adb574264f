"""Threads: all cores at once, with BLAS kept from starting threads of its own on top."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

from mercer.forks import Lock, in_child

__all__ = ["cores", "in_threads", "one_blas_thread", "run_jobs", "stopping", "using"]


def in_threads(work: Callable[[Any], None], jobs: Iterable[Any], threads: bool = True) -> None:
    """Do all jobs, on every core if `threads`, keeping BLAS to one thread in each.

    A job that asks for threads itself runs on the one that it has.
    """
    jobs = list(jobs)
    if not threads or cores() == 1 or len(jobs) == 1 or getattr(_thread, "working", False):
        for job in jobs:
            work(job)
        return

    stop = threading.Event()

    def one(job: Any) -> None:
        _thread.working, _thread.stop = True, stop
        try:
            if not stop.is_set():
                work(job)
        except BaseException:
            stop.set()  # before this thread takes another job
            raise
        finally:
            _thread.working, _thread.stop = False, None

    with one_blas_thread:
        try:
            for _ in _pool(os.getpid(), cores()).map(one, jobs):
                pass
        except BaseException:  # also when the user interrupts
            stop.set()
            raise


def run_jobs(jobs: Iterable[Callable[[], Iterable[Any] | None]]) -> None:
    """Do all jobs on every core; a job may return further jobs, which are done as well.

    Examples
    --------
    >>> done = []
    >>> def last():
    ...     done.append("last")
    >>> def first():
    ...     done.append("first")
    ...     return [last, last]
    >>> run_jobs([first])
    >>> done
    ['first', 'last', 'last']
    """
    waiting, running, changed = deque(jobs), 0, threading.Condition()

    def ready() -> bool:
        return bool(waiting) or not running

    def worker(_: int) -> None:
        nonlocal running
        while True:
            with changed:
                changed.wait_for(ready)
                if not waiting or stopping():
                    return
                job = waiting.popleft()
                running += 1
            more: Iterable[Any] | None = None
            try:
                more = job()
            finally:
                with changed:
                    running -= 1
                    waiting.extend(more or ())
                    changed.notify_all()

    in_threads(worker, range(cores()))


def stopping() -> bool:
    """Tell a long job whether nobody waits for it any more."""
    stop = getattr(_thread, "stop", None)
    return stop is not None and stop.is_set()


@cache
def _pool(process: int, workers: int) -> ThreadPoolExecutor:
    """Return the threads of a process, which are started once: that takes as long as a tile."""
    return ThreadPoolExecutor(workers, thread_name_prefix="mercer")


def cores() -> int:
    """Return the number of cores this process may use."""
    if _asked:
        return _asked[-1][1]
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def using(count: int) -> Iterator[None]:
    """Work on this many cores for a while, fewer or more than there are.

    Examples
    --------
    >>> with using(3):
    ...     cores()
    3
    """
    _asked.append((threading.get_ident(), count))
    try:
        yield
    finally:
        _asked.pop()


class OneBlasThread:
    """Keep BLAS to one thread while anyone is inside; the last one out gives them back.

    The number of BLAS threads belongs to the process, so callers on several threads must share it.
    OpenBLAS obeys only the thread that was the first to set it, for as long as that thread lives.
    So one thread does nothing else. Where some other thread has been first, the caller tries to
    set it; a number that cannot be restored even then is restored by the next caller who can.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._own = threading.local()  # how deep a thread is inside
        self._before: list[int] = []
        self._owed = False

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                if not self._owed:
                    self._before = [library.num_threads for library in _blas()]
                self._owed = True
                try:
                    self._change([1] * len(self._before))
                except BaseException:  # an interrupt, and nobody will leave who has not entered
                    self._give_back()
                    raise
            self._inside += 1
            self._own.depth = self._depth + 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            self._own.depth = self._depth - 1
            if self._inside == 0:
                self._give_back()

    @property
    def _depth(self) -> int:
        return getattr(self._own, "depth", 0)

    def count_anew(self) -> None:
        """Count in a new process: of all threads only the one that forked is there.

        If another one was inside, BLAS has one thread; the next one out gives the others back.
        """
        self._inside = self._depth

    def _give_back(self) -> None:
        try:
            self._owed = not self._change(self._before)
        except BaseException:  # an interrupt has to wait
            self._owed = not self._change(self._before)
            raise

    def _change(self, counts: list[int]) -> bool:
        """Set the number of threads of each library; return whether that has worked."""
        return _switch(os.getpid()).submit(_set, counts).result() or _set(counts)


def _set(counts: list[int]) -> bool:
    for library, count in zip(_blas(), counts, strict=True):
        if library.num_threads != count:
            library.set_num_threads(count)
    return [library.num_threads for library in _blas()] == counts


@cache
def _switch(process: int) -> ThreadPoolExecutor:
    """Return the thread that changes the number of BLAS threads."""
    return ThreadPoolExecutor(1, thread_name_prefix="mercer-blas")


@cache
def _blas() -> list[Any]:
    """Return the BLAS libraries of this process: NumPy's, and SciPy's if that is another one."""
    import scipy.linalg.cython_blas  # noqa: F401, loads it
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


one_blas_thread = OneBlasThread()
in_child(one_blas_thread.count_anew)
_asked: list[tuple[int, int]] = []  # by `using` and in which thread, the innermost last
_thread = threading.local()


@in_child
def _keep_own() -> None:
    _asked[:] = [entry for entry in _asked if entry[0] == threading.get_ident()]
