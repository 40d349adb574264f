"""Chunks: what a machine says about new items, it says about a `Stream` of them too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.domains import Items, Points, Stream, Vectors
from mercer.kernels import named

__all__ = ["ANSWERS", "as_container", "by_chunks"]

ANSWERS = (
    "predict", "decision_function", "predict_proba", "transform", "score_samples",
    "_decision_values",
)  # fmt: skip


def as_container(points: Points) -> Any:
    """Return points as a user's container, for scikit-learn's names and numbers of columns."""
    if not isinstance(points, Vectors):
        return getattr(points, "frame", list(points.items()))
    if points.names is None:
        return points.array
    import pandas as pd

    return pd.DataFrame(points.array, columns=list(points.names))


def by_chunks(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that answers a `Stream` chunk by chunk, and anything else at once."""

    @functools.wraps(answer)
    def answered(self: Any, X: Items, *more: Any, **options: Any) -> Any:
        if not isinstance(X, Stream):
            return answer(self, X, *more, **options)
        check_is_fitted(self)
        domain = getattr(self, "kernel_", None) or named(self.kernel)
        chunks = (
            answer(self, as_container(c.points), *more, **options) for c in X.read(domain.domain)
        )
        return _joined(list(chunks))

    return answered


def _joined(parts: list[Any]) -> Any:
    """Return the answers of all chunks; a method may return several arrays."""
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate(some) for some in zip(*parts, strict=True))
    return np.concatenate(parts)
