"""Neighbors: the words of an alphabet that differ from a word in a few letters."""

from __future__ import annotations

from itertools import combinations, product
from math import comb
from typing import NamedTuple

import numpy as np
from scipy import sparse

from mercer.domains import Strings
from mercer.kernels.patterns import counted
from mercer.kernels.strings.substrings import numbered, places
from mercer.memory import afford

__all__ = ["Neighbors", "Words", "neighbor_count", "neighbors", "words_of"]


class Words(NamedTuple):
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
        return counted(self.item, self.word, (self.total, len(self.rows)))


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


def words_of(strings: Strings, length: int, alphabet: tuple[str, ...]) -> Words:
    """Return all substrings of one length that are words over an alphabet.

    Examples
    --------
    >>> from mercer.domains import STRINGS
    >>> words_of(STRINGS.admit(["acgt", "aNc"]), 2, ("a", "c", "g", "t")).rows.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
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
    return Words(item, position, word, rows, alphabet, len(strings))


def neighbor_count(length: int, mismatches: int, letters: int) -> int:
    """Return how many words are within some mismatches of a word.

    Examples
    --------
    >>> neighbor_count(5, 1, 4)
    16
    """
    return sum(
        comb(length, wrong) * max(letters - 1, 0) ** wrong for wrong in range(mismatches + 1)
    )


def neighbors(words: Words, mismatches: int) -> Neighbors:
    """Return all words within some mismatches of each word.

    Examples
    --------
    >>> from mercer.domains import STRINGS
    >>> words = words_of(STRINGS.admit(["ab"]), 2, ("a", "b"))
    >>> neighbors(words, 1)
    Neighbors(near=array([[1, 2, 0]]), names=['aa', 'ab', 'bb'])
    """
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
