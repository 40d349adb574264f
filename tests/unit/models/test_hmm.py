"""Hidden Markov models: learning, drawing, bad input. The oracles are in tests/oracles."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import ConvergenceWarning, DomainError, ValidityError
from mercer.models import HiddenMarkovModel
from mercer.models.em import Ascent

COINS = HiddenMarkovModel(
    2,
    start=[0.8, 0.2],
    transition=[[0.9, 0.1], [0.2, 0.8]],
    emission=[[0.7, 0.2, 0.1], [0.05, 0.15, 0.8]],
    alphabet="abc",
)
LEVELS = HiddenMarkovModel(
    2,
    "gaussian",
    start=[0.5, 0.5],
    transition=[[0.95, 0.05], [0.1, 0.9]],
    means=[[0.0, 1.0], [3.0, -1.0]],
    covariances=[[1.0, 0.25], [0.5, 1.0]],
)
TILTED = HiddenMarkovModel(
    2,
    "gaussian",
    start=[0.5, 0.5],
    transition=[[0.95, 0.05], [0.1, 0.9]],
    means=[[0.0, 1.0], [3.0, -1.0]],
    covariances=[[[1.0, 0.5], [0.5, 1.0]], [[1.0, -0.8], [-0.8, 1.0]]],
    covariance="full",
)


def with_gaps(items, share=0.2, seed=1):
    rng = np.random.default_rng(seed)
    if isinstance(items[0], str):
        return ["".join("?" if rng.random() < share else c for c in item) for item in items]
    return [np.where(rng.random((len(item), 1)) < share, np.nan, item) for item in items]


# ---- learning ----------------------------------------------------------------------------------

LEARNERS = [
    (HiddenMarkovModel(2, iterations=40), COINS),
    (HiddenMarkovModel(3, smoothing=0.5, alphabet="abcd", iterations=40), COINS),
    (HiddenMarkovModel(3, "gaussian", iterations=40), LEVELS),
    (HiddenMarkovModel(2, "gaussian", covariance="full", iterations=40), TILTED),
    (HiddenMarkovModel(4, "gaussian", covariance="full", floor=0.3, iterations=40), TILTED),
]


@pytest.mark.parametrize(("learner", "truth"), LEARNERS)
@pytest.mark.parametrize("gaps", [False, True])
def test_no_step_of_baum_and_welch_loses_likelihood(learner, truth, gaps):
    items = truth.sample(12, seed=4, length=[0, 1, 2, *range(5, 50, 5)])
    items = with_gaps(items) if gaps else items
    ascent = learner.ascend(items, weights=np.arange(12.0), seed=2)
    gains = np.diff(ascent.history)
    assert len(gains) >= 3 and gains[0] > 0
    assert (gains >= -1e-9 * np.abs(ascent.history[-1])).all()


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("truth", [COINS, LEVELS, TILTED], ids=["coins", "levels", "tilted"])
def test_planted_parameters_are_found_again(truth, gaps):
    items = truth.sample(60, seed=0, length=100)
    items = with_gaps(items) if gaps else items
    learner = HiddenMarkovModel(2, truth.emissions, covariance=truth.covariance, starts=3)
    found = learner.fit(items, seed=0)
    assert found.log_density(items).sum() >= truth.log_density(items).sum()
    # States have no names, so that either may be the first.
    orders = [[0, 1], [1, 0]]
    fields = ["start", "transition", *(["emission"] if truth is COINS else ["means"])]
    for order in orders:
        ours = found.set_params(
            start=found.start[order], transition=found.transition[np.ix_(order, order)]
        )
        emitted = "emission" if truth is COINS else "means"
        ours = {
            "start": ours.start,
            "transition": ours.transition,
            emitted: getattr(found, emitted)[order],
        }
        if all(np.abs(ours[f] - getattr(truth, f)).max() < 0.15 for f in fields):
            break
    else:
        pytest.fail(f"{found!r} is not the planted model")
    if truth is not COINS:
        np.testing.assert_allclose(found.covariances[order], truth.covariances, atol=0.15)


def test_zeros_stay_zeros_when_a_model_is_refined():
    left_to_right = COINS.set_params(start=[1.0, 0.0], transition=[[0.5, 0.5], [0.0, 1.0]])
    found = left_to_right.refine(COINS.sample(20, seed=1, length=30))
    assert found.start[1] == 0 and found.transition[1, 0] == 0
    assert found != left_to_right


def test_fitting_forgets_what_was_learned_before():
    items = COINS.sample(20, seed=1, length=30)
    fresh = HiddenMarkovModel(2, alphabet="abc")
    assert COINS.fit(items, seed=5) == fresh.fit(items, seed=5)
    assert fresh.fit(items, seed=5) != fresh.fit(items, seed=6)


def test_the_best_of_several_starts_is_taken():
    items = COINS.sample(10, seed=3, length=20)
    three = HiddenMarkovModel(3, starts=3, iterations=30)
    rng = np.random.default_rng(0)
    points = three.domain.admit(items)
    ends = [
        three.begin(points, np.ones(10), rng).ascend(items, resume=True).history[-1]
        for _ in range(3)
    ]
    assert len(set(ends)) == 3
    assert three.ascend(items, seed=0).history[-1] == max(ends)


def test_fitting_that_stops_early_says_so():
    items = COINS.sample(10, seed=3, length=20)
    short = HiddenMarkovModel(2, iterations=3, tolerance=1e-9)
    with pytest.warns(ConvergenceWarning, match="stopped after 3 steps, the last of which gained"):
        short.fit(items)
    with pytest.warns(ConvergenceWarning, match="HiddenMarkovModel stopped after 1 steps"):
        COINS.set_params(iterations=1).refine(items)
    found = short.ascend(items)  # tells it in another way
    assert isinstance(found, Ascent) and not found.converged and len(found.history) == 3
    assert HiddenMarkovModel(2, tolerance=0.1).ascend(items).converged


def test_variances_do_not_fall_below_the_floor():
    items = [[1.0, 1.0, 1.0, 5.0], [1.0, 1.0, 9.0]]
    found = HiddenMarkovModel(2, "gaussian", floor=0.01, iterations=500).fit(items)
    assert found.covariances.min() >= 0.01 * np.var([1, 1, 1, 5, 1, 1, 9]) - 1e-12


# ---- threads, lengths, gaps --------------------------------------------------------------------


def test_threads_change_no_digit(use_cores):
    items = LEVELS.sample(50, seed=1, length=2000)
    many = LEVELS.log_density(items), LEVELS.score(items)
    use_cores(1)
    np.testing.assert_array_equal(LEVELS.log_density(items), many[0])
    np.testing.assert_array_equal(LEVELS.score(items), many[1])


@pytest.mark.parametrize("model", [COINS, LEVELS, TILTED], ids=["coins", "levels", "tilted"])
def test_a_sequence_without_steps_has_probability_one(model):
    empty = "" if model is COINS else np.empty((0, 2))
    some = model.sample(1, length=3)[0]
    np.testing.assert_array_equal(model.log_density([empty, some])[:1], [0.0])
    np.testing.assert_array_equal(model.score([empty, some])[0], 0.0)
    np.testing.assert_array_equal(model.score([empty]), [model.score([empty, some])[0]])
    assert [len(path) for path in model.viterbi([empty, some, empty])] == [0, 3, 0]


@pytest.mark.slow
@given(st.lists(st.text("abc?", max_size=6), min_size=1, max_size=5))
def test_what_is_missing_at_the_end_changes_nothing(items):
    longer = [item + "??" for item in items]
    np.testing.assert_allclose(COINS.log_density(longer), COINS.log_density(items), atol=1e-12)


def test_missing_symbols_come_in_several_forms():
    expected = COINS.log_density(["a?c"])
    for item in (["a", None, "c"], ["a", float("nan"), "c"], ("a", "?", "c")):
        np.testing.assert_array_equal(COINS.log_density([item]), expected)
    other = COINS.set_params(missing="N")
    np.testing.assert_array_equal(other.log_density(["aNc"]), expected)
    masked = np.ma.array([0, 1, 2], mask=[False, True, False])
    numbers = COINS.set_params(alphabet=(0, 1, 2))
    np.testing.assert_array_equal(numbers.log_density([masked]), expected)
    np.testing.assert_array_equal(
        numbers.log_density(np.array([[0, 1, 2]])), COINS.log_density(["abc"])
    )


def test_a_whole_table_of_sequences_is_read_by_rows():
    numbers = COINS.set_params(alphabet=(0, 1, 2))
    X = np.array([[0, 1, 2], [2, 2, 2]])
    np.testing.assert_array_equal(numbers.log_density(X), COINS.log_density(["abc", "ccc"]))


# ---- drawing -----------------------------------------------------------------------------------


def test_drawn_sequences_and_paths_follow_the_model():
    items, paths = COINS.simulate(np.full(4000, 5), seed=0)
    assert items[0] == COINS.sample(4000, seed=0, length=5)[0]
    P = np.array(paths)
    first = np.bincount(P[:, 0], minlength=2) / len(P)
    np.testing.assert_allclose(first, COINS.start, atol=0.03)
    for a, b in itertools.product(range(2), repeat=2):
        here = P[:, :-1] == a
        np.testing.assert_allclose((P[:, 1:][here] == b).mean(), COINS.transition[a, b], atol=0.03)
    letters = np.array([list(item) for item in items])
    for k, p in enumerate(COINS.emission):
        found = [(letters[P == k] == c).mean() for c in "abc"]
        np.testing.assert_allclose(found, p, atol=0.03)


def test_drawn_measurements_follow_the_model():
    items, paths = TILTED.simulate(np.full(2000, 5), seed=0)
    X, z = np.concatenate(items), np.concatenate(paths)
    for k in range(2):
        np.testing.assert_allclose(X[z == k].mean(axis=0), TILTED.means[k], atol=0.07)
        np.testing.assert_allclose(np.cov(X[z == k].T), TILTED.covariances[k], atol=0.07)


def test_lengths_are_those_asked_for():
    assert [len(item) for item in COINS.sample(3, length=[0, 4, 2])] == [0, 4, 2]
    assert COINS.sample(0) == []
    numbers = COINS.set_params(alphabet=(10, 20, 30)).sample(1, length=4)[0]
    assert isinstance(numbers, list) and set(numbers) <= {10, 20, 30}
    for wrong in ([3, -1], [1.5, 2.0], [3], "ab", [[1, 2]]):
        with pytest.raises(ValidityError, match="length must be one whole number from 0 on"):
            COINS.sample(2, length=wrong)


# ---- bad input ---------------------------------------------------------------------------------


def test_a_symbol_that_was_never_seen_is_named():
    found = HiddenMarkovModel(1).fit(["aab", "b"])
    with pytest.raises(DomainError, match=r"item 1 of X has 'z' at step 2, .* never seen"):
        found.log_density(["ab", "abz"])
    smooth = HiddenMarkovModel(1, alphabet="abz", smoothing=1.0).fit(["aab", "b"])
    np.testing.assert_allclose(smooth.emission, [[3 / 7, 3 / 7, 1 / 7]])
    assert np.isfinite(smooth.log_density(["abz"])).all()
    rough = smooth.set_params(smoothing=0.0).fit(["aab", "b"])
    assert rough.log_density(["abz"])[0] == -np.inf


def test_what_is_too_far_away_for_a_number_is_impossible():
    far = np.array([[0.0, 1e200], [0.0, 1.0]])
    for model in (LEVELS, TILTED):
        np.testing.assert_array_equal(model.log_density([far]), -np.inf)
        with pytest.raises(DomainError, match="item 1 of X is impossible"):
            model.posterior([far[1:], far])


def test_impossible_sequences_have_no_hidden_states():
    certain = COINS.set_params(emission=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert certain.log_density(["ab", "c"])[1] == -np.inf
    for use in (certain.viterbi, certain.posterior, certain.refine):
        with pytest.raises(DomainError, match="item 1 of X is impossible"):
            use(["ab", "c"])
    found = certain.ascend(["ab", "c"], weights=[1.0, 0.0], resume=True)
    assert np.isfinite(found.history[-1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": [0.5, 0.6]}, "start of HiddenMarkovModel must sum to one, found 1.1"),
        ({"start": [1.5, -0.5]}, r"must be probabilities, found -0.5 at \(1,\)"),
        ({"start": [0.5, 0.25, 0.25]}, "must have the shape 2, found 3"),
        ({"start": None}, "has transition, but no start"),
        ({"transition": [[0.5, 0.5], [0.5, np.nan]]}, r"must be finite, found nan at \(1, 1\)"),
        ({"transition": [[0.5, 0.5], [0.5, 0.4]]}, r"row \[1\] of transition .* found 0.9"),
        ({"transition": "abc"}, "transition of HiddenMarkovModel must be numbers"),
        ({"emission": [[0.5, 0.5], [0.5, 0.5]]}, "3 symbols in its alphabet, but emission has 2"),
        ({"alphabet": "aab"}, "has a symbol twice"),
        ({"alphabet": "ab?"}, "stands for what is missing"),
        ({"alphabet": 3}, "must be a sequence of symbols"),
        ({"means": [[0.0], [1.0]]}, "discrete emissions have no means"),
        ({"states": 0}, "whole number from 1 on"),
        ({"emissions": "poisson"}, "cannot be 'poisson'; known are 'discrete', 'gaussian'"),
        ({"smoothing": -1.0}, "not negative"),
        ({"iterations": 0}, "whole number from 1 on"),
    ],
)
def test_bad_parameters_are_named(changes, message):
    with pytest.raises(ValidityError, match=message):
        COINS.set_params(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"covariances": [[1.0, 0.0], [1.0, 1.0]]}, "must be positive variances"),
        ({"covariances": [[1.0], [1.0]]}, "must have the shape 2 × 2, found 2 × 1"),
        ({"covariances": None}, "has start, but no covariances"),
        ({"covariance": "full"}, "must have the shape 2 × 2 × 2, found 2 × 2"),
        ({"emission": [[1.0], [1.0]]}, "gaussian emissions have no emission"),
    ],
)
def test_bad_normal_emissions_are_named(changes, message):
    with pytest.raises(ValidityError, match=message):
        LEVELS.set_params(**changes)
    with pytest.raises(ValidityError, match="covariance 1 of HiddenMarkovModel must be positive"):
        TILTED.set_params(covariances=[np.eye(2), -np.eye(2)])


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (COINS, ["ab", 3], "item 1 of X is of type int, not a string or a sequence"),
        (COINS, [["a", ["b"]]], "item 0 of X has at step 1 a list, which cannot be a symbol"),
        (COINS, "abc", "must be a sequence of things"),
        (COINS, [], "0 sample"),
        (LEVELS, [[1.0, 2.0]], "has 1 numbers at each step, but HiddenMarkovModel is about 2"),
        (LEVELS, ["abc"], "item 0 of X is 'abc', not a series of numbers"),
        (LEVELS, [[[1.0, np.inf]]], "item 0 of X contains infinity at step 0"),
        (LEVELS, [np.zeros((2, 2)), np.zeros((2, 3))], "item 1 of X has 3 numbers at each step"),
        (TILTED, [[[1.0, 2.0], [1.0, np.nan]]], "item 0 of X lacks some .* of step 1"),
    ],
)
def test_bad_items_are_named(model, X, message):
    with pytest.raises(DomainError, match=message):
        model.log_density(X)


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (HiddenMarkovModel(2), ["", "??"], "no symbols"),
        (HiddenMarkovModel(3, "gaussian"), [[1.0, 1.0, 2.0]], "fewer different measurements"),
        (
            HiddenMarkovModel(2, "gaussian", covariance="full"),
            [[[1.0, np.nan], [1.0, 2.0]] * 3 + [[2.0, 2.0]]],
            "lacks some",
        ),
    ],
)
def test_items_that_nothing_can_be_learned_from_are_refused(model, X, message):
    with pytest.raises(DomainError, match=message):
        model.fit(X)
