"""Attribution by weights: a score divided among features whose weights are known.

Where a machine has solved for the weights w of its features, a score is Σ_p φ_p(x)·w_p, and each
feature has its term of that. Through the examples the same terms would be differences of large
numbers. Sums, multiples and columns pass their share of the weights on to their parts.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains import Points
from mercer.explanations.attribution import Attribution, of_patterns, with_columns
from mercer.kernels import Kernel, Linear
from mercer.kernels.algebra import Scale, Sum
from mercer.kernels.algebra.normalization import AssumePSD
from mercer.kernels.patterns import PatternKernel, Patterns
from mercer.kernels.tables import On

__all__ = ["attribute_features"]


@singledispatch
def attribute_features(
    kernel: Kernel, points: Points, reference: Points, V: np.ndarray
) -> list[Attribution]:
    """Return the parts of the scores Σ_p V_p φ_p(x), one row of `V` for each item."""
    features: Any = kernel.map_features(reference).transform(points)  # type: ignore[union-attr]
    terms = features.multiply(V) if sparse.issparse(features) else features * V
    return [Attribution(kernel, (), np.asarray(terms.sum(axis=1)).ravel())]


@attribute_features.register
def _(kernel: Sum, points: Points, reference: Points, V: np.ndarray) -> list[Attribution]:
    left = kernel.inner_features(kernel.left, reference)
    count = left.count if left is not None else 0
    return [
        *_inside(kernel, kernel.left, points, reference, V[:, :count]),
        *_inside(kernel, kernel.right, points, reference, V[:, count:]),
    ]


@attribute_features.register
def _(kernel: Scale, points: Points, reference: Points, V: np.ndarray) -> list[Attribution]:
    return _inside(kernel, kernel.kernel, points, reference, np.sqrt(kernel.factor) * V)


@attribute_features.register
def _(kernel: AssumePSD, points: Points, reference: Points, V: np.ndarray) -> list[Attribution]:
    return _inside(kernel, kernel.kernel, points, reference, V)


@attribute_features.register
def _(kernel: On, points: Points, reference: Points, V: np.ndarray) -> list[Attribution]:
    if kernel.missing != "error":
        whole = attribute_features.dispatch(Kernel)(kernel, points, reference, V)
        return with_columns(whole, kernel.columns)
    return with_columns(_inside(kernel, kernel.kernel, points, reference, V), kernel.columns)


@attribute_features.register
def _(kernel: Linear, points: Any, reference: Points, V: np.ndarray) -> list[Attribution]:
    if not isinstance(getattr(points, "array", None), np.ndarray | sparse.sparray):
        return attribute_features.dispatch(Kernel)(kernel, points, reference, V)
    features = sparse.csr_array(sparse.csr_array(points.array).multiply(V))
    names = points.names or [str(i) for i in range(points.width)]
    return [Attribution(kernel, (), np.asarray(features.sum(axis=1)).ravel(), features, names)]


@attribute_features.register
def _(
    kernel: PatternKernel, points: Points, reference: Points, V: np.ndarray
) -> list[Attribution]:
    known = kernel.encoded(reference).vocabulary
    if not kernel.of_counts or not len(known):
        return attribute_features.dispatch(Kernel)(kernel, points, reference, V)
    # As if there were an example for each pattern that has nothing but it.
    single = Patterns(sparse.eye_array(len(known), format="csr"), known)
    new, where = kernel.encoded(points), kernel.occurrences(points)
    return [of_patterns(kernel, new, single, V, where, kernel.units(points))]


def _inside(
    kernel: Kernel, child: Kernel, points: Points, reference: Points, V: np.ndarray
) -> list[Attribution]:
    key, encode = kernel.sees(child)
    return attribute_features(child, points.view(key, encode), reference.view(key, encode), V)
