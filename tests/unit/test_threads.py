"""BLAS has as many threads after mercer's work as before, whoever asked for it."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from mercer import KernelRidge, threads
from mercer.kernels import Gaussian
from mercer.selection import GridSearchCV
from mercer.threads import in_threads, one_blas_thread


@pytest.fixture
def blas(use_cores):
    """BLAS with two threads for a while, and a function that says how many there are."""
    use_cores(2)
    libraries = threads._blas()

    def counts():
        return [library.num_threads for library in libraries]

    def change(numbers):
        # By the thread that mercer uses: OpenBLAS obeys only the first one.
        return threads._switch(os.getpid()).submit(threads._set, numbers).result()

    before = counts()
    if not libraries or not change([2] * len(libraries)):
        pytest.skip("no BLAS whose threads can be counted and set")
    yield counts
    change(before)


def test_there_is_one_thread_inside_and_all_are_back_afterwards(blas):
    several = blas()
    with one_blas_thread:
        assert set(blas()) == {1}
        with one_blas_thread:
            assert set(blas()) == {1}
        assert set(blas()) == {1}
    assert blas() == several


def test_scipys_own_blas_is_among_them():
    """It may be loaded later than NumPy's, and must not have been missed then."""
    code = """
from mercer.threads import one_blas_thread
with one_blas_thread:
    import scipy.linalg
    from threadpoolctl import threadpool_info
    print({one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"})
"""
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert run.stdout.decode().strip() in ("{1}", "set()"), run.stderr.decode()


def test_they_come_back_when_another_thread_is_the_last_one_out(blas):
    several, inside, go = blas(), threading.Event(), threading.Event()

    def linger():
        with one_blas_thread:
            inside.set()
            go.wait(5)

    with one_blas_thread:
        other = threading.Thread(target=linger)
        other.start()
        inside.wait(5)
    assert set(blas()) == {1}
    go.set()
    other.join()
    assert blas() == several


def test_they_come_back_after_an_error_in_a_thread(blas):
    several = blas()

    def fail(job):
        raise ZeroDivisionError(job)

    with pytest.raises(ZeroDivisionError):
        in_threads(fail, range(4))
    assert blas() == several


def test_they_come_back_after_searches_on_several_threads(blas):
    several = blas()
    X = np.random.default_rng(0).normal(size=(60, 3))
    grid = {"penalty": [0.1, 1.0], "kernel__bandwidth": [1.0, 2.0]}

    def one(_):
        return GridSearchCV(KernelRidge(Gaussian()), grid).fit(X, X[:, 0]).best_score_

    with ThreadPoolExecutor(3) as pool:
        scores = list(pool.map(one, range(6)))
    assert len(set(scores)) == 1
    assert blas() == several


def test_jobs_that_make_jobs():
    done = []

    def halve(n: int) -> list[partial]:
        done.append(n)
        return [partial(halve, n // 2)] * 2 if n > 1 else []

    threads.run_jobs([partial(halve, 8), partial(halve, 4)])
    assert sorted(done, reverse=True) == [8] + [4] * 3 + [2] * 6 + [1] * 12


def test_a_job_that_fails_stops_the_others():
    def work(n: int) -> list[partial]:
        if n == 3:
            raise RuntimeError("three")
        return [partial(work, n + 1)]  # for ever, if nobody stops it

    with pytest.raises(RuntimeError, match="three"):
        threads.run_jobs([partial(work, 0)])


def test_jobs_inside_a_job_are_done_too():
    done: list[tuple[int, int]] = []
    threads.in_threads(
        lambda k: threads.run_jobs([partial(done.append, (k, j)) for j in range(3)]), range(4)
    )
    assert sorted(done) == [(k, j) for k in range(4) for j in range(3)]


@pytest.mark.parametrize("calls", [1, 2], ids=["entering", "leaving"])
def test_they_come_back_after_an_interrupt(blas, monkeypatch, calls):
    """While the number of threads is being changed, which takes a moment."""
    several, change, left = blas(), threads.OneBlasThread._change, [calls]

    def interrupted(self, counts):
        left[0] -= 1
        if left[0] == 0:
            if calls == 1:
                change(self, counts)
            raise KeyboardInterrupt
        return change(self, counts)

    monkeypatch.setattr(threads.OneBlasThread, "_change", interrupted)
    with pytest.raises(KeyboardInterrupt), one_blas_thread:
        pass
    assert blas() == several
    with one_blas_thread:
        assert set(blas()) == {1}
    assert blas() == several
