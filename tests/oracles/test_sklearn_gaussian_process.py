"""scikit-learn, and the joint Gaussian written out, as oracles of `GaussianProcess`."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as theirs

from mercer import GaussianProcess, KernelRidge, Plan
from mercer.kernels import (
    Exponential,
    Gaussian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
)

TOLERANCE = {"rtol": 1e-8, "atol": 1e-8}

# Ours, theirs, and which of our derivatives their gradient holds, each times a factor: theirs are
# by the logarithm of a standard deviation where ours are by that of a variance.
KERNELS = {
    "rbf": (Gaussian(1.3), theirs.RBF(1.3), [("kernel__bandwidth", 1.0)]),
    "anisotropic": (
        Gaussian((0.7, 1.3, 2.0)),
        theirs.RBF([0.7, 1.3, 2.0]),
        [("kernel__bandwidth", 1.0)],
    ),
    "exponential": (Exponential(1.5), theirs.Matern(1.5, nu=0.5), [("kernel__bandwidth", 1.0)]),
    "matern 1/2": (Matern(0.5, 1.5), theirs.Matern(1.5, nu=0.5), [("kernel__bandwidth", 1.0)]),
    "matern 3/2": (Matern(1.5, 1.5), theirs.Matern(1.5, nu=1.5), [("kernel__bandwidth", 1.0)]),
    "matern 5/2": (Matern(2.5, 1.5), theirs.Matern(1.5, nu=2.5), [("kernel__bandwidth", 1.0)]),
    "rational": (
        RationalQuadratic(0.8, 1.5),
        theirs.RationalQuadratic(alpha=0.8, length_scale=1.5),
        [("kernel__alpha", 1.0), ("kernel__bandwidth", 1.0)],
    ),
    "scaled": (
        2.5 * Gaussian(1.3),
        theirs.ConstantKernel(2.5) * theirs.RBF(1.3),
        [("kernel__factor", 1.0), ("kernel__kernel__bandwidth", 1.0)],
    ),
    "sum": (
        Gaussian(0.8) + 0.5 * Matern(1.5, 2.0),
        theirs.RBF(0.8) + theirs.ConstantKernel(0.5) * theirs.Matern(2.0, nu=1.5),
        [
            ("kernel__left__bandwidth", 1.0),
            ("kernel__right__factor", 1.0),
            ("kernel__right__kernel__bandwidth", 1.0),
        ],
    ),
    "dot product": (
        Linear() + 1.7**2,
        theirs.DotProduct(1.7),
        [("kernel__right__value", 2.0)],
    ),
}
by_kernel = pytest.mark.parametrize("name", KERNELS)


def data(n=40, targets=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)
    return X, y if targets is None else np.column_stack([y + i * X[:, 1] for i in range(targets)])


def weights(n=40):
    return np.random.default_rng(9).uniform(0.1, 4.0, size=n)


def both(name, targets=None, penalty=0.1, w=None):
    ours, other, _ = KERNELS[name]
    X, y = data(targets=targets)
    noise = penalty if w is None else penalty / w
    oracle = GaussianProcessRegressor(other, alpha=noise, optimizer=None).fit(X, y)
    return GaussianProcess(ours, penalty).fit(X, y, sample_weight=w), oracle


# ---- scikit-learn ------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@by_kernel
def test_mean_deviation_and_covariance(name, weighted):
    ours, oracle = both(name, w=weights() if weighted else None)
    new, _ = data(15, seed=1)
    for wanted in ({"return_std": True}, {"return_cov": True}):
        for found, expected in zip(
            ours.predict(new, **wanted), oracle.predict(new, **wanted), strict=True
        ):
            np.testing.assert_allclose(found, expected, **TOLERANCE)


@by_kernel
def test_several_targets_have_one_more_axis(name):
    ours, oracle = both(name, targets=2)
    new, _ = data(15, seed=1)
    for wanted in ({"return_std": True}, {"return_cov": True}):
        for found, expected in zip(
            ours.predict(new, **wanted), oracle.predict(new, **wanted), strict=True
        ):
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected, **TOLERANCE)


@pytest.mark.parametrize("targets", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
@by_kernel
def test_likelihood_and_its_gradient(name, weighted, targets):
    ours, oracle = both(name, targets, w=weights() if weighted else None)
    value, gradient = ours.log_marginal_likelihood(eval_gradient=True)
    expected, slopes = oracle.log_marginal_likelihood(oracle.kernel_.theta, eval_gradient=True)
    assert value == pytest.approx(expected, rel=1e-10)
    assert ours.log_marginal_likelihood_ == value
    names = KERNELS[name][2]
    found = np.concatenate([np.ravel(gradient[key]) * factor for key, factor in names])
    np.testing.assert_allclose(found, slopes, rtol=1e-8, atol=1e-8)


@by_kernel
def test_the_derivative_by_the_noise(name):
    """scikit-learn has noise as a kernel, which makes its variance a parameter."""
    ours, other, _ = KERNELS[name]
    X, y = data()
    noisy = GaussianProcessRegressor(other + theirs.WhiteKernel(0.3), alpha=0.0, optimizer=None)
    noisy.fit(X, y)
    _, slopes = noisy.log_marginal_likelihood(noisy.kernel_.theta, eval_gradient=True)
    _, gradient = GaussianProcess(ours, 0.3).fit(X, y).log_marginal_likelihood(True)
    assert gradient["penalty"] == pytest.approx(slopes[-1], rel=1e-8)


def test_noise_is_added_where_it_is_asked_for():
    X, y = data()
    new, _ = data(15, seed=1)
    other = theirs.RBF(1.3) + theirs.WhiteKernel(0.3)
    noisy = GaussianProcessRegressor(other, alpha=0.0, optimizer=None).fit(X, y)
    ours = GaussianProcess(Gaussian(1.3), 0.3).fit(X, y)
    for wanted in ({"return_std": True}, {"return_cov": True}):
        found, expected = ours.predict(new, noise=True, **wanted), noisy.predict(new, **wanted)
        np.testing.assert_allclose(found[1], expected[1], **TOLERANCE)


# ---- the joint Gaussian, conditioned -----------------------------------------------------------


def conditioned(kernel, penalty, X, y, new, w=None):
    """Return mean and covariance of f(new) given y, by the textbook (Bishop, 2.3.1)."""
    w = np.ones(len(X)) if w is None else w
    joint = kernel(np.concatenate([new, X]))
    m = len(new)
    joint[m:, m:] += np.diag(penalty / w)
    gain = joint[:m, m:] @ np.linalg.inv(joint[m:, m:])
    return gain @ y, joint[:m, :m] - gain @ joint[m:, :m]


def kriged(kernel, penalty, X, y, new, w=None):
    """Return the same with an unknown constant, by the system of universal kriging."""
    n, m = len(X), len(new)
    w = np.ones(n) if w is None else w
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = kernel(X) + np.diag(penalty / w)
    system[n, n] = 0.0
    sides = np.column_stack([kernel(new, X), np.ones(m)])
    gain = sides @ np.linalg.inv(system)
    return gain[:, :n] @ y, kernel(new) - gain @ sides.T


ROUTES = {"dual": Gaussian(1.3), "primal": Polynomial(2, 1.0)}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("route", ROUTES)
def test_conditioning_a_joint_gaussian(route, intercept, weighted):
    (X, y), (new, _) = data(), data(15, seed=1)
    w = weights() if weighted else None
    machine = GaussianProcess(ROUTES[route], 0.2, intercept=intercept, follow=Plan(route=route))
    machine.fit(X, y + 5.0, sample_weight=w)
    oracle = kriged if intercept else conditioned
    mean, covariance = oracle(ROUTES[route], 0.2, X, y + 5.0, new, w)
    found, C = machine.predict(new, return_cov=True)
    np.testing.assert_allclose(found, mean, **TOLERANCE)
    np.testing.assert_allclose(C, covariance, **TOLERANCE)
    std = machine.predict(new, return_std=True)[1]
    np.testing.assert_allclose(std**2, np.diag(covariance), **TOLERANCE)


@pytest.mark.parametrize("route", ROUTES)
def test_an_intercept_is_a_constant_of_huge_variance(route):
    (X, y), (new, _) = data(), data(15, seed=1)
    kernel, huge = ROUTES[route], 1e4
    exact = GaussianProcess(kernel, 0.2, intercept=True, follow=Plan(route=route)).fit(X, y)
    mean, C = conditioned(kernel + huge, 0.2, X, y, new)
    found, covariance = exact.predict(new, return_cov=True)
    np.testing.assert_allclose(found, mean, atol=1e-3)
    np.testing.assert_allclose(covariance, C, atol=1e-3)
    limit = GaussianProcess(kernel + huge, 0.2).fit(X, y).log_marginal_likelihood_
    limit += np.log(2 * np.pi * huge) / 2
    assert exact.log_marginal_likelihood_ == pytest.approx(limit, abs=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("route", ROUTES)
def test_the_restricted_likelihood_is_that_of_contrasts(route, weighted):
    """It is the density of all differences of the data, which no constant changes."""
    X, y = data()
    n, w = len(X), weights() if weighted else np.ones(40)
    contrasts = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:]
    M = contrasts.T @ (ROUTES[route](X) + np.diag(0.2 / w)) @ contrasts
    z = contrasts.T @ y
    density = z @ np.linalg.solve(M, z) + np.linalg.slogdet(M)[1] + (n - 1) * np.log(2 * np.pi)
    machine = GaussianProcess(ROUTES[route], 0.2, intercept=True, follow=Plan(route=route))
    found = machine.fit(X, y + 100.0, sample_weight=w).log_marginal_likelihood_
    assert found == pytest.approx(-(density + np.log(n)) / 2, rel=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("route", ROUTES)
def test_weights_are_repetitions(route, intercept):
    (X, y), (new, _) = data(), data(15, seed=1)
    counts = np.arange(40) % 4
    machine = GaussianProcess(ROUTES[route], 0.2, intercept=intercept, follow=Plan(route=route))
    found = machine.fit(X, y, sample_weight=counts).predict(new, return_cov=True)
    rows = np.repeat(np.arange(40), counts)
    expected = machine.fit(X[rows], y[rows]).predict(new, return_cov=True)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, **TOLERANCE)


@pytest.mark.parametrize("intercept", [False, True])
def test_leaving_one_out_is_a_row_of_the_inverse(intercept):
    """The variance of an observation given all others is 1/Cᵢᵢ (Rasmussen & Williams, 5.12)."""
    X, y = data(12)
    machine = GaussianProcess(Gaussian(1.3), 0.2, intercept=intercept).fit(X, y)
    C = np.linalg.inv(Gaussian(1.3)(X) + 0.2 * np.eye(12))
    if intercept:
        C -= np.outer(C.sum(axis=1), C.sum(axis=0)) / C.sum()
    for i in range(12):
        rest = np.delete(np.arange(12), i)
        machine.fit(X[rest], y[rest])
        mean, std = machine.predict(X[i : i + 1], return_std=True, noise=True)
        assert std[0] ** 2 == pytest.approx(1 / C[i, i], rel=1e-9)
        assert y[i] - mean[0] == pytest.approx(C[i] @ y / C[i, i], rel=1e-9)


# ---- derivatives by differences ----------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("route", "kernel", "parameters"),
    [
        ("dual", 2.0 * Gaussian(1.3) + 0.5 * RationalQuadratic(0.8, 1.5), 6),
        ("dual", Polynomial(2, 1.0, 0.5) + 0.3, 4),
        ("primal", Polynomial(2, 1.0, 0.5) + 0.3, 4),
    ],
)
def test_the_gradient_agrees_with_differences(route, kernel, parameters, intercept, weighted):
    X, y = data(targets=2)
    w = np.where(np.arange(40) % 7 > 0, weights(), 0.0) if weighted else None
    machine = GaussianProcess(kernel, 0.2, intercept=intercept, follow=Plan(route=route))
    _, gradient = machine.fit(X, y, w).log_marginal_likelihood(eval_gradient=True)
    assert len(gradient) == parameters
    for name, slope in gradient.items():
        start, step = machine.get_params()[name], 1e-4
        ends = []
        for sign in (1, -1):
            machine.set_params(**{name: start * np.exp(sign * step)})
            ends.append(machine.fit(X, y, w).log_marginal_likelihood_)
        machine.set_params(**{name: start})
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-6)


# ---- samples -----------------------------------------------------------------------------------


def test_samples_have_the_moments_of_the_posterior():
    X, y = data(targets=2)
    new, _ = data(4, seed=1)
    machine = GaussianProcess(Gaussian(1.3), 0.1, intercept=True).fit(X, y)
    drawn = machine.sample_y(new, n_samples=20_000, random_state=3)
    assert drawn.shape == (4, 2, 20_000)
    mean, covariance = machine.predict(new, return_cov=True)
    np.testing.assert_allclose(drawn.mean(axis=2), mean, atol=0.03)
    for target in range(2):
        C = covariance[..., target]
        np.testing.assert_allclose(np.cov(drawn[:, target]), C, atol=0.03 * np.diag(C).max())
    between = np.corrcoef(drawn[0, 0], drawn[0, 1])[0, 1]
    assert abs(between) < 0.03  # targets are drawn independently


def test_the_mean_is_that_of_kernel_ridge():
    X, y = data(targets=2)
    for kernel in ROUTES.values():
        ridge = KernelRidge(kernel, 0.3, intercept=True).fit(X, y, weights())
        process = GaussianProcess(kernel, 0.3, intercept=True).fit(X, y, weights())
        np.testing.assert_array_equal(process.predict(X), ridge.predict(X))
