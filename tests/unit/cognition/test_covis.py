"""COVIS: both systems and their competition, by the equations."""

import numpy as np
import pytest
from scipy.special import logsumexp, ndtri

from mercer.cognition import COVIS, fit_people, information_integration, shj, simulate_people
from mercer.cognition.learners.covis_filter import normal_quantile
from mercer.cognition.learners.learner import admit_trials
from mercer.cognition.people.likelihoods import people_of
from mercer.errors import DomainError, ValidityError
from tests.oracles.learners import covis

BUSY = {"noise": 0.05, "rule_noise": 0.1, "trust": 0.6, "trust_down": 0.1, "ampa": 0.0005,
        "nmda": 0.05, "curiosity": 2.0, "sharpness": 1.5}  # fmt: skip


@pytest.mark.parametrize("parameters", [{}, BUSY])
@pytest.mark.parametrize("seed", [0, 3])
def test_learning_is_that_of_the_equations(parameters, seed):
    design = shj("III", blocks=6)
    # In this order stimuli are numbered as in the design.
    order = np.concatenate([np.arange(8), design.trials(np.random.default_rng(seed))])
    model = COVIS(**parameters, random_state=seed)
    model.fit(design.stimuli[order], design.categories[order])
    codes = (design.categories == "B").astype(int)
    answers, spoke, salience, w, trust = covis(
        design.stimuli.tolist(), codes.tolist(), order.tolist(), model._signs.tolist(),
        model.get_params(), seed,
    )  # fmt: skip
    assert model.trace_.argmax(axis=1).tolist() == answers
    assert model.spoke_.tolist() == spoke
    np.testing.assert_allclose(model.salience_, salience, rtol=1e-12)
    np.testing.assert_allclose(model.weights_, w, rtol=1e-10)
    assert model.trust_ == pytest.approx(trust)
    errors = model.errors(design, order[None])[0]
    np.testing.assert_array_equal(errors, np.array(answers) != codes[order])


def test_each_system_is_good_at_its_own_problem():
    """Rules suit one dimension, habits suit both together (Ashby et al., 1998)."""

    def error(system, kind):
        design = information_integration(kind, size=20, distance=4.0, spread=0.6, seed=1)
        low, high = design.stimuli.min(), design.stimuli.max()
        scaled = type(design)((design.stimuli - low) / (high - low), design.categories,
                              schedule=((1,),) * 12)  # fmt: skip
        middle = float((0 - low) / (high - low))
        model = COVIS(criterion=middle, system=system, width=0.02)
        return model.simulate(scaled, 40)[-3:].mean()

    assert error("explicit", "rule") < error("explicit", "integration") - 0.03
    assert error("procedural", "integration") < 0.5
    assert error("procedural", "integration") < error("explicit", "integration")


def test_a_rule_on_one_dimension_is_found():
    model = COVIS(system="explicit")
    assert model.simulate(shj("I"), 60)[-4:].mean() < 0.1
    assert model.simulate(shj("VI"), 60)[-4:].mean() > 0.4


def test_trust_goes_to_the_system_that_is_right():
    design = shj("I")
    order = design.trials(np.random.default_rng(0))
    easy = COVIS().fit(design.stimuli[order], design.categories[order])
    hard = COVIS().fit(design.stimuli[order], shj("VI").categories[order])
    assert easy.trust_ > 0.9 > 0.5 > hard.trust_
    assert easy.spoke_.mean() > hard.spoke_.mean()


@pytest.mark.parametrize("system", ["both", "explicit", "procedural"])
@pytest.mark.parametrize("answers", [[0, 1, 1, 0, 1], [1, 0, -1, 0, 0]])
def test_the_likelihood_is_the_mean_over_learners_who_know_nothing_of_the_answers(system, answers):
    """By brute force: the share of independent learners who answer so, lapses included."""
    design, order = shj("II"), np.array([0, 3, 5, 1, 6])
    trials = admit_trials(design.stimuli[order], design.categories[order], None)
    given = np.array(answers)
    options = {**BUSY, "system": system, "up": 2.0, "nmda": 0.002}
    found = []
    for seed in range(6000):
        said = COVIS(**options, random_state=seed)._learn(trials).trace_.argmax(axis=1)
        chances = 0.9 * (said == given) + 0.05
        found.append(chances[given >= 0].prod())
    exact, error = np.mean(found), np.std(found) / np.sqrt(6000)
    filtered = [
        COVIS(**options, lapse=0.1, random_state=seed)._chances(trials, given).prod()
        for seed in range(40)
    ]
    error = np.hypot(error, np.std(filtered) / np.sqrt(40))
    assert error < 0.06 * exact
    assert np.mean(filtered) == pytest.approx(exact, abs=4 * error)


def test_the_likelihood_does_not_depend_on_the_number_of_particles():
    design = shj("III", blocks=6)
    made = simulate_people(COVIS(lapse=0.05), design, 2, free=("lapse",), seed=1)
    few, many = [], []
    for seed in range(8):
        for count, found in ((150, few), (1000, many)):
            model = COVIS(lapse=0.05, particles=count, random_state=seed)
            people = people_of(model, made.experiment, ("lapse",))
            found.append(people.log_likelihoods(made.truth, np.arange(2)))
    assert np.std(many, axis=0).max() < 1.5 and np.std(many) > 0
    # Of the likelihood itself the mean is right, whatever the number.
    few, many = (logsumexp(one, axis=0) - np.log(8) for one in (few, many))
    assert np.abs(few - many).max() < 1.5


def test_how_rough_the_likelihood_is_is_told():
    design = shj("I", blocks=2)
    made = simulate_people(COVIS(lapse=0.1), design, 2, free=("lapse",), seed=1)
    (few,) = people_of(COVIS(particles=5), made.experiment, ("lapse",)).remarks()
    (many,) = people_of(COVIS(particles=500), made.experiment, ("lapse",)).remarks()

    def changes(note):
        return float(note.split("up to ")[1].split(",")[0])

    assert "with other random numbers" in few and changes(few) > changes(many)


def test_a_share_of_lapses_answers_by_chance():
    design = shj("I")
    clean, lapsing = (COVIS(lapse=x).simulate(design, 100)[-4:].mean() for x in (0.0, 0.3))
    assert lapsing - clean == pytest.approx(0.15, abs=0.03)


def test_what_never_happens_has_no_chance_without_lapses():
    trials = admit_trials([[0.0], [1.0]] * 20, ["a", "b"] * 20, None)
    opposite = np.tile([1, 0], 20)
    certain = COVIS(system="explicit")._chances(trials, opposite)
    assert (certain == 0).all()
    lapsing = COVIS(system="explicit", lapse=0.2)._chances(trials, opposite)
    np.testing.assert_allclose(lapsing, 0.1)


def test_quantiles_of_the_normal_distribution():
    p = np.concatenate([np.geomspace(1e-290, 0.5, 200), 1 - np.geomspace(1e-15, 0.5, 100)])
    np.testing.assert_allclose([normal_quantile(x) for x in p], ndtri(p), rtol=2e-9, atol=2e-9)


@pytest.mark.slow
def test_what_differs_between_people_is_recovered():
    truth, design = COVIS(lapse=0.08), shj("I", blocks=6)
    made = simulate_people(truth, design, 16, spread=1.0, free=("lapse",), seed=2)
    found = fit_people(COVIS(particles=80), made.experiment, ("lapse",))
    assert "log-likelihoods are simulated" in found.notes[0]
    assert found.center[0] == pytest.approx(made.truth.mean(), abs=0.5)
    correlation = np.corrcoef(found.persons["lapse"], made.persons["lapse"])[0, 1]
    assert correlation > 0.6


@pytest.mark.slow
@pytest.mark.parametrize(("name", "values"), [("curiosity", (0.2, 8.0)), ("up", (0.05, 8.0))])
def test_a_group_is_most_probable_with_what_made_it(name, values):
    design = shj("III", blocks=8)
    for true in values:
        given = {"lapse": 0.05, "trust": 0.7, name: true}
        made = simulate_people(COVIS(**given), design, 12, free=(name,), spread=0.0, seed=4)
        totals = []
        for value in values:
            model = COVIS(**{**given, name: value}, particles=300)
            people = people_of(model, made.experiment, (name,))
            u = people.space.of({name: value})
            totals.append(people.log_likelihoods(np.tile(u, (12, 1)), np.arange(12)).sum())
        assert values[int(np.argmax(totals))] == true


@pytest.mark.parametrize(
    ("model", "y", "kind", "error"),
    [
        (COVIS(), ["a", "b", "c"], DomainError, "two answers, found 3 categories"),
        (COVIS(trust=1.5), ["a", "b", "a"], ValidityError, r"from 0 to 1, found 1\.5"),
        (COVIS(lapse=1.5), ["a", "b", "a"], ValidityError, "lapse of COVIS must be from 0 to 1"),
        (COVIS(particles=0), ["a", "b", "a"], ValidityError, "particles"),
        (COVIS(width=0.0), ["a", "b", "a"], ValidityError, "width"),
        (COVIS(system="verbal"), ["a", "b", "a"], ValidityError, "system cannot be 'verbal'"),
    ],
)
def test_what_makes_no_sense_is_refused(model, y, kind, error):
    with pytest.raises(kind, match=error):
        model.fit([[0.0], [0.5], [1.0]], y)
