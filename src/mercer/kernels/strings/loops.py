"""Loops over letters that compare one string with several others at once.

A processor adds eight numbers as fast as one, if they are neighbors. So the letters of `LANES`
strings lie interleaved, first all the first letters, then all the second ones, and every step of
a comparison is done for all of them. Each array is one long row, in which the entry of the
previous letter is `LANES` places before: the compiler can then see that neighbors do not depend
on each other. Shorter strings are filled up with a letter that is equal to none.
"""

from __future__ import annotations

import numpy as np

from mercer.compiled import compiled
from mercer.domains import Strings
from mercer.engine.block import Block

__all__ = ["LANES", "gaps", "gaps_within", "runs", "runs_within"]

LANES = 8  # strings side by side: as many double-precision numbers as a wide register has


def gaps(block: Block, length: int, decay: float, out: np.ndarray) -> np.ndarray:
    """Write the gap-weighted common subsequences of all pairs of a block into `out`."""
    left, right = block.left, block.right
    _gaps(
        left.letters, left.starts, right.letters, right.starts, _by_length(right), length, decay,
        block.symmetric, out,
    )  # fmt: skip
    return out


def gaps_within(strings: Strings, length: int, decay: float) -> np.ndarray:
    """Return the gap-weighted common subsequences of each string with itself."""
    out = np.empty(len(strings))
    _gaps_within(strings.letters, strings.starts, _by_length(strings), length, decay, out)
    return out


def runs(block: Block, degree: int, weights: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Write the weighted common substrings at (nearly) the same place into `out`.

    ``weights[s]`` is for places that are s apart. Each substring of d letters counts
    2(D − d + 1) for the degree D.
    """
    left, right = block.left, block.right
    _runs(
        left.letters, left.starts, right.letters, right.starts, _by_length(right), degree, weights,
        block.symmetric, out,
    )  # fmt: skip
    return out


def runs_within(strings: Strings, degree: int, weights: np.ndarray) -> np.ndarray:
    """Return the weighted common substrings of each string with itself."""
    out = np.empty(len(strings))
    _runs_within(strings.letters, strings.starts, _by_length(strings), degree, weights, out)
    return out


def _by_length(strings: Strings) -> np.ndarray:
    """Return an order in which strings of similar length are neighbors, so that little is
    filled up."""
    return np.argsort(np.diff(strings.starts), kind="stable")


@compiled
def _interleave(letters, starts, chosen, filling, out):
    """Write the letters of some strings side by side; return how long the longest is."""
    longest = 0
    for c in chosen:
        longest = max(longest, starts[c + 1] - starts[c])
    out[: longest * LANES] = filling
    for lane, c in enumerate(chosen):
        for j in range(starts[c + 1] - starts[c]):
            out[j * LANES + lane] = letters[starts[c] + j]
    return longest


@compiled
def _longest(starts):
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest


# ---- subsequences: the dynamic program of Lodhi et al. (2002) ----------------------------------
#
# The row ends[q - 1] has for each letter of z the common subsequences of q letters in what has
# been read of x and z, weighted as if they reached to the end of both. The next letter of x needs
# only what the letters before it left, and going from long subsequences to short ones the new
# rows can take the place of the old. In `ends` everything is one letter later than in `hit`.


@compiled
def _gaps(letters, starts, others, begins, order, length, decay, symmetric, out):
    room = (_longest(begins) + 1) * LANES
    z, hit, total = np.empty(room, np.int32), np.empty(room), np.empty(room)
    ends, tail = np.empty((length - 1, room)), np.zeros(room)
    for first in range(0, len(order), LANES):
        chosen = order[first : first + LANES]
        count = _interleave(others, begins, chosen, -1, z) * LANES
        rows = np.max(chosen) + 1 if symmetric else out.shape[0]
        for i in range(rows):
            total[:count] = 0.0
            ends[:, : count + LANES] = 0.0
            for p in range(starts[i], starts[i + 1]):
                _hits(letters[p], z, decay * decay, hit, count)
                _extend(hit, ends, tail, total, decay, count)
            for lane, c in enumerate(chosen):
                out[i, c] = np.sum(total[lane:count:LANES])
                if symmetric:
                    out[c, i] = out[i, c]


@compiled
def _gaps_within(letters, starts, order, length, decay, out):
    room = (_longest(starts) + 1) * LANES
    z, hit, total = np.empty(room, np.int32), np.empty(room), np.empty(room)
    ends, tail = np.empty((length - 1, room)), np.zeros(room)
    for first in range(0, len(order), LANES):
        chosen = order[first : first + LANES]
        count = _interleave(letters, starts, chosen, -1, z) * LANES
        total[:count] = 0.0
        ends[:, : count + LANES] = 0.0
        for p in range(0, count, LANES):
            _own_hits(z[p : p + LANES], z, decay * decay, hit, count)
            _extend(hit, ends, tail, total, decay, count)
        for lane, c in enumerate(chosen):
            out[c] = np.sum(total[lane:count:LANES])


@compiled
def _hits(letter, z, value, hit, count):
    """Say where one letter of x is in all z."""
    for k in range(count):
        hit[k] = value if z[k] == letter else 0.0


@compiled
def _own_hits(letters, z, value, hit, count):
    """Say where one letter of each z is in that z."""
    for j in range(0, count, LANES):
        for lane in range(LANES):
            same = z[j + lane] == letters[lane] and letters[lane] >= 0
            hit[j + lane] = value if same else 0.0


@compiled
def _extend(hit, ends, tail, total, decay, count):
    """Read one more letter of x."""
    longest = len(ends)
    if longest == 0:
        for k in range(count):
            total[k] += hit[k]
        return
    _complete(hit, ends[longest - 1], total, count)
    for q in range(longest - 1, 0, -1):
        _continue(hit, ends[q - 1], ends[q], tail, total, decay, count)
    _begin(hit, ends[0], tail, total, decay, count)


@compiled
def _complete(hit, below, total, count):
    for k in range(count):
        total[k] += hit[k] * below[k]


@compiled
def _continue(hit, below, here, tail, total, decay, count):
    for k in range(count):
        found = hit[k] * below[k]
        total[k] += found
        end = decay * tail[k] + found
        tail[k + LANES] = end
        here[k + LANES] = decay * here[k + LANES] + end


@compiled
def _begin(hit, here, tail, total, decay, count):
    for k in range(count):
        total[k] += hit[k]
        end = decay * tail[k] + hit[k]
        tail[k + LANES] = end
        here[k + LANES] = decay * here[k + LANES] + end


# ---- runs: common substrings at the same place -------------------------------------------------
#
# If the last r letters are equal, r common substrings end here, those of d letters counting
# 2(D − d + 1): together r(2D + 1 − r), for r up to the degree D. All of it is whole numbers.


@compiled
def _runs(letters, starts, others, begins, order, degree, weights, symmetric, out):
    room = max(_longest(begins), _longest(starts)) * LANES
    x, z = np.empty(room, np.int64), np.empty(room, np.int64)
    run, total = np.zeros(room + LANES, np.int64), np.zeros(room + LANES, np.int64)
    sums = np.empty(LANES)
    for first in range(0, len(order), LANES):
        chosen = order[first : first + LANES]
        count = _interleave(others, begins, chosen, -1, z)
        rows = np.max(chosen) + 1 if symmetric else out.shape[0]
        for i in range(rows):
            for j in range(starts[i + 1] - starts[i]):
                x[j * LANES : (j + 1) * LANES] = letters[starts[i] + j]
            _shifted(x, starts[i + 1] - starts[i], z, count, degree, weights, run, total, sums)
            for lane, c in enumerate(chosen):
                out[i, c] = sums[lane]
                if symmetric:
                    out[c, i] = out[i, c]


@compiled
def _runs_within(letters, starts, order, degree, weights, out):
    room = _longest(starts) * LANES
    x, z = np.empty(room, np.int64), np.empty(room, np.int64)
    run, total = np.zeros(room + LANES, np.int64), np.zeros(room + LANES, np.int64)
    sums = np.empty(LANES)
    for first in range(0, len(order), LANES):
        chosen = order[first : first + LANES]
        count = _interleave(letters, starts, chosen, -1, z)
        _interleave(letters, starts, chosen, -2, x)
        _shifted(x, count, z, count, degree, weights, run, total, sums)
        for lane, c in enumerate(chosen):
            out[c] = sums[lane]


@compiled
def _shifted(x, height, z, width, degree, weights, run, total, sums):
    """Add up the runs of x and of z, and of each moved ahead of the other."""
    sums[:] = 0.0
    for s in range(len(weights)):
        _run(
            x[s * LANES :], z, min(height - s, width) * LANES, degree, weights[s], run, total, sums
        )
        if s > 0:
            count = min(height, width - s) * LANES
            _run(x, z[s * LANES :], count, degree, weights[s], run, total, sums)


@compiled
def _run(x, z, count, degree, weight, run, total, sums):
    for k in range(count):
        longer = run[k] + 1 if x[k] == z[k] else 0
        run[k + LANES] = longer
        r = min(longer, degree)
        total[k + LANES] = total[k] + r * (2 * degree + 1 - r)
    if count > 0:
        for lane in range(LANES):
            sums[lane] += weight * total[count + lane]
