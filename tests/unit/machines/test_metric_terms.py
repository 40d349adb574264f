"""Terms of kernels that take a metric."""

import numpy as np
import pytest

from mercer.kernels import Exponential, Gaussian, Laplacian, Linear, Matern, Shepard
from mercer.machines.metric_terms import metric_terms, multiply_bandwidth, set_metric, takes_matrix

X = np.random.default_rng(0).normal(size=(40, 3))
G = np.array([[1.0, 0.3, 0.0], [0.3, 0.5, 0.0], [0.0, 0.0, 0.01]])


def test_terms_of_a_sum_are_found_in_their_order():
    terms = metric_terms(Gaussian() + (Laplacian() + Matern(1.5)))
    assert [type(term).__name__ for term in terms] == ["Gaussian", "Laplacian", "Matern"]
    assert metric_terms(Gaussian() + Linear()) is None and metric_terms("gaussian") is None


@pytest.mark.parametrize("kernel", [Gaussian(), Exponential(), Matern(1.5), Shepard(order=2)])
def test_a_full_metric_multiplies_differences_of_euclidean_kernels(kernel):
    points = kernel.admit(X)
    found = set_metric(kernel, G, "full", points)
    roots = np.linalg.cholesky(G)
    plain = set_metric(kernel, None, "full", kernel.admit(X @ roots))
    assert np.allclose(found(X), plain(X @ roots), atol=1e-9)


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0])
def test_a_diagonal_metric_multiplies_rows_by_its_root_whatever_the_order(order):
    kernel = Exponential(order=order)
    found = set_metric(kernel, np.diag(G), "diagonal", kernel.admit(X))
    rows = X * np.sqrt(np.diag(G))
    plain = set_metric(kernel, None, "diagonal", kernel.admit(rows))
    assert np.allclose(found(X), plain(rows), atol=1e-9)


def test_distances_of_another_order_take_the_diagonal_of_a_matrix():
    kernel = Laplacian()
    assert not takes_matrix(kernel)
    found = set_metric(kernel, G, "full", kernel.admit(X))
    assert np.allclose(found.metric, np.sqrt(np.diag(G)))


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Shepard(0.5, order=2, exponent=1.5)])
def test_a_wider_kernel_sees_distances_that_much_smaller(kernel):
    wider = multiply_bandwidth(kernel, 4.0)
    assert np.allclose(wider(X), kernel(X / 4.0), atol=1e-6)
