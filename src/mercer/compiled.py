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

__all__ = ["Loop", "compiled"]

_lock = RLock()


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
                self._prepare()
        return self._dispatcher

    def _prepare(self) -> None:
        if self._dispatcher is not None:
            return
        from numba import njit

        self._dispatcher = njit(cache=True, nogil=True, **self.options)(self.py_func)
        # Numba looks for what a loop calls among the names of its module, and knows only its own.
        names = self.py_func.__globals__
        for name, value in list(names.items()):
            if isinstance(value, Loop):
                names[name] = value.dispatcher


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
