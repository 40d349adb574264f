"""Plans on a cluster: what they foresee, what they refuse, and exact answers in shared steps."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import KernelLogistic, KernelRidge, Nystrom, Plan, Stream
from mercer.cluster import Cluster, InProcess
from mercer.errors import ClusterError, PlanError
from mercer.gram.cluster_gram import ClusterGram
from mercer.gram.operator import Blocked, symmetric_product
from mercer.gram.single_precision import single_products
from mercer.kernels import Gaussian, Spectrum

K = Gaussian(1.3)


class Twenty(InProcess):
    """As many workers as there are tickets, but all of them are here."""

    def workers(self):
        return {f"worker{n}": 1 for n in range(20)}


class Small(InProcess):
    def memory(self):
        return 300_000_000


def data(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0])


def test_a_plan_says_tasks_bytes_and_seconds():
    X, y = data(8000)
    machine = KernelRidge(K, 1.0, follow=Plan(approximate=Nystrom(50)))
    with Cluster(Twenty()):
        plan = machine.plan(Stream.rows(X, y, size=500))
        logistic = KernelLogistic(K, follow=Plan(approximate=Nystrom(50)))
        steps = logistic.plan(Stream.rows(X, y > 0, size=500))
    assert plan.device == "cluster" and 16 * 3 <= plan.tasks <= 16 * 6
    assert plan.worker_bytes > 2e8 and plan.network > y.nbytes
    assert plan.seconds > 0 and steps.tasks > plan.tasks
    assert "on 20 workers: " in plan.explain() and "over the network" in plan.explain()


def test_a_plan_counts_the_tasks_of_a_fit():
    X, y = data(8000)
    machine = KernelRidge(K, 1.0, follow=Plan(approximate=Nystrom(20)))
    with Cluster(InProcess()) as cluster:
        machine.fit(Stream.rows(X, y, size=250))
    done = cluster.account.workers["here"].tasks  # without sums
    assert done <= machine.plan_.tasks <= 3 * done
    assert machine.plan_.network >= cluster.account.received


def test_chunks_that_a_worker_has_no_room_for_are_refused():
    X, y = data(40_000)
    machine = KernelRidge(K, 1.0, follow=Plan(approximate=Nystrom(1500)))
    with Cluster(Small()), pytest.raises(PlanError, match=r"a worker allows 300.0 MB"):
        machine.fit(Stream.rows(X, y, size=20_000))


def test_products_have_the_bits_of_one_computer():
    X, y = data(4500)
    points = K.admit(X)
    with Cluster(InProcess(travel=True)) as cluster:
        gram = ClusterGram(cluster, K, points)
        V = np.column_stack([y, y**2])
        assert np.array_equal(gram @ V, symmetric_product(K, points, V))
        rounded = single_products(gram)
        assert np.array_equal(rounded @ V, single_products(Blocked(K, points)) @ V)
    assert cluster.account.workers["here"].tasks == 16


def test_things_that_are_no_vectors_are_multiplied_in_rows():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abc"), 6)) for _ in range(2100)]
    k = Spectrum(2)
    points, v = k.admit(words), rng.normal(size=2100)
    with Cluster(InProcess(travel=True)) as cluster:
        found = ClusterGram(cluster, k, points) @ v
    np.testing.assert_allclose(found, symmetric_product(k, points, v), rtol=1e-13, atol=1e-11)
    assert cluster.account.workers["here"].tasks == 3


def test_an_exact_fit_by_steps_has_the_bits_of_one_computer():
    X, y = data(4500)
    plan = Plan(solver="iterative", device="cluster", rank=200)
    here = KernelRidge(K, 1.0, follow=Plan(solver="iterative", rank=200)).fit(X, y)
    with Cluster(Twenty()) as cluster:
        there = KernelRidge(K, 1.0, follow=plan).fit(X, y)
    assert there.plan_.device == "cluster" and cluster.account.passes > 3
    assert "products of the steps on 8 cores of 20 workers" in there.plan_.explain()
    assert np.array_equal(here.dual_coef_, there.dual_coef_)


def test_few_items_stay_here_unless_asked():
    X, y = data(300)
    with Cluster(Twenty()) as cluster:
        machine = KernelRidge(K, 1.0).fit(X, y)
    assert machine.plan_.device == "cpu" and not cluster.account.workers


def test_patience_is_that_of_all_workers():
    """What would be approximated here is exact where eight workers share the steps."""
    from mercer.plans.ridge import decide_ridge
    from mercer.solvers.cost import Size

    size = Size(items=200_000, row=24.0, tiles=10**7, condition=1e4)
    points = K.admit(data(100)[0])
    request = Plan(memory=10**11, patience=250.0)
    assert decide_ridge(request, K, points, size).sketched
    with Cluster(Twenty()):
        assert not decide_ridge(request, K, points, size).sketched


def test_asking_for_a_cluster_without_one_is_refused():
    X, y = data(300)
    with pytest.raises((ClusterError, PlanError), match=r"Client of Dask|pip install"):
        KernelRidge(K, 1.0, follow=Plan(device="cluster")).fit(X, y)
