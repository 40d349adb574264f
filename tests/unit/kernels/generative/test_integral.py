"""The integral over a Gaussian cause, by a finite sum with a stated error."""

import numpy as np
import pytest

from mercer.errors import DomainError, ModelWarning, ValidityError
from mercer.kernels import LatentGaussian, LatentIntegral, normalize
from mercer.kernels.generative.integral import quadrature

rng = np.random.default_rng(4)
X = rng.normal(size=(6, 3))
W = rng.normal(size=(3, 2))
CLOSED = LatentGaussian(W, 2.0)


def linear(x, u):
    """ln N(x; Wu, 2I)."""
    off = np.asarray(x) - u @ W.T
    return -0.25 * np.sum(off**2, axis=1) - 1.5 * np.log(4 * np.pi)


def never(x, u):
    return np.full(len(u), -np.inf if x == 0 else -1e4)


def test_quadrature_approaches_the_closed_form_within_the_stated_error():
    expected = CLOSED(X)
    for nodes in (4, 8, 16, 32):
        k = LatentIntegral(linear, 2, nodes)
        off = np.abs(k(X) - expected)
        assert (off <= 1.5 * k.error(X) + 1e-13 * expected.max()).all()
    assert off.max() < 1e-10 * expected.max()


def test_monte_carlo_is_within_its_standard_error():
    expected = CLOSED(X)
    scores = []
    for seed in range(20):
        k = LatentIntegral(linear, 2, 4000, "monte carlo", seed)
        scores.append((k(X) - expected) / k.error(X))
    spread = np.sqrt(np.mean(np.square(scores)))
    assert 0.7 < spread < 1.4
    assert np.abs(np.mean(scores)) < 0.5


def test_the_error_of_monte_carlo_is_that_of_a_mean():
    k = LatentIntegral(linear, 2, 50, "monte carlo", seed=3)
    nodes = k._rule[0]
    p = np.exp([linear(x, nodes) for x in X])
    products = p[:, None, :] * p[None, :, :]
    expected = products.std(axis=2, ddof=1) / np.sqrt(50)
    np.testing.assert_allclose(k.error(X), expected, rtol=1e-10)


def test_the_same_seed_gives_the_same_kernel():
    one, two = (LatentIntegral(linear, 2, 30, "monte carlo", seed=s) for s in (1, 2))
    np.testing.assert_array_equal(one(X), LatentIntegral(linear, 2, 30, "monte carlo", 1)(X))
    assert not np.array_equal(one(X), two(X))


def test_features_are_the_nodes():
    assert LatentIntegral(linear, 2, 5).features(X).shape == (6, 25)
    assert LatentIntegral(linear, 2, 7, "monte carlo").features(X).shape == (6, 7)


def test_nodes_of_quadrature_are_exact_for_polynomials():
    nodes, weights = quadrature(5, 2)
    assert weights.sum() == pytest.approx(1)
    assert weights @ (nodes[:, 0] ** 4 * nodes[:, 1] ** 2) == pytest.approx(3)


def test_impossible_and_tiny_densities():
    k = normalize(LatentIntegral(never, 1, 5))
    with pytest.warns(ModelWarning, match="item 1"):
        np.testing.assert_allclose(k([1, 0]), [[1, 0], [0, 0]], rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"conditional": 3}, "a function"),
        ({"conditional": linear, "dimensions": 3}, "at most 2 dimensions"),
        ({"conditional": linear, "nodes": 101}, "100 nodes"),
        ({"conditional": linear, "nodes": 0}, "whole number"),
        ({"conditional": linear, "nodes": 1, "method": "monte carlo"}, "at least 2"),
        ({"conditional": linear, "method": "quadratur"}, "did you mean 'quadrature'"),
        ({"conditional": linear, "seed": -1}, "seed"),
    ],
)
def test_parameters_that_make_no_rule_are_refused(arguments, message):
    with pytest.raises(ValidityError, match=message):
        LatentIntegral(**arguments)


def test_answers_of_a_conditional_are_looked_at():
    with pytest.raises(ValidityError, match="must return 32 numbers"):
        LatentIntegral(lambda x, u: 0.0)([1.0])
    with pytest.raises(DomainError, match="item 1 of X is nan"):
        LatentIntegral(lambda x, u: np.full(len(u), x))([1.0, np.nan])
