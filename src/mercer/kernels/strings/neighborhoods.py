"""Mismatch neighborhoods: the words that differ from a word in a few letters, and gapped words.

In a gapped word some letters do not matter. How many words are near two given ones depends only on
the number d of letters in which those differ. Letter by letter it is counted by the polynomial A +
δ(1 − s)(1 − t), where δ says that the letters are equal, A = s + t + (q − 2)st for q letters, and
s and t mark a mismatch with either word. In the product over all letters, each set S of letters
that must be equal has the coefficient ((1 − s)(1 − t))^|S| A^(k − |S|), and only powers of s and t
up to m are wanted. So the mismatch kernel is a weighted sum of kernels of gapped words, with S at
least k − 2m letters: few, however large the alphabet. All weights are whole numbers, some
negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations, product
from math import comb
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mercer.domains import Strings
from mercer.domains.points import RowIndex
from mercer.engine.block import Array
from mercer.kernels.patterns import Names, Patterns, Vocabulary, count_patterns
from mercer.kernels.strings.spectrum import numbered, places
from mercer.memory import afford

__all__ = [
    "GappedCounts",
    "GappedWords",
    "Kmers",
    "Neighbors",
    "gapped",
    "gapped_count",
    "gapped_words",
    "kmers_of",
    "level_weights",
    "neighbor_count",
    "neighbors",
]


class Kmers(NamedTuple):
    """The substrings of one length that are words over an alphabet.

    Attributes
    ----------
    item, position, word : ndarray of int
        The string, the place in it, and which word begins there.
    rows : ndarray of int, of shape (words, length)
        The letters of the different words, as places in the alphabet.
    alphabet : tuple of str
    total : int
        Number of strings.
    """

    item: np.ndarray
    position: np.ndarray
    word: np.ndarray
    rows: np.ndarray
    alphabet: tuple[str, ...]
    total: int

    def counts(self) -> sparse.csr_array:
        """Return how often each string has each word."""
        return count_patterns(self.item, self.word, (self.total, len(self.rows)))


class Neighbors(NamedTuple):
    """The words near some words.

    Attributes
    ----------
    near : ndarray of int, of shape (words, neighbors)
        Which words are near each word.
    names : list of str
        Those words.
    """

    near: np.ndarray
    names: list[str]

    def matrix(self) -> sparse.csr_array:
        """Return the matrix with a row for each word and a one for each neighbor."""
        rows, each = self.near.shape
        starts = np.arange(rows + 1) * each
        ones = np.ones(self.near.size)
        return sparse.csr_array((ones, self.near.ravel(), starts), (rows, len(self.names)))


def kmers_of(strings: Strings, length: int, alphabet: tuple[str, ...]) -> Kmers:
    """Return all substrings of one length that are words over an alphabet."""
    known = np.array([ord(letter) for letter in alphabet], dtype=np.int64)
    codes = np.searchsorted(known, strings.letters)
    inside = codes < len(known)
    inside[inside] = known[codes[inside]] == strings.letters[inside]
    codes[~inside] = -1
    item, position = places(strings, length)
    begin = strings.starts[:-1][item] + position
    whole = np.ones(len(begin), dtype=bool)
    for step in range(length):
        whole &= codes[begin + step] >= 0
    item, position, begin = item[whole], position[whole], begin[whole]
    word, first = numbered((codes[begin + step] for step in range(length)), len(known))
    rows = codes[begin[first][:, None] + np.arange(length)]
    return Kmers(item, position, word, rows, alphabet, len(strings))


def neighbor_count(length: int, mismatches: int, letters: int) -> int:
    """Return how many words are within some mismatches of a word."""
    return sum(
        comb(length, wrong) * max(letters - 1, 0) ** wrong for wrong in range(mismatches + 1)
    )


def neighbors(words: Kmers, mismatches: int) -> Neighbors:
    """Return all words within some mismatches of each word."""
    letters, (count, length) = len(words.alphabet), words.rows.shape
    each = neighbor_count(length, mismatches, letters)
    afford(
        40.0 * count * each,
        f"the {each} neighbors of each of {count} words",
        "allow fewer mismatches",
    )
    moves = _moves(length, mismatches, letters)
    columns = (
        ((words.rows[:, None, p] + moves[None, :, p]) % max(letters, 1)).ravel()
        for p in range(length)
    )
    near, first = numbered(columns, letters)
    rows = words.rows[first // each] + moves[first % each]
    return Neighbors(near.reshape(count, each), _names(rows % max(letters, 1), words.alphabet))


def _moves(length: int, mismatches: int, letters: int) -> np.ndarray:
    """Return all changes of up to so many letters, as steps along the alphabet."""
    moves = []
    for wrong in range(mismatches + 1):
        for where in combinations(range(length), wrong):
            for steps in product(range(1, letters), repeat=wrong):
                move = np.zeros(length, np.int64)
                move[list(where)] = steps
                moves.append(move)
    return np.array(moves)


def _names(rows: np.ndarray, alphabet: tuple[str, ...]) -> list[str]:
    """Return rows of letters as strings."""
    length = rows.shape[1]
    joined = "".join(np.array(alphabet, dtype=object)[rows.ravel()])
    return [joined[i : i + length] for i in range(0, len(joined), length)]


class GappedCounts(Patterns):
    """Strings as counts of gapped words, each with its weight in the mismatch kernel."""

    def __init__(
        self,
        matrix: Array,
        vocabulary: Vocabulary,
        weights: np.ndarray,
        common: np.ndarray | None = None,
    ) -> None:
        super().__init__(matrix, vocabulary, common)
        self.weights = weights

    def take(self, rows: RowIndex) -> GappedCounts:
        return GappedCounts(self.matrix[rows], self.vocabulary, self.weights, self.common)

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
    """Return how many gapped words a word has."""
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


def gapped_words(words: Kmers, mismatches: int) -> GappedWords:
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
    names = Names(width, lambda: _gapped_names(words, levels))
    return GappedWords(np.stack(near, axis=1), np.concatenate(weights), names)


def gapped(words: Kmers, mismatches: int) -> GappedCounts:
    """Return how often strings have each gapped word."""
    found = gapped_words(words, mismatches)
    count, each = found.near.shape
    starts = np.arange(count + 1) * each
    entries = np.ones(count * each), found.near.ravel(), starts
    matrix = words.counts() @ sparse.csr_array(entries, (count, len(found.names)))
    return GappedCounts(matrix, Vocabulary(found.names), found.weights)


def level_weights(length: int, mismatches: int, letters: int) -> dict[int, int]:
    """Return the weight of gapped words by how many letters they keep."""
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


def _gapped_names(words: Kmers, levels: list[Any]) -> list[Any]:
    """Return gapped words as pairs of the letters that matter and where they are."""
    names = []
    for where, first in levels:
        for row in words.rows[first]:
            names.append(("".join(words.alphabet[row[p]] for p in where), where))
    return names
