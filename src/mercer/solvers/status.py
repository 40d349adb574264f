"""Status: every result says how its computation ended, whatever the solver."""

from __future__ import annotations

import sys
import warnings
from typing import Self

from mercer.errors import ConvergenceWarning, MercerError, SolveError, ValidityError

__all__ = ["SolverResult", "caller_of_mercer"]

# What is raised where there is no answer; every other status comes with one.
FAILURES: dict[str, type[MercerError]] = {
    "singular": SolveError,
    "unbounded": SolveError,
    "inseparable": SolveError,
    "failed": SolveError,
    "invalid": ValidityError,
}


class SolverResult:
    """A result with a status, and a message that says what went wrong and what to try.

    Attributes
    ----------
    status : str
        "solved"; "stalled" for the best answer that could be had, which is less accurate than was
        asked for; "interrupted" for the best so far, when the user had enough; "unproved" for one
        whose claim rests on what nobody knows; or why there is none.
    message : str

    Examples
    --------
    >>> result = SolverResult()
    >>> result.status, result.message = "singular", "the penalty is too small"
    >>> result.require_solved()
    Traceback (most recent call last):
        ...
    mercer.errors.SolveError: the penalty is too small
    """

    status: str
    message: str

    def require_solved(self) -> Self:
        """Return this result, raise an error if there is none, or warn if it is not accurate."""
        failure = FAILURES.get(self.status)
        if failure is not None:
            raise failure(self.message)
        if self.status in ("stalled", "interrupted"):
            warnings.warn(self.message, ConvergenceWarning, stacklevel=caller_of_mercer())
        return self


def caller_of_mercer() -> int:
    """Return the level of the first function outside of mercer, to which a warning belongs."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("mercer."):
        level, frame = level + 1, frame.f_back
    return level
