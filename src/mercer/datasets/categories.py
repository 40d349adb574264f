"""Category structures that people have learned in the laboratory."""

from __future__ import annotations

import numpy as np

from mercer.datasets.dataset import Dataset

__all__ = ["shj_types"]

# Members of category A, stimuli numbered 1–8 as 000, 001, …, 111.
SIX_TYPES = {
    "I": (1, 2, 3, 4),
    "II": (1, 2, 7, 8),
    "III": (1, 2, 3, 6),
    "IV": (1, 2, 3, 5),
    "V": (1, 2, 3, 8),
    "VI": (1, 4, 6, 7),
}


def shj_types() -> dict[str, Dataset]:
    """Return the six category structures of Shepard, Hovland & Jenkins (1961).

    Eight stimuli with three binary dimensions, four in category A. Up to the names of dimensions
    and values there are six ways: type I needs one dimension, type II two (it is `xor` with an
    irrelevant third), III–V a rule with exceptions, type VI all three. People find them harder in
    the order I < II < III, IV, V < VI.

    Examples
    --------
    >>> types = shj_types()
    >>> list(types)
    ['I', 'II', 'III', 'IV', 'V', 'VI']
    >>> X, y = types["II"]
    >>> "".join(y)
    'AABBBBAA'
    """
    stimuli = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], dtype=np.float64)
    problems = {}
    for name, members in SIX_TYPES.items():
        inside = np.isin(np.arange(1, 9), members)
        y = np.where(inside, "A", "B")
        problems[name] = Dataset(stimuli.copy(), y, ("A", "B"), {"type": name})
    return problems
