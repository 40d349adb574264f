"""Approximate embeddings are projections; discrepancies do not need the matrix."""

import pickle

import numpy as np
import pytest

import mercer.rkhs.discrepancy as discrepancy
import mercer.rkhs.embedding as embedding
from mercer.domains import Stream
from mercer.errors import DomainError, PlanError, ValidityError
from mercer.kernels import Gaussian, Laplacian, Linear, from_function
from mercer.rkhs import Embedding, Function, Statistic, hsic, mean_embedding, mmd
from tests.measure import peak


def sets(n=300, m=200, d=3, shift=0.3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)) + shift


# ---- the exact discrepancy ---------------------------------------------------------------------


@pytest.mark.parametrize("groups", [1, 7])
def test_a_matrix_that_is_not_stored_gives_the_same_numbers(monkeypatch, groups):
    X, Y = sets()
    stored = mmd(Gaussian(1.5), X, Y, permutations=20, seed=4)
    monkeypatch.setattr(discrepancy, "_stored", lambda *_, **__: False)
    monkeypatch.setattr(discrepancy, "_group", lambda total, columns: -(-columns // groups))
    computed = mmd(Gaussian(1.5), X, Y, permutations=20, seed=4)
    assert computed == pytest.approx(stored, rel=1e-12)
    np.testing.assert_allclose(computed.null, stored.null, rtol=1e-10)
    assert computed.pvalue == stored.pvalue


@pytest.mark.slow
def test_many_items_take_far_less_memory_than_their_matrix():
    X, Y = sets(3600, 3000)
    found = []
    taken = peak(lambda: found.append(mmd(Gaussian(2.0), X, Y, permutations=5)))
    assert taken < 8 * 6600**2 / 4
    few = mean_embedding(Gaussian(2.0), X).distance(mean_embedding(Gaussian(2.0), Y))
    assert found[0] == pytest.approx(few, rel=1e-9)


def test_a_matrix_is_stored_where_it_would_be_computed_again(free_memory):
    k = Gaussian(1.0)
    few, many = k.admit(np.zeros((10, 1))), k.admit(np.zeros((10_000, 1)))
    words = from_function(lambda a, b: 1.0).admit(["a"] * 10_000)
    assert discrepancy._stored(k, few, passes=1)
    assert not discrepancy._stored(k, many, passes=1)
    assert discrepancy._stored(k, many, passes=2) and discrepancy._stored(k, words, passes=1)
    free_memory(0)
    assert not discrepancy._stored(k, many, passes=2)


def test_permutations_of_one_pass_fit_into_memory(free_memory):
    free_memory(4 * 96 * 1000 * 10)
    assert discrepancy._group(1000, 500) == 10
    assert discrepancy._group(1000, 4) == 4
    assert discrepancy._group(10**9, 4) == 1


@pytest.mark.parametrize("method", ["quadratic", None])
def test_an_unknown_method_is_refused(method):
    with pytest.raises(ValidityError, match=r"method cannot be"):
        mmd(Gaussian(1.0), *sets(), method=method)


# ---- independence ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [30, 900])
def test_hsic_of_matrices_that_do_not_fit_is_computed_from_tiles(free_memory, n):
    X, Y = sets(n, n)
    kernels = Gaussian(1.0), Laplacian(2.0)
    stored = hsic(*kernels, X, Y, permutations=6, seed=2)
    free_memory(0)
    computed = hsic(*kernels, X, Y, permutations=6, seed=2)
    assert computed == pytest.approx(stored, rel=1e-9)
    np.testing.assert_allclose(computed.null, stored.null, rtol=1e-9)


# ---- embeddings of few points ------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_an_embedding_on_centers_is_the_projection_of_the_mean(weighted):
    X, new = sets()
    w = np.arange(300.0) if weighted else None
    full = mean_embedding(Gaussian(1.0), X, w)
    few = mean_embedding(Gaussian(1.0), X, w, centers=X[:40])
    assert isinstance(few, Embedding) and len(few) == 40 and few.items == 300
    np.testing.assert_allclose(few(new), full.project(X[:40])(new), rtol=1e-7)
    assert few.error == pytest.approx(full.distance(few), rel=1e-6)
    assert few.inner(full - few) == pytest.approx(0.0, abs=1e-10)


def test_more_centers_are_nearer_and_pivots_beat_the_first_items():
    X, _ = sets()
    errors = [mean_embedding(Gaussian(1.0), X, centers=M).error for M in (5, 20, 80, 300)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-7
    first = np.mean(
        [mean_embedding(Gaussian(1.0), X, centers=X[i : i + 20]).error for i in (0, 50)]
    )
    chosen = np.mean([mean_embedding(Gaussian(1.0), X, centers=20, seed=s).error for s in (0, 1)])
    assert chosen < first


def test_the_distance_of_two_embeddings_is_about_the_discrepancy():
    X, Y = sets()
    mu, nu = (mean_embedding(Gaussian(1.0), A, centers=60) for A in (X, Y))
    assert abs(mu.distance(nu) - mmd(Gaussian(1.0), X, Y)) <= mu.error + nu.error
    assert type(mu - nu) is Function


@pytest.mark.parametrize("weighted", [False, True])
def test_an_error_estimated_from_a_sample_is_rather_too_large(monkeypatch, weighted):
    X, _ = sets(3000)
    w = np.random.default_rng(1).random(3000) if weighted else None
    exact = mean_embedding(Gaussian(1.0), X, w, centers=30).error
    monkeypatch.setattr(embedding, "EXACT_UP_TO", 0)
    monkeypatch.setattr("mercer.rkhs.passes.HEURISTIC_SAMPLE", 1000)
    estimates = [mean_embedding(Gaussian(1.0), X, w, X[:30], seed=s).error for s in range(5)]
    exact = mean_embedding(Gaussian(1.0), X, w, centers=X[:30]).error
    assert 0.8 * exact < np.mean(estimates) < 3 * exact


def test_an_embedding_of_a_stream_is_that_of_its_rows(monkeypatch):
    X, new = sets(1000)
    whole = mean_embedding(Gaussian(1.0), X, centers=X[:20])
    streamed = mean_embedding(Gaussian(1.0), Stream.rows(X, size=170), centers=X[:20])
    np.testing.assert_allclose(streamed(new), whole(new), rtol=1e-9)
    assert streamed.items == 1000
    chosen = mean_embedding(Gaussian("median"), Stream.rows(X, size=170), centers=20)
    assert len(chosen) == 20 and chosen.error < 0.1


def test_an_embedding_says_that_it_is_approximate_and_survives_a_pickle():
    mu = mean_embedding(Gaussian(1.0), sets()[0], centers=10)
    assert "300 items, approximate: 10 points, error" in repr(mu)
    again = pickle.loads(pickle.dumps(mu))
    assert again.error == mu.error and again.items == 300
    np.testing.assert_array_equal(again.coefficients, mu.coefficients)


def test_items_that_are_all_alike_need_one_center():
    mu = mean_embedding(Gaussian(1.0), np.ones((50, 2)), centers=10)
    assert len(mu) == 1 and mu.error == pytest.approx(0.0, abs=1e-8)
    assert mu(np.ones((1, 2))) == pytest.approx(1.0)


def test_centers_of_words():
    shared = from_function(lambda a, b: float(len(set(a) & set(b))))
    mu = mean_embedding(shared, ["cat", "hat", "dog", "do"], centers=["cat", "do"])
    assert mu(["cat"])[0] == pytest.approx(np.mean([3, 2, 0, 0]))


@pytest.mark.parametrize("centers", [0, -1, 2.5, True])
def test_bad_numbers_of_centers_are_refused(centers):
    with pytest.raises(ValidityError, match=r"centers"):
        mean_embedding(Gaussian(1.0), sets()[0], centers=centers)


def test_centers_of_another_width_are_refused():
    with pytest.raises(DomainError, match=r"columns"):
        mean_embedding(Linear(), sets()[0], centers=np.ones((3, 2)))


# ---- statistics --------------------------------------------------------------------------------


def test_a_statistic_survives_a_pickle_with_all_that_is_known():
    found = Statistic(0.25, np.array([0.1, 0.3]), error=0.01, approximate="200 random features")
    again = pickle.loads(pickle.dumps(found))
    assert again == 0.25 and again.pvalue == found.pvalue == 2 / 3
    assert again.error == 0.01 and again.approximate == found.approximate
    assert repr(again) == repr(found) and "approximate" in repr(found)
    assert f"{found:.2f}" == "0.25" and str(found) == "0.25"


def test_work_that_does_not_fit_is_refused_where_tiles_cannot_help(free_memory):
    torch = pytest.importorskip("torch")
    free_memory(1000)
    X = torch.ones((50, 2), dtype=torch.float64)
    with pytest.raises(PlanError, match=r"hsic of 50 items needs"):
        hsic(Gaussian(1.0), Gaussian(1.0), X, X)


@pytest.mark.parametrize("count", [30, 95, 100, 150])
def test_the_error_is_not_told_from_the_centers_themselves(monkeypatch, count):
    monkeypatch.setattr("mercer.rkhs.passes.HEURISTIC_SAMPLE", 100)
    monkeypatch.setattr("mercer.rkhs.embedding.EXACT_UP_TO", 0)
    k, X = Laplacian(0.3), np.random.default_rng(1).normal(size=(2000, 5))
    found = mean_embedding(k, X, centers=count)
    true = found.distance(mean_embedding(k, X))
    assert len(found) == count and true <= found.error < 5 * true


def test_weights_of_a_stream_count():
    k, rng = Gaussian(1.0), np.random.default_rng(2)
    X, w = rng.normal(size=(60, 2)), rng.random(60)
    found = mean_embedding(k, Stream.rows(X, None, w, size=9), centers=60)
    assert found.distance(mean_embedding(k, X, w)) < 1e-6
