"""The rational model, and the Dirichlet process in it."""

import itertools
import math

import numpy as np
import pytest

from mercer.cognition import RationalModel, shj
from mercer.errors import ValidityError
from tests.oracles.learners import rational


def trials(seed=0, n=50):
    rng = np.random.default_rng(seed)
    return rng.integers(3, size=(n, 3)).astype(float), rng.integers(2, size=n)


@pytest.mark.parametrize("parameters", [(0.5, 1.0, 1.0), (0.3, 0.2, 0.1), (0.9, 2.0, 0.5)])
def test_learning_is_that_of_the_equations(parameters):
    X, y = trials()
    model = RationalModel(*parameters).fit(X, y)
    trace, partition = rational(X.tolist(), y, 2, *parameters)
    np.testing.assert_allclose(model.trace_, trace, rtol=1e-10)
    assert model.partition_.tolist() == partition


def test_the_clusters_of_anderson():
    """Anderson (1990, 1991): in this order the stimuli of Medin & Schaffer make three clusters."""
    words = ["11111", "10101", "10110", "00000", "01011", "01000"]  # the category is the last
    X, y = [[int(d) for d in word[:4]] for word in words], [word[4] for word in words]
    model = RationalModel(0.5).fit(X, y)
    assert model.partition_.tolist() == [0, 0, 0, 1, 2, 1]


def test_simulated_subjects_and_predictions_are_those_of_one_that_learns():
    design = shj("V", blocks=3)
    for how in ("local map", "particle"):
        model = RationalModel(0.3, 0.5, 0.2, 2.0, how)
        orders = design.orders(4, seed=0)
        for order, row in zip(orders, model.errors(design, orders), strict=True):
            X, y = design.stimuli[order], design.categories[order]
            right = np.searchsorted(["A", "B"], y)
            if how == "local map":
                model.fit(X, y)
                alone = 1 - model.trace_[np.arange(len(order)), right]
                np.testing.assert_allclose(alone, row, atol=1e-12)
    model = RationalModel(0.3).fit(X[:40], y[:40])
    both = RationalModel(0.3).fit(X, y, control=np.repeat([0, 2], [40, 8]))
    np.testing.assert_allclose(model.predict_proba(X[40:]), both.trace_[40:], rtol=1e-12)


def exact_dirichlet_process(X, y, new, alpha, label_alpha, asked):
    """Return P(category) of the last stimulus, summed over all partitions of those before."""
    n, total = len(X), np.zeros(2)
    for parts in restricted_growth(n + 1):
        weight = 1.0
        for j in range(max(parts) + 1):
            members = [i for i in range(n + 1) if parts[i] == j]
            weight *= new * math.factorial(len(members) - 1)
            for d in range(len(X[0])):
                weight *= polya([[*X, asked][i][d] for i in members], alpha)
        for k in range(2):
            more = weight
            for j in range(max(parts) + 1):
                members = [i for i in range(n + 1) if parts[i] == j]
                more *= polya([[*y, k][i] for i in members], label_alpha)
            total[k] += more
    return total / total.sum()


def polya(values, alpha):
    counts, found = [0, 0], 1.0
    for i, value in enumerate(values):
        found *= (counts[value] + alpha) / (i + 2 * alpha)
        counts[value] += 1
    return found


def restricted_growth(n):
    for parts in itertools.product(range(n), repeat=n):
        if all(p <= max(parts[:i], default=-1) + 1 for i, p in enumerate(parts)):
            yield parts


def test_the_mean_of_particles_is_near_the_dirichlet_process():
    """Sequential draws ignore what comes later; with few stimuli that matters little."""
    X, y, asked = [[0, 0], [1, 1], [0, 0], [1, 1]], [0, 1, 0, 1], [0, 1]
    coupling, alpha, label_alpha = 0.4, 0.8, 0.5
    exact = exact_dirichlet_process(X, y, 0.6 / 0.4, alpha, label_alpha, asked)
    exact_near = exact_dirichlet_process(X, y, 0.6 / 0.4, alpha, label_alpha, [0, 0])
    found = np.mean(
        [
            RationalModel(coupling, alpha, label_alpha, algorithm="particle", random_state=s)
            .fit(X, y)
            .predict_proba([asked, [0, 0]])
            for s in range(2000)
        ],
        axis=0,
    )
    np.testing.assert_allclose(found[0], exact, atol=0.03)
    np.testing.assert_allclose(found[1], exact_near, atol=0.03)
    assert RationalModel(coupling).fit(X, y).concentration_ == pytest.approx(1.5)


def test_coupling_decides_how_many_clusters():
    X, y = trials()
    counts = [RationalModel(c).fit(X, y).partition_.max() + 1 for c in (0.001, 0.5, 0.999)]
    assert counts[0] == 27 or counts[0] > counts[1] > counts[2]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"coupling": 1.0}, r"between 0 and 1, found 1\.0"),
        ({"coupling": 0.0}, "coupling"),
        ({"value_prior": 0.0}, "value_prior"),
        ({"algorithm": "gibbs"}, "algorithm cannot be 'gibbs'"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, error):
    with pytest.raises(ValidityError, match=error):
        RationalModel(0.5).set_params(**parameters).fit([[0], [1]], ["a", "b"])
