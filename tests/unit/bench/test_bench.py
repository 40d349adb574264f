"""Benchmarks that anyone can run: small here, so that what they compare is seen to be the same."""

import os

import numpy as np
import pytest

from mercer import errors
from mercer.bench import TASKS, comparisons, find, measure, selection
from mercer.bench.measure import Row, at_least, at_most, columns, faster, render, same


@pytest.fixture(autouse=True)
def hurried(monkeypatch, use_cores):
    """Time nothing twice, and do not rest in between."""
    monkeypatch.setattr(measure.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(selection, "REPEATS", 1)
    use_cores(1)  # no processes


def value(rows, words):
    return next(row.value for row in rows if words in row.task)


def test_the_gram_matrices_that_are_timed_are_the_same():
    assert value(comparisons.gram_rows(60), "largest difference") < 1e-12


def test_the_ridge_machines_that_are_timed_give_the_same_coefficients():
    assert value(comparisons.ridge_rows(60), "relative difference") < 1e-7


def test_the_support_vector_machines_that_are_timed_solve_the_same_problem():
    rows = comparisons.svm_rows(150)
    assert value(rows, "same predictions") > 0.99
    assert abs(value(rows, "objective missing")) < 1e-4


@pytest.mark.slow
def test_the_searches_that_are_timed_choose_the_same():
    rows = selection.rows(60)
    assert value(rows, "the same choice") == 1
    assert value(rows, "largest difference") < 1e-8


def test_every_benchmark_has_rows():
    assert list(TASKS) == list(comparisons.ROWS) == ["gram", "ridge", "svm", "selection"]


def test_a_benchmark_runs_by_name(monkeypatch):
    row = Row("one", "1 s", "2 s", 2.0, at_least(1.7))
    monkeypatch.setitem(comparisons.ROWS, "gram", lambda: [row])
    lines = find("gram").run().splitlines()
    assert lines[0].split() == ["task", "ours", "peer", "ratio"]
    assert lines[2].split() == ["one", "1", "s", "2", "s", "2.00x"]


def test_an_unknown_benchmark_is_refused_with_a_suggestion():
    with pytest.raises(errors.DomainError, match="did you mean 'ridge'"):
        find("rigde")


def test_bars_judge_and_are_left_out_where_nobody_asked_for_them():
    rows = [faster("quick", (1.0, 3.0), 2.5), same("equal", np.ones(2), np.ones(2))]
    assert [row.cells()[-1] for row in rows] == ["reached", "reached"]
    assert "reached" in render(rows) and "reached" not in render(rows, bars=False)
    assert at_most(1.0).verdict(float("nan")) == "falls short"


def test_vectors_of_other_lengths_are_not_compared():
    with pytest.raises(ValueError, match="expected shape"):
        same("lengths", np.ones(2), np.ones(3))


def test_words_stand_left_and_numbers_right():
    assert columns([("ab", "cd"), ("a", "1")]).splitlines() == ["ab  cd", "--  --", "a    1"]


def test_the_tasks_take_turns_and_the_best_time_counts(monkeypatch):
    order = []
    ticks = iter([0, 5, 10, 11, 20, 22, 30, 33])
    monkeypatch.setattr(measure.time, "perf_counter", lambda: next(ticks))
    works = {"a": lambda: order.append("a"), "b": lambda: order.append("b")}
    assert measure.taking_turns(works, repeats=2) == {"a": 2, "b": 1}
    assert order == ["a", "b", "a", "b"]


def test_a_fresh_process_is_another_one_and_tells_its_peak():
    found, peak = measure.in_fresh_process(os.getpid)
    assert found != os.getpid() and 1e7 < peak < 2e9
