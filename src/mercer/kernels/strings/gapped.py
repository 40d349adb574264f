"""Gapped words: a word in which some letters do not matter.

How many words are near two given ones depends only on the number d of letters in which those
differ. Letter by letter it is counted by the polynomial A + δ(1 − s)(1 − t), where δ says that
the letters are equal, A = s + t + (q − 2)st for q letters, and s and t mark a mismatch with
either word. In the product over all letters, each set S of letters that must be equal has the
coefficient ((1 − s)(1 − t))^|S| A^(k − |S|), and only powers of s and t up to m are wanted. So the
mismatch kernel is a weighted sum of kernels of gapped words, with S at least k − 2m letters: few,
however large the alphabet. All weights are whole numbers, some of them negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mercer.kernels.patterns import Names, Patterns, Vocabulary
from mercer.kernels.strings.neighbors import Words
from mercer.kernels.strings.substrings import numbered

__all__ = ["Gapped", "GappedWords", "gapped", "gapped_count", "gapped_words", "level_weights"]


class Gapped(Patterns):
    """Strings as counts of gapped words, each with its weight in the mismatch kernel."""

    def __init__(
        self,
        matrix: Any,
        vocabulary: Vocabulary,
        weights: np.ndarray,
        common: np.ndarray | None = None,
    ) -> None:
        super().__init__(matrix, vocabulary, common)
        self.weights = weights

    def take(self, rows: Any) -> Gapped:
        return Gapped(self.matrix[rows], self.vocabulary, self.weights, self.common)

    @cached_property
    def weighted(self) -> Patterns:
        """The counts times their weights."""
        A = self.matrix
        entries = A.data * self.weights[A.indices], A.indices, A.indptr
        return Patterns(sparse.csr_array(entries, A.shape), self.vocabulary, self.common)

    def squares(self) -> np.ndarray:
        """Return the weighted sum of squares of each row."""
        return self.matrix.power(2) @ self.weights


def gapped_count(length: int, mismatches: int) -> int:
    """Return how many gapped words a word has.

    Examples
    --------
    >>> gapped_count(5, 1)
    16
    """
    return sum(comb(length, gaps) for gaps in range(min(2 * mismatches, length) + 1))


class GappedWords(NamedTuple):
    """The gapped words of some words.

    Attributes
    ----------
    near : ndarray of int, of shape (words, gapped words of each)
        Which gapped words each word has.
    weights : ndarray of float
        Of the gapped words, in the mismatch kernel.
    names : sequence
        Pairs of the letters that matter and where they are.
    """

    near: np.ndarray
    weights: np.ndarray
    names: Names


def gapped_words(words: Words, mismatches: int) -> GappedWords:
    """Return all gapped words of each word, with the same number of them for all."""
    count, length = words.rows.shape
    letters = len(words.alphabet)
    near, weights, levels, width = [], [], [], 0
    for kept, weight in level_weights(length, mismatches, letters).items():
        for where in combinations(range(length), kept):
            columns = [words.rows[:, p] for p in where] or [np.zeros(count, np.int64)]
            found, first = numbered(columns, letters)
            near.append(found + width)
            weights.append(np.full(len(first), float(weight)))
            levels.append((where, first))
            width += len(first)
    names = Names(width, lambda: _names(words, levels))
    return GappedWords(np.stack(near, axis=1), np.concatenate(weights), names)


def gapped(words: Words, mismatches: int) -> Gapped:
    """Return how often strings have each gapped word."""
    found = gapped_words(words, mismatches)
    count, each = found.near.shape
    starts = np.arange(count + 1) * each
    entries = np.ones(count * each), found.near.ravel(), starts
    matrix = words.counts() @ sparse.csr_array(entries, (count, len(found.names)))
    return Gapped(matrix, Vocabulary(found.names), found.weights)


def level_weights(length: int, mismatches: int, letters: int) -> dict[int, int]:
    """Return the weight of gapped words by how many letters they keep.

    Examples
    --------
    >>> level_weights(2, 1, 4)
    {0: 2, 1: 2, 2: 1}
    """
    found = {}
    for kept in range(max(length - 2 * mismatches, 0), length + 1):
        weight = sum(
            times * _partial(kept, mismatches - s) * _partial(kept, mismatches - t)
            for times, s, t in _powers(length - kept, letters)
            if max(s, t) <= mismatches
        )
        found[kept] = weight
    return found


def _powers(exponent: int, letters: int) -> Iterator[tuple[int, int, int]]:
    """Yield the coefficients of (s + t + (q − 2)st)^n, each with its powers of s and t."""
    for both in range(exponent + 1):
        for s in range(exponent - both + 1):
            t = exponent - both - s
            times = comb(exponent, both) * comb(exponent - both, s) * (letters - 2) ** both
            yield times, s + both, t + both


def _partial(power: int, last: int) -> int:
    """Return the sum of the coefficients of (1 − s)^n up to that of s^last."""
    return sum((-1) ** i * comb(power, i) for i in range(last + 1))


def _names(words: Words, levels: list[Any]) -> list[Any]:
    """Return gapped words as pairs of the letters that matter and where they are."""
    names = []
    for where, first in levels:
        for row in words.rows[first]:
            names.append(("".join(words.alphabet[row[p]] for p in where), where))
    return names
