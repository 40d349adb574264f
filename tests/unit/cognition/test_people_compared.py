"""Models of people who differ, compared: new people, new answers, learners and choice models."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from mercer.cognition import (
    ALCOVE,
    EBRW,
    GCM,
    Experiment,
    PrototypeModel,
    RescorlaWagner,
    compare_people,
    fit_people,
    five_four,
    recover_models,
    shj,
    simulate_people,
)
from mercer.cognition.people.comparing import _new_people
from mercer.cognition.people.likelihoods import people_of
from mercer.errors import DomainError, ModelWarning, ValidityError

LEARNER = ALCOVE(6.0, 2.0, 0.1, 0.5)
ONE = GCM(free=("sensitivity",))
MADE = simulate_people(GCM(8.0, free=("sensitivity",)), five_four(), 8, 10, seed=1)
LEARNED = simulate_people(LEARNER, shj("II", blocks=2), subjects=4, seed=1)
TIMED = EBRW(4.0, upper=3, lower=2, residual=0.3, scale=0.1,
             free=("sensitivity", "residual", "scale"))  # fmt: skip


def test_new_people_are_predicted_by_the_integral_over_the_population():
    known = fit_people(ONE, MADE.experiment)
    people = people_of(ONE, MADE.experiment).only(np.array([2]))
    mu, sigma = known.center[0], 0.3
    other = type(known)(**{**known.__dict__, "spread": np.array([sigma])})
    top = people.log_likelihoods(known.center[None], np.array([0]))[0]

    def density(u):
        found = people.log_likelihoods(np.array([[u]]), np.array([0]))[0]
        return np.exp(found - top) * norm.pdf(u, mu, sigma)

    exact = np.log(quad(density, mu - 2, mu + 2)[0]) + top
    assert _new_people(people, other)[0] == pytest.approx(exact, abs=0.03)


def test_folds_of_subjects_are_fits_that_have_not_seen_them():
    models = {"exemplars": ONE, "prototypes": PrototypeModel(free=("sensitivity",))}
    found = compare_people(models, MADE.experiment, cv="subjects", folds=8)
    data = MADE.experiment
    for s in (0, 5):
        others = np.delete(data.responses, s, axis=0)
        known = fit_people(ONE, Experiment(data.exemplars, data.categories, data.stimuli, others))
        expected = _new_people(people_of(ONE, data).only(np.array([s])), known)[0]
        assert found.persons["exemplars"][s] == pytest.approx(expected, rel=1e-6)
    table = found.table
    assert found.best == "exemplars" and table["behind"].iloc[0] == 0
    gap = table["held_out"].diff().iloc[1]
    assert table["behind"].iloc[1] == pytest.approx(-gap) and table["error_behind"].iloc[1] > 0
    assert "best by held out: exemplars" in str(found)


@pytest.mark.parametrize("model", [ONE, LEARNER, TIMED], ids=str)
def test_answers_that_are_dealt_are_all_there_once(model):
    data = {ONE: MADE, LEARNER: LEARNED}.get(model)
    if data is None:
        data = simulate_people(TIMED, five_four(), 3, 4, seed=2)
    people = people_of(model, data.experiment)
    everyone = np.arange(people.count)
    U = np.tile(data.truth.mean(axis=0), (people.count, 1))
    whole = people.log_likelihoods(U, everyone)
    dealt = people.deal(3, np.random.default_rng(0))
    for kept, held in dealt:
        both = kept.log_likelihoods(U, everyone) + held.log_likelihoods(U, everyone)
        np.testing.assert_allclose(both, whole, rtol=1e-12)
        assert held.observations() > 0
    assert sum(held.observations() for _, held in dealt) == people.observations()
    some = people.only(np.array([2, 0]))
    np.testing.assert_allclose(some.log_likelihoods(U[:2], np.arange(2)), whole[[2, 0]])
    assert some.observations() < people.observations()


def test_learners_are_compared_by_answers_that_were_held_out():
    models = {"exemplars": LEARNER, "cues": RescorlaWagner(0.2, 4.0)}
    free = {"exemplars": ("association_rate",), "cues": ("rate",)}
    found = compare_people(models, LEARNED.experiment, cv="trials", folds=2, free=free)
    assert found.best == "exemplars"  # type II is not linear in the features
    assert found.table.loc["cues", "behind"] > 2 * found.table.loc["cues", "error_behind"]
    drift = found.populations["cues"].notes
    assert found.populations["cues"].converged
    assert not drift or "could go on without a change of the likelihood" in drift[0]


def test_a_choice_model_and_a_learner_recover_each_other():
    models = {"knows": GCM(6.0, free=("sensitivity",)), "learns": RescorlaWagner(0.05, 4.0)}
    found = recover_models(models, shj("I", blocks=3), subjects=4, repeats=1)
    np.testing.assert_array_equal(found.confusion, np.eye(2))


def test_answers_in_the_trials_of_a_design_have_the_shares_of_the_model():
    model = GCM(2.0, free=("sensitivity",))
    made = simulate_people(model, shj("I", blocks=40), 20, trials=None, spread=0.0)
    trials = made.experiment.trials
    assert len(trials) == 20 * 640 and trials["category"].notna().all()
    P = model.fit(shj("I").stimuli, shj("I").categories).predict_proba([[0, 0, 0]])[0]
    here = trials[(trials[["x1", "x2", "x3"]] == 0).all(axis=1)]
    assert (here["answer"] == "A").mean() == pytest.approx(P[0], abs=0.03)


# ---- Times -------------------------------------------------------------------------------------


def test_people_with_times_have_the_likelihood_of_the_model():
    made = simulate_people(TIMED, five_four(), 3, 4, seed=2)
    people = people_of(TIMED, made.experiment)
    found = people.log_likelihoods(made.truth, np.arange(3))
    for s, one in enumerate(made.experiment.sequences()):
        given = {**TIMED.get_params(), **made.persons.iloc[s].to_dict(), "free": ()}
        model = EBRW(**given).fit(five_four().stimuli, five_four().categories)
        expected = model.log_density(one.stimuli, one.answers.astype(str), one.times)
        np.testing.assert_allclose(people.pointwise(made.truth[s], s), expected, rtol=1e-9)
        assert found[s] == pytest.approx(expected.sum(), rel=1e-9)


def test_times_tell_what_people_are_like():
    made = simulate_people(TIMED, five_four(), 10, 12, spread=0.3, seed=3)
    found = fit_people(TIMED, made.experiment)
    assert found.people.explains == "answers with their times"
    for name in ("residual", "scale"):
        assert np.corrcoef(made.persons[name], found.persons[name])[0, 1] > 0.8
    assert np.abs(found.center - made.truth.mean(axis=0)).max() < 0.25


# ---- What makes no sense -----------------------------------------------------------------------

LINE = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]  # the second dimension never varies
COUNTS = np.tile([[8, 2], [7, 3], [3, 7], [1, 9]], (4, 1, 1))


def test_people_are_not_fitted_in_silence_where_the_design_tells_nothing():
    data = Experiment(LINE, ["a", "a", "b", "b"], LINE, COUNTS)
    with pytest.warns(ModelWarning, match="attention 1 cannot be told apart by any number"):
        found = fit_people(GCM(), data)
    assert any("cannot be told apart" in note for note in found.notes)
    counts = COUNTS.copy()
    counts[2] = (10, 0)
    data = Experiment(LINE, ["a", "a", "b", "b"], LINE, counts)
    assert fit_people(ONE, data).notes[0].startswith("subject 2 answered 'a' in all 40")


@pytest.mark.parametrize(
    ("call", "kind", "error"),
    [
        (lambda: compare_people({"one": ONE}, MADE.experiment), DomainError, "two models or more"),
        (lambda: compare_people({"a": ONE, "b": ONE}, MADE.experiment, cv="stimuli"), DomainError,
         "cv cannot be 'stimuli'"),
        (lambda: compare_people({"a": ONE, "b": ONE}, MADE.experiment, cv="subjects", folds=9),
         DomainError, "8 subjects can be held out in 2 to 8 folds, found 9"),
        (lambda: compare_people({"a": ONE, "b": ONE}, MADE.experiment, by="aic"), DomainError,
         "by cannot be 'aic'"),
        (lambda: compare_people({"a": ONE, "b": LEARNER}, MADE.experiment), DomainError,
         "b: learners need the trials"),
        (lambda: compare_people({"a": TIMED, "b": ONE},
                                simulate_people(TIMED, five_four(), 2, 2).experiment),
         DomainError, "explain different things"),
        (lambda: fit_people(TIMED, MADE.experiment), DomainError, "fitted to response times"),
        (lambda: fit_people(EBRW(free=("upper", "scale")),
                            simulate_people(TIMED, five_four(), 2, 2).experiment),
         ValidityError, "barriers are whole numbers"),
        (lambda: simulate_people(ONE, MADE.experiment, trials=None), DomainError, "of a Design"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(call, kind, error):
    with pytest.raises(kind, match=error):
        call()
