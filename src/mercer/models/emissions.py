"""What the steps of a sequence say of hidden states, and what symbols look like to a user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mercer.errors import ValidityError

__all__ = ["Seen", "exponentials", "spelled", "symbols", "tabulated"]

TINY = 1e-300  # stands for what is smaller, but not zero


class Seen(NamedTuple):
    """What each step says of each state, in the form that `hmm_loops` take."""

    table: np.ndarray
    shift: np.ndarray
    logs: np.ndarray
    rows: np.ndarray


def tabulated(logs: np.ndarray, rows: np.ndarray) -> Seen:
    """Return a table of probabilities, one row for each possible observation."""
    shift = logs.max(axis=1)
    shift[shift == -np.inf] = 0.0
    return Seen(exponentials(logs - shift[:, None], logs), shift, np.ascontiguousarray(logs), rows)


def exponentials(rest: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Turn logarithms below the largest of each row into numbers, none of them zero by underflow.

    `logs` say which are zero indeed.
    """
    table = np.exp(rest, out=rest)
    if table.size and table.min() < TINY:
        table[(table < TINY) & (logs > -np.inf)] = TINY
    return table


def symbols(owner: Any, given: Iterable[Any]) -> tuple[Any, ...]:
    """Return an alphabet, all of whose symbols are different."""
    try:
        found = tuple(s.item() if isinstance(s, np.generic) else s for s in given)
        different = len(set(found))
    except TypeError as error:
        raise ValidityError(
            f"alphabet of {type(owner).__name__} must be a sequence of symbols: {error}"
        ) from error
    if not found or different < len(found):
        what = "no symbols" if not found else "a symbol twice"
        raise ValidityError(f"alphabet of {type(owner).__name__} has {what}: {given!r}")
    return found


def spelled(codes: np.ndarray, alphabet: Sequence[Any]) -> Any:
    """Return symbols as a user would have them: a string, if all of them are letters.

    Examples
    --------
    >>> spelled(np.array([1, 0]), "ab"), spelled(np.array([1, 0]), (5, 7))
    ('ba', [7, 5])
    """
    found = [alphabet[code] for code in codes]
    letters = all(isinstance(symbol, str) and len(symbol) == 1 for symbol in alphabet)
    return "".join(found) if letters else found
