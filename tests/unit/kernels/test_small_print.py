"""Names, signs, sums and threads: what is easily got wrong about kernels."""

import threading

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

from mercer.errors import DomainError, PlanError, ValidityError
from mercer.kernels import (
    Chi2,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    QuadraticForm,
    Shepard,
    Sigmoid,
    Spectrum,
    check,
    from_basis,
    gaussian_over,
    kernel,
    normalize,
    polynomial,
    pullback,
    rescale,
)
from mercer.rkhs import mmd

X = np.random.default_rng(0).normal(size=(20, 3))


def test_a_misspelled_parameter_is_refused_with_the_one_that_was_meant():
    with pytest.raises(ValidityError, match="did you mean 'bandwidth'"):
        Gaussian(bandwith=1.0)


def test_an_even_power_cancels_two_negative_signs():
    k = Polynomial(2, offset=-1.0, scale=-1.0)
    assert k.proof().verdict == "proved"
    np.testing.assert_allclose(k(X), Polynomial(2, offset=1.0)(X))


@pytest.mark.parametrize("columns", [("a",), (1,), (2, 0), ("a", "b")])
def test_a_refutation_reaches_through_columns(columns):
    k = Sigmoid(1.0, -1.0).on(*columns)
    proof = k.proof()
    assert proof.verdict == "refuted"
    assert np.linalg.eigvalsh(k(proof.witness.points))[0] < 0
    assert "witness" in str(proof)


def test_the_sum_of_a_list_is_the_sum():
    assert sum([Linear(), Gaussian(1.0)]) == Linear() + Gaussian(1.0)


class Unhashable:
    """A function object that compares by its contents."""

    __hash__ = None

    def __eq__(self, other):
        return isinstance(other, Unhashable)

    def __call__(self, x):
        return 1.0


def test_a_function_need_not_be_hashable():
    k = rescale(Linear(), Unhashable())
    np.testing.assert_allclose(k(X), Linear()(X))
    assert hash(k) == hash(rescale(Linear(), k.function))


def test_a_function_is_asked_once_for_each_item():
    asked = []
    k = rescale(Linear(), lambda x: asked.append(1) or 1.0)
    asked.clear()
    k(X)
    assert len(asked) == len(X)


def test_an_f_that_is_defined_for_some_numbers_is_accepted():
    k = rescale(Linear(), lambda x: np.sqrt(-x[0]))
    assert np.isfinite(k(-np.abs(X))).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: QuadraticForm("abc"),
        lambda: QuadraticForm([[1j]]),
        lambda: QuadraticForm(np.empty((0, 0))),
        lambda: Gaussian([[1.0], [1.0, 2.0]]),
        lambda: Shepard(attention=[[1.0], [1.0, 2.0]]),
        lambda: polynomial(Linear(), [[1.0], [1.0, 2.0]]),
        lambda: gaussian_over(Linear(), np.array([1.0, 2.0])),
        lambda: Chi2(np.array([1.0, 2.0])),
        lambda: from_basis(3),
        lambda: Gaussian(1.0).random_features("a"),
    ],
)
def test_parameters_that_are_no_numbers_are_refused_by_name(make):
    with pytest.raises(ValidityError):
        make()


def test_an_endless_similarity_in_feature_space_is_the_identity():
    np.testing.assert_array_equal(gaussian_over(Linear(), 1e-200)(X), np.eye(20))


def test_names_do_where_kernels_do():
    assert check("gaussian", X).items == 20
    assert mmd("gaussian", X, X) < 1e-12


def test_masked_entries_are_refused():
    with pytest.raises(DomainError, match="masked"):
        Linear()(np.ma.masked_array(X, mask=X > 1))


def test_features_in_single_precision_are_computed_in_double():
    k, single = Polynomial(2, 1.0, 0.3), X.astype(np.float32)
    F = k.features(single)
    np.testing.assert_allclose(F @ F.T, k(single.astype(np.float64)), rtol=1e-12)


def test_a_matrix_or_features_that_do_not_fit_are_refused(free_memory):
    free_memory(10**6)
    with pytest.raises(PlanError, match="Gram matrix of 4000 × 4000"):
        Linear()(np.zeros((4000, 1)))
    with pytest.raises(PlanError, match="features"):
        Polynomial(6).features(np.zeros((10, 60)))


def test_threads_of_blas_come_back_when_several_callers_use_kernels():
    def threads():
        return [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]

    before = threads()
    rows = np.random.default_rng(0).normal(size=(1500, 8))
    callers = [threading.Thread(target=Gaussian(1.0), args=(rows,)) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert threads() == before


def test_rows_of_a_table_are_seen_by_name():
    table = pd.DataFrame({"a": [1.0, 2.0]})
    k = pullback(Linear(), lambda row: [row["a"]])
    np.testing.assert_array_equal(k(table), [[1.0, 2.0], [2.0, 4.0]])


@kernel
class Upper(Kernel):
    """Fills only what is on and above the diagonal of a symmetric block."""

    def pair(self, x, z):
        return float(x == z)

    def evaluate(self, block):
        K = np.array([[self.pair(x, z) for z in block.right.items()] for x in block.left.items()])
        if block.symmetric:
            K[np.tril_indices(len(K), -1)] = np.nan
        return K


def test_nobody_reads_below_the_diagonal_of_a_symmetric_block():
    assert np.array_equal(Upper()(list("abca")), Upper()(list("abca"), list("abca")))


@pytest.mark.parametrize("value", ["3", b"3"])
def test_a_text_is_not_a_number(value):
    with pytest.raises(ValidityError, match="whole number"):
        Spectrum(value)
    with pytest.raises(ValidityError):
        Laplacian("1.0")


def test_costly_pairs_are_cut_into_tiles_for_all_cores(use_cores):
    use_cores(2)
    sizes = []

    @kernel
    class Slow(Kernel):
        costly = True

        def pair(self, x, z):
            return float(x == z)

        def evaluate(self, block):
            sizes.append(max(block.shape))
            return super().evaluate(block)

    items = list(range(100))
    assert np.array_equal(normalize(Slow())(items), np.eye(100))
    assert max(sizes) <= 16 and len(sizes) > 20


def test_forgotten_encodings_are_made_again():
    k = Spectrum(2)
    points = k.admit(["abab", "baba"])
    before = k(points)
    points.forget()
    assert not points._views
    assert np.array_equal(k(points), before)
