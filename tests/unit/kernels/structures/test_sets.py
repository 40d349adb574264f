"""Kernels on sets and bags: odd sets, odd bags, and what cannot be one."""

import numpy as np
import pandas as pd
import pytest

from mercer.engine import tiles
from mercer.errors import DomainError, ValidityError
from mercer.kernels import (
    Gaussian,
    Jaccard,
    Linear,
    SetKernel,
    Sigmoid,
    Spectrum,
    SubsetCount,
    from_function,
)
from mercer.testing.law import patched


def test_elements_are_equal_if_python_says_so():
    assert SubsetCount()([{1, "1"}], [{1.0, 2}, {True}]).tolist() == [[2.0, 2.0]]


def test_empty_sets_are_equal_and_like_nothing_else():
    assert Jaccard()([set(), {1}]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert Jaccard().pair(set(), set()) == 1.0


def test_elements_never_seen_before_count_in_the_union():
    assert Jaccard()([{1, 99}], [{1, 2}]).tolist() == [[1 / 3]]


def test_features_leave_out_elements_of_new_sets():
    k = SubsetCount()
    transform = k.feature_map([{1, 2}])
    assert (transform([{1, 7}]) @ transform([{1, 2}]).T).tolist() == [[2.0]]


def test_an_item_that_is_not_a_set_is_named():
    with pytest.raises(DomainError, match="item 1 of X"):
        Jaccard()([{1}, [1]])


# ---- bags --------------------------------------------------------------------------------------


def test_an_empty_bag_is_zero_to_all():
    for average in (True, False):
        K = SetKernel(Linear(), average)([[[1.0]], [], [[2.0]]])
        assert K.tolist() == [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [2.0, 0.0, 4.0]]
    assert SetKernel(Linear())([[], []]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert SetKernel(Linear()).diagonal([[], []]).tolist() == [0.0, 0.0]


@pytest.mark.slow
def test_large_bags_are_compared_in_pieces():
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(n, 3)) for n in (50, 1, 0, 23, 7)]
    k = SetKernel(Gaussian(1.0))
    whole = k(bags)
    for size in (1, 4, 13):
        with patched(tiles, TILE=size):
            np.testing.assert_allclose(k(bags), whole, rtol=1e-12)
            np.testing.assert_allclose(k(bags[:2], bags), whole[:2], rtol=1e-12)
            np.testing.assert_allclose(k.diagonal(bags), np.diag(whole), rtol=1e-12)


def test_no_more_than_a_tile_of_similarities_is_held_at_once():
    seen = []

    def count(a, b):
        return 1.0

    class Watched(type(from_function(count))):
        def evaluate(self, block):
            seen.append(block.shape)
            return super().evaluate(block)

    with patched(tiles, TILE=5):
        K = SetKernel(Watched(count), average=False)([range(12), range(3)])
    assert K.tolist() == [[144.0, 36.0], [36.0, 9.0]]
    assert max(max(shape) for shape in seen) <= 5


def test_rows_of_tables_are_elements():
    bags = [
        pd.DataFrame({"x": [1.0, 2.0], "y": [0.0, 1.0]}),
        pd.DataFrame({"x": [3.0], "y": [4.0]}),
    ]
    k = SetKernel(Linear().on("x"))
    np.testing.assert_allclose(k(bags), [[2.25, 4.5], [4.5, 9.0]])
    assert k.pair(*bags) == 4.5


def test_heuristics_look_at_all_elements():
    k = SetKernel(Gaussian("median"))
    bags = [[[0.0], [1.0]], [], [[3.0]]]
    assert k.resolve(bags) == SetKernel(Gaussian(2.0))
    # A weight counts for every element of its bag.
    assert k.resolve(bags, np.array([1.0, 5.0, 0.0])) == SetKernel(Gaussian(1.0))
    with pytest.raises(ValidityError, match="all bags are empty"):
        k.resolve([[], []])


def test_a_bag_of_one_shows_what_is_wrong_with_the_base():
    proof = SetKernel(Sigmoid(1.0, -1.0)).proof()
    assert proof.verdict == "refuted" and len(proof.witness.points[0]) == 1
    assert SetKernel(from_function(min)).proof().verdict == "unknown"


@pytest.mark.parametrize("arguments", [(None,), ("linear",), (Linear(), 1), (Linear(), None)])
def test_what_is_not_a_kernel_over_elements(arguments):
    with pytest.raises(ValidityError):
        SetKernel(*arguments)


def test_a_bad_element_is_named():
    with pytest.raises(DomainError, match="in item 1 of X: item 0 of the bag"):
        SetKernel(Spectrum(2))([["a"], [3]])


def test_elements_of_different_widths_are_not_compared():
    with pytest.raises(DomainError, match="1 and 2 columns"):
        SetKernel(Gaussian(1.0))([[[1.0], [2.0]]], [[[1.0, 2.0]]])
