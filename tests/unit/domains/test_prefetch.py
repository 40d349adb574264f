"""Reading ahead: in order, one at a time, and no thread is left."""

import threading
import time

import numpy as np
import pytest

from mercer.domains.prefetch import prefetch


def threads():
    return [t for t in threading.enumerate() if t.name == "mercer-prefetch"]


def test_everything_comes_in_order():
    assert list(prefetch(iter(range(50)))) == list(range(50))
    assert list(prefetch(iter(()))) == []
    assert list(prefetch(iter([None, None]))) == [None, None]
    assert threads() == []


def test_one_thing_is_prepared_and_no_more():
    made = []

    def things():
        for i in range(10):
            made.append(i)
            yield i

    ahead = prefetch(things())
    assert made == []
    for i in range(5):
        assert next(ahead) == i
        limit = time.monotonic() + 5
        while len(made) < i + 2 and time.monotonic() < limit:
            time.sleep(0.001)
        time.sleep(0.01)  # time enough to take one more, if it would
        assert made == list(range(i + 2))
    ahead.close()


def test_preparing_and_using_go_on_at_the_same_time():
    used, prepared = threading.Event(), threading.Event()

    def things():
        yield 0
        assert used.wait(5)  # the first thing is being used now
        prepared.set()
        yield 1

    for thing in prefetch(things()):
        if thing == 0:
            used.set()
            assert prepared.wait(5)


def test_an_error_comes_where_the_thing_would_have():
    def things():
        yield 1
        raise KeyError("two")

    ahead = prefetch(things())
    assert next(ahead) == 1
    with pytest.raises(KeyError, match="two"):
        next(ahead)
    assert threads() == []
    assert list(ahead) == []


def test_whoever_stops_early_leaves_no_thread():
    closed = []

    def things():
        try:
            yield from range(1000)
        finally:
            closed.append(threading.current_thread().name)

    for thing in prefetch(things()):
        if thing == 3:
            break
    assert threads() == []
    assert closed == ["mercer-prefetch"]  # in the thread that ran it


def test_what_was_never_asked_for_never_starts():
    prefetch(iter([1])).close()
    assert threads() == []


def test_settings_of_numpy_go_along():
    def things():
        yield np.float64(1.0) / np.zeros(1)

    with np.errstate(divide="ignore"):
        assert np.isinf(next(prefetch(things())))
