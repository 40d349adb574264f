"""Loops that Numba compiles when they are first called.

Numba takes half a second to load, so that nothing imports it before there is something to compile.
A loop can therefore stand in the file whose arrays it walks through. What was compiled is kept on
disk, and other threads run while a loop does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import RLock
from typing import Any, overload

from mercer.forks import waits_for

__all__ = ["Loop", "compiled"]

_lock = waits_for(RLock())


class Loop:
    """A function that is compiled when it is first called. Made by `compiled`."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function  # Numba calls it so, too
        self.options = options
        self._dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    @property
    def dispatcher(self) -> Any:
        """Numba's own object, which knows what it has compiled."""
        if self._dispatcher is None:
            with _lock:
                if self._dispatcher is None:
                    _prepare(self)
        return self._dispatcher


def _dispatcher_of(loop: Loop) -> Any:
    """Return Numba's object for a loop, which remembers what it compiles where it can write."""
    from numba import njit

    try:
        return njit(cache=True, nogil=True, **loop.options)(loop.py_func)
    except RuntimeError:  # there is no folder that it may write into
        return njit(nogil=True, **loop.options)(loop.py_func)


def _prepare(first: Loop) -> None:
    """Make the dispatchers of a loop and of all that it may call.

    Numba looks for what a loop calls among the names of its module, and knows only its own
    objects. Other threads may call any of these loops meanwhile. They meet a dispatcher only when
    all that it calls has one: a module changes at once, after those that it has loops from.
    """
    made: dict[Loop, Any] = {}
    modules: list[dict[str, Any]] = []

    def visit(loop: Loop) -> None:
        if loop in made:
            return
        made[loop] = loop._dispatcher
        if loop._dispatcher is None:
            made[loop] = _dispatcher_of(loop)
            names = loop.py_func.__globals__
            others = [value for value in list(names.values()) if isinstance(value, Loop)]
            for other in sorted(others, key=lambda other: other.__module__ == loop.__module__):
                visit(other)
            if not any(names is known for known in modules):
                modules.append(names)

    visit(first)
    for names in modules:
        loops = {name: value for name, value in list(names.items()) if isinstance(value, Loop)}
        names.update({name: made[loop] for name, loop in loops.items()})
    for loop, dispatcher in made.items():
        loop._dispatcher = dispatcher


@overload
def compiled(function: Callable[..., Any]) -> Loop: ...


@overload
def compiled(**options: Any) -> Callable[[Callable[..., Any]], Loop]: ...


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Let Numba compile a function of plain arrays and numbers, with Numba's options.

    Examples
    --------
    >>> @compiled
    ... def triangle(n):
    ...     total = 0
    ...     for i in range(n + 1):
    ...         total += i
    ...     return total
    >>> triangle.__name__
    'triangle'
    """
    if function is None:
        return lambda body: Loop(body, options)
    return Loop(function, options)
