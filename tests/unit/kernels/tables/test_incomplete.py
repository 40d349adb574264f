"""What a gap in a table means, choice by choice, against rows compared one by one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.errors import DomainError
from mercer.kernels import (
    ArcCosine,
    Brownian,
    Categorical,
    Cosine,
    Exponential,
    Gaussian,
    GlobalAlignment,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    QuadraticForm,
    RationalQuadratic,
    Shepard,
    SubsetTree,
    Tanimoto,
    from_function,
    normalize,
)
from tests.unit.kernels.tables.gapped_rows import IGNORE, NAN, OWN, TOLERANCE, rows


def test_rows_are_compared_with_rows_that_lack_the_same():
    X = np.array([[1.0, 2.0], [1.5, NAN], [0.5, NAN], [NAN, NAN], [NAN, 2.0], [NAN, NAN]])
    K = Gaussian(1.0).on(0, 1, missing=OWN)(X)
    expected = np.eye(6)
    expected[1, 2] = expected[2, 1] = np.exp(-0.5)
    expected[3, 5] = expected[5, 3] = 1.0
    np.testing.assert_allclose(K, expected, **TOLERANCE)
    products = Linear().on(0, 1, missing=OWN)(X)
    np.testing.assert_allclose(products[1], [0.0, 2.25, 0.75, 0.0, 0.0, 0.0], **TOLERANCE)


@pytest.mark.parametrize(
    "kernel",
    [
        # distances and dot products, which are computed for all pairs at once
        Gaussian(0.8),
        Gaussian((1.0, 2.0, 0.5)),
        Laplacian(1.5),
        Laplacian((1.0, 2.0, 0.5)),
        Exponential(1.0),
        Matern(1.5, (2.0, 1.0, 1.0)),
        RationalQuadratic(0.5, 1.0),
        Shepard(1.0, 1.5, 1.5),
        Shepard(0.5, 2.0, 1.0, (0.5, 0.0, 2.0)),
        Gaussian(1.0) + Linear() * Laplacian(2.0),
        Polynomial(2, 1.0),
        Linear(),
        # and others, for which rows with the same gaps are compared at once
        Gaussian(1.0) + 0.5,
        Cosine(),
        Tanimoto(),
        ArcCosine(1),
        Brownian(),
        Periodic(1.5, 1.0),
        QuadraticForm([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]]),
        normalize(Polynomial(2, 1.0)),
    ],
    ids=repr,
)
def test_rows_are_compared_on_the_columns_that_both_have(kernel):
    X = rows()
    lost = np.isnan(X)
    expected = np.empty((len(X), len(X)))
    for i, x in enumerate(X):
        for j, z in enumerate(X):
            both = ~(lost[i] | lost[j])
            expected[i, j] = kernel.pair(np.where(both, x, 0.0), np.where(both, z, 0.0))
    k = kernel.on(0, 1, 2, missing=IGNORE)
    np.testing.assert_allclose(k(X), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(k(X[3:6], X[:1]), expected[3:6, :1], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(k.diagonal(X), np.diag(expected), rtol=1e-10, atol=1e-12)


def test_a_missing_thing_is_a_category_or_nothing():
    words = pd.DataFrame({"kind": ["a", None, "b", NAN, "a", pd.NA]})
    gone = np.array([0, 1, 0, 1, 0, 1], dtype=bool)
    same = np.array([[1, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0]], dtype=float)[[0, 1, 1, 1, 0, 1]]
    same[[1, 3, 5]] = 0.0
    both_gone = np.outer(gone, gone).astype(float)
    for kernel in (Categorical(), from_function(lambda a, b: float(a["kind"] == b["kind"]))):
        np.testing.assert_array_equal(kernel.on("kind", missing=IGNORE)(words), same)
        np.testing.assert_array_equal(kernel.on("kind", missing=OWN)(words), same + both_gone)
        np.testing.assert_array_equal(kernel.on("kind", missing=OWN).diagonal(words), np.ones(6))
        np.testing.assert_array_equal(kernel.on("kind", missing=IGNORE).diagonal(words), 1 - gone)


def test_several_categories_are_equal_if_they_lack_the_same_and_the_rest_is_equal():
    table = pd.DataFrame({"a": ["u", "u", None, None, None], "b": [1.0, NAN, 1.0, 1.0, NAN]})
    K = Categorical().on("a", "b", missing=OWN)(table)
    expected = np.eye(5)
    expected[2, 3] = expected[3, 2] = 1.0
    np.testing.assert_array_equal(K, expected)
    whole = Categorical().on("a", "b", missing=IGNORE)(table)
    np.testing.assert_array_equal(whole, np.diag([1.0, 0, 0, 0, 0]))


@pytest.mark.parametrize("choice", [OWN, IGNORE])
def test_without_gaps_the_choice_changes_nothing(choice):
    table = pd.DataFrame(
        {
            "x": [0.1, 0.5, -1.0],
            "y": [1.0, 0.0, 0.3],
            "kind": list("aba"),
            "course": [[1.0], [2.0, 1.0], [0.0]],
            "parse": ["(S a)", "(S (A b))", "(S a)"],
        }
    )
    for kernel, columns in (
        (Gaussian(1.0), ("x", "y")),
        (Categorical(), ("kind",)),
        (GlobalAlignment(1.0), ("course",)),
        (SubsetTree(), ("parse",)),
    ):
        plain, chosen = kernel.on(*columns), kernel.on(*columns, missing=choice)
        np.testing.assert_array_equal(chosen(table), plain(table))
        np.testing.assert_array_equal(chosen.diagonal(table), plain.diagonal(table))


@pytest.mark.parametrize("choice", [OWN, IGNORE])
@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        lambda X: X.astype(object),
        lambda X: X.tolist(),
        lambda X: np.where(np.isnan(X), None, X),
        lambda X: np.where(np.isnan(X), None, X).tolist(),
        pd.DataFrame,
        lambda X: pd.DataFrame(X).astype("Float64"),
        lambda X: pd.DataFrame(X).astype(object).where(~np.isnan(X), pd.NA),
        sparse.csr_array,
        np.asfortranarray,
    ],
)
def test_gaps_of_all_kinds_in_all_containers(convert, choice):
    X = rows()
    for kernel in (Gaussian(1.0), Polynomial(2)):
        k = kernel.on(0, 2, missing=choice)
        np.testing.assert_allclose(k(convert(X)), k(X), **TOLERANCE)
        np.testing.assert_allclose(k(convert(X[:4]), convert(X)), k(X)[:4], **TOLERANCE)


def test_dates_and_typed_columns_have_gaps_too():
    table = pd.DataFrame(
        {
            "day": pd.to_datetime(["2024-01-01", None, "2024-01-01"]),
            "sort": pd.Categorical(["a", "a", None]),
            "text": pd.array(["u", None, "u"], dtype="string"),
            "count": pd.array([1, None, 2], dtype="Int64"),
            "flag": pd.array([True, None, True], dtype="boolean"),
        }
    )
    own = {c: Categorical().on(c, missing=OWN)(table) for c in ("day", "sort", "text", "count")}
    np.testing.assert_array_equal(own["day"], [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    np.testing.assert_array_equal(own["sort"], [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(own["text"], own["day"])
    np.testing.assert_array_equal(own["count"], np.eye(3))
    counts = Linear().on("count", "flag", missing=IGNORE)(table)
    np.testing.assert_array_equal(counts, [[2, 0, 3], [0, 0, 0], [3, 0, 5]])
    with pytest.raises(DomainError, match=r"column 'day' of X holds datetime64"):
        Linear().on("day", missing=OWN)(table)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(*[st.one_of(st.just(NAN), st.floats(-2.0, 2.0))] * 2), min_size=2, max_size=6
    ),
    st.sampled_from([OWN, IGNORE]),
)
def test_one_row_at_a_time_gives_the_same(some, choice):
    """`pair` is written without tables, masks and blocks."""
    X = np.array(some)
    for kernel in (Gaussian(0.9), Linear() + 1.0, Categorical()):
        k = kernel.on(1, 0, missing=choice)
        expected = [[k.pair(x, z) for z in X] for x in X]
        np.testing.assert_allclose(k(X), expected, **TOLERANCE)
        by_name = k.set_params(columns=("b", "a"))
        table = pd.DataFrame(X, columns=["a", "b"])
        np.testing.assert_allclose(by_name(table), expected, **TOLERANCE)
        row = table.iloc[0]
        assert by_name.pair(row, row.to_dict()) == pytest.approx(expected[0][0], abs=1e-14)
