"""Scales take the unit away, whatever the tails; several share the weight of one."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from mercer.machines.encoding.scales import SCALES, is_even, learn_scale, learn_scales

rng = np.random.default_rng(1)
HEAVY = np.exp(2 * rng.normal(size=400))
GAPPY = np.where(rng.random(400) < 0.2, np.nan, HEAVY)


def test_standard_has_mean_zero_and_spread_one():
    z = learn_scale(HEAVY, "standard")(HEAVY)
    np.testing.assert_allclose([z.mean(), z.std()], [0, 1], atol=1e-12)


def test_robust_is_median_and_quartiles_with_bent_tails():
    low, center, high = np.quantile(HEAVY, [0.25, 0.5, 0.75])
    spread = (high - low) / (norm.ppf(0.75) - norm.ppf(0.25))
    z = (HEAVY - center) / spread
    found = learn_scale(HEAVY, "robust")(HEAVY)
    np.testing.assert_allclose(found, z / np.sqrt(1 + (z / 4) ** 2), rtol=1e-9)
    assert np.abs(z).max() > 10 and np.abs(found).max() < 4


@pytest.mark.parametrize(
    ("values", "spread"),
    [
        ([0.0] * 8 + [4.0] * 2, 4.0 / (2 * norm.ppf(0.9))),  # the quartiles are equal
        ([0.0] * 50 + [5.0], 2.5),  # the deciles are, too
    ],
)
def test_robust_takes_a_wider_range_where_the_quartiles_are_equal(values, spread):
    assert learn_scale(np.array(values), "robust").spread == pytest.approx(spread)


def test_quantiles_are_normal_scores_of_the_middle_ranks():
    values = np.array([3.0, 1.0, 1.0, 7.0, 1e9])
    expected = norm.ppf((rankdata(values) - 0.5) / len(values))
    np.testing.assert_allclose(learn_scale(values, "quantile")(values), expected, atol=1e-12)


def test_quantiles_of_many_entries_are_interpolated():
    values = rng.normal(size=20_000) ** 3
    scale = learn_scale(values, "quantile")
    assert len(scale.knots) == 1000
    expected = norm.ppf((rankdata(values) - 0.5) / len(values))
    inside = np.abs(expected) < 2
    np.testing.assert_allclose(scale(values)[inside], expected[inside], atol=0.01)
    new = scale(np.array([-1e9, 1e9]))
    assert new.tolist() == [scale.scores[0], scale.scores[-1]]


@pytest.mark.parametrize("numbers", SCALES)
def test_a_gap_is_zero_and_has_no_part_in_what_is_learned(numbers):
    there = ~np.isnan(GAPPY)
    scale, without = learn_scale(GAPPY, numbers), learn_scale(GAPPY[there], numbers)
    assert (scale(GAPPY)[~there] == 0.0).all()
    np.testing.assert_array_equal(scale(GAPPY)[there], without(GAPPY[there]))


@pytest.mark.parametrize("numbers", SCALES)
@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-200, 2.0**-30, 2.0**30, 1e200, 2.0**1022])
def test_scales_keep_the_order_of_huge_and_tiny_numbers(numbers, unit):
    values = unit * np.array([0.0, 1.0, 2.0, 3.0])
    z = learn_scale(values, numbers)(values)
    assert np.isfinite(z).all() and (np.diff(z) > 0).all()


@pytest.mark.parametrize("numbers", SCALES)
def test_a_number_far_outside_has_a_finite_square(numbers):
    z = learn_scale(np.array([1.0, 2.0, 3.0]), numbers)(np.array([-1.7e308, 1.7e308]))
    assert np.isfinite(z**2).all() and z[0] < 0 < z[1]


@pytest.mark.parametrize("numbers", SCALES)
def test_units_do_not_matter(numbers):
    one, other = learn_scale(HEAVY, numbers), learn_scale(8 * HEAVY + 16, numbers)
    np.testing.assert_allclose(other(8 * HEAVY + 16), one(HEAVY), atol=1e-9)


def test_several_scales_are_the_single_ones_and_share_the_weight():
    both = learn_scales(GAPPY, ("standard", "quantile"))
    assert both.parts == ["", " by rank"]
    singles = [learn_scale(GAPPY, name)(GAPPY) for name in ("standard", "quantile")]
    np.testing.assert_allclose(both(GAPPY), np.column_stack(singles) / np.sqrt(2))
    present = both(GAPPY)[~np.isnan(GAPPY)]
    apart = ((present[:, None] - present) ** 2).sum(axis=2).mean()
    assert np.sqrt(apart) == pytest.approx(np.sqrt(2), rel=0.02)


@pytest.mark.parametrize(
    "values",
    [
        np.array([0.0, 1.0, 1.0, 1.0]),  # two values are the same on all scales
        np.array([0.0, np.nan, 5.0]),
        norm.ppf((np.arange(5000) + 0.5) / 5000),  # normal already
    ],
)
def test_a_scale_that_says_the_same_is_left_out(values):
    alone = learn_scales(values, ("standard", "quantile"))
    np.testing.assert_array_equal(alone(values), learn_scale(values, "standard")(values))


def test_each_scale_is_compared_with_all_that_are_kept():
    three = learn_scales(HEAVY, ("quantile", "standard", "robust"))
    assert three.parts == ["", " in spreads", " with tails bent"]
    uniform = np.arange(100.0)
    assert learn_scales(uniform, ("standard", "quantile")).parts == ["", " by rank"]


def test_what_is_the_same_up_to_rounding_is_even():
    assert is_even(np.array([0.1 + 0.2, np.nan, 0.3]))
    assert is_even(np.array([1e308, 1e308])) and not is_even(np.array([-1.7e308, 1.7e308]))
    assert not is_even(np.array([1.0, 1.0 + 1e-12]))


def test_a_spread_below_all_numbers_is_the_smallest_one():
    values = np.array([0.0, 5e-324])
    z = learn_scale(values, "robust")(values)
    assert np.isfinite(z).all() and z[1] > z[0]
