"""Markov chains of symbols."""

import numpy as np
import pytest

from mercer.errors import DomainError, ValidityError
from mercer.models import MarkovChain


def test_fitting_counts_transitions():
    chain = MarkovChain(2).fit(["abab", "aa", ""])
    # Contexts: none; a, b; aa, ab, ba, bb.
    expected = [[1, 0], [1 / 2, 1 / 2], [0.5, 0.5], [0.5, 0.5], [1, 0], [0, 1], [0.5, 0.5]]
    np.testing.assert_allclose(chain.probabilities, expected)
    smooth = MarkovChain(1, smoothing=1.0).fit(["abab"])
    np.testing.assert_allclose(
        smooth.probabilities, [[2 / 3, 1 / 3], [1 / 4, 3 / 4], [2 / 3, 1 / 3]]
    )


def test_planted_transitions_are_found_again():
    truth = MarkovChain(2, np.random.default_rng(0).dirichlet(np.ones(3), size=13), "xyz")
    found = MarkovChain(2).fit(truth.sample(200, seed=0, length=200))
    np.testing.assert_allclose(found.probabilities[4:], truth.probabilities[4:], atol=0.05)


def test_drawn_sequences_have_the_lengths_and_symbols_asked_for():
    words = MarkovChain(1, [[0.5, 0.5]] * 3, ("up", "down"))
    drawn = words.sample(3, length=[0, 1, 4])
    assert [len(item) for item in drawn] == [0, 1, 4]
    assert {symbol for item in drawn for symbol in item} <= {"up", "down"}
    assert isinstance(MarkovChain(0, [[1.0]], "a").sample(1, length=3)[0], str)


def test_parameters_are_named_by_context_and_symbol():
    chain = MarkovChain(1, [[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]], "ab")
    assert chain.parameter_names == ["transition['', 'a']", "transition['a', 'a']"]
    numbers = MarkovChain(1, [[0.5, 0.5], [0.2, 0.8], [0.3, 0.7]])
    assert numbers.parameter_names[1:] == ["transition[[0], 0]", "transition[[1], 0]"]


def test_symbols_that_were_never_seen_are_named():
    chain = MarkovChain().fit(["ab"])
    with pytest.raises(DomainError, match="item 1 of X has 'c' at step 1"):
        chain.log_density(["ab", "ac"])
    assert chain.log_density(["aa"])[0] == -np.inf
    smooth = MarkovChain(alphabet="abc", smoothing=0.1).fit(["ab"])
    assert np.isfinite(smooth.log_density(["aacb"])).all()
    with pytest.raises(DomainError, match="no symbols at all"):
        MarkovChain().fit(["", ""])
    with pytest.raises(DomainError, match="item 0 of X has no symbol at step 1"):
        chain.log_density([["a", None]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1,), "order .* whole number"),
        ((1.5,), "order .* whole number"),
        ((10**6, [[0.5, 0.5]]), "order .* at most 50, found 1000000"),
        ((1, [[0.5, 0.5], [0.5, 0.5]], "ab"), "shape 3 × 2 for 2 symbols and order 1, found 2"),
        ((0, [[0.5, 0.6]]), "must sum to one"),
        ((0, [[0.5, 0.5]], "abc"), "shape 1 × 3"),
        ((1, None, "aa"), "symbol twice"),
        ((1, None, "ab", -1.0), "smoothing"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ValidityError, match=message):
        MarkovChain(*arguments)
