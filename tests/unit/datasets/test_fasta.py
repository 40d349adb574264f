"""FASTA files: sequences, headers, labels, and files that are none."""

import gzip

import numpy as np
import pytest

from mercer.datasets import read_fasta
from mercer.errors import DomainError

TEXT = """; a comment of old times
>one first sequence|plus
ACGT
acgu N

>two|minus
TTTT*
"""


@pytest.fixture
def written(tmp_path):
    def write(text, name="some.fasta", **options):
        path = tmp_path / name
        path.write_text(text, **options)
        return path

    return write


def test_sequences_are_put_together_with_letters_as_they_are(written):
    found = read_fasta(written(TEXT))
    assert found.X.tolist() == ["ACGTacguN", "TTTT*"]
    assert np.isnan(found.y).all() and len(found) == 2
    assert found.extra["ids"] == ("one", "two|minus")
    assert found.extra["descriptions"] == ("first sequence|plus", "")
    assert "2 items" in repr(found)


@pytest.mark.parametrize(
    "label",
    ["|", r"\|(\w+)$", lambda header: header.split("|")[1]],
    ids=["text", "re", "function"],
)
def test_labels_are_found_in_the_header(written, label):
    X, y = read_fasta(written(TEXT), label)
    assert y.tolist() == ["plus", "minus"] and len(X) == 2
    assert read_fasta(written(TEXT), label).names == ("minus", "plus")


def test_labels_may_be_numbers(written):
    found = read_fasta(written(">a 3\nA\n>b 4\nC\n"), lambda header: int(header.split()[1]))
    assert found.y.tolist() == [3, 4] and found.names == ()


def test_compressed_files_and_other_ends_of_lines(tmp_path, written):
    path = tmp_path / "some.fasta.gz"
    with gzip.open(path, "wt") as file:
        file.write(TEXT)
    assert read_fasta(str(path)).X.tolist() == ["ACGTacguN", "TTTT*"]
    marked = written("\ufeff" + TEXT, newline="\r\n", encoding="utf-8")
    assert read_fasta(marked).X.tolist() == ["ACGTacguN", "TTTT*"]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("ACGT\n>a\nA\n", 1, "begins without"),
        ("\n\nACGT\n", 3, "begins without"),
        (">a\nA\n>b\n>c\nC\n", 3, "'b' has no letters"),
        (">a\nA\n>b\n", 3, "'b' has no letters"),
    ],
)
def test_a_file_that_is_wrong_says_where(written, text, line, what):
    path = written(text)
    with pytest.raises(DomainError, match=f"{path.name}: line {line}: .*{what}"):
        read_fasta(path)


@pytest.mark.parametrize("label", ["#", r"class=(\w+)", lambda header: header.split("|")[2]])
def test_a_header_without_a_label_says_where(written, label):
    with pytest.raises(DomainError, match=r"line 2: .*one first sequence"):
        read_fasta(written(TEXT), label)


@pytest.mark.parametrize("label", ["", 3])
def test_a_label_that_is_neither_text_nor_function(written, label):
    with pytest.raises(DomainError, match="label must be"):
        read_fasta(written(TEXT), label)


def test_files_that_cannot_be_read(tmp_path, written):
    with pytest.raises(DomainError, match="no sequence"):
        read_fasta(written("\n"))
    with pytest.raises(DomainError, match="cannot be read"):
        read_fasta(tmp_path / "missing.fasta")
    for name in ("binary.fasta", "binary.fasta.gz"):
        (tmp_path / name).write_bytes(b">a\n\xff\xfe\n")
        with pytest.raises(DomainError, match="cannot be read"):
            read_fasta(tmp_path / name)
