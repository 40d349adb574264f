"""The text kernel: common words, weighted by how much they say.

Words, runs of words and runs of letters are those that scikit-learn's `CountVectorizer` finds; it
is faster, but forgets the places.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from mercer.domains import STRINGS, Domain, Points, Strings
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.kernels.base import kernel
from mercer.kernels.patterns import Occurrences, PatternKernel, Patterns, Vocabulary
from mercer.kernels.proof import Proof, proved
from mercer.kernels.strings.idf import Idf
from mercer.values import positive, whole

__all__ = ["Located", "Text", "analyze", "stop_words"]

WORDS = r"(?u)\b\w\w+\b"  # scikit-learn's words: two letters or more


@kernel
class Text(PatternKernel):
    """The inner product of two texts' counts of words, weighted by tf-idf.

    The same numbers as ``linear_kernel`` of scikit-learn's `TfidfVectorizer` with the same
    settings. The weights of words are learned from the training texts; a word that none of those
    has is dropped, and a text without a known word is 0 to all, itself included. Valid as an
    inner product of weighted counts.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"}
        Count words, runs of letters, or runs of letters inside words.
    ngrams : (int, int)
        The shortest and the longest run of words or letters that counts.
    idf : "corpus", Idf, dict of weights by word, or None
        What multiplies the count of a word: ln((1 + n)/(1 + n_w)) + 1 if n_w of n training texts
        have it, given weights, or nothing. Without weights no data is needed, and every word
        counts.
    sublinear : bool
        Whether a count c becomes 1 + ln c.
    lowercase : bool
        Whether capital letters are small ones.
    normalized : bool
        Whether every text is given the length 1.
    stop_words : None, "english" or a sequence of str
        Words that do not count.
    min_df : int or float
        How many texts of the corpus (or which share of them) must have a word that counts.
    token_pattern : str
        A regular expression of words.

    Examples
    --------
    >>> k = Text(idf=None, normalized=False)
    >>> k(["the cat sat", "The dog sat, the cat ran"])
    array([[3., 4.],
           [4., 8.]])
    >>> Text(min_df=2).resolve(["the cat sat", "the dog sat"]).idf.words
    ('sat', 'the')
    """

    analyzer: str = "word"
    ngrams: tuple[int, int] = (1, 1)
    idf: Any = "corpus"
    sublinear: bool = False
    lowercase: bool = True
    normalized: bool = True
    stop_words: Any = None
    min_df: Any = 1
    token_pattern: str = WORDS
    domain: ClassVar[Domain] = STRINGS
    heuristic: ClassVar[tuple[str, ...]] = ("idf",)

    def __post_init__(self) -> None:
        _one_of(self, "analyzer", self.analyzer, ("word", "char", "char_wb"))
        self._normalize("ngrams", _span(self, self.ngrams))
        for name in ("sublinear", "lowercase", "normalized"):
            self._normalize(name, _truth(name, getattr(self, name)))
        self._normalize("stop_words", _stop_words(self, self.stop_words))
        self._normalize("min_df", _least(self, self.min_df))
        _pattern(self.token_pattern)
        if isinstance(self.idf, Mapping):
            self._normalize("idf", Idf.of(self.idf))
        elif self.idf is None:
            if self.min_df != 1:
                raise ValidityError("min_df of Text counts texts of a corpus; use idf='corpus'")
        elif not isinstance(self.idf, Idf):
            _one_of(self, "idf", self.idf, ("corpus",))

    def pair(self, x: str, z: str) -> float:
        left, right = self._weigh(x), self._weigh(z)
        return float(sum(value * right.get(word, 0.0) for word, value in left.items()))

    def resolve_heuristics(self, points: Strings, weights: np.ndarray | None) -> Self:
        if not isinstance(self.idf, str):
            return self
        counts = self._counts(points)
        each = np.ones(len(points)) if weights is None else np.asarray(weights, dtype=float)
        rows = np.repeat(each, np.diff(counts.matrix.indptr))
        having = np.bincount(counts.matrix.indices, rows, len(counts.vocabulary))
        total = float(each.sum())
        least = self.min_df if isinstance(self.min_df, int) else self.min_df * total
        kept = np.flatnonzero((having > 0) & (having >= least))
        if len(kept) == 0:
            raise DomainError(
                f"no word is in enough of the {len(points)} texts to learn its weight; try a "
                "smaller min_df, or idf=None"
            )
        idf = np.log((1 + total) / (1 + having[kept])) + 1
        words = tuple(counts.vocabulary[int(column)] for column in kept)
        learned = Idf(words, tuple(idf.tolist()))
        return self.set_params(idf=learned.learned_from(self._settings(), points.texts, counts))

    def patterns(self, points: Strings) -> Patterns:
        counts = self._counts(points)
        vocabulary = counts.vocabulary if self.idf is None else self.idf.vocabulary
        known = counts.over(vocabulary)
        values = 1 + np.log(known.data) if self.sublinear else known.data.copy()
        if self.idf is not None:
            values *= self.idf.array[known.indices]
        if self.normalized:
            rows = np.repeat(np.arange(len(points)), np.diff(known.indptr))
            squares = np.bincount(rows, values**2, len(points))
            values /= np.sqrt(squares)[rows]
        matrix = sparse.csr_array((values, known.indices, known.indptr), known.shape)
        return Patterns(matrix, vocabulary)

    def occurrences(self, points: Strings) -> Occurrences:
        index = self.encoded(points).vocabulary.index()
        item, column, lengths, parts = [], [], [], []
        for i, text in enumerate(points.texts):
            for gram, where in analyze(self, text).grams:
                if gram in index:
                    item.append(i)
                    column.append(index[gram])
                    lengths.append(len(where))
                    parts.extend(where)
        rows, columns = np.array(item, dtype=int), np.array(column, dtype=int)
        starts = np.concatenate([[0], np.cumsum(lengths, dtype=int)])
        # Equal occurrences of a word share what the word adds to its text.
        pairs, which, times = np.unique(
            rows * max(len(index), 1) + columns, return_inverse=True, return_counts=True
        )
        values = self.encoded(points).matrix[
            pairs // max(len(index), 1), pairs % max(len(index), 1)
        ]
        weight = (np.asarray(values).ravel() / times)[which]
        return Occurrences(rows, columns, weight, starts, np.array(parts, dtype=int))

    def units(self, points: Strings) -> list[list[str]]:
        return [analyze(self, text).units for text in points.texts]

    def prove(self) -> Proof:
        return proved(self, "it is an inner product of weighted counts of words (6.1)")

    def _counts(self, points: Points) -> Patterns:
        """Return plain counts, which are the same for all weights of words."""
        return points.view(("counts", self._settings()), self._count)  # type: ignore[return-value]

    def _settings(self) -> Text:
        """Return the kernel of plain counts, which says how texts are taken apart."""
        return self.set_params(idf=None, min_df=1, sublinear=False, normalized=False)

    def _count(self, points: Strings) -> Patterns:
        from sklearn.feature_extraction.text import CountVectorizer

        corpus = getattr(self.idf, "corpus", None)
        if corpus is not None and corpus.has(self._settings(), points.texts):
            return corpus.counts
        words = {"token_pattern": self.token_pattern} if self.analyzer == "word" else {}
        stop = sorted(stop_words(self.stop_words)) or None
        vectorizer = CountVectorizer(
            analyzer=self.analyzer, ngram_range=self.ngrams, lowercase=self.lowercase,
            stop_words=stop, dtype=np.float64, **words,
        )  # fmt: skip
        try:
            with warnings.catch_warnings():  # of stop words that are no words by token_pattern
                warnings.simplefilter("ignore", UserWarning)
                matrix = sparse.csr_array(vectorizer.fit_transform(points.texts))
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            return Patterns(sparse.csr_array((len(points), 0)), Vocabulary([]))
        return Patterns(matrix, Vocabulary(vectorizer.get_feature_names_out().tolist()))

    def _weigh(self, text: str) -> dict[str, float]:
        """Return the weighted counts of one text, by the textbook."""
        counts = Counter(gram for gram, _ in analyze(self, text).grams)
        values = {
            gram: (1 + math.log(count) if self.sublinear else count) * self._weight(gram)
            for gram, count in counts.items()
        }
        length = math.sqrt(sum(value**2 for value in values.values()))
        return {g: v / length for g, v in values.items() if v} if self.normalized else values

    def _weight(self, gram: str) -> float:
        return 1.0 if self.idf is None else self.idf.lookup.get(gram, 0.0)


def _one_of(owner: Any, name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        hint = suggestion(value, known)
        raise ValidityError(f"unknown {name} {value!r} of {type(owner).__name__}{hint}")


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ValidityError(f"{name} of Text must be True or False, found {value!r}")
    return bool(value)


def _span(owner: object, ngrams: object) -> tuple[int, int]:
    if not isinstance(ngrams, tuple | list) or len(ngrams) != 2:
        raise ValidityError(f"ngrams of Text must be a pair such as (1, 2), found {ngrams!r}")
    low, high = (whole(owner, "ngrams", n) for n in ngrams)
    if low > high:
        raise ValidityError(f"ngrams of Text must be a pair (shortest, longest), found {ngrams!r}")
    return low, high


def _stop_words(owner: Text, words: Any) -> Any:
    if words is None:
        return None
    if owner.analyzer != "word":
        raise ValidityError("stop_words of Text are for analyzer='word'")
    if isinstance(words, str):
        _one_of(owner, "stop_words", words, ("english",))
        return words
    return tuple(sorted({str(word) for word in words}))


def _least(owner: object, value: object) -> int | float:
    if isinstance(value, float | np.floating) and value <= 1:
        return positive(owner, "min_df", value)
    return whole(owner, "min_df", value)


def _pattern(pattern: Any) -> None:
    try:
        groups = re.compile(pattern).groups
    except (TypeError, re.error) as error:
        raise ValidityError(f"token_pattern of Text is no regular expression: {error}") from error
    if groups > 1:
        raise ValidityError("token_pattern of Text may have one group, which is then the word")


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


def analyze(kernel: Text, text: str) -> Located:
    """Return the units and n-grams of one text, by the settings of a `Text` kernel.

    Examples
    --------
    >>> from mercer.kernels import Text
    >>> analyze(Text(ngrams=(2, 2)), "The cat sat")
    Located(units=['the', 'cat', 'sat'], grams=[('the cat', [0, 1]), ('cat sat', [1, 2])])
    """
    text = text.lower() if kernel.lowercase else text
    if kernel.analyzer == "word":
        units = re.findall(kernel.token_pattern, text)
        return Located(units, list(_runs_of_words(kernel, units)))
    text = SPACES.sub(" ", text)
    runs = _runs_of_letters if kernel.analyzer == "char" else _runs_inside_words
    return Located(list(text), list(runs(text, *kernel.ngrams)))


def stop_words(words: Any) -> frozenset[str]:
    """Return the words that do not count."""
    if words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return ENGLISH_STOP_WORDS
    return frozenset(words or ())


def _runs_of_words(kernel: Text, words: list[str]) -> Iterator[tuple[str, Any]]:
    stop = stop_words(kernel.stop_words)
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
