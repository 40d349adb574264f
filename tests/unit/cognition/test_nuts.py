"""The No-U-Turn sampler as a second opinion on the posterior of people."""

import sys

import numpy as np
import pytest
from scipy.stats import cauchy, norm

from mercer.cognition import GCM, five_four, posterior, simulate_people
from mercer.cognition.people.likelihoods import people_of
from mercer.cognition.people.nuts import LogPosterior
from mercer.cognition.people.sampler import Prior
from mercer.errors import PlanError, ValidityError

MODEL = GCM(free=("sensitivity", "bias"))
MADE = simulate_people(GCM(4.0, free=("sensitivity", "bias")), five_four(), 6, 10, seed=2)
PRIOR = Prior(np.array([0.3, -0.2]), wide=1.5, scale=0.7)


@pytest.mark.parametrize("inward", [(True, True), (False, False), (True, False)])
def test_the_log_posterior_is_that_of_the_model_with_its_slopes(inward):
    people = people_of(MODEL, MADE.experiment)
    found = LogPosterior(people, PRIOR, np.array(inward))
    rng = np.random.default_rng(0)
    mu, sigma, u = rng.normal(size=2), np.exp(rng.normal(size=2)), rng.normal(size=(6, 2))
    x = found.place(mu, sigma, u)
    for told, true in zip(found.parts(x), (mu, sigma, None, u), strict=True):
        assert true is None or np.allclose(told, true)
    expected = people.log_likelihoods(u, np.arange(6)).sum() + norm.logpdf(u, mu, sigma).sum()
    expected += norm.logpdf(mu, PRIOR.center, 1.5).sum() + cauchy.logpdf(sigma, scale=0.7).sum()
    # Densities of x: log σ instead of σ, and z = (u − μ)/σ where people are measured from μ.
    expected += np.log(sigma).sum() + 6 * np.log(sigma[list(inward)]).sum()
    other = found.place(np.zeros(2), np.ones(2), np.zeros((6, 2)))
    constant = people.log_likelihoods(np.zeros((6, 2)), np.arange(6)).sum()
    constant += norm.logpdf(np.zeros((6, 2))).sum() + norm.logpdf(0, PRIOR.center, 1.5).sum()
    constant += cauchy.logpdf(np.ones(2), scale=0.7).sum()
    assert found(x)[0] - found(other)[0] == pytest.approx(expected - constant, rel=1e-9)
    slopes, h = found(x)[1], 1e-5
    for i in range(found.size):
        step = h * np.eye(found.size)[i]
        numeric = (found(x + step)[0] - found(x - step)[0]) / (2 * h)
        assert slopes[i] == pytest.approx(numeric, rel=1e-4, abs=1e-4)


@pytest.mark.slow
def test_both_samplers_have_the_same_posterior():
    pytest.importorskip("nutpie")
    options = {"draws": 400, "warmup": 200, "random_state": 0}
    ours = posterior(MODEL, MADE.experiment, **options).summary()
    theirs = posterior(MODEL, MADE.experiment, sampler="nuts", **options).summary()
    error = np.hypot(*(one["sd"] / np.sqrt(one["effective"]) for one in (ours, theirs)))
    assert (np.abs(ours["mean"] - theirs["mean"]) < 4 * error).all()
    np.testing.assert_allclose(ours["sd"], theirs["sd"], rtol=0.25)


@pytest.mark.filterwarnings("ignore:the chains have not arrived", "ignore:.*steps of the sampler")
def test_the_same_seed_gives_the_same_draws():
    pytest.importorskip("nutpie")
    made = simulate_people(GCM(4.0, free=("sensitivity",)), five_four(), 10, 20, seed=2)
    options = {"draws": 60, "warmup": 100, "chains": 2, "sampler": "nuts"}
    one, again = (posterior(GCM(free=("sensitivity",)), made.experiment, **options)
                  for _ in range(2))  # fmt: skip
    assert np.array_equal(one.draws.persons, again.draws.persons)
    assert one.draws.persons.shape == (2, 60, 10, 1)
    assert np.abs(one.draws.center.mean() - made.truth.mean()) < 0.5


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "nutpie", None)
    with pytest.raises(PlanError, match=r"pip install \"mercer\[bayes\]\""):
        posterior(MODEL, MADE.experiment, draws=10, warmup=10, sampler="nuts")
    with pytest.raises(ValidityError, match="sampler cannot be 'hmc'"):
        posterior(MODEL, MADE.experiment, sampler="hmc")
