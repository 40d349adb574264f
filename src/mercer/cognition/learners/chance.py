"""Chance: random numbers inside compiled loops, which depend on a seed and on what was shown.

A simulated subject has no random generator of its own: its numbers follow from the seed and from
its sequence of trials, by the mixing function of SplitMix64 (Steele, Lea & Flood, 2014). So a
subject is the same on one thread or many, alone or among thousands.
"""

from __future__ import annotations

import math

import numpy as np

from mercer.compiled import compiled

__all__ = ["begin", "coin", "mix", "normal"]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
ONE = np.uint64(1)


@compiled
def mix(state, value):
    """Return the state after a whole number has been seen."""
    z = state + GOLDEN * (np.uint64(value) + ONE)
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


@compiled
def begin(seed, order):
    """Return the first state of a subject: that of a seed and a sequence of trials."""
    state = mix(np.uint64(0), seed)
    for t in range(len(order)):
        state = mix(state, order[t])
    return state


@compiled
def coin(state):
    """Return a number that is uniform between 0 and 1."""
    return (np.float64(state >> np.uint64(11)) + 0.5) / 9007199254740992.0


@compiled
def normal(state):
    """Return a standard normal number, by Box & Muller (1958)."""
    radius = math.sqrt(-2.0 * math.log(coin(mix(state, 1))))
    return radius * math.cos(2.0 * math.pi * coin(mix(state, 2)))
