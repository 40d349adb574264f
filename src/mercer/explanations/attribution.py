"""Attribution: a score divided among the patterns, columns and parts that it comes from.

A score is Σᵢ wᵢ k(x, xᵢ). Where k is an inner product of features it is also Σ_p φ_p(x)·v_p with
v_p = Σᵢ wᵢ φ_p(xᵢ), so that each feature has a share of its own; and where a feature occurs
somewhere in x, so has that place. Sums, multiples, columns and normalization pass the weights on
to their parts. All shares of an item add up to its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains import Vectors
from mercer.engine.block import Block
from mercer.kernels import Categorical, Jaccard, Kernel, Linear, Molecule, SubsetTree
from mercer.kernels.algebra import Product, Scale, Sum
from mercer.kernels.algebra.normalization import AssumePSD, Normalize
from mercer.kernels.patterns import Occurrences, PatternKernel, Patterns, Vocabulary
from mercer.kernels.structures.sets import members
from mercer.kernels.tables import On

__all__ = ["Attribution", "attribute", "of_patterns", "with_columns"]


@dataclass(frozen=True)
class Attribution:
    """What one part of a kernel contributes to the scores of some items.

    Attributes
    ----------
    kernel : Kernel
    columns : tuple
        The columns of a table that it looks at; empty for all.
    totals : ndarray of shape (items,)
    features : sparse array of shape (items, features) or None
        The share of each feature; its rows add up to `totals`. (Only that two empty sets are
        alike is due to no feature.)
    names : sequence or None
        What the features are: patterns, words, columns.
    places : list of ndarray, or None
        For each item the share of each of its letters, nodes or words; adds up to `totals`.
    units : list of list of str, or None
        What stands at those places.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.explanations import explain
    >>> machine = KernelRidge("linear", penalty=0.1).fit([[0.0, 1.0], [1.0, 0.0]], [0.0, 1.0])
    >>> part = explain(machine, [[1.0, 0.0]]).parts[0]
    >>> part.kernel, part.features.shape, part.totals.shape
    (Linear(), (1, 2), (1,))
    """

    kernel: Kernel
    columns: tuple[Any, ...]
    totals: np.ndarray
    features: Any = None
    names: Vocabulary | Sequence[Any] | None = None
    places: list[np.ndarray] | None = None
    units: list[list[str]] | None = None


@singledispatch
def attribute(kernel: Kernel, block: Block, W: np.ndarray) -> list[Attribution]:
    """Return the parts of the scores Σᵢ Wᵢ k(x, xᵢ), one row of `W` for each item."""
    return [Attribution(kernel, (), np.einsum("ij,ij->i", W, np.asarray(kernel.evaluate(block))))]


@attribute.register
def _(kernel: Sum, block: Block, W: np.ndarray) -> list[Attribution]:
    return _inside(kernel, kernel.left, block, W) + _inside(kernel, kernel.right, block, W)


@attribute.register
def _(kernel: Scale, block: Block, W: np.ndarray) -> list[Attribution]:
    return _inside(kernel, kernel.kernel, block, kernel.factor * W)


@attribute.register
def _(kernel: AssumePSD, block: Block, W: np.ndarray) -> list[Attribution]:
    return _inside(kernel, kernel.kernel, block, W)


@attribute.register
def _(kernel: Normalize, block: Block, W: np.ndarray) -> list[Attribution]:
    if kernel.kernel.log_diagonal(block.view(*kernel.sees(kernel.kernel)).left) is not None:
        return attribute.dispatch(Kernel)(kernel, block, W)  # its lengths are too large to divide
    here, there = kernel._inverse_lengths(block.left), kernel._inverse_lengths(block.right)
    return _inside(kernel, kernel.kernel, block, W * here[:, None] * there[None, :])


@attribute.register
def _(kernel: On, block: Block, W: np.ndarray) -> list[Attribution]:
    if kernel.missing != "error":
        return with_columns(_whole(kernel, block, W), kernel.columns)
    return with_columns(_inside(kernel, kernel.kernel, block, W), kernel.columns)


@attribute.register
def _(kernel: Product, block: Block, W: np.ndarray) -> list[Attribution]:
    """Look inside one factor, the other one being what it is for each pair of items."""
    for factor, other in ((kernel.left, kernel.right), (kernel.right, kernel.left)):
        if _is_equality(factor):
            given = W * np.asarray(kernel.inner(factor, block))
            return _inside(kernel, other, block, given)
    return _whole(kernel, block, W)


@attribute.register
def _(kernel: Linear, block: Block, W: np.ndarray) -> list[Attribution]:
    left, right = block.left, block.right
    if not isinstance(left, Vectors) or not isinstance(left.array, np.ndarray | sparse.sparray):
        return _whole(kernel, block, W)
    v = W @ right.array
    features = sparse.csr_array(sparse.csr_array(left.array).multiply(v))
    names = left.names or [str(i) for i in range(left.width)]
    return [Attribution(kernel, (), np.asarray(features.sum(axis=1)).ravel(), features, names)]


@attribute.register
def _(kernel: PatternKernel, block: Block, W: np.ndarray) -> list[Attribution]:
    if not kernel.of_counts:
        return _whole(kernel, block, W)
    new, known = kernel.compared(block)
    where, units = kernel.occurrences(block.left), kernel.units(block.left)
    return [of_patterns(kernel, new, known, W, where, units)]


@attribute.register
def _(kernel: Molecule, block: Block, W: np.ndarray) -> list[Attribution]:
    new, known = kernel.fragments(block.left), kernel.fragments(block.right)
    where, units = kernel.occurrences(block.left), block.left.units()
    part = of_patterns(kernel, new, known, W * _per_common(new, known), where, units)
    return [_with_empty(part, block, W)]


@attribute.register
def _(kernel: Jaccard, block: Block, W: np.ndarray) -> list[Attribution]:
    new, known = members(block.left), members(block.right)
    part = of_patterns(kernel, new, known, W * _per_common(new, known), None, None)
    return [_with_empty(part, block, W)]


@attribute.register
def _(kernel: SubsetTree, block: Block, W: np.ndarray) -> list[Attribution]:
    """Give each node the fragments that begin there, and to each rule what its nodes have."""
    inner, value = kernel.rooted(block, W)
    trees = block.left
    sizes = np.diff(inner.starts)
    item = np.repeat(np.arange(len(inner)), sizes)
    shape = len(inner), len(inner.vocabulary)
    features = sparse.csr_array(sparse.coo_array((value, (item, inner.production)), shape))
    totals = np.bincount(item, value, len(inner))
    places = np.zeros(len(trees.labels))
    places[trees.inner] = value
    rules = [f"{rule[0]} → {' '.join(rule[1:])}" for rule in map(inner.vocabulary.__getitem__,
             range(len(inner.vocabulary)))]  # fmt: skip
    split = np.split(places, trees.starts[1:-1])
    return [Attribution(kernel, (), totals, features, rules, split, trees.units())]


def with_columns(parts: list[Attribution], columns: tuple[Any, ...]) -> list[Attribution]:
    """Return parts that say which columns they look at, where they do not know better."""
    return [replace(part, columns=part.columns or columns) for part in parts]


def _per_common(new: Patterns, known: Patterns) -> np.ndarray:
    """Return 1/|A ∪ B| of all pairs: what each common element adds to |A ∩ B|/|A ∪ B|."""
    common = new.over(known.vocabulary) @ known.matrix.T
    sizes = np.add.outer(np.diff(new.matrix.indptr), np.diff(known.matrix.indptr))
    return 1.0 / np.maximum(sizes - common.toarray(), 1.0)


def _with_empty(part: Attribution, block: Block, W: np.ndarray) -> Attribution:
    """Return a part whose total counts that two empty sets are alike, though by no element."""
    return replace(part, totals=_whole(part.kernel, block, W)[0].totals)


def of_patterns(
    kernel: Kernel,
    new: Patterns,
    known: Patterns,
    W: np.ndarray,
    where: Occurrences | None,
    units: list[list[str]] | None,
) -> Attribution:
    """Divide Σᵢ Wᵢ⟨φ(x), φ(xᵢ)⟩ among the patterns of x, and among the places where they are."""
    # The weight v of each pattern that an item has; of others there may be very many.
    places, lists = new.vocabulary.places(known.vocabulary), known.matrix.tocsc()
    v = new.matrix.copy()
    v.data = np.zeros(v.nnz)
    for i, (a, b) in enumerate(pairwise(v.indptr)):
        columns = places[v.indices[a:b]]
        v.data[a:b][columns >= 0] = lists[:, columns[columns >= 0]].T @ W[i]
    features = v.copy()
    features.data = v.data * new.matrix.data
    totals = np.asarray(features.sum(axis=1)).ravel()
    found = Attribution(kernel, (), totals, features, new.vocabulary)
    if where is None or units is None:
        return found
    each = where.weight * np.asarray(v[where.item, where.column]).ravel()
    lengths = np.diff(where.starts)
    share = np.repeat(each / np.maximum(lengths, 1), lengths)
    begin = np.concatenate([[0], np.cumsum([len(u) for u in units])]).astype(int)
    flat = np.bincount(begin[np.repeat(where.item, lengths)] + where.parts, share, begin[-1])
    return replace(found, places=np.split(flat, begin[1:-1]), units=units)


def _inside(kernel: Kernel, child: Kernel, block: Block, W: np.ndarray) -> list[Attribution]:
    return attribute(child, block.view(*kernel.sees(child)), W)


def _whole(kernel: Kernel, block: Block, W: np.ndarray) -> list[Attribution]:
    return attribute.dispatch(Kernel)(kernel, block, W)


def _is_equality(kernel: Kernel) -> bool:
    return isinstance(kernel.kernel if isinstance(kernel, On) else kernel, Categorical)
