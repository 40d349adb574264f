"""Which format a file has."""

import gzip

import pytest

from mercer.errors import DomainError
from mercer.sources.formats import detect


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
        ("a.svm", b"", "libsvm"),
        ("a", b"", "delimited"),
    ],
)
def test_by_beginning_and_by_name(write, name, content, form):
    assert detect(write(content, name)) == form


def test_a_folder_is_of_graphs(tmp_path):
    assert detect(tmp_path) == "graphs"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04rest", "is an Excel workbook or another zip archive; save the table as CSV"),
        (b"\xd0\xcf\x11\xe0rest", "old Excel"),
        (b"\x93NUMPY", "array of NumPy"),
        (b"%PDF-1.7", "PDF"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b'[{"a": 1, "b": 2}]', "JSON"),
        (b'{"a": [1, 2]}', "JSON"),
        (bytes(range(256)) * 4, "not a text file"),
        (b"SQLite format 3\0", "SQLite"),
    ],
)
def test_other_files_are_refused_by_what_they_are(write, content, words):
    with pytest.raises(DomainError, match=words):
        detect(write(content, "a.csv"))
