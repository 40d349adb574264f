"""What in new rows is not like what was learned from."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import mercer
from mercer.sources import chunks, read_frame, recipe
from mercer.studies.guard import FAR_WORDS, MAX_KEPT, Guard, Watch


def animals(count=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "weight": rng.uniform(1.0, 5.0, count),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, count), "D"),
            "home": rng.choice(["lake", "wood"], count),
            "legs": rng.normal(size=count),
        }
    )


@pytest.fixture(scope="module")
def sheet():
    return read_frame(animals(), "legs")


@pytest.fixture(scope="module")
def watch(sheet):
    model = make_pipeline(mercer.Encode(), mercer.KernelRidge("gaussian", 0.1))
    model.fit(sheet.X, sheet.y)
    held = np.arange(50)
    guard = Guard.of(sheet, held, sheet.y[:50] + 1.0)
    return Watch(Guard.read(guard.notes()), model[:-1], model[-1])


def look(watch, sheet, rows, prediction=None):
    (piece,) = chunks(rows, recipe(sheet))
    return watch.look(piece, prediction)


def test_rows_like_the_known_ones_are_not_marked(watch, sheet):
    marks = look(watch, sheet, animals())
    assert marks.texts == [""] * 60 and not marks.empty


def test_each_reason_is_told_with_its_column_and_its_row(watch, sheet):
    rows = animals().head(8).copy()
    rows.loc[2, "weight"] = 5.5
    rows.loc[4, "seen"] = pd.Timestamp("2025-03-01")
    rows.loc[5, "home"] = "cave"
    rows.loc[6, "weight"] = 700.0
    rows.loc[7, "weight"] = np.nan
    marks = look(watch, sheet, rows)
    told = {(mark.place, mark.kind, mark.column) for mark in marks.marks}
    expected = {(2, "outside", "weight"), (4, "outside", "seen"), (5, "new", "home"),
                (6, "outside", "weight"), (6, "far", None)}  # fmt: skip
    assert expected <= told and not {place for place, *_ in told} & {0, 1, 3, 7}
    assert "weight 5.5 is outside 1." in marks.texts[2]
    assert "seen 2025-03-01 is outside 2024-01-" in marks.texts[4]
    assert marks.texts[5].endswith("home 'cave' was never seen")
    assert FAR_WORDS in marks.texts[6]


def test_columns_that_are_empty_in_all_rows_are_named(watch, sheet):
    assert look(watch, sheet, animals(5).assign(weight=np.nan)).empty == {"weight"}


def test_predictions_far_beyond_all_targets_are_told(watch, sheet):
    low, high = sheet.y.min(), sheet.y.max()
    width = high - low
    given = np.array([low - 0.05 * width, high + 0.05 * width, low - 15.0, high + 15.0])
    marks = look(watch, sheet, animals(4), given)
    assert [mark.place for mark in marks.marks if mark.kind == "target"] == [2, 3]


def test_losses_are_kept_for_the_rows_that_were_held_out(watch):
    assert np.allclose(watch.guard.losses[:50], 1.0) and np.isnan(watch.guard.losses[50:]).all()


def test_of_wide_tables_fewer_rows_are_kept():
    count = MAX_KEPT // 300
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, count)).round(3))
    X.columns = [f"c{j}" for j in range(count)]
    sheet = read_frame(X.iloc[:, :100].assign(y=X["c0"]), "y")
    assert len(Guard.of(sheet, np.arange(0), np.zeros(0)).rows) == 300


def test_a_machine_that_keeps_nothing_to_compare_has_no_far_rows(sheet):
    numbers = read_frame(animals()[["weight", "legs"]], "legs")
    machine = LinearRegression().fit(numbers.X, numbers.y)
    watch = Watch(Guard.of(numbers, np.arange(0), np.zeros(0)), None, machine)
    rows = animals(2)[["weight"]].assign(weight=[3.0, 99.0])
    assert [mark.kind for mark in look(watch, numbers, rows).marks] == ["outside"]
