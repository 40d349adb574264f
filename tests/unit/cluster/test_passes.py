"""Passes: whatever happens to workers, the sums are those of one computer, to the last bit."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.cluster import InProcess, passes, run_all, run_sum
from mercer.cluster.account import ClusterAccount, WorkerShare
from mercer.cluster.passes import Task
from mercer.errors import ClusterError, DomainError
from mercer.gram.cluster_sketch import _combined
from mercer.gram.fold import FAN, Fold

PATIENCE = 5.0


class Mortal(InProcess):
    """Workers that die: a ticket is lost in the place of being done, as draws say."""

    def __init__(self, draws, most=4):
        super().__init__()
        self.draws, self.most, self.lost = iter(draws), most, {}

    def state(self, ticket):
        if ticket.state == "done" and not hasattr(ticket, "judged"):
            ticket.judged = next(self.draws, False)
            if ticket.judged:
                ticket.state, ticket.error = "lost", ClusterError("its worker was killed")
        return ticket.state


class Stuck(InProcess):
    """Two workers, of which one never ends its first task."""

    def __init__(self, which):
        super().__init__()
        self.which, self.avoided, self.numbers = which, [], itertools.count()

    def submit(self, function, *given, name, avoid=()):
        self.avoided.append(tuple(avoid))
        ticket = super().submit(function, *given, name=name)
        ticket.number = next(self.numbers)
        return ticket

    def wait(self, tickets, seconds):
        ready = [one for one in tickets if one.number != self.which]
        if ready:
            super().wait(ready, seconds)
        else:
            time.sleep(0.01)

    def workers(self):
        return {"slow": 1, "fast": 1}

    def working_on(self, ticket):
        return ["slow"]


def part(number):
    rng = np.random.default_rng(number)
    share = WorkerShare(tasks=1, rows=1)
    return [rng.normal(size=3) * 10.0 ** rng.integers(-8, 8)], {"here": share}


def tasks(count):
    return [Task(part, (number,), f"task {number}") for number in range(count)]


def folded(count):
    fold = Fold()
    for number in range(count):
        fold.add(part(number)[0])
    return fold.total()[0]


def summed(scheduler, count, account=None, patience=PATIENCE):
    found = run_sum(
        scheduler, account or ClusterAccount(), tasks(count), patience, "test", _combined, FAN
    )
    return found[0]


@pytest.mark.parametrize("count", [1, 2, FAN, FAN + 1, FAN**2, FAN**2 + FAN + 3])
def test_sums_up_a_tree_have_the_bits_of_a_fold(count):
    account = ClusterAccount()
    assert np.array_equal(summed(InProcess(), count, account), folded(count))
    assert account.workers["here"].tasks == count


@settings(max_examples=40)
@given(draws=st.lists(st.booleans(), max_size=150), count=st.integers(1, 80))
def test_whatever_tasks_and_sums_are_lost_the_bits_are_the_same(draws, count):
    # Of the same task at most every second try is lost, so that no limit is reached.
    alive = itertools.chain.from_iterable((lost, False, False, False) for lost in draws)
    account = ClusterAccount()
    assert np.array_equal(summed(Mortal(alive), count, account), folded(count))


def test_a_lost_task_is_handed_in_again_and_counted():
    account = ClusterAccount()
    found = run_all(Mortal([True, False, True]), account, tasks(4), PATIENCE, "test")
    assert account.again == 2
    assert all(np.array_equal(a[0], part(n)[0][0]) for n, a in enumerate(found))


def test_a_task_whose_workers_always_die_is_an_error_that_names_it():
    with pytest.raises(ClusterError, match=r"workers of task 0 were gone 5 times.*memory"):
        run_all(Mortal([True] * 99), ClusterAccount(), tasks(1), PATIENCE, "test")


@pytest.mark.parametrize("run", [run_all, summed])
def test_a_slow_task_is_computed_twice_elsewhere_and_the_first_answer_counts(run, monkeypatch):
    monkeypatch.setattr(passes, "MIN_SLOW_SECONDS", 0.05)
    scheduler, account = Stuck(which=2), ClusterAccount()
    if run is run_all:
        found = run_all(scheduler, account, tasks(6), PATIENCE, "test")
        assert np.array_equal(found[2][0], part(2)[0][0])
    else:
        assert np.array_equal(summed(scheduler, 6, account), folded(6))
    assert account.twice == 1 and ("slow",) in scheduler.avoided


def test_waiting_has_an_end_which_says_what_was_waited_for():
    class Dead(InProcess):
        def wait(self, tickets, seconds):
            time.sleep(0.01)

        def workers(self):
            return {}

    start = time.monotonic()
    with pytest.raises(ClusterError, match=r"nothing has ended.*task 0.*0 workers.*patience"):
        run_all(Dead(), ClusterAccount(), tasks(3), 0.1, "test")
    assert time.monotonic() - start < 2.0


def test_a_failure_comes_through_and_lets_go_of_everything():
    def refuse(number):
        raise DomainError(f"row {number} is not a number")

    scheduler = InProcess()
    some = [*tasks(3), Task(refuse, (3,), "task 3"), *tasks(3)]
    with pytest.raises(DomainError, match="row 3 is not a number"):
        run_all(scheduler, ClusterAccount(), some, PATIENCE, "test")
    assert scheduler.waiting == []


def test_a_worker_that_lacks_mercer_is_named():
    def missing():
        raise ModuleNotFoundError("No module named 'mercer.gram'", name="mercer.gram")

    with pytest.raises(ClusterError, match=r"here cannot import mercer\.gram: install"):
        run_all(InProcess(), ClusterAccount(), [Task(missing, (), "task")], PATIENCE, "test")


def test_shares_of_lost_tasks_are_not_counted():
    account = ClusterAccount()
    summed(Mortal([True]), 20, account)
    assert account.workers["here"].tasks == 20
