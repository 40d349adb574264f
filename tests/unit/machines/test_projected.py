"""Gaussian processes on centers: held against the n × n matrices that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

import mercer
from mercer import GaussianProcess, Nystrom, Plan, Random, Stream
from mercer.cluster import Cluster, InProcess
from mercer.errors import ValidityError
from mercer.kernels import Gaussian

K, LAMBDA = Gaussian(1.2), 0.1


def data(n=80):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, 3 + np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n), rng.random(n) + 0.2


def machine(flat=False, count=12, kernel=K):
    Z = data()[0][:count]
    return GaussianProcess(kernel, LAMBDA, intercept=flat, follow=Plan(approximate=Nystrom(Z)))


def literal(X, y, w, new, flat, count=12):
    """Return mean, covariance and log likelihood of the projected process, by n × n matrices."""
    Z = X[:count]
    Q = K(X, Z) @ np.linalg.solve(K(Z), K(Z, X))
    q = K(new, Z) @ np.linalg.solve(K(Z), K(Z, X))
    M = Q + LAMBDA * np.diag(1 / w)
    P = np.linalg.inv(M)
    one = np.ones(len(y))
    b = one @ P @ y / (one @ P @ one) if flat else 0.0
    mean = b + q @ P @ (y - b)
    C = K(new) - q @ P @ q.T
    if flat:
        g = 1 - q @ P @ one
        C += np.outer(g, g) / (one @ P @ one)
    volume = np.linalg.slogdet(2 * np.pi * M)[1]
    volume += np.log(one @ P @ one / (2 * np.pi)) if flat else 0.0
    return mean, C, -((y - b) @ P @ (y - b) + volume) / 2


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_means_variances_and_likelihood_are_those_of_the_matrices(flat, weighted):
    X, y, w = data()
    w = w if weighted else np.ones(len(y))
    new = np.array([[0.0, 0.0], [1.0, -1.0], [6.0, 6.0]])
    mean, C, likelihood = literal(X, y, w, new, flat)
    found = machine(flat).fit(X, y, sample_weight=w if weighted else None)
    np.testing.assert_allclose(found.predict(new), mean, rtol=1e-6)
    np.testing.assert_allclose(found.predict(new, return_cov=True)[1], C, rtol=1e-5, atol=1e-7)
    spread = found.predict(new, return_std=True)[1]
    np.testing.assert_allclose(spread, np.sqrt(np.diag(C)), rtol=1e-5)
    np.testing.assert_allclose(found.log_marginal_likelihood_, likelihood, rtol=1e-7)


def test_with_all_items_as_centers_it_is_the_exact_process():
    X, y, _ = data(40)
    exact = GaussianProcess(K, LAMBDA).fit(X, y)
    found = GaussianProcess(K, LAMBDA, follow=Plan(approximate=Nystrom(X))).fit(X, y)
    new = np.array([[0.3, 0.1], [4.0, 4.0]])
    for mine, theirs in zip(
        found.predict(new, return_std=True), exact.predict(new, return_std=True), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4)
    np.testing.assert_allclose(
        found.log_marginal_likelihood_, exact.log_marginal_likelihood_, rtol=1e-6
    )


def test_far_from_all_centers_it_knows_nothing_and_says_so():
    X, y, _ = data()
    _, spread = machine().fit(X, y).predict([[50.0, 50.0]], return_std=True)
    np.testing.assert_allclose(spread, 1.0, rtol=1e-12)


@pytest.mark.parametrize("flat", [False, True])
def test_streams_and_clusters_have_the_same_bits(flat):
    X, y, _ = data()
    stream = Stream.rows(X, y, size=15)
    here = machine(flat).fit(stream)
    with Cluster(InProcess(travel=True)):
        there = machine(flat).fit(stream)
    assert there.plan_.device == "cluster" and there.plan_.direct
    for mine, theirs in zip(
        here.predict(X, return_std=True), there.predict(X, return_std=True), strict=True
    ):
        assert np.array_equal(mine, theirs)
    assert here.log_marginal_likelihood_ == there.log_marginal_likelihood_


def test_random_features_have_variances_too():
    X, y, _ = data()
    plan = Plan(approximate=Random(40))
    found = GaussianProcess(K, LAMBDA, follow=plan).fit(X, y)
    F = np.asarray(found.function_.features(K.admit(X)))
    A = F.T @ F + LAMBDA * np.eye(40)
    expected = LAMBDA * np.einsum("ij,jk,ik->i", F, np.linalg.inv(A), F)
    np.testing.assert_allclose(found.predict(X, return_std=True)[1] ** 2, expected, rtol=1e-6)


def test_a_file_keeps_what_variances_need(tmp_path):
    X, y, _ = data()
    found = machine(True).fit(Stream.rows(X, y, size=15))
    mercer.save(found, tmp_path / "gp.mercer")
    again = mercer.load(tmp_path / "gp.mercer")
    for mine, theirs in zip(
        found.predict(X, return_std=True), again.predict(X, return_std=True), strict=True
    ):
        assert np.array_equal(mine, theirs)


def test_a_second_fit_forgets_the_first():
    X, y, _ = data()
    found = machine().fit(Stream.rows(X, y, size=15))
    assert found.predict(X, return_std=True)[1].shape == (80,)
    found.set_params(follow=None).fit(X, y)
    exact = GaussianProcess(K, LAMBDA).fit(X, y)
    np.testing.assert_array_equal(
        found.predict(X, return_std=True)[1], exact.predict(X, return_std=True)[1]
    )


def test_draws_and_what_a_sketch_does_not_know():
    X, y, _ = data()
    found = machine().fit(X, y)
    assert found.sample_y(X[:4], 3).shape == (4, 3)
    with pytest.raises(ValidityError, match="no derivatives"):
        found.log_marginal_likelihood(eval_gradient=True)
