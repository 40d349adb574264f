"""Forks: what a child process must not inherit from threads that it does not have.

A fork copies memory and one thread. A lock that another thread held stays held in the child,
where nobody will ever release it, and a counter of who is inside counts those who are not there.
So locks are made anew in every child, and what counts says how.

While Numba compiles, its own lock and LLVM's are held, and what it has half made is no state for a
child. So a fork waits until no thread compiles.

GNU's OpenMP, with which scikit-learn's trees and k-means run, keeps its threads for the thread
that called it. The one that forked has lost them and would wait for ever, so that such work is
done in a new thread of the child.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

__all__ = ["Lock", "in_child", "waits_for", "with_openmp"]

Answer = TypeVar("Answer")

_locks: weakref.WeakSet[Lock] = weakref.WeakSet()
_resets: list[Callable[[], object]] = []
_before: list[Any] = []  # locks that a fork takes for a moment
_held: list[Any] = []
_first = os.getpid()  # the process that has imported this


class Lock:
    """A lock that is free in a new process, whoever held it in the old one.

    Examples
    --------
    >>> with Lock() as held:
    ...     held
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> bool:
        return self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def acquire(self, blocking: bool = True) -> bool:
        """Take the lock; without `blocking`, only if nobody has it."""
        return self._lock.acquire(blocking)

    def release(self) -> None:
        """Give it back."""
        self._lock.release()

    def renew(self) -> None:
        """Forget who held it."""
        self._lock = threading.Lock()


def in_child(reset: Callable[[], object]) -> Callable[[], object]:
    """Let a function run in every child process, right after the fork.

    Examples
    --------
    >>> in_child(list)
    <class 'list'>
    """
    _resets.append(reset)
    return reset


def waits_for(lock: Any) -> Any:
    """Let forks wait for a lock that guards what no child may see half made.

    Examples
    --------
    >>> lock = waits_for(threading.RLock())
    """
    _before.append(lock)
    return lock


def with_openmp(work: Callable[[], Answer]) -> Answer:
    """Do work of a library that uses OpenMP, which a forked process can do in a new thread only.

    Examples
    --------
    >>> with_openmp(lambda: 2)
    2
    """
    if os.getpid() == _first and multiprocessing.parent_process() is None:
        return work()
    with ThreadPoolExecutor(1, thread_name_prefix="mercer-openmp") as fresh:
        return fresh.submit(copy_context().run, work).result()


def _pause() -> None:
    """Wait until nobody compiles; the forking thread may be the one who does."""
    numba = sys.modules.get("numba.core.compiler_lock")
    numbas = getattr(numba, "global_compiler_lock", None)
    for lock in [*_before, getattr(numbas, "_lock", None)]:
        if lock is not None:
            lock.acquire()
            _held.append(lock)


def _resume() -> None:
    while _held:
        _held.pop().release()


def _renew() -> None:
    _resume()
    for lock in list(_locks):
        lock.renew()
    for reset in _resets:
        reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_pause, after_in_parent=_resume, after_in_child=_renew)
