"""Sketches: passes over pieces give what the whole matrix would."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.domains import STRINGS, VECTORS, InMemory
from mercer.gram.sketch import CenterSketch, FeatureSketch
from mercer.kernels import Gaussian, Laplacian, Spectrum

K = Gaussian(1.3)


def items(n, m, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)), rng.standard_normal((m, 3))


def sketched(X, Z, size, kernel=K):
    return CenterSketch(kernel, InMemory(VECTORS.admit(X), size), VECTORS.admit(Z))


def sketch_of(n=200, m=17, size=64, kernel=K, seed=0):
    X, Z = items(n, m, seed)
    C = np.array([[kernel.pair(x, z) for z in Z] for x in X])
    return sketched(X, Z, size, kernel), C


@pytest.mark.parametrize("kernel", [K, Laplacian(2.0), 2 * K + Laplacian(1.0)])
def test_every_question_has_the_answer_of_the_stored_matrix(kernel):
    sketch, C = sketch_of(kernel=kernel)
    rng = np.random.default_rng(1)
    A, V = rng.standard_normal((17, 2)), rng.standard_normal((200, 3))
    w, W = rng.random(200), rng.random((200, 2))
    np.testing.assert_allclose(sketch.product(A), C @ A, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sketch.adjoint(V), C.T @ V, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sketch.normal(A), C.T @ C @ A, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(sketch.normal(A, w), C.T @ (w[:, None] * (C @ A)), atol=1e-11)
    np.testing.assert_allclose(sketch.normal(A, W), C.T @ (W * (C @ A)), atol=1e-11)
    np.testing.assert_allclose(sketch.moments(), C.T @ C, rtol=1e-12)
    np.testing.assert_allclose(sketch.moments(w), C.T @ (w[:, None] * C), rtol=1e-11)
    assert sketch.passes == 7


def test_moments_and_sums_come_from_one_pass():
    sketch, C = sketch_of()
    V = np.random.default_rng(2).standard_normal((200, 2))
    w = np.random.default_rng(3).random(200)
    H, G = sketch.moments_and_adjoint(V, w)
    np.testing.assert_allclose(H, C.T @ (w[:, None] * C), rtol=1e-11)
    np.testing.assert_allclose(G, C.T @ V, atol=1e-11)
    assert sketch.passes == 1


@settings(deadline=None, max_examples=20)
@given(size=st.integers(1, 300), n=st.integers(1, 300))
def test_the_size_of_pieces_does_not_matter(size, n):
    one, C = sketch_of(n, size=size)
    V = np.random.default_rng(0).standard_normal((n, 1))
    np.testing.assert_allclose(one.adjoint(V), C.T @ V, atol=1e-11)
    np.testing.assert_allclose(one.product(np.ones((17, 1))), C.sum(1)[:, None], atol=1e-11)


def test_one_thread_and_many_give_the_same_bits(use_cores):
    found = []
    for cores in (1, 2, 4):
        use_cores(cores)
        sketch = sketched(*items(5000, 300), size=2048)
        found.append((sketch.normal(np.ones((300, 1))), sketch.moments()))
    for other in found[1:]:
        assert np.array_equal(found[0][0], other[0])
        assert np.array_equal(found[0][1], other[1])


def test_sampled_rows_are_those_of_their_places():
    sketch, C = sketch_of()
    places = np.array([0, 5, 63, 64, 199])
    np.testing.assert_allclose(sketch.sampled(places), C[places], rtol=1e-12)


def test_things_that_are_not_vectors_have_sketches_too():
    words = ["abba", "baab", "abab", "bbbb", "aaaa"]
    kernel = Spectrum(2)
    points = STRINGS.admit(words)
    sketch = CenterSketch(kernel, InMemory(points, 2), points[np.array([0, 3])])
    C = np.array([[kernel.pair(a, b) for b in ("abba", "bbbb")] for a in words])
    np.testing.assert_allclose(sketch.moments(), C.T @ C)
    np.testing.assert_allclose(sketch.core(), C[[0, 3]])


def test_features_have_the_identity_for_a_core():
    X = np.random.default_rng(0).standard_normal((50, 2))
    sketch = FeatureSketch(lambda p: p.array @ np.ones((2, 3)), InMemory(VECTORS.admit(X), 7), 3)
    np.testing.assert_allclose(sketch.adjoint(np.ones((50, 1))), np.full((3, 1), X.sum()))
    assert np.array_equal(sketch.core(), np.eye(3))
