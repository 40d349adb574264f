"""Every finding is made where it should be, and not on data with nothing wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from mercer.domains import Graph
from mercer.sources import Column, Sheet
from mercer.studies.case import number
from mercer.studies.findings import _hashes, findings
from mercer.studies.folds import deal, rare
from mercer.studies.leaks import find_leaks


def sheet_of(X, y, kinds=None, **more):
    """Return a sheet whose first row is on line 2."""
    if not sparse.issparse(X):
        X = pd.DataFrame(X)
        X.columns = X.columns.astype(str)
        kinds = kinds or {}
        guess = {n: "numeric" if X[n].dtype.kind in "fiub" else "categorical" for n in X}
        columns = tuple(Column(name, kinds.get(name, guess[name]), "") for name in X)
    else:
        columns = (Column("features", "numeric", "", style={"first": 1}),)
    y, rows = np.asarray(y), np.arange(len(y))
    y = y if y.dtype.kind == "f" else y.astype(object)
    return Sheet(X, y, columns, Column("kind", "", ""), rows + 2, rows, len(y), **more)


def folds_of(y, folds=5):
    few = rare(y)
    fold = np.zeros(len(y), dtype=int)
    fold[~few] = deal(y[~few], folds, np.random.default_rng(0))
    return fold


def told(X, y, prediction=None, kinds=None, edges=(), folds=5, se=0.0, **more):
    """Return the findings; without a prediction every third or so is wrong."""
    sheet = sheet_of(X, y, kinds, **more)
    y, numbers = sheet.y, sheet.y.dtype.kind == "f"
    if prediction is None:
        rng = np.random.default_rng(1)
        if numbers:
            prediction = y + 0.3 * np.std(y) * rng.normal(size=len(y))
        else:
            prediction = np.where(rng.random(len(y)) < 0.1, rng.permutation(y), y)
    prediction = np.asarray(prediction, dtype=y.dtype)
    if numbers:
        error, plain = np.sqrt(np.mean((y - prediction) ** 2)), np.std(y)
    else:
        error = np.mean(y != prediction)
        plain = 1 - np.unique(y, return_counts=True)[1].max() / len(y)
    task = "regress" if numbers else "classify"
    return findings(
        sheet, task, folds_of(y, folds), prediction, float(error), se, float(plain), edges
    )


def one(found, *words):
    """Return the only finding with all of these words."""
    fitting = [finding for finding in found if all(word in finding for word in words)]
    assert len(fitting) == 1, (words, found)
    return fitting[0]


def none(found, *words):
    assert not [finding for finding in found if all(word in finding for word in words)], found


rng = np.random.default_rng(0)
CLASSES = np.array(["a", "b"] * 100, dtype=object)
NUMBERS = rng.normal(size=200)
NOISE = pd.DataFrame(rng.normal(size=(200, 3)), columns=["x", "y", "z"])


# ---- nothing is wrong -----------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_digits, load_diabetes], ids=lambda f: f.__name__)
def test_nothing_is_said_about_data_that_are_in_order(load):
    data = load()
    numbers = load is load_diabetes
    y = data.target if numbers else data.target_names[data.target].astype(str).astype(object)
    y = y.astype(float) if numbers else y
    fold, prediction = folds_of(y), np.empty_like(y)
    for k in range(5):
        machine = KNeighborsRegressor(9) if numbers else KNeighborsClassifier(3)
        machine.fit(data.data[fold != k], y[fold != k])
        prediction[fold == k] = machine.predict(data.data[fold == k])
    assert told(pd.DataFrame(data.data), y, prediction, se=0.01) == ()


def test_nothing_is_said_about_noise_that_is_predicted_well():
    assert told(NOISE, CLASSES) == ()
    assert told(NOISE, NUMBERS) == ()


# ---- a column that gives the target away ----------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        np.where(CLASSES == "a", "yes", "no"),
        np.where(CLASSES == "a", 1.0, 0.0),
        np.where(CLASSES == "a", rng.normal(size=200), 9 + rng.normal(size=200)),
        np.where(CLASSES == "a", np.abs(rng.normal(size=200)) + 1, rng.uniform(-1, 1, 200)),
        np.where(CLASSES == "a", rng.normal(size=200), np.nan),
        np.where(CLASSES == "a", rng.integers(0, 3, 200), np.nan),
        np.where(CLASSES == "a", True, False),
        np.where(CLASSES == "a", "u", None),
    ],
    ids=["category", "code", "threshold", "interval", "gap", "gap of codes", "truth", "empty"],
)
def test_a_column_from_which_the_class_follows_is_asked_about(column):
    finding = told(NOISE.assign(after=column), CLASSES)[0]
    assert "Column 'after' alone tells 'kind' in " in finding
    assert "Is it known before 'kind' is?" in finding and "--types after=ignore" in finding


@pytest.mark.parametrize(
    "column",
    [2 * NUMBERS + 1, np.exp(3 * NUMBERS), NUMBERS + 0.02 * rng.normal(size=200)],
    ids=["line", "monotone", "nearly"],
)
def test_a_column_from_which_the_number_follows_is_asked_about(column):
    finding = told(NOISE.assign(after=column), NUMBERS)[0]
    assert "Column 'after' alone tells 'kind' (" in finding and "variation" in finding


@pytest.mark.parametrize(
    "bend", [lambda x: 2 * x + 1, np.log, np.sqrt], ids=["line", "log", "root"]
)
def test_a_number_with_a_long_tail_may_follow_too(bend):
    y = np.exp(3 * NUMBERS)
    X = NOISE.assign(after=bend(y))
    one(told(X, y), "Column 'after' alone tells 'kind' (100 %")
    X.loc[::2, "after"] = np.nan
    none(told(X, y), "alone tells")


def test_a_category_that_stands_for_a_number_is_asked_about():
    level = rng.integers(0, 5, 200)
    prices = np.array([1.0, 7.0, 2.0, 30.0, 4.0])[level]
    names = np.array(["p", "q", "r", "s", "t"])[level]
    one(told(NOISE.assign(size=names), prices), "Column 'size' alone")


def test_an_honest_strong_column_is_not_asked_about():
    strong = np.where(CLASSES == "a", 0.0, 3.6) + rng.normal(size=200)  # right in 96 %
    none(told(NOISE.assign(width=strong), CLASSES), "alone tells")
    none(told(NOISE.assign(width=NUMBERS + 0.2 * rng.normal(size=200)), NUMBERS), "alone tells")


def test_entries_that_are_all_different_tell_nothing_even_in_a_sorted_file():
    names = np.array([f"name {i}" for i in range(200)])
    none(told(NOISE.assign(name=names), np.sort(CLASSES)), "alone tells")
    none(told(NOISE.assign(name=names), np.sort(NUMBERS)), "alone tells")


def test_a_number_that_follows_the_order_of_a_sorted_file_is_asked_about():
    one(told(NOISE.assign(day=np.arange(200.0)), np.sort(CLASSES)), "Column 'day' alone")


def test_a_rare_class_needs_more_than_the_most_frequent_answer():
    y = np.array(["a"] * 796 + ["b"] * 4, dtype=object)
    X = pd.DataFrame(np.random.default_rng(3).normal(size=(800, 5)))
    none(told(X, y), "alone tells")


def test_few_rows_and_many_columns_agree_by_chance_and_nothing_is_said():
    y = np.array(["a", "b"] * 6, dtype=object)
    X = pd.DataFrame(np.random.default_rng(4).normal(size=(12, 3000)))
    X[7] = np.where(y == "a", 1.0, 2.0)
    none(told(X, y), "alone tells")


def test_several_columns_are_asked_about_at_once_and_the_command_can_be_pasted():
    more = {f"after {i}": np.where(CLASSES == "a", i, -1.0) for i in range(5)}
    finding = one(told(NOISE.assign(**more), CLASSES), "alone tells")
    assert "Each of the columns 'after 0', 'after 1', 'after 2' and 2 more" in finding
    assert "--types 'after 0=ignore,after 1=ignore,after 2=ignore'." in finding


def test_sparse_columns_have_the_numbers_of_the_file():
    X = sparse.random_array((200, 500), density=0.05, rng=np.random.default_rng(5)).tolil()
    X[:, 41] = np.where(CLASSES == "a", 3.0, 0.0)[:, None]
    finding = one(told(X.tocsr(), CLASSES), "alone tells")
    assert "Column '42'" in finding and "out of the file" in finding
    X[:, 41] = np.where(NUMBERS > 0, 3.0, 0.0)[:, None]
    none(told(X.tocsr(), CLASSES), "alone tells")


def test_shares_are_those_of_held_out_rows():
    y = np.array(["a", "b"] * 500, dtype=object)
    column = np.where(y == "a", "p", "q").astype(object)
    column[:6] = column[1:7].copy()  # three of each class are wrong
    sheet = sheet_of({"c": column}, y)
    assert find_leaks(sheet, folds_of(y)) == [("c", 0.994)]
    column[:16] = np.where(y[:16] == "a", "q", "p")
    assert find_leaks(sheet_of({"c": column}, y), folds_of(y)) == []


def test_huge_numbers_are_no_trouble():
    X = NOISE.assign(huge=1e300 * NUMBERS)
    assert told(X, CLASSES) == ()
    assert told(X, NUMBERS[::-1]) == ()
    X["huge"] = np.where(CLASSES == "a", 1e300, -1e300)
    assert "Column 'huge'" in one(told(X, CLASSES), "alone tells")


# ---- copies ---------------------------------------------------------------------------------


def test_equal_rows_of_different_classes_bound_the_error():
    X = NOISE.copy()
    X.iloc[1], X.iloc[3], X.iloc[5] = X.iloc[0], X.iloc[0], X.iloc[4]
    finding = one(told(X, CLASSES), "differ in 'kind'")
    # Rows 0, 1, 3 are equal with classes a, b, b, and rows 4, 5 with classes a, b.
    assert finding.startswith("5 rows ") and "lines 2 and 3" in finding
    assert "below 1 %" in finding  # 1 + 1 of 200
    none(told(NOISE, CLASSES), "differ in")


def test_equal_rows_with_different_numbers_matter_only_if_they_make_the_error():
    X = pd.DataFrame({"dose": np.repeat(np.arange(20.0), 10)})
    y = X["dose"].to_numpy() + np.random.default_rng(6).normal(size=200)
    best = np.repeat(y.reshape(20, 10).mean(axis=1), 10)
    least = np.sqrt(np.mean((y - best) ** 2))
    finding = one(told(X, y, best + 0.1), "differ in 'kind'")
    assert f"below {number(least)} " in finding
    none(told(X, y, y + 5), "differ in")


def test_copies_across_folds_are_counted_with_the_error_of_the_others():
    X, y = pd.concat([NOISE, NOISE[:20]]), np.concatenate([CLASSES, CLASSES[:20]])
    prediction = y.copy()
    prediction[20:200:4] = "c"  # 45 of the 180 rows without a copy are wrong
    finding = one(told(X, y, prediction), "have a copy")
    fold = folds_of(y)
    count = 2 * int(np.sum(fold[:20] != fold[200:]))
    assert finding.startswith(f"{count} rows, ") and "lines 2 and 202" in finding
    assert "20.5 %" in finding and "on the other rows it is 2" in finding


def test_one_copy_among_many_rows_is_not_mentioned():
    X = NOISE.copy()
    X.iloc[2] = X.iloc[0]
    none(told(X, CLASSES), "copy")


def test_rows_of_a_coarse_table_are_equal_by_coincidence():
    X = pd.DataFrame({"sex": ["m", "f"] * 100, "age": np.arange(200.0) // 20})
    none(told(X, CLASSES), "copy")
    texts = pd.DataFrame({"text": [f"message {i // 2}" for i in range(200)]})
    y = np.repeat(CLASSES[:100], 2)
    one(told(texts, y, kinds={"text": "text"}), "have a copy")


def test_copies_of_sparse_rows_and_of_graphs_are_found():
    X = sparse.random_array((200, 50), density=0.2, rng=np.random.default_rng(7)).tolil()
    X[100:120] = X[:20]
    one(told(X.tocsr(), CLASSES), "have a copy")
    graphs = [Graph([(0, i % 95 + 1)]) for i in range(200)]
    y = np.array([("a", "b")[i % 95 % 2] for i in range(200)], dtype=object)
    found = told({"graph": graphs}, y, kinds={"graph": "graph"}, layout={"format": "graphs"})
    assert "graphs 2 and 97" in one(found, "have a copy")


def test_things_without_a_hash_are_all_different():
    found = told({"graph": [[i % 2] for i in range(200)]}, CLASSES, kinds={"graph": "graph"})
    assert found == ()


def test_rows_are_equal_if_their_entries_are():
    X = pd.DataFrame({"a": [0.0, -0.0, np.nan, np.nan, 1.0], "b": ["u", "u", None, None, "u"]})
    h = _hashes(X)
    assert h[0] == h[1] and h[2] == h[3] and len(set(h)) == 3
    S = sparse.csr_array(([1.0, 2.0, 0.0, 2.0, 1.0], [0, 1, 2, 0, 1], [0, 3, 4, 5, 5]))
    assert len(set(_hashes(S))) == 4
    assert _hashes(S)[0] == _hashes(sparse.csr_array([[1.0, 2.0, 0.0]]))[0]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=30))
def test_hashes_agree_with_comparing_the_rows(rows):
    array = np.array(rows, dtype=float)
    names = np.array(["zero", "one", "two", "minus two", "minus one"], dtype=object)
    frame = pd.DataFrame({"a": array[:, 0], "b": names[array[:, 1].astype(int)], "c": array[:, 2]})
    for h in (_hashes(frame), _hashes(sparse.csr_array(array))):
        equal = h[:, None] == h[None, :]
        assert np.array_equal(equal, [[r == s for s in rows] for r in rows])


# ---- too few rows ---------------------------------------------------------------------------


def test_an_error_that_is_no_better_than_nothing_is_called_so():
    wrong = CLASSES[::-1].copy()
    finding = one(told(NOISE, CLASSES, wrong), "nothing was learned")
    assert "100 %" in finding and "always answering 'a', 50 %" in finding
    one(told(NOISE, NUMBERS, -NUMBERS), "always answering the mean", "nothing was learned")


def test_an_error_that_is_hardly_better_could_be_chance():
    prediction = CLASSES.copy()
    prediction[:94] = "a"
    prediction[94:188] = "b"  # 94 wrong
    one(told(NOISE, CLASSES, prediction), "could be chance")
    prediction[:94:2] = CLASSES[:94:2]
    prediction[94:188] = CLASSES[94:188]
    none(told(NOISE, CLASSES, prediction), "could be chance")
    one(told(NOISE, NUMBERS, 0.1 * NUMBERS, se=0.06), "could be chance")
    none(told(NOISE, NUMBERS, 0.1 * NUMBERS, se=0.01), "could be chance")


def test_few_rows_are_said_to_be_few():
    one(told(NOISE[:40], CLASSES[:40]), "only 40 rows")
    none(told(NOISE[:60], CLASSES[:60]), "only")


def test_many_classes_need_many_rows():
    found = told(NOISE, np.array([f"c{i // 5}" for i in range(200)]))
    one(found, "only 5.0 rows", "40 classes")
    none(found, "fewer than 10")
    none(told(NOISE, np.array([f"c{i // 20}" for i in range(200)])), "only")


def test_a_target_that_never_changes_is_all_there_is_to_say():
    assert told(NOISE, np.full(200, 4.5)) == (
        "The target is 4.5 in all rows, so there is nothing to learn.",
    )


# ---- classes --------------------------------------------------------------------------------


def test_labels_that_differ_by_case_or_spaces_are_probably_one_class():
    y = CLASSES.copy()
    y[::4], y[1::4], y[2::4] = "Setosa", "setosa ", "other  thing"
    finding = one(told(NOISE, y), "differ only by case or spaces")
    assert "'Setosa' and 'setosa '" in finding and "other" not in finding
    none(told(NOISE, CLASSES), "case or spaces")


def test_a_dominant_class_hides_the_error_of_the_others():
    y = np.array(["well"] * 180 + ["ill"] * 20, dtype=object)
    prediction = y.copy()
    prediction[185:] = "well"
    finding = one(told(NOISE, y, prediction), "90 % of the rows are 'well'")
    assert "error of 7.5 %" in finding and "of those, 75 % are wrong" in finding
    assert "counting alike the error is 37.5 %" in finding
    y = np.array(["well"] * 150 + ["ill"] * 50, dtype=object)
    none(told(NOISE, y), "of the rows are")


def test_small_classes_are_named_and_tiny_ones_cannot_be_learned():
    y = np.array(["a"] * 180 + ["b"] * 9 + ["c"] * 8 + ["d"] * 2 + ["e"], dtype=object)
    found = told(NOISE, y)
    one(found, "The classes 'd' and 'e' have fewer than 3 rows", "these 3 rows count as wrong")
    one(found, "The classes 'b' and 'c' have fewer than 10 rows")
    y = np.array(["a"] * 100 + ["b"] * 90 + ["c"] * 10, dtype=object)
    none(told(NOISE, y), "fewer than")
    names = np.array(["a"] * 150 + [f"few {i // 7}" for i in range(50)], dtype=object)
    one(told(NOISE, names), "'few 4' and 2 more have fewer than 10")


# ---- columns, rows and folds ----------------------------------------------------------------


def test_mostly_empty_columns_are_named():
    X = NOISE.copy()
    X.loc[50:, "y"] = np.nan
    finding = one(told(X, CLASSES), "More than half")
    assert "'y'" in finding and "75 %" in finding and "'x'" not in finding
    X.loc[50:, "y"], X.loc[120:, "z"] = 0.0, np.nan
    none(told(X, CLASSES), "More than half")


def test_gaps_that_go_along_with_the_target_are_named():
    X = NOISE.copy()
    X.loc[(CLASSES == "a") & (np.arange(200) % 4 > 0), "y"] = np.nan
    X.loc[::3, "z"] = np.nan  # whatever the class
    finding = one(told(X, CLASSES), "Gaps in 'y' go along with 'kind'")
    gap = X["y"].isna().to_numpy()
    assert f"{np.corrcoef(gap, CLASSES == 'a')[0, 1]:.2f}" in finding
    none(told(X.assign(y=NOISE["y"]), CLASSES), "Gaps")
    weak = NOISE.copy()
    weak.loc[(CLASSES == "a") & (np.arange(200) % 3 == 0), "y"] = np.nan
    none(told(weak, CLASSES), "Gaps")  # a correlation of 0.45
    many = np.random.default_rng(11).permutation([f"c{i % 60}" for i in range(200)])
    none(told(X, many), "Gaps")  # with so many classes, chance explains a share of 0.3
    X = NOISE.copy()
    X.loc[NUMBERS > 0.5, "x"] = np.nan
    one(told(X, NUMBERS), "Gaps in 'x'")
    none(told(X, NUMBERS[::-1]), "Gaps")


def test_a_few_rows_that_make_the_squared_error_are_named():
    prediction = NUMBERS + 0.1 * np.random.default_rng(8).normal(size=200)
    none(told(NOISE, NUMBERS, prediction), "squared error")
    prediction[[17, 80, 150]] = NUMBERS[[17, 80, 150]] + [9, 8, 7]  # two of them make half
    finding = one(told(NOISE, NUMBERS, prediction), "squared error")
    rest = np.sqrt(np.mean(np.delete(prediction - NUMBERS, [17, 80]) ** 2))
    assert finding.startswith("2 of 200 rows make 7") and "(lines 19 and 82)" in finding
    assert f"on the others the error is {number(rest)} instead of" in finding
    prediction[80], prediction[150] = NUMBERS[80], NUMBERS[150]
    found = told(NOISE, NUMBERS, prediction, layout={"format": "frame"})
    assert "1 of 200 rows makes" in one(found, "squared error", "(row 19)")
    prediction = NUMBERS + 1e-9 * (np.arange(200) == 7)  # not worth a word
    none(told(NOISE, NUMBERS, prediction), "squared error")


def _wrong_in_folds(*counts):
    fold, prediction = folds_of(CLASSES), CLASSES.copy()
    for k, count in enumerate(counts):
        prediction[np.flatnonzero(fold == k)[:count]] = "c"
    return prediction


def test_folds_that_differ_by_more_than_chance_are_mentioned():
    finding = one(told(NOISE, CLASSES, _wrong_in_folds(30, 2, 2, 2, 2)), "parts of the rows")
    assert "between 5 % and 75 %" in finding
    none(told(NOISE, CLASSES, _wrong_in_folds(5, 6, 7, 8, 14)), "parts of the rows")
    none(told(NOISE, CLASSES, _wrong_in_folds(30, 25, 25, 25, 25)), "parts of the rows")
    fold, prediction = folds_of(NUMBERS), NUMBERS + 0.1
    prediction[fold == 2] += 0.5 + np.random.default_rng(9).random(40)
    one(told(NOISE, NUMBERS, prediction), "parts of the rows")


def test_many_more_columns_than_rows_are_mentioned():
    X = pd.DataFrame(np.random.default_rng(10).normal(size=(60, 200)))
    one(told(X, CLASSES[:60]), "200 columns for 60 rows")
    none(told(X.iloc[:, :100], CLASSES[:60]), "columns for")


def test_edges_are_worked_in_last():
    edge = ("the best C is the largest that was tried, 1e+06", "the best bandwidth is odd")
    found = told(NOISE[:40], CLASSES[:40], edges=edge)
    assert found[-1].startswith("The best C is the largest that was tried, 1e+06; the best band")
    assert len(found) == 2


def test_the_most_serious_comes_first():
    y = np.array(["well"] * 180 + ["ill"] * 20, dtype=object)
    X = NOISE.assign(after=np.where(y == "ill", 1.0, 0.0))
    X.loc[:150, "x"] = np.nan
    found = told(X, y)
    places = [found.index(one(found, words)) for words in ("alone", "90 %", "More than half")]
    assert places == sorted(places)


def test_numbers_are_written_as_people_do():
    assert number(245678.9) == "245679" and number(0.5) == "0.5" and number(1.5e12) == "1.5e+12"
