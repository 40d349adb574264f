"""Standardizing takes units away, tells gaps, and leaves everything else alone."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from mercer import SVC, KernelRidge, KernelRidgeClassifier, Standardize
from mercer.errors import DomainError
from mercer.kernels import Categorical, Gaussian, Spectrum
from mercer.machines.moments import moments, portions
from mercer.selection import GridSearchCV

rng = np.random.default_rng(5)
X = rng.normal(size=(40, 4)) * [1.0, 1000.0, 1e-3, 1.0] + [0.0, 5.0, 70.0, -3.0]
NEW = rng.normal(size=(6, 4)) * [1.0, 1000.0, 1e-3, 1.0]


def mixed(n=12):
    """A table with columns of all kinds, numbers in two of them missing."""
    table = pd.DataFrame(
        {
            "word": [f"w{i % 3}" for i in range(n)],
            "height": np.linspace(1.0, 2.0, n),
            "legs": np.arange(n) % 4,
            "wings": np.arange(n) % 2 == 0,
            "kind": pd.Categorical(np.where(np.arange(n) % 2, "a", "b")),
            "things": [[i] for i in range(n)],
        },
        index=np.arange(n)[::-1],
    )
    table.iloc[3, 1] = np.nan
    table["age"] = pd.array([None, *range(n - 1)], dtype="Int64")
    return table


# ---- arrays ------------------------------------------------------------------------------------


def test_columns_have_mean_zero_and_spread_one():
    Z = Standardize().fit_transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(Z.std(axis=0), 1.0, rtol=1e-12)


def test_without_gaps_it_is_scikit_learns_scaler():
    mine, theirs = Standardize().fit(X), StandardScaler().fit(X)
    np.testing.assert_allclose(mine.means_, theirs.mean_, rtol=1e-12)
    np.testing.assert_allclose(mine.spreads_, theirs.scale_, rtol=1e-12)
    np.testing.assert_allclose(mine.transform(NEW), theirs.transform(NEW), rtol=1e-9)


@given(
    st.lists(st.integers(-1000, 1000), min_size=3, max_size=20, unique=True),
    st.sampled_from([2.0**-40, 0.25, 8.0, 2.0**40]),
    st.integers(-100, 100),
)
def test_units_do_not_matter(numbers, unit, origin):
    column = np.array(numbers, dtype=float)[:, None]
    other = unit * (column + origin)
    one, two = Standardize().fit_transform(column), Standardize().fit_transform(other)
    np.testing.assert_allclose(one, two, atol=1e-10)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-30, 1e30, 1e200, 1e307])
def test_huge_and_tiny_numbers_keep_their_spread(size):
    Z = Standardize().fit_transform(size * np.array([[1.0], [2.0], [3.0]]))
    np.testing.assert_allclose(Z[:, 0], np.sqrt(1.5) * np.array([-1, 0, 1]), rtol=1e-3, atol=1e-9)


def test_numbers_far_from_zero_keep_their_digits():
    column = 1e9 + np.array([[0.0], [0.25], [0.5], [0.75]])
    expected = (np.arange(4) - 1.5) / np.std(np.arange(4))
    np.testing.assert_allclose(Standardize().fit_transform(column)[:, 0], expected, rtol=1e-12)


@pytest.mark.parametrize("value", [0.1, -7.0, 1e300, 1e-310, 0.0])
def test_a_column_without_spread_is_only_moved(value):
    column = np.full((7, 1), value)
    column[2] = np.nan
    scaler = Standardize().fit(column)
    assert scaler.spreads_.tolist() == [1.0] and scaler.means_.tolist() == [value]
    assert (scaler.transform(column)[:, 0] == 0.0).all()
    assert scaler.transform([[value + 3.0]])[0, 0] == value + 3.0 - value


def test_differences_that_are_rounding_errors_are_no_spread():
    column = np.array([[0.1 + 0.2], [0.3], [0.3]])
    assert np.abs(Standardize().fit_transform(column)).max() < 1e-15


def test_columns_are_the_same_in_portions(monkeypatch):
    whole = Standardize().fit(X)
    monkeypatch.setattr("mercer.machines.moments.BLOCK_NUMBERS", 50)
    assert len(portions(X)) == 4 and len(portions(X.T)) > 2
    parts = Standardize().fit(X)
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-14)
    np.testing.assert_allclose(parts.transform(X), whole.transform(X), atol=1e-10)


def test_single_precision_stays_single():
    Z = Standardize().fit_transform(X.astype(np.float32))
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, Standardize().fit_transform(X), atol=1e-2)
    assert Standardize().fit_transform([[1, 2], [3, 5]]).dtype == np.float64


def test_it_passes_the_checks_of_scikit_learn():
    check_estimator(Standardize(), on_skip=None)


# ---- gaps --------------------------------------------------------------------------------------


def with_gaps():
    G = X.copy()
    G[3, 1] = G[5, 1] = G[7, 3] = np.nan
    return G


def test_a_gap_becomes_the_mean_and_is_told():
    G = with_gaps()
    scaler = Standardize().fit(G)
    Z = scaler.transform(G)
    assert scaler.gaps_ == [1, 3] and Z.shape == (40, 6)
    np.testing.assert_array_equal(Z[:, 4:], np.isnan(G[:, [1, 3]]))
    assert Z[3, 1] == Z[5, 1] == Z[7, 3] == 0.0
    np.testing.assert_allclose(Z[:, :4].mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(scaler.means_, np.nanmean(G, axis=0), rtol=1e-12)
    np.testing.assert_allclose(scaler.spreads_, np.nanstd(G, axis=0), rtol=1e-12)


def test_a_gap_in_a_column_that_had_none_is_only_filled():
    scaler = Standardize().fit(with_gaps())
    Z = scaler.transform([[None, 1.0, 2.0, 3.0]])
    assert Z.shape == (1, 6) and Z[0, 0] == 0.0 and Z[0, 4:].tolist() == [0.0, 0.0]


def test_gaps_of_chosen_columns_are_told_whether_there_are_any_or_not():
    scaler = Standardize(gaps=[2, 1]).fit(with_gaps())
    Z = scaler.transform([[np.nan, np.nan, 1.0, 2.0]])
    assert scaler.gaps_ == [1, 2] and Z[0, 4:].tolist() == [1.0, 0.0]
    assert Standardize(gaps=[]).fit_transform(with_gaps()).shape == (40, 4)
    with pytest.raises(DomainError, match=r"gaps names 'hight'.*did you mean 'height'"):
        Standardize(gaps=["hight"]).fit(mixed())
    with pytest.raises(DomainError, match="gaps names 'word', which is no column of numbers"):
        Standardize(gaps=["word"]).fit(mixed())


def test_a_column_that_is_missing_everywhere_is_named():
    G = with_gaps()
    G[:, 2] = np.nan
    with pytest.raises(DomainError, match="column 2 of X is missing in all rows"):
        Standardize().fit(G)
    with pytest.raises(DomainError, match="column 'height' of X is missing in all rows"):
        Standardize().fit(mixed().assign(height=np.nan))


def test_missing_values_of_object_arrays_are_gaps():
    rows = np.array([[1.0, None], [3.0, 4], [pd.NA, 6.0]], dtype=object)
    Z = Standardize().fit_transform(rows)
    assert Z.tolist() == [[-1, 0, 0, 1], [1, -1, 0, 0], [0, 1, 1, 0]]


# ---- sparse rows -------------------------------------------------------------------------------


def sparse_rows():
    S = sparse.random_array((30, 6), density=0.3, rng=np.random.default_rng(0), format="csr")
    return S * 100.0


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_are_divided_by_their_root_mean_square(kind, form):
    S = kind(sparse_rows()).asformat(form)
    Z = Standardize().fit_transform(S)
    assert sparse.issparse(Z) and Z.nnz == S.nnz
    A = S.toarray()
    np.testing.assert_allclose(Z.toarray(), A / np.sqrt(np.mean(A**2, axis=0)), rtol=1e-12)


def test_a_column_of_zeros_stays_zero():
    Z = Standardize().fit_transform(sparse.csr_array([[0.0, 2.0], [0.0, 2.0]]))
    assert Z.toarray().tolist() == [[0.0, 1.0], [0.0, 1.0]]


def test_gaps_of_sparse_rows_become_the_mean_and_are_told():
    S = sparse_rows()
    S.data[[2, 9]] = np.nan
    scaler = Standardize().fit(S)
    Z, A = scaler.transform(S), S.toarray()
    gaps = np.flatnonzero(np.isnan(A).any(axis=0))
    assert scaler.gaps_ == gaps.tolist() and Z.shape == (30, 6 + len(gaps))
    filled = np.where(np.isnan(A), np.nanmean(A, axis=0), A)
    expected = filled / np.sqrt(np.nanmean(A**2, axis=0))
    np.testing.assert_allclose(Z.toarray()[:, :6], expected, rtol=1e-12)
    np.testing.assert_array_equal(Z.toarray()[:, 6:], np.isnan(A[:, gaps]))
    assert Z.nnz == S.nnz + 2
    np.testing.assert_allclose(scaler.transform(A), Z.toarray(), rtol=1e-12)


def test_duplicate_entries_of_sparse_rows_are_one_entry():
    S = sparse.coo_array(([1.0, 2.0, 1.0], ([0, 0, 1], [0, 0, 0])), shape=(2, 1))
    csr = sparse.csr_array(([1.0, 2.0, 1.0], [0, 0, 0], [0, 2, 3]), shape=(2, 1))
    for rows in (S, csr):
        np.testing.assert_allclose(
            Standardize().fit_transform(rows).toarray()[:, 0], np.array([3, 1]) / np.sqrt(5)
        )
    assert csr.nnz == 3


def test_sparse_rows_after_dense_ones_are_refused():
    with pytest.raises(DomainError, match=r"learned from dense rows.*toarray"):
        Standardize().fit(X).transform(sparse.csr_array(X))


# ---- tables ------------------------------------------------------------------------------------


def test_only_columns_of_numbers_change():
    table = mixed()
    scaler = Standardize().fit(table)
    out = scaler.transform(table)
    told = ["height is missing", "age is missing"]
    assert list(out.columns) == [*table.columns, *told] == list(scaler.get_feature_names_out())
    assert scaler.gaps_ == ["height", "age"] and scaler.columns_ == list(table.columns)
    for name in ("word", "kind", "things"):
        pd.testing.assert_series_equal(out[name], table[name])
    for name in ("height", "legs", "wings", "age"):
        column = table[name].to_numpy(float, na_value=np.nan)
        expected = (column - np.nanmean(column)) / np.nanstd(column)
        expected[np.isnan(column)] = 0.0
        np.testing.assert_allclose(out[name], expected, atol=1e-12)
    assert out["age is missing"].tolist() == [1.0] + 11 * [0.0]
    assert out.index.equals(table.index)
    places = [list(table.columns).index(name) for name in ("word", "kind", "things")]
    assert np.flatnonzero(np.isnan(scaler.means_)).tolist() == places


def test_columns_are_found_by_name_and_others_left_out():
    table = mixed()
    scaler = Standardize().fit(table)
    shuffled = table[list(table.columns)[::-1]].assign(more=1.0)
    pd.testing.assert_frame_equal(scaler.transform(shuffled), scaler.transform(table))


def test_a_missing_column_is_named():
    table = mixed()
    with pytest.raises(DomainError, match=r"no column 'height'.*did you mean 'heigth'"):
        Standardize().fit(table).transform(table.rename(columns={"height": "heigth"}))


def test_numbers_that_became_words_are_refused_and_objects_that_are_numbers_are_not():
    table = mixed()
    scaler = Standardize().fit(table)
    with pytest.raises(DomainError, match=r"column 'legs' of X holds .* values, but it was num"):
        scaler.transform(table.assign(legs="four"))
    objects = table.assign(height=table["height"].astype(object).where(table["height"] > 0, None))
    pd.testing.assert_frame_equal(scaler.transform(objects), scaler.transform(table))


def test_names_of_told_columns_are_new():
    table = pd.DataFrame({"a": [1.0, np.nan], "a is missing": ["x", "y"]})
    assert list(Standardize().fit_transform(table).columns) == [
        "a",
        "a is missing",
        "a is missing'",
    ]
    numbered = pd.DataFrame([[1.0, 2.0], [np.nan, 3.0]])
    assert list(Standardize().fit_transform(numbered).columns) == [0, 1, 2]


def test_a_table_without_numbers_passes():
    words = pd.DataFrame({"word": ["a", "b"]})
    pd.testing.assert_frame_equal(Standardize().fit_transform(words), words)
    with pytest.raises(DomainError, match=r"X is an array; pass a DataFrame"):
        Standardize().fit(mixed()[["word", "legs"]]).transform(pd.DataFrame([[1, 2]]).to_numpy())


def test_single_precision_columns_stay_single():
    table = pd.DataFrame({"a": np.array([1, 2, 3], np.float32), "b": [1.0, 2.0, 4.0]})
    assert Standardize().fit_transform(table).dtypes.tolist() == [np.float32, np.float64]


def test_scikit_learn_can_make_a_table_of_an_array():
    scaler = Standardize().set_output(transform="pandas").fit(with_gaps())
    out = scaler.transform(with_gaps())
    assert list(out.columns) == ["x0", "x1", "x2", "x3", "x1 is missing", "x3 is missing"]
    assert list(scaler.get_feature_names_out(["a", "b", "c", "d"]))[-1] == "d is missing"


# ---- bad input, and what is left alone ---------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.array([[1.0, np.inf]]), "infinity at row 0, column 1"),
        (sparse.csr_array([[0.0, 1.0], [0.0, -np.inf]]), "infinity at row 1, column 1"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1.0, np.inf]}), "infinity at row 1, column 'b'"),
        (pd.DataFrame({"a": [], "b": []}), "0 sample"),
        (pd.DataFrame(index=[1, 2]), "0 feature"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns called 'a'"),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), "all text or all numbers"),
        ([[1.0, 2.0], [3.0]], "same length"),
        ([["a", "b"]], "numbers"),
        ([1.0, 2.0], "Expected 2D"),
        (np.zeros((0, 3)), "0 sample"),
    ],
)
def test_what_cannot_be_standardized_is_refused_and_nothing_is_forgotten(bad, message):
    scaler = Standardize().fit(with_gaps())
    before = pickle.dumps(scaler)
    with pytest.raises(DomainError, match=message):
        scaler.fit(bad)
    assert pickle.dumps(scaler) == before


def test_infinite_numbers_and_other_widths_are_refused_later_too():
    with pytest.raises(DomainError, match="infinity at row 1, column 2"):
        Standardize().fit(X).transform([[1, 2, 3, 4], [1, 2, np.inf, np.inf]])
    with pytest.raises(DomainError, match="expecting 4 features"):
        Standardize().fit(X).transform(X[:, :3])
    table = mixed()
    table.iloc[4, 1] = -np.inf
    with pytest.raises(DomainError, match="infinity at row 4, column 'height'"):
        Standardize().fit(mixed()).transform(table)


def test_what_is_given_is_left_as_it_was():
    for rows in (with_gaps(), mixed(), sparse_rows()):
        before = pickle.dumps(rows)
        out = Standardize().fit(rows).transform(rows)
        if isinstance(out, np.ndarray):
            out[:] = 7.0
        elif sparse.issparse(out):
            out.data[:] = 7.0
        else:
            out["height"] = 7.0
        assert pickle.dumps(rows) == before


def test_numbers_of_a_later_fit_replace_those_of_an_earlier_one():
    scaler = Standardize().fit(mixed()).fit(X)
    assert scaler.columns_ is None and not hasattr(scaler, "feature_names_in_")
    np.testing.assert_array_equal(scaler.transform(X), Standardize().fit_transform(X))


def test_moments_of_no_columns_are_none():
    means, spreads = moments(np.empty((3, 0)), np.empty(0, int))
    assert means.size == spreads.size == 0


# ---- inside the fold ---------------------------------------------------------------------------


def test_inside_a_pipeline_nothing_of_the_test_items_is_seen():
    y = X[:, 0] + X[:, 1] / 1000
    wild = X.copy()
    wild[:8] *= 50.0  # the first fold would change the means and spreads of all items
    chain = make_pipeline(Standardize(), KernelRidge("gaussian", penalty=0.1))
    found = cross_val_predict(chain, wild, y, cv=KFold(5))
    for train, test in KFold(5).split(wild):
        mean, spread = wild[train].mean(axis=0), wild[train].std(axis=0)
        machine = KernelRidge("gaussian", penalty=0.1).fit((wild[train] - mean) / spread, y[train])
        expected = machine.predict((wild[test] - mean) / spread)
        np.testing.assert_allclose(found[test], expected, rtol=1e-9)
    leaking = (wild - wild.mean(axis=0)) / wild.std(axis=0)
    leaked = cross_val_predict(chain[-1], leaking, y, cv=KFold(5))
    assert np.abs(found - leaked).max() > 1e-3


def test_a_search_fits_it_in_each_fold():
    y = np.where(X[:, 0] + X[:, 1] / 1000 > 0, "yes", "no")
    chain = make_pipeline(Standardize(gaps=[1]), SVC())
    grid = {"svc__C": [0.1, 10.0]}
    search = GridSearchCV(chain, grid, cv=KFold(4)).fit(with_gaps(), y)
    for i, price in enumerate(grid["svc__C"]):
        machine = clone(chain).set_params(svc__C=price)
        right = cross_val_predict(machine, with_gaps(), y, cv=KFold(4)) == y
        assert search.cv_results_["mean_test_score"][i] == pytest.approx(right.mean())


def test_a_kernel_asks_for_told_gaps_by_name():
    table = mixed(30)
    table.iloc[[0, 1, 5], 1] = np.nan
    y = np.where(table["height"].isna(), "unknown", "known")
    kernel = Gaussian("median").on("height", "legs", "height is missing") + Categorical().on(
        "kind"
    )
    machine = KernelRidgeClassifier(kernel + Spectrum(1).on("word"), penalty=0.01)
    chain = make_pipeline(Standardize(gaps=["height"]), machine).fit(table, y)
    assert chain.score(table, y) == 1.0
    # In the first fold no training item has a gap, but the column that tells of them is there.
    folds = [(np.arange(6, 30), np.arange(6)), (np.arange(6), np.arange(6, 30))]
    y = np.where(np.arange(30) % 2, "odd", "even")
    assert len(cross_val_predict(chain, table, y, cv=folds)) == 30


def test_standardized_numbers_stay_together():
    table = pd.DataFrame(rng.normal(size=(8, 50)), columns=[f"x{j}" for j in range(50)])
    table.iloc[2, 7] = np.nan
    found = Standardize().fit_transform(table.assign(word="a"))
    assert list(found.columns) == [*table.columns, "word", "x7 is missing"]
    first, last = found["x0"].to_numpy(), found["x49"].to_numpy()
    assert first.base is not None and first.base is last.base  # parts of one array


def test_columns_of_one_unit_can_keep_their_proportions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 10.0, 0.01] + [5.0, 0.0, 1.0]
    found = Standardize(common=True).fit_transform(X)
    assert np.allclose(found.mean(axis=0), 0)
    assert np.allclose(found.std(axis=0) / found.std(axis=0)[0], X.std(axis=0) / X.std(axis=0)[0])
    assert np.mean(found.var(axis=0)) == pytest.approx(1.0)
    huge = Standardize(common=True).fit_transform(X * 1e200)
    assert np.allclose(huge, found)
