"""Gradients, confusions and the axioms of similarity."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad

from mercer.cognition import MDSChoice, SimilarityChoice
from mercer.cognition.choices.mds_choice import EstimatedCoordinates, KnownCoordinates
from mercer.cognition.similarity.generalization import _Problem, fit_gradient
from mercer.cognition.similarity.similarity_axioms import check_similarity
from mercer.errors import DomainError, ValidityError
from mercer.kernels import Shepard

D = np.array([0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


# ---- gradients of generalization ----------------------------------------------------------------


@pytest.mark.parametrize("counted", [True, False])
def test_slopes_of_a_gradient_are_those_of_differences(counted):
    rng = np.random.default_rng(0)
    y = rng.uniform(0.1, 0.9, len(D))
    trials = np.full(len(D), 20.0) if counted else None
    given = {"sensitivity": 1.0, "exponent": 1.0, "height": 1.0, "floor": 0.0}
    problem = _Problem(D, y, trials, given, ("sensitivity", "exponent", "height", "floor"))
    theta = np.array([-0.3, 0.2, 0.9, 0.1])
    gap = check_grad(lambda x: problem.loss(x)[0], lambda x: problem.loss(x)[1], theta)
    assert gap < 1e-5 * np.linalg.norm(problem.loss(theta)[1])


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_the_shape_that_made_the_data_wins(exponent):
    rng = np.random.default_rng(1)
    counts = rng.binomial(400, np.exp(-0.4 * D**exponent))
    found = fit_gradient(D, counts, 400)
    assert found.exponent == pytest.approx(exponent, abs=0.2)
    assert {one.shape for one in (found, *found.alternatives)} == {
        "exponential", "Gaussian", "free exponent",
    }  # fmt: skip
    wrong = next(one for one in found.alternatives if one.exponent == 3 - exponent)
    assert wrong.aic > found.aic + 10


def test_strengths_are_fitted_by_least_squares_up_to_scale_and_floor():
    truth = 2.0 + 5.0 * np.exp(-0.7 * D)
    noise = np.random.default_rng(2).normal(0, 0.05, len(D))
    found = fit_gradient(D, truth + noise, exponent=1.0, free=("sensitivity", "height", "floor"))
    for name, value in (("sensitivity", 0.7), ("height", 7.0), ("floor", 2.0)):
        low, high = found.intervals[name]
        assert low < value < high and low < getattr(found, name) < high
    assert found.aic == pytest.approx(2 * 4 - 2 * found.log_likelihood)


def test_intervals_are_where_the_likelihood_has_dropped_by_the_quantile():
    counts = np.array([90, 80, 60, 45, 35, 20, 9, 3])
    found = fit_gradient(D, counts, 100, exponent=1.0)

    def likelihood(c):
        p = np.exp(-c * D)
        return np.sum(counts * np.log(p) + (100 - counts) * np.log1p(-p))

    best = likelihood(found.sensitivity)
    assert found.log_likelihood == pytest.approx(best)
    for end in found.intervals["sensitivity"]:
        assert 2 * (best - likelihood(end)) == pytest.approx(3.8415, abs=1e-3)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    rng, inside = np.random.default_rng(3), []
    for _ in range(200):
        counts = rng.binomial(40, np.exp(-0.5 * D))
        low, high = fit_gradient(D, counts, 40, exponent=1.0, level=0.8).intervals["sensitivity"]
        inside.append(low < 0.5 < high)
    assert 0.72 < np.mean(inside) < 0.88  # three standard errors around 0.8


def test_sensitivity_and_exponent_do_not_depend_on_the_unit_of_distance():
    counts = np.random.default_rng(4).binomial(200, np.exp(-((D / 1.5) ** 1.4)))
    free = ("sensitivity", "exponent")
    one, other = (fit_gradient(D * unit, counts, 200, free=free) for unit in (1.0, 250.0))
    assert one.exponent == pytest.approx(other.exponent, rel=1e-4)
    assert one.intervals["exponent"] == pytest.approx(other.intervals["exponent"], rel=1e-3)
    assert one.sensitivity == pytest.approx(other.sensitivity * 250**other.exponent, rel=1e-3)


def test_data_without_noise_have_intervals_of_no_width():
    found = fit_gradient(D, np.exp(-0.5 * D), exponent=1.0)
    assert found.intervals["sensitivity"] == pytest.approx((0.5, 0.5))


def test_responses_that_never_fall_or_never_come_have_open_intervals():
    low, high = fit_gradient(D, np.full(8, 5), 5, exponent=1.0).intervals["sensitivity"]
    assert low == 0.0 and high < 0.1
    low, high = fit_gradient(D, np.zeros(8), 5, exponent=1.0).intervals["sensitivity"]
    assert low > 1.0 and high == np.inf


def test_a_gradient_is_a_kernel_on_coordinates():
    found = fit_gradient(D, np.exp(-0.5 * D) + 0.001 * np.cos(9 * D), exponent=1.0)
    k = found.kernel(order=2)
    assert isinstance(k, Shepard)
    X = np.column_stack([D, np.zeros(len(D))])
    np.testing.assert_allclose(k(X, [[0.0, 0.0]])[:, 0], found(D))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((D, D[:3]), {}, "8 distances, but 3 responses"),
        ((-D, D), {}, "row 0 has -0.2"),
        ((D, np.full(8, np.nan)), {}, "row 0 has nan"),
        ((D, np.full(8, 3), 2), {}, "row 0 has 3 of 2"),
        ((D, np.full(8, 0.5), 2), {}, "row 0 has 0.5 of 2"),
        (([0.0, 1.0], [9, 4], 10), {}, "row 0 was not; let the height be free"),
        (([1.0, 1.0], [9, 4], 10), {"free": ("sensitivity", "exponent")}, "2 different distances"),
        ((D, D), {"free": ("sensitivty",)}, "did you mean 'sensitivity'"),
        ((D, D), {"free": ()}, "nothing is free"),
        ((D, D), {"exponent": -1.0}, "exponent must be positive"),
        ((D, D), {"level": 95}, "between 0 and 1"),
        ((D, np.ones(8), 2), {"floor": -1.0}, "floor must lie between 0 and 1"),
        (([0.0, 0.0], [1, 1], 2), {}, "all distances are 0"),
    ],
)
def test_gradients_refuse_bad_data_by_name(arguments, options, message):
    with pytest.raises(DomainError, match=message):
        fit_gradient(*arguments, **options)


# ---- confusions ---------------------------------------------------------------------------------


def simulated(X, kernel, bias, trials, seed=0):
    P = bias * kernel(X, X)
    P /= P.sum(axis=1, keepdims=True)
    return np.random.default_rng(seed).multinomial(trials, P)


POINTS = np.random.default_rng(7).normal(size=(8, 2))
BIAS = np.array([0.2, 0.1, 0.1, 0.1, 0.05, 0.15, 0.2, 0.1])


@pytest.mark.parametrize(("order", "exponent"), [(1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (1.5, 1.2)])
def test_slopes_of_choice_rules_are_those_of_differences(order, exponent):
    rng = np.random.default_rng(0)
    G = rng.normal(size=(8, 8))
    w, b = np.array([0.3, 0.7]), BIAS
    cases = [
        (KnownCoordinates(POINTS, order), {"sensitivity": 1.3, "attention": w}),
        (EstimatedCoordinates(8, 2, order), {"coordinates": POINTS.ravel()}),
    ]
    for rule, own in cases:
        params = {**own, "exponent": exponent, "bias": b}
        slopes = rule(params)[1](G)
        for name, value in params.items():
            direction = rng.normal(size=np.shape(value))
            ends = [
                np.vdot(G, rule({**params, name: value + h * direction})[0]) for h in (-1e-6, 1e-6)
            ]
            expected = (ends[1] - ends[0]) / 2e-6
            found = np.vdot(np.ravel(slopes[name]), np.ravel(direction))
            assert found == pytest.approx(expected, rel=1e-5, abs=1e-6), name


def test_sensitivity_attention_and_bias_are_recovered_from_confusions():
    truth = Shepard(2.0, 2.0, 1.0, (0.7, 0.3))
    N = simulated(POINTS, truth, BIAS, 2000)
    model = MDSChoice().fit(N, POINTS)
    intervals = model.intervals(0.999)
    for name, value in (("sensitivity", [2.0]), ("attention", [0.7, 0.3]), ("bias", BIAS)):
        low, high = np.atleast_2d(intervals[name]).T
        assert ((low < value) & (value < high)).all(), name
    assert model.n_parameters_ == 1 + 1 + 7
    np.testing.assert_allclose(model.predict_proba(POINTS), model.probabilities_, rtol=1e-9)
    np.testing.assert_allclose(model.kernel_(POINTS), model.similarities_, rtol=1e-9)


def test_the_exponent_can_be_told_from_confusions():
    N = simulated(POINTS, Shepard(1.0, 2.0, 2.0), BIAS, 3000)
    model = MDSChoice(free=("sensitivity", "exponent", "bias")).fit(N, POINTS)
    low, high = model.intervals()["exponent"]
    assert low < 2.0 < high and low > 1.5
    assert model.aic_ < MDSChoice(free=("sensitivity", "bias")).fit(N, POINTS).aic_


def test_coordinates_are_recovered_up_to_rotation():
    N = simulated(POINTS, Shepard(1.0, 2.0, 1.0), BIAS, 5000)
    model = MDSChoice(dimensions=2).fit(N)
    found = np.linalg.norm(model.coordinates_[:, None] - model.coordinates_[None], axis=2)
    truth = np.linalg.norm(POINTS[:, None] - POINTS[None], axis=2)
    assert np.abs(found - truth).max() < 0.25
    assert model.n_parameters_ == 8 * 2 - 3 + 7
    given = MDSChoice(free=("sensitivity", "bias")).fit(N, POINTS)
    assert model.log_likelihood_ > given.log_likelihood_


def test_free_similarities_fit_better_than_any_map_and_are_not_better_than_the_data():
    N = simulated(POINTS, Shepard(1.0, 1.0, 1.0), BIAS, 300)
    luce, scaled = SimilarityChoice().fit(N), MDSChoice(order=1, dimensions=2).fit(N)
    assert luce.log_likelihood_ > scaled.log_likelihood_
    assert 0 < luce.deviance_ < scaled.deviance_
    np.testing.assert_allclose(luce.similarities_, luce.similarities_.T)
    # Where the likelihood is largest, each answer and each pair is predicted as often as it came.
    expected = N.sum(axis=1)[:, None] * luce.predict_proba()
    np.testing.assert_allclose(expected.sum(axis=0), N.sum(axis=0), rtol=1e-3)
    np.testing.assert_allclose(expected + expected.T, N + N.T, atol=0.2)


def test_pairs_that_are_never_confused_have_no_similarity():
    model = SimilarityChoice().fit([[9, 1, 0], [2, 8, 1], [0, 1, 9]])
    assert model.similarities_[0, 2] == 0.0
    assert np.isfinite(model.log_likelihood_)
    assert model.predict_proba()[0, 2] < 1e-12


@pytest.mark.parametrize(
    ("confusions", "options", "message"),
    [
        ([[1, 2]], {}, "row and a column"),
        ([[1.5, 1], [1, 1]], {}, "counts, found 1.5 for 0 and 0"),
        ([[3, 1], [0, 0]], {"labels": ["p", "q"]}, "row of q has no trials"),
        ([[3, 1], [1, 3]], {"labels": ["p"]}, "1 labels"),
        ([[3, 1], [1, 3]], {"coordinates": [[0.0]]}, "2 stimuli, found shape"),
        ([[3, 1], [1, 3]], {"coordinates": [[0.0], [np.inf]]}, "row 1"),
        ([[3, 1], [1, 3]], {}, "1 to 1 dimensions"),
    ],
)
def test_confusions_that_are_none_are_refused_by_name(confusions, options, message):
    with pytest.raises(DomainError, match=message):
        MDSChoice().fit(confusions, **options)


def test_parameters_that_are_none_are_refused():
    N, X = [[3, 1], [1, 3]], [[0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(DomainError, match="attention must be 2"):
        MDSChoice(attention=(0.5, 0.6)).fit(N, X)
    with pytest.raises(DomainError, match="did you mean 'bias'"):
        MDSChoice(free=("biass",)).fit(N, X)
    with pytest.raises(ValidityError, match="sensitivity"):
        MDSChoice(sensitivity=-1.0).fit(N, X)
    with pytest.raises(DomainError, match="give coordinates"):
        MDSChoice(dimensions=1).fit(N).intervals()


# ---- axioms -------------------------------------------------------------------------------------


def test_a_kernel_passes_all_checks():
    found = check_similarity(Shepard(1.0, 1.0, 1.0)(POINTS))
    assert found.metric and found.kernel and not found.witness
    assert str(found).count("holds") == 4


def test_an_asymmetric_pair_is_named_with_both_values():
    S = pd.DataFrame(
        [[1.0, 0.5, 0.2], [0.5, 1.0, 0.2], [0.3, 0.2, 1.0]], columns=["China", "Korea", "Peru"]
    )
    found = check_similarity(S)
    assert found.symmetry.items == ("China", "Peru")
    assert found.symmetry.worst == pytest.approx(0.1)
    assert found.symmetry.share == pytest.approx(1 / 3)
    assert "China and Peru, 0.2 one way and 0.3 the other" in str(found)
    assert not found.kernel and not found.metric


def test_minimality_names_what_is_more_similar_to_another():
    S = np.array([[0.6, 0.7, 0.1], [0.7, 0.9, 0.2], [0.1, 0.2, 0.9]])
    found = check_similarity(S, list("abc")).minimality
    assert (found.holds, found.items, found.worst) == (False, ("a", "b"), pytest.approx(0.1))
    unequal = check_similarity(np.diag([1.0, 0.5]), list("ab")).minimality
    assert unequal.holds is False and unequal.items == ("b", "a")


def test_the_worst_triple_is_found_and_the_share_counted():
    rng = np.random.default_rng(0)
    S = rng.uniform(0.05, 1.0, (7, 7))
    np.fill_diagonal(S, 1.0)
    d = -np.log(S)
    excess = {
        (i, j, k): d[i, k] - d[i, j] - d[j, k]
        for i in range(7) for j in range(7) for k in range(7) if len({i, j, k}) == 3
    }  # fmt: skip
    found = check_similarity(S).triangle
    assert found.items == max(excess, key=excess.get)
    assert found.worst == pytest.approx(max(excess.values()))
    assert found.share == pytest.approx(np.mean([value > 1e-9 for value in excess.values()]))


def test_distances_can_be_given_and_negative_similarities_have_none():
    S = np.array([[1.0, -0.5, 0.2], [-0.5, 1.0, 0.2], [0.2, 0.2, 1.0]])
    assert check_similarity(S, list("abc")).triangle.holds is None
    far = check_similarity(S, distances=[[0, 9, 1], [9, 0, 1], [1, 1, 0]]).triangle
    assert far.holds is False and set(far.items) == {0, 1, 2}


def test_never_confused_pairs_are_infinitely_far_and_break_triangles():
    S = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]])
    assert check_similarity(S, list("abc")).triangle.items == ("a", "b", "c")
    assert check_similarity(np.eye(3)).triangle.holds


def test_the_witness_has_a_negative_quadratic_form():
    S = np.eye(6) + 0.05
    S[:3, :3] = [[1.0, 0.9, 0.1], [0.9, 1.0, 0.9], [0.1, 0.9, 1.0]]
    found = check_similarity(S, list("abcdef"))
    assert set(found.witness) == {"a", "b", "c"}
    v = np.array([found.witness.get(label, 0.0) for label in "abcdef"])
    assert v @ S @ v < -0.01
    assert found.definiteness.holds is False
    assert found.eigenvalues[0] < 0


def test_what_is_no_similarity_matrix_is_refused():
    with pytest.raises(DomainError, match="not a finite number for p and q"):
        check_similarity([[1.0, np.nan], [0.5, 1.0]], labels=["p", "q"])
    with pytest.raises(DomainError, match="two items have the label 'p'"):
        check_similarity(np.eye(2), labels=["p", "p"])
    with pytest.raises(DomainError, match="row 'y' where the column is 'x'"):
        check_similarity(pd.DataFrame(np.eye(2), columns=["x", "y"], index=["y", "x"]))
