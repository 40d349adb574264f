"""Which format a file has."""

import gzip

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.errors import DomainError
from mercer.sources import Format, chunks, read, recipe, register_format, stream
from mercer.sources.formats import _registered, detect
from mercer.sources.source import Piece, objects


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("a.csv", b"x,y\n1,2\n", "delimited"),
        ("a.csv", b"1 1:2\n2 1:3\n", "delimited"),  # its name says so
        ("a.tsv.gz", gzip.compress(b"x\ty\n", mtime=0), "delimited"),
        ("a.txt", b"1 1:2 3:4\n-1 2:5\n", "libsvm"),
        ("a", b"1.5 1:2\n2.5 7:3e-2 # x\n", "libsvm"),
        ("a.gz", gzip.compress(b"1 1:2\n2 1:3\n", mtime=0), "libsvm"),
        ("a", b"1\n-1 3:2\n", "libsvm"),
        ("a", b"1" + b" 12345:0.123" * 9000, "libsvm"),  # a line longer than what is looked at
        ("a", b"1\n2\n", "delimited"),
        ("a.txt", b"12:30 1\n12:40 2\n", "delimited"),
        ("a.txt", b">x\nACGT\n", "fasta"),
        ("a.FA", b">x\nACGT\n", "fasta"),
        ("a.data", b"+,x\n-,y\n", "delimited"),
        ("a.smi", b"CCO x\n", "smi"),
        ("a.bin", b"PAR1....PAR1", "parquet"),
        ("a.csv", b"ARROW1\0\0", "arrow"),
        ("a.csv", b"SQLite format 3\0", "sqlite"),
        ("a.txt", b'{"a": 1, "b": 2}\n', "jsonl"),
        ("a.csv.txt", b"% x\n@relation y\n", "arff"),
        ("a.svm", b"", "libsvm"),
        ("a", b"", "delimited"),
    ],
)
def test_by_beginning_and_by_name(write, name, content, form):
    assert detect(write(content, name)).name == form


def test_a_folder_is_of_graphs(tmp_path):
    assert detect(tmp_path).name == "graphs"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04rest", "is a broken zip archive"),
        (b"\xd0\xcf\x11\xe0rest", "old Excel"),
        (b"\x93NUMPY", "array of NumPy"),
        (b"%PDF-1.7", "PDF"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (bytes(range(256)) * 4, "not a text file"),
    ],
)
def test_other_files_are_refused_by_what_they_are(write, content, words):
    with pytest.raises(DomainError, match=words):
        detect(write(content, "a.csv"))


# ---- formats of users --------------------------------------------------------------------------


@pytest.fixture
def register():
    """Return `register_format`, whose formats are forgotten afterwards."""
    before = list(_registered)
    yield register_format
    _registered[:] = before


class Colons:
    """A source of a user's own: lines of ``kind: number number``."""

    unit = "line"
    columns = ("one", "two", "kind")
    target = "kind"

    def __init__(self, path):
        self.path, self.name = path, path.name
        self.kinds, self.notes, self.layout = {}, [], {"format": "colons"}

    def pieces(self, size, wanted=None):
        rows = [line.replace(":", "").split() for line in self.path.read_text().splitlines()]
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            kinds, one, two = (objects(row[j] for row in part) for j in range(3))
            places = np.arange(start, start + len(part))
            yield Piece({"one": one, "two": two, "kind": kinds}, places + 1, places, len(part))


COLONS = Format(
    "colons", lambda path, hints: Colons(path), (".colons",), sniff=lambda b: b.startswith(b"a: ")
)


def lines(count):
    rng = np.random.default_rng(0)
    return "".join(
        f"{'ab'[i % 2]}: {rng.normal(3 * (i % 2)):.3f} {rng.normal():.3f}\n" for i in range(count)
    )


def test_a_format_of_ones_own_is_read_in_pieces(write, register):
    register(COLONS)
    path = write(lines(9), "x.colons")
    sheet = read(path)
    assert sheet.y.tolist() == list("ababababa") and sheet.lines.tolist() == list(range(1, 10))
    assert sheet.layout == {"format": "colons"} and sheet.path == path
    assert [len(part) for part in chunks(path, recipe(sheet), 4)] == [4, 4, 1]
    assert sum(len(X) for X, _ in stream(path, "kind", rows=5).chunks) == 9


def test_it_can_be_told_by_what_is_in_it(write, register):
    path = write(lines(4), "x.csv")
    assert detect(path).name == "delimited"
    register(COLONS)
    assert detect(path).name == "colons"


@pytest.mark.slow
def test_a_study_of_it(write, register):
    register(COLONS)
    found = mercer.study(write(lines(60), "x.colons"), budget=5, seed=0)
    assert found.sheet.name == "x.colons" and set(found.sheet.y) == {"a", "b"}


def test_a_data_frame_is_enough_and_the_last_format_comes_first(write, register):
    path = write('{"x": 1.5, "y": "a"}\n{"x": 2.5, "y": "b"}\n', "t.jsonl")
    assert read(path, "y").layout == {"format": "jsonl"}
    register(Format("all lines", lambda path, _: None, (".jsonl",)))
    register(Format("lines", lambda path, _: pd.read_json(path, lines=True), (".jsonl",)))
    sheet = read(path, "y")
    assert sheet.X["x"].tolist() == [1.5, 2.5] and sheet.name == "t.jsonl"
    assert sheet.layout == {"format": "lines"} and sheet.path == path


def test_marks_and_packed_endings(write, register):
    register(Format("marked", lambda path, _: pd.DataFrame(), marks=(b"PK\x03\x04",)))
    assert detect(write(b"PK\x03\x04...", "a.csv")).name == "marked"
    register(COLONS)
    assert detect(write(gzip.compress(b"b: 1 2\n"), "x.Colons.gz")).name == "colons"


def test_the_same_name_replaces(register):
    register(COLONS)
    count = len(_registered)
    register(Format("colons", lambda path, _: None))
    assert len(_registered) == count
    with pytest.raises(DomainError, match="takes a Format, found str"):
        register("colons")
