"""What all machines' methods have in common: streams in chunks, and the same bits on request."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mercer.cluster import answers, current
from mercer.domains import Items, Points, Stream, Vectors
from mercer.domains.partitions import is_collection
from mercer.domains.parts import Divisible
from mercer.kernels import named
from mercer.memory import out_of_memory
from mercer.plans import Plan
from mercer.threads import one_blas_thread, using

__all__ = ["ANSWERS", "as_container", "as_planned", "by_chunks", "require_fitted"]

# As many as are taken for there whatever the computer has: shares of work, and so the order of
# sums, follow from it.
REPRODUCIBLE_CORES = 4

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


def require_fitted(machine: BaseEstimator) -> None:
    """Refuse a machine that has learned nothing, in scikit-learn's words.

    Scikit-learn gathers all tags and attributes first, which takes as long as an answer for one
    item.
    """
    if "kernel_" not in vars(machine):
        check_is_fitted(machine)


def by_chunks(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that answers a `Stream` chunk by chunk, and anything else at once."""

    @functools.wraps(answer)
    def answered(self: Any, X: Items, *more: Any, **options: Any) -> Any:
        stream = Stream.rows(X) if is_collection(X) else X
        if not isinstance(stream, Stream):
            return answer(self, X, *more, **options)
        require_fitted(self)
        domain = getattr(self, "kernel_", None) or named(self.kernel)
        cluster = current()
        if cluster is not None and isinstance(stream.chunks, Divisible | list | tuple):
            given = (more, options)
            return _joined(
                answers(cluster, self, answer.__name__, stream, domain.domain, as_container, given)
            )
        chunks = (
            answer(self, as_container(c.points), *more, **options)
            for c in stream.read(domain.domain)
        )
        return _joined(list(chunks))

    return answered


def as_planned(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of which plans may be trusted.

    It gives the same bits on any number of threads, if the plan says so, and where memory runs out
    in spite of the plan, the error is a `PlanError`.
    """

    @functools.wraps(method)
    def same(self: Any, *given: Any, **options: Any) -> Any:
        if getattr(_thread, "inside", False):
            return _same(self, given, options)
        _thread.inside = True
        try:
            items = given[0] if given else options.get("X")
            with out_of_memory(f"{method.__name__} of {type(self).__name__}", _count(items)):
                return _same(self, given, options)
        finally:
            _thread.inside = False

    def _same(self: Any, given: Any, options: Any) -> Any:
        follow = getattr(self, "follow", None)
        request = follow if isinstance(follow, Plan) else getattr(follow, "request", None)
        if request is None or not request.reproducible:
            return method(self, *given, **options)
        with using(REPRODUCIBLE_CORES), one_blas_thread:
            return method(self, *given, **options)

    return same


_thread = threading.local()


def _count(items: Any) -> int:
    if is_collection(items):  # which would have to be computed to be counted
        return 0
    shape = getattr(items, "shape", None)
    if shape:
        return int(shape[0])
    return len(items) if hasattr(items, "__len__") else 0


def _joined(parts: list[Any]) -> Any:
    """Return the answers of all chunks; a method may return several arrays."""
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate(some) for some in zip(*parts, strict=True))
    return np.concatenate(parts)
