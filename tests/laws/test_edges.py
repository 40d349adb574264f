"""What the laws do not reach: parameters that do not fit the data, and things that are no kernels.

Each is refused by an error of mercer's own, or does what its words say; never a wrong number.
"""

import numpy as np
import pandas as pd
import pytest

from mercer import KernelRidge, threads
from mercer.engine import tiles
from mercer.errors import DomainError, MercerError, ValidityError
from mercer.gram import Dense, LowRank, assemble
from mercer.kernels import (
    ArcCosine,
    Brownian,
    Cosine,
    Exponential,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    QuadraticForm,
    RationalQuadratic,
    Shepard,
    Sigmoid,
    assume_psd,
    exp,
    from_function,
    gaussian_over,
    normalize,
    polynomial,
    precomputed,
    pullback,
    rescale,
)
from mercer.solvers import Cholesky, Eigen, Primal, Problem
from tests.laws.functions import letters

X = np.random.default_rng(11).normal(size=(12, 3))

THREE = (1.0, 2.0, 3.0)
OF_WIDTH_THREE = [
    Gaussian(THREE),
    Laplacian(THREE),
    Exponential(THREE),
    Matern(1.5, THREE),
    Matern(0.8, THREE),
    RationalQuadratic(1.0, THREE),
    Periodic(1.0, THREE),
    Shepard(1.0, 1.0, 1.0, THREE),
    QuadraticForm(np.diag(THREE)),
]


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("k", OF_WIDTH_THREE, ids=lambda k: type(k).__name__)
def test_parameters_of_three_dimensions_do_not_fit_others(k, width):
    rows = np.ones((5, width))
    with pytest.raises(DomainError, match=str(width)):
        k(rows)
    with pytest.raises(DomainError, match=str(width)):
        k.diagonal(rows)


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("k", OF_WIDTH_THREE[:-1], ids=lambda k: type(k).__name__)
def test_random_features_of_three_dimensions_do_not_fit_others(k, width):
    with pytest.raises(DomainError, match=str(width)):
        k.random_features(10)(np.ones((5, width)))


@pytest.mark.parametrize("width", [1, 2, 4])
def test_features_of_three_dimensions_do_not_fit_others(width):
    with pytest.raises(DomainError, match=str(width)):
        QuadraticForm(np.eye(3)).features(np.ones((5, width)))
    for k in (Linear(), Polynomial(2, 1.0), Cosine(), QuadraticForm(np.eye(3))):
        with pytest.raises(DomainError):
            k.feature_map(X)(np.ones((5, width)))


def picky(row):
    """Want a row of a table by name."""
    return float(row["height"])


@pytest.mark.parametrize(
    "k",
    [
        rescale(Sigmoid(1.0, -1.0), picky),
        pullback(Sigmoid(1.0, -1.0), letters),
        Sigmoid(1.0, -1.0).on("height"),
        Shepard(1.0, 1.0, 2.0) + Gaussian((1.0, 2.0)),
        Shepard(1.0, 1.0, 2.0) * QuadraticForm(np.eye(2)),
        normalize(Sigmoid(1.0, -1.0)),
        Sigmoid(1.0, -1.0) + Gaussian("median"),
    ],
    ids=repr,
)
def test_a_witness_that_a_composition_cannot_take_proves_nothing(k):
    proof = k.proof()
    assert proof.verdict in ("unknown", "refuted")
    assert (proof.witness is not None) == (proof.verdict == "refuted")
    assert "not" in str(proof)


def test_a_matrix_that_is_not_symmetric_is_no_gram_matrix():
    skewed = np.array([[2.0, 1.0], [0.0, 3.0]])
    with pytest.raises(MercerError, match="symmetric"):
        precomputed()(skewed)
    with pytest.raises(MercerError, match="symmetric"):
        KernelRidge("precomputed").fit(skewed, [1.0, 2.0])


def test_rounding_does_not_make_a_gram_matrix_asymmetric():
    K = Gaussian(1.0)(X)
    K[0, 1] = np.nextafter(K[0, 1], 2.0)
    assert precomputed()(K) == pytest.approx(K, abs=1e-15)
    KernelRidge("precomputed").fit(K, X[:, 0])


@pytest.mark.parametrize("rows", [[3, 1, 2, 0, 5, 4], [0, 0, 1, 1, 2, 2], [4, 2]], ids=str)
def test_a_part_of_a_precomputed_matrix_is_assembled_from_its_own_columns(rows):
    k, K = precomputed(), Gaussian(1.0)(X[:6])
    part = assemble(k, k.admit(K)[np.array(rows)])
    assert np.array_equal(part.matrix(), K[rows][:, rows])


def test_tables_are_compared_by_the_names_of_their_columns():
    table = pd.DataFrame({"height": [1.0, 2.0], "weight": [10.0, 20.0]})
    swapped = table[["weight", "height"]]
    try:
        found = Linear()(table, swapped)
    except DomainError as error:
        assert "height" in str(error)
    else:
        assert found == pytest.approx(Linear()(table))
    with pytest.raises(DomainError, match="age"):
        Linear()(table, table.rename(columns={"height": "age"}))


@pytest.mark.parametrize(
    "make",
    [
        exp,
        normalize,
        gaussian_over,
        assume_psd,
        lambda k: polynomial(k, [1.0]),
        lambda k: rescale(k, len),
        lambda k: pullback(k, len),
    ],
)
@pytest.mark.parametrize("thing", ["linear", 3.0, Linear, None])
def test_the_algebra_is_about_kernels(make, thing):
    with pytest.raises(ValidityError, match="kernel"):
        make(thing)


@pytest.mark.parametrize(
    "k",
    [
        Gaussian(np.float32(1.5)),
        Gaussian(np.array([1.0, 2.0])),
        Polynomial(np.int64(2), offset=np.float64(1.0)),
        Shepard(attention=np.ones(2)),
        np.float64(2.0) * Linear() + np.int64(1),
        Linear() ** np.int8(2),
        Linear().on(np.int64(1), np.str_("height")),
        polynomial(Linear(), np.array([0.5, 1.0])),
        gaussian_over(Linear(), np.float64(2.0)),
    ],
    ids=repr,
)
def test_numbers_of_numpy_become_plain_ones(k):
    assert "np." not in repr(k)
    assert "array" not in repr(k)


def test_the_array_that_makes_a_quadratic_form_stays_its_users():
    A = np.eye(2)
    k = QuadraticForm(A)
    A[0, 0] = 5.0
    assert k.matrix[0, 0] == 1.0
    assert A.flags.writeable


def test_a_negative_self_similarity_cannot_be_normalized():
    k = normalize(Sigmoid(1.0, -1.0))
    for ask in (k, k.diagonal, lambda rows: k.pair(rows[0], rows[0])):
        with pytest.raises(ValidityError, match="negative"):
            ask(np.zeros((1, 1)))


@pytest.mark.parametrize(
    "k", [Linear(), Polynomial(2, 1.0), Brownian(), Intersection(), ArcCosine(1)], ids=repr
)
def test_a_normalized_kernel_is_a_cosine_however_different_the_lengths(k):
    lengths = np.geomspace(1e-40, 1e3, len(X))
    rows = np.abs(X) * lengths[:, None]
    assert np.abs(normalize(k)(rows)).max() <= 1.0 + 1e-9
    assert normalize(k).diagonal(rows) == pytest.approx(np.ones(len(X)), abs=1e-9)


def test_nothing_has_random_features_too():
    k = 0.0 * Gaussian(1.0) + 0.0 * Gaussian(2.0)
    assert not k.random_features(10)(X).any()


@pytest.mark.parametrize("k", [Gaussian(1.0), Linear(), Matern(0.8, 1.0)], ids=repr)
def test_tiles_of_their_usual_size_give_the_same_bits_on_any_number_of_threads(k):
    many = np.random.default_rng(13).normal(size=(2 * tiles.TILE + 50, 60))
    grams = []
    for number in (1, 2, 3):
        with threads.using(number):
            grams.append(k(many))
    assert np.array_equal(grams[0], grams[1])
    assert np.array_equal(grams[0], grams[2])


class Labeled(np.ndarray):
    """An array of another class, as memory maps are."""


@pytest.mark.parametrize("solver", [Cholesky(), Cholesky("mixed"), Eigen()], ids=repr)
def test_a_solver_leaves_a_matrix_of_another_class_alone(solver):
    K = Gaussian(1.0)(X).view(Labeled)
    before = np.array(K)
    solver.solve(solver.prepare(Problem(Dense(K))), X[:, 0], 0.1)
    assert np.array_equal(np.asarray(K), before)


@pytest.mark.parametrize("penalty", [1e-4, 1e-8, 1e-10, 1e-12, 1e-14])
@pytest.mark.parametrize("solver", [Cholesky(), Cholesky("mixed"), Eigen(), Primal()], ids=repr)
def test_an_answer_that_is_called_solved_solves_the_system(solver, penalty):
    # Two features and 200 items: the smaller the penalty, the more digits the system loses. With
    # a residual of 1e-4 twelve of sixteen are lost, which a user has to be told.
    F = np.random.default_rng(12).normal(size=(200, 2))
    gram = LowRank(F) if isinstance(solver, Primal) else Dense(F @ F.T)
    found = solver.solve(solver.prepare(Problem(gram)), np.sin(F[:, 0]), penalty)
    assert found.status != "solved" or found.certificate < 1e-4
    assert found.status == "solved" or "penalty" in found.message


def test_a_kernel_from_a_function_on_rows_of_an_array_sees_rows():
    def shared_signs(x, z):
        return float(np.sum(np.sign(x) == np.sign(z)))

    k = from_function(shared_signs)
    expected = np.array([[shared_signs(x, z) for z in X] for x in X])
    assert np.array_equal(k(X), expected)
