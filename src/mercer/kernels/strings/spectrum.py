"""The spectrum kernel: common substrings of one length, all of which are numbered here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

import numpy as np

from mercer.domains import STRINGS, Domain, Strings
from mercer.kernels.base import kernel
from mercer.kernels.patterns import (
    Occurrences,
    PatternKernel,
    Patterns,
    Vocabulary,
    count_patterns,
)
from mercer.kernels.proof import Proof, proved
from mercer.values import whole

__all__ = ["Spectrum", "Substrings", "numbered", "places", "ranks", "substrings"]


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
        return Patterns(count_patterns(found.item, found.word, shape), Vocabulary(found.words))

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


class Substrings(NamedTuple):
    """One entry for each place in each string where a whole substring begins.

    Attributes
    ----------
    item, position, word : ndarray of int
        The string, the place in it, and which substring begins there.
    words : list of str
        The substrings, in alphabetical order.
    """

    item: np.ndarray
    position: np.ndarray
    word: np.ndarray
    words: list[str]


def substrings(strings: Strings, length: int) -> Substrings:
    """Return all substrings of one length."""
    codes, alphabet = ranks(strings.letters)
    item, position = places(strings, length)
    begin = strings.starts[:-1][item] + position
    word, first = numbered((codes[begin + step] for step in range(length)), alphabet)
    texts, where = strings.texts[item[first]], position[first]
    words = [text[i : i + length] for text, i in zip(texts, where, strict=True)]
    return Substrings(item, position, word, words)


def places(strings: Strings, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the string, and the place in it, of all substrings of one length."""
    counts = np.maximum(np.diff(strings.starts) - length + 1, 0)
    item = np.repeat(np.arange(len(strings)), counts)
    position = np.arange(len(item)) - np.repeat(np.cumsum(counts) - counts, counts)
    return item, position


def numbered(columns: Iterable[np.ndarray], alphabet: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each row of letters, in alphabetical order, and a row of each."""
    word, size = np.zeros(1, np.int64), 1
    for letters in columns:
        # The number of a substring must stay below 2^62.
        if size > 2**62 // max(alphabet, 1):
            word, size = ranks(word)
        word, size = word * alphabet + letters, size * alphabet
    word, size = ranks(word, size)
    first = np.empty(size, np.int64)
    first[word[::-1]] = np.arange(len(word) - 1, -1, -1)
    return word, first


def ranks(values: np.ndarray, bound: int | None = None) -> tuple[np.ndarray, int]:
    """Return the rank of each value among the different ones, and how many those are."""
    if bound is None:
        bound = int(values.max(initial=-1)) + 1
    # A table of more entries costs more than sorting.
    if bound > max(2**22, 4 * len(values)):
        different, rank = np.unique(values, return_inverse=True)
        return rank, len(different)
    seen = np.zeros(bound, bool)
    seen[values] = True
    places = np.cumsum(seen) - 1
    return places[values], int(np.count_nonzero(seen))
