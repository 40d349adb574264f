"""A service: single-row predictions a second over loopback, and what strange requests do to it.

A model of a table with numbers and a category, with 2000 support vectors, answers in a process of
its own. The asker, another process on the same cores, holds some connections, each with one
request of one row under way. Answers are compared with those of the model in Python. Then
schemathesis makes requests from the service's schema, right ones and wrong ones.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

from mercer.bench.measure import Row, at_least, at_most

ROWS, VECTORS, COLUMNS = 6000, 2000, 10
CONNECTIONS, SECONDS = 64, 10.0
CHECKED = 200  # answers that are compared
BAR = 2000.0  # predictions a second
# Wrong requests may be refused as too large (413) too, as some of those that it makes are.
SETTINGS = """
[checks]
negative_data_rejection.expected-statuses = [400, 413, 415, 422]
"""
EXAMPLES = 200  # requests of schemathesis at each address


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        known, vectors = _model(Path(folder) / "model.mercer")
        with _Server(Path(folder) / "model.mercer") as address:
            asked, expected = _questions(known)
            found = _ask(address, asked, 2.0)  # warm
            found = _ask(address, asked, SECONDS)
            wrong = sum(found["answers"][i] != expected[i] for i in found["answers"])
            alone = _ask(address, asked, 3.0, connections=1)
            complaints = _schemathesis(address, folder)
    about = f"{vectors} support vectors, {COLUMNS} columns"
    return [
        Row(f"{CONNECTIONS} connections, {about}", f"{1e3 * found['median']:.1f} ms median", "",
            found["rate"], at_least(BAR, "{:.0f}/s")),
        Row("  slowest in a hundred", f"{1e3 * found['slow']:.1f} ms", "", 1e3 * found["slow"],
            None),
        Row("  answers that differ from Python's", f"of {len(found['answers'])}", "",
            float(wrong), at_most(0.0, "{:.0f}")),
        Row("1 connection", f"{1e3 * alone['median']:.1f} ms median", "", alone["rate"], None),
        Row("schemathesis: complaints", f"{EXAMPLES} requests an address", "", complaints,
            at_most(0.0, "{:.0f}")),
    ]  # fmt: skip


def _model(path: Path) -> tuple[Any, int]:
    """Write a model with about as many support vectors as are asked for."""
    import pandas as pd
    from sklearn.pipeline import make_pipeline

    import mercer
    from mercer.kernels import Gaussian
    from mercer.sources import read_frame, recipe
    from mercer.sources.table_reader import with_reader
    from mercer.studies import open_model
    from mercer.studies.guard import Guard

    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS - 1))
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS - 1)])
    table["place"] = rng.choice(["north", "south", "east"], ROWS)
    noise = rng.normal(size=ROWS)
    table["kind"] = np.where(X[:, 0] * X[:, 1] + 0.5 * noise > 0, "yes", "no")
    best = None
    for count in (ROWS // 2, 3 * ROWS // 4, ROWS):  # until there are enough support vectors
        sheet = read_frame(table.head(count), "kind")
        machine = make_pipeline(mercer.Encode(), mercer.SVC(Gaussian(3.0), C=1.0))
        machine.fit(sheet.X, sheet.y)
        best = machine
        if len(machine[-1].support_) >= VECTORS:
            break
    assert best is not None
    seen = Guard.of(sheet, np.arange(0), np.zeros(0))
    notes = {"recipe": recipe(sheet), "seen": seen.notes()}
    mercer.save(with_reader(best, sheet), path, notes)
    return open_model(path), len(best[-1].support_)


def _questions(known: Any) -> tuple[list[bytes], list[str]]:
    """Return the bytes of some requests of one row, and the answers that Python gives."""
    import pandas as pd

    rng = np.random.default_rng(1)
    X = rng.normal(size=(CHECKED, COLUMNS - 1))
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS - 1)])
    table["place"] = rng.choice(["north", "south", "east"], CHECKED)
    asked = []
    for row in table.to_dict("records"):
        body = json.dumps({"rows": [row]}).encode()
        head = "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        asked.append(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return asked, known.machine.predict(table).tolist()


class _Server:
    """The service in a process of its own, ended when it is not needed any more."""

    def __init__(self, model: Path) -> None:
        self.model = model

    def __enter__(self) -> str:
        command = [sys.executable, "-m", "mercer.cli", "serve", str(self.model), "--port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        address = line.partition(" answers at ")[2].split(" ")[0]
        if not address:
            raise RuntimeError(f"the service did not start: {line}")
        for _ in range(100):
            try:
                urllib.request.urlopen(f"{address}/health", timeout=5).read()
                return address
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("the service does not answer")

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        self.process.wait(20)


def _ask(
    address: str, asked: list[bytes], seconds: float, connections: int = CONNECTIONS
) -> dict[str, Any]:
    """Ask for some time, and return the rate, the times and the answers."""
    try:
        from uvloop import run
    except ImportError:
        run = asyncio.run
    times: list[float] = []
    answers: dict[int, str] = {}
    port = int(address.rpartition(":")[2])

    async def connection(number: int, until: float) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        place = number
        while (begin := time.perf_counter()) < until:
            place = (place + connections) % len(asked)
            writer.write(asked[place])
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            times.append(time.perf_counter() - begin)
            if place not in answers:
                answers[place] = json.loads(body)["answers"][0]["prediction"]
        writer.close()

    async def everything() -> float:
        begin = time.perf_counter()
        await asyncio.gather(*(connection(i, begin + seconds) for i in range(connections)))
        return time.perf_counter() - begin

    took = run(everything())
    return {
        "rate": len(times) / took,
        "median": float(np.median(times)),
        "slow": float(np.quantile(times, 0.99)),
        "answers": answers,
    }


def _schemathesis(address: str, folder: str) -> float:
    """Return 0 if schemathesis finds nothing, 1 if it does, NaN if it is not installed."""
    settings = Path(folder) / "schemathesis.toml"
    settings.write_text(SETTINGS, encoding="utf-8")
    command = [
        str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(settings),
        "run", f"{address}/openapi.json", "--max-examples", str(EXAMPLES), "--seed", "0",
        "--checks", "all",
    ]  # fmt: skip
    try:
        run = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=500, cwd=folder
        )
    except FileNotFoundError:
        return float("nan")
    if run.returncode not in (0, 1):
        raise RuntimeError(run.stdout + run.stderr)
    if run.returncode:
        print(run.stdout)
    return float(run.returncode)
