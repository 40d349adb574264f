"""Is the posterior what it says? Its ranks are uniform, its intervals hold what made the data."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom, chisquare, norm

from mercer.cognition import GCM, Experiment, five_four, posterior
from mercer.cognition.people.chains import effective_size, split_rhat
from mercer.cognition.people.coordinates import Coordinates
from mercer.cognition.people.modes import find_modes
from mercer.cognition.people.sampler import Prior, SamplingTask, sample


class NumbersOfPeople:
    """People whose answers are numbers y ~ N(u, 1)."""

    def __init__(self, y):
        self.y, self.count = y, len(y)

    def log_likelihoods(self, U, who):
        return norm.logpdf(self.y[who], U[:, 0], 1.0)


@pytest.mark.slow
def test_where_the_truth_ranks_among_draws_is_uniform():
    """Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari & Gelman, 2018)."""
    rng, prior, ranks = np.random.default_rng(0), Prior(np.zeros(1), wide=1.0, scale=0.5), []
    for _ in range(80):
        mu, sigma = rng.normal(), 0.5 * abs(np.tan(np.pi * (rng.random() - 0.5)))
        u = mu + sigma * rng.standard_normal(6)
        people = NumbersOfPeople(u + rng.standard_normal(6))
        center, spread = np.array([people.y.mean()]), np.array([0.5])
        modes = find_modes(people, center, spread)
        draws = sample(SamplingTask(people, prior, modes, center, spread, 4, 100, 60), rng)
        thin = slice(None, None, 4)
        for truth, found in ((mu, draws.center[:, thin, 0]), (sigma, draws.spread[:, thin, 0]),
                             (u[0], draws.persons[:, thin, 0, 0])):  # fmt: skip
            ranks.append((found < truth).mean())
    for kind in range(3):
        counts = np.histogram(ranks[kind::3], bins=5, range=(0, 1))[0]
        assert chisquare(counts).pvalue > 0.001, (kind, counts)


@pytest.mark.slow
def test_intervals_of_a_posterior_hold_what_made_the_answers_as_often_as_they_say():
    model, design = GCM(3.0, free=("sensitivity",)), five_four()
    rng, level, repeats, held = np.random.default_rng(1), 0.8, 30, np.zeros(3)
    memory = model.fit(design.stimuli, design.categories)._memory
    space = Coordinates(model._layout(memory))
    for seed in range(repeats):
        mu = np.log(3.0) + 0.5 * rng.normal()
        sigma = 0.3 * abs(np.tan(np.pi * (rng.random() - 0.5)))
        truth = mu + sigma * rng.standard_normal(8)
        counts = [
            GCM(space.params(np.array([u]))["sensitivity"])
            .fit(design.stimuli, design.categories)
            .simulate(design.stimuli, 12, rng)
            for u in truth
        ]
        data = Experiment(design.stimuli, design.categories, design.stimuli, np.array(counts))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few draws
            found = posterior(model, data, draws=150, warmup=100, wide=0.5, scale=0.3,
                              random_state=seed)  # fmt: skip
        table = found.summary(level)
        for k, (row, value) in enumerate((("center", mu), ("spread", sigma))):
            low, high = table.loc[f"{row} of sensitivity", ["low", "high"]]
            held[k] += low <= value <= high
        first = found.persons(level).iloc[0]
        held[2] += first["low"] <= np.exp(truth[0]) <= first["high"]
    fewest, most = binom.ppf([0.001, 0.999], repeats, level)
    assert ((fewest <= held) & (held <= most)).all(), held / repeats


@pytest.mark.filterwarnings("ignore")
def test_convergence_is_judged_as_arviz_does():
    arviz = pytest.importorskip("arviz")
    rng = np.random.default_rng(0)
    walk = np.zeros((4, 1000))
    for t in range(1, 1000):
        walk[:, t] = 0.9 * walk[:, t - 1] + rng.normal(size=4)
    shifted = rng.standard_cauchy((4, 500))
    shifted[3] += 1.0
    wider = rng.normal(size=(2, 400)) * [[1], [3]]
    for draws in (rng.normal(size=(4, 600)), walk, wider, shifted):
        assert split_rhat(draws) == pytest.approx(float(arviz.rhat(draws)), rel=1e-6)
        size = float(arviz.ess(draws, method="bulk"))
        assert effective_size(draws) == pytest.approx(size, rel=0.15)
