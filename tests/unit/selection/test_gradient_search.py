"""A search finds what a fine grid finds, and says what it did."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelDiscriminant, KernelRidge, KernelRidgeClassifier
from mercer.errors import DomainError, MercerError, PlanError, SelectionError, SelectionWarning
from mercer.kernels import (
    Categorical,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Sigmoid,
    precomputed,
)
from mercer.machines import GaussianProcess
from mercer.selection.gradient_search import search
from mercer.selection.multistart import BestPoint, MultistartSearch
from mercer.selection.path import RidgePath
from mercer.selection.ridge_task import search_task
from mercer.solvers.ridge.criteria import CRITERIA
from mercer.solvers.ridge.objective import along_penalties, criterion


def curve(n=40, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 6, n))[:, None]
    return X, np.sin(X[:, 0]) + noise * rng.normal(size=n)


def groups(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4, "far", "near")


@pytest.mark.slow
@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("intercept", [False, True])
def test_no_place_of_a_fine_grid_is_better(name, intercept):
    X, y = curve()
    machine = KernelRidge("gaussian", intercept=intercept)
    found = search(machine, X, y, criterion=name)
    penalties = np.logspace(-6, 3, 60)
    lowest = min(
        along_penalties(name, Gaussian(s)(X), penalties, y, None, intercept).min()
        for s in np.logspace(-1.5, 1.5, 60)
    )
    assert found.value <= lowest + 1e-9
    assert found.value > lowest - 0.05 * abs(lowest)  # the grid is fine: it is the same minimum
    assert found.machine.kernel == Gaussian(found.parameters["kernel__bandwidth"])
    assert machine.kernel == "gaussian"


@pytest.mark.parametrize(
    "machine",
    [
        KernelRidge(2.0 * Gaussian(1.0) + Polynomial(2, offset=0.5), intercept=True),
        KernelRidgeClassifier(Matern(2.5, (1.0, 2.0)), class_weight="balanced"),
        KernelDiscriminant(Laplacian(1.0).on(0) * Periodic(3.0, 1.0).on(1)),
        GaussianProcess(3.0 * Gaussian(1.5)),
    ],
)
@pytest.mark.parametrize("name", CRITERIA)
def test_the_slopes_of_a_search_are_those_of_what_it_minimizes(machine, name):
    X, labels = groups(20)
    y = X[:, 0] if isinstance(machine, KernelRidge) else labels
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 20)
    descent = MultistartSearch(search_task(machine, X, y, weights), name, 10)
    place = np.append(descent.logs.read(descent.given), np.log(0.3))
    here = lambda at: descent._at(at, descent.given, BestPoint())
    _, gradient = here(place)
    for i in range(len(place)):
        step = 1e-5 * np.eye(len(place))[i]
        expected = (here(place + step)[0] - here(place - step)[0]) / 2e-5
        np.testing.assert_allclose(gradient[i], expected, rtol=1e-4, atol=1e-8)


@pytest.mark.slow
def test_one_bandwidth_per_dimension_finds_those_that_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = np.sin(2 * X[:, 1]) + np.cos(2 * X[:, 3]) + 0.1 * rng.normal(size=120)
    common = search(KernelRidge("gaussian"), X, y)
    found = search(KernelRidge("gaussian"), X, y, per_dimension=True)
    widths = np.array(found.parameters["kernel__bandwidth"])
    assert len(widths) == 5
    assert widths[[1, 3]].max() * 10 < widths[[0, 2, 4]].min()
    assert found.value < common.value / 10
    assert found.machine.kernel_.bandwidth == found.parameters["kernel__bandwidth"]


@pytest.mark.slow
def test_columns_in_other_units_are_no_obstacle():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.sin(2 * X[:, 0]) + np.cos(2 * X[:, 1]) + 0.1 * rng.normal(size=80)
    scaled = X * [1e-3, 1e3]
    one = search(KernelRidge("gaussian"), X, y, per_dimension=True)
    two = search(KernelRidge("gaussian"), scaled, y, per_dimension=True)
    np.testing.assert_allclose(two.value, one.value, rtol=1e-3)


@pytest.mark.slow
def test_a_bandwidth_that_is_far_off_does_not_mislead():
    X, y = curve()
    expected = search(KernelRidge("gaussian"), X, y).value
    for bandwidth in (1e-4, 1e4):
        found = search(KernelRidge(Gaussian(bandwidth)), X, y)
        np.testing.assert_allclose(found.value, expected, rtol=1e-3)


def refitted(machine, X, target, weights):
    """Return the weighted error of ridge machines that have not seen the item."""
    errors = np.empty(len(X))
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        ridge = KernelRidge(machine.kernel, machine.penalty, intercept=True)
        ridge.fit(X[rest], target[rest], weights[rest])
        errors[i] = np.mean((target[i] - ridge.predict(X[[i]])[0]) ** 2)
    return np.average(errors, weights=weights)


def test_classifiers_have_the_error_of_their_targets():
    X, y = groups(30)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 30)
    machine = KernelRidgeClassifier("gaussian", intercept=True, class_weight={"far": 3.0})
    found = search(machine, X, y, sample_weight=weights)
    counted = weights * np.where(y == "far", 3.0, 1.0)
    expected = refitted(found.machine, X, np.where(y == "near", 1.0, -1.0), counted)
    np.testing.assert_allclose(found.value, expected, rtol=1e-6)
    assert found.machine.score(X, y) > 0.9


def test_discriminants_have_the_error_of_their_indicators():
    X, _ = groups(30)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    found = search(KernelDiscriminant("gaussian"), X, y)
    indicators = (y[:, None] == np.arange(3)).astype(float)
    expected = refitted(found.machine, X, indicators, np.ones(30))
    np.testing.assert_allclose(found.value, expected, rtol=1e-6)
    assert found.machine.transform(X).shape == (30, 2)


def test_a_gaussian_process_is_searched_by_its_evidence():
    X, y = curve()
    found = search(GaussianProcess(1.0 * Gaussian(1.0)), X, 100.0 * y)
    assert found.criterion == "evidence"
    assert set(found.parameters) == {"kernel__factor", "kernel__kernel__bandwidth", "penalty"}
    np.testing.assert_allclose(found.value, -found.machine.log_marginal_likelihood_, rtol=1e-9)
    assert 50.0 < found.parameters["penalty"] < 200.0  # the noise is (100 · 0.1)²
    assert search(GaussianProcess("gaussian"), X, y, criterion="gcv").criterion == "gcv"


@pytest.mark.filterwarnings("ignore::mercer.errors.SelectionWarning")
def test_what_cannot_be_searched_is_fixed_with_a_reason():
    X, y = curve()
    k = 2.0 * Matern(1.5, 1.0) + Polynomial(3)
    found = search(KernelRidge(k, 0.1), X, y)
    assert set(found.parameters) == {
        "kernel__left__factor", "kernel__left__kernel__bandwidth", "kernel__right__scale",
        "penalty",
    }  # fmt: skip
    assert "derivative" in found.fixed["kernel__left__kernel__nu"]
    assert "whole number" in found.fixed["kernel__right__degree"]
    assert "zero" in found.fixed["kernel__right__offset"]
    again = KernelRidge(k, 0.1).set_params(**found.parameters)
    assert again.kernel == found.machine.kernel
    text = str(found)
    for part in ("KernelRidge, leave-one-out", "Tried 5 starts", "as given", "whole number"):
        assert part in text


def test_a_kernel_without_parameters_has_its_penalty_searched():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = X @ [1.0, 0.0, -1.0, 2.0] + rng.normal(size=30)
    found = search(KernelRidge("linear"), X, y)
    heights = along_penalties("leave-one-out", X @ X.T, np.logspace(-4, 4, 2000), y)
    assert set(found.parameters) == {"penalty"}
    np.testing.assert_allclose(found.value, heights.min(), rtol=1e-5)
    stored = search(KernelRidge(precomputed()), X @ X.T, y)
    np.testing.assert_allclose(stored.value, found.value, rtol=1e-6)


@pytest.mark.parametrize("steps", [1, 100])
def test_it_is_never_worse_than_the_machine_as_given(steps):
    X, y = curve()
    good = search(KernelRidge("gaussian"), X, y)
    for bandwidth, penalty in ((0.3, 0.0), (3.0, 1e4), tuple(good.parameters.values())):
        machine = KernelRidge(Gaussian(bandwidth), penalty)
        found = search(machine, X, y, max_iter=steps, starts=1)
        first = found.trials[0]
        assert first.message.startswith("as given") and first.steps == 0
        assert found.value <= first.value


def test_the_same_seed_gives_the_same_answer():
    X, y = curve()
    k = Gaussian(1.0) + Periodic(2.0, 1.0)
    one, two = (search(KernelRidge(k), X, y, starts=5, random_state=3) for _ in range(2))
    assert len(one.trials) == 6
    np.testing.assert_allclose(one.value, two.value, rtol=1e-9)
    for name, value in one.parameters.items():
        np.testing.assert_allclose(two.parameters[name], value, rtol=1e-5)


@pytest.mark.slow
def test_tables_and_sparse_rows_are_searched():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"a": rng.normal(size=50), "b": rng.normal(size=50), "c": list("xy") * 25}
    )
    y = np.sin(2 * table["a"]) + (table["c"] == "x") + 0.1 * rng.normal(size=50)
    k = Gaussian().on("a", "b") + Categorical().on("c")
    found = search(KernelRidge(k), table, y, per_dimension=True)
    a, b = found.parameters["kernel__left__kernel__bandwidth"]
    assert b > 10 * a
    X = 2 * rng.normal(size=(80, 2)) * (rng.random((80, 2)) < 0.7)
    y = np.cos(2 * X[:, 0]) + np.sin(X[:, 1]) + 0.3 * rng.normal(size=80)
    dense = search(KernelRidge("gaussian"), X, y)
    thin = search(KernelRidge("gaussian"), sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.value, dense.value, rtol=1e-6)


def test_an_item_of_weight_zero_does_not_count():
    X, y = curve(30)
    w = np.ones(30)
    w[[3, 7]] = 0.0
    strange = np.where(w > 0, y, 1e3)
    found = search(KernelRidge(Gaussian(1.0)), X, strange, sample_weight=w)
    rest = search(KernelRidge(Gaussian(1.0)), X[w > 0], y[w > 0])
    np.testing.assert_allclose(found.value, rest.value, rtol=1e-4)


def test_noise_has_no_minimum_and_the_search_says_so():
    X, y = [[1.0], [-1.0], [1.0], [-1.0]], [1.0, 1.0, -1.0, -1.0]
    with pytest.warns(SelectionWarning, match=r"edge of its box in penalty"):
        search(KernelRidge("linear"), X, y)


@pytest.mark.filterwarnings("ignore::mercer.errors.SelectionWarning")
@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.repeat(curve(6)[0], 3, axis=0), np.arange(18.0)),
        (curve(12)[0], np.ones(12)),
        (curve(12)[0], np.zeros(12)),
        (np.array([[0.0], [1.0]]), np.array([0.0, 1.0])),
        (np.zeros((5, 2)), np.arange(5.0)),
        (1e8 * curve(12)[0], 1e-8 * curve(12)[1]),
    ],
    ids=["duplicates", "constant", "zero", "two", "equal", "huge"],
)
def test_degenerate_data_have_an_answer_or_a_named_error(X, y, intercept, name):
    try:
        found = search(KernelRidge("gaussian", intercept=intercept), X, y, criterion=name)
    except MercerError:
        assert name == "evidence" or len(X) == 2
        return
    assert np.isfinite(found.machine.predict(X)).all()
    assert found.value <= found.trials[0].value


def test_one_item_is_too_few():
    with pytest.raises(DomainError, match="at least two items"):
        search(KernelRidge("gaussian"), [[1.0]], [1.0])
    with pytest.raises(SelectionError, match="could not be computed anywhere"):
        search(KernelRidge(Gaussian(1.0), intercept=True), [[1.0]], [1.0])


@pytest.mark.parametrize(
    ("machine", "options", "message"),
    [
        (SVC(), {}, "SVC has no criterion.*KernelRidge.*GridSearchCV"),
        (make_pipeline(StandardScaler(), KernelRidge()), {}, "Pipeline has no criterion"),
        (KernelRidge, {}, "write KernelRidge"),
        (KernelRidge(), {"criterion": "lou"}, "unknown criterion 'lou'"),
        (KernelRidge(), {"starts": 0}, "starts must be a whole number"),
        (KernelRidge(), {"max_iter": 2.5}, "max_iter must be a whole number"),
        (KernelRidge("linear"), {"per_dimension": True}, "no part of Linear"),
        (KernelRidge("gaussian"), {"per_dimension": True}, "no part of Gaussian"),
        (KernelRidge(penalty=-1.0), {}, "penalty must be"),
        (KernelRidge(Sigmoid(1.0, -1.0)), {}, "needs a positive semi-definite kernel"),
        (KernelRidge(Sigmoid(1.0, -1.0), indefinite="clip"), {}, "would be repaired"),
        (KernelRidge(), {"sample_weight": [1.0]}, "sample_weight has 1 entries"),
    ],
)
def test_what_it_cannot_do_it_refuses(machine, options, message):
    X, y = curve(10)
    with pytest.raises(MercerError, match=message):
        search(machine, X, y, **options)


def test_too_many_items_are_refused_before_work_starts(free_memory):
    free_memory(100)
    with pytest.raises(PlanError, match="a search with 10 items needs"):
        search(KernelRidge("gaussian"), *curve(10))


def test_the_value_is_the_criterion_of_the_fitted_machine():
    X, y = curve()
    found = search(KernelRidge(Gaussian(1.0) * Linear(), intercept=True), X, y, criterion="gcv")
    K = found.machine.kernel_(X)
    again = criterion("gcv", K, found.machine.penalty, y, None, True).value
    np.testing.assert_allclose(found.value, again, rtol=1e-8)


# ---- places far from the start ----------------------------------------------------------------


def far(n=60):
    """Items on which a very wide kernel is best, with a tiny penalty: nearly a cubic."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] ** 3 + X[:, 1] + 0.01 * rng.normal(size=n)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mercer.errors.SelectionWarning")
@pytest.mark.parametrize("name", ["leave-one-out", "gcv"])
@pytest.mark.parametrize("kernel", [Gaussian(0.05), Matern(2.5, 0.05)])
def test_no_place_of_a_coarse_grid_is_clearly_better(name, kernel):
    """Wherever the search was told to begin."""
    X, y = far()
    found = search(KernelRidge(kernel, intercept=True), X, y, criterion=name)
    widths, penalties = np.geomspace(0.05, 500, 14), np.geomspace(1e-8, 1e3, 23)
    measured = (
        RidgePath(KernelRidge(kernel.set_params(bandwidth=width), intercept=True), penalties)
        .fit(X, y)
        .curve("loo" if name == "leave-one-out" else "gcv")
        .heights
        for width in widths
    )
    assert found.value <= 1.01 * min(np.nanmin(heights) for heights in measured)


@pytest.mark.slow
def test_columns_that_never_change_do_not_matter():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 3)) * [1.0, 100.0, 0.0] + [0.0, 0.0, 0.1]
    y = np.sin(Z[:, 0]) + 0.1 * rng.normal(size=60)
    found = search(KernelRidge(Gaussian(), intercept=True), Z, y, per_dimension=True)
    nearby = Z + np.array([0.0, 0.0, 0.01])
    np.testing.assert_allclose(found.machine.predict(nearby), found.machine.predict(Z), rtol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-8, 1e-4, 1e8])
def test_the_evidence_does_not_depend_on_units(unit):
    X, y = curve()
    values = [
        search(GaussianProcess(1.0 * Gaussian()), X, size * y).value - len(y) * np.log(size)
        for size in (1.0, unit)
    ]
    np.testing.assert_allclose(*values, atol=1e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mercer.errors.SelectionWarning")
def test_more_starts_for_each_dimension_too():
    X, y = far(30)
    few, many = (
        search(KernelRidge(Gaussian()), X, y, per_dimension=True, starts=count) for count in (1, 6)
    )
    several = [[isinstance(trial.start["kernel__bandwidth"], tuple) for trial in found.trials]
               for found in (few, many)]  # fmt: skip
    assert sum(several[1]) == 6 > sum(several[0])
    assert many.value <= few.value * (1 + 1e-4)


@pytest.mark.parametrize("seed", ["a", -1, 0.5])
def test_seeds(seed):
    with pytest.raises(SelectionError, match="random_state must be a whole number"):
        search(KernelRidge(Gaussian()), *far(20), random_state=seed)
