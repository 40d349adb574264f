"""The plan of held-out predictions: the cheapest route is taken, and costs grow as written."""

import time
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import SVC, KernelRidge
from mercer.kernels import Gaussian
from mercer.machines.ridge import Regression
from mercer.plans.closed_form_routes import ClosedFormRoute, cheapest_route
from mercer.selection import closed_form
from mercer.selection.closed_form import ClosedFormTask, held_out_predictions
from mercer.selection.scoring import HeldOutAnswers
from mercer.selection.shared_gram import SharedGramEvaluation
from mercer.selection.splits import Split
from mercer.solvers.working_set import MAX_STORED_ITEMS
from mercer.threads import one_blas_thread

sizes = st.lists(st.integers(1, 200), min_size=1, max_size=30)


@given(st.integers(201, 5000), sizes, st.integers(1, 100), st.integers(0, 50))
def test_the_route_is_the_cheapest(n, removals, penalties, columns):
    plan = cheapest_route(n, removals, penalties, columns=columns)
    assert set(plan.costs) == {"inverse", "tridiagonal", "refit", "refit tridiagonal"}
    assert plan.costs[plan.name] == min(plan.costs.values())
    assert plan.explain().startswith(f"{plan.name}, because it takes")
    assert all(name in plan.explain() for name in plan.costs)
    assert plan.lanczos_budget >= 0 and (columns or not plan.lanczos_budget)


@given(st.integers(201, 5000), sizes, st.integers(1, 50))
def test_more_work_never_costs_less(n, removals, penalties):
    here = cheapest_route(n, removals, penalties).costs
    for other in (
        cheapest_route(n + 100, removals, penalties),
        cheapest_route(n, [*removals, removals[0]], penalties),
        cheapest_route(n, removals, penalties + 1),
    ):
        assert all(other.costs[route] >= cost for route, cost in here.items())


def growth(route, what, low, high):
    """Return the power with which the cost of a route grows."""
    costs = [cheapest_route(**what(value)).costs[route] for value in (low, high)]
    return np.log(costs[1] / costs[0]) / np.log(high / low)


def folds_of(n):
    return {"order": n, "removals": [n // 10] * 10, "penalties": 20}


@pytest.mark.parametrize("route", ["inverse", "tridiagonal", "refit", "refit tridiagonal"])
def test_costs_grow_with_the_cube_of_the_items(route):
    assert growth(route, folds_of, 10_000, 20_000) == pytest.approx(3, abs=0.05)


def test_costs_of_more_penalties():
    def many(m):
        return {"order": 5000, "removals": [1] * 5000, "penalties": m}

    assert growth("inverse", many, 10, 1000) == pytest.approx(1)
    assert growth("refit", many, 10, 1000) == pytest.approx(1)
    assert growth("tridiagonal", many, 1, 100) < 0.1  # n² for each, after n³ for all
    assert growth("refit tridiagonal", many, 1, 100) < 0.1


def test_costs_of_leaving_one_out():
    def single(n):
        return {"order": n, "removals": [1] * n, "penalties": 5}

    for route, power in {
        "inverse": 3,
        "tridiagonal": 3,
        "refit": 4,
        "refit tridiagonal": 4,
    }.items():
        assert growth(route, single, 10_000, 20_000) == pytest.approx(power, abs=0.1)


def test_costs_of_nested_folds():
    n, outer, inner = 1000, 5, 5
    folds = [(n // outer, [n // outer] * inner)] * outer
    removals = [n // outer] * (outer + outer * inner)
    plan = cheapest_route(n, removals, 10, nested=folds)
    assert set(plan.costs) == {"inverse", "refit"} and plan.name == "inverse"
    expected = 10 * (2 * n**3 + outer * (200**2 * n + inner * (200**2 * 400 + 3e5)))
    assert plan.costs["inverse"] == pytest.approx(expected)


def test_steps_are_not_tried_for_next_to_nothing():
    """They are prepared, and some taken, before it shows whether they lead anywhere."""
    assert cheapest_route(300, [50] * 6, 1, columns=6).lanczos_budget == 0
    assert cheapest_route(300, [50] * 6, 4, columns=6).lanczos_budget > 0
    assert cheapest_route(2000, [400] * 5, 1, columns=5).lanczos_budget > 0


def test_costs_of_features():
    plan = cheapest_route(10_000, [100] * 100, 20, features=50)
    assert plan.name == "features" and set(plan.costs) == {"features"}
    assert (
        plan.costs["features"] < cheapest_route(10_000, [100] * 100, 20).costs["tridiagonal"] / 100
    )


@pytest.mark.parametrize(
    ("n", "removals", "penalties", "route"),
    [
        (1000, [1] * 1000, 20, "tridiagonal"),
        (2000, [200] * 10, 1, "inverse"),
        (2000, [200] * 10, 20, "tridiagonal"),
        (1000, [900], 20, "refit tridiagonal"),
        (3000, [2800], 1, "refit"),
    ],
)
def test_clear_cases(n, removals, penalties, route):
    assert cheapest_route(n, removals, penalties).name == route


# ---- the clock --------------------------------------------------------------------------------


@contextmanager
def forced(route):
    plan = ClosedFormRoute(route, {route: 1.0})
    with patch.object(closed_form, "cheapest_route", lambda *_, **__: plan):
        yield


def seconds(route, K, Y, splits, penalties):
    """Return the best of three times; a refit is a machine on its part of the Gram matrix.

    On one thread: others may have the second core, and then threads that wait for each other take
    any time.
    """
    with one_blas_thread:
        return _seconds(route, K, Y, splits, penalties)


def _seconds(route, K, Y, splits, penalties):
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        if route == "refit":
            for penalty in penalties:
                for split in splits:
                    G = K.take(split.train, axis=0).take(split.train, axis=1)
                    machine = KernelRidge("precomputed", penalty).fit(G, Y[split.train])
                    machine.predict(K.take(split.test, axis=0).take(split.train, axis=1))
        else:
            with forced(route):
                found = held_out_predictions(
                    [ClosedFormTask(KernelRidge(), Regression(Y, None), K, splits, penalties)]
                )[0]
            assert all(one is not None for row in found.predictions for one in row)
        best = min(best, time.perf_counter() - start)
    return best


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "count", "size", "penalties", "other"),
    [
        (1000, 20, 1, 60, "inverse"),
        (120, 120, 1, 4, "refit"),
        (150, 150, 1, 4, "refit tridiagonal"),
        (300, 10, 30, 12, "refit"),
        (300, 1, 280, 12, "inverse"),
    ],
    ids=["single items", "not refitted", "not decomposed again", "ten folds", "few learned"],
)
def test_what_is_cheap_by_far_is_fast(n, count, size, penalties, other):
    """Where the plan sees a factor of four, the clock sees that it is faster."""
    rng = np.random.default_rng(0)
    K, Y = Gaussian(1.0)(rng.normal(size=(n, 3))), rng.normal(size=n)
    parts = np.arange(count * size).reshape(count, size)
    splits = [Split(np.setdiff1d(np.arange(n), part), part) for part in parts]
    levels = np.logspace(-2, 1, penalties).tolist()
    plan = cheapest_route(n, [size] * count, penalties)
    assert plan.costs[other] >= 4 * plan.costs[plan.name]
    assert seconds(plan.name, K, Y, splits, levels) < seconds(other, K, Y, splits, levels)


@pytest.mark.parametrize(
    ("count", "shared"), [(MAX_STORED_ITEMS, True), (MAX_STORED_ITEMS + 1, False)]
)
def test_many_items_of_a_support_vector_machine_share_no_gram_matrix(count, shared):
    """It has faster ways then, as its own plan says."""
    study = SharedGramEvaluation(np.zeros((count, 2)), np.zeros(count), [], HeldOutAnswers(None))
    assert study._shares(SVC()) == shared
    assert study._shares(KernelRidge())
