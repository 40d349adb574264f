"""Plans: what would run and why, refusals before any work, and words for all of it."""

import dataclasses
import re

import numpy as np
import pytest
from scipy import sparse

from mercer import GaussianProcess, KernelRidge, KernelRidgeClassifier, Plan
from mercer.engine import tiles
from mercer.errors import PlanError, ValidityError
from mercer.gram import operator
from mercer.kernels import (
    Categorical,
    Constant,
    Gaussian,
    Linear,
    Polynomial,
    Sigmoid,
    gaussian_over,
)
from mercer.plans import Nystrom, Size, available, choose_ridge, format_bytes, requested
from mercer.solvers.ridge.cholesky import MIN_MIXED_ORDER


def rows(n=50, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def ridge(request=None, items=2000, width=5, bound=1e3, repair=False, **size):
    request = request or Plan(memory=10**10)
    known = {"condition": bound, "definite": not repair} | size
    return choose_ridge(request, Size(items=items, row=8.0 * width, **known))


# ---- choices -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "features", "route"),
    [(1000, 5, "primal"), (5, 1000, "dual"), (1000, None, "dual"), (1000, 10**9, "dual")],
)
def test_the_cheaper_route_is_taken(items, features, route):
    assert ridge(items=items, features=features).route == route


def test_interpolation_and_repair_speak_about_the_gram_matrix():
    assert ridge(items=1000, features=5, bound=np.inf).route == "dual"
    assert ridge(items=1000, features=5, repair=True).route == "dual"
    assert ridge(repair=True).solver == "eigen"


def test_single_precision_is_used_where_it_is_faster_and_safe():
    assert ridge(items=MIN_MIXED_ORDER).precision == "mixed"
    assert ridge(items=MIN_MIXED_ORDER - 1).precision == "double"
    assert ridge(items=MIN_MIXED_ORDER, bound=1e12).precision == "double"
    assert ridge(Plan(solver="eigen", memory=10**10), items=MIN_MIXED_ORDER).precision == "double"


def test_every_choice_of_the_user_is_kept():
    for route, features in (("dual", 3), ("primal", 3), ("primal", 4000)):
        assert ridge(Plan(route=route, memory=10**10), features=features).route == route
    for solver in ("cholesky", "eigen"):
        assert ridge(Plan(solver=solver, memory=10**10)).solver == solver
    for precision in ("mixed", "double"):
        request = Plan(precision=precision, memory=10**10)
        assert ridge(request, items=10).precision == precision
        assert ridge(request, bound=1e15).precision == precision


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"route": "duel"}, r"route of a plan cannot be 'duel'; did you mean 'dual'\?"),
        ({"route": "prime"}, r"did you mean 'primal'\?"),
        (
            {"solver": "choleski"},
            r"solver of a plan cannot be 'choleski'; did you mean 'cholesky'",
        ),
        ({"solver": "eigens"}, r"did you mean 'eigen'\?"),
        ({"precision": "mixd"}, r"precision of a plan cannot be 'mixd'; did you mean 'mixed'\?"),
        ({"precision": "float16"}, r"known are 'auto', 'double', 'mixed'"),
        ({"route": None}, r"route of a plan cannot be None"),
        ({"memory": "1 GB"}, r"memory of a plan"),
        ({"memory": -1}, r"memory of a plan"),
        ({"memory": float("nan")}, r"memory of a plan"),
    ],
)
def test_a_wrong_choice_is_refused_with_the_close_match(choice, words):
    with pytest.raises(ValidityError, match=words):
        Plan(**choice)


@pytest.mark.parametrize(
    "machine",
    [
        KernelRidge(Gaussian(1.0), follow=Plan(route="primal")),
        KernelRidge(Linear(), penalty=0.0, follow=Plan(route="primal")),
        KernelRidge(Sigmoid(1.0, -1.0), indefinite="clip", follow=Plan(route="primal")),
    ],
    ids=["infinitely many features", "no penalty", "not valid"],
)
def test_a_route_that_does_not_exist_is_refused_before_any_work(machine):
    with pytest.raises(ValidityError, match=r"primal route needs .*use the dual route"):
        machine.fit(rows(), rows()[:, 0])
    assert not [name for name in vars(machine) if name.endswith("_")]


def test_what_is_no_plan_is_refused():
    with pytest.raises(ValidityError, match=r"follow must be a Plan"):
        KernelRidge(Gaussian(1.0), follow="dual").fit(rows(), rows()[:, 0])


def test_a_plan_is_a_dry_run():
    machine = KernelRidge("gaussian")
    before = dict(vars(machine))
    plan = machine.plan(rows())
    assert vars(machine) == before
    assert plan.bytes > 0
    fitted = machine.fit(rows(), rows()[:, 0])
    assert dataclasses.replace(fitted.plan_, memory=None) == dataclasses.replace(plan, memory=None)


def test_a_finished_plan_can_be_followed():
    X, y = rows(), rows()[:, 0]
    plan = KernelRidge(Linear()).plan(X)
    machine = KernelRidge(Linear(), follow=plan).fit(X, y)
    assert (machine.plan_.route, machine.plan_.solver) == (plan.route, plan.solver)
    np.testing.assert_allclose(machine.predict(X), KernelRidge(Linear()).fit(X, y).predict(X))


def test_planning_twice_gives_the_same_plan():
    machine = KernelRidge(Polynomial(2), follow=Plan(memory=10**9))
    assert machine.plan(rows()) == machine.plan(rows())


# ---- words -------------------------------------------------------------------------------------


def test_explain_says_what_runs_how_many_bytes_it_takes_and_why():
    text = ridge(Plan(memory=2 * 10**9)).explain()
    first, second, *reasons = text.splitlines()
    assert first == "Route dual, solver cholesky, mixed precision."
    assert re.fullmatch(r"Needs about \d+\.\d MB of 2\.0 GB available\.", second)
    assert all(reason.startswith("- ") for reason in reasons)
    assert "no finite feature map" in text
    assert "refined to double accuracy" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"items": 100, "features": 5}, "primal, because 5 features and 100 items take"),
        ({"items": 50, "features": 60}, "dual, because 60 features and 50 items take"),
        ({"repair": True}, "the spectrum of an indefinite kernel is repaired"),
        ({"features": 5, "bound": np.inf}, "interpolation and repair speak about the Gram matrix"),
        ({"bound": 1e13}, "double, because the condition number may be 1.0e+13"),
        ({"request": Plan(route="dual", memory=10**9)}, "the dual route was asked for"),
    ],
)
def test_explain_gives_each_reason(arguments, words):
    assert words in ridge(**arguments).explain()


def test_explain_does_not_deny_a_feature_map_that_there_is():
    """Fewer items than features: the reason is the cost, not that there are no features."""
    text = KernelRidge(Linear()).plan(rows(10, 200)).explain()
    assert "no finite feature map" not in text
    assert "200 features" in text


def test_an_undecided_plan_says_so():
    assert "Nothing is decided yet" in Plan().explain()


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (1_500_000, "1.5 MB"),
     (3.2e9, "3.2 GB"), (7e12, "7.0 TB"), (7e15, "7000.0 TB")],
)  # fmt: skip
def test_bytes_in_words(count, words):
    assert format_bytes(count) == words


# ---- memory ------------------------------------------------------------------------------------


def test_there_is_some_memory():
    found = available()
    assert found is None or 10**7 < found < 10**15


def test_without_a_limit_of_the_user_the_machines_memory_counts(free_memory):
    free_memory(12_345_678)
    assert ridge(Plan(), items=10).memory == 12_345_678
    with pytest.raises(PlanError, match=r"12.3 MB are available"):
        ridge(Plan(approximate="never"), items=10_000)
    free_memory(None)  # nobody knows: no refusal
    plan = ridge(Plan(), items=10_000)
    assert plan.memory is None
    assert "available" not in plan.explain()


def size_that_fits(error):
    (found,) = re.findall(r"about (\d+) items would fit", str(error))
    return int(found)


@pytest.mark.parametrize("solver", ["cholesky", "eigen"])
@pytest.mark.parametrize("memory", [20_000_000, 10**8, 10**9])
@pytest.mark.parametrize(("width", "targets"), [(5, 1), (5, 200), (2000, 1)])
def test_a_refusal_names_a_size_that_does_fit(width, targets, memory, solver):
    request = Plan(solver=solver, memory=memory, precision="double")
    with pytest.raises(PlanError) as refusal:
        ridge(request, items=200_000, width=width, targets=targets)
    fits = size_that_fits(refusal.value)
    assert fits > 0
    plan = ridge(request, items=fits, width=width, targets=targets)
    assert plan.bytes <= memory
    with pytest.raises(PlanError):  # and not much less than what fits
        ridge(request, items=int(1.05 * fits) + 2, width=width, targets=targets)


def test_a_refusal_says_bytes_needed_and_bytes_there():
    with pytest.raises(PlanError, match=r"a fit on 100000 items needs 80.0 GB, but 1.0 GB are"):
        ridge(Plan(solver="cholesky", memory=10**9, precision="double"), items=100_000)


def test_a_refusal_is_a_memory_error_too():
    with pytest.raises(MemoryError):
        ridge(Plan(memory=10**6), items=100_000)


@pytest.mark.parametrize("machine", [KernelRidge, KernelRidgeClassifier])
def test_a_refusal_comes_instead_of_the_work(machine, monkeypatch):
    def never(*arguments, **options):
        raise AssertionError("a Gram matrix was filled")

    monkeypatch.setattr(tiles, "fill", never)
    monkeypatch.setattr(operator, "fill", never)
    X, y = rows(3000), np.arange(3000) % 2
    fresh = machine(Gaussian(1.0), follow=Plan(solver="cholesky", memory=20_000_000))
    with pytest.raises(PlanError, match=r"would fit"):
        fresh.fit(X, y)
    assert not [name for name in vars(fresh) if name.endswith("_")]


def test_the_size_that_a_machine_names_can_be_fitted():
    X, y = rows(2000, 20), rows(2000, 1)[:, 0]
    machine = KernelRidge(Gaussian(5.0), follow=Plan(solver="cholesky", memory=16_000_000))
    with pytest.raises(PlanError) as refusal:
        machine.fit(X, y)
    fits = size_that_fits(refusal.value)
    assert 500 < fits < 2000
    assert machine.fit(X[:fits], y[:fits]).plan_.bytes <= 16_000_000


def test_a_matrix_that_does_not_fit_is_never_stored():
    X, y = rows(3000, 5), rows(3000, 1)[:, 0]
    exact = KernelRidge(Gaussian(2.0), penalty=0.1).fit(X, y)
    small = KernelRidge(Gaussian(2.0), penalty=0.1, follow=Plan(memory=30_000_000)).fit(X, y)
    assert exact.plan_.solver == "cholesky" and small.plan_.solver == "iterative"
    assert small.plan_.bytes <= 30_000_000 and 64 <= small.plan_.rank < 1000
    assert "would not fit" in small.plan_.explain()
    assert small.solution_.solver == "iterative" and small.solution_.certificate < 1e-9
    assert np.allclose(small.predict(X[:50]), exact.predict(X[:50]), rtol=1e-7, atol=1e-9)


def test_similarities_that_take_long_are_not_computed_at_each_step():
    words = np.array([f"w{k}" for k in range(12_000)], dtype=object)
    follow = Plan(memory=10**11)
    machine = KernelRidge(Gaussian(1.0) * Constant(2.0), follow=follow)
    assert machine.plan(rows(12_000, 2)).solver == "iterative"
    assert (
        KernelRidge(gaussian_over(Categorical()), follow=follow).plan(words).solver == "cholesky"
    )


def test_even_steps_need_some_memory():
    with pytest.raises(PlanError) as refusal:
        ridge(Plan(memory=30_000_000, approximate="never"), items=100_000)
    fits = size_that_fits(refusal.value)
    plan = ridge(Plan(memory=30_000_000), items=fits)
    assert plan.solver == "iterative" and plan.bytes <= 30_000_000


def test_many_items_are_solved_by_steps_unless_that_cannot_be():
    assert ridge(Plan(memory=10**11), items=20_000).solver == "iterative"
    assert ridge(Plan(memory=10**11), items=20_000).direct
    assert not ridge(Plan(memory=10**9), items=20_000).direct  # the matrix would not fit
    assert not ridge(Plan(solver="iterative", memory=10**11), items=20_000).direct
    assert ridge(Plan(memory=10**11), items=5000).solver == "cholesky"
    assert ridge(Plan(memory=10**11), items=20_000, bound=1e12).solver == "cholesky"
    with pytest.raises(ValidityError, match="positive penalty"):
        ridge(Plan(solver="iterative"), bound=np.inf)
    costly = Size(items=20_000, row=40.0, cheap=False, condition=1e3)
    assert choose_ridge(Plan(memory=10**11), costly).solver == "cholesky"
    machine = GaussianProcess(Gaussian(1.0), follow=Plan(solver="iterative"))
    with pytest.raises(ValidityError, match="variances"):
        machine.fit(rows(10), np.arange(10.0))


def test_a_refusal_of_many_features_says_what_would_fit():
    X = rows(300, 40)
    machine = KernelRidge(Polynomial(3), follow=Plan(route="primal", memory=20_000_000))
    with pytest.raises(PlanError, match=r"needs .* but 20.0 MB are available.*(features|dual)"):
        machine.fit(X, X[:, 0])


def test_steps_multiply_in_single_precision_unless_told_otherwise():
    plan = ridge(Plan(memory=10**11), items=20_000)
    assert plan.solver == "iterative" and plan.precision == "mixed"
    assert "products of the steps in single precision" in plan.explain()
    assert ridge(Plan(memory=10**11, precision="double"), items=20_000).precision == "double"
    slow = ridge(Plan(memory=10**11, solver="iterative"), items=20_000, cheap=False)
    assert slow.precision == "double"
    double = ridge(Plan(memory=10**11, precision="double"), items=20_000)
    assert 0.3 < plan.seconds / double.seconds < 0.8


def test_steps_with_a_large_condition_are_in_double_precision():
    plan = ridge(Plan(memory=10**11, solver="iterative"), bound=1e9)
    assert plan.precision == "double" and "condition number may be 1.0e+09" in plan.explain()
    assert ridge(Plan(memory=10**11, solver="iterative", precision="mixed")).precision == "mixed"


def test_single_precision_is_given_up_where_only_the_matrix_fits():
    double = ridge(Plan(precision="double", memory=10**10)).bytes
    mixed = ridge(Plan(precision="mixed", memory=10**10)).bytes
    assert mixed > 1.15 * double
    between = ridge(Plan(memory=(double + mixed) // 2))
    assert between.precision == "double"
    assert between.bytes == double
    assert "what single precision needs beside that would not fit" in between.explain()
    assert ridge(Plan(memory=mixed)).precision == "mixed"
    assert ridge(Plan(memory=double - 1)).solver == "iterative"


def test_sparse_rows_are_not_counted_as_dense_ones():
    """A million words, a few thousand of them used: 16 GB if they were dense, 32 MB are needed."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array(
        (np.ones(4000), (np.arange(4000) % 1000, rng.integers(0, 10**6, 4000))), (1000, 10**6)
    )
    plan = KernelRidge(Linear(), follow=Plan(memory=10**9)).plan(X)
    assert plan.bytes < 10**8


def test_categories_are_few_features():
    kinds = np.array(list("abcd") * 100)
    plan = KernelRidge(Categorical()).plan(kinds)
    assert plan.route == "primal"
    assert "4 features and 400 items" in plan.explain()


# ---- asking and deciding -----------------------------------------------------------------------


def test_a_decision_remembers_what_was_asked_and_a_plan_says_it():
    asked = Plan(memory=10**9, precision="double")
    assert ridge(asked).request == asked
    assert "precision 'double'" in asked.explain()
    assert repr(ridge(asked)).startswith("Decision(")


def test_a_decision_that_is_followed_asks_for_what_was_decided():
    asked = requested(ridge(Plan(memory=10**9, tol=1e-5)))
    assert (asked.route, asked.solver, asked.precision) == ("dual", "cholesky", "mixed")
    assert asked.tol == 1e-5 and asked.memory == 10**9
    sketched = ridge(Plan(memory=10**9, approximate=Nystrom(50)))
    assert requested(sketched, sketches=True).approximate == Nystrom(50)
