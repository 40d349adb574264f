"""Progress: how far long work has come, told to whoever is waiting for it.

There is no thread: a bar is drawn by the steps themselves, so that work which takes less than two
seconds, or which nobody watches, costs nothing and prints nothing.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mercer.errors import ValidityError
from mercer.forks import Lock

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

__all__ = ["convergence", "progress"]

APPEARS_AFTER = 2.0  # seconds
REDRAWN_EVERY = 0.1  # seconds
STEPS_PER_DIGIT = 100  # of a bar that counts digits
Step = Callable[..., None]

_clock = time.monotonic
_turn = Lock()  # held by the outermost progress, whether or not it is shown


@contextmanager
def progress(title: str, total: int, show: bool | None = None) -> Iterator[Step]:
    """Count steps, and draw a bar on stderr if they take more than two seconds.

    Only the outermost of nested uses is drawn, and nothing remains of it at the end. The bar
    appears with the first step after two seconds. Steps may come from several threads.

    Parameters
    ----------
    title : str
    total : int
        Number of steps.
    show : bool, optional
        By default a bar is drawn in interactive sessions only; True draws it in scripts too,
        False never. Where stderr is neither a terminal nor a notebook, there is no bar.

    Examples
    --------
    >>> with progress("5 kernels x 10 folds", total=50) as step:
    ...     for fold in range(50):
    ...         step(1, f"fold {fold}")
    """
    if show not in (None, True, False):
        raise ValidityError(f"show must be True, False or None, found {show!r}")
    if not _turn.acquire(blocking=False):
        yield _silent
        return
    try:
        console = _console(show)
        if console is None:
            yield _silent
            return
        bar = Bar(title, total, console)
        try:
            yield bar.step
        finally:
            bar.close()
    finally:
        _turn.release()


@contextmanager
def convergence(
    title: str,
    tol: float,
    first: float = 1.0,
    bar: Callable[[str, int], AbstractContextManager[Step]] = progress,
) -> Iterator[Callable[..., None]]:
    """Draw a bar for an iteration, which is full when its residual has come down to `tol`.

    An iteration gains about as many digits in each of its steps, so the time that remains is
    foreseen from the digits that are missing. A residual that rises, or is not finite, does not
    move the bar.

    Parameters
    ----------
    title : str
    tol : float
    first : float
        The residual at the beginning.
    bar : callable
        What draws it.

    Examples
    --------
    >>> with convergence("halving", 0.01) as report:
    ...     for step in range(8):
    ...         report(0.5**step)
    """
    total = max(round(STEPS_PER_DIGIT * math.log10(max(first, 1e-300) / tol)), 1)
    done = 0
    with bar(title, total) as step:

        def report(residual: float, doing: str = "") -> None:
            nonlocal done
            if not math.isfinite(residual):
                return
            gained = math.log10(max(first, 1e-300) / max(residual, 1e-300))
            reached = min(round(STEPS_PER_DIGIT * gained), total)
            step(max(reached - done, 0), doing or f"residual {residual:.1e}")
            done = max(reached, done)

        yield report


def _silent(count: int = 1, doing: str = "") -> None:
    """Take a step that nobody watches."""


class Bar:
    """A bar that waits until it is worth drawing."""

    def __init__(self, title: str, total: int, console: Console) -> None:
        self.title, self.total, self.console = title, total, console
        self.done, self.begin = 0, _clock()
        self.drawn = -float("inf")
        self._screen: Progress | None = None
        self._lock = threading.Lock()

    def step(self, count: int = 1, doing: str = "") -> None:
        """Count steps; `doing` says what was just done."""
        with self._lock:
            self.done += count
            now = _clock()
            if now - self.begin >= APPEARS_AFTER and now - self.drawn >= REDRAWN_EVERY:
                self.drawn = now
                # Work does not fail because a terminal cannot write a letter, or has gone.
                with suppress(OSError, UnicodeError):
                    self._draw(now - self.begin, doing)

    def close(self) -> None:
        """Remove the bar."""
        with self._lock, suppress(OSError, UnicodeError):
            if self._screen is not None:
                self._screen.stop()

    def _draw(self, elapsed: float, doing: str) -> None:
        if self._screen is None:
            self._screen = _screen(self.console)
            self._screen.add_task(self.title, total=self.total, times="", doing="")
            self._screen.start()
        left = elapsed * (self.total - self.done) / self.done if self.done else 0.0
        times = f"{_time(elapsed)} elapsed" + (f", {_time(left)} left" if self.done else "")
        task = self._screen.task_ids[0]
        self._screen.update(task, completed=self.done, times=times, doing=doing)
        self._screen.refresh()


def _screen(console: Console) -> Progress:
    """Return what draws the bar; lines that others print meanwhile appear above it."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[times]}", markup=False),
        TextColumn("{task.fields[doing]}", markup=False),
    )
    # What goes to a file or a pipe must not be caught and sent to the terminal.
    aside = _is_terminal(sys.stdout)
    return Progress(
        *columns, console=console, transient=True, auto_refresh=False, redirect_stdout=aside
    )


def _time(seconds: float) -> str:
    return str(timedelta(seconds=round(max(seconds, 0.0))))


def _console(show: bool | None) -> Console | None:
    """Return where to draw, or None where nobody would see it or wants to."""
    shell = _notebook()
    wanted = (shell or hasattr(sys, "ps1")) if show is None else show
    if shell:
        visible = find_spec("ipywidgets") is not None  # rich would warn at every drawing
    else:
        visible = _is_terminal(sys.stderr)
    if not (wanted and visible):
        return None
    from rich.console import Console

    return Console(stderr=True)


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _notebook() -> bool:
    """Tell whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None
