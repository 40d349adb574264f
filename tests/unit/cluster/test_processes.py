"""Real workers: processes that are started, killed, stopped, joined and misfitted.

A cluster takes seconds to start, so these tests share some. What they kill is theirs alone: the
process ids come from the workers themselves.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")

from mercer import KernelRidge, Nystrom, Plan, Stream  # noqa: E402
from mercer.cluster import Cluster, connection  # noqa: E402
from mercer.errors import ClusterError, DomainError, PlanError  # noqa: E402
from mercer.kernels import Gaussian  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    # Connections of Dask that were open when their worker was killed are closed by the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

N, CENTERS, ROWS = 12_000, 40, 400
SMALL = Plan(approximate=Nystrom(CENTERS))


def slowly(seconds):
    """Return a function of a chunk's number that takes a while, and the rows of all chunks."""

    def chunk(number):
        import time

        import numpy as np

        time.sleep(seconds)
        X = np.random.default_rng(number).normal(size=(400, 3))
        return X, np.sin(X[:, 0])

    return chunk


def machine():
    return KernelRidge(Gaussian(1.5), 1e-2, follow=SMALL)


def expected(seconds=0.0):
    return machine().fit(Stream.numbered(slowly(0.0), N // ROWS)).dual_coef_


@pytest.fixture(scope="module")
def cluster():
    with Cluster("local:3") as started:
        yield started


def pids(cluster):
    return list(cluster.scheduler.client.run(os.getpid).values())


@contextmanager
def meanwhile(work):
    """Do something in a thread beside a fit."""
    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()


def test_worker_processes_give_the_bits_of_one_computer(cluster):
    with Cluster(cluster.scheduler.client) as same:
        found = machine().fit(Stream.numbered(slowly(0.0), N // ROWS)).dual_coef_
    assert np.array_equal(found, expected())
    assert len(same.account.workers) == 3
    assert sum(share.rows for share in same.account.workers.values()) >= 3 * N


def test_two_of_three_workers_killed_change_no_bit(cluster):
    killed = []

    def kill():
        time.sleep(0.6)
        for pid in pids(cluster)[:2]:
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
            time.sleep(0.4)

    stream = Stream.numbered(slowly(0.05), N // ROWS)
    with Cluster(cluster.scheduler.client) as same, meanwhile(kill):
        found = machine().fit(stream)
    assert np.array_equal(found.dual_coef_, expected())
    assert found.solution_.certificate < 1e-7
    assert len(killed) == 2 and same.account.workers


def test_workers_may_join_and_leave(cluster):
    started = cluster.scheduler.client.mercer_started

    def come_and_go():
        started.scale(4)
        time.sleep(1.5)
        started.scale(2)
        time.sleep(1.0)
        started.scale(3)

    with Cluster(cluster.scheduler.client), meanwhile(come_and_go):
        found = machine().fit(Stream.numbered(slowly(0.05), N // ROWS)).dual_coef_
    assert np.array_equal(found, expected())


def test_a_stopped_worker_is_not_waited_for(cluster):
    stopped = []

    def stop():
        time.sleep(0.5)
        stopped.append(pids(cluster)[0])
        os.kill(stopped[0], signal.SIGSTOP)

    begin = time.monotonic()
    try:
        with Cluster(cluster.scheduler.client, patience=60.0) as same, meanwhile(stop):
            stream = Stream.numbered(slowly(0.1), 40)
            found = same.map([_task(part) for part in stream.parts()], "slow")
    finally:
        os.kill(stopped[0], signal.SIGCONT)
    assert len(found) == 40 and same.account.twice >= 1
    assert time.monotonic() - begin < 30


def _task(part):
    from mercer.cluster.passes import Task

    return Task(_length, (part,), part.title)


def _length(part):
    from mercer.cluster.account import at_work, here

    with at_work(part.title) as share:
        return len(part.read()[0]), {here(): share}


def test_a_file_that_only_the_client_sees_is_named(cluster, tmp_path):
    X = np.random.default_rng(0).normal(size=(1000, 3))
    np.save(tmp_path / "X.npy", X)
    stream = Stream.rows(np.load(tmp_path / "X.npy", mmap_mode="r"), X[:, 0], size=100)
    tasks = [_task(part) for part in stream.parts()]
    (tmp_path / "X.npy").unlink()
    with (
        Cluster(cluster.scheduler.client) as same,
        pytest.raises(DomainError, match=r"there is no file .*X\.npy.*worker tcp://"),
    ):
        same.map(tasks, "lengths")


CLIENT = """
import sys
import numpy as np
from mercer import KernelRidge, Nystrom, Plan, Stream
from mercer.cluster import Cluster
from mercer.kernels import Gaussian

folder, address = sys.argv[1:]
X = np.load(folder + "/X.npy", mmap_mode="r")
y = np.load(folder + "/y.npy", mmap_mode="r")
machine = KernelRidge(Gaussian(1.5), 1e-2, follow=Plan(approximate=Nystrom(40)))
with Cluster(address, checkpoint=folder + "/notes") as cluster:
    machine.fit(Stream.rows(X, y, size=2000))
np.save(folder + "/found.npy", machine.dual_coef_)
print(cluster.account.passes, cluster.account.recalled)
"""


def test_a_killed_client_is_resumed_where_it_was(cluster, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 3))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", np.sin(X[:, 0]))
    (tmp_path / "client.py").write_text(CLIENT)
    address = cluster.scheduler.client.scheduler.address
    command = [sys.executable, str(tmp_path / "client.py"), str(tmp_path), address]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    notes = tmp_path / "notes"
    end = time.monotonic() + 240
    while time.monotonic() < end and (not notes.is_dir() or len(list(notes.glob("*.npz"))) < 2):
        time.sleep(0.002)
    first.kill()
    first.wait(10)
    second = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    passes, recalled = map(int, second.stdout.split())
    assert recalled >= 2 and passes >= 3
    stream = Stream.rows(X, np.sin(X[:, 0]), size=2000)
    assert np.array_equal(np.load(tmp_path / "found.npy"), machine().fit(stream).dual_coef_)


# ---- what is refused ----------------------------------------------------------------------------

ODD_WORKER = """
import asyncio, sys
{before}
from distributed import Worker

async def main():
    async with Worker(sys.argv[1], nthreads=1) as worker:
        await worker.finished()

asyncio.run(main())
"""
WITHOUT = """
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "mercer":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""
OLDER = """
import mercer
mercer.__version__ = "0.0.1"
"""


@pytest.fixture(scope="module")
def lonely():
    """A scheduler without any worker of its own."""
    with (
        distributed.LocalCluster(
            n_workers=0,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
            silence_logs=50,
            processes=True,
        ) as started,
        distributed.Client(started, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def odd_worker(client, before):
    code = ODD_WORKER.format(before=textwrap.dedent(before))
    process = subprocess.Popen(
        [sys.executable, "-c", code, client.scheduler.address],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        client.wait_for_workers(1, timeout=120)
        yield
    finally:
        process.kill()
        process.wait(10)
        end = time.monotonic() + 30
        while client.scheduler_info(n_workers=-1)["workers"] and time.monotonic() < end:
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (WITHOUT, r"worker tcp://\S+ cannot import mercer.*install"),
        (OLDER, r"worker tcp://\S+ has mercer 0\.0\.1, and this computer"),
    ],
)
def test_workers_that_do_not_fit_are_named_before_any_work(lonely, before, message):
    with odd_worker(lonely, before), pytest.raises(ClusterError, match=message):
        Cluster(lonely)


def test_a_worker_without_mercer_that_joins_later_is_named(lonely):
    with (
        Cluster(lonely, patience=30.0),
        odd_worker(lonely, WITHOUT),
        pytest.raises(ClusterError, match=r"worker tcp://\S+ cannot import mercer"),
    ):
        machine().fit(Stream.numbered(slowly(0.0), 4))


def test_a_cluster_without_workers_is_not_waited_for_forever(lonely):
    begin = time.monotonic()
    with (
        Cluster(lonely, patience=1.0),
        pytest.raises(ClusterError, match=r"the cluster has 0 workers"),
    ):
        machine().fit(Stream.numbered(slowly(0.0), 4))
    assert time.monotonic() - begin < 60


def test_a_scheduler_that_is_not_there(monkeypatch):
    monkeypatch.setattr("mercer.cluster.cluster.CONNECT_SECONDS", 1.0)
    begin = time.monotonic()
    with pytest.raises(ClusterError, match=r"no scheduler answers at 'tcp://127.0.0.1:9'"):
        Cluster("tcp://127.0.0.1:9")
    assert time.monotonic() - begin < 15


def test_a_scheduler_that_goes_is_noticed():
    started = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1",
        silence_logs=50,
    )  # fmt: skip
    client = distributed.Client(started, set_as_default=False)

    def end():
        time.sleep(1.0)
        started.close(timeout=10)

    with (
        Cluster(client, patience=30.0),
        meanwhile(end),
        pytest.raises(ClusterError, match=r"scheduler|nothing has ended"),
    ):
        machine().fit(Stream.numbered(slowly(0.1), N // ROWS))
    client.close(timeout=5)


@pytest.mark.parametrize("address", ["local:", "local:0", "local:many"])
def test_a_number_of_processes_that_is_none(address):
    with pytest.raises(ClusterError, match="expected local:N"):
        Cluster(address)


def test_no_client_and_no_address():
    with pytest.raises(ClusterError, match="there is no Client of Dask"):
        Cluster()


def test_dask_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(PlanError, match=r"pip install 'mercer\[cluster\]'"):
        connection.load_distributed()
