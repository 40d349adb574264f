"""Bishop (2006), (6.23)-(6.26) and (6.37): the Gaussian, its generalization, and the sigmoid."""

from itertools import product

import numpy as np
import pytest

from mercer import KernelRidge
from mercer.errors import ValidityError
from mercer.kernels import (
    Categorical,
    Gaussian,
    Linear,
    Polynomial,
    Sigmoid,
    exp,
    from_function,
    gaussian_over,
    rescale,
)

ROUNDING = {"rtol": 1e-12, "atol": 1e-12}


def points(n=8, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("sigma", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("d", [1, 4, 5, 40])
def test_6_23_the_gaussian_kernel(d, sigma):
    X, Z = points(d=d), points(5, d, seed=1)
    squared = ((X[:, None] - Z[None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(Gaussian(sigma)(X, Z), np.exp(-squared / 2 / sigma**2), rtol=1e-11)


def test_6_23_one_bandwidth_for_each_dimension():
    X, sigma = points(), np.array([0.5, 1.0, 4.0])
    squared = (((X[:, None] - X[None]) / sigma) ** 2).sum(axis=-1)
    np.testing.assert_allclose(Gaussian(sigma)(X), np.exp(-squared / 2), **ROUNDING)


def test_6_24_expanding_the_square():
    X = points()
    K = Linear()(X)
    expanded = np.diag(K)[:, None] + np.diag(K)[None] - 2 * K
    np.testing.assert_allclose(-2 * np.log(Gaussian(1.0)(X)), expanded, **ROUNDING)


def test_6_25_the_gaussian_as_a_rescaled_exponential():
    sigma, X = 1.4, points()
    derived = rescale(
        exp((1 / sigma**2) * Linear()), lambda x: np.exp(-np.dot(x, x) / (2 * sigma**2))
    )
    np.testing.assert_allclose(derived(X), Gaussian(sigma)(X), rtol=1e-12)
    assert derived.proof().verdict == "proved"
    for rule in ("(6.14)", "(6.16)", "(6.13)", "(6.1)"):
        assert rule in str(derived.proof())
    assert "(6.25)" in str(Gaussian(sigma).proof())


@pytest.mark.parametrize("sigma", [0.5, 2.0])
@pytest.mark.parametrize("inner", [Linear(), Polynomial(2, 1.0), Gaussian(0.7)], ids=repr)
def test_6_26_a_gaussian_over_another_kernel(inner, sigma):
    X, Z = points(), points(5, seed=1)
    a, b = inner.diagonal(X), inner.diagonal(Z)
    squared = a[:, None] + b[None] - 2 * inner(X, Z)
    k = gaussian_over(inner, sigma)
    np.testing.assert_allclose(k(X, Z), np.exp(-squared / (2 * sigma**2)), rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(k.diagonal(X), np.ones(8))
    proof = k.proof()
    assert proof.verdict == "proved"
    assert "(6.26)" in str(proof) and "(6.14)" in str(proof) and "(6.16)" in str(proof)
    assert [premise.kernel for premise in proof.premises] == [inner]


def test_6_26_over_the_linear_kernel_it_is_the_gaussian():
    X = points()
    np.testing.assert_allclose(gaussian_over(Linear(), 1.7)(X), Gaussian(1.7)(X), rtol=1e-12)


def test_6_26_over_features_it_is_the_gaussian_of_the_features():
    X, inner = points(), Polynomial(3, offset=1.0)
    expected = Gaussian(5.0)(inner.features(X))
    np.testing.assert_allclose(gaussian_over(inner, 5.0)(X), expected, rtol=1e-9)


def test_6_26_over_things_that_are_not_vectors():
    k = gaussian_over(Categorical(), 1.0)
    different = np.exp(-1.0)
    np.testing.assert_allclose(k(["cat", "dog", "cat"]), [
        [1.0, different, 1.0], [different, 1.0, different], [1.0, different, 1.0],
    ])  # fmt: skip


def test_6_26_the_median_heuristic_is_the_median_distance_in_feature_space():
    X, inner = points(), Polynomial(2)
    Phi = inner.features(X)
    distances = [np.linalg.norm(a - b) for i, a in enumerate(Phi) for b in Phi[:i]]
    resolved = gaussian_over(inner, "median").resolve(X)
    assert resolved.bandwidth == pytest.approx(np.median(distances), rel=1e-10)


def test_6_26_over_an_unproved_kernel_nothing_is_proved():
    assert gaussian_over(from_function(lambda x, z: 1.0), 1.0).proof().verdict == "unknown"


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, float("nan"), float("inf"), "mean", None])
def test_6_26_the_bandwidth_must_be_positive(bandwidth):
    with pytest.raises(ValidityError, match=r"bandwidth"):
        gaussian_over(Linear(), bandwidth)


SLOPES = [0.01, 0.1, 0.5, 1.0, 3.0, 100.0]
OFFSETS = [-5.0, -1.0, -0.1, 0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 8.0]


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("slope", SLOPES)
def test_6_37_the_sigmoid_is_refuted_by_points_that_everyone_can_check(slope, offset):
    k = Sigmoid(slope, offset)
    proof = k.proof()
    assert proof.verdict == "refuted"
    assert "(6.37)" in str(proof)
    X = np.asarray(proof.witness.points, dtype=float)
    by_hand = np.tanh(slope * X @ X.T + offset)
    smallest = np.linalg.eigvalsh(by_hand)[0]
    assert smallest < 0
    assert smallest == pytest.approx(proof.witness.eigenvalue, rel=1e-6)
    assert smallest < -1e-12 * np.abs(by_hand).max()


@pytest.mark.parametrize("offset", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("slope", [-2.0, -0.1])
def test_6_37_a_negative_slope_is_refuted_as_well(slope, offset):
    proof = Sigmoid(slope, offset).proof()
    assert proof.verdict == "refuted"
    X = np.asarray(proof.witness.points, dtype=float)
    assert np.linalg.eigvalsh(np.tanh(slope * X @ X.T + offset))[0] < 0


@pytest.mark.parametrize("offset", [20.0, 50.0])
@pytest.mark.parametrize("slope", [0.1, 1.0, 10.0])
def test_6_37_a_saturated_sigmoid_is_unknown(slope, offset):
    """tanh(20) is 1 to all digits, so that no witness can be seen in floating point."""
    proof = Sigmoid(slope, offset).proof()
    assert proof.verdict == "unknown"
    assert list(proof.witnesses()) == []


def test_6_37_without_a_slope_it_is_a_constant():
    assert Sigmoid(0.0, 0.5).proof().verdict == "proved"
    assert Sigmoid(0.0, -0.5).proof().verdict == "refuted"


def test_6_37_the_formula():
    X, Z = points(), points(5, seed=1)
    for slope, offset in product((0.3, -2.0), (-1.0, 0.5)):
        expected = np.tanh(slope * X @ Z.T + offset)
        np.testing.assert_allclose(Sigmoid(slope, offset)(X, Z), expected, **ROUNDING)


def test_6_37_machines_refuse_it_before_any_work_and_say_why():
    X = points(20)
    machine = KernelRidge(Sigmoid(1.0, -1.0))
    with pytest.raises(ValidityError, match=r"(?s)KernelRidge needs.*\(6.37\).*witness.*clip"):
        machine.fit(X, X[:, 0])
    assert not [name for name in vars(machine) if name.endswith("_")]
