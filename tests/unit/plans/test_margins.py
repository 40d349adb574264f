"""Plans for support vector machines: what is stored, how large working sets are, and why."""

import numpy as np
import pytest

from mercer import SVC, SVR, OneClassSVM
from mercer.errors import PlanError, ValidityError
from mercer.kernels import Gaussian, Linear
from mercer.plans import Plan, Size
from mercer.plans.margins import choose_margin
from mercer.solvers.working_set import (
    MAX_ROW_BYTES,
    MAX_STORED_ITEMS,
    MAX_WORKING,
    MIN_WORKING,
)
from tests.measure import peak

PLENTY = Plan(memory=10**12)


@pytest.fixture(autouse=True)
def two_cores(use_cores):
    use_cores(2)


def decide(n, request=PLENTY, problems=1, cheap=True, single=True, **size):
    return choose_margin(request, Size(items=n, **size), problems, cheap, single)


@pytest.mark.parametrize("cheap", [False, True])
@pytest.mark.parametrize("problems", [1, 45])
@pytest.mark.parametrize("n", [1, 100, MAX_STORED_ITEMS])
def test_a_small_matrix_is_stored(n, problems, cheap):
    plan = decide(n, problems=problems, cheap=cheap)
    assert plan.stored and plan.route == "dual" and plan.kept == 0
    assert "because it is small" in plan.explain()


def test_a_large_matrix_is_not_stored_for_one_problem_with_cheap_rows():
    plan = decide(MAX_STORED_ITEMS + 1)
    assert not plan.stored and plan.kept == 0
    assert "rows are cheap to compute again" in plan.explain()
    assert f"working sets of {plan.working}" in plan.headline


def test_a_large_matrix_is_stored_where_many_problems_share_it_or_rows_are_expensive():
    assert "45 problems share it" in decide(10_000, problems=45).explain()
    assert "similarities are expensive" in decide(10_000, cheap=False).explain()
    assert decide(10_000, problems=45).stored and decide(10_000, cheap=False).stored


@pytest.mark.parametrize("problems", [1, 45])
@pytest.mark.parametrize("n", [3000, 20_000])
def test_a_matrix_that_does_not_fit_is_not_stored(n, problems):
    plan = decide(
        n, Plan(memory=30_000_000 + 70_000_000 * (n > MAX_STORED_ITEMS)), problems, single=False
    )
    assert not plan.stored
    assert plan.bytes <= plan.memory
    assert problems == 1 or "it does not fit" in plan.explain()


def test_expensive_rows_that_do_not_fit_are_kept_while_there_is_room():
    memory = 400_000_000
    plan = decide(20_000, Plan(memory=memory), cheap=False)
    assert not plan.stored
    assert 0 < plan.kept * 20_000 * 4 <= min(MAX_ROW_BYTES, memory / 4)
    assert decide(20_000, Plan(memory=memory), cheap=True).kept == 0


@pytest.mark.parametrize("n", [10, 1000, 5000, 8192, 20_000, 100_000])
def test_a_working_set_is_an_eighth_of_the_items_within_limits(n):
    working = decide(n).working
    assert working == min(n, int(np.clip(n // 8, MIN_WORKING, MAX_WORKING)))


def test_precision_is_what_is_enough_unless_double_is_asked_for():
    assert decide(1000).precision == "mixed"
    assert decide(1000, single=False).precision == "double"
    assert decide(1000, Plan(precision="double", memory=10**12)).precision == "double"
    assert decide(1000).bytes < decide(1000, single=False).bytes
    assert "single precision" in decide(1000).headline
    assert "double precision" in decide(1000, single=False).headline


def test_few_features_of_many_items_are_cheaper_than_similarities():
    plan = decide(50_000, features=20)
    assert plan.route == "primal" and not plan.stored
    assert "20 features are cheaper than similarities of 50000 items" in plan.explain()
    assert decide(MAX_STORED_ITEMS, features=20).route == "dual"
    assert decide(50_000, features=10_000).route == "dual"
    assert decide(50_000, Plan(route="dual", memory=10**12), features=20).route == "dual"
    assert decide(100, Plan(route="primal", memory=10**12), features=20).route == "primal"
    with pytest.raises(ValidityError, match="primal route needs"):
        decide(100, Plan(route="primal", memory=10**12))


def test_what_does_not_fit_is_refused_with_what_would():
    with pytest.raises(
        PlanError, match=r"100000 items needs .* but 20.0 MB are available"
    ) as told:
        decide(100_000, Plan(memory=20_000_000))
    fitting = int(str(told.value).split("about ")[1].split(" items")[0])
    assert 0 < fitting < 100_000


def test_more_memory_is_never_worse():
    """What is planned with little memory can also be planned with more."""
    found = []
    for memory in 10 ** np.linspace(6, 10, 40):
        try:
            found.append(decide(6000, Plan(memory=memory), problems=3).stored)
        except PlanError:
            found.append(-1)
    assert found == sorted(found)
    assert {-1, False, True} == set(found)


# ---- predicted bytes ---------------------------------------------------------------------------


def data(n, d=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)


MACHINES = {
    "stored": (SVC(Gaussian(2.0), tol=1e-6), 1500),
    "stored in single precision": (SVC(Gaussian(2.0)), 3000),
    "working sets": (SVC(Gaussian(2.0)), 6000),
    "regression on working sets": (SVR(Gaussian(2.0)), 6000),
    "novelty on working sets": (OneClassSVM(Gaussian(2.0), 0.1), 6000),
    "features": (SVC(Linear()), 6000),
    "repaired": (SVC(Gaussian(2.0), indefinite="clip"), 800),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_predicted_bytes_are_hardly_too_low(name):
    machine, n = MACHINES[name]
    X, y = data(n)
    machine.fit(X[:50], y[:50])  # imports and compilation are not counted
    predicted = machine.plan(X).bytes
    assert peak(lambda: machine.fit(X, y)) < 1.1 * predicted
