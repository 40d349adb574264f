"""Two classes at a time: what machines for two classes do with more.

One against one, there is a machine for each pair of classes, and each votes. One against the rest,
there is a machine for each class, and the highest score wins. Items are sorted by class, so that
a class is a range of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

__all__ = [
    "BinaryProblem",
    "binary_problems",
    "confidence",
    "pair_directions",
    "sklearn_layout",
    "votes",
]


@dataclass(frozen=True)
class BinaryProblem:
    """Two sides, each some ranges of the sorted items: those with z = 1 and those with z = −1."""

    plus: tuple[tuple[int, int], ...]
    minus: tuple[tuple[int, int], ...]
    name: tuple[int, int | None]

    @cached_property
    def sides(self) -> list[tuple[float, tuple[tuple[int, int], ...]]]:
        """The z and the ranges of each side, the one whose items come first being first."""
        sides = [(1.0, self.plus), (-1.0, self.minus)]
        return sides if self.plus < self.minus else sides[::-1]

    @cached_property
    def ranges(self) -> list[tuple[int, int]]:
        """The ranges of both sides, one side after the other."""
        return [span for _, side in self.sides for span in side]

    @cached_property
    def items(self) -> np.ndarray:
        """The items of all ranges."""
        return np.concatenate([np.arange(a, b) for a, b in self.ranges])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many items each side has."""
        return tuple(sum(b - a for a, b in side) for _, side in self.sides)

    @cached_property
    def signs(self) -> np.ndarray:
        """The z of the items."""
        return np.repeat([z for z, _ in self.sides], self.sizes)

    def label(self, classes: np.ndarray) -> str:
        """Say who is told from whom; nothing if there are only two."""
        names = [repr(name) for name in classes.tolist()]
        first, second = self.name
        if len(names) == 2:
            return ""
        return f"{names[first]} and {'the rest' if second is None else names[second]}: "


def binary_problems(counts: np.ndarray, multiclass: str) -> list[BinaryProblem]:
    """Return who is told from whom, in scikit-learn's order."""
    ends = np.concatenate([[0], np.cumsum(counts)]).tolist()
    spans = list(pairwise(ends))
    k = len(spans)
    if k == 2:  # a positive score is the second class
        return [BinaryProblem((spans[1],), (spans[0],), (0, 1))]
    if multiclass == "ovo":
        return [
            BinaryProblem((spans[i],), (spans[j],), (i, j))
            for i in range(k)
            for j in range(i + 1, k)
        ]
    rests = [tuple(span for j, span in enumerate(spans) if j != i) for i in range(k)]
    return [BinaryProblem((spans[i],), rests[i], (i, None)) for i in range(k)]


def votes(scores: np.ndarray, classes: int) -> np.ndarray:
    """Return how many pairs each class wins, from the scores of all pairs.

    Examples
    --------
    >>> votes(np.array([[1.0, -1.0, -1.0]]), 3)
    array([[1., 0., 2.]])
    """
    first, second = np.zeros((2, scores.shape[1], classes))
    for column, (i, j) in enumerate(_pairs(classes)):
        first[column, i] = second[column, j] = 1.0
    ahead = scores > 0
    return ahead @ first + ~ahead @ second


def confidence(scores: np.ndarray, classes: int) -> np.ndarray:
    """Return votes with fractions that break ties, as scikit-learn's `decision_function` does.

    A fraction is below 1/3, so that it never outweighs a vote.

    Examples
    --------
    >>> confidence(np.array([[1.0, -1.0, 1.0]]), 3).argmax()
    np.int64(0)
    """
    total = np.zeros((len(scores), classes))
    for column, (i, j) in enumerate(_pairs(classes)):
        total[:, i] += scores[:, column]
        total[:, j] -= scores[:, column]
    return votes(scores, classes) + total / (3 * (np.abs(total) + 1))


def pair_directions(classes: int) -> np.ndarray:
    """Return what each class makes of the scores of all pairs: the mean over its own pairs."""
    pairs = _pairs(classes)
    D = np.zeros((classes, len(pairs)))
    for column, (i, j) in enumerate(pairs):
        D[i, column], D[j, column] = 1.0, -1.0
    return D / (classes - 1)


def sklearn_layout(coefficients: np.ndarray, owners: np.ndarray, classes: int) -> np.ndarray:
    """Return coefficients of (item, pair) as (classes − 1, items), as LIBSVM lists them.

    An item takes part in the pairs of its class; row r is the one with the r-th other class.

    Examples
    --------
    >>> sklearn_layout(np.array([[1.0, 2.0, 0.0], [-1.0, 0.0, 3.0]]), np.array([0, 1]), 3)
    array([[ 1., -1.],
           [ 2.,  3.]])
    """
    table = np.zeros((classes - 1, len(owners)))
    for column, (i, j) in enumerate(_pairs(classes)):
        first, second = owners == i, owners == j
        table[j - 1, first] = coefficients[first, column]
        table[i, second] = coefficients[second, column]
    return table


def _pairs(classes: int) -> Sequence[tuple[int, int]]:
    return [(i, j) for i in range(classes) for j in range(i + 1, classes)]
