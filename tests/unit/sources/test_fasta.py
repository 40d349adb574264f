"""FASTA with labels."""

import pytest

from mercer.errors import DomainError
from mercer.sources import BadRow, chunks, read, recipe

BARS = ">s1|x|promoter\nACGT\nACGT\n>s2|y|other\nGGCC\n>s3|promoter\nTTTT\n"


def test_the_label_follows_the_last_bar(write):
    sheet = read(write(BARS, "x.fasta"))
    assert sheet.X["sequence"].tolist() == ["ACGTACGT", "GGCC", "TTTT"]
    assert sheet.y.tolist() == ["promoter", "other", "promoter"]
    assert sheet.lines.tolist() == [1, 4, 6]
    assert sheet.used[0].kind == "sequence"
    assert sheet.target.name == "label"
    assert sheet.notes == ("the label of a sequence is what follows '|' in its header",)


def test_or_is_the_last_word(write):
    text = ">s1 of a mouse yes\nACGT\n>s2 no\nAC\n>s3 x yes\nGT\n"
    assert read(write(text, "x.txt")).y.tolist() == ["yes", "no", "yes"]


def test_or_has_a_name(write):
    text = ">s1 class=a length=4\nACGT\n>s2 class=b length=2\nAC\n>s3 class=a length=2\nGT\n"
    path = write(text, "x.fa")
    sheet = read(path, "class")
    assert sheet.y.tolist() == ["a", "b", "a"]
    assert sheet.target.name == "class"
    assert next(chunks(path, recipe(sheet))).y.tolist() == ["a", "b", "a"]
    with pytest.raises(DomainError, match="has no column 'kind'"):
        read(path, "kind")


def test_sequences_without_labels_can_be_predicted(write):
    how = recipe(read(write(BARS, "x.fasta")))
    (sheet,) = chunks(write(">a\nACGT\n>b\nGGG\n", "new.fasta"), how)
    assert sheet.X["sequence"].tolist() == ["ACGT", "GGG"]
    assert sheet.y.tolist() == [None, None]
    plain = read(write(">a\nACGT\n>b\nGGG\n", "new.fasta"))
    assert plain.y is None


def test_what_has_no_letters_or_no_label_is_bad(write):
    path = write(">a|x\nAC\n>b|x\n>c\nGT\n>d|y\nTT\n", "x.fasta")
    sheet = read(path, skip_bad=True)
    assert sheet.bad == (
        BadRow(3, "'b|x' has no letters"),
        BadRow(4, "the target 'label' is missing"),
    )
    assert sheet.rows.tolist() == [0, 3]


def test_pieces(write):
    path = write(BARS, "x.fasta")
    parts = list(chunks(path, recipe(read(path)), 2))
    assert [len(part) for part in parts] == [2, 1]
    assert parts[1].rows.tolist() == [2]


def test_nothing(write):
    with pytest.raises(DomainError, match="no line begins with >"):
        read(write("", "x.fasta"))
