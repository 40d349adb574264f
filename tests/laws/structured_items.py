"""Series, trees and tables with gaps to hold the laws against, with something awkward in each."""

from __future__ import annotations

import numpy as np
import pandas as pd

__all__ = ["STRUCTURED"]

WORDS = ["cat", "hat", "cat", "dog", "horse", "a", "banana"]
SPECIES = ["setosa", "virginica", "versicolor"]


def series(channels: int) -> list[object]:
    """Return series of several lengths: a single step, a constant one, a far one, equal ones."""
    draw = np.random.default_rng(6)
    found: list[object] = [draw.normal(size=(n, channels)) for n in (1, 7, 2, 4, 5, 3, 9, 4, 6)]
    found += [np.ones((5, channels)), 1e6 + draw.normal(size=(3, channels)), found[3]]
    # One channel needs no columns, and numbers need no array.
    return (
        found
        if channels > 1
        else [x.ravel() for x in found[:6]] + [x.ravel().tolist() for x in found[6:9]] + found[9:]
    )


TREES = [
    "(S (NP (D the) (N cat)) (VP (V sees) (NP (D a) (N dog))))",
    "(S (NP (D the) (N dog)) (VP (V sees) (NP (D the) (N dog))))",
    "(S (NP she) (VP (V sleeps)))",
    ("S", ("NP", "she"), ("VP", ("V", "sees"), ("NP", ("D", "a"), ("N", "cat")))),
    ("S", ["NP", "he"], ("VP", "sleeps")),
    ("S", ("NP", "she"), ("VP", ("V", "sleeps"))),  # the third again
    "(NP (NP (D the) (N dog)) (PP (P of) (NP (NP a friend) (PP (P of) (NP a friend)))))",
    "(S)",  # without any production
    "((S (NP she) (VP sleeps)))",  # without a label at the root
    "(" * 30 + "A x" + " x)" * 30,  # deep
    "(A " * 25 + "x" + ")" * 25,
    ("NP", "NP", ("NP", "NP")),  # labels that are also words
]


def patchy_table() -> pd.DataFrame:
    """Return a table with gaps of all kinds, with a row that has nothing but gaps."""
    draw = np.random.default_rng(7)
    n = 20
    frame = pd.DataFrame(
        {
            "height": draw.normal(170.0, 10.0, n),
            "weight": draw.normal(70.0, 9.0, n),
            "legs": pd.array(draw.integers(1, 5, n), dtype="Int64"),
            "species": [SPECIES[i % 3] for i in range(n)],
            "word": [WORDS[i % len(WORDS)] for i in range(n)],
            "course": [draw.normal(size=1 + i % 4).tolist() for i in range(n)],
            "parse": [TREES[i % 7] for i in range(n)],
        },
        index=pd.Index(range(100, 100 + n)),
    ).astype({"species": object, "word": object})
    for j, gap in enumerate((np.nan, np.nan, pd.NA, None, np.nan, None, pd.NA)):
        for i in np.flatnonzero(draw.random(n) < 0.3):
            frame.iat[i, j] = gap
        frame.iat[4, j] = gap
    frame.iloc[7, :] = frame.iloc[10, :]
    return frame


STRUCTURED: dict[str, object] = {
    "series": series(1),
    "channels": series(2),
    "trees": TREES,
    "patchy table": patchy_table(),
}
