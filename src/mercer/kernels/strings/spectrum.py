"""The spectrum kernel: common substrings of one length."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import numpy as np

from mercer.domains import STRINGS, Domain, Strings
from mercer.kernels.base import kernel
from mercer.kernels.patterns import Occurrences, PatternKernel, Patterns, Vocabulary, counted
from mercer.kernels.proof import Proof, proved
from mercer.kernels.strings.substrings import substrings
from mercer.values import whole

__all__ = ["Spectrum"]


@kernel
class Spectrum(PatternKernel):
    """Σ_s (how often s is in x)·(how often s is in z), over all substrings s of one length.

    A string that is shorter than the substrings has none of them, and is 0 to all, itself
    included. Valid as the inner product of counts (Leslie, Eskin & Noble, 2002).

    Parameters
    ----------
    length : int
        Number of letters of a substring.

    Examples
    --------
    >>> Spectrum(2)(["banana", "ananas", "an"])
    array([[9., 8., 2.],
           [8., 9., 2.],
           [2., 2., 1.]])
    """

    length: int = 3
    domain: ClassVar[Domain] = STRINGS

    def __post_init__(self) -> None:
        self._normalize("length", whole(self, "length", self.length))

    def pair(self, x: str, z: str) -> float:
        k = self.length
        left, right = (Counter(s[i : i + k] for i in range(len(s) - k + 1)) for s in (x, z))
        return float(sum(count * right[s] for s, count in left.items()))

    def patterns(self, points: Strings) -> Patterns:
        found = substrings(points, self.length)
        shape = len(points), len(found.words)
        return Patterns(counted(found.item, found.word, shape), Vocabulary(found.words))

    def occurrences(self, points: Strings) -> Occurrences:
        found = substrings(points, self.length)
        count = len(found.item)
        columns = Vocabulary(found.words).places(self.encoded(points).vocabulary)
        parts = found.position[:, None] + np.arange(self.length)
        starts = np.arange(count + 1) * self.length
        weights = np.ones(count)
        return Occurrences(found.item, columns[found.word], weights, starts, parts.ravel())

    def prove(self) -> Proof:
        return proved(self, "it is an inner product of counts of substrings (6.1)")
