"""Encode makes rows of numbers of columns as they come, and never shows a row its own target."""

import pickle
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import mercer
from mercer import Encode, KernelRidge
from mercer.errors import DomainError

BOTH = ("standard", "quantile")


def mixed(n=60, seed=0):
    """A table with a column of each kind, most with gaps."""
    rng = np.random.default_rng(seed)
    gaps = rng.random(n) < 0.15
    start = pd.Timestamp("2020-01-01")
    return pd.DataFrame(
        {
            "height": np.where(gaps, np.nan, rng.normal(170, 10, n)),
            "income": np.exp(2 * rng.normal(size=n)),
            "few": rng.choice(["ant", "bee", "cat"], n),
            "many": [f"street {i}" for i in rng.integers(0, n // 3, n)],
            "grade": pd.Categorical(
                rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True
            ),
            "wings": rng.random(n) < 0.5,
            "day": start + pd.to_timedelta(rng.integers(0, 1500, n), unit="D"),
            "text number": rng.integers(0, 50, n).astype(str),
            "same": 7,
            "nothing": np.nan,
        },
        index=np.arange(n)[::-1] + 3,
    )


TABLE, TARGET = mixed(), np.random.default_rng(9).normal(size=60)
OPTIONS = [{}, {"numbers": "robust"}, {"numbers": BOTH}, {"levels": "onehot"}, {"max_onehot": 2}]


# ---- the contract ------------------------------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS)
def test_what_is_learned_fits_together(options):
    encode = Encode(**options)
    rows = encode.fit_transform(TABLE, TARGET)
    names = encode.get_feature_names_out()
    assert rows.shape == (60, len(encode.blocks_)) == (60, len(names))
    assert len(set(names)) == len(names) and np.isfinite(rows).all()
    places = list(TABLE.columns)
    for name, place in zip(names, encode.blocks_, strict=True):
        assert name.startswith(places[place])
    assert (np.diff(encode.blocks_) >= 0).all()
    new = encode.transform(mixed(20, seed=1))
    assert new.shape == (20, len(names)) and np.isfinite(new).all()


def test_kinds_and_what_is_left_out_are_told_by_name():
    encode = Encode().fit(TABLE, TARGET)
    assert encode.kinds_ == {
        "height": "numeric", "income": "numeric", "few": "categorical", "many": "categorical",
        "grade": "ordered", "wings": "boolean", "day": "date", "text number": "numeric",
        "same": "numeric", "nothing": "missing",
    }  # fmt: skip
    assert encode.dropped_ == {"nothing": "missing in all rows", "same": "tells no rows apart"}
    assert encode.n_features_in_ == 10 and list(encode.feature_names_in_) == list(TABLE.columns)


def test_fit_and_transform_is_fit_transform_where_no_target_is_averaged():
    for options in ({}, {"numbers": BOTH}):
        encode = Encode(**options)
        np.testing.assert_array_equal(encode.fit_transform(TABLE), encode.transform(TABLE))


@pytest.mark.parametrize("options", OPTIONS)
def test_columns_are_found_by_name_in_any_order(options):
    encode = Encode(**options).fit(TABLE, TARGET)
    other = TABLE[TABLE.columns[::-1]].assign(more="x").drop(columns=["same", "nothing"])
    np.testing.assert_array_equal(encode.transform(other), encode.transform(TABLE))
    with pytest.raises(DomainError, match=r"no column 'height'.*did you mean 'heigth'"):
        encode.transform(TABLE.rename(columns={"height": "heigth"}))


def test_it_passes_the_checks_of_scikit_learn():
    check_estimator(Encode(), on_skip=None)
    check_estimator(Encode(numbers=BOTH), on_skip=None)


def test_parameters_are_scikit_learns():
    encode = Encode(numbers=BOTH, kinds={"few": "ignored"}, smoothing=3.0)
    copy = clone(encode)
    assert copy.get_params() == encode.get_params() and copy is not encode
    assert clone(encode).set_params(numbers="robust").numbers == "robust"
    with pytest.raises(NotFittedError):
        encode.transform(TABLE)


def test_what_is_given_is_left_as_it_was():
    table = mixed()
    before = pickle.dumps(table)
    rows = Encode().fit(table, TARGET).transform(table)
    rows[:] = 7.0
    assert pickle.dumps(table) == before
    array = np.random.default_rng(0).normal(size=(9, 2))
    kept = array.copy()
    Encode().fit_transform(array)[:] = 7.0
    np.testing.assert_array_equal(array, kept)


def test_the_same_seed_deals_the_same_folds():
    one, two, other = (
        Encode(max_onehot=2, smoothing=1.0, random_state=seed).fit_transform(TABLE, TARGET)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, two)
    assert np.abs(one - other).max() > 0.01


def test_pickled_and_saved_ones_answer_the_same(tmp_path):
    for options in OPTIONS:
        machine = make_pipeline(Encode(**options), KernelRidge("gaussian", penalty=0.1))
        machine.fit(TABLE, TARGET)
        new, path = mixed(20, seed=1), tmp_path / "machine.mercer"
        mercer.save(machine, path)
        for copy in (pickle.loads(pickle.dumps(machine)), mercer.load(path)):
            assert copy.predict(new).tobytes() == machine.predict(new).tobytes()
            assert list(copy[0].get_feature_names_out()) == list(
                machine[0].get_feature_names_out()
            )
        path.unlink()


def test_it_learns_inside_the_folds_of_a_search():
    machine = make_pipeline(Encode(max_onehot=2), KernelRidge("gaussian", penalty=1.0))
    pure_noise = np.random.default_rng(4).normal(size=300)
    scores = cross_val_score(machine, mixed(300), pure_noise, cv=KFold(5))
    assert scores.mean() < 0.05


# ---- numbers -----------------------------------------------------------------------------------


def test_several_scales_follow_each_other_and_gaps_are_told_once():
    table = TABLE[["height", "income", "wings"]]
    encode = Encode(numbers=BOTH)
    rows = encode.fit_transform(table)
    assert encode.get_feature_names_out().tolist() == [
        "height", "height by rank", "height is missing", "income", "income by rank", "wings",
    ]  # fmt: skip
    assert encode.blocks_.tolist() == [0, 0, 0, 1, 1, 2]
    standard, quantile = (Encode(numbers=name).fit_transform(table) for name in BOTH)
    np.testing.assert_allclose(rows[:, 0], standard[:, 0] / np.sqrt(2))
    np.testing.assert_allclose(rows[:, 4], quantile[:, 2] / np.sqrt(2))
    np.testing.assert_array_equal(rows[:, [2, 5]], standard[:, [1, 3]])


def test_of_two_valued_columns_there_is_one_scale():
    table = pd.DataFrame({"flag": [0, 0, 1, 1, 1], "size": [1.0, 2.0, 4.0, 90.0, 1000.0]})
    encode = Encode(numbers=["quantile", "standard"]).fit(table)
    assert encode.get_feature_names_out().tolist() == ["flag", "size", "size in spreads"]
    assert Encode(numbers=BOTH).fit(table.to_numpy()).get_feature_names_out().tolist() == [
        "x0", "x1", "x1 by rank",
    ]  # fmt: skip


def test_each_kind_of_column_has_about_the_same_weight():
    """Two rows are √2 apart in the root mean square; where truth values differ, they are."""
    table = TABLE.assign(few=[f"level {i % 12}" for i in range(60)])
    for numbers in ("standard", BOTH):
        encode = Encode(numbers=numbers, kinds={"many": "ignored"})
        rows = encode.fit_transform(table.drop(columns=["height", "day", "wings"]))
        for place in np.unique(encode.blocks_):
            block = rows[:, encode.blocks_ == place]
            apart = np.sqrt(2 * block.var(axis=0).sum())
            assert 0.8 * np.sqrt(2) < apart < 1.2 * np.sqrt(2)


def test_a_gap_where_training_had_none_is_only_filled():
    encode = Encode().fit([[1.0, 2.0], [3.0, 5.0]])
    assert encode.transform([[None, 2.0]]).tolist() == [[0.0, -1.0]]


def test_a_column_of_gaps_and_one_number_tells_the_gaps():
    encode = Encode()
    rows = encode.fit_transform(pd.DataFrame({"a": [3.0, None, 3.0]}))
    assert rows.tolist() == [[0.0], [1.0], [0.0]]
    assert encode.get_feature_names_out().tolist() == ["a is missing"]


def test_texts_that_were_numbers_may_be_something_else_later():
    encode = Encode().fit(pd.DataFrame({"size": ["1", "2", "9", None]}))
    found = encode.transform(pd.DataFrame({"size": ["1", "?", None]}))
    assert found[1].tolist() == found[2].tolist() == [0.0, 1.0]
    strict = Encode().fit(pd.DataFrame({"size": [1.0, 2.0]}))
    with pytest.raises(DomainError, match=r"row 1, column 'size' of X: 'two' is not a number"):
        strict.transform(pd.DataFrame({"size": ["1", "two"]}))


# ---- categories --------------------------------------------------------------------------------


def test_levels_that_a_type_has_but_no_row_are_no_columns():
    kind = pd.Categorical(list("abab"), list("abcd"))
    encode = Encode(min_rows=1).fit(pd.DataFrame({"kind": kind}))
    assert encode.get_feature_names_out().tolist() == ["kind=a", "kind=b"]
    new = pd.DataFrame({"kind": pd.Categorical(["c", "a"], ["c", "a"])})
    assert encode.transform(new).tolist() == [[0.0, 0.0], [1.0, 0.0]]


def test_ordered_levels_are_ranks_whether_a_row_has_them_or_not():
    grades = ["low", "mid", "high"]
    table = pd.DataFrame({"grade": pd.Categorical(["low", "high", "low"], grades, ordered=True)})
    encode = Encode().fit(table)
    low, mid, high = encode.transform(pd.DataFrame({"grade": grades}))[:, 0]
    assert mid == pytest.approx((low + high) / 2) and low < high
    assert encode.transform(pd.DataFrame({"grade": ["unheard"]})).tolist() == [[0.0]]


def test_many_levels_become_statistics_of_the_target_if_there_is_one():
    encode = Encode(max_onehot=10, min_rows=1, smoothing=1.0)
    encode.fit(TABLE[["many"]], TARGET)
    assert encode.get_feature_names_out().tolist() == ["many: mean of y", "many: log count"]
    encode.fit(TABLE[["many"]], np.where(TARGET > 0, "up", "down"))
    assert encode.get_feature_names_out()[0] == "many: share of up"
    encode.fit(TABLE[["many"]], np.digitize(TARGET, [-0.5, 0.5]))
    assert [f"many: share of {c}" for c in range(3)] == encode.get_feature_names_out()[:3].tolist()
    encode.fit(TABLE[["many"]], np.column_stack([TARGET, TARGET**2]))
    assert encode.get_feature_names_out()[1] == "many: mean of y1"
    encode.fit(TABLE[["many"]])
    assert len(encode.blocks_) == TABLE["many"].nunique()


def test_whole_numbers_are_classes_or_a_quantity_as_the_user_says():
    y = np.random.default_rng(0).integers(0, 3, 60)
    names = [
        Encode(max_onehot=2, smoothing=1.0, target_kind=kind)
        .fit(TABLE[["many"]], y)
        .get_feature_names_out()[0]
        for kind in ("regress", "classify", None)
    ]
    assert names == ["many: mean of y", "many: share of 0", "many: share of 0"]


@pytest.mark.parametrize("classes", [False, True])
def test_of_random_targets_nothing_leaks_into_training_rows(classes):
    rng = np.random.default_rng(3)
    y = rng.normal(size=3000) > 0 if classes else rng.normal(size=3000)
    unique = pd.DataFrame({"id": [f"row {i}" for i in range(3000)]})
    for min_rows in (1, 3):
        rows = Encode(min_rows=min_rows).fit_transform(unique, y)
        assert np.ptp(rows) == 0.0
    pairs = pd.DataFrame({"id": [f"pair {i // 2}" for i in range(3000)]})
    encode = Encode(min_rows=1, smoothing=1.0)
    crossed, naive = encode.fit_transform(pairs, y)[:, 0], encode.transform(pairs)[:, 0]
    assert abs(np.corrcoef(crossed, y)[0, 1]) < 0.06  # about 3 standard errors
    assert np.corrcoef(naive, y)[0, 1] > 0.5  # what would have leaked


def test_levels_that_tell_of_the_target_are_worth_a_column():
    rng = np.random.default_rng(3)
    place = rng.integers(0, 40, 2000)
    y = rng.normal(size=40)[place] + 0.5 * rng.normal(size=2000)
    rows = Encode().fit_transform(pd.DataFrame({"place": place.astype(str) + " St"}), y)
    assert np.corrcoef(rows[:, 0], y)[0, 1] > 0.8


# ---- booleans and dates ------------------------------------------------------------------------


def test_false_and_true_are_root_two_apart():
    encode = Encode().fit(pd.DataFrame({"wings": [True, False, None]}))
    found = encode.transform(pd.DataFrame({"wings": [True, False, None]}))
    np.testing.assert_allclose(found[:, 0], [np.sqrt(0.5), -np.sqrt(0.5), 0.0])
    assert found[:, 1].tolist() == [0, 0, 1]


def test_a_truth_value_of_two_is_refused():
    with pytest.raises(DomainError, match=r"row 2, column 0 of X: 2 is neither true nor false"):
        Encode(kinds={0: "boolean"}).fit([[0.0], [1.0], [2.0]])
    encode = Encode().fit(pd.DataFrame({"wings": [True, False]}))
    with pytest.raises(DomainError, match="row 0, column 'wings' of X: 2 is neither"):
        encode.transform(pd.DataFrame({"wings": [2, 1]}))


def test_dates_have_their_parts():
    stamps = pd.date_range("2020-01-01", "2023-06-01", periods=50)
    for column in (stamps, stamps.strftime("%Y-%m-%d %H:%M"), stamps.tz_localize("UTC")):
        encode = Encode(numbers=BOTH).fit(pd.DataFrame({"at": column}))
        assert encode.get_feature_names_out().tolist() == [
            "at: days", "at: year", "at: sine of day of year", "at: cosine of day of year",
            "at: sine of weekday", "at: cosine of weekday", "at: sine of hour",
            "at: cosine of hour", "at: weekend",
        ]  # fmt: skip
        assert encode.blocks_.tolist() == [0] * 9


# ---- awkward tables ----------------------------------------------------------------------------


def test_columns_missing_in_training_are_ignored_in_new_rows():
    encode = Encode().fit(pd.DataFrame({"a": [None, None, None], "b": [1.0, 2.0, 3.0]}))
    for entry in (5.0, "word", np.inf, [1]):
        new = pd.DataFrame({"a": [entry], "b": [2.0]}, dtype=object)
        assert encode.transform(new).tolist() == [[0.0]]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [1.0, 1.0], "b": ["x", "x"]}),
        pd.DataFrame({"a": ["x", "y", "z"]}),  # rare levels, and nothing else
        np.ones((4, 3)),
    ],
)
def test_a_table_that_tells_nothing_is_zero(table):
    encode = Encode()
    rows = encode.fit_transform(table)
    assert rows.shape == (len(table), 1) and not rows.any()
    assert not encode.transform(table).any() and encode.dropped_
    machine = make_pipeline(Encode(), KernelRidge("gaussian", intercept=True))
    y = np.arange(len(table)) * 1.0
    np.testing.assert_allclose(machine.fit(table, y).predict(table), y.mean())


@pytest.mark.parametrize("numbers", ["standard", "robust", "quantile", BOTH])
@pytest.mark.parametrize("size", [1e-310, 1e-100, 1e100, 1.7e308])
def test_huge_and_tiny_numbers_are_finite(numbers, size):
    rows = Encode(numbers=numbers).fit_transform(size * np.array([[-1.0], [0.5], [0.75], [1.0]]))
    assert np.isfinite(rows**2).all() and (np.diff(rows, axis=0) > 0).all()


def test_arrays_of_objects_and_lists_are_tables():
    rows = [[1.0, "ant"], [3.0, "bee"], [None, "ant"]]
    expected = Encode(min_rows=1).fit_transform(pd.DataFrame(rows))
    for given in (rows, np.array(rows, dtype=object)):
        encode = Encode(min_rows=1)
        np.testing.assert_array_equal(encode.fit_transform(given), expected)
        assert encode.columns_ is None


def test_names_are_new_and_numbers_of_columns_stay_possible():
    table = pd.DataFrame({"a": [1.0, None, 2.0], "a is missing": [1.0, 2.0, 3.0]})
    assert Encode().fit(table).get_feature_names_out().tolist() == [
        "a", "a is missing", "a is missing'",
    ]  # fmt: skip
    numbered = pd.DataFrame([[1.0, "x"], [2.0, "y"]])
    assert Encode(kinds={1: "ignored"}).fit(numbered).dropped_ == {1: "ignored, as you said"}


def test_a_later_fit_replaces_an_earlier_one_and_a_failed_one_nothing():
    encode = Encode().fit(TABLE, TARGET)
    before = pickle.dumps(encode)
    with pytest.raises(DomainError):
        encode.fit([[np.inf]])
    assert pickle.dumps(encode) == before
    encode.fit([[1.0], [2.0]])
    assert encode.columns_ is None and not hasattr(encode, "feature_names_in_")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.array([[1.0, np.inf]]), "infinity at row 0, column 1"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1.0, -np.inf]}), "infinity at row 1, column 'b'"),
        (pd.DataFrame({"a": ["1", "inf"]}), "infinity at row 1, column 'a'"),
        (pd.DataFrame({"a": []}), "0 sample"),
        (pd.DataFrame(index=[1, 2]), "0 feature"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns called 'a'"),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), "all text or all numbers"),
        (pd.DataFrame({"a": [None, None]}), "no column of X has an entry to learn from"),
        (pd.DataFrame({"a": [[1], [2]]}), "column 'a' of X holds entries of type list"),
        (sparse.csr_array([[1.0]]), "dense tables, but X is sparse"),
        ([1.0, 2.0], "Expected 2D"),
        ([[1.0, 2.0], [3.0]], "same length"),
    ],
)
def test_what_cannot_be_encoded_is_refused(bad, message):
    with pytest.raises((DomainError, TypeError), match=message):
        Encode().fit(bad)


def test_other_widths_and_targets_are_refused():
    with pytest.raises(DomainError, match="expecting 2 features"):
        Encode().fit([[1.0, 2.0], [3.0, 4.0]]).transform([[1.0]])
    with pytest.raises(DomainError, match="X has 60, y has 2"):
        Encode(levels="target").fit(TABLE, [1.0, 2.0])
    with pytest.raises(DomainError, match="levels='target' needs the target: pass y"):
        Encode(levels="target").fit(TABLE)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"numbers": "standart"}, "did you mean 'standard'"),
        ({"numbers": ("standard", "rank")}, "numbers cannot be 'rank'; known are"),
        ({"numbers": ()}, r"one of standard, robust, quantile, or several different ones"),
        ({"numbers": ("robust", "robust")}, "several different ones, found"),
        ({"numbers": None}, "numbers cannot be None"),
        ({"levels": "one"}, "did you mean 'onehot'"),
        ({"max_onehot": -1}, "max_onehot must be a whole number of at least 0, found -1"),
        ({"min_rows": 0}, "min_rows must be a whole number of at least 1"),
        ({"folds": 1}, "folds must be a whole number of at least 2"),
        ({"folds": 2.5}, "folds must be"),
        ({"smoothing": 0.0}, "smoothing must be 'auto' or a positive number, found 0.0"),
        ({"smoothing": "much"}, "smoothing must be"),
        ({"target_kind": "class"}, "did you mean 'classify'"),
        ({"kinds": ["few"]}, "kinds must be a dict"),
        ({"kinds": {"fiew": "numeric"}}, "'fiew', which is no column of X; did you mean 'few'"),
        ({"kinds": {"few": "numeric"}}, "no entry of column 'few' can be read as numeric"),
        ({"kinds": {"few": "date"}}, "no entry of column 'few' can be read as date"),
        ({"kinds": {"few": "boolean"}}, "row 0, column 'few' of X: '.*' is not a number"),
    ],
)
def test_parameters_that_cannot_be_are_refused(parameters, message):
    with pytest.raises(DomainError, match=message):
        Encode(**parameters).fit(TABLE, TARGET)


@pytest.mark.slow
def test_tens_of_thousands_of_rows_take_about_a_second():
    n, rng = 50_000, np.random.default_rng(0)
    table = mixed(n).assign(**{f"x{j}": rng.normal(size=n) for j in range(5)})
    y = rng.normal(size=n)
    Encode(numbers=BOTH).fit(mixed(100), y[:100])  # imports
    start = time.process_time()
    Encode(numbers=BOTH).fit_transform(table, y)
    assert time.process_time() - start < 3.0


def test_of_dates_there_is_the_first_scale():
    days = TABLE[["day"]]
    both, alone = (Encode(numbers=numbers).fit_transform(days) for numbers in (BOTH, "standard"))
    np.testing.assert_array_equal(both, alone)


def test_an_ignored_column_may_hold_anything():
    table = pd.DataFrame({"things": [[1], {2}], "size": [1.0, 2.0]})
    encode = Encode(kinds={"things": "ignored"}).fit(table)
    assert encode.blocks_.tolist() == [1] and encode.dropped_ == {"things": "ignored, as you said"}


def test_statistics_of_huge_targets_are_finite():
    y = 1.7e308 * np.sign(TARGET)
    huge = Encode(max_onehot=2).fit_transform(TABLE, y)
    small = Encode(max_onehot=2).fit_transform(TABLE, np.sign(TARGET))
    np.testing.assert_allclose(huge, small, atol=1e-9)


def test_what_is_said_of_a_column_needs_no_look_at_its_entries():
    table = pd.DataFrame({"zip": ["123", "456"], "none": [None, None], "wave": [1j, 2j]})
    said = {"zip": "categorical", "none": "numeric"}
    kinds = Encode(kinds=said).fit(table[["zip", "none"]]).kinds_
    assert kinds == {"zip": "categorical", "none": "missing"}
    with pytest.raises(DomainError, match="Complex"):
        Encode(kinds={"wave": "numeric"}).fit(table[["wave"]])
