"""The kernel of equality."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer.domains import CATEGORIES, Categories, Domain
from mercer.engine.block import Block
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.proof import Proof, proved

__all__ = ["Categorical"]


@kernel
class Categorical(Kernel):
    """1 if two things are equal and 0 if not; rows are equal if all their columns are.

    Things are numbers, strings or anything hashable. Valid as the inner product of indicators
    ("one-hot" features).

    Examples
    --------
    >>> Categorical()(["cat", "dog", "cat"])
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """

    domain: ClassVar[Domain] = CATEGORIES
    threads: ClassVar[bool] = True

    def pair(self, x: object, z: object) -> float:
        left, right = CATEGORIES.admit([x]).labels[0], CATEGORIES.admit([z]).labels[0]
        return 1.0 if left == right else 0.0

    def evaluate(self, block: Block) -> Any:
        (left, known), (right, others) = block.left.coded, block.right.coded
        if known is not others:
            right = np.array([known.get(label, -1) for label in others], dtype=np.int64)[right]
        return np.equal(left[:, None], right[None, :], out=block.empty())

    def evaluate_diagonal(self, points: Categories) -> Any:
        return self.constant(points)

    def prove(self) -> Proof:
        return proved(self, "equality is the inner product of indicator features (6.1)")

    def map_features(self, points: Categories) -> FeatureMap:
        known = {label: place for place, label in enumerate(dict.fromkeys(points.labels))}

        def indicators(new: Categories) -> Any:
            labels = new.labels
            places = np.array([known.get(label, -1) for label in labels])
            found = np.flatnonzero(places >= 0)
            ones = np.ones(len(found))
            return sparse.csr_array((ones, (found, places[found])), (len(places), len(known)))

        return FeatureMap(len(known), indicators)
