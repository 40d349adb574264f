"""EBRW: the random walk, its times, and the GCM inside."""

import numpy as np
import pytest

from mercer.cognition import EBRW, GCM, medin_schaffer
from mercer.cognition.choices.fitting import ResponseLoss
from mercer.cognition.choices.walks import first_passages, log_odds, mean_steps, mean_steps_to
from mercer.cognition.experiments.responses import Responses
from mercer.cognition.experiments.stimuli import memorize
from mercer.errors import DomainError, ValidityError

SEEN = medin_schaffer(counts=True)
LEARNED = (SEEN.exemplars, SEEN.categories)
P = np.array([0.5, 0.3, 0.8, 0.501, 0.05])
L = np.log((1 - P) / P)


@pytest.mark.parametrize(("A", "B"), [(1, 1), (3, 2), (2, 5)])
def test_choices_and_steps_are_those_of_the_distribution(A, B):
    above, below = first_passages(P, A, B, 1e-14)
    n = np.arange(1, above.shape[1] + 1)
    up = above.sum(axis=1)
    np.testing.assert_allclose(up + below.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(1 / (1 + np.exp(-log_odds(L, A, B)[0])), up, rtol=1e-9)
    np.testing.assert_allclose(mean_steps(L, A, B), (above + below) @ n, rtol=1e-8)
    to_above, to_below = mean_steps_to(L, A, B)
    np.testing.assert_allclose(to_above, above @ n / up, rtol=1e-8)
    np.testing.assert_allclose(to_below, below @ n / (1 - up), rtol=1e-8)


def test_the_gamblers_ruin_is_the_formula_of_the_paper():
    A, B = 4, 3
    ratio = (1 - P[1:]) / P[1:]
    published = (1 - ratio**B) / (1 - ratio ** (A + B))
    np.testing.assert_allclose(1 / (1 + np.exp(-log_odds(L[1:], A, B)[0])), published, rtol=1e-10)
    steps = B / (1 - 2 * P[1:]) - (A + B) / (1 - 2 * P[1:]) * published
    np.testing.assert_allclose(mean_steps(L[1:], A, B), steps, rtol=1e-7)


@pytest.mark.parametrize("name", ["L", "A", "B"])
def test_slopes_of_the_log_odds(name):
    at = {"L": L, "A": 2.5, "B": 3.7}
    high, low = ({**at, name: at[name] + h} for h in (1e-6, -1e-6))
    numeric = (log_odds(**high)[0] - log_odds(**low)[0]) / 2e-6
    np.testing.assert_allclose(log_odds(**at)[1][name], numeric, rtol=1e-5, atol=1e-7)


def test_with_equal_barriers_choices_are_those_of_the_gcm():
    w = (0.4, 0.1, 0.2, 0.3)
    walk = EBRW(5.0, w, 3, 3).fit(*LEARNED)
    luce = GCM(5.0, w, gamma=3.0).fit(*LEARNED)
    np.testing.assert_allclose(walk.predict_proba(SEEN.stimuli), luce.predict_proba(SEEN.stimuli))


def test_slopes_are_those_of_the_loss():
    model = EBRW(background=0.1, free=("sensitivity", "attention", "upper", "lower", "background"))
    memory = memorize(*LEARNED)
    layout = model._layout(memory)
    data = Responses(np.asarray(SEEN.responses, dtype=float))
    objective = ResponseLoss(model._rule(memory, SEEN.stimuli), layout, data)
    z = layout.coordinates(layout.given) + 0.1 * np.arange(sum(p.size for p in layout.parts))
    _, gradient = objective(z)
    for i in range(len(z)):
        step = 1e-6 * np.eye(len(z))[i]
        numeric = (objective(z + step)[0] - objective(z - step)[0]) / 2e-6
        assert gradient[i] == pytest.approx(numeric, rel=1e-5, abs=1e-8)


MODEL = EBRW(2.0, upper=3, lower=2, background=0.05, step=0.1, residual=0.3, scale=0.2)


def test_simulated_times_have_the_means_and_densities_of_the_model():
    model = MODEL.fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    stimuli = np.full((40_000, 1), 1.6)
    answers, times = model.simulate_times(stimuli, random_state=0)
    shares = model.predict_proba(stimuli[:1])[0]
    assert (answers == "a").mean() == pytest.approx(shares[0], abs=0.01)
    assert times.mean() == pytest.approx(model.mean_times(stimuli[:1])[0], rel=0.02)
    by_answer = model.mean_times(stimuli[:1], by_answer=True)[0]
    for k, name in enumerate("ab"):
        assert times[answers == name].mean() == pytest.approx(by_answer[k], rel=0.03)
        grid = np.linspace(0.3, 60.0, 60_000)[1:]
        density = np.exp(model.log_density(np.full((len(grid), 1), 1.6), [name] * len(grid), grid))
        mass = np.trapezoid(density, grid)
        assert mass == pytest.approx(shares[k], abs=2e-4)
        early = grid < 1.0
        share = ((answers == name) & (times < 1.0)).mean()
        assert np.trapezoid(density[early], grid[early]) == pytest.approx(share, abs=0.01)


def test_who_is_near_to_many_exemplars_is_fast():
    model = EBRW(1.0, residual=0.2, scale=0.1).fit([[0.0], [0.5], [4.0], [4.5]], list("aabb"))
    times = model.mean_times([[0.25], [1.5], [2.25]])
    assert times[0] < times[1] < times[2]


@pytest.mark.slow
def test_parameters_of_choices_and_times_are_recovered():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 2)) + np.repeat([[0, 0], [1.5, 1.0]], 4, axis=0)
    y = list("aaaabbbb")
    truth = EBRW(2.0, (0.7, 0.3), 3, 2, residual=0.35, scale=0.05, order=2).fit(X, y)
    asked = np.tile(rng.normal((0.7, 0.5), 1.0, (30, 2)), (20, 1))
    answers, times = truth.simulate_times(asked, random_state=1)
    found = EBRW(order=2).fit_times(X, y, asked, answers, times, barriers=(2, 3))
    assert (found.params_["upper"], found.params_["lower"]) == (3, 2)
    assert found.params_["residual"] == pytest.approx(0.35, abs=0.03)
    assert found.params_["scale"] == pytest.approx(0.05, rel=0.25)
    assert found.params_["sensitivity"] == pytest.approx(2.0, rel=0.2)
    assert found.params_["attention"][0] == pytest.approx(0.7, abs=0.08)
    best = truth.log_density(asked, answers, times).sum()
    assert best < found.log_likelihood_ < best + 15


@pytest.mark.parametrize(
    ("call", "kind", "error"),
    [
        (lambda: EBRW(free=("scale",)).fit(*LEARNED), ValidityError, "fit_times fits it"),
        (lambda: EBRW(upper=2.5).fit(*LEARNED).simulate_times(SEEN.stimuli), ValidityError,
         r"need whole barriers, found upper=2\.5"),
        (lambda: EBRW().fit([[0.0], [1.0], [2.0]], list("abc")), DomainError,
         "two answers, found 3"),
        (lambda: EBRW().fit_times(*LEARNED, SEEN.exemplars, ["A"] * 9, [0.5] * 8 + [0]),
         DomainError, r"response time of trial 8 is 0\.0"),
        (lambda: EBRW().fit_times(*LEARNED, SEEN.exemplars, ["A"] * 8 + ["C"], [0.5] * 9),
         DomainError, r"answer 'C' of trial 8 is none"),
        (lambda: EBRW(background=-1.0).fit(*LEARNED), ValidityError, "background"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(call, kind, error):
    with pytest.raises(kind, match=error):
        call()
