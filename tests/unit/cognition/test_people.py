"""Populations, their likelihood, their posterior, and what the intervals are worth."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from mercer.cognition import (
    ALCOVE,
    DIVA,
    EBRW,
    EXIT,
    GCM,
    SUSTAIN,
    ConfiguralCue,
    DeltaRule,
    ExemplarRidge,
    Experiment,
    LinearBound,
    Mackintosh,
    MixtureModel,
    OptimalBound,
    PearceHall,
    PrototypeModel,
    QuadraticBound,
    RationalModel,
    RescorlaWagner,
    VaryingAbstraction,
    compare,
    fit_people,
    five_four,
    identify,
    posterior,
    power,
    recover,
    recover_models,
    shj,
    simulate_people,
)
from mercer.cognition.people.chains import effective_size, split_rhat
from mercer.cognition.people.likelihoods import people_of
from mercer.cognition.people.modes import find_modes
from mercer.cognition.people.population import laplace_moments, sampled_moments
from mercer.cognition.people.sampler import Prior, SamplingTask, sample
from mercer.errors import ConvergenceWarning, DomainError, ValidityError

MADE = simulate_people(GCM(3.0), five_four(), subjects=12, trials=20, seed=1)


class Normal:
    """People whose answers are numbers y ~ N(u, 1): all about them is known in closed form."""

    class space:
        size = 1

    def __init__(self, y):
        self.y, self.count = np.asarray(y), len(y)

    def log_likelihoods(self, U, who):
        return norm.logpdf(self.y[who], U[:, 0], 1.0)


# ---- likelihoods ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        GCM(2.0, free=("sensitivity", "attention", "bias", "gamma"), order=2),
        PrototypeModel(2.0),
        LinearBound(),
        QuadraticBound(noise=0.3, free=("curvature", "weights", "intercept", "noise")),
        OptimalBound(free=("noise", "criterion")),
        VaryingAbstraction([0, 0, 1, 1, 2, 3, 3, 4, 4], 2.0),
        MixtureModel(2, 2.0),
        ExemplarRidge(2.0),
        EBRW(2.0),
    ],
    ids=str,
)
def test_people_together_have_the_likelihoods_of_each(model):
    people = people_of(model, MADE.experiment)
    rng = np.random.default_rng(0)
    U = 0.5 * rng.normal(size=(12, people.space.size))
    found = people.log_likelihoods(U, np.arange(12))
    data = MADE.experiment
    for s, u in enumerate(U):
        fixed = {k: v for k, v in people.space.params(u).items() if k in model.get_params()}
        given = {k: v if np.ndim(v) == 0 else tuple(v) for k, v in fixed.items()}
        one = type(model)(**{**model.get_params(), **given})
        one.fit(data.exemplars, data.categories)
        expected = one.log_likelihood(data.stimuli, data.responses[s])
        assert found[s] == pytest.approx(expected, rel=1e-10)
        assert people.pointwise(u, s).sum() == pytest.approx(expected, rel=1e-10)


def test_learners_have_the_likelihood_of_their_trace():
    made = simulate_people(ALCOVE(6.0, 2.0, 0.1, 0.5), shj("II", blocks=2), subjects=2)
    people = people_of(ALCOVE(6.0, 2.0, 0.1, 0.5), made.experiment)
    found = people.log_likelihoods(made.truth, np.arange(2))
    for s, one in enumerate(made.experiment.sequences()):
        model = ALCOVE(**made.persons.iloc[s].to_dict()).fit(one.stimuli, one.categories)
        columns = np.searchsorted(model.classes_, one.answers.astype(str))
        expected = np.log(model.trace_[np.arange(len(columns)), columns]).sum()
        assert found[s] == pytest.approx(expected, rel=1e-9)


class Mute(DeltaRule):
    """A learner of which nothing can be fitted."""

    fittable = {}


LEARNERS = [
    ALCOVE(6.0, 2.0, 0.1, 0.5),
    SUSTAIN(5.0, 1.5, 5.0, 0.1),
    ConfiguralCue(0.02, 4.0),
    DeltaRule(0.1, 4.0),
    RescorlaWagner(0.2, 4.0),
    Mackintosh(0.2, 0.1, 4.0),
    PearceHall(0.2, 0.3, 4.0),
    RationalModel(0.3),
    EXIT(1.0, 2.0, 4.0, 1.0, 0.2, 0.5, context=0.4),
    DIVA(1.0, focus=1.0),
]


@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
def test_every_learner_has_a_likelihood_that_can_be_fitted(model):
    made = simulate_people(model, shj("I", blocks=2), subjects=3, seed=1)
    people = people_of(model, made.experiment)
    values = people.log_likelihoods(made.truth, np.arange(3))
    assert np.isfinite(values).all() and (values < 0).all()
    for s, one in enumerate(made.experiment.sequences()):
        given = {**model.get_params(), **people.space.params(made.truth[s])}
        fitted = type(model)(**given).fit(one.stimuli, one.categories)
        columns = np.searchsorted(fitted.classes_, one.answers.astype(str))
        shown = np.log(fitted.trace_[np.arange(len(columns)), columns])
        assert values[s] == pytest.approx(np.maximum(shown, np.log(1e-12)).sum(), rel=1e-9)
    modes = find_modes(people, made.truth.mean(axis=0), np.full(people.space.size, 0.3), steps=2)
    assert (modes.log_likelihoods >= values - 5).all() and np.isfinite(modes.covariance).all()


@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
def test_slopes_of_people_are_those_of_differences(model):
    made = simulate_people(model, shj("II", blocks=2), subjects=2, seed=1)
    people = people_of(model, made.experiment)
    if not people.sloped:
        assert isinstance(model, (RationalModel, EXIT, DIVA))
        return
    values, slopes, information = people.with_slopes(made.truth, np.arange(2))
    np.testing.assert_allclose(values, people.log_likelihoods(made.truth, np.arange(2)))
    numeric = np.empty_like(slopes)
    for i, step in enumerate(1e-5 * np.eye(people.space.size)):
        ends = [people.log_likelihoods(made.truth + way * step, np.arange(2)) for way in (1, -1)]
        numeric[:, i] = (ends[0] - ends[1]) / 2e-5
    if not model.jumps:  # where another of two equally active clusters may win in between
        np.testing.assert_allclose(slopes, numeric, rtol=1e-4, atol=1e-4)
    assert (np.linalg.eigvalsh(information) > -1e-9).all()
    assert np.abs(slopes).max() > 0.01


def test_the_information_of_trials_is_the_covariance_of_scores():
    """Over many answers of one person to the same trials."""
    model, design = DeltaRule(0.1, 2.0), shj("IV", blocks=1)
    order = design.trials(np.random.default_rng(0))
    P = model.fit(design.stimuli[order], design.categories[order]).trace_
    rng, scores = np.random.default_rng(1), []
    for _ in range(400):
        answers = np.where(rng.random(len(order)) < P[:, 0], "A", "B")
        table = pd.DataFrame(design.stimuli[order], columns=["x", "y", "z"])
        table = table.assign(subject=0, category=design.categories[order], answer=answers)
        people = people_of(model, Experiment.from_trials(table))
        here = people.space.of({"rate": 0.1, "choice": 2.0})[None]
        _, slopes, information = people.with_slopes(here, np.zeros(1, dtype=int))
        scores.append(slopes[0])
    np.testing.assert_allclose(np.cov(np.array(scores).T), information[0], rtol=0.2, atol=0.1)
    assert np.abs(np.mean(scores, axis=0)).max() < 4 * np.sqrt(information[0].max() / 400)


@pytest.mark.parametrize(
    "model",
    [ConfiguralCue(0.02, 4.0), ALCOVE(5.0, 2.0, 0.1, 0.3), PearceHall(0.2, 0.3, 4.0)],
    ids=lambda model: type(model).__name__,
)
def test_modes_by_slopes_are_those_by_differences(model, monkeypatch):
    made = simulate_people(model, shj("II", blocks=4), subjects=5, seed=3)
    people = people_of(model, made.experiment)
    center, spread = made.truth.mean(axis=0), np.full(people.space.size, 0.3)

    def objective(modes):
        return modes.log_likelihoods + norm.logpdf(modes.at, center, spread).sum(axis=1)

    sloped = find_modes(people, center, spread)
    monkeypatch.setattr(type(people), "sloped", property(lambda self: False))
    other = find_modes(people, center, spread)
    assert (np.abs(objective(sloped) - objective(other)) < 0.01).all()
    np.testing.assert_allclose(sloped.at, other.at, atol=0.02)
    if isinstance(model, ConfiguralCue):  # the others have corners, and no one curvature there
        np.testing.assert_allclose(sloped.at, other.at, atol=1e-3)
        np.testing.assert_allclose(sloped.covariance, other.covariance, rtol=0.01, atol=1e-4)


def test_people_are_taken_in_pieces_where_memory_is_short(monkeypatch):
    people = people_of(GCM(2.0), MADE.experiment)
    U = 0.3 * np.random.default_rng(0).normal(size=(12, people.space.size))
    whole = people.log_likelihoods(U, np.arange(12))
    monkeypatch.setattr("mercer.cognition.people.likelihoods.NUMBERS_AT_ONCE", 500)
    np.testing.assert_allclose(people.log_likelihoods(U, np.arange(12)), whole, rtol=1e-13)


# ---- populations ------------------------------------------------------------------------------


def test_the_marginal_likelihood_is_the_integral():
    people = people_of(GCM(3.0, free=("sensitivity",)), MADE.experiment)
    center, spread = np.array([1.0]), np.array([0.4])
    exact = 0.0
    for s in range(12):
        top = people.log_likelihoods(np.array([[1.1]]), np.array([s]))[0]

        def density(u, s=s, top=top):
            found = people.log_likelihoods(np.array([[u]]), np.array([s]))[0]
            return np.exp(found - top) * norm.pdf(u, 1.0, 0.4)

        exact += np.log(quad(density, -1, 3, limit=200)[0]) + top
    modes = find_modes(people, center, spread)
    laplace = laplace_moments(modes, center, spread)[0].sum()
    noise = np.random.default_rng(0).standard_normal((2000, 12, 1))
    sampled = sampled_moments(people, modes, center, spread, noise)[0].sum()
    # Each person's likelihood is skewed, which Laplace's approximation does not see.
    assert laplace == pytest.approx(exact, abs=12 * 0.025)
    assert sampled == pytest.approx(exact, abs=0.05)


def test_modes_are_maxima():
    people = people_of(GCM(3.0), MADE.experiment)
    center, spread = np.array([1.1, 0, 0, 0.0]), np.full(4, 0.5)
    modes = find_modes(people, center, spread)

    def objective(U):
        return people.log_likelihoods(U, np.arange(12)) + norm.logpdf(U, center, spread).sum(
            axis=1
        )

    best, rng = objective(modes.at), np.random.default_rng(0)
    for size in (0.01, 0.1, 1.0):
        assert (objective(modes.at + size * rng.normal(size=modes.at.shape)) < best + 1e-6).all()


@pytest.mark.parametrize("method", ["laplace", "mcem"])
def test_the_population_that_people_come_from_is_found(method):
    made = simulate_people(
        GCM(4.0, free=("sensitivity", "attention")), five_four(), 60, 40, spread=0.4, seed=3
    )
    found = fit_people(GCM(), made.experiment, method=method)
    assert found.converged
    error = 0.4 / np.sqrt(60)
    assert np.abs(found.center - made.truth.mean(axis=0)).max() < 4 * error
    assert np.abs(found.spread - 0.4).max() < 0.2
    true, fitted = made.persons["sensitivity"], found.persons["sensitivity"]
    assert np.corrcoef(true, fitted)[0, 1] > 0.85


def test_of_normal_people_the_population_is_known_exactly():
    y = np.random.default_rng(0).normal(2.0, 1.5, 200)
    people, center, spread = Normal(y), np.zeros(1), np.ones(1)
    for _ in range(200):
        modes = find_modes(people, center, spread)
        value, first, second = laplace_moments(modes, center, spread)
        center = first.mean(axis=0)
        spread = np.sqrt((second - 2 * first * center + center**2).mean(axis=0))
    assert center[0] == pytest.approx(y.mean(), abs=1e-5)
    assert spread[0] ** 2 == pytest.approx(y.var() - 1, abs=1e-3)
    assert value.sum() == pytest.approx(norm.logpdf(y, y.mean(), y.std()).sum(), abs=1e-3)


def test_who_has_few_answers_is_drawn_to_the_group():
    counts = np.array(MADE.experiment.responses)
    counts[0] = 0
    counts[0, 0] = (1, 0)
    few = Experiment(five_four().stimuli, five_four().categories, five_four().stimuli, counts)
    found = fit_people(GCM(free=("sensitivity",)), few)
    assert abs(found.modes.at[0, 0] - found.center[0]) < 0.3 * found.spread[0]


def test_a_person_who_always_answers_the_same_is_no_obstacle():
    counts = np.array(MADE.experiment.responses)
    counts[3] = (20, 0)
    data = Experiment(five_four().stimuli, five_four().categories, five_four().stimuli, counts)
    found = fit_people(GCM(free=("sensitivity", "bias")), data)
    assert np.isfinite(found.log_likelihood)
    assert found.persons["bias[0]"][3] > found.persons["bias[0]"].median()


@pytest.mark.slow
def test_intervals_of_the_population_hold_it_as_often_as_they_say():
    held = []
    for seed in range(40):
        made = simulate_people(
            GCM(4.0, free=("sensitivity",)), five_four(), 40, 20, spread=0.4, seed=seed
        )
        found = fit_people(GCM(free=("sensitivity",)), made.experiment).intervals()
        for row, true in (("center of sensitivity", np.log(4.0)), ("spread of sensitivity", 0.4)):
            held.append(found.loc[row, "low"] <= true <= found.loc[row, "high"])
    assert np.mean(held) > 0.87  # 0.95 of 80, less three standard errors


# ---- posteriors -------------------------------------------------------------------------------


def test_the_sampler_has_the_exact_posterior_of_normal_people():
    y = np.array([1.0, 3.0, 2.0, 4.0, 2.5, 0.5, 3.2, 1.7])
    people, prior = Normal(y), Prior(np.zeros(1), wide=3.0, scale=1.0)
    modes = find_modes(people, np.array([2.0]), np.array([1.0]))
    wanted = SamplingTask(people, prior, modes, np.array([2.0]), np.array([1.0]), 4, 2500, 300)
    draws = sample(wanted, np.random.default_rng(0))
    sigma = np.linspace(1e-3, 30, 6000)
    v = 1 + sigma**2
    precision = len(y) / v + 1 / 9
    mean = y.sum() / v / precision
    log = -0.5 * len(y) * np.log(v) - 0.5 * np.log(precision) - np.log1p(sigma**2)
    log += -0.5 * (np.sum(y**2) / v - precision * mean**2)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    assert draws.spread.mean() == pytest.approx(weight @ sigma, abs=0.05)
    assert draws.center.mean() == pytest.approx(weight @ mean, abs=0.03)
    sd = np.sqrt(weight @ (1 / precision + mean**2) - (weight @ mean) ** 2)
    assert draws.center.std() == pytest.approx(sd, rel=0.06)
    shrunk = weight @ ((y[3] * sigma**2 + mean) / v)
    assert draws.persons[:, :, 3].mean() == pytest.approx(shrunk, abs=0.05)
    assert split_rhat(draws.center[:, :, 0]) < 1.02


def test_chains_that_have_not_arrived_are_told():
    rng = np.random.default_rng(0)
    slow = np.cumsum(rng.normal(size=(4, 400)), axis=1)
    assert split_rhat(slow) > 1.1 and effective_size(slow) < 60
    correlated = np.zeros((4, 4000))
    for t in range(1, 4000):
        correlated[:, t] = 0.8 * correlated[:, t - 1] + rng.normal(size=4)
    assert effective_size(correlated) == pytest.approx(16_000 * 0.2 / 1.8, rel=0.25)
    with pytest.warns(ConvergenceWarning, match="not arrived"):
        posterior(GCM(), MADE.experiment, draws=10, warmup=1)


@pytest.mark.slow
def test_posterior_and_likelihood_agree_where_there_are_many_answers():
    made = simulate_people(GCM(4.0, free=("sensitivity",)), five_four(), 40, 60, seed=2)
    one = GCM(free=("sensitivity",))
    found = posterior(one, made.experiment, draws=500, warmup=200)
    fitted = fit_people(one, made.experiment)
    table = found.summary()
    assert table.loc["center of sensitivity", "mean"] == pytest.approx(fitted.center[0], abs=0.03)
    assert table["rhat"].max() < 1.05
    people = found.persons()
    assert people["mean"].to_numpy() == pytest.approx(fitted.persons["sensitivity"], rel=0.1)
    again = posterior(one, made.experiment, draws=500, warmup=200)
    assert np.array_equal(again.draws.center, found.draws.center)
    waic = found.waic()
    assert waic.elpd < fitted.people.log_likelihoods(fitted.modes.at, np.arange(40)).sum()
    assert 10 < waic.parameters < 60


@pytest.mark.slow
def test_waic_prefers_the_model_that_made_the_answers():
    made = simulate_people(GCM(8.0, free=("sensitivity",)), five_four(), 15, 40, seed=2)
    options = {"draws": 300, "warmup": 200}
    exemplars = posterior(GCM(free=("sensitivity",)), made.experiment, **options).waic()
    prototypes = posterior(
        PrototypeModel(free=("sensitivity",)), made.experiment, **options
    ).waic()
    assert exemplars.waic < prototypes.waic - 20


# ---- recovery, power, identification ----------------------------------------------------------


def test_recovery_is_one_call():
    found = recover(GCM(3.0, free=("sensitivity",)), five_four(), subjects=30, trials=30)
    assert found.table.loc["sensitivity", "correlation"] > 0.8
    assert set(found.group.columns) == {"true", "estimate", "low", "high", "held"}
    assert len(found.people) == 30


@pytest.mark.slow
def test_learners_are_recovered_too():
    found = recover(RescorlaWagner(0.2, 4.0), shj("I", blocks=6), subjects=20, spread=0.6)
    assert found.table.loc["rate", "correlation"] > 0.4
    assert found.table.loc["choice", "correlation"] > 0.4


def test_models_are_confused_where_the_design_does_not_tell_them():
    models = {"exemplars": GCM(8.0), "prototypes": PrototypeModel(8.0)}
    found = recover_models(models, five_four(), subjects=6, trials=20, repeats=4)
    assert (np.diag(found.confusion) >= 0.75).all()
    np.testing.assert_allclose(found.confusion.sum(axis=1), 1.0)


def test_power_grows_with_people():
    found = power(GCM(5.0, free=("sensitivity",)), PrototypeModel(5.0, free=("sensitivity",)),
                  five_four(), (1, 12), trials=3, repeats=12)  # fmt: skip
    assert found.table["share"].iloc[1] >= found.table["share"].iloc[0]
    assert (found.table["low"] <= found.table["share"]).all()
    assert found.enough in (1, 12, None)


def test_what_cannot_be_identified_is_named():
    line = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]  # the second dimension never varies
    data = Experiment(line, ["a", "a", "b", "b"], line, None)
    found = identify(GCM(2.0), data)
    assert not found.identified
    assert "cannot be told apart" in found.warnings[0] and "attention" in found.warnings[0]
    fine = identify(GCM(2.0, free=("sensitivity",)), data)
    assert fine.identified and fine.warnings == ()


def test_the_errors_of_identification_are_those_of_many_fits():
    model = GCM(3.0, free=("sensitivity",)).fit(five_four().stimuli, five_four().categories)
    X = five_four().stimuli
    found = [
        GCM(3.0, free=("sensitivity",), starts=1)
        .fit(X, five_four().categories, X, model.simulate(X, 100, seed))
        .params_["sensitivity"]
        for seed in range(100)
    ]
    told = identify(model, five_four(), trials=100).errors["sensitivity"]
    assert np.std(np.log(found)) == pytest.approx(told, rel=0.25)


def test_single_trials_can_be_held_out():
    models = {"exemplars": GCM(), "prototypes": PrototypeModel()}
    found = compare(models, MADE.experiment, cv="trials")
    assert found.cv == "trials" and (found.table["standard_error"] > 0).all()
    assert (found.table["held_out"] < 0).all()


@pytest.mark.parametrize(
    ("call", "kind", "error"),
    [
        (lambda: fit_people(GCM(), five_four()), DomainError, "must be an Experiment"),
        (lambda: fit_people(GCM(loss="sse"), MADE.experiment), ValidityError, "by likelihood"),
        (lambda: fit_people(GCM(), MADE.experiment, method="em"), ValidityError, "method"),
        (lambda: fit_people(GCM(), MADE.experiment, free=()), ValidityError, "no parameter"),
        (lambda: fit_people(ALCOVE(1, 1, 0.1, 0.1), MADE.experiment), DomainError, "from_csv"),
        (lambda: fit_people(Mute(0.1), MADE.experiment), DomainError, "no likelihood of answers"),
        (lambda: fit_people(VaryingAbstraction(), MADE.experiment), DomainError, "is a search"),
        (lambda: fit_people("GCM", MADE.experiment), DomainError, "has no likelihood"),
        (lambda: simulate_people(ALCOVE(1, 1, 0.1, 0.1), MADE.experiment), DomainError, "Design"),
        (lambda: simulate_people(GCM(), five_four(), spread=-1.0), ValidityError, "spread"),
        (lambda: recover_models({"one": GCM()}, five_four()), DomainError, "two models"),
        (lambda: identify(ALCOVE(1, 1, 0.1, 0.1), five_four()), DomainError, "no choice model"),
        (lambda: fit_people(GCM(), Experiment(*[five_four().stimuli] * 0, exemplars=[[0], [1]],
         categories=["a", "b"], stimuli=[[0], [1]], responses=[[1, 2], [2, 1]])), DomainError,
         r"\(subjects, stimuli, categories\)"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(call, kind, error):
    with pytest.raises(kind, match=error):
        call()


def test_groups_are_described_in_words():
    found = fit_people(GCM(free=("sensitivity",)), MADE.experiment)
    assert str(found).startswith("12 people, 2160 answers: log-likelihood")
    assert isinstance(found.persons, pd.DataFrame) and list(found.typical) == ["sensitivity"]
    assert found.parameters == 2
