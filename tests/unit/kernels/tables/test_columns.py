"""Kernels on columns: by index, slice or name, in arrays, sparse rows and tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.errors import DomainError, ValidityError
from mercer.kernels import (
    Categorical,
    Gaussian,
    GlobalAlignment,
    Linear,
    Polynomial,
    QuadraticForm,
    Spectrum,
    SubsetTree,
    from_function,
    normalize,
)

TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}


def rows(n=8, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def table():
    X = pd.DataFrame(rows(), columns=["height", "weight", "age", "dose"])
    return X.assign(kind=list("aabbccdd"), site=[1, 2] * 4)


@pytest.mark.parametrize(
    ("columns", "places"),
    [
        ((0,), [0]),
        ((2, 0), [2, 0]),
        ((-1,), [3]),
        ((slice(1, 3),), [1, 2]),
        ((slice(None, None, 2), 3), [0, 2, 3]),
        ((1, 1), [1, 1]),
        ((np.int64(2),), [2]),
    ],
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, pd.DataFrame, list])
def test_columns_by_number(container, columns, places):
    X = rows()
    kernel = Gaussian(1.0).on(*columns)
    expected = Gaussian(1.0)(X[:, places])
    np.testing.assert_allclose(kernel(container(X)), expected, **TOLERANCE)
    np.testing.assert_allclose(kernel.diagonal(container(X)), np.ones(8), **TOLERANCE)


def test_columns_by_name_whatever_their_order():
    X = table()
    kernel = Linear().on("weight", "height")
    expected = X[["weight", "height"]].to_numpy() @ X[["weight", "height"]].to_numpy().T
    np.testing.assert_allclose(kernel(X), expected, **TOLERANCE)
    np.testing.assert_allclose(kernel(X[X.columns[::-1]]), expected, **TOLERANCE)
    np.testing.assert_allclose(kernel(X, X[X.columns[::-1]]), expected, **TOLERANCE)


def test_overlapping_and_nested_columns():
    X = table()
    kernel = Linear().on("height", "weight") + Polynomial(2).on("weight", "age")
    a = X[["height", "weight"]].to_numpy()
    b = X[["weight", "age"]].to_numpy()
    np.testing.assert_allclose(kernel(X), a @ a.T + (b @ b.T) ** 2, **TOLERANCE)
    nested = Linear().on(1).on("height", "age")
    np.testing.assert_allclose(nested(X), np.outer(X["age"], X["age"]), **TOLERANCE)


def test_numbers_as_categories_and_texts_as_categories():
    X = table()
    by_site = X["site"].to_numpy()[:, None] == X["site"].to_numpy()
    by_kind = X["kind"].to_numpy()[:, None] == X["kind"].to_numpy()
    np.testing.assert_array_equal(Categorical().on("site")(X), by_site)
    np.testing.assert_array_equal(Categorical().on("kind", "site")(X), by_site & by_kind)
    categorical = X.assign(kind=X["kind"].astype("category"))
    np.testing.assert_array_equal(Categorical().on("kind")(categorical), by_kind)


def test_pairs_are_rows_as_dictionaries_series_or_arrays():
    X = table()
    kernel = Gaussian(1.0).on("height", "age") * Categorical().on("kind")
    records = X.to_dict(orient="records")
    expected = kernel(X)
    for i, j in [(0, 1), (2, 2), (0, 7)]:
        assert kernel.pair(records[i], records[j]) == pytest.approx(expected[i, j])
        assert kernel.pair(X.iloc[i], X.iloc[j]) == pytest.approx(expected[i, j])
    assert Linear().on(1).pair([1.0, 2.0], [3.0, 4.0]) == 8.0


def test_a_users_function_on_some_columns_gets_those():
    X = table()
    kernel = from_function(lambda a, b: float(a["kind"] == b["kind"])).on("kind")
    expected = X["kind"].to_numpy()[:, None] == X["kind"].to_numpy()
    np.testing.assert_array_equal(kernel(X), expected)


def test_a_function_sees_the_same_row_alone_and_in_a_table():
    X = table()
    both = from_function(lambda a, b: float(a["kind"] == b["kind"]) * a["site"] * b["site"])
    kernel = both.on("kind", "site")
    records = X.to_dict(orient="records")
    assert kernel.pair(records[3], records[2]) == kernel(X)[3, 2] == 2.0
    nested = Linear().on("age").on("height", "age")
    assert nested.pair(records[0], records[1]) == pytest.approx(nested(X)[0, 1])


def test_numbers_are_names_first_also_in_a_single_row():
    X = pd.DataFrame({1: [5.0, 2.0], 0: [7.0, 3.0]})
    kernel = Linear().on(0)
    assert kernel.pair(*X.to_dict(orient="records")) == kernel(X)[0, 1] == 21.0


def test_every_kind_of_thing_in_one_table():
    n, rng = 12, np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "y": rng.normal(size=n),
            "sequence": ["".join(rng.choice(list("ACGT"), 6 + i % 3)) for i in range(n)],
            "species": [f"s{i % 3}" for i in range(n)],
            "course": [rng.normal(size=2 + i % 4) for i in range(n)],
            "parse": [f"(S (A {w}) b)" for w in rng.choice(["u", "v"], n)],
            "letters": [frozenset(rng.choice(list("abcd"), 2)) for _ in range(n)],
        },
        index=range(50, 50 + n),
    )
    kernel = (
        Gaussian().on("x", "y")
        + Spectrum(3).on("sequence") * Categorical().on("species")
        + GlobalAlignment().on("course")
        + normalize(SubsetTree()).on("parse")
        + from_function(lambda a, b: float(len(a["letters"] & b["letters"]))).on("letters")
    ).resolve(X)
    K = kernel(X)
    parts = (
        Gaussian().resolve(X[["x", "y"]].to_numpy())(X[["x", "y"]].to_numpy()),
        Spectrum(3)(X["sequence"]) * Categorical()(X["species"]),
        GlobalAlignment().resolve(X["course"])(X["course"]),
        normalize(SubsetTree())(list(X["parse"])),
        from_function(lambda a, b: float(len(a & b)))(list(X["letters"])),
    )
    np.testing.assert_allclose(K, sum(parts), **TOLERANCE)
    np.testing.assert_allclose(kernel(X[3:5], X[::-1]), K[3:5, ::-1], **TOLERANCE)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(K), **TOLERANCE)
    rows = X.to_dict(orient="records")
    assert kernel.pair(rows[2], rows[7]) == pytest.approx(K[2, 7])
    objects = X.to_numpy(dtype=object)
    by_number = Spectrum(3).on(2) + GlobalAlignment(1.0).on(4) + SubsetTree().on(5)
    by_name = (
        Spectrum(3).on("sequence") + GlobalAlignment(1.0).on("course") + SubsetTree().on("parse")
    )
    np.testing.assert_array_equal(by_number(objects), by_name(X))


def test_heuristics_look_only_at_the_kernels_columns():
    X = table()
    kernel = (Gaussian("median").on("height") + Gaussian("scale").on("dose", "age")).resolve(X)
    median = Gaussian("median").resolve(X[["height"]].to_numpy()).bandwidth
    scale = Gaussian("scale").resolve(X[["dose", "age"]].to_numpy()).bandwidth
    assert kernel.left.kernel.bandwidth == pytest.approx(median, rel=1e-12)
    assert kernel.right.kernel.bandwidth == pytest.approx(scale, rel=1e-12)


def test_features_on_columns():
    X = table()
    kernel = Polynomial(2).on("height", "weight") + Categorical().on("kind")
    F = kernel.features(X)
    F = F.toarray() if sparse.issparse(F) else F
    np.testing.assert_allclose(F @ F.T, kernel(X), **TOLERANCE)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (Linear().on("hieght"), r"X has no column 'hieght'; did you mean 'height'\?"),
        (Linear().on("zzz"), r"X has no column 'zzz'; known are 'age', 'dose', 'height'"),
        (Linear().on(6), r"X has 6 columns, so there is no column 6"),
        (Linear().on(-7), r"X has 6 columns, so there is no column -7"),
        (Linear().on("kind"), r"column 'kind' of X holds .*Categorical\(\).on\('kind'\)"),
        (Gaussian(1.0).on("height", "kind"), r"column 'kind' of X holds"),
        (Linear(), r"column 'kind' of X holds"),
    ],
)
def test_columns_that_are_not_there_or_not_numbers(kernel, words):
    X = table()
    before = X.copy()
    for method in (kernel, kernel.diagonal, kernel.features, lambda X: kernel(X.iloc[:2], X)):
        with pytest.raises((DomainError, ValidityError), match=words):
            method(X)
    pd.testing.assert_frame_equal(X, before)


def test_texts_that_look_like_numbers_are_still_texts():
    X = table().assign(age=[str(i) for i in range(8)])
    with pytest.raises(DomainError, match=r"column 'age' of X holds"):
        Gaussian(1.0).on("age")(X)


def test_dates_are_not_silently_numbers():
    X = table().assign(age=pd.date_range("2024-01-01", periods=8))
    with pytest.raises(DomainError, match=r"column 'age' of X holds datetime64"):
        Gaussian(1.0).on("age")(X)


def test_a_bad_value_is_named_by_the_users_column():
    X = table()
    X.loc[5, "dose"] = np.nan
    with pytest.raises(DomainError, match=r"NaN at row 5, column \d \('dose'\)"):
        Gaussian(1.0).on("height", "dose")(X)
    A = rows().astype(object)
    A[5, 3] = np.nan
    with pytest.raises(DomainError, match=r"NaN at row 5, column 3"):
        Gaussian(1.0).on(0, 3)(A)


def test_an_array_has_no_names():
    with pytest.raises(DomainError, match=r"column 'height' was asked for by name, but X has no"):
        Linear().on("height")(rows())


def test_a_missing_category_is_named():
    X = table().assign(kind=["a", None, "b", "a", "b", "a", "b", "a"])
    with pytest.raises(DomainError, match=r"row 1 of X has nothing in column 'kind'; fill it in"):
        Categorical().on("kind")(X)


def test_two_tables_must_have_the_columns_that_are_compared():
    X = table()
    with pytest.raises(DomainError, match=r"no column 'weight'|same number"):
        Linear().on("weight")(X, X.drop(columns="weight"))


def test_tables_without_names_in_the_kernel_are_compared_by_name_or_refused():
    """Heights with weights is no similarity that anybody asked for."""
    X = table()[["height", "weight"]]
    swapped = X[["weight", "height"]]
    try:
        found = Linear()(X, swapped)
    except DomainError:
        return
    np.testing.assert_allclose(found, Linear()(X), **TOLERANCE)


def test_a_proof_builds_no_table_up_to_a_column_far_to_the_right():
    form = QuadraticForm([[1.0, 0.9], [0.9, 1.0]])
    assert form.on(0, 1, missing="ignore dimension").proof().verdict == "refuted"
    k = form.on(0, 10**15, missing="ignore dimension")
    assert k.proof().verdict == "unknown"
