"""Memory that the next matrix uses again."""

import threading

import numpy as np

from mercer import SVC
from mercer.gram import buffers as room
from mercer.gram.buffers import BufferPool


def test_a_block_is_lent_to_one_borrower_at_a_time():
    here = BufferPool()
    first = here.take((10, 10), np.float64)
    here.give(first)
    second, third = here.take((5, 5), np.float32), here.take((5, 5), np.float32)
    assert np.shares_memory(first, second) and not np.shares_memory(second, third)


def test_of_two_blocks_the_larger_is_kept():
    here = BufferPool()
    small, large = here.take((2,), np.float64), here.take((100,), np.float64)
    here.give(large)
    here.give(small)
    assert np.shares_memory(here.take((50,), np.float64), large)


def test_huge_blocks_go_back(monkeypatch):
    monkeypatch.setattr(room, "MAX_KEPT_BYTES", 1000)
    here = BufferPool()
    huge = here.take((1000,), np.float64)
    here.give(huge)
    assert not np.shares_memory(here.take((10,), np.float64), huge)


def test_two_fits_at_once_do_not_disturb_each_other():
    rng = np.random.default_rng(0)
    data = [(rng.normal(size=(2500, 5)), rng.integers(0, 3, 2500)) for _ in range(2)]
    alone = [SVC(C=2.0).fit(X, y).decision_function(X[:50]) for X, y in data]
    found = {}

    def fit(k):
        X, y = data[k]
        for _ in range(2):
            found[k] = SVC(C=2.0).fit(X, y).decision_function(X[:50])

    threads = [threading.Thread(target=fit, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(2):
        np.testing.assert_array_equal(found[k], alone[k])
