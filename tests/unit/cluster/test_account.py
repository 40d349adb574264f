"""Accounts say what ran where, and errors say where they happened."""

from __future__ import annotations

import pytest

from mercer.cluster.account import ClusterAccount, WorkerShare, at_work
from mercer.errors import DomainError


def test_an_account_in_words():
    account = ClusterAccount(passes=3, recalled=1, received=2_000_000)
    account.add({"tcp://a:1": WorkerShare(2, 100, 1.5, 0.5, 10**9)})
    account.add({"tcp://a:1": WorkerShare(1, 50, 0.5, 0.0, 2 * 10**9)})
    text = str(account)
    assert "3 passes over the rows, 1 of them from the checkpoint; 2.0 MB came back" in text
    assert "tcp://a:1: 3 tasks, 150 rows, 2.0 s (0.5 s reading), at most 2.0 GB" in text
    assert "twice" not in text
    account.twice, account.again = 1, 2
    assert "1 tasks computed twice because they were slow, 2 again" in str(account)


def test_work_is_counted():
    with at_work("rows 0 to 9") as share:
        share.rows += 10
    assert (share.tasks, share.rows) == (1, 10) and share.seconds > 0 and share.peak > 10**6


def test_errors_say_what_was_worked_on_and_where():
    with (
        pytest.raises(DomainError, match=r"NaN \(rows 0 to 9; worker here\)"),
        at_work("rows 0 to 9"),
    ):
        raise DomainError("NaN")
    with pytest.raises(KeyError) as caught, at_work("rows 0 to 9"):
        raise KeyError("a")
    assert caught.value.__notes__ == ["while mercer worked on rows 0 to 9 (worker here)"]
