"""Bandwidths and penalty by exact leave-one-out errors."""

import numpy as np
import pytest

from mercer.errors import ValidityError
from mercer.kernels import Exponential, Gaussian
from mercer.machines import KernelRidge
from mercer.machines.metric_search import (
    FACTORS,
    PENALTIES,
    HeldOutErrors,
    RidgeTargets,
    descend,
    first_place,
)
from mercer.machines.metric_terms import add_terms, set_metric


def problem(count=30, width=3, weights=False, intercept=True, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, width))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=count)
    w = rng.uniform(0.5, 2.0, count) if weights else None
    points = Gaussian(1.0).admit(X)
    terms = [Exponential(order=1), Exponential()]
    resolved = [set_metric(term, None, "diagonal", points) for term in terms]
    return X, y, w, HeldOutErrors(resolved, points, RidgeTargets(y[:, None], w, intercept))


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_an_error_is_that_of_machines_that_have_not_seen_the_item(weights, intercept):
    X, y, w, errors = problem(weights=weights, intercept=intercept)
    place = (9, 5, 7)
    kernel = add_terms(errors.kernels(place))
    machine = KernelRidge(kernel, errors.penalty(place), intercept=intercept)
    losses = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        fitted = machine.fit(X[rest], y[rest], None if w is None else w[rest])
        losses.append((fitted.predict(X[[i]])[0] - y[i]) ** 2)
    assert errors([place])[0] == pytest.approx(np.average(losses, weights=w), rel=1e-7)


def test_errors_that_are_asked_for_together_are_those_that_are_asked_for_alone():
    places = [(9, 5, 7), (10, 5, 7), (9, 6, 7)]
    together = problem()[3](places)
    assert together == [problem()[3]([place])[0] for place in places]


def test_a_search_ends_where_no_single_change_gains():
    errors = problem()[3]
    best = errors.search(first_place(errors.terms))
    lowest = errors([best])[0]
    for axis, size in enumerate(errors.sizes):
        for step in (-1, 1):
            near = (*best[:axis], best[axis] + step, *best[axis + 1 :])
            if 0 <= near[axis] < size:
                assert errors([near])[0] >= lowest * (1 - 2e-3)
    assert errors.inverse(best).alpha.shape == (30, 1)


def test_penalties_are_in_units_of_the_sum():
    errors = problem()[3]
    assert errors.penalty((3, 0, 0)) == pytest.approx(2 * PENALTIES[3], rel=1e-5)
    assert add_terms(errors.kernels((0, 5, 5))).pair([0.0] * 3, [0.0] * 3) == 2.0


def test_a_search_goes_to_larger_penalties_where_a_system_is_singular():
    seen = []

    def errors(places):
        seen.extend(places)
        return [np.inf if place[0] < 3 else 1.0 for place in places]

    assert descend(errors, (0, 0), (6, 2)) == (3, 0)


def test_a_search_stays_on_the_grid():
    assert descend(lambda places: [1.0 + sum(p) for p in places], (2, 3), (3, 4)) == (0, 0)
    found = descend(lambda places: [10.0 ** -sum(p) for p in places], (0, 0), (3, 4))
    assert found == (2, 3)


def test_without_a_search_bandwidths_are_the_median():
    place = first_place([Exponential(), Gaussian()], search=False)
    assert place[0] == 0 and [FACTORS[at] for at in place[1:]] == [1.0, 1.0]


def test_a_system_that_no_penalty_makes_solvable_says_so():
    X = np.zeros((4, 2))
    points = Gaussian(1.0).admit(X)
    errors = HeldOutErrors(
        [Gaussian(1.0)], points, RidgeTargets(np.ones((4, 1)), None, False), penalty=0.0
    )
    with pytest.raises(ValidityError, match="solvable"):
        errors.inverse((0, FACTORS.index(1.0)))
