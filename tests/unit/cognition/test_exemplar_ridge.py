"""Exemplar weights by ridge regression, as a model of choice."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import clone

from mercer.cognition.choices.exemplar_ridge import ExemplarRidge
from mercer.cognition.choices.gcm import GCM
from mercer.errors import DomainError, SolveError, ValidityError
from mercer.kernels import Shepard
from mercer.machines.ridge import KernelRidge
from mercer.plots import plot_decision

mpl.use("Agg")

RNG = np.random.default_rng(1)
X = RNG.uniform(0, 2, (9, 2))
Y = np.array(["a", "b", "c"] * 3)
NEW = RNG.uniform(0, 2, (14, 2))


def test_evidence_is_ridge_regression_with_strengths_as_weights():
    V = RNG.uniform(0.5, 2.0, 9)
    model = ExemplarRidge(2.0, (0.3, 0.7), penalty=0.3).fit(X, Y, strengths=V)
    labels = (Y[:, None] == np.array(["a", "b", "c"])).astype(float)
    ridge = KernelRidge(Shepard(2.0, 1, 1, (0.3, 0.7)), penalty=0.3)
    ridge.fit(X, labels, sample_weight=V)
    np.testing.assert_allclose(model.function_(NEW), 1.3 * ridge.predict(NEW), rtol=1e-10)


def test_answers_are_the_softmax_of_evidence():
    model = ExemplarRidge(2.0, choice=3.0).fit(X, Y)
    e = np.exp(3.0 * model.function_(NEW))
    np.testing.assert_allclose(
        model.predict_proba(NEW), e / e.sum(axis=1, keepdims=True), rtol=1e-11
    )


def test_strength_two_is_like_two_exemplars():
    twice = ExemplarRidge(2.0, penalty=0.5).fit(np.vstack([X, X[:1]]), [*Y, Y[0]])
    strong = ExemplarRidge(2.0, penalty=0.5).fit(X, Y, strengths=[2, *[1] * 8])
    np.testing.assert_allclose(twice.predict_proba(NEW), strong.predict_proba(NEW), rtol=1e-10)


@pytest.mark.parametrize("penalty", [0.5, np.inf])
def test_strength_zero_is_like_no_exemplar(penalty):
    weak = ExemplarRidge(2.0, penalty=penalty).fit(X, Y, strengths=[0, *[1] * 8])
    without = ExemplarRidge(2.0, penalty=penalty).fit(X[1:], Y[1:])
    np.testing.assert_allclose(weak.predict_proba(NEW), without.predict_proba(NEW), rtol=1e-12)


def test_known_parameters_are_recovered():
    truth = ExemplarRidge(2.5, (0.7, 0.3), penalty=0.2, choice=2.0).fit(X, Y)
    counts = np.round(1e6 * truth.predict_proba(NEW))
    model = ExemplarRidge(starts=6).fit(X, Y, NEW, counts)
    for name, value in truth.params_.items():
        np.testing.assert_allclose(model.params_[name], value, rtol=0.02)
    assert list(model.params_) == ["sensitivity", "attention", "penalty", "choice"]
    assert model.fit_.parameters == 4


def test_intervals_hold_the_truth():
    truth = ExemplarRidge(2.5, (0.7, 0.3), penalty=0.2, choice=3.0).fit(X, Y)
    counts = truth.simulate(NEW, 300, random_state=2)
    model = ExemplarRidge(2.0, penalty=0.2, choice=3.0, free=("sensitivity", "choice"), starts=2)
    ends = model.set_params(attention=(0.7, 0.3)).fit(X, Y, NEW, counts).intervals(0.99)
    for name, value in (("sensitivity", 2.5), ("choice", 3.0)):
        assert ends[name][0] < value < ends[name][1]


def test_a_model_of_similarity_alone_prefers_a_large_penalty():
    # The answers come from summed similarities, so weights that correct mistakes would be wrong.
    truth = ExemplarRidge(3.0, penalty=np.inf, choice=2.0).fit(X, Y)
    counts = np.round(1e4 * truth.predict_proba(NEW))
    model = ExemplarRidge(3.0, choice=2.0, free=("penalty",)).fit(X, Y, NEW, counts)
    assert model.params_["penalty"] > 100
    endless = ExemplarRidge(penalty=np.inf, free=("sensitivity", "attention", "choice"))
    endless.fit(X, Y, NEW, counts)
    assert endless.params_["penalty"] == np.inf
    assert endless.params_["sensitivity"] == pytest.approx(3.0, rel=0.02)


def test_several_subjects():
    truth = ExemplarRidge(2.5, penalty=0.2, choice=2.0).fit(X, Y)
    counts = np.array([truth.simulate(NEW, 30, random_state=k) for k in range(2)])
    model = ExemplarRidge(free=("choice",), sensitivity=2.5, penalty=0.2).fit(X, Y, NEW, counts)
    assert [one.parameters for one in model.subjects_] == [1, 1]


def test_it_is_an_estimator_and_is_drawn():
    model = clone(ExemplarRidge(penalty=0.3, starts=2)).fit(X, Y)
    assert model.penalty == 0.3 and model.get_params()["choice"] == 1.0
    ax = plot_decision(model, X, Y, resolution=15)
    assert ax.images
    ax.figure.clf()


def test_far_stimuli_are_guessed():
    p = ExemplarRidge(50.0).fit(X, Y).predict_proba([[1e6, -1e6]])
    np.testing.assert_allclose(p, 1 / 3, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"penalty": -1.0}, "penalty"),
        ({"penalty": np.nan}, "penalty"),
        ({"choice": 0.0}, "choice"),
        ({"sensitivity": -2.0}, "sensitivity"),
        ({"attention": (0.5, 0.6)}, "sum to 1"),
        ({"free": ("gamma",)}, "free names 'gamma'"),
        ({"order": 1, "exponent": 2}, "positive semi-definite"),
    ],
)
def test_parameters_that_cannot_be(change, message):
    with pytest.raises(ValidityError, match=message):
        ExemplarRidge(**change).fit(X, Y)


def test_an_indefinite_similarity_is_allowed_where_nothing_is_solved():
    model = ExemplarRidge(penalty=np.inf, exponent=2, free=("choice",)).fit(X, Y)
    sums = GCM(exponent=2).fit(X, Y).function_(NEW)
    np.testing.assert_allclose(model.function_(NEW), sums, rtol=1e-13)


def test_a_repeated_exemplar_needs_a_penalty():
    with pytest.raises(SolveError):
        ExemplarRidge(penalty=0.0).fit([[0.0], [0.0], [1.0]], ["a", "b", "a"])


def test_bad_responses_name_the_row():
    with pytest.raises(DomainError, match="row 3, category 'b'"):
        counts = np.ones((14, 3))
        counts[3, 1] = -1
        ExemplarRidge().fit(X, Y, NEW, counts)
