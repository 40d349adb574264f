"""Fits on a cluster of processes on this computer: overhead, kills, a client that dies, searches.

``python -m benchmarks cluster:overhead,kills,client,search,simulation`` measures some of it.
MERCER_CLUSTER_ROWS says how many rows there are; by default two million. Starting processes is
not counted, neither Python's here nor the workers'; what kernels compile is compiled before.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cluster_simulation import Network, measured_lengths, simulated
from mercer import SVC, KernelRidge, Nystrom, Plan, Stream, sources
from mercer.bench.measure import Row, at_least, at_most, render
from mercer.cluster import Cluster, InProcess
from mercer.cluster.account import WorkerShare, at_work, here
from mercer.cluster.passes import Task
from mercer.kernels import Gaussian
from mercer.selection import GridSearchCV
from mercer.threads import cores

ROWS = int(os.environ.get("MERCER_CLUSTER_ROWS", "2000000"))
COLUMNS, CENTERS, CHUNK = 20, 1000, 100_000
SAME = at_most(1e-10, "{:.0e}")


def report(chosen: Sequence[str] = ()) -> str:
    """Return the tables of all parts, or of some."""
    parts: dict[str, Callable[[Path], str]] = {
        "overhead": lambda folder: render(overhead(folder)),
        "kills": lambda folder: render(kills(folder)),
        "client": lambda folder: render(client(folder)),
        "search": lambda folder: render(search()),
        "simulation": simulation,
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "rows.parquet", ROWS)
        found = []
        for part in chosen or parts:
            found.append(f"{part}\n{parts[part](folder)}")
            print(found[-1], file=sys.stderr, flush=True)
    return "\n\n".join(found)


def write_rows(path: Path, count: int) -> None:
    """Write rows and a target as Parquet, a piece at a time."""
    import pyarrow
    import pyarrow.parquet as parquet

    names, writer = [f"x{j}" for j in range(COLUMNS)], None
    for number, start in enumerate(range(0, count, CHUNK)):
        rng = np.random.default_rng(number)
        X = rng.normal(size=(min(CHUNK, count - start), COLUMNS))
        y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=len(X))
        table = pyarrow.table({**dict(zip(names, X.T, strict=True)), "y": y})
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def machine() -> KernelRidge:
    """Return what is fitted."""
    return KernelRidge(Gaussian(5.0), 1.0, follow=Plan(approximate=Nystrom(CENTERS)))


def rows(folder: Path) -> Stream:
    """Return the rows as a stream."""
    return sources.stream(folder / "rows.parquet", "y", rows=CHUNK)


def timed(fit: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of a call, and what it returns."""
    start = time.perf_counter()
    found = fit()
    spent = time.perf_counter() - start
    print(f"  {spent:.1f} s", file=sys.stderr, flush=True)
    return spent, found


def warm(slots: int) -> None:
    """Let every worker import and compile what it needs, and this process too."""
    few = Stream.numbered(_few, 8 * slots)
    KernelRidge(Gaussian(5.0), 1.0, follow=Plan(approximate=Nystrom(20))).fit(few)


def _few(number: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(number).normal(size=(500, COLUMNS))
    return X, X[:, 0]


def apart(found: np.ndarray, expected: np.ndarray) -> float:
    """Return how far coefficients are apart, relatively."""
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def overhead(folder: Path) -> list[Row]:
    """Compare one process on all cores with as many workers of one core each."""
    count = cores()
    warm(1)
    alone, expected = timed(lambda: machine().fit(rows(folder)))
    with Cluster(f"local:{count}") as cluster:
        warm(count)
        shared, found = timed(lambda: machine().fit(rows(folder)))
    peak = max(share.peak for share in cluster.account.workers.values())
    planned = found.plan_.worker_bytes
    return [
        Row(f"{ROWS} rows, {count} workers, seconds beside one process", f"{shared:.1f} s",
            f"{alone:.1f} s", shared / alone, at_most(1.25)),
        Row("coefficients, apart", "", "", apart(found.dual_coef_, expected.dual_coef_), SAME),
        Row("peak of a worker beside the plan's", f"{peak / 1e6:.0f} MB",
            f"{planned / 1e6:.0f} MB", peak / planned, at_most(1.3)),
        Row("tasks, sums among them, beside the plan's", "", f"{found.plan_.tasks}",
            cluster.account.passes * -(-ROWS // CHUNK) / found.plan_.tasks, None),
        Row("seconds beside the plan's", f"{shared:.1f} s", f"{found.plan_.seconds:.1f} s",
            shared / found.plan_.seconds, None),
    ]  # fmt: skip


def kills(folder: Path) -> list[Row]:
    """Kill two of four workers while they work."""
    with Cluster("local:4") as cluster:
        warm(4)
        calm, expected = timed(lambda: machine().fit(rows(folder)))
        pids = list(cluster.scheduler.client.run(os.getpid).values())

        def kill() -> None:
            for place, pid in zip((0.3, 0.6), pids[:2], strict=True):
                time.sleep(place * calm - (0.3 * calm if place > 0.3 else 0.0))
                os.kill(pid, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        hurt, found = timed(lambda: machine().fit(rows(folder)))
        thread.join()
    certificates = found.solution_.certificate, expected.solution_.certificate
    return [
        Row("two of four workers killed, seconds beside none", f"{hurt:.1f} s", f"{calm:.1f} s",
            hurt / calm, at_most(2.0)),
        Row("coefficients, apart", "", "", apart(found.dual_coef_, expected.dual_coef_), SAME),
        Row("certificates", *(f"{one:.2e}" for one in certificates),
            abs(certificates[0] - certificates[1]), at_most(0.0, "{:.0e}")),
    ]  # fmt: skip


CLIENT = """
import sys
import numpy as np
from pathlib import Path
from benchmarks.cluster import machine, rows
from mercer.cluster import Cluster

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with Cluster("local:2", checkpoint=folder / "notes") as cluster:
        found = machine().fit(rows(folder))
    np.save(folder / "found.npy", found.dual_coef_)
    print(cluster.account.passes, cluster.account.recalled)
"""


def client(folder: Path) -> list[Row]:
    """Kill the client in its second pass, and start it again."""
    script = folder / "client.py"
    script.write_text(CLIENT)
    command = [sys.executable, str(script), str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])}
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    notes = folder / "notes"
    while first.poll() is None and not (notes.is_dir() and any(notes.glob("*.npz"))):
        time.sleep(0.01)
    time.sleep(2.0)
    first.kill()
    first.wait()
    known = len(list(notes.glob("*.npz")))
    second = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    passes, recalled = map(int, second.stdout.split())
    with Cluster("local:2"):
        expected = machine().fit(rows(folder)).dual_coef_
    found = np.load(folder / "found.npy")
    return [
        Row("client killed: passes made twice, at most", f"{recalled} of {passes} recalled",
            f"{known} written", float(known - recalled + 1), at_most(1.0, "{:.0f}")),
        Row("coefficients, apart", "", "", apart(found, expected), SAME),
    ]  # fmt: skip


# ---- searches -----------------------------------------------------------------------------------


class Stopwatch(InProcess):
    """Measures each task."""

    def __init__(self) -> None:
        super().__init__()
        self.lengths: list[float] = []

    def run(self, ticket: Any, given: list[Any]) -> Any:
        start = time.perf_counter()
        found = super().run(ticket, given)
        if "candidates" in ticket.name:
            self.lengths.append(time.perf_counter() - start)
        return found


def search() -> list[Row]:
    """Time 50 candidates by 5 folds on four workers and on one.

    Where there are fewer than four cores, tasks sleep for as long as they took.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=len(X)) > 0
    grid = {"kernel": [Gaussian(w) for w in np.geomspace(1, 10, 10)], "C": [0.1, 0.3, 1, 3, 10]}
    fit = lambda: GridSearchCV(SVC(), grid, cv=5, refit=False).fit(X, y)  # noqa: E731
    many = cores() >= 4
    watch = Stopwatch()
    if not many:
        with Cluster(watch):
            fit()
    times = []
    for count in (1, 4):
        with Cluster(f"local:{count}") as cluster:
            cluster.map([_sleeping(0.0)] * 8 * count, "warm")
            tasks = [_sleeping(length) for length in watch.lengths]
            times.append(timed(fit if many else lambda c=cluster, t=tasks: c.map(t, "sleep"))[0])
    how = "real" if many else f"{len(watch.lengths)} sleeping tasks of measured length"
    return [
        Row(f"50 candidates x 5 folds, 4 workers ({how})", f"{times[1]:.2f} s",
            f"{times[0]:.2f} s", times[0] / times[1] / 4, at_least(0.8)),
    ]  # fmt: skip


def _sleeping(seconds: float) -> Task:
    return Task(_sleep, (seconds,), f"sleep of {seconds:.3f} s")


def _sleep(seconds: float) -> tuple[None, dict[str, WorkerShare]]:
    with at_work("sleep") as share:
        time.sleep(seconds)
    return None, {here(): share}


# ---- 200 workers --------------------------------------------------------------------------------


def simulation(folder: Path) -> str:
    """Return what 200 workers would take for a billion rows, with and without failures."""
    part = next(iter(rows(folder).parts()))
    lengths = measured_lengths(part, machine().kernel, CENTERS)
    lines = [f"measured on {CHUNK} rows of {COLUMNS} columns, {CENTERS} centers, one core:"]
    lines += [f"  {name}: {np.median(some):.2f} s" for name, some in lengths.items()]
    for rate in (0.0, 0.01, 1.0):
        found = simulated(lengths, 10**9, CHUNK, CENTERS, 200, rate, Network())
        lines.append(f"failures {rate:.0%} an hour: {found}")
    return "\n".join(lines)
