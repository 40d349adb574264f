"""Shapley values by their definition: all subsets, one after the other."""

from itertools import combinations
from math import comb

import numpy as np


def by_enumeration(value, players):
    """Return the Shapley value of each player in the game `value(set of players)`."""
    known = {}

    def worth(some):
        if some not in known:
            known[some] = value(some)
        return known[some]

    found = []
    for j in range(players):
        others = [p for p in range(players) if p != j]
        total = 0.0
        for size in range(players):
            weight = 1 / (players * comb(players - 1, size))
            for some in combinations(others, size):
                S = frozenset(some)
                total = total + weight * (worth(S | {j}) - worth(S))
        found.append(total)
    return np.array(found), worth(frozenset())


def joint_game(predict, x, reference):
    """Return the game of a row's columns whose absent ones come from one row of the reference."""

    def value(some):
        rows = np.array(reference, dtype=object, copy=True)
        for j in some:
            rows[:, j] = x[j]
        return np.mean(predict(rows), axis=0)

    return value


def independent_game(predict, x, reference):
    """Return the game whose absent columns are drawn independently: from all combinations."""
    width = len(x)

    def value(some):
        absent = [j for j in range(width) if j not in some]
        grids = np.meshgrid(*[np.arange(len(reference))] * len(absent), indexing="ij")
        count = grids[0].size if absent else 1
        rows = np.tile(np.array(x, dtype=object), (count, 1))
        for j, places in zip(absent, grids, strict=True):
            rows[:, j] = reference[places.ravel(), j]
        return np.mean(predict(rows), axis=0)

    return value
