"""Everything that can fail fails in turn: no crash, old files whole, no half file, and the next
run works.
"""

import contextlib
import errno
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from mercer import (
    LPSVC,
    SVC,
    GaussianProcess,
    KernelDiscriminant,
    KernelLogistic,
    KernelMeans,
    KernelPCA,
    KernelQuantile,
    KernelRidge,
    NuSVC,
    RBFNetwork,
    load,
    save,
)
from mercer.errors import MercerError, PlanError, SelectionWarning
from mercer.gram.buffers import BUFFERS
from mercer.kernels import Gaussian, Spectrum
from mercer.plans import Nystrom, Plan
from mercer.selection import GridSearchCV
from mercer.threads import using
from tests.faults.shim import allocations, file_operations

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="signals, limits and allocators of Linux"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning"),
]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(450, 3))
STRINGS = ["".join(RNG.choice(list("acgt"), 30)) for _ in range(450)]
Y, LABELS = np.sin(X).sum(axis=1), np.arange(450) % 2
MACHINES = {
    "ridge": (KernelRidge(Gaussian(1.0), 0.1), X, Y),
    "ridge by steps": (KernelRidge(Gaussian(1.0), 0.1, follow=Plan(solver="iterative")), X, Y),
    "ridge by a sketch": (
        KernelRidge(Gaussian(1.0), 0.1, follow=Plan(approximate=Nystrom(300))), X, Y,
    ),
    "process": (GaussianProcess(Gaussian(1.0), 0.1), X, Y),
    "support vectors": (SVC(Gaussian(1.0)), X, LABELS),
    "strings": (SVC(Spectrum(3)), STRINGS, LABELS),
    "logistic": (KernelLogistic(Gaussian(1.0), 0.1), X, LABELS),
    "components": (KernelPCA(Gaussian(1.0), 3, solver="dense"), X, None),
    "nu": (NuSVC(Gaussian(1.0), 0.3), X, X[:, 0] > 0),
    "quantile": (KernelQuantile(Gaussian(1.0)), X, Y),
    "discriminant": (KernelDiscriminant(Gaussian(1.0)), X, LABELS),
    "means": (KernelMeans(Gaussian(1.0), 3, random_state=0), X, None),
    "linear program": (LPSVC(Gaussian(1.0), C=0.1), X[:250], LABELS[:250]),
    "network": (RBFNetwork(Gaussian(1.0), "random", 120, random_state=0), X, Y),
    "search": (GridSearchCV(KernelRidge(Gaussian(1.0)), {"penalty": [0.1, 1.0]}, cv=3), X, Y),
    "search with refits": (GridSearchCV(SVC(Gaussian(1.0)), {"C": [1.0, 9.0]}, cv=3), X, LABELS),
}  # fmt: skip


def answers(machine, rows):
    with np.errstate(all="ignore"):
        answer = getattr(machine, "predict", None) or machine.transform
        return np.asarray(answer(rows[:20]))


@pytest.mark.parametrize("name", MACHINES)
def test_every_large_allocation_fails_in_turn(name, survived):
    machine, rows, target = MACHINES[name]
    tried = 0
    with using(1):  # the allocator is that of one thread
        expected = answers(machine.fit(rows, target), rows)
        BUFFERS._block = None  # memory that would be used again
        with allocations() as seen:
            machine.fit(rows, target)
        assert seen.count > 0
        for place in range(seen.count):
            BUFFERS._block = None
            try:
                with allocations(fails=place), warnings.catch_warnings():
                    warnings.simplefilter("ignore", SelectionWarning)  # of a fold that failed
                    machine.fit(rows, target)
            except (PlanError, MemoryError) as error:
                assert isinstance(error, PlanError), repr(error)
            # Whether it gave way or not, the machine is whole, and the next fit is as ever.
            np.testing.assert_allclose(answers(machine, rows), expected, atol=1e-8)
            tried += 1
        np.testing.assert_array_equal(answers(machine.fit(rows, target), rows), expected)
    survived(tried)


@pytest.mark.parametrize("name", ["ridge", "process", "support vectors", "components", "logistic"])
def test_every_large_allocation_of_an_answer_fails_in_turn(name, survived):
    machine, rows, target = MACHINES[name]
    many = [*rows] * 4 if isinstance(rows, list) else np.tile(rows, (400, 1))
    tried = 0
    with using(1):
        machine.fit(rows, target)
        answer = getattr(machine, "predict", None) or machine.transform
        with np.errstate(all="ignore"):
            expected = answer(many)
            with allocations() as seen:
                answer(many)
            assert seen.count > 0
            for place in range(seen.count):
                try:
                    with allocations(fails=place):
                        answer(many)
                except (PlanError, MemoryError) as error:
                    assert isinstance(error, PlanError), repr(error)
                np.testing.assert_array_equal(answer(many), expected)
                tried += 1
    survived(tried)


def test_every_file_operation_of_a_save_fails_in_turn(tmp_path, survived):
    old = KernelRidge(Gaussian(1.0), 0.1).fit(X[:50], Y[:50])
    new = KernelRidge(Gaussian(2.0), 0.1).fit(X[:80], Y[:80])
    path, tried = tmp_path / "m.mercer", 0
    for number in (errno.EIO, errno.ENOSPC, errno.EACCES):
        save(old, path)
        with file_operations(tmp_path) as seen:
            save(new, path)
        assert seen[0] >= 6
        for place in range(seen[0]):
            save(old, path)
            with file_operations(tmp_path, place, number):
                try:
                    save(new, path)
                    left = (new,)
                except (OSError, MercerError):
                    left = (old, new)
            found = load(path).predict(X[:5]).tolist()
            assert found in [machine.predict(X[:5]).tolist() for machine in left]
            save(new, path)  # the next run works, and tidies up
            assert os.listdir(tmp_path) == ["m.mercer"]
            tried += 1
    survived(tried)


def test_every_file_operation_of_a_load_fails_in_turn(tmp_path, survived):
    path = tmp_path / "m.mercer"
    save(KernelRidge(Gaussian(1.0), 0.1).fit(X[:50], Y[:50]), path)
    with file_operations(tmp_path) as seen:
        expected = load(path).predict(X[:5])
    for place in range(seen[0]):
        with file_operations(tmp_path, place), contextlib.suppress(OSError, MercerError):
            load(path)
        np.testing.assert_array_equal(load(path).predict(X[:5]), expected)
    survived(seen[0])


def small_study():
    import pandas as pd

    from mercer.studies import study

    rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    return study(rows, "animal", machine="prototype", budget=5)


def test_every_file_operation_of_a_report_fails_in_turn(tmp_path, survived):
    from mercer.report import write

    found, out = small_study(), tmp_path / "out"
    write(found, out)
    names = sorted(os.listdir(out))
    with file_operations(tmp_path) as seen:
        write(found, out)
    before = {name: (out / name).read_bytes() for name in names}
    step = max(seen[0] // 40, 1)
    places = range(0, seen[0], step)
    for place in places:
        with file_operations(tmp_path, place, errno.ENOSPC), contextlib.suppress(OSError):
            write(found, out)
        for name in names:  # all of them are whole, whether new or old
            assert len((out / name).read_bytes()) == len(before[name])
        write(found, out)
        assert sorted(os.listdir(out)) == names
    survived(len(places))


def child_of(work):
    """Start a process that does some work; a signal cannot reach it before or after that."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return child
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        work()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        code = 0
    except BaseException:
        pass
    finally:  # the child has inherited the tests, and must not go on with them
        os._exit(code)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["SIGKILL", "SIGINT"])
def test_a_signal_at_any_moment_of_fit_predict_and_write(number, tmp_path, survived):
    path, moments = tmp_path / "m.mercer", 200

    def work():
        machine = KernelRidge(Gaussian(1.0), 0.1).fit(X, Y)
        machine.predict(X)
        save(machine, path)

    start = time.perf_counter()
    os.waitpid(child_of(work), 0)
    usual = time.perf_counter() - start
    draw = random.Random(0)
    for _ in range(moments):
        child = child_of(work)
        time.sleep(draw.uniform(0, 1.2 * usual))
        os.kill(child, number)
        end = time.monotonic() + 30
        while not os.waitpid(child, os.WNOHANG)[0]:
            assert time.monotonic() < end, "it does not end"
            time.sleep(0.002)
        load(path)  # the old file or the new one
        left = [name for name in os.listdir(tmp_path) if name != "m.mercer"]
        assert number == signal.SIGKILL or not left
    work()
    assert os.listdir(tmp_path) == ["m.mercer"]
    survived(moments)


def test_two_processes_write_into_one_folder(tmp_path, survived):
    path = tmp_path / "m.mercer"
    machines = [KernelRidge(Gaussian(w), 0.1).fit(X[:60], Y[:60]) for w in (1.0, 2.0)]
    known = [machine.predict(X[:5]).tolist() for machine in machines]

    def write(machine):
        for _ in range(50):
            save(machine, path)

    save(machines[0], path)
    children = [child_of(lambda machine=machine: write(machine)) for machine in machines]
    reads = 0
    while children:
        assert load(path).predict(X[:5]).tolist() in known
        reads += 1
        for child in list(children):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                assert status == 0
                children.remove(child)
    assert os.listdir(tmp_path) == ["m.mercer"]
    survived(100)


def test_a_clock_that_jumps(monkeypatch, tmp_path, survived):
    draw, real = random.Random(0), time.time()

    def jumping():
        return real + draw.choice([-1e8, -3600.0, 0.0, 1.0, 1e6, 1e9])

    for name in ("time", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, jumping)
    monkeypatch.setattr("mercer.progress._clock", jumping)
    tried = 0
    for name, (machine, rows, target) in MACHINES.items():
        machine.fit(rows, target)
        save(getattr(machine, "best_estimator_", machine), tmp_path / f"{name}.mercer")
        tried += 1
    assert len(os.listdir(tmp_path)) == len(MACHINES)
    survived(tried)


def test_a_file_that_may_not_grow(tmp_path, survived):
    """As on a full disk: the system refuses to write beyond some size."""
    path = tmp_path / "m.mercer"
    old = KernelRidge(Gaussian(1.0), 0.1).fit(X[:20], Y[:20])
    new = KernelRidge(Gaussian(1.0), 0.1).fit(X, Y)
    save(new, path)
    size = path.stat().st_size
    save(old, path)
    limits = range(0, size, max(size // 20, 1))

    def work(limit):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with contextlib.suppress(OSError, MercerError):
            save(new, path)
            os._exit(3)

    for limit in limits:
        _, status = os.waitpid(child_of(lambda limit=limit: work(limit)), 0)
        assert os.waitstatus_to_exitcode(status) == 0
        np.testing.assert_array_equal(load(path).predict(X[:5]), old.predict(X[:5]))
        assert os.listdir(tmp_path) == ["m.mercer"]
    survived(len(limits))


SCRIPT = """
import numpy as np
{before}
from mercer import SVC, KernelRidge
from mercer.kernels import Gaussian, Spectrum
X = np.random.default_rng(0).normal(size=(60, 2))
SVC(Gaussian(1.0)).fit(X, X[:, 0] > 0).predict(X)
SVC(Spectrum(2)).fit(["abab", "baba", "cdcd"] * 5, [0, 0, 1] * 5).predict(["ab"])
print("works")
"""
NO_CACHE = """
import numba.core.caching as caching
def refuse(self):
    raise OSError(30, "Read-only file system")
for name in dir(caching):
    kind = getattr(caching, name)
    if isinstance(kind, type) and issubclass(kind, caching._CacheLocator):
        kind.ensure_cache_path = refuse
"""


@pytest.mark.parametrize("what", ["home", "cache"])
def test_a_home_and_a_cache_that_cannot_be_written(what, survived):
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    if what == "home":  # even root cannot write there
        environment |= {"HOME": "/proc/nowhere", "NUMBA_CACHE_DIR": "/proc/nowhere",
                        "XDG_CACHE_HOME": "/proc/nowhere",
                        "MPLCONFIGDIR": "/proc/nowhere"}  # fmt: skip
    code = SCRIPT.format(before=NO_CACHE if what == "cache" else "")
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment
    )
    assert ran.stdout.strip() == "works", ran.stderr
    survived(1)


def test_a_folder_that_cannot_be_written(survived):
    machine = KernelRidge(Gaussian(1.0), 0.1).fit(X[:20], Y[:20])
    for place in ("/proc/m.mercer", "/proc/nowhere/m.mercer", "/dev/full"):
        with pytest.raises((OSError, MercerError)):
            save(machine, place)
    assert not Path("/proc/m.mercer").exists() and Path("/dev/full").is_char_device()
    survived(3)


def test_a_worker_of_a_pool_that_dies(survived):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.apply_async(os._exit, (1,))
        assert pool.apply_async(len, ("ab",)).get(timeout=60) == 2
    assert KernelRidge(Gaussian(1.0), 0.1).fit(X[:20], Y[:20]).solution_.status == "solved"
    survived(1)
