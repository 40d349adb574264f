"""Forks: what a child process must not inherit from threads that it does not have.

A fork copies memory and one thread. A lock that another thread held stays held in the child,
where nobody will ever release it, and a counter of who is inside counts those who are not there.
So locks are made anew in every child, and what counts says how.

While Numba compiles, its own lock and LLVM's are held, and what it has half made is no state for a
child. So a fork waits until no thread compiles.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

__all__ = ["Lock", "in_child", "waits_for"]

_locks: weakref.WeakSet[Lock] = weakref.WeakSet()
_resets: list[Callable[[], object]] = []
_before: list[Any] = []  # locks that a fork takes for a moment
_held: list[Any] = []


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
