"""Encodings, compression, and files that are not text."""

import bz2
import gzip

import pytest

from mercer.errors import DomainError
from mercer.sources import read
from mercer.sources.textfile import find_encoding

TABLE = "größe,farbe\n1,rot\n2,blau\n3,grün\n4,rot\n"


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-be", None),
    ],
)
def test_marks_at_the_beginning_tell_the_encoding(write, encoding, found):
    data = TABLE.encode(encoding)
    if found is None:
        data, found = "\ufeff".encode(encoding) + data, "utf-16"
    sheet = read(write(data), "farbe")
    assert sheet.layout["encoding"] == found
    assert sheet.used[0].name == "größe"
    assert sheet.y.tolist() == ["rot", "blau", "grün", "rot"]
    assert sheet.notes == ()


@pytest.mark.slow
def test_text_of_windows_is_read_and_said(write):
    sheet = read(write(TABLE.encode("cp1252").replace(b"blau", b"\x80")), "farbe")
    assert sheet.y.tolist() == ["rot", "€", "grün", "rot"]
    assert any("line 1 is not UTF-8" in note and "cp1252" in note for note in sheet.notes)


def test_the_line_that_is_not_utf8_is_said(write):
    sheet = read(write(b"a,b\n1,x\n2,y\n3,\xe4\n4,x\n"), "b")
    assert sheet.notes[0].startswith("line 4 is not UTF-8")


def test_bytes_that_windows_does_not_know_are_read_as_latin_1(write):
    text = find_encoding(write(b"a,b\n1,\x81\n"))
    assert text.encoding == "latin-1"


def test_a_character_cut_by_a_block_is_one_character(write):
    from mercer.sources.textfile import BLOCK_BYTES

    assert find_encoding(write("a\n" + "ä" * BLOCK_BYTES)).encoding == "utf-8"


def test_zero_bytes_are_refused_with_their_line(write):
    with pytest.raises(DomainError, match="not a text file: line 3 holds a zero byte"):
        read(write(b"a,b\n1,x\n2,\0\n"))


def test_utf_16_without_a_mark_is_refused(write):
    with pytest.raises(DomainError, match="line 1 holds a zero byte; save it as text in UTF-8"):
        read(write(TABLE.encode("utf-16-le")))


@pytest.mark.parametrize("name", ["table.csv.gz", "table.csv", "table.csv.bz2"])
def test_packed_files_are_told_by_their_bytes(write, name):
    pack = bz2.compress if "bz2" in name else gzip.compress
    assert len(read(write(pack(TABLE.encode()), name), "farbe")) == 4


def test_a_truncated_file_is_refused(write):
    packed = gzip.compress(("a,b\n" + "1,2\n" * 1000).encode())
    with pytest.raises(DomainError, match="cannot be read: Compressed file ended"):
        read(write(packed[:-10], "table.csv.gz"))


def test_a_missing_file_is_named_with_one_that_is_alike(write):
    path = write(TABLE, "apples.csv")
    with pytest.raises(DomainError, match=r"no file .*aples.csv; did you mean 'apples.csv'"):
        read(path.with_name("aples.csv"))
    with pytest.raises(DomainError, match=r"there is no file .*else.csv$"):
        read(path.parent / "nowhere" / "else.csv")
