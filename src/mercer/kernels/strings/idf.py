"""Inverse document frequencies: how much each word says, because few texts have it."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mercer.errors import ValidityError
from mercer.kernels.patterns import Patterns, Vocabulary
from mercer.values import positive

__all__ = ["Idf"]


class Corpus(NamedTuple):
    """The texts that words were learned from, and how often each text has each word."""

    settings: Any
    texts: np.ndarray
    counts: Patterns

    def has(self, settings: object, texts: np.ndarray) -> bool:
        """Tell whether these are the same texts, counted in the same way."""
        same = len(texts) == len(self.texts) and settings == self.settings
        return same and all(map(operator.is_, texts, self.texts))


@dataclass(frozen=True, repr=False)
class Idf:
    """Words with their weights, as `Text` learns them from the training texts.

    Parameters
    ----------
    words : tuple of str
        Each once.
    weights : tuple of float
        One for each word, positive.

    Examples
    --------
    >>> Idf(("cat", "the"), (2.0, 1.0))
    Idf(('cat', 'the'), (2.0, 1.0))
    """

    words: tuple[str, ...]
    weights: tuple[float, ...]
    corpus: ClassVar[Corpus | None] = None

    def __post_init__(self) -> None:
        words, weights = tuple(map(str, self.words)), tuple(self.weights)
        if len(words) != len(weights) or len(set(words)) != len(words):
            raise ValidityError("Idf needs different words, and one weight for each of them")
        object.__setattr__(self, "words", words)
        floats = tuple(positive(self, "a weight", weight) for weight in weights)
        object.__setattr__(self, "weights", floats)

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Idf:
        """Return the weights of a dict, words in alphabetical order."""
        return cls(tuple(sorted(weights)), tuple(weights[word] for word in sorted(weights)))

    def learned_from(self, settings: object, texts: np.ndarray, counts: Patterns) -> Idf:
        """Remember the counts of the training texts, which are about to be asked for again.

        They are no part of the value: equal words with equal weights are equal, and neither
        pickles nor copies have them.
        """
        object.__setattr__(self, "corpus", Corpus(settings, texts, counts))
        return self

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words as columns."""
        return Vocabulary(self.words)

    @cached_property
    def array(self) -> np.ndarray:
        """The weights as an array."""
        return np.array(self.weights)

    @cached_property
    def lookup(self) -> dict[str, float]:
        """The weights by word."""
        return dict(zip(self.words, self.weights, strict=True))

    @cached_property
    def _hash(self) -> int:
        return hash((self.words, self.weights))

    def __hash__(self) -> int:  # of thousands of words, so only once
        return self._hash

    def __repr__(self) -> str:
        return f"Idf({self.words!r}, {self.weights!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Idf, (self.words, self.weights)
