"""Shapley values in polynomial time are those of the enumeration of all subsets of columns."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.errors import DomainError, ValidityError
from mercer.explanations import shapley, shapley_hsic, shapley_mmd
from mercer.explanations.shapley_loops import divide, nodes
from mercer.kernels import (
    Categorical,
    Chi2,
    Exponential,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Shepard,
    Spectrum,
    assume_psd,
    exp,
    gaussian_over,
    normalize,
    polynomial,
)
from mercer.rkhs import Function, hsic, mmd
from tests.oracles.shapley_values import by_enumeration, independent_game, joint_game

RNG = np.random.default_rng(3)
X4 = RNG.normal(size=(30, 4))
Y4 = np.sin(X4[:, 0]) + X4[:, 1] * X4[:, 2]
NEW4 = RNG.normal(size=(3, 4))
REFERENCE = X4[:4]

KERNELS = [
    Gaussian(1.5),
    Gaussian((1.0, 2.0, 3.0, 0.5)),
    Gaussian(1.0, metric=(1.0, 0.0, 2.0, 0.5)),
    Laplacian(2.0),
    Laplacian((1.0, 2.0, 3.0, 4.0), metric=(1.0, 2.0, 1.0, 0.0)),
    Shepard(0.5, 1.0, 1.0, (1.0, 2.0, 0.0, 1.0)),
    Shepard(0.3, 2.0, 2.0),
    Exponential(2.0, exponent=1.5, order=1.5),
    Periodic(3.0, 2.0),
    Linear(),
    Polynomial(2, offset=1.0),
    Polynomial(3, offset=0.5, scale=0.3),
    Gaussian(1.0) + 0.5 * Linear() + 2.0,
    Gaussian(1.0).on(0, 1) * Laplacian(1.0).on(2) + Linear().on(3),
    (Linear().on(0, 1) + 1.0) * Gaussian(1.0).on(1, 2, 3),
    Linear().on(slice(0, 2)) ** 2,
    polynomial(Gaussian(2.0), (1.0, 0.0, 2.0)),
    exp(0.3 * Linear()),
    gaussian_over(Linear(), 2.0),
    gaussian_over(Linear().on(0, 1) + Polynomial(2, 1.0).on(2), 1.5),
    normalize(exp(0.3 * Linear())),
    Matern(1.5, 1.0).on(0) * Gaussian(1.0).on(-1),
    assume_psd(Gaussian(1.0)),
    Gaussian(1.0).on(0, 2) + Matern(0.5, 1.0).on(1),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("absent", ["joint", "independent"])
def test_they_are_those_of_all_subsets(kernel, absent):
    machine = mercer.KernelRidge(kernel, 0.1, intercept=True).fit(X4, Y4)
    why = shapley(machine, NEW4, reference=REFERENCE, absent=absent)
    game = {"joint": joint_game, "independent": independent_game}[absent]
    for r, x in enumerate(NEW4):
        expected, base = by_enumeration(
            game(lambda rows: machine.predict(rows.astype(float)), x, REFERENCE), 4
        )
        np.testing.assert_allclose(why.values[r], expected, atol=1e-9)
        assert why.base[r] == pytest.approx(base, abs=1e-9)
    np.testing.assert_allclose(why.base + why.values.sum(axis=1), machine.predict(NEW4), atol=1e-9)


def test_ten_columns_are_those_of_all_subsets():
    X = RNG.normal(size=(25, 10))
    machine = mercer.SVR(Gaussian(3.0), C=10.0).fit(X, X[:, 0] + np.abs(X[:, 1]))
    why = shapley(machine, X[:1], reference=X[5:8], absent="joint")
    game = joint_game(lambda rows: machine.predict(rows.astype(float)), X[0], X[5:8])
    expected, base = by_enumeration(game, 10)
    np.testing.assert_allclose(why.values[0], expected, atol=1e-10)
    assert why.base[0] == pytest.approx(base, abs=1e-10)


def test_an_absent_column_may_be_alike_to_all():
    kernel = Gaussian((1.0, 2.0, 0.7, 1.0))
    machine = mercer.KernelRidge(kernel, 0.1).fit(X4, Y4)
    why = shapley(machine, NEW4, absent="alike")

    def value(some):
        widths = [w if j in some else 1e9 for j, w in enumerate(kernel.bandwidth)]
        return Function(Gaussian(tuple(widths)), X4, machine.dual_coef_)(NEW4)

    expected, base = by_enumeration(value, 4)
    np.testing.assert_allclose(why.values, expected.T, atol=1e-9)
    np.testing.assert_allclose(why.base, base, atol=1e-9)


TABLE = pd.DataFrame(
    {
        "kind": ["ant", "bee", "cat"] * 8,
        "word": ["abab", "aab", "bbba", "ba"] * 6,
        "size": np.linspace(-1, 1, 24),
        "weight": np.cos(np.arange(24.0)),
    }
)
TARGET = np.arange(24) % 3 + TABLE["size"].to_numpy() * 2


@pytest.mark.parametrize(
    "kernel",
    [
        Categorical().on("kind") * Gaussian(1.0).on("size", "weight"),
        normalize(Spectrum(2)).on("word") + Linear().on("size", "weight"),
        gaussian_over(
            Spectrum(1).on("word") + Categorical().on("kind") + Linear().on("size"), 1.0
        ),
        Categorical().on("kind", "word") + Gaussian(1.0).on("size"),
        normalize(Spectrum(2).on("word") * Gaussian(1.0).on("size")),
    ],
    ids=repr,
)
def test_columns_may_be_of_any_kind(kernel):
    machine = mercer.KernelRidge(kernel, 0.1).fit(TABLE, TARGET)
    new, reference = TABLE.iloc[[1, 7]], TABLE.iloc[:5]
    why = shapley(machine, new, reference=reference, absent="joint")
    assert why.columns == ("kind", "word", "size", "weight")
    for r, x in enumerate(new.to_numpy(dtype=object)):
        game = joint_game(
            lambda rows: machine.predict(
                pd.DataFrame(rows, columns=TABLE.columns).astype({"size": float, "weight": float})
            ),
            x,
            reference.to_numpy(dtype=object),
        )
        expected, base = by_enumeration(game, 4)
        np.testing.assert_allclose(why.values[r], expected, atol=1e-9)
        assert why.base[r] == pytest.approx(base, abs=1e-9)


@pytest.mark.parametrize("missing", ["own category", "ignore dimension"])
@pytest.mark.parametrize("inner", [Gaussian(1.0), Linear(), Linear() + 1.0], ids=repr)
def test_gaps_may_mean_something(missing, inner):
    kernel = inner.on(0, 1, 2, missing=missing) + Gaussian(1.0).on(3)
    gappy = X4.copy()
    gappy[RNG.random(X4.shape) < 0.3] = np.nan
    gappy[:, 3] = X4[:, 3]
    machine = mercer.KernelRidge(kernel, 0.5, indefinite="clip").fit(gappy, Y4)
    why = shapley(machine, gappy[:3], reference=gappy[10:14], absent="joint")
    for r in range(3):
        game = joint_game(lambda rows: machine.predict(rows.astype(float)), gappy[r], gappy[10:14])
        np.testing.assert_allclose(why.values[r], by_enumeration(game, 4)[0], atol=1e-9)


def test_a_pipeline_speaks_of_the_columns_of_the_table():
    table = TABLE.drop(columns="word")
    table.loc[3, "size"] = np.nan
    model = make_pipeline(
        mercer.Encode(("standard", "quantile"), target_kind="regress", min_rows=1),
        mercer.KernelRidge(Gaussian(2.0), 0.1),
    ).fit(table, TARGET)
    why = shapley(model, table[:3], reference=table[6:11], absent="joint")
    assert why.columns == ("kind", "size", "weight")
    for r in range(3):
        game = joint_game(
            lambda rows: model.predict(
                pd.DataFrame(rows, columns=table.columns).astype({"size": float, "weight": float})
            ),
            table.iloc[r].to_numpy(dtype=object),
            table[6:11].to_numpy(dtype=object),
        )
        np.testing.assert_allclose(why.values[r], by_enumeration(game, 3)[0], atol=1e-9)


def test_standardizing_keeps_columns_and_their_gaps_together():
    table = TABLE[["size", "weight"]].copy()
    table.loc[2, "weight"] = np.nan
    steps = mercer.Standardize(), mercer.KernelRidge(Gaussian(1.0), 0.1)
    model = make_pipeline(*steps).fit(table, TARGET)
    why = shapley(model, table[:4])
    assert why.values.shape == (4, 2)
    np.testing.assert_allclose(why.base + why.values.sum(axis=1), model.predict(table[:4]))
    swapped = shapley(model, table[["weight", "size"]][:4], reference=table[:9])
    same = shapley(model, table[:4], reference=table[:9])
    np.testing.assert_allclose(swapped.values[:, ::-1], same.values, atol=1e-12)
    assert swapped.columns == ("weight", "size")


@pytest.mark.parametrize(
    "machine",
    [
        mercer.SVC(Gaussian(1.0), 5.0),
        mercer.SVC(Gaussian(1.0), 5.0, multiclass="ovr"),
        mercer.KernelLogistic(Gaussian(1.0)),
        mercer.KernelRidgeClassifier(Gaussian(1.0), 0.1, intercept=True),
        mercer.KernelDiscriminant(Gaussian(1.0)),
        mercer.PrototypeClassifier(Gaussian(1.0)),
        mercer.Calibrated(mercer.KernelRidgeClassifier("laplacian", 0.1)),
        make_pipeline(StandardScaler(), mercer.KernelRidgeClassifier("polynomial", 0.1)),
    ],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_shares_add_up_to_the_scores_that_explain_gives(machine, classes):
    labels = np.digitize(Y4, [0.0] if classes == 2 else [-0.5, 0.5])
    machine.fit(X4, labels)
    why, terms = shapley(machine, NEW4), mercer.explain(machine, NEW4)
    np.testing.assert_allclose(why.scores, terms.scores, atol=1e-9)
    np.testing.assert_allclose(why.base + why.values.sum(axis=1), terms.scores, atol=1e-9)
    assert why.toward == terms.toward
    one = shapley(machine, NEW4, label=int(labels[0]))
    assert one.toward == [labels[0]] * 3


@pytest.mark.parametrize(
    "machine",
    [
        mercer.GaussianProcess(Gaussian(1.0), 0.1),
        mercer.OneClassSVM(Gaussian(1.0)),
        mercer.LPSVC(Gaussian(1.0)),
        mercer.RBFNetwork(Gaussian(1.0), penalty=0.01),
        mercer.Perceptron(Gaussian(1.0)),
        mercer.KernelRidge(Gaussian(1.0), 0.1, follow=mercer.Plan(approximate=mercer.Nystrom(20))),
    ],
    ids=lambda m: type(m).__name__,
)
def test_every_machine_that_is_a_function_has_them(machine):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine.fit(X4, np.sign(Y4))
    why = shapley(machine, NEW4)
    np.testing.assert_allclose(
        why.base + why.values.sum(axis=1), mercer.explain(machine, NEW4).scores, atol=1e-9
    )
    assert np.abs(why.values).max() > 1e-3


def test_whole_things_are_one_column():
    machine = mercer.KernelRidge(Spectrum(2), 0.1).fit(["abab", "bb", "aab"], [1.0, 2.0, 3.0])
    why = shapley(machine, ["abba"])
    assert why.columns == ("item",)
    assert why.base[0] + why.values[0, 0] == pytest.approx(machine.predict(["abba"])[0])


def test_factors_that_vanish_lose_no_digits():
    """With columns far away factors are zero, by which nothing may be divided."""
    D, N = 12, 7
    P, Q, W = RNG.random((D, 1, N)), RNG.random((D, N)), RNG.normal(size=(1, N))
    P[::3] *= 10.0 ** -RNG.integers(1, 320, size=P[::3].shape)  # down to denormals
    P[1, 0, :3], Q[2, 2:5] = 0.0, 0.0
    shares, base = np.zeros((1, D)), np.zeros(1)
    divide(P, Q, W, *nodes(D), shares, base)

    def value(some):
        present = np.array([d in some for d in range(D)])
        return float(W[0] @ np.where(present[:, None], P[:, 0], Q).prod(axis=0))

    expected, empty = by_enumeration(value, D)
    np.testing.assert_allclose(shares[0], expected, rtol=0, atol=1e-15 * np.abs(W).sum())
    assert base[0] == pytest.approx(empty, rel=1e-13)


def test_many_columns_keep_their_digits():
    """Forty columns, against sixty digits: alternating sums would have lost all of them."""
    mpmath = pytest.importorskip("mpmath")
    D = 40
    p, q = RNG.random(D), np.ones(D)
    shares, base = np.zeros((1, D)), np.zeros(1)
    divide(p[:, None, None], q[:, None], np.ones((1, 1)), *nodes(D), shares, base)
    with mpmath.workdps(60):
        z, fac = [mpmath.mpf(float(v)) for v in p], mpmath.factorial
        for j in range(0, D, 13):
            e = [mpmath.mpf(1)]  # elementary symmetric polynomials of the other columns
            for i in range(D):
                if i != j:
                    e = [a + z[i] * b for a, b in zip([*e, 0], [0, *e], strict=True)]
            weights = (fac(s) * fac(D - s - 1) / fac(D) for s in range(D))
            exact = (z[j] - 1) * sum(w * v for w, v in zip(weights, e, strict=True))
            assert shares[0, j] == pytest.approx(float(exact), rel=1e-13)


def test_columns_share_a_discrepancy():
    X, Y = RNG.normal(size=(20, 4)), RNG.normal((0.0, 1.0, 0.0, 0.3), size=(15, 4))
    why = shapley_mmd(Gaussian(1.5), X, Y)

    def value(some):
        widths = tuple(1.5 if j in some else 1e9 for j in range(4))
        return mmd(Gaussian(widths), X, Y, squared=True)

    expected, _ = by_enumeration(value, 4)
    np.testing.assert_allclose(why.values[0], expected, atol=1e-9)
    assert why.scores[0] == pytest.approx(mmd(Gaussian(1.5), X, Y, squared=True))
    assert why.values[0].argmax() == 1
    assert abs(why.base[0]) < 1e-15


def test_columns_share_a_dependence():
    X = RNG.normal(size=(25, 4))
    y = (X[:, [2]] + 0.1 * X[:, [0]]) ** 2
    why = shapley_hsic(Gaussian(1.0), Gaussian(1.0), X, y)

    def value(some):
        widths = tuple(1.0 if j in some else 1e9 for j in range(4))
        return hsic(Gaussian(widths), Gaussian(1.0), X, y)

    expected, _ = by_enumeration(value, 4)
    np.testing.assert_allclose(why.values[0], expected, atol=1e-9)
    assert why.scores[0] == pytest.approx(hsic(Gaussian(1.0), Gaussian(1.0), X, y))
    assert why.values[0].argmax() == 2


@pytest.mark.parametrize(
    "kernel",
    [Matern(1.5, 1.0), Chi2(1.0) * Intersection(), Gaussian(1.0, metric=np.eye(4) + 0.1),
     exp(Gaussian(1.0)), normalize(Linear() + 1.0), Shepard(1.0, 2.0, 1.0)],
    ids=lambda k: type(k).__name__,
)  # fmt: skip
def test_a_kernel_that_is_no_product_is_refused_by_name(kernel):
    machine = mercer.KernelRidge(kernel, 0.5).fit(np.abs(X4), Y4)
    with pytest.raises(ValidityError, match="several columns at once"):
        shapley(machine, np.abs(NEW4))


def test_polynomials_of_too_many_columns_are_refused():
    X = RNG.normal(size=(10, 30))
    machine = mercer.KernelRidge(Polynomial(4, 1.0), 1.0).fit(X, X[:, 0])
    with pytest.raises(ValidityError, match="more than 2000 products"):
        shapley(machine, X)


def test_what_has_no_terms_is_refused():
    with pytest.raises(DomainError, match="does not decide by a sum"):
        shapley(mercer.KernelNeighbors(Gaussian(1.0)).fit(X4, Y4 > 0), NEW4)
    machine = mercer.KernelRidge(Gaussian(1.0)).fit(X4, Y4)
    with pytest.raises(ValidityError, match="absent cannot be 'jiont'"):
        shapley(machine, NEW4, absent="jiont")
    with pytest.raises(DomainError):
        shapley(machine, NEW4[:, :3])
