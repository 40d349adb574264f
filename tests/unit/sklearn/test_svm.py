"""The drop-in's support vector machines: scikit-learn's face, mercer's numbers."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm as theirs
from sklearn.base import clone
from sklearn.datasets import load_iris

import mercer
from mercer.errors import PlanWarning, ValidityError
from mercer.kernels import Gaussian, Polynomial
from mercer.sklearn import svm

PAIRS = [
    ("SVC", {"C": 3.0, "gamma": 0.3}),
    ("SVC", {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.2}),
    ("NuSVC", {"nu": 0.3, "gamma": 0.3}),
    ("SVR", {"C": 2.0, "epsilon": 0.05, "kernel": "linear"}),
    ("NuSVR", {"C": 2.0, "nu": 0.3, "gamma": 0.5}),
    ("OneClassSVM", {"nu": 0.2, "gamma": 0.5}),
]

# LIBSVM keeps similarities in single precision; the margin of ν divides by a small number.
LIBSVM_ROUNDING = 2e-3


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def answer(machine, X):
    return getattr(machine, "decision_function", machine.predict)(X)


@pytest.mark.parametrize(("name", "params"), PAIRS)
def test_answers_and_layouts_are_scikit_learns(iris, name, params):
    X, y = iris
    ours, others = (getattr(m, name)(tol=1e-7, **params).fit(X, y) for m in (svm, theirs))
    np.testing.assert_allclose(answer(ours, X), answer(others, X), atol=LIBSVM_ROUNDING)
    assert ours.get_params() == others.get_params()
    for attribute in ("dual_coef_", "intercept_", "n_support_", "support_vectors_"):
        a, b = getattr(ours, attribute), getattr(others, attribute)
        assert (a.dtype, np.ndim(a)) == (b.dtype, np.ndim(b)), attribute
    known = {k for k in vars(others) if k.endswith("_") and not k.startswith("_")}
    assert known <= set(vars(ours))
    assert ours.shape_fit_ == X.shape and ours.fit_status_ == 0


@pytest.mark.parametrize(("name", "params"), PAIRS[:1] + PAIRS[3:])
def test_sparse_rows_have_sparse_attributes(iris, name, params):
    X, y = iris
    wide = sparse.hstack([sparse.csr_array(X), sparse.csr_array((len(X), 60))]).tocsr()
    ours, others = (getattr(m, name)(tol=1e-7, **params).fit(wide, y) for m in (svm, theirs))
    assert sparse.issparse(ours.dual_coef_) and sparse.issparse(ours.support_vectors_)
    assert ours.dual_coef_.shape[0] == others.dual_coef_.shape[0]
    a, b = answer(ours, wide), answer(others, wide)
    np.testing.assert_allclose(np.ravel(a), np.ravel(b), atol=LIBSVM_ROUNDING)


def test_a_native_machine_says_the_same(iris):
    X, y = iris[0], np.array(["a", "b", "c"])[iris[1]]
    ours = svm.SVC(gamma=0.5).fit(X, y)
    native = ours.native()
    assert type(native) is mercer.SVC and native.kernel == Gaussian(1.0)
    assert (native.predict(X) == ours.predict(X)).all()
    assert native.solution_[0].gap < 1e-2
    assert svm.SVC(kernel="poly", gamma=2.0, coef0=1.0).native().kernel == Polynomial(3, 1.0, 2.0)
    assert svm.SVC().native().kernel == Gaussian("scale")


def test_a_gamma_that_needs_data_has_no_native_machine_before_a_fit():
    with pytest.raises(ValidityError, match="give gamma as a number"):
        svm.SVC(kernel="poly").native()


def test_weights_below_zero_and_of_classes_are_scikit_learns(iris):
    X, y = iris
    w = np.random.default_rng(0).uniform(-0.5, 2, len(y))
    ours, others = (
        m.SVC(tol=1e-7, class_weight={0: 3.0, 2: 0.5}).fit(X, y, sample_weight=w)
        for m in (svm, theirs)
    )
    np.testing.assert_allclose(answer(ours, X), answer(others, X), atol=2e-5)


def test_coefficients_that_were_changed_count(iris):
    X, y = iris[0][:100], iris[1][:100]
    machine = svm.SVC(kernel="linear").fit(X, y)
    before = machine.decision_function(X)
    machine._dual_coef_ = 2 * machine._dual_coef_
    machine._intercept_ = 2 * machine._intercept_
    np.testing.assert_allclose(machine.decision_function(X), 2 * before)


def test_probabilities_agree_with_predictions(iris):
    X, y = iris
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        machine = svm.SVC(probability=True, random_state=0).fit(X, y)
        assert (machine.predict_proba(X).argmax(axis=1) == machine.predict(X)).all()
        assert len(machine._probA) == 3


def test_pickles_and_clones(iris):
    X, y = iris
    machine = pickle.loads(pickle.dumps(svm.SVC(C=2.0).fit(X, y)))
    assert machine._ours and machine.score(X, y) > 0.9
    assert clone(machine).get_params() == machine.get_params()


def test_a_function_of_two_matrices_is_a_kernel(iris):
    X, y = iris
    machine = svm.SVC(kernel=lambda A, B: A @ B.T, tol=1e-7).fit(X, y)
    other = svm.SVC(kernel="linear", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(answer(machine, X), answer(other, X), atol=1e-5)


@pytest.mark.parametrize(("slope", "offset"), [(0.1, 0.0), (0.01, -1.0), (1.0, 0.3)])
def test_an_indefinite_kernel_is_taken_as_libsvm_takes_it(iris, slope, offset):
    X, y = iris[0], iris[1] == 1
    params = {"kernel": "sigmoid", "gamma": slope, "coef0": offset, "tol": 1e-8}
    ours, others = (m.SVC(**params).fit(X, y) for m in (svm, theirs))
    np.testing.assert_allclose(answer(ours, X), answer(others, X), atol=1e-5)


def test_no_gap_is_claimed_of_an_indefinite_kernel():
    K = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, -0.5], [0.5, -0.5, 0.3]])
    found = mercer.SVC("precomputed", indefinite="as is").fit(K, [0, 1, 1]).solution_
    assert found.status == "unproved" and found.gap == np.inf
    assert "taken as it is" in found.message


def test_a_tube_without_a_price_is_one_of_a_large_price(iris):
    X, y = iris
    ours, large = (svm.SVR(C=C, epsilon=0.5).fit(X, y) for C in (np.inf, 1e10))
    np.testing.assert_array_equal(ours.predict(X), large.predict(X))


def test_what_is_left_to_scikit_learn_is_said_once(iris):
    X, y = iris
    weights = (y != 2).astype(float)
    with pytest.warns(PlanWarning, match="SVC.a class without weight. is left to scikit-learn"):
        svm.SVC().fit(X, y, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PlanWarning)
        left = svm.SVC().fit(X, y, sample_weight=weights)
    assert left.machine_ is None
    np.testing.assert_array_equal(
        left.predict(X), theirs.SVC().fit(X, y, sample_weight=weights).predict(X)
    )


def test_items_on_the_boundary_are_told_apart_as_scikit_learn_tells_them_apart_itself():
    """Which side they are on is rounding: in another order LIBSVM itself says other sides."""
    from_ours, from_itself, outside = 0, 0, []
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(200, 2))
        order = np.random.default_rng(seed).permutation(len(X))
        for params in ({"gamma": 0.1}, {"gamma": 1.0}, {"gamma": 10.0, "nu": 0.1}):
            ours, theirs_, again = (
                m.OneClassSVM(**params).fit(rows)
                for m, rows in ((svm, X), (theirs, X), (theirs, X[order]))
            )
            labels = theirs_.predict(X)
            differ = ours.predict(X) != labels
            from_ours += differ.sum()
            from_itself += (again.predict(X) != labels).sum()
            outside += [(ours.predict(X) < 0).mean() - (labels < 0).mean()]
            assert np.abs(theirs_.decision_function(X)[differ]).max(initial=0.0) <= 2 * ours.tol
    assert 0 < from_ours <= 1.2 * from_itself
    assert np.abs(outside).max() <= 0.1


def ended(make, X, y, **weights):
    """Return the labels that a machine gives, or the words with which it refuses."""
    try:
        return make().fit(X, y, **weights).predict(X).tolist()
    except ValueError as error:
        return f"{type(error).__name__}: {error}"


ODD = {
    "a class of two without weight": ({}, {"sample_weight": np.arange(100) < 50}, 100),
    "a label that is absent": ({"class_weight": {0: 2.0, 7: 3.0}}, {}, 150),
    "labels that are all absent": ({"class_weight": {"a": 2.0}}, {}, 150),
    "ties of pairs": ({"break_ties": True, "decision_function_shape": "ovo"}, {}, 150),
    "negative weights": ({}, {"sample_weight": np.where(np.arange(150) % 9, 1.0, -1.0)}, 150),
    "one item of a class": ({"C": 10.0}, {}, 101),
    "a class of three without weight": ({}, {"sample_weight": np.arange(150) >= 50}, 150),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.filterwarnings("ignore:.*a class without weight")
def test_odd_cases_end_as_in_scikit_learn(iris, name):
    params, weights, count = ODD[name]
    X, y = iris[0][:count], iris[1][:count]
    ours, others = (ended(lambda m=m: m.SVC(**params), X, y, **weights) for m in (svm, theirs))
    assert ours == others


def test_a_single_item_of_a_class_has_probabilities(iris):
    X, y = iris[0][:101], iris[1][:101]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", PlanWarning)
        found = svm.SVC(probability=True, random_state=0).fit(X, y).predict_proba(X)
    assert found.shape == (101, 3) and np.allclose(found.sum(axis=1), 1.0)


@pytest.mark.parametrize("make", [svm.SVC, svm.NuSVC, svm.SVR, svm.NuSVR, svm.OneClassSVM])
def test_items_without_weight_are_refused(iris, make):
    X, y = iris
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        make().fit(X, y, sample_weight=np.zeros(len(y)))
