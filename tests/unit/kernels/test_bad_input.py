"""What bad input gets from a kernel, whichever of its methods is asked."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.errors import DomainError, MercerError, ValidityError
from mercer.kernels import (
    ArcCosine,
    Categorical,
    Chi2,
    Constant,
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
    check,
    exp,
    from_basis,
    from_features,
    from_function,
    gaussian_over,
    named,
    normalize,
    polynomial,
    precomputed,
    pullback,
    rescale,
)
from mercer.rkhs import Function, empirical_map, mean_embedding

VECTOR = Polynomial(2)  # with features, so that every method can be asked

METHODS = {
    "Gram matrix": lambda k, X: k(X),
    "rows of a Gram matrix": lambda k, X: k(X, np.ones((2, 3))),
    "columns of a Gram matrix": lambda k, X: k(np.ones((2, 3)), X),
    "diagonal": lambda k, X: k.diagonal(X),
    "features": lambda k, X: k.features(X),
    "check": lambda k, X: check(k, X),
    "mean embedding": mean_embedding,
    "empirical map": empirical_map,
    "function": lambda k, X: Function(k, X, np.ones(10)),
}
every_method = pytest.mark.parametrize("method", METHODS)


def rows(n=10, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def spoiled(value):
    X = rows()
    X[3, 1] = value
    return X


def table(**changes):
    X = pd.DataFrame(rows(), columns=["height", "weight", "age"])
    return X.assign(**changes)


BAD = {
    "NaN": (spoiled(np.nan), r"contains? NaN at row 3, column 1"),
    "infinity": (spoiled(np.inf), r"contains? infinity at row 3, column 1"),
    "NaN in sparse rows": (sparse.csr_array(spoiled(np.nan)), r"NaN at row 3, column 1"),
    "NaN in a table": (
        table(weight=[1.0, 2.0, 3.0, np.nan, *range(6)]), r"NaN at row 3, column 1 \('weight'\)",
    ),
    "no items": (np.empty((0, 3)), r"with 0 sample\(s\)"),
    "an empty list": ([], r"with 0 sample\(s\)"),
    "objects": (np.full((10, 3), "a", dtype=object), r"object array that cannot be read"),
    "texts": (np.full((10, 3), "a"), r"holds <U1 values, but a vector kernel needs numbers"),
    "a text column": (table(age=["old"] * 10), r"column 'age' of .* Categorical\(\).on\('age'\)"),
    "complex": (rows() + 0j, r"Complex data not supported"),
    "one dimension": (np.arange(10.0), r"Expected 2D array, got 1D array"),
    "two columns of one name": (
        pd.DataFrame(rows(), columns=["a", "b", "a"]), r"two columns called 'a'",
    ),
}  # fmt: skip


@every_method
@pytest.mark.parametrize("case", BAD)
def test_bad_items_are_refused_and_stay_as_they_are(case, method):
    X, words = BAD[case]
    before = X.copy()
    with pytest.raises(DomainError, match=words):
        METHODS[method](VECTOR, X)
    if isinstance(X, pd.DataFrame):
        pd.testing.assert_frame_equal(X, before)
    elif isinstance(X, list):
        assert X == before
    else:
        one, two = (A.toarray() if sparse.issparse(A) else A for A in (X, before))
        np.testing.assert_array_equal(one, two)


def test_good_input_is_not_changed_either():
    X, Z = rows(), rows(6, seed=1)
    before, other = X.copy(), Z.copy()
    for kernel in (Gaussian(1.0), Linear(), Laplacian((1.0, 2.0, 3.0)), normalize(Linear() + 1.0)):
        kernel(X, Z), kernel(X), kernel.diagonal(X), kernel.resolve(X), check(kernel, X)
    Linear().features(X)[:] = 0.0  # the answer is the caller's to change
    Linear()(X)[:] = 0.0
    K = np.eye(3)
    precomputed()(K)[:] = 0.0
    np.testing.assert_array_equal(K, np.eye(3))
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(Z, other)


@pytest.mark.parametrize("Z", [rows(4, 2), sparse.csr_array(rows(4, 2)), [[1.0, 2.0]]])
def test_rows_of_different_width_cannot_be_compared(Z):
    for kernel in (Gaussian(1.0), Linear(), Gaussian(1.0).on(0) + Linear()):
        with pytest.raises(DomainError, match=r"3 and 2 columns; they must have the same number"):
            kernel(rows(), Z)


def test_a_parameter_for_each_dimension_must_fit_the_data():
    with pytest.raises(DomainError, match=r"X has 3 columns, but .*Gaussian.* 2$"):
        Gaussian((1.0, 2.0))(rows())
    with pytest.raises(DomainError, match=r"X has 3 columns, but .*Periodic.* 2$"):
        Periodic(1.0, (1.0, 2.0))(rows())
    with pytest.raises(DomainError, match=r"X has 3 columns, but .*Laplacian.* 2$"):
        Laplacian((1.0, 2.0))(rows())
    with pytest.raises(DomainError, match=r"X has 3 columns, but .*Shepard.* 2$"):
        Shepard(attention=(1.0, 2.0))(rows())
    with pytest.raises(DomainError, match=r"X has 3 columns, but .*QuadraticForm.* 2$"):
        QuadraticForm(np.eye(2))(rows())


def test_a_parameter_for_each_dimension_is_not_stretched_over_one_column():
    """Two bandwidths and one column: NumPy would broadcast, and the answer would be wrong."""
    for kernel in (Gaussian((1.0, 2.0)), Laplacian((1.0, 2.0)), Periodic(1.0, (1.0, 2.0))):
        with pytest.raises(DomainError, match=r"X has 1 column"):
            kernel(rows(d=1))


# ---- heuristics that have not seen data --------------------------------------------------------

OPEN = {
    "Gaussian": (Gaussian("median"), r"bandwidth='median' of Gaussian\(bandwidth='median'\)"),
    "Laplacian": (Laplacian("scale"), r"bandwidth='scale' of Laplacian"),
    "Chi2": (Chi2("median"), r"bandwidth='median' of Chi2"),
    "inside a sum": (Linear() + 2.0 * Gaussian("scale"), r"'scale' of Gaussian"),
    "inside a map": (pullback(Exponential("median"), lambda x: x), r"of Exponential"),
    "over a kernel": (gaussian_over(Linear(), "median"), r"'median' of gaussian_over"),
    "on columns": (Matern(1.5, "median").on(0), r"'median' of Matern\(nu=1.5, bandwidth='median'"),
}


@pytest.mark.parametrize("case", OPEN)
def test_an_unresolved_heuristic_is_an_error_that_says_what_to_do(case):
    kernel, words = OPEN[case]
    X = np.abs(rows())
    for method in (
        lambda: kernel(X),
        lambda: kernel(X, X),
        lambda: kernel.diagonal(X),
        lambda: kernel.features(X),
        lambda: kernel.random_features(10),
        lambda: Function(kernel, X, np.ones(10)),
    ):
        with pytest.raises(ValidityError, match=words + r".*call k.resolve\(X\) first"):
            method()
    resolved = kernel.resolve(X)
    assert resolved.unresolved() == []
    assert resolved(X).shape == (10, 10)


def test_resolving_twice_changes_nothing_and_leaves_the_original():
    kernel = Gaussian("median") * Linear()
    once = kernel.resolve(rows())
    assert once.resolve(100 * rows()) is once
    assert kernel == Gaussian("median") * Linear()


def test_an_unknown_heuristic_is_refused_with_the_close_match():
    with pytest.raises(ValidityError, match=r"bandwidth 'medain' .*did you mean 'median'"):
        Gaussian("medain")
    with pytest.raises(ValidityError, match=r"bandwidth 'auto' .*known are 'median', 'scale'"):
        Laplacian("auto")
    with pytest.raises(ValidityError, match=r"bandwidth of Chi2"):
        Chi2("scale")
    with pytest.raises(ValidityError, match=r"bandwidth of Periodic"):
        Periodic(1.0, "median")


# ---- parameters --------------------------------------------------------------------------------

BAD_PARAMETERS = {
    "bandwidth zero": lambda: Gaussian(0.0),
    "bandwidth negative": lambda: Laplacian(-1.0),
    "bandwidth NaN": lambda: Exponential(math.nan),
    "bandwidth infinite": lambda: Matern(1.5, math.inf),
    "bandwidth none": lambda: Gaussian(None),
    "bandwidths with a zero": lambda: Gaussian((1.0, 0.0)),
    "bandwidths without any": lambda: Gaussian(()),
    "nu": lambda: Matern(-0.5, 1.0),
    "alpha": lambda: RationalQuadratic(0.0, 1.0),
    "period": lambda: Periodic(0.0, 1.0),
    "degree zero": lambda: Polynomial(0),
    "degree fractional": lambda: Polynomial(1.5),
    "degree none": lambda: Polynomial(None),
    "degree infinite": lambda: Polynomial(math.inf),
    "degree NaN": lambda: Polynomial(math.nan),
    "degree text": lambda: Polynomial("two"),
    "degree boolean": lambda: Polynomial(True),
    "offset": lambda: Polynomial(2, offset=math.nan),
    "offset text": lambda: Polynomial(2, offset="much"),
    "scale": lambda: Polynomial(2, scale=math.inf),
    "slope": lambda: Sigmoid(math.nan, 0.0),
    "slope text": lambda: Sigmoid("steep", 0.0),
    "constant": lambda: Constant(-1.0),
    "order of ArcCosine": lambda: ArcCosine(3),
    "sensitivity": lambda: Shepard(0.0),
    "order of Shepard": lambda: Shepard(order=-1.0),
    "attention negative": lambda: Shepard(attention=(1.0, -1.0)),
    "attention empty": lambda: Shepard(attention=()),
    "function": lambda: from_function(3.0),
    "features": lambda: from_features("phi"),
    "basis": lambda: from_basis([]),
    "basis of numbers": lambda: from_basis([1.0, 2.0]),
    "random features": lambda: Gaussian(1.0).random_features(0),
    "no random features": lambda: Linear().random_features(10)(rows()),
    "no features": lambda: Gaussian(1.0).features(rows()),
}


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_bad_parameters_are_refused_at_construction(case):
    with pytest.raises(ValidityError) as found:
        BAD_PARAMETERS[case]()
    assert len(str(found.value)) > 20  # words, not a bare type


@pytest.mark.parametrize(
    ("kernel", "name", "words"),
    [
        (
            Gaussian(1.0),
            "bandwith",
            r"Gaussian has no parameter 'bandwith'; did you mean 'bandwidt",
        ),
        (Gaussian(1.0), "gamma", r"Gaussian has no parameter 'gamma'; known are 'bandwidth'"),
        (Gaussian(1.0) + Linear(), "lef", r"Sum has no parameter 'lef'; did you mean 'left'"),
        (Gaussian(1.0) + Linear(), "left__bandwith", r"Gaussian has no parameter 'bandwith'"),
        (Gaussian(1.0), "bandwidth__deeper", r"Gaussian has no parameter 'bandwidth__deeper'"),
        (2.0 * Linear(), "kernel__degree", r"Linear has no parameter 'degree'"),
    ],
)
def test_unknown_parameters_are_refused_with_the_close_match(kernel, name, words):
    before = repr(kernel)
    with pytest.raises(ValidityError, match=words):
        kernel.set_params(**{name: 1.0})
    assert repr(kernel) == before


def test_a_kernel_is_immutable():
    kernel = Gaussian(1.0)
    with pytest.raises(AttributeError):
        kernel.bandwidth = 2.0
    with pytest.raises(ValueError, match=r"read-only"):
        QuadraticForm(np.eye(2)).matrix[0, 0] = 5.0
    assert kernel.set_params(bandwidth=2.0) == Gaussian(2.0)
    assert kernel == Gaussian(1.0)


def test_a_quadratic_form_does_not_follow_the_users_matrix():
    A = np.eye(2)
    k = QuadraticForm(A)
    A[0, 0] = -5.0
    assert k.pair([1.0, 0.0], [1.0, 0.0]) == 1.0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gausian", r"unknown kernel 'gausian'; did you mean 'gaussian'\?"),
        ("Linear", r"did you mean 'linear'\?"),
        ("laplace", r"did you mean 'laplacian'\?"),
        ("rbf", r"unknown kernel 'rbf'; known are"),
    ],
)
def test_unknown_names_of_kernels(name, words):
    with pytest.raises(ValidityError, match=words):
        named(name)


def test_what_is_no_operand_of_the_algebra_is_a_type_error():
    for operation in (
        lambda: Linear() + "one",
        lambda: Linear() * None,
        lambda: [1.0] + Linear(),  # noqa: RUF005
        lambda: Linear() + True,
    ):
        with pytest.raises(TypeError):
            operation()


# ---- overflow ----------------------------------------------------------------------------------


def huge():
    """Only the last two of three items are too large, each with itself."""
    return np.array([[1e-3, 0.0], [1e3, 1e3], [1e3, -1e3]])


OVERFLOWS = {
    "exponential": (exp(Linear()), huge(), "1 and 1"),
    "power": (Polynomial(400), huge(), "1 and 1"),
    "repeated product": (Linear() ** 200, huge(), "1 and 1"),
    "polynomial": (polynomial(Linear(), [0.0] * 100 + [1.0]), huge(), "1 and 1"),
    "dot product": (Linear(), huge() * 1e152, "1 and 1"),
    "function": (from_function(lambda x, z: x[0] * z[0] * 1e303), huge(), "1 and 1"),
    "sum": (Linear() + exp(Linear()), huge(), "1 and 1"),
}


@pytest.mark.parametrize("case", OVERFLOWS)
def test_overflow_names_the_items_and_the_node(case):
    kernel, X, items = OVERFLOWS[case]
    words = rf"{re.escape(repr(kernel))} is (inf|nan) for items {items}, not a finite number"
    with pytest.raises(ValidityError, match=words):
        kernel(X)
    with pytest.raises(ValidityError, match=r"is (inf|nan) for items"):
        kernel(X[1:], X)
    assert np.isfinite(kernel(X[:1])).all()


@pytest.mark.parametrize("case", OVERFLOWS)
def test_overflow_of_a_diagonal_is_refused_as_well(case):
    kernel, X, _ = OVERFLOWS[case]
    with pytest.raises(ValidityError, match=r"(inf|nan).* item"):
        kernel.diagonal(X)


@pytest.mark.parametrize("case", OVERFLOWS)
def test_overflow_of_a_function_is_refused_as_well(case):
    kernel, X, _ = OVERFLOWS[case]
    f = Function(kernel, X, np.ones(3))
    for method in (lambda: f(X), f.norm, lambda: f.inner(f), lambda: f.project(X)):
        with pytest.raises(ValidityError, match=r"is (inf|nan) for items"):
            method()


def test_a_whole_number_that_is_no_float_is_refused():
    kernel = from_function(lambda a, b: 2 ** len(a & b))  # like the number of common subsets
    small, large = [{1, 2}, {2}], [set(range(5000)), {1}]
    np.testing.assert_array_equal(kernel(small), [[4.0, 2.0], [2.0, 2.0]])
    for method in (kernel, kernel.diagonal, lambda X: kernel.pair(X[0], X[0])):
        with pytest.raises(ValidityError, match=r"overflows.*whole number too large for a float"):
            method(large)


def test_large_whole_numbers_below_the_limit_are_exact():
    kernel = from_function(lambda a, b: 2 ** len(a & b))
    assert kernel([set(range(1000))])[0, 0] == 2.0**1000


def test_a_normalized_power_does_not_overflow_where_the_power_is_a_float():
    found = normalize(Polynomial(40))(huge())
    np.testing.assert_allclose(found, [[1, 0.5**20, 0.5**20], [0.5**20, 1, 0], [0.5**20, 0, 1]])


@pytest.mark.parametrize("answer", ["much", None, [1.0, 2.0], 1j])
def test_a_function_that_returns_no_number(answer):
    kernel = from_function(lambda x, z: answer)
    with pytest.raises(ValidityError, match=r"not a number"):
        kernel([1, 2])


def test_an_error_in_the_users_function_is_the_users_to_see():
    def broken(x, z):
        raise KeyError("my own mistake")

    with pytest.raises(KeyError, match=r"my own mistake"):
        from_function(broken)([1, 2])


# ---- conditions on values ----------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Chi2(1.0), Intersection()], ids=repr)
def test_negative_entries_of_histograms(kernel):
    X = np.abs(rows())
    X[6, 2] = -1e-9
    words = r"Negative values in data: X is negative at row 6, column 2"
    for method in (kernel, kernel.diagonal, lambda A: kernel(np.ones((2, 3)), A)):
        with pytest.raises(DomainError, match=words):
            method(X)
    with pytest.raises(DomainError, match=words + r" \('age'\)"):
        kernel(pd.DataFrame(X, columns=["height", "weight", "age"]))


def test_negative_entries_of_sparse_histograms_are_named():
    X = np.abs(rows())
    X[6, 2] = -1e-9
    with pytest.raises(DomainError, match=r"negative at row 6, column 2"):
        Intersection()(sparse.csr_array(X))


@pytest.mark.parametrize("kernel", [Chi2(1.0), Periodic(), Shepard(order=1.5)], ids=repr)
def test_sparse_rows_where_the_formula_has_no_sparse_form(kernel):
    name = type(kernel).__name__
    with pytest.raises(DomainError, match=rf"formula of {name} needs dense rows; pass X.toarray"):
        kernel(sparse.csr_array(np.abs(rows())))


def test_sparse_rows_are_no_categories():
    with pytest.raises(DomainError, match=r"X is sparse, but Categorical compares whole rows"):
        (Linear() + Categorical())(sparse.csr_array(rows()))


def test_a_negative_self_similarity_cannot_be_normalized():
    kernel = normalize(Sigmoid(1.0, -1.0))
    with pytest.raises(ValidityError, match=r"cannot be normalized: item 0 has the negative"):
        kernel([[0.0], [2.0]])
    with pytest.raises(ValidityError, match=r"cannot be normalized"):
        kernel.diagonal([[0.0], [2.0]])
    with pytest.raises(ValidityError, match=r"cannot be normalized"):
        kernel.pair([0.0], [2.0])


def test_a_precomputed_kernel_knows_only_its_matrix():
    K = np.eye(3)
    with pytest.raises(ValidityError, match=r"knows its matrix, not its points"):
        precomputed().pair([1.0], [2.0])
    with pytest.raises(DomainError, match=r"square matrix"):
        precomputed()(K[:2])
    with pytest.raises(DomainError, match=r"diagonal"):
        precomputed().diagonal(K[:2])
    with pytest.raises(MercerError, match=r"columns"):
        precomputed()(np.ones((2, 4)), K)


def test_things_must_come_in_a_container():
    kernel = from_function(lambda a, b: 1.0)
    for X in ("word", b"word", {"a": 1}, 3.0, None):
        with pytest.raises(DomainError, match=r"sequence of things to compare.*into a list"):
            kernel(X)
    with pytest.raises(DomainError, match=r"0 sample"):
        kernel([])


def test_phi_must_return_one_image_each():
    with pytest.raises(DomainError, match=r"phi returned 9 images of 10 items"):
        pullback(Linear(), lambda X: X[:-1], batched=True)(rows())
    with pytest.raises(DomainError, match=r"rows of phi\(X\) do not all have the same length"):
        pullback(Linear(), lambda word: [1.0] * len(word))(["a", "bb"])


@pytest.mark.parametrize("answer", ["much", None, [1.0, 2.0]])
def test_f_must_return_a_number(answer):
    with pytest.raises(MercerError, match=r"f of rescale"):
        rescale(Linear(), lambda x: answer)(rows())
