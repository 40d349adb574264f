"""Digits: a progress bar for an iteration that ends when its residual is small."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from mercer.progress import Step, progress

__all__ = ["digits"]

STEPS = 100  # of the bar, for each digit that is gained


@contextmanager
def digits(
    title: str, tol: float, bar: Callable[[str, int], AbstractContextManager[Step]] = progress
) -> Iterator[Callable[[float], None]]:
    """Draw a bar that is full when the residual told to it has come down to `tol`.

    An iteration gains about as many digits in each of its steps, so the time that remains is
    foreseen from the digits that are missing. A residual that rises, or is not finite, does not
    move the bar.

    Examples
    --------
    >>> with digits("halving", 0.01) as tell:
    ...     for step in range(8):
    ...         tell(0.5**step)
    """
    total = max(round(-STEPS * math.log10(tol)), 1)
    done = 0
    with bar(title, total) as step:

        def tell(residual: float) -> None:
            nonlocal done
            if not math.isfinite(residual):
                return
            gained = min(round(-STEPS * math.log10(max(residual, 1e-300))), total)
            step(max(gained - done, 0), f"residual {residual:.1e}")
            done = max(gained, done)

        yield tell
