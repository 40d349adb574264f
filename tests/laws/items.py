"""Items to hold the laws against, each set with something awkward in it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.laws.generative_items import GENERATIVE_ITEMS
from tests.laws.graph_items import GRAPH_ITEMS
from tests.laws.string_items import STRING_ITEMS
from tests.laws.structured_items import STRUCTURED

__all__ = ["ITEMS"]

rng = np.random.default_rng(20240229)


def with_zero_and_duplicate(X: np.ndarray) -> np.ndarray:
    """Make one item zero and two items equal."""
    X[3] = 0.0
    X[7] = X[10]
    return X


def squared(F: np.ndarray) -> np.ndarray:
    """Return the Gram matrix of features, exactly symmetric."""
    K = F @ F.T
    return (K + K.T) / 2


WORDS = [
    "cat", "hat", "cat", "dog", "horse", "a", "banana", "ananas", "seal", "eel", "owl", "lion",
    "mule", "ass", "bee", "wasp",
]  # fmt: skip
SETS = [frozenset(word) for word in [*WORDS, ""]]
SPECIES = ["setosa", "virginica", "versicolor"]


def table() -> pd.DataFrame:
    """Return a mixed table whose index is not 0, 1, 2, …, with a category seen only once."""
    n = 18
    frame = pd.DataFrame(
        {
            "height": rng.normal(170.0, 10.0, n),
            "weight": rng.normal(70.0, 9.0, n),
            "legs": rng.integers(1, 5, n),
            "species": [*(SPECIES[i % 3] for i in range(n - 1)), "unseen"],
        },
        index=pd.Index(range(100, 100 + n)),
    )
    frame.iloc[7, :] = frame.iloc[10, :]
    return frame


ITEMS: dict[str, object] = {
    # Below and above the number of dimensions from which distances come from a matrix product.
    "points": with_zero_and_duplicate(rng.normal(size=(20, 3))),
    "wide points": with_zero_and_duplicate(rng.normal(size=(20, 7))),
    "numbers": with_zero_and_duplicate(rng.normal(size=(15, 1))),
    # Squared distances of about 10 between squared lengths of about 6e12.
    "far points": 1e6 + rng.normal(size=(18, 6)),
    "far numbers": -1e6 + rng.normal(size=(14, 2)),
    # Lengths from 1e-3 to 1e3.
    "uneven points": rng.normal(size=(16, 5)) * np.geomspace(1e-3, 1e3, 16)[:, None],
    "histograms": with_zero_and_duplicate(rng.poisson(1.0, size=(20, 6)).astype(float)),
    "far histograms": 1e4 + rng.random(size=(14, 5)),
    "fingerprints": with_zero_and_duplicate((rng.random(size=(20, 12)) < 0.3).astype(float)),
    "labels": np.array([SPECIES[i % 3] for i in range(13)]),
    "words": WORDS,
    "sets": SETS,
    "table": table(),
    "valid matrix": squared(rng.normal(size=(12, 4))),
    "matrix": squared(rng.normal(size=(12, 12))) - 6.0,  # has a negative eigenvalue
    **GENERATIVE_ITEMS,
    **GRAPH_ITEMS,
    **STRING_ITEMS,
    **STRUCTURED,
}

for items in ITEMS.values():
    if isinstance(items, np.ndarray):
        items.setflags(write=False)
