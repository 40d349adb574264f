"""Kernels on tables with gaps: validity, heuristics, slopes, features, searches, complaints."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer import SVC, GaussianProcess, KernelRidge
from mercer.engine import tiles
from mercer.errors import DomainError, ValidityError
from mercer.gram.slopes import slopes_of
from mercer.kernels import (
    Block,
    Categorical,
    Gaussian,
    GlobalAlignment,
    Laplacian,
    Linear,
    Polynomial,
    SubsetTree,
    from_function,
    normalize,
)
from mercer.selection import GridSearchCV
from tests.unit.kernels.tables.gapped_rows import IGNORE, NAN, OWN, TOLERANCE, rows


def frame(n=18):
    """Return a table with a column of every kind, and gaps in each."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "y": rng.normal(size=n),
            "kind": [str(k) for k in rng.choice(["a", "b"], n)],
            "course": [rng.normal(size=1 + i % 3).tolist() for i in range(n)],
            "parse": [f"(S (A {w}) b)" for w in rng.choice(["u", "v"], n)],
        }
    ).astype({"kind": object})
    for j in range(table.shape[1]):
        for i in np.flatnonzero(rng.random(n) < 0.25):
            table.iat[i, j] = NAN if j < 2 else None
    return table


# ---- validity ----------------------------------------------------------------------------------


def test_a_row_without_entries_refutes_distances():
    """[[1, 1, 1], [1, 1, g], [1, g, 1]] has the determinant −(1 − g)²."""
    k = Gaussian(2.0).on("x", missing=IGNORE)
    proof = k.proof()
    assert proof.verdict == "refuted"
    K = k(proof.witness.points)
    g = K[1, 2]
    assert 0 < g < 1 and np.linalg.det(K) == pytest.approx(-((1 - g) ** 2))
    assert "missing='own category'" in str(proof)


@pytest.mark.parametrize("bandwidth", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("columns", [(0,), (-1,), (slice(1, 3),), (2, 0), ("x", "y")])
def test_witnesses_at_every_scale_and_place(columns, bandwidth):
    k = Gaussian(bandwidth).on(*columns, missing=IGNORE)
    proof = k.proof()
    assert proof.verdict == "refuted"
    assert np.linalg.eigvalsh(k(proof.witness.points))[0] < -0.01


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, 1.0), 2.0 * Linear() ** 2 + 1.0])
def test_dot_products_may_ignore_gaps(kernel):
    k = kernel.on(0, 1, 2, missing=IGNORE)
    assert k.proof().verdict == "proved"
    X = rows(40, share=0.5)
    assert np.linalg.eigvalsh(k(X))[0] > -1e-10 * np.abs(k(X)).max()
    np.testing.assert_allclose(k(X), kernel(np.nan_to_num(X)), **TOLERANCE)


def test_indices_of_several_parts_share_a_witness():
    k = Gaussian(1.0).on(0, missing=IGNORE) + Gaussian(1.0).on(1)
    assert k.proof().verdict == "refuted"


def test_machines_refuse_it_or_repair_it():
    X, y = rows(30, 2), np.random.default_rng(2).normal(size=30)
    k = Gaussian(1.0).on(0, 1, missing=IGNORE)
    with pytest.raises(ValidityError, match=r"(?s)SVC needs.*own category.*indefinite=\"clip\""):
        SVC(k).fit(X, y > 0)
    with pytest.raises(ValidityError, match=r"(?s)GaussianProcess needs.*use a valid kernel"):
        GaussianProcess(k).fit(X, y)
    machine = KernelRidge(k, penalty=0.1, indefinite="clip").fit(X, y)
    values, V = np.linalg.eigh(k(X))
    assert values[0] < -0.1
    clipped = (V * np.maximum(values, 0.0)) @ V.T
    expected = clipped @ np.linalg.solve(clipped + 0.1 * np.eye(30), y)
    np.testing.assert_allclose(machine.predict(X), expected, rtol=1e-6, atol=1e-8)
    assert np.isfinite(SVC(k, indefinite="clip").fit(X, y > 0).decision_function(X)).all()


# ---- everything else about a kernel ------------------------------------------------------------


def test_heuristics_look_at_whole_rows():
    X = rows(40)
    whole = X[~np.isnan(X[:, :2]).any(axis=1)]
    weights = np.random.default_rng(3).integers(0, 3, 40).astype(float)
    kept = weights[~np.isnan(X[:, :2]).any(axis=1)]
    for choice in (OWN, IGNORE):
        k = Gaussian("median").on(0, 1, missing=choice)
        expected = Gaussian("median").resolve(whole[:, :2])
        assert k.resolve(X) == expected.on(0, 1, missing=choice)
        weighted = Gaussian("median").resolve(whole[:, :2], kept)
        assert k.resolve(X, weights).kernel == weighted
    table = frame()
    k = (GlobalAlignment().on("course", missing=OWN) + Gaussian().on("x", missing=OWN)).resolve(
        table
    )
    assert k.left.kernel == GlobalAlignment().resolve(table["course"].dropna())
    with pytest.raises(DomainError, match=r"every row of X lacks some of the columns of Gaussian"):
        Gaussian("median").on(0, 1, missing=OWN).resolve([[1.0, NAN], [NAN, 1.0]])


@pytest.mark.parametrize("choice", [OWN, IGNORE])
def test_slopes_are_derivatives(choice):
    X, rng = rows(), np.random.default_rng(4)
    G = rng.normal(size=(len(X), len(X)))
    for kernel, name in (
        (Gaussian(0.9), "bandwidth"),
        (Laplacian((0.9, 1.5)), "bandwidth"),
        (Polynomial(2, 0.5, 1.5), "offset"),
    ):
        k = kernel.on(0, 2, missing=choice)
        points = k.admit(X)
        found = np.sum(k.slopes(Block(points, points), G)[f"kernel__{name}"])
        value, step = np.asarray(getattr(kernel, name)), 1e-6
        up, down = (
            np.sum(G * k.set_params(**{f"kernel__{name}": value * np.exp(s)})(X))
            for s in (step, -step)
        )
        assert found == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=1e-7)


def test_slopes_of_tiles_in_which_everything_is_missing(monkeypatch):
    kinds = pd.DataFrame({"kind": ["a", "b", "a", None, None, None, "b", "b"]})
    k = (2.0 * Categorical()).on("kind", missing=IGNORE)
    G = np.random.default_rng(5).normal(size=(8, 8))
    G += G.T
    monkeypatch.setattr(tiles, "TILE", 2)
    found = slopes_of(k, k.admit(kinds), G)
    assert found["kernel__factor"] == pytest.approx(np.sum(G * k(kinds)))


def test_features_of_new_gaps_meet_nothing():
    X = np.array([[1.0, 2.0], [3.0, NAN], [NAN, NAN]])
    new = np.array([[2.0, NAN], [NAN, 5.0], [2.0, 2.0]])
    for kernel, choice in ((Linear(), OWN), (Polynomial(2, 1.0), OWN), (Linear(), IGNORE)):
        k = kernel.on(0, 1, missing=choice)
        phi = k.feature_map(X)
        old, fresh = (sparse.csr_array(phi(A)).toarray() for A in (X, new))
        np.testing.assert_allclose(old @ old.T, k(X), **TOLERANCE)
        np.testing.assert_allclose(fresh @ old.T, k(new, X), **TOLERANCE)
    whole = Linear().on(0, 1, missing=OWN).feature_map(X[:1])
    np.testing.assert_array_equal(whole(new), [[0.0, 0.0], [0.0, 0.0], [2.0, 2.0]])
    with pytest.raises(ValidityError, match=r"no finite feature map"):
        Gaussian(1.0).on(0, missing=OWN).features(X)


def test_nothing_but_gaps():
    gone = pd.DataFrame({"kind": [None, None], "x": [NAN, NAN], "parse": [None, None]})
    some = pd.DataFrame({"kind": ["a"], "x": [1.0], "parse": ["(S a)"]})
    for kernel, column in ((Categorical(), "kind"), (SubsetTree(), "parse")):
        own, ignore = (kernel.on(column, missing=choice) for choice in (OWN, IGNORE))
        np.testing.assert_array_equal(own(gone), np.ones((2, 2)))
        np.testing.assert_array_equal(ignore(gone), np.zeros((2, 2)))
        np.testing.assert_array_equal(own(gone, some), np.zeros((2, 1)))
        np.testing.assert_array_equal(own(some, gone), np.zeros((1, 2)))
        np.testing.assert_array_equal(own.diagonal(gone), [1.0, 1.0])
    np.testing.assert_array_equal(Gaussian(1.0).on("x", missing=OWN)(gone, some), [[0.0], [0.0]])
    np.testing.assert_array_equal(Gaussian(1.0).on("x", missing=IGNORE)(gone, some), [[1], [1]])


def test_normalized_kernels_of_gaps():
    table = frame()
    K = normalize(SubsetTree().on("parse", missing=IGNORE))(table)
    np.testing.assert_allclose(np.diag(K), table["parse"].notna(), rtol=1e-12)


def test_formula_and_parameters():
    k = Gaussian(1.0).on("x", "y", missing=OWN) + Linear().on("x")
    assert repr(k) == (
        "Gaussian(bandwidth=1.0).on('x', 'y', missing='own category') + Linear().on('x')"
    )
    assert k.get_params()["left__missing"] == OWN and k.get_params()["right__missing"] == "error"
    changed = k.set_params(left__missing="error")
    assert repr(changed).startswith("Gaussian(bandwidth=1.0).on('x', 'y') +")
    assert changed != k and hash(changed) != hash(k)
    with pytest.raises(ValidityError, match=r"missing cannot be 'own'; did you mean|known are"):
        k.set_params(left__missing="own")


def test_the_choice_can_be_searched_for():
    table = frame(40)
    y = table["x"].fillna(2.0) + (table["kind"] == "a")
    k = Linear().on("x", "y", missing=OWN) + Categorical().on("kind", missing=OWN)
    grid = {"kernel__left__missing": [OWN, IGNORE], "kernel__right__missing": [OWN, IGNORE]}
    search = GridSearchCV(KernelRidge(k), grid, cv=3).fit(table, y)
    scores = search.cv_results_["mean_test_score"]
    assert len(set(scores.round(9))) == 4
    assert search.cv_results_["params"][int(np.argmax(scores))] == search.best_params_
    assert search.best_estimator_.kernel.left.missing == search.best_params_[next(iter(grid))]


# ---- complaints --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "column"),
    [
        (Categorical(), "kind"),
        (GlobalAlignment(1.0), "course"),
        (SubsetTree(), "parse"),
        (from_function(lambda a, b: 1.0), "kind"),
    ],
)
def test_a_gap_is_refused_by_row_and_column(kernel, column):
    table = frame()
    row = int(np.flatnonzero(table[column].isna())[0])
    words = rf"row {row} of X has nothing in column '{column}'; fill it in.*missing='own category'"
    for ask in (kernel.on(column), kernel.on(column).diagonal):
        with pytest.raises(DomainError, match=words):
            ask(table)


def test_numbers_are_refused_by_row_and_column():
    table = frame()
    row = int(np.flatnonzero(table["y"].isna())[0])
    with pytest.raises(DomainError, match=rf"NaN at row {row}, column 1 \('y'\)"):
        Gaussian(1.0).on("y")(table)
    X = rows()
    both = Gaussian(1.0).on(0, missing=OWN) + Gaussian(1.0).on(2)
    row = int(np.flatnonzero(np.isnan(X[:, 2]))[0])
    with pytest.raises(DomainError, match=rf"NaN at row {row}, column 2"):
        both(X)
    with pytest.raises(DomainError, match=r"NaN at row"):
        (Gaussian(1.0).on(0, missing=OWN) + Linear())(X)


def test_infinity_is_not_missing():
    X = rows()
    X[5, 1] = np.inf
    for choice in (OWN, IGNORE):
        with pytest.raises(DomainError, match=r"infinity at row 5, column 1"):
            Gaussian(1.0).on(0, 1, missing=choice)(X)


def test_what_is_wrong_beside_a_gap_keeps_its_number():
    table = pd.DataFrame({"course": [[1.0], None, [1.0, NAN]], "parse": ["(S a)", None, "(S"]})
    with pytest.raises(DomainError, match=r"item 2 of X contains NaN at step 1"):
        GlobalAlignment(1.0).on("course", missing=OWN)(table)
    with pytest.raises(DomainError, match=r"item 2 of X: the bracket at character 0"):
        SubsetTree().on("parse", missing=IGNORE)(table)


def test_two_columns_of_one_name_are_refused():
    table = pd.DataFrame([[1.0, NAN]], columns=["a", "a"])
    with pytest.raises(DomainError, match=r"two columns called 'a'; rename one"):
        Linear().on("a", missing=OWN)(table)


def test_whole_things_live_in_one_column():
    with pytest.raises(DomainError, match=r"X has 2 columns, but a kernel on whole things looks"):
        SubsetTree().on("parse", "kind")(frame().dropna())
