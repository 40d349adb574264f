"""Category structures that people have learned in the laboratory."""

from __future__ import annotations

import numpy as np

from mercer.datasets.dataset import Dataset

__all__ = ["shj_types"]


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
    from mercer.cognition.designs import SIX_TYPES  # with its models, which take a while to load

    stimuli = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], dtype=np.float64)
    problems = {}
    for name, members in SIX_TYPES.items():
        inside = np.isin(np.arange(1, 9), members)
        y = np.where(inside, "A", "B")
        problems[name] = Dataset(stimuli.copy(), y, ("A", "B"), {"type": name})
    return problems
