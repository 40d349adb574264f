"""Small things of the command: formulas for spreadsheets, pipes, long lines, what is left."""

import csv
import io
import os
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from mercer import load
from mercer.errors import DomainError, FileError, suggestion
from mercer.files import replacing
from mercer.files.atomic import _begin
from mercer.report.formulas import is_formula
from mercer.report.output import as_csv
from mercer.sources import read

LABEL = "=cmd|'/c calc'!A1"
GERMAN = ("nicht", "sch\xf6n")


def command(*words, **more):
    return subprocess.run(
        [sys.executable, "-m", "mercer.cli", *map(str, words)], capture_output=True, text=True,
        timeout=120, **more,
    )  # fmt: skip


@pytest.mark.parametrize("text", [LABEL, "+1+1", "-x", "@sum(A1)", "\tx", " =1+1", "=1+1", "-"])
def test_texts_that_spreadsheets_run_get_an_apostrophe(text):
    table = pd.DataFrame({"row": [0, 1], "prediction": ["plain", text], text: [1.0, -2.0]})
    rows = list(csv.reader(io.StringIO(as_csv(table).decode(), newline="")))
    assert rows[2] == ["1", "'" + text, "-2.0"] and rows[0][2] == "'" + text
    assert rows[1] == ["0", "plain", "1.0"]


@pytest.mark.parametrize("text", ["-5", "+1e3", "-inf", "a=1", "1-2", "", "x"])
def test_numbers_and_other_texts_stand_as_they_are(text):
    assert not is_formula(text)
    assert as_csv(pd.DataFrame({"a": [text, "b"]})).decode().splitlines()[1:] in (
        [text, "b"], ['""', "b"]
    )  # fmt: skip


@pytest.mark.slow
def test_formulas_are_prefixed_in_all_files_and_said(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    names = np.where(x > 0, LABEL, "@other")
    data = tmp_path / "table.csv"
    pd.DataFrame({"x": x, "y": rng.normal(size=40), "label": names}).to_csv(data, index=False)
    ran = command("fit", data, "--target", "label", "--budget", "5s", "--out", tmp_path / "out")
    assert ran.returncode == 0, ran.stderr
    assert "apostrophe" in ran.stderr
    written = pd.read_csv(tmp_path / "out" / "predictions.csv")
    assert set(written["prediction"]) <= {"'" + LABEL, "'@other"}
    ran = command("predict", tmp_path / "out" / "model.mercer", data, "--out", tmp_path / "p.csv")
    assert ran.returncode == 0 and "apostrophe" in ran.stderr
    assert set(pd.read_csv(tmp_path / "p.csv")["prediction"]) <= {"'" + LABEL, "'@other"}


def test_a_long_line_without_quotation_marks_is_not_said_to_have_one(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n1,2\n" + "x" * (2**24 + 10) + ",3\n4,5\n" * 3)
    with pytest.raises(DomainError, match=r"more than .* characters") as caught:
        read(path, "b")
    assert "quotation" not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_refused_at_once(tmp_path):
    for name in ("pipe.csv", "pipe.parquet", "pipe.npy", "pipe.txt"):
        os.mkfifo(tmp_path / name)
        ended = []

        def attempt(path=tmp_path / name, ended=ended):
            with pytest.raises(DomainError, match="pipe"):
                read(path, "b")
            ended.append(True)

        thread = threading.Thread(target=attempt, daemon=True)
        thread.start()
        thread.join(20)
        assert ended, f"{name} was waited for"
    with pytest.raises(FileError, match="pipe"):
        load(tmp_path / "pipe.csv")


@pytest.mark.slow
def test_another_encoding_is_said_where_stdout_is_kept_apart(tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(f"{v:.3f},{GERMAN[int(v > 0)]}\n" for v in rng.normal(size=60))
    path = tmp_path / "umlaut.csv"
    path.write_bytes(("x,label\n" + rows).encode("cp1252"))
    ran = command("fit", path, "--target", "label", "--budget", "5s", "--out", tmp_path / "out")
    assert "is not UTF-8" in ran.stderr
    ran = command("predict", tmp_path / "out" / "model.mercer", path)
    assert "is not UTF-8" in ran.stderr


def test_messages_are_short():
    assert len(suggestion("zzz", [f"a known name {i}" for i in range(500)])) < 700
    assert len(suggestion("zzz", ["x" * 5000])) < 200
    ran = command("fit", "/nowhere/" + "x" * 200, "--target", "y" * 5000)
    assert ran.returncode == 2 and len(ran.stderr) < 1100


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    code = f"""
import os, signal
from mercer.files import replacing
with replacing({str(tmp_path / "one.txt")!r}) as file:
    file.write(b"half"); file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], timeout=60)
    assert [name.endswith(".part") for name in os.listdir(tmp_path)] == [True]
    with replacing(tmp_path / "two.txt") as file:
        file.write(b"whole")
    assert os.listdir(tmp_path) == ["two.txt"]


def test_the_part_of_a_living_writer_stays(tmp_path):
    part = tmp_path / ".0123456789abcdef.part"
    held = _begin(part)
    other = tmp_path / ".something.part"
    other.write_text("not ours")
    with replacing(tmp_path / "two.txt") as file:
        file.write(b"whole")
        with replacing(tmp_path / "three.txt") as third:
            third.write(b"too")
    assert part.exists() and other.exists()
    os.close(held)
    with replacing(tmp_path / "two.txt") as file:
        file.write(b"again")
    assert not part.exists() and other.exists()
    assert sorted(os.listdir(tmp_path)) == [".something.part", "three.txt", "two.txt"]
