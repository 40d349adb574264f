"""The command on files as people have them, and in a process of its own.

Whatever it is given, it ends with 0 and whole files, or with 2, one sentence and no file.
"""

import csv
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from mercer.cli import app

FILES = {"model.mercer", "report.html", "metrics.json", "predictions.csv"}
QUICK = ("--machine", "prototype", "--kernel", "Linear()")
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}


def started(*arguments, cwd, **settings):
    """Start the command."""
    return subprocess.Popen(
        [sys.executable, "-m", "mercer.cli", *map(str, arguments)],
        cwd=cwd, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8", **settings,
    )  # fmt: skip


def interruptible():
    """Let SIGINT reach a child even where the tests themselves ignore it, as below nohup."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(*arguments, cwd, **settings):
    """Run the command; return the exit status and what it printed on stdout and stderr."""
    process = started(*arguments, cwd=cwd, **settings)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in out + err, err
    return process.returncode, out, err


def run_here(*arguments):
    """Run the command in this process; return the same three."""
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert answer.exception is None or isinstance(answer.exception, SystemExit), answer.exception
    return answer.exit_code, answer.stdout, answer.stderr


def written(folder):
    """Return the names of all files in a folder, hidden ones too."""
    return set(os.listdir(folder)) if folder.exists() else set()


def refused(status, err):
    """Tell whether the command has ended with 2 and one sentence."""
    return status == 2 and err.startswith("mercer: ") and err.count("\n") == 1


# ---- files that are awkward, but can be learned from --------------------------------------------

RNG = np.random.default_rng(0)
KINDS = ["ant", "bee"] * 24
SIZES = [float(f"{RNG.normal(10 if kind == 'ant' else 13):.2f}") for kind in KINDS]
LEGS = [float(f"{RNG.normal(4 if kind == 'ant' else 5):.1f}") for kind in KINDS]


def lines(header, row, *, end="\n"):
    """Return a file with 48 rows; `row` writes one from its number, kind, size and legs."""
    rows = [row(i, *items) for i, items in enumerate(zip(KINDS, SIZES, LEGS, strict=True))]
    return end.join([header, *rows, ""])


def comma(number):
    return str(number).replace(".", ",")


def day(i, kind):
    month = 1 + i % 6 + (6 if kind == "bee" else 0)
    return f"{1 + i % 28:02}.{month:02}.2021"


AWKWARD = {
    "semicolons": (
        lines("size;legs;kind", lambda i, k, s, n: f"{comma(s)};{comma(n)};{k}").encode(),
        "kind",
        {"size": "numeric", "legs": "numeric"},
    ),
    "byte order mark, and the line ends of Windows": (
        lines("size,legs,kind", lambda i, k, s, n: f"{s},{n},{k}", end="\r\n").encode("utf-8-sig"),
        "kind",
        {"size": "numeric", "legs": "numeric"},
    ),
    "quoted newlines": (
        lines(
            'size,"the\nnotes",kind',
            lambda i, k, s, n: f'{s},"a ""{k}""\nseen at {i}, by day",{k}',
        ).encode(),
        "kind",
        {"size": "numeric", "the\nnotes": "text"},
    ),
    "missing values": (
        lines(
            "size,legs,empty,kind",
            lambda i, k, s, n: f"{s if i % 5 else ''},{n if i % 7 else 'NA'},,{k}",
        ).encode(),
        "kind",
        {"size": "numeric", "legs": "numeric", "empty": "missing"},
    ),
    "dates": (
        lines("seen,kind", lambda i, k, s, n: f"{day(i, k)},{k}").encode(),
        "kind",
        {"seen": "date"},
    ),
    "Unicode names": (
        lines("größe,足,種類", lambda i, k, s, n: f"{s},{n},{k.replace('ant', '蟻')}").encode(),
        "種類",
        {"größe": "numeric", "足": "numeric"},
    ),
    "numbers with thousands separators": (
        lines("size;kind", lambda i, k, s, n: f"{100 * s * 10:,.2f};{k}").encode(),
        "kind",
        {"size": "numeric"},
    ),
    "duplicated headers": (
        lines("size,size,kind", lambda i, k, s, n: f"{s},{n},{k}").encode(),
        "kind",
        {"size": "numeric", "size (2)": "numeric"},
    ),
    "HTML and formulas in cells": (
        lines(
            "size,<script>alert(1)</script>,kind",
            lambda i, k, s, n: f"{s},{n},{'=1+1' if k == 'ant' else '<img src=x onerror=f()>'}",
        ).encode(),
        "kind",
        {"size": "numeric"},
    ),
}  # fmt: skip


QUICK_FILES = {"semicolons", "quoted newlines", "missing values", "HTML and formulas in cells"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in QUICK_FILES else [pytest.mark.slow]) for n in AWKWARD],
)
def test_an_awkward_file_is_learned_from(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content, target, kinds = AWKWARD[name]
    (tmp_path / "awkward.csv").write_bytes(content)
    simple = QUICK if set(kinds.values()) == {"numeric"} else QUICK[:2]
    status, out, err = run_here("fit", "awkward.csv", "--target", target, *simple)
    assert status == 0
    assert ("apostrophe" if "formulas" in name else "") in err and ("formulas" in name or not err)
    assert written(tmp_path) == {"awkward.csv", "awkward-mercer"}
    folder = tmp_path / "awkward-mercer"
    assert written(folder) == FILES
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    found = {column["name"]: column["kind"] for column in metrics["columns"]}
    assert kinds.items() <= found.items()
    assert metrics["error"] < metrics["baseline_error"]
    table = list(csv.DictReader(io.StringIO((folder / "predictions.csv").read_text("utf-8"))))
    assert [int(row["row"]) for row in table] == list(range(48))
    assert len({row["target"] for row in table}) == 2
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in report and "<img src=x" not in report
    assert all(line in out for line in ("The answer", "awkward-mercer/report.html"))


# ---- files from which nothing can be learned ----------------------------------------------------

HOPELESS = {
    "an empty file": (b"", "kind", "is empty"),
    "only names": (b"size,kind\n", "kind", "no rows"),
    "one row": (b"size,kind\n1.5,ant\n", "kind", "1 row"),
    "a constant target": (
        lines("size,kind", lambda i, k, s, n: f"{s},ant").encode(), "kind", "kind"
    ),
    "a thousand classes": (
        ("size,kind\n" + "".join(f"{i % 37},class {i}\n" for i in range(1000))).encode(),
        "kind",
        "kind",
    ),
    "no such column": (b"size,kind\n1,a\n2,b\n", "knd", "did you mean 'kind'"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, "kind", "awkward.csv"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOPELESS)
def test_a_hopeless_file_is_refused_in_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content, target, words = HOPELESS[name]
    (tmp_path / "awkward.csv").write_bytes(content)
    status, _, err = run_here("fit", "awkward.csv", "--target", target)
    assert refused(status, err), (status, err)
    assert words in err
    assert written(tmp_path) == {"awkward.csv"}


# ---- trust --------------------------------------------------------------------------------------


@pytest.fixture
def ants(tmp_path):
    """A folder with a table, which is returned."""
    content = lines("size,legs,kind", lambda i, k, s, n: f"{s},{n},{k}")
    (tmp_path / "ants.csv").write_text(content, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("request_to_end", "status"),
    [("SIGINT", 130), pytest.param("SIGTERM", 143, marks=pytest.mark.slow)],
)
def test_an_interruption_leaves_nothing_behind(request_to_end, status, ants):
    process = started("fit", cwd=ants, preexec_fn=interruptible)
    assert "No DATA was given" in process.stdout.readline()
    time.sleep(2)  # by now it reads, computes, or compiles
    process.send_signal(getattr(signal, request_to_end))
    _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert err.startswith("mercer: ") and err.count("\n") == 1
    assert written(ants) == {"ants.csv"}


@pytest.mark.slow
def test_a_full_disk_leaves_the_files_of_before(ants):
    folder = ants / "results"
    folder.mkdir()
    (folder / "report.html").write_text("of before", encoding="utf-8")

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    status, _, err = run("fit", "ants.csv", "--target", "kind", *QUICK, "--out", "results",
                         cwd=ants, preexec_fn=little_room)  # fmt: skip
    assert refused(status, err) and "disk is full" in err
    assert written(folder) == {"report.html"}
    assert (folder / "report.html").read_text(encoding="utf-8") == "of before"


@pytest.mark.slow
def test_the_same_command_gives_the_same_files_and_predictions_follow(ants):
    folders = [ants / place / "found" for place in ("one", "two")]
    for folder in folders:  # the command line is kept in the model, and so is the same
        folder.parent.mkdir()
        shutil.copy2(ants / "ants.csv", folder.parent)
        status, _, err = run("fit", "ants.csv", "--target", "kind", *QUICK, "--out", "found",
                             cwd=folder.parent)  # fmt: skip
        assert (status, err) == (0, "")
    for name in FILES - {"metrics.json"}:
        assert len({(folder / name).read_bytes() for folder in folders}) == 1, name
    one, two = (json.loads((folder / "metrics.json").read_text()) for folder in folders)
    assert one.pop("timings").keys() == two.pop("timings").keys()
    assert one == two
    # The reader of the output may go away.
    process = started("predict", "one/found/model.mercer", "ants.csv", cwd=ants)
    process.stdout.close()
    with process.stderr as err:
        assert "Traceback" not in err.read()
    assert process.wait(60) == 141


@pytest.mark.slow
def test_a_refusal_is_one_sentence_of_the_process_too(ants):
    status, _, err = run("fit", "ants.csv", "--target", "knd", cwd=ants)
    assert refused(status, err) and "did you mean 'kind'" in err
    assert written(ants) == {"ants.csv"}


def test_the_command_is_there_after_an_installation(tmp_path):
    from importlib.metadata import entry_points

    found = entry_points(group="console_scripts", name="mercer")
    assert [point.value for point in found] == ["mercer.cli:main"]
    status, out, err = run("--version", cwd=tmp_path)
    assert (status, err) == (0, "") and out.startswith("mercer ")
