"""SUSTAIN learns as its equations say, with and without supervision."""

import numpy as np
import pytest

from mercer.cognition import SUSTAIN, shj
from mercer.errors import DomainError, ValidityError
from tests.oracles.learners import sustain

PARAMETERS = [(9.0, 1.25, 17.0, 0.09), (1.0, 3.0, 2.0, 0.4), (0.0, 0.0, 1.0, 0.2)]


def trials(seed, n=60, values=3, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(values, size=(n, 3)).astype(float)
    return X, (X.sum(axis=1) % classes).astype(int)


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("seed", range(3))
def test_learning_is_that_of_the_equations(parameters, seed):
    X, y = trials(seed)
    model = SUSTAIN(*parameters).fit(X, y)
    trace, clusters, weights, tuning = sustain(X.tolist(), y, 3, *parameters)
    np.testing.assert_allclose(model.trace_, trace, rtol=1e-10)
    np.testing.assert_allclose(model.clusters_, clusters, atol=1e-12)
    np.testing.assert_allclose(model.association_, weights, atol=1e-12)
    np.testing.assert_allclose(model.tuning_, tuning, rtol=1e-12)
    assert len(clusters) > 3


def test_simulated_subjects_are_those_that_learn_alone():
    design = shj("III", blocks=3)
    model, orders = SUSTAIN(9.0, 1.25, 17.0, 0.09), design.orders(5, seed=2)
    errors = model.errors(design, orders)
    for order, row in zip(orders, errors, strict=True):
        model.fit(design.stimuli[order], design.categories[order])
        right = np.searchsorted(model.classes_, design.categories[order])
        np.testing.assert_allclose(1 - model.trace_[np.arange(len(order)), right], row, atol=1e-14)


def test_ties_are_broken_at_random_and_reproducibly():
    design = shj("VI", blocks=4)
    orders = design.orders(50, seed=0)
    model = SUSTAIN(9.0, 1.25, 17.0, 0.09, ties="random")
    again, other = model.errors(design, orders), SUSTAIN(9.0, 1.25, 17.0, 0.09)
    assert np.array_equal(again, model.errors(design, orders))
    assert np.array_equal(again[:7], model.errors(design, orders[:7]))
    assert not np.array_equal(again, other.errors(design, orders))


def test_prediction_is_the_next_trial_without_learning():
    X, y = trials(5)
    model = SUSTAIN(2.0, 1.5, 5.0, 0.2).fit(X[:50], y[:50])
    control = np.repeat([0, 2], [50, 10])
    both = SUSTAIN(2.0, 1.5, 5.0, 0.2).fit(X, y, control=control)
    np.testing.assert_allclose(model.predict_proba(X[50:]), both.trace_[50:], rtol=1e-12)


def test_a_reset_forgets_everything():
    X, y = trials(1)
    control = np.zeros(60, dtype=int)
    control[30] = 1
    late = SUSTAIN(2.0, 1.5, 5.0, 0.2).fit(X, y, control=control)
    fresh = SUSTAIN(2.0, 1.5, 5.0, 0.2).fit(X[30:], y[30:])
    np.testing.assert_allclose(late.trace_[30:], fresh.trace_, rtol=1e-12)


def test_without_supervision_stimuli_that_are_alike_share_a_cluster():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0.1, 0.03, (40, 2)), rng.normal(0.9, 0.03, (40, 2))])
    X = X[rng.permutation(80)]
    model = SUSTAIN(1.0, 1.0, 1.0, 0.1, threshold=0.6, dimensions="continuous").fit(X)
    assert model.classes_.tolist() == [0, 1]
    expected = (X[:, 0] > 0.5) == (X[0, 0] > 0.5)
    assert np.array_equal(model.predict(X) == 0, expected)
    assert np.array_equal(model.winners_ == 0, expected)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_threshold_decides_how_many_clusters_and_max_clusters_limits_them():
    cube = shj("I").stimuli
    counts = [len(SUSTAIN(1.0, 1.0, 1.0, 0.1, tau).fit(cube).clusters_) for tau in (0, 0.7, 1)]
    assert counts[0] == 1 and counts[2] == 8 and counts == sorted(counts)
    assert len(SUSTAIN(1.0, 1.0, 1.0, 0.1, 1.0, max_clusters=2).fit(cube).clusters_) == 2


def test_a_value_that_never_occurred_is_as_far_as_can_be():
    model = SUSTAIN(1.0, 1.0, 5.0, 0.1).fit([[0, 0], [1, 1]], ["a", "b"])
    weights, mu = model.tuning_, model.clusters_[0, 1] * 0.5 + (1 - model.clusters_[0, 0]) * 0.5
    expected = weights * np.exp(-weights * np.array([mu, 1.0]))
    assert model.activations([[0, 7]])[0, 0] == pytest.approx(expected.sum() / weights.sum())


def test_one_shown_on_top_of_a_cluster_recruits_no_other():
    X, y = [[0, 0]] * 6, list("ababab")
    assert len(SUSTAIN(1.0, 1.0, 1.0, 0.1).fit(X, y).clusters_) == 1


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"rate": 1.5}, r"rate must be from 0 to 1, found 1\.5"),
        ({"ties": "last"}, r"ties cannot be 'last'"),
        ({"dimensions": "ordinal"}, r"dimensions cannot be 'ordinal'"),
        ({"dimensions": ("nominal",)}, r"names 1 kinds, but the stimuli have 2 dimensions"),
        ({"focus": -1.0}, r"focus"),
        ({"max_clusters": 0}, r"max_clusters"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, error):
    model = SUSTAIN(1.0, 1.0, 1.0, 0.1).set_params(**parameters)
    with pytest.raises(ValidityError, match=error):
        model.fit([[0, 0], [1, 1]], ["a", "b"])


def test_what_is_asked_about_must_have_the_dimensions_that_were_learned():
    model = SUSTAIN(1.0, 1.0, 1.0, 0.1).fit([[0, 0], [1, 1]], ["a", "b"])
    with pytest.raises(DomainError, match="3 dimensions"):
        model.predict_proba([[0, 0, 1]])


def test_who_has_met_a_criterion_makes_no_more_errors():
    model, design = SUSTAIN(9.0, 1.25, 17.0, 0.09), shj("I")
    plain = model.simulate(design, 50, return_subjects=True)
    stopped = model.simulate(design, 50, return_subjects=True, criterion=(8, 4))
    assert (stopped <= plain).all()
    assert np.array_equal(stopped[:, :2], plain[:, :2])  # 32 trials can meet it, but not earlier
    assert (stopped[:, -1] == 0).all() and (plain[:, -1] > 0).all()
