"""Ridge machines: their parameters, their learned attributes, their limits."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags

from mercer import KernelRidge, KernelRidgeClassifier, Plan
from mercer.errors import MercerError, ValidityError
from mercer.kernels import Chi2, Cosine, Gaussian, Linear, Polynomial, from_function, precomputed
from mercer.plans import Decision, Size
from mercer.plans.ridge import reconsider, solver_for
from mercer.rkhs import Function
from mercer.solvers import Cholesky

MACHINES = [KernelRidge, KernelRidgeClassifier]


def data(n=30, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] > 0).astype(int)


# ---- parameters --------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"penalti": 1.0}, r"has no parameter 'penalti'; did you mean 'penalty'\?"),
        ({"alpha": 1.0}, r"has no parameter 'alpha'"),
        ({"kernel__bandwith": 1.0}, r"Gaussian has no parameter 'bandwith'; did you mean 'bandwi"),
        ({"kernel__left__bandwidth": 1.0}, r"Gaussian has no parameter 'left__bandwidth'"),
        ({"penalty": 3.0, "kernal": "linear"}, r"no parameter 'kernal'; did you mean 'kernel'"),
        ({"kernel": Linear(), "zzz": 1}, r"no parameter 'zzz'"),
        ({"penalty": 3.0, "kernel__bandwith": 2.0}, r"no parameter 'bandwith'"),
        ({"penalty": 3.0, "kernel__bandwidth": -2.0}, r"bandwidth of Gaussian"),
        ({"kernel": "gausian", "kernel__bandwidth": 2.0}, r"did you mean 'gaussian'"),
    ],
)
def test_an_unknown_parameter_changes_nothing(changes, words, machine):
    fresh = machine(Gaussian(1.0), penalty=0.5)
    with pytest.raises(ValidityError, match=words):
        fresh.set_params(**changes)
    assert fresh.kernel == Gaussian(1.0)
    assert fresh.penalty == 0.5
    fitted = machine(Gaussian(1.0), penalty=0.5).fit(*data())
    said = fitted.predict(data()[0])
    with pytest.raises(ValidityError, match=words):
        fitted.set_params(**changes)
    np.testing.assert_array_equal(fitted.predict(data()[0]), said)


@pytest.mark.parametrize("machine", MACHINES)
def test_an_unknown_argument_is_refused_by_python(machine):
    with pytest.raises(TypeError, match=r"alpha"):
        machine(alpha=1.0)


@pytest.mark.parametrize("machine", MACHINES)
def test_construction_only_stores(machine):
    """Nonsense is stored as it is; `fit` complains."""
    kernel = object()
    fresh = machine(kernel=kernel, penalty="strong", intercept="no", indefinite=7)
    assert fresh.kernel is kernel
    assert fresh.penalty == "strong"
    with pytest.raises(ValidityError):
        fresh.fit(*data())


@pytest.mark.parametrize("name", ["linear", "gaussian", "laplacian", "polynomial"])
@pytest.mark.parametrize("machine", MACHINES)
def test_kernels_by_name(machine, name):
    X, y = data()
    fitted = machine(name).fit(X, y if machine is KernelRidgeClassifier else X[:, 0])
    assert fitted.kernel == name
    assert fitted.kernel_.unresolved() == []
    assert fitted.score(X, y if machine is KernelRidgeClassifier else X[:, 0]) > 0.5


def test_bad_class_weights_are_refused_and_nothing_is_learned():
    X, y = data()
    for weights in ("balance", {5: 1.0}, {0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0}):
        machine = KernelRidgeClassifier(Gaussian(1.0), class_weight=weights)
        with pytest.raises(MercerError, match=r"weight"):
            machine.fit(X, y)
        assert not [name for name in vars(machine) if name.endswith("_")]


# ---- what is learned ---------------------------------------------------------------------------


@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("route", ["primal", "dual"])
def test_learned_attributes_have_the_shape_of_the_target(route, intercept, targets):
    X, _ = data()
    shape = (30,) if targets is None else (30, targets)
    y = np.random.default_rng(1).normal(size=shape)
    machine = KernelRidge(Polynomial(2), intercept=intercept, follow=Plan(route=route)).fit(X, y)
    assert machine.predict(X).shape == shape
    assert machine.dual_coef_.shape == shape
    assert np.shape(machine.intercept_) == shape[1:]
    assert machine.n_features_in_ == 3
    assert isinstance(machine.function_, Function)
    assert machine.solution_.status == "solved"
    assert machine.solution_.certificate < 1e-10
    if route == "primal":
        assert machine.coef_.shape == (6, *shape[1:])
    else:
        assert machine.coef_ is None


def test_the_prediction_is_the_function_and_the_intercept():
    X, y = data()
    machine = KernelRidge(Gaussian(1.0), intercept=True).fit(X, y)
    expected = machine.function_(X) + machine.intercept_
    np.testing.assert_allclose(machine.predict(X), expected, rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_scores_have_one_column_for_each_of_many_classes(classes):
    X, _ = data(40)
    y = np.arange(40) % classes
    machine = KernelRidgeClassifier(Gaussian(1.0)).fit(X, y)
    scores = machine.decision_function(X)
    assert scores.shape == ((40,) if classes == 2 else (40, classes))
    chosen = (scores > 0).astype(int) if classes == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(machine.predict(X), machine.classes_[chosen])


def test_names_of_columns_are_remembered():
    X, y = data()
    machine = KernelRidge(Gaussian(1.0)).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert list(machine.feature_names_in_) == ["a", "b", "c"]


def test_fitting_twice_is_fitting_once():
    X, y = data()
    machine = KernelRidge("gaussian", penalty=0.1)
    once = machine.fit(X, y).predict(X)
    np.testing.assert_array_equal(machine.fit(X, y).predict(X), once)


def test_a_machine_forgets_what_it_knew_before():
    X, y = data()
    machine = KernelRidge(Linear(), follow=Plan(route="primal")).fit(X, y)
    assert machine.coef_ is not None
    machine.set_params(kernel=Gaussian(1.0), follow=None).fit(X[:, :2], np.column_stack([y, y]))
    assert machine.coef_ is None
    assert machine.predict(X[:, :2]).shape == (30, 2)


def test_items_are_predicted_one_by_one_as_together():
    X, y = data()
    for kernel in (Gaussian(1.0), Polynomial(2)):
        machine = KernelRidge(kernel, intercept=True).fit(X, y)
        apart = [machine.predict(X[i : i + 1])[0] for i in range(5)]
        np.testing.assert_allclose(apart, machine.predict(X)[:5], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_fitted_machine_survives_a_pickle(machine):
    X, y = data()
    fitted = machine(Gaussian("median") * Linear(), intercept=True).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    # The layout in memory may change, and with it the order of sums.
    np.testing.assert_allclose(again.predict(X), fitted.predict(X), rtol=1e-12)


def test_inputs_are_not_changed_by_fit_or_predict():
    X, y = data()
    w = np.ones(30)
    K = Gaussian(1.0)(X)
    copies = X.copy(), y.copy(), w.copy(), K.copy()
    for follow in (None, Plan(solver="eigen"), Plan(precision="mixed")):
        KernelRidge(Gaussian(1.0), follow=follow).fit(X, y, sample_weight=w).predict(X)
        KernelRidge("precomputed", follow=follow).fit(K, y, sample_weight=2 * w).predict(K)
        KernelRidge(Linear(), intercept=True).fit(X, y, sample_weight=w).predict(X)
    for one, two in zip((X, y, w, K), copies, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian("median"), Polynomial(2)], ids=repr)
def test_a_weight_counts_like_repetitions(kernel, intercept):
    X, _ = data(12)
    y, counts = X[:, 1] + 2.0, np.array([1, 2, 3, 1, 1, 0, 2, 1, 1, 4, 1, 1])
    machine = KernelRidge(kernel, 0.3, intercept=intercept)
    weighted = machine.fit(X, y, sample_weight=counts).predict(X)
    repeated = machine.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).predict(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8, atol=1e-10)


def test_equal_weights_scale_the_penalty():
    X, y = data()
    weighted = KernelRidge(Gaussian(1.0), 0.6).fit(X, y, sample_weight=3.0).predict(X)
    plain = KernelRidge(Gaussian(1.0), 0.2).fit(X, y).predict(X)
    np.testing.assert_allclose(weighted, plain, rtol=1e-9)


def test_interpolation_goes_through_all_weighted_data_and_ignores_the_rest():
    """λ → 0 with a weight of zero: the item drops out, the others are interpolated."""
    X, _ = data(10)
    y, w = X[:, 1], np.ones(10)
    w[4] = 0.0
    tiny = KernelRidge(Gaussian(1.0), 1e-9).fit(X, y, sample_weight=w).predict(X)
    exact = KernelRidge(Gaussian(1.0), 0.0).fit(X, y, sample_weight=w).predict(X)
    np.testing.assert_allclose(exact[w > 0], y[w > 0], rtol=1e-7)
    np.testing.assert_allclose(exact, tiny, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("penalty", [1e-300, 1e-30, 1e30, 1e300])
def test_extreme_penalties_are_solved_or_refused_by_name(penalty):
    X, y = data(10)
    machine = KernelRidge(Gaussian(1.0), penalty).fit(X, y + 1.0)
    assert np.isfinite(machine.predict(X)).all()
    expected = y + 1.0 if penalty < 1 else np.zeros(10)
    np.testing.assert_allclose(machine.predict(X), expected, atol=1e-8)


# ---- scikit-learn's questions ------------------------------------------------------------------


def test_tags():
    assert is_regressor(KernelRidge()) and is_classifier(KernelRidgeClassifier())
    assert get_tags(KernelRidge()).input_tags.sparse
    assert not get_tags(KernelRidge(Chi2(1.0))).input_tags.sparse
    assert get_tags(KernelRidge("precomputed")).input_tags.pairwise
    assert get_tags(KernelRidge(precomputed())).input_tags.pairwise
    assert not get_tags(KernelRidge()).input_tags.pairwise


def test_a_clone_of_a_machine_with_a_users_function_keeps_the_function():
    def overlap(a, b):
        return float(len(set(a) & set(b)))

    machine = clone(KernelRidgeClassifier(from_function(overlap), penalty=0.1))
    words, y = ["cat", "act", "dog", "god"], [0, 0, 1, 1]
    assert machine.fit(words, y).score(words, y) == 1.0
    assert machine.kernel.function is overlap


def test_sparse_and_dense_rows_are_the_same_machine():
    X, y = data(40, 20)
    X[np.abs(X) < 1] = 0.0
    for kernel in (Gaussian(2.0), Linear()):
        dense = KernelRidge(kernel, intercept=True).fit(X, y)
        thin = KernelRidge(kernel, intercept=True).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(thin.predict(X), dense.predict(X), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(
            thin.predict(sparse.csc_array(X)), dense.predict(X), rtol=1e-8, atol=1e-10
        )


# ---- steps -------------------------------------------------------------------------------------


def test_a_plan_for_steps_says_mixed_only_where_that_is_so():
    X = np.random.default_rng(0).normal(size=(60, 3))
    follow = Plan(solver="iterative", route="dual")
    assert KernelRidge(Gaussian(1.0), follow=follow).plan(X).precision == "mixed"
    assert KernelRidge(Cosine(), follow=follow).plan(X).precision == "double"
    torch = pytest.importorskip("torch")
    assert KernelRidge(Gaussian(1.0), follow=follow).plan(torch.tensor(X)).precision == "double"


@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_the_direct_way_has_the_precision_of_the_steps(precision):
    decision = Decision("dual", "iterative", precision, direct=True)
    again = reconsider(decision, Size(items=12_000, condition=1e3, steps=1000.0))
    assert solver_for(again) == Cholesky(precision)
    assert reconsider(decision, Size(items=12_000, condition=1e3, steps=20.0)) is decision
