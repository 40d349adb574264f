"""Fitting choice models: gradients, likelihoods, recovery, intervals, several subjects."""

import math

import numpy as np
import pytest

from mercer.cognition.choices.exemplar_ridge import ExemplarRidge
from mercer.cognition.choices.fitting import (
    ParameterLayout,
    PinnedSimplex,
    PositiveReal,
    ResponseLoss,
    Simplex,
)
from mercer.cognition.choices.gcm import GCM, PrototypeModel
from mercer.cognition.experiments.responses import Responses, log_softmax
from mercer.cognition.experiments.stimuli import memorize
from mercer.errors import ConvergenceWarning, DomainError, ValidityError

RNG = np.random.default_rng(0)
# Some stimuli are exemplars, and some agree with them in a dimension: distances of zero.
X = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0], [2, 1, 0], [0, 0, 2]], dtype=float)
Y = ["a", "a", "b", "b", "c", "c"]
NEW = np.vstack([X[:4], RNG.uniform(0, 2, (4, 3))])
COUNTS = GCM(3.0, (0.5, 0.2, 0.3)).fit(X, Y).simulate(NEW, 25, random_state=0)
STRENGTHS = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
TRUTH = {"sensitivity": 3.0, "attention": np.array([0.5, 0.2, 0.3])}


def objective_of(model, loss):
    memory = model._store(memorize(X, Y, STRENGTHS))
    return ResponseLoss(model._rule(memory, NEW), model._layout(memory), Responses(COUNTS), loss)


def assert_gradient(objective, seed=0, rtol=2e-6):
    z = objective.layout.coordinates(objective.layout.given)
    z = z + 0.3 * np.random.default_rng(seed).standard_normal(len(z))
    step = 1e-5
    numeric = [
        (objective(z + step * e)[0] - objective(z - step * e)[0]) / (2 * step)
        for e in np.eye(len(z))
    ]
    np.testing.assert_allclose(objective(z)[1], numeric, rtol=rtol, atol=1e-9)
    assert np.abs(numeric).max() > 1e-4


@pytest.mark.parametrize("loss", ["likelihood", "sse"])
@pytest.mark.parametrize("order", [1, 1.5, 2])
@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("kind", [GCM, PrototypeModel])
def test_gradients_of_every_parameter(kind, exponent, order, loss):
    free = ("sensitivity", "attention", "bias", "gamma")
    model = kind(1.5, (0.5, 0.2, 0.3), (0.2, 0.5, 0.3), 1.3, order, exponent, free=free)
    assert_gradient(objective_of(model, loss))


@pytest.mark.parametrize("loss", ["likelihood", "sse"])
@pytest.mark.parametrize(("order", "exponent"), [(1, 1), (1.5, 1), (2, 1), (2, 2)])
def test_gradients_of_exemplar_ridge(order, exponent, loss):
    model = ExemplarRidge(1.5, (0.5, 0.2, 0.3), 0.7, 2.0, order, exponent)
    assert_gradient(objective_of(model, loss))


def test_gradients_without_weights():
    free = ("sensitivity", "attention", "choice")
    assert_gradient(objective_of(ExemplarRidge(penalty=np.inf, free=free), "likelihood"))


@pytest.mark.parametrize("place", [0, 2])
def test_gradients_where_a_weight_is_pinned(place):
    model = GCM(2.0, (0.5, 0.2, 0.3), free=("sensitivity", "attention"))
    objective = objective_of(model, "likelihood")
    pinned = objective.layout.pin("attention", place, 0.6)
    assert pinned.count == objective.layout.count - 1
    assert_gradient(ResponseLoss(objective.rule, pinned, objective.data))


def test_coordinates_return_to_their_values():
    parts = (PositiveReal("c"), Simplex("w", 3), PinnedSimplex("v", 3, 1, 0.25))
    given = {"c": 2.5, "w": np.array([0.2, 0.3, 0.5]), "v": np.array([0.5, 0.25, 0.25]), "r": 1}
    layout = ParameterLayout(given, parts)
    again = layout.params(layout.coordinates(given))
    for name, value in given.items():
        np.testing.assert_allclose(again[name], value, rtol=1e-14)
    assert layout.count == 1 + 2 + 1 and len(layout.bounds) == 1 + 3 + 2


@pytest.mark.parametrize("categories", [2, 3])
def test_likelihood_and_squared_errors_are_those_of_a_loop(categories):
    labels = [label if categories == 3 else min(label, "b") for label in Y]
    counts = COUNTS[:, :categories]
    model = GCM(2.0, free=()).fit(X, labels, NEW, counts)
    likelihood = errors = 0.0
    for p, n in zip(model.predict_proba(NEW).tolist(), counts.tolist(), strict=True):
        for k in range(categories):
            likelihood += n[k] * math.log(p[k])
            if categories > 2 or k == 0:  # of two categories one repeats the other
                errors += (n[k] / sum(n) - p[k]) ** 2
    assert model.log_likelihood_ == pytest.approx(likelihood, rel=1e-12)
    assert model.sse_ == pytest.approx(errors, rel=1e-12)
    assert model.log_likelihood(NEW, counts) == pytest.approx(likelihood, rel=1e-12)


def test_the_likelihood_of_a_sure_answer_is_zero():
    seen = Responses(np.array([[5.0, 0.0]]))
    assert seen.log_likelihood(log_softmax(np.array([[0.0, -np.inf]]))) == 0.0


def test_no_start_is_better_than_the_best_of_many():
    model = GCM(free=("sensitivity", "attention", "bias", "gamma"), starts=15).fit(
        X, Y, NEW, COUNTS
    )
    for seed in range(1, 4):
        other = GCM(**{**model.get_params(), "random_state": seed}).fit(X, Y, NEW, COUNTS)
        assert other.log_likelihood_ <= model.log_likelihood_ + 1e-6
    assert model.fit_.slope < 1e-6


def test_the_same_seed_gives_the_same_fit():
    first, second = (GCM(starts=5, random_state=7).fit(X, Y, NEW, COUNTS) for _ in range(2))
    np.testing.assert_array_equal(first.params_["attention"], second.params_["attention"])


def test_too_few_steps_are_reported():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        GCM(0.01, starts=1, max_iter=1).fit(X, Y, NEW, COUNTS)


def test_zero_attention_at_the_start_can_grow():
    truth = GCM(3.0, TRUTH["attention"]).fit(X, Y)
    counts = np.round(1000 * truth.predict_proba(NEW))
    model = GCM(1.0, (1.0, 0.0, 0.0), starts=1).fit(X, Y, NEW, counts)
    np.testing.assert_allclose(model.params_["attention"], TRUTH["attention"], atol=0.02)


def test_least_squares_of_counts_and_of_their_proportions_agree():
    shares = COUNTS / COUNTS.sum(axis=1, keepdims=True)
    counts, proportions = (
        GCM(loss="sse").fit(X, Y, NEW, responses) for responses in (COUNTS, shares)
    )
    assert counts.sse_ == pytest.approx(proportions.sse_, rel=1e-9)
    assert counts.sse_ <= GCM().fit(X, Y, NEW, COUNTS).sse_
    assert np.isfinite(counts.log_likelihood_) and np.isnan(proportions.log_likelihood_)


# ---- recovery and intervals ---------------------------------------------------------------------


def test_the_end_of_a_profile_costs_what_the_level_says():
    model = GCM(starts=3).fit(X, Y, NEW, COUNTS)
    for c in model.intervals(0.95)["sensitivity"]:
        other = GCM(c, free=("attention",)).fit(X, Y, NEW, COUNTS)
        deviance = 2 * (model.log_likelihood_ - other.log_likelihood_)
        assert deviance == pytest.approx(3.841, abs=0.01)


@pytest.mark.slow
def test_bootstrap_and_profile_agree_where_there_is_much_data():
    counts = GCM(3.0, TRUTH["attention"]).fit(X, Y).simulate(NEW, 500, random_state=0)
    model = GCM(starts=2).fit(X, Y, NEW, counts)
    profile = model.intervals()
    bootstrap = model.intervals(method="bootstrap", samples=150)
    for name in ("sensitivity", "attention"):
        np.testing.assert_allclose(bootstrap[name], profile[name], rtol=0.1, atol=0.02)
        assert profile[name].shape == bootstrap[name].shape
    again = model.intervals(method="bootstrap", samples=150)
    np.testing.assert_array_equal(again["sensitivity"], bootstrap["sensitivity"])


def test_intervals_know_the_edges():
    # Every answer is right, so no sensitivity is too high; and dimension 1 says nothing.
    places, labels = [[0, 0], [0, 1], [1, 0], [1, 1]], ["a", "a", "b", "b"]
    model = GCM().fit(places, labels, responses=[[30, 0], [30, 0], [0, 30], [0, 30]])
    ends = model.intervals()
    assert ends["sensitivity"][1] == np.inf and ends["sensitivity"][0] > 1.0
    one = GCM().fit([[0.0], [1.0]], ["a", "b"], responses=[[9, 1], [2, 8]]).intervals()
    np.testing.assert_array_equal(one["attention"], [[1.0, 1.0]])


def test_intervals_of_a_bias_mirror_each_other():
    model = GCM(free=("bias",)).fit([[0.0], [1.0]], ["a", "b"], responses=[[9, 1], [4, 6]])
    first, second = model.intervals()["bias"]
    np.testing.assert_allclose(first, 1 - second[::-1], atol=1e-4)


def test_intervals_that_cannot_be():
    model = GCM(starts=1).fit(X, Y, NEW, COUNTS)
    with pytest.raises(ValidityError, match="level"):
        model.intervals(level=95)
    with pytest.raises(ValidityError, match="did you mean 'bootstrap'"):
        model.intervals(method="bootstrp")
    least = GCM(loss="sse", starts=1).fit(X, Y, NEW, COUNTS)
    with pytest.raises(ValidityError, match="bootstrap"):
        least.intervals()
    assert least.intervals(method="bootstrap", samples=5)["sensitivity"].shape == (2,)
    shares = COUNTS / COUNTS.sum(axis=1, keepdims=True)
    with pytest.raises(DomainError, match="proportions"):
        GCM(loss="sse", starts=1).fit(X, Y, NEW, shares).intervals(method="bootstrap")


# ---- several subjects ---------------------------------------------------------------------------


def test_each_subject_has_parameters_and_all_have_some_together():
    people = [GCM(c, TRUTH["attention"]).fit(X, Y) for c in (1.0, 6.0)]
    responses = np.array([p.simulate(NEW, 60, random_state=k) for k, p in enumerate(people)])
    model = GCM(starts=3).fit(X, Y, NEW, responses)
    alone = [GCM(starts=3).fit(X, Y, NEW, one) for one in responses]
    assert len(model.subjects_) == 2
    for k in range(2):
        one = model.subjects_[k]
        assert one.log_likelihood == pytest.approx(alone[k].log_likelihood_, abs=1e-6)
        np.testing.assert_allclose(
            model.predict_proba(NEW, subject=k), alone[k].predict_proba(NEW), atol=1e-4
        )
        np.testing.assert_allclose(
            model.intervals(subject=k)["sensitivity"],
            alone[k].intervals()["sensitivity"],
            rtol=1e-2,
        )
    together = GCM(starts=3).fit(X, Y, NEW, responses.sum(axis=0))
    assert model.log_likelihood_ == pytest.approx(together.log_likelihood_, abs=1e-9)
    assert sum(one.log_likelihood for one in model.subjects_) > model.log_likelihood_
    assert model.subjects_[0].params["sensitivity"] < model.subjects_[1].params["sensitivity"]
    with pytest.raises(DomainError, match="no subject 2"):
        model.predict_proba(NEW, subject=2)
    with pytest.raises(DomainError, match="no subject 0"):
        together.predict_proba(NEW, subject=0)


@pytest.mark.parametrize("loss", ["likelihood", "sse"])
def test_a_subject_may_miss_a_stimulus(loss):
    responses = np.array([COUNTS, COUNTS])
    responses[0, 2] = 0
    model = GCM(loss=loss, starts=2).fit(X, Y, NEW, responses)
    kept = np.delete(np.arange(8), 2)
    alone = GCM(loss=loss, starts=2).fit(X, Y, NEW[kept], COUNTS[kept])
    assert model.subjects_[0].sse == pytest.approx(alone.sse_, rel=1e-4)
    assert model.subjects_[0].log_likelihood == pytest.approx(alone.log_likelihood_, rel=1e-6)
