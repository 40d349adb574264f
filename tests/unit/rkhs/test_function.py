"""Functions of an RKHS: what they refuse, several outputs, things of every kind."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.errors import DomainError, ValidityError
from mercer.kernels import (
    Categorical,
    Gaussian,
    Linear,
    Polynomial,
    Sigmoid,
    from_function,
    precomputed,
)
from mercer.rkhs import Function, empirical_map, mean_embedding, section

TOLERANCE = {"rtol": 1e-11, "atol": 1e-12}


def rows(n=6, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def function(kernel=Gaussian(1.0), n=6, outputs=None, seed=0):  # noqa: B008
    shape = n if outputs is None else (n, outputs)
    return Function(kernel, rows(n, seed=seed), np.random.default_rng(seed).normal(size=shape))


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("coefficients", "words"),
    [
        (np.ones(5), r"there are 6 points, but coefficients of shape \(5,\)"),
        (np.ones((6, 2, 2)), r"coefficients of shape \(6, 2, 2\)"),
        (1.0, r"coefficients of shape \(\)"),
        ([1, 2, 3, 4, 5, np.nan], r"coefficients hold NaN or infinity"),
        ([1, 2, 3, 4, 5, np.inf], r"coefficients hold NaN or infinity"),
        (["a"] * 6, r"coefficients"),
        (np.ones(6) + 1j, r"[Cc]omplex|coefficients"),
    ],
)
def test_bad_coefficients(coefficients, words):
    with pytest.raises(DomainError, match=words):
        Function(Gaussian(1.0), rows(), coefficients)


def test_bad_points_are_named():
    X = rows()
    X[2, 1] = np.nan
    with pytest.raises(DomainError, match=r"points contains NaN at row 2, column 1"):
        Function(Gaussian(1.0), X, np.ones(6))
    with pytest.raises(DomainError, match=r"points contains NaN at row 2, column 1"):
        function().project(X)


@pytest.mark.parametrize("X", [rows(4, 1), rows(4, 2), [[1.0]], sparse.csr_array(rows(4, 2))])
def test_new_points_of_another_width_are_refused(X):
    with pytest.raises(DomainError, match=r"columns; they must have the same number"):
        function()(X)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_projection_onto_points_of_another_width_is_refused(d):
    """One column would even be broadcast, to an answer that means nothing."""
    with pytest.raises(DomainError, match=r"columns; they must have the same number"):
        function().project(rows(4, d))


def test_an_unresolved_kernel_has_no_functions():
    with pytest.raises(ValidityError, match=r"call k.resolve\(X\) first"):
        Function(Gaussian("median"), rows(), np.ones(6))


@pytest.mark.parametrize(
    "operation",
    [lambda f, g: f + g, lambda f, g: f - g, lambda f, g: f.inner(g), lambda f, g: f.distance(g),
     lambda f, g: f.angle(g)],
)  # fmt: skip
def test_functions_of_different_spaces_do_not_meet(operation):
    with pytest.raises(ValidityError, match=r"different spaces.*bandwidth=1.0.*bandwidth=2.0"):
        operation(function(), function(Gaussian(2.0)))
    with pytest.raises(DomainError, match=r"different numbers of outputs"):
        operation(function(), function(outputs=2))


def test_what_is_no_function_and_no_number_is_a_type_error():
    f = function()
    for operation in (lambda: f + 1.0, lambda: f * "two", lambda: f * f, lambda: f - 1.0):
        with pytest.raises(TypeError):
            operation()


def test_the_zero_function_has_a_norm_but_no_angle():
    zero = 0.0 * function()
    assert zero.norm() == 0.0
    with pytest.raises(ValidityError, match=r"zero function has no angle"):
        zero.angle(function())


def test_a_negative_square_is_no_norm():
    f = section(Sigmoid(1.0, -1.0), [0.0])
    assert f.inner(f) == pytest.approx(np.tanh(-1.0))
    with pytest.raises(ValidityError, match=r"not positive semi-definite.*no norm"):
        f.norm()


def test_division_by_zero_is_refused():
    with pytest.raises((ZeroDivisionError, DomainError)):
        function() / 0.0


# ---- several outputs ---------------------------------------------------------------------------


def test_several_outputs_are_several_functions():
    f, g = function(outputs=3), function(outputs=3, n=4, seed=1)
    X = rows(5, seed=2)
    single = [Function(f.kernel, f.points, f.coefficients[:, j]) for j in range(3)]
    other = [Function(g.kernel, g.points, g.coefficients[:, j]) for j in range(3)]
    pairs = list(zip(single, other, strict=True))
    assert f(X).shape == (5, 3)
    np.testing.assert_allclose(f(X), np.column_stack([h(X) for h in single]), **TOLERANCE)
    np.testing.assert_allclose(f.inner(g), [a.inner(b) for a, b in pairs], **TOLERANCE)
    np.testing.assert_allclose(f.norm(), [h.norm() for h in single], **TOLERANCE)
    np.testing.assert_allclose(f.distance(g), [a.distance(b) for a, b in pairs], **TOLERANCE)
    np.testing.assert_allclose(f.angle(g), [a.angle(b) for a, b in pairs], **TOLERANCE)
    projected = np.column_stack([h.project(X)(X) for h in single])
    np.testing.assert_allclose(f.project(X)(X), projected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose((f + g)(X), f(X) + g(X), **TOLERANCE)


def test_numbers_are_plain_floats_for_one_output():
    f = function()
    for value in (f.norm(), f.inner(f), f.distance(2.0 * f), f.angle(2.0 * f)):
        assert type(value) is float


# ---- things of every kind ----------------------------------------------------------------------


def test_functions_of_words():
    shared = from_function(lambda a, b: float(len(set(a) & set(b))))
    f = Function(shared, ["cat", "dog"], [1.0, -1.0])
    np.testing.assert_array_equal(f(["tag", "do"]), [2.0 - 1.0, 0.0 - 2.0])
    assert f.inner(section(shared, "cat")) == f(["cat"])[0]
    assert len(f + section(shared, "hat")) == 3


def test_functions_of_tables():
    X = pd.DataFrame({"size": [1.0, 2.0], "kind": ["a", "b"]})
    k = Linear().on("size") * Categorical().on("kind")
    f = Function(k, X, [1.0, 10.0])
    np.testing.assert_allclose(f(X), [1.0, 40.0])
    np.testing.assert_allclose((f + f)(X), [2.0, 80.0])
    assert mean_embedding(k, X)(X)[1] == pytest.approx(2.0)


def test_functions_of_sparse_rows():
    X = np.where(rows(8, 20) > 0.5, rows(8, 20), 0.0)
    w = np.random.default_rng(1).normal(size=8)
    dense, thin = (Function(Gaussian(1.0), A, w) for A in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(thin(X), dense(X), **TOLERANCE)
    np.testing.assert_allclose(dense(sparse.csr_array(X)), dense(X), **TOLERANCE)
    assert thin.inner(dense) == pytest.approx(dense.norm() ** 2, rel=1e-10)
    assert (thin + dense).norm() == pytest.approx(2 * dense.norm(), rel=1e-10)


def test_functions_of_a_precomputed_matrix():
    X, new = rows(), rows(3, seed=1)
    k = Gaussian(1.0)
    w = np.random.default_rng(2).normal(size=6)
    direct, given = Function(k, X, w), Function(precomputed(), k(X), w)
    np.testing.assert_allclose(given(k(new, X)), direct(new), **TOLERANCE)
    assert given.norm() == pytest.approx(direct.norm(), rel=1e-12)


def test_a_function_survives_a_pickle():
    f = function()
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again(rows(4, seed=2)), f(rows(4, seed=2)))
    assert again.kernel == f.kernel


def test_a_function_says_what_it_is():
    assert repr(function()) == "Function(Gaussian(bandwidth=1.0), 6 points)"
    assert repr(function(outputs=2)) == "Function(Gaussian(bandwidth=1.0), 6 points, 2 outputs)"
    assert len(function()) == 6


def test_a_function_does_not_change_what_it_was_made_of():
    X, w = rows(), np.ones(6)
    f = Function(Gaussian(1.0), X, w)
    f(X), f.norm(), f.project(X), f + f, 2.0 * f
    np.testing.assert_array_equal(X, rows())
    np.testing.assert_array_equal(w, np.ones(6))


# ---- the empirical map -------------------------------------------------------------------------


def test_the_empirical_map_resolves_heuristics_on_its_points():
    assert empirical_map(Gaussian("median"), rows()).kernel == Gaussian("median").resolve(rows())


@pytest.mark.parametrize("rank", [1, 3, 6, 100])
def test_the_empirical_map_keeps_at_most_its_rank(rank):
    found = empirical_map(Gaussian(1.0), rows(), rank=rank)
    assert found.features.shape == (6, min(rank, 6))
    assert (np.diff(found.values) <= 0).all()


@pytest.mark.parametrize("rank", [0, -1, 1.5])
def test_a_bad_rank_is_refused(rank):
    with pytest.raises(ValidityError, match=r"rank"):
        empirical_map(Gaussian(1.0), rows(), rank=rank)


def test_the_empirical_map_refuses_what_has_no_real_features():
    with pytest.raises(ValidityError, match=r"negative eigenvalue"):
        empirical_map(Sigmoid(1.0, -1.0), rows())


@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("kernel", [Polynomial(2), Gaussian(1.0)], ids=repr)
def test_the_empirical_map_of_new_points_of_another_width_is_refused(kernel, d):
    with pytest.raises(DomainError, match=r"columns; they must have the same number"):
        empirical_map(kernel, rows())(rows(4, d))


def test_a_norm_keeps_its_digits_where_products_cancel():
    """Columns of size 1e6 whose terms cancel: aᵀKa has lost what Φᵀa has not."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3)) * [1, 1e6, 1e-3] + [5, -2e6, 0]
    a = rng.normal(size=80)
    a -= X @ np.linalg.lstsq(X, a, rcond=None)[0] * (1 - 1e-9)
    f = Function(Linear(), X, a)
    exact = [sum(Fraction(c) * Fraction(x) for c, x in zip(a, column, strict=True))
             for column in X.T]  # fmt: skip
    square = float(sum(w * w for w in exact))
    assert f.norm() ** 2 == pytest.approx(square, rel=1e-4)
    assert f.inner(f) == pytest.approx(f.norm() ** 2, rel=1e-12)
    assert (f - f).norm() < 1e-14 * np.abs(a) @ np.abs(X).sum(axis=1)
