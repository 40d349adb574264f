"""Bishop (6.27): the number of common subsets is an inner product of indicators of subsets."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import ValidityError
from mercer.kernels import SubsetCount, normalize

UNIVERSE = range(6)
SUBSETS = [
    frozenset(chosen)
    for chosen in chain.from_iterable(combinations(UNIVERSE, size) for size in range(7))
]
some_sets = st.lists(st.sets(st.sampled_from(UNIVERSE)), min_size=1, max_size=8)


def indicators(sets):
    """φ_U(A) = 1 if U ⊆ A and 0 otherwise, for all subsets U of the universe (exercise 6.12)."""
    return np.array([[float(U <= A) for U in SUBSETS] for A in sets])


@given(some_sets)
def test_the_number_of_common_subsets_is_an_inner_product(sets):
    Phi = indicators(sets)
    np.testing.assert_array_equal(SubsetCount()(sets), Phi @ Phi.T)
    np.testing.assert_array_equal(SubsetCount().diagonal(sets), np.sum(Phi**2, axis=1))


@given(some_sets)
def test_the_features_are_these_indicators_in_some_order(sets):
    # Only subsets of what the sets contain can be columns; the others are nobody's.
    universe = frozenset().union(*sets)
    wanted = [i for i, U in enumerate(SUBSETS) if universe >= U]
    found = SubsetCount().features(sets)
    assert found.shape == (len(sets), len(wanted))
    assert sorted(map(tuple, found.T)) == sorted(map(tuple, indicators(sets)[:, wanted].T))


def test_many_elements_have_too_many_subsets_to_list():
    sets = [set(range(13)), {1, 2}]
    assert SubsetCount()(sets)[0].tolist() == [2.0**13, 4.0]
    with pytest.raises(ValidityError, match="no finite feature map"):
        SubsetCount().features(sets)


def test_thousands_of_common_elements():
    large = [set(range(5000)), set(range(10, 5000)), set(range(3000, 9000)), set(), {1}]
    K = normalize(SubsetCount())(large)
    powers = [[len(a & b) - (len(a) + len(b)) / 2 for b in large] for a in large]
    np.testing.assert_allclose(K, np.exp2(powers), rtol=1e-10)
    np.testing.assert_array_equal(np.diag(K), 1.0)
    np.testing.assert_array_equal(normalize(SubsetCount()).diagonal(large), 1.0)


def test_a_number_too_large_is_refused_with_advice():
    limit = [set(range(1023)), set(range(1024))]
    assert SubsetCount()(limit[:1])[0, 0] == 2.0**1023
    for ask in (SubsetCount(), SubsetCount().diagonal):
        with pytest.raises(ValidityError, match="normalize"):
            ask(limit)
    with pytest.raises(ValidityError, match="normalize"):
        SubsetCount().pair(limit[1], limit[1])
