"""Machines inside scikit-learn's tools: grids, clones, pipelines, folds, tables."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge as TheirKernelRidge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.kernels import Categorical, Gaussian, Linear, Polynomial, from_function


def waves(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)


# ---- parameters --------------------------------------------------------------------------------


def test_nested_parameters_are_found_and_set():
    machine = KernelRidge(Polynomial(2) + 3.0 * Gaussian(1.0))
    names = machine.get_params()
    assert names["kernel__left__degree"] == 2
    assert names["kernel__right__kernel__bandwidth"] == 1.0
    machine.set_params(kernel__left__degree=4, kernel__right__factor=2.0, penalty=0.5)
    assert machine.kernel == Polynomial(4) + 2.0 * Gaussian(1.0)
    assert machine.penalty == 0.5


def test_a_subclass_has_its_own_parameters():
    class Cautious(KernelRidge):
        def __init__(self, kernel="gaussian", penalty=1.0, doubt=0.5):
            super().__init__(kernel, penalty)
            self.doubt = doubt

    before = KernelRidge().get_params(deep=False)
    assert clone(Cautious(doubt=0.1)).get_params(deep=False).keys() == {
        "kernel",
        "penalty",
        "doubt",
    }
    KernelRidge._get_param_names().clear()  # a copy
    assert KernelRidge().get_params(deep=False) == before


def test_setting_a_parameter_leaves_the_users_kernel_alone():
    kernel = Gaussian(1.0) + Linear()
    KernelRidge(kernel).set_params(kernel__left__bandwidth=7.0)
    assert kernel == Gaussian(1.0) + Linear()


def test_a_kernel_given_by_name_has_parameters_too():
    machine = KernelRidge("gaussian").set_params(kernel__bandwidth=2.0)
    assert machine.kernel == Gaussian(2.0)


def test_a_new_kernel_and_its_parameter_in_one_call():
    machine = KernelRidge("gaussian").set_params(kernel__degree=5, kernel=Polynomial(2))
    assert machine.kernel == Polynomial(5)


def test_a_clone_is_equal_unfitted_and_independent():
    X, y = waves()
    machine = KernelRidge(Gaussian("median") * Linear(), 0.3, intercept=True).fit(X, y)
    copy = clone(machine)
    assert copy.get_params() == machine.get_params()
    assert not hasattr(copy, "kernel_")
    copy.set_params(kernel__left__bandwidth=9.0)
    assert machine.kernel == Gaussian("median") * Linear()


def test_fitting_leaves_the_parameters_as_they_were():
    X, y = waves()
    machine = KernelRidge("gaussian")
    machine.fit(X, y)
    assert machine.kernel == "gaussian"
    assert machine.kernel_ == Gaussian("median").resolve(X)


# ---- grids -------------------------------------------------------------------------------------


def test_grid_search_over_bandwidth_and_penalty_is_that_of_their_machine():
    X, y = waves()
    bandwidths, penalties = [0.1, 0.5, 2.0], [1e-3, 0.1, 10.0]
    ours = GridSearchCV(
        KernelRidge(Gaussian()), {"kernel__bandwidth": bandwidths, "penalty": penalties}, cv=3
    ).fit(X, y)
    gammas = [1 / (2 * b**2) for b in bandwidths]
    theirs = GridSearchCV(
        TheirKernelRidge(kernel="rbf"), {"gamma": gammas, "alpha": penalties}, cv=3
    ).fit(X, y)
    best = ours.best_params_
    assert best["penalty"] == theirs.best_params_["alpha"]
    assert 1 / (2 * best["kernel__bandwidth"] ** 2) == pytest.approx(theirs.best_params_["gamma"])
    order = np.lexsort([ours.cv_results_["param_kernel__bandwidth"].astype(float),
                        ours.cv_results_["param_penalty"].astype(float)])  # fmt: skip
    their_order = np.lexsort([-theirs.cv_results_["param_gamma"].astype(float),
                              theirs.cv_results_["param_alpha"].astype(float)])  # fmt: skip
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"][order],
        theirs.cv_results_["mean_test_score"][their_order],
        rtol=1e-6,
    )
    assert ours.best_estimator_.kernel == Gaussian(best["kernel__bandwidth"])


def test_grid_search_over_whole_kernels():
    X, y = waves()
    grid = {"kernel": ["linear", Gaussian(0.5), Polynomial(2)], "penalty": [0.1]}
    found = GridSearchCV(KernelRidge(), grid, cv=3).fit(X, y)
    assert found.best_params_["kernel"] == Gaussian(0.5)


def test_grid_search_inside_a_pipeline():
    X, y = waves()
    pipeline = make_pipeline(StandardScaler(), KernelRidge(Gaussian() + Linear()))
    grid = {"kernelridge__kernel__left__bandwidth": [0.2, 5.0], "kernelridge__penalty": [0.01]}
    found = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert found.best_params_["kernelridge__kernel__left__bandwidth"] == 0.2
    by_hand = make_pipeline(StandardScaler(), KernelRidge(Gaussian(0.2) + Linear(), 0.01))
    expected = cross_val_score(by_hand, X, y, cv=3).mean()
    assert found.best_score_ == pytest.approx(expected, rel=1e-12)


def test_grid_search_on_a_precomputed_matrix_slices_both_sides():
    X, y = waves()
    k = Gaussian(0.5)
    folds = KFold(3)
    direct = cross_val_score(KernelRidge(k, 0.1), X, y, cv=folds)
    given = cross_val_score(KernelRidge("precomputed", 0.1), k(X), y, cv=folds)
    np.testing.assert_allclose(given, direct, rtol=1e-9)


def test_other_tools():
    X, y = waves()
    machine = KernelRidge(Gaussian(0.5), 0.1)
    folds = list(KFold(4).split(X))
    predicted = cross_val_predict(machine, X, y, cv=folds)
    by_hand = np.empty(len(y))
    for train, test in folds:
        by_hand[test] = clone(machine).fit(X[train], y[train]).predict(X[test])
    np.testing.assert_allclose(predicted, by_hand, rtol=1e-12)
    logarithmic = TransformedTargetRegressor(machine, func=np.log, inverse_func=np.exp)
    positive = np.exp(y)
    expected = np.exp(clone(machine).fit(X, y).predict(X))
    np.testing.assert_allclose(logarithmic.fit(X, positive).predict(X), expected, rtol=1e-9)


# ---- heuristics in folds -----------------------------------------------------------------------


def lopsided():
    """Two halves of quite different spread: a rule that sees both is not that of either."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 1)), 30 + 10 * rng.normal(size=(20, 1))])
    return X, np.sin(X[:, 0] / 5)


@pytest.mark.parametrize("rule", ["median", "scale"])
def test_a_heuristic_sees_only_the_training_part_of_each_fold(rule):
    X, y = lopsided()
    folds = list(KFold(2).split(X))
    found = cross_val_score(KernelRidge(Gaussian(rule), 0.1), X, y, cv=folds)

    def score(kernel, train, test):
        return KernelRidge(kernel, 0.1).fit(X[train], y[train]).score(X[test], y[test])

    inside = [score(Gaussian(rule).resolve(X[train]), train, test) for train, test in folds]
    leaked = [score(Gaussian(rule).resolve(X), train, test) for train, test in folds]
    np.testing.assert_allclose(found, inside, rtol=1e-9)
    assert np.abs(np.subtract(inside, leaked)).min() > 0.01  # a leak would be seen


def test_a_grid_search_resolves_in_each_fold_and_at_last_on_all_data():
    X, y = lopsided()
    folds = list(KFold(2).split(X))
    grid = {"kernel__left__bandwidth": ["median", 1.0]}
    machine = KernelRidge(Gaussian("median") + Linear(), 0.1)
    found = GridSearchCV(machine, grid, cv=folds).fit(X, y)
    by_hand = [
        KernelRidge(Gaussian("median").resolve(X[train]) + Linear(), 0.1)
        .fit(X[train], y[train])
        .score(X[test], y[test])
        for train, test in folds
    ]
    scores = [found.cv_results_[f"split{i}_test_score"][0] for i in range(2)]
    np.testing.assert_allclose(scores, by_hand, rtol=1e-9)
    assert found.best_estimator_.kernel_.left.bandwidth in (
        1.0, Gaussian("median").resolve(X).bandwidth,
    )  # fmt: skip


def test_fitting_again_resolves_again():
    X, y = lopsided()
    machine = KernelRidge(Gaussian("median"), 0.1).fit(X[:20], y[:20])
    near = machine.kernel_.bandwidth
    assert machine.fit(X[20:], y[20:]).kernel_.bandwidth > 5 * near


# ---- tables ------------------------------------------------------------------------------------

MIXED = Gaussian("median").on("height", "weight") * Categorical().on("species")


def animals(n=80, seed=0):
    """Which animals are heavy for their kind, a question of both the numbers and the kind."""
    rng = np.random.default_rng(seed)
    species = rng.choice(["cat", "dog", "horse"], size=n)
    typical = pd.Series(species).map({"cat": 4.0, "dog": 20.0, "horse": 400.0}).to_numpy()
    weight = typical * rng.uniform(0.5, 1.5, size=n)
    frame = pd.DataFrame({
        "name": [f"animal {i}" for i in range(n)],
        "height": rng.normal(size=n),
        "species": species,
        "weight": np.log(weight),
    })  # fmt: skip
    return frame, np.where(weight > typical, "heavy", "light")


def test_a_mixed_table_is_the_product_of_its_parts():
    X, _ = animals(10)
    numbers = X[["height", "weight"]].to_numpy()
    same = (X["species"].to_numpy()[:, None] == X["species"].to_numpy()[None]).astype(float)
    kernel = MIXED.resolve(X)
    assert kernel.left.kernel == Gaussian("median").resolve(numbers)
    expected = Gaussian("median").resolve(numbers)(numbers) * same
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)


def test_a_mixed_table_in_a_classifier():
    X, y = animals()
    machine = KernelRidgeClassifier(MIXED, penalty=0.1)
    assert cross_val_score(machine, X, y, cv=4).mean() > 0.85
    blind = KernelRidgeClassifier(Gaussian("median").on("height", "weight"), penalty=0.1)
    assert cross_val_score(blind, X, y, cv=4).mean() < 0.8


def test_a_mixed_table_by_hand_is_the_same_in_every_fold():
    X, y = animals()
    for train, test in KFold(3).split(X):
        a, b = X.iloc[train], X.iloc[test]
        machine = KernelRidgeClassifier(MIXED, penalty=0.1).fit(a, y[train])
        sigma = Gaussian("median").resolve(a[["height", "weight"]].to_numpy())
        gram = lambda P, Q: (
            sigma(P[["height", "weight"]].to_numpy(), Q[["height", "weight"]].to_numpy())  # noqa: B023
            * (P["species"].to_numpy()[:, None] == Q["species"].to_numpy()[None])
        )
        signs = np.where(y[train] == "light", 1.0, -1.0)
        coefficients = np.linalg.solve(gram(a, a) + 0.1 * np.eye(len(a)), signs)
        scores = gram(b, a) @ coefficients
        np.testing.assert_allclose(machine.decision_function(b), scores, rtol=1e-7, atol=1e-9)


def test_a_mixed_table_in_clones_and_pipelines():
    X, y = animals()
    pipeline = make_pipeline("passthrough", clone(KernelRidgeClassifier(MIXED, penalty=0.1)))
    direct = KernelRidgeClassifier(MIXED, penalty=0.1)
    np.testing.assert_array_equal(
        cross_val_score(pipeline, X, y, cv=3), cross_val_score(direct, X, y, cv=3)
    )


def test_a_mixed_table_in_a_grid_search():
    X, y = animals()
    grid = {"kernel__left__kernel__bandwidth": [0.05, 1.0], "penalty": [0.1]}
    found = GridSearchCV(KernelRidgeClassifier(MIXED), grid, cv=3).fit(X, y)
    assert found.best_params_["kernel__left__kernel__bandwidth"] == 1.0


def test_an_unseen_category_is_like_nothing_and_scores_zero():
    X, y = animals()
    machine = KernelRidgeClassifier(MIXED, penalty=0.1).fit(X, y)
    new = X.iloc[:3].copy()
    new["species"] = ["unicorn", "cat", "unicorn"]
    scores = machine.decision_function(new)
    assert scores[0] == scores[2] == 0.0
    assert scores[1] != 0.0
    assert set(machine.predict(new)) <= {"heavy", "light"}


def test_an_unseen_category_in_the_primal_is_the_same_as_in_the_dual():
    X = pd.DataFrame({"kind": list("abcabcabca")})
    y = np.arange(10.0)
    machine = KernelRidge(Categorical().on("kind"), 0.1, intercept=True).fit(X, y)
    assert machine.plan_.route == "primal"
    new = pd.DataFrame({"kind": ["a", "z"]})
    K = Categorical().on("kind")(new, X)
    expected = K @ machine.dual_coef_ + machine.intercept_
    np.testing.assert_allclose(machine.predict(new), expected, rtol=1e-9)
    assert machine.predict(new)[1] == pytest.approx(machine.intercept_)


def test_columns_that_no_kernel_looks_at_may_hold_anything():
    X, y = animals()
    X["note"] = [None, np.nan, object(), "text"] * 20
    machine = KernelRidgeClassifier(MIXED, penalty=0.1).fit(X, y)
    assert machine.score(X, y) > 0.9


def test_things_that_are_no_table_at_all_go_through_the_tools():
    words = np.array(["cat", "cart", "car", "dog", "dodge", "god"] * 4, dtype=object)
    y = np.array([0, 0, 0, 1, 1, 1] * 4)
    shared = from_function(lambda a, b: float(len(set(a) & set(b))))
    machine = KernelRidgeClassifier(shared, penalty=0.5, indefinite="clip")
    assert cross_val_score(machine, words, y, cv=3).mean() == 1.0
    assert list(machine.fit(list(words), y).predict(["cats", "dogs"])) == [0, 1]
