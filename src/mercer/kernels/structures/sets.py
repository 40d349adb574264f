"""Kernels on sets: how much of two sets is the same."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from mercer.domains import SETS, Domain, Points, Sets
from mercer.engine.block import Block
from mercer.errors import ValidityError
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.patterns import Patterns, Vocabulary, count_patterns, multiply
from mercer.kernels.proof import Proof, proved

__all__ = ["Jaccard", "SubsetCount"]


class Overlap(Kernel):
    """What kernels on sets have in common: they look at the sizes of intersections."""

    domain: ClassVar[Domain] = SETS
    threads: ClassVar[bool] = True
    arrays: ClassVar[int] = 3

    def encode(self, points: Points) -> None:
        members(points)


@kernel
class SubsetCount(Overlap):
    """How many subsets two sets have in common: 2^|A ∩ B| (6.27).

    Every set has the empty set as a subset, so nothing is less similar than 1. Sets that share
    more than 1023 elements have more common subsets than a floating-point number can say;
    ``normalize(SubsetCount())`` is right for them too. Valid as the inner product of features
    φ_U(A) = [U ⊆ A], one for each subset U of all elements.

    Examples
    --------
    >>> SubsetCount()([{1, 2, 3}, {2, 3, 4}, set()])
    array([[8., 4., 1.],
           [4., 8., 1.],
           [1., 1., 1.]])
    """

    def pair(self, x: Any, z: Any) -> float:
        shared = len(set(x) & set(z))
        if shared >= 1024:
            raise ValidityError(
                f"{self!r} is 2^{shared}, too large for a number; normalize the kernel"
            )
        return 2.0**shared

    def evaluate(self, block: Block) -> np.ndarray:
        return np.exp2(intersections(block), out=block.empty())

    def evaluate_diagonal(self, points: Sets) -> np.ndarray:
        return np.exp2(sizes(points))

    def logarithms(self, block: Block) -> np.ndarray:
        return np.multiply(intersections(block), math.log(2.0), out=block.empty())

    def log_diagonal(self, points: Sets) -> np.ndarray:
        return sizes(points) * math.log(2.0)

    def map_features(self, points: Sets) -> FeatureMap | None:
        known = members(points).vocabulary
        # More elements have too many subsets to list.
        if len(known) > 12:
            return None
        subsets = np.arange(2 ** len(known))

        def contained(new: Sets) -> np.ndarray:
            found = members(new).over(known).toarray() > 0
            masks = found @ (1 << np.arange(len(known)))
            return (subsets & ~masks[:, None] == 0).astype(float)

        return FeatureMap(len(subsets), contained)

    def prove(self) -> Proof:
        return proved(self, "it is the inner product of indicators of subsets (6.27)")


@kernel
class Jaccard(Overlap):
    """The share of common elements, |A ∩ B|/|A ∪ B|; two empty sets are equal, so theirs is 1.

    Valid because it is the probability that A and B have the same first element in a random
    order of all elements, a mixture of kernels of equality (Broder, 1997; Bouchard, Jousselme &
    Doré, 2013).

    Examples
    --------
    >>> Jaccard()([{1, 2, 3}, {2, 3, 4}, set()])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    def pair(self, x: Any, z: Any) -> float:
        union = len(set(x) | set(z))
        return len(set(x) & set(z)) / union if union else 1.0

    def evaluate(self, block: Block) -> np.ndarray:
        shared = intersections(block)
        union = np.add.outer(sizes(block.left), sizes(block.right)) - shared
        empty = union == 0
        return np.where(empty, 1.0, shared / np.where(empty, 1.0, union))

    def evaluate_diagonal(self, points: Sets) -> np.ndarray:
        return self.constant(points)

    def prove(self) -> Proof:
        return proved(
            self,
            "it is the probability that a random order of all elements begins with the same one "
            "in both sets, a mixture of kernels of equality (6.13, 6.17)",
        )


def members(points: Points) -> Patterns:
    """Return sets as rows of ones, one column for each element of any of them."""
    return points.view("members", _numbered)  # type: ignore[return-value]


def sizes(points: Points) -> np.ndarray:
    """Return the number of elements of each set."""
    return np.diff(members(points).matrix.indptr).astype(float)


def intersections(block: Block) -> np.ndarray:
    """Return the number of common elements of all pairs of a block."""
    left, right = members(block.left), members(block.right)
    return block.share("intersections", lambda: multiply(left, right, block.empty()))


def _numbered(points: Any) -> Patterns:
    columns: dict[Any, int] = {}
    found = [columns.setdefault(e, len(columns)) for item in points.sets for e in item]
    lengths = [len(item) for item in points.sets]
    item = np.repeat(np.arange(len(points)), lengths)
    matrix = count_patterns(item, np.array(found, dtype=int), (len(points), len(columns)))
    return Patterns(matrix, Vocabulary(list(columns)))
