"""Decision bounds: noise in a space that is divided in two."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from mercer.cognition import GCM, LinearBound, OptimalBound, QuadraticBound
from mercer.cognition.choices.fitting import ResponseLoss
from mercer.cognition.choices.gaussian_bounds import best_linear, best_quadratic
from mercer.cognition.choices.noisy_bounds import Discriminant
from mercer.cognition.experiments.responses import Responses
from mercer.cognition.experiments.stimuli import memorize
from mercer.errors import DomainError, ValidityError

RNG = np.random.default_rng(0)
X = np.vstack(
    [RNG.normal((100, 200), (20, 40), (30, 2)), RNG.normal((150, 180), (40, 20), (30, 2))]
)
Y = np.repeat(["a", "b"], 30)
GRID = RNG.uniform((60, 100), (220, 280), (40, 2))
MODELS = [
    LinearBound(),
    LinearBound(dimension=1),
    QuadraticBound(),
    QuadraticBound(noise=5.0, free=("curvature", "weights", "intercept", "noise")),
    OptimalBound(free=("noise", "criterion"), noise=20.0),
    OptimalBound(free=("noise", "criterion"), noise=20.0, covariance="own"),
]


def test_the_mean_and_variance_of_a_noisy_quadratic_are_exact():
    h = Discriminant(np.array([[0.5, -0.2], [-0.2, 0.1]]), np.array([1.0, -1.0]), 0.3, np.ones(2))
    x, sigma = np.array([[0.4, 2.0]]), 0.7
    rng = np.random.default_rng(1)
    values = h(x + sigma * rng.normal(size=(400_000, 2)))
    found = h.noisy(x, sigma, 0.0)
    sd = 1 / found.for_mean[0]
    assert values.std() == pytest.approx(sd, rel=0.01)
    assert values.mean() == pytest.approx(found.u[0] * sd, abs=5 * sd / np.sqrt(400_000))


def test_a_linear_bound_answers_by_the_side_on_which_the_percept_falls():
    w, b, rng = np.array([-0.05, 0.02]), 0.4, np.random.default_rng(2)
    model = LinearBound(w, b).fit(X, Y)
    noise = model.noise_ * rng.normal(size=(200_000, 2))
    share = ((GRID[0] + noise - X.mean(axis=0)) @ w + b > 0).mean()
    assert model.predict_proba(GRID[:1])[0, 0] == pytest.approx(share, abs=0.005)
    assert model.noise_ == pytest.approx(1 / np.hypot(*w))


def test_the_best_bounds_are_log_ratios_of_densities():
    memory = memorize(X, Y)
    one, two = X[:30], X[30:]
    A, B = np.cov(one.T, bias=True), np.cov(two.T, bias=True)
    own = multivariate_normal(one.mean(0), A).logpdf(GRID) - multivariate_normal(
        two.mean(0), B
    ).logpdf(GRID)
    np.testing.assert_allclose(best_quadratic(memory)(GRID), own, rtol=1e-9)
    pooled = (A + B) / 2
    shared = multivariate_normal(one.mean(0), pooled).logpdf(GRID) - multivariate_normal(
        two.mean(0), pooled
    ).logpdf(GRID)
    np.testing.assert_allclose(best_linear(memory)(GRID), shared, atol=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_slopes_are_those_of_the_loss(model):
    memory = model._store(memorize(X, Y))
    layout = model._layout(memory)
    counts = np.random.default_rng(3).integers(0, 10, (40, 2)).astype(float)
    objective = ResponseLoss(model._rule(memory, GRID), layout, Responses(counts))
    z = model._starts(memory, layout, GRID)[1] + 0.05 * np.arange(layout.count)
    value, gradient = objective(z)
    for i in range(len(z)):
        step = 1e-6 * np.eye(len(z))[i]
        numeric = (objective(z + step)[0] - objective(z - step)[0]) / 2e-6
        assert gradient[i] == pytest.approx(numeric, rel=2e-5, abs=1e-7)
    assert np.isfinite(value)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_function_is_the_discriminant(model):
    fitted = model.fit(X, Y)
    h = fitted._discriminant(fitted._memory, fitted.params_)
    scale = np.abs(h(GRID)).max()
    np.testing.assert_allclose(fitted.function_(GRID)[:, 0], h(GRID), atol=1e-6 * scale)
    if isinstance(model, LinearBound):
        np.testing.assert_allclose(fitted.predict_proba(GRID)[:, 0], norm.cdf(h(GRID)))


def test_parameters_are_recovered_with_intervals_around_them():
    truth = LinearBound((-0.06, 0.03), 0.5).fit(X, Y)
    counts = truth.simulate(GRID, 200, random_state=1)
    found = LinearBound().fit(X, Y, GRID, counts)
    ends = found.intervals()
    np.testing.assert_allclose(found.params_["weights"], (-0.06, 0.03), rtol=0.15)
    assert (ends["weights"][:, 0] < found.params_["weights"]).all()
    assert (found.params_["weights"] < ends["weights"][:, 1]).all()
    # At an end of the profile the deviance is that of the quantile.
    assert ends["intercept"][0] < 0.5 < ends["intercept"][1]
    assert found.fit_.parameters == 3 and LinearBound(dimension=0).fit(X, Y).free_ == found.free_


def test_the_probit_likelihood_is_that_of_statistics():
    counts = LinearBound((-0.06, 0.03), 0.5).fit(X, Y).simulate(GRID, 20, random_state=1)
    found = LinearBound().fit(X, Y, GRID, counts)
    # At the maximum the score equations of probit regression hold.
    design = np.column_stack([GRID - X.mean(axis=0), np.ones(len(GRID))])
    u = design @ [*found.params_["weights"], found.params_["intercept"]]
    n = counts.sum(axis=1)
    score = design.T @ (norm.pdf(u) * (counts[:, 0] - n * norm.cdf(u)) / norm.cdf(u) / norm.sf(u))
    assert np.abs(score / np.array([40, 40, 1])).max() < 1e-4 * counts.sum()


def test_a_quadratic_bound_holds_a_linear_one():
    counts = LinearBound((-0.06, 0.03), 0.5).fit(X, Y).simulate(GRID, 50, random_state=1)
    line = LinearBound().fit(X, Y, GRID, counts)
    curve = QuadraticBound().fit(X, Y, GRID, counts)
    assert curve.log_likelihood_ >= line.log_likelihood_ - 1e-6
    assert curve.fit_.parameters == 6


def test_three_categories_are_refused():
    with pytest.raises(DomainError, match=r"divides two categories, found 3"):
        LinearBound().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (LinearBound(dimension=2), "dimension must be a number below 2, found 2"),
        (LinearBound(weights=(1.0,)), "one finite number per dimension, 2 in all"),
        (QuadraticBound(curvature=(1.0,)), "one finite number per pair of dimensions, 3"),
        (OptimalBound(covariance="none"), 'is "shared" or "own"'),
        (OptimalBound(noise=0.0), "noise"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(model, error):
    with pytest.raises(ValidityError, match=error):
        model.fit(X, Y)


def test_categories_that_are_alike_have_no_best_bound():
    with pytest.raises(DomainError, match="no bound is better"):
        OptimalBound().fit([[0.0], [1.0], [0.0], [1.0]], ["a", "a", "b", "b"])


def test_bounds_and_exemplars_are_told_apart_by_their_likelihood():
    counts = LinearBound(weights=(-0.2,), dimension=0).fit(X, Y).simulate(GRID, 40, 0)
    rule = LinearBound(dimension=0).fit(X, Y, GRID, counts)
    exemplars = GCM(order=2, starts=3).fit(X, Y, GRID, counts)
    assert rule.bic_ < exemplars.bic_
