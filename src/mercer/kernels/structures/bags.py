"""A kernel on bags: all elements of one compared with all of the other."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from mercer.domains import ELEMENTS, BagDomain, Bags, Domain, Items, Points, VectorDomain, is_frame
from mercer.engine.block import Block, same_width
from mercer.engine.tiles import lend_block, spans, tile_size
from mercer.errors import ValidityError
from mercer.kernels.algebra.composite import need_kernel
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.proof import Proof, derive, refute

__all__ = ["SetKernel"]


@kernel
class SetKernel(Kernel):
    """The mean (or sum) of k(a, b) over all elements a of one bag and b of another.

    A bag is a list, set, array or table of elements, of any number; an element that is in it
    twice counts twice. An empty bag is 0 to all, itself included. Valid as the inner product of
    the bags' embeddings Σ φ(a)/|A| in the feature space of k, the mean embeddings of which
    distances are `mercer.rkhs.mmd` (Gärtner et al., 2002; Smola et al., 2007).

    Parameters
    ----------
    base : Kernel
        How alike two elements are.
    average : bool
        Mean if True, sum if False.

    Examples
    --------
    >>> from mercer.kernels import Linear, Spectrum
    >>> SetKernel(Linear())([[[1.0], [3.0]], [[4.0]]])
    array([[ 4.,  8.],
           [ 8., 16.]])
    >>> SetKernel(Spectrum(1), average=False)([["ab", "ba"], ["a"], []])
    array([[8., 2., 0.],
           [2., 1., 0.],
           [0., 0., 0.]])
    """

    base: Kernel
    average: bool = True
    costly: ClassVar[bool] = True
    arrays: ClassVar[int] = 2

    def __post_init__(self) -> None:
        need_kernel(self.base)
        if not isinstance(self.average, bool | np.bool_):
            raise ValidityError(
                f"average of SetKernel must be True or False, found {self.average}"
            )
        self._normalize("average", bool(self.average))

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return BagDomain(self.base.domain)

    @property
    def threads(self) -> bool:  # type: ignore[override]
        return self.base.threads

    def pair(self, x: object, z: object) -> float:
        left, right = self._members(x), self._members(z)
        total = sum(self.base.pair(a, b) for a in left for b in right)
        count = len(left) * len(right)
        return float(total / count if self.average and count else total)

    def evaluate(self, block: Block) -> np.ndarray:
        left, right, K = block.left, block.right, block.empty()
        K[...] = 0.0
        if left.elements is not None and right.elements is not None:
            same_width(left.elements, right.elements)
            self._add(left, right, block.symmetric, K)
        if self.average:
            K /= np.maximum(left.sizes, 1)[:, None]
            K /= np.maximum(right.sizes, 1)[None, :]
        return K

    def evaluate_diagonal(self, points: Bags) -> np.ndarray:
        ones = (points[i : i + 1] for i in range(len(points)))
        return np.array([self.evaluate(Block(one, one, True))[0, 0] for one in ones])

    def encode(self, points: Bags) -> None:
        if points.elements is not None:
            self.base.encode(points.elements)

    def sees(self, child: Kernel) -> tuple[Hashable, Callable[[Any], Points]]:
        return ELEMENTS, lambda bags: bags.elements

    def resolve(self, A: Items | Points, weights: np.ndarray | None = None) -> Self:
        """Return the kernel with the heuristics of its base resolved on all elements."""
        if not self.unresolved():
            return self
        points = self.domain.admit(A)
        assert isinstance(points, Bags)
        if points.elements is None:
            raise ValidityError(f"{self.unresolved()[0]} cannot be resolved: all bags are empty")
        each = None if weights is None else np.repeat(weights, points.sizes)
        return self.set_params(base=self.base.resolve(points.elements, each))

    def map_features(self, points: Bags) -> FeatureMap | None:
        inner = None if points.elements is None else self.base.map_features(points.elements)
        if inner is None:
            return None

        def embedded(new: Bags) -> Any:
            if new.elements is None:
                return np.zeros((len(new), inner.count))
            return self._gathering(new) @ inner.transform(new.elements)

        return FeatureMap(inner.count, embedded)

    def prove(self) -> Proof:
        kind = "mean embeddings" if self.average else "sums of features"
        rule = f"it is the inner product of the {kind} of bags (6.1) under"
        inner = self.base.proof()
        if inner.witness is None:
            return derive(self, rule, self.base)
        alone = [[point] for point in inner.witness.points]
        return refute(self, rule, [alone], (inner,))

    def _add(self, left: Bags, right: Bags, symmetric: bool, K: np.ndarray) -> None:
        """Add up the similarities of elements, some at a time, so that they fit the cache."""
        rows = _pieces(left)
        columns = rows if symmetric else _pieces(right)
        for p, (some, bags) in enumerate(rows):
            for q, (others, partners) in enumerate(columns):
                if symmetric and q < p:
                    continue
                with lend_block(some, others, symmetric and p == q) as inner:
                    sums = _by_bag(_by_bag(self.base.evaluate(inner), bags).T, partners).T
                K[np.ix_(np.unique(bags), np.unique(partners))] += sums
                if symmetric and q > p:
                    K[np.ix_(np.unique(partners), np.unique(bags))] += sums.T

    def _gathering(self, points: Bags) -> sparse.csr_array:
        """Return the matrix that adds or averages rows of elements to rows of bags."""
        sizes = points.sizes
        weights = np.repeat(
            1.0 / np.maximum(sizes, 1) if self.average else np.ones(len(sizes)), sizes
        )
        count = int(points.starts[-1])
        return sparse.csr_array((weights, np.arange(count), points.starts), (len(points), count))

    def _members(self, bag: Any) -> list[Any]:
        """Return the elements of one bag, as `pair` of the base takes them."""
        elements = bag.to_dict("records") if is_frame(bag) else list(bag)
        if isinstance(self.base.domain, VectorDomain):
            return [[e] if isinstance(e, numbers.Real) else e for e in elements]
        return elements


def _pieces(points: Bags) -> list[tuple[Points, np.ndarray]]:
    """Return some elements at a time, with the bag of each."""
    assert points.elements is not None
    bags = np.repeat(np.arange(len(points)), points.sizes)
    size = tile_size(points.elements)
    return [(points.elements[some], bags[some]) for some in spans(len(bags), size)]


def _by_bag(T: np.ndarray, bags: np.ndarray) -> np.ndarray:
    """Add up the rows of each bag; those of a bag are neighbors."""
    return np.add.reduceat(T, np.flatnonzero(np.diff(bags, prepend=-1)), axis=0)
