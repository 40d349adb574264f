"""What bad input gets from a machine: a named error of the right room, and nothing changed.

Each refusal is asked of a fresh machine, which must stay without learned attributes, and of a
fitted one, which must go on predicting what it predicted. The inputs stay as they were.
"""

import copy

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer import KernelRidge, KernelRidgeClassifier, Plan
from mercer.errors import DomainError, MercerError, PlanError, SolveError, ValidityError
from mercer.kernels import (
    Categorical,
    Chi2,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Periodic,
    Polynomial,
    Shepard,
    Sigmoid,
    exp,
    from_function,
    polynomial,
    precomputed,
    rescale,
)

MACHINES = [KernelRidge(Gaussian(1.0)), KernelRidgeClassifier(Linear(), intercept=True)]
both_machines = pytest.mark.parametrize("machine", MACHINES, ids=["regressor", "classifier"])


def rows(n=10, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def labels(n=10):
    return np.arange(n) % 2


def spoiled(value, row=3, column=1):
    X = rows()
    X[row, column] = value
    return X


def frame(**changes):
    X = pd.DataFrame(rows(), columns=["height", "weight", "age"])
    for name, values in changes.items():
        X[name] = values
    return X


def learned(machine):
    return sorted(name for name in vars(machine) if name.endswith("_") and name[0] != "_")


def same(one, two):
    """Tell whether two containers hold the same, NaN included."""
    if sparse.issparse(one):
        return same(one.toarray(), two.toarray())
    if hasattr(one, "equals"):
        return one.equals(two)
    if isinstance(one, np.ndarray) and one.dtype != object:
        return np.array_equal(one, two, equal_nan=one.dtype.kind in "fc")
    return repr(one) == repr(two)


def refused(machine, X, y, error, words, good=None, **fit):
    """Hold that `fit` refuses with these words and that nothing has changed."""
    inputs = [X, y, *fit.values()]
    before = [copy.deepcopy(thing) for thing in inputs]
    parameters = repr(machine.get_params())

    fresh = clone(machine)
    with pytest.raises(error, match=words) as found:
        fresh.fit(X, y, **fit)
    assert isinstance(found.value, MercerError)
    assert learned(fresh) == []
    with pytest.raises(NotFittedError):
        fresh.predict(rows())

    if good is not None:
        fitted = clone(machine).fit(*good)
        said, knew = fitted.predict(good[0]), learned(fitted)
        with pytest.raises(error, match=words):
            fitted.fit(X, y, **fit)
        np.testing.assert_array_equal(fitted.predict(good[0]), said)
        assert learned(fitted) == knew

    assert all(same(one, two) for one, two in zip(inputs, before, strict=True))
    assert repr(machine.get_params()) == parameters


def refused_at_predict(machine, good, X, error, words):
    """Hold that `predict` refuses, and afterwards predicts as before."""
    fitted = clone(machine).fit(*good)
    said, before = fitted.predict(good[0]), copy.deepcopy(X)
    with pytest.raises(error, match=words) as found:
        fitted.predict(X)
    assert isinstance(found.value, MercerError)
    np.testing.assert_array_equal(fitted.predict(good[0]), said)
    assert same(X, before)


# ---- items -------------------------------------------------------------------------------------

BAD_ITEMS = {
    "NaN": (spoiled(np.nan), r"X contains NaN at row 3, column 1"),
    "infinity": (spoiled(np.inf), r"X contains infinity at row 3, column 1"),
    "minus infinity": (spoiled(-np.inf), r"X contains infinity at row 3, column 1"),
    "NaN in single precision": (
        spoiled(np.nan).astype(np.float32), r"X contains NaN at row 3, column 1",
    ),
    "NaN in sparse rows": (
        sparse.csr_array(spoiled(np.nan)), r"X contains NaN at row 3, column 1",
    ),
    "infinity in sparse rows": (
        sparse.csc_array(spoiled(np.inf)), r"X contains infinity at row 3, column 1",
    ),
    "NaN in a table": (
        frame(weight=[1.0, 2.0, 3.0, np.nan, *range(6)]),
        r"X contains NaN at row 3, column 1 \('weight'\)",
    ),
    "NA in a table": (
        frame(age=pd.array([1, 2, None, *range(7)], dtype="Int64")),
        r"X contains NaN at row 2, column 2 \('age'\)",
    ),
    "infinity in a table": (
        frame(height=[np.inf, *range(9)]), r"X contains infinity at row 0, column 0 \('height'\)",
    ),
    "None in a list": ([[1.0, None]] * 10, r"X contains NaN at row 0, column 1"),
    "no items": (np.empty((0, 3)), r"X with 0 sample\(s\) \(shape=\(0, 3\)\)"),
    "an empty list": ([], r"X with 0 sample\(s\)"),
    "an empty table": (frame().iloc[:0], r"X with 0 sample\(s\) \(shape=\(0, 3\)\)"),
    "no columns": (np.empty((10, 0)), r"0 feature\(s\) \(shape=\(10, 0\)\)"),
    "one dimension": (np.arange(10.0), r"Expected 2D array, got 1D array.*[Rr]eshape"),
    "three dimensions": (np.zeros((10, 2, 2)), r"X with dim 3, while dim 2 is required"),
    "a number": (3.0, r"Expected 2D array, got 0D array|X must be rows of numbers"),
    "nothing": (None, r"X must be rows of numbers, found NoneType"),
    "a dictionary": ({"a": [1, 2]}, r"X must be rows of numbers, found dict"),
    "a text": ("rows", r"X must be rows of numbers, found str"),
    "ragged rows": ([[1.0, 2.0]] * 9 + [[1.0]], r"rows of X do not all have the same length"),
    "texts": (np.full((10, 2), "a"), r"X holds <U1 values.*Categorical"),
    "objects": (np.full((10, 2), "a", dtype=object), r"object array.*could not convert.*'a'"),
    "objects of no kind": (np.full((10, 2), Ellipsis), r"X holds objects that are not numbers"),
    "dates": (np.full((10, 2), "2024-01-01", "M8[D]"), r"X holds datetime64\[D\] values"),
    "a text column": (
        frame(weight=["heavy"] * 10),
        r"column 'weight' of X holds .* values.*Categorical\(\).on\('weight'\)",
    ),
    "complex": (rows() + 1j, r"Complex data not supported: X"),
    "complex lists": ([[1j, 2.0]] * 10, r"Complex data not supported: X"),
    "complex sparse rows": (sparse.csr_array(rows() + 1j), r"Complex data not supported: X"),
    "a complex column": (frame(weight=[1j] * 10), r"Complex data not supported: column 'weight'"),
    "two columns of one name": (
        pd.DataFrame(rows(), columns=["a", "b", "a"]), r"X has two columns called 'a'",
    ),
}  # fmt: skip


@both_machines
@pytest.mark.parametrize("case", BAD_ITEMS)
def test_bad_items_are_refused_at_fit(case, machine):
    X, words = BAD_ITEMS[case]
    refused(machine, X, labels(), DomainError, words, good=(rows(), labels()))


@both_machines
@pytest.mark.parametrize("case", BAD_ITEMS)
def test_bad_items_are_refused_at_predict(case, machine):
    X, words = BAD_ITEMS[case]
    refused_at_predict(machine, (rows(), labels()), X, DomainError, words)


WRONG_WIDTH = {
    "fewer": rows(4, 2),
    "more": rows(4, 4),
    "a list": [[1.0, 2.0]],
    "sparse rows": sparse.csr_array(rows(4, 2)),
}


@both_machines
@pytest.mark.parametrize("case", WRONG_WIDTH)
def test_another_number_of_columns_at_predict(case, machine):
    words = r"X has \d features, but .* is expecting 3 features"
    good = (rows(), labels())
    refused_at_predict(machine, good, WRONG_WIDTH[case], DomainError, words)


@both_machines
def test_other_columns_at_predict_are_refused_by_name(machine):
    good = (frame(), labels())
    renamed = frame().rename(columns={"age": "years"})
    words = r"feature names should match(.|\n)*years(.|\n)*age"
    refused_at_predict(machine, good, renamed, DomainError, words)
    swapped = frame()[["weight", "height", "age"]]
    refused_at_predict(
        machine, good, swapped, DomainError, r"feature names.*same order|must be in"
    )


def test_a_fitted_machine_takes_rows_of_another_width_only_by_a_new_fit():
    machine = KernelRidge(Gaussian(1.0)).fit(rows(), labels())
    machine.plan(rows(d=7))  # a dry run, so nothing changes
    assert machine.predict(rows()).shape == (10,)
    machine.fit(rows(d=7), labels())
    assert machine.predict(rows(d=7)).shape == (10,)


# ---- one item ----------------------------------------------------------------------------------


def test_one_sample_is_learned_if_nothing_must_be_estimated_from_it():
    machine = KernelRidge(Gaussian(1.0), penalty=0.5).fit([[1.0, 2.0]], [3.0])
    assert machine.predict([[1.0, 2.0]])[0] == pytest.approx(2.0)
    interpolated = KernelRidge(Gaussian(1.0), penalty=0.0).fit([[1.0, 2.0]], [3.0])
    assert interpolated.predict([[1.0, 2.0]])[0] == pytest.approx(3.0)
    offset = KernelRidge(Gaussian(1.0), penalty=0.5, intercept=True).fit([[1.0, 2.0]], [3.0])
    assert offset.predict([[7.0, 7.0]])[0] == pytest.approx(3.0)


def test_one_sample_has_no_median_distance():
    words = r"at least two items, found 1 sample.*as a number"
    refused(KernelRidge("gaussian"), [[1.0, 2.0]], [3.0], DomainError, words)
    refused(KernelRidge(Laplacian()), [[1.0, 2.0]], [3.0], DomainError, words)


def test_one_sample_has_one_class():
    machine = KernelRidgeClassifier(Gaussian(1.0))
    refused(machine, [[1.0, 2.0]], ["a"], DomainError, r"y has only 1 class, .*a.* at least two")


def test_one_new_item_is_predicted_as_among_others():
    machine = KernelRidge("gaussian").fit(rows(), labels())
    np.testing.assert_allclose(machine.predict(rows()[:1]), machine.predict(rows())[:1])


# ---- targets, labels, weights ------------------------------------------------------------------

BAD_TARGETS = {
    "too few": (labels(9), r"inconsistent numbers of samples: X has 10, y has 9"),
    "too many": (labels(11), r"inconsistent numbers of samples: X has 10, y has 11"),
    "none": (None, r"target y is None"),
    "a number": (1.0, r"y should be a 1d array"),
    "three dimensions": (np.zeros((10, 2, 2)), r"y should be a 1d array.*\(10, 2, 2\)"),
    "complex": (labels() + 1j, r"Complex data not supported: y"),
    "NaN": (np.where(np.arange(10) == 4, np.nan, 1.0), r"y contains NaN or infinity at row 4"),
    "infinity": (np.where(np.arange(10) == 4, np.inf, 1.0), r"y contains NaN.*infinity at row 4"),
}


@both_machines
@pytest.mark.parametrize("case", BAD_TARGETS)
def test_bad_targets(case, machine):
    y, words = BAD_TARGETS[case]
    refused(machine, rows(), y, DomainError, words, good=(rows(), labels()))


def test_labels_are_no_targets_of_a_regressor():
    words = r"y must hold numbers.*for labels use a classifier"
    refused(MACHINES[0], rows(), list("ab" * 5), DomainError, words, good=(rows(), labels()))


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.linspace(0, 1, 10), r"Unknown label type: continuous.*KernelRidge"),
        (np.zeros(10, int), r"y has only 1 class"),
        (["a"] * 10, r"y has only 1 class"),
        (np.zeros((10, 2)), r"one label per item, found an array of shape \(10, 2\)"),
        (["a", 1] * 5, r"y mixes"),
        (np.array(["a", None] * 5, dtype=object), r"label of item 1 is missing"),
    ],
)
def test_targets_that_are_no_labels(y, words):
    refused(MACHINES[1], rows(), y, DomainError, words, good=(rows(), labels()))


BAD_WEIGHTS = {
    "too few": (np.ones(9), r"sample_weight has 9 entries, but there are 10 items"),
    "negative": (np.r_[1, 1, -1, np.ones(7)], r"not negative; item 2 has -1"),
    "NaN": (np.r_[1, np.nan, np.ones(8)], r"must be finite.*item 1 has nan"),
    "infinite": (np.r_[np.inf, np.ones(9)], r"must be finite.*item 0 has inf"),
    "two dimensions": (np.ones((10, 1)), r"must be 1D array or scalar, found 2D"),
    "all zero": (np.zeros(10), r"all sample weights are zero"),
    "texts": (["heavy"] * 10, r"sample_weight.*number"),
    "complex": (np.ones(10) + 1j, r"[Cc]omplex"),
}


@both_machines
@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_weights(case, machine):
    w, words = BAD_WEIGHTS[case]
    good = (rows(), labels())
    refused(machine, rows(), labels(), DomainError, words, good, sample_weight=w)


# ---- kernels -----------------------------------------------------------------------------------

BAD_KERNELS = {
    "a misspelled name": ("gausian", r"unknown kernel 'gausian'; did you mean 'gaussian'\?"),
    "another misspelled name": ("polynomal", r"did you mean 'polynomial'\?"),
    "an unknown name": (
        "zzz",
        r"unknown kernel 'zzz'; known are 'gaussian', 'laplacian', 'linear",
    ),
    "a class": (Gaussian, r"found type; write Gaussian\(\), not Gaussian"),
    "a function": (lambda x, z: 1.0, r"found function; .*from_function"),
    "nothing": (None, r"kernel must be a kernel or its name, found NoneType"),
    "a matrix": (np.eye(3), r"kernel must be a kernel or its name, found ndarray"),
    "not valid": (Sigmoid(1.0, -1.0), r"needs a positive semi-definite kernel"),
    "not valid inside": (Gaussian(1.0) * Polynomial(3, -1.0), r"positive semi-definite kernel"),
}


@pytest.mark.parametrize("machine", [KernelRidge, KernelRidgeClassifier])
@pytest.mark.parametrize("case", BAD_KERNELS)
def test_bad_kernels(case, machine):
    kernel, words = BAD_KERNELS[case]
    fresh = machine(kernel=kernel)
    with pytest.raises(ValidityError, match=words):
        fresh.fit(rows(), labels())
    with pytest.raises(ValidityError, match=words):
        fresh.plan(rows())
    assert learned(fresh) == []


OVERFLOWS = {
    "an exponential": (exp(Linear()), 100 * rows(), r"exp\(Linear\(\)\) is inf for items"),
    "a power": (Polynomial(400), 100 * rows(), r"Polynomial\(degree=400.* is inf for items"),
    "a repeated product": (Linear() ** 200, 100 * rows(), r"\*\* 200 is inf for items"),
    "a polynomial of a kernel": (
        polynomial(Linear(), [0.0] * 120 + [1.0]), 1e3 * rows(), r"is inf for items",
    ),
    "a whole number": (from_function(lambda x, z: 2**5000), rows(), r"whole number too large"),
    "a function": (from_function(lambda x, z: np.inf), rows(), r"is inf for items 0 and 0"),
    "not a number": (from_function(lambda x, z: np.nan), rows(), r"is nan for items 0 and 0"),
    "no number": (from_function(lambda x, z: "much"), rows(), r"returned 'much'.*not a number"),
    "a length": (rescale(Linear(), lambda x: 1e200), rows(), r"is inf for items"),
    "dot products": (Linear(), 1e200 * rows(), r"Linear\(\) is inf for items"),
}  # fmt: skip


@pytest.mark.parametrize("case", OVERFLOWS)
def test_overflow_is_refused_and_names_the_items(case):
    kernel, X, words = OVERFLOWS[case]
    machine = KernelRidge(kernel, follow=Plan(route="dual"))
    refused(machine, X, labels(), ValidityError, words)


def test_overflow_in_the_primal_is_refused_too():
    """Features, or their squares, that are too large for a float."""
    for kernel, X in [(Polynomial(300), 100 * rows(60, 1)), (Linear(), 1e200 * rows(60, 2))]:
        machine = KernelRidge(kernel)
        with pytest.raises(MercerError):
            machine.fit(X, labels(60))
        assert learned(machine) == []


def test_overflow_at_predict_is_refused():
    machine = KernelRidge(exp(Linear()))
    refused_at_predict(
        machine, (rows(), labels()), 1e4 * rows(), ValidityError, r"is inf for items"
    )


@pytest.mark.parametrize("penalty", [-1.0, np.nan, np.inf, "strong", None])
@both_machines
def test_bad_penalties(machine, penalty):
    machine = clone(machine).set_params(penalty=penalty)
    refused(machine, rows(), labels(), ValidityError, r"penalty must be a finite number.*negative")


def test_interpolation_of_equal_items_is_refused():
    X = np.concatenate([rows(), rows()[:1]])
    machine = KernelRidge(Gaussian(1.0), penalty=0.0)
    words = r"singular to working precision.*remove duplicates"
    refused(machine, X, np.arange(11), SolveError, words, good=(rows(), labels()))


@both_machines
def test_too_little_memory(machine):
    machine = clone(machine).set_params(follow=Plan(memory=1000))
    refused(machine, rows(), labels(), PlanError, r"needs .* but 1.0 kB are available")


# ---- kernels with conditions -------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Chi2(1.0), Intersection(), Chi2(1.0) + Linear()], ids=repr)
def test_negative_amounts(kernel):
    good = (np.abs(rows()), labels())
    X = np.abs(rows())
    X[6, 2] = -0.5
    words = r"Negative values in data: X is negative at row 6, column 2"
    refused(KernelRidge(kernel), X, labels(), DomainError, words, good=good)
    refused_at_predict(KernelRidge(kernel), good, X, DomainError, words)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    refused(KernelRidge(kernel), table, labels(), DomainError, words + r" \('c'\)")


def test_negative_amounts_in_sparse_rows_are_named():
    X = np.abs(rows())
    X[6, 2] = -0.5
    words = r"X is negative at row 6, column 2"
    refused(KernelRidge(Intersection()), sparse.csr_array(X), labels(), DomainError, words)


@pytest.mark.parametrize(
    "kernel", [Chi2(1.0), Periodic(1.0), Shepard(1.0, order=1.5), Linear() * Chi2(1.0)], ids=repr
)
def test_sparse_rows_where_the_formula_needs_dense_ones(kernel):
    X = sparse.csr_array(np.abs(rows()))
    name = r"X is sparse, but the formula of (Chi2|Periodic|Shepard) needs dense rows.*toarray"
    refused(KernelRidge(kernel), X, labels(), DomainError, name)


MIXED = Gaussian(1.0).on("height", "weight") * Categorical().on("kind")


def zoo(**changes):
    return frame(kind=list("aabbc") * 2, **changes)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (zoo(height=[np.nan] * 10), r"X contains NaN at row 0, column 0 \('height'\)"),
        (zoo(weight=["x"] * 10), r"column 'weight' of X holds .* values"),
        (zoo().drop(columns="weight"), r"X has no column 'weight'; did you mean 'height'\?"),
        (zoo().rename(columns={"kind": "kinds"}), r"no column 'kind'; did you mean 'kinds'\?"),
        (zoo().assign(kind=[*"aab", None, *"caabbc"]), r"row 3 of X has nothing in column 'kind'"),
        (zoo().assign(kind=[*"aab", np.nan, *"caabbc"]), r"row 3 of X has nothing in col"),
        (zoo().assign(kind=[{1}] * 10), r"row 0 of X is a set, which cannot be a category"),
        (rows(), r"column 'height' was asked for by name, but X has no names"),
        (zoo().iloc[:0], r"X with 0 sample\(s\)"),
    ],
)  # fmt: skip
def test_bad_tables(X, words):
    machine = KernelRidge(MIXED)
    refused(machine, X, labels()[: len(X)], DomainError, words, good=(zoo(), labels()))


def test_a_column_number_that_does_not_exist():
    for column in (3, -4):
        machine = KernelRidge(Gaussian(1.0).on(column))
        words = rf"X has 3 columns, so there is no column {column}"
        refused(machine, rows(), labels(), DomainError, words)


def test_a_slice_without_columns():
    machine = KernelRidge(Gaussian(1.0).on(slice(5, 9)))
    refused(machine, rows(), labels(), DomainError, r"0 feature\(s\)|no column")


def test_a_table_at_predict_that_lacks_a_column():
    good = (zoo(), labels())
    lacking = zoo().drop(columns="weight")
    refused_at_predict(KernelRidge(MIXED), good, lacking, DomainError, r"weight")


# ---- precomputed -------------------------------------------------------------------------------


def test_a_precomputed_matrix_must_be_square_at_fit_and_as_wide_at_predict():
    K = Gaussian(1.0)(rows())
    machine = KernelRidge(precomputed())
    refused(machine, K[:, :7], labels(), DomainError, r"square matrix.* 10x7")
    refused_at_predict(machine, (K, labels()), K[:4, :7], DomainError, r"7 features.*10 features")
    refused(machine, sparse.csr_array(K), labels(), DomainError, r"X is sparse.*must be dense")
    bad = K.copy()
    bad[2, 5] = np.nan
    refused(machine, bad, labels(), DomainError, r"NaN at row 2, column 5", good=(K, labels()))


def test_a_precomputed_matrix_must_be_symmetric():
    """One triangle would be ignored, and nobody would know which."""
    K = Gaussian(1.0)(rows())
    K[2, 5] += 0.1
    refused(KernelRidge("precomputed"), K, labels(), MercerError, r"symmetric")


def test_an_unfitted_machine_does_not_predict():
    for machine in MACHINES:
        with pytest.raises(NotFittedError):
            clone(machine).predict(rows())
