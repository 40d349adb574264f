"""Reading on workers: again where that may help, and never other rows than before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.cluster import reading
from mercer.cluster.account import WorkerShare
from mercer.cluster.reading import Checksum, ReadingTask
from mercer.domains import STRINGS, VECTORS, Chunk
from mercer.domains.parts import NumberedPart
from mercer.errors import DomainError


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(reading, "PAUSE_SECONDS", 0.0)


class Flaky:
    """A function of a number that fails so many times first."""

    def __init__(self, failures, error):
        self.left, self.error = failures, error

    def __call__(self, number):
        if self.left:
            self.left -= 1
            raise self.error
        return np.full((2, 1), float(number))


def task(function, **given):
    return ReadingTask(NumberedPart(function, 7), VECTORS, 7, 0, "X", attempts=3, **given)


def checksum(X, y=None, w=None, domain=VECTORS):
    return Checksum.of(Chunk(0, 0, domain.admit(X), y, w))


def test_a_read_that_fails_is_tried_again():
    share = WorkerShare()
    found = task(Flaky(2, OSError("the disk is gone"))).read(share)
    assert found.points.array.tolist() == [[7.0], [7.0]] and share.rows == 2


def test_after_the_last_attempt_the_failure_comes_through():
    with pytest.raises(OSError, match="the disk is gone"):
        task(Flaky(3, OSError("the disk is gone"))).read(WorkerShare())


def test_an_error_of_the_data_is_not_tried_again():
    flaky = Flaky(1, DomainError("no such column"))
    with pytest.raises(DomainError, match="chunk 7: no such column"):
        task(flaky).read(WorkerShare())
    assert flaky.left == 0


def test_a_failure_inside_of_an_error_of_the_data_is_tried_again():
    error = DomainError("x.parquet cannot be read")
    error.__cause__ = TimeoutError()
    assert task(Flaky(1, error)).read(WorkerShare()) is not None


def test_rows_that_changed_are_refused_by_count_rows_targets_and_weights():
    X, y, w = np.arange(4.0)[:, None], np.arange(4.0), np.ones(4)
    first = checksum(X, y, w)
    checksum(X.copy(), y.copy(), w.copy()).require(first)
    with pytest.raises(DomainError, match="there are 3 rows, and 4 in the first pass"):
        checksum(X[:3], y[:3], w[:3]).require(first)
    with pytest.raises(DomainError, match="the rows are not what they were"):
        checksum(X[[1, 0, 2, 3]], y, w).require(first)
    for targets, weights in ((y[::-1], w), (y, 2 * w)):
        with pytest.raises(DomainError, match="targets or weights are not what they were"):
            checksum(X, targets, weights).require(first)


@pytest.mark.parametrize(
    "change",
    [
        lambda: (STRINGS, ["ab", "c"], ["a", "bc"]),
        lambda: (VECTORS, sparse.eye_array(3).tocsr(), 2 * sparse.eye_array(3).tocsr()),
        lambda: (VECTORS, np.zeros((2, 1)), np.array([[0.0], [5e-324]])),
    ],
)
def test_checksums_see_small_changes_of_all_kinds_of_rows(change):
    domain, before, after = change()
    assert checksum(before, domain=domain) == checksum(before, domain=domain)
    assert checksum(before, domain=domain) != checksum(after, domain=domain)


def test_labels_are_told_apart():
    X = np.zeros((2, 1))
    a, b = (checksum(X, np.array(labels, object)) for labels in (["ab", "c"], ["a", "bc"]))
    assert a != b


def test_a_later_pass_holds_rows_against_the_first():
    X = np.full((2, 1), 7.0)
    known = checksum(X)
    good = task(Flaky(0, None), checksum=known)
    assert good.read(WorkerShare()) is not None
    with pytest.raises(DomainError, match="chunk 7: the rows are not what they were"):
        replace(good, part=NumberedPart(Flaky(0, None), 8)).read(WorkerShare())
    empty = replace(good, part=NumberedPart(lambda number: np.empty((0, 1)), 7))
    with pytest.raises(DomainError, match="there are 0 rows, and 2 in the first pass"):
        empty.read(WorkerShare())


def test_a_table_is_known_by_its_columns():
    from mercer.kernels import Categorical, Gaussian

    domain = (Gaussian(1.0).on("a") * Categorical().on("b")).domain
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    other = frame.assign(b=["x", "z"])
    assert checksum(frame, domain=domain) == checksum(frame.copy(), domain=domain)
    assert checksum(frame, domain=domain) != checksum(other, domain=domain)
