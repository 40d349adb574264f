"""Parameters that are known come back: simulate, fit, and look whether the intervals hold them."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import binom

from mercer.cognition import GCM, PrototypeModel, medin_schaffer

ATTENTION = np.array([0.1, 0.2, 0.3, 0.4])
EXPERIMENTS, LEVEL = 40, 0.9


@pytest.mark.slow
def test_intervals_hold_the_true_parameters_at_the_stated_rate():
    """The 5-4 structure, 40 answers to each stimulus.

    So many experiments of 40 as an interval of that level misses with probability 1/1000 at most,
    on either side, count as the stated rate.
    """
    shown = medin_schaffer()
    true = GCM(5.0, ATTENTION).fit(shown.exemplars, shown.categories)
    rng = np.random.default_rng(1)
    inside = np.zeros(5)
    for _ in range(EXPERIMENTS):
        counts = true.simulate(shown.stimuli, 40, rng)
        model = GCM(starts=2).fit(shown.exemplars, shown.categories, shown.stimuli, counts)
        found = model.intervals(LEVEL)
        ends = np.vstack([found["sensitivity"], found["attention"]])
        inside += (ends[:, 0] <= [5.0, *ATTENTION]) & ([5.0, *ATTENTION] <= ends[:, 1])
    low, high = binom.ppf([0.001, 0.999], EXPERIMENTS, LEVEL)
    assert (inside >= low).all() and (inside <= high).all(), inside / EXPERIMENTS


@pytest.mark.parametrize("kind", [GCM, PrototypeModel])
def test_the_fit_is_where_differences_of_the_likelihood_vanish(kind):
    shown = medin_schaffer(counts=True)
    model = kind(loss="likelihood").fit(
        shown.exemplars, shown.categories, shown.stimuli, shown.responses
    )

    def likelihood(place):
        weights = np.exp(np.append(place[1:], 0.0))
        other = kind(np.exp(place[0]), weights / weights.sum())
        other.fit(shown.exemplars, shown.categories)
        return other.log_likelihood(shown.stimuli, shown.responses)

    w = np.maximum(model.params_["attention"], 1e-6)
    best = np.append(np.log(model.params_["sensitivity"]), np.log(w[:-1] / w[-1]))
    assert likelihood(best) == pytest.approx(model.log_likelihood_, abs=1e-3)
    slope = check_grad(likelihood, lambda place: np.zeros_like(place), best, epsilon=1e-5)
    assert slope < 0.05  # of more than 500 answers
