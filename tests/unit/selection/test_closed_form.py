"""Run: how many inverses a grid takes, and scores that are the same on every way."""

import tracemalloc

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV as SklearnGridSearchCV
from sklearn.model_selection import KFold

from mercer import KernelRidge, memory
from mercer.kernels import Gaussian
from mercer.machines.discriminant import KernelDiscriminant
from mercer.machines.ridge import Regression
from mercer.plans.closed_form_routes import numbers_stepped
from mercer.selection import GridSearchCV, closed_form, nested_cv
from mercer.selection.closed_form import ClosedFormTask, held_out_predictions
from mercer.selection.fold_predictions import FoldPredictor
from mercer.selection.scoring import scoring_of
from mercer.selection.shared_gram import evaluate
from mercer.selection.splits import Split, splits_of
from mercer.solvers.ridge import shifted_lanczos
from mercer.solvers.ridge.inverse import CholeskySystem
from tests.oracles.refits import forced

N = 800  # so many that the plan sees a gain


@pytest.fixture
def inverses(monkeypatch):
    """Count the inverses that are computed; leave no penalty to steps alone."""
    found, at = [], CholeskySystem.at

    def counted(self, penalty):
        found.append(penalty)
        return at(self, penalty)

    monkeypatch.setattr(CholeskySystem, "at", counted)
    monkeypatch.setattr(shifted_lanczos, "MAX_RESIDUAL", 0.0)
    return found


def jobs(levels, bandwidths=(0.5, 1.0), weights=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=N)
    parts = np.array_split(rng.permutation(N), 5)
    splits = [Split(np.setdiff1d(np.arange(N), part), np.sort(part)) for part in parts]
    task = Regression(y, weights)
    return [
        ClosedFormTask(KernelRidge(), task, Gaussian(b)(X), splits, levels) for b in bandwidths
    ]


def scores(found):
    assert all(one is not None for each in found for row in each.predictions for one in row)
    return np.array([[np.concatenate(row) for row in each.predictions] for each in found])


def one_by_one(some):
    with memory.supposing(0):
        return scores(held_out_predictions(some))


@pytest.mark.parametrize("bandwidths", [(1.0,), (0.5, 1.0)], ids=["one kernel", "two kernels"])
def test_many_penalties_share_a_decomposition(inverses, bandwidths):
    levels = np.random.default_rng(3).permutation(np.logspace(-2, 0, 12))  # in any order
    some = jobs(levels.tolist(), bandwidths)
    found = scores(held_out_predictions(some))
    assert not inverses
    with forced("inverse"):
        expected = scores(held_out_predictions(some))
    assert len(inverses) == 12 * len(bandwidths)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_what_a_decomposition_is_not_sure_of_takes_an_inverse(inverses):
    """The others of the same grid share theirs."""
    levels = [1e-5, 2e-5, *np.logspace(-2, 0, 10)]
    some = jobs(levels, (1.5,))
    found = scores(held_out_predictions(some))
    assert set(inverses) == set(levels[:2])
    np.testing.assert_allclose(found, one_by_one(some), rtol=0, atol=1e-8)


def test_penalties_far_apart_share_none(inverses):
    levels = [1e-4, 1e4, 1e-1, 1e8]
    some = jobs(levels)
    np.testing.assert_allclose(
        scores(held_out_predictions(some)), one_by_one(some), rtol=0, atol=1e-9
    )
    assert sorted(inverses) == sorted(4 * levels)  # for two kernels, and each time


def test_equal_penalties(inverses):
    some = jobs([0.1, 0.1, 0.2, 0.1])
    found = scores(held_out_predictions(some))
    np.testing.assert_allclose(found[:, 0], found[:, 1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found, one_by_one(some), rtol=0, atol=1e-9)


def pair(n=300):
    """Two items have a negative eigenvalue to themselves, of which the targets know nothing."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(n, 10))
    K = B @ B.T
    K[:2] = K[:, :2] = 0.0
    K[0, 1] = K[1, 0] = 0.3
    y = B[:, 0] + 0.1 * rng.normal(size=n)
    y[:2] = 1.0
    return K, y


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("route", ["steps", "tridiagonal", "inverse"])
@pytest.mark.parametrize("kind", ["negative", "pair"])
def test_indefinite_matrices_are_found_out(route, kind):
    K, y = (
        (-np.eye(60), np.random.default_rng(0).normal(size=60)) if kind == "negative" else pair()
    )
    grid = {"penalty": [0.1, 0.2, 0.25, 0.35, 0.5, 1.0, 2.0, 3.0]}
    how = {"cv": KFold(5), "refit": False}

    with forced(route):
        search = GridSearchCV(KernelRidge("precomputed"), grid, **how).fit(K, y)
    found = search.cv_results_["mean_test_score"]
    search = SklearnGridSearchCV(KernelRidge("precomputed"), grid, **how).fit(K, y)
    expected = search.cv_results_["mean_test_score"]
    assert np.isnan(expected).any() and np.isfinite(expected).any()
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_proofs_spare_the_test_of_definiteness(monkeypatch):
    monkeypatch.setattr(
        FoldPredictor, "is_definite", lambda *_: pytest.fail("this takes a factor")
    )
    X, y = np.random.default_rng(0).normal(size=(2, 60, 1))
    grid = {"penalty": np.logspace(-2, 0, 6)}
    for route in ("steps", "tridiagonal"):
        with forced(route):
            GridSearchCV(KernelRidge(Gaussian()), grid, refit=False).fit(X, y.ravel())


@pytest.mark.parametrize("route", ["steps", "tridiagonal"])
@pytest.mark.parametrize("size", [1e-170, 1e150])
def test_targets_whose_squares_are_no_numbers(route, size):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    how = {"refit": False, "scoring": "neg_mean_absolute_error"}
    grid = {"penalty": np.logspace(-2, 0, 6)}
    with forced(route):
        found = [
            GridSearchCV(KernelRidge(Gaussian()), grid, **how).fit(X, target).cv_results_
            for target in (y, size * y)
        ]
    small, large = (one["mean_test_score"] for one in found)
    np.testing.assert_allclose(large, size * small, rtol=1e-10)


def test_a_large_mean_is_the_intercepts_alone():
    """Its size must not hide errors in the rest, beyond the digits that it takes itself."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=200) + 1e6
    found = []
    for route in ("tridiagonal", "inverse"):
        with forced(route):
            search = GridSearchCV(
                KernelRidge(Gaussian(), intercept=True), {"penalty": np.logspace(-3, 0, 10)},
                refit=False, scoring="neg_mean_squared_error",
            )  # fmt: skip
            found.append(search.fit(X, y).cv_results_["mean_test_score"])
    np.testing.assert_allclose(*found, rtol=0, atol=5e-10)


@pytest.mark.parametrize("route", ["inverse", "tridiagonal"])
@pytest.mark.parametrize("size", [1e-200, 1e-25, 1e25, 1e200])
def test_matrices_of_any_size(size, route):
    rng = np.random.default_rng(0)
    K, y = Gaussian(1.0)(rng.normal(size=(60, 2))), rng.normal(size=60)
    levels = np.logspace(-2, 0, 6)
    with forced(route):
        found = [
            GridSearchCV(KernelRidge("precomputed"), {"penalty": s * levels}, refit=False)
            .fit(s * K, y)
            .cv_results_["mean_test_score"]
            for s in (1.0, size)
        ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:the best:mercer.errors.SelectionWarning")
def test_grids_and_nested_folds_say_what_they_said():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=150)
    grid = {"kernel__bandwidth": [0.5, 1.0], "penalty": np.logspace(-2, 0, 8).tolist()}
    machine = KernelRidge(Gaussian(), intercept=True)
    labels = np.where(y > 0, "above", "below")

    def all_of_it():
        search = GridSearchCV(machine, grid, cv=5).fit(X, y)
        classes = GridSearchCV(KernelDiscriminant(Gaussian()), grid, cv=4).fit(X, labels)
        within = nested_cv(machine, X, y, grid, 3, 4)
        means = [one.cv_results_["mean_test_score"] for one in (search, classes)]
        return np.concatenate([*means, within.scores])

    with forced("steps"):
        found = all_of_it()
    with forced("inverse"):
        expected = all_of_it()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


# ---- while it works -----------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["inverse", "tridiagonal", "refit tridiagonal"])
def test_scores_are_counted_as_they_become_known(route):
    told = []
    levels = np.logspace(-2, 2, 6).tolist()
    with forced(route):
        found = held_out_predictions(jobs(levels), told.append)
    assert sum(told) == scores(found).shape[0] * 6 * 5  # kernels, penalties, splits
    assert len(told) > 1


def test_a_bar_counts_each_score_once():
    """Also those that are left to refits."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    machines = [KernelRidge(Gaussian(1.0), penalty) for penalty in (0.0, 1e-14, 0.1, 1.0)]
    splits = splits_of(KFold(4), X, y, False)
    told = []
    _, account = evaluate(
        machines, X, y, splits, scoring_of(None, machines, {}), {}, step=told.append
    )
    assert sum(told) == 16
    assert account.counts["without a refit"] == 8


def test_jobs_take_turns_where_room_is_scarce(free_memory):
    some = jobs([0.1, 1.0], bandwidths=(0.3, 0.5, 1.0, 2.0))
    expected = scores(held_out_predictions(some))
    matrix = 8.0 * N**2
    free_memory((2.5 + closed_form.MATRICES_PER_CORE * closed_form.cores()) * matrix)
    assert closed_form.side_by_side(some) == 2
    np.testing.assert_allclose(scores(held_out_predictions(some)), expected, rtol=0, atol=1e-9)


def test_a_job_that_is_done_keeps_no_matrix():
    (job,) = jobs([0.1, 1.0], bandwidths=(1.0,))
    sight = closed_form.Run(job, {})
    sight.finish()
    assert not hasattr(sight, "work")


@pytest.mark.parametrize("penalties", [3, 100])
def test_steps_take_no_more_room_than_is_said(penalties):
    rng = np.random.default_rng(0)
    M = Gaussian(0.3)(rng.normal(size=(300, 3)))
    sides = rng.normal(size=(10, 300))
    tracemalloc.start()
    shifted_lanczos.solve_shifted(M, sides, np.ones_like(sides), np.logspace(0, 2, penalties), 1e3)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken <= 8 * numbers_stepped(300, 10, penalties)


def test_steps_stop_where_their_room_ends(free_memory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    M, sides = Gaussian(2.0)(X), rng.normal(size=(2, 300))
    free_memory(0)
    found = shifted_lanczos.solve_shifted(M, sides, np.ones_like(sides), [1e-6], 1e3)
    assert found.steps <= shifted_lanczos.CAPACITY and not found.solved.any()
