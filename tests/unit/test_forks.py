"""Forks: a child process works, whatever the threads of its parent were doing."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from mercer import KernelRidge, threads
from mercer.forks import Lock, with_openmp
from mercer.kernels import Gaussian
from mercer.memory import available, supposing
from mercer.threads import one_blas_thread, using

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

X = np.random.default_rng(0).normal(size=(300, 3))


def answer():
    machine = KernelRidge(Gaussian(1.0), 0.1).fit(X, X[:, 0])
    return machine.predict(X[:3]).tolist()


def in_child(work, seconds=60):
    """Return whether work in a forked child ends well in time."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.005)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False


@pytest.fixture
def elsewhere():
    """Another thread that enters a context and stays there."""
    inside, go, others = threading.Event(), threading.Event(), []

    def enter(context):
        def stay():
            with context:
                inside.set()
                go.wait(30)

        others.append(threading.Thread(target=stay))
        others[-1].start()
        assert inside.wait(30)
        inside.clear()

    yield enter
    go.set()
    for other in others:
        other.join()


@pytest.fixture
def openmp():
    """Work of each kind that needs OpenMP, which has two threads for a while."""
    from threadpoolctl import threadpool_limits

    from mercer import RBFNetwork
    from mercer.cognition.choices.abstraction import _k_means
    from mercer.models import GaussianMixtureModel
    from mercer.studies.references import references
    from tests.unit.studies.test_references import folds, line

    some = folds(line(), "y")
    with threadpool_limits(2, user_api="openmp"):
        yield {
            "trees": lambda: [one.error for one in references(some, 0)],
            "centers": lambda: RBFNetwork(Gaussian(1.0), "kmeans", 5, random_state=0)
            .fit(X, X[:, 0]).predict(X[:3]),
            "mixture": lambda: GaussianMixtureModel(2, "diag").fit(X).means,
            "clusters": lambda: _k_means(X[:30], np.ones(30), 3),
        }  # fmt: skip


# Python warns of forks beside threads; that they are dangerous is what is tested here.
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
class TestForks:
    def test_a_lock_that_another_thread_holds_is_free_in_a_child(self, elsewhere):
        lock = Lock()
        elsewhere(lock)
        assert not lock.acquire(blocking=False)

        def take():
            assert lock.acquire(blocking=False)

        assert in_child(take)

    @pytest.mark.parametrize("name", ["lock of BLAS", "buffers", "compiler", "progress"])
    def test_a_child_fits_while_others_hold_the_locks_of_modules(self, name, elsewhere):
        from mercer.gram.buffers import BUFFERS
        from mercer.progress import _turn

        expected = answer()
        if name == "compiler":  # for this one a fork waits
            from mercer.compiled import _lock

            threading.Timer(0.2, lambda: None).start()
            with _lock:
                assert in_child(lambda: None)
            return
        elsewhere({"lock of BLAS": one_blas_thread._lock, "buffers": BUFFERS._lock,
                   "progress": _turn}[name])  # fmt: skip

        def fit():
            assert answer() == expected

        assert in_child(fit)

    def test_who_is_inside_is_counted_anew(self, elsewhere):
        elsewhere(one_blas_thread)

        def alone():
            assert one_blas_thread._inside == 0
            with one_blas_thread:
                assert one_blas_thread._inside == 1
            before = [library.num_threads for library in threads._blas()]
            assert before == one_blas_thread._before

        def inside():
            assert one_blas_thread._inside == 1

        assert in_child(alone)
        with one_blas_thread:
            assert one_blas_thread._inside == 2
            assert in_child(inside)

    def test_what_another_thread_supposed_for_a_while_ends_with_it(self, elsewhere):
        cores, free = threads.cores(), available()
        elsewhere(using(cores + 5))
        elsewhere(supposing(1234))

        def unsupposed():
            assert threads.cores() == cores and available() != 1234

        assert (threads.cores(), available()) == (cores + 5, 1234) and free != 1234
        assert in_child(unsupposed)
        with using(7):
            assert in_child(lambda: os._exit(threads.cores() != 7))

    def test_fits_in_two_threads_and_in_their_children(self):
        expected, stop = answer(), threading.Event()

        def keep_fitting():
            while not stop.is_set():
                answer()

        busy = [threading.Thread(target=keep_fitting) for _ in range(2)]
        for one in busy:
            one.start()

        def fit():
            assert answer() == expected

        try:
            assert all(in_child(fit) for _ in range(20))
        finally:
            stop.set()
            for one in busy:
                one.join()

    @pytest.mark.parametrize("what", ["trees", "centers", "mixture", "clusters"])
    def test_a_child_does_what_needs_openmp_after_its_parent_has(self, what, openmp):
        """GNU's OpenMP waits for ever for threads that only the parent has."""
        expected = openmp[what]()

        def again():
            np.testing.assert_allclose(openmp[what](), expected, rtol=1e-9)

        assert in_child(again, 30)

    def test_a_child_hears_what_openmp_work_complains_of(self):
        def fail():
            raise ValueError("of the work")

        def hear():
            with np.errstate(over="raise"):  # also what holds in this thread is known there
                assert with_openmp(np.geterr)["over"] == "raise"
            with pytest.raises(ValueError, match="of the work"):
                with_openmp(fail)

        hear()
        assert in_child(hear)

    @pytest.mark.slow
    def test_a_process_pool_of_forks(self):
        expected, stop = answer(), threading.Event()
        busy = threading.Thread(target=lambda: [answer() for _ in range(50)])
        busy.start()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = [pool.apply_async(answer) for _ in range(6)]
            assert all(one.get(timeout=60) == expected for one in found)
        stop.set()
        busy.join()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_begin_anew(method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply_async(len, ([1, 2],)).get(timeout=60) == 2
    code = f"""
import multiprocessing, numpy as np
from mercer import KernelRidge
def answer(seed):
    X = np.random.default_rng(seed).normal(size=(200, 3))
    return KernelRidge("gaussian", 0.1).fit(X, X[:, 0]).predict(X[:3]).tolist()
if __name__ == "__main__":
    here = answer(0)
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        assert pool.map(answer, [0, 0, 0]) == [here] * 3
    print("all the same")
"""
    ran = run_script(code)
    assert ran.stdout.strip() == "all the same", ran.stderr


@pytest.mark.slow
def test_joblib_with_processes_and_threads():
    code = """
import numpy as np
from joblib import Parallel, delayed
from mercer import KernelRidge
def answer(seed):
    X = np.random.default_rng(seed).normal(size=(200, 3))
    return KernelRidge("gaussian", 0.1).fit(X, X[:, 0]).predict(X[:3]).tolist()
if __name__ == "__main__":
    here = answer(0)
    for backend in ("loky", "threading", "multiprocessing"):
        assert Parallel(2, backend=backend)(delayed(answer)(0) for _ in range(4)) == [here] * 4
    print("all the same")
"""
    ran = run_script(code)
    assert ran.stdout.strip() == "all the same", ran.stderr


@pytest.mark.slow
def test_a_web_server_that_forks_its_workers():
    """The master has fitted and goes on fitting in a thread; workers refit and predict."""
    code = """
import http.server, os, signal, sys, threading, urllib.request
import numpy as np
from mercer import KernelRidge
X = np.random.default_rng(0).normal(size=(200, 3))
machine = KernelRidge("gaussian", 0.1).fit(X, X[:, 0])
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        again = KernelRidge("gaussian", 0.1).fit(X, X[:, 0])
        body = repr((machine.predict(X[:2]).tolist(), again.predict(X[:2]).tolist())).encode()
        self.send_response(200); self.end_headers(); self.wfile.write(body)
    def log_message(self, *words): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
stop = threading.Event()
def refresh():
    while not stop.is_set():
        KernelRidge("gaussian", 0.2).fit(X, X[:, 1])
busy = threading.Thread(target=refresh); busy.start()
workers = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        server.serve_forever(); os._exit(0)
    workers.append(child)
url = f"http://127.0.0.1:{server.server_port}"
expected = repr((machine.predict(X[:2]).tolist(),) * 2)
found = {urllib.request.urlopen(url, timeout=60).read().decode() for _ in range(12)}
stop.set(); busy.join()
for child in workers:
    os.kill(child, signal.SIGKILL); os.waitpid(child, 0)
assert found == {expected}, found
print("all the same")
"""
    ran = run_script(code)
    assert ran.stdout.strip() == "all the same", ran.stderr


STUDY = """
import http.server, multiprocessing, os, signal, threading, urllib.request
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from mercer.studies import study
def errors(_=0):
    rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 12, "animal": [*"ccdd"] * 12})
    with threadpool_limits(2, user_api="openmp"):  # else OpenMP has no threads to wait for
        found = study(rows, "animal", machine="prototype", budget=5)
    return [(one.name, one.error) for one in found.references]
"""
WAYS = {
    "fork": """
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = [pool.apply_async(errors) for _ in range(3)]
        assert [one.get(timeout=100) for one in found] == [here] * 3
""",
    "spawn": """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(errors).get(timeout=200) == here
""",
    "joblib": """
    for backend in ("loky", "threading", "multiprocessing"):
        found = Parallel(2, backend=backend)(delayed(errors)() for _ in range(2))
        assert found == [here] * 2, backend
""",
    "server": """
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = repr(errors()).encode()
            self.send_response(200); self.end_headers(); self.wfile.write(body)
        def log_message(self, *words): pass
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    workers = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            server.serve_forever(); os._exit(0)
        workers.append(child)
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        found = {urllib.request.urlopen(url, timeout=100).read().decode() for _ in range(3)}
    finally:
        for child in workers:
            os.kill(child, signal.SIGKILL); os.waitpid(child, 0)
    assert found == {repr(here)}, found
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_study_with_its_references_in_every_kind_of_worker(way):
    """The parent has grown trees with two threads of OpenMP before."""
    body = "    here = errors()\n    assert len(here) == 2" + WAYS[way]
    ran = run_script(f'{STUDY}if __name__ == "__main__":\n{body}    print("all the same")\n')
    assert ran.stdout.strip() == "all the same", ran.stderr


def run_script(code):
    # A file, because processes that begin anew import the module that they come from.
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "script.py")
        with open(path, "w") as file:
            file.write(code)
        return subprocess.run(
            [sys.executable, "-W", "ignore", path], capture_output=True, text=True, timeout=240
        )
