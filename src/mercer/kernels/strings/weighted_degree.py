"""The weighted degree kernel: common substrings at the same place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky_banded

from mercer.domains import STRINGS, Domain, Points, Strings
from mercer.engine.block import Block
from mercer.kernels.base import kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.patterns import Names, Occurrences, PatternKernel, Patterns, Vocabulary
from mercer.kernels.proof import Proof, proved
from mercer.kernels.strings.loops import runs, runs_within
from mercer.kernels.strings.spectrum import numbered, places, ranks
from mercer.values import whole

__all__ = ["WeightedDegree"]


@kernel
class WeightedDegree(PatternKernel):
    """Σ_d β_d (how many substrings of d letters x and z have at the same place), d = 1 … D.

    β_d = 2(D − d + 1)/(D(D + 1)), so that long matches count more because they contain short
    ones. Places are counted from the beginning, as far as both strings go; made for aligned
    strings, such as windows around a site. With a shift S, a substring also matches at places up
    to S apart, with the weight 1/(2(s + 1)) for s > 0 in each direction.

    Valid as the inner product of indicators of (place, substring); with a shift because the
    matrix of weights between places is positive definite: 1 + Σ cos(sθ)/(s + 1) ≥ ½ for every
    number of terms (Rogosinski & Szegő, 1928). Rätsch & Sonnenburg (2004), with shifts Rätsch,
    Sonnenburg & Schölkopf (2005).

    Parameters
    ----------
    degree : int
        D, the number of letters of the longest substrings.
    shift : int
        S, how far apart the places may be.

    Examples
    --------
    >>> WeightedDegree(2)(["cat", "car", "act"]).round(3)
    array([[2.667, 1.667, 0.667],
           [1.667, 2.667, 0.   ],
           [0.667, 0.   , 2.667]])
    """

    degree: int = 3
    shift: int = 0
    domain: ClassVar[Domain] = STRINGS
    costly: ClassVar[bool] = True
    arrays: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self._normalize("degree", whole(self, "degree", self.degree))
        self._normalize("shift", whole(self, "shift", self.shift, least=0))

    def pair(self, x: str, z: str) -> float:
        D, total = self.degree, 0.0
        for d in range(1, D + 1):
            beta = 2 * (D - d + 1) / (D * (D + 1))
            for i in range(len(x) - d + 1):
                for j in range(len(z) - d + 1):
                    s = abs(i - j)
                    if s <= self.shift and x[i : i + d] == z[j : j + d]:
                        total += beta * (1.0 if s == 0 else 1 / (2 * (s + 1)))
        return total

    def encode(self, points: Points) -> None:
        """Nothing is to be encoded: letters are compared as they are."""

    def evaluate(self, block: Block) -> np.ndarray:
        return runs(block, self.degree, self._weights() / self._scale(), block.empty())

    def evaluate_diagonal(self, points: Any) -> np.ndarray:
        return runs_within(points, self.degree, self._weights() / self._scale())

    def patterns(self, points: Strings) -> Patterns:
        found = list(self._levels(points))
        where = _together(found)
        names = Names(sum(len(level.first) for level in found), lambda: _names(points, found))
        shape = len(points), len(names)
        matrix = sparse.coo_array((where.weight, (where.item, where.column)), shape)
        return Patterns(sparse.csr_array(matrix), Vocabulary(names))

    def map_features(self, points: Any) -> FeatureMap:
        # Counting patterns is fast; their rows are made only if somebody wants them.
        count = sum(len(level.first) for level in self._levels(points))
        return FeatureMap(
            count, lambda new: self.encoded(new).over(self.encoded(points).vocabulary)
        )

    def occurrences(self, points: Strings) -> Occurrences:
        found = list(self._levels(points))
        columns = Vocabulary(_names(points, found)).places(self.encoded(points).vocabulary)
        where = _together(found)
        return where._replace(column=columns[where.column])

    def units(self, points: Strings) -> list[list[str]]:
        return [list(text) for text in points.texts]

    def prove(self) -> Proof:
        if self.shift == 0:
            return proved(self, "it is an inner product of indicators of substrings (6.1)")
        return proved(
            self,
            "it is a quadratic form of indicators of substrings (6.20), positive definite "
            "because 1 + Σ cos(sθ)/(s + 1) ≥ ½ for every number of terms",
        )

    def _weights(self) -> np.ndarray:
        """Return the weight of each distance between places."""
        weights = 0.5 / np.arange(1, self.shift + 2)
        weights[0] = 1.0
        return weights

    def _scale(self) -> int:
        return self.degree * (self.degree + 1)

    def _levels(self, points: Strings) -> Iterator[Level]:
        """Yield all substrings of each length, as patterns (place, substring).

        With a shift, the matrix T of weights between places is LLᵀ, and a substring at place i
        has the value L_ij at its neighbors j ≤ i. Because L is lower triangular and banded, the
        longest string of a set makes no difference to the others.
        """
        longest = int(np.diff(points.starts).max(initial=1))
        factor = self._factor(longest)
        codes, alphabet = ranks(points.letters)
        word, count = np.zeros(len(codes), np.int64), 1  # of the substring that begins here
        for d in range(1, min(self.degree, longest) + 1):
            item, position = places(points, d)
            begin = points.starts[:-1][item] + position
            word[begin], count = ranks(word[begin] * alphabet + codes[begin + d - 1])
            height = np.sqrt(2 * (self.degree - d + 1) / self._scale())
            near = [np.flatnonzero(position >= back) for back in range(self.shift + 1)]
            back = np.repeat(np.arange(len(near)), [len(some) for some in near])
            some = np.concatenate(near)
            place = position[some] - back
            pattern, first = numbered([place, word[begin][some]], max(longest, count))
            weight = height * factor[back, place]
            yield Level(d, item[some], position[some], place, pattern, first, weight)

    def _factor(self, count: int) -> np.ndarray:
        """Return L in bands: entry (back, j) is L of the places j + back and j."""
        bands = np.tile(self._weights()[:, None], (1, count + self.shift))
        return cholesky_banded(bands, lower=True)


class Level(NamedTuple):
    """The substrings of one length.

    Attributes
    ----------
    length : int
    item, position : ndarray of int
        The string and the place of each substring.
    place : ndarray of int
        The place in the pattern, which is another one if there is a shift.
    pattern, first : ndarray of int
        Which pattern it is, and a substring of each pattern.
    weight : ndarray of float
        What it adds to the row of its string.
    """

    length: int
    item: np.ndarray
    position: np.ndarray
    place: np.ndarray
    pattern: np.ndarray
    first: np.ndarray
    weight: np.ndarray


def _names(points: Strings, levels: list[Level]) -> list[tuple[int, str]]:
    """Return patterns as (place, substring)."""
    names = []
    for level in levels:
        for f in level.first:
            begin = level.position[f]
            text = points.texts[level.item[f]][begin : begin + level.length]
            names.append((int(level.place[f]), text))
    return names


def _together(levels: list[Level]) -> Occurrences:
    """Put the occurrences of all lengths one after the other."""
    if not levels:
        empty = np.zeros(0, np.int64)
        return Occurrences(empty, empty, np.zeros(0), np.zeros(1, np.int64), empty)
    offsets = np.cumsum([0, *(len(level.first) for level in levels)])
    lengths = np.concatenate([np.full(len(level.item), level.length) for level in levels])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    position = np.concatenate([level.position for level in levels])
    inside = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    return Occurrences(
        np.concatenate([level.item for level in levels]),
        np.concatenate([o + level.pattern for o, level in zip(offsets, levels, strict=False)]),
        np.concatenate([level.weight for level in levels]),
        starts,
        np.repeat(position, lengths) + inside,
    )
