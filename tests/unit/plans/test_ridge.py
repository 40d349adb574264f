"""Plans of approximate answers: bytes, seconds, and the choice between both ways."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from mercer import KernelRidge, Plan
from mercer.errors import PlanError
from mercer.kernels import Gaussian
from mercer.plans import Nystrom, Random, Size, choose_sketch
from mercer.plans.plan import format_seconds
from mercer.plans.ridge import choose_approximation, enough_centers
from mercer.solvers import SketchedRidge


def test_few_functions_are_added_up_and_many_take_steps():
    size = Size(items=10**6, row=160.0)
    request = Plan(memory=10**12)
    assert choose_sketch(request, Nystrom(1000), size).direct
    many = choose_sketch(request, Nystrom(20_000), size)
    assert not many.direct and many.solver == "iterative"
    assert "one pass over the items for each step" in many.explain()
    assert choose_sketch(request, Nystrom(500), Size(items=100)).rank == 100
    assert choose_sketch(request, Random(500), Size(items=100)).rank == 500


def test_what_does_not_fit_is_refused_with_the_bytes():
    with pytest.raises(PlanError, match=r"5000 functions on 1000000 items needs .* 50.0 MB"):
        choose_sketch(Plan(memory=50_000_000), Nystrom(5000), Size(items=10**6))
    size = Size(items=10**6, row=8000.0, piece=10**6)  # 8 GB, of which a megabyte is here
    assert choose_approximation(Plan(memory=10**9), size).bytes < 10**9


@pytest.mark.slow
@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("M", [200, 600])
def test_predicted_bytes_are_near_the_measured_ones(direct, M, monkeypatch):
    n, d = 30_000, 10
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    machine = KernelRidge(Gaussian(3.0), 1.0, follow=Plan(approximate=Nystrom(M)))
    predict = SketchedRidge.cost

    def cost(self, size, passes=1):
        return replace(predict(self, size, passes), seconds=float(self.direct != direct))

    monkeypatch.setattr(SketchedRidge, "cost", cost)
    machine.fit(X[:500], y[:500])
    tracemalloc.start()
    machine.fit(X, y)
    measured = tracemalloc.get_traced_memory()[1] + X.nbytes  # which was there before
    tracemalloc.stop()
    assert machine.plan_.direct is direct
    assert 1 / 1.3 < machine.plan_.bytes / measured < 1.3


def test_the_number_of_centers_grows_with_the_root():
    assert [enough_centers(n) for n in (10, 10**4, 10**6, 10**8)] == [10, 1000, 2000, 10_000]


def test_times_are_said_in_words():
    said = [format_seconds(s) for s in (0.4, 59.0, 100.0, 4000.0, 200_000.0)]
    assert said == ["0 seconds", "59 seconds", "1.7 minutes", "1.1 hours", "2.3 days"]


def test_bytes_do_not_grow_with_items_that_are_read_in_passes():
    few, many = (
        SketchedRidge().cost(Size(items=n, row=1e4, piece=10**6, functions=500)).bytes
        for n in (10**5, 10**6)
    )
    assert many - few == 9 * 10**5 * 8 * 5  # targets and their products only
