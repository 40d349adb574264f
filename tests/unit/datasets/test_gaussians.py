"""The optimal bound is optimal, and the Bayes error is its error."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import chi2, multivariate_normal, ncx2

from mercer.datasets import correlated_classes, two_gaussians
from mercer.datasets.gaussians import positive_probability
from mercer.errors import DomainError


def random_problem(rng, d):
    A = rng.normal(size=(2, d, d))
    return {
        "means": rng.normal(size=(2, d)),
        "covariances": A @ np.swapaxes(A, 1, 2) + 0.3 * np.eye(d),
        "priors": tuple(rng.dirichlet([3.0, 3.0])),
    }


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_bound_is_the_log_odds(d):
    rng = np.random.default_rng(d)
    parameters = random_problem(rng, d)
    problem = two_gaussians(40, **parameters)
    X = rng.normal(size=(30, d))
    m, S, p = parameters.values()
    logs = [np.log(p[k]) + multivariate_normal(m[k], S[k]).logpdf(X) for k in (0, 1)]
    np.testing.assert_allclose(problem.extra["bound"](X), logs[1] - logs[0], atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_bayes_error_is_half_the_overlap_in_one_dimension(seed):
    parameters = random_problem(np.random.default_rng(seed), 1)
    (m0, m1), (s0, s1) = (np.ravel(parameters[k]) for k in ("means", "covariances"))
    p0, p1 = parameters["priors"]
    densities = [multivariate_normal(m, s).pdf for m, s in ((m0, s0), (m1, s1))]
    overlap = quad(
        lambda x: min(p0 * densities[0](x), p1 * densities[1](x)), -30, 30, limit=500,
        points=np.linspace(-6, 6, 25),
    )[0]  # fmt: skip
    found = two_gaussians(40, **parameters).extra["bayes_error"]
    assert found == pytest.approx(overlap, abs=1e-7)


@pytest.mark.parametrize("d", [2, 3])
def test_the_bayes_error_is_that_of_many_draws(d):
    parameters = random_problem(np.random.default_rng(10 + d), d)
    problem = two_gaussians(400_000, **parameters, seed=1)
    wrong = np.mean(np.sign(problem.extra["bound"](problem.X)) != problem.y)
    assert problem.extra["bayes_error"] == pytest.approx(wrong, abs=4e-3)


def test_equal_covariances_have_the_textbook_error():
    S = np.array([[1.0, 0.5], [0.5, 2.0]])
    difference = np.array([1.0, 1.0])
    problem = two_gaussians(10, [[0, 0], difference], [S, S])
    d = np.sqrt(difference @ np.linalg.solve(S, difference))
    assert problem.extra["bayes_error"] == pytest.approx(ndtr(-d / 2), abs=1e-12)


def test_indistinguishable_categories_have_error_one_half():
    assert two_gaussians(10, np.zeros((2, 2)), [np.eye(2)] * 2).extra["bayes_error"] == 0.5


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_squared_lengths_have_chi_squared_probabilities(d):
    rng = np.random.default_rng(d)
    mean = rng.normal(size=d)
    eye, zero = np.eye(d), np.zeros(d)
    found = positive_probability(eye, zero, -2.0, zero, eye)
    assert found == pytest.approx(chi2.sf(2, d), abs=1e-11)
    found = positive_probability(eye, zero, -2.0, mean, eye)
    assert found == pytest.approx(ncx2.sf(2, d, mean @ mean), abs=1e-11)


def by_conditioning(p, q, a, b, c):
    """P(pu² + qu + av² + bv + c > 0), integrating the closed form in v over u piece by piece."""

    def inner(rest):
        discriminant = b * b - 4 * a * rest
        if discriminant <= 0:
            return float(a > 0)
        low, high = np.sort((-b + np.array([-1, 1]) * np.sqrt(discriminant)) / (2 * a))
        between = ndtr(high) - ndtr(low)
        return 1 - between if a > 0 else between

    kinks = np.roots([-4 * a * p, -4 * a * q, b * b - 4 * a * c])
    inside = [float(k.real) for k in kinks if abs(k.imag) < 1e-9 and abs(k.real) < 9]
    edges = sorted([-9.0, 0.0, 9.0, *inside])
    density = lambda u: np.exp(-u * u / 2) / np.sqrt(2 * np.pi)
    integrand = lambda u: density(u) * inner(c + q * u + p * u * u)
    return sum(quad(integrand, *ends, epsabs=1e-12, limit=200)[0] for ends in pairwise(edges))


@pytest.mark.parametrize("seed", range(40))
def test_two_terms_agree_with_conditioning_on_one(seed):
    rng = np.random.default_rng(seed)
    (p, a), (q, b) = (rng.normal(size=2) * 10 ** rng.uniform(-1.5, 1, 2) for _ in range(2))
    c = float(rng.normal())
    matrix, vector = np.diag([p, a]), np.array([q, b])
    found = positive_probability(matrix, vector, c, np.zeros(2), np.eye(2))
    assert found == pytest.approx(by_conditioning(p, q, a, b, c), abs=1e-9)


def test_hopeless_signs_have_probability_zero_or_one():
    eye, zero = 0.01 * np.eye(3), np.zeros(3)
    assert positive_probability(eye, zero, 100.0, zero, np.eye(3)) == 1.0
    assert positive_probability(eye, zero, -100.0, zero, np.eye(3)) == 0.0


def test_draws_depend_on_the_seed_only():
    X, y = two_gaussians(seed=5)
    again, _ = two_gaussians(seed=5)
    other, _ = two_gaussians(seed=6)
    assert np.array_equal(X, again)
    assert not np.array_equal(X, other)
    assert np.bincount(y + 1).tolist() == [40, 0, 40]


def test_priors_divide_the_items():
    assert np.sum(two_gaussians(100, priors=(1, 3)).y == 1) == 75


def test_correlated_classes_need_the_covariance():
    problem = correlated_classes(400, seed=0)
    X, y = problem
    bound = problem.extra["bound"]
    np.testing.assert_array_equal(bound.matrix, 0.0)
    difference = X[y == 1].mean(axis=0) - X[y == -1].mean(axis=0)
    by_nearest_mean = np.mean(np.sign((X - X.mean(axis=0)) @ difference) != y)
    assert by_nearest_mean > 0.15
    assert np.mean(np.sign(bound(X)) != y) < 0.02


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"means": [0.0, 1.0]}, "shape"),
        ({"means": [[np.nan, 0], [1, 1]]}, "NaN"),
        ({"covariances": [np.eye(2), -np.eye(2)]}, "covariance 1"),
        ({"priors": (0.0, 1.0)}, "priors"),
        ({"count": 1}, "without items"),
    ],
)
def test_what_is_no_pair_of_gaussians_is_refused(parameters, message):
    with pytest.raises(DomainError, match=message):
        two_gaussians(**parameters)
