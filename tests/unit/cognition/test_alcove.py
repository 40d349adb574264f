"""ALCOVE as an estimator: what it keeps, what it refuses, what it simulates."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer.cognition.experiments.designs import Design, shj
from mercer.cognition.learners.alcove import ALCOVE
from mercer.cognition.learners.learning_curves import fit_alcove
from mercer.errors import ConvergenceWarning, DomainError, SolveError, ValidityError
from mercer.kernels import Shepard
from mercer.plots import plot_decision

MODEL = ALCOVE(sensitivity=3.0, choice=2.0, association_rate=0.1, attention_rate=0.2)


def sequence(design=None, seed=0):
    design = design or shj("II")
    order = design.trials(np.random.default_rng(seed))
    return design.stimuli[order], design.categories[order]


def changed(**params):
    return clone(MODEL).set_params(**params)


def test_nodes_are_the_distinct_stimuli_as_they_first_appear():
    X, y = sequence()
    model = clone(MODEL).fit(X, y)
    seen = list(dict.fromkeys(map(tuple, X)))
    np.testing.assert_array_equal(model.nodes_, seen)
    assert model.trace_.shape == (256, 2)
    assert model.association_.shape == (8, 2)
    assert model.attention_.shape == (3,)
    np.testing.assert_array_equal(model.trace_[0], [0.5, 0.5])
    np.testing.assert_allclose(model.trace_.sum(axis=1), 1)


def test_a_node_that_no_stimulus_is_like_changes_nothing():
    X, y = sequence()
    far = np.vstack([shj(1).stimuli, np.full((1, 3), 1e6)])
    model = clone(MODEL).fit(X, y, nodes=far)
    np.testing.assert_allclose(model.trace_, clone(MODEL).fit(X, y).trace_, rtol=1e-9)


def test_its_function_is_an_expansion_of_shepards_kernel_in_the_nodes():
    X, y = sequence()
    model = clone(MODEL).set_params(order=2, exponent=1, noise=0.2).fit(X, y)
    kernel = Shepard(3.0, 2, 1, tuple(model.attention_))
    o = kernel(X, model.nodes_) @ model.association_
    np.testing.assert_allclose(model.function_(X), o, rtol=1e-12)
    s = np.exp(2.0 * o) + 0.2
    np.testing.assert_allclose(model.predict_proba(X), s / s.sum(axis=1, keepdims=True))
    assert (model.predict(shj("II").stimuli) == shj("II").categories).all()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_last_probabilities_are_those_of_the_model_before_the_last_trial():
    X, y = sequence()
    whole, part = clone(MODEL).fit(X, y), clone(MODEL).fit(X[:-1], y[:-1], nodes=shj(1).stimuli)
    np.testing.assert_allclose(part.predict_proba(X[-1:])[0], whole.trace_[-1], rtol=1e-12)


def test_trials_without_learning_and_trials_that_forget():
    X, y = sequence()
    H, n = shj(1).stimuli, 100
    control = np.zeros(256, dtype=int)
    control[n:] = 2
    model, part = clone(MODEL).fit(X, y, H, control=control), clone(MODEL).fit(X[:n], y[:n], H)
    np.testing.assert_allclose(model.trace_[n:], part.predict_proba(X[n:]), rtol=1e-12)
    np.testing.assert_array_equal(model.association_, part.association_)
    control[:] = 0
    control[n] = 1
    model, rest = clone(MODEL).fit(X, y, H, control=control), clone(MODEL).fit(X[n:], y[n:], H)
    np.testing.assert_array_equal(model.trace_[n:], rest.trace_)
    np.testing.assert_array_equal(model.attention_, rest.attention_)


def test_the_humble_teacher_does_not_correct_what_is_beyond_the_target():
    X, y = np.tile([[0.0], [1.0]], (300, 1)), np.tile(["a", "b"], 300)
    far = {"sensitivity": 50.0, "attention_rate": 0.0}
    strict = changed(teacher="strict", **far).fit(X, y)
    np.testing.assert_allclose(strict.function_([[0.0]]), [[1.0, -1.0]], atol=1e-9)
    # A rate above 1 overshoots once; the humble teacher leaves it at that.
    humble = changed(association_rate=1.5, **far).fit(X, y)
    np.testing.assert_allclose(humble.function_([[0.0]]), [[1.5, -1.5]], atol=1e-9)


def test_attention_goes_where_the_rule_is():
    model = clone(MODEL).fit(*sequence(shj("I")))
    assert model.attention_[0] > 3 * model.attention_[1:].max()
    model = clone(MODEL).fit(*sequence(shj("II")))
    assert model.attention_[:2].min() > 3 * model.attention_[2]
    assert (model.attention_ >= 0).all()


@pytest.mark.parametrize("constraint", ["sum", "simplex"])
def test_constrained_attention_has_the_sum_one(constraint):
    model = changed(attention_constraint=constraint).fit(*sequence(shj("I")))
    assert model.attention_.sum() == pytest.approx(1)
    assert model.attention_.min() >= 0
    assert model.attention_.argmax() == 0
    assert np.abs(model.attention_ - clone(MODEL).fit(*sequence(shj("I"))).attention_).max() > 1e-3


def test_the_projection_is_the_nearest_point_of_the_simplex():
    from mercer.cognition.learners.trial_loops import _constrain

    rng = np.random.default_rng(0)
    for _ in range(20):
        alpha = rng.normal(size=4)
        found = alpha.copy()
        _constrain(found, alpha, 2)
        others = rng.dirichlet(np.full(4, 0.5), size=500)
        assert found.sum() == pytest.approx(1)
        assert (np.sum((others - alpha) ** 2, axis=1) >= np.sum((found - alpha) ** 2)).all()


@pytest.mark.parametrize(("order", "exponent"), [(2, 1), (3, 1), (1, 2), (2, 0.5)])
def test_zero_distances_do_no_harm(order, exponent):
    model = changed(order=order, exponent=exponent, attention_rate=0.05).fit(*sequence())
    assert np.isfinite(model.trace_).all()
    # Attention that is lost altogether: nodes differ only where nothing is attended to.
    lost = changed(order=order, exponent=exponent, attention_rate=5.0).fit(*sequence(shj("I")))
    assert np.isfinite(lost.trace_).all()


def test_more_than_two_categories_and_noise():
    X = np.tile(np.arange(3.0)[:, None], (60, 1))
    y = np.tile(["x", "y", "z"], 60)
    model = changed(noise=0.5).fit(X, y)
    assert model.predict([[0.0], [1.0], [2.0]]).tolist() == ["x", "y", "z"]
    assert model.predict_proba([[0.0]]).max() < clone(MODEL).fit(X, y).predict_proba([[0.0]]).max()
    huge = changed(noise=1e300).fit(X, y)
    np.testing.assert_allclose(huge.trace_, 1 / 3)


def test_a_fitted_model_can_be_drawn():
    X, y = sequence(shj("II"))
    ax = plot_decision(clone(MODEL).fit(X[:, :2], y), X[:, :2], y)
    assert len(ax.collections) > 1
    plt.close(ax.figure)


# ---- Simulation --------------------------------------------------------------------------------


def test_a_simulated_subject_is_a_fit_to_its_trials():
    design = shj("IV", blocks=3)
    curves = MODEL.simulate(design, subjects=3, seed=5, return_subjects=True)
    assert curves.shape == (3, 3)
    codes = (design.categories == "B").astype(int)
    for order, curve in zip(design.orders(3, seed=5), curves, strict=True):
        X, y = design.stimuli[order], design.categories[order]
        trace = clone(MODEL).fit(X, y, design.stimuli).trace_
        wrong = 1 - trace[np.arange(48), codes[order]]
        np.testing.assert_allclose(wrong.reshape(3, 16).mean(axis=1), curve, rtol=1e-12)
    np.testing.assert_allclose(MODEL.simulate(design, 3, 5), curves.mean(axis=0), rtol=1e-15)
    assert not hasattr(MODEL, "trace_")


def test_blocks_may_have_different_lengths():
    design = Design([[0.0], [1.0]], ["a", "b"], schedule=((1, 1), (1,), (3,)))
    assert MODEL.simulate(design, subjects=4).shape == (3,)
    assert MODEL.simulate(design, subjects=4)[0] > MODEL.simulate(design, subjects=4)[2]


def test_same_seed_same_answer_on_any_number_of_threads(use_cores):
    design = shj("V", blocks=4)
    answers = []
    for count in (1, 2, 5):
        use_cores(count)
        answers.append(MODEL.simulate(design, subjects=37, seed=2))
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])
    assert (MODEL.simulate(design, subjects=37, seed=3) != answers[0]).any()


# ---- Fitting to curves -------------------------------------------------------------------------


@pytest.mark.slow
def test_parameters_are_recovered_from_curves():
    designs = [shj(kind, blocks=8) for kind in ("I", "II", "IV")]
    observed = [MODEL.simulate(design, subjects=8, seed=4) for design in designs]
    start = ALCOVE(4.0, 1.5, 0.08, 0.3)
    found = fit_alcove(observed, designs, start, subjects=8, seed=4, starts=1)
    names = ("sensitivity", "choice", "association_rate", "attention_rate")
    for name in names:
        assert getattr(found, name) == pytest.approx(getattr(MODEL, name), rel=0.02)
    search = found.search_
    assert search.sse == search.losses.min() < 1e-6
    assert search.starts.shape == search.ends.shape == (1, 4)
    assert len(search.curves) == 3
    assert "1 descents" in str(search)
    with pytest.raises(NotFittedError):
        found.predict_proba(designs[0].stimuli)


def test_what_is_not_free_stays():
    design = shj("I", blocks=3)
    start = changed(teacher="strict", order=2, attention_rate=0.0)
    found = fit_alcove([0.4, 0.2, 0.1], design, start, free="choice", subjects=5, starts=1)
    fixed = {**start.get_params(), "choice": found.choice}
    assert found.get_params() == fixed
    assert found.choice != start.choice


def test_later_starts_are_the_best_of_many_points():
    design = shj("I", blocks=2)
    options = {"subjects": 2, "starts": 3, "max_evaluations": 200}
    search = fit_alcove([0.4, 0.2], design, MODEL, ("choice",), **options).search_
    assert search.starts.shape == search.ends.shape == (3, 1)
    assert search.starts[0, 0] == pytest.approx(MODEL.choice)
    assert search.evaluations > 40
    again = fit_alcove([0.4, 0.2], design, MODEL, ("choice",), **options).search_
    np.testing.assert_array_equal(search.ends, again.ends)


def test_a_search_that_stops_early_says_so():
    with pytest.warns(ConvergenceWarning, match="raise max_evaluations"):
        fit_alcove([0.4, 0.2], shj("I", blocks=2), subjects=3, starts=1, max_evaluations=9)


@pytest.mark.parametrize(
    ("curves", "more", "message"),
    [
        ([[0.4, 0.2], [0.1, 0.1]], {}, "2 curves, but 1 designs"),
        ([0.4, 0.2, 0.1], {}, "curve 0 has the shape .* 2 blocks"),
        ([0.4, 1.2], {}, "curve 0 is 1.2 in block 1"),
        ([0.4, np.nan], {}, "curve 0 is nan in block 1"),
        ([0.4, 0.2], {"free": ("sensitivty",)}, "did you mean 'sensitivity'"),
        ([0.4, 0.2], {"free": ()}, "no parameter is free"),
        ([0.4, 0.2], {"bounds": {"choice": (2.0, 1.0)}}, "bounds of choice"),
        ([0.4, 0.2], {"start": changed(attention_rate=0.0)}, "attention_rate .* positive"),
    ],
)
def test_what_cannot_be_fitted_is_refused(curves, more, message):
    with pytest.raises((DomainError, ValidityError), match=message):
        fit_alcove(curves, shj("I", blocks=2), subjects=2, **more)


# ---- Bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"sensitivity": -1.0}, "sensitivity of ALCOVE must be .* positive, found -1.0"),
        ({"sensitivity": np.nan}, "sensitivity"),
        ({"association_rate": -0.1}, "association_rate of ALCOVE must be .* not negative"),
        ({"attention_rate": -0.1}, "attention_rate"),
        ({"choice": -2.0}, "choice"),
        ({"noise": -0.1}, "noise"),
        ({"order": 0}, "order"),
        ({"exponent": 0}, "exponent"),
        ({"teacher": "humbel"}, "did you mean 'humble'"),
        ({"attention_rule": "gradiant"}, "did you mean 'gradient'"),
        ({"response": "ratio"}, "response cannot be 'ratio'"),
        ({"attention_constraint": "simplx"}, "did you mean 'simplex'"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params, message):
    for use in (lambda m: m.fit(*sequence()), lambda m: m.simulate(shj(1), 2)):
        with pytest.raises(ValidityError, match=message):
            use(changed(**params))


X3 = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        (([[0.0], [np.nan]], ["a", "b"]), {}, "NaN at row 1"),
        ((np.empty((0, 2)), []), {}, "0 sample"),
        ((X3, ["a", None, "b"]), {}, "category of row 1 is missing"),
        ((X3, [1.0, np.nan, 2.0]), {}, "category of row 1 is missing"),
        ((X3, ["a", "b"]), {}, "3 stimuli, but 2 categories"),
        ((X3, ["a", "a", "a"]), {}, "only one category"),
        (
            (X3, ["a", "b", "a"], [[0.0, 0.0, 1.0]]),
            {},
            "row 0 of nodes has 3 dimensions, but .* have 2",
        ),
        ((X3, ["a", "b", "a"], [[0.0, np.inf]]), {}, "nodes contains infinity at row 0"),
        ((X3, ["a", "b", "a"]), {"control": [0, 0]}, "3 trials, but control has the shape"),
        ((X3, ["a", "b", "a"]), {"control": [0, 3, 0]}, "control of trial 1 is"),
        ((X3, ["a", "b", "c"]), {"control": [0, 0, 2]}, "category 'c' of trial 2 is never taught"),
    ],
)
def test_trials_that_cannot_be_learned_are_refused(arguments, more, message):
    with pytest.raises(DomainError, match=message):
        clone(MODEL).fit(*arguments, **more)


def test_other_refusals():
    model = clone(MODEL)
    with pytest.raises(NotFittedError):
        model.predict(X3)
    model.fit(X3, ["a", "b", "a"])
    with pytest.raises(DomainError, match="row 0 of X has 3 dimensions"):
        model.predict([[0.0, 0.0, 0.0]])
    with pytest.raises(DomainError, match="subjects must be a whole number from 1 on, found 0"):
        model.simulate(shj("I"), subjects=0)
    with pytest.raises(DomainError, match="design must be a Design"):
        model.simulate("I")


def test_learning_that_diverges_is_an_error_and_not_a_number():
    wild = changed(association_rate=30.0, attention_rate=0.0, sensitivity=0.1, teacher="strict")
    with pytest.raises(SolveError, match="diverged at trial"):
        wild.fit(*sequence())
    with pytest.raises(SolveError, match="learning of subject 0 diverged"):
        wild.simulate(shj("I"), subjects=2)
