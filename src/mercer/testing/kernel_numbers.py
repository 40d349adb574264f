"""Laws about the numbers of a kernel: it is one symmetric function, however it is asked."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.domains import Items
from mercer.engine.block import Block
from mercer.errors import DomainError, MercerError, ModelWarning, ValidityError
from mercer.kernels import Kernel
from mercer.testing.cases import KernelCase
from mercer.testing.law import (
    Inapplicable,
    agree,
    by_name,
    count,
    identical,
    refused,
    same,
    snapshot,
    take,
    things,
)

__all__ = ["LAWS"]


def symmetry(case: KernelCase) -> None:
    """k(A, B) is the transpose of k(B, A)."""
    case.require_things()
    A, B, k = case.left, case.right, case.resolved
    case.agree(k(A, B), np.asarray(k(B, A)).T, "k(A, B) and k(B, A)ᵀ", A, B)


def one_argument(case: KernelCase) -> None:
    """k(A) is k(A, A), and symmetric to the last bit."""
    A = case.items
    identical(case.gram, case.gram.T, "k(A) and its transpose")
    case.agree(case.gram, case.resolved(A, A), "k(A) and k(A, A)", A, A)


def oracle(case: KernelCase) -> None:
    """Every entry of k(A, B) is what `pair` says about that pair, in either order."""
    case.require_things()
    A, B, pair = case.left, case.right, case.resolved.pair
    expected = np.array([[pair(x, z) for z in things(B)] for x in things(A)])
    case.agree(case.resolved(A, B), expected, "k(A, B) and pair(x, z)", A, B)
    swapped = np.array([[pair(z, x) for z in things(B)] for x in things(A)])
    case.agree(swapped, expected, "pair(z, x) and pair(x, z)", A, B)


def diagonal(case: KernelCase) -> None:
    """k.diagonal(A) is the diagonal of k(A), and of k(A, A)."""
    found = np.asarray(case.resolved.diagonal(case.items))
    for what, K in (("k(A)", case.gram), ("k(A, A)", case.resolved(case.items, case.items))):
        expected = np.diag(np.asarray(K))
        agree(found, expected, f"diagonal(A) and that of {what}", case.tolerance, abs(expected))


def self_similarity(case: KernelCase) -> None:
    """k.diagonal(A) is what `pair` says about each item and itself."""
    case.require_things()
    found = np.asarray(case.resolved.diagonal(case.items))
    pairs = np.array([case.resolved.pair(x, x) for x in things(case.items)])
    agree(found, pairs, "diagonal(A) and pair(x, x)", case.tolerance, np.abs(pairs))


def slices(case: KernelCase) -> None:
    """The Gram matrix of some items is that part of the Gram matrix of all."""
    case.require_things()
    for rows, columns in _places(count(case.items)):
        A, B = take(case.items, rows), take(case.items, columns)
        part = case.gram[rows][:, columns]
        case.agree(case.resolved(A, B), part, "k(A[i], A[j]) and k(A)[i, j]", A, B)


def admitted_slices(case: KernelCase) -> None:
    """Admitted points may be sliced instead of the items, all their encodings with them."""
    points = case.resolved.admit(case.items)
    for rows, columns in _places(len(points)):
        A, B = points[rows], points[columns]
        part = case.gram[rows][:, columns]
        case.agree(case.resolved(A, B), part, "k(P[i], P[j]) and k(P)[i, j]", A, B)


def purity(case: KernelCase) -> None:
    """The same call gives the same bits, whatever was done to the first answer."""
    for ask in (case.resolved, case.resolved.diagonal):
        first = np.asarray(ask(case.items))
        kept = first.copy()
        first[...] = -7.0
        identical(ask(case.items), kept, "two calls with the same items")


def inputs(case: KernelCase) -> None:
    """Nothing that is passed in is changed, read-only arrays are accepted, and nothing that
    comes back is the memory that went in."""
    items = snapshot(case.items)
    if isinstance(items, np.ndarray):
        items.setflags(write=False)
    k = case.kernel.resolve(items)
    answers = [k(items), k(items, items), k.diagonal(items), *_features(k, items)]
    assert same(items, case.items), "the items were changed"
    for answer in answers:
        if isinstance(items, np.ndarray) and isinstance(answer, np.ndarray):
            shared = np.shares_memory(answer, items)
            assert not shared, "an answer shares its memory with the items"


def layouts(case: KernelCase) -> None:
    """Lists, Fortran order and strides make no difference."""
    X = case.vectors
    strided = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
    versions = {"a list": X.tolist(), "Fortran order": np.asfortranarray(X), "strides": strided}
    for name, version in versions.items():
        case.agree(case.resolved(version), case.gram, f"k(A) and that of {name}", X, X)


def heuristics(case: KernelCase) -> None:
    """A heuristic must see data before it is used; a weight counts like a repetition."""
    k, items = case.kernel, case.items
    if not k.unresolved():
        assert k.resolve(items) == k, "a kernel without heuristics is changed by resolve"
        raise Inapplicable("it has no heuristics")
    for ask in (k, k.diagonal):
        message = refused(ValidityError, "a heuristic without data", ask, items)
        assert "resolve" in message, f"the error does not say what to do: {message}"
    assert case.resolved.unresolved() == [], "a heuristic is left after resolve"
    assert case.resolved.resolve(items) == case.resolved, "resolving twice is not as once"
    times = np.arange(count(items)) % 3
    repeated = k.resolve(take(items, np.repeat(np.arange(count(items)), times)))
    weighted = k.resolve(items, times.astype(float))
    A = case.left
    case.agree(weighted(A), repeated(A), "k(A) of weights and of repetitions", A, A)


def gradient(case: KernelCase) -> None:
    """`gradient` is how the similarities change with the entries of the left items, up to the
    error of small differences; equal items are no harm."""
    X, k = case.vectors, case.resolved
    if k.lacks_gradient() is not None:
        raise Inapplicable("a part of it has no gradient")
    rng = np.random.default_rng(0)
    spread = np.maximum(X.std(axis=0), 1e-3)
    # Moved a little, so that no entry lies in a kink.
    A, B = X[:5] + spread * rng.uniform(0.05, 0.3, size=X[:5].shape), X[5:12]
    G = rng.normal(size=(len(A), len(B)))
    found = k.gradient(Block(k.admit(A), k.admit(B)), G)
    if found is None:
        raise Inapplicable("it has no gradient")
    expected, size = np.empty_like(A), np.empty_like(A)
    for d in range(A.shape[1]):
        up, down = A.copy(), A.copy()
        up[:, d] += 1e-5 * spread[d]
        down[:, d] -= 1e-5 * spread[d]
        K, step = k(up, B), up[:, d] - down[:, d]
        expected[:, d] = np.sum((K - k(down, B)) * G, axis=1) / step
        size[:, d] = 1e-9 * np.sum(np.abs(K * G), axis=1) / step  # what rounding makes of it
    size = np.maximum(size, np.max(np.abs(expected), axis=1, keepdims=True))
    agree(found, expected, "gradient and small differences", 1e-5, size)
    with_equals = k.gradient(Block(k.admit(A), k.admit(A)), np.ones((len(A), len(A))))
    assert np.isfinite(np.asarray(with_equals)).all(), "the gradient of equal items is not finite"


def empty_set(case: KernelCase) -> None:
    """There is no Gram matrix of nothing."""
    refused(DomainError, "an empty set", case.resolved, take(case.items, slice(0, 0)))
    refused(DomainError, "an empty set", case.resolved.diagonal, take(case.items, slice(0, 0)))


def bad_rows(case: KernelCase) -> None:
    """Rows that are not finite real numbers, or not all of one length, are refused by place."""
    k, X = case.resolved, case.vectors
    for value in (np.nan, np.inf, -np.inf):
        bad = X.copy()
        bad[3, -1] = value
        for ask in (k, k.diagonal):
            message = refused(DomainError, f"{value} in the data", ask, bad)
            assert "row 3" in message, f"the error does not say where: {message}"
    refused(DomainError, "complex numbers", k, X + 1j)
    refused(DomainError, "a single row without a table", k, X[0])
    wider = np.column_stack([X, X[:, 0]])
    refused(DomainError, "rows of different lengths", k, X, wider)


def overflow(case: KernelCase) -> None:
    """Numbers too large for the formula are refused by name; infinity and NaN never come back."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for what, answer in _of_huge_rows(case):
            assert np.isfinite(answer).all(), f"{what} is not finite"


def silence(case: KernelCase) -> None:
    """Numbers too large for the formula cause no warning beside the answer or the refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)  # which may hold such rows to be impossible
        for _ in _of_huge_rows(case):
            pass


def _of_huge_rows(case: KernelCase) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the kernel's answers on huge rows, or nothing where it refuses them."""
    for factor, dtype in ((1e100, "f8"), (1e200, "f8"), (1e13, "f4"), (1e25, "f4")):
        X = (case.vectors * factor).astype(dtype)
        for name, ask in (("k(A)", case.resolved), ("diagonal(A)", case.resolved.diagonal)):
            what = f"{name} of rows up to {float(X.max()):.0e} in {X.dtype}"
            try:
                yield what, np.asarray(ask(X))
            except MercerError:
                continue
            except Warning as warning:
                raise AssertionError(f"{what}: {warning}") from warning


def _places(n: int) -> list[tuple[Any, Any]]:
    mixed = np.array([5, 1, 1, n - 1, 0])
    return [(slice(2, 7), slice(4, n)), (mixed, slice(0, 3)), (slice(0, 1), mixed[::-1])]


def _features(k: Kernel, items: Items) -> list[Any]:
    try:
        return [k.features(items)]
    except ValidityError:
        return []


LAWS = by_name(
    symmetry, one_argument, oracle, diagonal, self_similarity, gradient, slices, admitted_slices,
    purity, inputs, layouts, heuristics, empty_set, bad_rows, overflow, silence,
)  # fmt: skip
