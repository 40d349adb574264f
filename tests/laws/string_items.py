"""Strings, texts, sets and bags to hold the laws against, each with something awkward in it."""

from __future__ import annotations

import numpy as np
import pandas as pd

__all__ = ["STRING_ITEMS"]

rng = np.random.default_rng(20240506)


def dna(count: int) -> list[str]:
    """Return random strings of unequal length, one of them twice."""
    lengths = rng.integers(3, 12, count)
    strings = ["".join(rng.choice(list("ACGT"), length)) for length in lengths]
    return [*strings, strings[2]]


# Empty, shorter than substrings, not ASCII (one letter beyond 16 bits), equal, a lone surrogate.
STRINGS = [
    "banana", "ananas", "", "a", "na", "banana", "naïve", "ありがとう", "がとり", "𝔸𝔹𝔸b",
    "NANA", "bab\x00an", "aaaaaaaa", "\udc80a", "an an", "nab",
]  # fmt: skip
TEXTS = [
    "The cat sat on the mat.", "the dog sat", "", "a I", "cat cat CAT dog", "Über die Katze",
    "über   die\tHunde", "the the the", "On the mat sat the cat", "dog", "dogs and cats and mats",
    "the dog sat", "no known word",
]  # fmt: skip
SMALL_SETS = [
    {1, 2}, {2, 3}, set(), {"a"}, frozenset({1, 2}), {1, "a", (2, 3)}, {2}, {3, 4, 5, 6},
    {1, 2, 3, 4, 5, 6, "a"}, {(2, 3)}, {6}, set(),
]  # fmt: skip
LARGE_SETS = [set(rng.choice(60, size, replace=False).tolist()) for size in range(0, 45, 3)]
BAGS = [rng.normal(size=(size, 2)) for size in (3, 1, 0, 2, 5, 1, 4, 2, 0, 3, 1)]
BAGS[5] = BAGS[1].copy()

STRING_ITEMS: dict[str, object] = {
    "strings": STRINGS,
    "DNA": dna(14),
    "texts": TEXTS,
    "texts in a column": pd.DataFrame({"text": TEXTS, "length": [len(text) for text in TEXTS]}),
    "small sets": SMALL_SETS,
    "large sets": LARGE_SETS,
    "bags": BAGS,
    "bags of numbers": [[1.0, 2.0], [], [2.5], [1, 1, 1], (0.5, -1.0), [3.0], [0.0], [2.5], [7.0]],
    "bags of words": [
        ["cat", "dog"], [], ["cat"], ("dog", "cat"), {"hat", "mat"}, ["cat", "cat"], ["at"],
        ["", "a"], ["banana", "ananas", "na"], frozenset({"cat"}),
    ],
}  # fmt: skip
