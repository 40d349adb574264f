"""Substrings at a place and subsequences with gaps: parameters, numbers, explicit features."""

import numpy as np
import pytest

from mercer.errors import ValidityError
from mercer.kernels import Subsequence, WeightedDegree, normalize


@pytest.mark.parametrize(
    "parameters", [{"degree": 0}, {"degree": 1.5}, {"shift": -1}, {"shift": "a"}]
)
def test_degrees_and_shifts_that_make_no_sense(parameters):
    with pytest.raises(ValidityError):
        WeightedDegree(**parameters)


@pytest.mark.parametrize(
    "parameters", [{"length": 0}, {"decay": 0.0}, {"decay": -1}, {"decay": "x"}]
)
def test_lengths_and_decays_that_make_no_sense(parameters):
    with pytest.raises(ValidityError):
        Subsequence(**parameters)


def test_places_are_counted_from_the_beginning():
    assert WeightedDegree(1)(["abcd"], ["abcx", "xabc", "ab", ""]).tolist() == [[3, 0, 2, 0]]
    assert WeightedDegree(1, shift=1)(["abcd"], ["xabc", "bcd"]).tolist() == [[0.75, 0.75]]


def test_features_do_not_depend_on_the_longest_string():
    k = WeightedDegree(2, shift=3)
    short, long = ["abca", "cab"], ["abcabcabcabc", ""]
    transform = k.feature_map(short)
    found = transform(long) @ transform(short).T
    np.testing.assert_allclose(found.toarray(), k(long, short), atol=1e-12)


def test_a_degree_far_beyond_the_strings():
    k = WeightedDegree(10**6)
    expected = (2 * 2 * 10**6 + 2 * (10**6 - 1)) / (10**6 * (10**6 + 1))
    assert k(["ab"])[0, 0] == pytest.approx(expected, rel=1e-14)


def test_a_number_too_large_is_refused():
    strings = ["ab" * 300]
    k = Subsequence(9, 1e10)
    with pytest.raises(ValidityError, match="normalize"):
        k(strings)
    with pytest.raises(ValidityError, match="normalize"):
        k.diagonal(strings)


def test_long_strings_with_little_in_common():
    # Letters thousands of places apart: powers of λ become zero, and nothing else happens.
    strings = ["a" + "x" * 3000 + "b", "a" + "y" * 2500 + "b", "b" * 40]
    K = normalize(Subsequence(2, 0.1))(strings)
    assert np.isfinite(K).all() and (K >= 0).all() and K[0, 1] > 0
    np.testing.assert_allclose(np.diag(K), 1.0)
    assert K[0, 2] > 0


def test_the_order_of_strings_makes_no_difference():
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("ab"), n)) for n in rng.integers(0, 30, 40)]
    order = rng.permutation(40)
    shuffled = [strings[i] for i in order]
    for k in (Subsequence(3, 0.5), WeightedDegree(4, shift=2)):
        np.testing.assert_allclose(k(shuffled), k(strings)[np.ix_(order, order)], rtol=1e-13)
