"""Laws about arrays: one formula for every precision, array library, sparsity and thread count."""

from __future__ import annotations

import importlib

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer.engine import tiles
from mercer.errors import DomainError
from mercer.gram import product
from mercer.testing.cases import KernelCase
from mercer.testing.law import Inapplicable, agree, by_name, identical, patched
from mercer.threads import using

__all__ = ["LAWS"]

# Kernels are evaluated in double precision and rounded once, diagonals in single precision with
# a few operations: some units of 1.2e-7.
SINGLE_PRECISION_TOLERANCE = 2e-6

# So that few items have many tiles.
SMALL = {"TILE": 7, "SPARSE_TILE": 7, "STRIPE_AREA": 49, "STRIPE_WIDTH": 7}


def single_precision(case: KernelCase) -> None:
    """Single-precision rows give a single-precision answer, equal to the double one of the same
    numbers; with a double-precision partner the answer is double."""
    X = case.vectors.astype(np.float32)
    wide, k = X.astype(np.float64), case.resolved
    for what, ask in (("k(A)", k), ("diagonal(A)", k.diagonal)):
        found = np.asarray(ask(X))
        expected = np.asarray(ask(wide))
        assert expected.dtype == np.float64, f"{what} of float64 rows is {expected.dtype}"
        assert found.dtype == np.float32, f"{what} of float32 rows is {found.dtype}"
        agree(found, expected, f"{what} in single and double", SINGLE_PRECISION_TOLERANCE)
    mixed = k(X, wide)
    assert mixed.dtype == np.float64, f"k of float32 and float64 rows is {mixed.dtype}"
    agree(mixed, k(wide, wide), "k(A, B) of mixed precision", SINGLE_PRECISION_TOLERANCE)


def strict_arrays(case: KernelCase) -> None:
    """The array-API standard suffices: array-api-strict gives the same numbers as NumPy."""
    _another_library(case, "array_api_strict")


def torch_tensors(case: KernelCase) -> None:
    """Torch tensors give the same numbers as NumPy arrays."""
    _another_library(case, "torch")


def sparse_rows(case: KernelCase) -> None:
    """Sparse rows, on one side or both, give what dense ones give."""
    X = case.vectors
    rows, k = sparse.csr_array(X), case.resolved
    try:
        found = k(rows)
    except DomainError as error:
        assert "toarray" in str(error), f"the error does not say what to do: {error}"
        raise Inapplicable("its formula needs dense rows, and it says so") from error
    case.agree(found, case.gram, "k of sparse and of dense rows", X, X)
    case.agree(k(rows, X), case.gram, "k of sparse with dense rows", X, X)
    case.agree(k(X, rows), case.gram, "k of dense with sparse rows", X, X)
    case.agree(k(sparse.csc_matrix(X)), case.gram, "k of sparse columns and dense rows", X, X)
    diagonals = k.diagonal(rows), k.diagonal(X)
    agree(*diagonals, "diagonal of sparse and of dense rows", case.tolerance)
    identical(found, np.asarray(found).T, "k of sparse rows and its transpose")


def tiling(case: KernelCase) -> None:
    """However the matrix is cut into tiles, its entries are the same up to rounding."""
    with patched(tiles, **SMALL):
        K = case.resolved(case.items)
    case.agree(K, case.gram, "k(A) in small tiles and in large ones", case.items, case.items)
    identical(K, np.asarray(K).T, "k(A) in small tiles and its transpose")


def threads(case: KernelCase) -> None:
    """One thread and two give the same bits, for the matrix and for products with it."""
    coefficients = np.sin(np.arange(2.0 * len(case.gram))).reshape(-1, 2)
    answers = []
    for number in (1, 2):
        with using(number), patched(tiles, **SMALL):
            points = case.resolved.admit(case.items)
            K = np.asarray(case.resolved(case.items))
            answers.append((K, product(case.resolved, points, points, coefficients)))
    identical(answers[0][0], answers[1][0], "k(A) on one thread and on two")
    identical(answers[0][1], answers[1][1], "k(A) @ c on one thread and on two")
    expected = case.gram @ coefficients
    size = np.abs(case.gram) @ np.abs(coefficients)
    agree(answers[0][1], expected, "k(A) @ c tile by tile", case.tolerance, size)


def _another_library(case: KernelCase, name: str) -> None:
    X, k = case.vectors, case.resolved
    try:
        xp = importlib.import_module(name)
    except ImportError as error:
        raise Inapplicable(f"{name} is not installed") from error
    for dtype, tolerance in (("float64", case.tolerance), ("float32", 1e-4)):
        rows = xp.asarray(X.astype(dtype))
        numbers = np.asarray(rows).astype(np.float64)
        expected, size = np.asarray(k(numbers)), _sizes(k.diagonal(numbers))
        for what, found in (("k(A)", k(rows)), ("k(A, A)", k(rows, rows))):
            assert type(found) is type(rows), f"{what} is a {type(found).__name__}"
            assert found.dtype == rows.dtype, f"{what} of {rows.dtype} is {found.dtype}"
            bound = np.maximum(size, np.abs(expected))
            agree(np.asarray(found), expected, f"{what} on {name}, {dtype}", tolerance, bound)
        diagonal = k.diagonal(rows)
        assert type(diagonal) is type(rows), f"diagonal(A) is a {type(diagonal).__name__}"
        agree(np.asarray(diagonal), np.diag(expected), f"diagonal(A) on {name}", tolerance)
    identical(np.asarray(k(rows)), np.asarray(k(rows)).T, f"k(A) on {name} and its transpose")


def _sizes(diagonal: ArrayLike) -> np.ndarray:
    d = np.abs(np.asarray(diagonal))
    return np.maximum(d[:, None], d[None, :])


LAWS = by_name(
    single_precision, strict_arrays, torch_tensors, sparse_rows, tiling, threads,
)  # fmt: skip
