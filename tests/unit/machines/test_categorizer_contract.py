"""What perceptron, prototype, exemplar, neighbor and cluster machines have in common.

Each is a scikit-learn estimator over any kernel and any domain, changes nothing when a fit fails,
comes back from a pickle, and refuses bad input by name.
"""

import pickle
import warnings

import array_api_strict
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_clusterer, is_regressor
from sklearn.model_selection import GridSearchCV

from mercer.errors import ConvergenceWarning, DomainError, MercerError
from mercer.kernels import Categorical, Gaussian, from_function
from mercer.machines.exemplar import ExemplarClassifier, ExemplarRegressor
from mercer.machines.means import KernelMeans
from mercer.machines.neighbors import KernelNeighbors
from mercer.machines.perceptron import Perceptron
from mercer.machines.prototype import PrototypeClassifier
from mercer.rkhs import Function

CLASSIFIERS = [
    Perceptron(max_epochs=50),
    PrototypeClassifier(),
    ExemplarClassifier(),
    KernelNeighbors(n_neighbors=2),
]
MACHINES = [*CLASSIFIERS, ExemplarRegressor(), KernelMeans(n_clusters=2, n_init=2)]
WEIGHTED = [PrototypeClassifier(), ExemplarClassifier(), ExemplarRegressor(), KernelMeans()]

pytestmark = pytest.mark.filterwarnings("ignore::mercer.errors.ConvergenceWarning")


def named(machine):
    return type(machine).__name__


def all_machines(machines=MACHINES):
    return pytest.mark.parametrize("machine", machines, ids=named)


def data(machine, classes=3, n=30, d=2):
    rng = np.random.default_rng(0)
    codes = np.arange(n) % classes
    X = rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(classes, d))[codes]
    return X, X[:, 0] if is_regressor(machine) else np.array(["ant", "bee", "cat"])[codes]


def values(machine, X):
    """Return all that a fitted machine says about items."""
    names = ("predict", "decision_function", "predict_proba")
    return [getattr(machine, name)(X) for name in names if hasattr(machine, name)]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def shared_letters(a, b):
    return float(len(set(a) & set(b)))


@all_machines()
def test_python_objects_are_compared_by_a_function(machine):
    words = ["cat", "hat", "bat", "dig", "big", "pig"]
    y = np.arange(6.0) if is_regressor(machine) else ["animal"] * 3 + ["other"] * 3
    machine = clone(machine).set_params(kernel=from_function(shared_letters)).fit(words, y)
    found = machine.predict(["rat", "wig"])
    if is_regressor(machine):
        assert found[0] < found[1]
    elif is_clusterer(machine):
        assert found[0] != found[1]
    else:
        assert found.tolist() == ["animal", "other"]
    assert isinstance(machine.function_, Function)


@all_machines()
def test_tables_are_compared_column_by_column(machine):
    frame = pd.DataFrame(
        {"size": [1.0, 1.2, 5.0, 5.5], "color": ["red", "red", "blue", "blue"], "id": range(4)}
    )
    y = [0.0, 0.0, 1.0, 1.0] if is_regressor(machine) else ["a", "a", "b", "b"]
    kernel = Gaussian(1.0).on("size") + Categorical().on("color")
    machine = clone(machine).set_params(kernel=kernel).fit(frame, y)
    np.testing.assert_array_equal(machine.feature_names_in_, ["size", "color", "id"])
    found = machine.predict(frame)
    near = np.abs(found - found[0]) < 0.1 if is_regressor(machine) else found == found[0]
    assert near.tolist() == [True, True, False, False]


@all_machines()
def test_a_precomputed_matrix_gives_the_same_answers(machine):
    X, y = data(machine)
    k, new = Gaussian(1.5), X[:7] + 0.1
    direct = clone(machine).set_params(kernel=k).fit(X, y)
    given = clone(machine).set_params(kernel="precomputed").fit(k(X), y)
    for one, other in zip(values(given, k(new, X)), values(direct, new), strict=True):
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, atol=1e-9)
        else:
            np.testing.assert_array_equal(one, other)
    with pytest.raises(DomainError, match=r"square|diagonal"):
        clone(machine).set_params(kernel="precomputed").fit(k(X, new), y)


@all_machines()
def test_rows_of_another_array_library_give_the_same_answers(machine):
    X, y = data(machine)
    rows = array_api_strict.asarray(X)
    found = values(clone(machine).fit(rows, y), rows)
    for one, other in zip(found, values(clone(machine).fit(X, y), X), strict=True):
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, atol=1e-9)
        else:
            np.testing.assert_array_equal(one, other)


@all_machines()
def test_what_was_learned_is_a_function_of_the_kernels_space(machine):
    X, y = data(machine)
    machine = clone(machine).fit(X, y)
    assert isinstance(machine.function_, Function)
    assert machine.function_.kernel == machine.kernel_
    assert len(machine.function_(X)) == len(X)
    assert np.all(np.isfinite(machine.function_.norm()))


@all_machines([Perceptron(max_epochs=50), PrototypeClassifier(), KernelMeans(n_clusters=3)])
def test_function_and_intercept_are_the_decision(machine):
    X, y = data(machine)
    machine = clone(machine).fit(X, y)
    scores = machine.function_(X) + machine.intercept_
    if hasattr(machine, "decision_function"):
        np.testing.assert_allclose(machine.decision_function(X), scores, atol=1e-9)
        np.testing.assert_array_equal(machine.predict(X), machine.classes_[scores.argmax(axis=1)])
    else:
        np.testing.assert_array_equal(machine.predict(X), scores.argmax(axis=1))


@all_machines()
def test_a_machine_comes_back_from_a_pickle(machine):
    X, y = data(machine)
    machine = clone(machine).fit(X, y)
    again = pickle.loads(pickle.dumps(machine))
    assert same(values(again, X), values(machine, X))
    np.testing.assert_array_equal(again.function_.norm(), machine.function_.norm())


@all_machines()
def test_two_fits_give_the_same_bits(machine):
    X, y = data(machine)
    first, second = clone(machine).fit(X, y), clone(machine).fit(X, y)
    assert same(values(first, X), values(second, X))
    assert same(values(first.fit(X, y), X), values(second, X))


@all_machines()
def test_items_and_labels_stay_as_they_are(machine):
    X, y = data(machine)
    before = X.copy(), y.copy()
    X.setflags(write=False)
    y.setflags(write=False)
    clone(machine).fit(X, y).predict(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@all_machines()
def test_a_failed_fit_changes_nothing(machine):
    X, y = data(machine)
    bad = X.copy()
    bad[1, 0] = np.nan
    fitted = clone(machine).fit(X, y)
    before, learned = values(fitted, X), {k for k in vars(fitted) if k.endswith("_")}
    for items, labels in ((bad, y), (X[:1, :1], y[:1]), (X[:, :1], None)):
        fresh = clone(machine)
        if is_clusterer(machine) and labels is None:
            continue
        with pytest.raises(MercerError):
            fresh.fit(items, labels)
        assert not [name for name in vars(fresh) if name.endswith("_")]
        with pytest.raises(MercerError):
            fitted.fit(items, labels)
        assert same(values(fitted, X), before)
        assert {k for k in vars(fitted) if k.endswith("_")} == learned
        assert fitted.n_features_in_ == 2


@all_machines()
def test_new_items_of_another_width_are_refused(machine):
    X, y = data(machine)
    machine = clone(machine).fit(X, y)
    with pytest.raises(DomainError, match="expecting 2 features"):
        machine.predict(X[:, :1])


@all_machines(CLASSIFIERS)
def test_one_class_alone_is_refused(machine):
    X, _ = data(machine)
    with pytest.raises(DomainError, match="only 1 class"):
        clone(machine).fit(X, ["a"] * len(X))


@all_machines(CLASSIFIERS)
def test_labels_of_mixed_types_are_refused(machine):
    X, _ = data(machine, n=4)
    with pytest.raises(DomainError, match="mixes text and other labels"):
        clone(machine).fit(X, ["a", 1, "a", 1])


@all_machines(WEIGHTED)
def test_weights_that_are_all_zero_are_refused(machine):
    X, y = data(machine)
    with pytest.raises(DomainError, match="all sample weights are zero"):
        clone(machine).fit(X, y, sample_weight=np.zeros(len(X)))


@all_machines(WEIGHTED)
def test_a_weight_is_a_repetition_and_zero_a_removal(machine):
    X, y = data(machine, n=40)
    machine = clone(machine).set_params(kernel=Gaussian("median"))
    if is_clusterer(machine):
        machine.set_params(n_clusters=3)
    times = np.arange(len(X)) // 3 % 3
    rows = np.repeat(np.arange(len(X)), times)
    one = clone(machine).fit(X, y, sample_weight=times)
    many = clone(machine).fit(X[rows], y[rows])
    assert one.kernel_ == many.kernel_
    for a, b in zip(values(one, X), values(many, X), strict=True):
        if a.dtype.kind == "f":
            np.testing.assert_allclose(a, b, atol=1e-9)
        else:
            np.testing.assert_array_equal(a, b)


@all_machines()
def test_the_bandwidth_can_be_searched(machine):
    X, y = data(machine)
    machine = clone(machine).set_params(kernel=Gaussian(1.0))
    search = GridSearchCV(
        machine, {"kernel__bandwidth": [0.5, 2.0]}, cv=2,
        scoring=(lambda m, X, y=None: -m.inertia_) if is_clusterer(machine) else None,
    ).fit(X, y)  # fmt: skip
    assert search.best_estimator_.kernel_ == Gaussian(search.best_params_["kernel__bandwidth"])


def test_a_warning_turned_into_an_error_leaves_nothing_half_fitted():
    machine = Perceptron(max_epochs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        with pytest.raises(ConvergenceWarning):
            machine.fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    assert not [name for name in vars(machine) if name.endswith("_")]
