"""Sparse products: the same as dense ones, whatever is common and whatever is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import mercer.kernels.patterns as patterns
from mercer.kernels.patterns import Patterns, Vocabulary, multiply


def rows(rng, names, count, share):
    matrix = rng.normal(size=(count, len(names))) * (rng.random((count, len(names))) < share)
    return Patterns(sparse.csr_array(matrix), Vocabulary(names))


def expected(left, right):
    known = right.vocabulary.index()
    A = np.zeros((len(left), len(right.vocabulary)))
    for j in range(len(left.vocabulary)):
        if left.vocabulary[j] in known:
            A[:, known[left.vocabulary[j]]] = left.matrix[:, [j]].toarray()[:, 0]
    return A @ right.matrix.toarray().T


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 9), st.floats(0, 1))
@pytest.mark.parametrize("common", [0.0, 0.4, 2.0])
def test_products_are_those_of_dense_rows(common, seed, height, width, share):
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns, "MIN_ITEMS_FOR_BLAS", 1)
        patch.setattr(patterns, "COMMON_SHARE", common)
        left, right = rows(rng, "abcdef", height, share), rows(rng, "xdbfc", width, share)
        for A, B in ((left, right), (right, left), (left, left)):
            found = multiply(A, B, np.full((len(A), len(B)), np.nan))
            np.testing.assert_allclose(found, expected(A, B), atol=1e-12)


@pytest.mark.parametrize("common", [0.0, 0.3, 2.0])
def test_parts_of_a_set_are_prepared_once_and_serve_every_partner(common, monkeypatch):
    monkeypatch.setattr(patterns, "MIN_ITEMS_FOR_BLAS", 1)
    monkeypatch.setattr(patterns, "COMMON_SHARE", common)
    rng = np.random.default_rng(3)
    all_of_them, others = rows(rng, "abcdef", 12, 0.5), rows(rng, "fedxy", 5, 0.5)
    K, M = expected(all_of_them, all_of_them), expected(all_of_them, others)
    parts = [(slice(0, 5), all_of_them[:5]), (slice(5, 12), all_of_them[5:])]
    for i, left in parts:
        for j, right in parts:
            found = multiply(left, right, np.empty((len(left), len(right))))
            np.testing.assert_allclose(found, K[i, j], atol=1e-12)
        kept = left.prepared
        multiply(left, left, np.empty((len(left), len(left))))
        assert left.prepared is kept
        found = multiply(left, others, np.empty((len(left), 5)))
        np.testing.assert_allclose(found, M[i], atol=1e-12)
        found = multiply(left, left, np.empty((len(left), len(left))))
        np.testing.assert_allclose(found, K[i, i], atol=1e-12)


def test_wide_and_single_precision_indices_are_both_read():
    A = sparse.csr_array(np.eye(3, dtype=np.float32))
    wide = sparse.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)))
    names = Vocabulary("abc")
    found = multiply(Patterns(A, names), Patterns(wide, names), np.empty((3, 3)))
    np.testing.assert_array_equal(found, np.eye(3))


def test_nothing_in_common_is_zero():
    left = Patterns(sparse.csr_array((2, 0)), Vocabulary([]))
    right = Patterns(sparse.csr_array([[1.0]]), Vocabulary(["a"]))
    assert multiply(left, right, np.ones((2, 1))).tolist() == [[0.0], [0.0]]
    assert multiply(right, left, np.ones((1, 2))).tolist() == [[0.0, 0.0]]
