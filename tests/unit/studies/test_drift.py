"""Drift is found where there is some, seldom where there is none, and says what it means."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

import mercer
from mercer.errors import DomainError
from mercer.sources import chunks, read_frame, recipe
from mercer.studies import drift as drift_module
from mercer.studies.density_ratio import density_ratio
from mercer.studies.drift import find_drift
from mercer.studies.guard import Guard, Watch


def table(count, seed, shift=0.0):
    """The label is hard to tell where `a` is large."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(shift, 1.0, count), rng.normal(size=count)
    frame = pd.DataFrame({"a": a, "b": b, "c": rng.choice(["u", "v"], count)})
    noise = 0.1 + 1.5 * stats.norm.cdf(2 * a)
    return frame.assign(y=np.where(b + noise * rng.normal(size=count) > 0, "p", "q"))


@pytest.fixture(scope="module")
def sheet():
    return read_frame(table(500, 0), "y")


@pytest.fixture(scope="module")
def watch(sheet):
    model = make_pipeline(mercer.Encode(), mercer.KernelRidgeClassifier("gaussian", 10.0))
    held_out = cross_val_predict(model, sheet.X, sheet.y, cv=5)
    model.fit(sheet.X, sheet.y)
    return Watch(Guard.of(sheet, np.arange(500), held_out), model[:-1], model[-1])


def new_rows(sheet, frame):
    (found,) = chunks(frame, recipe(sheet))
    return found


@pytest.fixture
def few(monkeypatch):
    """Fewer permutations, and smaller samples of columns, for many repetitions."""
    monkeypatch.setattr(drift_module, "PERMUTATIONS", 99)
    monkeypatch.setattr(drift_module, "COLUMN_ROWS", 100)
    monkeypatch.setattr(drift_module, "SLOWEST", 1)


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_the_level_says(sheet, watch, few):
    rows = [new_rows(sheet, table(60, 100 + i).drop(columns="y")) for i in range(30)]
    alarms = sum(
        find_drift(watch, one, 0.1, level=0.1, seed=i).found for i, one in enumerate(rows)
    )
    assert alarms <= stats.binom.ppf(0.999, 30, 0.1)


def test_a_column_that_moved_is_found_and_named(sheet, watch):
    found = find_drift(watch, new_rows(sheet, table(150, 7, shift=0.8)), 0.1)
    assert found.found and found.pvalue <= 0.002
    assert [one.name for one in found.changed] == ["a"]
    assert found.columns[0].name == "a" and found.far_pvalue > 0.001
    other = table(150, 8).assign(c="u")
    assert [one.name for one in find_drift(watch, new_rows(sheet, other), 0.1).changed] == ["c"]


def test_a_few_rows_from_elsewhere_are_found_although_no_column_moved(sheet, watch):
    rows = table(200, 9)
    rows.loc[[3, 50, 90], "a"] = 60.0
    found = find_drift(watch, new_rows(sheet, rows), 0.1)
    assert found.found and found.far >= 3 and found.far_pvalue < 1e-2 / 3 < found.pvalue
    assert {row for row, _ in found.least[:3]} == {3, 50, 90}
    assert "a 60 is outside" in found.least[0][1]


def test_the_expected_error_follows_the_rows(sheet, watch):
    """Held against the error on many rows from where the new ones come."""
    errors = {}
    for shift in (-0.8, 0.8):
        rows = new_rows(sheet, table(300, 11, shift).drop(columns="y"))
        error = find_drift(watch, rows, 0.2).error
        assert error.measured is None
        many = new_rows(sheet, table(9_000, 12, shift))
        truth = np.mean(watch.machine.predict(watch.prepared(many.X)) != many.y)
        assert abs(error.expected - truth) < 3 * error.expected_se
        errors[shift] = error.expected
    assert errors[0.8] > errors[-0.8] + 0.05


def test_where_no_known_row_is_near_nothing_is_said_of_the_error(sheet, watch):
    found = find_drift(watch, new_rows(sheet, table(100, 13, shift=9.0)), 0.1)
    assert found.error.expected is None and found.far > 90
    assert found.error.measured > 0.2


def test_empty_columns_and_new_categories_are_drift(sheet, watch):
    found = find_drift(watch, new_rows(sheet, table(100, 14).assign(b=np.nan)), 0.1)
    assert [one.name for one in found.changed] == ["b"] and found.changed[0].now == "empty"
    found = find_drift(watch, new_rows(sheet, table(100, 15).assign(c="w")), 0.1)
    assert found.changed[0].now == "w 100%"


def test_too_few_rows_and_levels_that_are_none_are_refused(sheet, watch):
    with pytest.raises(DomainError, match="at least 5 new rows, found 3"):
        find_drift(watch, new_rows(sheet, table(3, 1)), 0.1)
    for level in (0.0, 1.0):
        with pytest.raises(DomainError, match="between 0 and 1"):
            find_drift(watch, new_rows(sheet, table(30, 1)), 0.1, level=level)


@pytest.mark.parametrize(("dimension", "least"), [(1, 0.9), (4, 0.8)])
def test_ratios_of_normal_densities_are_recovered(dimension, least):
    rng = np.random.default_rng(3)
    old, new = rng.normal(size=(800, dimension)), rng.normal(size=(800, dimension))
    new[:, 0] += 0.7
    truth = np.exp(0.7 * old[:, 0] - 0.245)
    assert np.corrcoef(density_ratio(old, new), truth)[0, 1] > least
    assert abs(np.average(old[:, 0], weights=density_ratio(old, new)) - 0.7) < 0.12
