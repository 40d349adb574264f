"""The mismatch kernel: common substrings of one length, up to some wrong letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np

from mercer.domains import STRINGS, Domain, Points, Strings
from mercer.engine.block import Block
from mercer.errors import ValidityError
from mercer.kernels.base import kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.patterns import Occurrences, PatternKernel, Patterns, Vocabulary
from mercer.kernels.proof import Proof, proved
from mercer.kernels.strings.neighborhoods import (
    GappedCounts,
    Kmers,
    gapped,
    gapped_count,
    gapped_words,
    kmers_of,
    neighbor_count,
    neighbors,
)
from mercer.values import whole

__all__ = ["Mismatch"]


@kernel
class Mismatch(PatternKernel):
    """Σ_w (substrings of x within m letters of w)·(substrings of z within m letters of w).

    The sum is over all words w of the given length over an alphabet, by default that of the
    training strings. A substring with a letter outside the alphabet is not a word and does not
    count; a string without words is 0 to all, itself included. Valid as the inner product of
    counts (Leslie et al., 2004). It has explicit features where a word has few neighbors, as over
    the letters of DNA.

    Parameters
    ----------
    length : int
        Number of letters of a word.
    mismatches : int
        How many of them may be wrong, fewer than all.
    alphabet : "data" or letters
        Of what the words are made: a string such as "ACGT", a sequence of letters, or the letters
        of the training strings.

    Examples
    --------
    >>> Mismatch(2, 1, "ab")(["ab", "bb", "aaa"])
    array([[ 3.,  2.,  4.],
           [ 2.,  3.,  4.],
           [ 4.,  4., 12.]])
    """

    length: int = 5
    mismatches: int = 1
    alphabet: Any = "data"
    domain: ClassVar[Domain] = STRINGS
    heuristic: ClassVar[tuple[str, ...]] = ("alphabet",)

    def __post_init__(self) -> None:
        self._normalize("length", whole(self, "length", self.length))
        self._normalize("mismatches", whole(self, "mismatches", self.mismatches, least=0))
        if self.mismatches >= self.length:
            raise ValidityError(
                f"mismatches of Mismatch must be fewer than the {self.length} letters of a word, "
                f"found {self.mismatches}"
            )
        if not (isinstance(self.alphabet, str) and self.alphabet == "data"):
            self._normalize("alphabet", _letters(self.alphabet))

    def pair(self, x: str, z: str) -> float:
        left, right = (
            Counter(near for word in self._words(s) for near in self._near(word, self.mismatches))
            for s in (x, z)
        )
        return float(sum(count * right[word] for word, count in left.items()))

    def resolve_heuristics(self, points: Strings, weights: np.ndarray | None) -> Self:
        if not isinstance(self.alphabet, str):
            return self
        texts = points.texts if weights is None else points.texts[np.asarray(weights) > 0]
        return self.set_params(alphabet=tuple(sorted(set("".join(texts)))))

    def encode(self, points: Points) -> None:
        if self.unresolved() or self.listed:
            super().encode(points)
        else:
            self._gapped(points)

    def compared(self, block: Block) -> tuple[Patterns, Patterns]:
        if self.listed:
            return super().compared(block)
        return self._gapped(block.left).weighted, self._gapped(block.right)

    def evaluate_diagonal(self, points: Points) -> np.ndarray:
        if self.listed:
            return super().evaluate_diagonal(points)
        return self._gapped(points).squares()

    def patterns(self, points: Strings) -> Patterns:
        words = kmers_of(points, self.length, self.alphabet)
        found = neighbors(words, self.mismatches)
        return Patterns(words.counts() @ found.matrix(), Vocabulary(found.names))

    def map_features(self, points: Points) -> FeatureMap | None:
        return super().map_features(points) if self.listed else None

    def occurrences(self, points: Strings) -> Occurrences:
        words = kmers_of(points, self.length, self.alphabet)
        if self.listed:
            near, listed = neighbors(words, self.mismatches)
            mine, known = Vocabulary(listed), self.encoded(points).vocabulary
            weights = np.ones(len(mine))
        else:
            near, weights, names = gapped_words(words, self.mismatches)
            mine, known = Vocabulary(names), self._gapped(points).vocabulary
        place = np.repeat(np.arange(len(words.item)), near.shape[1])
        found = near[words.word].ravel()
        parts = words.position[place][:, None] + np.arange(self.length)
        return Occurrences(
            words.item[place],
            mine.places(known)[found],
            weights[found],
            np.arange(len(place) + 1) * self.length,
            parts.ravel(),
        )

    def units(self, points: Strings) -> list[list[str]]:
        return [list(text) for text in points.texts]

    def prove(self) -> Proof:
        return proved(self, "it is an inner product of counts of similar substrings (6.1)")

    @property
    def listed(self) -> bool:
        """Whether words with all their neighbors are fewer than words with all their gaps."""
        k, m, q = self.length, self.mismatches, len(self.alphabet)
        # So few words make columns that BLAS multiplies.
        return q**k <= 4096 or neighbor_count(k, m, q) <= gapped_count(k, m)

    def _gapped(self, points: Points) -> GappedCounts:
        return points.view(("gapped", self), self._with_gaps)  # type: ignore[return-value]

    def _with_gaps(self, points: Strings) -> GappedCounts:
        words: Kmers = kmers_of(points, self.length, self.alphabet)
        return gapped(words, self.mismatches)

    def _words(self, text: str) -> Iterator[str]:
        """Yield the substrings of one text that are words."""
        for i in range(len(text) - self.length + 1):
            if set(text[i : i + self.length]) <= set(self.alphabet):
                yield text[i : i + self.length]

    def _near(self, word: str, wrong: int) -> Iterator[str]:
        """Yield all words with up to so many other letters."""
        if not word:
            yield ""
            return
        for letter in self.alphabet:
            left = wrong - (letter != word[0])
            if left >= 0:
                yield from (letter + rest for rest in self._near(word[1:], left))


def _letters(alphabet: object) -> tuple[str, ...]:
    """Return the letters of an alphabet, each once, sorted."""
    letters = list(alphabet) if isinstance(alphabet, str | tuple | list | set | frozenset) else [0]
    if not all(isinstance(letter, str) and len(letter) == 1 for letter in letters):
        raise ValidityError(
            f"alphabet of Mismatch must be 'data', or letters such as 'ACGT', found {alphabet!r}"
        )
    return tuple(sorted({str(letter) for letter in letters}))
