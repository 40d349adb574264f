"""Levels: a column for each, or statistics of the target that no row of training is part of."""

import numpy as np
import pandas as pd
import pytest

from mercer.machines.encoding.levels import count_levels, one_hot, target_statistics

rng = np.random.default_rng(2)


def column(*entries):
    return pd.Series(entries, dtype=object, name="kind")


def learned(series, min_rows=1):
    codes, counts, levels = count_levels(series, min_rows)
    return codes, counts, levels


def statistics(series, y, fold, smoothing=None, min_rows=1):
    codes, _, levels = count_levels(series, min_rows)
    return target_statistics(codes, levels, y[:, None], ["mean of y"], fold, smoothing, min_rows)


# ---- a column for each -------------------------------------------------------------------------


def test_levels_with_few_rows_share_one_column_and_so_do_new_ones():
    series = column("a", "a", "b", "b", "c", "d", None)
    made = one_hot(*learned(series, min_rows=2))
    assert made.parts == ["=a", "=b", " is rare", " is missing"]
    found = made(column("a", "b", "c", "d", None, "never seen"))
    expected = np.eye(4)[[0, 1, 2, 2, 3, 2]]
    np.testing.assert_array_equal(found, expected)


def test_where_no_level_was_rare_new_ones_are_zero():
    made = one_hot(*learned(column("a", "b", "a", "b")))
    assert made.parts == ["=a", "=b"]
    assert made(column("c", None)).tolist() == [[0, 0], [0, 0]]


def test_two_different_levels_are_root_two_apart():
    found = one_hot(*learned(column("a", "b", "c", None)))(column("a", "b", "c", None))
    apart = np.linalg.norm(found[:, None] - found, axis=2)
    np.testing.assert_allclose(apart, np.sqrt(2) * (1 - np.eye(4)))


def test_of_thousands_of_levels_the_frequent_ones_have_a_column():
    entries = [f"level {i:04}" for i in range(1500)] + [f"level {i:04}" for i in range(700, 900)]
    made = one_hot(*learned(pd.Series(entries)))
    assert len(made.parts) == 1001 and made.parts[-1] == " is rare"
    assert all(f"=level {i:04}" in made.parts for i in range(700, 900))
    assert made(pd.Series(entries)).sum() == len(entries)


def test_long_names_are_cut_in_names_only():
    long, longer = "x" * 60, "x" * 60 + "y"
    made = one_hot(*learned(column(long, longer)))
    assert made.parts == ["=" + "x" * 39 + "…"] * 2
    assert made(column(longer)).tolist() == [[0.0, 1.0]]


# ---- statistics of the target ------------------------------------------------------------------


def by_hand(series, y, fold, m):
    """Shrunken means of the other folds, one row at a time."""
    entries, found = series.tolist(), []
    for i, entry in enumerate(entries):
        others = [
            y[j] - y.mean() for j in range(len(y)) if entries[j] == entry and fold[j] != fold[i]
        ]
        found.append(np.sum(others) / (len(others) + m) if others else 0.0)
    return np.array(found)


def test_training_rows_have_the_shrunken_means_of_the_other_folds():
    series = pd.Series(rng.choice(list("abcd"), 60), name="kind")
    y, fold = rng.normal(size=60) + (series == "a").to_numpy() * 3.0, np.arange(60) % 5
    made, rows = statistics(series, y, fold, smoothing=2.0)
    assert made.parts == [": mean of y", ": log count"]
    expected = by_hand(series, y, fold, 2.0)
    ratio = rows[:, 0] / expected
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)  # a unit that all rows share


def test_new_rows_have_the_shrunken_means_of_all_rows_in_units_of_their_spread():
    series = pd.Series(rng.choice(list("abcd"), 60), name="kind")
    y = rng.normal(size=60) + (series == "a").to_numpy() * 3.0
    made, _ = statistics(series, y, np.arange(60) % 5, smoothing=2.0)
    levels = sorted(set(series))
    counts = np.array([(series == level).sum() for level in levels])
    means = np.array([y[series == level].mean() - y.mean() for level in levels])
    shrunken = means * counts / (counts + 2.0)
    unit = np.sqrt((counts * shrunken**2).sum() / 60)
    np.testing.assert_allclose(made(pd.Series(levels))[:, 0], shrunken / unit, rtol=1e-9)


def test_a_level_of_its_own_for_each_row_says_nothing_about_the_target():
    series = pd.Series([f"row {i}" for i in range(200)])
    y = rng.normal(size=200)
    for min_rows in (1, 3):
        made, rows = statistics(series, y, np.arange(200) % 5, 1.0, min_rows)
        assert np.ptp(rows, axis=0).max(initial=0.0) == 0.0
    assert (made(pd.Series(["row 3", "never seen"])) == 0.0).all()


def test_the_target_of_a_row_does_not_reach_the_row():
    series = pd.Series(rng.choice(list("abcdefgh"), 80))
    y, fold = rng.normal(size=80), np.arange(80) % 4
    # What a row's own target does change is the mean and the unit of all rows.
    changed = y.copy()
    changed[[7, 11]] += [5.0, -5.0]  # of one fold, 3, and the mean stays
    one, other = (statistics(series, t, fold, smoothing=3.0)[1][:, 0] for t in (y, changed))
    own = fold == 3
    ratio = other[own] / one[own]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    assert np.ptp(other[~own] / one[~own]) > 1e-3


def test_levels_that_tell_nothing_are_left_out():
    series = pd.Series(list("aabb") * 10)
    y = np.tile([1.0, -1.0], 20)  # the same in both levels
    made, rows = statistics(series, y, np.arange(40) % 5)
    assert ": mean of y" not in made.parts and rows.shape == (40, len(made.parts))


def test_the_smoothing_is_the_variance_within_over_that_between():
    levels, size = 300, 20
    effect, noise = rng.normal(size=levels), 3.0 * rng.normal(size=levels * size)
    series = pd.Series(np.repeat(np.arange(levels), size).astype(str))
    y = np.repeat(effect, size) + noise
    made, _ = statistics(series, y, np.arange(len(y)) % 5)
    fixed, _ = statistics(series, y, np.arange(len(y)) % 5, smoothing=9.0)
    # With levels of one size, shrinking is one factor, which the unit takes out again.
    np.testing.assert_allclose(made.table[:levels, 0], fixed.table[:levels, 0], rtol=1e-9)
    uneven = pd.concat([series, pd.Series(["0"] * 400)], ignore_index=True)
    y = np.append(y, effect[0] + 3.0 * rng.normal(size=400))
    made, _ = statistics(uneven, y, np.arange(len(y)) % 5)
    near, _ = statistics(uneven, y, np.arange(len(y)) % 5, smoothing=9.0)
    far, _ = statistics(uneven, y, np.arange(len(y)) % 5, smoothing=90.0)
    errors = [np.abs(made.table - other.table)[:levels, 0].max() for other in (near, far)]
    assert errors[0] < 0.2 * errors[1]


def test_a_rare_gap_is_worth_the_mean_and_a_frequent_one_a_level():
    y = np.append(rng.normal(size=40), [9.0, 9.0])
    series = pd.Series(["a", "b"] * 20 + [None] * 2)
    made, _ = statistics(series, y, np.arange(42) % 3, smoothing=1.0, min_rows=3)
    assert made(pd.Series([None]))[0, 0] == 0.0
    made, _ = statistics(series, y, np.arange(42) % 3, smoothing=1.0, min_rows=1)
    assert made(pd.Series([None]))[0, 0] > 1.0 and made.parts[-1] == " is missing"


@pytest.mark.parametrize("smoothing", [None, 1.0])
def test_one_level_is_no_column(smoothing):
    made, rows = statistics(
        pd.Series(["a"] * 10), rng.normal(size=10), np.arange(10) % 5, smoothing
    )
    assert made.parts == [] and rows.shape == (10, 0)


def with_rare_levels():
    """Two levels of different sizes, and forty entries that are there once."""
    series = pd.Series(["a"] * 60 + ["b"] * 20 + [f"rare {i}" for i in range(40)])
    y = np.random.default_rng(7).normal(size=120) + (series == "a").to_numpy()
    return series, y


def test_rare_levels_are_worth_the_mean_in_training_too():
    series, y = with_rare_levels()
    y[80:] += 5.0
    made, rows = statistics(series, y, np.arange(120) % 5, smoothing=1.0, min_rows=3)
    assert (rows[80:, 0] == 0.0).all() and (rows[:80, 0] != 0.0).all()
    assert (made(pd.Series(["rare 3", "never seen"]))[:, 0] == 0.0).all()


def test_rare_levels_have_no_part_in_the_smoothing():
    series, y = with_rare_levels()
    other = y.copy()
    other[80:] = 9.0 * (y[80:] - y[80:].mean()) + y[80:].mean()  # the mean of all rows stays
    one, two = (statistics(series, t, np.arange(120) % 5, min_rows=3)[0].table for t in (y, other))
    np.testing.assert_allclose(one, two, rtol=1e-9)


def test_a_level_that_was_never_seen_is_rarer_than_all_others():
    series, y = with_rare_levels()
    made, _ = statistics(series, y, np.arange(120) % 5, min_rows=3)
    new, small, large = made(pd.Series(["never seen", "b", "a"]))[:, -1]
    assert new < small < large
