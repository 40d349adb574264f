"""The loops of the hidden Markov kernel, compiled by Numba, so imported only when they are needed.

Two sequences that share a hidden path are together as probable as a sum over all paths, which
shrinks with every step far below the range of floating-point numbers. So, as in the loops of
global alignment, a number is kept as two, m·2^(512e) with 2^−256 ≤ m < 2^256, and 0 has an
exponent below all others. A step is then plain arithmetic as long as exponents agree. Where they
do not, sums are aligned state by state: a path that is hopeless now is not given up, because what
comes later may be possible on that path only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = ["Chain", "chain", "logarithms", "own_logarithms", "split"]

HIGH, LOW = 2.0**256, 2.0**-256
UP, DOWN = 2.0**512, 2.0**-512
LOG_UP = 512 * math.log(2.0)
NOTHING = -(2**60)  # the exponent of zero
FARTHEST = 1e14  # a logarithm below minus this counts as −∞, so that exponents cannot overflow


class Chain(NamedTuple):
    """The hidden chain: mantissas and exponents of where it starts and how it goes on."""

    start: np.ndarray
    start_e: np.ndarray
    step: np.ndarray  # from row to column
    step_e: np.ndarray
    plain: bool  # whether all exponents of `step` are 0, or the number is


def split(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mantissas and exponents of numbers that are given by their logarithms.

    Examples
    --------
    >>> split(np.array([0.0, -np.inf, -1000.0]))[1].tolist()
    [0, -1152921504606846976, -3]
    """
    some = logs > -FARTHEST
    exponents = np.where(some, np.rint(np.where(some, logs, 0.0) / LOG_UP), NOTHING)
    mantissas = np.where(some, np.exp(np.where(some, logs - exponents * LOG_UP, 0.0)), 0.0)
    return np.ascontiguousarray(mantissas), exponents.astype(np.int64)


def chain(log_start: np.ndarray, log_step: np.ndarray) -> Chain:
    """Return a hidden chain by the logarithms of its probabilities."""
    start, start_e = split(log_start)
    step, step_e = split(log_step)
    return Chain(start, start_e, step, step_e, bool((step_e[step > 0] == 0).all()))


@njit(cache=True, nogil=True)
def logarithms(X, X_e, x_starts, Z, Z_e, z_starts, links, symmetric, out):
    """Write ln k of all pairs into `out`, or only those on and above the diagonal.

    Parameters
    ----------
    X, X_e, Z, Z_e : array of shape (steps, states)
        How probable each step of each side is in each state: mantissas and exponents of all
        sequences of each side, one after the other.
    x_starts, z_starts : array of int
        Where each of them begins, and where the last one ends.
    links : Chain
    """
    states = len(links.start)
    room, room_e = np.empty((2, states)), np.empty((2, states), np.int64)
    for i in range(len(x_starts) - 1):
        a, b = x_starts[i], x_starts[i + 1]
        for j in range(i if symmetric else 0, len(z_starts) - 1):
            c, d = z_starts[j], z_starts[j + 1]
            out[i, j] = _shared(X[a:b], X_e[a:b], Z[c:d], Z_e[c:d], links, room, room_e)
            if symmetric:
                out[j, i] = out[i, j]


@njit(cache=True, nogil=True)
def own_logarithms(X, X_e, starts, links, out):
    """Write ln k(x, x) of each sequence into `out`."""
    states = len(links.start)
    room, room_e = np.empty((2, states)), np.empty((2, states), np.int64)
    for i in range(len(starts) - 1):
        a, b = starts[i], starts[i + 1]
        out[i] = _shared(X[a:b], X_e[a:b], X[a:b], X_e[a:b], links, room, room_e)


@njit(cache=True, nogil=True)
def _shared(x, x_e, z, z_e, links, room, room_e):
    """Return the logarithm of Σ p(x|path)·p(z|path)·p(path), where the shorter sequence, at its
    end, has nothing more to say."""
    states = len(links.start)
    here = 0
    room[0, :], room_e[0, :] = links.start, links.start_e
    for t in range(max(len(x), len(z))):
        if t > 0:
            _walk(room, room_e, here, links.step, links.step_e, links.plain)
            here = 1 - here
        for s in range(states):
            m, e = room[here, s], room_e[here, s]
            if t < len(x):
                m, e = _kept(m * x[t, s], e + x_e[t, s])
            if t < len(z):
                m, e = _kept(m * z[t, s], e + z_e[t, s])
            room[here, s], room_e[here, s] = m, e
    highest, total = NOTHING, 0.0
    for s in range(states):
        highest = max(highest, room_e[here, s])
    for s in range(states):
        total += _lowered(room[here, s], room_e[here, s], highest)
    if total == 0.0:
        return -np.inf
    return math.log(total) + LOG_UP * highest


@njit(cache=True, nogil=True)
def _walk(room, room_e, here, step, step_e, plain):
    """Let the chain go one step, from one row of `room` to the other."""
    states, there = room.shape[1], 1 - here
    common = NOTHING
    for s in range(states):
        common = max(common, room_e[here, s])
    even = plain
    for s in range(states):
        even = even and (room_e[here, s] == common or room[here, s] == 0.0)
    for r in range(states):
        total, highest = 0.0, common
        if even:
            for s in range(states):
                total += room[here, s] * step[s, r]
        else:
            highest = NOTHING
            for s in range(states):
                _, e = _kept(room[here, s] * step[s, r], room_e[here, s] + step_e[s, r])
                highest = max(highest, e)
            for s in range(states):
                m, e = _kept(room[here, s] * step[s, r], room_e[here, s] + step_e[s, r])
                total += _lowered(m, e, highest)
        room[there, r], room_e[there, r] = _kept(total, highest)


@njit(cache=True, nogil=True)
def _kept(m, e):
    """Return a number with a mantissa that is neither large nor small."""
    if m >= HIGH:
        return m * DOWN, e + 1
    if m < LOW:
        if m == 0.0:
            return 0.0, NOTHING
        return m * UP, e - 1
    return m, e


@njit(cache=True, nogil=True)
def _lowered(m, e, highest):
    """Return m·2^(512e) in units of 2^(512·highest), where what is two lower is lost anyway."""
    if e == highest:
        return m
    return m * DOWN if e == highest - 1 else 0.0
