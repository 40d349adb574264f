"""First uses after an installation: how long they take, and how much of that is compiling.

Each runs in a process of its own, whose cache of compiled loops is empty. Of a fit the time is
that of the call; of the demo (`mercer fit` without data) that of the whole command, on one BLAS
thread as in `make demo`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mercer.bench.measure import Row, at_least, at_most

BARS = {"SVC": 4.0, "KernelRidge": 1.0, "demo": 25.0}  # seconds
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    table = []
    for name, (about, _) in USES.items():
        found = measured(name)
        bar = BARS.get(name)
        table.append(
            Row(
                f"{about}: compiling {found['compiling']:.1f} s of {found['functions']} functions",
                f"{found['seconds']:.2f} s",
                "",
                found["seconds"],
                None if bar is None else at_most(bar, "{:.1f} s"),
            )
        )
    tried = found["answer"]
    table.append(Row("  machines that it tried", "", "", tried, at_least(1.0, "{:.0%}")))
    return table


def measured(name: str) -> dict[str, Any]:
    """Return seconds, those of the compiler, and functions, of a first use in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / "cache")}
        environment |= ONE_THREAD if name == "demo" else {}
        begin = time.perf_counter()
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks.cold", name, folder],
            env=environment, check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
        if name == "demo":
            found["seconds"] = time.perf_counter() - begin
    return found


def main(name: str, folder: str) -> None:
    """Use something for the first time in this process, and print what it took."""
    from numba.core.event import RecordingListener, TimingListener, install_listener

    use = USES[name][1](folder)
    timer, recorder = TimingListener(), RecordingListener()
    with install_listener("numba:compile", timer), install_listener("numba:compile", recorder):
        begin = time.perf_counter()
        answer = use()
        seconds = time.perf_counter() - begin
    found = {
        "seconds": seconds,
        "compiling": timer.duration if timer.done else 0.0,
        "functions": sum(event.is_start for _, event in recorder.buffer),
        "answer": answer,
    }
    print(f"\n{json.dumps(found)}")


def _svc(folder: str) -> Callable[[], Any]:
    from mercer import SVC

    X = np.random.default_rng(0).normal(size=(1000, 10))
    y = X[:, 0] * X[:, 1] > 0
    return lambda: SVC("gaussian").fit(X, y) and None


def _ridge(n: int, folder: str) -> Callable[[], Any]:
    from mercer import KernelRidge

    X = np.random.default_rng(0).normal(size=(n, 10))
    return lambda: KernelRidge("gaussian", 0.1).fit(X, np.sin(X[:, 0])) and None


def _spectrum(folder: str) -> Callable[[], Any]:
    from mercer.kernels import Spectrum

    words = ["".join(word) for word in np.random.default_rng(0).choice(list("ACGT"), (200, 50))]
    return lambda: Spectrum(3)(words) is None


def _weisfeiler_lehman(folder: str) -> Callable[[], Any]:
    from mercer.domains import Graph
    from mercer.kernels import WeisfeilerLehman

    rng = np.random.default_rng(0)
    pairs = [np.argwhere(np.triu(rng.random((10, 10)) < 0.3, 1)) for _ in range(100)]
    graphs = [Graph(edges, nodes=10) for edges in pairs]
    return lambda: WeisfeilerLehman(3)(graphs) is None


def _demo(folder: str) -> Callable[[], Any]:
    from mercer.cli import app

    def use() -> float:
        app(["fit", "--out", f"{folder}/demo"], prog_name="mercer", standalone_mode=False)
        found = json.loads(Path(folder, "demo", "metrics.json").read_text())
        return float(np.mean([not attempt["note"] for attempt in found["attempts"]]))

    return use


USES: dict[str, tuple[str, Callable[[str], Callable[[], Any]]]] = {
    "SVC": ("SVC.fit, n=1000", _svc),
    "KernelRidge": ("KernelRidge.fit, n=1000", lambda folder: _ridge(1000, folder)),
    "KernelRidge of many": ("KernelRidge.fit, n=20000", lambda folder: _ridge(20_000, folder)),
    "Spectrum": ("Spectrum, 200 strings", _spectrum),
    "WeisfeilerLehman": ("WeisfeilerLehman, 100 graphs", _weisfeiler_lehman),
    "demo": ("demo, mercer fit on the digits", _demo),
}


if __name__ == "__main__":
    main(*sys.argv[1:])
