"""Random walks between two barriers: who is reached first, after how many steps.

A walk starts at 0 and goes up with probability p, down with q = 1 − p, until it is A above or B
below. With L = log(q/p) all is a function of L, A and B (Feller, 1968, chapter XIV); written with
hyperbolic functions nothing is lost where p = q.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["first_passages", "log_odds", "mean_steps", "mean_steps_to"]

TINY = 1e-5  # of arguments below which two terms of a series are exact in double precision


def _bend(x: np.ndarray) -> np.ndarray:
    """Return log(sinh(x)/x)."""
    size = np.abs(x)
    safe = np.maximum(size, TINY)
    large = safe + np.log(-np.expm1(-2 * safe)) - np.log(2 * safe)
    return np.where(size < TINY, x**2 / 6, large)


def _bend_slope(x: np.ndarray) -> np.ndarray:
    """Return coth(x) − 1/x, the slope of log(sinh(x)/x)."""
    safe = np.where(np.abs(x) < 1e-3, 1e-3, x)
    return np.where(np.abs(x) < 1e-3, x / 3 - x**3 / 45, 1 / np.tanh(safe) - 1 / safe)


def log_odds(L: np.ndarray, A: float, B: float) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return log(P(up)/P(down)) and its slopes for L, A and B.

    Examples
    --------
    >>> log_odds(np.array([-1.0]), 3.0, 3.0)[0]  # the same barriers: 3 times the odds of a step
    array([3.])
    """
    up, down = L * A / 2, L * B / 2
    value = -L * (A + B) / 2 + _bend(down) - _bend(up) + np.log(B / A)
    rise, fall = _bend_slope(up), _bend_slope(down)
    return value, {
        "L": -(A + B) / 2 + B / 2 * fall - A / 2 * rise,
        "A": -L / 2 * (1 + rise) - 1 / A,
        "B": -L / 2 * (1 - fall) + 1 / B,
    }


def _scaled_coth(L: np.ndarray, a: float) -> np.ndarray:
    """Return a·coth(L·a/2) − 2/L, which is 0 at L = 0."""
    return a * _bend_slope(L * a / 2)


def mean_steps_to(L: np.ndarray, A: float, B: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected number of steps of walks that end above, and of those that end below.

    Examples
    --------
    >>> [float(steps[0]) for steps in mean_steps_to(np.array([0.0]), 1, 1)]
    [1.0, 1.0]
    """
    whole = _scaled_coth(L, A + B)
    small = np.abs(L) < TINY
    slope = np.tanh(np.where(small, 1.0, L) / 2)
    above = np.where(small, (A * A + 2 * A * B) / 3, (whole - _scaled_coth(L, B)) / slope)
    below = np.where(small, (B * B + 2 * A * B) / 3, (whole - _scaled_coth(L, A)) / slope)
    return above, below


def mean_steps(L: np.ndarray, A: float, B: float) -> np.ndarray:
    """Return the expected number of steps.

    Examples
    --------
    >>> mean_steps(np.array([0.0]), 3, 4)
    array([12.])
    """
    P = 1 / (1 + np.exp(-log_odds(L, A, B)[0]))
    above, below = mean_steps_to(L, A, B)
    return P * above + (1 - P) * below


def first_passages(p: np.ndarray, A: int, B: int, left: float = 1e-10) -> tuple[Any, Any]:
    """Return the probabilities to end above, and below, after exactly 1, 2, … steps.

    Parameters
    ----------
    p : ndarray of shape (m,)
    A, B : int
    left : float
        How much probability may be left when the table ends.

    Returns
    -------
    (ndarray, ndarray) of shape (m, steps)

    Examples
    --------
    >>> above, below = first_passages(np.array([0.5]), 1, 2)
    >>> above[0, :3], below[0, :3]
    (array([0.5  , 0.   , 0.125]), array([0.  , 0.25, 0.  ]))
    """
    inside = A + B - 1
    state = np.zeros((len(p), inside))
    state[:, B - 1] = 1.0
    p = p[:, None]
    above: list[np.ndarray] = []
    below: list[np.ndarray] = []
    while not above or state.sum(axis=1).max() > left:
        above.append(state[:, -1] * p[:, 0])
        below.append(state[:, 0] * (1 - p[:, 0]))
        moved = np.zeros_like(state)
        moved[:, 1:] += state[:, :-1] * p
        moved[:, :-1] += state[:, 1:] * (1 - p)
        state = moved
    return np.column_stack(above), np.column_stack(below)
