"""Patterns: kernels that count what two things have in common.

A string has its substrings, a text its words, a graph its subtrees. A kernel on such things is the
inner product of their counts, k(x, z) = Σ_p φ_p(x)·φ_p(z), over patterns of which there are too
many to list in advance and of which a single thing has only a few. So the things of a set are
encoded together as sparse rows over a `Vocabulary` of the patterns that occur among them. New
things come with a vocabulary of their own: what both know is looked up once, and a pattern never
seen before meets nothing, but still counts in k(x, x).

In a product of sparse rows, patterns that many things have are columns of a dense array, which
BLAS multiplies. Of the others one side has for each pattern a list of the things that have it;
each nonzero of the other side walks along one list. Both are prepared once for each part of a set
of things and serve all tiles of its row or column.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from mercer.compiled import compiled
from mercer.domains import Points
from mercer.domains.points import RowIndex
from mercer.engine.block import Array, Block, squares
from mercer.forks import Lock
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap

__all__ = [
    "Names",
    "Occurrences",
    "PatternKernel",
    "Patterns",
    "Vocabulary",
    "count_patterns",
    "multiply",
]

# From this share of the things on, a pattern costs less as a column for BLAS than as a list.
COMMON_SHARE = 0.2
MIN_ITEMS_FOR_BLAS = 64  # things; with fewer, BLAS is not worth the calls


class Vocabulary:
    """The patterns that occur in a set of things, each with its column.

    Examples
    --------
    >>> seen, new = Vocabulary(["cat", "hat"]), Vocabulary(["hat", "dog"])
    >>> new.places(seen)
    array([ 1, -1])
    """

    def __init__(self, patterns: Sequence[Hashable]) -> None:
        self._patterns = patterns
        self._index: dict[Hashable, int] | None = None
        self._lock = Lock()
        self._places: Any = weakref.WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self._patterns)

    def __getitem__(self, column: int) -> Any:
        return self._patterns[column]

    def places(self, other: Vocabulary) -> np.ndarray:
        """Return the column of each pattern in another vocabulary, -1 where it has none."""
        with self._lock:
            if other not in self._places:
                self._places[other] = self._find(other)
            return self._places[other]

    def _find(self, other: Any) -> np.ndarray:
        if other is self:
            return np.arange(len(self))
        known = other.index()
        return np.fromiter((known.get(p, -1) for p in self._patterns), np.int64, len(self))

    def index(self) -> dict[Hashable, int]:
        """Return the column of each pattern, by pattern."""
        if self._index is None:
            self._index = {pattern: column for column, pattern in enumerate(self._patterns)}
        return self._index


class Names(Sequence[Any]):
    """The names of patterns, made only when somebody asks for one.

    Examples
    --------
    >>> names = Names(2, lambda: ["cat", "hat"])
    >>> len(names), names[1]
    (2, 'hat')
    """

    def __init__(self, count: int, make: Callable[[], list[Any]]) -> None:
        self._count = count
        self._make = make
        self._names: list[Any] | None = None

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        if self._names is None:
            self._names = self._make()
        return self._names[place]


class Patterns(Points):
    """Things as sparse rows: how much of each pattern of a vocabulary they have.

    Examples
    --------
    >>> words = Vocabulary(["cat", "hat"])
    >>> points = Patterns(sparse.csr_array([[1.0, 0.0], [2.0, 1.0]]), words)
    >>> points[1:].matrix.toarray(), points[1:].vocabulary is words
    (array([[2., 1.]]), True)
    """

    def __init__(
        self, matrix: Array, vocabulary: Vocabulary, common: np.ndarray | None = None
    ) -> None:
        super().__init__()
        self.matrix = matrix
        self.vocabulary = vocabulary
        self._common = common
        self.prepared: Any = None  # for products, see `sparse_products`

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def take(self, rows: RowIndex) -> Patterns:
        return Patterns(self.matrix[rows], self.vocabulary, self.common)

    @property
    def common(self) -> np.ndarray:
        """The place of each pattern among those that many things have, -1 for the others.

        Decided for the set as a whole, so that all its parts have the same.
        """
        if self._common is None:
            often = max(COMMON_SHARE * len(self), MIN_ITEMS_FOR_BLAS)
            many = np.bincount(self.matrix.indices, minlength=len(self.vocabulary)) >= often
            self._common = np.where(many, np.cumsum(many) - 1, -1)
        return self._common

    def items(self) -> Iterator[Any]:
        return (self.matrix[[i]] for i in range(len(self)))

    @property
    def bytes(self) -> int:
        return 12 * int(self.matrix.nnz)

    @property
    def fitted_bytes(self) -> int:
        # Sorted rows, and for products dense columns, the other entries, and their lists.
        nnz, dense = int(self.matrix.nnz), int(self.common.max(initial=-1)) + 1
        return (24 + 36) * nnz + 16 * len(self) * dense + self.encoded_bytes

    def over(self, vocabulary: Vocabulary) -> sparse.csr_array:
        """Return the rows over another vocabulary, without the patterns that it does not have."""
        if vocabulary is self.vocabulary:
            return self.matrix
        counts = self.matrix.tocoo()
        columns = self.vocabulary.places(vocabulary)[counts.col]
        known = columns >= 0
        entries = counts.data[known], (counts.row[known], columns[known])
        return sparse.csr_array(entries, (len(self), len(vocabulary)))


class Occurrences(NamedTuple):
    """Where each pattern occurs: what the weights of patterns say about the parts of a thing.

    Attributes
    ----------
    item, column : ndarray of int
        The thing, and the pattern in the vocabulary of these things.
    weight : ndarray of float
        What this occurrence adds to the row of its thing.
    starts, parts : ndarray of int
        ``parts[starts[o] : starts[o + 1]]`` are the letters, nodes or words of occurrence o.
    """

    item: np.ndarray
    column: np.ndarray
    weight: np.ndarray
    starts: np.ndarray
    parts: np.ndarray


class PatternKernel(Kernel):
    """A kernel that is an inner product of counts. Its author writes `patterns` and `pair`."""

    threads: ClassVar[bool] = True
    arrays: ClassVar[int] = 2

    def patterns(self, points: Any) -> Patterns:
        """Return how much of each pattern the points have, encoded as one set."""
        raise NotImplementedError

    def occurrences(self, points: Any) -> Occurrences | None:
        """Return where the patterns of these points occur, or None if they have no place.

        Its columns and weights are those of the left side of `compared`.
        """
        return None

    def units(self, points: Any) -> list[list[str]] | None:
        """Return what the parts of each point are that `occurrences` speaks about."""
        return points.units()

    @property
    def of_counts(self) -> bool:
        """Whether the kernel is an inner product of counts, whatever its parameters are."""
        return True

    def encoded(self, points: Points) -> Patterns:
        """Return the patterns of points, counted only once."""
        return points.view(("patterns", self), self.patterns)  # type: ignore[return-value]

    def encode(self, points: Points) -> None:
        if not self.unresolved():  # what has to be learned first cannot be counted yet
            self.encoded(points)

    def compared(self, block: Block) -> tuple[Patterns, Patterns]:
        """Return the rows of both sides of a block whose inner products are the kernel."""
        return self.encoded(block.left), self.encoded(block.right)

    def evaluate(self, block: Block) -> np.ndarray:
        left, right = self.compared(block)
        return multiply(left, right, block.empty())

    def evaluate_diagonal(self, points: Points) -> np.ndarray:
        return squares(self.encoded(points).matrix)

    def map_features(self, points: Points) -> FeatureMap | None:
        vocabulary = self.encoded(points).vocabulary
        if len(vocabulary) == 0:  # nothing has a pattern: one feature that nothing has
            return FeatureMap(1, lambda new: sparse.csr_array((len(new), 1)))
        return FeatureMap(len(vocabulary), lambda new: self.encoded(new).over(vocabulary))


def count_patterns(
    item: np.ndarray, pattern: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """Return how often each item has each pattern, from one entry for each occurrence."""
    ones = np.ones(len(item))
    return sparse.csr_array(sparse.coo_array((ones, (item, pattern)), shape))


def multiply(left: Patterns, right: Patterns, out: np.ndarray) -> np.ndarray:
    """Write the inner products of all pairs of rows into `out`, over the patterns of both."""
    A, B = prepare_rows(left, right), prepare_rows(right, right)
    if A.dense.shape[1]:
        np.matmul(A.dense, B.dense.T, out=out)
    else:
        out[...] = 0.0
    _walk(A.starts, A.columns, A.values, *B.lists, out)
    return out


class PreparedPatterns:
    """Rows over the columns of a set that they are multiplied with.

    Attributes
    ----------
    common : ndarray
        Which columns are dense, as `Patterns.common` says.
    dense : ndarray of shape (rows, common columns)
    starts, columns, values : ndarray
        The other entries, row by row.
    """

    def __init__(self, common: np.ndarray, rows: Patterns, places: np.ndarray) -> None:
        A = rows.matrix
        self.common = common
        self.dense = np.zeros((len(rows), int(common.max(initial=-1)) + 1))
        values = A.data.astype(np.float64, copy=False)
        self.starts, self.columns, self.values = _split(
            A.indptr, A.indices, values, places, common, self.dense
        )

    @cached_property
    def lists(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each column where its list begins, the rows that have it, and their values."""
        return _turned(self.starts, self.columns, self.values, len(self.common))


def prepare_rows(rows: Patterns, partner: Patterns) -> PreparedPatterns:
    """Return rows as they meet those of a partner, remembered for its other parts."""
    found: Any = rows.prepared
    if found is None or found.common is not partner.common:
        places = rows.vocabulary.places(partner.vocabulary)
        found = rows.prepared = PreparedPatterns(partner.common, rows, places)
    return found


@compiled
def _split(indptr, indices, values, places, common, dense):
    """Write entries of common columns into a dense array and return the others."""
    n = len(indptr) - 1
    starts = np.zeros(n + 1, np.int64)
    columns = np.empty(indptr[n] - indptr[0], np.int32)
    kept = np.empty(indptr[n] - indptr[0], np.float64)
    count = 0
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            column = places[indices[p]]
            if column >= 0:
                if common[column] >= 0:
                    dense[i, common[column]] = values[p]
                else:
                    columns[count], kept[count] = column, values[p]
                    count += 1
        starts[i + 1] = count
    return starts, columns[:count].copy(), kept[:count].copy()


@compiled
def _turned(starts, columns, values, width):
    """Return for each column the rows that have it, and their values."""
    begin = np.zeros(width + 1, np.int64)
    for column in columns:
        begin[column + 1] += 1
    for c in range(width):
        begin[c + 1] += begin[c]
    end = begin[:-1].copy()
    rows, found = np.empty(len(columns), np.int32), np.empty(len(columns), np.float64)
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            place = end[columns[p]]
            rows[place], found[place] = i, values[p]
            end[columns[p]] += 1
    return begin, rows, found


@compiled
def _walk(starts, columns, values, begin, rows, found, out):
    """Add to each row of `out` the lists of its patterns, each times its value."""
    for i in range(out.shape[0]):
        row = out[i]
        for p in range(starts[i], starts[i + 1]):
            value = values[p]
            for q in range(begin[columns[p]], begin[columns[p] + 1]):
                row[rows[q]] += value * found[q]
