"""Rows that belong together, times and weights: what the error then is."""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError
from mercer.studies import design, study
from mercer.studies.arrangement import Arrangement
from tests.unit.studies.tied_rows import sales, visits

QUICK = {"machine": "ridge", "budget": 5.0, "references": False}


def test_labels_by_chance_are_not_learned_of_new_patients():
    rows = visits()
    told = study(rows, "state", groups="person", kernel="gaussian", **QUICK)
    # 40 coins: the share of heads is within 0.24 of one half with a probability of 0.998.
    assert 0.26 < told.error < 0.74
    assert told.error_se > 0.04  # of 40 patients, not of 1000 visits
    assert told.baseline_error == pytest.approx(0.5)
    alone = study(rows, "state", types={"person": "ignore"}, kernel="gaussian", **QUICK)
    assert alone.error < 0.05  # which is what it says of the same patients


def test_the_past_predicts_the_future():
    rows = sales()
    known, later = rows[:400], rows[400:]
    dealt = study(known, "sales", **QUICK, types={"day": "ignore"})
    timed = study(known, "sales", time="day", **QUICK)
    off = timed.machine.predict(later[["number", "warm", "week"]]) - later["sales"]
    future = float(np.sqrt(np.mean(off**2)))
    assert dealt.error < 0.6 * future  # what is stated without a time is too good
    assert 0.5 * future < timed.error < 2 * future
    assert [h.low for h in timed.horizons] == sorted(h.low for h in timed.horizons)
    assert timed.horizons[0].low == 1.0 and timed.horizons[-1].error > timed.horizons[0].error
    # Independently: the errors of all horizons together are the error.
    squares = sum(h.rows * h.error**2 for h in timed.horizons)
    assert squares / sum(h.rows for h in timed.horizons) == pytest.approx(timed.error**2)


@pytest.mark.parametrize("kind", ["groups", "time", "both"])
def test_no_split_breaks_the_arrangement(kind):
    rng = np.random.default_rng(4)
    n = 240
    groups = rng.integers(0, 30, n) if kind != "time" else None
    time = rng.integers(0, 60, n).astype(float) if kind != "groups" else None
    tied = Arrangement(groups=groups, time=time)
    y = np.array(["a", "b"], dtype=object)[rng.integers(0, 2, n)]
    pairs = [*tied.splits(y, 5, rng), *tied.inner(y, 5, rng)]
    assert len(pairs) >= 6
    for train, test in pairs:
        assert len(train) and len(test)
        if groups is not None:
            assert not set(groups[train]) & set(groups[test])
        if time is not None:
            assert time[train].max() < time[test].min()


def test_weights_count_in_errors_and_are_no_column():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    weight = rng.integers(0, 4, 120).astype(float)
    rows = pd.DataFrame({"x": x, "people": weight, "y": x + 0.5 * rng.normal(size=120)})
    found = study(rows, "y", weights="people", **QUICK)
    assert "people" not in found.X.columns and len(found.y) == (weight > 0).sum()
    w = weight[weight > 0][found.held_out.rows]
    off = found.held_out.prediction - found.truth
    assert found.error == pytest.approx(np.sqrt(np.average(off**2, weights=w)), rel=1e-10)


def test_arguments_may_be_columns_of_their_own():
    rows = visits(12, 5)
    X, y = rows[list("abcd")], rows["state"].to_numpy()
    one = study(X, y, groups=rows["person"].to_numpy(), kernel="gaussian", **QUICK)
    two = study(rows, "state", groups="person", kernel="gaussian", **QUICK)
    assert one.error == two.error


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ({"groups": "persn"}, "no column 'persn'; did you mean 'person'"),
        ({"groups": "state"}, "'state' is the target already"),
        ({"time": "person"}, "must hold dates or numbers, found entries such as 'p00'"),
        ({"weights": "person"}, "must hold numbers from 0 on"),
        ({"groups": "one"}, "'one' has 1 of them, and at least 3 are needed"),
        ({"groups": "two"}, "'two' has 2 of them, and at least 3 are needed"),
        ({"groups": "own"}, "each row has an entry of its own in 'own'"),
    ],
)
def test_roles_that_cannot_be_are_refused(how, complaint):
    with pytest.raises(DomainError, match=complaint):
        rows = visits(8, 3)
        own = [f"row {k}" for k in range(len(rows))]
        two = ["x", "y"] * (len(rows) // 2)
        design(rows.assign(one="x", two=two, own=own), "state", **how, **QUICK)


def test_gaps_in_times_name_their_rows():
    rows = sales(30)
    rows.loc[3, "day"] = pd.NaT
    with pytest.raises(DomainError, match="the time 'day' is missing"):
        design(rows, "sales", time="day", **QUICK)
    assert len(design(rows, "sales", time="day", skip_bad=True, **QUICK).sheet) == 29


def test_groups_with_one_member_are_groups():
    rows = visits(30, 1).assign(person=[f"p{max(k, 1)}" for k in range(30)])
    found = study(rows, "state", groups="person", kernel="gaussian", **QUICK)
    assert len(found.held_out.prediction) == 30
