"""Analysis of texts: their words, runs of words and runs of letters, and where those are.

The same as scikit-learn's `CountVectorizer` finds, which is faster but forgets the places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Located", "analyzed", "stopping"]

SPACES = re.compile(r"\s\s+")


class Located(NamedTuple):
    """A text taken apart.

    Attributes
    ----------
    units : list of str
        Its words, or its letters.
    grams : list of (str, range or list of int)
        What is counted, each with the units that it is made of.
    """

    units: list[str]
    grams: list[tuple[str, Any]]


def analyzed(kernel: Any, text: str) -> Located:
    """Return the units and n-grams of one text, by the settings of a `Text` kernel.

    Examples
    --------
    >>> from mercer.kernels import Text
    >>> analyzed(Text(ngrams=(2, 2)), "The cat sat")
    Located(units=['the', 'cat', 'sat'], grams=[('the cat', [0, 1]), ('cat sat', [1, 2])])
    """
    text = text.lower() if kernel.lowercase else text
    if kernel.analyzer == "word":
        units = re.findall(kernel.token_pattern, text)
        return Located(units, list(_runs_of_words(kernel, units)))
    text = SPACES.sub(" ", text)
    runs = _runs_of_letters if kernel.analyzer == "char" else _runs_inside_words
    return Located(list(text), list(runs(text, *kernel.ngrams)))


def stopping(words: Any) -> frozenset[str]:
    """Return the words that do not count."""
    if words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return ENGLISH_STOP_WORDS
    return frozenset(words or ())


def _runs_of_words(kernel: Any, words: list[str]) -> Iterator[tuple[str, Any]]:
    stop = stopping(kernel.stop_words)
    kept = [i for i, word in enumerate(words) if word not in stop]
    low, high = kernel.ngrams
    for n in range(low, high + 1):
        for i in range(len(kept) - n + 1):
            where = kept[i : i + n]
            yield " ".join(words[w] for w in where), where


def _runs_of_letters(text: str, low: int, high: int) -> Iterator[tuple[str, Any]]:
    for n in range(low, high + 1):
        for i in range(len(text) - n + 1):
            yield text[i : i + n], range(i, i + n)


def _runs_inside_words(text: str, low: int, high: int) -> Iterator[tuple[str, Any]]:
    """Yield runs of letters of each word with a space at both ends, those of its letters."""
    for match in re.finditer(r"\S+", text):
        first, last = match.start(), match.end()
        padded = f" {match.group()} "
        for n in range(low, high + 1):
            for i in range(max(len(padded) - n, 0) + 1):
                where = range(max(first + i - 1, first), min(first + i - 1 + n, last))
                # A space alone belongs to the letter beside it.
                yield padded[i : i + n], where or [first if i == 0 else last - 1]
            if len(padded) <= n:  # a short word counts only once
                break
