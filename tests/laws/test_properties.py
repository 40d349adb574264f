"""Laws hold for whatever is drawn: points, parameters, compositions."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mercer.errors import ValidityError
from mercer.gram import Dense
from mercer.kernels import (
    ArcCosine,
    Cosine,
    Gaussian,
    Linear,
    Sigmoid,
    Tanimoto,
    exp,
    gaussian_over,
    normalize,
)
from mercer.solvers import Cholesky, Eigen, Problem
from mercer.testing import KERNEL_LAWS, KernelCase, apply
from mercer.testing.cases import expected
from tests.laws.functions import FUNCTIONS
from tests.laws.trees import WIDTH, any_trees, finite_trees, leaves, points, stationary, trees

# Exponentials turn an error of a part into one up to 700 times as large (beyond that they
# overflow), powers into a few times, and they may be nested: 1e-9 is above what five of them do.
NESTED = 1e-9

draws = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def gram(k, X):
    """Return k(X), or drop the example if its numbers are too large for the kernel."""
    try:
        return k(X)
    except ValidityError:
        assume(False)


def holds(law, k, X, tolerance=NESTED):
    apply(KERNEL_LAWS[law], KernelCase(k, X, FUNCTIONS, tolerance))


@draws
@given(trees, points())
def test_a_proved_composition_has_a_positive_semidefinite_gram_matrix(k, X):
    assert k.proof().verdict == "proved"
    values = np.linalg.eigvalsh(gram(k, X))
    assert values[0] >= -NESTED * max(values[-1], 1e-300)


@draws
@given(trees, points())
def test_a_composition_is_one_symmetric_function(k, X):
    gram(k, X)
    for law in ("one_argument", "oracle", "diagonal", "self_similarity", "symmetry"):
        holds(law, k, X)


@draws
@given(trees, points(least=6, most=9))
def test_a_composition_does_not_look_beyond_its_pair(k, X):
    gram(k, X)
    for law in ("slices", "admitted_slices", "tiling", "threads", "purity"):
        holds(law, k, X)


@draws
@given(finite_trees, points(least=3))
def test_features_compose_as_kernels_do(k, X):
    gram(k, X)
    holds("features", k, X)
    holds("features_of_new_items", k, X)


@draws
@given(any_trees)
def test_the_formula_of_any_composition_evaluates_to_it(k):
    for law in ("formula", "pickling", "copies", "hashing", "immutability"):
        holds(law, k, None)


@draws
@given(any_trees)
def test_the_parameters_of_any_composition_make_it(k):
    holds("parameters", k, None)
    holds("unknown_parameters", k, None)


@draws
@given(any_trees, any_trees)
def test_kernels_are_equal_if_their_formulas_are(one, two):
    assert (one == two) == (repr(one) == repr(two))


@draws
@given(any_trees)
@example(Sigmoid(1.0, -1.0) + Linear())
@example(exp(Sigmoid(1.0, -1.0)))
@example(normalize(Sigmoid(1.0, 1.0)))
def test_a_proof_always_comes_to_a_verdict_and_a_witness_shows_it(k):
    proof = k.proof()
    holds("derivation", k, None)
    if proof.verdict == "refuted":
        holds("refutation", k, None)
    else:
        assert proof.witness is None


@draws
@given(leaves, points(), st.sampled_from([1e-320, 1e-200, 1e-160, 1e-60, 1e60, 1e150]))
def test_a_kernel_of_tiny_or_huge_rows_is_right_or_refuses(k, X, factor):
    gram(k, X * factor)
    holds("oracle", k, X * factor, 1e-8)


@draws
@given(points(), st.sampled_from([1e-200, 1e-160, 1e-60, 1e60, 1e200]))
@example(np.eye(WIDTH), 1e-200)
@pytest.mark.parametrize("k", [Cosine(), ArcCosine(0), Tanimoto()], ids=repr)
def test_a_direction_does_not_depend_on_the_unit_of_length(k, X, factor):
    # A power of two changes no digit of what is not far below the other entries already.
    X = np.where(np.abs(X) < 1e-3, 0.0, X)
    factor = 2.0 ** np.round(np.log2(factor))
    assert gram(k, X * factor) == pytest.approx(k(X), abs=1e-9)


dyadic = hnp.arrays(np.int64, (6, WIDTH), elements=st.integers(-3000, 3000))


@draws
@given(stationary, dyadic, st.sampled_from([2.0**10, -(2.0**20), 2.0**30]))
def test_a_stationary_kernel_does_not_depend_on_the_origin(k, rows, offset):
    X = rows / 1024.0  # so that X + offset is exact
    assert k(X + offset) == pytest.approx(k(X), abs=1e-8)


@draws
@given(dyadic, st.sampled_from([2.0**10, 2.0**20]))
def test_a_gaussian_in_feature_space_is_at_most_one(rows, offset):
    X = rows / 1024.0 + offset
    K = gaussian_over(Linear(), 1.0)(X)
    assert K.max() <= 1.0
    assert np.diag(K) == pytest.approx(np.ones(len(X)), abs=1e-12)


whole = st.lists(st.integers(0, 3), min_size=6, max_size=6)


@draws
@given(dyadic, whole, st.floats(1e-3, 1e3), st.booleans())
@pytest.mark.parametrize("solver", [Cholesky(), Cholesky("mixed"), Eigen()], ids=repr)
def test_a_ridge_system_is_solved_whatever_the_weights(solver, rows, times, penalty, intercept):
    assume(sum(times) > 0)
    K = Gaussian(1.0)(rows / 1024.0)
    w = np.array(times, dtype=float)
    y = np.cos(np.arange(12.0)).reshape(6, 2)
    found = solver.solve(solver.prepare(Problem(Dense(K), w, intercept)), y, penalty)
    kept = w > 0
    a, b = expected(K[kept][:, kept], y[kept], penalty, w[kept], intercept)
    # The condition number is at most 6·3·1e3, so 1e-9 is far above rounding.
    assert found.coefficients[kept] == pytest.approx(a, abs=1e-9 * np.abs(a).max() + 1e-12)
    assert found.intercept == pytest.approx(b, abs=1e-9)
    assert not found.coefficients[~kept].any()
