"""Words with wrong letters: neighbors, gaps and alphabets."""

from itertools import product
from math import comb

import numpy as np
import pytest

from mercer.domains import STRINGS
from mercer.errors import PlanError, ValidityError
from mercer.kernels import Mismatch, Spectrum
from mercer.kernels.strings.neighborhoods import (
    gapped_count,
    kmers_of,
    level_weights,
    neighbor_count,
    neighbors,
)
from mercer.kernels.strings.spectrum import numbered, places, ranks, substrings


@pytest.mark.parametrize("letters", [1, 2, 4, 20])
@pytest.mark.parametrize(("length", "wrong"), [(1, 0), (3, 1), (4, 2), (5, 4)])
def test_words_near_two_words_are_counted_by_the_letters_they_share(length, wrong, letters):
    def near_both(shared):
        """Count by the number of other letters at places where two words agree and differ."""
        weights = []
        for kinds in product("ab?", repeat=length):
            ways, left, right = 1, 0, 0
            for place, kind in enumerate(kinds):
                if place < shared:
                    ways *= {"a": 1, "b": 0, "?": letters - 1}[kind]
                    left, right = left + (kind == "?"), right + (kind == "?")
                else:
                    ways *= {"a": 1, "b": 1, "?": letters - 2}[kind]
                    left, right = left + (kind != "a"), right + (kind != "b")
            weights.append(ways if left <= wrong and right <= wrong else 0)
        return sum(weights)

    weights = level_weights(length, wrong, letters)
    for shared in range(length + 1):
        if letters == 1 and shared < length:
            continue  # two words over one letter are equal
        by_gaps = sum(weight * comb(shared, kept) for kept, weight in weights.items())
        assert by_gaps == near_both(shared)


def test_counts_of_neighbors_and_of_gaps():
    points = STRINGS.admit(["abcab"])
    words = kmers_of(points, 3, tuple("abcd"))
    for wrong in range(3):
        found = neighbors(words, wrong)
        assert found.near.shape == (3, neighbor_count(3, wrong, 4))
        assert all(len(set(row)) == len(row) for row in found.near.tolist())
    assert len(neighbors(words, 2).names) == len(set(neighbors(words, 2).names))
    assert gapped_count(3, 1) == 7 and gapped_count(2, 1) == 4


def test_a_letter_outside_the_alphabet_makes_no_word():
    k = Mismatch(2, 1, "AC")
    both = k(["AC", "CA"], ["AC"]).sum()
    assert k(["ACNCA"], ["AC"])[0, 0] == both
    assert k.diagonal(["NNN", "", "A"]).tolist() == [0.0, 0.0, 0.0]


def test_the_alphabet_is_learned_from_the_training_strings():
    k = Mismatch(3, 1)
    assert k.resolve(["cab", "", "bé"]).alphabet == ("a", "b", "c", "é")
    assert k.resolve(["cab", "xyz"], np.array([1.0, 0.0])).alphabet == ("a", "b", "c")
    assert k.resolve(["", ""]).alphabet == ()
    with pytest.raises(ValidityError, match="resolve"):
        k(["cab"])


def test_an_alphabet_has_each_letter_once_in_order():
    assert Mismatch(3, 1, "TGCA") == Mismatch(3, 1, ["A", "C", "G", "T", "T"])
    assert repr(Mismatch(3, 1, "ba")) == "Mismatch(length=3, mismatches=1, alphabet=('a', 'b'))"


@pytest.mark.parametrize(
    "parameters",
    [
        {"length": 0},
        {"length": 2.5},
        {"mismatches": -1},
        {"mismatches": 5},
        {"length": 2, "mismatches": 2},
        {"alphabet": 4},
        {"alphabet": ["ab"]},
        {"alphabet": [1, 2]},
        {"alphabet": None},
    ],
)
def test_parameters_that_make_no_sense(parameters):
    with pytest.raises(ValidityError):
        Mismatch(**parameters)


def test_the_way_through_gaps_is_taken_where_neighbors_are_many():
    assert Mismatch(5, 1, "ACGT").listed
    assert Mismatch(8, 1, "ACGT").listed
    assert not Mismatch(5, 2, "abcdefghijklmnopqrst").listed
    with pytest.raises(ValidityError, match="no finite feature map"):
        Mismatch(5, 2, "abcdefghijklmnopqrst").features(["abc"])


def test_neighbors_that_do_not_fit_are_refused(free_memory):
    free_memory(0)
    with pytest.raises(PlanError, match=r"the 16 neighbors of each of 1 words .*; allow fewer"):
        Mismatch(5, 1, "ACGT").features(["ACGTA"])


# ---- numbers of substrings ---------------------------------------------------------------------


def test_substrings_are_numbered_in_alphabetical_order():
    found = substrings(STRINGS.admit(["banana", "", "ab"]), 2)
    assert found.words == ["ab", "an", "ba", "na"]
    assert [found.words[w] for w in found.word] == ["ba", "an", "na", "an", "na", "ab"]
    assert found.item.tolist() == [0] * 5 + [2] and found.position.tolist() == [0, 1, 2, 3, 4, 0]


def test_short_strings_have_no_place_for_a_long_substring():
    item, position = places(STRINGS.admit(["ab", "", "abcd", "abc"]), 3)
    assert item.tolist() == [2, 2, 3] and position.tolist() == [0, 1, 0]


def test_numbers_that_would_be_too_large_are_ranked_on_the_way():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 1000, (50, 30))
    rows[7] = rows[3]
    word, first = numbered(rows.T, 1000)
    order = {tuple(row): i for i, row in enumerate(sorted({tuple(row) for row in rows}))}
    assert word.tolist() == [order[tuple(row)] for row in rows]
    assert [tuple(rows[f]) for f in first] == list(order)


@pytest.mark.parametrize("values", [[], [0], [5, 5, 2], [10**12, 3, 10**12]])
def test_ranks(values):
    found, count = ranks(np.array(values, dtype=np.int64))
    different = sorted(set(values))
    assert found.tolist() == [different.index(v) for v in values] and count == len(different)


def test_a_length_must_be_a_length():
    for bad in (0, -1, 1.5, "three", None, True):
        with pytest.raises(ValidityError, match="length of Spectrum"):
            Spectrum(bad)
